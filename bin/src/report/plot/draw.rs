//! Finds the dots of one line of text that a series crosses.
//!
//! Lines are drawn column by column: within a column of dots, a line covers a range of heights. This module uses only
//! dots and fractions.

use super::row::PlotRow;
use crate::report::axis::Plane;
use crate::report::chart::{ChartPoint, Data, is_drawable, value_at};
use latency_core::math;
use latency_core::math::ToReal;
use latency_core::math::round;

/// The look of one series.
#[derive(Clone, Copy)]
pub struct Look {
    /// The character of its points.
    pub glyph: char,
    /// Its colour, one of the 256.
    pub colour: u8,
}

/// Number of columns and lines of dots in one character.
const BRAILLE: (usize, usize) = (2, 4);
/// Number of columns between two markers of one series. The constant below is the shift from one series to the next.
const MARKER_DISTANCE: usize = 8;
const MARKER_SHIFT: usize = 3;
/// The minimum number of columns per point at which every point gets a marker.
const COLUMNS_PER_MARKER: usize = 4;
/// The length of the dashes of a model's curve, and of the gaps between them, in columns of dots.
const DASH: usize = 3;

/// The plot's size in characters and in dots.
#[derive(Clone, Copy)]
pub struct PlotGrid {
    /// Characters in a line.
    pub columns: usize,
    lines: usize,
    /// Columns and lines of dots in a character.
    dots: (usize, usize),
}

impl PlotGrid {
    pub fn new(columns: usize, lines: usize, braille: bool) -> Self {
        Self { columns, lines, dots: if braille { BRAILLE } else { (1, 1) } }
    }

    /// Returns the column of characters at a fraction of the horizontal axis.
    pub fn column(&self, fraction: f64) -> usize {
        math::whole(round(self.dot_x(fraction))) as usize / self.dots.0
    }

    /// Returns the line at a fraction of the vertical axis, 0 at the top.
    pub fn line(&self, fraction: f64) -> usize {
        math::whole(round(self.dot_y(fraction))) as usize / self.dots.1
    }

    fn dot_x(&self, fraction: f64) -> f64 {
        fraction * (self.columns * self.dots.0).saturating_sub(1).real()
    }

    fn dot_y(&self, fraction: f64) -> f64 {
        (1.0 - fraction) * (self.lines * self.dots.1).saturating_sub(1).real()
    }
}

/// The tool that draws series into one line of text.
pub struct Pencil<'a> {
    pub grid: PlotGrid,
    pub plane: &'a Plane<'a>,
    /// The line to draw, 0 at the top.
    pub line: usize,
    /// The character for confidence intervals if there are no braille dots.
    pub interval: char,
}

impl Pencil<'_> {
    /// Draws one series. `among` is its index if there are several series.
    pub fn series(&self, row: &mut PlotRow, data: &Data, look: Look, among: Option<usize>) {
        match data {
            Data::Points(points) => {
                self.intervals(row, points, look);
                self.lines(row, points, look);
                let sparse = points.len() * COLUMNS_PER_MARKER <= self.grid.columns;
                match among {
                    _ if sparse => self.markers(row, points, look, 0, 0),
                    Some(index) => self.markers(row, points, look, index * MARKER_SHIFT, MARKER_DISTANCE),
                    None => {}
                }
            }
            Data::Scatter(points) => self.markers(row, points, look, 0, 0),
            Data::Curve(points) => self.curve(row, points, look),
        }
    }

    fn dot_of(&self, point: &ChartPoint) -> (f64, f64) {
        (self.grid.dot_x(self.plane.x.fraction(point.x)), self.height(point.y))
    }

    fn height(&self, value: f64) -> f64 {
        self.grid.dot_y(self.plane.y.fraction(value))
    }

    fn lines(&self, row: &mut PlotRow, points: &[ChartPoint], look: Look) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            let (x, y) = self.dot_of(point);
            self.span(row, math::whole(round(x)) as usize, y, y, look);
        }
        for pair in points.windows(2) {
            if let [before, after] = pair
                && before.is_drawable()
                && after.is_drawable()
            {
                self.segment(row, self.dot_of(before), self.dot_of(after), look);
            }
        }
    }

    fn segment(&self, row: &mut PlotRow, from: (f64, f64), to: (f64, f64), look: Look) {
        let slope = if to.0 > from.0 { (to.1 - from.1) / (to.0 - from.0) } else { 0.0 };
        for column in round(from.0) as u32..=round(to.0) as u32 {
            let left = (f64::from(column) - 0.5).max(from.0);
            let right = (f64::from(column) + 0.5).min(to.0);
            self.span(
                row,
                column as usize,
                from.1 + slope * (left - from.0),
                from.1 + slope * (right - from.0),
                look,
            );
        }
    }

    /// Draws the intervals that are higher than the dot of their point.
    fn intervals(&self, row: &mut PlotRow, points: &[ChartPoint], look: Look) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            if let Some((low, high)) = point.band {
                let (bottom, top) = (self.height(low), self.height(high));
                if bottom - top >= 1.0 {
                    let column = math::whole(round(self.dot_of(point).0)) as usize;
                    self.span(row, column, top, bottom, Look { glyph: self.interval, ..look });
                }
            }
        }
    }

    /// Draws markers, which distinguish several series and show single points: the first from the column `free` on, and
    /// the others at this distance or more.
    fn markers(
        &self,
        row: &mut PlotRow,
        points: &[ChartPoint],
        look: Look,
        mut free: usize,
        distance: usize,
    ) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            let column = self.grid.column(self.plane.x.fraction(point.x));
            if column >= free {
                free = column + distance;
                if self.grid.line(self.plane.y.fraction(point.y)) == self.line {
                    row.glyph(column, look.glyph, Some(look.colour));
                }
            }
        }
    }

    fn curve(&self, row: &mut PlotRow, points: &[ChartPoint], look: Look) {
        let last = (self.grid.columns * self.grid.dots.0).saturating_sub(1).max(1).real();
        let at = |x: f64| value_at(points, self.plane.x.value((x / last).clamp(0.0, 1.0)));
        // A curve of whole characters is too coarse for dashes.
        let dash = if self.grid.dots.0 > 1 { DASH } else { usize::MAX };
        for column in (0..=math::whole(last) as usize).filter(|column| (column / dash).is_multiple_of(2)) {
            let (left, right) = (at(column.real() - 0.5), at(column.real() + 0.5));
            if is_drawable(left) && is_drawable(right) {
                self.span(row, column, self.height(left), self.height(right), look);
            }
        }
    }

    /// Draws the part of a vertical span in a column of dots that lies within this line.
    fn span(&self, row: &mut PlotRow, column: usize, one_end: f64, other_end: f64, look: Look) {
        let (width, height) = self.grid.dots;
        let dot = |height: f64| usize::from(round(height) as u16);
        let (top, bottom) = (dot(one_end.min(other_end)), dot(one_end.max(other_end)));
        let first = self.line * height;
        for dot in top.max(first)..(bottom + 1).min(first + height) {
            if width == 1 {
                row.glyph(column, look.glyph, Some(look.colour));
            } else {
                row.dot(column / width, dot - first, column % width, look.colour);
            }
        }
    }
}
