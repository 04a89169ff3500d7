//! The hops that each run of the executable timed, by what served them, and what its windows really took.
//!
//! Several runs of one boot are told apart. Read from the plugin's report, whose documentation has the form of the
//! lines.

use super::boot::boot_all;
use super::delivered::Ordered;
use super::plugin::{Counts, PREFIX};
use super::{Model, Truth};
use crate::vm::Console;

/// The hops of the windows of a pair that have the same number of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The run of the executable, counted from 1.
    pub run: usize,
    /// The node of the CPU.
    pub from: u32,
    /// The node of the lines.
    pub to: u32,
    /// The hops of a window.
    pub hops: u64,
    /// Hops that memory served.
    pub memory: u64,
    /// Hops of these that took longer since another node had read the line last.
    pub paid: u64,
    /// Hops that the caches of the own node served.
    pub own: u64,
    /// Hops that the cache of another node served.
    pub other: u64,
    /// Ticks that all of them were to take.
    pub asked: u64,
    /// Ticks a hop that were not asked for, without those of the stamps; and how many windows had them.
    excess: Vec<(f64, u64)>,
}

impl Timed {
    /// Counts all of the hops.
    pub fn all(&self) -> u64 {
        self.memory + self.own + self.other
    }

    /// Returns the share of the windows that took longer than was asked for by more than `more` ticks a hop.
    pub fn late(&self, more: f64) -> f64 {
        let count =
            |windows: &mut dyn Iterator<Item = &(f64, u64)>| windows.map(|(_, count)| count).sum::<u64>();
        let late = count(&mut self.excess.iter().filter(|(excess, _)| *excess > more));
        late as f64 / count(&mut self.excess.iter()) as f64
    }

    /// Returns what a hop takes where none is served by another node's cache and none pays for what another node has
    /// read: from memory in `memory` ticks, and from the own cache, as often as in these windows, in `own` ticks. The
    /// host's part of these windows is in it.
    pub fn alone(&self, memory: u64, own: u64) -> Truth {
        let asked = (self.memory * memory + self.own * own) as f64 / (self.memory + self.own) as f64;
        let excess = Ordered::new(self.excess.clone());
        let at = |share| asked + excess.at(share).unwrap_or(0.0);
        Truth { asked, low: at(0.05), delivered: at(0.5), high: at(0.75) }
    }
}

/// Runs of the executable in one boot.
#[derive(Clone, Debug)]
pub struct Runs<const N: usize> {
    /// Console output of each.
    pub consoles: [Console; N],
    timed: Vec<Timed>,
}

impl<const N: usize> Runs<N> {
    /// Boots `model`, and runs the executable with each of `runs`.
    ///
    /// # Errors
    ///
    /// When executable, plugin or emulator are missing, or the guest does not end.
    pub fn boot(model: &Model, runs: [&str; N]) -> Result<Self, String> {
        let (consoles, report) = boot_all(model, runs)?;
        Ok(Runs { consoles, timed: parse(&report) })
    }

    /// Returns the windows of `hops` hops that a run, counted from 0, timed for a pair.
    pub fn timed(&self, run: usize, from: u32, to: u32, hops: u64) -> Option<&Timed> {
        let wanted = (run + 1, from, to, hops);
        self.timed.iter().find(|timed| (timed.run, timed.from, timed.to, timed.hops) == wanted)
    }
}

/// Reads the report of a plugin.
fn parse(report: &str) -> Vec<Timed> {
    let empty = Counts(report.to_owned()).count("empty window") as f64;
    let facts = report.lines().filter_map(|line| line.strip_prefix(PREFIX)?.strip_prefix("timed in run "));
    facts.filter_map(|fact| timed(fact, empty)).collect()
}

/// `N; node N to node N; by N; windows N; memory N; paid N; own caches N; other caches N; asked N; excess TICKS:COUNT
/// …`.
fn timed(fact: &str, empty: f64) -> Option<Timed> {
    let mut pieces = fact.split("; ");
    let run = pieces.next()?.parse().ok()?;
    let (from, to) = pieces.next()?.strip_prefix("node ")?.split_once(" to node ")?;
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    let mut number = |name: &str| pieces.next()?.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok();
    let (hops, _) = (number("by")?, number("windows")?);
    let (memory, paid, own) = (number("memory")?, number("paid")?, number("own caches")?);
    let (other, asked) = (number("other caches")?, number("asked")?);
    let excess = pieces.next()?.strip_prefix("excess ")?.split(' ').map(|pair| {
        let (ticks, count) = pair.split_once(':')?;
        Some((ticks.parse::<f64>().ok()? - empty / hops as f64, count.parse().ok()?))
    });
    let excess = excess.collect::<Option<_>>()?;
    Some(Timed { run, from, to, hops, memory, paid, own, other, asked, excess })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_are_read_by_run_and_pair() {
        let found = parse(
            "latency-lab: empty window 90\n\
             latency-lab: timed by 9, hops 20\n\
             latency-lab: timed in run 2; node 1 to node 0; by 9; windows 2; memory 15; paid 3; own caches 2; other caches 1; \
             asked 900; excess 12:1 30:1\n\
             latency-lab: timed in run 2; node 1 to node 0; by 9\n",
        );
        let [timed] = &found[..] else { panic!("{found:?}") };
        assert_eq!((timed.run, timed.from, timed.to, timed.hops, timed.all()), (2, 1, 0, 9, 18));
        assert_eq!((timed.paid, timed.own, timed.other, timed.asked), (3, 2, 1, 900));
        let truth = timed.alone(100, 15);
        assert_eq!((truth.asked, truth.delivered, truth.high), (90.0, 92.0, 110.0));
        assert_eq!([timed.late(1.0), timed.late(2.0), timed.late(20.0)], [1.0, 0.5, 0.0]);
    }
}
