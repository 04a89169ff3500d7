//! A curve as a chart: points with their intervals, the fitted stair, and a mark for each level.

use core::fmt::Write;

use latency_core::model::{MAX_LEVELS, MAX_POINTS};
use latency_core::text::Text;
use latency_core::units::Bytes;

use super::View;
use crate::report::chart::{Axis, Chart, Data, Mark, Point, Scale, Series, Unit};
use crate::report::figures::Figure;

/// Gives `draw` the chart of a curve.
pub fn show(view: &View<'_>, draw: impl FnOnce(&Chart<'_>)) {
    let value = |nanoseconds: f64| if view.reciprocal { 1e9 / nanoseconds } else { nanoseconds };
    let mut points = [Point::new(f64::NAN, f64::NAN); MAX_POINTS];
    let mut count = 0;
    for (slot, sample) in points.iter_mut().zip(view.samples) {
        let (x, y) = (sample.size.0 as f64, value(sample.nanoseconds));
        *slot = match sample.interval.map(|interval| (value(interval.low), value(interval.high))) {
            Some((one, other)) => Point::with_band(x, y, one.min(other), one.max(other)),
            None => Point::new(x, y),
        };
        count += 1;
    }
    let points = points.get(..count).unwrap_or_default();
    let analysis = view.analysis;
    let fit = analysis.stair.as_ref().ok();
    let model = |size: f64| fit.map_or(f64::NAN, |fit| value(analysis.nanoseconds(fit.evaluate(size))));
    let series = [
        Series { name: "measured", data: Data::Points(points) },
        Series { name: "model", data: Data::Curve(&model) },
    ];
    let series = if fit.is_some() { &series[..] } else { series.get(..1).unwrap_or_default() };

    let mut labels = [Text::<48>::EMPTY; MAX_LEVELS];
    let mut places = [0.0; MAX_LEVELS];
    let mut count = 0;
    for ((label, place), cache) in labels.iter_mut().zip(&mut places).zip(analysis.caches()) {
        *place = cache.size.value;
        let latency = Figure(analysis.nanoseconds(cache.latency.value));
        // A text takes a part whole or not at all.
        let _ = write!(label, "L{} {} {latency} ns", cache.number, Bytes(*place as u64 / 64 * 64));
        count += 1;
    }
    let mut marks = [Mark { x: 0.0, label: "" }; MAX_LEVELS];
    for ((mark, place), label) in marks.iter_mut().zip(places).zip(&labels) {
        *mark = Mark { x: place, label: label.as_str() };
    }
    let y_axis = match view.reciprocal {
        true => Axis { title: "accesses", unit: Unit::Prefixed("1/s"), scale: Scale::Auto },
        false => Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Auto },
    };
    draw(&Chart {
        title: view.title,
        subtitle: view.subtitle,
        x_axis: Axis { title: "working set", unit: Unit::Bytes, scale: Scale::Logarithmic },
        y_axis,
        series,
        marks: marks.get(..count).unwrap_or_default(),
    });
}
