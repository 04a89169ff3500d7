//! The differing parts by name: a node rather than its pairs, a run of sizes rather than each size.

use super::groups::{Members, PointGroup};
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

impl Comparison<'_> {
    /// Returns the largest parts composed of points with a verdict, at most `most` of them.
    #[must_use]
    pub fn parts(&self, verdict: ComparisonVerdict, most: usize) -> Vec<DifferingPart<'_>> {
        let pairs = self.pairs();
        let is = |point: &usize| pairs[*point].verdict == verdict;
        let whole = [(PointGroup::Whole, (0..pairs.len()).collect())];
        let stretches = self.stretches(&is);
        let groups = self.measured.groups.iter();
        let groups = groups.filter(|(group, _)| !matches!(group, PointGroup::Run(..) | PointGroup::Point(_)));
        let all = whole.iter().chain(&stretches).chain(groups);
        let complete: Vec<&Members> = all.filter(|(_, members)| members.iter().all(is)).collect();
        let mut open: Vec<bool> = (0..pairs.len()).map(|point| is(&point)).collect();
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
