//! Two sides of results of one experiment: the ratio of each point, and the differences beyond threshold and chance.
//!
//! Differences are sought in the parts in which machines differ: the whole, a pair, row, column or node of a matrix, a
//! run of sizes of a curve. A part is compared with the other points of the same runs, since these drift together.

mod groups;
mod join;
mod pair;
mod parts;
pub mod significance;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;
use latency_core::math::{exp, ln};
use latency_core::sort::sort_by;
use latency_core::stats::{self, Interval};

pub use groups::{CURVE, PointGroup};
pub use join::{Files, Join, conditions, obstacle};
pub use pair::{ComparisonVerdict, PointPair};
pub use parts::DifferingPart;

use groups::Measured;
use join::ends;
use significance::{Difference, HALF};

use crate::record::columns::{PAGES_OBTAINED, VERIFIED};

/// Factor by which all points must outnumber a part for the difference to be attributed to the part, and not to the
/// other points.
const MINORITY: usize = 4;

/// All points that both sides have.
pub struct Comparison {
    measured: Measured,
    /// The difference of the whole, as a logarithm.
    pub whole: Difference,
    /// True if the whole differs beyond threshold and chance. If it does not, parts are compared with the other points.
    pub is_whole: bool,
    /// The kinds of pages that the two sides obtained, if they differ.
    pub pages: Option<[String; 2]>,
    /// True for each side with proven placement, if only one side has proof.
    pub proof: Option<[bool; 2]>,
}

impl Comparison {
    /// Returns the assumed difference between one file of each side as a whole, as a fraction.
    #[must_use]
    pub fn assumed(&self) -> f64 {
        self.measured.experience(|_| true).whole
    }

    /// Compares two sides; differences up to `threshold`, a fraction of the first side, count as equal.
    #[must_use]
    pub fn new(files: &Files<'_>, threshold: f64) -> Comparison {
        let join = Join::of(files);
        let first = files.first(0);
        let mut found = Comparison {
            measured: Measured::new(files.counts, join),
            whole: Difference::default(),
            is_whole: false,
            pages: None,
            proof: None,
        };
        // Curves are refined around their own knees, so that two curves share at least the coarse grid if they have the
        // same first and last sizes. Otherwise, points are interpolated.
        let shared =
            (0..first.len()).filter(|index| join.find(first, *index, files.first(1)).is_some()).count();
        for index in 0..first.len() {
            found.join(files, join, index, shared * 2 < first.len());
        }
        found.measured.arrange();
        found.judge(ln(1.0 + threshold));
        found
    }

    /// Adds a point of the first file, if both sides have it.
    fn join(&mut self, files: &Files<'_>, join: Join, index: usize, between: bool) {
        let first = files.first(0);
        let Some(row) = first.get(index) else { return };
        let [ours, _] = files.counts;
        let mut interpolated = false;
        let mut same = |file: usize| {
            let (side, place) = if file < ours { (0, file) } else { (1, file - ours) };
            let rows = (files.rows)(side, place);
            join.find(first, index, rows).or_else(|| {
                let found = join.between(row, rows).filter(|_| between);
                interpolated |= found.is_some();
                found
            })
        };
        // Count, sum of logarithms and sum of squares of relative errors, by side.
        let mut sums = [(0.0, 0.0, 0.0); 2];
        for (file, value) in self.measured.values.iter_mut().enumerate() {
            *value = f64::NAN;
            let Some(other) = same(file) else { continue };
            *value = ln(other.nanoseconds());
            let relative = ends(&other).relative_half_width(other.nanoseconds()) / HALF;
            let [first, second] = &mut sums;
            let (count, logarithms, squares) = if file < ours { first } else { second };
            *count += 1.0;
            *logarithms += *value;
            *squares += relative * relative;
            let pages = [row, &other].map(|row| row.word(PAGES_OBTAINED));
            if pages.iter().all(|pages| !pages.is_empty()) && pages[0] != pages[1] {
                self.pages.get_or_insert_with(|| pages.map(String::from));
            }
            if let (Some(one), Some(two)) = (row.flag(VERIFIED), other.flag(VERIFIED))
                && one != two
            {
                self.proof.get_or_insert([one, two]);
            }
        }
        if sums.iter().any(|(count, ..)| *count == 0.0) {
            return;
        }
        let means = sums.map(|(count, logarithms, _)| logarithms / count);
        let pair = PointPair {
            row: row.clone(),
            nanoseconds: means.map(exp),
            interpolated,
            interval: Interval { low: f64::NAN, high: f64::NAN },
            verdict: ComparisonVerdict::Same,
            excess: 0.0,
            logarithm: means[1] - means[0],
            within: sums.iter().map(|(count, _, squares)| squares / count).sum::<f64>() / 2.0,
            rank: 0,
        };
        self.measured.push(pair, means[0]);
    }

    /// Decides which points differ; `allowed` is the logarithm of the threshold.
    fn judge(&mut self, allowed: f64) {
        let measured = &mut self.measured;
        let count = measured.pairs.len();
        let mut single = Vec::new();
        for index in 0..count {
            let found =
                measured.differs(if count > 1 { PointGroup::Point(index) } else { PointGroup::Whole });
            let error = found.map_or(f64::NAN, |(found, _)| found.error);
            if let Some(pair) = measured.pairs.get_mut(index) {
                let ratio = ln(pair.ratio());
                pair.interval = Interval { low: exp(ratio - HALF * error), high: exp(ratio + HALF * error) };
            }
            single.push(found);
        }
        self.whole = measured.differs(PointGroup::Whole).map_or(Difference::default(), |found| found.0);
        self.is_whole = self.whole.score.abs() >= HALF && self.whole.size.abs() > allowed;

        let is_whole = self.is_whole;
        let mut tried = Vec::new();
        measured.each_group(&mut |group| tried.push((group, Difference::default(), 0.0)));
        for (group, difference, rest) in &mut tried {
            let found = match *group {
                PointGroup::Point(index) => single.get(index).copied().flatten(),
                group => measured.differs(group),
            };
            (*difference, *rest) = found.unwrap_or_default();
        }
        sort_by(&mut tried, |(one, first, _), (other, second, _)| {
            second.score.abs().total_cmp(&first.score.abs()).then(one.cmp(other))
        });
        let scores: Vec<f64> = tried.iter().map(|(_, difference, _)| difference.score).collect();
        if is_whole {
            measured.mark(PointGroup::Whole, self.whole.size.signum(), 0.0, allowed);
        }
        for (group, difference, rest) in tried.iter().take(significance::rejected(&scores)) {
            // A difference that the other points share is drift of the runs, unless the whole differs significantly.
            let base = if is_whole { 0.0 } else { *rest };
            let effect = difference.size + rest - base;
            // Of two parts that differ from each other, the smaller one has changed, or the one with the larger change.
            let changed = is_whole
                || measured.members(*group).count() * MINORITY <= count
                || (difference.size + rest).abs() >= rest.abs();
            if changed && effect.abs() > allowed && effect * difference.size > 0.0 {
                measured.mark(*group, effect.signum(), base, allowed);
            }
        }
    }

    /// Returns the points in the order of the first file.
    #[must_use]
    pub fn pairs(&self) -> &[PointPair] {
        &self.measured.pairs
    }

    /// Returns the points with a verdict.
    pub fn of_verdict(&self, verdict: ComparisonVerdict) -> impl Iterator<Item = &PointPair> + Clone {
        self.pairs().iter().filter(move |pair| pair.verdict == verdict)
    }

    /// Returns the number of points with a verdict.
    #[must_use]
    pub fn count(&self, verdict: ComparisonVerdict) -> usize {
        self.of_verdict(verdict).count()
    }

    /// Returns the median of all ratios; `None` without points.
    #[must_use]
    pub fn median_ratio(&self) -> Option<f64> {
        median(&mut self.pairs().iter().map(PointPair::ratio))
    }

    /// Returns the median difference of the points with a verdict, as a fraction of the first side; `None` if there are
    /// none.
    #[must_use]
    pub fn by(&self, verdict: ComparisonVerdict) -> Option<f64> {
        median(&mut self.of_verdict(verdict).map(PointPair::ratio)).map(|ratio| ratio - 1.0)
    }
}

impl Measured {
    /// Sets the verdict of the points of a group that differ from `base` in a direction by more than is allowed.
    fn mark(&mut self, group: PointGroup, direction: f64, base: f64, allowed: f64) {
        for index in 0..self.pairs.len() {
            let is_member = self.holds(group, index);
            let Some(pair) = self.pairs.get_mut(index).filter(|_| is_member) else { continue };
            let excess = pair.logarithm - base;
            // A point that takes no longer is not slower just because other points have become faster.
            let beyond = direction * pair.logarithm > 0.0
                && direction * excess > allowed
                && excess.abs() > pair.excess.abs();
            if beyond {
                pair.excess = excess;
                pair.verdict =
                    if excess > 0.0 { ComparisonVerdict::Slower } else { ComparisonVerdict::Faster };
            }
        }
    }
}

/// Returns the median of some values; `None` without values.
pub fn median(values: &mut dyn Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    stats::median(&mut values)
}
