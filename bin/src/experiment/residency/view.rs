//! The life of lines in a shared cache for people and programs.

use alloc::format;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::host::Ways;
use latency_core::math::ToReal;
use latency_core::units::Bytes;

use crate::analysis::residency::{
    HalfLife, all, hidden, holds_what_is_allowed, insertions, left_by_a_look, most_held, of_set, sets,
};
use crate::describe::method::optional;
use crate::describe::rates::{GIGA, headline, in_parentheses};
use crate::describe::{Report, columns, method, point};
use crate::plan::single;
use crate::report::chart::{Axis, Chart, ChartPoint, Scale, Series, Unit, vector};
use crate::report::document::{Level, Part, Role, fields, members};
use crate::report::figures::Digits;
use crate::report::shown::{Picture, Shown};
use crate::result::residency::Residence;

fields! {
    HALF_LIFE "half_life_ns" interval "Time after which half of the working set has left the shared cache, in nanoseconds; null if it holds too little, or keeps it longer than was waited. In the summary, that is the smallest working set that it holds.";
    LONGER "half_life_above_ns" "Longest wait, if more than half was left after it; null otherwise.";
    HELD "held_at_once_bytes" "Largest number of bytes of a working set that the shared cache held at once.";
    RATE "inserted_bytes_per_second" interval "Bytes per second that others insert if all of the shared cache takes part; null if working sets contradict each other.";
    HIDDEN "hidden_bytes_per_second" "Largest stream beside others that would not show even if they stay as they are, in bytes per second: the width of the interval, or the rate without one.";
    RESIDENCY "residency" "Life of lines in the shared cache, for each working set.";
    AT_ONCE "held_at_once" interval "Share of the lines that were in a cache after the shortest wait.";
    TOGETHER "leave_together" "True if the lines leave at one time, as where the least recently used line leaves; false if a constant share leaves in equal times.";
    WAITS "waits" "Shares that were left, by wait.";
}

/// Shows nanoseconds in milliseconds.
fn milliseconds(nanoseconds: f64) -> impl Display {
    Digits(nanoseconds / 1e6)
}

/// Shows the ways that resctrl allows, if there are any to show.
fn allowed(ways: Option<Ways>) -> impl Display {
    optional(ways, |ways, out| write!(out, "; resctrl allows ways {ways}"))
}

fn nothing_held(document: &mut Shown) {
    document.say(
        Role::Answer,
        "No shared cache holds these working sets: right after them, memory serves nine of ten loads.",
    );
}

/// Writes how long half of a working set stays.
pub fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    let Some(held) = most_held(report.residency) else {
        let near = single::private_cache(report.machine);
        let least = single::beyond_private(report.machine);
        let mut measured = report.outcomes.iter().filter(|outcome| outcome.result.is_ok());
        let Some(largest) = measured.clone().map(|outcome| outcome.point.size).max() else { return };
        if largest < least {
            document.answer(format_args!(
                "Most of this working set is in the {near} of the private caches; use a --size of \
                     {least} or more."
            ));
        } else if measured.next().is_some() {
            nothing_held(document);
        }
        return;
    };
    let cache = report.machine.largest_cache();
    let sought = all(report.residency).find_map(|found| Some((found, found.half?)));
    match sought {
        Some((found, HalfLife::Found(half))) => document.answer(format_args!(
            "Half of a working set of {size} is gone from the shared cache after {time} ms{interval}.",
            size = found.size,
            time = headline(half, 1e6),
            interval = in_parentheses(half.interval, 1e6)
        )),
        Some((found, HalfLife::Longer(longest))) => document.answer(format_args!(
            "The shared cache keeps a working set of {size}: more than half is left after {time} ms.",
            size = found.size,
            time = Digits(longest / 1e6)
        )),
        None => nothing_held(document),
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
    match insertions(report.residency, cache) {
        Some(rate) => document.finding(format_args!(
            "Others insert about {rate} GB/s{interval}, if all {cache} take part; a stream of \
                 {hidden} GB/s beside them would not show, and one below their rate may not.",
            rate = headline(rate, 1.0),
            interval = in_parentheses(rate.interval, 1.0),
            hidden = Digits(hidden(rate))
        )),
        None if matches!(sought, Some((_, HalfLife::Found(_)))) => {
            document.say(Role::Finding, "The working sets do not agree on how fast others insert lines.")
        }
        None => {}
    }
}

/// Shows the share that is left by wait and working set, and draws it.
pub fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    // The smallest working set has the longest waits.
    let Some(first) = sets(report.residency).next() else { return method::walks(document, report) };
    let size = |set: &[Residence]| set.first().map_or(Bytes(0), |point| point.size);
    document.tabulate("% of the lines left", Level::Normal, 0, &|table| {
        table.text("wait, ms");
        sets(report.residency).for_each(|set| table.show(&size(set)));
        for row in first {
            table.row();
            table.show(&milliseconds(row.wait_ns));
            for set in sets(report.residency) {
                let cell = set.iter().find(|cell| cell.wait_ns == row.wait_ns);
                let percent = cell.map(|cell| 100.0 * cell.share.value);
                table.known(percent.map(|percent| fmt::from_fn(move |out| write!(out, "{percent:.0}"))));
            }
        }
    });
    picture(document, report);
    disturbances(document, report);
    method::walks(document, report);
}

/// Writes what disturbed the waits and the looks.
fn disturbances(document: &mut Shown, report: &Report<'_, '_>) {
    let Some(first) = report.residency.first() else { return };
    let (mut seen, mut switched, mut visits) = (0, 0.0, 0.0);
    for point in report.residency {
        seen += point.interrupts;
        switched += point.switched * point.visits.real();
        visits += point.visits.real();
    }
    document.sentence(
        Role::Detail("Disturbance"),
        format_args!(
            "another task had the CPU in {switched:.0} of {visits:.0} waits; {seen} interrupts left a \
             mark; a second look at once finds {again:.0}% (first {share:.0}%){ways}",
            again = 100.0 * first.again.share.value,
            share = 100.0 * first.share.value,
            ways = allowed(report.machine.host.ways)
        ),
    );
}

fn picture(document: &mut Shown, report: &Report<'_, '_>) {
    let mut lines = sets(report.residency).filter_map(|set| {
        let mut points =
            set.iter().map(|point| ChartPoint::of(point.after_ns / 1e6, point.share.scaled(100.0)));
        Some(Series::of(format!("{}", set.first()?.size), &mut points))
    });
    document.picture(Picture::Chart(Chart {
        title: "Life of lines in the shared cache".into(),
        subtitle: point::subtitle("share of the lines left by wait", report.machine, report.outcomes.first()),
        x_axis: Axis { title: "time since the load", unit: Unit::Plain("ms"), scale: Scale::Logarithmic },
        y_axis: Axis { title: "left", unit: Unit::Plain("%"), scale: Scale::Linear },
        series: vector(&mut lines),
        marks: Vec::new(),
    }));
}

/// Describes the half-life of the smallest working set that is held, and the rate of insertions.
pub fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let half = all(report.residency).find_map(|found| found.half);
    put_half(document, half);
    document.put(&HELD, most_held(report.residency));
    let rate = insertions(report.residency, report.machine.largest_cache());
    document.put(&RATE, rate.map(|rate| rate.scaled(GIGA)));
    document.put(&HIDDEN, rate.map(|rate| hidden(rate) * GIGA));
}

fn put_half(document: &mut Shown, half: Option<HalfLife>) {
    let (found, longer) = match half {
        Some(HalfLife::Found(half)) => (Some(half), None),
        Some(HalfLife::Longer(longest)) => (None, Some(longest)),
        None => (None, None),
    };
    document.put(&HALF_LIFE, found);
    document.put(&LONGER, longer);
}

/// Describes every working set and every wait.
pub fn data(document: &mut Shown, report: &Report<'_, '_>) {
    point::evidence(document, report);
    let known = sets(report.residency).filter_map(|set| Some((set, of_set(set)?)));
    document.items(Part::List(&RESIDENCY), known, |document, (set, found)| {
        document.put(&columns::WORKING_SET, found.size);
        document.put(&AT_ONCE, found.at_once);
        put_half(document, found.half);
        document.put(&TOGETHER, found.is_step);
        document.items(Part::List(&WAITS), set, |document, point| {
            members! { document;
                "wait_ns": point.wait_ns => "Time between the last load of the fill and the first load again, in nanoseconds.";
                "after_ns": point.after_ns => "Mean time from a line's load to its second load, in nanoseconds.";
                "left" interval: point.share => "Share of the lines that were still in a cache.";
                "left_again" interval: point.again.share => "Share at a second look, at other lines, which the loads of the first look may have thrown out; null but for the first wait.";
                "visits": point.visits as u64 => "Number of times that the cache was filled and the lines were loaded again.";
                "interrupts": Some(point.interrupts).filter(|seen| *seen > 0) => "Number of interrupts that were seen during the waits of all visits; null if none was seen: on some processors they leave no mark.";
                "switched": point.switched => "Share of the visits during which another task had the CPU.";
            }
        });
    });
}
