//! What is shown of two sides: the result of a comparison, and what a reader must know beside it.

use latency_core::math::exp;
use latency_core::text::Text;

use crate::analysis::comparison::significance::HALF;
use crate::analysis::comparison::{Comparison, Files, Pair, Part as Differing, CURVE};
use crate::options::Of;

/// A condition that differs.
#[derive(Clone, Copy)]
pub struct Differs {
    /// Its name for programs.
    pub what: &'static str,
    /// Its name for people.
    pub words: &'static str,
    /// What it is on both sides.
    pub sides: [Text<128>; 2],
    /// Whether it forbids a verdict.
    pub blocks: bool,
}

/// What is shown of two sides.
pub struct View<'v> {
    /// The files of both sides.
    pub files: Files<'v>,
    /// The paths of both sides.
    pub paths: [&'v [&'v [u8]]; 2],
    /// What the comparison found.
    pub comparison: &'v Comparison,
    /// What differs besides the latencies.
    pub differs: &'v [Differs],
    /// The conditions are alike, or the user does not mind.
    pub judged: bool,
    /// The median ratio.
    pub median: f64,
    /// The value that is judged.
    pub of: Of,
    /// Points of both sides without that value, which are left out.
    pub without: [usize; 2],
    /// By how much the slower points are slower, where there are any.
    pub slower_by: Option<f64>,
    /// The parts that are slower and faster.
    pub parts: [&'v [Differing<'v>]; 2],
    /// The difference that is allowed, as a fraction.
    pub threshold: f64,
}

impl View<'_> {
    /// Returns the difference of the whole that would be beyond chance, unless that is ten times A.
    pub fn shows_from(&self) -> Option<f64> {
        const LARGEST: f64 = 10.0;
        let least = HALF * self.comparison.whole.error;
        Some((exp(least) - 1.0).max(self.threshold)).filter(|from| *from < LARGEST)
    }

    /// Whether two columns of sides are a curve.
    pub fn is_curve(&self) -> bool {
        let pairs = self.comparison.pairs();
        let larger =
            |two: &&[Pair]| matches!(two, [one, other] if one.row.sample.size < other.row.sample.size);
        pairs.windows(2).filter(larger).count() + 1 >= CURVE
    }
}
