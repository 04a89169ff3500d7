//! A chart as SVG: axes, lines, bands, curves, bars and marks.
//!
//! This module depends on the chart, but not on the results.

use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

use latency_core::{ToReal, Trimmed};

use super::frame::{EDGE, FramePlace, Size, begin, heading_height, pixels, text, upright, width};
use super::style::SERIES;
use crate::axis::{Plane, Title, ValueWithUnit};
use crate::chart::{Chart, ChartPoint, Data, Mark, MarkKind, Unit, is_drawable, value_at};
use crate::escape::InMarkup;
use crate::labels::Shelves;

/// The least room left of the plot, and that which labels leave to the title of the vertical axis.
const LEFT: f64 = 80.0;
const BESIDE_LABELS: f64 = 52.0;
/// The height of each name if the vertical axis has names.
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
    let [width, _] = shown.size();
    let heading = heading_height(width, title, subtitle);
    begin(out, shown, (width, heading + 2.0 * EDGE), title, subtitle)?;
    text(out, [""; 2], &Trimmed(EDGE), heading + EDGE, &"no points")?;
    out.write_str("</svg>\n")
}

/// Writes a chart as one SVG document.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, chart: &Chart, shown: FramePlace<'_>) -> fmt::Result {
    let [wide, high] = shown.size();
    let heading = heading_height(wide, &chart.title, &chart.subtitle);
    let Some(plane) = Plane::of(chart, MOST_X_TICKS, MOST_Y_TICKS) else {
        return without_points(out, [&chart.title, &chart.subtitle], shown);
    };
    let (names, marks_top) = legend(chart, heading, wide - EDGE);
    let left = LEFT.max(plane.y.widest(&small) + BESIDE_LABELS);
    let height = match &chart.y_axis.unit {
        Unit::Names(names) => NAME_HEIGHT * names.len().real(),
        _ => high,
    };
    let mut canvas = Canvas { plane, left, right: wide - EDGE, top: marks_top, height };
    let (marks, lines) = marks(&canvas, chart, shown);
    canvas.top += MARK_LINE * lines.real() + 6.0;

    begin(out, shown, (wide, canvas.bottom() + BELOW), &chart.title, &chart.subtitle)?;
    for ((index, series), (x, y)) in
        chart.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()).zip(names)
    {
        in_colour(out, Some(index), &mut |out| swatch(out, &series.data, index, (x, y)))?;
        text(out, [""; 2], &pixels(x + SWATCH_WIDTH + 8.0), y + 4.0, &series.name)?;
    }
    vertical_axis(out, &canvas, chart)?;
    horizontal_axis(out, &canvas, chart)?;
    mark_shapes(out, &canvas, &marks, marks_top)?;
    // The gaps of dashed lines show the lines behind; the first line is solid.
    for (index, series) in chart.series.iter().enumerate() {
        in_colour(out, Some(index), &mut |out| canvas.series(out, &series.data, index))?;
    }
    // Labels come last, so that nothing crosses them.
    mark_labels(out, &canvas, &marks, marks_top)?;
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

/// Returns the place of each named series in the legend (left end, middle height), and the top of what follows the legend.
fn legend(chart: &Chart, heading: f64, right: f64) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (EDGE, heading + LEGEND_LINE / 2.0 + 4.0);
    let mut places = Vec::new();
    for series in chart.series.iter().filter(|series| !series.name.is_empty()) {
        let wide = SWATCH_WIDTH + 8.0 + width(&series.name, Size::Small);
        if x > EDGE && x + wide > right {
            (x, y) = (EDGE, y + LEGEND_LINE);
        }
        places.push((x, y));
        x += wide + LEGEND_GAP;
    }
    let half = if places.is_empty() { -LEGEND_LINE / 2.0 } else { LEGEND_LINE / 2.0 };
    (places, y + half + 8.0)
}

/// A mark, its place and that of its label.
struct MarkPlace<'c> {
    mark: &'c Mark,
    label: &'c str,
    x: f64,
    /// The place of the label, and whether it ends or begins there.
    text: f64,
    ends: bool,
    /// The line of the label above the plot; `None` if it has no room, or is within the plot.
    line: Option<usize>,
}

/// Returns each mark on the axis, and the number of lines of labels above the plot. A label is to the right of its line, or
/// to the left if the right edge is too near.
fn marks<'c>(canvas: &Canvas<'_>, chart: &'c Chart, shown: FramePlace<'_>) -> (Vec<MarkPlace<'c>>, usize) {
    let mut shelves = Shelves::<MARK_LINES>::new(canvas.right, 8.0);
    let mut places = Vec::new();
    for mark in chart.marks.iter().filter(|mark| canvas.plane.x.contains(mark.x)) {
        let is_area = matches!(mark.kind, MarkKind::Area(..));
        // The areas of a page are narrow, and its table has the rest.
        let label = match (is_area && !matches!(shown, FramePlace::File(_)), mark.label.split_once(',')) {
            // The title of a card has the rest.
            (true, _) if matches!(shown, FramePlace::Card(_)) => "",
            (true, Some((label, _))) => label,
            _ => &mark.label,
        };
        let (x, wide) = (canvas.x(mark.x), small(&label));
        let right = match mark.kind {
            // A rising curve leaves room behind the end of an area that is narrower than its label.
            MarkKind::Area(end, _) if canvas.x(end) - x < wide + 2.0 * MARK_GAP => {
                canvas.x(end) + 3.0 * MARK_GAP
            }
            _ => x + MARK_GAP,
        };
        let ends = right + wide > canvas.right;
        let text = match ends {
            true if is_area => canvas.right,
            true => x - MARK_GAP,
            false => right,
        };
        let place = match is_area || label.is_empty() {
            true => None,
            false => shelves.place(if ends { text - wide } else { text }, wide),
        };
        places.push(MarkPlace { mark, label, x, text, ends, line: place.map(|place| place.line) });
    }
    (places, shelves.lines())
}

/// Draws lines, and every other area, so that neighbours differ.
fn mark_shapes(out: &mut dyn Write, canvas: &Canvas<'_>, marks: &[MarkPlace<'_>], top: f64) -> fmt::Result {
    let mut shades = false;
    for &MarkPlace { mark, x, line, .. } in marks {
        let label_top = line.map_or(canvas.top, |line| top + MARK_LINE * line.real());
        let bottom = match mark.kind {
            MarkKind::Line => canvas.bottom(),
            MarkKind::Tick => canvas.top + TICK,
            MarkKind::Area(end, _) => {
                shades = !shades;
                if shades {
                    let (top, right, bottom) = (canvas.top, canvas.x(end), canvas.bottom());
                    write!(out, "<path class=\"area\" d=\"M{x:.1} {top:.1}H{right:.1}")?;
                    writeln!(out, "V{bottom:.1}H{x:.1}Z\"/>")?;
                }
                continue;
            }
        };
        in_colour(out, mark.series, &mut |out| {
            write!(out, "<path class=\"mark\" d=\"M{x:.1} {label_top:.1}V{bottom:.1}\"><title>")?;
            writeln!(out, "{}</title></path>", InMarkup(mark.label.as_str()))
        })?;
    }
    Ok(())
}

fn mark_labels(out: &mut dyn Write, canvas: &Canvas<'_>, marks: &[MarkPlace<'_>], top: f64) -> fmt::Result {
    marks.iter().try_for_each(|place| {
        let baseline = match (place.mark.kind, place.line) {
            _ if place.label.is_empty() => return Ok(()),
            (MarkKind::Area(_, y), _) => canvas.y(y) - 2.0 * MARK_GAP,
            (_, Some(line)) => top + MARK_LINE * line.real() + 12.0,
            (_, None) => return Ok(()),
        };
        // The text is anchored at the line, so the gap is exact with any font.
        let anchor = if place.ends { "end" } else { "start" };
        in_colour(out, place.mark.series, &mut |out| {
            text(out, ["label", anchor], &pixels(place.text), baseline, &place.label)
        })
    })
}

fn vertical_axis(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart) -> fmt::Result {
    for tick in canvas.plane.y.ticks() {
        let y = canvas.y(tick);
        let (left, right) = (Trimmed(canvas.left), Trimmed(canvas.right));
        writeln!(out, "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")?;
        let label = canvas.plane.y.label(tick);
        text(out, ["quiet", "end"], &Trimmed(canvas.left - 8.0), y + 4.0, &label)?;
    }
    upright(out, "", (EDGE + 6.0, canvas.top + canvas.height / 2.0), &Title(&chart.y_axis))
}

fn horizontal_axis(out: &mut dyn Write, canvas: &Canvas<'_>, chart: &Chart) -> fmt::Result {
    let bottom = canvas.bottom();
    let (left, right) = (Trimmed(canvas.left), Trimmed(canvas.right));
    let axis = "<line class=\"axis\" x1=";
    writeln!(out, "{axis}\"{left}\" x2=\"{right}\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\"/>")?;
    let wide = canvas.right - canvas.left;
    // The label of the end keeps a distance to the edge of the picture.
    let most = wide + EDGE - 4.0;
    for (label, place) in canvas.plane.x.labels([wide, most, 8.0], &small) {
        let (x, end) = (canvas.left + place, bottom + 5.0);
        let middle = x.min(canvas.left + most - small(&label) / 2.0);
        writeln!(out, "{axis}\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom:.1}\" y2=\"{end:.1}\"/>")?;
        text(out, ["quiet", "middle"], &pixels(middle), bottom + 20.0, &label)?;
    }
    let middle = canvas.left + wide / 2.0;
    text(out, ["", "middle"], &pixels(middle), bottom + 44.0, &Title(&chart.x_axis))
}

/// The length of the sample of a series in the legend.
const SWATCH_WIDTH: f64 = 28.0;
/// The radius of markers if there are few points; below it, if there are many.
const LARGE: f64 = 3.4;
const SMALL: f64 = 2.2;
const MANY: usize = 40;
/// The number of places at which a model's curve is evaluated: one in three pixels.
const CURVE_STEPS: u32 = 256;
const MARKERS: usize = 4;

/// The area of the plot, in pixels.
struct Canvas<'a> {
    plane: Plane<'a>,
    left: f64,
    right: f64,
    top: f64,
    height: f64,
}

impl Canvas<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.plane.x.fraction(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom() - self.height * self.plane.y.fraction(value)
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn series(&self, out: &mut dyn Write, data: &Data, index: usize) -> fmt::Result {
        match data {
            Data::Points(points) => {
                self.bands(out, points)?;
                for run in points.split(|point| !point.is_drawable()).filter(|run| run.len() > 1) {
                    self.path(out, "line", &mut run.iter().map(|point| (point.x, point.y)), "")?;
                }
                self.markers(out, points, index)
            }
            Data::Scatter(points) => self.markers(out, points, index),
            Data::Curve(points) => {
                let place = |step: u32| self.plane.x.value(f64::from(step) / f64::from(CURVE_STEPS));
                let mut places = (0..=CURVE_STEPS).map(place).map(|x| (x, value_at(points, x)));
                self.path(out, "curve", &mut places, "")
            }
        }
    }

    /// Writes a path through some places, which begins again behind a place that cannot be drawn.
    fn path(
        &self,
        out: &mut dyn Write,
        class: &str,
        places: &mut dyn Iterator<Item = (f64, f64)>,
        end: &str,
    ) -> fmt::Result {
        write!(out, "<path class=\"{class}\" d=\"")?;
        let mut command = 'M';
        for (x, y) in places {
            if is_drawable(y) {
                write!(out, "{command}{:.1} {:.1}", self.x(x), self.y(y))?;
            }
            command = if is_drawable(y) { 'L' } else { 'M' };
        }
        writeln!(out, "{end}\"/>")
    }

    fn bands(&self, out: &mut dyn Write, points: &[ChartPoint]) -> fmt::Result {
        // A point with two intervals has whiskers in both directions.
        let ends = |point: &ChartPoint| {
            let drawable = |&(low, high): &(f64, f64)| is_drawable(low) && is_drawable(high);
            point.band.filter(drawable).filter(|_| point.is_drawable() && point.whiskers.is_none())
        };
        for run in points.split(|point| ends(point).is_none()).filter(|run| run.len() > 1) {
            let low = run.iter().filter_map(|point| Some((point.x, point.band?.0)));
            let high = run.iter().rev().filter_map(|point| Some((point.x, point.band?.1)));
            self.path(out, "band", &mut low.chain(high), "Z")?;
        }
        Ok(())
    }

    fn markers(&self, out: &mut dyn Write, points: &[ChartPoint], index: usize) -> fmt::Result {
        let radius = if points.len() > MANY { SMALL } else { LARGE };
        let shown_x = |value: f64| InMarkup(ValueWithUnit(value, self.plane.x.unit));
        let shown_y = |value: f64| InMarkup(ValueWithUnit(value, self.plane.y.unit));
        for point in points.iter().filter(|point| point.is_drawable()) {
            let across = point.whiskers.map(|(low, high)| [(low, point.y), (high, point.y)]);
            let along = point.band.filter(|_| across.is_some());
            let along = along.map(|(low, high)| [(point.x, low), (point.x, high)]);
            for ends in [across, along].into_iter().flatten() {
                if ends.iter().all(|(x, y)| is_drawable(*x) && is_drawable(*y)) {
                    self.path(out, "whisker", &mut ends.into_iter(), "")?;
                }
            }
            out.write_str("<path class=\"point\" d=\"")?;
            marker(out, index, (self.x(point.x), self.y(point.y)), radius)?;
            write!(out, "\"><title>{}: {}", shown_x(point.x), shown_y(point.y))?;
            if let Some((low, high)) = point.band {
                write!(out, " ({} to {})", shown_y(low), shown_y(high))?;
            }
            out.write_str("</title></path>\n")?;
        }
        Ok(())
    }
}

/// Draws the sample of a series in the legend, from its left end at middle height.
fn swatch(out: &mut dyn Write, data: &Data, index: usize, (x, y): (f64, f64)) -> fmt::Result {
    let (right, middle) = (x + SWATCH_WIDTH, x + SWATCH_WIDTH / 2.0);
    let class = if matches!(data, Data::Curve(_)) { "curve" } else { "line" };
    write!(out, "<path class=\"{class}\" d=\"M{x:.1} {y:.1}H{right:.1}\"/>")?;
    if let Data::Curve(_) = data {
        return Ok(());
    }
    out.write_str("<path class=\"point\" d=\"")?;
    marker(out, index, (middle, y), LARGE)?;
    out.write_str("\"/>")
}

/// Writes the outline of a marker: a circle, square, triangle or diamond, because some readers and printers cannot
/// distinguish colours.
fn marker(out: &mut dyn Write, index: usize, (x, y): (f64, f64), radius: f64) -> fmt::Result {
    let half = radius * [1.0, 0.9, 1.15, 1.3][index % MARKERS];
    let (left, top, wide) = (x - half, y - half, 2.0 * half);
    match index % MARKERS {
        0 => {
            let radius = Trimmed(radius);
            write!(out, "M{left:.1} {y:.1}a{radius} {radius} 0 1 0 {wide:.1} 0")?;
            write!(out, "a{radius} {radius} 0 1 0 -{wide:.1} 0Z")
        }
        1 => write!(out, "M{left:.1} {top:.1}h{wide:.1}v{wide:.1}h-{wide:.1}Z"),
        2 => write!(out, "M{x:.1} {top:.1}l{half:.1} {wide:.1}h-{wide:.1}Z"),
        _ => {
            write!(out, "M{x:.1} {top:.1}l{half:.1} {half:.1}")?;
            write!(out, "l-{half:.1} {half:.1}l-{half:.1} -{half:.1}Z")
        }
    }
}
