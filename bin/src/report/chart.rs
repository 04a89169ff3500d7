//! The content of a picture: plain data, borrowed from the results.
//!
//! The terminal and SVG draw the same two things, a chart with axes and a matrix of pairs. Nothing here depends on the
//! way in which either is drawn.

use core::fmt;
use latency_core::stats::Estimate;
use latency_core::text::Text;

/// The unit of an axis, which decides how its values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit<'a> {
    /// Amounts of memory: `48 KiB`. Its ticks are powers of two.
    Bytes,
    /// Plain numbers of something that is counted; logarithmic ticks are powers of two.
    Count,
    /// Plain numbers; the title of the axis contains the unit (`ns`).
    Plain(&'a str),
    /// Numbers with the prefixes k, M, G, T; the title of the axis contains the unit (`loads/s`).
    Prefixed(&'a str),
    /// Names at 0, 1, 2 and so on.
    Names(&'a [&'a str]),
}

/// The scale of an axis, which turns values into places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Logarithmic where the values span a factor of eight, else linear.
    #[default]
    Auto,
    /// Proportional to the values. A vertical axis starts at zero, so that heights can be compared.
    Linear,
    /// Like `Linear`, but a vertical axis starts at zero only if that wastes less than a third of it.
    Fitted,
    /// Equal ratios at equal distances. It becomes linear if a value is not positive.
    Logarithmic,
}

/// One axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis<'a> {
    /// The quantity: `working set`.
    pub title: &'a str,
    /// The unit of its values.
    pub unit: Unit<'a>,
    /// The scale of its values.
    pub scale: Scale,
}

/// Largest number that is drawn. Differences and ratios of smaller numbers are finite.
const LARGEST: f64 = 1e100;

/// Returns whether a number can be drawn: it is finite and not absurdly large.
pub fn is_drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}

/// One measured point. A point that is not [drawable](is_drawable) leaves a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartPoint {
    /// The place on the horizontal axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The ends of its confidence interval, lower one first.
    pub band: Option<(f64, f64)>,
    /// The ends of the confidence interval of `x`, if `x` was measured too.
    pub whiskers: Option<(f64, f64)>,
}

impl ChartPoint {
    /// Makes a point without an interval.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, band: None, whiskers: None }
    }

    /// Makes a point with a confidence interval.
    pub const fn with_band(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, band: Some((low, high)), whiskers: None }
    }

    /// Makes a point of an estimate, with its confidence interval if that is known.
    pub fn of(x: f64, y: Estimate) -> Self {
        Self { band: y.interval.map(|interval| (interval.low, interval.high)), ..Self::new(x, y.value) }
    }

    /// Returns whether it can be drawn.
    pub fn is_drawable(&self) -> bool {
        is_drawable(self.x) && is_drawable(self.y)
    }
}

/// The content of a series.
#[derive(Clone, Copy)]
pub enum Data<'a> {
    /// Measured points by ascending x, joined by lines and marked.
    Points(&'a [ChartPoint]),
    /// Measured points that are only marked.
    Scatter(&'a [ChartPoint]),
    /// A model, evaluated over the whole horizontal axis and drawn dashed.
    Curve(&'a dyn Fn(f64) -> f64),
}

/// One line or set of marks of a chart.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    /// Its name in the legend. A single series with an empty name has no legend.
    pub name: &'a str,
    /// Its content.
    pub data: Data<'a>,
}

/// The look of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkKind {
    /// A vertical line; its label is above the plot.
    Line,
    /// A second tick of the axis.
    Tick,
    /// An area from the place of the mark to `end`; its label is at the height `y`.
    Area {
        /// The right end.
        end: f64,
        /// The height of the label.
        y: f64,
    },
}

/// A marked place on the horizontal axis, such as a cache's capacity.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The place; not a number if nothing is marked.
    pub x: f64,
    /// The text; may be empty.
    pub label: Text<48>,
    /// The look.
    pub kind: MarkKind,
    /// The index of the series whose colour it has.
    pub series: Option<usize>,
}

impl Mark {
    /// Nothing.
    pub const NONE: Mark = Mark { x: f64::NAN, label: Text::EMPTY, kind: MarkKind::Line, series: None };

    /// Makes a vertical line that belongs to no series.
    pub fn line(x: f64, label: fmt::Arguments<'_>) -> Self {
        Self { x, label: Text::of(label), ..Self::NONE }
    }
}

/// Values over a common horizontal axis.
#[derive(Clone, Copy)]
pub struct Chart<'a> {
    /// The finding.
    pub title: &'a str,
    /// The axes and the conditions under which it was measured; empty for none.
    pub subtitle: &'a str,
    /// The horizontal axis.
    pub x_axis: &'a Axis<'a>,
    /// The vertical axis.
    pub y_axis: &'a Axis<'a>,
    /// The series, the most important first.
    pub series: &'a [Series<'a>],
    /// The marks, by ascending place.
    pub marks: &'a [Mark],
}

/// The letters that mark cells without a number, one for each reason; further reasons are not listed.
const REASON_MARKS: [char; 4] = ['a', 'b', 'c', 'd'];

/// The first of some neighbouring rows and columns of a matrix, and their name.
#[derive(Clone, Copy, Debug)]
pub struct MatrixGroup {
    /// The index of the row.
    pub first: usize,
    /// The name.
    pub name: Text<32>,
}

/// A number for each pair of nodes or CPUs.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// The finding.
    pub title: &'a str,
    /// The quantity and the conditions under which it was measured; empty for none.
    pub subtitle: &'a str,
    /// The unit of the numbers.
    pub unit: &'a str,
    /// The kind of the initiators and targets: `node`.
    pub noun: &'a str,
    /// The numbers of the initiators.
    pub rows: &'a [u32],
    /// The numbers of the targets.
    pub columns: &'a [u32],
    /// The groups of a symmetric matrix. Only its upper triangle is drawn: each row begins a column further to the
    /// right. `None` if the direction matters.
    pub groups: Option<&'a [MatrixGroup]>,
    /// Returns the number of an initiator and a target, or the reason why it is missing.
    pub cell: &'a dyn Fn(u32, u32) -> Result<f64, &'a str>,
}

impl<'a> Matrix<'a> {
    /// Returns every cell, row by row, with its initiator and target.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32, Result<f64, &'a str>)> + '_ {
        self.rows.iter().enumerate().flat_map(move |(index, &row)| {
            self.columns
                .iter()
                .skip(self.left_out(index))
                .map(move |&column| (row, column, self.at(row, column)))
        })
    }

    /// Returns the number of columns that the row of this index leaves out.
    pub fn left_out(&self, row: usize) -> usize {
        if self.groups.is_some() { row } else { 0 }
    }

    /// Returns one cell; a number that is not finite counts as missing.
    ///
    /// # Errors
    ///
    /// The reason why the number is missing.
    pub fn at(&self, row: u32, column: u32) -> Result<f64, &'a str> {
        match (self.cell)(row, column) {
            Ok(value) if !value.is_finite() => Err("not a number"),
            cell => cell,
        }
    }

    /// Returns the mark of a cell without a number, which also precedes the reason in the list: a letter if there are
    /// several reasons, else a dash.
    pub fn mark(&self, reason: &str) -> char {
        let reasons = self.reasons();
        let known = reasons.iter().flatten().zip(REASON_MARKS).find(|(known, _)| **known == reason);
        let several = reasons.iter().flatten().count() > 1;
        known.filter(|_| several).map_or('-', |(_, mark)| mark)
    }

    /// Returns the first few different reasons for which numbers are missing.
    pub fn reasons(&self) -> [Option<&'a str>; REASON_MARKS.len()] {
        let mut found = [None; REASON_MARKS.len()];
        for reason in self.cells().filter_map(|(_, _, cell)| cell.err()) {
            if found.contains(&Some(reason)) {
                continue;
            }
            match found.iter_mut().find(|place| place.is_none()) {
                Some(place) => *place = Some(reason),
                None => break,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_listed_once() {
        let nodes = [0, 2, 3];
        let cell = |row: u32, column: u32| match (row, column) {
            (0, _) => Ok(100.0),
            (2, 3) => Ok(f64::NAN),
            (2, _) => Err("mbind: EPERM"),
            _ => Err("no CPU"),
        };
        let matrix = Matrix {
            title: "",
            subtitle: "",
            unit: "ns",
            noun: "node",
            rows: &nodes,
            columns: &nodes,
            groups: None,
            cell: &cell,
        };
        assert_eq!(matrix.reasons(), [Some("mbind: EPERM"), Some("not a number"), Some("no CPU"), None]);
        assert_eq!(
            (matrix.mark("mbind: EPERM"), matrix.mark("no CPU"), matrix.mark("else")),
            ('a', 'c', '-')
        );
        assert_eq!(matrix.cells().count(), 9);
        let pairs = |(row, column, _)| (row, column);
        let triangle = Matrix { rows: &[0, 2], columns: &[2, 3], groups: Some(&[]), ..matrix };
        assert!(triangle.cells().map(pairs).eq([(0, 2), (0, 3), (2, 3)]));
    }
}
