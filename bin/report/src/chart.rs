//! The content of a picture: plain data.
//!
//! The terminal and SVG draw the same two things, a chart with axes and a matrix of pairs. Nothing here depends on the
//! way in which either is drawn.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use latency_core::{Estimate, sort_by};

use super::figures::{PRECISE, rounded};

/// The unit of an axis, which decides how its values are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Amounts of memory: `48 KiB`. Its ticks are powers of two.
    Bytes,
    /// Plain numbers of something that is counted; logarithmic ticks are powers of two.
    Count,
    /// Plain numbers; the title of the axis contains the unit (`ns`).
    Plain(&'static str),
    /// Numbers with the prefixes k, M, G, T; the title of the axis contains the unit (`loads/s`).
    Prefixed(&'static str),
    /// Names at 0, 1, 2 and so on.
    Names(Vec<String>),
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
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity: `working set`.
    pub title: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// The scale of its values.
    pub scale: Scale,
}

impl Axis {
    /// The horizontal axis of working sets.
    pub const WORKING_SET: Axis = Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic };
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

    /// Returns the point in the digits of documents.
    fn rounded(self) -> ChartPoint {
        // A number that cannot be drawn has no digits.
        let of = |number: f64| if number.is_finite() { rounded(number, PRECISE) } else { f64::NAN };
        let both = |ends: Option<(f64, f64)>| ends.map(|(low, high)| (of(low), of(high)));
        ChartPoint { x: of(self.x), y: of(self.y), band: both(self.band), whiskers: both(self.whiskers) }
    }
}

/// The content of a series.
#[derive(Debug)]
pub enum Data {
    /// Measured points by ascending x, joined by lines and marked.
    Points(Vec<ChartPoint>),
    /// Measured points that are only marked.
    Scatter(Vec<ChartPoint>),
    /// Points of a model by ascending x. It is drawn dashed over the whole horizontal axis: straight between its points,
    /// and level beyond them.
    Curve(Vec<ChartPoint>),
}

impl Data {
    /// Returns its points.
    pub fn points(&self) -> &[ChartPoint] {
        let (Data::Points(points) | Data::Scatter(points) | Data::Curve(points)) = self;
        points
    }
}

/// Returns the value of a model at a place, by its points.
pub fn value_at(points: &[ChartPoint], x: f64) -> f64 {
    let after = points.partition_point(|point| point.x < x);
    let (before, next) = (points.get(after.wrapping_sub(1)), points.get(after));
    match (before, next) {
        (Some(before), Some(next)) => before.y + (next.y - before.y) * (x - before.x) / (next.x - before.x),
        (only, other) => only.or(other).map_or(f64::NAN, |point| point.y),
    }
}

/// One line or set of marks of a chart.
#[derive(Debug)]
pub struct Series {
    /// Its name in the legend. A single series with an empty name has no legend.
    pub name: String,
    /// Its content.
    pub data: Data,
}

impl Series {
    /// Returns a line with these points.
    pub fn of(name: impl Into<String>, points: &mut dyn Iterator<Item = ChartPoint>) -> Series {
        Series { name: name.into(), data: Data::Points(vector(points)) }
    }

    /// Returns a line with these points by ascending x.
    pub fn sorted(name: String, points: &mut dyn Iterator<Item = ChartPoint>) -> Series {
        let mut points = vector(points);
        sort_by(&mut points, |one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
        Series { name, data: Data::Points(points) }
    }
}

/// Returns the items of an iterator. `collect` is twice as much code for each iterator.
pub fn vector<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    items.for_each(|item| all.push(item));
    all
}

/// The look of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkKind {
    /// A vertical line; its label is above the plot.
    Line,
    /// A second tick of the axis.
    Tick,
    /// An area from the place of the mark to its right end; the second number is the height of its label.
    Area(f64, f64),
}

/// A marked place on the horizontal axis, such as a cache's capacity.
#[derive(Debug)]
pub struct Mark {
    /// The place; not a number if nothing is marked.
    pub x: f64,
    /// The text; may be empty.
    pub label: String,
    /// The look.
    pub kind: MarkKind,
    /// The index of the series whose colour it has.
    pub series: Option<usize>,
}

impl Mark {
    /// Makes a vertical line that belongs to no series.
    pub fn line(x: f64, label: fmt::Arguments<'_>) -> Self {
        Self { x, label: alloc::fmt::format(label), kind: MarkKind::Line, series: None }
    }
}

/// Values over a common horizontal axis.
#[derive(Debug)]
pub struct Chart {
    /// The finding.
    pub title: String,
    /// The axes and the conditions under which it was measured; empty for none.
    pub subtitle: String,
    /// The horizontal axis.
    pub x_axis: Axis,
    /// The vertical axis.
    pub y_axis: Axis,
    /// The series, the most important first.
    pub series: Vec<Series>,
    /// The marks, by ascending place.
    pub marks: Vec<Mark>,
}

impl Chart {
    /// Makes a chart without marks.
    pub fn of([title, subtitle]: [String; 2], [x_axis, y_axis]: [Axis; 2], series: Vec<Series>) -> Chart {
        Chart { title, subtitle, x_axis, y_axis, series, marks: Vec::new() }
    }

    /// Rounds all numbers to the digits of documents, so that the chart of a saved result is the chart of its run.
    pub fn rounded(mut self) -> Chart {
        for Series { data: Data::Points(points) | Data::Scatter(points) | Data::Curve(points), .. } in
            &mut self.series
        {
            points.iter_mut().for_each(|point| *point = point.rounded());
        }
        for mark in &mut self.marks {
            mark.x = rounded(mark.x, PRECISE);
            if let MarkKind::Area(end, y) = &mut mark.kind {
                (*end, *y) = (rounded(*end, PRECISE), rounded(*y, PRECISE));
            }
        }
        self
    }
}

/// The letters that mark cells without a number, one for each reason; further reasons are not listed.
const REASON_MARKS: [char; 4] = ['a', 'b', 'c', 'd'];

/// The first of some neighbouring rows and columns of a matrix, and their name.
#[derive(Debug)]
pub struct MatrixGroup {
    /// The index of the row.
    pub first: usize,
    /// The name.
    pub name: String,
}

/// A cell of a matrix: its number, or the reason why it is missing.
pub type MatrixCell = Result<f64, String>;

/// A number for each pair of nodes or CPUs.
#[derive(Debug, Default)]
pub struct Matrix {
    /// The finding.
    pub title: String,
    /// The quantity and the conditions under which it was measured; empty for none.
    pub subtitle: String,
    /// The unit of the numbers.
    pub unit: &'static str,
    /// The kind of the initiators and targets: `node`.
    pub noun: &'static str,
    /// The numbers of the initiators.
    pub rows: Vec<u32>,
    /// The numbers of the targets.
    pub columns: Vec<u32>,
    /// The groups of a symmetric matrix. Only its upper triangle is drawn: each row begins a column further to the
    /// right. `None` if the direction matters.
    pub groups: Option<Vec<MatrixGroup>>,
    /// The cells, row by row, without those that a triangle leaves out.
    pub cells: Vec<MatrixCell>,
}

impl Matrix {
    /// Fills the cells: `cell` returns the number of an initiator and a target, or the reason why it is missing. Numbers
    /// have the digits of documents; one that is not finite counts as missing.
    pub fn filled(mut self, cell: &dyn Fn(u32, u32) -> Result<f64, &'static str>) -> Matrix {
        for (index, &row) in self.rows.iter().enumerate() {
            for &column in self.columns.iter().skip(self.left_out(index)) {
                self.cells.push(match cell(row, column) {
                    Ok(value) if !value.is_finite() => Err("not a number".into()),
                    Ok(value) => Ok(rounded(value, PRECISE)),
                    Err(reason) => Err(reason.into()),
                });
            }
        }
        self
    }

    /// Returns the cells of the row of this index, each with the index of its column and its target.
    pub fn row(&self, index: usize) -> impl Iterator<Item = (usize, u32, Result<f64, &str>)> {
        let before = (0..index).map(|row| self.columns.len().saturating_sub(self.left_out(row))).sum();
        let columns = self.columns.iter().copied().enumerate().skip(self.left_out(index));
        let cells = self.cells.iter().skip(before).map(|cell| cell.as_ref().copied().map_err(String::as_str));
        columns.zip(cells).map(|((index, column), cell)| (index, column, cell))
    }

    /// Returns every cell, row by row, with its initiator and target.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32, Result<f64, &str>)> {
        self.rows
            .iter()
            .enumerate()
            .flat_map(|(index, &row)| self.row(index).map(move |(_, column, cell)| (row, column, cell)))
    }

    /// Returns the number of columns that the row of this index leaves out.
    pub fn left_out(&self, row: usize) -> usize {
        if self.groups.is_some() { row } else { 0 }
    }

    /// Returns the first few different reasons for which numbers are missing.
    pub fn reasons(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for reason in self.cells.iter().filter_map(|cell| cell.as_ref().err()) {
            if found.len() < REASON_MARKS.len() && !found.contains(&reason.as_str()) {
                found.push(reason);
            }
        }
        found
    }
}

/// Returns the mark of a cell without a number, which also precedes the reason in the list: a letter if there are several
/// reasons, else a dash.
pub fn mark(reasons: &[&str], reason: &str) -> char {
    let known = reasons.iter().zip(REASON_MARKS).find(|(known, _)| **known == reason);
    known.filter(|_| reasons.len() > 1).map_or('-', |(_, mark)| mark)
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
        let matrix = |rows: &[u32], columns: &[u32], groups| Matrix {
            title: "".into(),
            subtitle: "".into(),
            unit: "ns",
            noun: "node",
            rows: rows.into(),
            columns: columns.into(),
            groups,
            cells: Vec::new(),
        };
        let square = matrix(&nodes, &nodes, None).filled(&cell);
        let reasons = square.reasons();
        assert_eq!(reasons, ["mbind: EPERM", "not a number", "no CPU"]);
        assert_eq!(["mbind: EPERM", "no CPU", "else"].map(|reason| mark(&reasons, reason)), ['a', 'c', '-']);
        assert_eq!(square.cells().count(), 9);
        let pairs = |(row, column, _)| (row, column);
        let triangle = matrix(&[0, 2], &[2, 3], Some(Vec::new())).filled(&cell);
        assert!(triangle.cells().map(pairs).eq([(0, 2), (0, 3), (2, 3)]));
    }
}
