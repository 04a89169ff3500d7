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
    /// The number of visits.
    pub visits: usize,
    /// The share of visits during which the kernel gave the CPU to another task.
    pub switched: f64,
}
