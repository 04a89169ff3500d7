//! Points of two results that may differ together: rows, columns and nodes of a matrix, runs of sizes of a curve,
//! values of any other field.

use alloc::vec::Vec;
use latency_core::math::ToReal;
use latency_core::sort::{sort_by, sort_by_key};

use super::join::Join;
use super::pair::PointPair;
use super::significance::{Difference, Experience, LINES, LOADS, difference};
use crate::record::columns::{CLASS, Column, INITIATOR_CPU, INITIATOR_NODE, POINTS, TARGET_CPU, WORKING_SET};
use crate::record::row::Row;

/// Least number of sizes at which points that are otherwise alike form a curve.
pub const CURVE: usize = 6;
/// Shortest run of sizes that may differ together: one or two sizes lie on a step, where chance decides much.
const SHORTEST_RUN: usize = 3;

/// Approximate ratio of the variance of the median of many values to the variance of their mean.
const MEDIAN: f64 = 1.5;

/// The index behind the fields, used for all fields but the size together.
const KIND: usize = POINTS.len();

static NO_ROW: Row = Row::EMPTY;

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

/// The measured values of all points that two sides share.
pub struct Measured {
    /// The points.
    pub pairs: Vec<PointPair>,
    /// Numbers of files of both sides.
    files: [usize; 2],
    /// One value for each file; before the latest point is added, the logarithms of its latencies.
    pub values: Vec<f64>,
    /// Logarithms of each point's latencies relative to the mean of the first side, followed by the logarithm of the
    /// ratio; NaN where a file has no value.
    logs: Vec<f64>,
    /// The points in the order of kinds and sizes.
    pub order: Vec<usize>,
    /// The first point with the same value, for each field, and last for all fields but the size together.
    alike: Vec<usize>,
    join: Join,
    /// The points sorted by their values: for each file, and last by their ratios.
    sorted: Vec<(f64, usize)>,
    /// True for each point of the group being examined.
    members: Vec<bool>,
}

impl Measured {
    /// Returns no points, with these numbers of files.
    pub fn new(files: [usize; 2], join: Join) -> Measured {
        Measured {
            pairs: Vec::new(),
            files,
            values: vec![f64::NAN; files[0] + files[1]],
            logs: Vec::new(),
            order: Vec::new(),
            alike: Vec::new(),
            join,
            sorted: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Returns the point at an index, which must exist.
    pub fn point(&self, index: usize) -> &Row {
        self.pairs.get(index).map_or(&NO_ROW, |pair| &pair.row)
    }

    /// Adds a point with its latencies in `values`; `first` is the mean of the latencies of the first side.
    pub fn push(&mut self, pair: PointPair, first: f64) {
        self.logs.extend(self.values.iter().map(|log| log - first));
        self.logs.push(pair.logarithm);
        self.pairs.push(pair);
    }

    /// Finds the points that are alike and sorts all points, once every point has been added.
    pub fn arrange(&mut self) {
        let count = self.pairs.len();
        (self.alike, self.members) = (vec![usize::MAX; count * (KIND + 1)], vec![false; count]);
        for field in 0..=KIND {
            let fields = match POINTS.get(field) {
                Some(column) => (*column).into(),
                None => self.join.0.without(WORKING_SET.into()),
            };
            for point in 0..count {
                let row = self.point(point);
                let is_first = |before: &usize| {
                    let other = self.point(*before);
                    // Latencies of memory and of random loads are not one curve.
                    let is_kind = field != KIND || other.parts().is_some() == row.parts().is_some();
                    self.like(field, *before) == *before && is_kind && other.is_same(row, fields)
                };
                let known = POINTS.get(field).is_none_or(|column| row.tells(*column));
                let first = if known { (0..point).find(is_first).unwrap_or(point) } else { usize::MAX };
                self.alike.iter_mut().skip(field * count + point).take(1).for_each(|slot| *slot = first);
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        let key = |point: usize| (self.like(KIND, point), self.point(point).size(), point);
        sort_by_key(&mut order, |point| key(*point));
        for (rank, point) in order.iter().enumerate() {
            self.pairs.iter_mut().skip(*point).take(1).for_each(|pair| pair.rank = rank);
        }
        self.order = order;
        // All values are sorted once for all groups, so that a median takes a single pass.
        let lists = self.values.len() + 1;
        let value = |list: usize, point: usize| self.logs.get(point * lists + list).copied();
        let of_list = |index: usize| (value(index / count, index % count).unwrap_or(f64::NAN), index % count);
        self.sorted = (0..count * lists).map(of_list).collect();
        for list in self.sorted.chunks_mut(count.max(1)) {
            sort_by(list, |one, other| one.0.total_cmp(&other.0));
        }
    }

    /// Returns the median over the members of the group being examined, or over all other points. `list` is the index
    /// of a file, or, behind the files, that of the ratios.
    fn median(&self, list: usize, inside: bool) -> Option<f64> {
        let all = self.sorted.chunks(self.pairs.len().max(1)).nth(list)?;
        let is_chosen =
            |(value, point): &&(f64, usize)| value.is_finite() && self.members.get(*point) == Some(&inside);
        let mut chosen = all.iter().filter(is_chosen);
        // The loop goes from both ends to the middle.
        let mut middle = None;
        while let Some((lower, _)) = chosen.next() {
            let Some((upper, _)) = chosen.next_back() else { return Some(*lower) };
            middle = Some(lower + (upper - lower) / 2.0);
        }
        middle
    }

    /// Returns the first point that equals this one in a field, or in all fields but the size; `usize::MAX` if the file
    /// lacks the field.
    fn like(&self, field: usize, point: usize) -> usize {
        self.alike.get(field * self.pairs.len() + point).copied().unwrap_or(usize::MAX)
    }

    /// Returns the point at a place of the order.
    fn at(&self, rank: usize) -> usize {
        self.order.get(rank).copied().unwrap_or(0)
    }

    /// Returns whether two points belong to the same curve, if there is a curve.
    pub fn is_one_curve(&self, one: usize, other: usize) -> bool {
        self.like(KIND, one) == self.like(KIND, other)
    }

    /// Returns whether a point belongs to a group.
    pub fn holds(&self, group: PointGroup, point: usize) -> bool {
        let pair = self.point(point).pair();
        match group {
            PointGroup::Whole => true,
            PointGroup::Point(own) => own == point,
            PointGroup::Field(field, first) => self.like(field, point) == first,
            PointGroup::Node(first) => {
                let node = self.point(first).pair().map(|(from, _)| from);
                pair.is_some_and(|(from, to)| [Some(from), Some(to)].contains(&node))
            }
            PointGroup::Cpu(column, first) => self.point(point).has_cpu_of(self.point(first), column),
            PointGroup::Local(local) => pair.is_some_and(|(from, to)| (from == to) == local),
            PointGroup::Run(first, length) => {
                self.pairs.get(point).is_some_and(|pair| (first..first + length).contains(&pair.rank))
            }
        }
    }

    /// Returns the points of a group.
    pub fn members(&self, group: PointGroup) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.pairs.len()).filter(move |point| self.holds(group, *point))
    }

    /// Calls `each` with every group that may differ and has fewer points than there are.
    pub fn each_group(&self, each: &mut dyn FnMut(PointGroup)) {
        let count = self.pairs.len();
        let mut offer = |group: PointGroup, least: usize| {
            let size = match group {
                PointGroup::Point(_) => 1,
                PointGroup::Run(_, length) => length,
                group => self.members(group).count(),
            };
            if (least..count).contains(&size) {
                each(group);
            }
        };
        for (field, column) in POINTS.iter().copied().enumerate() {
            if self.join.is_condition(column) {
                continue;
            }
            for point in (0..count).filter(|point| self.like(field, *point) == *point) {
                match column {
                    // A CPU that comes first in some pair was offered already.
                    TARGET_CPU
                        if self.pairs.iter().any(|pair| pair.row.begins_with_end_of(self.point(point))) => {}
                    INITIATOR_CPU | TARGET_CPU => offer(PointGroup::Cpu(column, point), 2),
                    _ => offer(PointGroup::Field(field, point), 2),
                }
                if column == INITIATOR_NODE {
                    offer(PointGroup::Node(point), 2);
                }
            }
        }
        if !self.join.is_condition(INITIATOR_NODE) {
            offer(PointGroup::Local(true), 2);
            offer(PointGroup::Local(false), 2);
        }
        let mut rank = 0;
        while rank < count {
            let point = self.at(rank);
            let sizes = (0..count).filter(|other| self.is_one_curve(point, *other)).count();
            if sizes < CURVE {
                offer(PointGroup::Point(point), 1);
                rank += 1;
                continue;
            }
            let mut length = SHORTEST_RUN;
            while length < sizes {
                let step = length / SHORTEST_RUN;
                let mut first = 0;
                while first + length < sizes {
                    offer(PointGroup::Run(rank + first, length), 1);
                    first += step;
                }
                // The last run extends to the largest size, which is memory.
                offer(PointGroup::Run(rank + sizes - length, length), 1);
                length *= 2;
            }
            rank += sizes;
        }
    }

    /// Returns the assumed spread between runs, by the kind of the majority of the selected points.
    pub fn experience(&self, is_one: impl Fn(usize) -> bool) -> Experience {
        let own = || (0..self.pairs.len()).filter(|point| is_one(*point));
        match own().filter(|point| self.point(*point).tells(CLASS)).count() * 2 > own().count() {
            true => LINES,
            false => LOADS,
        }
    }

    /// Returns the difference of a group from all other points, and the difference of the other points; for the whole,
    /// the difference from zero.
    pub fn differs(&mut self, group: PointGroup) -> Option<(Difference, f64)> {
        for point in 0..self.pairs.len() {
            let is_member = self.holds(group, point);
            self.members.iter_mut().skip(point).take(1).for_each(|member| *member = is_member);
        }
        for file in 0..self.values.len() {
            let own = self.median(file, true).unwrap_or(f64::NAN);
            let rest = if group == PointGroup::Whole { Some(0.0) } else { self.median(file, false) };
            let value = own - rest.unwrap_or(f64::NAN);
            self.values.iter_mut().skip(file).take(1).for_each(|slot| *slot = value);
        }
        let rest = self.median(self.values.len(), false);
        let Experience { whole, local } = self.experience(|point| self.members.get(point) == Some(&true));
        // A median of several points scatters less than one point, if the errors of the points are independent.
        let mut sums = [(0.0, 0_usize); 2];
        for (member, pair) in self.members.iter().zip(self.pairs.iter()) {
            let [rest, own] = &mut sums;
            let (sum, count) = if *member { own } else { rest };
            *sum += pair.within;
            *count += 1;
        }
        let [(within_rest, scatter_rest), (within, scatter)] = sums.map(|(within, count)| {
            let count = count.max(1).real();
            let factor = if count > 2.0 { MEDIAN / count } else { 1.0 / count };
            (within / count * factor, local * local * factor)
        });
        let prior = match group {
            PointGroup::Whole => whole * whole + scatter + within,
            // Errors that points share in addition to the common drift are unknown: the scatter of one point is assumed
            // for several.
            _ => local * local + within + scatter_rest + within_rest,
        };
        let (first, second) = self.values.split_at(self.files[0].min(self.values.len()));
        Some((difference([first, second], prior)?, rest.unwrap_or(0.0)))
    }
}
