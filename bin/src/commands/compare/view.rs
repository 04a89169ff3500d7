//! The view of two sides: the result of a comparison, and the conditions that a reader must know.

use latency_core::math::exp;
use latency_core::text::Text;

use crate::analysis::comparison::significance::HALF;
use crate::analysis::comparison::{Comparison, DifferingPart, Files, PointPair, CURVE};
use crate::options::Options;

/// A condition that differs.
#[derive(Clone, Copy)]
pub struct Differs {
    /// Its name for programs.
    pub what: &'static str,
    /// Its name for people.
    pub words: &'static str,
    /// Its values on both sides.
    pub sides: [Text<128>; 2],
    /// True if it forbids a verdict.
    pub blocks: bool,
}

/// Everything that is shown of two sides.
pub struct ComparisonView<'v> {
    /// The files of both sides.
    pub files: Files<'v>,
    /// The paths of both sides.
    pub paths: [&'v [&'v [u8]]; 2],
    /// The comparison.
    pub comparison: &'v Comparison,
    /// The conditions that differ.
    pub differs: &'v [Differs],
    /// True if the conditions are alike, or the user forces a verdict.
    pub judged: bool,
    /// The median ratio.
    pub median: f64,
    /// The options.
    pub options: &'v Options<'v>,
    /// Points of both sides without the value that is judged, which are left out.
    pub without: [usize; 2],
    /// The slowdown of the slower points, if there are any.
    pub slower_by: Option<f64>,
    /// The parts that are slower and faster.
    pub parts: [&'v [DifferingPart<'v>]; 2],
}

impl ComparisonView<'_> {
    /// Returns the difference of the whole that would be beyond chance, unless that is ten times A.
    pub fn shows_from(&self) -> Option<f64> {
        const LARGEST: f64 = 10.0;
        let least = HALF * self.comparison.whole.error;
        Some((exp(least) - 1.0).max(self.options.threshold)).filter(|from| *from < LARGEST)
    }

    /// Returns whether both sides are curves.
    pub fn is_curve(&self) -> bool {
        let pairs = self.comparison.pairs();
        let larger =
            |two: &&[PointPair]| matches!(two, [one, other] if one.row.sample.size < other.row.sample.size);
        pairs.windows(2).filter(larger).count() + 1 >= CURVE
    }
}
