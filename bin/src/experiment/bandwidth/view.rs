//! Bandwidth for people: a line for each pair, what it means, and tables.

use core::fmt::{self, Write};

use latency_core::decimal::Decimal;
use latency_core::topology::MAX_NODES;
use latency_core::units::NodeId;

use super::super::facts::{method, trust, Report};
use crate::analysis::traffic::{groups, rate, shares, Group, Rate};
use crate::options::View;
use crate::report::chart::{Axis, Chart, Data, Matrix, Point, Scale, Series, Unit};
use crate::report::document::{Document, Level, Picture, Role, Table};
use crate::report::figures::Digits;
use crate::result::Outcome;

/// Bytes in the unit that people use.
const GIGA: f64 = 1e9;
/// The kinds of traffic that a picture has room for.
const SERIES: usize = 9;
/// The numbers of generators, or kinds, on one line of a picture.
const POINTS: usize = 16;

/// Describes everything for people.
pub fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    for group in groups(report.outcomes) {
        line(document, &group);
    }
    answer(document, report);
    trust::line(document, report.warnings);
    let pairs = groups(report.outcomes).count();
    let grid = report.options.view == View::Nodes && pairs > 1;
    if grid {
        matrices(document, report);
    }
    table(document, report, if grid { Level::Verbose } else { Level::Quiet });
    picture(document, report);
    method::memory(document, report);
    document.sentence(
        Role::Method("Method"),
        format_args!(
            "lines touched in windows of 50 ms, 64 bytes each; every core in a part of its own, in address order{}; \
             unpaced; GB/s are 10^9 bytes",
            if groups(report.outcomes).any(|group| group.traffic.kind.name == "random") {
                " but for random"
            } else {
                ""
            }
        ),
    );
    method::ending(document, report);
}

/// Writes a rate in gigabytes.
fn gigabytes(rate: Option<Rate>) -> Digits {
    Digits(rate.map_or(f64::NAN, |rate| rate.value / GIGA))
}

fn cores(count: u32) -> impl fmt::Display {
    fmt::from_fn(move |out| write!(out, "{count} core{}", if count == 1 { "" } else { "s" }))
}

/// The line that scripts look for.
fn line(document: &mut dyn Document, group: &Group<'_, '_>) {
    let traffic = group.traffic;
    let from_to = format_args!("Node {} -> Node {}", traffic.from, traffic.node);
    match (group.best(), group.outcomes.iter().find_map(|outcome| outcome.result.as_ref().err())) {
        (Some((generators, rate)), _) => document.sentence(
            Role::Line,
            format_args!(
                "{from_to}: {} GB/s ({}, {})",
                gigabytes(Some(rate)),
                traffic.kind.name,
                cores(generators)
            ),
        ),
        (None, Some(exclusion)) => {
            document.sentence(Role::Line, format_args!("{from_to}: not measured: {exclusion}"));
        }
        (None, None) => {}
    }
}

/// What people ask first: what one core gets, what all get, and how many it takes.
fn answer(document: &mut dyn Document, report: &Report<'_, '_>) {
    if let Some((group, (generators, best))) =
        groups(report.outcomes).find_map(|group| Some((group, group.best()?)))
    {
        let of_one = group.of_one().filter(|_| generators > 1);
        document.sentence(
            Role::Answer,
            format_args!(
                "{} of node {} {} {} GB/s {}{}{}.",
                cores(generators),
                group.traffic.from,
                verb(group.traffic.kind.name, generators),
                gigabytes(Some(best)),
                fmt::from_fn(|out| match report.options.size {
                    Some(size) => write!(out, "in {size} each on node {}", group.traffic.node),
                    None => write!(out, "from memory of node {}", group.traffic.node),
                }),
                method::optional(best.interval, |interval, out| {
                    write!(out, " ({} to {})", Digits(interval.low / GIGA), Digits(interval.high / GIGA))
                }),
                method::optional(of_one, |rate, out| {
                    write!(
                        out,
                        "; one core {}, and all {:.2} times as much",
                        gigabytes(Some(rate)),
                        Decimal(best.value / rate.value)
                    )
                })
            ),
        );
    }
    if report.options.view == View::Cores {
        differing(document, report);
    }
    if report.partial {
        document.sentence(
            Role::Answer,
            format_args!("Partial: interrupted before every point was measured to the end."),
        );
    }
}

fn verb(kind: &str, cores: u32) -> &'static str {
    match (kind, cores) {
        ("read" | "random", 1) => "reads",
        ("read" | "random", _) => "read",
        ("write" | "nt-write", 1) => "writes",
        ("write" | "nt-write", _) => "write",
        (_, 1) => "moves",
        _ => "move",
    }
}

/// Says how far cores differ from each other.
fn differing(document: &mut dyn Document, report: &Report<'_, '_>) {
    let all =
        || report.outcomes.iter().filter_map(|outcome| Some((outcome.point.cpu, rate(outcome)?.1.value)));
    let least = all().reduce(|one, other| if other.1 < one.1 { other } else { one });
    let most = all().reduce(|one, other| if other.1 > one.1 { other } else { one });
    if let (Some(least), Some(most)) = (least, most) {
        document.sentence(
            Role::Finding,
            format_args!(
                "Fastest CPU {} ({} GB/s), slowest CPU {} ({} GB/s).",
                most.0,
                Digits(most.1 / GIGA),
                least.0,
                Digits(least.1 / GIGA)
            ),
        );
    }
}

/// A matrix for each kind of traffic: the row's cores, the column's memory.
fn matrices(document: &mut dyn Document, report: &Report<'_, '_>) {
    let nodes = Nodes::of(report);
    let of = |kind: &'static str, from, to| {
        let mut same = groups(report.outcomes).filter(|group| {
            (group.traffic.kind.name, group.traffic.from, group.traffic.node) == (kind, from, to)
        });
        same.next()
    };
    let mut known: [&str; SERIES] = [""; SERIES];
    for group in groups(report.outcomes) {
        let kind = group.traffic.kind.name;
        if known.contains(&kind) {
            continue;
        }
        if let Some(slot) = known.iter_mut().find(|slot| slot.is_empty()) {
            *slot = kind;
        }
        document.table(&Table {
            caption: "",
            level: Level::Quiet,
            words: 1,
            columns: nodes.to.1 + 1,
            rows: nodes.from.1,
            heading: &|out, column| match nodes.to(column.wrapping_sub(1)) {
                Some(node) => write!(out, "memory {node}"),
                None => write!(out, "{kind}, GB/s"),
            },
            cell: &|out, row, column| {
                let Some(from) = nodes.from(row) else { return Ok(()) };
                let Some(to) = nodes.to(column.wrapping_sub(1)) else { return write!(out, "node {from}") };
                match of(kind, from, to).and_then(|group| group.best()) {
                    Some((_, rate)) => write!(out, "{}{}", gigabytes(Some(rate)), Half(rate)),
                    None => out.write_str("-"),
                }
            },
        });
    }
}

/// Half of an interval's width.
struct Half(Rate);

impl fmt::Display for Half {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.interval {
            Some(interval) => write!(out, " +-{}", Digits((interval.high - interval.low) / 2.0 / GIGA)),
            None => Ok(()),
        }
    }
}

/// The nodes of a report, each once.
struct Nodes {
    from: ([NodeId; MAX_NODES], usize),
    to: ([NodeId; MAX_NODES], usize),
}

impl Nodes {
    fn of(report: &Report<'_, '_>) -> Nodes {
        let mut nodes = Nodes { from: ([NodeId(0); MAX_NODES], 0), to: ([NodeId(0); MAX_NODES], 0) };
        let add = |(list, count): &mut ([NodeId; MAX_NODES], usize), node| {
            if list.get(..*count).is_some_and(|known| known.contains(&node)) {
                return;
            }
            if let Some(slot) = list.get_mut(*count) {
                *slot = node;
                *count += 1;
            }
        };
        for group in groups(report.outcomes) {
            add(&mut nodes.from, group.traffic.from);
            add(&mut nodes.to, group.traffic.node);
        }
        nodes
    }

    fn from(&self, index: usize) -> Option<NodeId> {
        self.from.0.get(..self.from.1)?.get(index).copied()
    }

    fn to(&self, index: usize) -> Option<NodeId> {
        self.to.0.get(..self.to.1)?.get(index).copied()
    }
}

/// A row for each number of generators, or for each core.
fn table(document: &mut dyn Document, report: &Report<'_, '_>, level: Level) {
    const HEADINGS: [&str; 7] =
        ["traffic", "cores", "GB/s", "95 % within run", "per core", "of one alone", "lines in flight"];
    let rows = || {
        groups(report.outcomes).flat_map(|group| {
            group.outcomes.iter().filter_map(move |outcome| Some((group, outcome, rate(outcome)?)))
        })
    };
    document.table(&Table {
        caption: "",
        level,
        words: 1,
        columns: HEADINGS.len(),
        rows: rows().count(),
        heading: &|out, column| out.write_str(HEADINGS.get(column).copied().unwrap_or_default()),
        cell: &|out, row, column| {
            let Some((group, outcome, (traffic, found))) = rows().nth(row) else { return Ok(()) };
            let with = (traffic.generators, found);
            match column {
                0 => name(out, report, outcome),
                1 => write!(out, "{}", traffic.generators),
                2 => {
                    write!(out, "{}", gigabytes(Some(found)))?;
                    match shares(traffic.kind).owned {
                        0.0 => Ok(()),
                        owned => write!(
                            out,
                            " ({} with write-allocate)",
                            Digits(found.value * (1.0 + owned) / GIGA)
                        ),
                    }
                }
                3 => match found.interval {
                    Some(interval) => {
                        write!(out, "{} to {}", Digits(interval.low / GIGA), Digits(interval.high / GIGA))
                    }
                    None => out.write_str("too few rounds"),
                },
                4 => write!(out, "{}", Digits(found.value / f64::from(traffic.generators) / GIGA)),
                5 => write!(out, "{:.2}", Decimal(group.efficiency(with).unwrap_or(f64::NAN))),
                _ => write!(out, "{}", Digits(group.in_flight(with).unwrap_or(f64::NAN))),
            }
        },
    });
}

/// What tells a row from others: the kind, and the nodes or the CPU where there are several.
fn name(out: &mut dyn Write, report: &Report<'_, '_>, outcome: &Outcome<'_>) -> fmt::Result {
    let point = &outcome.point;
    let kind = point.walk.traffic().map_or("", |traffic| traffic.kind.name);
    match report.options.view {
        View::Cores => write!(out, "CPU {} {kind}", point.cpu),
        View::Nodes if groups(report.outcomes).count() > 1 => {
            write!(out, "{} -> {} {kind}", point.initiator, point.target)
        }
        _ => out.write_str(kind),
    }
}

/// Nodes as a matrix, cores or numbers of cores as a curve.
fn picture(document: &mut dyn Document, report: &Report<'_, '_>) {
    if report.options.format.name != "svg" && !matches!(report.options.view, View::Scaling) {
        return;
    }
    if report.options.view == View::Nodes {
        return matrix(document, report);
    }
    let mut points = [[Point::new(f64::NAN, f64::NAN); POINTS]; SERIES];
    let mut names = [""; SERIES];
    let mut count = 0;
    for ((points, name), group) in points.iter_mut().zip(&mut names).zip(groups(report.outcomes)) {
        *name = group.traffic.kind.name;
        for (slot, outcome) in points.iter_mut().zip(group.outcomes) {
            let Some((traffic, found)) = rate(outcome) else { continue };
            let x = match report.options.view {
                View::Cores => f64::from(outcome.point.cpu.0),
                _ => f64::from(traffic.generators),
            };
            *slot = match found.interval {
                Some(band) => Point::with_band(x, found.value / GIGA, band.low / GIGA, band.high / GIGA),
                None => Point::new(x, found.value / GIGA),
            };
        }
        count += 1;
    }
    let mut series = [Series { name: "", data: Data::Points(&[]) }; SERIES];
    for ((series, points), name) in series.iter_mut().zip(&points).zip(&names) {
        *series = Series { name, data: Data::Points(points) };
    }
    let cores = report.options.view == View::Cores;
    document.picture(Picture::Chart(&Chart {
        title: if cores { "Bandwidth of each core" } else { "Bandwidth against the number of cores" },
        subtitle: report.machine.processor.brand.as_str(),
        x_axis: Axis { title: if cores { "CPU" } else { "cores" }, unit: Unit::Count, scale: Scale::Linear },
        y_axis: Axis { title: "GB/s", unit: Unit::Plain("GB/s"), scale: Scale::Linear },
        series: series.get(..count).unwrap_or_default(),
        marks: &[],
    }));
}

fn matrix(document: &mut dyn Document, report: &Report<'_, '_>) {
    let nodes = Nodes::of(report);
    let Some(kind) = groups(report.outcomes).next().map(|group| group.traffic.kind.name) else { return };
    let cell = |row, column| {
        let mut all = groups(report.outcomes);
        let group = all.find(|group| {
            (group.traffic.kind.name, group.traffic.from, group.traffic.node) == (kind, row, column)
        });
        match group {
            None => Err("not asked for"),
            Some(group) => group.best().map(|(_, rate)| rate.value / GIGA).ok_or("not measured"),
        }
    };
    document.picture(Picture::Matrix(&Matrix {
        title: "Bandwidth from node to node",
        subtitle: kind,
        unit: "GB/s",
        rows: nodes.from.0.get(..nodes.from.1).unwrap_or_default(),
        columns: nodes.to.0.get(..nodes.to.1).unwrap_or_default(),
        cell: &cell,
    }));
}
