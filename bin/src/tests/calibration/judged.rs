//! A whole run of the default experiment on a simulated machine, evaluated by the rules of every run.
//!
//! The parts follow the order of `experiment::run_experiment`. The plan, the measurement and the warnings are the
//! program's own code.

use std::boxed::Box;
use std::vec::Vec;

use latency_core::{Bytes, CpuId, Interval, NodeId, PageSize, Pages};

use super::core::Core;
use super::simulated::Simulated;
use crate::describe::trust;
use crate::experiment::matrix::{self, MATRIX};
use crate::experiment::run_experiment;
use crate::experiment::tests::options;
use crate::options::Options;
use crate::plan;
use latency_core::words::When;
use latency_engine::budget::{Budget, Memory};
use latency_engine::checks::conditions::in_core;
use latency_engine::checks::{conditions, find_working_set, self_test, sizing, translation_probe};
use latency_engine::machine::Machine;
use latency_engine::memory::{RealSchedule, second};
use latency_engine::prefetch_audit::PairRatios;
use latency_engine::progress::Progress;
use latency_engine::result::{
    Conditions, Evidence, Exclusion, Health, KernelClock, Means, Measurement, OnCpu, Outcome, PageCounts,
    Placed, Point, Timer, Undisturbed, Walk,
};
use latency_engine::session::{Noted, Session};
use latency_engine::tests::leaked;
use latency_engine::warning::{Severity, Warnings};
use latency_engine::{finish, pieces};

/// Maximum memory that the prefetch audit walks.
const AUDITED: Bytes = Bytes(256 << 20);

/// The kernel's information about the memory, before and after.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// True if the kernel reports the nodes of pages.
    pub nodes: bool,
    /// Share of the memory in huge pages.
    pub huge: Option<[f64; 2]>,
    /// Number of pages on another node.
    pub elsewhere: [u64; 2],
}

impl Told {
    /// All pages are huge, and on the right node.
    pub const ALL: Told = Told { nodes: true, huge: Some([1.0; 2]), elsewhere: [0; 2] };

    fn placed(&self, size: Bytes) -> Placed {
        let look = |when: usize| {
            let pages = size.0 / 4096;
            let mut counts = PageCounts::default();
            counts.add(NodeId(0), pages - self.elsewhere[when]);
            if self.elsewhere[when] > 0 {
                counts.add(NodeId(1), self.elsewhere[when]);
            }
            let huge = |shares: [f64; 2]| Bytes((size.0 as f64 * shares[when]) as u64 >> 21 << 21);
            Evidence {
                numa_maps: Some(counts).filter(|_| self.nodes),
                page_query: Some(counts).filter(|_| self.nodes),
                kernel_page: Some(Bytes(4096)).filter(|_| self.nodes),
                transparent_huge: self.huge.map(huge),
            }
        };
        let (before, after) = (look(0), look(1));
        Placed {
            means: Means::Policy,
            pages: Pages::thp(PageSize::MIB_2),
            mapped: size,
            before,
            after,
            as_small: None,
        }
    }
}

/// A simulated host for a run.
pub struct Host {
    /// Its memory, neighbours and clock.
    pub simulated: Simulated,
    /// Command line.
    pub line: &'static str,
    /// The kernel's information about the memory.
    pub told: Told,
    /// Core cycles of a hit in the first-level cache.
    pub l1_cycles: f64,
    /// The arithmetic of its core.
    pub core: Core,
    /// Number of times that the thread was found on another CPU.
    pub moves: u64,
    /// True if a fault makes a value wrong or unverified.
    pub is_faulty: bool,
}

/// The report of a run, with the true values.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The level of trust.
    pub level: &'static str,
    /// The codes of its reasons, worst first.
    pub reasons: Vec<&'static str>,
    /// The value in nanoseconds, its interval, and its rounds.
    pub value_ns: Option<f64>,
    pub interval: Option<Interval>,
    pub rounds: usize,
    /// The working set.
    pub size: Bytes,
    /// Latency while neighbours are quiet.
    pub undisturbed: Option<Undisturbed>,
    /// Mean and median over the run's window, and the latency without neighbours, in nanoseconds.
    pub typical_ns: f64,
    pub median_ns: f64,
    pub alone_ns: f64,
    /// See [`Host::is_faulty`].
    pub is_faulty: bool,
    /// Simulated time from start to end.
    pub seconds: f64,
}

/// Measures points in memory of the machine, one of them twice if the budget requests it.
fn measured(
    session: &mut Session<'_>,
    mut simulated: Simulated,
    told: &Told,
    points: &[Point],
    mut budget: Budget,
    health: &mut Health,
) -> (Simulated, Vec<Outcome>, [f64; 2]) {
    let placed = told.placed(points[0].size);
    let asked = (points[0].target, placed.mapped, points[0].pages);
    pieces::tell(session.machine, session.warnings, asked, &placed);
    simulated.is_kept = matches!(budget.memory, Memory::Kept | Memory::Shared);
    simulated.ahead = budget.ahead;
    for (index, point) in points.iter().enumerate() {
        simulated.place(index, point.size);
    }
    // The second factor is of the other memory of the first point, which comes last.
    let beside = points.len() - budget.steady(points).len();
    let place = simulated.factors.len().min(1);
    simulated.factors.splice(place..place, std::iter::repeat_n(1.0, beside));
    if budget.twice {
        simulated.place(points.len(), points[0].size);
        let like = Point { size: AUDITED, pages: Pages::AUTO, walk: Walk::Chain, ..points[0] };
        simulated.audit = Some((like, PairRatios::NONE));
        budget.more += 1;
    }
    let mut schedule = RealSchedule::new(&mut simulated, budget, &points[0], points.iter().copied()).unwrap();
    if budget.twice {
        schedule.measure_twice(0);
    }
    schedule.run(session.progress).unwrap();
    health.repeat = second::in_turn(&mut schedule, session.warnings);
    let rounds = schedule.rounds(0);
    let window = [rounds[0].begun_ns, rounds[rounds.len() - 1].ended_ns];
    let outcomes = budget.steady(points).iter().enumerate().map(|(index, point)| {
        finish::note(&mut session.noted, schedule.rounds(index));
        let result = match finish::stayed(session.warnings, placed, point.target) {
            Ok(placed) => finish::measurement(&mut schedule, index, placed, None, None).unwrap(),
            Err(excluded) => Err(excluded),
        };
        Outcome { point: *point, result }
    });
    let outcomes = outcomes.collect();
    (simulated, outcomes, window)
}

/// Searches for a working set if its size is not given; returns the machine as the search found it.
fn looked_at(
    options: &Options,
    session: &mut Session<'_>,
    simulated: &mut Simulated,
    points: &[Point],
    seeks_cache: bool,
) -> Option<Box<Machine>> {
    let like = plan::point_of_search(options, session.machine, points)?;
    let limit_ns = options.point_limit_ns();
    let known = find_working_set::known(session.machine, &like, points, limit_ns, seeks_cache);
    let sizing = sizing::search(simulated, &like, &known).unwrap()?;
    find_working_set::tell(session.warnings, &known, &sizing);
    Some(Box::new(session.machine.with_sizing(sizing)))
}

/// Runs the default experiment on a host whose topology is that of `machine`.
pub fn run(machine: &Machine, host: Host) -> Verdict {
    let Host { mut simulated, line, told, l1_cycles, mut core, moves, is_faulty } = host;
    let options = options(line);
    let machine = &leaked(&[*machine])[0];
    let (mut warnings, mut progress) = (Warnings::empty(), Progress::new(When::Never));
    let timer = Timer::Kernel(KernelClock { step_ns: 1, overhead_ns: 0 });
    let (looked, mut planned);
    let mut session = Session::new(machine, timer, &mut warnings, &mut progress);
    planned = run_experiment::planned(&options, machine, &MATRIX).unwrap();
    let seeks_cache = planned.budget.whole_ns.is_infinite();
    looked = looked_at(&options, &mut session, &mut simulated, &planned.points, seeks_cache);
    if let Some(looked) = looked {
        let looked = &leaked(&[looked])[0];
        session.machine = looked;
        planned = run_experiment::planned(&options, looked, &MATRIX).unwrap();
    }
    let plan::Plan { points, mut budget, warnings: found } = planned;
    found.iter().for_each(|warning| session.warnings.push(*warning));
    budget.translation = true;
    budget.limit(f64::INFINITY, session.machine, &points);
    let mut health = Health::default();
    look(&mut health, l1_cycles, &mut core);
    budget.until_ns = budget.whole_ns;
    let (mut simulated, mut outcomes, window) =
        measured(&mut session, simulated, &told, &points, budget, &mut health);
    matrix::check(session.machine, &outcomes, session.warnings);
    for outcome in &mut outcomes {
        if let Ok(measured) = &mut outcome.result {
            measured.placed.as_small = Some(false);
        }
    }
    let placed = outcomes.iter().filter_map(|outcome| Some(&outcome.result.as_ref().ok()?.placed));
    health.pages_behave_as_small = translation_probe::conclude(session.warnings, machine.page, placed);
    while simulated.now_ns < budget.until_ns && simulated.step_audit().unwrap() {}
    if let Some((_, pairs)) = simulated.audit {
        health.audit = pairs.told(AUDITED, session.machine, session.warnings, &outcomes);
    }
    look(&mut health, l1_cycles, &mut core);
    session.noted.moves += moves;
    let conditions = conditions_of(&simulated, &session.noted);
    let least = points.iter().map(in_core).min().unwrap();
    conditions::warn(session.warnings, session.machine, &conditions, least);
    self_test::warn(session.machine, &health, &outcomes, session.warnings);
    finish::warn(&mut session, &outcomes, &budget, health.repeat);
    let [from_ns, to_ns] = window;
    let series = outcomes[0].result.as_ref().ok().map(|measured: &Measurement| measured.series);
    let excluded = matches!(outcomes[0].result, Err(Exclusion::Interrupted));
    assert!(!excluded, "nothing interrupts a simulated run");
    let alone_ns = simulated.memory_ns;
    let weighs = |severity| severity > Severity::Note;
    let reasons = warnings.groups().filter(|group| weighs(group.worst.severity()));
    Verdict {
        level: trust::level(&warnings),
        reasons: reasons.map(|group| group.worst.code()).collect(),
        value_ns: series.map(|series| series.nanoseconds.median),
        interval: series.and_then(|series| series.nanoseconds.interval),
        rounds: outcomes[0].result.as_ref().map_or(0, |measured| measured.rounds),
        size: outcomes[0].point.size,
        undisturbed: series.and_then(|series| series.undisturbed),
        typical_ns: alone_ns * (1.0 + simulated.contention.mean(from_ns, to_ns)),
        median_ns: alone_ns * (1.0 + simulated.contention.median(from_ns, to_ns)),
        alone_ns,
        is_faulty,
        seconds: simulated.now_ns / 1e9,
    }
}

/// Performs the self-test as before and after the trials of a run.
fn look(health: &mut Health, l1_cycles: f64, core: &mut Core) {
    self_test::look_by(self_test::TRIES, health, &mut || Some(l1_cycles), &mut || core.multiply_ratio());
}

/// Returns the conditions as the kernel would report them.
fn conditions_of(simulated: &Simulated, noted: &Noted) -> Conditions {
    let shares = simulated.absences.each_ref().map(|absences| absences.lost_ns / simulated.wanted_ns);
    let [other_work, stolen] = shares;
    let on = OnCpu { cpu: CpuId(0), shares: [other_work, stolen, f64::NAN] };
    let stepped_ns: f64 = simulated.steps.iter().map(|(_, by)| by).sum();
    Conditions {
        other_work_share: Some(other_work),
        stolen_share: Some(stolen),
        thread_moves: noted.moves,
        core_gigahertz: noted.clocks.spread(),
        timer_drift_ppm: Some(stepped_ns / simulated.now_ns * 1e6),
        timer_steps_back: noted.steps_back,
        cpus: Box::leak(Box::new([on])),
        ..Conditions::default()
    }
}
