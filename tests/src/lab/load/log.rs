//! The plugin's lines on load: calls of a chase, lines served meanwhile, lines touched by each kernel.
//!
//! This module reads them and judges nothing.

use crate::lab::Truth;
use crate::lab::delivered::Ordered;
use crate::lab::load::middle;
use crate::lab::plugin::PREFIX;

/// Lines of memory, by their purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Read by generators.
    pub read: u64,
    /// Written by generators.
    pub written: u64,
    /// Hops of chases.
    pub hops: u64,
    /// Brought by prefetchers.
    pub prefetched: u64,
}

/// A call of a chase, or of a kernel between cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The CPU that made it.
    pub cpu: u32,
    /// Beginning of its first hop, in ticks.
    pub from: u64,
    /// Time of its return.
    pub to: u64,
    /// Blocks of known arithmetic before the call: the guest has read the clock of its core.
    pub blocks: u64,
    /// Number of its hops.
    pub hops: u64,
    /// Modelled ticks of all hops.
    pub asked: u64,
    /// Part of these ticks that hops spent waiting for other lines.
    pub waited: u64,
    /// The longest time in which no generator requested a line, in ticks.
    pub gap: u64,
    /// Lines that all servers together had served before the call.
    pub before: Lines,
    /// Lines that they served during the call.
    pub during: Lines,
}

/// Lines that a kernel of generators on one CPU touched between two stamps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The CPU.
    pub cpu: u32,
    /// The kernel.
    pub name: String,
    /// The node of its lines.
    pub node: u32,
    /// Ticks from stamp to stamp.
    pub ticks: u64,
    /// Number of lines read and written.
    pub lines: u64,
}

/// Lines that a kernel of generators has touched.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stream {
    name: String,
    lines: Lines,
    cached: u64,
}

/// All lines of the report on load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    calls: Vec<Call>,
    between_cores: Vec<Call>,
    streams: Vec<Stream>,
    windows: Vec<Window>,
}

impl Log {
    /// Reads the plugin's report.
    pub fn parse(report: &str) -> Log {
        let mut log = Log::default();
        for fact in report.lines().filter_map(|line| line.strip_prefix(PREFIX)) {
            if let Some((kind, found)) = fact.strip_prefix("call by ").and_then(call) {
                if kind == "chase" { &mut log.calls } else { &mut log.between_cores }.push(found);
            } else if let Some(found) = fact.strip_prefix("stamped by ").and_then(window) {
                log.windows.push(found);
            } else if let Some((name, what, count)) = fact.strip_prefix("stream ").and_then(stream) {
                let place = log.streams.iter().position(|stream| stream.name == name).unwrap_or_else(|| {
                    log.streams.push(Stream { name: name.to_owned(), lines: Lines::default(), cached: 0 });
                    log.streams.len() - 1
                });
                let Stream { lines, cached, .. } = &mut log.streams[place];
                *match what {
                    "written" => &mut lines.written,
                    "cached" => cached,
                    _ => &mut lines.read,
                } += count;
            }
        }
        log
    }

    /// Returns the lines that a kernel of that name has touched.
    pub fn stream(&self, name: &str) -> Lines {
        self.streams.iter().find(|stream| stream.name == name).map_or(Lines::default(), |stream| stream.lines)
    }

    /// Returns the share of all lines touched by generators that reached memory.
    pub fn reached_memory(&self) -> f64 {
        let sum = |of: fn(&Stream) -> u64| self.streams.iter().map(of).sum::<u64>() as f64;
        1.0 - sum(|stream| stream.cached) / sum(|stream| stream.lines.read + stream.lines.written)
    }

    /// Returns the timed windows of generators.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Returns the truth of a walk by `cpu` over a chain of `lines` lines that other CPUs have, with `asked` modelled ticks
    /// for each: its time per line in the last `trials` laps. The tool times a lap over and over, and reports the last ones;
    /// others that it made before are its warm-up. Returns `None` with fewer laps.
    pub fn laps(&self, cpu: u32, lines: u64, asked: u64, trials: usize) -> Option<Truth> {
        let is_lap = |call: &&Call| (call.cpu, call.hops, call.asked) == (cpu, lines, lines * asked);
        let laps: Vec<&Call> = self.between_cores.iter().rev().filter(is_lap).take(trials).collect();
        if laps.len() < trials {
            return None;
        }
        let times = || laps.iter().map(|lap| lap.ticks() as f64 / lines as f64);
        let ordered = Ordered::new(times().map(|time| (time, 1)).collect());
        let [low, high] = [0.25, 0.75].map(|share| ordered.at(share));
        Some(Truth { asked: asked as f64, low: low?, delivered: middle(times()), high: high? })
    }

    /// Returns the calls by a CPU, grouped by run of the executable.
    ///
    /// A run begins with self-tests in a cache of the model, without any load from memory, and makes none
    /// later.
    pub fn runs(&self, cpu: u32) -> Vec<Vec<Call>> {
        let mut runs: Vec<Vec<Call>> = Vec::new();
        let mut tests = false;
        for call in self.calls.iter().filter(|call| call.cpu == cpu) {
            let is_test = call.during.hops < call.hops / 2;
            if is_test && !tests {
                runs.push(Vec::new());
            }
            tests = is_test;
            if let Some(run) = runs.last_mut().filter(|_| !is_test) {
                run.push(call.clone());
            }
        }
        runs
    }
}

/// Parses `CPU; NAME; node N; from T; to T; read N; written N`.
fn window(fact: &str) -> Option<Window> {
    let mut pieces = fact.split("; ");
    let (cpu, name) = (pieces.next()?.parse().ok()?, pieces.next()?.to_owned());
    let node = pieces.next()?.strip_prefix("node ")?.parse().ok()?;
    let mut number = |name: &str| pieces.next()?.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok();
    let (from, to) = (number("from")?, number("to")?);
    Some(Window { cpu, name, node, ticks: to - from, lines: number("read")? + number("written")? })
}

/// Parses `NAME read|written|cached COUNT`.
fn stream(fact: &str) -> Option<(&str, &str, u64)> {
    let mut words = fact.split(' ');
    Some((words.next()?, words.next()?, words.next()?.parse().ok()?))
}

/// Parses `CPU; KIND; from T; to T; blocks N; hops N; asked T; waited T; gap T; SERVER read N+N written N+N
/// hops N+N prefetched N+N; ...`.
fn call(fact: &str) -> Option<(&str, Call)> {
    let mut pieces = fact.split("; ");
    let (cpu, kind) = (pieces.next()?.parse().ok()?, pieces.next()?);
    let mut number = |name: &str| pieces.next()?.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok();
    let (from, to) = (number("from")?, number("to")?);
    let (blocks, hops) = (number("blocks")?, number("hops")?);
    let (asked, waited, gap) = (number("asked")?, number("waited")?, number("gap")?);
    let mut call = Call { cpu, from, to, blocks, hops, asked, waited, gap, ..Call::default() };
    for server in pieces {
        let words: Vec<&str> = server.split(' ').collect();
        let counts = words.len().checked_sub(8).and_then(|first| words.get(first..))?;
        let mut add = |place: usize, of: fn(&mut Lines) -> &mut u64| {
            let (before, during) = counts.get(place)?.split_once('+')?;
            *of(&mut call.before) += before.parse::<u64>().ok()?;
            *of(&mut call.during) += during.parse::<u64>().ok()?;
            Some(())
        };
        add(1, |lines| &mut lines.read)?;
        add(3, |lines| &mut lines.written)?;
        add(5, |lines| &mut lines.hops)?;
        add(7, |lines| &mut lines.prefetched)?;
    }
    Some((kind, call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_streams_are_read() {
        let log = Log::parse(
            "latency-lab: loads 9\n\
             latency-lab: stream update2 read 40\n\
             latency-lab: stream update2 written 20\n\
             latency-lab: stream update2 cached 15\n\
             latency-lab: call by 1; chase; from 5; to 9; blocks 3; hops 2; asked 4; waited 1; gap 3; \
             node 0 read 10+1 written 20+2 hops 30+2 prefetched 4+7; link read 100+0 written 200+0 hops 300+0 prefetched 1+0\n\
             latency-lab: stamped by 1; copy; node 2; from 30; to 90; read 7; written 5\n\
             latency-lab: call by 0; cores; from 5; to 9; blocks 3; hops 2; asked 4; waited 1; gap 0\n",
        );
        assert_eq!(log.stream("update2"), Lines { read: 40, written: 20, ..Lines::default() });
        assert_eq!(log.reached_memory(), 0.75);
        assert_eq!(log.stream("copy"), Lines::default());
        let expected = Call {
            cpu: 1,
            from: 5,
            to: 9,
            blocks: 3,
            hops: 2,
            asked: 4,
            waited: 1,
            gap: 3,
            before: Lines { read: 110, written: 220, hops: 330, prefetched: 5 },
            during: Lines { read: 1, written: 2, hops: 2, prefetched: 7 },
        };
        assert_eq!(log.calls, [expected]);
        assert_eq!(log.between_cores.iter().map(|call| (call.cpu, call.hops)).collect::<Vec<_>>(), [(0, 2)]);
        assert_eq!(log.windows, [Window { cpu: 1, name: "copy".into(), node: 2, ticks: 60, lines: 12 }]);
    }

    #[test]
    fn laps_are_found_by_their_length_and_their_modelled_time() {
        let lap = |cpu, to, asked| Call { cpu, from: 100, to, hops: 4, asked, ..Call::default() };
        let between_cores = vec![lap(0, 508, 400), lap(0, 512, 400), lap(0, 904, 800), lap(1, 900, 400)];
        let log = Log { between_cores, calls: vec![lap(0, 116, 400)], ..Log::default() };
        let delivered = |lines, asked, trials| log.laps(0, lines, asked, trials).map(|truth| truth.delivered);
        let both = Truth { asked: 100.0, low: 102.0, delivered: 102.5, high: 103.0 };
        assert_eq!(log.laps(0, 4, 100, 2), Some(both));
        assert_eq!([delivered(4, 100, 1), delivered(4, 200, 1)], [Some(103.0), Some(201.0)]);
        assert_eq!([delivered(4, 100, 3), delivered(4, 300, 1), delivered(5, 80, 1)], [None; 3]);
    }

    #[test]
    fn runs_begin_with_calls_that_a_cache_serves() {
        let call = |hops, served| Call {
            hops,
            during: Lines { hops: served, ..Lines::default() },
            ..Call::default()
        };
        let calls = vec![call(900, 64), call(900, 0), call(50, 50), call(70, 70), call(900, 0), call(60, 60)];
        let runs = Log { calls, ..Log::default() }.runs(0);
        let hops: Vec<Vec<u64>> = runs.iter().map(|run| run.iter().map(|call| call.hops).collect()).collect();
        assert_eq!(hops, [vec![50, 70], vec![60]]);
    }
}
