//! The report at the end: `latency-lab: NAME VALUE`, one fact in each line, for a test to read.
//!
//! This module only uses counts.

use std::fmt::{self, Write};
use std::ops::RangeInclusive;

use crate::calls::Call;
use crate::delivered::{Class, Windows};
use crate::directory::Directory;
use crate::memory::Pair;
use crate::model::{Counts, Source};
use crate::pacing::Pace;
use crate::server::Lines;
use crate::stamped::Window;
use crate::timed::Key;
use crate::traffic::Traffic;

/// Prefix of every line.
pub const PREFIX: &str = "latency-lab:";

/// All counts.
pub struct Report<'a> {
    /// Counts of the model.
    pub counts: &'a Counts,
    /// Pairs of nodes, in the order of the counts.
    pub pairs: &'a [Pair],
    /// Counts of the clock, over all CPUs.
    pub pace: &'a Pace,
    /// Timed windows, over all CPUs.
    pub windows: &'a Windows,
    /// Activity of generators and servers.
    pub traffic: &'a Traffic,
    /// Transfers of lines between CPUs.
    pub directory: Option<&'a Directory>,
    /// Kept calls, with the CPU that made them.
    pub calls: &'a [(usize, Call)],
    /// Timed windows of generators, with their CPU.
    pub stamped: &'a [(usize, Window)],
    /// Accesses by other code that QEMU attributed to the loops.
    pub foreign: u64,
    /// Stores, which are not modelled.
    pub stores: u64,
    /// Accesses without an address in memory, which are not modelled.
    pub devices: u64,
    /// Touched memory, if requested.
    pub touched: Option<&'a [RangeInclusive<u64>]>,
}

impl Report<'_> {
    /// Returns the name of a class of windows.
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

    /// Writes the effects of CPUs on each other.
    fn write_traffic(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.traffic.is_modelled() {
            for stream in &self.traffic.streams {
                let (name, (read, written)) = (&stream.kernel.name, stream.lines());
                writeln!(out, "{PREFIX} stream {name} read {read}")?;
                writeln!(out, "{PREFIX} stream {name} written {written}")?;
                writeln!(out, "{PREFIX} stream {name} cached {}", stream.cached())?;
            }
            writeln!(out, "{PREFIX} unclaimed lines {}", self.traffic.unclaimed())?;
            for (place, Lines { read, written, hops, prefetched }) in self.traffic.servers.lines() {
                writeln!(out, "{PREFIX} server {place} read {read}")?;
                writeln!(out, "{PREFIX} server {place} written {written}")?;
                writeln!(out, "{PREFIX} server {place} hops {hops}")?;
                writeln!(out, "{PREFIX} server {place} prefetched {prefetched}")?;
            }
        }
        for (name, tally) in self.directory.map(Directory::tallies).unwrap_or_default() {
            writeln!(out, "{PREFIX} cores {name}; {tally}")?;
        }
        for (cpu, call) in self.calls {
            writeln!(out, "{PREFIX} call by {cpu}; {call}")?;
        }
        for (cpu, window) in self.stamped {
            writeln!(out, "{PREFIX} stamped by {cpu}; {window}")?;
        }
        Ok(())
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
        for (pair, loads) in self.pairs.iter().zip(&counts.paid) {
            let Pair { from, to, .. } = pair;
            writeln!(out, "{PREFIX} node {from} to node {to} loads after another node's {loads}")?;
        }
        writeln!(out, "{PREFIX} other node's cache loads {}", counts.other)?;
        writeln!(out, "{PREFIX} unclaimed loads {}", counts.unclaimed)?;
        for (level, misses) in (1..).zip(&counts.tlb_misses) {
            writeln!(out, "{PREFIX} tlb {level} misses {misses}")?;
        }
        for (level, hits) in (1..).zip(&counts.walk_hits) {
            writeln!(out, "{PREFIX} page walk level {level} hits {hits}")?;
        }
        for (pair, loads) in self.pairs.iter().zip(&counts.walk_pairs) {
            writeln!(out, "{PREFIX} page walk node {} to node {} loads {loads}", pair.from, pair.to)?;
        }
        writeln!(out, "{PREFIX} page walk other node's cache loads {}", counts.walk_other)?;
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
            writeln!(out, "{PREFIX} windows {}; count {windows}; sum {sum}; {excesses}", self.name(class))?;
        }
        for (blocks, excesses) in self.windows.arithmetic() {
            writeln!(out, "{PREFIX} arithmetic of {blocks}; {excesses}")?;
        }
        for (hops, [every, other]) in self.windows.by_hops() {
            writeln!(out, "{PREFIX} timed by {hops}, hops {every}")?;
            writeln!(out, "{PREFIX} timed by {hops}, from the other node's cache {other}")?;
        }
        for (Key { run, pair, hops }, served, excesses) in self.windows.timed() {
            let Some(Pair { from, to, .. }) = pair.and_then(|pair| self.pairs.get(pair)) else { continue };
            write!(out, "{PREFIX} timed in run {run}; node {from} to node {to}; by {hops}; ")?;
            writeln!(out, "windows {}; {served}; {excesses}", excesses.windows)?;
        }
        for (Key { run, pair, hops }, listed) in self.windows.listed() {
            let Some(Pair { from, to, .. }) = pair.and_then(|pair| self.pairs.get(pair)) else { continue };
            writeln!(out, "{PREFIX} listed in run {run}; node {from} to node {to}; by {hops}; {listed}")?;
        }
        self.write_traffic(out)?;
        for range in self.touched.unwrap_or_default() {
            writeln!(out, "{PREFIX} touched {:#x}-{:#x}", range.start(), range.end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::{Cost, Operation, Rules};
    use crate::model::Outcome;
    use crate::server::{Lines, Place, Servers, Service};
    use crate::traffic::Kernel;

    #[test]
    fn every_fact_has_its_line() {
        let counts = Counts {
            loads: 9,
            hits: vec![3, 4],
            pairs: vec![2],
            paid: vec![1],
            walk_hits: vec![6],
            walk_pairs: vec![5],
            ..Counts::default()
        };
        let mut windows = Windows::listing(Some(1));
        windows.open(100);
        let (source, pair) = (Source::Memory(0), Some(0));
        windows.hop(
            0x7f40,
            &Outcome {
                ticks: 500,
                tail: 0,
                translation: 30,
                misses: 1,
                pause: 0,
                source,
                pair,
                paid: true,
                prefetched: 0,
            },
        );
        windows.close(607);
        windows.keep();
        windows.open(700);
        windows.close(790);
        windows.open(800);
        windows.block(256);
        windows.close(1060);
        windows.keep();
        let rules = Rules {
            costs: vec![Cost { class: None, operation: None, state: None, ticks: 70 }],
            ..Rules::default()
        };
        let directory = Directory::new(&rules, 1).unwrap();
        directory.note(&directory.access(0, 0, 0, Operation::Store).unwrap(), 75);
        let service = Service { ticks: 9, congestion: None };
        let servers = Servers::new(&[0], &[(Place::Node(0), service)]).unwrap();
        let kernel = Kernel { code: 0..9, name: "copy".to_owned() };
        let traffic = Traffic::new(vec![kernel], servers, 1, 8);
        for is_store in [true, false, true] {
            traffic.post(0, &traffic.streams[0], Some(Pair { from: 0, to: 0, ticks: 5 }), is_store, 0);
        }
        let (before, after) = (vec![(Place::Node(0), Lines::default())], traffic.servers.lines());
        let (from, to, blocks) = (5, 9, 3);
        let call =
            Call { kind: "chase", from, to, blocks, hops: 1, asked: 4, waited: 2, gap: 7, before, after };
        let report = Report {
            traffic: &traffic,
            directory: Some(&directory),
            calls: &[(3, call)],
            stamped: &[(2, Window { name: "copy", node: 1, from: 5, to: 9, read: 4, written: 3 })],
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
            "node 0 to node 1 loads after another node's 1",
            "gap p50 none",
            "empty window 90",
            "arithmetic of 1; excess 4:1",
            "timed by 1, hops 1",
            "timed by 1, from the other node's cache 0",
            "timed in run 0; node 0 to node 1; by 1; windows 1; memory 1; paid 1; own caches 0; other caches 0; asked 500; \
             excess 7:1",
            "listed in run 0; node 0 to node 1; by 1; lowest 0x7f40; 0x7f40:0x7f40:470:30:7",
            "page walk level 1 hits 6",
            "page walk node 0 to node 1 loads 5",
            "page walk other node's cache loads 0",
            "windows node 0 to node 1; misses 1; hops 1; tail 0; count 1; sum 7; excess 7:1",
            "stream copy read 1",
            "stream copy written 2",
            "stream copy cached 0",
            "server node 0 prefetched 0",
            "unclaimed lines 0",
            "server node 0 read 1",
            "server node 0 written 2",
            "server node 0 hops 0",
            "cores memory store i; count 1; asked 70; imposed 75",
            "call by 3; chase; from 5; to 9; blocks 3; hops 1; asked 4; waited 2; gap 7; \
             node 0 read 0+1 written 0+2 hops 0+0 prefetched 0+0",
            "stamped by 2; copy; node 1; from 5; to 9; read 4; written 3",
            "touched 0x0-0xfffff",
        ] {
            assert!(text.lines().any(|found| found == format!("latency-lab: {line}")), "{line} in\n{text}");
        }
        assert!(text.lines().all(|line| line.starts_with(PREFIX)));
    }
}
