//! The hops that each run of the executable timed, by source of the line, with the durations of its windows.
//!
//! Several runs of one boot are kept apart. Read from the plugin's report; the plugin's documentation has the
//! form of the lines.

use super::boot::boot_all;
use super::chains::Listing;
use super::delivered::Ordered;
use super::plugin::{Counts, PREFIX};
use super::{Model, Truth};
use crate::vm::Console;

/// Windows of a pair that have the same number of hops.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The run of the executable, counted from 1.
    pub run: usize,
    /// The node of the CPU.
    pub from: u32,
    /// The node of the lines.
    pub to: u32,
    /// Number of hops of a window.
    pub hops: u64,
    /// Hops served by memory.
    pub memory: u64,
    /// Hops among these that were slower because another node had read the line last.
    pub paid: u64,
    /// Hops served by the caches of the own node.
    pub own: u64,
    /// Hops served by the cache of another node.
    pub other: u64,
    /// Modelled ticks of all hops.
    pub asked: u64,
    /// Excess ticks per hop, without those of the stamps, and the number of windows with this excess.
    excess: Vec<(f64, u64)>,
}

impl Timed {
    /// Returns the number of hops.
    pub fn all(&self) -> u64 {
        self.memory + self.own + self.other
    }

    /// Returns the share of the windows whose excess is above `more` ticks per hop.
    pub fn late(&self, more: f64) -> f64 {
        let count =
            |windows: &mut dyn Iterator<Item = &(f64, u64)>| windows.map(|(_, count)| count).sum::<u64>();
        let late = count(&mut self.excess.iter().filter(|(excess, _)| *excess > more));
        late as f64 / count(&mut self.excess.iter()) as f64
    }

    /// Returns the latency of a hop if another node's cache served none and no hop paid for another node's
    /// read: `memory` ticks from memory, and `own` ticks from the own cache, as often as in these windows. It
    /// includes the host's part of these windows.
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
    /// The timed windows of all runs, one by one.
    pub listing: Listing,
    timed: Vec<Timed>,
}

impl<const N: usize> Runs<N> {
    /// Boots `model`, and runs the executable with each of `runs`.
    ///
    /// # Errors
    ///
    /// Fails if executable, plugin or emulator are missing, or if the guest does not end.
    pub fn boot(model: &Model, runs: [&str; N]) -> Result<Self, String> {
        let (consoles, report) = boot_all(model, runs)?;
        Ok(Runs { consoles, listing: Listing::parse(&report), timed: parse(&report) })
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

/// Parses `N; node N to node N; by N; windows N; memory N; paid N; own caches N; other caches N; asked N;
/// excess TICKS:COUNT …`.
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
