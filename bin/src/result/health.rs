//! The tool's own health.

use latency_core::stats::Summary;
use latency_core::units::Bytes;

/// The time of nodes in every line over that of nodes in every fourth, drawn at random: one without prefetching.
#[derive(Clone, Copy, Debug)]
pub struct Audit {
    /// The memory that both walk.
    pub span: Bytes,
    /// In full random order, over rounds.
    pub random: Summary,
    /// Within regions of 2 MiB, over rounds.
    pub local: Summary,
    /// The time of pointers over that of indices, in the same order, over rounds: one where no prefetcher follows
    /// pointers.
    pub pointer: Summary,
}

/// One point, measured again in new memory.
#[derive(Clone, Copy, Debug)]
pub struct Repeat {
    /// Its working set.
    pub size: Bytes,
    /// Nanoseconds of the first measurement.
    pub first: f64,
    /// Nanoseconds of the second.
    pub second: f64,
    /// True if the first pass over the new memory was slower than every round after it; `None` if none was timed.
    pub served: Option<bool>,
}

/// The tool's own health.
#[derive(Clone, Copy, Debug, Default)]
pub struct Health {
    /// Core cycles of a hit in the first-level cache: a whole number, if all is well.
    pub l1_cycles: Option<f64>,
    /// Time of a multiplication over that of an addition: 3, or 4.
    pub multiply_ratio: Option<f64>,
    /// The prefetch audit; `None` where it was not made.
    pub audit: Option<Audit>,
    /// The first point measured again; `None` where it was not.
    pub repeat: Option<Repeat>,
    /// True if translation buffers take huge pages for small ones; `None` where there are none, or it cannot be told.
    pub pages_behave_as_small: Option<bool>,
}
