//! A machine with known latencies, read from a line of words.
//!
//! The grammar is in the documentation of [`super`]. It knows neither the emulator
//! nor the executable under test.

use std::str::FromStr;

/// Ticks of a load between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The node of the CPU.
    pub from: u32,
    /// The node of the memory.
    pub to: u32,
    /// The ticks.
    pub ticks: u64,
}

/// A cache of each CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Bytes.
    pub size: u64,
    /// The associativity.
    pub ways: u64,
    /// Ticks of a hit.
    pub ticks: u64,
}

/// A disturbance, or a slower load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Loads from one to the next.
    pub every: u64,
    /// Its length.
    pub ticks: u64,
}

/// What a guest can time with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time-stamp counter.
    #[default]
    Counter,
    /// The kernel's clock: the processor has no counter.
    Kernel,
    /// Nothing: the kernel's clock moves with its timer interrupt.
    None,
}

/// A machine, and how the executable under test is to measure it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Nodes with one CPU and memory.
    pub nodes: u32,
    /// Nodes with memory alone, behind those.
    pub memory_only: u32,
    /// Bytes of memory of each node.
    pub memory: u64,
    /// One for each pair, by initiator and then by target.
    pub latencies: Vec<Latency>,
    /// The nearest first.
    pub levels: Vec<Level>,
    /// If there is one.
    pub pause: Option<Pause>,
    /// Loads that are slower by so many ticks: what `distribution` has to find.
    pub tails: Vec<Pause>,
    /// What can be timed with.
    pub clock: Clock,
    /// Bytes of the working set.
    pub size: u64,
    /// Hops in each trial.
    pub iters: u64,
    /// Trials.
    pub trials: u64,
    /// Of the chain, if it is not the default one.
    pub seed: Option<u64>,
    /// Whether pages of 2 MiB are asked for instead of 4 KiB.
    pub large_pages: bool,
    /// Name of the chase loop, if it is not the default one.
    pub kernel: Option<String>,
    /// How far a latency may be from the truth, as a fraction.
    pub tolerance: f64,
}

impl Model {
    /// Nodes with memory.
    pub fn targets(&self) -> u32 {
        self.nodes + self.memory_only
    }

    /// The level that holds the working set of every target.
    pub fn holding_level(&self) -> Option<&Level> {
        self.levels.iter().find(|level| level.size >= self.size * u64::from(self.targets()))
    }

    /// The ticks of a load of the steady state.
    pub fn truth(&self, latency: &Latency) -> u64 {
        self.holding_level().map_or(latency.ticks, |level| level.ticks)
    }

    /// The ticks of every load of a long run with tails, ascending.
    pub fn sorted_loads(&self, latency: &Latency) -> Vec<u64> {
        const LOADS: u64 = 1 << 20;
        let load = |number: u64| {
            let slow = self.tails.iter().filter(|tail| number.is_multiple_of(tail.every));
            self.truth(latency) + slow.map(|tail| tail.ticks).sum::<u64>()
        };
        let mut loads: Vec<u64> = (1..=LOADS).map(load).collect();
        loads.sort_unstable();
        loads
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "nodes" => self.nodes = small(value)?,
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
            "level" => {
                let [size, ways, ticks] = pieces(value, "SIZE:WAYS:TICKS")?;
                self.levels.push(Level { size: number(size)?, ways: number(ways)?, ticks: number(ticks)? });
            }
            "pause" => {
                let [every, ticks] = pieces(value, "EVERY:TICKS")?;
                self.pause = Some(Pause { every: number(every)?, ticks: number(ticks)? });
            }
            "tail" => {
                let [every, ticks] = pieces(value, "EVERY:TICKS")?;
                self.tails.push(Pause { every: number(every)?, ticks: number(ticks)? });
            }
            "clock" => {
                self.clock = match value {
                    "tsc" => Clock::Counter,
                    "kernel" => Clock::Kernel,
                    "none" => Clock::None,
                    _ => return Err("neither tsc, kernel nor none".into()),
                }
            }
            "size" => self.size = number(value)?,
            "iters" => self.iters = number(value)?,
            "trials" => self.trials = number(value)?,
            "seed" => self.seed = Some(number(value)?),
            "pages" => {
                self.large_pages = match value {
                    "4k" => false,
                    "2m" => true,
                    _ => return Err("neither 4k nor 2m".into()),
                }
            }
            "kernel" => self.kernel = Some(value.into()),
            "tolerance" => {
                let percent = value.parse::<f64>().ok().filter(|percent| *percent > 0.0);
                self.tolerance = percent.ok_or("not a positive number")? / 100.0;
            }
            _ => return Err("unknown; the words are in tests/src/lab/mod.rs".into()),
        }
        Ok(())
    }

    /// Puts the latencies in order, and refuses what has no predictable truth.
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
        let all = self.size * u64::from(self.targets());
        match self.levels.iter().find(|level| (self.size..all).contains(&level.size)) {
            Some(level) => Err(format!("a level of {} bytes holds some of the targets only", level.size)),
            None => Ok(self),
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Model {
            nodes: 1,
            memory_only: 0,
            memory: 256 << 20,
            latencies: Vec::new(),
            levels: Vec::new(),
            pause: None,
            tails: Vec::new(),
            clock: Clock::Counter,
            size: 8 << 20,
            iters: 103,
            trials: 150,
            seed: None,
            large_pages: false,
            kernel: None,
            tolerance: 0.02,
        }
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
        model.complete()
    }
}

fn pieces<'a, const N: usize>(text: &'a str, form: &str) -> Result<[&'a str; N], String> {
    let all: Vec<&str> = text.split(':').collect();
    all.try_into().map_err(|_| format!("{text} is not of the form {form}"))
}

/// A positive number with a binary suffix.
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

/// A node, or a number of nodes.
fn small(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|&value| value < 64).ok_or_else(|| format!("{text} is not a number below 64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_model() {
        let line = "nodes=1 memory-only=1 latency=0:1:5000,0:0:3000 size=1M pages=2m pause=7:8K tolerance=1";
        let model: Model = line.parse().unwrap();
        let latency = |to, ticks| Latency { from: 0, to, ticks };
        assert_eq!(model.latencies, [latency(0, 3000), latency(1, 5000)]);
        assert_eq!((model.size, model.large_pages, model.tolerance), (1 << 20, true, 0.01));
        assert_eq!(model.pause, Some(Pause { every: 7, ticks: 8192 }));
        assert_eq!(model.truth(&model.latencies[1]), 5000);
    }

    #[test]
    fn a_level_holds_all_targets_or_nothing() {
        let parse = |level: &str| {
            format!("nodes=1 memory-only=1 latency=0:0:9,0:1:9 size=1M level={level}").parse::<Model>()
        };
        assert_eq!(parse("960K:15:3").unwrap().holding_level(), None);
        assert_eq!(parse("2M:16:3").unwrap().holding_level().map(|level| level.ticks), Some(3));
        assert!(parse("1M:16:3").unwrap_err().contains("some of the targets"));
    }

    #[test]
    fn what_is_no_model_is_refused() {
        for (line, reason) in [
            ("nodes=2 latency=0:0:1,0:1:1,1:0:1", "once for each"),
            ("latency=0:0:1,0:0:2", "once for each"),
            ("latency=0:0", "FROM:TO:TICKS"),
            ("latency=0:0:9 size=0", "positive"),
            ("latency=0:0:9 clock=quartz", "neither"),
            ("latency=0:0:9 cache=1M", "unknown"),
            ("nodes", "name=value"),
        ] {
            let error = line.parse::<Model>().unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
