//! The series of a chart as SVG paths, and their samples in the legend.

use crate::report::axis::{Plane, ValueWithUnit};
use crate::report::chart::{ChartPoint, Data, is_drawable, value_at};
use crate::report::escape::InMarkup;
use core::fmt::{self, Write};
use latency_core::decimal::Trimmed;

/// The length of the sample of a series in the legend.
pub const SWATCH_WIDTH: f64 = 28.0;
/// The radius of markers if there are few points; below it, if there are many.
const LARGE: f64 = 3.4;
const SMALL: f64 = 2.2;
const MANY: usize = 40;
/// The number of places at which a model's curve is evaluated: one in three pixels.
const CURVE_STEPS: u32 = 256;
const MARKERS: usize = 4;

/// The area of the plot, in pixels.
pub struct Canvas<'a> {
    pub plane: Plane<'a>,
    pub left: f64,
    pub width: f64,
    pub top: f64,
    pub height: f64,
}

impl Canvas<'_> {
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.width * self.plane.x.fraction(value)
    }

    pub fn y(&self, value: f64) -> f64 {
        self.bottom() - self.height * self.plane.y.fraction(value)
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub fn series(&self, out: &mut dyn Write, data: &Data, index: usize) -> fmt::Result {
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
pub fn swatch(out: &mut dyn Write, data: &Data, index: usize, (x, y): (f64, f64)) -> fmt::Result {
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
