//! Points of two results that may differ together: rows, columns and nodes of a matrix, runs of sizes of a curve,
//! values of any other field.

use latency_core::math::ln;
use latency_core::sort::sort_by;

use super::join::{is_local, touches, Join};
use super::significance::{difference, Difference, Experience, LINES, LOADS};
use crate::result::row::{Row, A, B, CLASS, FIELDS, FROM, SIZE};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

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
    /// The points as the first file of the first side has them.
    pub rows: Table<Row>,
    /// Number of points.
    pub count: usize,
    /// Numbers of files of both sides.
    pub files: [usize; 2],
    /// The logarithms of latencies, file by file; no numbers where a file has none.
    pub logs: Table<f64>,
    /// The variances within runs, of both sides on average.
    pub within: Table<f64>,
    /// The logarithms of the ratios.
    pub ratios: Table<f64>,
    /// The place of each point in the order of kinds and sizes, and what has each place.
    ranks: Table<usize>,
    order: &'static mut [usize],
    /// The first point with the same value, field by field, and last of all fields but the size.
    alike: Table<usize>,
    join: Join,
    /// The points by their values: in each file, and last by their ratios. Points without a value are left out.
    sorted: Table<(f64, usize)>,
    /// Lengths of these lists.
    lengths: Table<usize>,
    /// The points of the group that is looked at.
    members: &'static mut [bool],
    values: &'static mut [f64],
}

impl Measured {
    /// Returns room for `most` points of these numbers of files.
    #[inline(never)] // offsets into a small frame are short
    pub fn new(most: usize, files: [usize; 2], join: Join) -> Result<Measured, Errno> {
        let all = files[0] + files[1];
        Ok(Measured {
            rows: Table::filled(most, Row::EMPTY)?,
            count: 0,
            files,
            logs: Table::filled(most * all, f64::NAN)?,
            within: Table::filled(most, 0.0)?,
            ratios: Table::filled(most, 0.0)?,
            ranks: Table::filled(most, 0)?,
            order: Table::filled(most, 0)?.leak(),
            alike: Table::filled(most * (KIND + 1), usize::MAX)?,
            join,
            sorted: Table::filled(most * (all + 1), (f64::NAN, 0))?,
            lengths: Table::filled(all + 1, 0)?,
            members: Table::filled(most, false)?.leak(),
            values: Table::filled(all, 0.0)?.leak(),
        })
    }

    /// Returns the points.
    pub fn points(&self) -> &[Row] {
        self.rows.get(..self.count).unwrap_or_default()
    }

    /// Returns a point, which is there.
    pub fn point(&self, index: usize) -> &Row {
        self.points().get(index).unwrap_or(&Row::EMPTY)
    }

    /// Returns the logarithms of one point, file by file.
    pub fn log(&self, file: usize, point: usize) -> f64 {
        let all = self.files[0] + self.files[1];
        self.logs.get(point * all + file).copied().unwrap_or(f64::NAN)
    }

    /// Notes the latency of the next point in a file.
    pub fn note(&mut self, file: usize, nanoseconds: f64) {
        let place = self.count * (self.files[0] + self.files[1]) + file;
        if let Some(slot) = self.logs.get_mut(place) {
            *slot = ln(nanoseconds);
        }
    }

    /// Adds the point whose latencies were noted; `within` is the variance within runs.
    pub fn push(&mut self, row: Row, within: f64) {
        let all = self.files[0] + self.files[1];
        let point = self.count;
        let mean = |files: core::ops::Range<usize>| {
            let known = || files.clone().map(|file| self.log(file, point)).filter(|log| log.is_finite());
            known().sum::<f64>() / known().count() as f64
        };
        let (first, second) = (mean(0..self.files[0]), mean(self.files[0]..all));
        for (table, value) in [(&mut self.within, within), (&mut self.ratios, second - first)] {
            if let Some(slot) = table.get_mut(point) {
                *slot = value;
            }
        }
        // Only distances from the first side's mean are looked at.
        for slot in self.logs.iter_mut().skip(point * all).take(all) {
            *slot -= first;
        }
        if let Some(slot) = self.rows.get_mut(point) {
            *slot = row;
        }
        self.count += 1;
    }

    /// Finds out which points are alike, and the order of kinds and sizes, when all points are there.
    #[inline(never)] // offsets into a small frame are short
    pub fn arrange(&mut self) {
        for field in 0..=KIND {
            let fields = if field == KIND { self.join.0 & !(1 << SIZE) } else { 1 << field };
            for point in 0..self.count {
                let row = *self.point(point);
                let is_first = |before: &usize| {
                    self.like(field, *before) == *before && self.point(*before).is_same(&row, fields)
                };
                let known = field == KIND || row.tells(field);
                let first = (0..point).find(is_first).unwrap_or(point);
                if let Some(slot) = self.alike.get_mut(field * self.rows.len() + point) {
                    *slot = if known { first } else { usize::MAX };
                }
            }
        }
        let order = core::mem::take(&mut self.order);
        for (point, slot) in order.iter_mut().enumerate() {
            *slot = point;
        }
        let key = |point: usize| (self.like(KIND, point), self.point(point).sample.size, point);
        sort_by(order.get_mut(..self.count).unwrap_or_default(), |one, other| key(*one).cmp(&key(*other)));
        for (rank, point) in order.iter().enumerate().take(self.count) {
            if let Some(slot) = self.ranks.get_mut(*point) {
                *slot = rank;
            }
        }
        self.order = order;
        self.sort();
    }

    /// Sorts the points by their values, once for all groups: a median then takes one walk.
    #[inline(never)] // offsets into a small frame are short
    fn sort(&mut self) {
        let most = self.rows.len();
        for list in 0..self.lengths.len() {
            let mut length = 0;
            for point in 0..self.count {
                let value = self.value(list, point);
                if let (true, Some(slot)) = (value.is_finite(), self.sorted.get_mut(list * most + length)) {
                    *slot = (value, point);
                    length += 1;
                }
            }
            let sorted = self.sorted.get_mut(list * most..list * most + length).unwrap_or_default();
            sort_by(sorted, |one, other| one.0.total_cmp(&other.0));
            if let Some(slot) = self.lengths.get_mut(list) {
                *slot = length;
            }
        }
    }

    /// Returns the logarithm of a point in a file; behind the files, that of its ratio.
    fn value(&self, list: usize, point: usize) -> f64 {
        match list + 1 == self.lengths.len() {
            true => self.ratios.get(point).copied().unwrap_or(f64::NAN),
            false => self.log(list, point),
        }
    }

    /// Returns the median over the members of the group that is looked at, or over all other points.
    fn median(&self, list: usize, inside: bool) -> Option<f64> {
        let length = self.lengths.get(list).copied().unwrap_or(0);
        let all = self.sorted.get(list * self.rows.len()..)?.get(..length)?;
        let mut chosen = all.iter().filter(|(_, point)| self.members.get(*point) == Some(&inside));
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
        self.alike.get(field * self.rows.len() + point).copied().unwrap_or(usize::MAX)
    }

    /// Returns the point at a place of the order.
    pub fn at(&self, rank: usize) -> usize {
        self.order.get(rank).copied().unwrap_or(0)
    }

    /// Returns whether two points are of one curve, if there is any.
    pub fn is_one_curve(&self, one: usize, other: usize) -> bool {
        self.like(KIND, one) == self.like(KIND, other)
    }

    /// Returns whether a group has a point.
    pub fn holds(&self, group: PointGroup, point: usize) -> bool {
        match group {
            PointGroup::Whole => true,
            PointGroup::Point(own) => own == point,
            PointGroup::Field(field, first) => self.like(field, point) == first,
            PointGroup::Node(first) => touches(self.point(point), self.point(first)),
            PointGroup::Cpu(field, first) => self.point(point).has_cpu_of(self.point(first), field),
            PointGroup::Local(local) => is_local(self.point(point)) == Some(local),
            PointGroup::Run(first, length) => {
                self.ranks.get(point).is_some_and(|rank| (first..first + length).contains(rank))
            }
        }
    }

    /// Returns the number of points of a group.
    pub fn size(&self, group: PointGroup) -> usize {
        (0..self.count).filter(|point| self.holds(group, *point)).count()
    }

    /// Names every group of less than all points that may differ.
    pub fn each_group(&self, each: &mut dyn FnMut(PointGroup)) {
        let mut offer = |group: PointGroup, least: usize| {
            let size = match group {
                PointGroup::Point(_) => 1,
                PointGroup::Run(_, length) => length,
                group => self.size(group),
            };
            if (least..self.count).contains(&size) {
                each(group);
            }
        };
        for field in (0..FIELDS.len()).filter(|field| !self.join.is_condition(*field)) {
            for point in (0..self.count).filter(|point| self.like(field, *point) == *point) {
                match field {
                    A => offer(PointGroup::Cpu(A, point), 2),
                    // One that comes first in some pair was offered.
                    B if self.points().iter().any(|row| row.begins_with_end_of(self.point(point))) => {}
                    B => offer(PointGroup::Cpu(B, point), 2),
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
        while rank < self.count {
            let point = self.at(rank);
            let sizes = (0..self.count).filter(|other| self.is_one_curve(point, *other)).count();
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
        let own = || (0..self.count).filter(|point| is_one(*point));
        match own().filter(|point| self.point(*point).tells(CLASS)).count() * 2 > own().count() {
            true => LINES,
            false => LOADS,
        }
    }

    /// Returns the difference of a group from all other points, and that of the others; of the whole, from nothing.
    pub fn differs(&mut self, group: PointGroup) -> Option<(Difference, f64)> {
        let members = core::mem::take(&mut self.members);
        for (point, member) in members.iter_mut().enumerate().take(self.count) {
            *member = self.holds(group, point);
        }
        self.members = members;
        let values = core::mem::take(&mut self.values);
        for (file, value) in values.iter_mut().enumerate() {
            let own = self.median(file, true).unwrap_or(f64::NAN);
            let rest = if group == PointGroup::Whole { Some(0.0) } else { self.median(file, false) };
            *value = own - rest.unwrap_or(f64::NAN);
        }
        let rest = self.median(values.len(), false);
        let Experience { whole, local } = self.experience(|point| self.members.get(point) == Some(&true));
        // A median of several points scatters less than one, if what is their own is independent.
        let mut sums = [(0.0, 0_usize); 2];
        for (member, within) in self.members.iter().zip(self.within.iter()).take(self.count) {
            let [rest, own] = &mut sums;
            let (sum, count) = if *member { own } else { rest };
            *sum += *within;
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
        let (first, second) = values.split_at(self.files[0].min(values.len()));
        let found = difference([first, second], prior);
        self.values = values;
        Some((found?, rest.unwrap_or(0.0)))
    }
}
