//! Latency against working set: the levels of the memory hierarchy, as a program meets them.
//!
//! Three passes: a coarse grid, refined where neighbouring points differ; the edge of
//! the first-level cache; then rounds over all points until they are precise.

pub mod levels;
pub mod model;
pub mod view;

use latency_core::model::edge::EdgeSearch;
use latency_core::model::refine::Refinement;
use latency_core::model::MAX_POINTS;
use latency_core::sort::sort_by;
use latency_core::units::{Bytes, PageSize};

use crate::analysis::claims::Claims;
use crate::analysis::curve::Analysis;
use crate::analysis::pages::translates_small_pages;
use crate::engine::memory::chains::Alongside;
use crate::engine::memory::RealSchedule;
use crate::engine::run;
use crate::engine::session::{interrupted, Findings, Plan, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::error::{Failure, PlacementError};
use crate::experiment::curve::view::View;
use crate::experiment::facts;
use crate::experiment::facts::{method, point, trust, Report};
use crate::experiment::interface::Experiment;
use crate::machine::processor::Platform;
use crate::machine::Machine;
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Order, Pages};
use crate::plan::budget::{Budget, PLACES};
use crate::plan::{self, Scope};
use crate::report::document::{Document, Part};
use crate::result::sample::{Sample, Samples};
use crate::result::{Extra, Outcome, Point};
use crate::sys::table::Table;
use crate::warning::Warning;

/// Rounds on whose medians refinement decides: on single measurements points gather where the noise is.
const COARSE_ROUNDS: usize = 3;
/// The whole takes about so long, unless a time limit for each point is given; longer where hops are emulated.
const RUN_NS: f64 = 9e9;
const EMULATED_RUN_NS: f64 = 18e9;
/// No first-level cache is larger: what does not get slower before has none that shows.
const MOST: Bytes = Bytes(512 << 10);
/// A plateau's latencies differ by less; a larger level's is slower by more.
const FLAT: f64 = 1.03;
const SLOWER: f64 = 1.15;
/// From half of the largest first-level cache to that size.
const OCTAVES: usize = 4;
/// Sizes to an octave below the smallest that was planned.
const STEPS: u32 = 4;
/// Placements of one size in the search for the first level's edge.
const EDGE_VISITS: usize = 5;

/// Latency against working set.
pub const CURVE: Experiment = Experiment {
    descriptor: Descriptor {
        name: "curve",
        summary: "latency by working set, and each cache level",
        details: "A table and a plot of the latency from half of the L1 to several times the last-level \
                  cache, then the size and latency of each level, as a fitted model finds them and as the \
                  system reports them. Each size is measured at several places in memory, because the \
                  physical pages decide how much of it a cache can hold.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[
            FlagId::MinSize,
            FlagId::MaxSize,
            FlagId::PointsPerOctave,
            FlagId::Order,
            FlagId::Stride,
            FlagId::Kernel,
            FlagId::Seed,
            FlagId::Reciprocal,
        ])),
        picture: true,
        attributes: false,
        operands: Operands::NONE,
    },
    plan,
    budget: |options, machine, points| {
        let run_ns = match machine.processor.platform {
            Platform::Emulated => EMULATED_RUN_NS,
            _ => RUN_NS,
        };
        let mut budget = Budget::new(options, machine).rewritten(PLACES).within(run_ns, points.len());
        budget.more = OCTAVES * STEPS as usize + plan::curve::REFINEMENTS;
        budget
    },
    measure,
    present,
    columns: [&point::CHAINS, &[]],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    let Session { options, machine, .. } = *session;
    let scope = Scope::resolve(options, machine, session.warnings)?;
    let mut count = 0;
    let mut first = None;
    plan::curve::points(options, machine, &scope, session.warnings, &mut |point| {
        first = first.or(Some(point));
        count += 1;
    })?;
    let first = first.ok_or(PlacementError::NothingToMeasure)?;
    let mut points = Table::filled(count, first)?;
    let mut slots = points.iter_mut();
    // What there was to warn of has been said.
    plan::curve::points(options, machine, &scope, session.warnings, &mut |point| {
        if let Some(slot) = slots.next() {
            *slot = point;
        }
    })?;
    Ok(points)
}

fn measure<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let mut extra = Extra::default();
    let mut findings = run::measure_with(
        session,
        timer,
        points,
        budget,
        &mut Alongside::Nothing,
        &mut |session, schedule| {
            if let Some(first) = points.first() {
                prepare(session, schedule, first, &mut extra)?;
            }
            schedule.run(session.progress)
        },
    )?;
    sort_by(&mut findings.outcomes, |one, other| {
        (one.point.stride, one.point.size).cmp(&(other.point.stride, other.point.size))
    });
    findings.extra = extra;
    warn_of_pages(session, &findings);
    session.progress.say(format_args!("looking for levels"));
    let analysis = concluded(&findings.outcomes, session.machine, &findings.extra, &interrupted);
    session.progress.clear();
    findings.analysis = Table::filled(1, analysis)?;
    findings.interrupted |= interrupted();
    Ok(findings)
}

/// What is to be concluded from the points of a curve; no more levels are sought once `stop` says so.
#[inline(never)]
pub fn concluded(
    outcomes: &[Outcome<'_>],
    machine: &Machine,
    extra: &Extra,
    stop: &dyn Fn() -> bool,
) -> Analysis {
    let sample = |index: usize| outcomes.get(index).and_then(Sample::of);
    Analysis::new(Samples::new(outcomes.len(), &sample), Claims::of(machine), extra.edge, stop)
}

/// Says where huge pages were mapped that the translation buffers treat as small ones.
fn warn_of_pages(session: &mut Session<'_, '_>, findings: &Findings<'_>) {
    let obtained =
        findings.outcomes.iter().find_map(|outcome| Some(outcome.result.as_ref().ok()?.placed.pages));
    let huge = matches!(obtained, Some(Pages::Thp | Pages::Huge2m | Pages::Huge1g));
    if huge && translates_small_pages(findings.outcomes.iter().filter_map(Sample::of)) {
        let page = if obtained == Some(Pages::Huge1g) { PageSize::Huge1G } else { PageSize::Huge2M };
        session.warnings.push(Warning::HugePagesWithoutEffect { page });
    }
}

/// The passes before the long one: which sizes there are to be, and where the first level ends.
fn prepare(
    session: &mut Session<'_, '_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
    extra: &mut Extra,
) -> Result<(), Failure<'static>> {
    schedule.reach(session.progress, COARSE_ROUNDS)?;
    if session.options.min_size.is_none() {
        descend(session, schedule, like)?;
    }
    if session.options.points_per_octave.is_none() {
        refine(session, schedule, like)?;
    }
    let l1 = first_level(schedule, like).unwrap_or(plan::curve::first_level_cache(session.machine));
    let dense = session.options.order == Order::Random && like.stride == Bytes(64);
    if dense && session.options.min_size.is_none() && session.options.warmup_iters.is_none() {
        let mut search = EdgeSearch::new(Bytes(64), Bytes(l1.0 / 2), l1.times(2));
        while let Some(size) = search.next_size() {
            session.progress.say(format_args!("looking for the edge of the first-level cache at {size}"));
            let (nanoseconds, cycles) = schedule.probe(&Point { size, ..*like }, EDGE_VISITS)?;
            search.record(if cycles.is_finite() { cycles } else { nanoseconds });
        }
        extra.edge = Some(search.edge());
    }
    Ok(())
}

/// Goes on to smaller sizes until the latency of the smallest is that of a whole octave: what is reported of the
/// first level may be wrong, or an emulator's invention.
fn descend(
    session: &mut Session<'_, '_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
) -> Result<(), Failure<'static>> {
    let granule = plan::curve::granule(session.options);
    let mut least = like.size;
    for _ in 0..OCTAVES {
        if least.0 / 2 < plan::curve::SMALLEST.0.max(granule.0 * 2) {
            break;
        }
        let within = |size: Bytes| (least..=least.times(2)).contains(&size);
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        dense(schedule, like, &mut |size, latency| {
            if within(size) {
                (low, high) = (low.min(latency), high.max(latency));
            }
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

/// The largest size that takes no longer than the smallest.
fn first_level(schedule: &mut RealSchedule<'_>, like: &Point) -> Option<Bytes> {
    let (mut smallest, mut held) = ((Bytes(u64::MAX), 0.0), Bytes(0));
    dense(schedule, like, &mut |size, latency| {
        if size < smallest.0 {
            smallest = (size, latency);
        }
    });
    dense(schedule, like, &mut |size, latency| {
        if latency < smallest.1 * SLOWER {
            held = held.max(size);
        }
    });
    Some(held).filter(|size| size.0 > 0 && *size <= MOST)
}

/// Gives the sizes whose lines follow each other, and their latencies so far.
#[inline(never)] // it is called in several places
fn dense(schedule: &mut RealSchedule<'_>, like: &Point, each: &mut dyn FnMut(Bytes, f64)) {
    for (point, latency) in schedule.so_far() {
        if point.stride == like.stride {
            each(point.size, latency);
        }
    }
}

/// Adds sizes where the latency changes most between neighbours.
fn refine(
    session: &mut Session<'_, '_>,
    schedule: &mut RealSchedule<'_>,
    like: &Point,
) -> Result<(), Failure<'static>> {
    let mut curve = Table::filled(schedule.capacity(), (Bytes(0), 0.0))?;
    let rules = Refinement {
        granule: plan::curve::granule(session.options),
        budget: usize::MAX,
        ..Refinement::default()
    };
    for _ in 0..plan::curve::REFINEMENTS {
        let mut count = 0;
        dense(schedule, like, &mut |size, latency| {
            if let Some(slot) = curve.get_mut(count) {
                *slot = (size, latency);
                count += 1;
            }
        });
        let known = curve.get_mut(..count).unwrap_or_default();
        sort_by(known, |(one, _), (other, _)| one.cmp(other));
        let Some(size) = rules.next(known) else { break };
        if !schedule.add(Point { size, ..*like }) {
            break;
        }
        schedule.reach(session.progress, COARSE_ROUNDS)?;
    }
    Ok(())
}

fn present(document: &mut dyn Document, report: &Report<'_, '_>) {
    let Some(analysis) = report.analysis else { return };
    let sample = |index: usize| report.outcomes.get(index).and_then(Sample::of);
    let samples = Samples::new(report.outcomes.len(), &sample);
    let mut fitted = [Sample::EMPTY; MAX_POINTS];
    let mut count = 0;
    for (slot, sample) in fitted.iter_mut().zip(samples.iter().filter(|sample| analysis.is_fitted(sample))) {
        *slot = sample;
        count += 1;
    }
    let subtitle = point::subtitle(report.outcomes.first());
    let view = View {
        subtitle: subtitle.as_str(),
        side_cache: report.outcomes.first().and_then(|first| report.warnings.side_cache(first.point.target)),
        samples: fitted.get(..count).unwrap_or_default(),
        analysis,
        reciprocal: report.options.reciprocal,
    };
    view.answer(document);
    trust::line(document, report);
    levels::remarks(document, analysis);
    levels::table(document, analysis, "");
    view.picture(document);
    view.rows(document);
    method::paragraphs(document, report);
    levels::models(document, analysis);
    facts::points(document, Part::Records(&point::POINTS), report, &|_, _| {});
    model::model(document, analysis);
    facts::circumstances(document, report);
}
