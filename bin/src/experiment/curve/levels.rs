//! The levels of a curve in words: the measured ones, those that the system reports, and the models that show them.

use alloc::string::String;
use core::fmt::Display;

use latency_core::model::edge::EdgeError;
use latency_core::model::{Fit, FitError};
use latency_core::{Bytes, Estimate, Interval, ToReal, math};

use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::describe::method::optional;
use crate::describe::split::tlb_entries;
use latency_report::lists::joined;
use latency_report::{Digits, Level, Role, Shown, ShownTable};

/// Rounds a size to three significant digits: beyond 1 KiB a fitted size is not exact to a byte.
pub fn size(bytes: f64) -> Bytes {
    let whole = math::whole(bytes.max(0.0));
    Bytes(if whole < 1024 { whole } else { (whole + 32) / 64 * 64 })
}

/// Returns the size of a cache: at least the lower end of an interval that has no middle.
pub fn size_of(cache: &Cache) -> String {
    format!("{}{}", if cache.middle().is_some() { "" } else { "at least " }, size(cache.least()))
}

/// Rounds a size to a sixteenth: the share of a shared cache that a chase occupies differs between runs.
fn about(bytes: f64) -> Bytes {
    let whole = math::whole(bytes.max(0.0));
    let step = 1 << whole.max(16).ilog2().saturating_sub(4);
    Bytes((whole + step / 2) / step * step)
}

/// Returns the name of the level after the last cache: memory, unless the curve ends before.
pub fn beyond(analysis: &Analysis) -> &'static str {
    if analysis.claims.iter().all(|claim| analysis.reaches(claim)) { "memory" } else { "beyond" }
}

/// Shows a row for each level, the memory and the TLB, with the values that the system reports.
pub fn table(document: &mut Shown, analysis: &Analysis, caption: &str) {
    if analysis.stair.is_err() {
        return;
    }
    let latency = |table: &mut ShownTable, nanoseconds: Estimate, latency: Estimate| {
        table.cell(format_args!("{} ns", Digits(nanoseconds.value)));
        table.text(&latency.half().map_or("unknown".into(), |half| format!("{:.1}%", 100.0 * half)));
        table.number(analysis.cycles(latency.value));
    };
    document.tabulate(caption, Level::Quiet, 1, &|table| {
        table.texts(&["level", "size", "95% CI of size", "latency", "±", "core cycles", "reported"]);
        for cache in analysis.caches() {
            table.row().cell(format_args!("L{}", cache.number)).show(&size_of(cache));
            match (cache.ways, cache.size.interval) {
                (Some(ways), _) => table.cell(format_args!("{ways} ways")),
                _ if cache.exact => table.text("exact"),
                (_, Some(interval)) => table.show(&ends(interval)),
                _ => table.text("unknown"),
            };
            latency(table, analysis.of_cache(cache), cache.latency);
            let reported = |size| format!("{size}{}", excess(cache.middle(), size));
            table.known(cache.claim.map(|claim| reported(claim.size)));
        }
        if let Some(memory) = &analysis.memory {
            table.row().show(&beyond(analysis)).text("").text("");
            latency(table, memory.nanoseconds(), memory.latency);
            table.text("");
        }
        for (level, name) in analysis.tlb.iter().zip(["L1 TLB", "L2 TLB"]) {
            let Some(level) = level else { continue };
            table.row().show(&name).show(&Bytes(math::whole(level.reach() + 0.5)));
            table.cell(format_args!("{} pages", tlb_entries(level.entries)));
            table.cell(format_args!("+{} ns", Digits(level.miss_ns))).text("");
            table.known(analysis.gigahertz.map(|clock| format!("+{}", Digits(level.miss_ns * clock))));
            table.text("");
        }
    });
}

/// Returns the ends of an interval of sizes, with one unit if both have the same.
fn ends(Interval { low, high }: Interval) -> String {
    let [low, high] = [low, high].map(|end| format!("{}", size(end)));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// Returns the words of the difference of a measured size from the reported one, if it is larger than the grid of sizes
/// allows.
fn excess(measured: Option<f64>, reported: Bytes) -> impl Display {
    /// Least relative difference that is shown.
    const LEAST: f64 = 0.05;
    let excess = measured.map(|measured| measured / reported.0.real() - 1.0);
    optional(excess.filter(|excess| excess.abs() > LEAST), |excess, out| {
        write!(out, " ({}{:.0}%)", if excess > 0.0 { "+" } else { "" }, 100.0 * excess)
    })
}

/// Writes the disagreements of the curve and the system, and the levels that the curve could not show.
pub fn findings(document: &mut Shown, analysis: &Analysis) {
    /// The reason why a cache that others share may look smaller than it is.
    const SHARED: &str = " while others used it; `residency` tells how long lines stay";
    let caches = analysis.caches();
    for cache in caches.iter().filter(|cache| cache.disagrees()) {
        let Cache { number, onset, claim, agreement, .. } = cache;
        let Some(claim) = claim else { continue };
        match agreement {
            Some(Agreement::Part) => document.aside(format_args!(
                "L{number}: a chase held {} {} of the reported {}{}.",
                if cache.middle().is_some() { "about" } else { "at least" },
                about(cache.least()),
                claim.size,
                match analysis.claims.ways.filter(|_| *number == 3) {
                    Some(ways) if ways.is_partial() => format!("; resctrl allows ways {ways}"),
                    _ if *number > 2 => SHARED.into(),
                    _ => String::new(),
                }
            )),
            _ => document.finding(format_args!(
                "L{number}: latency rises only beyond {}, above the reported {}.",
                size(*onset),
                claim.size
            )),
        }
    }
    for Cache { number, .. } in caches.iter().filter(|cache| cache.like_memory) {
        document.finding(format_args!(
            "L{number} cannot be distinguished from memory (latency ratio below 1.5)."
        ));
    }
    if let Some((size, latency)) = analysis.still_rising() {
        document.finding(format_args!(
            "Memory latency still rises with the working set: {latency} ns at {size}.",
            latency = Digits(latency)
        ));
    }
    // If no levels were sought, none is missing.
    let shown = analysis.caches().last().map_or(0, |cache| cache.number);
    let missed = analysis.claims.iter().filter(|claim| claim.level > shown && analysis.stair.is_ok());
    for claim in missed {
        document.finding(format_args!(
            "L{}: {} reported, but {}.",
            claim.level,
            claim.size,
            match analysis.reaches(claim) {
                true => "the curve has no step there",
                false => "the curve ends below twice that size",
            }
        ));
    }
}

/// Writes the particulars of levels, for readers who want to check them.
pub fn details(document: &mut Shown, analysis: &Analysis) {
    let caches = analysis.caches();
    for Cache { number, stages, .. } in caches.iter().filter(|cache| cache.stages > 1) {
        let words = format_args!(
            "L{number} capacity is exceeded in {stages} steps; its latency is read before the first."
        );
        document.sentence(Role::Detail(""), words);
    }
    for Cache { number, .. } in caches.iter().filter(|cache| cache.with_translation) {
        document.sentence(Role::Detail(""), format_args!("L{number}: the TLB reach ends at the same size."));
    }
    if let Some(Err(error)) = analysis.edge {
        document.sentence(Role::Detail(""), format_args!("L1: {}.", no_edge(error)));
    }
}

const fn no_edge(error: EdgeError) -> &'static str {
    match error {
        EdgeError::Unfinished => "the search for its edge was interrupted",
        EdgeError::InvalidLatency => "its edge was not searched (no clock)",
        EdgeError::NoEdge => "no edge between half and twice its expected size",
        EdgeError::NoRamp => "its edge does not match an LRU cache with whole sets, so its ways are unknown",
    }
}

/// Writes the result of each model, and its distance from the points.
pub fn models(document: &mut Shown, analysis: &Analysis) {
    model(document, analysis, "Stair", &analysis.stair);
    model(document, analysis, "Mixture, sizes free", &analysis.mixture);
    if let Some(reported) = &analysis.reported {
        model(document, analysis, "Mixture, sizes as reported", reported);
    }
}

fn model(document: &mut Shown, analysis: &Analysis, name: &'static str, fit: &Result<Fit, FitError>) {
    let fit = match fit {
        Ok(fit) => fit,
        Err(error) => return document.sentence(Role::Detail(name), format_args!("not fitted: {error}")),
    };
    let ns = |latency: Estimate| Digits(analysis.nanoseconds(latency.value));
    let levels = fit.levels().iter();
    let levels = levels.map(|level| format!("{} {} ns", size(level.capacity.value), ns(level.latency)));
    document.under(Role::Detail(name)).write(format_args!(
        "{}; residual: median {}%, root mean square {}%",
        joined("", ", ", levels.chain([format!("memory {} ns", ns(fit.memory))])),
        Digits(fit.median_residual * 100.0),
        Digits(fit.rms_residual * 100.0)
    ));
}
