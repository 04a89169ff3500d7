//! A level of load in a table.

use latency_core::stats::Estimate;

use crate::result::row::Row;

/// A row of a table of loads with traffic.
pub struct TableLevel {
    /// The limit that it would be.
    pub of: Row,
    /// The number of idle latencies before it, which begin curves; `None` if it was not measured, since these rows come
    /// last.
    pub curve: Option<usize>,
    /// The number of generators.
    pub cores: u32,
    /// The rate of traffic without a pace.
    pub rate: Option<Estimate>,
    /// The node of the memory of the traffic.
    pub load: Option<u32>,
}

impl TableLevel {
    /// Returns whether another level is one of the same curve.
    #[must_use]
    pub fn is_beside(&self, other: &TableLevel) -> bool {
        (other.curve.is_none() || self.curve == other.curve)
            && self.load == other.load
            && self.of.is_same(&other.of, u32::MAX)
    }
}
