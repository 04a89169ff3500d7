//! The conclusions from a curve, for programs.

use latency_core::model::edge::EdgeError;
use latency_core::model::law::Law;
use latency_core::model::{Fit, FitError};
use latency_core::stats::{Estimate, Interval};
use latency_core::words::Worded;

use crate::analysis::caches::{Agreement, Cache};
use crate::analysis::curve::Analysis;
use crate::analysis::pages::PAGE;
use crate::report::document::{Document, Field, Part, fields};

fields! {
    MODEL "model" "The levels of the curve, and the models behind them.";
    UNIT "unit" "The unit of the models: core cycles where these are known.";
    CORE_GHZ "core_ghz" "The clock by which cycles become nanoseconds.";
    LEVELS "levels" "The caches as a program meets them, nearest first.";
    MEMORY "memory" "What lies beyond the last level.";
    TLB "tlb" "The first translation buffer; null where none shows.";
    PAGES "pages" "Its entries.";
    PAGE_BYTES "page_bytes" "The page that an entry translates.";
    MISS_NS "miss_ns" "What a miss adds.";
    MISS_CYCLES "miss_core_cycles" "What a miss adds, in core cycles.";
    STAIR "stair" "The model with a free step for each level.";
    MIXTURE_FREE "mixture_free" "The mixture by share of the working set, sizes free.";
    MIXTURE_REPORTED "mixture_reported" "The same with the sizes that the system reports.";
    L1_EDGE "l1_edge" "The edge of the first level, by bisection; null if it was not searched.";
    NOT_FOUND "not_found" "Why there is none.";
    CAPACITY "capacity_bytes" "The effective capacity.";
    CAPACITY_LOW "capacity_bytes_low" "The lower end of its 95 % confidence interval; null where the points do not bound it.";
    CAPACITY_HIGH "capacity_bytes_high" "The upper end of the interval.";
    EXACT "capacity_exact" "Whether the edge of the first level gave it exactly.";
    ONSET "onset_bytes" "The working set from which on it gives way: 5 % of the misses are there.";
    KNEE "knee_bytes" "The working set at which half of the misses are there.";
    WAYS "ways" "The associativity, where it is known.";
    LAW "law" "How the misses rise.";
    LEVEL "level" "Counted from the core.";
    NS "ns +-" "The latency.";
    CORE_CYCLES "core_cycles" "The latency in core cycles.";
    PLATEAU "plateau_points" "The points that the latency was read from; 0 where the stair tells it.";
    LARGEST_BYTES "largest_bytes" "The largest working set.";
    LARGEST_NS "largest_ns" "The latency at the largest working sets: what a page walk takes grows with them.";
    STAGES "stages" "The steps in which it gives way.";
    WITH_TLB "with_tlb" "Whether a translation buffer gives way at the same size.";
    LIKE_MEMORY "like_memory" "Whether memory is less than 1.5 times as slow, so that it may be no level.";
    REPORTED "reported_bytes" "What the system reports.";
    REPORTED_BY "reported_by" "Who reports it.";
    AGREEMENT "agreement" "`agrees`, `part` (this core gets less) or `more`.";
    RAMP_START "ramp_start_bytes" "Where the misses begin.";
    RAMP_WAYS "ramp_ways" "The ways that the width of the edge tells.";
    HIT "hit" "The latency before the edge.";
    MISS "miss" "The latency behind it.";
    NOT_FITTED "not_fitted" "Why there is no fit.";
    LATENCY "latency +-" "The latency of the level.";
    RESOLVED "resolved" "Whether the points show it.";
    MEDIAN_RESIDUAL "median_residual" "The median of the absolute relative residuals.";
    RMS_RESIDUAL "rms_residual" "Their root mean square.";
    BIC "bic" "The Bayesian information criterion.";
    FIT_CAPACITY "capacity +-" "The capacity of the level.";
    FIT_MEMORY "memory +-" "The latency of memory.";
    MEMORY_NS "memory_ns" "The latency of memory.";
    L1_NS "l1_ns" "The latency of the first level.";
    L1_CYCLES "l1_core_cycles" "The same in core cycles.";
    L1_BYTES "l1_bytes" "The effective size of the first level.";
    L2_NS "l2_ns" "The latency of the second level.";
    L2_BYTES "l2_bytes" "The effective size of the second level.";
    LAST_NS "last_level_ns" "The latency of the last level.";
    LAST_BYTES "last_level_bytes" "The effective size of the last level.";
    TLB_PAGES "tlb_pages" "The entries of the first translation buffer.";
}

/// Describes the caches that a program sees, the translation buffer, and each fitted model.
pub fn model(document: &mut dyn Document, analysis: &Analysis) {
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
        document.object(&TLB, analysis.translation.as_ref(), |document, knee| {
            document.put(&PAGES, knee.pages);
            document.put(&PAGE_BYTES, PAGE);
            document.put(&MISS_NS, analysis.nanoseconds(knee.step));
            document.put(&MISS_CYCLES, analysis.cycles(knee.step));
        });
        fit(document, &STAIR, &analysis.stair);
        fit(document, &MIXTURE_FREE, &analysis.mixture);
        match &analysis.reported {
            None => document.put(&MIXTURE_REPORTED, None::<bool>),
            Some(reported) => fit(document, &MIXTURE_REPORTED, reported),
        }
    });
    edge(document, analysis);
}

fn edge(document: &mut dyn Document, analysis: &Analysis) {
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

fn level(document: &mut dyn Document, analysis: &Analysis, cache: &Cache) {
    document.put(&LEVEL, u64::from(cache.number));
    let Interval { low, high } = cache.size.bounds();
    for (field, bytes) in [(&CAPACITY, cache.size.value), (&CAPACITY_LOW, low), (&CAPACITY_HIGH, high)] {
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
    (bytes.is_finite() && bytes >= 0.0).then_some((bytes + 0.5) as u64)
}

fn latency(document: &mut dyn Document, analysis: &Analysis, nanoseconds: Estimate, latency: Estimate) {
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
fn fit(document: &mut dyn Document, field: &'static Field, fit: &Result<Fit, FitError>) {
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
pub fn summary(document: &mut dyn Document, analysis: &Analysis) {
    let caches = analysis.caches();
    let numbered = |number| caches.iter().find(|cache| cache.number == number);
    let ns = |cache: Option<&Cache>| cache.map(|cache| analysis.of_cache(cache).value);
    let bytes = |cache: Option<&Cache>| cache.and_then(|cache| whole(cache.size.value));
    document.put(&L1_NS, ns(numbered(1)));
    document.put(&L1_CYCLES, numbered(1).and_then(|cache| analysis.cycles(cache.latency.value)));
    document.put(&L1_BYTES, bytes(numbered(1)));
    document.put(&L2_NS, ns(numbered(2)));
    document.put(&L2_BYTES, bytes(numbered(2)));
    document.put(&LAST_NS, ns(caches.last()));
    document.put(&LAST_BYTES, bytes(caches.last()));
    document.put(&MEMORY_NS, analysis.memory.map(|memory| memory.nanoseconds().value));
    document.put(&TLB_PAGES, analysis.translation.map(|knee| knee.pages));
}
