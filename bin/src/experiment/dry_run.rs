//! The plan for readers who want to know before they wait (`--dry-run`): what would be measured, in how much memory, how long.

use core::fmt::{self, Write};

use latency_core::text::plural;

use super::bandwidth::members::{FOOTPRINT, GENERATORS, TRAFFIC};
use super::facts::method::optional;
use super::facts::{self, point};
use crate::options::Choice;
use crate::plan::budget::Budget;
use crate::plan::duration::Range;
use crate::plan::regions;
use crate::report::document::{fields, headings, Document, Level, Part, Role, Table};
use crate::result::words::OrderName;
use crate::result::{Point, Walk};

fields! {
    pub PLAN "plan" "What would be measured.";
    pub POINTS "points" "How many points.";
    PARTNER "partner" "The CPU that answers, where lines go between two.";
    METHOD "method" "How either tells that it is the other's turn.";
    MORE "more_points" "The most points that may be added between them while they are measured.";
    THREADS "threads" "The most threads that run at a time.";
    MEMORY "memory_bytes" "The memory that they need together.";
    LEAST "least_s" "The shortest time that it takes.";
    MOST "most_s" "The longest time that it takes, on a quiet machine.";
}

/// Describes a plan under its budget, and how long it takes.
pub fn present(
    document: &mut dyn Document,
    experiment: &str,
    points: &[Point],
    budget: &Budget,
    takes: Range,
) {
    // The levels of curves whose limit is measured first; what other experiments may add is seldom needed.
    let more = if budget.window_ns > 0.0 { budget.more } else { 0 };
    let (threads, bytes) = (threads(points), regions::bytes(budget.memory, points));
    let several = regions::have_several_initiators(points);
    document.sentence(
        Role::Answer,
        format_args!(
            "{} point{}{}, {}{bytes} of memory, {takes}; longer on a busy machine.",
            points.len(),
            plural(points.len()),
            optional(Some(more).filter(|more| *more > 0), |more, out| write!(
                out,
                " and up to {more} between them"
            )),
            optional(Some(threads).filter(|threads| *threads > 1), |threads, out| {
                write!(out, "{threads} threads, ")
            })
        ),
    );
    if several {
        document.sentence(Role::Method("Memory"), format_args!("{}", facts::method::regions(budget.memory)));
    }
    groups(document, points);
    every(document, points);
    facts::tool(document, experiment, "");
    document.part(Part::Object(&PLAN), |document| {
        document.put(&POINTS, points.len());
        document.put(&MORE, more);
        document.put(&THREADS, threads);
        document.put(&MEMORY, bytes);
        document.put(&facts::REGIONS, several.then_some(facts::method::regions_name(budget.memory)));
        time(document, takes);
    });
    document.part(Part::Records(&point::POINTS), |document| {
        for planned in points {
            document.part(Part::Item, |document| {
                point::planned(document, planned);
                if let Some(traffic) = planned.walk.traffic() {
                    document.put(&TRAFFIC, traffic.kind.name);
                    document.put(&GENERATORS, traffic.generators);
                    document.put(&FOOTPRINT, traffic.footprint);
                }
                if let Some(pair) = planned.walk.ping_pong() {
                    document.put(&PARTNER, pair.partner.0);
                    document.put(&METHOD, pair.method.name());
                }
            });
        }
    });
}

/// Describes the time of a plan.
pub fn time(document: &mut dyn Document, takes: Range) {
    document.put(&LEAST, takes.0 / 1e9);
    document.put(&MOST, takes.1 / 1e9);
}

/// Returns the most threads that run at a time, the first one included.
fn threads(points: &[Point]) -> u32 {
    let of = |point: &Point| match point.walk {
        Walk::Traffic(traffic) => traffic.generators,
        Walk::Loaded(traffic) => traffic.generators + 1,
        walk @ (Walk::PingPong(_) | Walk::Owned(_)) => 1 + walk.partners().iter().flatten().count() as u32,
        Walk::Chain | Walk::Lanes(_) | Walk::Apart(_) => 1,
    };
    points.iter().map(of).max().unwrap_or(1)
}

/// The kind of a point's traffic, or how CPUs exchange its lines.
fn kind(point: &Point) -> Option<&'static str> {
    let traffic = point.walk.traffic().map(|traffic| traffic.kind.name);
    traffic.or(point.walk.ping_pong().map(|pair| pair.method.name()))
}

/// Writes the order of a walk, or the kind of traffic or exchange.
fn order(out: &mut dyn Write, point: &Point) -> fmt::Result {
    match kind(point) {
        Some(kind) => out.write_str(kind),
        None => write!(out, "{}", OrderName(point.order)),
    }
}

/// Writes the cores that generate traffic for some points, or the loop of their walk.
fn walker<'p>(out: &mut dyn Write, points: impl Iterator<Item = &'p Point> + Clone) -> fmt::Result {
    let counts = || points.clone().filter_map(|point| Some(point.walk.traffic()?.generators));
    match (counts().min(), counts().max(), points.clone().next()) {
        (Some(least), Some(most), _) if least < most => write!(out, "{least} to {most} cores"),
        (Some(count), ..) => write!(out, "{count} core{}", plural(count)),
        (_, _, Some(Point { walk: Walk::PingPong(pair), .. })) => match points.clone().count() {
            1 => write!(out, "with CPU {}", pair.partner),
            _ => out.write_str("two CPUs"),
        },
        (_, _, Some(point)) => out.write_str(point.kernel.name),
        _ => Ok(()),
    }
}

/// Whether two points differ in no more than their size and the chains side by side.
fn same_group(one: &Point, other: &Point) -> bool {
    one.initiator == other.initiator
        && one.target == other.target
        && one.pages == other.pages
        && one.order == other.order
        && one.stride == other.stride
        && core::ptr::eq(one.kernel, other.kernel)
        && kind(one) == kind(other)
}

/// A row for points that differ in their size alone.
fn groups(document: &mut dyn Document, points: &[Point]) {
    const HEADINGS: [&str; 7] =
        ["from -> to", "order", "pages", "kernel", "spacing", "working sets", "points"];
    let firsts = || {
        points.iter().enumerate().filter(|(index, point)| {
            !points.get(..*index).unwrap_or_default().iter().any(|earlier| same_group(earlier, point))
        })
    };
    document.table(&Table {
        caption: "",
        level: Level::Quiet,
        words: 4,
        columns: HEADINGS.len(),
        rows: firsts().count(),
        heading: &headings(&HEADINGS),
        cell: &|out, row, column| {
            let Some((_, point)) = firsts().nth(row) else { return Ok(()) };
            let members = || points.iter().filter(move |other| same_group(point, other));
            match column {
                0 => write!(out, "{} -> {}", point.initiator, point.target),
                1 => order(out, point),
                2 => out.write_str(point.pages.word()),
                3 => walker(out, members()),
                4 => write!(out, "{}", point.stride),
                5 => {
                    let sizes = || members().map(|member| member.size);
                    let (least, most) =
                        (sizes().min().unwrap_or(point.size), sizes().max().unwrap_or(point.size));
                    match least == most {
                        true => write!(out, "{least}"),
                        false => write!(out, "{least} to {most}"),
                    }
                }
                _ => write!(out, "{}", members().count()),
            }
        },
    });
}

/// Every point, for readers who want to see all of them.
fn every(document: &mut dyn Document, points: &[Point]) {
    const HEADINGS: [&str; 6] = ["from -> to", "CPU", "order", "chains", "working set", "lines"];
    document.table(&Table {
        caption: "",
        level: Level::Verbose,
        words: 4,
        columns: HEADINGS.len(),
        rows: points.len(),
        heading: &headings(&HEADINGS),
        cell: &|out, row, column| {
            let Some(point) = points.get(row) else { return Ok(()) };
            match column {
                0 => write!(out, "{} -> {}", point.initiator, point.target),
                1 => write!(out, "{}", point.cpu),
                2 => order(out, point),
                3 if kind(point).is_some() => walker(out, core::iter::once(point)),
                3 => write!(out, "{}{}", point.walk.lanes(), point.walk),
                4 => write!(out, "{}", point.size),
                _ => write!(out, "{}", point.size.0 / point.stride.0.max(1)),
            }
        },
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::chain::Order;
    use latency_core::kernel::lanes::PARALLEL;
    use latency_core::kernel::POINTER;
    use latency_core::units::{Bytes, CpuId, NodeId};

    use crate::options::Pages;

    const POINT: Point = Point {
        initiator: NodeId(0),
        cpu: CpuId(0),
        target: NodeId(0),
        kernel: &POINTER,
        order: Order::Random,
        size: Bytes(1 << 20),
        stride: Bytes(64),
        seed: 42,
        pages: Pages::Small4k,
        walk: Walk::Chain,
    };

    #[test]
    fn points_of_one_group_differ_in_size_alone() {
        assert!(same_group(&POINT, &Point { size: Bytes(64), walk: Walk::Lanes(&PARALLEL[0]), ..POINT }));
        assert!(!same_group(&POINT, &Point { order: Order::Sequential, ..POINT }));
        assert!(!same_group(&POINT, &Point { pages: Pages::Thp, ..POINT }));
    }
}
