//! The tables of bandwidth: nodes as a grid, a row for each kind of traffic, for each number of cores, or for each CPU.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;

use super::super::facts::rates::{gigabytes, Gigabytes, Half};
use super::super::facts::Report;
use super::super::matrix::Grid;
use crate::analysis::estimate::Estimate;
use crate::analysis::traffic::{groups, rate, shares, Group};
use crate::options::View;
use crate::report::document::{Document, Level, Table};
use crate::report::figures::Digits;
use crate::result::{Outcome, Traffic};

/// So many pairs and kinds have a row each where not everything is asked for.
const FEW: usize = 8;

/// Shows the tables that a view has.
pub fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
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
    let pair = |group: Group<'_, '_>| (group.traffic.from, group.traffic.node);
    let mut pairs = groups(report.outcomes).map(pair);
    pairs.next().is_none_or(|first| pairs.all(|other| other == first))
}

/// A matrix for each kind of traffic: the row's cores, the column's memory.
fn grids(document: &mut dyn Document, report: &Report<'_, '_>) {
    let nodes = Grid::of(report.outcomes);
    let kind_of = |group: Group<'_, '_>| group.traffic.kind.name;
    for (index, kind) in groups(report.outcomes).map(kind_of).enumerate() {
        if groups(report.outcomes).map(kind_of).take(index).any(|known| known == kind) {
            continue;
        }
        document.table(&Table {
            caption: "",
            level: Level::Quiet,
            words: 1,
            columns: 1 + 2 * nodes.targets().len(),
            rows: nodes.initiators().len(),
            heading: &|out, column| match nodes.targets().get(column.wrapping_sub(1) / 2) {
                Some(node) if column % 2 == 1 => write!(out, "memory {node}"),
                Some(_) if column > 0 => out.write_str("95 %"),
                _ => write!(out, "{kind}, GB/s"),
            },
            cell: &|out, row, column| {
                let Some(&from) = nodes.initiators().get(row) else { return Ok(()) };
                let (1.., Some(&to)) = (column, nodes.targets().get(column.wrapping_sub(1) / 2)) else {
                    return write!(out, "node {from}");
                };
                let found = groups(report.outcomes).find(|group| {
                    let Traffic { kind: other, from: cores, node, .. } = group.traffic;
                    (other.name, cores, node) == (kind, from, to)
                });
                let rate = found.and_then(|group| group.best()).map(|(_, rate)| rate);
                match column % 2 {
                    1 => write!(out, "{}", gigabytes(rate)),
                    _ => write!(out, "{}", Half(rate)),
                }
            },
        });
    }
}

/// A row for each kind of traffic of each pair: one core and the best number of them.
fn by_kind(document: &mut dyn Document, report: &Report<'_, '_>, level: Level) {
    const HEADINGS: [&str; 7] = ["", "1 core", "most", "95 %", "cores", "95 % at", "in flight"];
    let pairs = !is_one_pair(report);
    document.table(&Table {
        caption: "",
        level,
        words: 1,
        columns: HEADINGS.len(),
        rows: groups(report.outcomes).count(),
        heading: &|out, column| match column {
            0 if pairs => out.write_str("from -> to"),
            0 => out.write_str("GB/s"),
            _ => out.write_str(HEADINGS.get(column).copied().unwrap_or_default()),
        },
        cell: &|out, row, column| {
            let Some(group) = groups(report.outcomes).nth(row) else { return Ok(()) };
            let best = group.best();
            let rate = best.map(|(_, rate)| rate);
            match column {
                0 => name(out, pairs, &group),
                1 => write!(out, "{}", gigabytes(group.of_one())),
                2 => allocated(out, &group, rate),
                3 => write!(out, "{}", Half(rate)),
                4 => count(out, best.map(|(generators, _)| generators)),
                5 => {
                    count(out, group.knee())?;
                    out.write_str(if group.knee() == Some(1) { " core" } else { " cores" })
                }
                _ => {
                    write!(out, "{}", Digits(best.and_then(|best| group.in_flight(best)).unwrap_or(f64::NAN)))
                }
            }
        },
    });
}

/// A row for each number of cores.
fn by_count(document: &mut dyn Document, report: &Report<'_, '_>, level: Level) {
    const HEADINGS: [&str; 7] =
        ["traffic", "cores", "GB/s", "95 %", "per core", "of one alone", "lines in flight"];
    let pairs = !is_one_pair(report);
    rows(document, report, level, &HEADINGS, &|out, column, group, _, (traffic, found)| {
        let with = (traffic.generators, found);
        match column {
            0 => name(out, pairs, group),
            1 => write!(out, "{}", traffic.generators),
            2 => allocated(out, group, Some(found)),
            3 => write!(out, "{}", Half(Some(found))),
            4 => write!(out, "{}", Gigabytes(found.value / f64::from(traffic.generators))),
            5 => write!(out, "{:.2}", Decimal(group.efficiency(with).unwrap_or(f64::NAN))),
            _ => write!(out, "{}", Digits(group.in_flight(with).unwrap_or(f64::NAN))),
        }
    });
}

/// A row for each CPU by itself.
fn by_cpu(document: &mut dyn Document, report: &Report<'_, '_>) {
    const HEADINGS: [&str; 5] = ["traffic", "node", "CPU", "GB/s", "95 %"];
    rows(
        document,
        report,
        Level::Quiet,
        &HEADINGS,
        &|out, column, group, outcome, (_, found)| match column {
            0 => name(out, false, group),
            1 => write!(out, "{}", outcome.point.initiator),
            2 => write!(out, "{}", outcome.point.cpu),
            3 => allocated(out, group, Some(found)),
            _ => write!(out, "{}", Half(Some(found))),
        },
    );
}

/// Writes a cell of an outcome, by column.
type OfOutcome<'c> =
    &'c dyn Fn(&mut dyn Write, usize, &Group<'_, '_>, &Outcome<'_>, (Traffic, Estimate)) -> fmt::Result;

/// A row for each outcome that has a rate.
fn rows(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    level: Level,
    headings: &[&str],
    cell: OfOutcome<'_>,
) {
    let rows = || {
        groups(report.outcomes).flat_map(|group| {
            group.outcomes.iter().filter_map(move |outcome| Some((group, outcome, rate(outcome)?)))
        })
    };
    document.table(&Table {
        caption: "",
        level,
        words: 1,
        columns: headings.len(),
        rows: rows().count(),
        heading: &|out, column| out.write_str(headings.get(column).copied().unwrap_or_default()),
        cell: &|out, row, column| match rows().nth(row) {
            Some((group, outcome, found)) => cell(out, column, &group, outcome, found),
            None => Ok(()),
        },
    });
}

/// What tells a row from others: the kind, and the nodes where there are several pairs.
fn name(out: &mut dyn Write, pairs: bool, group: &Group<'_, '_>) -> fmt::Result {
    let Traffic { kind, from, node, .. } = group.traffic;
    match pairs {
        true => write!(out, "{from} -> {node} {}", kind.name),
        false => out.write_str(kind.name),
    }
}

fn count(out: &mut dyn Write, count: Option<u32>) -> fmt::Result {
    match count {
        Some(count) => write!(out, "{count}"),
        None => out.write_str("-"),
    }
}

/// A rate; and, where memory may move more than is counted, the most that it may be.
fn allocated(out: &mut dyn Write, group: &Group<'_, '_>, rate: Option<Estimate>) -> fmt::Result {
    write!(out, "{}", gigabytes(rate))?;
    match (shares(group.traffic.kind).owned, rate) {
        (owned, Some(rate)) if owned > 0.0 => {
            write!(out, " (to {})", Gigabytes(rate.value * (1.0 + owned)))
        }
        _ => Ok(()),
    }
}
