//! A chart in the terminal: braille dots, or letters if the terminal shows only ASCII.
//!
//! This module depends on the chart and the terminal, but not on the results.

mod draw;

use super::axis::{Plane, Title};
use super::chart::{Chart, Data, MarkKind, Series, Unit};
use super::figures::width;
use super::labels::Shelves;
use super::terminal::Terminal;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};
use draw::{Look, Pencil, PlotGrid, PlotRow};
use latency_core::{ToReal, math};

/// The minimum width of a readable plot, since narrower terminals wrap its lines, and the maximum, since wider ones are not
/// easier to read.
const FEWEST_COLUMNS: usize = 40;
const MOST_COLUMNS: usize = 200;
const FEWEST_LINES: usize = 10;
const MOST_LINES: usize = 20;
/// The columns per line of a plot. Characters are twice as high as wide, so plots have a ratio of height to width of 2
/// to 5 or less.
const COLUMNS_PER_LINE: usize = 5;
const LINES_PER_NAME: usize = 3;
/// The columns per tick of the horizontal axis: its labels have up to eight characters and a gap.
const COLUMNS_PER_TICK: usize = 10;
/// The lines per label of the vertical axis, in tenths.
const TENTHS_OF_LINES_PER_TICK: usize = 25;
/// The maximum number of lines for the labels of vertical marks.
const MARK_LINES: usize = 4;
/// The colours of the series. Their lightness is medium, so that they are visible on any background.
const COLOURS: [u8; 6] = [32, 166, 35, 170, 136, 102];
/// The colour of axes and marks, which is less prominent than the data.
const QUIET: u8 = 245;

/// The characters of a plot.
struct Glyphs {
    markers: [char; 6],
    curve: char,
    interval: char,
    mark: char,
    vertical: char,
    vertical_tick: char,
    horizontal: char,
    horizontal_tick: char,
    corner: char,
}

const UNICODE: Glyphs = Glyphs {
    markers: ['●', '○', '■', '□', '▲', '△'],
    curve: '┄',
    interval: '│',
    mark: '┊',
    vertical: '│',
    vertical_tick: '┤',
    horizontal: '─',
    horizontal_tick: '┬',
    corner: '└',
};

const ASCII: Glyphs = Glyphs {
    markers: ['*', 'o', '+', 'x', '#', '@'],
    curve: '.',
    interval: '|',
    mark: ':',
    vertical: '|',
    vertical_tick: '+',
    horizontal: '-',
    horizontal_tick: '+',
    corner: '+',
};

/// Draws a chart as wide as the terminal, within 40 and 200 columns.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, chart: &Chart, terminal: Terminal) -> fmt::Result {
    terminal.heading(out, &chart.title, &chart.subtitle)?;
    let columns = terminal.columns.clamp(FEWEST_COLUMNS, MOST_COLUMNS);
    let lines = match &chart.y_axis.unit {
        Unit::Names(names) => names.len() * LINES_PER_NAME,
        _ => (columns / COLUMNS_PER_LINE).clamp(FEWEST_LINES, MOST_LINES),
    };
    let Some(plane) = Plane::of(chart, columns / COLUMNS_PER_TICK, lines * 10 / TENTHS_OF_LINES_PER_TICK)
    else {
        return writeln!(out, "(no points)");
    };
    let labels = math::whole(plane.y.widest(&characters)) as usize;
    let plot = Plot {
        chart,
        terminal,
        // The labels and two blanks; long labels get no more than half of the width.
        margin: (labels + 2).min(columns / 2),
        grid: PlotGrid::new(plane, columns.saturating_sub(labels + 3), lines, terminal.unicode),
        glyphs: if terminal.unicode { &UNICODE } else { &ASCII },
    };
    plot.legend(out)?;
    let (marks, mark_lines) = plot.marks();
    plot.mark_labels(out, &marks, mark_lines)?;
    plot.data(out, &marks, lines)?;
    plot.horizontal_axis(out)
}

fn characters(shown: &dyn Display) -> f64 {
    width(shown).real()
}

/// A mark on the axis: the column of its line, the place of its label (line and start), and the label. An area has no line.
type PlacedMark<'c> = (Option<usize>, Option<(usize, usize)>, &'c str);

struct Plot<'a> {
    chart: &'a Chart,
    terminal: Terminal,
    /// Columns to the left of the vertical axis.
    margin: usize,
    grid: PlotGrid<'a>,
    glyphs: &'static Glyphs,
}

impl<'a> Plot<'a> {
    fn look(&self, index: usize, series: &Series) -> Look {
        let glyph = match &series.data {
            Data::Points(_) | Data::Scatter(_) => self.glyphs.markers[index % self.glyphs.markers.len()],
            Data::Curve(_) => self.glyphs.curve,
        };
        Look { glyph, colour: COLOURS[index % COLOURS.len()] }
    }

    /// Returns a line without characters.
    fn row(&self) -> PlotRow {
        PlotRow::new(self.grid.columns)
    }

    /// Writes the title of the vertical axis and the names of the series, in as many lines as necessary.
    fn legend(&self, out: &mut dyn Write) -> fmt::Result {
        const GAP: usize = 3;
        let title = Title(&self.chart.y_axis);
        write!(out, "{title}")?;
        let mut column = width(&title);
        for (index, series) in
            self.chart.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty())
        {
            let look = self.look(index, series);
            let wide = GAP + 2 + width(&series.name);
            if column > 0 && column + wide > self.terminal.columns {
                out.write_char('\n')?;
                column = 0;
            }
            write!(out, "{:GAP$}", "")?;
            self.terminal.paint(out, look.colour, &look.glyph)?;
            write!(out, " {}", series.name)?;
            column += wide;
        }
        out.write_char('\n')
    }

    /// Returns the marks on the axis, without second ticks, and the number of lines of their labels.
    fn marks(&self) -> (Vec<PlacedMark<'a>>, usize) {
        let mut shelves = Shelves::<MARK_LINES>::new(self.grid.columns.real(), 1.0);
        let mut placed = Vec::new();
        let marks = self.chart.marks.iter().filter(|mark| mark.kind != MarkKind::Tick);
        for mark in marks.filter(|mark| self.grid.plane.x.contains(mark.x)) {
            let column = self.grid.column(self.grid.plane.x.fraction(mark.x));
            let label = mark.label.as_str();
            let place = Some(width(&label)).filter(|width| *width > 0);
            let place = place.and_then(|width| shelves.place(column.real(), width.real()));
            let place = place.map(|place| (place.line, math::whole(place.start) as usize));
            placed.push((Some(column).filter(|_| mark.kind == MarkKind::Line), place, label));
        }
        (placed, shelves.lines())
    }

    /// Writes the labels of the marks, each at one side of its line or above its area.
    fn mark_labels(&self, out: &mut dyn Write, marks: &[PlacedMark<'_>], lines: usize) -> fmt::Result {
        for line in 0..lines {
            let mut row = self.row();
            for &(column, place, label) in marks {
                match place {
                    Some((at, start)) if at == line => row.shown(start, &label),
                    // The line of a mark begins below its label.
                    Some((at, _)) if at < line => self.upright(&mut row, column),
                    _ => {}
                }
            }
            write!(out, "{:1$}", "", self.margin)?;
            row.write(out, self.terminal)?;
        }
        Ok(())
    }

    /// Draws a part of the line of a mark; an area has none.
    fn upright(&self, row: &mut PlotRow, column: Option<usize>) {
        if let Some(column) = column {
            row.glyph_behind(column, self.glyphs.mark, Some(QUIET));
        }
    }

    /// Writes the lines of the plot itself.
    fn data(&self, out: &mut dyn Write, marks: &[PlacedMark<'_>], lines: usize) -> fmt::Result {
        let mut rows = Vec::new();
        (0..lines).for_each(|_| rows.push(self.row()));
        for row in &mut rows {
            marks.iter().for_each(|(column, ..)| self.upright(row, *column));
        }
        let mut pencil = Pencil { grid: &self.grid, rows: &mut rows, interval: self.glyphs.interval };
        let several = self.chart.series.len() > 1;
        // The first series is in front, so it is drawn last.
        for (index, series) in self.chart.series.iter().enumerate().rev() {
            pencil.series(&series.data, self.look(index, series), several.then_some(index));
        }
        let axis = &self.grid.plane.y;
        let ticks = axis.ticks();
        for (line, row) in rows.iter().enumerate() {
            let here = |tick: &&f64| self.grid.line(axis.fraction(**tick)) == line;
            let label = ticks.iter().find(here).map(|tick| format!("{} ", axis.label(*tick)));
            let glyph = if label.is_some() { self.glyphs.vertical_tick } else { self.glyphs.vertical };
            write!(out, "{:>1$}", label.unwrap_or_default(), self.margin - 1)?;
            self.terminal.paint(out, QUIET, &glyph)?;
            row.write(out, self.terminal)?;
        }
        Ok(())
    }

    fn horizontal_axis(&self, out: &mut dyn Write) -> fmt::Result {
        let (mut rule, mut labels) = (self.row(), self.row());
        for column in 0..self.grid.columns {
            rule.glyph_behind(column, self.glyphs.horizontal, Some(QUIET));
        }
        let length = self.grid.columns.saturating_sub(1).real();
        for (label, place) in self.grid.plane.x.labels([length, length + 1.0, 2.0], &characters) {
            let (column, wide) = (self.grid.column(place / length.max(1.0)), width(&label));
            let start = column.saturating_sub(wide / 2).min(self.grid.columns.saturating_sub(wide));
            labels.shown(start, &label);
            rule.glyph(column, self.glyphs.horizontal_tick, Some(QUIET));
        }
        write!(out, "{:1$}", "", self.margin - 1)?;
        self.terminal.paint(out, QUIET, &self.glyphs.corner)?;
        rule.write(out, self.terminal)?;
        write!(out, "{:1$}", "", self.margin)?;
        labels.write(out, self.terminal)?;
        let title = Title(&self.chart.x_axis);
        let indent = self.margin + self.grid.columns.saturating_sub(width(&title)) / 2;
        writeln!(out, "{:indent$}{title}", "")
    }
}

#[cfg(test)]
mod tests;
