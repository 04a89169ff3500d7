//! The levels of a curve in words: what a program meets, what the system reports, and which models say so.

use core::fmt::{self, Display};

use latency_core::decimal::Decimal;
use latency_core::model::edge::EdgeError;
use latency_core::model::{Estimate, Fit, FitError};
use latency_core::units::Bytes;

use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::analysis::pages::PAGE;
use crate::analysis::reading::Reading;
use crate::report::document::{Document, Level, Role, Table};
use crate::report::figures::Digits;

/// A size with three significant places: beyond 1 KiB a fitted size is not known to a byte.
#[must_use]
pub fn size(bytes: f64) -> Bytes {
    let whole = bytes.max(0.0) as u64;
    Bytes(if whole < 1024 { whole } else { (whole + 32) / 64 * 64 })
}

/// A size to a sixteenth: what a chase holds of a shared cache is not the same in two runs.
fn about(bytes: f64) -> Bytes {
    let whole = bytes.max(0.0) as u64;
    let step = 1 << whole.max(16).ilog2().saturating_sub(4);
    Bytes((whole + step / 2) / step * step)
}

/// What lies beyond the last level: memory, unless the curve ends before.
#[must_use]
pub fn beyond(analysis: &Analysis) -> &'static str {
    match analysis.claims.iter().all(|claim| analysis.reaches(claim)) {
        true => "memory",
        false => "beyond",
    }
}

/// Half of a 95 % interval in per cent, where it is known.
struct Uncertainty(Estimate);

impl Display for Uncertainty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 50.0 * (self.0.high - self.0.low) / self.0.value;
        match percent.is_finite() {
            true => write!(out, "{:.1} %", Decimal(percent)),
            false => out.write_str("unknown"),
        }
    }
}

/// The rows of the table of levels.
#[derive(Clone, Copy)]
enum Row<'a> {
    Cache(&'a Cache),
    Memory(&'a Reading),
    Translation,
}

/// A row for each level, the memory and the first TLB, beside what the system reports.
pub fn table(document: &mut dyn Document, analysis: &Analysis, caption: &str) {
    const HEADINGS: [&str; 7] = ["level", "size", "95 %", "latency", "±", "cycles", "reported"];
    let Some(memory) = &analysis.memory else { return };
    let caches = analysis.caches();
    let row = |index: usize| match (caches.get(index), index.checked_sub(caches.len())) {
        (Some(cache), _) => Some(Row::Cache(cache)),
        (None, Some(0)) => Some(Row::Memory(memory)),
        (None, _) => Some(Row::Translation),
    };
    document.table(&Table {
        caption,
        level: Level::Quiet,
        words: 1,
        columns: HEADINGS.len(),
        rows: caches.len() + 1 + usize::from(analysis.translation.is_some()),
        heading: &|out, column| out.write_str(HEADINGS.get(column).copied().unwrap_or_default()),
        cell: &|out, index, column| match row(index) {
            Some(Row::Cache(cache)) => cache_cell(out, analysis, cache, column),
            Some(Row::Memory(memory)) => match column {
                0 => out.write_str(beyond(analysis)),
                1 | 2 => Ok(()),
                _ => latency_cell(out, analysis, memory.nanoseconds(), memory.latency, column),
            },
            Some(Row::Translation) => translation_cell(out, analysis, column),
            None => Ok(()),
        },
    });
}

fn latency_cell(
    out: &mut dyn fmt::Write,
    analysis: &Analysis,
    nanoseconds: Estimate,
    latency: Estimate,
    column: usize,
) -> fmt::Result {
    match column {
        3 => write!(out, "{} ns", Digits(nanoseconds.value)),
        4 => write!(out, "{}", Uncertainty(latency)),
        5 => write!(out, "{}", Digits(analysis.cycles(latency.value).unwrap_or(f64::NAN))),
        _ => Ok(()),
    }
}

fn cache_cell(out: &mut dyn fmt::Write, analysis: &Analysis, cache: &Cache, column: usize) -> fmt::Result {
    match (column, cache.ways, cache.claim) {
        (0, _, _) => write!(out, "L{}", cache.number),
        (1, _, _) => write!(out, "{}", size(cache.size.value)),
        (2, Some(ways), _) => write!(out, "{ways} ways"),
        (2, None, _) if cache.exact => out.write_str("exact"),
        (2, None, _) => match cache.size.low.is_finite() && cache.size.high.is_finite() {
            true => write!(out, "{} to {}", size(cache.size.low), size(cache.size.high)),
            false => out.write_str("unknown"),
        },
        (6, _, Some(claim)) => {
            write!(out, "{}", claim.size)?;
            match cache.agreement {
                Some(Agreement::Part) => out.write_str(" (a part)"),
                Some(Agreement::More) => out.write_str(" (exceeded)"),
                _ => Ok(()),
            }
        }
        (6, _, None) => out.write_str("-"),
        _ => latency_cell(out, analysis, analysis.of_cache(cache), cache.latency, column),
    }
}

fn translation_cell(out: &mut dyn fmt::Write, analysis: &Analysis, column: usize) -> fmt::Result {
    let Some(knee) = &analysis.translation else { return Ok(()) };
    let pages = (knee.pages + 0.5) as u64;
    match column {
        0 => out.write_str("L1 TLB"),
        1 => write!(out, "{}", Bytes(pages * PAGE.0)),
        2 => write!(out, "{pages} pages"),
        3 => write!(out, "+{} ns", Digits(analysis.nanoseconds(knee.step))),
        5 => match analysis.cycles(knee.step) {
            Some(cycles) => write!(out, "+{}", Digits(cycles)),
            None => out.write_str("-"),
        },
        _ => Ok(()),
    }
}

/// Says in what curve and system disagree, and what the curve could not show.
pub fn remarks(document: &mut dyn Document, analysis: &Analysis) {
    for cache in analysis.caches().iter().filter(|cache| cache.disagrees()) {
        let (number, Some(claim)) = (cache.number, cache.claim) else { continue };
        match cache.agreement {
            Some(Agreement::Part) => document.sentence(
                Role::Finding,
                format_args!(
                    "L{number}: a chase held about {} of the reported {}{}.",
                    about(cache.size.value),
                    claim.size,
                    fmt::from_fn(|out| match analysis.claims.ways.filter(|_| number == 3) {
                        Some(ways) if ways.is_partial() => write!(out, "; resctrl allows ways {ways}"),
                        _ if number > 2 => out.write_str(
                            " while others could use it; a program that touches its data more often may keep more"
                        ),
                        _ => Ok(()),
                    })
                ),
            ),
            _ => document.sentence(
                Role::Finding,
                format_args!(
                    "L{number}: the latency rises only from {} on, above the reported {}.",
                    size(cache.onset),
                    claim.size
                ),
            ),
        }
    }
    for cache in analysis.caches().iter().filter(|cache| cache.like_memory) {
        document.sentence(
            Role::Finding,
            format_args!(
                "L{}: not told apart from memory, which is less than 1.5 times as slow.",
                cache.number
            ),
        );
    }
    if let Some((size, latency)) = analysis.still_rising() {
        document.sentence(
            Role::Finding,
            format_args!(
                "Memory takes {} ns at {size}: its latency still rises with the working set.",
                Digits(latency)
            ),
        );
    }
    for cache in analysis.caches().iter().filter(|cache| cache.stages > 1) {
        document.sentence(
            Role::Detail(""),
            format_args!(
                "L{} ends in {} steps; the latency is that before the first.",
                cache.number, cache.stages
            ),
        );
    }
    for cache in analysis.caches().iter().filter(|cache| cache.with_translation) {
        document
            .sentence(Role::Detail(""), format_args!("L{}: a TLB gives way at the same size.", cache.number));
    }
    if let Some(Err(error)) = analysis.edge {
        document.sentence(Role::Detail(""), format_args!("L1: {}.", no_edge(error)));
    }
    // Where no levels were sought, none is missing.
    let shown = analysis.caches().last().map_or(0, |cache| cache.number);
    let missed = analysis.claims.iter().filter(|claim| claim.level > shown && analysis.stair.is_ok());
    for claim in missed {
        document.sentence(
            Role::Finding,
            format_args!(
                "L{}: {} reported, but {}.",
                claim.level,
                claim.size,
                match analysis.reaches(claim) {
                    true => "the curve shows no step of it",
                    false => "the curve does not go to twice that size",
                }
            ),
        );
    }
}

const fn no_edge(error: EdgeError) -> &'static str {
    match error {
        EdgeError::Unfinished => "the search for its edge was interrupted",
        EdgeError::InvalidLatency => "its edge was not searched for lack of a clock",
        EdgeError::NoEdge => "no edge between half and twice its expected size",
        EdgeError::NoRamp => "its edge is not that of an LRU cache with whole sets, so its ways are unknown",
    }
}

/// Says what each model makes of the points, and how far it is from them.
pub fn models(document: &mut dyn Document, analysis: &Analysis) {
    model(document, analysis, "Stair", &analysis.stair);
    model(document, analysis, "Mixture, sizes free", &analysis.mixture);
    if let Some(reported) = &analysis.reported {
        model(document, analysis, "Mixture, sizes as reported", reported);
    }
}

fn model(document: &mut dyn Document, analysis: &Analysis, name: &'static str, fit: &Result<Fit, FitError>) {
    let fit = match fit {
        Ok(fit) => fit,
        Err(error) => return document.sentence(Role::Detail(name), format_args!("not fitted: {error}")),
    };
    document.sentence(
        Role::Detail(name),
        format_args!(
            "{}memory {} ns; residual: median {} %, root mean square {} %",
            fmt::from_fn(|out| fit.levels().iter().try_for_each(|level| {
                let latency = Digits(analysis.nanoseconds(level.latency.value));
                write!(out, "{} {latency} ns, ", size(level.capacity.value))
            })),
            Digits(analysis.nanoseconds(fit.memory.value)),
            Digits(fit.median_residual * 100.0),
            Digits(fit.rms_residual * 100.0)
        ),
    );
}
