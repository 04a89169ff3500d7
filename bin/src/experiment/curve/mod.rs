//! Latency against working set: the levels of the memory hierarchy, as a program sees them.
//!
//! Five passes: a coarse grid, refined where neighbouring points differ; the edge of
//! the first-level cache; then rounds over all points until they are precise; the TLB; and large sizes without translation.

pub mod levels;
pub mod model;
pub mod passes;
pub mod view;

use alloc::vec::Vec;

use latency_core::model::edge::EdgeSearch;
use latency_core::model::refine::next_size;
use latency_core::stats::gather;
use latency_core::{Bytes, sort_by_key};

use super::Experiment;
use crate::analysis::claims::Claims;
use crate::analysis::curve::Analysis;
use crate::analysis::reference::quantity;
use crate::describe::{Report, ReportParts, method, metrics, point, reference, split};
use crate::options::{Descriptor, FlagId, FlagSet, Options};
use crate::plan::{self, budget};
use latency_engine::budget::{Budget, PLACES};
use latency_engine::error::Attempt;
use latency_engine::machine::{Machine, Platform};
use latency_engine::memory::RealSchedule;
use latency_engine::memory::chains::Alongside;
use latency_engine::result::{Extra, Outcome, Point, Sample, SpanPoint};
use latency_engine::run;
use latency_engine::session::{Findings, Session, requested};
use latency_report::chart::vector;
use latency_sys::Table;

/// Number of rounds for the medians that decide about refinement. With single measurements, noise would add points.
const COARSE_ROUNDS: usize = 3;
/// Default duration of a curve, unless a time limit for each point is given; longer if loads are emulated.
const RUN_NS: f64 = 9e9;
const EMULATED_RUN_NS: f64 = 18e9;
/// Largest size of a first-level cache. If the latency stays flat up to this size, the curve does not show that cache.
const MOST: Bytes = Bytes(512 << 10);
/// Largest ratio of the latencies within one plateau; the next constant is the smallest ratio of the next level to it.
const FLAT: f64 = 1.03;
const SLOWER: f64 = 1.15;
/// Largest number of octaves that are added below the smallest planned size: from half of the largest first-level
/// cache down to the smallest possible size.
const OCTAVES: usize = 4;
/// Number of sizes per octave below the smallest planned size.
const STEPS: u32 = 4;
/// Number of placements of one size in the search for the edge of the first level.
const EDGE_VISITS: usize = 5;

/// Latency against working set.
pub const CURVE: Experiment = Experiment {
    descriptor: Descriptor {
        name: "curve",
        summary: "latency by working-set size, and the cache levels",
        details: "The size and latency of each cache level, from a fitted model and as the system reports \
                  them, and a plot of the latency.",
        flags: FlagSet::MEASURING.union(FlagSet::SIZES).union(FlagSet::CHAIN).with(FlagId::Reciprocal),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan: plan::curve::points,
    budget: |options, machine, points| {
        let run_ns = match machine.processor.platform {
            Platform::Emulated => EMULATED_RUN_NS,
            _ => RUN_NS,
        };
        let mut budget = budget::of_options(options, machine).rewritten(PLACES).within(run_ns, points.len());
        budget.more = OCTAVES * STEPS as usize + plan::curve::REFINEMENTS;
        if points.first().is_some_and(plan::curve::is_dense) {
            // The probe decides in which pages the TLB is measured.
            (budget.after_ns, budget.translation) = (passes::SPANS_NS + passes::apart_ns(points), true);
        }
        budget
    },
    measure,
    conclude: |session, findings| {
        session.progress.say(format_args!("looking for levels"));
        let Findings { outcomes, spans, extra, .. } = findings;
        let analysis = concluded(outcomes, spans, session.machine, extra, &requested);
        session.progress.clear();
        findings.interrupted |= requested();
        Some(analysis)
    },
    present,
};

fn measure(
    options: &Options,
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
) -> Attempt<Findings> {
    let mut extra = Extra::default();
    let mut findings =
        run::measure_with(session, points, budget, &mut Alongside::default(), &mut |session, schedule| {
            if let Some(first) = points.first() {
                prepare(options, session, schedule, first, &mut extra)?;
            }
            schedule.run(session.progress)
        })?;
    sort_by_key(&mut findings.outcomes, |outcome| outcome.point.size);
    findings.extra = extra;
    if !findings.interrupted {
        let spans_ns = budget.after_ns.min(passes::SPANS_NS);
        passes::walk_spans(session, &mut findings, &Budget { after_ns: spans_ns, ..*budget })?;
        passes::tell_apart(session, &mut findings, budget, budget.after_ns - spans_ns)?;
    }
    Ok(findings)
}

/// Returns the conclusions from the points of a curve; no further levels are sought once `stop` returns true.
pub fn concluded(
    outcomes: &[Outcome],
    spans: &[SpanPoint],
    machine: &Machine,
    extra: &Extra,
    stop: &dyn Fn() -> bool,
) -> Analysis {
    let samples = vector(outcomes.iter().filter_map(Sample::of));
    let levels = passes::tlb_levels(outcomes, spans, machine, extra);
    Analysis::new(&samples, levels, Claims::of(machine), extra.edge, stop)
}

/// Runs the passes before the long one, which choose the sizes and find the edge of the first level.
fn prepare(
    options: &Options,
    session: &mut Session<'_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
    extra: &mut Extra,
) -> Attempt {
    let granule = plan::curve::granule(options, session.machine);
    let mut room = Table::filled(schedule.capacity, (Bytes(0), 0.0))?;
    schedule.reach(session.progress, COARSE_ROUNDS)?;
    if options.min_size.is_none() {
        descend(granule, session, schedule, like, &mut room)?;
    }
    if options.points_per_octave.is_none() {
        refine(granule, session, schedule, like, &mut room)?;
    }
    let l1 =
        first_level(so_far(schedule, &mut room)).unwrap_or(plan::curve::first_level_cache(session.machine));
    if plan::curve::is_dense(like) && options.min_size.is_none() && options.warmup_iters.is_none() {
        edge(session, schedule, like, l1, extra)?;
    }
    Ok(())
}

/// Looks for the edge of the first level, whose expected size is `l1`.
fn edge(
    session: &mut Session<'_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
    l1: Bytes,
    extra: &mut Extra,
) -> Attempt {
    let mut search = EdgeSearch::new(like.line.bytes(), Bytes(l1.0 / 2), l1.times(2));
    while let Some(size) = search.next_size() {
        session.progress.say(format_args!("looking for the edge of the first-level cache at {size}"));
        let (nanoseconds, cycles) = schedule.probe(&Point { size, ..*like }, EDGE_VISITS)?;
        search.record(if cycles.is_finite() { cycles } else { nanoseconds });
    }
    extra.edge = Some(search.edge());
    Ok(())
}

/// Adds smaller sizes until a whole octave has the latency of the smallest size: the reported first level may be wrong,
/// or an emulator's invention.
fn descend(
    granule: Bytes,
    session: &mut Session<'_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
    room: &mut [(Bytes, f64)],
) -> Attempt {
    let mut least = like.size;
    for _ in 0..OCTAVES {
        if least.0 / 2 < plan::curve::SMALLEST.0.max(granule.0 * 2) {
            break;
        }
        let within = |size: Bytes| (least..=least.times(2)).contains(&size);
        let octave = so_far(schedule, room).iter().filter(|(size, _)| within(*size));
        let (low, high) = octave.fold((f64::INFINITY, 0.0_f64), |(low, high), (_, latency)| {
            (low.min(*latency), high.max(*latency))
        });
        if high <= low * FLAT {
            break;
        }
        for size in plan::curve::grid(Bytes(least.0 / 2), least, STEPS) {
            let size = Bytes(size.0 / granule.0 * granule.0);
            if size < least && !schedule.add(Point { size, ..*like }) {
                return Ok(());
            }
        }
        least = Bytes(least.0 / 2);
        schedule.reach(session.progress, COARSE_ROUNDS)?;
    }
    Ok(())
}

/// Returns the largest size with the same latency as the smallest.
fn first_level(known: &[(Bytes, f64)]) -> Option<Bytes> {
    let (_, smallest) = known.iter().min_by_key(|(size, _)| *size)?;
    let held = known.iter().filter(|(_, latency)| *latency < smallest * SLOWER);
    held.map(|(size, _)| *size).max().filter(|size| *size <= MOST)
}

/// Returns the sizes, and their latencies so far.
fn so_far<'r>(schedule: &mut RealSchedule<'_>, room: &'r mut [(Bytes, f64)]) -> &'r mut [(Bytes, f64)] {
    gather(room, schedule.so_far().map(|(point, latency)| (point.size, latency)))
}

/// Adds sizes where the latency changes most between neighbours.
fn refine(
    granule: Bytes,
    session: &mut Session<'_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
    room: &mut [(Bytes, f64)],
) -> Attempt {
    for _ in 0..plan::curve::REFINEMENTS {
        let known = so_far(schedule, room);
        sort_by_key(known, |(size, _)| *size);
        let Some(size) = next_size(known, granule) else { break };
        if !schedule.add(Point { size, ..*like }) {
            break;
        }
        schedule.reach(session.progress, COARSE_ROUNDS)?;
    }
    Ok(())
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    point::rows(&mut parts.rows, report);
    let Some(analysis) = report.analysis else { return };
    metrics::caches(&mut parts.metrics, report, analysis);
    model::summary(&mut parts.summary, analysis);
    // The largest working set whose memory and translation were told apart.
    let apart = report.outcomes.iter().rev().find_map(|outcome| Some((outcome, split::parts(outcome)?)));
    let memory_apart = apart.and_then(|(outcome, _)| split::memory(report.machine, outcome));
    let first = report.outcomes.first().map(|first| &first.point);
    let side_cache = first.and_then(|first| report.warnings.side_cache(first.target));
    view::answer(&mut parts.answer, analysis, side_cache, memory_apart);
    if let Some((outcome, parts_of_load)) = apart {
        parts.answer.finding(format_args!(
            "At {}, {} without address translation is {}; translation adds {}.",
            outcome.point.size,
            if split::is_memory(report.machine, outcome) { "memory" } else { "a load" },
            split::with_ends(parts_of_load.without_translation),
            split::with_ends(parts_of_load.translation),
        ));
    }
    if let (Ok(_), Some(memory), Some(first)) = (&analysis.stair, &analysis.memory, first) {
        let published = if first.initiator == first.target { quantity::LOCAL } else { quantity::REMOTE };
        let memory = memory_apart.unwrap_or_else(|| memory.nanoseconds());
        reference::published(&mut parts.answer, report, published, Some(memory.value));
    }
    let samples: Vec<Sample> = vector(report.outcomes.iter().filter_map(Sample::of));
    let subtitle = point::subtitle("latency by working set", report.machine, report.outcomes.first());
    let told = |size| split::parts(report.outcomes.iter().find(|outcome| outcome.point.size == size)?);
    let words = ["", subtitle.as_str()];
    view::evidence(&mut parts.evidence, analysis, &samples, &told, words, report.options.reciprocal);
    passes::tlb_details(&mut parts.evidence, report, &analysis.tlb);
    method::walks(&mut parts.evidence, report);
    levels::models(&mut parts.data, analysis);
    point::evidence(&mut parts.data, report);
    model::model(&mut parts.data, analysis);
}
