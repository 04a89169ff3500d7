//! A matrix of pairs as SVG: each cell has its number, and its background is the shade.
//!
//! This module depends on the matrix, but not on the results.

use super::frame::{EDGE, FramePlace, Size, begin, heading_height, lines, pixels, text, upright, width};
use super::style::{shade, text_on};
use crate::axis::Shades;
use crate::chart::{Matrix, mark};
use crate::escape::InMarkup;
use crate::figures::Figure;
use crate::labels::Shelves;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use latency_core::{ToReal, Trimmed};

/// Cells become narrower with more columns, within these widths.
const NARROWEST_CELL: f64 = 40.0;
const WIDEST_CELL: f64 = 84.0;
const CELL_HEIGHT: f64 = 44.0;
const GAP: f64 = 3.0;
/// The left edge of the cells, behind the headings of rows.
const LEFT: f64 = EDGE + 84.0;
/// Room for the headings of columns.
const COLUMN_HEADINGS: f64 = 52.0;
/// The height of the names of groups, above the headings of columns, and the maximum number of their lines.
const GROUP_LINE: f64 = 17.0;
const GROUP_LINES: usize = 2;
/// The number of rectangles of the scale below the matrix.
const SCALE_STEPS: u32 = 24;
const SCALE_WIDTH: f64 = 192.0;
const SCALE_HEIGHT: f64 = 12.0;
const NARROWEST: f64 = 460.0;
const REASON_LINE: f64 = 17.0;
/// The room for the mark before a reason.
const REASON_MARK: f64 = 16.0;

/// Writes a matrix as one SVG document.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, matrix: &Matrix, place: FramePlace<'_>) -> fmt::Result {
    let [room, _] = place.size();
    let cell = ((room - LEFT - EDGE) / matrix.columns.len().max(1).real()).clamp(NARROWEST_CELL, WIDEST_CELL);
    let right = LEFT + cell * matrix.columns.len().real();
    let width = (EDGE + right).max(NARROWEST);
    let names_top = heading_height(width, &matrix.title, &matrix.subtitle) + 4.0;
    let (groups, name_lines) = groups(matrix, cell);
    let top = names_top + GROUP_LINE * name_lines.real() + COLUMN_HEADINGS;
    let bottom = top + CELL_HEIGHT * matrix.rows.len().real();
    let shades = Shades::of(matrix);
    let scale_top = bottom + EDGE;
    let notes_top = if shades.is_some() { scale_top + SCALE_HEIGHT + EDGE } else { scale_top };
    let reasons = matrix.reasons();
    let lines_of = |reason| lines(reason, Size::Small, width - 2.0 * EDGE - REASON_MARK);
    let notes = reasons.iter().flat_map(|reason| lines_of(reason)).count();
    let height = notes_top + REASON_LINE * notes.real() + if notes > 0 { EDGE / 2.0 } else { 0.0 };

    begin(out, place, (width, height), &matrix.title, &matrix.subtitle)?;
    let grid = HeatGrid { matrix, reasons: &reasons, top, cell };
    grid.headings(out, bottom)?;
    for (row_index, &row) in matrix.rows.iter().enumerate() {
        for (column_index, column, found) in matrix.row(row_index) {
            let (x, y) = (LEFT + cell * column_index.real(), top + CELL_HEIGHT * row_index.real());
            grid.cell(out, (row, column, found), (x, y), shades.as_ref())?;
        }
    }
    // Lines between groups, and their names.
    for (first, name, line, x) in groups {
        let baseline = names_top + GROUP_LINE * line.real() + 12.0;
        if first > 0 {
            let y = top + CELL_HEIGHT * first.real() - GAP / 2.0;
            let (x, top) = (x - GAP / 2.0, baseline - 10.0);
            writeln!(out, "<path class=\"none\" d=\"M{x:.1} {top:.1}V{y:.1}H{right:.1}\"/>")?;
        }
        text(out, ["quiet", ""], &pixels(x + GAP), baseline, &name)?;
    }
    if let Some(shades) = &shades {
        scale(out, shades, matrix.unit, scale_top)?;
    }
    let mut baseline = notes_top + 4.0;
    for reason in &reasons {
        text(out, ["quiet", ""], &Trimmed(EDGE), baseline, &mark(&reasons, reason))?;
        for line in lines_of(reason) {
            text(out, ["quiet", ""], &Trimmed(EDGE + REASON_MARK), baseline, &line)?;
            baseline += REASON_LINE;
        }
    }
    out.write_str("</svg>\n")
}

struct HeatGrid<'a> {
    matrix: &'a Matrix,
    reasons: &'a [&'a str],
    top: f64,
    cell: f64,
}

impl HeatGrid<'_> {
    fn headings(&self, out: &mut dyn Write, bottom: f64) -> fmt::Result {
        let Self { matrix, top, cell, .. } = *self;
        let centre = LEFT + cell * matrix.columns.len().real() / 2.0;
        let [from, to] = if matrix.groups.is_some() { ["", ""] } else { ["from ", "to "] };
        let noun = matrix.noun;
        text(out, ["quiet", "middle"], &pixels(centre), top - 30.0, &format_args!("{to}{noun}"))?;
        upright(out, "quiet", (LEFT - 52.0, (top + bottom) / 2.0), &format_args!("{from}{noun}"))?;
        for (index, column) in matrix.columns.iter().enumerate() {
            let x = LEFT + cell * (index.real() + 0.5);
            text(out, ["number", "middle"], &pixels(x), top - 10.0, column)?;
        }
        for (index, row) in matrix.rows.iter().enumerate() {
            let y = top + CELL_HEIGHT * (index.real() + 0.5) + 5.0;
            text(out, ["number", "end"], &pixels(LEFT - 14.0), y, row)?;
        }
        Ok(())
    }

    fn cell(
        &self,
        out: &mut dyn Write,
        (row, column, found): (u32, u32, Result<f64, &str>),
        (x, y): (f64, f64),
        shades: Option<&Shades>,
    ) -> fmt::Result {
        let noun = self.matrix.noun;
        let (width, height) = (self.cell - GAP, CELL_HEIGHT - GAP);
        let frame = fmt::from_fn(|out| {
            write!(out, "x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"4\"")
        });
        let (middle, baseline) = (x + width / 2.0, y + height / 2.0 + 5.0);
        let place =
            fmt::from_fn(|out| write!(out, "text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{baseline:.1}\""));
        write!(out, "<g><title>{noun} {row} to {noun} {column}: ")?;
        match (found, shades) {
            (Ok(value), Some(shades)) => {
                let (figure, ground) = (Figure(value), shade(shades.depth(value)));
                write!(out, "{figure} {}</title><rect {frame} ", InMarkup(self.matrix.unit))?;
                write!(out, "fill=\"{ground}\"/><text class=\"number\" {place}")?;
                writeln!(out, " style=\"fill:{}\">{figure}</text></g>", text_on(ground))
            }
            (cell, _) => {
                let reason = cell.err().unwrap_or("no number");
                write!(out, "{}</title><rect class=\"none\" {frame}/>", InMarkup(reason))?;
                let mark = mark(self.reasons, reason);
                writeln!(out, "<text class=\"number quiet\" {place}>{mark}</text></g>")
            }
        }
    }
}

/// Returns the first row, the name and the place of the name (line and left end) of each group, and the number of lines of
/// names. The first column is the second row, because each row begins a column further to the right.
fn groups(matrix: &Matrix, cell: f64) -> (Vec<(usize, &str, usize, f64)>, usize) {
    let mut shelves = Shelves::<GROUP_LINES>::new(f64::INFINITY, 10.0);
    let mut groups = Vec::new();
    for group in matrix.groups.as_deref().unwrap_or_default() {
        let x = LEFT + cell * group.first.saturating_sub(1).real();
        let name = group.name.as_str();
        if let Some(place) = shelves.place(x, width(&name, Size::Small)) {
            groups.push((group.first, name, place.line, place.start));
        }
    }
    (groups, shelves.lines())
}

/// Writes the scale that explains the shades.
fn scale(out: &mut dyn Write, shades: &Shades, unit: &str, top: f64) -> fmt::Result {
    let (low, high) = shades.ends();
    let step_width = SCALE_WIDTH / f64::from(SCALE_STEPS);
    let baseline = top + SCALE_HEIGHT - 2.0;
    let end = |value: f64| format!("{} {unit}", Figure(value));
    text(out, ["quiet", "end"], &pixels(LEFT - 8.0), baseline, &end(low))?;
    for step in 0..SCALE_STEPS {
        let colour = shade(f64::from(step) / f64::from(SCALE_STEPS - 1));
        let x = LEFT + step_width * f64::from(step);
        // A small overlap hides the seams that renderers with smoothed edges would show.
        let wide = step_width + if step + 1 < SCALE_STEPS { 0.5 } else { 0.0 };
        write!(out, "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{SCALE_HEIGHT}\"")?;
        writeln!(out, " fill=\"{colour}\"/>")?;
    }
    text(out, ["quiet", ""], &pixels(LEFT + SCALE_WIDTH + 8.0), baseline, &end(high))
}
