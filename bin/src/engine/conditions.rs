//! The conditions of a run: looked at before the first trial and after the last, and what they make of the result.
//!
//! It reads counters of the kernel, which cost nothing while something is timed. It times nothing itself, but for the
//! two clocks against each other.

use latency_core::cpulist::CpuSet;
use latency_core::topology::{threads_of_core, Files};
use latency_core::units::Hertz;

use super::clock::{Counter, Timer};
use super::session::Session;
use crate::machine::processor::Platform;
use crate::result::conditions::{ran_and_waited, Conditions, CpuTime};
use crate::result::Point;
use crate::sys::cpu::{self, Usage};
use crate::sys::file::{self, SystemFiles};
use crate::warning::{Warning, Warnings};

/// Less of other work, or of stolen time, is what every machine has: its own housekeeping.
const SOME_OTHER_WORK: f64 = 0.03;
/// A sibling that is busy for less hardly shares the core.
const SOME_OF_SIBLING: f64 = 0.1;
/// Crystals of a machine agree better, and so do calibrations of 10 ms (method 1.3).
const SOME_DRIFT_PPM: f64 = 100.0;
/// A tenth of the rounds below, a tenth above: what lies between them, relative to the median.
const SOME_CLOCK_CHANGE: f64 = 0.05;
/// A shorter run says nothing about shares of its time.
const SHORTEST_NS: u64 = 50_000_000;

/// One look at the counters of the kernel.
#[derive(Clone, Copy, Debug)]
struct Look {
    usage: Usage,
    ran_and_waited: Option<(u64, u64)>,
    own: Option<CpuTime>,
    sibling: Option<CpuTime>,
}

/// Watches the CPUs of a run.
#[derive(Debug)]
pub struct Watch {
    cpus: CpuSet,
    siblings: CpuSet,
    /// The CPUs that are used at a time.
    at_once: usize,
    before: Look,
}

impl Watch {
    /// Looks at the CPUs of `points` for the first time.
    #[must_use]
    #[inline(never)] // offsets into a small frame are short
    pub fn begin(points: &[Point]) -> Watch {
        let (mut cpus, mut at_once) = (CpuSet::EMPTY, 1);
        for point in points {
            cpus.insert(point.cpu.0);
            for partner in point.walk.partners().into_iter().flatten() {
                cpus.insert(partner.0);
                at_once = 2;
            }
        }
        let mut siblings = CpuSet::EMPTY;
        for cpu in cpus.iter() {
            siblings = siblings.union(&threads_of_core(&SystemFiles, cpu).unwrap_or_default());
        }
        let siblings = siblings.difference(&cpus);
        Watch { cpus, siblings, at_once, before: look(&cpus, &siblings) }
    }

    /// Looks again, and warns of what takes from the result.
    #[must_use]
    #[inline(never)] // offsets into a small frame are short
    pub fn end(self, session: &mut Session<'_, '_>, timer: &Timer) -> Conditions {
        let Watch { cpus, siblings, at_once, before } = self;
        let after = look(&cpus, &siblings);
        let passed = |of: fn(&Look) -> Option<CpuTime>| Some(of(&after)?.since(&of(&before)?));
        let waited = || {
            let (ran, waited) = after.ran_and_waited?;
            let (ran_before, waited_before) = before.ran_and_waited?;
            let (ran, waited) = (ran.checked_sub(ran_before)?, waited.checked_sub(waited_before)?);
            (ran + waited >= SHORTEST_NS).then(|| waited as f64 / (ran + waited) as f64)
        };
        let drift = timer.counter().map(Counter::drift_ppm);
        // Behind where it began it has no drift.
        let went_back = drift == Some(None);
        let found = Conditions {
            other_work_share: waited(),
            // Each CPU of a run is used for a part of it; what is stolen from an idle one is not counted.
            stolen_share: passed(|look| look.own)
                .and_then(|time| Some(time.share(time.stolen)? * cpus.len() as f64 / at_once as f64)),
            sibling_busy_share: passed(|look| look.sibling).and_then(|time| time.share(time.busy)),
            involuntary_switches: after.usage.since(&before.usage).involuntary_switches,
            thread_moves: session.noted.moves,
            core_gigahertz: session.noted.clocks.spread(),
            timer_drift_ppm: drift.flatten(),
            timer_steps_back: session.noted.steps_back + u64::from(went_back),
        };
        warn(session.warnings, session.machine.processor.platform, &found);
        found
    }
}

/// Says what takes from a result.
fn warn(warnings: &mut Warnings, platform: Platform, found: &Conditions) {
    let above = |share: Option<f64>, least: f64| share.filter(|share| *share >= least);
    if let Some(share) = above(found.other_work_share, SOME_OTHER_WORK) {
        warnings.push(Warning::OtherWork { share });
    }
    if let Some(share) = above(found.stolen_share, SOME_OTHER_WORK) {
        warnings.push(Warning::Stolen { share });
    }
    if let Some(share) = above(found.sibling_busy_share, SOME_OF_SIBLING) {
        warnings.push(Warning::SiblingBusy { share });
    }
    if found.thread_moves > 0 {
        warnings.push(Warning::ThreadMoved { times: found.thread_moves });
    }
    // A translator has no core clock, and its counter is as steady as its host is idle.
    if platform == Platform::Emulated {
        return;
    }
    if found.timer_steps_back > 0 {
        warnings.push(Warning::TimerSteppedBack { trials: found.timer_steps_back });
    }
    if let Some([least, middle, most]) = found.core_gigahertz {
        if most - least > SOME_CLOCK_CHANGE * middle {
            let hertz = |gigahertz: f64| Hertz((gigahertz * 1e9) as u64);
            warnings.push(Warning::CoreClockUnstable { least: hertz(least), most: hertz(most) });
        }
    }
    if let Some(ppm) = found.timer_drift_ppm.filter(|ppm| ppm.abs() >= SOME_DRIFT_PPM) {
        warnings.push(Warning::TscDrift { ppm });
    }
}

#[inline(never)] // offsets into a small frame are short
fn look(cpus: &CpuSet, siblings: &CpuSet) -> Look {
    let mut buffer = [0; 1024];
    let schedstat = SystemFiles.read("/proc/self/schedstat", &mut buffer);
    let ran_and_waited = schedstat.and_then(ran_and_waited);
    let (mut own, mut sibling) = (None::<CpuTime>, None::<CpuTime>);
    // What cannot be read is not known.
    let _ = file::for_each_line(b"/proc/stat", &mut buffer, |line| {
        let Some((cpu, time)) = CpuTime::of_line(line) else { return line.starts_with(b"cpu") };
        for (all, sum) in [(cpus, &mut own), (siblings, &mut sibling)] {
            if all.contains(cpu) {
                *sum = Some(sum.unwrap_or_default().and(&time));
            }
        }
        true
    });
    Look { usage: cpu::thread_usage().unwrap_or_default(), ran_and_waited, own, sibling }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// The codes that conditions are warned of with, and whether they make a result unreliable.
    fn codes(platform: Platform, found: Conditions) -> Vec<(&'static str, bool)> {
        let mut warnings = Warnings::new();
        warn(&mut warnings, platform, &found);
        warnings.iter().map(|warning| (warning.code(), warning.untrusted())).collect()
    }

    #[test]
    fn what_every_machine_has_is_no_reason() {
        let quiet = Conditions {
            other_work_share: Some(0.01),
            stolen_share: Some(0.0),
            sibling_busy_share: Some(0.05),
            involuntary_switches: 12,
            core_gigahertz: Some([3.0, 3.1, 3.1]),
            timer_drift_ppm: Some(-3.0),
            ..Conditions::default()
        };
        assert_eq!(codes(Platform::Hardware, quiet), []);
        assert_eq!(codes(Platform::Hardware, Conditions::default()), []);
    }

    #[test]
    fn each_condition_weighs_by_how_much_there_is_of_it() {
        let some = Conditions {
            other_work_share: Some(0.05),
            stolen_share: Some(0.05),
            sibling_busy_share: Some(0.2),
            core_gigahertz: Some([2.1, 3.7, 3.7]),
            timer_drift_ppm: Some(-150.0),
            ..Conditions::default()
        };
        let fair = [
            ("other-work", false),
            ("stolen-time", false),
            ("sibling-busy", false),
            ("core-clock-unstable", false),
            ("tsc-drift", false),
        ];
        assert_eq!(codes(Platform::Virtual, some), fair);
        // A translator has no core clock and no steady counter.
        assert_eq!(codes(Platform::Emulated, some), fair[..3]);
        let much = Conditions {
            other_work_share: Some(0.5),
            stolen_share: Some(0.3),
            sibling_busy_share: Some(0.9),
            thread_moves: 1,
            timer_drift_ppm: Some(600.0),
            timer_steps_back: 1,
            ..Conditions::default()
        };
        let poor =
            ["other-work", "stolen-time", "sibling-busy", "thread-moved", "timer-stepped-back", "tsc-drift"];
        assert_eq!(codes(Platform::Hardware, much), poor.map(|code| (code, true)));
    }

    #[test]
    fn this_process_is_looked_at() {
        let mut cpus = CpuSet::EMPTY;
        cpus.insert(cpu::allowed().unwrap().first().unwrap());
        let first = look(&cpus, &CpuSet::EMPTY);
        let second = look(&cpus, &CpuSet::EMPTY);
        let (first, second) = (first.own.unwrap(), second.own.unwrap());
        assert!(first.total > 0 && second.since(&first).total < 1_000_000, "{first:?} {second:?}");
    }
}
