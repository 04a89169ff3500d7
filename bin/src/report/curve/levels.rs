//! The levels of a curve in words: what a program meets, what the system reports, and which models say so.

use core::fmt::{self, Display, Write};

use latency_core::model::edge::EdgeError;
use latency_core::model::{Estimate, Fit, FitError};
use latency_core::text::Text;
use latency_core::units::Bytes;

use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::analysis::pages::PAGE;
use crate::report::figures::Figure;

/// Room for the longest size, such as `1.25 MiB (1.12 MiB .. 1.31 MiB)`.
const SIZE_COLUMNS: usize = 34;

/// A text that can be padded.
fn padded(what: fmt::Arguments<'_>) -> Text<64> {
    let mut text = Text::EMPTY;
    // What does not fit is left out; columns are wide enough for every number that is one.
    let _ = text.write_fmt(what);
    text
}

/// A size with three significant places.
fn size(bytes: f64) -> Bytes {
    let whole = bytes.max(0.0) as u64;
    // Beyond 1 KiB a fitted size is not known to a byte.
    Bytes(if whole < 1024 { whole } else { (whole + 32) / 64 * 64 })
}

/// A latency of the fits: `1.08 ns (4.00 core cycles)`.
struct Latency<'a>(&'a Analysis, f64);

impl Display for Latency<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ns", Figure(self.0.nanoseconds(self.1)))?;
        match self.0.cycles(self.1) {
            Some(cycles) => write!(out, " ({} core cycles)", Figure(cycles)),
            None => Ok(()),
        }
    }
}

/// The 95 % interval of an estimate: `, +- 0.4 %`; nothing where it is below what is shown.
struct Uncertainty(Estimate);

impl Display for Uncertainty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 50.0 * (self.0.high - self.0.low) / self.0.value;
        match percent {
            percent if !percent.is_finite() => out.write_str(", not bounded by the points"),
            percent if percent < 0.005 => Ok(()),
            percent => write!(out, ", +- {} %", Figure(percent)),
        }
    }
}

/// Writes a line for each level, the memory last, with what the system reports.
///
/// # Errors
///
/// Those of `out`.
pub fn lines(out: &mut dyn Write, analysis: &Analysis) -> fmt::Result {
    let fit = match &analysis.stair {
        Ok(fit) => fit,
        Err(error) => return writeln!(out, "No model: {error}"),
    };
    if fit.levels().is_empty() {
        writeln!(out, "The curve is flat: no level shows itself")?;
    }
    for cache in analysis.caches() {
        level(out, analysis, cache)?;
    }
    if let Some(knee) = &analysis.translation {
        let pages = (knee.pages + 0.5) as u64;
        let reach = padded(format_args!("reach: {} ({pages} pages)", Bytes(pages * PAGE.0)));
        let cost = Latency(analysis, knee.step);
        writeln!(out, "{:<7} {reach:<w$}  a miss adds: {cost}", "TLB", w = SIZE_COLUMNS + 6)?;
    }
    let all = analysis.claims.iter().all(|claim| analysis.reaches(claim));
    writeln!(
        out,
        "{:<7} {:<w$}  latency: {}{}",
        if all { "memory" } else { "beyond" },
        "",
        Latency(analysis, fit.memory.value),
        Uncertainty(fit.memory),
        w = SIZE_COLUMNS + 6
    )
}

fn level(out: &mut dyn Write, analysis: &Analysis, cache: &Cache) -> fmt::Result {
    let Cache { number, latency, size: bytes, claim, .. } = cache;
    let name = padded(format_args!("L{number}{}", if cache.with_translation { "+TLB" } else { "" }));
    let interval = match cache.ways {
        Some(ways) => padded(format_args!("{} ({ways} ways)", size(bytes.value))),
        None => padded(format_args!("{} ({} .. {})", size(bytes.value), size(bytes.low), size(bytes.high))),
    };
    write!(
        out,
        "{name:<7} size: {interval:<SIZE_COLUMNS$}  latency: {}{}",
        Latency(analysis, latency.value),
        Uncertainty(*latency)
    )?;
    if cache.like_memory {
        out.write_str("; not told apart from memory")?;
    }
    if let Some(claim) = claim {
        write!(out, "; {} reports {}", claim.source.name(), claim.size)?;
        if claim.ways > 0 {
            write!(out, ", {} ways", claim.ways)?;
        }
    }
    writeln!(out)
}

/// Writes a sentence for everything in which the curve and the system disagree, or that the curve could not show.
///
/// # Errors
///
/// Those of `out`.
pub fn remarks(out: &mut dyn Write, analysis: &Analysis) -> fmt::Result {
    for cache in analysis.caches().iter().filter(|cache| cache.disagrees()) {
        let (number, Some(claim)) = (cache.number, cache.claim) else { continue };
        let (onset, half) = (size(cache.onset), size(cache.half));
        let source = claim.source.name();
        write!(out, "L{number}: {source} reports {}, but the latency rises from {onset} on", claim.size)?;
        if cache.agreement == Some(Agreement::Part) {
            writeln!(
                out,
                " and half of the accesses miss at {half}: a part of it is all that this core gets"
            )?;
        } else {
            writeln!(out, " only: more is kept than it should hold")?;
        }
    }
    for cache in analysis.caches().iter().filter(|cache| cache.stages > 1) {
        let stages = cache.stages;
        writeln!(
            out,
            "L{}: it gives way in {stages} stages; its latency is that of the first",
            cache.number
        )?;
    }
    let first = analysis.claims.level(1);
    match (analysis.edge, first) {
        (Some(Ok(edge)), Some(claim)) if edge.ways.is_some() && edge.capacity != claim.size => writeln!(
            out,
            "L1: {} reports {}, but its edge is at {}",
            claim.source.name(),
            claim.size,
            edge.capacity
        )?,
        (Some(Err(error)), _) => writeln!(out, "L1: {}", no_edge(error))?,
        _ => {}
    }
    let shown = analysis.caches().last().map_or(0, |cache| cache.number);
    for claim in analysis.claims.iter().filter(|claim| claim.level > shown) {
        let why = match analysis.reaches(claim) {
            true => "no step of the curve shows it",
            false => "the curve does not go to twice that",
        };
        writeln!(out, "L{}: {} reports {}, but {why}", claim.level, claim.source.name(), claim.size)?;
    }
    Ok(())
}

const fn no_edge(error: EdgeError) -> &'static str {
    match error {
        EdgeError::Unfinished => "the search for its edge was interrupted",
        EdgeError::InvalidLatency => "its edge could not be looked for: no clock",
        EdgeError::NoEdge => "no edge between half and twice its expected size",
        EdgeError::NoRamp => {
            "its edge is not that of an LRU cache with whole sets, so its ways are not known"
        }
    }
}

/// Writes what each model makes of the points, and how far it is from them.
///
/// # Errors
///
/// Those of `out`.
pub fn models(out: &mut dyn Write, analysis: &Analysis) -> fmt::Result {
    model(out, analysis, "stair", &analysis.stair)?;
    model(out, analysis, "mixture, sizes free", &analysis.mixture)?;
    if let Some(reported) = &analysis.reported {
        model(out, analysis, "mixture, sizes as reported", reported)?;
    }
    Ok(())
}

fn model(out: &mut dyn Write, analysis: &Analysis, name: &str, fit: &Result<Fit, FitError>) -> fmt::Result {
    write!(out, "{name}: ")?;
    let fit = match fit {
        Ok(fit) => fit,
        Err(error) => return writeln!(out, "not fitted: {error}"),
    };
    for level in fit.levels() {
        let latency = Figure(analysis.nanoseconds(level.latency.value));
        write!(out, "{} {latency} ns | ", size(level.capacity.value))?;
    }
    writeln!(
        out,
        "memory {} ns; residual: median {} %, root mean square {} %",
        Figure(analysis.nanoseconds(fit.memory.value)),
        Figure(fit.median_residual * 100.0),
        Figure(fit.rms_residual * 100.0)
    )
}
