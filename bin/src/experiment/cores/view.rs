//! Pairs of CPUs for people: classes, a matrix if there are few CPUs, and every pair on request.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::cores::{Choice, Method, Walk as Access};
use latency_core::math::floor;
use latency_core::topology::Shared;
use latency_core::{CpuId, CpuSet, ToReal, Worded, plural, sort_by_key};

use super::super::matrix;
use crate::analysis::cores::{CoresConclusion, CpuPair, StateRow, state_rows};
use crate::analysis::reference::quantity;
use crate::describe::rates::{headline, in_parentheses};
use crate::describe::{self, Report, method, reference, trust};
use latency_engine::result::{LineLevel, Outcome, Owned};
use latency_report::chart::{MatrixGroup, vector};
use latency_report::lists::listed;
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Level, Matrix, Picture, Role, Scale, Series, Shown, Unit,
};

/// Maximum number of pairs that a sentence names.
const NAMED: usize = 4;
/// Maximum number of CPUs of a matrix in text; a larger one would be unreadable.
const MOST_IN_TEXT: usize = 16;
/// Maximum number of CPUs of a matrix in a picture; larger ones show a mark for each pair.
const MOST_IN_PICTURE: usize = 48;

/// The conclusions from all pairs.
pub struct CoresView<'r> {
    /// The classes, and the nearest and the farthest pair.
    pub found: CoresConclusion<'r>,
    /// The number of pairs of each class among the allowed CPUs.
    pub of: Vec<usize>,
    /// The pairs that were not chosen because others of their class represent them.
    pub left_out: Vec<(CpuId, CpuSet)>,
    /// The CPUs of all pairs, measured or not.
    pub cpus: CpuSet,
    /// The number of lines of each pair.
    pub lines: u32,
    /// The number of planned pairs.
    pub planned: usize,
}

/// Writes the answer: a line for each class, the fastest and slowest pair, and the missing pairs.
pub fn answers(document: &mut Shown, report: &Report<'_>, view: &CoresView<'_>) {
    let classes = &view.found.classes;
    // The published figures are medians of all pairs, and most pairs are the farthest of a socket.
    let (mut within, mut between) = (None, None);
    for class in classes {
        match class.shared {
            Shared::Core => {}
            Shared::Machine => between = Some(class.median.value),
            _ if class.small.unwrap_or_default() > 0 => {}
            _ => within = Some(class.median.value),
        }
        let name = format!("{class}");
        let (first, rest) = name.split_at_checked(1).unwrap_or_default();
        document.line(format_args!(
            "{}{rest}: {} ns one way ({} pair{})",
            first.to_ascii_uppercase(),
            Digits(class.median.value),
            class.pairs,
            plural(class.pairs)
        ));
    }
    // Threads of one core are not cores: they count only where there is nothing else.
    if let Some(nearest) = classes.iter().min_by_key(|class| class.shared == Shared::Core) {
        let quantity = within.map(|_| quantity::WITHIN_SOCKET);
        trust::figure(document, report, &("Core to core", "ns", 1.0, quantity), nearest.median);
    }
    answer(document, view);
    for (quantity, median) in [(quantity::WITHIN_SOCKET, within), (quantity::BETWEEN_SOCKETS, between)] {
        if median.is_some() {
            reference::published(document, report, quantity, median);
        }
    }
    // Pairs that share a reason share a sentence.
    let mut excluded: Vec<(String, Vec<String>)> = Vec::new();
    for Outcome { point, result } in report.outcomes {
        let (Err(exclusion), Some(with)) = (result, point.walk.ping_pong()) else { continue };
        let (reason, pair) = (format!("{exclusion}"), format!("{}-{}", point.cpu, with.partner));
        match excluded.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, pairs)) => pairs.push(pair),
            None => excluded.push((reason, vec![pair])),
        }
    }
    for (reason, pairs) in excluded {
        let (s, names) = (plural(pairs.len()), listed(NAMED, pairs.len(), pairs.iter()));
        describe::missing(document, Role::Missing, &format_args!("Pair{s} of CPUs {names}"), &reason);
    }
    not_chosen(document, report, view);
    states_not_measured(document, report);
}

/// Describes the tables, the picture and the method.
pub fn evidence(document: &mut Shown, report: &Report<'_>, view: &CoresView<'_>) {
    let count = view.cpus.len();
    if count > 2 && count <= MOST_IN_TEXT {
        grid(document, report, view);
    }
    classes(document, view);
    states(document, report);
    every(document, report, view);
    picture(document, report, view);
    method::memory(document, report);
    document.under(Role::Provenance("Method")).write(format_args!(
        "round trips between two threads by {method}; one way is half a round trip; each window uses \
         {lines} for about {time}",
        method = words(report.options.method),
        lines = match view.lines {
            1 => "1 line".into(),
            lines => format!("each of {lines} lines, one per page,"),
        },
        time = "25 µs"
    ));
    if report.options.states {
        document.say(Role::Provenance("States"), "lines are flushed from all caches, then stored to (modified) or read (exclusive) by a thread on the \
                 CPU that holds them, and read by a third thread (shared); each access waits for the one before; \
                 atomic is an addition of zero");
    }
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

/// Writes the latencies between CPUs, and the disagreement of their clocks.
fn answer(document: &mut Shown, CoresView { found, .. }: &CoresView<'_>) {
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
        document.aside(format_args!(
            "Clock offset plus asymmetry of the two directions: at most {most} ns (CPUs {a} and {b}); \
                 the offset cancels in the one-way latency.",
            most = Digits(most_ns)
        ));
    }
    let apart = |pair: &&CpuPair<'_>| pair.messages().is_some_and(|messages| !messages.in_order);
    let mut unsynchronised = found.pairs.iter().filter(apart);
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
fn between<'r>(report: &Report<'r>, one: u32, other: u32) -> Option<&'r Outcome> {
    let pair = (one.min(other), one.max(other));
    let is = |outcome: &&Outcome| {
        outcome.point.walk.ping_pong().is_some_and(|with| (outcome.point.cpu.0, with.partner.0) == pair)
    };
    report.outcomes.iter().find(is)
}

/// Shows the matrix of all CPUs.
fn grid(document: &mut Shown, report: &Report<'_>, view: &CoresView<'_>) {
    let caption = format!(
        "One-way latency, ns (half a {} round trip; median of {} cache line{}{})",
        short(report.options.method),
        view.lines,
        plural(view.lines),
        method::optional(view.found.spread, |spread, out| {
            write!(out, ", which differ by up to {} ns", Digits(spread))
        })
    );
    let order = ordered(report, view);
    document.tabulate(&caption, Level::Quiet, 1, &|table| {
        table.text("CPU").each(order.iter());
        for &row in &order {
            table.row().show(&row);
            for &column in &order {
                match row == column {
                    true => table.text("."),
                    false => table.number(between(report, row, column).and_then(Outcome::nanoseconds)),
                };
            }
        }
    });
}

/// Writes the pairs that were not chosen because others of their class represent them.
fn not_chosen(document: &mut Shown, report: &Report<'_>, CoresView { left_out, .. }: &CoresView<'_>) {
    let pairs = left_out.iter().flat_map(|(a, others)| others.iter().map(move |b| format!("{a}-{b}")));
    let count: usize = left_out.iter().map(|(_, others)| others.len()).sum();
    let all = Choice::All.most(report.machine.cpus.len());
    if count > 0 {
        document.missing(format_args!(
            "Sampled {} of {all} pairs (a few per class); skipped {} (see --pairs, --budget).",
            all - count,
            listed(NAMED, count, pairs)
        ));
    }
}

/// Shows a row for each class.
fn classes(document: &mut Shown, view: &CoresView<'_>) {
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts(&["class", "pairs", "median ns", "95% CI within run", "min to max"]);
        for (class, &all) in view.found.classes.iter().zip(&view.of) {
            table.row().show(class);
            match all > class.pairs {
                true => table.cell(format_args!("{} of {all}", class.pairs)),
                false => table.show(&class.pairs),
            };
            table.number(class.median.value).range(class.median.interval, "too few windows");
            table.range(Some(class.range), "");
        }
    });
}

/// Shows a row for each state of lines, and a column for the caches that hold them.
fn states(document: &mut Shown, report: &Report<'_>) {
    let rows = state_rows(report.outcomes);
    if rows.is_empty() {
        return;
    }
    let caption = "Latency by coherence state, ns per dependent access";
    document.tabulate(caption, Level::Quiet, 3, &|table| {
        table.texts(&["held by", "access, state", "home"]);
        table.each(LineLevel::ALL.iter().map(|level| level.name()));
        for StateRow { point, owned: Owned { owner, state, access, .. }, ns } in &rows {
            table.row();
            match owner {
                Some((owner, class)) => table.cell(format_args!("CPU {owner}, {}", class.word())),
                None => table.cell(format_args!("CPU {} itself", point.cpu)),
            };
            let access = if *access == Access::Own { "atomic" } else { access.word() };
            table.cell(format_args!("{access} {}", state.word())).cell(format_args!("node {}", point.target));
            table.each(ns.iter().map(|ns| Digits(ns.unwrap_or(f64::NAN))));
        }
    });
}

/// Writes that lines in the shared state were not measured, if other states were.
fn states_not_measured(document: &mut Shown, report: &Report<'_>) {
    let mut owned = report.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.point.walk.owned()?)));
    let is_measured = owned.clone().any(|(outcome, _)| outcome.result.is_ok());
    if is_measured && owned.all(|(_, owned)| owned.third.is_none()) {
        document.say(Role::Missing, "Shared state not measured: it needs a third core.");
    }
}

/// Shows a row for each pair.
fn every(document: &mut Shown, report: &Report<'_>, view: &CoresView<'_>) {
    let messages = report.options.method == Method::Message;
    document.tabulate("", Level::Verbose, 2, &|table| {
        table.texts(&["CPUs", "class", "ns", "95% CI within run", "fastest", "slowest", "windows"]);
        if messages {
            table.text("clock offset up to");
        }
        for pair in &view.found.pairs {
            let (series, lines) = (&pair.measured.series, pair.measured.lines);
            let cpus = format_args!("{} - {}", pair.a, pair.with.partner);
            table.row().show(&cpus).show(&pair.with.class.word()).number(pair.ns());
            table.range(series.nanoseconds.interval, "-").number(lines.map(|lines| lines.fastest.value));
            let slowest = lines.map(|lines| lines.slowest);
            table.known(slowest.map(|line| format!("{} (line {})", Digits(line.value), line.line)));
            table.cell(format_args!("{} ({} interrupted)", pair.measured.rounds, series.disturbed));
            if messages {
                table.number(lines.and_then(|lines| lines.messages).map(|messages| messages.most_ns()));
            }
        }
    });
}

/// Returns the first few CPUs by socket, L3 and core.
fn ordered(report: &Report<'_>, view: &CoresView<'_>) -> Vec<u32> {
    let sharing = &report.machine.sharing;
    let key = |cpu: u32| [Shared::Package, Shared::L3, Shared::Core].map(|kind| sharing.lowest(kind, cpu));
    let mut numbers: Vec<u32> = vector(view.cpus.iter().take(MOST_IN_PICTURE));
    sort_by_key(&mut numbers, |cpu| (key(*cpu), *cpu));
    numbers
}

/// The quantity of a pair, and its unit.
const QUANTITY: [&str; 2] = ["one way", "ns"];

/// Draws all pairs: a triangle of few CPUs, else a mark for each pair.
fn picture(document: &mut Shown, report: &Report<'_>, view: &CoresView<'_>) {
    let Some((nearest, farthest)) = view.found.nearest.zip(view.found.farthest) else { return };
    let title = format!(
        "Core to core: {}{} ns one way",
        method::optional((nearest.ns() < farthest.ns()).then_some(nearest), |nearest, out| {
            write!(out, "{} to ", Digits(nearest.ns()))
        }),
        Digits(farthest.ns())
    );
    let (texts, in_text) = ([title, words(report.options.method).into()], report.options.heatmap);
    let picture = match view.cpus.len() {
        2 => {
            let names = format!("CPUs {} and {}", nearest.a, nearest.with.partner);
            let only = nearest.measured.series.nanoseconds.into();
            return matrix::single(document, texts, QUANTITY, names, only);
        }
        few if few <= MOST_IN_PICTURE && view.planned == few * (few - 1) / 2 => triangle(report, texts, view),
        _ => strip(report, texts, view),
    };
    document.draw(picture, in_text);
}

fn triangle(report: &Report<'_>, [title, subtitle]: [String; 2], view: &CoresView<'_>) -> Picture {
    let numbers = ordered(report, view);
    let cell =
        |row, column| between(report, row, column).and_then(Outcome::nanoseconds).ok_or("not measured");
    let [_, unit] = QUANTITY;
    let groups = Some(grouped(report, &numbers));
    let rows = numbers.get(..numbers.len() - 1).unwrap_or_default().into();
    let columns = numbers.get(1..).unwrap_or_default().into();
    let matrix = Matrix { title, subtitle, unit, noun: "CPU", rows, columns, groups, ..Matrix::default() };
    Picture::Matrix(matrix.filled(&cell))
}

/// Returns the groups of CPUs that share a socket and an L3; none if all CPUs are in one.
fn grouped(report: &Report<'_>, numbers: &[u32]) -> Vec<MatrixGroup> {
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
        groups.push(MatrixGroup { first: index, name: format!("socket {socket}{of_cache}") });
        cache += 1;
    }
    if groups.len() > 1 { groups } else { Vec::new() }
}

/// Draws a mark for each measured pair, by class.
fn strip(report: &Report<'_>, [title, subtitle]: [String; 2], view: &CoresView<'_>) -> Picture {
    /// The part of the height of a class over which its marks are spread, and the distance from one to the next: the
    /// golden ratio spreads any number of them evenly.
    const SPREAD: f64 = 0.7;
    const GOLDEN: f64 = 0.618_034;
    let small = report.machine.small.as_ref();
    let (mut names, mut series) = (Vec::new(), Vec::new());
    // The nearest class is at the top.
    for (middle, class) in view.found.classes.iter().rev().enumerate() {
        let is_in = |pair: &&CpuPair<'_>| class.has(small, pair.with.class, [pair.a.0, pair.with.partner.0]);
        let mut points = view.found.pairs.iter().filter(is_in).enumerate().map(|(order, pair)| {
            let part = order.real() * GOLDEN + 0.5;
            ChartPoint::new(pair.ns(), middle.real() + SPREAD * (part - floor(part) - 0.5))
        });
        names.push(format!("{class} {} ns", Digits(class.median.value)));
        series.push(Series { name: String::new(), data: Data::Scatter(vector(&mut points)) });
    }
    let [quantity, unit] = QUANTITY;
    let subtitle =
        format!("a mark for each measured pair of CPUs, and the median by shared hardware; {subtitle}");
    let x_axis = Axis { title: quantity, unit: Unit::Plain(unit), scale: Scale::Auto };
    let y_axis = Axis { title: "", unit: Unit::Names(names), scale: Scale::Linear };
    Picture::Chart(Chart::of([title, subtitle], [x_axis, y_axis], series))
}
