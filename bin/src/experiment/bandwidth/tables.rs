//! The tables and the picture of bandwidth: nodes as a grid, a row for each kind of traffic, for each number of cores, or
//! for each CPU.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::traffic::{Kind, View};
use latency_core::{CpuSet, Estimate, plural};

use super::super::matrix::Grid;
use crate::analysis::traffic::{TrafficGroup, local_and_remote, rate, shares};
use crate::describe::Report;
use crate::describe::method::optional;
use crate::describe::rates::{GIGA, Gigabytes, gigabytes, half, headline, percent};
use crate::plan::generators;
use latency_engine::result::{Outcome, Traffic, Walk};
use latency_report::chart::vector;
use latency_report::{
    Axis, AxisRange, Chart, ChartPoint, Digits, Level, Picture, Scale, Series, Shown, Unit,
};

/// The maximum number of rows (pairs times kinds) of the table by kind that is shown below a matrix without
/// `--verbose`.
const FEW: usize = 8;

/// Shows the tables of a view.
pub fn present(document: &mut Shown, report: &Report<'_>, groups: &[TrafficGroup<'_>]) {
    let view = report.options.view;
    let pair = |group: &TrafficGroup<'_>| (group.traffic.from, group.traffic.node);
    let pairs = groups.iter().any(|group| Some(pair(group)) != groups.first().map(pair));
    let grid = matches!(view, View::Nodes | View::Caches) && pairs;
    if grid {
        grids(document, report, groups);
    }
    let several = groups.len() > 1 && view != View::Scaling;
    if several {
        let level = match grid {
            false => Level::Quiet,
            true if groups.len() <= FEW => Level::Normal,
            true => Level::Verbose,
        };
        by_kind(document, groups, pairs, level);
    }
    if !groups.is_empty() {
        by_count(document, groups, pairs, if several { Level::Verbose } else { Level::Quiet });
    }
}

/// Shows a matrix for each kind of traffic, with cores as rows and memory as columns.
fn grids(document: &mut Shown, report: &Report<'_>, groups: &[TrafficGroup<'_>]) {
    let nodes = Grid::of(report.outcomes);
    let mut kinds: Vec<&str> = Vec::new();
    for kind in groups.iter().map(|group| group.traffic.kind.name) {
        if kinds.contains(&kind) {
            continue;
        }
        kinds.push(kind);
        document.tabulate("", Level::Quiet, 1, &|table| {
            table.cell(format_args!("{kind}, GB/s"));
            for node in &nodes.targets {
                table.cell(format_args!("memory {node}")).text("95% CI");
            }
            for from in &nodes.initiators {
                table.row().cell(format_args!("node {from}"));
                for to in &nodes.targets {
                    let found = groups.iter().find(|group| {
                        let Traffic { kind: other, from: cores, node, .. } = group.traffic;
                        (other.name, cores.0, node.0) == (kind, from, to)
                    });
                    let rate = found.and_then(|group| group.best).map(|(_, rate)| rate);
                    table.show(&gigabytes(rate)).show(&half(rate));
                }
            }
        });
    }
}

/// Shows a row for each pair and kind of traffic: the rates of one core and of the best number of cores.
fn by_kind(document: &mut Shown, groups: &[TrafficGroup<'_>], pairs: bool, level: Level) {
    document.tabulate("", level, 1, &|table| {
        table.text(if pairs { "from -> to" } else { "GB/s" });
        table.texts(&["1 core", "peak", "95% CI", "cores", "95% at", "in flight"]);
        for group in groups {
            let rate = group.best.map(|(_, rate)| rate);
            table.row().show(&name(pairs, group)).show(&gigabytes(group.of_one()));
            table.show(&allocated(group, rate)).show(&half(rate));
            table.known(group.best.map(|(generators, _)| generators));
            table.text(&group.knee().map_or("- cores".into(), cores));
            table.number(group.best.and_then(|best| group.in_flight(best)));
        }
    });
}

/// Shows a row for each number of cores.
fn by_count(document: &mut Shown, groups: &[TrafficGroup<'_>], pairs: bool, level: Level) {
    document.tabulate("", level, 1, &|table| {
        table.texts(&["traffic", "cores", "GB/s", "95% CI", "per core", "efficiency", "lines in flight"]);
        for group in groups {
            for &(generators, found) in &group.rates {
                let rate = Some(found);
                table
                    .row()
                    .show(&name(pairs, group))
                    .show(&generators)
                    .show(&allocated(group, rate))
                    .show(&half(rate));
                table.show(&Gigabytes(found.value / f64::from(generators)));
                table.known(group.efficiency((generators, found)).map(percent));
                table.number(group.in_flight((generators, found)));
            }
        }
    });
}

/// Shows a row for the CPUs of each group: of a last-level cache, or one.
pub fn by_cpus(document: &mut Shown, report: &Report<'_>, groups: &[TrafficGroup<'_>]) {
    if groups.is_empty() {
        return;
    }
    document.tabulate("", Level::Quiet, 2, &|table| {
        table.texts(&["from -> to", "CPUs", "GB/s", "95% CI", "per core"]);
        for group in groups {
            let rate = group.best.map(|(_, rate)| rate);
            let each = rate.map_or(f64::NAN, |rate| rate.value / f64::from(group.traffic.generators));
            table
                .row()
                .show(&name(true, group))
                .show(&cpus(report, group))
                .show(&allocated(group, rate))
                .show(&half(rate));
            table.show(&Gigabytes(each));
        }
    });
}

/// Returns a number of cores, in words.
pub fn cores(count: u32) -> String {
    format!("{count} core{}", plural(count))
}

/// Returns the accesses of a kind of traffic, in words.
pub fn accesses(kind: &Kind) -> &'static str {
    match (shares(kind).read, shares(kind).written) {
        (_, 0.0) => "reads",
        (0.0, _) => "writes",
        _ => "reads and writes",
    }
}

/// Returns the CPUs that generate the traffic of a group.
pub fn cpus(report: &Report<'_>, group: &TrafficGroup<'_>) -> CpuSet {
    generators::generating(report.options, report.machine, &group.point, &group.traffic)
}

/// Returns the name of a row: the kind, and the nodes if there are several pairs.
fn name(pairs: bool, group: &TrafficGroup<'_>) -> String {
    let Traffic { kind, from, node, .. } = group.traffic;
    if pairs { format!("{from} -> {node} {}", kind.name) } else { kind.name.into() }
}

/// Returns a rate, and an upper bound if memory may move more than is counted.
fn allocated(group: &TrafficGroup<'_>, rate: Option<Estimate>) -> String {
    let owned = shares(group.traffic.kind).owned;
    let bound = optional(rate.filter(|_| owned > 0.0), |rate, out| {
        write!(out, " (to {})", Gigabytes(rate.value * (1.0 + owned)))
    });
    format!("{}{bound}", gigabytes(rate))
}

/// Shows the picture of a view. A terminal gets only the picture of bandwidth by number of cores.
pub fn picture(document: &mut Shown, report: &Report<'_>, groups: &[TrafficGroup<'_>]) {
    match report.options.view {
        View::Nodes | View::Caches => matrix(document, report, groups),
        view => document.draw(Picture::Chart(chart(report)), view == View::Scaling),
    }
}

/// Returns whether two outcomes are on one line.
fn is_joined(one: &Outcome, other: &Outcome) -> bool {
    match (one.point.walk, other.point.walk) {
        (Walk::Traffic(first), Walk::Traffic(second)) => {
            (first.kind.name, first.from) == (second.kind.name, second.from)
        }
        _ => false,
    }
}

fn chart(report: &Report<'_>) -> Chart {
    let cores = report.options.view == View::Cores;
    let point = |outcome: &Outcome| {
        let Some((traffic, found)) = rate(outcome) else { return ChartPoint::new(f64::NAN, f64::NAN) };
        let x = if cores { outcome.point.cpu.0 } else { traffic.generators };
        ChartPoint::of(x.into(), found.scaled(1.0 / GIGA))
    };
    let line = |line: &[Outcome]| {
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
    let x_axis = Axis { title: if cores { "CPU" } else { "cores" }, unit: Unit::Count, scale: Scale::Linear };
    let y_axis = Axis { title: "bandwidth", unit: Unit::Plain("GB/s"), scale: Scale::Linear };
    Chart::of([title, subtitle], [x_axis, y_axis], series)
}

fn matrix(document: &mut Shown, report: &Report<'_>, groups: &[TrafficGroup<'_>]) {
    let nodes = Grid::of(report.outcomes);
    let Some(first) = groups.first() else { return };
    let kind = first.traffic.kind.name;
    let cell = |row, column| {
        let group = groups.iter().find(|group| {
            (group.traffic.kind.name, group.traffic.from, group.traffic.node) == (kind, row, column)
        });
        match group {
            None => Err("not requested"),
            Some(group) => group.best.map(|(_, rate)| rate.scaled(1.0 / GIGA)).ok_or("not measured"),
        }
    };
    let footprint = first.traffic.footprint;
    let subtitle = format!("{kind}, all cores of a node, {footprint} together");
    let title = match (local_and_remote(groups), first.best) {
        (Some((local, remote)), _) => {
            format!("Bandwidth: {} GB/s local, {} GB/s remote", Gigabytes(local), Gigabytes(remote))
        }
        (None, Some((_, rate))) => format!("Bandwidth: {} GB/s", headline(rate, GIGA)),
        (None, None) => "Bandwidth".into(),
    };
    nodes.picture(document, [title, subtitle], ["bandwidth", "GB/s"], &cell, false);
}
