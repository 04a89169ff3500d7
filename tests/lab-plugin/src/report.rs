//! What the plugin says at the end: `latency-lab: NAME VALUE`, one fact a line,
//! for a test to read.
//!
//! It sees counts only.

use std::fmt::{self, Write};
use std::ops::RangeInclusive;

use crate::delivered::{Class, Windows};
use crate::memory::Pair;
use crate::model::{Counts, Source};
use crate::pacing::Pace;

/// Begins every line.
pub const PREFIX: &str = "latency-lab:";

/// Everything that was counted.
pub struct Report<'a> {
    /// By the model.
    pub counts: &'a Counts,
    /// The pairs of nodes that it counted.
    pub pairs: &'a [Pair],
    /// By the clock, over all CPUs.
    pub pace: &'a Pace,
    /// What was delivered, over all CPUs.
    pub windows: &'a Windows,
    /// Accesses by other code that QEMU took for the loops'.
    pub foreign: u64,
    /// Stores, which are not modelled.
    pub stores: u64,
    /// Accesses without an address in memory, which are not modelled.
    pub devices: u64,
    /// Memory touched, if it was asked for.
    pub touched: Option<&'a [RangeInclusive<u64>]>,
}

impl Report<'_> {
    /// The name of a class of windows.
    fn name(&self, class: &Class) -> String {
        let source = match class.source {
            None => "mixed".to_owned(),
            Some(Source::Level(level)) => format!("level {}", level + 1),
            Some(Source::Memory(pair)) => match self.pairs.get(pair) {
                Some(Pair { from, to, .. }) => format!("node {from} to node {to}"),
                None => "unclaimed".to_owned(),
            },
            Some(Source::Other) => "other node".to_owned(),
            Some(Source::Unclaimed) => "unclaimed".to_owned(),
        };
        format!("{source}; misses {}; hops {}; tail {}", class.misses, class.hops, class.tail)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts;
        writeln!(out, "{PREFIX} loads {}", counts.loads)?;
        for (level, hits) in (1..).zip(&counts.hits) {
            writeln!(out, "{PREFIX} level {level} hits {hits}")?;
        }
        for (pair, loads) in self.pairs.iter().zip(&counts.pairs) {
            writeln!(out, "{PREFIX} node {} to node {} loads {loads}", pair.from, pair.to)?;
        }
        writeln!(out, "{PREFIX} other node's cache loads {}", counts.other)?;
        writeln!(out, "{PREFIX} unclaimed loads {}", counts.unclaimed)?;
        for (level, misses) in (1..).zip(&counts.tlb_misses) {
            writeln!(out, "{PREFIX} tlb {level} misses {misses}")?;
        }
        writeln!(out, "{PREFIX} large page loads {}", counts.large)?;
        writeln!(out, "{PREFIX} tails {}", counts.tails)?;
        writeln!(out, "{PREFIX} pauses {}", counts.pauses)?;
        writeln!(out, "{PREFIX} modelled ticks {}", counts.ticks)?;
        writeln!(out, "{PREFIX} foreign accesses {}", self.foreign)?;
        writeln!(out, "{PREFIX} stores {}", self.stores)?;
        writeln!(out, "{PREFIX} devices {}", self.devices)?;
        writeln!(out, "{PREFIX} late hops {}", self.pace.late)?;
        writeln!(out, "{PREFIX} hurried hops {}", self.pace.hurried)?;
        writeln!(out, "{PREFIX} disturbed hops {}", self.pace.disturbed)?;
        writeln!(out, "{PREFIX} disturbed ticks {}", self.pace.disturbed_ticks)?;
        for percent in [10, 50, 90, 99] {
            let mut gap = String::from("none");
            if let Some(ticks) = self.pace.gaps.percentile(percent) {
                gap.clear();
                write!(gap, "{ticks}")?;
            }
            writeln!(out, "{PREFIX} gap p{percent} {gap}")?;
        }
        if let Some(ticks) = self.windows.empty() {
            writeln!(out, "{PREFIX} empty window {ticks}")?;
        }
        for (class, excesses) in self.windows.kept() {
            let (windows, sum) = (excesses.windows, excesses.sum);
            write!(out, "{PREFIX} windows {}; count {windows}; sum {sum}; excess", self.name(class))?;
            for (ticks, count) in excesses.counts() {
                write!(out, " {ticks}:{count}")?;
            }
            writeln!(out)?;
        }
        for (hops, served) in self.windows.served() {
            writeln!(out, "{PREFIX} timed by {hops}, hops {}", served.hops)?;
            writeln!(out, "{PREFIX} timed by {hops}, from the other node's cache {}", served.other)?;
        }
        for range in self.touched.unwrap_or_default() {
            writeln!(out, "{PREFIX} touched {:#x}-{:#x}", range.start(), range.end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Outcome;

    #[test]
    fn every_fact_has_its_line() {
        let counts = Counts { loads: 9, hits: vec![3, 4], pairs: vec![2], ..Counts::default() };
        let mut windows = Windows::default();
        windows.open(100);
        windows.hop(&Outcome { ticks: 500, tail: 0, misses: 1, pause: 0, source: Source::Memory(0) });
        windows.close(607);
        windows.keep();
        windows.open(700);
        windows.close(790);
        let report = Report {
            windows: &windows,
            counts: &counts,
            pairs: &[Pair { from: 0, to: 1, ticks: 5 }],
            pace: &Pace::default(),
            foreign: 0,
            stores: 1,
            devices: 0,
            touched: Some(&[0..=0xfffff]),
        };
        let text = report.to_string();
        for line in [
            "loads 9",
            "level 2 hits 4",
            "node 0 to node 1 loads 2",
            "gap p50 none",
            "empty window 90",
            "timed by 1, hops 1",
            "timed by 1, from the other node's cache 0",
            "windows node 0 to node 1; misses 1; hops 1; tail 0; count 1; sum 7; excess 7:1",
            "touched 0x0-0xfffff",
        ] {
            assert!(text.lines().any(|found| found == format!("latency-lab: {line}")), "{line} in\n{text}");
        }
        assert!(text.lines().all(|line| line.starts_with(PREFIX)));
    }
}
