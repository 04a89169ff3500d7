//! The two axes of a chart, fitted to its data.

use alloc::vec::Vec;

use super::Mapped;
use super::range::AxisRange;
use crate::report::chart::{Chart, Data, MarkKind, Scale, Unit, value_at};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Axis, ChartPoint, Series};

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
}
