//! The tables of bandwidth: nodes as a grid, a row for each kind of traffic, for each number of cores, or for each CPU.
use latency_core::text::plural;

use super::super::matrix::Grid;
use crate::analysis::traffic::{TrafficGroup, groups, rate, shares};
use crate::describe::Report;
use crate::describe::rates::{Gigabytes, Half, gigabytes, percent};
use crate::report::document::Level;
use crate::report::shown::{Shown, ShownTable};
use crate::result::{Outcome, Traffic};
use latency_core::stats::Estimate;
use latency_core::traffic::View;

/// The maximum number of rows (pairs times kinds) of the table by kind that is shown below a matrix without
/// `--verbose`.
const FEW: usize = 8;

/// Shows the tables of a view.
pub fn present(document: &mut Shown, report: &Report<'_, '_>) {
    let view = report.options.view;
    let count = groups(report.outcomes).count();
    let grid = view == View::Nodes && !is_one_pair(report);
    if grid {
        grids(document, report);
    }
    if view == View::Cores {
        return by_cpu(document, report);
    }
    let several = count > 1 && view != View::Scaling;
    if several {
        let level = if !grid {
            Level::Quiet
        } else if count <= FEW {
            Level::Normal
        } else {
            Level::Verbose
        };
        by_kind(document, report, level);
    }
    by_count(document, report, if several { Level::Verbose } else { Level::Quiet });
}

fn is_one_pair(report: &Report<'_, '_>) -> bool {
    let pair = |group: TrafficGroup<'_, '_>| (group.traffic.from, group.traffic.node);
    let mut pairs = groups(report.outcomes).map(pair);
    pairs.next().is_none_or(|first| pairs.all(|other| other == first))
}

/// Shows a matrix for each kind of traffic, with cores as rows and memory as columns.
fn grids(document: &mut Shown, report: &Report<'_, '_>) {
    let nodes = Grid::of(report.outcomes);
    let kind_of = |group: TrafficGroup<'_, '_>| group.traffic.kind.name;
    for (index, kind) in groups(report.outcomes).map(kind_of).enumerate() {
        if groups(report.outcomes).map(kind_of).take(index).any(|known| known == kind) {
            continue;
        }
        document.tabulate("", Level::Quiet, 1, &|table| {
            table.cell(format_args!("{kind}, GB/s"));
            for node in &nodes.targets {
                table.cell(format_args!("memory {node}"));
                table.text("95% CI");
            }
            for from in &nodes.initiators {
                table.row();
                table.cell(format_args!("node {from}"));
                for to in &nodes.targets {
                    let found = groups(report.outcomes).find(|group| {
                        let Traffic { kind: other, from: cores, node, .. } = group.traffic;
                        (other.name, cores.0, node.0) == (kind, from, to)
                    });
                    let rate = found.and_then(|group| group.best()).map(|(_, rate)| rate);
                    table.show(&gigabytes(rate));
                    table.show(&Half(rate));
                }
            }
        });
    }
}

/// Shows a row for each pair and kind of traffic: the rates of one core and of the best number of cores.
fn by_kind(document: &mut Shown, report: &Report<'_, '_>, level: Level) {
    let pairs = !is_one_pair(report);
    document.tabulate("", level, 1, &|table| {
        table.text(if pairs { "from -> to" } else { "GB/s" });
        table.texts(&["1 core", "peak", "95% CI", "cores", "95% at", "in flight"]);
        for group in groups(report.outcomes) {
            let best = group.best();
            let rate = best.map(|(_, rate)| rate);
            table.row();
            name(table, pairs, &group);
            table.show(&gigabytes(group.of_one()));
            allocated(table, &group, rate);
            table.show(&Half(rate));
            table.known(best.map(|(generators, _)| generators));
            match group.knee() {
                Some(count) => table.cell(format_args!("{count} core{}", plural(count))),
                None => table.text("- cores"),
            }
            table.number(best.and_then(|best| group.in_flight(best)));
        }
    });
}

/// Shows a row for each number of cores.
fn by_count(document: &mut Shown, report: &Report<'_, '_>, level: Level) {
    let pairs = !is_one_pair(report);
    document.tabulate("", level, 1, &|table| {
        table.texts(&["traffic", "cores", "GB/s", "95% CI", "per core", "efficiency", "lines in flight"]);
        for (group, _, (traffic, found)) in rates(report) {
            let with = (traffic.generators, found);
            table.row();
            name(table, pairs, &group);
            table.show(&traffic.generators);
            allocated(table, &group, Some(found));
            table.show(&Half(Some(found)));
            table.show(&Gigabytes(found.value / f64::from(traffic.generators)));
            table.known(group.efficiency(with).map(percent));
            table.number(group.in_flight(with));
        }
    });
}

/// Shows a row for each CPU on its own.
fn by_cpu(document: &mut Shown, report: &Report<'_, '_>) {
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts(&["traffic", "node", "CPU", "GB/s", "95% CI"]);
        for (group, outcome, (_, found)) in rates(report) {
            table.row();
            name(table, false, &group);
            table.show(&outcome.point.initiator);
            table.show(&outcome.point.cpu);
            allocated(table, &group, Some(found));
            table.show(&Half(Some(found)));
        }
    });
}

/// Returns every outcome that has a rate, with its group.
fn rates<'r, 'a>(
    report: &Report<'r, 'a>,
) -> impl Iterator<Item = (TrafficGroup<'r, 'a>, &'r Outcome<'a>, (Traffic, Estimate))> {
    groups(report.outcomes).flat_map(|group| {
        group.outcomes.iter().filter_map(move |outcome| Some((group, outcome, rate(outcome)?)))
    })
}

/// Pushes the name of a row: the kind, and the nodes if there are several pairs.
fn name(table: &mut ShownTable, pairs: bool, group: &TrafficGroup<'_, '_>) {
    let Traffic { kind, from, node, .. } = group.traffic;
    match pairs {
        true => table.cell(format_args!("{from} -> {node} {}", kind.name)),
        false => table.text(kind.name),
    }
}

/// Pushes a rate, and an upper bound if memory may move more than is counted.
fn allocated(table: &mut ShownTable, group: &TrafficGroup<'_, '_>, rate: Option<Estimate>) {
    let shown = gigabytes(rate);
    match (shares(group.traffic.kind).owned, rate) {
        (owned, Some(rate)) if owned > 0.0 => {
            table.cell(format_args!("{shown} (to {})", Gigabytes(rate.value * (1.0 + owned))));
        }
        _ => table.show(&shown),
    }
}
