//! Latency by bandwidth as a picture: a line for each curve, and marks at its knee and its peak.

use core::fmt;

use latency_core::sort::sort_by;
use latency_core::text::Text;

use super::levels::multiple;
use crate::analysis::loaded::loadings;
use crate::describe::Report;
use crate::describe::rates::{GIGA, Gigabytes, headline};
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Document, Picture};
use crate::report::figures::Digits;

/// Largest number of curves in a picture, of levels of each curve, and of characters in a name.
const CURVES: usize = 6;
const LEVELS: usize = 32;
const NAME: usize = 48;
/// The multiple of the lowest latency at which each curve has a mark.
const CLEAREST: f64 = 2.0;

/// Draws all curves; their names contain the nodes if there are `several` pairs of nodes.
pub fn picture(document: &mut dyn Document, report: &Report<'_, '_>, several: bool) {
    let mut lines = [(Text::<NAME>::EMPTY, [ChartPoint::new(f64::NAN, f64::NAN); LEVELS]); CURVES];
    let mut marks = [Mark::NONE; 2 * CURVES];
    let mut slots = marks.iter_mut();
    let mut put = |series, x: f64, label: fmt::Arguments<'_>| {
        if let Some(slot) = slots.next() {
            *slot = Mark { series: Some(series), ..Mark::line(x / GIGA, label) };
        }
    };
    let mut unnamed = true;
    let mut idle = f64::NAN;
    let mut title = Text::<96>::EMPTY;
    let count = loadings(report.outcomes).count();
    for (index, ((name, points), loading)) in lines.iter_mut().zip(loadings(report.outcomes)).enumerate() {
        let kind = loading.traffic.kind.name;
        *name = match several {
            true => Text::of(format_args!("{} -> {}, {kind}", loading.point.initiator, loading.point.target)),
            false => Text::of(format_args!("{kind}")),
        };
        let steps = loading.steps();
        let own = steps.as_slice().iter().filter(|step| loading.is_level(step));
        for (slot, step) in points.iter_mut().zip(own) {
            let (x, y) = (step.level.delivered.value / GIGA, step.level.latency.value);
            let whiskers = match step.level.offered {
                // Zero traffic has no uncertainty.
                Some(0.0) => Some((x, x)),
                _ => step.level.delivered.interval.map(|at| (at.low / GIGA, at.high / GIGA)),
            };
            let band = step.level.latency.interval.map(|at| (at.low, at.high));
            *slot = ChartPoint { x, y, band, whiskers };
        }
        let lowest = loading.slow_idle().map(|(lowest, _)| lowest);
        if let Some(knee) = loading.knee(CLEAREST) {
            // All knees are at the same multiple.
            match core::mem::replace(&mut unnamed, false) {
                true => put(index, knee.value, format_args!("{}", multiple(CLEAREST, lowest))),
                false => put(index, knee.value, format_args!("")),
            }
        }
        let limit = loading.limit();
        if let Some(limit) = limit {
            put(index, limit.rate.value, format_args!("peak {} GB/s", Gigabytes(limit.rate.value)));
        }
        let fastest = |best: f64| steps.as_slice().iter().find(|step| step.level.delivered.value == best);
        let peak = limit.map_or(steps.as_slice().last(), |limit| fastest(limit.rate.value));
        if let (0, Some(curve), Some(peak)) = (index, loading.curve(), peak) {
            idle = curve.idle.value;
            title = Text::of(format_args!(
                "Loaded latency: {} ns idle, {} ns at {} GB/s",
                headline(curve.idle, 1.0),
                headline(peak.level.latency, 1.0),
                headline(peak.level.delivered, GIGA)
            ));
        }
    }
    sort_by(&mut marks, |one, other| one.x.total_cmp(&other.x));
    let count = count.min(CURVES);
    let baseline = |_: f64| idle;
    let idle_name = Text::<NAME>::of(format_args!("idle {} ns", Digits(idle)));
    let mut series = [Series { name: idle_name.as_str(), data: Data::Curve(&baseline) }; CURVES + 1];
    for (series, (name, points)) in series.iter_mut().zip(&lines).take(count) {
        *series = Series { name: name.as_str(), data: Data::Points(points) };
    }
    let subtitle =
        Text::<160>::of(format_args!("latency by bandwidth; {}", report.machine.processor.brand.as_str()));
    document.picture(Picture::Chart(&Chart {
        title: if title.is_empty() { "Loaded latency" } else { title.as_str() },
        subtitle: subtitle.as_str(),
        x_axis: &Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        y_axis: &Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Fitted },
        series: series.get(..count + usize::from(idle.is_finite())).unwrap_or_default(),
        marks: &marks,
    }));
}
