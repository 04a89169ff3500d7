//! The series of a chart as SVG paths, and their samples in the legend.

use crate::report::axis::{Plane, ValueWithUnit};
use crate::report::chart::{ChartPoint, Data, Unit, is_drawable, value_at};
use crate::report::escape::InMarkup;
use core::fmt::{self, Display, Write};
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
    /// The units of the horizontal and of the vertical axis.
    pub axes: (&'a Unit, &'a Unit),
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

    fn shown_x(&self, value: f64) -> impl Display + use<'_> {
        InMarkup(ValueWithUnit(value, self.axes.0))
    }

    fn shown_y(&self, value: f64) -> impl Display + use<'_> {
        InMarkup(ValueWithUnit(value, self.axes.1))
    }

    pub fn series(&self, out: &mut dyn Write, data: &Data, index: usize) -> fmt::Result {
        match data {
            Data::Points(points) => {
                self.bands(out, points)?;
                self.lines(out, points)?;
                self.markers(out, points, index)
            }
            Data::Scatter(points) => self.markers(out, points, index),
            Data::Curve(points) => self.curve(out, points),
        }
    }

    fn bands(&self, out: &mut dyn Write, points: &[ChartPoint]) -> fmt::Result {
        // A point with two intervals has whiskers in both directions.
        let ends = |point: &ChartPoint| {
            let drawable = |&(low, high): &(f64, f64)| is_drawable(low) && is_drawable(high);
            point.band.filter(drawable).filter(|_| point.is_drawable() && point.whiskers.is_none())
        };
        for run in points.split(|point| ends(point).is_none()).filter(|run| run.len() > 1) {
            out.write_str("<path class=\"band\" d=\"")?;
            let mut command = 'M';
            for (x, (low, _)) in run.iter().filter_map(|point| Some((point.x, point.band?))) {
                self.place(out, command, (x, low))?;
                command = 'L';
            }
            for (x, (_, high)) in run.iter().rev().filter_map(|point| Some((point.x, point.band?))) {
                self.place(out, command, (x, high))?;
            }
            out.write_str("Z\"/>\n")?;
        }
        Ok(())
    }

    fn lines(&self, out: &mut dyn Write, points: &[ChartPoint]) -> fmt::Result {
        for run in points.split(|point| !point.is_drawable()).filter(|run| run.len() > 1) {
            out.write_str("<path class=\"line\" d=\"")?;
            let mut command = 'M';
            for point in run {
                self.place(out, command, (point.x, point.y))?;
                command = 'L';
            }
            out.write_str("\"/>\n")?;
        }
        Ok(())
    }

    /// Writes one place of a path, to which the command leads.
    fn place(&self, out: &mut dyn Write, command: char, (x, y): (f64, f64)) -> fmt::Result {
        out.write_char(command)?;
        write!(out, "{:.1} {:.1}", self.x(x), self.y(y))
    }

    fn markers(&self, out: &mut dyn Write, points: &[ChartPoint], index: usize) -> fmt::Result {
        let radius = if points.len() > MANY { SMALL } else { LARGE };
        for point in points.iter().filter(|point| point.is_drawable()) {
            let across = point.whiskers.map(|(low, high)| [(low, point.y), (high, point.y)]);
            let along = point.band.filter(|_| across.is_some());
            let along = along.map(|(low, high)| [(point.x, low), (point.x, high)]);
            for [from, to] in [across, along].into_iter().flatten() {
                if [from.0, from.1, to.0, to.1].into_iter().all(is_drawable) {
                    out.write_str("<path class=\"whisker\" d=\"")?;
                    self.place(out, 'M', from)?;
                    self.place(out, 'L', to)?;
                    out.write_str("\"/>\n")?;
                }
            }
            out.write_str("<path class=\"point\" d=\"")?;
            marker(out, index, (self.x(point.x), self.y(point.y)), radius)?;
            write!(out, "\"><title>{}: {}", self.shown_x(point.x), self.shown_y(point.y))?;
            if let Some((low, high)) = point.band {
                write!(out, " ({} to {})", self.shown_y(low), self.shown_y(high))?;
            }
            out.write_str("</title></path>\n")?;
        }
        Ok(())
    }

    fn curve(&self, out: &mut dyn Write, points: &[ChartPoint]) -> fmt::Result {
        out.write_str("<path class=\"curve\" d=\"")?;
        let mut command = 'M';
        for step in 0..=CURVE_STEPS {
            let x = self.plane.x.value(f64::from(step) / f64::from(CURVE_STEPS));
            let y = value_at(points, x);
            if is_drawable(y) {
                self.place(out, command, (x, y))?;
            }
            command = if is_drawable(y) { 'L' } else { 'M' };
        }
        out.write_str("\"/>\n")
    }
}

/// Draws the sample of a series in the legend, from its left end at middle height.
pub fn swatch(out: &mut dyn Write, data: &Data, index: usize, (x, y): (f64, f64)) -> fmt::Result {
    let (right, middle) = (x + SWATCH_WIDTH, x + SWATCH_WIDTH / 2.0);
    match data {
        Data::Points(_) | Data::Scatter(_) => {
            write!(out, "<path class=\"line\" d=\"M{x:.1} {y:.1}H{right:.1}\"/><path class=\"point\" d=\"")?;
            marker(out, index, (middle, y), LARGE)?;
            out.write_str("\"/>")
        }
        Data::Curve(_) => write!(out, "<path class=\"curve\" d=\"M{x:.1} {y:.1}H{right:.1}\"/>"),
    }
}

/// Writes the outline of a marker: a circle, square, triangle or diamond, because some readers and printers cannot
/// distinguish colours.
fn marker(out: &mut dyn Write, index: usize, (x, y): (f64, f64), radius: f64) -> fmt::Result {
    match index % MARKERS {
        0 => {
            let (left, wide) = (x - radius, 2.0 * radius);
            let radius = Trimmed(radius);
            write!(out, "M{left:.1} {y:.1}a{radius} {radius} 0 1 0 {wide:.1} 0")?;
            write!(out, "a{radius} {radius} 0 1 0 -{wide:.1} 0Z")
        }
        1 => {
            let half = radius * 0.9;
            let wide = 2.0 * half;
            write!(out, "M{:.1} {:.1}h{wide:.1}v{wide:.1}h-{wide:.1}Z", x - half, y - half)
        }
        2 => {
            let half = radius * 1.15;
            let wide = 2.0 * half;
            write!(out, "M{x:.1} {:.1}l{half:.1} {wide:.1}h-{wide:.1}Z", y - half)
        }
        _ => {
            let half = radius * 1.3;
            write!(out, "M{x:.1} {:.1}l{half:.1} {half:.1}", y - half)?;
            write!(out, "l-{half:.1} {half:.1}l-{half:.1} -{half:.1}Z")
        }
    }
}
