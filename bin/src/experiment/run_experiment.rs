//! Runs an experiment from its plan to its findings, alone or as a part of a report.
//!
//! This module is independent of formats and texts.

use latency_core::cores::Method;

use super::Experiment;
use crate::analysis::curve::Analysis;
use crate::describe::Report;
use crate::error::Failure;
use crate::options::{FlagId, Options};
use crate::plan::{self, Plan, Planning, duration};
use latency_engine::budget::{Budget, Memory};
use latency_engine::checks::conditions::{self, Watch};
use latency_engine::checks::{find_working_set, self_test, translation_probe};
use latency_engine::error::{Attempt, MeasureError, PlacementError};
use latency_engine::machine::{Machine, Platform};
use latency_engine::memory::second;
use latency_engine::prefetch_audit::UnderWay;
use latency_engine::progress::Progress;
use latency_engine::result::{Conditions, Counter, Exclusion, Health, Outcome, Timer};
use latency_engine::session::{Deadline, Findings, Session, now_ns, requested};
use latency_engine::warning::{TimeLimit, Warning, Warnings};
use latency_engine::{finish, placement, regions, repeat};
use latency_sys::arguments::Arguments;

/// Maximum share of the time for a run that the search for the working set has, and nanoseconds that suffice on an idle
/// machine. If neither does, the usual working set is measured.
const SEARCH_SHARE: f64 = 0.25;
const SEARCH_NS: f64 = 1e9;

/// The limits of a run and its start.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Approximate maximum of nanoseconds for all visits together.
    pub limit_ns: f64,
    /// The time by which points have intervals or are left out, by the engine's clock in nanoseconds: infinite unless
    /// other runs follow.
    pub intervals_by_ns: f64,
    /// True if the tool checks itself after the visits.
    pub checked: bool,
    /// The start of the run, by the engine's clock in nanoseconds.
    pub begun_ns: f64,
    /// The end of the run, by the same clock: what is not measured by then is left out. Infinite without a limit.
    pub end_ns: f64,
}

/// An experiment after its run.
pub struct ExperimentRun {
    /// The machine, with the findings of the search before the run.
    pub machine: &'static Machine,
    /// The clock.
    pub timer: Timer,
    /// The results of the tool's checks of itself.
    pub health: Health,
    /// The conditions of the run; `None` if nothing was timed.
    pub conditions: Option<Conditions>,
    /// The memory that several nodes walk; `None` if each memory is walked from one node.
    pub regions: Option<Memory>,
    /// The points, measured or not.
    pub findings: Findings,
    /// The levels of a curve.
    pub analysis: Option<Analysis>,
}

impl ExperimentRun {
    /// Returns the number of points that were measured.
    pub fn done(&self) -> usize {
        self.findings.outcomes.iter().filter(|outcome| outcome.result.is_ok()).count()
    }

    /// Returns the report of a run that began `started` seconds after 1970 and lasted `seconds`.
    pub fn report<'r>(
        &'r self,
        options: &'r Options,
        arguments: Arguments,
        warnings: &'r Warnings,
        (started, seconds): (u64, f64),
    ) -> Report<'r> {
        let ExperimentRun { machine, timer, health, conditions, regions, findings, analysis } = self;
        let pairs = findings.outcomes.len() - findings.beside;
        Report {
            options,
            machine,
            clock: timer,
            health,
            conditions: conditions.as_ref(),
            warnings,
            outcomes: findings.outcomes.get(..pairs).unwrap_or_default(),
            all: &findings.outcomes,
            distributions: &findings.distributions,
            spans: &findings.spans,
            residency: &findings.residency,
            analysis: analysis.as_ref(),
            extra: &findings.extra,
            regions: *regions,
            arguments,
            partial: findings.interrupted,
            started,
            seconds,
        }
    }
}

/// Plans an experiment for a machine.
///
/// # Errors
///
/// The errors of the plan.
pub fn planned(
    options: &Options,
    machine: &'static Machine,
    experiment: &Experiment,
) -> Result<Plan, Failure> {
    let mut warnings = Warnings::empty();
    let points = (experiment.plan)(&mut Planning { options, machine, warnings: &mut warnings })?;
    let mut budget = (experiment.budget)(options, machine, &points);
    duration::fit_visits(options, machine, &points, &mut budget)?;
    Ok(Plan { points, budget, warnings })
}

/// Returns whether loads or messages are timed one at a time, each between its own stamps.
fn stamps_single_loads(options: &Options, budget: &Budget) -> bool {
    budget.single_hops || options.method == Method::Message
}

/// Measures the points of a plan.
///
/// # Errors
///
/// Returns a [`Failure`] if nothing can be measured. An interrupt ends the visits, and so does the end of the run; the
/// results so far are kept.
pub fn run_experiment(
    options: &Options,
    machine: &'static Machine,
    warnings: &mut Warnings,
    progress: &mut Progress,
    experiment: &Experiment,
    planned: Plan,
    effort: Effort,
) -> Result<ExperimentRun, Failure> {
    let timer = latency_engine::sealed(|| timer(options, machine, warnings, &planned))?;
    let mut session = Session::new(machine, timer, warnings, progress);
    let deadline = Deadline::at(effort.end_ns);
    let ran = measured(options, &mut session, experiment, planned, effort);
    drop(deadline);
    let (mut ran, budget) = match ran {
        Err(Failure::Interrupted) if !requested() => return Err(PlacementError::BudgetOver.into()),
        ran => ran?,
    };
    let is_over = ran.findings.interrupted && !requested();
    ran.findings.interrupted &= !is_over;
    warn_of_time(&ran.findings.outcomes, is_over, session.warnings);
    warn(&mut session, &ran, &budget);
    Ok(ran)
}

/// Leaves out the points for which there was no time, after the end of the run: those without a result, and in a run among
/// others those without an interval.
///
/// # Errors
///
/// [`PlacementError::BudgetOver`] if no point has a result.
fn leave_out(outcomes: &mut [Outcome], budget: &Budget) -> Result<(), PlacementError> {
    for Outcome { result, .. } in &mut *outcomes {
        let is_short = match result {
            Ok(measured) => budget.is_among_others() && measured.series.nanoseconds.interval.is_none(),
            Err(why) => *why == Exclusion::Interrupted,
        };
        if is_short {
            *result = Err(Exclusion::Placement(PlacementError::BudgetOver));
        }
    }
    let has_result = outcomes.iter().any(|outcome| outcome.result.is_ok());
    if has_result { Ok(()) } else { Err(PlacementError::BudgetOver) }
}

/// Warns about points that were left out for want of time, and about a run that its end made less precise.
fn warn_of_time(outcomes: &[Outcome], is_over: bool, warnings: &mut Warnings) {
    let over = Exclusion::Placement(PlacementError::BudgetOver);
    let count = |is_meant: &dyn Fn(&Outcome) -> bool| {
        outcomes.iter().filter(|outcome| is_meant(outcome)).count() as u32
    };
    let finished = count(&|outcome| outcome.result.is_ok());
    let left_out = count(&|outcome| matches!(&outcome.result, Err(why) if *why == over));
    let planned = finished + left_out;
    warnings.push_if(is_over || left_out > 0, Warning::BudgetOver { finished, planned });
}

/// Measures the points of a plan, and checks the tool itself; returns the budget, too.
fn measured(
    options: &Options,
    session: &mut Session<'_>,
    experiment: &Experiment,
    mut planned: Plan,
    effort: Effort,
) -> Result<(ExperimentRun, Budget), Failure> {
    let mut health = Health::default();
    let timer = session.timer;
    let looked = latency_engine::sealed(|| {
        self_test::look(timer.counter(), session.machine.processor.platform, &mut health);
        search(options, session, &planned, effort)
    })?;
    if let Some(machine) = looked {
        session.machine = machine;
        planned = self::planned(options, machine, experiment)?;
    }
    let Plan { points, budget, warnings } = &mut planned;
    warnings.iter().for_each(|warning| session.warnings.push(*warning));
    let machine = session.machine;
    placement::check_nodes(&machine.topology, points)?;
    budget.translation |= effort.checked;
    // A coarse clock needs batches that are longer than the turns of grouped chains.
    budget.split.take_if(|_| timer.counter().is_none_or(Counter::is_coarse));
    session.noted.spare.take_if(|(like, _)| !budget.twice || !second::uses(machine, points, like));
    budget.limit(effort.limit_ns, machine, points);
    // A section of a report has a part of the report's budget.
    let of_run = options.whole_ns().is_finite() && options.whole_ns() <= budget.whole_ns;
    let is_point = options.given.contains(FlagId::TimeLimit) && options.point_limit_ns() < options.whole_ns();
    let of_report = effort.intervals_by_ns.is_finite();
    if of_report || of_run && !is_point {
        session.noted.limit = TimeLimit::OfRun;
    }
    if machine.processor.platform != Platform::Emulated {
        budget.intervals_by_ns = effort.intervals_by_ns - budget.after_ns;
    }
    budget.until_ns = effort.begun_ns + budget.whole_ns.min(duration::visits_end_ns(options, budget));
    budget.until_ns = budget.until_ns.min(effort.end_ns);
    budget.twice &= effort.checked && machine.processor.platform != Platform::Emulated;
    let (watch, findings) = latency_engine::sealed(|| {
        let watch = Watch::begin(&mut session.noted, &machine.cpus, points, budget.steady);
        (watch, (experiment.measure)(options, session, points, budget))
    });
    let mut findings = findings?;
    if (findings.interrupted || budget.is_among_others()) && !requested() {
        leave_out(&mut findings.outcomes, budget)?;
    }
    let analysis = (experiment.conclude)(session, &mut findings);
    let placed = findings.outcomes.iter().filter_map(|outcome| Some(&outcome.result.as_ref().ok()?.placed));
    health.pages_behave_as_small = translation_probe::conclude(session.warnings, machine.page, placed);
    let conditions = latency_engine::sealed(|| {
        check(session, &mut health, &mut findings, budget, effort)?;
        Ok::<_, Failure>(watch.and_then(|watch| watch.end(session)))
    })?;
    let several = regions::have_several_initiators(points);
    let regions = several.then_some(budget.memory);
    Ok((ExperimentRun { machine, timer, health, conditions, regions, findings, analysis }, *budget))
}

/// Moves to the CPU of the first point and chooses the clock there.
fn timer(options: &Options, machine: &Machine, warnings: &mut Warnings, planned: &Plan) -> Attempt<Timer> {
    if let Some(point) = planned.points.first() {
        placement::pin(point.cpu)?;
    }
    let single = stamps_single_loads(options, &planned.budget);
    Timer::choose(&machine.processor, single, warnings)
}

/// Searches for the sizes that the plan depends on, and returns the machine with them; `None` if the plan needs no
/// search, if an earlier experiment has searched, or if the search found nothing.
fn search(
    options: &Options,
    session: &mut Session<'_>,
    planned: &Plan,
    effort: Effort,
) -> Attempt<Option<&'static Machine>> {
    if session.machine.sizing.is_some() {
        return Ok(None);
    }
    // If the whole run has little time, the search for the last-level cache is omitted: a cache that affects the
    // results shows in them.
    let seeks_cache = (effort.begun_ns + planned.budget.whole_ns).is_infinite();
    let like = plan::point_of_search(options, session.machine, &planned.points)
        .map(|like| (like, options.point_limit_ns()));
    let begun_ns = now_ns();
    let end_ns = begun_ns + (SEARCH_SHARE * (effort.end_ns - begun_ns)).max(SEARCH_NS);
    let _deadline = Deadline::at(end_ns.min(effort.end_ns));
    find_working_set::find(session, like, &planned.points, seeks_cache)
}

/// Warns of all that a run shows about the machine and itself.
fn warn(session: &mut Session<'_>, ran: &ExperimentRun, budget: &Budget) {
    let ExperimentRun { health, conditions, findings, .. } = ran;
    self_test::warn(session.machine, health, &findings.outcomes, session.warnings);
    finish::warn(session, budget.steady(&findings.outcomes), budget, health.repeat);
    session.warnings.explain(conditions::cause(conditions.as_ref(), session.machine.processor.platform));
    if findings.interrupted {
        let planned = findings.outcomes.len() as u32;
        session.warnings.push(Warning::Partial { finished: ran.done() as u32, planned });
    }
}

/// Performs the checks of the tool itself after the trials: a point again, prefetchers, and the self-test.
fn check(
    session: &mut Session<'_>,
    health: &mut Health,
    findings: &mut Findings,
    budget: &Budget,
    effort: Effort,
) -> Attempt {
    if effort.checked && !findings.interrupted {
        let measured = &findings.outcomes;
        let mut checks = || {
            health.repeat = match findings.repeat {
                None => repeat::again(session, measured, budget)?,
                in_turn => in_turn,
            };
            // An audit that began between rounds is completed now.
            let mut audit =
                findings.audit.take().or_else(|| UnderWay::like(session.machine, session.timer, measured));
            if let Some(audit) = &mut audit {
                session.progress.say(format_args!("checking prefetchers"));
                audit.finish(session.machine, budget.until_ns)?;
                session.progress.clear();
                health.audit =
                    audit.pairs.told(audit.point.size, session.machine, session.warnings, measured);
            }
            Ok(())
        };
        match checks() {
            // The measurements are complete in either case.
            Ok(()) | Err(MeasureError::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    // The failed numbers are measured again.
    let platform = session.machine.processor.platform;
    if platform != Platform::Emulated {
        self_test::look(session.timer.counter(), platform, health);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::{machine, options, planned};
    use latency_core::Worded;
    use latency_engine::result::Walk;
    use latency_engine::tests::outcome::outcome;

    #[test]
    fn points_without_time_are_left_out_and_the_others_are_kept() {
        let over = Exclusion::Placement(PlacementError::BudgetOver);
        let (mut some, mut warnings) = ([outcome(1 << 20, Walk::Chain, 5.0); 3], Warnings::empty());
        some[1].result = Err(Exclusion::Interrupted);
        if let Ok(measured) = &mut some[2].result {
            measured.series.nanoseconds.interval = None;
        }
        // A value without an interval is left out where points of other runs have intervals.
        for (intervals_by_ns, finished) in [(f64::INFINITY, 2), (1e9, 1)] {
            let mut some = some;
            leave_out(&mut some, &Budget { intervals_by_ns, ..Budget::DEFAULT }).unwrap();
            assert!(some[0].result.is_ok() && some[1].result.is_err_and(|why| why == over));
            assert_eq!(some[2].result.is_ok(), finished == 2);
            let mut warnings = Warnings::empty();
            warn_of_time(&some, false, &mut warnings);
            assert!(warnings.iter().eq([&Warning::BudgetOver { finished, planned: 3 }]));
            assert!(leave_out(&mut some[1..2], &Budget::DEFAULT).is_err());
        }
        warn_of_time(&some[..1], false, &mut warnings);
        assert_eq!(warnings.iter().count(), 0);
        warn_of_time(&some[..1], true, &mut warnings);
        assert!(warnings.iter().eq([&Warning::BudgetOver { finished: 1, planned: 1 }]));
    }

    #[test]
    fn a_fence_that_does_not_wait_weighs_more_where_loads_or_messages_are_timed_singly() {
        let machine = machine("two-sockets", None);
        for (line, expected) in [
            ("", "note"),
            ("cores", "note"),
            ("cores --method=flag", "note"),
            ("curve", "note"),
            ("distribution", "fair"),
            ("cores --method=message", "fair"),
        ] {
            let (_, budget, _) = planned(&machine, line).unwrap();
            let single = stamps_single_loads(&options(line), &budget);
            let found = Warning::FenceNotSerialising { promised: false, single };
            assert_eq!(found.severity().word(), expected, "{line}");
        }
    }
}
