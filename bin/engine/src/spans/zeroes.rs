//! A span of addresses for translation alone: mapped, populated piece by piece within limits, and shown to have no
//! memory of its own.

use latency_core::host::Footprint;
use latency_core::topology::files::number;
use latency_core::topology::{Files, Topology};
use latency_core::{Bytes, NodeId, PageSize, Pages, Pcg32, ToReal};

use crate::error::{Attempt, MeasureError};
use crate::machine::Machine;
use crate::result::extra::ENTRY;
use crate::result::{SpanEnd, SpanSeries};
use latency_sys::zero_pages::ZeroPages;
use latency_sys::{Errno, SystemFiles, cpu, numa, signal, time};

/// Maximum bytes that are populated between two checks for an interrupt, time and memory: 10 to 50 ms of base pages.
const PIECE: usize = 64 << 20;
/// Minimum bytes of the first piece, which may turn out to be memory; it is one huge page.
const FIRST_PIECE: usize = 2 << 20;
/// Bytes by which the memory of this process may grow for other reasons.
const GROWTH: Bytes = Bytes::MIB;
/// Bytes by which available memory may fall because of other processes, and the factor over the page tables.
const OTHERS: (f64, f64) = (268_435_456.0, 1.3);
/// Maximum share of the available memory that page tables may need.
const TABLES_SHARE: u64 = 4;
/// Number of mappings that are left for everything else, and the file with their maximum.
const SPARE_MAPPINGS: u64 = 1000;
const MAPPINGS: &str = "/proc/sys/vm/max_map_count";
/// Largest share by which page tables of other processes may change the growth of a node's.
const OTHER_TABLES: f64 = 0.2;
/// Number of pages whose kind is queried.
const QUERIED: usize = 64;

/// A span, if there is one, and its description.
pub struct Span {
    /// The description.
    pub series: SpanSeries,
    /// The addresses; `None` if nothing can be measured.
    pub zeroes: Option<ZeroPages>,
    /// The size of its pages.
    pub page: PageSize,
}

impl Span {
    /// Maps and populates at most `most` bytes of a kind of pages, within `populate_ns`. The page tables come from `node`,
    /// if the process may choose that.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`].
    pub fn new(
        machine: &Machine,
        node: NodeId,
        pages: Pages,
        most: Bytes,
        populate_ns: f64,
    ) -> Attempt<Span> {
        let page = machine.size_of(pages);
        let mut end = SpanEnd::Largest;
        let first = FIRST_PIECE.max(page.bytes().0 as usize);
        let mut length = (most.0 as usize).max(first);
        let mapped = loop {
            let mapped = match pages.pool() {
                Some(page) => ZeroPages::of_pool(length, page),
                None => ZeroPages::map(length, first, !pages.are_base()),
            };
            match mapped {
                Err(Errno::ENOMEM) if length > first => (length, end) = (length / 2, SpanEnd::AddressSpace),
                mapped => break mapped,
            }
        };
        let series = SpanSeries {
            pages,
            span: Bytes(0),
            tables: None,
            tables_on_node: None,
            queried: false,
            end,
            at_once: None,
        };
        let mut span = Span { series, zeroes: None, page };
        match mapped {
            Err(errno) => span.series.end = SpanEnd::Refused(errno),
            Ok(zeroes) => {
                let is_bound = numa::bind(Some(&numa::only(node))).is_ok();
                let filled = span.fill(machine, node, zeroes, populate_ns);
                if is_bound {
                    // The policy before was set by the same call.
                    _ = numa::bind(machine.bound_to.as_ref());
                }
                filled?;
            }
        }
        Ok(span)
    }

    /// Populates the addresses as far as the limits allow, and keeps them if they are what they have to be.
    fn fill(&mut self, machine: &Machine, node: NodeId, zeroes: ZeroPages, populate_ns: f64) -> Attempt {
        let available = || machine.supply_now(&SystemFiles, node).map(|supply| supply.bytes().0);
        let (own, mut memory, begun) = (Footprint::read(&SystemFiles), available(), time::now_ns());
        let of_nodes = tables_of_nodes(&SystemFiles, &machine.topology, node);
        // A table of base pages is set aside for each transparent huge page, too.
        let pool = self.series.pages.pool();
        let mapped = pool.unwrap_or(machine.page).bytes().0;
        let mappings = pool.and_then(|_| number(&SystemFiles, format_args!("{MAPPINGS}")));
        let mut populated = 0;
        while populated < zeroes.len() {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            let first = FIRST_PIECE.max(self.page.bytes().0 as usize);
            let piece = populated.clamp(first, PIECE.max(first)).min(zeroes.len() - populated);
            let pages = (populated + piece) as u64 / mapped;
            let tables = pages * ENTRY;
            let end = match () {
                () if populated > 0 && time::now_ns() - begun > populate_ns => Some(SpanEnd::Time),
                () if memory.is_some_and(|memory| tables > memory / TABLES_SHARE) => Some(SpanEnd::Tables),
                () if mappings.is_some_and(|most: u64| pages + SPARE_MAPPINGS > most) => {
                    Some(SpanEnd::Mappings)
                }
                () => None,
            };
            if let Some(end) = end {
                self.series.end = end;
                break;
            }
            let faults = || cpu::thread_usage().ok().map(|usage| usage.minor_faults);
            let before = faults();
            if let Err(errno) = zeroes.populate(populated..populated + piece) {
                self.series.end = SpanEnd::Refused(errno);
                break;
            }
            let made = faults().zip(before).map(|(after, before)| after.saturating_sub(before));
            // Each huge page is one fault; others may come between.
            let huge = self.page.bytes().0 > machine.page.bytes().0;
            let few = piece as u64 / self.page.bytes().0 * 2 + 16;
            let grown = Footprint::read(&SystemFiles).zip(own);
            let mut is_memory = grown.is_some_and(|(now, own)| now.resident.0 > own.resident.0 + GROWTH.0);
            if let Some((before, now)) = memory.zip(available())
                && before.saturating_sub(now).real() > tables.real() * OTHERS.1 + OTHERS.0
            {
                // Other processes have taken memory, if these pages are still those of zeros.
                is_memory |= self.query(&zeroes, (populated + piece) as u64) != Some(true);
                memory = Some(now);
            }
            if is_memory {
                self.series.end = SpanEnd::Memory;
                return Ok(());
            }
            if huge && made.is_some_and(|made| made > few) {
                self.series.end = SpanEnd::NotHuge;
                return Ok(());
            }
            populated += piece;
        }
        let now = Footprint::read(&SystemFiles);
        self.series.tables =
            now.zip(own).map(|(now, own)| Bytes(now.page_tables.0.saturating_sub(own.page_tables.0)));
        let grown = tables_of_nodes(&SystemFiles, &machine.topology, node).zip(of_nodes);
        self.series.tables_on_node =
            grown.and_then(|(now, before)| share_of_growth(before, now, self.series.tables?));
        let span = populated.checked_ilog2().map_or(0, |log| 1_usize << log);
        self.series.span = Bytes(span as u64);
        if span > 0 {
            self.zeroes = Some(zeroes);
            self.prove(own.is_some());
        }
        Ok(())
    }

    /// Queries random pages of the first `length` bytes. Returns true if each is the page of zeros, or that of a pool;
    /// `None` without an answer.
    fn query(&self, zeroes: &ZeroPages, length: u64) -> Option<bool> {
        let (page, mut rng) = (self.page.bytes().0, Pcg32::new(1, 0x7a65_726f));
        let count = length / page;
        let mut places = [0; QUERIED];
        places.fill_with(|| zeroes.address() + (rng.next_u64() % count.max(1) * page) as usize);
        let mut nodes = [0; QUERIED];
        numa::query_pages(&places, &mut nodes).ok()?;
        let is_shared = |node: &i32| match self.series.pages.pool() {
            Some(_) => *node >= 0,
            None => *node == -Errno::EFAULT.code(),
        };
        Some(nodes.iter().all(is_shared))
    }

    /// Shows that no memory is behind the addresses. Without an answer of the kernel about single pages the memory of the
    /// process has to show it: `seen` is true if the kernel told it. Otherwise the addresses are given up.
    pub fn prove(&mut self, seen: bool) {
        let Some(zeroes) = &self.zeroes else { return };
        let answer = self.query(zeroes, self.series.span.0);
        self.series.queried = answer == Some(true);
        match answer {
            Some(true) => {}
            Some(false) => self.give_up(SpanEnd::Memory),
            None if seen => {}
            None => self.give_up(SpanEnd::Unproven),
        }
    }

    /// Releases the addresses, so that there are no spans of this kind of pages.
    pub fn give_up(&mut self, end: SpanEnd) {
        (self.series.end, self.series.span, self.zeroes) = (end, Bytes(0), None);
    }

    /// Returns the number of pages.
    pub fn count(&self) -> u64 {
        self.series.span.0 / self.page.bytes().0
    }
}

/// Returns the page tables in the memory of `node`, and in that of all nodes; `None` if the kernel does not tell.
fn tables_of_nodes(files: &impl Files, topology: &Topology, node: NodeId) -> Option<[Bytes; 2]> {
    let of = |node: NodeId| topology.node_now(files, node)?.page_tables;
    let all = topology.nodes().iter().map(|node| of(node.id));
    let sum: Option<u64> = all.map(|tables| Some(tables?.0)).sum();
    Some([of(node)?, Bytes(sum?)])
}

/// Returns the share of the first amount in the growth of the second; `None` if the growth is not that of `tables`, since
/// other processes have page tables, too.
fn share_of_growth(before: [Bytes; 2], now: [Bytes; 2], tables: Bytes) -> Option<f64> {
    let [here, all] = [0, 1].map(|which| now[which].0.saturating_sub(before[which].0).real());
    let is_own = all > 0.0 && (all / tables.0.real() - 1.0).abs() < OTHER_TABLES;
    is_own.then_some((here / all).min(1.0))
}

/// Returns the numbers of pages to begin with, up to `most`: octaves, and halves of them as far as TLBs have entries.
pub fn counts(most: u64) -> impl Iterator<Item = u64> + Clone {
    const HALVES: core::ops::Range<u64> = 32..4096;
    let octaves = (3..u64::BITS).map(|octave| 1 << octave).take_while(move |count| *count <= most);
    octaves.flat_map(move |count: u64| {
        let half = (HALVES.contains(&count) && count / 2 * 3 <= most).then_some(count / 2 * 3);
        [Some(count), half].into_iter().flatten()
    })
}

/// Returns a number of pages between two others, in the middle; `None` if they are near each other.
///
/// It is a multiple of at least eight: so the order of the pages has random parts.
pub fn between(low: u64, high: u64) -> Option<u64> {
    const LEAST: u64 = 8;
    const PARTS: u64 = 64;
    let step = LEAST.max(low.checked_ilog2().map_or(0, |log| 1_u64 << log) / PARTS);
    let middle = (low + high) / 2 / step * step;
    (low < middle && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::CpuSet;
    use std::boxed::Box;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    /// The page tables of every node in kilobytes; the kernel does not tell those of a node with `None`.
    struct Nodes([Option<u64>; 3]);

    impl Files for Nodes {
        fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            let content = match path.strip_prefix("/sys/devices/system/node/")? {
                "online" | "possible" | "has_memory" => String::from("0-2\n"),
                // The third node has memory alone.
                "node0/cpulist" => String::from("0\n"),
                "node1/cpulist" => String::from("1\n"),
                "node2/cpulist" => String::from("\n"),
                path => {
                    let node = path.strip_prefix("node")?.strip_suffix("/meminfo")?;
                    let tables = self.0[node.parse::<usize>().ok()?];
                    let tables = tables.map(|tables| format!("Node {node} PageTables: {tables} kB\n"));
                    format!("Node {node} MemTotal: 1000000 kB\n{}", tables.unwrap_or_default())
                }
            };
            let read = buffer.get_mut(..content.len())?;
            read.copy_from_slice(content.as_bytes());
            Some(read)
        }
    }

    /// Returns the share of a node in the growth of page tables between two states of all nodes, for a process whose own
    /// tables grew by 1 MiB.
    fn share(node: u32, states: [[Option<u64>; 3]; 2]) -> Option<f64> {
        let mut topology = Box::new(Topology::EMPTY);
        topology.read(&Nodes(states[0]), &(0..CpuSet::CAPACITY).collect());
        assert_eq!(topology.nodes().len(), 3);
        let [before, now] = states.map(|state| tables_of_nodes(&Nodes(state), &topology, NodeId(node)));
        share_of_growth(before?, now?, Bytes::MIB)
    }

    #[test]
    fn page_tables_belong_to_the_node_whose_tables_grow() {
        let before = [Some(4096), Some(900), Some(16)];
        let all_on_the_first = [Some(4096 + 1024), Some(900), Some(16)];
        let shares = |now| [0, 1, 2].map(|node| share(node, [before, now]));
        assert_eq!(shares(all_on_the_first), [Some(1.0), Some(0.0), Some(0.0)]);
        let divided = [Some(4096 + 256), Some(900), Some(16 + 768)];
        assert_eq!(shares(divided), [Some(0.25), Some(0.0), Some(0.75)]);
        // Another process gave up tables on the second node in the meantime.
        let less = [Some(4096 + 1024), Some(880), Some(16)];
        let [first, second, _] = shares(less).map(Option::unwrap);
        assert_eq!((first, second), (1.0, 0.0));
    }

    #[test]
    fn growth_of_other_page_tables_names_no_node() {
        let before = [Some(4096), Some(900), Some(16)];
        // Page tables of other processes grow by the same amount, or nothing grows, or the kernel is silent about a node.
        let others = [Some(4096 + 1024), Some(900 + 1024), Some(16)];
        let some = [Some(4096 + 1024), None, Some(16)];
        let found: Vec<_> = [others, before, some].into_iter().map(|now| share(0, [before, now])).collect();
        assert_eq!(found, [None; 3]);
    }
}
