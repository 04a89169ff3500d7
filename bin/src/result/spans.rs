//! The cost of address translation by the span of addresses, where no memory is behind them.

use core::fmt;
use latency_core::stats::Interval;
use latency_core::units::{Bytes, Pages};

use crate::sys::errno::Errno;

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

/// The reason why there is no larger span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// It is the largest one that was wanted.
    Largest,
    /// Populating a larger one would take too long.
    Time,
    /// Page tables of a larger one would be a quarter of the memory that is available, or more.
    Tables,
    /// The address space of the process is limited.
    AddressSpace,
    /// A larger one would need more mappings than a process may have.
    Mappings,
    /// The kernel refused page tables.
    Refused(Errno),
    /// The kernel gave memory in place of its page of zeros.
    Memory,
    /// The kernel gave base pages in place of huge ones.
    NotHuge,
    /// Neither the pages nor the memory of the process can be queried.
    Unproven,
    /// A load is faster than the nearest cache: the processor predicts the values.
    Predicted,
}

impl fmt::Display for SpanEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            SpanEnd::Largest => "none larger was wanted (--max-size)",
            SpanEnd::Mappings => "a larger one needs more mappings (sysctl vm.max_map_count)",
            SpanEnd::Time => "populating more takes too long",
            SpanEnd::Tables => "page tables would need a quarter of the available memory",
            SpanEnd::AddressSpace => "the address space is limited (ulimit -v)",
            SpanEnd::Refused(errno) => return write!(out, "madvise(MADV_POPULATE_READ): {errno}"),
            SpanEnd::Memory => "the kernel gives memory in place of its page of zeros (use_zero_page)",
            SpanEnd::NotHuge => "the kernel gives base pages in place of transparent huge ones",
            SpanEnd::Unproven => "neither move_pages nor /proc/self/status shows which pages these are",
            SpanEnd::Predicted => "loads are faster than the nearest cache, so the processor predicts them",
        };
        fmt::Display::fmt(&words, out)
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
