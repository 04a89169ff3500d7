//! The differing parts by name: a node rather than its pairs, a run of sizes rather than each size.

use super::groups::PointGroup;
use super::{Comparison, ComparisonVerdict, median};
use crate::record::row::Row;
use alloc::vec::Vec;

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

impl Comparison {
    /// Returns the largest parts composed of points with a verdict, at most `most` of them.
    #[must_use]
    pub fn parts(&self, verdict: ComparisonVerdict, most: usize) -> Vec<DifferingPart<'_>> {
        let measured = &self.measured;
        let is = |point: usize| self.pairs().get(point).is_some_and(|pair| pair.verdict == verdict);
        let mut open: Vec<bool> = (0..measured.pairs.len()).map(is).collect();
        let mut parts = Vec::new();
        while let Some(first) = open.iter().position(|open| *open).filter(|_| parts.len() < most) {
            let mut best = (PointGroup::Point(first), 1);
            let mut offer = |group: PointGroup| {
                let (mut left, mut complete) = (0, true);
                for point in measured.members(group) {
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
            parts.push(self.part(group));
            for (point, open) in open.iter_mut().enumerate() {
                *open &= !measured.holds(group, point);
            }
        }
        parts
    }

    /// Returns the part for a group, with the group's smallest and largest sizes.
    fn part(&self, group: PointGroup) -> DifferingPart<'_> {
        let measured = &self.measured;
        let members = measured.members(group);
        let first = measured.point(members.clone().next().unwrap_or(0));
        let (mut ends, mut points) = ([first; 2], 0);
        for row in members.clone().map(|point| measured.point(point)) {
            let [smallest, largest] = &mut ends;
            if row.size() < smallest.size() {
                *smallest = row;
            }
            if row.size() >= largest.size() {
                *largest = row;
            }
            points += 1;
        }
        let mut ratios = members.filter_map(|point| Some(measured.pairs.get(point)?.ratio()));
        let by = median(&mut ratios).unwrap_or(1.0) - 1.0;
        DifferingPart { group, ends, points, by }
    }

    /// Calls `each` with the longest runs of sizes for which `is` returns true.
    fn stretches(&self, is: &dyn Fn(usize) -> bool, each: &mut dyn FnMut(PointGroup)) {
        let measured = &self.measured;
        let is_one_run =
            |one: &usize, other: &usize| is(*one) && is(*other) && measured.is_one_curve(*one, *other);
        let size = |point: Option<&usize>| point.map(|point| measured.point(*point).size());
        let mut first = 0;
        for run in measured.order.chunk_by(is_one_run) {
            if size(run.first()) != size(run.last()) {
                each(PointGroup::Run(first, run.len()));
            }
            first += run.len();
        }
    }
}
