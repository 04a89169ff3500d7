//! A point that both sides of a comparison have.

use latency_core::stats::Interval;

use crate::result::row::Row;

/// The meaning of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// Within the threshold, or within the uncertainty.
    Same,
    /// The second is slower beyond both.
    Slower,
    /// The second is faster beyond both.
    Faster,
}

/// One point of both sides.
#[derive(Clone, Copy, Debug)]
pub struct PointPair {
    /// The point, as the first file has it.
    pub row: Row,
    /// The latencies of both sides; means of the logarithms where there are several files.
    pub nanoseconds: [f64; 2],
    /// True if the second is between two points.
    pub interpolated: bool,
    /// The interval of the ratio, by what lies within and between runs.
    pub interval: Interval,
    /// The meaning of the difference.
    pub verdict: ComparisonVerdict,
    /// By how much it differs from the points that do not, as a logarithm, where the verdict says so.
    pub(super) excess: f64,
    /// The logarithm of the ratio.
    pub(super) logarithm: f64,
    /// The variance within runs, of both sides on average.
    pub(super) within: f64,
    /// Its place in the order of kinds and sizes.
    pub(super) rank: usize,
}

impl PointPair {
    /// Returns the second latency over the first.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.nanoseconds[1] / self.nanoseconds[0]
    }
}
