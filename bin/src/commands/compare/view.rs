//! The data that `compare` shows about the two sides.

use alloc::vec::Vec;

use latency_core::math::exp;
use latency_core::text::Text;

use super::differs::Differs;
use crate::analysis::comparison::significance::HALF;
use crate::analysis::comparison::{CURVE, Comparison, DifferingPart, PointPair};
use crate::error::Regression;
use crate::options::Options;
use crate::record::columns::ColumnSet;
use crate::saved::{self, Saved};

/// The detectable difference above which a comparison is useless, because it would miss differences that matter.
const BLIND: f64 = 0.2;

/// The data that `compare` shows about the two sides.
pub struct ComparisonView<'v> {
    /// The results of both sides.
    pub sides: [&'v [Saved]; 2],
    /// The paths of both sides.
    pub paths: [&'v [&'v [u8]]; 2],
    /// The experiment of both sides; empty if it is unknown.
    pub experiment: &'v str,
    /// The comparison.
    pub comparison: &'v Comparison<'v>,
    /// The conditions that differ.
    pub differs: &'v [Differs],
    /// True if there is a verdict: the conditions are alike, or the user forces one.
    pub judged: bool,
    /// The median of the ratios B/A.
    pub median: f64,
    /// The options.
    pub options: &'v Options<'v>,
    /// Number of points of each side that are left out because they lack the requested value.
    pub without: [usize; 2],
    /// True if memory without address translation is compared.
    pub of_memory: bool,
    /// For each side, true if a point tells memory and address translation apart.
    pub parts_of: [bool; 2],
    /// The outcome, if B is slower.
    pub regression: Option<Regression>,
    /// The parts that are slower and faster.
    pub parts: [Vec<DifferingPart<'v>>; 2],
    /// The fields that identify a point for readers.
    pub naming: ColumnSet,
}

impl ComparisonView<'_> {
    /// Returns whether nothing is slower, and differences that matter would be missed.
    pub fn is_blind(&self) -> bool {
        self.regression.is_none() && self.shows_from().is_none_or(|from| from >= BLIND)
    }

    /// Returns the smallest relative difference of the whole that would be significant; `None` if it is above tenfold.
    pub fn shows_from(&self) -> Option<f64> {
        const LARGEST: f64 = 10.0;
        let least = HALF * self.comparison.whole.error;
        Some((exp(least) - 1.0).max(self.options.threshold)).filter(|from| *from < LARGEST)
    }

    /// Returns whether both sides are curves.
    pub fn is_curve(&self) -> bool {
        let pairs = self.comparison.pairs();
        let larger = |two: &&[PointPair]| matches!(two, [one, other] if one.row.size() < other.row.size());
        pairs.windows(2).filter(larger).count() + 1 >= CURVE
    }
}

/// Returns the name of the first file of a side.
pub fn first_name(paths: &[&[u8]]) -> Text<256> {
    saved::shown(paths.first().copied().unwrap_or_default())
}
