//! The times of single loads: those of most loads, and the slowest.

mod members;

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::arch::Cycles;
use latency_core::{Interval, NodeSet, ToReal, Trimmed};

use super::{Experiment, matrix};
use crate::analysis::distribution::{agrees, exceedances, is_wide, left_out};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::method::optional;
use crate::describe::split::is_memory;
use crate::describe::{Report, ReportParts, method, point};
use crate::options::{Descriptor, FlagSet};
use crate::plan::{self, PlannedPoints, Planning, Scope, budget};
use latency_engine::budget::Budget;
use latency_engine::memory::chains::Alongside;
use latency_engine::result::distribution::PERCENTAGES;
use latency_engine::result::{Distribution, Outcome};
use latency_engine::run;
use latency_engine::session::interrupted;
use latency_engine::stopwatch::Singles;
use latency_engine::words::words;
use latency_report::chart::vector;
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Level, Mark, Part, Picture, Role, Scale, Series, Shown,
    ShownTable, Unit,
};

/// The number of points of the picture.
const POINTS: usize = 96;
/// Percentiles marked in the picture.
const MARKED: [f64; 4] = [50.0, 99.0, 99.9, 99.99];

/// The experiment that shows the distribution behind the means.
pub const DISTRIBUTION: Experiment = Experiment {
    descriptor: Descriptor {
        name: "distribution",
        summary: "latency percentiles of single loads: p50 to p99.99",
        details: "Each load is timed alone, and the cost of timing is subtracted. Batches, timed as in \
                  `matrix`, check the mean. Without --cpunode and --memnode, the first node loads from \
                  its own memory.\nLoads that an interrupt or another task delayed are counted separately. Then a search for the period of DRAM refresh.",
        flags: FlagSet::MEASURING.union(FlagSet::WORKING_SET).union(FlagSet::CHAIN),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan,
    budget: |options, machine, points| Budget {
        single_hops: true,
        ..budget::of_pairs(options, machine, points)
    },
    measure: |_, session, points, budget| {
        let mut singles = Singles::new(session.timer.fine_counter()?, points.len())?;
        let mut alongside = Alongside { singles: Some(&mut singles), ..Alongside::default() };
        let mut findings = run::measure_with(session, points, budget, &mut alongside, &mut run::all_rounds)?;
        session.progress.say(format_args!("looking for refresh"));
        findings.distributions = singles.conclude(&findings.outcomes, session.warnings)?;
        findings.interrupted |= interrupted();
        Ok(findings)
    },
    conclude: |_, _| None,
    present,
};

/// Plans the requested pairs, or the first node with its own memory.
fn plan(planning: &mut Planning<'_>) -> PlannedPoints {
    let mut scope = Scope::resolve(planning)?;
    if planning.options.cpunode.is_none() {
        scope.initiators = scope.initiators.first().into_iter().collect();
    }
    if planning.options.memnode.is_none() && !planning.options.local {
        let own: NodeSet = scope.initiators.intersection(&scope.targets);
        let node = own.first().or(scope.targets.first());
        scope.targets = node.into_iter().collect();
    }
    plan::matrix(planning, &scope)
}

/// A measured point and its single loads.
struct KnownLoads<'r> {
    /// The index of the point.
    index: usize,
    outcome: &'r Outcome,
    found: &'r Distribution,
    /// The pair in front of a sentence, if there are several pairs.
    whose: String,
}

/// Returns the measured points that have single loads.
fn known<'r>(report: &Report<'r>) -> Vec<KnownLoads<'r>> {
    let all = report.outcomes.iter().zip(report.distributions).enumerate();
    let all = all.filter(|(_, (outcome, found))| outcome.result.is_ok() && found.windows.total() > 0);
    vector(all.map(|(index, (outcome, found))| {
        let whose = match report.outcomes {
            [_] => String::new(),
            _ => format!("{} -> {}: ", outcome.point.initiator, outcome.point.target),
        };
        KnownLoads { index, outcome, found, whose }
    }))
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let known = &known(report);
    members::summary(&mut parts.summary, known.first().map(|first| first.found));
    point::rows_with(&mut parts.rows, report, &|document, index, _| {
        let found = known.iter().find(|known| known.index == index).map(|known| known.found);
        document.put(&columns::PERCENTILE, None::<f64>);
        document.put(&columns::BATCH_RATIO, found.and_then(|found| found.ratio));
        document.put(&columns::REFRESH, found.and_then(members::refresh_us));
    });
    let origin = RowOrigin::of(report);
    for KnownLoads { outcome, found, .. } in known {
        members::percentiles(&mut parts.rows, origin, outcome, found);
    }
    matrix::lines(&mut parts.answer, report);
    known.iter().for_each(|known| answer(&mut parts.answer, report, known));
    percentiles(&mut parts.evidence, known);
    known.iter().for_each(|known| certainty(&mut parts.evidence, report, known));
    known.iter().for_each(|known| parts.evidence.picture(Picture::Chart(shares(known))));
    method::walks(&mut parts.evidence, report);
    known.iter().for_each(|known| paragraphs(&mut parts.data, &known.whose, known.found));
    point::evidence(&mut parts.data, report);
    parts.data.items(Part::List(&members::DISTRIBUTIONS), known, |document, known| {
        members::distribution(document, known.index, known.found);
    });
}

/// Writes the latencies of most loads and of the slowest, the loads that were left out, and the period of slow ones.
fn answer(
    document: &mut Shown,
    report: &Report<'_>,
    KnownLoads { outcome, found, whose, .. }: &KnownLoads<'_>,
) {
    let nanoseconds = |percent| Digits(found.percentile_ns(percent).unwrap_or(f64::NAN));
    let each = found.each;
    document.answer(format_args!(
        "{whose}Median latency of a single load{} {} ns; p99 {} ns.",
        if is_memory(report.machine, outcome) { ", address translation included," } else { "" },
        nanoseconds(50.0),
        nanoseconds(99.0)
    ));
    if each > 1 {
        document.finding(format_args!(
            "Loads are too short to time individually: each sample is the mean of {each} \
                 consecutive loads."
        ));
    }
    if let Some((microseconds, name)) = found.refresh() {
        let name =
            name.map_or("no known interval of DRAM refresh".into(), |name| format!("DRAM refresh ({name})"));
        document.finding(format_args!(
            "{whose}Slow loads ({} ns and more) recur every {} µs: {name}.",
            Digits(found.nanoseconds(found.slow_from.real())),
            Digits(microseconds),
        ));
    }
    let all = match found.total() * u64::from(each) {
        many if many >= 1_000_000 => format!("{:.1} million", many.real() / 1e6),
        few => format!("{few}"),
    };
    document.finding(format_args!(
        "{whose}{} of {all} timed loads were interrupted and are excluded.",
        left_out(found)
    ));
}

/// Pushes the headings of percentiles.
fn headings(table: &mut ShownTable) {
    table.each(PERCENTAGES.iter().map(|percent| format!("p{}", Trimmed(*percent))));
}

/// Shows a row for each pair.
fn percentiles(document: &mut Shown, known: &[KnownLoads<'_>]) {
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.text("ns");
        headings(table);
        table.texts(&["max", "mean"]);
        for KnownLoads { outcome, found, .. } in known {
            table.row().cell(format_args!("{} -> {}", outcome.point.initiator, outcome.point.target));
            PERCENTAGES.iter().for_each(|percent| _ = table.number(found.percentile_ns(*percent)));
            table.number(found.maximum_ns()).number(found.mean_ns());
        }
    });
}

/// Shows the percentiles of one pair in cycles, with their bounds.
fn certainty(
    document: &mut Shown,
    report: &Report<'_>,
    KnownLoads { outcome, found, whose, .. }: &KnownLoads<'_>,
) {
    const ENDS: [(&str, bool); 2] = [("95% CI from, ns", true), ("95% CI to, ns", false)];
    let quantiles = PERCENTAGES.map(|percent| found.quantile_ns(percent));
    let wide = quantiles.iter().flatten().any(|quantile| is_wide(found, quantile));
    document.tabulate(whose.trim_end_matches([':', ' ']), Level::Verbose, 1, &|table| {
        table.text("");
        headings(table);
        let clock = match report.cycles_are() {
            Cycles::Counter => words().counter_name,
            Cycles::Core => "core",
        };
        table.row().cell(format_args!("{clock} cycles"));
        let series = outcome.result.as_ref().map(|measured| &measured.series);
        for quantile in quantiles {
            let cycles = |series| report.cycles(series, quantile?.value);
            table.number(series.ok().and_then(cycles));
        }
        // The intervals are left out if none is wider than a bucket of the histogram.
        for (words, is_low) in ENDS.into_iter().filter(|_| wide) {
            table.row().show(&words);
            for quantile in quantiles {
                let interval = quantile.and_then(|quantile| quantile.interval);
                table.number(interval.map(|Interval { low, high }| if is_low { low } else { high }));
            }
        }
    });
}

/// Draws the share of slow loads of one pair.
fn shares(KnownLoads { outcome, found, .. }: &KnownLoads<'_>) -> Chart {
    let point = &outcome.point;
    let mut points = [ChartPoint::new(f64::NAN, f64::NAN); POINTS];
    exceedances(found, &mut points);
    let ns = |percent| found.percentile_ns(percent).unwrap_or(f64::NAN);
    let most = found.maximum_ns().unwrap_or(f64::NAN);
    let title = format!(
        "Memory latency: median {} ns, p99.9 {} ns, maximum {} ns",
        Digits(ns(50.0)),
        Digits(ns(99.9)),
        Digits(most)
    );
    let subtitle = format!(
        "share of {} that are as slow or slower; node {} to node {}, {}",
        if found.each == 1 { "single loads" } else { "means of several loads" },
        point.initiator,
        point.target,
        point.size
    );
    let marks = MARKED.map(|percent| {
        // The median over visits may lie beyond the slowest load.
        let x = ns(percent).min(most);
        Mark::line(x, format_args!("p{} {} ns", Trimmed(percent), Digits(x)))
    });
    let x_axis = Axis { title: "time of a load", unit: Unit::Plain("ns"), scale: Scale::Auto };
    let y_axis = Axis { title: "as slow or slower", unit: Unit::Plain("%"), scale: Scale::Logarithmic };
    let series = [Series { name: String::new(), data: Data::Points(points.into()) }].into();
    Chart { title, subtitle, x_axis, y_axis, series, marks: marks.into() }
}

/// Writes how the percentiles were obtained, for readers who want to check it; `whose` names the pair if there are several.
fn paragraphs(document: &mut Shown, whose: &str, found: &Distribution) {
    steps(document, whose, found);
    check(document, whose, found);
    timer(document, whose, found);
    left_out_by(document, whose, found);
    interruptions(document, whose, found);
    if found.refresh().is_none() {
        no_refresh(document, whose, found);
    }
}

/// Writes the percentiles that lie between two clusters of times.
fn steps(document: &mut Shown, whose: &str, found: &Distribution) {
    for percent in PERCENTAGES {
        let Some(Interval { low, high }) = found.quantile_ns(percent).and_then(|found| found.step) else {
            continue;
        };
        document.under(Role::Detail("Step")).write(format_args!(
            "{whose}p{percent} lies between loads of {low} and loads of {high}; the table shows the \
             upper end, which the slowest {rest}% reach",
            percent = Trimmed(percent),
            low = span(low),
            high = span(high),
            rest = Trimmed(100.0 - percent)
        ));
    }
}

/// Writes whether single loads and batches agree; a disagreement is a finding.
fn check(document: &mut Shown, whose: &str, found: &Distribution) {
    let agreed = agrees(found);
    let role = if agreed == Some(false) { Role::Method("Check") } else { Role::Detail("Check") };
    let verdict = match agreed {
        Some(true) => "agree within 3%",
        Some(false) => "differ by more than 3%",
        None => "cannot be compared (too few rounds)",
    };
    document.under(role).write(format_args!(
        "{whose}means of single loads and of batches {verdict} ({} vs {} ns{}), by rounds as in `matrix`",
        Digits(found.round_ns),
        Digits(found.batch_ns),
        optional(found.ratio, |ratio, out| {
            let ends = optional(ratio.interval, |Interval { low, high }, out| {
                write!(out, ", {low:.3} to {high:.3}")
            });
            write!(out, "; ratio {:.3}{ends}", ratio.median)
        })
    ));
}

/// Writes the time of an empty pair of stamps.
fn timer(document: &mut Shown, whose: &str, found: &Distribution) {
    let empty = |percent| found.empty_ticks(percent).unwrap_or(0);
    document.under(Role::Detail("Timer")).write(format_args!(
        "{whose}two stamps without a load, after every load: p1 {p1}, p50 {p50}, p99 {p99} ticks; \
         their mean of {mean:.1} ticks ({ns} ns) is subtracted; step {step} ticks ({step_ns} ns), \
         within which percentiles are interpolated; histogram to 0.4%",
        p1 = empty(1.0),
        p50 = empty(50.0),
        p99 = empty(99.0),
        mean = found.overhead,
        ns = Digits(found.time(found.overhead)),
        step = found.step,
        step_ns = Digits(found.time(found.step.real()))
    ));
}

/// Writes the times that were left out because they are not latencies of memory.
fn left_out_by(document: &mut Shown, whose: &str, found: &Distribution) {
    let seen = &found.interruptions;
    let mean_and_longest = (seen.marked > 0).then_some((seen.marked_mean, seen.marked_longest.real()));
    let marks = optional(mean_and_longest, |(mean, longest), out| {
        write!(out, " ({} on average, {} at most)", span(found.time(mean)), span(found.time(longest)))
    });
    let long = optional(found.interrupted_from, |from, out| {
        let (from, to) = (found.nanoseconds(from.real()), found.longest_ns().unwrap_or(0.0));
        write!(out, " ({} to {}; {} expected)", span(from), span(to), Digits(seen.expected))
    });
    document.under(Role::Detail("Excluded")).write(format_args!(
        "{whose}{left_out} of {all} windows: the kernel ran in {marked}{marks}; {interrupted} were \
         longer than any memory access{long}",
        left_out = left_out(found),
        all = found.total(),
        marked = seen.marked,
        interrupted = found.interrupted()
    ));
}

/// Writes the interruptions that a loop without loads has seen.
fn interruptions(document: &mut Shown, whose: &str, found: &Distribution) {
    let seen = &found.interruptions;
    document.under(Role::Detail("Interruptions")).write(format_args!(
        "{whose}a loop without loads saw {gaps} gaps of {least} to {longest} in {watched} that left \
         no mark; {switches} context switches",
        gaps = seen.gaps,
        least = span(found.time(seen.least_gap.real())),
        longest = span(found.time(seen.longest_gap.max(seen.least_gap).real())),
        watched = span(found.time(seen.watched.real())),
        switches = seen.switches
    ));
}

/// Writes that slow loads have no period.
fn no_refresh(document: &mut Shown, whose: &str, found: &Distribution) {
    let Some(period) = found.period else {
        return document
            .under(Role::Detail("DRAM refresh"))
            .write(format_args!("{whose}not searched for: too few slow loads"));
    };
    document.under(Role::Detail("DRAM refresh")).write(format_args!(
        "{whose}not seen: slow loads ({} ns and more) have no period of 1.5 to 20 µs (best: {:.1} \
         standard deviations)",
        Digits(found.nanoseconds(found.slow_from.real())),
        period.significance
    ));
}

/// Returns a time as a text in a suitable unit.
fn span(nanoseconds: f64) -> String {
    match nanoseconds {
        small if small < 1e3 => format!("{} ns", Digits(small)),
        middle if middle < 1e6 => format!("{} µs", Digits(middle / 1e3)),
        large if large < 1e9 => format!("{} ms", Digits(large / 1e6)),
        long => format!("{} s", Digits(long / 1e9)),
    }
}
