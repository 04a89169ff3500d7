//! The conclusions from a curve, for programs.

use latency_core::model::curve::Law;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::model::{Fit, FitError, Level};
use latency_core::{Estimate, Worded, math};

use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::analysis::reading::Reading;
use crate::describe::split;
use crate::record::members::{L2_TLB, LEVEL_CYCLES, LEVEL_NS, LEVELS, MEMORY, MODEL, MODEL_GHZ, TLB};
use latency_report::document::{fields, members};
use latency_report::{Field, Part, Shown};

fields! {
    STAIR "stair" "Model with a free step for each level.";
    MIXTURE_FREE "mixture_free" "Model that mixes level latencies by share of the working set, with fitted sizes.";
    MIXTURE_REPORTED "mixture_reported" "Mixture model with the reported cache sizes; null if no sizes are reported.";
    L1_EDGE "l1_edge" "Search for the capacity of the L1 by bisection; null if it was not searched.";
    NOT_FOUND "not_found" "Reason why the search found no edge; absent if it found one.";
    CAPACITY "capacity_bytes" "Effective capacity of the cache, in bytes; null if its interval spans more than 4x.";
    WAYS "ways" "Associativity of the cache; null if unknown.";
    LAW "law" "Law by which the miss rate rises with the working set; null if unknown.";
    PLATEAU "plateau_points" "Number of points that gave the latency; 0 if the stair model gave it.";
    NOT_FITTED "not_fitted" "Reason why there is no fit; absent if there is one.";
}

members! {
    fn units(analysis: &Analysis);
    "unit": if analysis.gigahertz.is_some() { "core cycles" } else { "ns" } => "Unit of the models: core cycles if known, else nanoseconds.";
    MODEL_GHZ: analysis.gigahertz;
}

members! {
    fn latency(analysis: &Analysis, nanoseconds: Estimate, latency: Estimate);
    LEVEL_NS: nanoseconds;
    LEVEL_CYCLES: analysis.cycles(latency.value);
}

members! {
    fn cache(analysis: &Analysis, cache: &Cache);
    "level": u64::from(cache.number) => "Cache level, counted from the core.";
    CAPACITY: cache.middle().and_then(whole);
    "capacity_bytes_low": whole(cache.size.bounds().low) => "Lower end of the 95% confidence interval of the capacity; null if the points do not bound it.";
    "capacity_bytes_high": whole(cache.size.bounds().high) => "Upper end of the 95% confidence interval of the capacity; null if the points do not bound it.";
    "capacity_exact": cache.exact => "True if the bisection of the L1 found the capacity exactly.";
    "onset_bytes": whole(cache.onset) => "Working set at which 5% of the misses of this level have appeared, in bytes.";
    "knee_bytes": whole(cache.half) => "Working set at which half of the misses of this level have appeared, in bytes.";
    WAYS: cache.ways.map(u64::from);
    LAW: cache.law.map(name);
    ..latency(analysis, analysis.of_cache(cache), cache.latency);
    PLATEAU: cache.plateau.map_or(0, |plateau| plateau.count);
    "stages": u64::from(cache.stages) => "Steps in which the latency rises at the edge of this level.";
    "with_tlb": cache.with_translation => "True if a TLB level overflows at the same working set.";
    "like_memory": cache.like_memory => "True if memory latency is below 1.5x the latency of this level, which then may not be a cache.";
    "reported_bytes": cache.claim.map(|claim| claim.size) => "Capacity that the system reports, in bytes; null if it reports none.";
    "reported_by": cache.claim.map(|claim| claim.source.word()) => "Source of the reported capacity; null if none is reported.";
    "agreement": cache.agreement.map(Agreement::word) => "Measured against reported capacity: `agrees`, `part` (this core gets less) or `more`; null if none is reported.";
}

members! {
    fn memory(analysis: &Analysis, memory: Reading);
    ..latency(analysis, memory.nanoseconds(), memory.latency);
    PLATEAU: memory.points;
    "largest_bytes": analysis.largest => "Largest measured working set, in bytes.";
    "largest_ns": analysis.largest_ns => "Latency at the largest working sets in nanoseconds; it includes page walks.";
}

members! {
    fn edge(edge: Edge);
    CAPACITY: edge.capacity;
    WAYS: edge.ways.map(u64::from);
    "ramp_start_bytes": edge.ramp_start => "Working set at which misses begin, in bytes.";
    "ramp_ways": edge.ramp_ways => "Associativity that follows from the width of the edge.";
    "hit": edge.hit => "Latency below the edge, in core cycles if known, else in nanoseconds.";
    "miss": edge.miss => "Latency above the edge, in core cycles if known, else in nanoseconds.";
}

members! {
    fn fitted_level(level: &Level);
    "capacity" interval: level.capacity => "Capacity of the level, in bytes.";
    "latency" interval: level.latency => "Latency of the level, in the `unit` of the models.";
    LAW: level.law.map(name);
    "resolved": level.resolved => "True if the points are sufficient to show this step.";
}

members! {
    fn fitted(fit: &Fit);
    "memory" interval: fit.memory => "Memory latency, in the `unit` of the models.";
    "median_residual": fit.median_residual => "Median of the absolute relative residuals of the model.";
    "rms_residual": fit.rms_residual => "Root mean square of the relative residuals of the model.";
    "bic": fit.bic => "Bayesian information criterion of the model; lower is better.";
}

members! {
    fn named(analysis: &Analysis, l1: Option<&Cache>, l2: Option<&Cache>, last: Option<&Cache>);
    "l1_ns": l1.map(|l1| analysis.of_cache(l1).value) => "Latency of the L1 in nanoseconds; null if the curve does not show it.";
    "l1_core_cycles": l1.and_then(|l1| analysis.cycles(l1.latency.value)) => "Latency of the L1 in core cycles; null if the core clock is unknown.";
    "l1_bytes": l1.and_then(|l1| whole(l1.middle()?)) => "Effective capacity of the L1, in bytes; null if the curve does not show it, or only to more than 4x.";
    "l2_ns": l2.map(|l2| analysis.of_cache(l2).value) => "Latency of the L2 in nanoseconds; null if the curve does not show it.";
    "l2_bytes": l2.and_then(|l2| whole(l2.middle()?)) => "Effective capacity of the L2, in bytes; null if the curve does not show it, or only to more than 4x.";
    "last_level_ns": last.map(|last| analysis.of_cache(last).value) => "Latency of the last-level cache in nanoseconds.";
    "last_level_bytes": last.and_then(|last| whole(last.middle()?)) => "Effective capacity of the last-level cache, in bytes; null if the curve shows it only to more than 4x.";
    "memory_ns": analysis.memory.map(|memory| memory.nanoseconds().value) => "Memory latency in nanoseconds; null if the curve does not reach memory.";
    "tlb_pages": analysis.tlb[0].map(|level| level.entries.value) => "Number of entries of the first TLB level; null if unknown.";
}

/// Describes the quantities that have well-known names.
pub fn summary(document: &mut Shown, analysis: &Analysis) {
    let numbered = |number| analysis.caches().iter().find(|cache| cache.number == number);
    named(document, analysis, numbered(1), numbered(2), analysis.caches().last());
}

/// Describes the caches that a program sees, the TLB, and each fitted model.
pub fn model(document: &mut Shown, analysis: &Analysis) {
    document.part(Part::Object(&MODEL), |document| {
        units(document, analysis);
        document.items(Part::List(&LEVELS), analysis.caches(), |document, level| {
            cache(document, analysis, level)
        });
        document.part(Part::Object(&MEMORY), |document| {
            analysis.memory.into_iter().for_each(|found| memory(document, analysis, found));
        });
        for (level, field) in analysis.tlb.iter().zip([&TLB, &L2_TLB]) {
            document.object(field, level.as_ref(), |document, level| {
                split::tlb_level(document, level, analysis.gigahertz);
            });
        }
        fit(document, &STAIR, Some(&analysis.stair));
        fit(document, &MIXTURE_FREE, Some(&analysis.mixture));
        fit(document, &MIXTURE_REPORTED, analysis.reported.as_ref());
    });
    document.object(&L1_EDGE, analysis.edge, |document, found| match found {
        Err(error) => document.put(
            &NOT_FOUND,
            match error {
                EdgeError::Unfinished => "interrupted",
                EdgeError::InvalidLatency => "no latency",
                EdgeError::NoEdge => "no edge",
                EdgeError::NoRamp => "no ramp",
            },
        ),
        Ok(found) => edge(document, found),
    });
}

/// Returns a number of bytes rounded to a whole number, since a fraction is meaningless.
fn whole(bytes: f64) -> Option<u64> {
    (bytes.is_finite() && bytes >= 0.0).then_some(math::whole(bytes + 0.5))
}

/// Returns the name of a law of replacement.
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

/// Describes one model, in the unit that all models share.
fn fit(document: &mut Shown, field: &'static Field, fit: Option<&Result<Fit, FitError>>) {
    document.object(field, fit, |document, fit| match fit {
        Err(error) => document.show(&NOT_FITTED, error),
        Ok(fit) => {
            document.items(Part::List(&LEVELS), fit.levels(), fitted_level);
            fitted(document, fit);
        }
    });
}
