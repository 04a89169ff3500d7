//! What was concluded from a curve.

use core::fmt;

use latency_core::model::edge::EdgeError;
use latency_core::model::law::Law;
use latency_core::model::{Estimate, Fit, FitError};

use super::{optional, Json, DECIMALS};
use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::analysis::pages::PAGE;

/// Decimals of shares and shapes.
const FINE: usize = 5;

/// Writes the caches that a program meets, the translation buffer, and each fitted model.
pub(super) fn object(json: &mut Json<'_>, analysis: &Analysis) -> fmt::Result {
    json.begin_object()?;
    json.key("unit")?.string(if analysis.gigahertz.is_some() { "core cycles" } else { "ns" })?;
    json.key("core_ghz")?;
    optional(json, analysis.gigahertz, DECIMALS)?;
    json.key("levels")?.begin_array()?;
    for cache in analysis.caches() {
        level(json, analysis, cache)?;
    }
    json.end_array()?;
    json.key("memory")?.begin_object()?;
    if let Ok(fit) = &analysis.stair {
        latency(json, analysis, fit.memory)?;
    }
    json.end_object()?;
    json.key("translation")?;
    match &analysis.translation {
        Some(knee) => {
            json.begin_object()?;
            json.key("pages")?.decimal(knee.pages, 1)?;
            json.key("page_bytes")?.u64(PAGE.0)?;
            json.key("miss_ns")?.decimal(analysis.nanoseconds(knee.step), DECIMALS)?;
            json.key("miss_core_cycles")?;
            optional(json, analysis.cycles(knee.step), DECIMALS)?;
            json.end_object()?;
        }
        None => json.null()?,
    }
    json.key("stair")?;
    fit(json, &analysis.stair)?;
    json.key("mixture_free")?;
    fit(json, &analysis.mixture)?;
    json.key("mixture_reported")?;
    match &analysis.reported {
        Some(reported) => fit(json, reported)?,
        None => json.null()?,
    }
    json.end_object()
}

/// Writes the edge of the first level.
pub(super) fn edge(json: &mut Json<'_>, analysis: &Analysis) -> fmt::Result {
    let edge = match analysis.edge {
        None => return json.null(),
        Some(Err(error)) => {
            json.begin_object()?;
            json.key("not_found")?.string(match error {
                EdgeError::Unfinished => "interrupted",
                EdgeError::InvalidLatency => "no latency",
                EdgeError::NoEdge => "no edge",
                EdgeError::NoRamp => "no ramp",
            })?;
            return json.end_object();
        }
        Some(Ok(edge)) => edge,
    };
    json.begin_object()?;
    json.key("capacity_bytes")?.u64(edge.capacity.0)?;
    json.key("ways")?;
    match edge.ways {
        Some(ways) => json.u64(ways.into())?,
        None => json.null()?,
    }
    json.key("ramp_start_bytes")?.decimal(edge.ramp_start, DECIMALS)?;
    json.key("ramp_ways")?.decimal(edge.ramp_ways, DECIMALS)?;
    json.key("hit")?.decimal(edge.hit, DECIMALS)?;
    json.key("miss")?.decimal(edge.miss, DECIMALS)?;
    json.end_object()
}

fn level(json: &mut Json<'_>, analysis: &Analysis, cache: &Cache) -> fmt::Result {
    json.begin_object()?;
    json.key("level")?.u64(cache.number.into())?;
    json.key("size_bytes")?.decimal(cache.size.value, 0)?;
    json.key("size_ci95_bytes")?;
    interval(json, cache.size, 1.0)?;
    json.key("size_exact")?.bool(cache.exact)?;
    json.key("onset_bytes")?.decimal(cache.onset, 0)?;
    json.key("half_bytes")?.decimal(cache.half, 0)?;
    json.key("ways")?;
    match cache.ways {
        Some(ways) => json.u64(ways.into())?,
        None => json.null()?,
    }
    json.key("law")?;
    match cache.law {
        Some(law) => json.string(name(law))?,
        None => json.null()?,
    }
    latency(json, analysis, cache.latency)?;
    json.key("plateau_points")?.u64(cache.plateau.map_or(0, |plateau| plateau.count as u64))?;
    json.key("stages")?.u64(cache.stages.into())?;
    json.key("with_translation")?.bool(cache.with_translation)?;
    json.key("like_memory")?.bool(cache.like_memory)?;
    json.key("reported_bytes")?;
    match cache.claim {
        Some(claim) => json.u64(claim.size.0)?,
        None => json.null()?,
    }
    json.key("agreement")?;
    match cache.agreement {
        Some(Agreement::Agrees) => json.string("agrees")?,
        Some(Agreement::Part) => json.string("part")?,
        Some(Agreement::More) => json.string("more")?,
        None => json.null()?,
    }
    json.end_object()
}

fn latency(json: &mut Json<'_>, analysis: &Analysis, latency: Estimate) -> fmt::Result {
    json.key("ns")?.decimal(analysis.nanoseconds(latency.value), DECIMALS)?;
    json.key("ci95_ns")?;
    interval(json, latency, analysis.nanoseconds(1.0))?;
    json.key("core_cycles")?;
    optional(json, analysis.cycles(latency.value), DECIMALS)
}

/// The ends of a 95 % interval, which are null where the points do not bound it.
fn interval(json: &mut Json<'_>, estimate: Estimate, unit: f64) -> fmt::Result {
    json.begin_array()?;
    json.decimal(estimate.low * unit, DECIMALS)?;
    json.decimal(estimate.high * unit, DECIMALS)?;
    json.end_array()
}

/// A law of replacement.
const fn name(law: Law) -> &'static str {
    match law {
        Law::InTurn(_) => "least recently used",
        Law::Coloured(_) => "least recently used, random pages",
        Law::Soft(_) => "logistic",
        Law::Placed(..) => "least recently used, few random pages",
        Law::Random(_) => "random",
        Law::ColouredRandom(_) => "random, random pages",
    }
}

/// One model, in the unit of all of them.
fn fit(json: &mut Json<'_>, fit: &Result<Fit, FitError>) -> fmt::Result {
    json.begin_object()?;
    let fit = match fit {
        Ok(fit) => fit,
        Err(error) => {
            json.key("not_fitted")?.display(error)?;
            return json.end_object();
        }
    };
    json.key("levels")?.begin_array()?;
    for level in fit.levels() {
        json.begin_object()?;
        json.key("capacity_bytes")?;
        estimate(json, level.capacity)?;
        json.key("latency")?;
        estimate(json, level.latency)?;
        json.key("law")?;
        match level.law {
            Some(law) => json.string(name(law))?,
            None => json.null()?,
        }
        json.key("resolved")?.bool(level.resolved)?;
        json.end_object()?;
    }
    json.end_array()?;
    json.key("memory")?;
    estimate(json, fit.memory)?;
    json.key("median_residual")?.decimal(fit.median_residual, FINE)?;
    json.key("rms_residual")?.decimal(fit.rms_residual, FINE)?;
    json.key("bic")?.decimal(fit.bic, DECIMALS)?;
    json.end_object()
}

/// A value and the ends of its 95 % interval, which are null where the points do not bound it.
fn estimate(json: &mut Json<'_>, estimate: Estimate) -> fmt::Result {
    json.begin_array()?;
    json.decimal(estimate.value, FINE)?;
    json.decimal(estimate.low, FINE)?;
    json.decimal(estimate.high, FINE)?;
    json.end_array()
}
