//! A level of load in a table.

use latency_core::stats::Estimate;

use crate::record::columns::{ColumnSet, LOAD_NODE};
use crate::record::row::Row;

/// A row of a table of loads with traffic.
pub struct TableLevel {
    /// The limit that it would be.
    pub of: Row,
    /// The number of idle latencies before it, which begin curves; `None` if it was not measured, since these rows come
    /// last.
    pub curve: Option<usize>,
    /// The number of generators.
    pub cores: u64,
    /// The rate of traffic without a pace.
    pub rate: Option<Estimate>,
}

impl TableLevel {
    /// Returns whether another level is one of the same curve.
    #[must_use]
    pub fn is_beside(&self, other: &TableLevel) -> bool {
        (other.curve.is_none() || self.curve == other.curve)
            && self.of.count(LOAD_NODE) == other.of.count(LOAD_NODE)
            && self.of.is_same(&other.of, ColumnSet::POINTS)
    }
}
