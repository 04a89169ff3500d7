//! The pictures of bandwidth: nodes as a matrix; numbers of cores, kinds of traffic, or CPUs as lines.

use latency_core::text::Text;

use super::super::matrix::Grid;
use crate::analysis::traffic::{groups, local_and_remote, rate};
use crate::describe::Report;
use crate::describe::method::optional;
use crate::describe::rates::{GIGA, Gigabytes, headline};
use crate::report::axis::AxisRange;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Scale, Series, Unit};
use crate::report::document::{Document, Picture};
use crate::report::figures::Digits;
use crate::result::{Outcome, Walk};
use crate::sys::table::Table;
use latency_core::traffic::View;

/// The maximum number of lines of a picture: one for each kind of traffic.
const SERIES: usize = 10;

/// Shows the picture of a view. A terminal gets only the picture of bandwidth by number of cores.
pub fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    let view = report.options.view;
    if !document.wants_pictures() && view != View::Scaling {
        return;
    }
    match view {
        View::Nodes => matrix(document, report),
        View::Mix | View::Scaling | View::Cores => chart(document, report),
    }
}

/// Returns whether two outcomes are on one line.
fn is_joined(one: &Outcome<'_>, other: &Outcome<'_>) -> bool {
    match (one.point.walk, other.point.walk) {
        (Walk::Traffic(first), Walk::Traffic(second)) => {
            (first.kind.name, first.from) == (second.kind.name, second.from)
        }
        _ => false,
    }
}

fn chart(document: &mut dyn Document, report: &Report<'_, '_>) {
    let cores = report.options.view == View::Cores;
    // If there is no memory for the points, the picture is left out.
    let Ok(mut points) = Table::filled(report.outcomes.len(), ChartPoint::new(f64::NAN, f64::NAN)) else {
        return;
    };
    for (slot, outcome) in points.iter_mut().zip(report.outcomes) {
        let Some((traffic, found)) = rate(outcome) else { continue };
        let x = if cores { outcome.point.cpu.0 } else { traffic.generators };
        *slot = ChartPoint::of(x.into(), found.scaled(1.0 / GIGA));
    }
    let mut lines = [(Text::<32>::EMPTY, &[][..]); SERIES];
    let (mut slots, mut rest) = (lines.iter_mut(), &points[..]);
    for line in report.outcomes.chunk_by(is_joined) {
        let (own, others) = rest.split_at_checked(line.len()).unwrap_or_default();
        rest = others;
        let Some(traffic) = line.first().and_then(|first| first.point.walk.traffic()) else { continue };
        let node = optional(cores.then_some(traffic.from), |node, out| write!(out, ", node {node}"));
        if let Some(slot) = slots.next() {
            *slot = (Text::of(format_args!("{}{node}", traffic.kind.name)), own);
        }
    }
    let count = SERIES - slots.len();
    let series =
        lines.each_ref().map(|(name, points)| Series { name: name.as_str(), data: Data::Points(points) });
    let range = AxisRange::of(&mut |each| points.iter().for_each(|point| each(point.y)));
    let AxisRange { low, high } = range.unwrap_or(AxisRange { low: 0.0, high: 0.0 });
    let (low, high) = (Digits(low), Digits(high));
    let title: Text<96> = match cores {
        true => Text::of(format_args!("Bandwidth of single CPUs: {low} to {high} GB/s")),
        false => Text::of(format_args!("Bandwidth: up to {high} GB/s")),
    };
    let subtitle = Text::<160>::of(format_args!(
        "bandwidth {}; {}",
        if cores { "of each CPU by itself" } else { "by number of cores" },
        report.machine.processor.brand.as_str()
    ));
    document.picture(Picture::Chart(&Chart {
        title: title.as_str(),
        subtitle: subtitle.as_str(),
        x_axis: &Axis { title: if cores { "CPU" } else { "cores" }, unit: Unit::Count, scale: Scale::Linear },
        y_axis: &Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        series: series.get(..count).unwrap_or_default(),
        marks: &[],
    }));
}

fn matrix(document: &mut dyn Document, report: &Report<'_, '_>) {
    let nodes = Grid::of(report.outcomes);
    let Some(first) = groups(report.outcomes).next() else { return };
    let kind = first.traffic.kind.name;
    let cell = |row, column| {
        let mut all = groups(report.outcomes);
        let group = all.find(|group| {
            (group.traffic.kind.name, group.traffic.from, group.traffic.node) == (kind, row, column)
        });
        match group {
            None => Err("not requested"),
            Some(group) => group.best().map(|(_, rate)| rate.scaled(1.0 / GIGA)).ok_or("not measured"),
        }
    };
    let footprint = first.traffic.footprint;
    let subtitle = Text::<160>::of(format_args!("{kind}, all cores of a node, {footprint} together"));
    let title: Text<96> = match (local_and_remote(report.outcomes), first.best()) {
        (Some((local, remote)), _) => Text::of(format_args!(
            "Bandwidth: {} GB/s local, {} GB/s remote",
            Gigabytes(local),
            Gigabytes(remote)
        )),
        (None, Some((_, rate))) => Text::of(format_args!("Bandwidth: {} GB/s", headline(rate, GIGA))),
        (None, None) => Text::of(format_args!("Bandwidth")),
    };
    nodes.picture(document, [title.as_str(), subtitle.as_str(), "bandwidth", "GB/s"], &cell);
}
