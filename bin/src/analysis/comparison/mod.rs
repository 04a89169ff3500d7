//! Two sides of results of one experiment: the ratio of each point, and the differences beyond threshold and chance.
//!
//! Differences are sought in the parts in which machines differ: the whole, a pair, row, column or node of a matrix, a
//! run of sizes of a curve. A part is compared with the other points of the same runs, since these drift together.
//! Parts are named as a whole: a node rather than its pairs, a run of sizes rather than each size.

mod groups;
mod join;
pub mod significance;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;
use latency_report::chart::vector;

use latency_core::math::{exp, ln};
use latency_core::{Interval, sort_by, stats};

use crate::record::columns::{ColumnSet, PAGES_OBTAINED, VERIFIED, WORKING_SET};
use crate::record::row::Row;
use groups::{Measured, Members, SortedValues};
use join::{between, ends};
use significance::{Difference, HALF};

pub use groups::{CURVE, ComparisonVerdict, PointGroup, PointPair};
pub use join::{DifferingField, Files, SameRows, join, partners};

/// Factor by which all points must outnumber a part for the difference to be attributed to the part, and not to the
/// other points.
const MINORITY: usize = 4;

/// All points that both sides have.
pub struct Comparison<'f> {
    measured: Measured,
    /// The conditions that differ.
    pub conditions: Vec<DifferingField<'f>>,
    /// The fields by which the points are joined.
    pub join: ColumnSet,
    /// The difference of the whole, as a logarithm.
    pub whole: Difference,
    /// The kinds of pages that the two sides obtained, if they differ.
    pub pages: Option<[String; 2]>,
    /// True for each side with proven placement, if only one side has proof.
    pub proof: Option<[bool; 2]>,
}

impl<'f> Comparison<'f> {
    /// Returns the assumed difference between one file of each side as a whole, as a fraction.
    pub fn assumed(&self) -> f64 {
        self.measured.experience(&self.all()).whole
    }

    /// Returns the index of every point.
    fn all(&self) -> Vec<usize> {
        (0..self.pairs().len()).collect()
    }

    /// Compares two sides; differences up to `threshold`, a fraction of the first side, count as equal.
    pub fn new(files: &Files<'f>, threshold: f64) -> Comparison<'f> {
        let conditions = files.conditions();
        let join = join(&conditions);
        let (first, ours) = (files.rows[0], files.ours);
        // The points of the first file are their own partners.
        let mut others: Vec<Vec<Option<&Row>>> = [first.iter().map(Some).collect()].into();
        for rows in &files.rows[1..] {
            others.push(partners(&mut first.iter(), rows, join));
        }
        // Curves are refined around their own knees, so that two curves share at least the coarse grid if they have the
        // same first and last sizes. Otherwise, points are interpolated.
        let is_curve = others[ours].iter().flatten().count() * 2 < first.len();
        let mut same = Vec::new();
        for rows in files.rows.iter().filter(|_| is_curve) {
            same.push(SameRows::of(&mut rows.iter(), join.without(WORKING_SET.into())));
        }
        let (mut pages, mut proof) = (None, None);
        let (mut pairs, mut lists) = (Vec::new(), vec![Vec::new(); others.len() + 1]);
        for (index, row) in first.iter().enumerate() {
            let mut interpolated = false;
            let mut values = vec![f64::NAN; others.len()];
            // Count, sum of logarithms and sum of squares of relative errors, by side.
            let mut sums = [(0.0, 0.0, 0.0); 2];
            for (file, partners) in others.iter().enumerate() {
                let same = same.get(file).filter(|_| partners[index].is_none());
                let found = same.and_then(|same| between(row, same));
                interpolated |= found.is_some();
                let Some(other) = partners[index].or(found.as_ref()) else { continue };
                values[file] = ln(other.nanoseconds());
                let relative = ends(other).relative_half_width(other.nanoseconds()) / HALF;
                let (count, logarithms, squares) = &mut sums[usize::from(file >= ours)];
                *count += 1.0;
                *logarithms += values[file];
                *squares += relative * relative;
                let words = [row, other].map(|row| row.word(PAGES_OBTAINED));
                if words.iter().all(|word| !word.is_empty()) && words[0] != words[1] {
                    pages.get_or_insert_with(|| words.map(String::from));
                }
                if let (Some(one), Some(two)) = (row.flag(VERIFIED), other.flag(VERIFIED))
                    && one != two
                {
                    proof.get_or_insert([one, two]);
                }
            }
            if sums.iter().any(|(count, ..)| *count == 0.0) {
                continue;
            }
            let means = sums.map(|(count, logarithms, _)| logarithms / count);
            let logarithm = means[1] - means[0];
            let values = values.iter().map(|log| log - means[0]).chain([logarithm]);
            lists.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
            pairs.push(PointPair {
                row: row.clone(),
                nanoseconds: means.map(exp),
                interpolated,
                interval: Interval { low: f64::NAN, high: f64::NAN },
                verdict: ComparisonVerdict::Same,
                excess: 0.0,
                logarithm,
                within: sums.iter().map(|(count, _, squares)| squares / count).sum::<f64>() / 2.0,
            });
        }
        let mut sorted = Vec::new();
        lists.iter().for_each(|list| sorted.push(SortedValues::of(list)));
        let measured = Measured::new(pairs, ours, sorted, join);
        let whole = Difference::default();
        let mut found = Comparison { measured, conditions, join, whole, pages, proof };
        found.judge(ln(1.0 + threshold));
        found
    }

    /// Decides which points differ; `allowed` is the logarithm of the threshold.
    fn judge(&mut self, allowed: f64) {
        let all = self.all();
        let measured = &mut self.measured;
        for index in 0..all.len() {
            let error = measured.differs(&[index]).map_or(f64::NAN, |(found, _)| found.error);
            let pair = &mut measured.pairs[index];
            let ratio = ln(pair.ratio());
            pair.interval = Interval { low: exp(ratio - HALF * error), high: exp(ratio + HALF * error) };
        }
        self.whole = measured.differs(&all).map_or(Difference::default(), |found| found.0);
        // If the whole does not differ beyond threshold and chance, parts are compared with the other points.
        let is_whole = self.whole.score.abs() >= HALF && self.whole.size.abs() > allowed;
        let mut tried = Vec::new();
        for (group, members) in &measured.groups {
            let (difference, rest) = measured.differs(members).unwrap_or_default();
            tried.push((*group, members, difference, rest));
        }
        sort_by(&mut tried, |(one, _, first, _), (other, _, second, _)| {
            second.score.abs().total_cmp(&first.score.abs()).then(one.cmp(other))
        });
        let scores: Vec<f64> = vector(tried.iter().map(|(.., difference, _)| difference.score));
        let pairs = &mut measured.pairs;
        if is_whole {
            mark(pairs, &all, self.whole.size.signum(), 0.0, allowed);
        }
        for (_, members, difference, rest) in tried.iter().take(significance::rejected(&scores)) {
            // A difference that the other points share is drift of the runs, unless the whole differs significantly.
            let base = if is_whole { 0.0 } else { *rest };
            let effect = difference.size + rest - base;
            // Of two parts that differ from each other, the smaller one has changed, or the one with the larger change.
            let changed = is_whole
                || members.len() * MINORITY <= all.len()
                || (difference.size + rest).abs() >= rest.abs();
            if changed && effect.abs() > allowed && effect * difference.size > 0.0 {
                mark(pairs, members, effect.signum(), base, allowed);
            }
        }
    }

    /// Returns the points in the order of the first file.
    pub fn pairs(&self) -> &[PointPair] {
        &self.measured.pairs
    }

    /// Returns the points with a verdict.
    pub fn of_verdict(&self, verdict: ComparisonVerdict) -> impl Iterator<Item = &PointPair> + Clone {
        self.pairs().iter().filter(move |pair| pair.verdict == verdict)
    }

    /// Returns the number of points with a verdict.
    pub fn count(&self, verdict: ComparisonVerdict) -> usize {
        self.of_verdict(verdict).count()
    }

    /// Returns the median of all ratios; `None` without points.
    pub fn median_ratio(&self) -> Option<f64> {
        median(&mut self.pairs().iter().map(PointPair::ratio))
    }

    /// Returns the median difference of the points with a verdict, as a fraction of the first side; `None` if there are
    /// none.
    pub fn by(&self, verdict: ComparisonVerdict) -> Option<f64> {
        median(&mut self.of_verdict(verdict).map(PointPair::ratio)).map(|ratio| ratio - 1.0)
    }
}

/// Sets the verdict of some points that differ from `base` in a direction by more than is allowed.
fn mark(pairs: &mut [PointPair], members: &[usize], direction: f64, base: f64, allowed: f64) {
    for member in members {
        let pair = &mut pairs[*member];
        let excess = pair.logarithm - base;
        // A point that takes no longer is not slower just because other points have become faster.
        let beyond = direction * pair.logarithm > 0.0
            && direction * excess > allowed
            && excess.abs() > pair.excess.abs();
        if beyond {
            pair.excess = excess;
            pair.verdict = if excess > 0.0 { ComparisonVerdict::Slower } else { ComparisonVerdict::Faster };
        }
    }
}

/// Returns the median of some values; `None` without values.
pub fn median(values: &mut dyn Iterator<Item = f64>) -> Option<f64> {
    stats::median(&mut vector(values))
}

/// A part of the points that differs.
#[derive(Clone, Copy, Debug)]
pub struct DifferingPart<'c> {
    /// The group of its points; if they are sizes of a curve, a run of any length.
    pub group: PointGroup,
    /// Its points with the smallest and the largest size.
    pub ends: [&'c Row; 2],
    /// Number of its points.
    pub points: usize,
    /// The median difference of its points, as a fraction of the first side.
    pub by: f64,
}

impl Comparison<'_> {
    /// Returns the largest parts composed of points with a verdict, at most `most` of them.
    pub fn parts(&self, verdict: ComparisonVerdict, most: usize) -> Vec<DifferingPart<'_>> {
        let pairs = self.pairs();
        let is = |point: &usize| pairs[*point].verdict == verdict;
        let whole = [(PointGroup::Whole, (0..pairs.len()).collect())];
        let stretches = self.stretches(&is);
        let groups = self.measured.groups.iter();
        let groups = groups.filter(|(group, _)| !matches!(group, PointGroup::Run(..) | PointGroup::Point(_)));
        let all = whole.iter().chain(&stretches).chain(groups);
        let complete: Vec<&Members> = vector(all.filter(|(_, members)| members.iter().all(is)));
        let mut open: Vec<bool> = vector((0..pairs.len()).map(|point| is(&point)));
        let mut parts = Vec::new();
        while let Some(first) = open.iter().position(|open| *open).filter(|_| parts.len() < most) {
            let point = (PointGroup::Point(first), [first].into());
            let (mut best, mut most_left) = (&point, 1);
            for group in &complete {
                let left = group.1.iter().filter(|point| open[**point]).count();
                if left > most_left {
                    (best, most_left) = (group, left);
                }
            }
            let (group, members) = best;
            parts.push(self.part(*group, members));
            members.iter().for_each(|point| open[*point] = false);
        }
        parts
    }

    /// Returns the part of some points, with the smallest and the largest of their sizes.
    fn part(&self, group: PointGroup, members: &[usize]) -> DifferingPart<'_> {
        let pairs = self.pairs();
        let rows = || members.iter().map(|point| &pairs[*point].row);
        let first = &pairs[members[0]].row;
        let smallest = rows().fold(first, |ends, row| if row.size() < ends.size() { row } else { ends });
        let largest = rows().fold(first, |ends, row| if row.size() >= ends.size() { row } else { ends });
        let mut ratios = members.iter().map(|point| pairs[*point].ratio());
        let by = median(&mut ratios).unwrap_or(1.0) - 1.0;
        DifferingPart { group, ends: [smallest, largest], points: members.len(), by }
    }

    /// Returns the longest runs of sizes for which `is` returns true.
    fn stretches(&self, is: &dyn Fn(&usize) -> bool) -> Vec<Members> {
        let measured = &self.measured;
        let is_one_run =
            |one: &usize, other: &usize| is(one) && is(other) && measured.is_one_curve(*one, *other);
        let size = |point: Option<&usize>| point.map(|point| self.pairs()[*point].row.size());
        let (mut first, mut found) = (0, Vec::new());
        for run in measured.order.chunk_by(is_one_run) {
            if size(run.first()) != size(run.last()) {
                found.push((PointGroup::Run(first, run.len()), run.to_vec()));
            }
            first += run.len();
        }
        found
    }
}
