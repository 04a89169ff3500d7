//! Findings that are not points, from the experiments that seek them: independent loads, the cost of address
//! translation over spans without memory, the share of a working set that a shared cache still holds; and the tool's
//! checks of itself.

use latency_core::kernel::lanes::Filler;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::{Bytes, Estimate, Interval, LineSize, Pages, Summary, messages};

use super::point::Reach;
use crate::warning::NoCounters;
use latency_sys::Errno;

/// Findings that are not points, from the experiments that seek them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// The edge of the first-level cache, or the reason why there is none; `None` if it was not sought.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// The reach of the processor over each kind of filler; `None` if it was not sought.
    pub reach: [Option<Reach>; Filler::ALL.len()],
    /// Loads of the same lines as the walks in several orders, but without a chain; `None` without a counter, or
    /// without these loads.
    pub strided: Option<Strided>,
    /// The reason why there are no hardware counters, if they were sought.
    pub no_counters: Option<NoCounters>,
    /// The spans of addresses of each kind of pages, if they were measured.
    pub spans: [Option<SpanSeries>; KINDS],
}

/// Independent loads in address order: the inverse of throughput.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// Nanoseconds per load, over a whole pass.
    pub nanoseconds: f64,
    /// The interval of the nanoseconds over rounds; `None` with too few rounds.
    pub interval: Option<Interval>,
    /// Core cycles per load; `None` without a counter.
    pub core_cycles: Option<f64>,
    /// The number of rounds that the medians are of.
    pub rounds: usize,
}

/// Number of kinds of pages: base pages, transparent huge ones, and those of two pools.
pub const KINDS: usize = 4;
/// Number of pages of the smallest span, whose time is that of a load without a TLB miss.
pub const FEWEST_PAGES: u64 = 8;
/// Bytes of an entry of a page table, which translates one page.
pub const ENTRY: u64 = 8;
/// Maximum loads before the first batch of a visit, which bring tables into the caches.
pub const WARM_UP: u64 = 1 << 15;

/// The time of a load of one line in each of a number of pages.
#[derive(Clone, Copy, Debug)]
pub struct SpanPoint {
    /// The kind of pages.
    pub pages: Pages,
    /// The number of pages.
    pub count: u64,
    /// Nanoseconds of a load: the median over rounds.
    pub nanoseconds: f64,
    /// The interval of the nanoseconds; `None` with too few rounds.
    pub interval: Option<Interval>,
}

messages! {
    /// The reason why there is no larger span.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SpanEnd {
        /// It is the largest one that was wanted.
        Largest => "none larger was wanted (--max-size)";
        /// Populating a larger one would take too long.
        Time => "populating more takes too long";
        /// Page tables of a larger one would be a quarter of the memory that is available, or more.
        Tables => "page tables would need a quarter of the available memory";
        /// The address space of the process is limited.
        AddressSpace => "the address space is limited (ulimit -v)";
        /// A larger one would need more mappings than a process may have.
        Mappings => "a larger one needs more mappings (sysctl vm.max_map_count)";
        /// The kernel refused page tables.
        Refused(errno: Errno) => "madvise(MADV_POPULATE_READ): {errno}";
        /// The kernel gave memory in place of its page of zeros.
        Memory => "the kernel gives memory in place of its page of zeros (use_zero_page)";
        /// The kernel gave base pages in place of huge ones.
        NotHuge => "the kernel gives base pages in place of transparent huge ones";
        /// Neither the pages nor the memory of the process can be queried.
        Unproven => "neither move_pages nor /proc/self/status shows which pages these are";
        /// A load is faster than the nearest cache: the processor predicts the values.
        Predicted => "loads are faster than the nearest cache, so the processor predicts them";
    }
}

/// The spans of one kind of pages.
#[derive(Clone, Copy, Debug)]
pub struct SpanSeries {
    /// The kind of pages.
    pub pages: Pages,
    /// The largest span; zero if nothing was measured.
    pub span: Bytes,
    /// The page tables of the largest span; `None` if the kernel does not tell.
    pub tables: Option<Bytes>,
    /// The share of the page tables in the memory of the CPU's node; `None` if the kernel does not tell.
    pub tables_on_node: Option<f64>,
    /// True if the kernel said of single pages that they are the page of zeros, or that they are in a pool.
    pub queried: bool,
    /// The reason why there is no larger span.
    pub end: SpanEnd,
    /// Time of a dependent load of the largest span, as a multiple of the time of an independent one.
    pub at_once: Option<f64>,
}

/// The share of a working set that was still in the cache after a wait.
#[derive(Clone, Copy, Debug)]
pub struct Residence {
    /// The working set.
    pub size: Bytes,
    /// Nanoseconds between the last load of the fill and the first load again.
    pub wait_ns: f64,
    /// Mean nanoseconds from the load of a line to its second load.
    pub after_ns: f64,
    /// The share of lines that the second load found in a cache, as a mean over visits.
    pub share: Estimate,
    /// The look at other lines right after the first one, whose loads may have thrown them out; NaN after a wait.
    pub again: SecondLook,
    /// The number of visits.
    pub visits: usize,
    /// Interrupts that were seen during all waits; a processor on which they leave no mark shows none.
    pub interrupts: u64,
    /// The share of visits during which the kernel gave the CPU to another task.
    pub switched: f64,
}

/// The share of lines that a second look found in the cache.
#[derive(Clone, Copy, Debug)]
pub struct SecondLook {
    /// Mean nanoseconds from the load of a line to this look at it.
    pub after_ns: f64,
    /// The share, as a mean over visits.
    pub share: Estimate,
}

/// The ratio of the time per node with a node in every line to that with a node in every fourth line, at random; 1
/// without prefetching.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    /// The memory that both walks span.
    pub span: Bytes,
    /// The cache line of the machine.
    pub line: LineSize,
    /// The ratio in full random order, over rounds.
    pub random: Summary,
    /// The ratio in random order within regions of 2 MiB, over rounds.
    pub local: Summary,
    /// The ratio of the time of pointers to that of indices, in the same order, over rounds; 1 if no prefetcher follows
    /// pointers.
    pub pointer: Summary,
}

/// One point, measured again in new memory.
#[derive(Clone, Copy, Debug)]
pub struct Repeat {
    /// The working set.
    pub size: Bytes,
    /// Nanoseconds of the first measurement.
    pub first: f64,
    /// Nanoseconds of the second.
    pub second: f64,
    /// True if the first pass over the new memory was slower than every later round; `None` if it was not timed.
    pub served: Option<bool>,
}

/// The results of the tool's checks of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Health {
    /// Core cycles of a hit in the first-level cache: a whole number if the checks pass.
    pub l1_cycles: Option<f64>,
    /// The ratio of the time of a multiplication to the time of an addition: a whole number if the checks pass.
    pub multiply_ratio: Option<f64>,
    /// The prefetch audit; `None` if it was not made.
    pub audit: Option<Audit>,
    /// The comparison of a point that was measured twice; `None` if none was.
    pub repeat: Option<Repeat>,
    /// True if translation buffers treat huge pages as small ones; `None` without huge pages, or if it cannot be
    /// determined.
    pub pages_behave_as_small: Option<bool>,
}
