//! Points that both sides of a comparison have, and those that may differ together: rows, columns and nodes of a
//! matrix, runs of sizes of a curve, values of any other field.

use alloc::vec::Vec;
use latency_report::chart::vector;

use latency_core::{Interval, ToReal, sort_by, sort_by_key};

use super::join::{SameRows, of_value, same_values};
use super::significance::{Difference, Experience, LINES, LOADS, difference};
use crate::record::columns::{
    CLASS, Column, ColumnSet, INITIATOR_CPU, INITIATOR_NODE, POINTS, TARGET_CPU, TARGET_NODE, TRAFFIC,
    WORKING_SET,
};
use crate::record::row::Row;

/// Least number of sizes at which points that are otherwise alike form a curve.
pub const CURVE: usize = 6;
/// Shortest run of sizes that may differ together: one or two sizes lie on a step, where chance decides much.
const SHORTEST_RUN: usize = 3;

/// Approximate ratio of the variance of the median of many values to the variance of their mean.
const MEDIAN: f64 = 1.5;

/// Points that may differ together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointGroup {
    /// All points.
    Whole,
    /// One point, by its index.
    Point(usize),
    /// Points with the same value of a column as a given point: the place of the column in [`POINTS`], and the index of the
    /// point.
    Field(usize, usize),
    /// Points from or to the initiator node of a given point, by its index.
    Node(usize),
    /// Points with the CPU that a given point has in a column, and the index of the point.
    Cpu(Column, usize),
    /// Points of a node with its own memory if true, with the memory of other nodes if false.
    Local(bool),
    /// Neighbouring sizes of a curve: the place of the first in the order by size, and their number.
    Run(usize, usize),
}

/// A group with the indices of its points: in ascending order, or in the order by size.
pub type Members = (PointGroup, Vec<usize>);

/// The values of one file, or the ratios, sorted once for the medians of all groups.
pub struct SortedValues {
    values: Vec<f64>,
    /// The place of each point's value; one behind all values without a value.
    ranks: Vec<usize>,
}

impl SortedValues {
    /// Sorts the values of all points; NaN without one.
    pub fn of(all: &[f64]) -> SortedValues {
        let mut order = Vec::new();
        for (point, value) in all.iter().enumerate() {
            if value.is_finite() {
                order.push((*value, point));
            }
        }
        sort_by(&mut order, |one, other| one.0.total_cmp(&other.0));
        let (mut values, mut ranks) = (Vec::new(), vec![order.len(); all.len()]);
        for (value, point) in order {
            ranks[point] = values.len();
            values.push(value);
        }
        SortedValues { values, ranks }
    }

    /// Returns the median over some points, and over all others; NaN without values.
    fn medians(&self, members: &[usize]) -> [f64; 2] {
        let mut ranks = Vec::new();
        for rank in members.iter().map(|point| self.ranks[*point]) {
            if rank < self.values.len() {
                ranks.push(rank);
            }
        }
        sort_by(&mut ranks, Ord::cmp);
        [true, false].map(|inside| self.median(&ranks, inside))
    }

    /// Returns the median of the values with some ranks, or of all others; NaN without values.
    fn median(&self, ranks: &[usize], inside: bool) -> f64 {
        let count = if inside { ranks.len() } else { self.values.len() - ranks.len() };
        let value = |place: usize| {
            // The rank of another value is its place among the others and the number of members below it.
            let other = || ranks.iter().fold(place, |rank, own| rank + usize::from(*own <= rank));
            self.values[if inside { ranks[place] } else { other() }]
        };
        match (count / 2, count % 2) {
            (0, 0) => f64::NAN,
            (middle, 1) => value(middle),
            (middle, _) => value(middle - 1) + (value(middle) - value(middle - 1)) / 2.0,
        }
    }
}

/// The measured values of all points that two sides share.
pub struct Measured {
    /// The points.
    pub pairs: Vec<PointPair>,
    /// The number of files of the first side.
    ours: usize,
    /// For each file the logarithms of the latencies of all points relative to the mean of the first side, and last the
    /// logarithms of the ratios.
    lists: Vec<SortedValues>,
    /// The sum of the variances within runs of all points.
    within: f64,
    /// The points in the order of kinds and sizes.
    pub order: Vec<usize>,
    /// The first point of the same kind: that is alike but for the size.
    kinds: Vec<usize>,
    /// Every group that may differ and has fewer points than there are.
    pub groups: Vec<Members>,
}

impl Measured {
    /// Returns the points of files, the first `ours` of the first side, joined by some columns. The lists of values are
    /// those of the files and of the ratios.
    pub fn new(pairs: Vec<PointPair>, ours: usize, lists: Vec<SortedValues>, join: ColumnSet) -> Measured {
        let kinds = kinds(&pairs, join);
        let mut order: Vec<usize> = vector(0..pairs.len());
        sort_by_key(&mut order, |point| (kinds[*point], pairs[*point].row.size(), *point));
        let within = pairs.iter().map(|pair| pair.within).sum();
        let mut measured = Measured { pairs, ours, lists, within, order, kinds, groups: Vec::new() };
        measured.groups = measured.groups(join);
        measured
    }

    /// Returns whether two points belong to the same curve, if there is a curve.
    pub fn is_one_curve(&self, one: usize, other: usize) -> bool {
        self.kinds[one] == self.kinds[other]
    }

    fn groups(&self, join: ColumnSet) -> Vec<Members> {
        let count = self.pairs.len();
        let mut groups = Vec::new();
        let mut offer = |group: PointGroup, members: Vec<usize>, least: usize| {
            if (least..count).contains(&members.len()) {
                groups.push((group, members));
            }
        };
        let row = |point: usize| &self.pairs[point].row;
        let values =
            |column: Column| same_values(&mut self.pairs.iter().map(|pair| &pair.row), column.into());
        // The points by their values in either of two columns.
        let either = |from: Column, to: Column| {
            let mut ends = values(from);
            ends.extend_from_slice(&values(to));
            sort_by(&mut ends, Ord::cmp);
            ends.dedup();
            ends
        };
        let initiators = values(INITIATOR_CPU);
        let (cpus, nodes) = (either(INITIATOR_CPU, TARGET_CPU), either(INITIATOR_NODE, TARGET_NODE));
        for (place, column) in POINTS.into_iter().enumerate().filter(|(_, column)| join.has(*column)) {
            let values = values(column);
            let mut alike: Vec<_> = vector(values.chunk_by(|one, other| one.0 == other.0));
            sort_by_key(&mut alike, |same| same[0].1);
            for same in alike {
                let (value, first) = same[0];
                match column {
                    // A CPU that comes first in some pair was offered already.
                    TARGET_CPU if !of_value(&initiators, value).is_empty() => {}
                    INITIATOR_CPU | TARGET_CPU => {
                        offer(PointGroup::Cpu(column, first), points(of_value(&cpus, value)), 2);
                    }
                    _ => offer(PointGroup::Field(place, first), points(same), 2),
                }
                if column == INITIATOR_NODE && row(first).pair().is_some() {
                    let mut members = points(of_value(&nodes, value));
                    members.retain(|point| row(*point).pair().is_some());
                    offer(PointGroup::Node(first), members, 2);
                }
            }
        }
        if join.has(INITIATOR_NODE) {
            for local in [true, false] {
                let is = |point: &usize| row(*point).pair().is_some_and(|(from, to)| (from == to) == local);
                offer(PointGroup::Local(local), vector((0..count).filter(is)), 2);
            }
        }
        let mut rank = 0;
        for curve in self.order.chunk_by(|one, other| self.is_one_curve(*one, *other)) {
            let mut run = |first: usize, length: usize| {
                offer(PointGroup::Run(rank + first, length), curve[first..first + length].to_vec(), 1);
            };
            let sizes = curve.len();
            let mut length = SHORTEST_RUN;
            while sizes >= CURVE && length < sizes {
                (0..sizes - length).step_by(length / SHORTEST_RUN).for_each(|first| run(first, length));
                // The last run extends to the largest size, which is memory.
                run(sizes - length, length);
                length *= 2;
            }
            if sizes < CURVE {
                curve.iter().for_each(|point| offer(PointGroup::Point(*point), [*point].into(), 1));
            }
            rank += sizes;
        }
        groups
    }

    /// Returns the assumed spread between runs, by the kind of the majority of some points.
    pub fn experience(&self, points: &[usize]) -> Experience {
        let is_of_lines = |point: &&usize| {
            let row = &self.pairs[**point].row;
            row.tells(CLASS) && !row.tells(TRAFFIC)
        };
        let lines = points.iter().filter(is_of_lines).count();
        if lines * 2 > points.len() { LINES } else { LOADS }
    }

    /// Returns the difference of some points from all others, and the difference of the others; for all points, the
    /// difference from zero.
    pub fn differs(&self, members: &[usize]) -> Option<(Difference, f64)> {
        let is_whole = members.len() == self.pairs.len();
        let (mut values, mut rest) = (Vec::new(), 0.0);
        for list in &self.lists {
            let [own, others] = list.medians(members);
            rest = if is_whole { 0.0 } else { others };
            values.push(own - rest);
        }
        // The last value is that of the ratios.
        let values = &values[..self.lists.len() - 1];
        let Experience { whole, local } = self.experience(members);
        let own: f64 = members.iter().map(|point| self.pairs[*point].within).sum();
        // A median of several points scatters less than one point, if the errors of the points are independent.
        let of_median = |within: f64, count: usize| {
            let count = count.max(1).real();
            let factor = if count > 2.0 { MEDIAN / count } else { 1.0 / count };
            (within / count * factor, local * local * factor)
        };
        let (within, scatter) = of_median(own, members.len());
        let (within_rest, scatter_rest) =
            of_median((self.within - own).max(0.0), self.pairs.len() - members.len());
        let prior = match is_whole {
            true => whole * whole + scatter + within,
            // Errors that points share in addition to the common drift are unknown: the scatter of one point is assumed
            // for several.
            false => local * local + within + scatter_rest + within_rest,
        };
        let (first, second) = values.split_at(self.ours);
        Some((difference([first, second], prior)?, if rest.is_nan() { 0.0 } else { rest }))
    }
}

/// Returns for each point the first one of its kind: that is the same in all columns but the size.
fn kinds(pairs: &[PointPair], join: ColumnSet) -> Vec<usize> {
    let same = SameRows::of(&mut pairs.iter().map(|pair| &pair.row), join.without(WORKING_SET.into()));
    let mut kinds = Vec::new();
    for (point, PointPair { row, .. }) in pairs.iter().enumerate() {
        let mut kind = point;
        same.find(row, &mut |before, other| {
            // Latencies of memory and of random loads are not one curve.
            let is_kind =
                before < point && kinds[before] == before && other.parts().is_some() == row.parts().is_some();
            kind = if is_kind { before } else { kind };
            is_kind || before >= point
        });
        kinds.push(kind);
    }
    kinds
}

fn points(values: &[(u64, usize)]) -> Vec<usize> {
    vector(values.iter().map(|(_, point)| *point))
}

/// The verdict on the difference of one point between both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// The difference is within the threshold or within the uncertainty.
    Same,
    /// The second side is slower, beyond threshold and uncertainty.
    Slower,
    /// The second side is faster, beyond threshold and uncertainty.
    Faster,
}

/// A point that both sides have.
#[derive(Clone, Debug)]
pub struct PointPair {
    /// The point's row in the first file.
    pub row: Row,
    /// The latencies of both sides; means of the logarithms where there are several files.
    pub nanoseconds: [f64; 2],
    /// True if the latency of the second side is interpolated between two points.
    pub interpolated: bool,
    /// The interval of the ratio, from the spread within and between runs.
    pub interval: Interval,
    /// The meaning of the difference.
    pub verdict: ComparisonVerdict,
    /// Its difference from the unchanged points, as a logarithm; set with the verdict.
    pub(super) excess: f64,
    /// The logarithm of the ratio.
    pub(super) logarithm: f64,
    /// The variance within runs, averaged over both sides.
    pub(super) within: f64,
}

impl PointPair {
    /// Returns the second latency over the first.
    pub fn ratio(&self) -> f64 {
        self.nanoseconds[1] / self.nanoseconds[0]
    }
}
