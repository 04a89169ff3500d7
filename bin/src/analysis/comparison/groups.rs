//! Points of two results that may differ together: rows, columns and nodes of a matrix, runs of sizes of a curve,
//! values of any other field.

use latency_core::sort::sort_by;

use super::join::Join;
use super::pair::PointPair;
use super::significance::{Difference, Experience, LINES, LOADS, difference};
use crate::result::row::{A, B, CLASS, FIELDS, FROM, Row, SIZE};
use crate::sys::errno::Errno;
use crate::sys::table::{List, Table};

/// Number of sizes from which on points that are otherwise alike are a curve.
pub const CURVE: usize = 6;
/// The shortest run of sizes that may differ together: one or two lie on a step, where chance decides much.
const SHORTEST_RUN: usize = 3;

/// The variance of a median of many over that of their mean, about.
const MEDIAN: f64 = 1.5;

/// The place behind the fields: all of them but the size.
const KIND: usize = FIELDS.len();

/// Points that may differ together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointGroup {
    /// All of them.
    Whole,
    /// One.
    Point(usize),
    /// Points with the same value of a field as one of them.
    Field(usize, usize),
    /// Points from and of the node that one of them is from.
    Node(usize),
    /// Points of the CPU that one of them has in a field.
    Cpu(usize, usize),
    /// Points of the own node, or of others.
    Local(bool),
    /// Neighbouring sizes of a curve: the place of the first in the order by size, and their number.
    Run(usize, usize),
}

/// The measured values of all points that two sides share.
pub struct Measured {
    /// The points.
    pub pairs: List<PointPair>,
    /// Numbers of files of both sides.
    files: [usize; 2],
    /// A value of each file; of the latest point before it is added, the logarithms of its latencies.
    pub values: Table<f64>,
    /// Values of each point over the first side's mean, and last the logarithm of the ratio; no numbers where a file has
    /// none.
    logs: List<f64>,
    /// The points in the order of kinds and sizes.
    pub order: Table<usize>,
    /// The first point with the same value, field by field, and last of all fields but the size.
    alike: Table<usize>,
    join: Join,
    /// The points by their values: in each file, and last by their ratios.
    sorted: Table<(f64, usize)>,
    /// The points of the group that is looked at.
    members: Table<bool>,
}

impl Measured {
    /// Returns room for `most` points of these numbers of files.
    #[inline(never)] // offsets into a small frame are short
    pub fn new(most: usize, files: [usize; 2], join: Join) -> Result<Measured, Errno> {
        let all = files[0] + files[1];
        Ok(Measured {
            pairs: List::new(most)?,
            files,
            values: Table::filled(all, f64::NAN)?,
            logs: List::new(most * (all + 1))?,
            order: Table::empty()?,
            alike: Table::empty()?,
            join,
            sorted: Table::empty()?,
            members: Table::filled(most, false)?,
        })
    }

    /// Returns the point at an index, which is there.
    pub fn point(&self, index: usize) -> &Row {
        self.pairs.get(index).map_or(&Row::EMPTY, |pair| &pair.row)
    }

    /// Adds a point, whose latencies are in `values`, with the mean of those of the first side.
    pub fn push(&mut self, pair: PointPair, first: f64) {
        let logs = self.values.iter().map(|log| log - first);
        // There is room for all points.
        for log in logs.chain([pair.logarithm]) {
            self.logs.push(log);
        }
        self.pairs.push(pair);
    }

    /// Finds out which points are alike, and their orders, when all points are there.
    #[inline(never)] // offsets into a small frame are short
    pub fn arrange(&mut self) -> Result<(), Errno> {
        let count = self.pairs.len();
        self.alike = Table::filled(count * (KIND + 1), usize::MAX)?;
        for field in 0..=KIND {
            let fields = if field == KIND { self.join.0 & !(1 << SIZE) } else { 1 << field };
            for point in 0..count {
                let row = self.point(point);
                let is_first = |before: &usize| {
                    self.like(field, *before) == *before && self.point(*before).is_same(row, fields)
                };
                let known = field == KIND || row.tells(field);
                let first = if known { (0..point).find(is_first).unwrap_or(point) } else { usize::MAX };
                self.alike.iter_mut().skip(field * count + point).take(1).for_each(|slot| *slot = first);
            }
        }
        let mut order = Table::made(count, |point| point)?;
        let key = |point: usize| (self.like(KIND, point), self.point(point).sample.size, point);
        sort_by(&mut order, |one, other| key(*one).cmp(&key(*other)));
        for (rank, point) in order.iter().enumerate() {
            self.pairs.iter_mut().skip(*point).take(1).for_each(|pair| pair.rank = rank);
        }
        self.order = order;
        // Sorted once for all groups: a median then takes one walk.
        let lists = self.values.len() + 1;
        let value = |list: usize, point: usize| self.logs.get(point * lists + list).copied();
        let of_list = |index: usize| (value(index / count, index % count).unwrap_or(f64::NAN), index % count);
        self.sorted = Table::made(count * lists, of_list)?;
        for list in self.sorted.chunks_mut(count.max(1)) {
            sort_by(list, |one, other| one.0.total_cmp(&other.0));
        }
        Ok(())
    }

    /// Returns the median over the members of the group that is looked at, or over all other points: of the values of a
    /// file, or behind the files of the ratios.
    fn median(&self, list: usize, inside: bool) -> Option<f64> {
        let all = self.sorted.chunks(self.pairs.len().max(1)).nth(list)?;
        let is_chosen =
            |(value, point): &&(f64, usize)| value.is_finite() && self.members.get(*point) == Some(&inside);
        let mut chosen = all.iter().filter(is_chosen);
        // From both ends to where they meet.
        let mut middle = None;
        while let Some((lower, _)) = chosen.next() {
            let Some((upper, _)) = chosen.next_back() else { return Some(*lower) };
            middle = Some(lower + (upper - lower) / 2.0);
        }
        middle
    }

    /// The first point that is like this one in a field, or in all but the size; none where the file does not tell.
    fn like(&self, field: usize, point: usize) -> usize {
        self.alike.get(field * self.pairs.len() + point).copied().unwrap_or(usize::MAX)
    }

    /// Returns the point at a place of the order.
    fn at(&self, rank: usize) -> usize {
        self.order.get(rank).copied().unwrap_or(0)
    }

    /// Returns whether two points are of one curve, if there is any.
    pub fn is_one_curve(&self, one: usize, other: usize) -> bool {
        self.like(KIND, one) == self.like(KIND, other)
    }

    /// Returns whether a group has a point.
    pub fn holds(&self, group: PointGroup, point: usize) -> bool {
        let pair = self.point(point).pair;
        match group {
            PointGroup::Whole => true,
            PointGroup::Point(own) => own == point,
            PointGroup::Field(field, first) => self.like(field, point) == first,
            PointGroup::Node(first) => {
                let node = self.point(first).pair.map(|(from, _)| from);
                pair.is_some_and(|(from, to)| [Some(from), Some(to)].contains(&node))
            }
            PointGroup::Cpu(field, first) => self.point(point).has_cpu_of(self.point(first), field),
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

    /// Names every group of less than all points that may differ.
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
        for field in (0..FIELDS.len()).filter(|field| !self.join.is_condition(*field)) {
            for point in (0..count).filter(|point| self.like(field, *point) == *point) {
                match field {
                    // One that comes first in some pair was offered.
                    B if self.pairs.iter().any(|pair| pair.row.begins_with_end_of(self.point(point))) => {}
                    A | B => offer(PointGroup::Cpu(field, point), 2),
                    _ => offer(PointGroup::Field(field, point), 2),
                }
                if field == FROM {
                    offer(PointGroup::Node(point), 2);
                }
            }
        }
        if !self.join.is_condition(FROM) {
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
                // Up to the end, which is memory.
                offer(PointGroup::Run(rank + sizes - length, length), 1);
                length *= 2;
            }
            rank += sizes;
        }
    }

    /// Returns the assumed spread of runs, by the kind of most of some points.
    pub fn experience(&self, is_one: impl Fn(usize) -> bool) -> Experience {
        let own = || (0..self.pairs.len()).filter(|point| is_one(*point));
        match own().filter(|point| self.point(*point).tells(CLASS)).count() * 2 > own().count() {
            true => LINES,
            false => LOADS,
        }
    }

    /// Returns the difference of a group from all other points, and that of the others; of the whole, from nothing.
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
        // A median of several points scatters less than one, if what is their own is independent.
        let mut sums = [(0.0, 0_usize); 2];
        for (member, pair) in self.members.iter().zip(self.pairs.iter()) {
            let [rest, own] = &mut sums;
            let (sum, count) = if *member { own } else { rest };
            *sum += pair.within;
            *count += 1;
        }
        let [(within_rest, scatter_rest), (within, scatter)] = sums.map(|(within, count)| {
            let count = count.max(1) as f64;
            let factor = if count > 2.0 { MEDIAN / count } else { 1.0 / count };
            (within / count * factor, local * local * factor)
        });
        let prior = match group {
            PointGroup::Whole => whole * whole + scatter + within,
            // What points share beyond the drift of all is not known: the scatter of one is taken for that of many.
            _ => local * local + within + scatter_rest + within_rest,
        };
        let (first, second) = self.values.split_at(self.files[0].min(self.values.len()));
        Some((difference([first, second], prior)?, rest.unwrap_or(0.0)))
    }
}
