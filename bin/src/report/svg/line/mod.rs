//! A chart as SVG: axes, lines, bands, curves, bars and marks.
//!
//! This module places everything around the data; `data` draws the data. It depends on the chart, but not on the
//! results.

mod data;

use super::frame::{EDGE, FramePlace, begin, heading_height};
use super::style::SERIES;
use super::text::{Size, text, width};
use crate::report::axis::{Plane, Title};
use crate::report::chart::{Chart, Mark, MarkKind, Unit};
use crate::report::escape::InMarkup;
use crate::report::labels::Shelves;
use core::fmt::{self, Display, Write};
use data::{Canvas, SWATCH_WIDTH, swatch};
use latency_core::decimal::Trimmed;
use latency_core::math::ToReal;

const WIDTH: f64 = 860.0;
/// The least room left of the plot, and that which labels leave to the title of the vertical axis.
const LEFT: f64 = 80.0;
const BESIDE_LABELS: f64 = 52.0;
/// The height of the plot, and of each name if its vertical axis has names.
const PLOT_HEIGHT: f64 = 340.0;
const NAME_HEIGHT: f64 = 56.0;
/// The room below the plot, for the labels of the horizontal axis and its title.
const BELOW: f64 = 62.0;
const MOST_X_TICKS: usize = 10;
const MOST_Y_TICKS: usize = 6;
const LEGEND_LINE: f64 = 22.0;
const LEGEND_GAP: f64 = 24.0;
const MARK_LINE: f64 = 17.0;
const MARK_LINES: usize = 4;
/// The length of a second tick, from the top of the plot.
const TICK: f64 = 8.0;
/// The gap between the line of a mark and its label.
const MARK_GAP: f64 = 5.0;

/// Writes a document with a title and a subtitle alone.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn without_points(
    out: &mut dyn Write,
    [title, subtitle]: [&str; 2],
    shown: FramePlace<'_>,
) -> fmt::Result {
    let heading = heading_height(WIDTH, title, subtitle);
    begin(out, shown, (WIDTH, heading + 2.0 * EDGE), title, subtitle)?;
    text(out, format_args!("x=\"{}\" y=\"{:.1}\"", Trimmed(EDGE), heading + EDGE), &"no points")?;
    out.write_str("</svg>\n")
}

/// Writes a chart as one SVG document.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, chart: &Chart, shown: FramePlace<'_>) -> fmt::Result {
    let heading = heading_height(WIDTH, &chart.title, &chart.subtitle);
    let Some(plane) = Plane::of(chart, MOST_X_TICKS, MOST_Y_TICKS) else {
        return without_points(out, [&chart.title, &chart.subtitle], shown);
    };
    let marks_top = legend(chart, heading, &mut |_, _| Ok(()))? + 8.0;
    let left = LEFT.max(plane.y.widest(&small) + BESIDE_LABELS);
    let axes = (&chart.x_axis.unit, &chart.y_axis.unit);
    let height = match &chart.y_axis.unit {
        Unit::Names(names) => NAME_HEIGHT * names.len().real(),
        _ => PLOT_HEIGHT,
    };
    let mut canvas = Canvas { plane, left, width: WIDTH - EDGE - left, top: marks_top, height, axes };
    canvas.top += MARK_LINE * each_mark(&canvas, chart, &mut |_, _| Ok(()))?.real() + 6.0;

    begin(out, shown, (WIDTH, canvas.bottom() + BELOW), &chart.title, &chart.subtitle)?;
    legend(chart, heading, &mut |index, (x, y)| {
        let Some(series) = chart.series.get(index) else { return Ok(()) };
        in_colour(out, Some(index), &mut |out| swatch(out, &series.data, index, (x, y)))?;
        text(out, format_args!("x=\"{:.1}\" y=\"{:.1}\"", x + SWATCH_WIDTH + 8.0, y + 4.0), &series.name)
    })?;
    vertical_axis(out, &canvas, chart)?;
    horizontal_axis(out, &canvas, chart)?;
    mark_shapes(out, &canvas, chart, marks_top)?;
    // The gaps of dashed lines show the lines behind; the first line is solid.
    for (index, series) in chart.series.iter().enumerate() {
        in_colour(out, Some(index), &mut |out| canvas.series(out, &series.data, index))?;
    }
    // Labels come last, so that nothing crosses them.
    mark_labels(out, &canvas, chart, marks_top)?;
    out.write_str("</svg>\n")
}

fn small(shown: &dyn Display) -> f64 {
    width(shown, Size::Small)
}

/// Draws something in the colour of a series, or in that of the axes.
fn in_colour(
    out: &mut dyn Write,
    series: Option<usize>,
    draw: &mut dyn FnMut(&mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    let Some(series) = series else { return draw(out) };
    writeln!(out, "<g class=\"s{}\">", series % SERIES)?;
    draw(out)?;
    out.write_str("</g>\n")
}

/// Passes the index of each named series and its place in the legend (left end, middle height) to `tell`, and returns
/// the bottom of the legend.
fn legend(
    chart: &Chart,
    heading: f64,
    tell: &mut dyn FnMut(usize, (f64, f64)) -> fmt::Result,
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

/// The place of a mark and of its label.
struct MarkPlace {
    /// The place of the mark.
    x: f64,
    /// The place of the label, and whether it ends or begins there.
    text: f64,
    ends: bool,
    /// The line of the label above the plot; `None` if it has no room, or is within the plot.
    line: Option<usize>,
}

/// Passes each mark on the axis and its place to `tell`, and returns the number of lines of labels above the plot. A
/// label is to the right of its line, or to the left if the right edge is too near.
fn each_mark(
    canvas: &Canvas<'_>,
    chart: &Chart,
    tell: &mut dyn FnMut(&Mark, MarkPlace) -> fmt::Result,
) -> Result<usize, fmt::Error> {
    let mut shelves = Shelves::<MARK_LINES>::new(WIDTH - EDGE, 8.0);
    for mark in chart.marks.iter().filter(|mark| canvas.plane.x.contains(mark.x)) {
        let (x, wide) = (canvas.x(mark.x), small(&mark.label.as_str()));
        let right = match mark.kind {
            // A rising curve leaves room behind the end of an area that is narrower than its label.
            MarkKind::Area { end, .. } if canvas.x(end) - x < wide + 2.0 * MARK_GAP => {
                canvas.x(end) + MARK_GAP
            }
            _ => x + MARK_GAP,
        };
        let ends = right + wide > WIDTH - EDGE;
        let anchor = if matches!(mark.kind, MarkKind::Area { .. }) { WIDTH - EDGE } else { x - MARK_GAP };
        let text = if ends { anchor } else { right };
        let is_above = !matches!(mark.kind, MarkKind::Area { .. }) && !mark.label.is_empty();
        let place = if is_above { shelves.place(if ends { text - wide } else { text }, wide) } else { None };
        tell(mark, MarkPlace { x, text, ends, line: place.map(|place| place.line) })?;
    }
    Ok(shelves.lines())
}

/// Draws lines, and every other area, so that neighbours differ.
fn mark_shapes(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart, top: f64) -> fmt::Result {
    let mut shades = false;
    each_mark(canvas, chart, &mut |mark, place| {
        let label_top = place.line.map_or(canvas.top, |line| top + MARK_LINE * line.real());
        let bottom = match mark.kind {
            MarkKind::Line => canvas.bottom(),
            MarkKind::Tick => canvas.top + TICK,
            MarkKind::Area { end, .. } => {
                shades = !shades;
                let (left, top, right, bottom) = (place.x, canvas.top, canvas.x(end), canvas.bottom());
                return match shades {
                    true => writeln!(
                        out,
                        "<path class=\"area\" d=\"M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z\"/>"
                    ),
                    false => Ok(()),
                };
            }
        };
        in_colour(out, mark.series, &mut |out| {
            let x = place.x;
            write!(out, "<path class=\"mark\" d=\"M{x:.1} {label_top:.1}V{bottom:.1}\"><title>")?;
            writeln!(out, "{}</title></path>", InMarkup(mark.label.as_str()))
        })
    })
    .map(drop)
}

fn mark_labels(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart, top: f64) -> fmt::Result {
    each_mark(canvas, chart, &mut |mark, place| {
        let baseline = match (mark.kind, place.line) {
            (MarkKind::Area { y, .. }, _) => canvas.y(y) - 2.0 * MARK_GAP,
            (_, Some(line)) => top + MARK_LINE * line.real() + 12.0,
            (_, None) => return Ok(()),
        };
        // The text is anchored at the line, so the gap is exact with any font.
        let (anchor, x) = (if place.ends { "end" } else { "start" }, place.text);
        in_colour(out, mark.series, &mut |out| {
            text(
                out,
                format_args!("class=\"label\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{baseline:.1}\""),
                &mark.label.as_str(),
            )
        })
    })
    .map(drop)
}

fn vertical_axis(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart) -> fmt::Result {
    for tick in canvas.plane.y.ticks() {
        let y = canvas.y(tick);
        let (left, right) = (Trimmed(canvas.left), Trimmed(WIDTH - EDGE));
        writeln!(out, "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")?;
        let label = canvas.plane.y.label(tick);
        text(
            out,
            format_args!(
                "class=\"quiet\" text-anchor=\"end\" x=\"{}\" y=\"{:.1}\"",
                Trimmed(canvas.left - 8.0),
                y + 4.0
            ),
            &label,
        )?;
    }
    let (x, y) = (EDGE + 6.0, canvas.top + canvas.height / 2.0);
    text(
        out,
        format_args!(
            "text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-90 {x:.1} {y:.1})\""
        ),
        &Title(&chart.y_axis),
    )
}

fn horizontal_axis(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart) -> fmt::Result {
    let bottom = canvas.bottom();
    let (left, right) = (Trimmed(canvas.left), Trimmed(WIDTH - EDGE));
    writeln!(
        out,
        "<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\"/>"
    )?;
    canvas.plane.x.each_label([canvas.width, canvas.width + EDGE, 8.0], &small, &mut |label, place| {
        let x = canvas.left + place;
        let end = bottom + 5.0;
        writeln!(
            out,
            "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom:.1}\" y2=\"{end:.1}\"/>"
        )?;
        text(
            out,
            format_args!("class=\"quiet\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\"", x, bottom + 20.0),
            label,
        )
    })?;
    let (x, y) = (canvas.left + canvas.width / 2.0, bottom + 44.0);
    text(out, format_args!("text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\"", x, y), &Title(&chart.x_axis))
}
