//! The tool's checks of itself.

use latency_core::stats::Summary;
use latency_core::units::{Bytes, LineSize};

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
    /// The ratio of the time of a multiplication to that of an addition: 3 or 4.
    pub multiply_ratio: Option<f64>,
    /// The prefetch audit; `None` if it was not made.
    pub audit: Option<Audit>,
    /// The first point measured again; `None` if it was not.
    pub repeat: Option<Repeat>,
    /// True if translation buffers treat huge pages as small ones; `None` without huge pages, or if it cannot be
    /// determined.
    pub pages_behave_as_small: Option<bool>,
}
