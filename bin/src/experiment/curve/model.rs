//! The conclusions from a curve, for programs.

use latency_core::math;
use latency_core::model::edge::EdgeError;
use latency_core::model::law::Law;
use latency_core::model::{Fit, FitError};
use latency_core::stats::{Estimate, Interval};
use latency_core::words::Worded;

use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::describe::tlb;
use crate::report::document::{Field, Part, fields};
use crate::report::shown::Shown;

fields! {
    MODEL "model" "Cache levels that the curve shows, and the fitted models.";
    UNIT "unit" "Unit of the models: core cycles if known, else nanoseconds.";
    CORE_GHZ "core_ghz" "Core clock that converts cycles to nanoseconds, in GHz; null if unknown.";
    LEVELS "levels" "Cache levels as a program sees them, nearest first.";
    MEMORY "memory" "Memory behind the last cache level.";
    TLB "tlb" "First TLB level, in the pages of the curve; null if unknown.";
    L2_TLB "l2_tlb" "Second TLB level, in the pages of the curve; null if unknown.";
    STAIR "stair" "Model with a free step for each level.";
    MIXTURE_FREE "mixture_free" "Model that mixes level latencies by share of the working set, with fitted sizes.";
    MIXTURE_REPORTED "mixture_reported" "Mixture model with the reported cache sizes; null if no sizes are reported.";
    L1_EDGE "l1_edge" "Search for the capacity of the L1 by bisection; null if it was not searched.";
    NOT_FOUND "not_found" "Reason why the search found no edge; absent if it found one.";
    CAPACITY "capacity_bytes" "Effective capacity of the cache, in bytes; null if its interval spans more than 4x.";
    CAPACITY_LOW "capacity_bytes_low" "Lower end of the 95% confidence interval of the capacity; null if the points do not bound it.";
    CAPACITY_HIGH "capacity_bytes_high" "Upper end of the 95% confidence interval of the capacity; null if the points do not bound it.";
    EXACT "capacity_exact" "True if the bisection of the L1 found the capacity exactly.";
    ONSET "onset_bytes" "Working set at which 5% of the misses of this level have appeared, in bytes.";
    KNEE "knee_bytes" "Working set at which half of the misses of this level have appeared, in bytes.";
    WAYS "ways" "Associativity of the cache; null if unknown.";
    LAW "law" "Law by which the miss rate rises with the working set; null if unknown.";
    LEVEL "level" "Cache level, counted from the core.";
    NS "ns" interval "Latency, in nanoseconds.";
    CORE_CYCLES "core_cycles" "Latency in core cycles; null if the core clock is unknown.";
    PLATEAU "plateau_points" "Number of points that gave the latency; 0 if the stair model gave it.";
    LARGEST_BYTES "largest_bytes" "Largest measured working set, in bytes.";
    LARGEST_NS "largest_ns" "Latency at the largest working sets in nanoseconds; it includes page walks.";
    STAGES "stages" "Steps in which the latency rises at the edge of this level.";
    WITH_TLB "with_tlb" "True if a TLB level overflows at the same working set.";
    LIKE_MEMORY "like_memory" "True if memory latency is below 1.5x the latency of this level, which then may not be a cache.";
    REPORTED "reported_bytes" "Capacity that the system reports, in bytes; null if it reports none.";
    REPORTED_BY "reported_by" "Source of the reported capacity; null if none is reported.";
    AGREEMENT "agreement" "Measured against reported capacity: `agrees`, `part` (this core gets less) or `more`; null if none is reported.";
    RAMP_START "ramp_start_bytes" "Working set at which misses begin, in bytes.";
    RAMP_WAYS "ramp_ways" "Associativity that follows from the width of the edge.";
    HIT "hit" "Latency below the edge, in core cycles if known, else in nanoseconds.";
    MISS "miss" "Latency above the edge, in core cycles if known, else in nanoseconds.";
    NOT_FITTED "not_fitted" "Reason why there is no fit; absent if there is one.";
    LATENCY "latency" interval "Latency of the level, in the `unit` of the models.";
    RESOLVED "resolved" "True if the points are sufficient to show this step.";
    MEDIAN_RESIDUAL "median_residual" "Median of the absolute relative residuals of the model.";
    RMS_RESIDUAL "rms_residual" "Root mean square of the relative residuals of the model.";
    BIC "bic" "Bayesian information criterion of the model; lower is better.";
    FIT_CAPACITY "capacity" interval "Capacity of the level, in bytes.";
    FIT_MEMORY "memory" interval "Memory latency, in the `unit` of the models.";
    MEMORY_NS "memory_ns" "Memory latency in nanoseconds; null if the curve does not reach memory.";
    L1_NS "l1_ns" "Latency of the L1 in nanoseconds; null if the curve does not show it.";
    L1_CYCLES "l1_core_cycles" "Latency of the L1 in core cycles; null if the core clock is unknown.";
    L1_BYTES "l1_bytes" "Effective capacity of the L1, in bytes; null if the curve does not show it, or only to more than 4x.";
    L2_NS "l2_ns" "Latency of the L2 in nanoseconds; null if the curve does not show it.";
    L2_BYTES "l2_bytes" "Effective capacity of the L2, in bytes; null if the curve does not show it, or only to more than 4x.";
    LAST_NS "last_level_ns" "Latency of the last-level cache in nanoseconds.";
    LAST_BYTES "last_level_bytes" "Effective capacity of the last-level cache, in bytes; null if the curve shows it only to more than 4x.";
    TLB_PAGES "tlb_pages" "Number of entries of the first TLB level; null if unknown.";
}

/// Describes the caches that a program sees, the TLB, and each fitted model.
pub fn model(document: &mut Shown, analysis: &Analysis) {
    document.part(Part::Object(&MODEL), |document| {
        document.put(&UNIT, if analysis.gigahertz.is_some() { "core cycles" } else { "ns" });
        document.put(&CORE_GHZ, analysis.gigahertz);
        document.items(Part::List(&LEVELS), analysis.caches(), |document, cache| {
            level(document, analysis, cache)
        });
        document.part(Part::Object(&MEMORY), |document| {
            if let Some(memory) = &analysis.memory {
                latency(document, analysis, memory.nanoseconds(), memory.latency);
                document.put(&PLATEAU, memory.points);
                document.put(&LARGEST_BYTES, analysis.largest);
                document.put(&LARGEST_NS, analysis.largest_ns);
            }
        });
        for (level, field) in analysis.tlb.iter().zip([&TLB, &L2_TLB]) {
            document.object(field, level.as_ref(), |document, level| {
                tlb::level(document, level, analysis.gigahertz);
            });
        }
        fit(document, &STAIR, &analysis.stair);
        fit(document, &MIXTURE_FREE, &analysis.mixture);
        match &analysis.reported {
            None => document.put(&MIXTURE_REPORTED, None::<bool>),
            Some(reported) => fit(document, &MIXTURE_REPORTED, reported),
        }
    });
    edge(document, analysis);
}

fn edge(document: &mut Shown, analysis: &Analysis) {
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
        Ok(edge) => {
            document.put(&CAPACITY, edge.capacity);
            document.put(&WAYS, edge.ways.map(u64::from));
            document.put(&RAMP_START, edge.ramp_start);
            document.put(&RAMP_WAYS, edge.ramp_ways);
            document.put(&HIT, edge.hit);
            document.put(&MISS, edge.miss);
        }
    });
}

fn level(document: &mut Shown, analysis: &Analysis, cache: &Cache) {
    document.put(&LEVEL, u64::from(cache.number));
    let Interval { low, high } = cache.size.bounds();
    document.put(&CAPACITY, cache.middle().and_then(whole));
    for (field, bytes) in [(&CAPACITY_LOW, low), (&CAPACITY_HIGH, high)] {
        document.put(field, whole(bytes));
    }
    document.put(&EXACT, cache.exact);
    document.put(&ONSET, whole(cache.onset));
    document.put(&KNEE, whole(cache.half));
    document.put(&WAYS, cache.ways.map(u64::from));
    document.put(&LAW, cache.law.map(name));
    latency(document, analysis, analysis.of_cache(cache), cache.latency);
    document.put(&PLATEAU, cache.plateau.map_or(0, |plateau| plateau.count));
    document.put(&STAGES, u64::from(cache.stages));
    document.put(&WITH_TLB, cache.with_translation);
    document.put(&LIKE_MEMORY, cache.like_memory);
    document.put(&REPORTED, cache.claim.map(|claim| claim.size));
    document.put(&REPORTED_BY, cache.claim.map(|claim| claim.source.word()));
    document.put(
        &AGREEMENT,
        cache.agreement.map(|agreement| match agreement {
            Agreement::Agrees => "agrees",
            Agreement::Part => "part",
            Agreement::More => "more",
        }),
    );
}

/// Returns a number of bytes rounded to a whole number, since a fraction is meaningless.
fn whole(bytes: f64) -> Option<u64> {
    (bytes.is_finite() && bytes >= 0.0).then_some(math::whole(bytes + 0.5))
}

fn latency(document: &mut Shown, analysis: &Analysis, nanoseconds: Estimate, latency: Estimate) {
    document.put(&NS, nanoseconds);
    document.put(&CORE_CYCLES, analysis.cycles(latency.value));
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
fn fit(document: &mut Shown, field: &'static Field, fit: &Result<Fit, FitError>) {
    document.part(Part::Object(field), |document| match fit {
        Err(error) => document.show(&NOT_FITTED, error),
        Ok(fit) => {
            document.items(Part::List(&LEVELS), fit.levels(), |document, level| {
                document.put(&FIT_CAPACITY, level.capacity);
                document.put(&LATENCY, level.latency);
                document.put(&LAW, level.law.map(name));
                document.put(&RESOLVED, level.resolved);
            });
            document.put(&FIT_MEMORY, fit.memory);
            document.put(&MEDIAN_RESIDUAL, fit.median_residual);
            document.put(&RMS_RESIDUAL, fit.rms_residual);
            document.put(&BIC, fit.bic);
        }
    });
}

/// Describes the quantities that have well-known names.
pub fn summary(document: &mut Shown, analysis: &Analysis) {
    let caches = analysis.caches();
    let numbered = |number| caches.iter().find(|cache| cache.number == number);
    let ns = |cache: Option<&Cache>| cache.map(|cache| analysis.of_cache(cache).value);
    let bytes = |cache: Option<&Cache>| cache.and_then(|cache| whole(cache.middle()?));
    document.put(&L1_NS, ns(numbered(1)));
    document.put(&L1_CYCLES, numbered(1).and_then(|cache| analysis.cycles(cache.latency.value)));
    document.put(&L1_BYTES, bytes(numbered(1)));
    document.put(&L2_NS, ns(numbered(2)));
    document.put(&L2_BYTES, bytes(numbered(2)));
    document.put(&LAST_NS, ns(caches.last()));
    document.put(&LAST_BYTES, bytes(caches.last()));
    document.put(&MEMORY_NS, analysis.memory.map(|memory| memory.nanoseconds().value));
    document.put(&TLB_PAGES, analysis.tlb[0].map(|level| level.entries.value));
}
