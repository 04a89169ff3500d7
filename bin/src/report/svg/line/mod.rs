//! A chart as SVG: axes, lines, bands, curves, bars and marks.
//!
//! This module places everything around the data; `data` draws the data. It depends on the chart, but not on the
//! results.

mod data;

use super::frame::{EDGE, FramePlace, begin, heading_height};
use super::style::SERIES;
use super::text::{Size, fill, text, width};
use crate::report::axis::{Plane, Title};
use crate::report::chart::{Chart, Data};
use crate::report::escape::InMarkup;
use crate::report::labels::{LabelPlace, Shelves};
use core::fmt::{self, Write};
use data::{Canvas, LEFT, PLOT_HEIGHT, PLOT_WIDTH, SWATCH_WIDTH, swatch};

const WIDTH: f64 = LEFT + PLOT_WIDTH + EDGE;
/// The room below the plot, for the labels of the horizontal axis and its title.
const BELOW: f64 = 62.0;
const MOST_X_TICKS: usize = 10;
const MOST_Y_TICKS: usize = 6;
const LEGEND_LINE: f64 = 22.0;
const LEGEND_GAP: f64 = 24.0;
const MARK_LINE: f64 = 17.0;
const MARK_LINES: usize = 4;
/// The gap between the line of a mark and its label.
const MARK_GAP: f64 = 5.0;

/// Writes a chart as one SVG document.
///
/// # Errors
///
/// Returns the error of `out`.
#[inline(never)] // offsets into a small frame are short
pub fn write(out: &mut dyn Write, chart: &Chart<'_>, shown: FramePlace) -> fmt::Result {
    let heading = heading_height(WIDTH, chart.title, chart.subtitle);
    let Some(plane) = Plane::of(chart, MOST_X_TICKS, MOST_Y_TICKS) else {
        begin(out, shown, (WIDTH, heading + 2.0 * EDGE), chart.title, chart.subtitle)?;
        text(out, "x=\"~\" y=\"@\"", &[EDGE, heading + EDGE], &"no points")?;
        return out.write_str("</svg>\n");
    };
    let marks_top = legend(chart, heading, |_, _| Ok(()))? + 8.0;
    let mut canvas = Canvas { plane, top: marks_top, axes: (chart.x_axis.unit, chart.y_axis.unit) };
    canvas.top += MARK_LINE * each_mark(&canvas, chart, |_, _, _| Ok(()))? as f64 + 6.0;

    begin(out, shown, (WIDTH, canvas.bottom() + BELOW), chart.title, chart.subtitle)?;
    legend(chart, heading, |index, (x, y)| {
        let Some(series) = chart.series.get(index) else { return Ok(()) };
        write!(out, "<g class=\"s{}\">", index % SERIES)?;
        swatch(out, series.data, index, (x, y))?;
        out.write_str("</g>")?;
        text(out, "x=\"@\" y=\"@\"", &[x + SWATCH_WIDTH + 8.0, y + 4.0], &series.name)
    })?;
    vertical_axis(out, &canvas, chart)?;
    horizontal_axis(out, &canvas, chart)?;
    marks(out, &canvas, chart, marks_top)?;
    // The first series is in front, so it is drawn last. Models come after all others: their dashed lines hide
    // nothing.
    for curves in [false, true] {
        for (index, series) in chart.series.iter().enumerate().rev() {
            if matches!(series.data, Data::Curve(_)) == curves {
                writeln!(out, "<g class=\"s{}\">", index % SERIES)?;
                canvas.series(out, series.data, index)?;
                out.write_str("</g>\n")?;
            }
        }
    }
    out.write_str("</svg>\n")
}

/// Passes the index of each named series and its place in the legend (left end, middle height) to `tell`, and returns
/// the bottom of the legend.
fn legend(
    chart: &Chart<'_>,
    heading: f64,
    mut tell: impl FnMut(usize, (f64, f64)) -> fmt::Result,
) -> Result<f64, fmt::Error> {
    let (mut x, mut y) = (EDGE, heading + LEGEND_LINE / 2.0 + 4.0);
    let mut bottom = y - LEGEND_LINE / 2.0;
    for (index, series) in chart.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()) {
        let wide = SWATCH_WIDTH + 8.0 + width(&series.name, Size::Small);
        if x > EDGE && x + wide > WIDTH - EDGE {
            (x, y) = (EDGE, y + LEGEND_LINE);
        }
        tell(index, (x, y))?;
        bottom = y + LEGEND_LINE / 2.0;
        x += wide + LEGEND_GAP;
    }
    Ok(bottom)
}

/// Passes each mark on the axis, its place and that of its label to `tell`, and returns the number of lines of labels.
/// A label is to the right of its line, or to the left if the right edge is too near.
fn each_mark(
    canvas: &Canvas<'_>,
    chart: &Chart<'_>,
    mut tell: impl FnMut(&str, f64, Option<LabelPlace>) -> fmt::Result,
) -> Result<usize, fmt::Error> {
    let mut shelves = Shelves::<MARK_LINES>::new(WIDTH - EDGE, 8.0);
    for mark in chart.marks.iter().filter(|mark| canvas.plane.x.contains(mark.x)) {
        let (x, wide) = (canvas.x(mark.x), width(&mark.label, Size::Small));
        let right = x + MARK_GAP;
        let start = if right + wide > WIDTH - EDGE { x - MARK_GAP - wide } else { right };
        tell(mark.label, x, shelves.place(start, wide))?;
    }
    Ok(shelves.lines())
}

fn marks(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart<'_>, marks_top: f64) -> fmt::Result {
    // All lines are drawn first, so that no line crosses a label.
    for label_pass in [false, true] {
        each_mark(canvas, chart, |label, x, place| {
            let label_top = place.map_or(canvas.top, |place| marks_top + MARK_LINE * place.line as f64);
            if !label_pass {
                let line = "<line class=\"mark\" x1=\"@\" x2=\"@\" y1=\"@\" y2=\"@\">";
                fill(out, line, &[x, x, label_top, canvas.bottom()])?;
                return writeln!(out, "<title>{}</title></line>", InMarkup(label));
            }
            // The text is anchored at the line, so the gap is exact with any font.
            let (anchor, text_x) = match place {
                Some(place) if place.start < x => {
                    ("class=\"label\" text-anchor=\"end\" x=\"@\" y=\"@\"", x - MARK_GAP)
                }
                Some(_) => ("class=\"label\" text-anchor=\"start\" x=\"@\" y=\"@\"", x + MARK_GAP),
                None => return Ok(()),
            };
            text(out, anchor, &[text_x, label_top + 12.0], &label)
        })?;
    }
    Ok(())
}

fn vertical_axis(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart<'_>) -> fmt::Result {
    for tick in canvas.plane.y.ticks() {
        let y = canvas.y(tick);
        fill(
            out,
            "<line class=\"grid\" x1=\"~\" x2=\"~\" y1=\"@\" y2=\"@\"/>\n",
            &[LEFT, LEFT + PLOT_WIDTH, y, y],
        )?;
        let label = canvas.plane.y.label(tick);
        text(out, "class=\"quiet\" text-anchor=\"end\" x=\"~\" y=\"@\"", &[LEFT - 8.0, y + 4.0], &label)?;
    }
    let (x, y) = (EDGE + 6.0, canvas.top + PLOT_HEIGHT / 2.0);
    let upwards = "text-anchor=\"middle\" x=\"@\" y=\"@\" transform=\"rotate(-90 @ @)\"";
    text(out, upwards, &[x, y, x, y], &Title(chart.y_axis))
}

fn horizontal_axis(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart<'_>) -> fmt::Result {
    let bottom = canvas.bottom();
    let line = "<line class=\"axis\" x1=\"~\" x2=\"~\" y1=\"@\" y2=\"@\"/>\n";
    fill(out, line, &[LEFT, LEFT + PLOT_WIDTH, bottom, bottom])?;
    let mut shelf = Shelves::<1>::new(WIDTH, 8.0);
    for tick in canvas.plane.x.ticks() {
        let (x, label) = (canvas.x(tick), canvas.plane.x.label(tick));
        let wide = width(&label, Size::Small);
        let line = "<line class=\"axis\" x1=\"@\" x2=\"@\" y1=\"@\" y2=\"@\"/>\n";
        fill(out, line, &[x, x, bottom, bottom + 5.0])?;
        if shelf.place(x - wide / 2.0, wide).is_some() {
            text(out, "class=\"quiet\" text-anchor=\"middle\" x=\"@\" y=\"@\"", &[x, bottom + 20.0], &label)?;
        }
    }
    let (x, y) = (LEFT + PLOT_WIDTH / 2.0, bottom + 44.0);
    text(out, "text-anchor=\"middle\" x=\"@\" y=\"@\"", &[x, y], &Title(chart.x_axis))
}
