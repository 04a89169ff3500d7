//! The traffic of generators beside a walk, as the walk sees it.

use latency_core::units::NodeId;

/// The lines of all running generators, and the time of the count.
#[derive(Clone, Copy, Debug)]
pub struct TrafficReading {
    /// The lines of 64 bytes.
    pub lines: u64,
    /// The time, in ticks of the counter.
    pub ticks: u64,
}

/// Traffic beside a walk.
pub trait TrafficBeside {
    /// Returns the number of times that the quota of CPU time stopped the generators, if it is known.
    fn stops(&self) -> Option<u64>;

    /// Begins a window during which all generators must run throughout.
    fn begin_window(&self);

    /// Returns true if other work took a CPU from a generator since the window began.
    fn has_lost(&self) -> bool;

    /// Returns whether the rate became steady before the window.
    fn is_steady(&self) -> bool;

    /// Reads the current count of lines; the rate is the difference of two readings. Returns `None` without a counter.
    fn read(&self) -> Option<TrafficReading>;

    /// Returns lines per nanosecond since an earlier reading; NaN without one.
    fn rate_since(&self, before: Option<TrafficReading>) -> f64;

    /// Returns the clock of the uncore that serves the memory of a node; NaN if it is unknown.
    fn uncore_gigahertz(&self, node: NodeId) -> f64;
}
