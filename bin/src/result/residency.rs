//! The share of a working set that a shared cache still holds some time after it was loaded.

use latency_core::stats::Estimate;
use latency_core::units::Bytes;

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
