//! Finds the dots that a series crosses, and keeps one line of a plot before it is written: dots, characters and their
//! colours.
//!
//! Lines are drawn column by column: within a column of dots, a line covers a range of heights. This module uses only
//! dots, characters and fractions.

use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

use latency_core::ToReal;
use latency_core::math::{self, round};

use crate::axis::Plane;
use crate::chart::{ChartPoint, Data, is_drawable, value_at};
use crate::terminal::Terminal;

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
/// Number of columns between two markers of one series.
const MARKER_DISTANCE: usize = 8;
/// Number of columns from the first marker of one series to the first marker of the next, so that they do not coincide.
const MARKER_SHIFT: usize = 3;
/// The minimum number of columns per point at which every point gets a marker.
const COLUMNS_PER_MARKER: usize = 4;
/// The length of the dashes of a model's curve, and of the gaps between them, in columns of dots.
const DASH: usize = 3;

/// The plot's axes, and its size in characters and in dots.
pub struct PlotGrid<'a> {
    pub plane: Plane<'a>,
    /// Characters in a line.
    pub columns: usize,
    /// Columns and lines of dots in a character.
    dots: (usize, usize),
    /// The last column and the last line of dots.
    last: (f64, f64),
}

impl<'a> PlotGrid<'a> {
    pub fn new(plane: Plane<'a>, columns: usize, lines: usize, braille: bool) -> PlotGrid<'a> {
        let dots = if braille { BRAILLE } else { (1, 1) };
        let last = |count: usize| count.saturating_sub(1).real();
        PlotGrid { plane, columns, dots, last: (last(columns * dots.0), last(lines * dots.1)) }
    }

    /// Returns the column of characters at a fraction of the horizontal axis.
    pub fn column(&self, fraction: f64) -> usize {
        nearest(fraction * self.last.0) / self.dots.0
    }

    /// Returns the line at a fraction of the vertical axis, 0 at the top.
    pub fn line(&self, fraction: f64) -> usize {
        nearest((1.0 - fraction) * self.last.1) / self.dots.1
    }

    fn dot_of(&self, point: &ChartPoint) -> (f64, f64) {
        (self.plane.x.fraction(point.x) * self.last.0, self.height(point.y))
    }

    fn height(&self, value: f64) -> f64 {
        (1.0 - self.plane.y.fraction(value)) * self.last.1
    }
}

/// Returns the dot at a place.
fn nearest(place: f64) -> usize {
    math::whole(round(place)) as usize
}

/// The tool that draws series into the lines of a plot.
pub struct Pencil<'p, 'a> {
    pub grid: &'p PlotGrid<'a>,
    pub rows: &'p mut [PlotRow],
    /// The character for confidence intervals if there are no braille dots.
    pub interval: char,
}

impl Pencil<'_, '_> {
    /// Draws one series. `among` is its index among several series; `None` if it is the only one.
    pub fn series(&mut self, data: &Data, look: Look, among: Option<usize>) {
        match data {
            Data::Points(points) => {
                self.intervals(points, look);
                self.lines(points, look);
                let sparse = points.len() * COLUMNS_PER_MARKER <= self.grid.columns;
                match among {
                    _ if sparse => self.markers(points, look, 0, 0),
                    Some(index) => self.markers(points, look, index * MARKER_SHIFT, MARKER_DISTANCE),
                    None => {}
                }
            }
            Data::Scatter(points) => self.markers(points, look, 0, 0),
            Data::Curve(points) => self.curve(points, look),
        }
    }

    fn lines(&mut self, points: &[ChartPoint], look: Look) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            let (x, y) = self.grid.dot_of(point);
            self.span(nearest(x), y, y, look);
        }
        for pair in points.windows(2) {
            if let [before, after] = pair
                && before.is_drawable()
                && after.is_drawable()
            {
                self.segment(self.grid.dot_of(before), self.grid.dot_of(after), look);
            }
        }
    }

    fn segment(&mut self, from: (f64, f64), to: (f64, f64), look: Look) {
        let slope = if to.0 > from.0 { (to.1 - from.1) / (to.0 - from.0) } else { 0.0 };
        for column in nearest(from.0)..=nearest(to.0) {
            let left = (column.real() - 0.5).max(from.0);
            let right = (column.real() + 0.5).min(to.0);
            self.span(column, from.1 + slope * (left - from.0), from.1 + slope * (right - from.0), look);
        }
    }

    /// Draws the intervals that are higher than the dot of their point.
    fn intervals(&mut self, points: &[ChartPoint], look: Look) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            if let Some((low, high)) = point.band {
                let (bottom, top) = (self.grid.height(low), self.grid.height(high));
                if bottom - top >= 1.0 {
                    let look = Look { glyph: self.interval, ..look };
                    self.span(nearest(self.grid.dot_of(point).0), top, bottom, look);
                }
            }
        }
    }

    /// Draws markers, which distinguish several series and show single points: the first from the column `free` on, and
    /// the others at this distance or more.
    fn markers(&mut self, points: &[ChartPoint], look: Look, mut free: usize, distance: usize) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            let column = self.grid.column(self.grid.plane.x.fraction(point.x));
            if column >= free {
                free = column + distance;
                let line = self.grid.line(self.grid.plane.y.fraction(point.y));
                if let Some(row) = self.rows.get_mut(line) {
                    row.glyph(column, look.glyph, Some(look.colour));
                }
            }
        }
    }

    fn curve(&mut self, points: &[ChartPoint], look: Look) {
        let last = self.grid.last.0.max(1.0);
        let x_axis = self.grid.plane.x;
        let at = |x: f64| value_at(points, x_axis.value((x / last).clamp(0.0, 1.0)));
        // A curve of whole characters is too coarse for dashes.
        let dash = if self.grid.dots.0 > 1 { DASH } else { usize::MAX };
        for column in (0..=nearest(last)).filter(|column| (column / dash).is_multiple_of(2)) {
            let (left, right) = (at(column.real() - 0.5), at(column.real() + 0.5));
            if is_drawable(left) && is_drawable(right) {
                self.span(column, self.grid.height(left), self.grid.height(right), look);
            }
        }
    }

    /// Draws a vertical span in a column of dots.
    fn span(&mut self, column: usize, one_end: f64, other_end: f64, look: Look) {
        let (width, height) = self.grid.dots;
        for dot in nearest(one_end.min(other_end))..=nearest(one_end.max(other_end)) {
            match self.rows.get_mut(dot / height) {
                Some(row) if width == 1 => row.glyph(column, look.glyph, Some(look.colour)),
                Some(row) => row.dot(column / width, dot % height, column % width, look.colour),
                None => break,
            }
        }
    }
}

/// The code of the braille character without dots. The lowest eight bits of a code are its dots.
const BRAILLE_BLOCK: u32 = 0x2800;
/// The bit of each dot, by line and column within the character (Unicode 15, chapter 21.1).
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

#[derive(Clone, Copy, Default)]
struct CharacterCell {
    dots: u8,
    glyph: Option<char>,
    colour: Option<u8>,
}

impl CharacterCell {
    fn is_empty(&self) -> bool {
        self.dots == 0 && self.glyph.is_none()
    }

    fn character(&self) -> char {
        match (self.glyph, self.dots) {
            (Some(glyph), _) => glyph,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(BRAILLE_BLOCK + u32::from(dots)).unwrap_or(' '),
        }
    }
}

/// The characters of one line.
pub struct PlotRow(Vec<CharacterCell>);

impl PlotRow {
    /// Makes a blank line.
    pub fn new(columns: usize) -> Self {
        Self(vec![CharacterCell::default(); columns])
    }

    /// Sets a braille dot; it replaces any other character.
    pub fn dot(&mut self, column: usize, dot_line: usize, dot_column: usize, colour: u8) {
        let bit = DOTS.get(dot_line).and_then(|line| line.get(dot_column)).copied().unwrap_or(0);
        if let Some(cell) = self.0.get_mut(column) {
            *cell = CharacterCell { dots: cell.dots | bit, glyph: None, colour: Some(colour) };
        }
    }

    /// Sets a character.
    pub fn glyph(&mut self, column: usize, glyph: char, colour: Option<u8>) {
        if let Some(cell) = self.0.get_mut(column) {
            *cell = CharacterCell { dots: cell.dots, glyph: Some(glyph), colour };
        }
    }

    /// Sets a character if the place is empty.
    pub fn glyph_behind(&mut self, column: usize, glyph: char, colour: Option<u8>) {
        if self.0.get(column).is_some_and(CharacterCell::is_empty) {
            self.glyph(column, glyph, colour);
        }
    }

    /// Writes a value over the present characters, as far as it fits.
    pub fn shown(&mut self, start: usize, value: &dyn Display) {
        for (column, character) in (start..).zip(format!("{value}").chars()) {
            self.glyph(column, character, None);
        }
    }

    /// Writes the line without blanks at its end, one escape sequence per change of colour.
    pub fn write(&self, out: &mut dyn Write, terminal: Terminal) -> fmt::Result {
        let length = self.0.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let mut current = None;
        for cell in self.0.iter().take(length) {
            // A blank has no colour of its own.
            let wanted = if cell.is_empty() { current } else { cell.colour };
            if terminal.colour && wanted != current {
                match wanted {
                    Some(colour) => write!(out, "\x1b[38;5;{colour}m")?,
                    None => out.write_str("\x1b[0m")?,
                }
                current = wanted;
            }
            out.write_char(cell.character())?;
        }
        out.write_str(if current.is_some() { "\x1b[0m\n" } else { "\n" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn written(row: &PlotRow, colour: bool) -> String {
        let mut text = String::new();
        row.write(
            &mut text,
            Terminal { columns: 80, unicode: true, colour, audience: crate::Audience::Pipe },
        )
        .unwrap();
        text
    }

    #[test]
    fn dots_join_into_one_character() {
        let mut row = PlotRow::new(8);
        for line in 0..4 {
            row.dot(1, line, 0, 32);
            row.dot(1, line, 1, 32);
            row.dot(2, line, line % 2, 32);
        }
        assert_eq!(written(&row, false), " ⣿⢕\n");
        assert_eq!(written(&row, true), " \x1b[38;5;32m⣿⢕\x1b[0m\n");
    }

    #[test]
    fn characters_in_front_stay_and_characters_beyond_the_end_are_cut() {
        let mut row = PlotRow::new(6);
        row.glyph_behind(0, '┊', Some(245));
        row.dot(0, 0, 0, 32);
        row.glyph_behind(0, '┊', Some(245));
        row.shown(2, &"12 KiB");
        row.dot(9, 0, 0, 32);
        assert_eq!(written(&row, false), "⠁ 12 K\n");
        assert_eq!(written(&row, true), "\x1b[38;5;32m⠁ \x1b[0m12 K\n");
    }
}
