//! Finds the points that two results share: by their fields, not by their names or order.
//!
//! A field that has one value on the whole of one side and another value on the whole of the other side, for example a
//! requested size, is a condition that differs. It does not keep the points apart.

use latency_core::math::{ToReal, exp, ln};
use latency_core::stats::{Estimate, Interval};

use crate::record::columns::{Column, ColumnSet, POINTS, WORKING_SET};
use crate::record::row::Row;

/// The files of two sides.
#[derive(Clone, Copy)]
pub struct Files<'f> {
    /// Numbers of files of both sides.
    pub counts: [usize; 2],
    /// Returns the rows of a file of a side, by the indices of the side and of the file.
    pub rows: &'f dyn Fn(usize, usize) -> &'f [Row],
}

impl<'f> Files<'f> {
    /// Returns the first file of a side.
    #[must_use]
    pub fn first(&self, side: usize) -> &'f [Row] {
        (self.rows)(side, 0)
    }

    /// Returns the rows of all files of a side.
    fn all(&self, side: usize) -> impl Iterator<Item = &'f Row> + use<'f> {
        let rows = self.rows;
        (0..self.counts.get(side).copied().unwrap_or(0)).flat_map(move |file| rows(side, file))
    }
}

/// The columns by which points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join(pub ColumnSet);

impl Join {
    /// Finds the fields that distinguish points.
    #[must_use]
    pub fn of(files: &Files<'_>) -> Join {
        Join(ColumnSet::that(&|column| condition(files, column).is_none()))
    }

    /// Returns whether a field is a condition that differs between the sides, and so is not used to join points.
    #[must_use]
    pub const fn is_condition(self, column: Column) -> bool {
        !self.0.has(column)
    }

    /// Finds the point in `rows` that is the same as the point `index` of `first`. Of points with the same fields, such
    /// as those of another tool's repeated runs, each has its own partner, by their order.
    #[must_use]
    pub fn find(self, first: &[Row], index: usize, rows: &[Row]) -> Option<Row> {
        let row = first.get(index)?;
        let same = |other: &&Row| row.is_same(other, self.0);
        let before = first.get(..index)?.iter().filter(same).count();
        let mut all = rows.iter().filter(same);
        all.clone().nth(before).or_else(|| all.next()).cloned()
    }

    /// Interpolates a point of `row`'s size between the nearest two of `rows`, linearly in the logarithms; its interval
    /// contains their intervals.
    #[must_use]
    pub fn between(self, row: &Row, rows: &[Row]) -> Option<Row> {
        let size = row.size();
        let (mut below, mut above) = (None::<&Row>, None::<&Row>);
        // A latency of memory is not one of a random load.
        let is_alike = |other: &&Row| {
            row.is_same(other, self.0.without(WORKING_SET.into()))
                && row.parts().is_some() == other.parts().is_some()
        };
        for other in rows.iter().filter(is_alike) {
            let its = other.size();
            if its <= size && below.is_none_or(|below| its >= below.size()) {
                below = Some(other);
            }
            if its >= size && above.is_none_or(|above| its < above.size()) {
                above = Some(other);
            }
        }
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
}

/// Returns a row of each side if the field is constant on each side and differs between them. A size of 0 counts as
/// absent.
fn condition<'f>(files: &Files<'f>, field: Column) -> Option<[&'f Row; 2]> {
    let one = uniform(files, 0, field)?;
    let other = uniform(files, 1, field)?;
    (!one.agrees(other, field)).then_some([one, other])
}

/// Returns a row of a side if all rows of the side that have the field have the same value in it.
fn uniform<'f>(files: &Files<'f>, side: usize, field: Column) -> Option<&'f Row> {
    let first = files.all(side).find(|row| row.tells(field))?;
    files.all(side).filter(|row| row.tells(field)).all(|row| row.agrees(first, field)).then_some(first)
}

/// Returns the fields that are constant on each side and differ between the sides, with a row of each side.
pub fn conditions<'f>(files: Files<'f>) -> impl Iterator<Item = (Column, [&'f Row; 2])> {
    POINTS.iter().copied().filter_map(move |field| Some((field, condition(&files, field)?)))
}

/// Returns the name of the field that prevents points from joining: the first one without a value that both sides have.
#[must_use]
pub fn obstacle(files: &Files<'_>) -> &'static str {
    let apart = |field: &&Column| {
        let told = |side| files.all(side).filter(|row| row.tells(**field));
        told(0).next().is_some()
            && told(1).next().is_some()
            && told(0).all(|row| told(1).all(|other| !row.agrees(other, **field)))
    };
    POINTS.iter().find(apart).map_or("", |column| column.words())
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
