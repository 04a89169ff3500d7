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
use crate::report::document::{Field, Part, fields, members};
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
    WAYS "ways" "Associativity of the cache; null if unknown.";
    LAW "law" "Law by which the miss rate rises with the working set; null if unknown.";
    LEVEL "level" "Cache level, counted from the core.";
    NS "ns" interval "Latency, in nanoseconds.";
    CORE_CYCLES "core_cycles" "Latency in core cycles; null if the core clock is unknown.";
    PLATEAU "plateau_points" "Number of points that gave the latency; 0 if the stair model gave it.";
    LARGEST_BYTES "largest_bytes" "Largest measured working set, in bytes.";
    LARGEST_NS "largest_ns" "Latency at the largest working sets in nanoseconds; it includes page walks.";
    AGREEMENT "agreement" "Measured against reported capacity: `agrees`, `part` (this core gets less) or `more`; null if none is reported.";
    NOT_FITTED "not_fitted" "Reason why there is no fit; absent if there is one.";
    LATENCY "latency" interval "Latency of the level, in the `unit` of the models.";
    RESOLVED "resolved" "True if the points are sufficient to show this step.";
    FIT_CAPACITY "capacity" interval "Capacity of the level, in bytes.";
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
            members! { document;
                "ramp_start_bytes": edge.ramp_start => "Working set at which misses begin, in bytes.";
                "ramp_ways": edge.ramp_ways => "Associativity that follows from the width of the edge.";
                "hit": edge.hit => "Latency below the edge, in core cycles if known, else in nanoseconds.";
                "miss": edge.miss => "Latency above the edge, in core cycles if known, else in nanoseconds.";
            }
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
    members! { document;
        "capacity_exact": cache.exact => "True if the bisection of the L1 found the capacity exactly.";
        "onset_bytes": whole(cache.onset) => "Working set at which 5% of the misses of this level have appeared, in bytes.";
        "knee_bytes": whole(cache.half) => "Working set at which half of the misses of this level have appeared, in bytes.";
    }
    document.put(&WAYS, cache.ways.map(u64::from));
    document.put(&LAW, cache.law.map(name));
    latency(document, analysis, analysis.of_cache(cache), cache.latency);
    document.put(&PLATEAU, cache.plateau.map_or(0, |plateau| plateau.count));
    members! { document;
        "stages": u64::from(cache.stages) => "Steps in which the latency rises at the edge of this level.";
        "with_tlb": cache.with_translation => "True if a TLB level overflows at the same working set.";
        "like_memory": cache.like_memory => "True if memory latency is below 1.5x the latency of this level, which then may not be a cache.";
        "reported_bytes": cache.claim.map(|claim| claim.size) => "Capacity that the system reports, in bytes; null if it reports none.";
        "reported_by": cache.claim.map(|claim| claim.source.word()) => "Source of the reported capacity; null if none is reported.";
    }
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
            members! { document;
                "memory" interval: fit.memory => "Memory latency, in the `unit` of the models.";
                "median_residual": fit.median_residual => "Median of the absolute relative residuals of the model.";
                "rms_residual": fit.rms_residual => "Root mean square of the relative residuals of the model.";
                "bic": fit.bic => "Bayesian information criterion of the model; lower is better.";
            }
        }
    });
}

/// Describes the quantities that have well-known names.
pub fn summary(document: &mut Shown, analysis: &Analysis) {
    let caches = analysis.caches();
    let numbered = |number| caches.iter().find(|cache| cache.number == number);
    let ns = |cache: Option<&Cache>| cache.map(|cache| analysis.of_cache(cache).value);
    let bytes = |cache: Option<&Cache>| cache.and_then(|cache| whole(cache.middle()?));
    members! { document;
        "l1_ns": ns(numbered(1)) => "Latency of the L1 in nanoseconds; null if the curve does not show it.";
        "l1_core_cycles": numbered(1).and_then(|cache| analysis.cycles(cache.latency.value)) => "Latency of the L1 in core cycles; null if the core clock is unknown.";
        "l1_bytes": bytes(numbered(1)) => "Effective capacity of the L1, in bytes; null if the curve does not show it, or only to more than 4x.";
        "l2_ns": ns(numbered(2)) => "Latency of the L2 in nanoseconds; null if the curve does not show it.";
        "l2_bytes": bytes(numbered(2)) => "Effective capacity of the L2, in bytes; null if the curve does not show it, or only to more than 4x.";
        "last_level_ns": ns(caches.last()) => "Latency of the last-level cache in nanoseconds.";
        "last_level_bytes": bytes(caches.last()) => "Effective capacity of the last-level cache, in bytes; null if the curve shows it only to more than 4x.";
        "memory_ns": analysis.memory.map(|memory| memory.nanoseconds().value) => "Memory latency in nanoseconds; null if the curve does not reach memory.";
        "tlb_pages": analysis.tlb[0].map(|level| level.entries.value) => "Number of entries of the first TLB level; null if unknown.";
    }
}
