//! Maps values to places on an axis and back, and numbers of a matrix to shades, for every kind of picture; the two
//! axes of a chart, and their labels.
//!
//! A place is a fraction of the axis from 0 to 1. The picture turns it into pixels or columns, and a shade into one of
//! its own colours. Only the chart uses the meaning of the values.

mod ticks;

use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::math::{self, exp2, log2, round};
use latency_core::{Bytes, ToReal, Trimmed};

use super::chart::{Axis, Chart, Data, MarkKind, Matrix, Scale, Unit, value_at};
use super::figures::{Figure, rounded};
use ticks::{round_above, round_below, step_for};

pub use ticks::AxisRange;

/// The smallest ratio of the largest to the smallest value at which a linear scale would hide the small values.
const LOGARITHMIC_FROM: f64 = 8.0;
/// The share of a fitted axis below the smallest value from which on it does not start at zero.
const WASTED: f64 = 1.0 / 3.0;

/// An axis with its range.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<'a> {
    logarithmic: bool,
    range: AxisRange,
    /// The unit of its values.
    pub unit: &'a Unit,
    most_ticks: usize,
}

impl<'a> Mapped<'a> {
    /// Makes a horizontal axis that is exactly as wide as its values, with about `most_ticks` ticks or fewer.
    pub fn horizontal(range: AxisRange, scale: Scale, unit: &'a Unit, most_ticks: usize) -> Self {
        let logarithmic = is_logarithmic(range, scale, unit);
        Self { logarithmic, range: named(unit).unwrap_or(range), unit, most_ticks: most_ticks.max(2) }
    }

    /// Makes a vertical axis. A linear one begins at zero, unless it is fitted; each ends at a round number.
    pub fn vertical(range: AxisRange, scale: Scale, unit: &'a Unit, most_ticks: usize) -> Self {
        let most_ticks = most_ticks.max(2);
        let logarithmic = is_logarithmic(range, scale, unit);
        let range = if let Some(named) = named(unit) {
            named
        } else if logarithmic {
            AxisRange { low: round_below(range.low), high: round_above(range.high) }
        } else {
            let cut = scale == Scale::Fitted && range.low > range.high * WASTED;
            let (low, high) = (if cut { range.low } else { range.low.min(0.0) }, range.high.max(0.0));
            let step = step_for(high - low, most_ticks, unit);
            AxisRange { low: step.below(low), high: step.above(high) }
        };
        // If all values are zero, the axis would have no height.
        let range = if range.low < range.high { range } else { AxisRange { low: 0.0, high: 1.0 } };
        Self { logarithmic, range, unit, most_ticks }
    }

    /// Returns the place of a value, from 0 at the low end to 1 at the high end. A value beyond the axis gets the
    /// nearer end.
    pub fn fraction(&self, value: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        let part = match self.logarithmic {
            false => (value - low) / (high - low),
            true => log2(value / low) / log2(high / low),
        };
        // If the axis has only one value, the value is in the middle.
        if part.is_nan() { 0.5 } else { part.clamp(0.0, 1.0) }
    }

    /// Returns the value at a place; the inverse of [`Mapped::fraction`].
    pub fn value(&self, fraction: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        if self.logarithmic { low * exp2(log2(high / low) * fraction) } else { low + (high - low) * fraction }
    }

    /// Returns whether a value lies on the axis.
    pub fn contains(&self, value: f64) -> bool {
        self.range.contains(value)
    }

    /// Returns the values that get a label, in ascending order.
    pub fn ticks(&self) -> Vec<f64> {
        let ticks = if self.logarithmic { ticks::logarithmic } else { ticks::linear };
        ticks(self.range, self.most_ticks, self.unit)
    }

    /// Returns the width of the widest label.
    pub fn widest(&self, width: &dyn Fn(&dyn Display) -> f64) -> f64 {
        self.ticks().into_iter().fold(0.0, |widest, tick| f64::max(widest, width(&self.label(tick))))
    }

    /// Returns the label of each tick and of the high end of the axis, and its place. Places, widths and the `gap` between
    /// two labels are columns or pixels; labels are centred at their places, and may reach to `right`. A label without
    /// room is left out, but not that of the end.
    pub fn labels(
        &self,
        [length, right, gap]: [f64; 3],
        width: &dyn Fn(&dyn Display) -> f64,
    ) -> Vec<(AxisLabel<'a>, f64)> {
        let (high, ticks) = (self.range.high, self.ticks());
        let is_end = named(self.unit).is_none() && high > self.range.low;
        // An end between two round numbers is written with three digits.
        let end = match self.unit {
            Unit::Plain(_) | Unit::Prefixed(_) if ticks.last() != Some(&high) => rounded(high, 3),
            _ => high,
        };
        let end = self.label(end);
        let wide = width(&end);
        let limit = if is_end { (length - wide / 2.0).min(right - wide) - gap } else { f64::INFINITY };
        let (mut free, mut labels) = (f64::NEG_INFINITY, Vec::new());
        for tick in ticks.into_iter().filter(|tick| !is_end || *tick < high) {
            let (label, place) = (self.label(tick), length * self.fraction(tick));
            let half = width(&label) / 2.0;
            if place - half >= free && place + half <= limit {
                free = place + half + gap;
                labels.push((label, place));
            }
        }
        if is_end {
            labels.push((end, length));
        }
        labels
    }

    /// Returns the label of a value.
    pub fn label(&self, value: f64) -> AxisLabel<'a> {
        AxisLabel(value, self.unit)
    }
}

/// Returns the range of named values, each in the middle of its own part of the axis.
fn named(unit: &Unit) -> Option<AxisRange> {
    match unit {
        Unit::Names(names) => Some(AxisRange { low: -0.5, high: names.len().real() - 0.5 }),
        _ => None,
    }
}

fn is_logarithmic(range: AxisRange, scale: Scale, unit: &Unit) -> bool {
    let wide = range.high / range.low >= LOGARITHMIC_FROM;
    range.low > 0.0 && named(unit).is_none() && (scale == Scale::Logarithmic || scale == Scale::Auto && wide)
}

/// The number of places at which a model's curve is evaluated to find its range.
const CURVE_SAMPLES: u32 = 64;
/// The factor over the height of an area's label that leaves room for the text.
const LABEL_ROOM: f64 = 1.2;

/// The axes of a chart, with the ranges of its data.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    /// The horizontal axis.
    pub x: Mapped<'a>,
    /// The vertical axis.
    pub y: Mapped<'a>,
}

impl<'a> Plane<'a> {
    /// Fits axes to measured points; `None` if there is nothing to show. Curves and marks are shown as far as
    /// the horizontal axis reaches.
    pub fn of(chart: &'a Chart, most_x_ticks: usize, most_y_ticks: usize) -> Option<Self> {
        // Distances from zero can be compared, as on a vertical axis.
        let from_zero = matches!(chart.y_axis.unit, Unit::Names(_)) && chart.x_axis.scale == Scale::Linear;
        let (mut across, mut along) = (Vec::new(), Vec::new());
        if from_zero {
            across.push(0.0);
        }
        for series in &chart.series {
            let (Data::Points(points) | Data::Scatter(points)) = &series.data else { continue };
            for point in points.iter().filter(|point| point.is_drawable()) {
                let whiskers = point.whiskers.unwrap_or((point.x, point.x));
                let band = point.band.unwrap_or((point.y, point.y));
                across.extend_from_slice(&[point.x, whiskers.0, whiskers.1]);
                along.extend_from_slice(&[point.y, band.0, band.1]);
            }
        }
        let (x_axis, y_axis) = (&chart.x_axis, &chart.y_axis);
        let x = Mapped::horizontal(
            AxisRange::of(&mut |value| across.iter().for_each(|x| value(*x)))?,
            x_axis.scale,
            &x_axis.unit,
            most_x_ticks,
        );
        for series in &chart.series {
            let Data::Curve(points) = &series.data else { continue };
            let place = |sample: u32| f64::from(sample) / f64::from(CURVE_SAMPLES);
            (0..=CURVE_SAMPLES).for_each(|sample| along.push(value_at(points, x.value(place(sample)))));
        }
        for mark in &chart.marks {
            if let MarkKind::Area(_, y) = mark.kind {
                along.push(y * LABEL_ROOM);
            }
        }
        let y = Mapped::vertical(
            AxisRange::of(&mut |value| along.iter().for_each(|y| value(*y)))?,
            y_axis.scale,
            &y_axis.unit,
            most_y_ticks,
        );
        Some(Self { x, y })
    }
}

const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

/// The label of a value on an axis with a unit.
#[derive(Clone, Copy, Debug)]
pub struct AxisLabel<'a>(pub f64, pub &'a Unit);

impl Display for AxisLabel<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AxisLabel(value, unit) = *self;
        match (unit, prefix_of(value)) {
            (Unit::Names(names), _) => {
                out.write_str(names.get(math::whole(round(value)) as usize).map_or("", |name| name))
            }
            (Unit::Bytes, _) => Bytes(math::whole(round(value))).fmt(out),
            (Unit::Prefixed(_), (factor, prefix)) if factor > 1.0 => {
                write!(out, "{} {prefix}", Trimmed(value / factor))
            }
            _ => Trimmed(value).fmt(out),
        }
    }
}

/// Returns the largest prefix that leaves a number of at least one.
fn prefix_of(value: f64) -> (f64, &'static str) {
    PREFIXES.into_iter().find(|&(factor, _)| value.abs() >= factor).unwrap_or((1.0, ""))
}

/// A measured value with its unit, for the text beside a point: `48 KiB`, `1.58 ns`.
#[derive(Clone, Copy, Debug)]
pub struct ValueWithUnit<'a>(pub f64, pub &'a Unit);

impl Display for ValueWithUnit<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValueWithUnit(value, unit) = *self;
        match unit {
            Unit::Bytes | Unit::Count | Unit::Names(_) => AxisLabel(value, unit).fmt(out),
            Unit::Plain("") => Figure(value).fmt(out),
            Unit::Plain("%") => write!(out, "{}%", Figure(value)),
            Unit::Plain(unit) => write!(out, "{} {unit}", Figure(value)),
            Unit::Prefixed(unit) => {
                let (factor, prefix) = prefix_of(value);
                write!(out, "{} {prefix} {unit}", Figure(value / factor))
            }
        }
    }
}

/// The title of an axis with its unit: `latency, ns`.
#[derive(Clone, Copy, Debug)]
pub struct Title<'a>(pub &'a Axis);

impl Display for Title<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.title, &self.0.unit) {
            (title, Unit::Bytes | Unit::Count | Unit::Names(_) | Unit::Plain("") | Unit::Prefixed("")) => {
                out.write_str(title)
            }
            ("", Unit::Plain(unit) | Unit::Prefixed(unit)) => out.write_str(unit),
            (title, Unit::Plain(unit) | Unit::Prefixed(unit)) => write!(out, "{title}, {unit}"),
        }
    }
}

/// The minimum ratio of the largest to the smallest number that uses the whole scale, so that numbers that differ only
/// by noise do not have a strong contrast.
const FULL_CONTRAST: f64 = 1.25;

/// The scale of shades: from the smallest number of a matrix to the largest, or to a quarter more than the smallest if
/// that is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shades {
    range: AxisRange,
}

impl Shades {
    /// Returns the shades of a matrix; `None` if it has no number.
    pub fn of(matrix: &Matrix) -> Option<Self> {
        let AxisRange { low, high } =
            AxisRange::of(&mut |value| matrix.cells().filter_map(|(_, _, cell)| cell.ok()).for_each(value))?;
        Some(Self { range: AxisRange { low, high: high.max(low * FULL_CONTRAST) } })
    }

    /// Returns the depth of a number: 0 for the smallest, 1 for the largest.
    pub fn depth(&self, value: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the step of a number among `steps` equal ones, from the lightest.
    pub fn step(&self, value: f64, steps: usize) -> usize {
        (math::whole(self.depth(value) * steps.real()) as usize).min(steps.saturating_sub(1))
    }

    /// Returns the numbers at both ends.
    pub const fn ends(&self) -> (f64, f64) {
        (self.range.low, self.range.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, ChartPoint, Scale, Series};
    use crate::charts_tests as charts;
    use proptest::prelude::*;
    use std::string::ToString;

    const UNIT: &Unit = &Unit::Plain("ns");

    fn axis(low: f64, high: f64, scale: Scale) -> Mapped<'static> {
        Mapped::horizontal(AxisRange { low, high }, scale, UNIT, 8)
    }

    proptest! {
        #[test]
        fn value_undoes_fraction(low in 1e-3f64..1e3, ratio in 1.01f64..1e9, place in 0.0f64..1.0) {
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Auto] {
                let axis = axis(low, low * ratio, scale);
                prop_assert!((axis.fraction(axis.value(place)) - place).abs() < 1e-6);
            }
        }

        #[test]
        fn a_fraction_is_never_off_the_axis(
            low in prop::num::f64::NORMAL, high in prop::num::f64::NORMAL, value in prop::num::f64::ANY
        ) {
            let Some(range) = AxisRange::of(&mut |value| [low, high].into_iter().for_each(value)) else { return Ok(()) };
            for scale in [Scale::Linear, Scale::Logarithmic, Scale::Auto] {
                let horizontal = Mapped::horizontal(range, scale, UNIT, 8);
                let vertical = Mapped::vertical(range, scale, UNIT, 8);
                for axis in [horizontal, vertical] {
                    prop_assert!((0.0..=1.0).contains(&axis.fraction(value)));
                    prop_assert!(axis.ticks().len() < 100);
                }
            }
        }
    }

    #[test]
    fn the_end_of_an_axis_is_labelled() {
        let labels = |low, high, unit: &Unit| {
            let axis = Mapped::horizontal(AxisRange { low, high }, Scale::Auto, unit, 6);
            let width = |shown: &dyn Display| crate::figures::width(shown) as f64;
            let labels = axis.labels([60.0, 60.0, 2.0], &width);
            let labels = labels.into_iter().map(|(label, place)| (std::format!("{label}"), place.round()));
            let labels: Vec<_> = labels.collect();
            std::format!("{labels:?}")
        };
        assert_eq!(
            labels(0.0, 8.0, &Unit::Count),
            r#"[("0", 0.0), ("2", 15.0), ("4", 30.0), ("6", 45.0), ("8", 60.0)]"#
        );
        let sizes = labels(16384.0, 128.0 * 1048576.0, &Unit::Bytes);
        assert!(sizes.ends_with(r#"("16 MiB", 46.0), ("128 MiB", 60.0)]"#), "{sizes}");
        let odd = labels(0.0, 113.2468, UNIT);
        assert!(odd.ends_with(r#"("100", 53.0), ("113", 60.0)]"#), "{odd}");
        let names = labels(0.0, 1.0, &Unit::Names(["a", "b"].map(Into::into).into()));
        assert_eq!(names, r#"[("a", 15.0), ("b", 45.0)]"#);
    }

    #[test]
    fn a_wide_range_is_logarithmic_and_a_narrow_one_starts_at_zero() {
        let wide = Mapped::vertical(AxisRange { low: 1.6, high: 118.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(wide.range, AxisRange { low: 1.0, high: 200.0 });
        let narrow = Mapped::vertical(AxisRange { low: 85.0, high: 118.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(narrow.range, AxisRange { low: 0.0, high: 120.0 });
        let fitted = |low| Mapped::vertical(AxisRange { low, high: 118.0 }, Scale::Fitted, UNIT, 6).range.low;
        assert_eq!((fitted(35.0), fitted(85.0)), (0.0, 80.0));
        let nothing = Mapped::vertical(AxisRange { low: 0.0, high: 0.0 }, Scale::Auto, UNIT, 6);
        assert_eq!(nothing.range, AxisRange { low: 0.0, high: 1.0 });
    }

    fn chart(data: impl IntoIterator<Item = Data>) -> Chart {
        let axis = Axis { title: "", unit: Unit::Plain("ns"), scale: Scale::Auto };
        let series = data.into_iter().map(|data| Series { name: "".into(), data }).collect();
        Chart {
            title: "".into(),
            subtitle: "".into(),
            x_axis: axis.clone(),
            y_axis: axis,
            series,
            marks: [].into(),
        }
    }

    #[test]
    fn everything_measured_is_in_range() {
        let points = [
            ChartPoint::new(1.0, 4.0),
            ChartPoint::with_band(3.0, 5.0, 4.5, 9.5),
            ChartPoint::new(f64::NAN, 1e9),
        ];
        let curve = [ChartPoint::new(1.0, 3.0), ChartPoint::new(5.0, 15.0)];
        let strip = [ChartPoint { whiskers: Some((4.5, 5.0)), ..ChartPoint::new(4.8, 2.0) }];
        let chart =
            chart([Data::Points(points.into()), Data::Curve(curve.into()), Data::Scatter(strip.into())]);
        let plane = Plane::of(&chart, 5, 5).unwrap();
        assert_eq!(plane.x.range, AxisRange { low: 1.0, high: 5.0 });
        assert_eq!(plane.y.range, AxisRange { low: 0.0, high: 15.0 });
    }

    #[test]
    fn without_a_point_there_is_no_plane() {
        let curve = [ChartPoint::new(1.0, 1.0)];
        let points = [ChartPoint::new(1.0, f64::INFINITY)];
        let without = chart([Data::Points(points.into()), Data::Curve(curve.into())]);
        assert!(Plane::of(&without, 5, 5).is_none());
        assert!(Plane::of(&chart([]), 5, 5).is_none());
    }

    #[test]
    fn values_read_as_people_write_them() {
        assert_eq!(AxisLabel(49152.0, &Unit::Bytes).to_string(), "48 KiB");
        assert_eq!(AxisLabel(0.2, &Unit::Plain("ns")).to_string(), "0.2");
        assert_eq!(AxisLabel(64.0, &Unit::Count).to_string(), "64");
        assert_eq!(AxisLabel(1.5e8, &Unit::Prefixed("loads/s")).to_string(), "150 M");
        assert_eq!(AxisLabel(2e9, &Unit::Prefixed("loads/s")).to_string(), "2 G");
        assert_eq!(AxisLabel(0.0, &Unit::Prefixed("loads/s")).to_string(), "0");
        assert_eq!(
            AxisLabel(1.0, &Unit::Names(["same L3", "other socket"].map(Into::into).into())).to_string(),
            "other socket"
        );
    }

    #[test]
    fn readings_are_rounded_and_carry_their_unit() {
        assert_eq!(ValueWithUnit(49152.0, &Unit::Bytes).to_string(), "48 KiB");
        assert_eq!(ValueWithUnit(1.5812, &Unit::Plain("ns")).to_string(), "1.58 ns");
        assert_eq!(ValueWithUnit(12.0, &Unit::Count).to_string(), "12");
        assert_eq!(ValueWithUnit(1.192e8, &Unit::Prefixed("loads/s")).to_string(), "119 M loads/s");
    }

    #[test]
    fn titles_carry_their_unit() {
        let title = |title, unit| Title(&Axis { title, unit, scale: Scale::Auto }).to_string();
        assert_eq!(title("latency", Unit::Plain("ns")), "latency, ns");
        assert_eq!(title("working set", Unit::Bytes), "working set");
        assert_eq!(title("", Unit::Prefixed("loads/s")), "loads/s");
    }

    fn shades(number: impl Fn(u32, u32) -> Option<f64>) -> Option<Shades> {
        Shades::of(&charts::of_nodes(2, &|row, column| number(row, column).ok_or("mbind: EPERM")))
    }

    #[test]
    fn the_extremes_take_the_whole_scale() {
        let shades = shades(|row, column| Some(if row == column { 80.0 } else { 140.0 })).unwrap();
        assert_eq!((shades.depth(80.0), shades.depth(110.0), shades.depth(140.0)), (0.0, 0.5, 1.0));
        assert_eq!((shades.step(80.0, 5), shades.step(110.0, 5), shades.step(140.0, 5)), (0, 2, 4));
    }

    #[test]
    fn noise_has_no_contrast() {
        let shades = shades(|row, column| Some(if row == column { 100.0 } else { 101.0 })).unwrap();
        assert_eq!(shades.ends(), (100.0, 125.0));
        assert_eq!(shades.step(101.0, 5), 0);
    }

    #[test]
    fn without_numbers_there_are_no_shades() {
        assert_eq!(shades(|_, _| None), None);
        assert_eq!(shades(|_, _| Some(0.0)).map(|shades| shades.depth(0.0)), Some(0.0));
    }
}
