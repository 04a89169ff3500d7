//! Parses a line of words to a model. The grammar is in the documentation of the lab.

use std::str::FromStr;

use super::{Burst, Clock, Drift, Experiment, LastLevel, Latency, Level, Model, Noise, Pages, Pause, Tlb};

impl Model {
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "experiment" => {
                self.experiment = match value {
                    "matrix" => Experiment::Matrix,
                    "distribution" => Experiment::Distribution,
                    "curve" => Experiment::Curve,
                    "order" => Experiment::Order,
                    "pages" => Experiment::Pages,
                    "residency" => Experiment::Residency,
                    _ => return Err("neither matrix, distribution, curve, order, pages nor residency".into()),
                }
            }
            "nodes" => self.nodes = small(value)?,
            "cpus" => self.cpus = small(value).and_then(|cpus| positive(cpus, value))?,
            "memory-only" => self.memory_only = small(value)?,
            "memory" => self.memory = number(value)?,
            "latency" => {
                for pair in value.split(',') {
                    let [from, to, ticks] = pieces(pair, "FROM:TO:TICKS")?;
                    self.latencies.push(Latency {
                        from: small(from)?,
                        to: small(to)?,
                        ticks: number(ticks)?,
                    });
                }
            }
            "level" => self.levels.push(level(value)?),
            "llc" => {
                let level = level(value)?;
                self.last_level = Some(LastLevel { level, other: 2 * level.ticks });
            }
            "other" => {
                let last = self.last_level.as_mut().ok_or("a last level has to come before it")?;
                last.other = number(value)?;
            }
            "directory-bit" => self.directory_bit = number(value)?,
            "hidden" => self.hidden = Some(level(value)?),
            "shared" => self.shared = Some(level(value)?),
            "neighbour" => self.neighbour = number(value)?,
            "adjacent" => self.adjacent = switch(value)?,
            "l3" => self.reports_last_level = switch(value)?,
            "tlb" => {
                let kinds = [Pages::Small, Pages::Large];
                let of = |pages: &Pages| Some((value.strip_suffix(pages.word())?.strip_suffix(':')?, *pages));
                let (numbers, only) = kinds
                    .iter()
                    .find_map(of)
                    .map_or((value, None), |(numbers, pages)| (numbers, Some(pages)));
                let [entries, ticks] = pieces(numbers, "ENTRIES:TICKS[:4k|2m]")?;
                self.tlb.push(Tlb { entries: number(entries)?, ticks: number(ticks)?, only });
            }
            "tables" => self.tables = Some(small(value)?),
            "host-pages" if value == Pages::Small.word() => self.small_host_pages = true,
            "host-pages" => {
                return Err("only 4k: larger pages of a host do not limit those of the guest".into());
            }
            "prefetch" => self.prefetch = number(value)?,
            "noise" => {
                let [percent, every] = pieces(value, "PERCENT:EVERY")?;
                self.noise = Some(Noise { percent: number(percent)?, every: number(every)? });
            }
            "drift" => {
                let [percent, period] = pieces(value, "PERCENT:MILLISECONDS")?;
                self.drift = Some(Drift { percent: number(percent)?, period: number(period)? });
            }
            "burst" => {
                let [every, length, percent] = pieces(value, "EVERY_MS:LENGTH_MS:PERCENT")?;
                let (every, length, percent) = (number(every)?, number(length)?, number(percent)?);
                self.burst = Some(Burst { every, length, percent });
            }
            "pause" => {
                let [every, ticks] = pieces(value, "EVERY:TICKS")?;
                self.pause = Some(Pause { every: number(every)?, ticks: number(ticks)? });
            }
            "tail" => {
                let [every, ticks] = pieces(value, "EVERY:TICKS")?;
                self.tails.push(Pause { every: number(every)?, ticks: number(ticks)? });
            }
            "server" => self.servers.push(value.into()),
            "outstanding" => self.outstanding = Some(number(value)?),
            "cluster" | "cost" | "slowline" => self.coherence.push(format!("{name}={value}")),
            "clock" => {
                self.clock = match value {
                    "tsc" => Clock::Counter,
                    "kernel" => Clock::Kernel,
                    "none" => Clock::None,
                    _ => return Err("neither tsc, kernel nor none".into()),
                }
            }
            "cycle" => self.cycle = number(value)?,
            "size" if value == "default" => self.default_size = true,
            "size" => self.size = Some(number(value)?),
            "iters" => self.iters = Some(number(value)?),
            "trials" => self.trials = Some(number(value)?),
            "seed" | "min-size" | "max-size" | "points-per-octave" | "warmup-iters" => {
                self.options.push((name.into(), number(value)?.to_string()));
            }
            "kernel" => self.options.push((name.into(), value.into())),
            "pool" => self.pool = Some(number(value)?),
            "pages" => {
                let all = [Pages::Small, Pages::Transparent, Pages::Large];
                let known = all.into_iter().find(|pages| pages.word() == value);
                self.pages = Some(known.ok_or("neither 4k, thp nor 2m")?);
            }
            "tolerance" => {
                let percent = value.parse::<f64>().ok().filter(|percent| *percent > 0.0);
                self.tolerance = Some(percent.ok_or("not a positive number")? / 100.0);
            }
            _ => return Err("unknown; the words are in tests/src/lab/mod.rs".into()),
        }
        Ok(())
    }

    /// Sorts the latencies, and refuses a model without a predictable truth.
    fn complete(mut self) -> Result<Self, String> {
        if self.nodes == 0 {
            return Err("nodes=0: somebody has to measure".into());
        }
        self.latencies.sort_by_key(|latency| (latency.from, latency.to));
        let given = self.latencies.iter().map(|latency| (latency.from, latency.to));
        let wanted = (0..self.nodes).flat_map(|from| (0..self.targets()).map(move |to| (from, to)));
        if !given.eq(wanted) {
            return Err(format!(
                "latency=FROM:TO:TICKS is needed once for each of FROM 0-{} and TO 0-{}",
                self.nodes - 1,
                self.targets() - 1
            ));
        }
        if let Some(tables) = self.tables {
            if tables >= self.targets() {
                return Err(format!("tables={tables}: node {tables} has no memory"));
            }
            if self.tlb.is_empty() || !self.servers.is_empty() {
                return Err(format!("tables={tables} needs tlb=, and does not go with server="));
            }
        }
        if self.experiment == Experiment::Matrix && !self.tails.is_empty() {
            return Err("a mean has no tail: experiment=distribution finds it".into());
        }
        if self.has_one_size() {
            let all = self.one_size() * u64::from(self.targets());
            if let Some(level) = self.levels.iter().find(|level| (self.one_size()..all).contains(&level.size))
            {
                return Err(format!("a level of {} bytes holds some of the targets only", level.size));
            }
            let last = self.last_level.map(|last| last.level);
            if last.is_some_and(|last| last.size >= self.one_size()) {
                return Err("a last level that holds the working set is not modelled".into());
            }
            if self.levels.iter().chain(&last).any(|level| level.random) {
                return Err("a level with random victims holds a share that only a curve shows".into());
            }
        }
        Ok(self)
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut model = Model::default();
        for word in line.split_whitespace() {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("{word}: not name=value"))?;
            model.set(name, value).map_err(|reason| format!("{word}: {reason}"))?;
        }
        // A mean has no tail.
        if !model.tails.is_empty() && !line.split_whitespace().any(|word| word.starts_with("experiment=")) {
            model.experiment = Experiment::Distribution;
        }
        model.complete()
    }
}

/// Parses a cache, `SIZE:WAYS:TICKS[:random]`.
fn level(text: &str) -> Result<Level, String> {
    let (numbers, random) = text.strip_suffix(":random").map_or((text, false), |rest| (rest, true));
    let [size, ways, ticks] = pieces(numbers, "SIZE:WAYS:TICKS[:random]")?;
    Ok(Level { size: number(size)?, ways: number(ways)?, ticks: number(ticks)?, random })
}

fn pieces<'a, const N: usize>(text: &'a str, form: &str) -> Result<[&'a str; N], String> {
    let all: Vec<&str> = text.split(':').collect();
    all.try_into().map_err(|_| format!("{text} is not of the form {form}"))
}

/// Parses a positive number with a binary suffix.
fn number(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let value = digits.parse::<u64>().ok().and_then(|value| value.checked_mul(1 << shift));
    value.filter(|&value| value > 0).ok_or_else(|| format!("{text} is not a positive number"))
}

fn positive(value: u32, text: &str) -> Result<u32, String> {
    Some(value).filter(|&value| value > 0).ok_or_else(|| format!("{text} is not a positive number"))
}

/// Parses a node, or a number of nodes.
fn small(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|&value| value < 64).ok_or_else(|| format!("{text} is not a number below 64"))
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("neither on nor off".into()),
    }
}
