//! Pairs of CPUs for people: classes, a matrix if there are few CPUs, and every pair on request.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};
use latency_core::math::ToReal;
use latency_core::sort::sort_by_key;

use latency_core::cores::{Choice, Method, Walk as Access};
use latency_core::cpulist::CpuSet;
use latency_core::math::floor;
use latency_core::stats::{Estimate, Interval};
use latency_core::text::{Text, plural};
use latency_core::topology::Shared;

use super::super::matrix;
use crate::analysis::cores::{
    CoresConclusion, CpuPair, SharingClass, conclude, in_cache, left_out, pair, pairs, rows,
};
use crate::analysis::reference::quantity;
use crate::describe::rates::{headline, in_parentheses};
use crate::describe::{self, Report, method, reference, trust};
use crate::options::Pairs;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Matrix, MatrixGroup, Scale, Series, Unit, vector};
use crate::report::document::{Level, Role};
use crate::report::figures::Digits;
use crate::report::shown::{Picture, Shown};
use crate::result::sample::collect;
use crate::result::{LineLevel, Outcome, Owned, PerLine};

/// Maximum number of CPUs of a matrix in text; a larger one would be unreadable.
const MOST_IN_TEXT: usize = 16;
/// Maximum number of CPUs of a matrix in a picture; larger ones show a mark for each pair.
const MOST_IN_PICTURE: usize = 48;

/// Writes the answer: a line for each class, the fastest and slowest pair, and the missing pairs.
pub fn answers(document: &mut Shown, report: &Report<'_, '_>) {
    let found = &conclude(report.outcomes, report.machine.small.as_ref());
    // The published figures are medians of all pairs, and most pairs are the farthest of a socket.
    let (mut within, mut between) = (None, None);
    for class in found.classes() {
        match class.shared {
            Shared::Core => {}
            Shared::Machine => between = Some(class.median),
            _ if class.small.unwrap_or_default() > 0 => {}
            _ => within = Some(class.median),
        }
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
        let quantity = within.map(|_| quantity::WITHIN_SOCKET);
        trust::figure(document, report, &("Core to core", "ns", 1.0, quantity), figure);
    }
    answer(document, report, found);
    for (quantity, median) in [(quantity::WITHIN_SOCKET, within), (quantity::BETWEEN_SOCKETS, between)] {
        if median.is_some() {
            reference::published(document, report, quantity, median);
        }
    }
    for outcome in report.outcomes {
        if let (Err(exclusion), Some(with)) = (&outcome.result, outcome.point.walk.ping_pong()) {
            let (a, b) = (outcome.point.cpu, with.partner);
            describe::missing(document, Role::Missing, &format_args!("CPUs {a} and {b}"), exclusion);
        }
    }
    not_chosen(document, report);
    states_not_measured(document, report);
}

/// Describes the tables, the picture and the method.
pub fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    let found = &conclude(report.outcomes, report.machine.small.as_ref());
    let cpus = cpus(report.outcomes);
    if cpus.len() > 2 && cpus.len() <= MOST_IN_TEXT {
        grid(document, report, found, &cpus);
    }
    classes(document, report, found);
    states(document, report);
    every(document, report);
    picture(document, report, found, &cpus);
    method::memory(document, report);
    document.sentence(
        Role::Provenance("Method"),
        format_args!(
            "round trips between two threads by {method}; one way is half a round trip; each window uses \
             each of {lines} lines, one per page, for about {time}",
            method = words(report.options.method),
            lines = lines(report),
            time = "25 µs"
        ),
    );
    if report.options.states {
        document.say(Role::Method("States"), "lines are flushed from all caches, then stored to (modified) or read (exclusive) by a thread on the \
                 CPU that holds them, and read by a third thread (shared); each access waits for the one before; \
                 atomic is an addition of zero");
    }
}

/// Returns the CPUs of all pairs, measured or not.
fn cpus(outcomes: &[Outcome<'_>]) -> CpuSet {
    let mut cpus = CpuSet::EMPTY;
    for point in outcomes.iter().map(|outcome| &outcome.point) {
        cpus.insert(point.cpu.0);
        if let Some(with) = point.walk.ping_pong() {
            cpus.insert(with.partner.0);
        }
    }
    cpus
}

fn lines(report: &Report<'_, '_>) -> u32 {
    report.outcomes.iter().find_map(|outcome| outcome.point.walk.ping_pong()).map_or(0, |with| with.lines)
}

/// Returns the name of a method before "round trip".
const fn short(method: Method) -> &'static str {
    match method {
        Method::Cas => "CAS",
        Method::ReadCas => "load + CAS",
        Method::Flag => "flag",
        Method::Message => "message",
    }
}

/// Returns a method in words.
const fn words(method: Method) -> &'static str {
    match method {
        Method::Cas => "compare-and-swap on one line, retried until it succeeds",
        Method::ReadCas => "compare-and-swap on one line, once a load shows that it will succeed",
        Method::Flag => "stores to one line per thread, which the other thread polls",
        Method::Message => "stores of a time stamp to one line per thread, which the other thread polls",
    }
}

/// Writes the name of a class, capitalised for the start of a sentence.
fn class_name(class: &SharingClass) -> impl Display + use<> {
    let class = Text::<64>::of(format_args!("{class}"));
    fmt::from_fn(move |out| {
        let (first, rest) = class.as_str().split_at_checked(1).unwrap_or_default();
        first.chars().try_for_each(|first| out.write_char(first.to_ascii_uppercase()))?;
        out.write_str(rest)
    })
}

/// Writes the latencies between CPUs, and the disagreement of their clocks.
fn answer(document: &mut Shown, report: &Report<'_, '_>, found: &CoresConclusion<'_>) {
    if let (Some(nearest), Some(farthest)) = (found.nearest, found.farthest) {
        let one = |pair: &CpuPair<'_>| {
            (pair.a, pair.with.partner, headline(pair.measured.series.nanoseconds.into(), 1.0))
        };
        let ((a, b, ns), (c, d, most)) = (one(&nearest), one(&farthest));
        let spread = method::optional(found.spread, |spread, out| {
            write!(out, "; differs by up to {} ns between cache lines", Digits(spread))
        });
        match (a, b) == (c, d) {
            true => document.answer(format_args!(
                "Core-to-core latency CPU {a} - CPU {b}: {ns} ns one way{}{spread}.",
                in_parentheses(nearest.measured.series.nanoseconds.interval, 1.0)
            )),
            false => document.answer(format_args!(
                "Core-to-core latency one way: {ns} ns (CPUs {a} and {b}) to {most} ns (CPUs {c} and \
                     {d}){spread}."
            )),
        }
    }
    if let Some((most_ns, [a, b])) = found.apart {
        document.finding(format_args!(
            "Clock offset plus asymmetry of the two directions: at most {most} ns (CPUs {a} and {b}); \
                 the offset cancels in the one-way latency.",
            most = Digits(most_ns)
        ));
    }
    let apart = |pair: &CpuPair<'_>| pair.messages().is_some_and(|messages| !messages.in_order);
    let mut unsynchronised = pairs(report.outcomes).filter(apart);
    if let Some(first) = unsynchronised.next() {
        let more = unsynchronised.count();
        let more = method::optional((more > 0).then_some(more), |more, out| {
            write!(out, " (and {more} more pair{})", plural(more))
        });
        document.finding(format_args!(
            "Messages between CPUs {a} and {b}{more} seem to arrive before they are sent: the clocks \
                 differ by more than the one-way latency.",
            a = first.a,
            b = first.with.partner
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
fn grid(document: &mut Shown, report: &Report<'_, '_>, found: &CoresConclusion<'_>, cpus: &CpuSet) {
    let caption = Text::<160>::of(format_args!(
        "One-way latency, ns (half a {} round trip; median of {} cache lines{})",
        short(report.options.method),
        lines(report),
        method::optional(found.spread, |spread, out| {
            write!(out, ", which differ by up to {} ns", Digits(spread))
        })
    ));
    let mut order = [0; MOST_IN_PICTURE];
    let order = ordered(report, cpus, &mut order);
    document.tabulate(caption.as_str(), Level::Quiet, 1, &|table| {
        table.text("CPU");
        order.iter().for_each(|cpu| table.show(cpu));
        for &row in order {
            table.row();
            table.show(&row);
            for &column in order {
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
fn not_chosen(document: &mut Shown, report: &Report<'_, '_>) {
    const NAMED: usize = 4;
    if !matches!(report.options.pairs, Pairs::Of(_)) {
        return;
    }
    let (mut names, mut count) = (Text::<96>::EMPTY, 0);
    left_out(report.outcomes, &report.machine.cpus, &mut |a, others| {
        for b in others.iter().take(NAMED.saturating_sub(count)) {
            let separator = if names.is_empty() { "" } else { ", " };
            // Text that does not fit is left out.
            let _ = write!(names, "{separator}{a}-{b}");
        }
        count += others.len();
    });
    let all = Choice::All.most(report.machine.cpus.len());
    if count > 0 {
        document.missing(format_args!(
            "Sampled {} of {all} pairs (a few per class); skipped {}{} (see --pairs, --budget).",
            all - count,
            names.as_str(),
            method::optional(count.checked_sub(NAMED).filter(|more| *more > 0), |more, out| {
                write!(out, " and {more} more")
            })
        ));
    }
}

/// Shows a row for each class.
fn classes(document: &mut Shown, report: &Report<'_, '_>, found: &CoresConclusion<'_>) {
    let machine = report.machine;
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts(&["class", "pairs", "median ns", "95% CI within run", "min to max"]);
        for class in found.classes() {
            table.row();
            table.show(class);
            match class.most(&machine.cpus, &machine.sharing, machine.small.as_ref()) {
                all if all > class.pairs => table.cell(format_args!("{} of {all}", class.pairs)),
                _ => table.show(&class.pairs),
            }
            table.number(class.median);
            table.range(class.interval, "too few windows");
            table.range(Some(Interval { low: class.range.0, high: class.range.1 }), "");
        }
    });
}

/// Shows a row for each state of lines, and a column for the caches that hold them.
fn states(document: &mut Shown, report: &Report<'_, '_>) {
    if rows(report.outcomes).next().is_none() {
        return;
    }
    let caption = "Latency by coherence state, ns per dependent access";
    document.tabulate(caption, Level::Quiet, 3, &|table| {
        table.texts(&["held by", "access, state", "home"]);
        LineLevel::ALL.iter().for_each(|level| table.text(level.name()));
        for (outcome, Owned { owner, state, access, .. }) in rows(report.outcomes) {
            table.row();
            match owner {
                Some((owner, class)) => table.cell(format_args!("CPU {owner}, {}", class.name())),
                None => table.cell(format_args!("CPU {} itself", outcome.point.cpu)),
            }
            let access = if *access == Access::Own { "atomic" } else { access.name() };
            table.cell(format_args!("{access} {}", state.name()));
            table.cell(format_args!("node {}", outcome.point.target));
            for level in LineLevel::ALL {
                table.number(in_cache(report.outcomes, outcome, level));
            }
        }
    });
}

/// Writes that lines in the shared state were not measured, if other states were.
fn states_not_measured(document: &mut Shown, report: &Report<'_, '_>) {
    let mut owned = report.outcomes.iter().filter_map(|outcome| outcome.point.walk.owned());
    if rows(report.outcomes).next().is_some() && owned.all(|owned| owned.third.is_none()) {
        document.say(Role::Missing, "Shared state not measured: it needs a third core.");
    }
}

/// Shows a row for each pair.
fn every(document: &mut Shown, report: &Report<'_, '_>) {
    let messages = report.options.method == Method::Message;
    document.tabulate("", Level::Verbose, 2, &|table| {
        table.texts(&["CPUs", "class", "ns", "95% CI within run", "fastest", "slowest", "windows"]);
        if messages {
            table.text("clock offset up to");
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
                    table.cell(format_args!("{} (line {})", Digits(slowest.value), slowest.line));
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

/// Returns the first few CPUs by socket, L3 and core.
fn ordered<'n>(report: &Report<'_, '_>, cpus: &CpuSet, numbers: &'n mut [u32; MOST_IN_PICTURE]) -> &'n [u32] {
    let sharing = &report.machine.sharing;
    let key = |cpu: u32| [Shared::Package, Shared::L3, Shared::Core].map(|kind| sharing.lowest(kind, cpu));
    let count = collect(numbers, cpus.iter()).len();
    let numbers = numbers.get_mut(..count).unwrap_or_default();
    sort_by_key(numbers, |cpu| (key(*cpu), *cpu));
    numbers
}

/// The quantity of a pair, and its unit.
const QUANTITY: [&str; 2] = ["one way", "ns"];

/// Draws all pairs: a triangle of few CPUs, else a mark for each pair.
fn picture(document: &mut Shown, report: &Report<'_, '_>, found: &CoresConclusion<'_>, cpus: &CpuSet) {
    let Some((nearest, farthest)) = found.nearest.zip(found.farthest) else { return };
    let title = format!(
        "Core to core: {}{} ns one way",
        method::optional((nearest.ns() < farthest.ns()).then_some(nearest), |nearest, out| {
            write!(out, "{} to ", Digits(nearest.ns()))
        }),
        Digits(farthest.ns())
    );
    let (texts, in_text) = ([title, words(report.options.method).into()], report.options.heatmap);
    let planned = report.outcomes.iter().filter(|outcome| outcome.point.walk.ping_pong().is_some()).count();
    match cpus.len() {
        2 => {
            let names = format!("CPUs {} and {}", nearest.a, nearest.with.partner);
            matrix::single(document, texts, QUANTITY, names, nearest.measured.series.nanoseconds.into());
        }
        few if few <= MOST_IN_PICTURE && planned == few * (few - 1) / 2 => {
            triangle(document, report, texts, cpus, in_text);
        }
        _ => strip(document, report, found, texts, in_text),
    }
}

fn triangle(
    document: &mut Shown,
    report: &Report<'_, '_>,
    [title, subtitle]: [String; 2],
    cpus: &CpuSet,
    in_text: bool,
) {
    let mut numbers = [0; MOST_IN_PICTURE];
    let numbers = ordered(report, cpus, &mut numbers);
    let cell = |row, column| match between(report, row, column) {
        None => Err("not measured"),
        Some(outcome) => pair(outcome).map(|pair| pair.ns()).ok_or("not measured"),
    };
    let [_, unit] = QUANTITY;
    let matrix = Matrix {
        title,
        subtitle,
        unit,
        noun: "CPU",
        rows: numbers.get(..numbers.len() - 1).unwrap_or_default().into(),
        columns: numbers.get(1..).unwrap_or_default().into(),
        groups: Some(grouped(report, numbers)),
        cells: Vec::new(),
    };
    document.draw(Picture::Matrix(matrix.filled(&cell)), in_text);
}

/// Returns the groups of CPUs that share a socket and an L3; none if all CPUs are in one.
fn grouped(report: &Report<'_, '_>, numbers: &[u32]) -> Vec<MatrixGroup> {
    let sharing = &report.machine.sharing;
    let of = |kind, index: usize| numbers.get(index).map(|cpu| sharing.lowest(kind, *cpu));
    let begins = |kind, index: usize| index == 0 || of(kind, index) != of(kind, index - 1);
    let count = |kind| (0..numbers.len()).filter(|index| begins(kind, *index)).count();
    let sockets = count(Shared::Package);
    // If the kernel does not report an L3, each core has its own.
    let caches = Some(count(Shared::L3)).filter(|caches| *caches > sockets && *caches < count(Shared::Core));
    let (mut socket, mut cache, mut groups) = (0, 0, Vec::new());
    for index in 0..numbers.len() {
        let is_socket = begins(Shared::Package, index);
        if !(is_socket || caches.is_some() && begins(Shared::L3, index)) {
            continue;
        }
        socket += usize::from(is_socket && index > 0);
        let of_cache = method::optional(caches.map(|_| cache), |cache, out| write!(out, " L3 {cache}"));
        groups.push(MatrixGroup { first: index, name: Text::of(format_args!("socket {socket}{of_cache}")) });
        cache += 1;
    }
    if groups.len() > 1 { groups } else { Vec::new() }
}

/// Draws a mark for each measured pair, by class.
fn strip(
    document: &mut Shown,
    report: &Report<'_, '_>,
    found: &CoresConclusion<'_>,
    [title, subtitle]: [String; 2],
    in_text: bool,
) {
    /// The part of the height of a class over which its marks are spread, and the distance from one to the next: the
    /// golden ratio spreads any number of them evenly.
    const SPREAD: f64 = 0.7;
    const GOLDEN: f64 = 0.618_034;
    let count = found.classes().count();
    // The nearest class is at the top.
    let (mut names, mut series) = (Vec::new(), Vec::new());
    for (index, class) in found.classes().enumerate() {
        let middle = (count - 1 - index).real();
        let small = report.machine.small.as_ref();
        let members = pairs(report.outcomes)
            .filter(|pair| class.has(small, pair.with.class, [pair.a.0, pair.with.partner.0]));
        let mut points = members.enumerate().map(|(order, pair)| {
            let part = order.real() * GOLDEN + 0.5;
            ChartPoint::new(pair.ns(), middle + SPREAD * (part - floor(part) - 0.5))
        });
        names.insert(0, format!("{class} {} ns", Digits(class.median)));
        series.insert(0, Series { name: String::new(), data: Data::Scatter(vector(&mut points)) });
    }
    let [quantity, unit] = QUANTITY;
    let chart = Chart {
        title,
        subtitle: format!(
            "a mark for each measured pair of CPUs, and the median by shared hardware; {subtitle}"
        ),
        x_axis: Axis { title: quantity, unit: Unit::Plain(unit), scale: Scale::Auto },
        y_axis: Axis { title: "", unit: Unit::Names(names), scale: Scale::Linear },
        series,
        marks: Vec::new(),
    };
    document.draw(Picture::Chart(chart), in_text);
}
