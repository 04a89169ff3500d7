//! Finds the points that two results share: by their fields, not by their names or order.
//!
//! A field that has one value on the whole of one side and another value on the whole of the other side, for example a
//! requested size, is a condition that differs. It does not keep the points apart.

use alloc::vec::Vec;
use core::hash::Hasher;
use latency_report::chart::vector;

use latency_core::hash::Fnv;
use latency_core::math::{exp, ln};
use latency_core::{Estimate, Interval, ToReal, sort_by};

use crate::record::columns::{Column, ColumnSet, INITIATOR_CPU, POINTS, TARGET_CPU, WORKING_SET};
use crate::record::row::Row;

/// The rows of the files of two sides; each side has a file.
pub struct Files<'f> {
    /// The rows of every file, those of the first side first.
    pub rows: Vec<&'f [Row]>,
    /// The number of files of the first side.
    pub ours: usize,
}

/// A field that is constant on each side and differs between the sides, with a row of each side.
pub type DifferingField<'f> = (Column, [&'f Row; 2]);

impl<'f> Files<'f> {
    /// Returns the rows of the files of a side.
    fn side(&self, side: usize) -> &[&'f [Row]] {
        let (first, second) = self.rows.split_at(self.ours);
        if side == 0 { first } else { second }
    }

    /// Returns a row of a side if all rows of the side that have the field have the same value in it.
    fn uniform(&self, side: usize, field: Column) -> Option<&'f Row> {
        let mut first: Option<&Row> = None;
        for row in self.side(side).iter().copied().flatten().filter(|row| row.tells(field)) {
            if !first.get_or_insert(row).agrees(row, field) {
                return None;
            }
        }
        first
    }

    /// Returns the fields that are conditions. A size of 0 counts as absent.
    pub fn conditions(&self) -> Vec<DifferingField<'f>> {
        let mut conditions = Vec::new();
        for field in POINTS {
            if let (Some(one), Some(other)) = (self.uniform(0, field), self.uniform(1, field))
                && !one.agrees(other, field)
            {
                conditions.push((field, [one, other]));
            }
        }
        conditions
    }

    /// Returns the name of the field that prevents points from joining: the first one without a value that both sides
    /// have.
    pub fn obstacle(&self) -> &'static str {
        let apart = |field: &&Column| {
            let values = |side: usize| {
                let rows = &mut self.side(side).iter().copied().flatten();
                same_values(rows, (**field).into())
            };
            let (one, other) = (values(0), values(1));
            let is_in_one = |(value, _): &(u64, usize)| !of_value(&one, *value).is_empty();
            !one.is_empty() && !other.is_empty() && !other.iter().any(is_in_one)
        };
        POINTS.iter().find(apart).map_or("", |column| column.words())
    }
}

/// Returns the columns by which points are joined: those that are not conditions.
pub fn join(conditions: &[DifferingField<'_>]) -> ColumnSet {
    conditions.iter().fold(ColumnSet::POINTS, |join, (field, _)| join.without((*field).into()))
}

/// Returns the hash of the values of some columns and the place of each row that tells all of them, in this order. Equal
/// values of two columns have one hash.
pub fn same_values(rows: &mut dyn Iterator<Item = &Row>, columns: ColumnSet) -> Vec<(u64, usize)> {
    let mut values = Vec::new();
    for (place, row) in rows.enumerate() {
        if let Some(hash) = hash(row, columns) {
            values.push((hash, place));
        }
    }
    sort_by(&mut values, Ord::cmp);
    values
}

/// Returns a number that is the same for the same values of some columns, if a row tells all of them.
fn hash(row: &Row, columns: ColumnSet) -> Option<u64> {
    let mut hash = Fnv::EMPTY;
    for column in columns.points() {
        if !row.tells(column) {
            return None;
        }
        let number = row.count(column).or(row.flag(column).map(u64::from));
        hash.write(row.word(column).as_bytes());
        hash.write(&number.unwrap_or(u64::MAX).to_le_bytes());
    }
    Some(hash.0)
}

/// Returns the places with a value among sorted values.
pub fn of_value(values: &[(u64, usize)], value: u64) -> &[(u64, usize)] {
    let start = values.partition_point(|(other, _)| *other < value);
    let count = values[start..].iter().take_while(|(other, _)| *other == value).count();
    &values[start..start + count]
}

/// The rows that are the same as another one in some columns. Those of pairs of CPUs, which may be many, are found without
/// a comparison with every row.
pub struct SameRows<'r> {
    rows: Vec<&'r Row>,
    columns: ColumnSet,
    /// The rows of pairs of CPUs, by both CPUs.
    pairs: Vec<(u64, usize)>,
    /// The places of the other rows.
    others: Vec<usize>,
}

impl<'r> SameRows<'r> {
    /// Returns rows to be found by some columns.
    pub fn of(all: &mut dyn Iterator<Item = &'r Row>, columns: ColumnSet) -> SameRows<'r> {
        let rows: Vec<&Row> = vector(all);
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        for (place, row) in rows.iter().enumerate() {
            match hash(row, ColumnSet::CPUS) {
                Some(cpus) => pairs.push((cpus, place)),
                None => others.push(place),
            }
        }
        sort_by(&mut pairs, Ord::cmp);
        SameRows { rows, columns, pairs, others }
    }

    /// Passes the rows that are the same as one to `take`, with their places, in their order, until it returns true.
    pub fn find(&self, row: &Row, take: &mut dyn FnMut(usize, &'r Row) -> bool) {
        let has_cpus = self.columns.has(INITIATOR_CPU) && self.columns.has(TARGET_CPU);
        let mut near = Vec::new();
        match hash(row, ColumnSet::CPUS).filter(|_| has_cpus) {
            None => near.extend(0..self.rows.len()),
            // Rows without CPUs may be the same as any.
            Some(cpus) => {
                near.extend_from_slice(&self.others);
                of_value(&self.pairs, cpus).iter().for_each(|(_, place)| near.push(*place));
                sort_by(&mut near, Ord::cmp);
            }
        }
        for place in near {
            let other = self.rows[place];
            if row.is_same(other, self.columns) && take(place, other) {
                break;
            }
        }
    }
}

/// Finds for each row of `first` the one of `rows` that is the same. Of points with the same fields, such as those of
/// another tool's repeated runs, each has its own partner, by their order.
pub fn partners<'r>(
    first: &mut dyn Iterator<Item = &Row>,
    rows: &'r [Row],
    join: ColumnSet,
) -> Vec<Option<&'r Row>> {
    let (own, others) = (SameRows::of(first, join), SameRows::of(&mut rows.iter(), join));
    let mut partners = Vec::new();
    for (index, row) in own.rows.iter().enumerate() {
        let (mut before, mut seen, mut partner) = (0, 0, None);
        own.find(row, &mut |place, _| {
            before += usize::from(place < index);
            place >= index
        });
        others.find(row, &mut |_, other| {
            if seen == 0 || seen == before {
                partner = Some(other);
            }
            seen += 1;
            seen > before
        });
        partners.push(partner);
    }
    partners
}

/// Interpolates a point of `row`'s size between the nearest two of some that are the same but for the size, linearly in the
/// logarithms; its interval contains their intervals.
pub fn between(row: &Row, same: &SameRows<'_>) -> Option<Row> {
    let size = row.size();
    let (mut below, mut above) = (None::<&Row>, None::<&Row>);
    // A latency of memory is not one of a random load.
    same.find(row, &mut |_, other| {
        let (its, is_alike) = (other.size(), row.parts().is_some() == other.parts().is_some());
        if is_alike && its <= size && below.is_none_or(|below| its >= below.size()) {
            below = Some(other);
        }
        if is_alike && its >= size && above.is_none_or(|above| its < above.size()) {
            above = Some(other);
        }
        false
    });
    let (below, above) = (below?, above?);
    let (low, high) = (below.size().0.real(), above.size().0.real());
    let share = if high > low { ln(size.0.real() / low) / ln(high / low) } else { 0.0 };
    let middle = |one: f64, other: f64| exp(ln(one) + share * ln(other / one));
    let (one, other) = (ends(below), ends(above));
    let ends = Interval { low: one.low.min(other.low), high: one.high.max(other.high) };
    let value = middle(below.nanoseconds(), above.nanoseconds());
    let mut found = below.clone().with(WORKING_SET, size);
    found.replace(Some(Estimate { value, interval: Some(ends) }));
    Some(found)
}

/// Returns the interval of a point; without one, an interval estimated from its spread; without a spread, one per cent
/// to either side.
pub fn ends(row: &Row) -> Interval {
    /// Number of median absolute deviations that nearly always contain the true median, for the median of three to five
    /// rounds.
    const DEVIATIONS: f64 = 3.0;
    const UNKNOWN: f64 = 0.01;
    let latency = row.nanoseconds();
    let half = latency * row.deviation().map_or(UNKNOWN, |deviation| deviation * DEVIATIONS);
    row.interval().unwrap_or(Interval { low: latency - half, high: latency + half })
}
