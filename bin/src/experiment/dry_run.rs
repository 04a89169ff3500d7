//! The plan for readers who want to know in advance (`--dry-run`): the points, the memory, and the duration.

use alloc::string::String;
use alloc::vec::Vec;

use super::bandwidth::view;
use crate::describe::method::optional;
use crate::describe::{self, CommandRun, columns, point, trust};
use crate::plan::duration::Range;
use latency_core::{Worded, plural};
use latency_engine::budget::Budget;
use latency_engine::regions;
use latency_engine::result::{OrderName, Point, Walk};
use latency_report::document::{fields, members};
use latency_report::{Level, Part, Role, Shown};

fields! {
    pub PLAN "plan" "True if nothing was measured; this is a plan.";
    pub POINTS "points" "Number of planned points.";
    LEAST "least_s" "Shortest expected duration, in seconds.";
    MOST "most_s" "Longest expected duration on a quiet machine, in seconds.";
}

/// Describes a plan under its budget, and its duration.
pub fn present(document: &mut Shown, run: &CommandRun<'_>, points: &[Point], budget: &Budget, takes: Range) {
    // Curves with a limit that is measured first get more levels. Points that other experiments may add are seldom
    // needed, so they are not listed.
    let more = if budget.window_ns > 0.0 { budget.more } else { 0 };
    let (threads, bytes) = (threads(points), regions::bytes(budget.memory, points));
    let several = regions::have_several_initiators(points);
    document.answer(format_args!(
        "{} point{}{}, {}{bytes} of memory, {takes}; longer on a busy machine.",
        points.len(),
        plural(points.len()),
        optional(Some(more).filter(|more| *more > 0), |more, out| write!(
            out,
            " (up to {more} more between them)"
        )),
        optional(Some(threads).filter(|threads| *threads > 1), |threads, out| {
            write!(out, "{threads} threads, ")
        })
    ));
    if several {
        document
            .under(Role::Method("Memory"))
            .write(format_args!("{}", describe::method::regions(budget.memory)[1]));
    }
    groups(document, points);
    every(document, points);
    run.present(document);
    document.part(Part::Object(&describe::SUMMARY), |document| {
        document.put(&POINTS, points.len());
        members! { document;
            "more_points": more => "Largest number of points that the run may add between the planned ones.";
            "threads": threads => "Largest number of threads at a time.";
            "memory_bytes": bytes => "Memory of all points together, in bytes.";
        }
        time(document, takes);
    });
    trust::of_command(document, "good", &[]);
    document.part(Part::Records(&describe::ROWS), |document| {
        rows(document, run, points);
    });
    document.put(&PLAN, true);
    document.put(&describe::REGIONS, several.then_some(describe::method::regions(budget.memory)[0]));
}

/// Describes the points of a plan as rows.
pub fn rows(document: &mut Shown, run: &CommandRun<'_>, points: &[Point]) {
    points.iter().for_each(|planned| {
        run.origin().row(document, &mut |document| {
            point::planned(document, planned);
            if let Some(traffic) = planned.walk.traffic() {
                view::kind_members(document, traffic, traffic.generators);
            }
            if let Some(pair) = planned.walk.ping_pong() {
                document.put(&columns::TARGET_CPU, pair.partner.0);
                document.put(&columns::METHOD, pair.method.word());
            }
            document.put(&columns::NOT_MEASURED, "planned");
        })
    });
}

/// Describes the duration of a plan.
pub fn time(document: &mut Shown, takes: Range) {
    document.put(&LEAST, takes.0 / 1e9);
    document.put(&MOST, takes.1 / 1e9);
}

/// Returns the largest number of threads that run at a time, including the first one.
fn threads(points: &[Point]) -> u32 {
    let of = |point: &Point| match point.walk {
        Walk::Traffic(traffic) => traffic.generators,
        Walk::Loaded(traffic) => traffic.generators + 1,
        walk @ (Walk::PingPong(_) | Walk::Owned(_)) => 1 + walk.partners().iter().flatten().count() as u32,
        Walk::Chain | Walk::Lanes(_) | Walk::Apart(_) => 1,
    };
    points.iter().map(of).max().unwrap_or(1)
}

/// Returns the kind of a point's traffic, or the method by which CPUs exchange its lines.
fn kind(point: &Point) -> Option<&'static str> {
    let traffic = point.walk.traffic().map(|traffic| traffic.kind.name);
    traffic.or(point.walk.ping_pong().map(|pair| pair.method.word()))
}

/// Returns the order of a walk, or the kind of traffic or exchange.
fn order(point: &Point) -> String {
    kind(point).map_or_else(|| format!("{}", OrderName(point.order)), Into::into)
}

/// Returns the number of cores that generate traffic for some points, or the loop of their walk.
fn walker(points: &[Point]) -> String {
    let counts = || points.iter().filter_map(|point| Some(point.walk.traffic()?.generators));
    match (counts().min(), counts().max(), points) {
        (Some(least), Some(most), _) if least < most => format!("{least} to {most} cores"),
        (Some(count), ..) => format!("{count} core{}", plural(count)),
        (_, _, [Point { walk: Walk::PingPong(pair), .. }]) => format!("with CPU {}", pair.partner),
        (_, _, [Point { walk: Walk::PingPong(_), .. }, ..]) => "two CPUs".into(),
        (_, _, points) => points.first().map_or("", |point| point.kernel.name).into(),
    }
}

/// Returns whether two points differ at most in their size and the number of chains side by side.
fn same_group(one: &Point, other: &Point) -> bool {
    one.initiator == other.initiator
        && one.target == other.target
        && one.pages == other.pages
        && one.order == other.order
        && one.stride == other.stride
        && core::ptr::eq(one.kernel, other.kernel)
        && kind(one) == kind(other)
}

/// Shows a row for each group of points that differ only in their size.
fn groups(document: &mut Shown, points: &[Point]) {
    let mut groups: Vec<Vec<Point>> = Vec::new();
    for point in points {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| same_group(first, point))) {
            Some(group) => group.push(*point),
            None => groups.push(Vec::from([*point])),
        }
    }
    document.tabulate("", Level::Quiet, 4, &|table| {
        table.texts(&["from -> to", "order", "pages", "kernel", "stride", "working sets", "points"]);
        for group in &groups {
            let Some(point) = group.first() else { continue };
            let sizes = || group.iter().map(|member| member.size);
            let sizes = match (sizes().min(), sizes().max()) {
                (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
                _ => format!("{}", point.size),
            };
            table.row().cell(format_args!("{} -> {}", point.initiator, point.target));
            table.show(&order(point)).show(&point.pages).show(&walker(group));
            table.show(&point.stride).show(&sizes).show(&group.len());
        }
    });
}

/// Shows every point, for readers who want to see all of them.
fn every(document: &mut Shown, points: &[Point]) {
    document.tabulate("", Level::Verbose, 4, &|table| {
        table.texts(&["from -> to", "CPU", "order", "chains", "working set", "lines"]);
        for point in points {
            let chains = match kind(point) {
                Some(_) => walker(core::slice::from_ref(point)),
                None => format!("{}{}", point.walk.lanes(), point.walk),
            };
            let lines = point.size.0 / point.stride.0.max(1);
            table.row().cell(format_args!("{} -> {}", point.initiator, point.target)).show(&point.cpu);
            table.show(&order(point)).show(&chains).show(&point.size).show(&lines);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::chain::Order;
    use latency_engine::tests::outcome::POINT;

    use latency_core::kernel::lanes::PARALLEL;
    use latency_core::{Bytes, PageSize, Pages};

    #[test]
    fn points_of_one_group_differ_in_size_alone() {
        assert!(same_group(&POINT, &Point { size: Bytes(64), walk: Walk::Lanes(&PARALLEL[0]), ..POINT }));
        assert!(!same_group(&POINT, &Point { order: Order::Sequential, ..POINT }));
        assert!(!same_group(&POINT, &Point { pages: Pages::thp(PageSize::MIB_2), ..POINT }));
    }
}
