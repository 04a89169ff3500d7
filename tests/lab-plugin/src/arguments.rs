//! The arguments of the plugin: from `name=value` to a description of a machine.
//!
//! The grammar is in the documentation of the crate. Every error names the argument and the mistake. This module
//! depends on the types of the model, but not on QEMU.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use crate::cache::Replacement;
use crate::drift::{Burst, Drift, Noise};
use crate::memory::{self, Backend, Latency, Memory, Placing, Region};
use crate::model::{Description, Level, Machine, Scope};
use crate::pacing::Pacing;
use crate::page::PageRule;
use crate::tlb::TlbLevel;
use many::Many;
use values::{
    any_or_index, cpus, divides, exactly, index, number, page, percent, periodic, positive, switch,
};

/// An unusable argument, as it was written, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    argument: String,
    reason: String,
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "argument '{}': {}", self.argument, self.reason)
    }
}

impl std::error::Error for ArgumentError {}

/// All arguments, each parsed by itself, in order.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Addresses of the guest's code whose loads are modelled.
    pub code: Range<u64>,
    /// Addresses of the guest's code whose stamps open and close timed windows.
    pub stamps: Range<u64>,
    /// Address of the instruction that begins a run of the program.
    pub entry: Option<u64>,
    /// Addresses of routines of known arithmetic, and the ticks of each of their blocks.
    pub blocks: Vec<(Range<u64>, u64)>,
    /// Caches, translation and irregularities.
    pub description: Description,
    /// Memory ranges of the nodes, if given.
    pub regions: Vec<Region>,
    /// Memory backends of the nodes, if given instead.
    pub backends: Vec<Backend>,
    /// Latencies between nodes.
    pub latencies: Vec<Latency>,
    /// Nodes of CPUs; the other CPUs are on node 0.
    pub cpus: Vec<(RangeInclusive<usize>, u32)>,
    /// Effects of several CPUs on each other.
    pub many: Many,
    /// Compensation of the emulator's own cost.
    pub pacing: Pacing,
    /// Minimum number of hops of a timed window that the report lists.
    pub windows: Option<u64>,
    /// True to report the memory touched.
    pub probe: bool,
    /// File for the counts; standard error without it.
    pub report: Option<PathBuf>,
}

/// Arguments that may be given only once.
const SINGLE: [&str; 25] = [
    "start",
    "end",
    "stamps",
    "entry",
    "other",
    "directory-bit",
    "page",
    "tables",
    "prefetch",
    "adjacent",
    "neighbour",
    "noise",
    "drift",
    "burst",
    "outstanding",
    "cores",
    "walks",
    "slowline",
    "calls",
    "seed",
    "absorb",
    "overhead",
    "windows",
    "probe",
    "report",
];

impl Arguments {
    /// Reads `name=value` arguments.
    ///
    /// # Errors
    ///
    /// The first argument that is unknown, repeated, malformed, out of range or
    /// missing.
    pub fn parse<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Self, ArgumentError> {
        let mut all = Arguments::default();
        let mut seen: Vec<&str> = Vec::new();
        for argument in arguments {
            let error = |reason: String| ArgumentError { argument: argument.to_owned(), reason };
            let (name, value) =
                argument.split_once('=').ok_or_else(|| error("not of the form name=value".to_owned()))?;
            if SINGLE.contains(&name) && seen.contains(&name) {
                return Err(error("given twice".to_owned()));
            }
            seen.push(name);
            all.set(name, value).map_err(error)?;
        }
        let missing = |name: &str| ArgumentError {
            argument: format!("{name}=ADDRESS"),
            reason: "missing: without it firmware and kernel would be slowed down as well".to_owned(),
        };
        for name in ["start", "end"] {
            if !seen.contains(&name) {
                return Err(missing(name));
            }
        }
        if all.code.is_empty() {
            return Err(ArgumentError {
                argument: format!("end={:#x}", all.code.end),
                reason: format!("not above start={:#x}", all.code.start),
            });
        }
        Ok(all)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let pieces: Vec<&str> = value.split(':').collect();
        match name {
            "start" => self.code.start = number(value)?,
            "end" => self.code.end = number(value)?,
            "stamps" => {
                let [start, end] = exactly(&pieces, "START:END")?;
                self.stamps = number(start)?..number(end)?;
                if self.stamps.is_empty() {
                    return Err("the end is not above the start".to_owned());
                }
            }
            "entry" => self.entry = Some(number(value)?),
            "block" => {
                let [start, end, ticks] = exactly(&pieces, "START:END:TICKS")?;
                self.blocks.push((number(start)?..number(end)?, positive(ticks)?));
            }
            "level" => self.add_level(&pieces)?,
            "other" => self.description.other = Some(number(value)?),
            "directory-bit" => self.description.directory_bit = positive(value)?,
            "node" => self.add_node(&pieces)?,
            "backend" => {
                let [node, size] = exactly(&pieces, "NODE:SIZE")?;
                self.backends.push(Backend { node: index(node)?, size: positive(size)? });
            }
            "latency" => {
                let [from, to, ticks] = exactly(&pieces, "FROM:TO:TICKS")?;
                let (from, to) = (any_or_index(from)?, any_or_index(to)?);
                self.latencies.push(Latency { from, to, ticks: number(ticks)? });
            }
            "cpu" => {
                let [of, node] = exactly(&pieces, "FIRST-LAST:NODE")?;
                self.cpus.push((cpus(of)?, index(node)?));
            }
            "tlb" => self.add_tlb(&pieces)?,
            "page" => {
                self.description.page = match value {
                    "auto" => PageRule::Agreement,
                    _ => PageRule::Always(page(value).ok_or("neither auto, 4k nor 2m")?),
                }
            }
            "tables" => self.description.tables = Some(index(value)?),
            "prefetch" => self.description.prefetch = number(value)?,
            "adjacent" => self.description.adjacent = switch(value)?,
            "neighbour" => self.description.neighbour = number(value)?,
            "tail" => self.description.tails.push(periodic(&pieces)?),
            "pause" => self.description.pauses.push(periodic(&pieces)?),
            "noise" => {
                let [share, every] = exactly(&pieces, "PERCENT:EVERY")?;
                self.description.noise = Some(Noise { share: percent(share)?, every: positive(every)? });
            }
            "drift" => {
                let [share, period] = exactly(&pieces, "PERCENT:TICKS")?;
                self.description.drift = Some(Drift { share: percent(share)?, period: positive(period)? });
            }
            "burst" => {
                let [every, length, share] = exactly(&pieces, "EVERY:LENGTH:PERCENT")?;
                let (every, length) = (positive(every)?, positive(length)?);
                self.description.burst = Some(Burst { every, length, share: percent(share)? });
            }
            "seed" => self.description.seed = number(value)?,
            "absorb" => self.pacing.absorb = number(value)?,
            "overhead" => self.pacing.overhead = number(value)?,
            "windows" => self.windows = Some(positive(value)?),
            "probe" => self.probe = switch(value)?,
            "report" if value.is_empty() => return Err("no file named".to_owned()),
            "report" => self.report = Some(PathBuf::from(value)),
            _ => {
                let unknown = "unknown; known are start, end, stamps, entry, block, level, other, directory-bit, node, backend, latency, cpu, tlb, page, tables, \
                     prefetch, adjacent, neighbour, tail, pause, noise, drift, burst, stream, server, outstanding, cores, walks, cluster, cost, \
                     slowline, calls, seed, absorb, overhead, windows, probe, report";
                return self.many.set(name, &pieces).unwrap_or_else(|| Err(unknown.to_owned()));
            }
        }
        Ok(())
    }

    fn add_level(&mut self, pieces: &[&str]) -> Result<(), String> {
        let (&[size, ways, ticks], words) =
            pieces.split_first_chunk().ok_or("expected SIZE:WAYS:TICKS[:lru|random][:node|shared]")?;
        let (size, ways, ticks) = (positive(size)?, positive(ways)?, number(ticks)?);
        let row = ways
            .checked_mul(64)
            .filter(|&row| divides(row, size))
            .ok_or_else(|| format!("the size is not a multiple of its {ways} ways × 64 bytes"))?;
        let ways = usize::try_from(ways).map_err(|_| "too many ways".to_owned())?;
        let mut level =
            Level { sets: size / row, ways, ticks, replacement: Replacement::default(), scope: Scope::Cpu };
        for &word in words {
            match word {
                "lru" => level.replacement = Replacement::LeastRecentlyUsed,
                "random" => level.replacement = Replacement::Random,
                "node" => level.scope = Scope::Node,
                "shared" => level.scope = Scope::All,
                _ => return Err(format!("'{word}' is neither lru, random, node nor shared")),
            }
        }
        if self.description.levels.last().is_some_and(|last| last.scope > level.scope) {
            return Err("a level cannot lie behind one that more CPUs share".to_owned());
        }
        if size > 1 << 32 {
            return Err("more than 4G: the model itself would not fit".to_owned());
        }
        self.description.levels.push(level);
        Ok(())
    }

    fn add_node(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [node, start, size] = exactly(pieces, "NODE:START:SIZE")?;
        let region = Region { node: index(node)?, start: number(start)?, size: positive(size)? };
        let end = region.start.checked_add(region.size).ok_or("the range ends beyond 64 bits")?;
        let overlaps = |other: &&Region| region.start < other.start + other.size && other.start < end;
        if let Some(other) = self.regions.iter().find(overlaps) {
            return Err(format!(
                "overlaps {:#x}-{:#x} of node {}",
                other.start,
                other.start + other.size - 1,
                other.node
            ));
        }
        self.regions.push(region);
        Ok(())
    }

    fn add_tlb(&mut self, pieces: &[&str]) -> Result<(), String> {
        let (&[entries, ticks], words) =
            pieces.split_first_chunk().ok_or("expected ENTRIES:TICKS[:WAYSway][:4k|2m]")?;
        let entries = positive(entries)?;
        if entries > 1 << 20 {
            return Err("more than 1M entries".to_owned());
        }
        let mut level = TlbLevel { entries, miss_ticks: number(ticks)?, ways: entries, only: None };
        for &word in words {
            if let Some(ways) = word.strip_suffix("way") {
                level.ways = positive(ways)?;
            } else {
                let only = page(word).ok_or_else(|| format!("'{word}' is neither 4k, 2m nor as in 4way"))?;
                level.only = Some(only);
            }
        }
        if !divides(level.ways, entries) {
            return Err(format!("{entries} entries are not a multiple of {} ways", level.ways));
        }
        self.description.tlb.push(level);
        Ok(())
    }

    /// Returns the described machine, with `cpus` virtual CPUs under an emulator that numbers memory by the
    /// rule of `placing`.
    ///
    /// # Errors
    ///
    /// A node that is described twice or cannot be placed; a pair of nodes without a latency; page tables on a node
    /// without memory, without a TLB, or in memory with servers, since page walks do not wait for them.
    pub fn machine(&self, placing: Placing, cpus: usize) -> Result<Machine, String> {
        let mut regions = self.regions.clone();
        match (self.backends.is_empty(), regions.is_empty()) {
            (false, false) => return Err("node= and backend= exclude each other".to_owned()),
            (false, true) => regions = memory::place(&self.backends, placing)?,
            (true, true) => regions.push(Region { node: 0, start: 0, size: u64::MAX }),
            (true, false) => {}
        }
        let mut latencies = self.latencies.clone();
        if self.probe && latencies.is_empty() {
            latencies.push(Latency { from: None, to: None, ticks: 0 });
        }
        let node = |cpu: usize| {
            self.cpus.iter().rev().find(|(cpus, _)| cpus.contains(&cpu)).map_or(0, |&(_, node)| node)
        };
        let nodes: Vec<u32> = (0..cpus).map(node).collect();
        let memory = Memory::new(regions, &latencies, &nodes).map_err(|missing| missing.to_string())?;
        if let Some(tables) = self.description.tables {
            if self.description.tlb.is_empty() {
                return Err(format!("tables={tables} needs tlb="));
            }
            if self.many.has_servers() {
                return Err(format!("tables={tables} and server= exclude each other"));
            }
            if nodes.iter().any(|&from| memory.pair_of_nodes(from, tables).is_none()) {
                return Err(format!("tables={tables}: node {tables} has no memory"));
            }
        }
        Ok(Machine::new(self.description.clone(), memory, &nodes))
    }
}

mod many;
#[cfg(test)]
mod tests;
mod values;
