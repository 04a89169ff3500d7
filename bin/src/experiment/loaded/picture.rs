//! Latency against bandwidth as a picture: a line for each curve, and a mark at each knee.

use latency_core::text::Text;

use super::levels::multiple;
use crate::analysis::load::KNEES;
use crate::analysis::loaded::loadings;
use crate::describe::Report;
use crate::describe::rates::GIGA;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Scale, Series, Unit};
use crate::report::document::{Document, Picture};

/// Largest number of curves in a picture, of levels of each curve, and of characters in a name.
const CURVES: usize = 6;
const LEVELS: usize = 32;
const NAME: usize = 48;
/// Largest number of curves that have a mark at each knee; with more curves, each has one mark only, at the multiple of
/// the lowest latency in the next constant.
const FEW: usize = 2;
const CLEAREST: f64 = 2.0;

/// Draws all curves; their names contain the nodes if there are `several` pairs of nodes.
#[inline(never)] // offsets into a small frame are short
pub fn picture(document: &mut dyn Document, report: &Report<'_, '_>, several: bool) {
    let mut lines = [(Text::<NAME>::EMPTY, [ChartPoint::new(f64::NAN, f64::NAN); LEVELS]); CURVES];
    let mut marks = [(f64::NAN, Text::<NAME>::EMPTY); KNEES.len() * CURVES];
    let mut free = marks.iter_mut();
    let count = loadings(report.outcomes).count();
    for ((name, points), loading) in lines.iter_mut().zip(loadings(report.outcomes)) {
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
        let knees = KNEES.into_iter().filter(|ratio| count <= FEW || *ratio >= CLEAREST);
        for ((ratio, knee), mark) in
            knees.filter_map(|ratio| Some((ratio, loading.knee(ratio)?))).zip(&mut free)
        {
            let label = Text::of(format_args!("{}: {}", name.as_str(), multiple(ratio, lowest)));
            *mark = (knee.value / GIGA, label);
        }
    }
    let marked = KNEES.len() * CURVES - free.len();
    let series =
        lines.each_ref().map(|(name, points)| Series { name: name.as_str(), data: Data::Points(points) });
    let marks = marks.each_ref().map(|(x, label)| Mark { x: *x, label: label.as_str() });
    document.picture(Picture::Chart(&Chart {
        title: "Loaded latency",
        subtitle: report.machine.processor.brand.as_str(),
        x_axis: Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        y_axis: Axis { title: "latency", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series: series.get(..count.min(CURVES)).unwrap_or_default(),
        marks: marks.get(..marked).unwrap_or_default(),
    }));
}
