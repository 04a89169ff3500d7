//! A point that both sides of a comparison have.

use latency_core::stats::Interval;

use crate::record::row::Row;

/// The verdict on the difference of one point between both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// The difference is within the threshold or within the uncertainty.
    Same,
    /// The second side is slower, beyond threshold and uncertainty.
    Slower,
    /// The second side is faster, beyond threshold and uncertainty.
    Faster,
}

/// A point that both sides have.
#[derive(Clone, Debug)]
pub struct PointPair {
    /// The point's row in the first file.
    pub row: Row,
    /// The latencies of both sides; means of the logarithms where there are several files.
    pub nanoseconds: [f64; 2],
    /// True if the latency of the second side is interpolated between two points.
    pub interpolated: bool,
    /// The interval of the ratio, from the spread within and between runs.
    pub interval: Interval,
    /// The meaning of the difference.
    pub verdict: ComparisonVerdict,
    /// Its difference from the unchanged points, as a logarithm; set with the verdict.
    pub(super) excess: f64,
    /// The logarithm of the ratio.
    pub(super) logarithm: f64,
    /// The variance within runs, averaged over both sides.
    pub(super) within: f64,
}

impl PointPair {
    /// Returns the second latency over the first.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.nanoseconds[1] / self.nanoseconds[0]
    }
}
