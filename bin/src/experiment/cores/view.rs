//! Pairs of CPUs for people: classes, a matrix if there are few CPUs, and every pair on request.

use core::fmt::{self, Display, Write};

use latency_core::cores::{Choice, Method};
use latency_core::cpulist::CpuSet;
use latency_core::stats::{Estimate, Interval};
use latency_core::text::{Text, plural};
use latency_core::topology::Shared;
use latency_core::words::Worded;

use crate::analysis::cores::{
    CoresConclusion, CpuPair, SharingClass, conclude, in_cache, left_out, of_classes, pair, pairs, rows,
};
use crate::describe::{self, Report, method, trust};
use crate::options::Pairs;
use crate::report::chart::Matrix;
use crate::report::document::{Document, Level, Picture, Role};
use crate::report::figures::Digits;
use crate::result::{LineLevel, Outcome, Owned, PerLine, Point};

/// Maximum number of CPUs of a matrix in text; a larger one would be unreadable.
const MOST_IN_TEXT: usize = 16;
/// Maximum number of CPUs of a picture; the cells of a larger one could not be distinguished.
const MOST_IN_PICTURE: usize = 256;

/// Writes the answer: a line for each class, the missing pairs, and the fastest and slowest pair.
pub fn answers(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = &conclude(report.outcomes);
    for class in found.classes() {
        document.line(format_args!(
            "{}: {} ns one way ({} pair{})",
            class_name(class),
            Digits(class.median),
            class.pairs,
            plural(class.pairs)
        ));
    }
    // Threads of one core are not cores: they count only where there is nothing else.
    let nearest = found.classes().min_by_key(|class| class.shared == Shared::Core);
    if let Some(SharingClass { median, interval, .. }) = nearest {
        let figure = Estimate { value: *median, interval: *interval };
        trust::figure(document, report, ("Core to core", "ns", 1.0), figure);
    }
    for outcome in report.outcomes {
        if let (Err(exclusion), Some(with)) = (&outcome.result, outcome.point.walk.ping_pong()) {
            let (a, b) = (outcome.point.cpu, with.partner);
            describe::missing(document, Role::Missing, &format_args!("CPUs {a} and {b}"), exclusion);
        }
    }
    not_chosen(document, report);
    answer(document, report, found);
}

/// Describes the tables, the picture and the method.
pub fn evidence(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = &conclude(report.outcomes);
    let cpus = cpus(report.outcomes);
    if cpus.len() > 2 && cpus.len() <= MOST_IN_TEXT {
        matrix(document, report, found, &cpus);
    }
    classes(document, report, found);
    states(document, report);
    every(document, report);
    if report.options.heatmap || document.wants_pictures() {
        picture(document, report, &cpus);
    }
    method::memory(document, report);
    document.sentence(
        Role::Method(&"Method"),
        format_args!(
            "round trips between two threads by {}; half of one is one way; a window takes each of {} lines, in pages \
             of their own, for about 25 us",
            words(report.options.method),
            lines(report)
        ),
    );
    if report.options.states {
        document.sentence(
            Role::Method(&"States"),
            format_args!(
                "lines are flushed from all caches, then stored to (modified) or read (exclusive) by a thread of their \
                 owner, and read by a third one (shared); each access waits for the one before, and own is an atomic \
                 addition of zero"
            ),
        );
    }
}

/// Returns the CPUs of all pairs, measured or not.
fn cpus(outcomes: &[Outcome<'_>]) -> CpuSet {
    let partner = |point: &Point| Some(point.walk.ping_pong()?.partner);
    let both = outcomes.iter().flat_map(|outcome| [Some(outcome.point.cpu), partner(&outcome.point)]);
    both.flatten().map(|cpu| cpu.0).collect()
}

fn lines(report: &Report<'_, '_>) -> u32 {
    report.outcomes.iter().find_map(|outcome| outcome.point.walk.ping_pong()).map_or(0, |with| with.lines)
}

/// Returns a method in words.
const fn words(method: Method) -> &'static str {
    match method {
        Method::Cas => "compare and swap of one line, over and over until it succeeds",
        Method::ReadCas => "compare and swap of one line, once a load has seen that it will succeed",
        Method::Flag => "stores to a line each, which the other loads until it changes",
        Method::Message => "stores of a time stamp to a line each, which the other loads until it changes",
    }
}

/// Writes the name of a class, capitalised for the start of a sentence.
fn class_name(class: &SharingClass) -> impl Display {
    let (first, rest) = class.shared.name().split_at_checked(1).unwrap_or_default();
    fmt::from_fn(move |out| {
        first.chars().try_for_each(|first| out.write_char(first.to_ascii_uppercase()))?;
        out.write_str(rest)
    })
}

/// Writes the latencies between CPUs, and the disagreement of their clocks.
fn answer(document: &mut dyn Document, report: &Report<'_, '_>, found: &CoresConclusion<'_>) {
    if let (Some(nearest), Some(farthest)) = (found.nearest, found.farthest) {
        let one = |pair: &CpuPair<'_>| (pair.a, pair.with.partner, Digits(pair.ns()));
        let ((a, b, ns), (c, d, most)) = (one(&nearest), one(&farthest));
        let spread = method::optional(found.spread, |spread, out| {
            write!(out, "; lines of one pair differ by up to {} ns", Digits(spread))
        });
        match (a, b) == (c, d) {
            true => document.answer(format_args!(
                "A line takes {ns} ns from CPU {a} to CPU {b}{}{spread}.",
                method::optional(nearest.measured.series.nanoseconds.interval, |interval, out| {
                    write!(out, " ({} to {})", Digits(interval.low), Digits(interval.high))
                })
            )),
            false => document.answer(format_args!(
                "CPUs are {ns} ns ({a} and {b}) to {most} ns ({c} and {d}) apart one way{spread}."
            )),
        }
    }
    if let Some((most_ns, [a, b])) = found.apart {
        document.finding(format_args!(
            "Clock offset and asymmetry of the two ways together: at most {} ns (CPUs {a} and {b}); their mean is \
             free of the offset.",
            Digits(most_ns)
        ));
    }
    let apart = |pair: &CpuPair<'_>| pair.messages().is_some_and(|messages| !messages.in_order);
    let mut unsynchronised = pairs(report.outcomes).filter(apart);
    if let Some(first) = unsynchronised.next() {
        let more = unsynchronised.count();
        document.finding(format_args!(
            "Messages between CPUs {} and {}{} seem to arrive before they are sent: their clocks differ by more than \
             a way.",
            first.a,
            first.with.partner,
            method::optional((more > 0).then_some(more), |more, out| {
                write!(out, " (and of {more} more pairs)")
            })
        ));
    }
}

/// Returns the pair of two CPUs, in either order.
fn between<'r>(report: &Report<'r, '_>, one: u32, other: u32) -> Option<&'r Outcome<'r>> {
    let pair = (one.min(other), one.max(other));
    let is = |outcome: &&Outcome<'_>| {
        outcome.point.walk.ping_pong().is_some_and(|with| (outcome.point.cpu.0, with.partner.0) == pair)
    };
    report.outcomes.iter().find(is)
}

/// Shows the matrix of all CPUs.
fn matrix(document: &mut dyn Document, report: &Report<'_, '_>, found: &CoresConclusion<'_>, cpus: &CpuSet) {
    let caption = Text::<160>::of(format_args!(
        "One way, ns (half of a round trip by {}; median over {} lines{})",
        report.options.method.word(),
        lines(report),
        method::optional(found.spread, |spread, out| {
            write!(out, "; lines differ by up to {} ns", Digits(spread))
        })
    ));
    document.tabulate(caption.as_str(), Level::Quiet, 1, &|table| {
        table.text("CPU");
        cpus.iter().for_each(|cpu| table.show(&cpu));
        for row in cpus {
            table.row();
            table.show(&row);
            for column in cpus {
                match row == column {
                    true => table.text("."),
                    false => table.number(between(report, row, column).and_then(pair).map(|pair| pair.ns())),
                }
            }
        }
    });
}

/// Writes the pairs that were not chosen because others of their class represent them: names the first ones, and counts
/// the rest.
fn not_chosen(document: &mut dyn Document, report: &Report<'_, '_>) {
    const NAMED: usize = 4;
    if !matches!(report.options.pairs, Pairs::Of(_)) {
        return;
    }
    let (mut names, mut count) = (Text::<96>::EMPTY, 0);
    left_out(report.outcomes, &report.machine.cpus, &mut |a, others| {
        for b in others.iter().take(NAMED.saturating_sub(count)) {
            let separator = if names.is_empty() { "" } else { ", " };
            // Text that does not fit is left out.
            let _ = write!(names, "{separator}{a} and {b}");
        }
        count += others.len();
    });
    let all = Choice::All.most(report.machine.cpus.len());
    if count > 0 {
        document.missing(format_args!(
            "Left out: {count} of {all} pairs, CPUs {}{}; a few of each class stand for them (--pairs, --budget).",
            names.as_str(),
            method::optional(count.checked_sub(NAMED).filter(|more| *more > 0), |more, out| {
                write!(out, " and {more} more")
            })
        ));
    }
}

/// Shows a row for each class.
fn classes(document: &mut dyn Document, report: &Report<'_, '_>, found: &CoresConclusion<'_>) {
    let all = of_classes(&report.machine.cpus, &report.machine.sharing);
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts("class|pairs|median ns|95 % within run|min to max");
        for class in found.classes() {
            table.row();
            table.text(class.shared.name());
            match all.get(class.shared as usize) {
                Some(all) if *all > class.pairs => table.cell(format_args!("{} of {all}", class.pairs)),
                _ => table.show(&class.pairs),
            }
            table.number(class.median);
            table.range(class.interval, "too few windows");
            table.range(Some(Interval { low: class.range.0, high: class.range.1 }), "");
        }
    });
}

/// Shows a row for each state of lines, and a column for the caches that hold them.
fn states(document: &mut dyn Document, report: &Report<'_, '_>) {
    if rows(report.outcomes).next().is_none() {
        return;
    }
    let caption = "Lines in a known state, ns per access that waits for the one before";
    document.tabulate(caption, Level::Quiet, 3, &|table| {
        table.texts("in caches of|access|on");
        LineLevel::ALL.iter().for_each(|level| table.text(level.name()));
        for (outcome, Owned { owner, state, access, .. }) in rows(report.outcomes) {
            table.row();
            match owner {
                Some((owner, class)) => table.cell(format_args!("CPU {owner}, {}", class.name())),
                None => table.cell(format_args!("CPU {} itself", outcome.point.cpu)),
            }
            table.cell(format_args!("{} {}", access.name(), state.name()));
            table.cell(format_args!("node {}", outcome.point.target));
            for level in LineLevel::ALL {
                table.number(in_cache(report.outcomes, outcome, level));
            }
        }
    });
    let mut owned = report.outcomes.iter().filter_map(|outcome| outcome.point.walk.owned());
    if owned.all(|owned| owned.third.is_none()) {
        document.missing(format_args!(
            "Lines that two other cores share are not measured: they need a third core."
        ));
    }
}

/// Shows a row for each pair.
fn every(document: &mut dyn Document, report: &Report<'_, '_>) {
    let messages = report.options.method == Method::Message;
    document.tabulate("", Level::Verbose, 2, &|table| {
        table.texts("CPUs|class|ns|95 % within run|fastest|slowest|windows");
        if messages {
            table.text("offset up to");
        }
        for pair in pairs(report.outcomes) {
            let (series, lines) = (&pair.measured.series, pair.measured.lines);
            table.row();
            table.cell(format_args!("{} - {}", pair.a, pair.with.partner));
            table.text(pair.with.class.name());
            table.number(pair.ns());
            table.range(series.nanoseconds.interval, "-");
            table.number(lines.map(|lines| lines.fastest.value));
            match lines {
                Some(PerLine { slowest, .. }) => {
                    table.cell(format_args!("{} (#{})", Digits(slowest.value), slowest.line));
                }
                None => table.text("-"),
            }
            table.cell(format_args!("{} ({} interrupted)", pair.measured.rounds, series.disturbed));
            if messages {
                table.number(lines.and_then(|lines| lines.messages).map(|messages| messages.most_ns()));
            }
        }
    });
}

fn picture(document: &mut dyn Document, report: &Report<'_, '_>, cpus: &CpuSet) {
    if cpus.len() > MOST_IN_PICTURE {
        return document.missing(format_args!(
            "No picture: it would have {} rows; choose fewer CPUs with --pairs.",
            cpus.len()
        ));
    }
    let mut numbers = [0; MOST_IN_PICTURE];
    for (slot, cpu) in numbers.iter_mut().zip(cpus) {
        *slot = cpu;
    }
    let numbers = numbers.get(..cpus.len()).unwrap_or_default();
    let cell = |row, column| match between(report, row, column) {
        _ if row == column => Err("the same CPU"),
        None => Err("not asked for"),
        Some(outcome) => pair(outcome).map(|pair| pair.ns()).ok_or("not measured"),
    };
    document.picture(Picture::Matrix(&Matrix {
        title: "One way of a cache line from CPU to CPU",
        subtitle: words(report.options.method),
        unit: "ns",
        noun: "CPU",
        rows: numbers,
        columns: numbers,
        cell: &cell,
    }));
}
