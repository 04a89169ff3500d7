//! Two sides of results of one experiment: the ratio of each point, and what differs beyond threshold and chance.
//!
//! A difference is looked for where machines differ: in the whole, in a pair, row, column or node of a matrix, in a run
//! of sizes of a curve. A part is compared with the other points of the same runs, since these drift together.

mod groups;
mod join;
mod parts;
pub mod significance;
#[cfg(test)]
mod tests;

use latency_core::math::{exp, ln};
use latency_core::sort::sort_by;
use latency_core::stats::{self, Interval};

pub use groups::{PointGroup, CURVE};
pub use join::{conditions, obstacle, Files, Join};
pub use parts::DifferingPart;

use groups::Measured;
use join::ends;
use significance::{Difference, HALF};

use crate::result::row::{Row, Word};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// Least number of parts for one of them to differ from the others, and not the others from it.
const MINORITY: usize = 4;

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
    excess: f64,
}

impl PointPair {
    /// Returns the second latency over the first.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.nanoseconds[1] / self.nanoseconds[0]
    }
}

/// Something that is one way on one side and another way on the other, and at how many points.
#[derive(Clone, Copy, Debug)]
pub struct Unlike<T> {
    /// On both sides.
    pub sides: [T; 2],
    /// The points at which they differ.
    pub points: usize,
}

/// All points that both sides have.
pub struct Comparison {
    measured: Measured,
    pairs: Table<PointPair>,
    /// The difference of the whole, as a logarithm.
    pub whole: Difference,
    /// True if the whole differs beyond threshold and chance. Where it does not, parts differ from the other points.
    pub is_whole: bool,
    /// The pages that were obtained, where they differ.
    pub pages: Option<Unlike<Word>>,
    /// True if the placement was proven, where one side alone has proof.
    pub proof: Option<Unlike<bool>>,
}

impl Comparison {
    /// Returns the assumed difference of one file a side from the next as a whole, as a fraction.
    #[must_use]
    pub fn assumed(&self) -> f64 {
        self.measured.experience(|_| true).whole
    }

    /// Compares two sides; differences up to `threshold`, a fraction of the first, are none.
    ///
    /// # Errors
    ///
    /// The error of mapping the tables.
    pub fn new(files: &Files<'_>, threshold: f64) -> Result<Comparison, Errno> {
        let join = Join::of(files);
        let first = files.first(0);
        let mut found = Comparison {
            measured: Measured::new(first.len(), files.counts, join)?,
            pairs: Table::made(first.len(), |_| PointPair::new(&Row::EMPTY, [f64::NAN; 2], false))?,
            whole: Difference::default(),
            is_whole: false,
            pages: None,
            proof: None,
        };
        // Curves are refined where their own knees are, so that they share the coarse grid at least, if they begin
        // and end alike. Where they do not, what lies between two points has to do.
        let shared = first.iter().filter(|row| join.find(row, files.first(1)).is_some()).count();
        for row in first {
            found.join(files, join, row, shared * 2 < first.len());
        }
        found.measured.arrange();
        found.judge(ln(1.0 + threshold))?;
        Ok(found)
    }

    /// Adds a point of the first file, if both sides have it.
    fn join(&mut self, files: &Files<'_>, join: Join, row: &Row, between: bool) {
        let [ours, theirs] = files.counts;
        let mut interpolated = false;
        let mut same = |file: usize| {
            let (side, index) = if file < ours { (0, file) } else { (1, file - ours) };
            let rows = (files.rows)(side, index);
            join.find(row, rows).or_else(|| {
                let found = join.between(row, rows).filter(|_| between);
                interpolated |= found.is_some();
                found
            })
        };
        // Sums of logarithms and squares of relative errors, by side.
        let mut sums = [(0.0, 0.0, 0.0); 2];
        for file in 0..ours + theirs {
            let Some(other) = same(file) else { continue };
            self.measured.note(file, other.sample.nanoseconds);
            let relative = ends(&other).relative_half_width(other.sample.nanoseconds) / HALF;
            let [first, second] = &mut sums;
            let (count, logarithms, squares) = if file < ours { first } else { second };
            *count += 1.0;
            *logarithms += ln(other.sample.nanoseconds);
            *squares += relative * relative;
            if !row.pages.is_empty() && !other.pages.is_empty() && row.pages != other.pages {
                self.pages.get_or_insert(Unlike { sides: [row.pages, other.pages], points: 0 }).points += 1;
            }
            if let (Some(one), Some(two)) = (row.verified, other.verified) {
                if one != two {
                    self.proof.get_or_insert(Unlike { sides: [one, two], points: 0 }).points += 1;
                }
            }
        }
        if sums.iter().any(|(count, ..)| *count == 0.0) {
            return;
        }
        let within = sums.iter().map(|(count, _, squares)| squares / count).sum::<f64>() / 2.0;
        let index = self.measured.count;
        self.measured.push(*row, within);
        let nanoseconds = sums.map(|(count, logarithms, _)| exp(logarithms / count));
        if let Some(slot) = self.pairs.get_mut(index) {
            *slot = PointPair::new(row, nanoseconds, interpolated);
        }
    }

    /// Decides which points differ, by the logarithm of what is allowed.
    fn judge(&mut self, allowed: f64) -> Result<(), Errno> {
        let Comparison { measured, pairs, .. } = self;
        let count = measured.count;
        let pairs = pairs.get_mut(..count).unwrap_or_default();
        let mut single = Table::filled(count, None)?;
        for ((index, pair), single) in pairs.iter_mut().enumerate().zip(single.iter_mut()) {
            let ratio = ln(pair.ratio());
            let group = if count > 1 { PointGroup::Point(index) } else { PointGroup::Whole };
            *single = measured.differs(group);
            let error = single.map_or(f64::NAN, |(found, _)| found.error);
            pair.interval = Interval { low: exp(ratio - HALF * error), high: exp(ratio + HALF * error) };
        }
        self.whole = measured.differs(PointGroup::Whole).map_or(Difference::default(), |found| found.0);
        self.is_whole = self.whole.score.abs() >= HALF && self.whole.size.abs() > allowed;

        let is_whole = self.is_whole;
        let mut groups = 0;
        measured.each_group(&mut |_| groups += 1);
        let mut tried = Table::filled(groups, (PointGroup::Whole, Difference::default(), 0.0))?;
        let mut next = 0;
        measured.each_group(&mut |group| {
            if let Some(slot) = tried.get_mut(next) {
                slot.0 = group;
                next += 1;
            }
        });
        for slot in tried.iter_mut() {
            let found = match slot.0 {
                PointGroup::Point(index) => single.get(index).copied().flatten(),
                group => measured.differs(group),
            };
            if let Some((difference, rest)) = found {
                (slot.1, slot.2) = (difference, rest);
            }
        }
        sort_by(&mut tried, |one, other| other.1.score.abs().total_cmp(&one.1.score.abs()));
        let mut scores = Table::filled(groups, 0.0)?;
        for (score, (_, difference, _)) in scores.iter_mut().zip(tried.iter()) {
            *score = difference.score;
        }
        let mut mark = |group: PointGroup, direction: f64, base: f64| {
            for (index, pair) in pairs.iter_mut().enumerate() {
                let ratio = measured.ratios.get(index).copied().unwrap_or(0.0);
                let excess = ratio - base;
                // That others have become faster makes nothing slower that takes no longer.
                let beyond = direction * ratio > 0.0
                    && direction * excess > allowed
                    && excess.abs() > pair.excess.abs();
                if beyond && measured.holds(group, index) {
                    pair.excess = excess;
                    pair.verdict =
                        if excess > 0.0 { ComparisonVerdict::Slower } else { ComparisonVerdict::Faster };
                }
            }
        };
        if is_whole {
            mark(PointGroup::Whole, self.whole.size.signum(), 0.0);
        }
        for (group, difference, rest) in tried.iter().take(significance::rejected(&scores)) {
            // What the other points share is drift of the runs, unless it is beyond doubt.
            let base = if is_whole { 0.0 } else { *rest };
            let effect = difference.size + rest - base;
            // Of two parts that differ from each other, the smaller has changed, or that which is farther from no change.
            let changed = is_whole
                || measured.size(*group) * MINORITY <= count
                || (difference.size + rest).abs() >= rest.abs();
            if changed && effect.abs() > allowed && effect * difference.size > 0.0 {
                mark(*group, effect.signum(), base);
            }
        }
        Ok(())
    }

    /// Returns the points, in the order of the first file.
    #[must_use]
    pub fn pairs(&self) -> &[PointPair] {
        self.pairs.get(..self.measured.count).unwrap_or_default()
    }

    /// Returns the number of points with a verdict.
    #[must_use]
    pub fn count(&self, verdict: ComparisonVerdict) -> usize {
        self.pairs().iter().filter(|pair| pair.verdict == verdict).count()
    }

    /// Returns the median of all ratios.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn median_ratio(&self) -> Result<Option<f64>, Errno> {
        self.median(&|_| true, &PointPair::ratio)
    }

    /// By how much the points with a verdict differ, as a fraction of the first side; `None` where there are none.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn by(&self, verdict: ComparisonVerdict) -> Result<Option<f64>, Errno> {
        let found = self.median(&|pair| pair.verdict == verdict, &|pair| pair.excess)?;
        Ok(found.map(|excess| exp(excess) - 1.0))
    }

    fn median(
        &self,
        wanted: &dyn Fn(&PointPair) -> bool,
        value: &dyn Fn(&PointPair) -> f64,
    ) -> Result<Option<f64>, Errno> {
        let mut scratch = Table::filled(self.pairs().len(), 0.0)?;
        let mut count = 0;
        for (slot, pair) in scratch.iter_mut().zip(self.pairs().iter().filter(|pair| wanted(pair))) {
            *slot = value(pair);
            count += 1;
        }
        Ok(stats::median(scratch.get_mut(..count).unwrap_or_default()))
    }
}

impl PointPair {
    /// Returns a pair of latencies, not judged.
    fn new(row: &Row, nanoseconds: [f64; 2], interpolated: bool) -> PointPair {
        PointPair {
            row: *row,
            nanoseconds,
            interpolated,
            interval: Interval { low: f64::NAN, high: f64::NAN },
            verdict: ComparisonVerdict::Same,
            excess: 0.0,
        }
    }
}
