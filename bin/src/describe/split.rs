//! Memory and address translation, the two parts of the latency of a random load, and the levels of the TLB: for people
//! and for programs.

use core::fmt::{self, Display};

use latency_core::chain::WINDOWS;
use latency_core::{Bytes, Estimate, Interval, ToReal, math};

use super::rates::{headline, is_wide, optional};
use super::{Report, columns};
use crate::record::members::{TLB_MISS, TLB_PAGE, TLB_PAGES};
use crate::record::row::Row;
use latency_engine::machine::Machine;
use latency_engine::result::{LoadParts, Measurement, Outcome, PageWords, Split, Walk};
use latency_engine::spans::tlb::TlbEnd;
use latency_report::document::{fields, members};
use latency_report::figures::Figure;
use latency_report::{Digits, Part, Shown, ShownTable};

fields! {
    GROUPED "grouped_chains" "Chains that visit each page several times within a window, beside the random one; empty without them.";
    LEFT_OUT "share_in_no_chain" "Share of the working set whose lines are in no chain (0 to 1).";
}

/// Share of memory's latency above which a sentence explains the translation.
const MUCH: f64 = 0.2;

/// Returns the parts of a measured point, if they were told apart.
pub fn parts(outcome: &Outcome) -> Option<LoadParts> {
    outcome.result.as_ref().ok()?.series.parts()
}

/// Returns the latency of memory without translation, if the parts were told apart and no cache serves the working set.
pub fn memory(machine: &Machine, outcome: &Outcome) -> Option<Estimate> {
    let parts = parts(outcome).filter(|_| is_memory(machine, outcome))?;
    Some(parts.without_translation)
}

/// Returns whether the loads of a point reach memory: by comparison with lines that no cache contained, or else by the
/// sizes of the reported caches.
pub fn is_memory(machine: &Machine, outcome: &Outcome) -> bool {
    let served = outcome.result.as_ref().ok().and_then(|measured| measured.series.is_served());
    served.map_or_else(|| machine.reaches_memory(outcome.point.size), |served| !served)
}

/// Describes the parts of a point of one chain; null if they were sought and not told apart, as for all pairs of nodes.
pub fn members(document: &mut Shown, report: &Report<'_>, outcome: &Outcome) {
    let parts = parts(outcome);
    let is_pair = report.options.experiment.descriptor.name == "matrix";
    if !matches!(outcome.point.walk, Walk::Chain) || parts.is_none() && !is_pair {
        return;
    }
    columns::parts(document, parts, is_memory(report.machine, outcome));
}

/// Describes the walks of grouped chains.
pub fn grouped(document: &mut Shown, measured: &Measurement) {
    let values = measured.series.split.iter().flat_map(|Split { grouped, .. }| grouped.iter().zip(WINDOWS));
    document.items(Part::List(&GROUPED), values, |document, (ns, window)| {
        members! { document;
            "visits": window.visits => "Visits of a page in a window.";
            "window_pages": window.pages => "Pages of a window.";
            "ns": *ns => "Median latency of a load of this chain, in nanoseconds.";
        }
    });
}

/// Describes the share of a working set that is in no chain.
pub fn left_out(document: &mut Shown, outcome: &Outcome, measured: &Measurement) {
    let lines = outcome.point.size.0.real() / outcome.point.line.bytes().0.real();
    let share = measured.series.split.map_or(0.0, |_| (1.0 - measured.nodes.real() / lines).max(0.0));
    document.put(&LEFT_OUT, share);
}

/// Returns a value with its interval in parentheses: `155 ns (150 to 159)`.
pub fn with_ends(Estimate { value, interval }: Estimate) -> impl Display {
    fmt::from_fn(move |out| match interval {
        Some(Interval { low, high }) if low <= 0.0 => write!(out, "at most {} ns", Digits(high)),
        _ => {
            let ends = optional(interval.filter(|_| !is_wide(interval)), |Interval { low, high }, out| {
                write!(out, " ({} to {})", Digits(low), Digits(high))
            });
            write!(out, "{} ns{ends}", headline(Estimate { value, interval }, 1.0))
        }
    })
}

/// Writes the parts of the latency of the only pair of nodes, and the reason for a large part of translation. Returns false
/// if they were not told apart.
pub fn of_one(document: &mut Shown, report: &Report<'_>, outcome: &Outcome) -> bool {
    let (Some(parts), Ok(measured)) = (parts(outcome), &outcome.result) else { return false };
    let random = measured.series.nanoseconds.into();
    sentence(document, outcome.point.size, random, is_memory(report.machine, outcome), parts);
    let is_much = parts.translation.value > MUCH * parts.without_translation.value;
    if is_much && report.health.pages_behave_as_small == Some(true) {
        document.finding(format_args!(
            "Translation is that expensive because the TLB treats the {} as {} pages (the host backs them \
             with small ones).",
            PageWords(report.machine.pages_or_base(measured.placed.pages)),
            report.machine.page,
        ));
    }
    true
}

/// Writes the parts of the latency of a random load over a working set.
fn sentence(document: &mut Shown, size: Bytes, random: Estimate, is_memory: bool, parts: LoadParts) {
    document.finding(format_args!(
        "A random load over {size} costs {} ns: {} {}, address translation {}.",
        fmt::from_fn(|out| match random {
            Estimate { interval, value } if !is_wide(interval) => write!(out, "{}", Figure(value)),
            wide => write!(out, "{}", headline(wide, 1.0)),
        }),
        if is_memory { "memory" } else { "load" },
        with_ends(parts.without_translation),
        with_ends(parts.translation),
    ));
}

/// Writes the parts of the latencies of saved points, if all of them have any.
pub fn of_saved(document: &mut Shown, rows: &[Row]) {
    if let [row] = rows
        && let Some(parts) = row.parts()
    {
        sentence(document, row.size(), row.time(), row.is_memory(), parts);
        return;
    }
    let all = || rows.iter().filter_map(Row::parts);
    if rows.is_empty() || all().count() < rows.len() {
        return;
    }
    let range = |value: fn(LoadParts) -> Estimate| {
        let values = all().map(move |parts| value(parts).value);
        let (low, high) = values.fold((f64::MAX, 0.0_f64), |(low, high), ns| (low.min(ns), high.max(ns)));
        fmt::from_fn(move |out| write!(out, "{} to {} ns", Digits(low), Digits(high)))
    };
    document.finding(format_args!(
        "These latencies are of random loads: {} {}, address translation {}.",
        if rows.iter().all(Row::is_memory) { "memory" } else { "load" },
        range(|parts| parts.without_translation),
        range(|parts| parts.translation)
    ));
}

/// Pushes the cells of a point in a table of points.
pub fn cells(table: &mut ShownTable, parts: Option<LoadParts>) {
    match parts {
        Some(LoadParts { without_translation, translation }) => {
            table.show(&with_ends(without_translation)).show(&with_ends(translation))
        }
        None => table.texts(&["-", "-"]),
    };
}

/// Describes a level for programs, at this core clock.
pub fn tlb_level(document: &mut Shown, level: &TlbEnd, gigahertz: Option<f64>) {
    members! { document;
        TLB_PAGES: level.entries;
        TLB_PAGE: level.page;
        TLB_MISS: level.miss_ns;
        "miss_core_cycles": gigahertz.map(|gigahertz| level.miss_ns * gigahertz) => "Extra time of a miss over a hit of the first level, in core cycles; null if the core clock is unknown.";
    }
}

/// Returns the words of a number of entries with its bounds, if they are known and differ.
pub fn tlb_entries(Estimate { value, interval }: Estimate) -> impl Display {
    let whole = |number: f64| math::whole(number + 0.5);
    let ends = interval.map_or([value; 2], |Interval { low, high }| [low, high]).map(whole);
    fmt::from_fn(move |out| match ends {
        [low, high] if low < high => write!(out, "{low} to {high}"),
        _ => write!(out, "{}", whole(value)),
    })
}
