//! Latency by bandwidth as a picture: a line for each curve, and marks at its knee and its peak.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use latency_core::sort::sort_by;

use super::levels::multiple;
use crate::analysis::loaded::loadings;
use crate::describe::Report;
use crate::describe::rates::{GIGA, Gigabytes, headline};
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::figures::Digits;
use crate::report::shown::{Picture, Shown};

/// The multiple of the lowest latency at which each curve has a mark.
const CLEAREST: f64 = 2.0;

/// Draws all curves; their names contain the nodes if there are `several` pairs of nodes.
pub fn picture(document: &mut Shown, report: &Report<'_, '_>, several: bool) {
    let (mut series, mut marks) = (Vec::new(), Vec::new());
    let mut put = |series, x: f64, label: fmt::Arguments<'_>| {
        marks.push(Mark { series: Some(series), ..Mark::line(x / GIGA, label) });
    };
    let mut unnamed = true;
    let mut idle = f64::NAN;
    let mut title = String::from("Loaded latency");
    for (index, loading) in loadings(report.outcomes).enumerate() {
        let kind = loading.traffic.kind.name;
        let name = match several {
            true => format!("{} -> {}, {kind}", loading.point.initiator, loading.point.target),
            false => kind.into(),
        };
        let steps = loading.steps();
        let own = steps.as_slice().iter().filter(|step| loading.is_level(step));
        let mut points = own.map(|step| {
            let (x, y) = (step.level.delivered.value / GIGA, step.level.latency.value);
            let whiskers = match step.level.offered {
                // Zero traffic has no uncertainty.
                Some(0.0) => Some((x, x)),
                _ => step.level.delivered.interval.map(|at| (at.low / GIGA, at.high / GIGA)),
            };
            let band = step.level.latency.interval.map(|at| (at.low, at.high));
            ChartPoint { x, y, band, whiskers }
        });
        series.push(Series::of(name, &mut points));
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
            title = format!(
                "Loaded latency: {} ns idle, {} ns at {} GB/s",
                headline(curve.idle, 1.0),
                headline(peak.level.latency, 1.0),
                headline(peak.level.delivered, GIGA)
            );
        }
    }
    sort_by(&mut marks, |one, other| one.x.total_cmp(&other.x));
    if idle.is_finite() {
        let baseline = Data::Curve([ChartPoint::new(0.0, idle)].into());
        series.push(Series { name: format!("idle {} ns", Digits(idle)), data: baseline });
    }
    document.picture(Picture::Chart(Chart {
        title,
        subtitle: format!("latency by bandwidth; {}", report.machine.processor.brand.as_str()),
        x_axis: Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        y_axis: Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Fitted },
        series,
        marks,
    }));
}
