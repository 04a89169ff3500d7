//! The pictures of bandwidth: nodes as a matrix; numbers of cores, kinds of traffic, or CPUs as lines.

use super::super::matrix::Grid;
use crate::analysis::traffic::{groups, local_and_remote, rate};
use crate::describe::Report;
use crate::describe::method::optional;
use crate::describe::rates::{GIGA, Gigabytes, headline};
use crate::report::axis::AxisRange;
use crate::report::chart::{Axis, Chart, ChartPoint, Scale, Series, Unit, vector};
use crate::report::figures::Digits;
use crate::report::shown::{Picture, Shown};
use crate::result::{Outcome, Walk};
use alloc::format;
use alloc::vec::Vec;
use latency_core::traffic::View;

/// Shows the picture of a view. A terminal gets only the picture of bandwidth by number of cores.
pub fn present(document: &mut Shown, report: &Report<'_, '_>) {
    let view = report.options.view;
    match view {
        View::Nodes => matrix(document, report),
        View::Mix | View::Scaling | View::Cores => chart(document, report, view == View::Scaling),
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

fn chart(document: &mut Shown, report: &Report<'_, '_>, in_text: bool) {
    let cores = report.options.view == View::Cores;
    let point = |outcome: &Outcome<'_>| {
        let Some((traffic, found)) = rate(outcome) else { return ChartPoint::new(f64::NAN, f64::NAN) };
        let x = if cores { outcome.point.cpu.0 } else { traffic.generators };
        ChartPoint::of(x.into(), found.scaled(1.0 / GIGA))
    };
    let line = |line: &[Outcome<'_>]| {
        let traffic = line.first()?.point.walk.traffic()?;
        let node = optional(cores.then_some(traffic.from), |node, out| write!(out, ", node {node}"));
        Some(Series::of(format!("{}{node}", traffic.kind.name), &mut line.iter().map(point)))
    };
    let series = vector(&mut report.outcomes.chunk_by(is_joined).filter_map(line));
    let range = AxisRange::of(&mut |each| report.outcomes.iter().for_each(|outcome| each(point(outcome).y)));
    let AxisRange { low, high } = range.unwrap_or(AxisRange { low: 0.0, high: 0.0 });
    let (low, high) = (Digits(low), Digits(high));
    let title = match cores {
        true => format!("Bandwidth of single CPUs: {low} to {high} GB/s"),
        false => format!("Bandwidth: up to {high} GB/s"),
    };
    let subtitle = format!(
        "bandwidth {}; {}",
        if cores { "of each CPU by itself" } else { "by number of cores" },
        report.machine.processor.brand.as_str()
    );
    let chart = Chart {
        title,
        subtitle,
        x_axis: Axis { title: if cores { "CPU" } else { "cores" }, unit: Unit::Count, scale: Scale::Linear },
        y_axis: Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        series,
        marks: Vec::new(),
    };
    document.draw(Picture::Chart(chart), in_text);
}

fn matrix(document: &mut Shown, report: &Report<'_, '_>) {
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
    let subtitle = format!("{kind}, all cores of a node, {footprint} together");
    let title = match (local_and_remote(report.outcomes), first.best()) {
        (Some((local, remote)), _) => {
            format!("Bandwidth: {} GB/s local, {} GB/s remote", Gigabytes(local), Gigabytes(remote))
        }
        (None, Some((_, rate))) => format!("Bandwidth: {} GB/s", headline(rate, GIGA)),
        (None, None) => "Bandwidth".into(),
    };
    nodes.picture(document, [title, subtitle], ["bandwidth", "GB/s"], &cell, false);
}
