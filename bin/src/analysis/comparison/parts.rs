//! The parts that differ, by their names: a node rather than its pairs, a run of sizes rather than each of them.

use latency_core::math::exp;
use latency_core::stats;

use super::groups::PointGroup;
use super::{Comparison, ComparisonVerdict};
use crate::result::row::Row;
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// A part of the points that differs.
#[derive(Clone, Copy, Debug)]
pub struct DifferingPart<'c> {
    /// The group of its points; a run of any length where these are sizes of a curve.
    pub group: PointGroup,
    /// Its first point, and its last.
    pub ends: [&'c Row; 2],
    /// Number of its points.
    pub points: usize,
    /// By how much the second side differs there, as a fraction of the first.
    pub by: f64,
}

impl DifferingPart<'_> {
    /// No points.
    pub const EMPTY: DifferingPart<'static> =
        DifferingPart { group: PointGroup::Whole, ends: [&Row::EMPTY; 2], points: 0, by: 0.0 };
}

impl Comparison {
    /// Names the largest parts that the points with a verdict make up, as many as `parts` has room for; returns how
    /// many, and the points that are in none of them.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn parts<'c>(
        &'c self,
        verdict: ComparisonVerdict,
        parts: &mut [DifferingPart<'c>],
    ) -> Result<(usize, usize), Errno> {
        let measured = &self.measured;
        let is = |point: usize| self.pairs().get(point).is_some_and(|pair| pair.verdict == verdict);
        let mut open = Table::filled(measured.count, false)?;
        for (point, open) in open.iter_mut().enumerate() {
            *open = is(point);
        }
        let mut count = 0;
        for slot in parts.iter_mut() {
            let Some(first) = open.iter().position(|open| *open) else { break };
            let mut best = (PointGroup::Point(first), 1);
            let mut offer = |group: PointGroup| {
                let (mut left, mut complete) = (0, true);
                for point in (0..measured.count).filter(|point| measured.holds(group, *point)) {
                    complete &= is(point);
                    left += usize::from(open.get(point) == Some(&true));
                }
                if complete && left > best.1 {
                    best = (group, left);
                }
            };
            offer(PointGroup::Whole);
            self.stretches(&is, &mut offer);
            measured.each_group(&mut |group| {
                if !matches!(group, PointGroup::Run(..) | PointGroup::Point(_)) {
                    offer(group);
                }
            });
            let (group, _) = best;
            *slot = self.part(group)?;
            count += 1;
            for (point, open) in open.iter_mut().enumerate() {
                *open &= !measured.holds(group, point);
            }
        }
        Ok((count, open.iter().filter(|open| **open).count()))
    }

    /// Returns a group with its ends by size.
    fn part(&self, group: PointGroup) -> Result<DifferingPart<'_>, Errno> {
        let measured = &self.measured;
        let members = || (0..measured.count).filter(|point| measured.holds(group, *point));
        let size = |point: &usize| measured.point(*point).sample.size;
        let ends = [members().min_by_key(size), members().max_by_key(size)];
        let ends = ends.map(|point| measured.point(point.unwrap_or(0)));
        Ok(DifferingPart { group, ends, points: members().count(), by: self.median_of(group)? })
    }

    /// Returns the median excess of a group, as a fraction.
    fn median_of(&self, group: PointGroup) -> Result<f64, Errno> {
        let mut scratch = Table::filled(self.pairs().len(), 0.0)?;
        let mut count = 0;
        for (_, pair) in
            self.pairs().iter().enumerate().filter(|(point, _)| self.measured.holds(group, *point))
        {
            if let Some(slot) = scratch.get_mut(count) {
                *slot = pair.excess;
                count += 1;
            }
        }
        Ok(exp(stats::median(scratch.get_mut(..count).unwrap_or_default()).unwrap_or(0.0)) - 1.0)
    }

    /// Names the longest runs of sizes that `is` holds for.
    fn stretches(&self, is: &dyn Fn(usize) -> bool, each: &mut dyn FnMut(PointGroup)) {
        let measured = &self.measured;
        let mut first = 0;
        while first < measured.count {
            let begin = measured.at(first);
            let belongs = |rank: &usize| {
                let point = measured.at(*rank);
                is(point) && measured.is_one_curve(begin, point)
            };
            let length = (first..measured.count).take_while(belongs).count();
            let distinct = measured.point(begin).sample.size
                != measured.point(measured.at(first + length.max(1) - 1)).sample.size;
            if length > 1 && distinct {
                each(PointGroup::Run(first, length));
            }
            first += length.max(1);
        }
    }
}
