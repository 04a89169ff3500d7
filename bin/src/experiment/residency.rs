//! The time that a shared cache keeps an idle working set, and the rate at which others insert lines.

use alloc::vec::Vec;
use core::fmt::Display;

use latency_core::chain::Order;
use latency_core::host::Ways;
use latency_core::{Bytes, Estimate, ToReal};

use super::Experiment;
use crate::analysis::residency::{
    HalfLife, Residency, all, hidden, holds_what_is_allowed, insertions, left_by_a_look, most_held, sets,
};
use crate::describe::method::optional;
use crate::describe::rates::{GIGA, headline, in_parentheses};
use crate::describe::{Report, ReportParts, columns, method, point};
use crate::options::{Descriptor, FlagSet};
use crate::plan::{PlannedPoints, Planning, budget, sizes};
use latency_engine::budget::PLACES;
use latency_engine::memory::chains::Alongside;
use latency_engine::result::{Point, Residence};
use latency_engine::run;
use latency_engine::schedule::residency::{self, ResidencyLimits};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{
    Axis, Chart, ChartPoint, Digits, Level, Part, Picture, Role, Scale, Series, Shown, Unit,
};
use latency_sys::Table;

/// Average time for the latency of a working set, which is measured first.
const SHARE_NS: f64 = 0.8e9;
/// Time of all waits.
const WAITS_NS: f64 = 11e9;
/// Parts of the shared cache that the working sets have. Beside busy neighbours a large cache holds a small set alone.
const PARTS: [u64; 4] = [32, 8, 2, 1];

/// The life of lines in a shared cache.
pub const RESIDENCY: Experiment = Experiment {
    descriptor: Descriptor {
        name: "residency",
        summary: "how long the shared cache keeps a working set",
        details: "Sixteen chains load a part of the last-level cache, up to all of it, or --size alone. After a \
                  wait of up to a second, some of the lines are loaded again, each timed alone to see what is \
                  still there.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| {
        let count = points.len();
        let mut budget =
            budget::of_options(options, machine).rewritten(PLACES).within(SHARE_NS * count.real(), count);
        budget.after_ns = if budget.bounded { budget.point_ns * count.real() } else { WAITS_NS };
        budget
    },
    measure: |_, session, points, budget| {
        session.timer.fine_counter()?;
        let limits = ResidencyLimits {
            near: session.machine.private_cache(),
            spent_ns: budget.after_ns,
            rounds: budget.trials,
        };
        let mut found = Table::new(residency::MOST)?;
        let mut findings = run::measure_with(
            session,
            points,
            budget,
            &mut Alongside::default(),
            &mut |session, schedule| {
                schedule.run(session.progress)?;
                residency::search(session.progress, schedule, limits, &mut found)
            },
        )?;
        findings.residency = found;
        Ok(findings)
    },
    conclude: |_, _| None,
    present,
};

fn plan(planning: &mut Planning<'_>) -> PlannedPoints {
    let Planning { options, machine, .. } = *planning;
    let like = sizes::base_point(planning)?;
    // What a chase alone can hold is not the size of the cache.
    let cache = machine.largest_cache();
    // Little memory leaves the smaller sets.
    let most = machine.most(&like, core::slice::from_ref(&like));
    let point = |size| Point { order: Order::Random, size, ..like };
    if options.size.is_some() {
        return Ok(vec![point(like.size)]);
    }
    let size = |part: &u64| machine.page.whole(Bytes(cache.0 / part));
    let fits = |part: &u64| (machine.beyond_private()..=most).contains(&size(part)) || *part == 1;
    Ok(vector(PARTS.iter().filter(|part| fits(part)).map(|part| point(size(part).min(most)))))
}

fields! {
    SETS "residency" "Life of lines in the shared cache, for each working set.";
    WAITS "waits" "Shares that were left, by wait.";
}

members! {
    fn half_life(half: Option<HalfLife>);
    "half_life_ns" interval: half.and_then(HalfLife::found) => "Time after which half of the working set has left the shared cache, in nanoseconds; null if it holds too little, or keeps it longer than was waited. In the summary, that is the smallest working set that it holds.";
    "half_life_above_ns": half.and_then(HalfLife::longer) => "Longest wait, if more than half was left after it; null otherwise.";
}

members! {
    fn summary(half: Option<HalfLife>, held: Option<f64>, rate: Option<Estimate>);
    ..half_life(half);
    "held_at_once_bytes": held => "Largest number of bytes of a working set that the shared cache held at once.";
    "inserted_bytes_per_second" interval: rate.map(|rate| rate.scaled(GIGA)) => "Bytes per second that others insert if all of the shared cache takes part; null if working sets contradict each other.";
    "hidden_bytes_per_second": rate.map(|rate| hidden(rate) * GIGA) => "Largest stream beside others that would not show even if they stay as they are, in bytes per second: the width of the interval, or the rate without one.";
}

members! {
    fn life(found: &Residency);
    columns::WORKING_SET: found.size;
    "held_at_once" interval: found.at_once => "Share of the lines that were in a cache after the shortest wait.";
    ..half_life(found.half);
    "leave_together": found.is_step => "True if the lines leave at one time, as where the least recently used line leaves; false if a constant share leaves in equal times.";
}

members! {
    fn wait(point: &Residence);
    "wait_ns": point.wait_ns => "Time between the last load of the fill and the first load again, in nanoseconds.";
    "after_ns": point.after_ns => "Mean time from a line's load to its second load, in nanoseconds.";
    "left" interval: point.share => "Share of the lines that were still in a cache.";
    "left_again" interval: point.again.share => "Share at a second look, at other lines, which the loads of the first look may have thrown out; null but for the first wait.";
    "visits": point.visits => "Number of times that the cache was filled and the lines were loaded again.";
    "interrupts": Some(point.interrupts).filter(|seen| *seen > 0) => "Number of interrupts that were seen during the waits of all visits; null if none was seen: on some processors they leave no mark.";
    "switched": point.switched => "Share of the visits during which another task had the CPU.";
}

/// The conclusions from all working sets.
struct SharedCacheConclusion {
    /// The conclusion about each working set.
    sets: Vec<Residency>,
    /// The smallest working set with a half-life.
    sought: Option<(Bytes, HalfLife)>,
    /// The largest number of bytes of a working set that were held at once.
    held: Option<f64>,
    /// The bytes per nanosecond that others insert.
    rate: Option<Estimate>,
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let sets_found = all(report.residency);
    let found = &SharedCacheConclusion {
        sought: sets_found.iter().find_map(|found| Some((found.size, found.half?))),
        held: most_held(report.residency),
        rate: insertions(&sets_found, report.machine.largest_cache()),
        sets: sets_found,
    };
    summary(&mut parts.summary, found.sought.map(|(_, half)| half), found.held, found.rate);
    point::rows(&mut parts.rows, report);
    match found.held {
        Some(held) => answer(&mut parts.answer, report, found, held),
        None => nothing_held(&mut parts.answer, report),
    }
    evidence(&mut parts.evidence, report);
    method::walks(&mut parts.evidence, report);
    point::evidence(&mut parts.data, report);
    let known = sets(report.residency).zip(&found.sets);
    parts.data.items(Part::List(&SETS), known, |document, (set, found)| {
        life(document, found);
        document.items(Part::List(&WAITS), set, wait);
    });
}

/// Returns nanoseconds as a text in milliseconds.
fn milliseconds(nanoseconds: f64) -> impl Display {
    Digits(nanoseconds / 1e6)
}

/// Returns the words of the ways that resctrl allows; an empty text if there are none to show.
fn allowed(ways: Option<Ways>) -> impl Display {
    optional(ways, |ways, out| write!(out, "; resctrl allows ways {ways}"))
}

/// The answer if no working set is in a shared cache.
const NOTHING_HELD: &str =
    "No shared cache holds these working sets: right after them, memory serves nine of ten loads.";

/// Writes why nothing is known, if points were measured.
fn nothing_held(document: &mut Shown, report: &Report<'_>) {
    let (near, least) = (report.machine.private_cache(), report.machine.beyond_private());
    let measured = report.outcomes.iter().filter(|outcome| outcome.result.is_ok());
    match measured.map(|outcome| outcome.point.size).max() {
        Some(largest) if largest < least => document.answer(format_args!(
            "Most of this working set is in the {near} of the private caches; use a --size of \
                 {least} or more."
        )),
        Some(_) => document.say(Role::Answer, NOTHING_HELD),
        None => {}
    }
}

/// Writes how long half of a working set stays.
fn answer(document: &mut Shown, report: &Report<'_>, found: &SharedCacheConclusion, held: f64) {
    let cache = report.machine.largest_cache();
    match found.sought {
        Some((size, HalfLife::Found(half))) => document.answer(format_args!(
            "Half of a working set of {size} is gone from the shared cache after {time} ms{interval}.",
            time = headline(half, 1e6),
            interval = in_parentheses(half.interval, 1e6)
        )),
        Some((size, HalfLife::Longer(longest))) => document.answer(format_args!(
            "The shared cache keeps a working set of {size}: more than half is left after {time} ms.",
            time = milliseconds(longest)
        )),
        None => document.say(Role::Answer, NOTHING_HELD),
    }
    let ways = report.machine.host.ways.filter(|ways| {
        ways.is_partial() && holds_what_is_allowed(report.residency, held, ways.share() * cache.0.real())
    });
    document.finding(format_args!(
        "It holds {held} MiB of {cache} at once{ways}.",
        held = Digits(held / Bytes::MIB.0 as f64),
        ways = allowed(ways)
    ));
    if let Some(left) = left_by_a_look(report.residency) {
        document.finding(format_args!(
            "Reading the lines throws others out: {left:.0}% are left right after it.",
            left = 100.0 * left
        ));
    }
    match found.rate {
        Some(rate) => document.finding(format_args!(
            "Others insert about {rate} GB/s{interval}, if all {cache} take part; a stream of \
                 {hidden} GB/s beside them would not show, and one below their rate may not.",
            rate = headline(rate, 1.0),
            interval = in_parentheses(rate.interval, 1.0),
            hidden = Digits(hidden(rate))
        )),
        None if matches!(found.sought, Some((_, HalfLife::Found(_)))) => {
            document.say(Role::Finding, "The working sets do not agree on how fast others insert lines.")
        }
        None => {}
    }
}

/// Shows the share that is left by wait and working set, and draws it.
fn evidence(document: &mut Shown, report: &Report<'_>) {
    // The smallest working set has the longest waits.
    let sets: Vec<_> = vector(sets(report.residency));
    let [first, ..] = sets[..] else { return };
    let size = |set: &[Residence]| set.first().map_or(Bytes(0), |point| point.size);
    document.tabulate("% of the lines left", Level::Normal, 0, &|table| {
        table.text("wait, ms").each(sets.iter().map(|set| size(set)));
        for row in first {
            table.row().show(&milliseconds(row.wait_ns));
            for set in &sets {
                let cell = set.iter().find(|cell| cell.wait_ns == row.wait_ns);
                table.known(cell.map(|cell| format!("{:.0}", 100.0 * cell.share.value)));
            }
        }
    });
    picture(document, report);
    disturbances(document, report);
}

/// Writes what disturbed the waits and the looks.
fn disturbances(document: &mut Shown, report: &Report<'_>) {
    let Some(first) = report.residency.first() else { return };
    let (mut seen, mut switched, mut visits) = (0, 0.0, 0.0);
    for point in report.residency {
        seen += point.interrupts;
        switched += point.switched * point.visits.real();
        visits += point.visits.real();
    }
    document.under(Role::Detail("Disturbance")).write(format_args!(
        "another task had the CPU in {switched:.0} of {visits:.0} waits; {seen} interrupts left a \
         mark; a second look at once finds {again:.0}% (first {share:.0}%){ways}",
        again = 100.0 * first.again.share.value,
        share = 100.0 * first.share.value,
        ways = allowed(report.machine.host.ways)
    ));
}

fn picture(document: &mut Shown, report: &Report<'_>) {
    let mut lines = sets(report.residency).filter_map(|set| {
        let mut points =
            set.iter().map(|point| ChartPoint::of(point.after_ns / 1e6, point.share.scaled(100.0)));
        Some(Series::of(format!("{}", set.first()?.size), &mut points))
    });
    let title = "Life of lines in the shared cache".into();
    let subtitle =
        point::subtitle("share of the lines left by wait", report.machine, report.outcomes.first());
    let x_axis = Axis { title: "time since the load", unit: Unit::Plain("ms"), scale: Scale::Logarithmic };
    let y_axis = Axis { title: "left", unit: Unit::Plain("%"), scale: Scale::Linear };
    let chart = Chart::of([title, subtitle], [x_axis, y_axis], vector(&mut lines));
    document.picture(Picture::Chart(chart));
}
