//! Latency against bandwidth as a picture: a line for each curve, and a mark at each knee.

use core::fmt::Write;

use latency_core::text::Text;

use super::words::Multiple;
use crate::analysis::load::KNEES;
use crate::analysis::loaded::loadings;
use crate::describe::rates::GIGA;
use crate::describe::Report;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Document, Picture};

/// The curves that a picture has room for, the levels of each, and the characters of a name.
const CURVES: usize = 6;
const LEVELS: usize = 32;
const NAME: usize = 48;
/// The number of curves above which each has only one mark; below it, the multiple of the lowest latency at that mark.
const FEW: usize = 2;
const CLEAREST: f64 = 2.0;

/// Draws all curves; the name of each says its nodes where there are `several` pairs of them.
#[inline(never)] // offsets into a small frame are short
pub fn picture(document: &mut dyn Document, report: &Report<'_, '_>, several: bool) {
    let mut points = [[ChartPoint::new(f64::NAN, f64::NAN); LEVELS]; CURVES];
    let mut names = [Text::<NAME>::EMPTY; CURVES];
    let mut marks = [(f64::NAN, Text::<NAME>::EMPTY); KNEES.len() * CURVES];
    let mut free = marks.iter_mut();
    let mut count = 0;
    let few = loadings(report.outcomes).count() <= FEW;
    for ((points, name), loading) in points.iter_mut().zip(&mut names).zip(loadings(report.outcomes)) {
        let kind = loading.traffic.kind.name;
        // What does not fit is left out.
        let _ = match several {
            true => write!(name, "{} -> {}, {kind}", loading.from(), loading.to()),
            false => write!(name, "{kind}"),
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
        let knees = KNEES.into_iter().filter(|ratio| few || *ratio >= CLEAREST);
        for (knee, (x, label)) in knees.filter_map(|ratio| loading.knee(ratio)).zip(&mut free) {
            *x = knee.bandwidth.value / GIGA;
            let _ = write!(label, "{}: {}", name.as_str(), Multiple(knee.ratio, lowest));
        }
        count += 1;
    }
    let mut series = [Series { name: "", data: Data::Points(&[]) }; CURVES];
    for ((series, points), name) in series.iter_mut().zip(&points).zip(&names) {
        *series = Series { name: name.as_str(), data: Data::Points(points) };
    }
    let mut shown = [Mark { x: f64::NAN, label: "" }; KNEES.len() * CURVES];
    for (slot, (x, label)) in shown.iter_mut().zip(&marks) {
        *slot = Mark { x: *x, label: label.as_str() };
    }
    let marked = marks.iter().filter(|(x, _)| x.is_finite()).count();
    document.picture(Picture::Chart(&Chart {
        title: "Latency under load",
        subtitle: report.machine.processor.brand.as_str(),
        x_axis: Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        y_axis: Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series: series.get(..count).unwrap_or_default(),
        marks: shown.get(..marked).unwrap_or_default(),
    }));
}
