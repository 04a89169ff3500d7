//! The conditions of a run, read before the first trial and after the last, and warnings about them.
//!
//! The module reads counters of the kernel, which cost nothing while something is timed. It times nothing itself,
//! except the two clocks against each other.

use latency_core::chain::Order;
use latency_core::topology::{Files, threads_of_core};
use latency_core::{Bytes, CpuId, CpuSet, Hertz, ToReal, math};

use crate::checks::hardware::{self, HardwareCounts};
use crate::machine::idle::StatReading;
use crate::machine::{Machine, Platform};
use crate::result::conditions::{CpuTime, OTHER_WORK, SIBLING_BUSY, STOLEN};
use crate::result::{Conditions, Counter, OnCpu, Point, Timer, Walk};
use crate::session::{Noted, Session};
use crate::stopwatch::{CpuTimes, cpu_time};
use crate::warning::{SeenCause, Warning, Warnings};
use latency_sys::{SystemFiles, Table, cpu, time};

/// Minimum share of other work that counts if it is measured in ticks of a hundredth of a second: the kernel attributes
/// some ticks to the thread that was interrupted.
const MUCH_BY_TICKS: f64 = 0.3;
/// Minimum share of other work, or of stolen time, for a warning: below it is the housekeeping of every machine.
const SOME_OTHER_WORK: f64 = 0.03;
/// Minimum share of time in which a sibling is busy, for a warning: below it, the sibling hardly shares the core.
const SOME_OF_SIBLING: f64 = 0.1;
/// Minimum drift between the two clocks for a warning, in parts per million: the crystals of one machine agree better,
/// and so do calibrations of 10 ms (method 1.3).
const SOME_DRIFT_PPM: f64 = 100.0;
/// Minimum change of the clock for a warning: the distance between the 10th and 90th percentiles of the rounds,
/// relative to the median.
const SOME_CLOCK_CHANGE: f64 = 0.05;
/// Minimum nanoseconds of a run from which shares of its time are computed.
const SHORTEST_NS: u64 = 50_000_000;
/// Maximum CPUs with a warning of one kind each; further CPUs are only counted.
pub(super) const MOST_TOLD: usize = 8;

/// One reading of the counters of the kernel.
#[derive(Debug)]
struct KernelSnapshot {
    /// Involuntary context switches of the first thread.
    switches: u64,
    ran_and_waited: Option<(u64, u64)>,
    /// The activity of all CPUs; `None` without /proc/stat.
    stat: Option<StatReading>,
}

/// Watches the CPUs of a run.
#[derive(Debug)]
pub struct Watch {
    times: &'static CpuTimes,
    /// The smallest working set of a core, over all points.
    least: Bytes,
    before: KernelSnapshot,
    /// The CPU of the first point, and the errors that the hardware had before the run.
    cpu: CpuId,
    errors: Option<HardwareCounts>,
}

impl Watch {
    /// Reads the counters of all CPUs for the first time, and starts counting the CPU time of the threads of `points`;
    /// returns `None` without points, or without memory for the counters. The CPUs of points behind the first `counted` ones
    /// are not watched.
    pub fn begin(noted: &mut Noted, allowed: &CpuSet, points: &[Point], counted: usize) -> Option<Watch> {
        let cpu = points.first()?.cpu;
        noted.times = CpuTimes::begin(allowed, cpu).ok();
        for beside in points.iter().skip(counted) {
            noted.times?.on(beside.cpu)?.is_beside.set(true);
        }
        let least = points.iter().map(in_core).min().unwrap_or(Bytes(u64::MAX));
        let errors = HardwareCounts::read(&SystemFiles, cpu);
        Some(Watch { times: noted.times?, least, before: look(&SystemFiles), cpu, errors })
    }

    /// Returns the conditions between the first reading and now, and warns about those that lower the trust in the result.
    pub fn end(self, session: &mut Session<'_>) -> Option<Conditions> {
        self.times.first_stays();
        let found = self.found(&SystemFiles, &session.noted, &session.timer)?;
        warn(session.warnings, session.machine, &found, self.least);
        if let Some(errors) = &found.errors {
            hardware::warn(session.warnings, errors);
        }
        Some(found)
    }

    /// Returns the conditions between the first reading and now; `None` without memory for them.
    fn found(&self, files: &impl Files, noted: &Noted, timer: &Timer) -> Option<Conditions> {
        let Watch { times, before, errors, .. } = self;
        let until = |before: &HardwareCounts| Some(before.until(HardwareCounts::read(files, self.cpu)?));
        let after = look(files);
        // Without thread clocks it is unknown how long the threads of the run were on each other's siblings.
        let readable = time::read(time::thread_clock()).is_some();
        let mut used = times.iter();
        let mut most = OnCpu::UNKNOWN.shares;
        let of_cpu = |_| {
            let Some((cpu, time)) = used.next() else { return OnCpu::UNKNOWN };
            let own = passed(before, &after, cpu.0);
            let stolen = own.stolen_share().unwrap_or(f64::NAN);
            let mut sibling_busy = f64::NAN;
            for other in threads_of_core(files, cpu.0).unwrap_or_default().iter() {
                let ran = times.on(CpuId(other)).map_or(0, |times| times.ran.get());
                let busy = passed(before, &after, other).busy_with_others(ran);
                sibling_busy =
                    sibling_busy.max(busy.filter(|_| readable && other != cpu.0).unwrap_or(f64::NAN));
            }
            // A thread also waits for its CPU while that CPU is stolen.
            let mut other_work = time.lost_share().map_or(f64::NAN, |lost| (lost - stolen.max(0.0)).max(0.0));
            // During the pauses of the run no time is lost, but other tasks still fill the caches. Ticks are coarse, so
            // only a large share counts.
            let busy = own.busy_with_others(time.ran.get());
            if let Some(share) = busy.filter(|share| readable && *share >= MUCH_BY_TICKS) {
                other_work = other_work.max(share);
            }
            let shares = [other_work, stolen, sibling_busy];
            if time.is_of_first.get() {
                most.iter_mut().zip(shares).for_each(|(most, share)| *most = most.max(share));
            }
            OnCpu { cpu, shares }
        };
        let of_cpus: &[OnCpu] = Table::made(times.iter().count(), of_cpu).ok()?.leak();
        let known = |kind: usize| most.get(kind).copied().filter(|share| !share.is_nan());
        let waited = || {
            let (ran, waited) = after.ran_and_waited?;
            let (ran_before, waited_before) = before.ran_and_waited?;
            let (ran, waited) = (ran.checked_sub(ran_before)?, waited.checked_sub(waited_before)?);
            (ran + waited >= SHORTEST_NS).then(|| waited.real() / (ran + waited).real())
        };
        let drift = timer.counter().map(Counter::drift_ppm);
        // A clock that ended before its start has no drift.
        let went_back = drift == Some(None);
        Some(Conditions {
            other_work_share: waited(),
            stolen_share: known(STOLEN),
            sibling_busy_share: known(SIBLING_BUSY),
            involuntary_switches: after.switches.saturating_sub(before.switches),
            thread_moves: noted.moves,
            core_gigahertz: noted.clocks.spread(),
            timer_drift_ppm: drift.flatten(),
            timer_steps_back: noted.steps_back + u64::from(went_back),
            cpus: of_cpus,
            errors: errors.as_ref().and_then(until),
        })
    }
}

/// Returns the activity of a CPU between two readings.
fn passed(before: &KernelSnapshot, after: &KernelSnapshot, cpu: u32) -> CpuTime {
    let both = before.stat.as_ref().zip(after.stat.as_ref());
    both.map_or(CpuTime::default(), |(before, after)| after.since(before, cpu))
}

/// Returns the bytes of lines that each core walks over for a point; zero where the point times instructions, caches
/// that prefetchers fill or the caches of other cores. Up to the size of an L2, the core clock decides the latency.
pub fn in_core(point: &Point) -> Bytes {
    match point.walk {
        Walk::Lanes(kernel) if kernel.work() > 0 => Bytes(0),
        Walk::Apart(_) | Walk::PingPong(_) | Walk::Owned(_) => Bytes(0),
        Walk::Traffic(traffic) => Bytes(point.size.0 / u64::from(traffic.generators.max(1))),
        _ if matches!(point.order, Order::Sequential | Order::Backward) => Bytes(0),
        // If the stride exceeds a line, only the lines with a node are in caches.
        Walk::Chain | Walk::Lanes(_) | Walk::Loaded(_) => {
            point.line.times(point.size.0 / point.stride.max(point.line.bytes()).0)
        }
    }
}

/// Warns about conditions that lower the trust in a result for which each core walks over `least` bytes or more.
pub fn warn(warnings: &mut Warnings, machine: &Machine, found: &Conditions, least: Bytes) {
    // If the processor does not report its L2, assume the smallest L2 of any processor.
    let core = least <= machine.cache(2).unwrap_or(Bytes(256 << 10));
    warn_on(warnings, machine.processor.platform, found, core);
}

/// Warns about conditions; `core` is true if a core's own caches or instructions were timed.
fn warn_on(warnings: &mut Warnings, platform: Platform, found: &Conditions, core: bool) {
    for &OnCpu { cpu, shares } in found.cpus {
        for (kind, share) in shares.into_iter().enumerate() {
            let (least, warning) = match kind {
                OTHER_WORK => (SOME_OTHER_WORK, Warning::OtherWork { cpu, share }),
                STOLEN => (SOME_OTHER_WORK, Warning::Stolen { cpu, share }),
                _ => (SOME_OF_SIBLING, Warning::SiblingBusy { cpu, share }),
            };
            // Unknown shares are NaN, which is below any bound.
            if share >= least {
                warnings.push_worst_first(warning, MOST_TOLD);
            }
        }
    }
    warnings.push_if(found.thread_moves > 0, Warning::ThreadMoved { times: found.thread_moves });
    // An emulator has no core clock, and its counter is only as steady as its host is idle.
    if platform == Platform::Emulated {
        return;
    }
    if found.timer_steps_back > 0 {
        warnings.push(Warning::TimerSteppedBack { trials: found.timer_steps_back });
    }
    if let Some([least, _, most]) = found.core_gigahertz.filter(|clocks| is_unsteady(*clocks)) {
        let hertz = |gigahertz: f64| Hertz(math::whole(gigahertz * 1e9));
        let (least, most) = (hertz(least), hertz(most));
        warnings.push(Warning::CoreClockUnstable { least, most, core });
    }
    if let Some(ppm) = found.timer_drift_ppm.filter(|ppm| ppm.abs() >= SOME_DRIFT_PPM) {
        warnings.push(Warning::CounterDrift { ppm });
    }
}

/// Returns the cause of scatter that was seen on the CPUs of a run.
pub fn cause(found: Option<&Conditions>, platform: Platform) -> SeenCause {
    let seen = |share: Option<f64>, least: f64| share.is_some_and(|share| share >= least);
    let on_cpus = |kind: usize| {
        let shares = found.into_iter().flat_map(|found| found.cpus).filter_map(|on| on.shares.get(kind));
        // Unknown shares are NaN, which is not the maximum of anything.
        Some(shares.copied().fold(0.0, f64::max))
    };
    let clocks = found.and_then(|found| found.core_gigahertz);
    match () {
        () if seen(found.and_then(|found| found.sibling_busy_share), SOME_OF_SIBLING) => {
            SeenCause::BusySibling
        }
        () if seen(on_cpus(OTHER_WORK), SOME_OTHER_WORK) => SeenCause::OtherWork,
        () if seen(on_cpus(STOLEN), SOME_OTHER_WORK) => SeenCause::Stolen,
        () if platform != Platform::Emulated && clocks.is_some_and(is_unsteady) => SeenCause::Clock,
        () if platform == Platform::Virtual => SeenCause::Virtual,
        () => SeenCause::Unseen,
    }
}

/// Returns whether the core clock changed between rounds, by its percentiles.
fn is_unsteady([least, middle, most]: [f64; 3]) -> bool {
    most - least > SOME_CLOCK_CHANGE * middle
}

fn look(files: &impl Files) -> KernelSnapshot {
    let switches = cpu::thread_usage().unwrap_or_default().involuntary_switches;
    KernelSnapshot { switches, ran_and_waited: cpu_time::first_thread(), stat: StatReading::now(files) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::KernelClock;
    use crate::warning::Severity;
    use std::collections::BTreeMap;
    use std::string::String;
    use std::vec::Vec;
    use std::{format, vec};

    /// Returns the codes of the warnings about conditions, and whether each makes a result unreliable.
    fn codes(platform: Platform, found: Conditions) -> Vec<(&'static str, bool)> {
        let mut warnings = Warnings::empty();
        warn_on(&mut warnings, platform, &found, true);
        warnings.iter().map(|warning| (warning.code(), warning.untrusted())).collect()
    }

    /// Returns the shares of one CPU, which live as long as the tests run.
    fn one(other_work: f64, stolen: f64, sibling_busy: f64) -> &'static [OnCpu] {
        Table::filled(1, OnCpu { cpu: CpuId(1), shares: [other_work, stolen, sibling_busy] }).unwrap().leak()
    }

    #[test]
    fn a_cause_is_named_only_if_it_was_seen() {
        let quiet = Conditions {
            cpus: one(0.0, 0.0, f64::NAN),
            other_work_share: Some(0.01),
            ..Conditions::default()
        };
        let clock = Conditions { core_gigahertz: Some([2.1, 3.7, 3.7]), ..quiet };
        let unknown = Conditions { cpus: one(f64::NAN, f64::NAN, f64::NAN), ..Conditions::default() };
        for (found, expected) in [
            (quiet, SeenCause::Unseen),
            (unknown, SeenCause::Unseen),
            (Conditions { cpus: one(0.5, 0.0, f64::NAN), ..quiet }, SeenCause::OtherWork),
            (Conditions { cpus: one(0.0, 0.1, f64::NAN), ..quiet }, SeenCause::Stolen),
            (Conditions { sibling_busy_share: Some(0.4), ..clock }, SeenCause::BusySibling),
            (clock, SeenCause::Clock),
        ] {
            assert_eq!(cause(Some(&found), Platform::Hardware), expected, "{found:?}");
            let hidden = if expected == SeenCause::Unseen { SeenCause::Virtual } else { expected };
            assert_eq!(cause(Some(&found), Platform::Virtual), hidden, "{found:?}");
        }
        assert_eq!(cause(None, Platform::Hardware), SeenCause::Unseen);
        assert_eq!(cause(None, Platform::Emulated), SeenCause::Unseen);
    }

    #[test]
    fn common_conditions_cause_no_warnings() {
        let quiet = Conditions {
            cpus: one(0.01, 0.0, 0.05),
            involuntary_switches: 12,
            core_gigahertz: Some([3.0, 3.1, 3.1]),
            timer_drift_ppm: Some(-3.0),
            ..Conditions::default()
        };
        assert_eq!(codes(Platform::Hardware, quiet), []);
        assert_eq!(
            codes(Platform::Hardware, Conditions { cpus: one(f64::NAN, f64::NAN, f64::NAN), ..quiet }),
            []
        );
        assert_eq!(codes(Platform::Hardware, Conditions::default()), []);
    }

    #[test]
    fn the_amount_of_a_condition_decides_its_warning() {
        let some = Conditions {
            cpus: one(0.05, 0.05, 0.2),
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
        // An emulator has no core clock and no steady counter.
        assert_eq!(codes(Platform::Emulated, some), fair[..3]);
        let much = Conditions {
            cpus: one(0.5, 0.3, 0.9),
            thread_moves: 1,
            timer_drift_ppm: Some(600.0),
            timer_steps_back: 1,
            ..Conditions::default()
        };
        // The confidence interval already contains stolen time and work on a sibling.
        let expected = [
            ("other-work", true),
            ("stolen-time", false),
            ("sibling-busy", false),
            ("thread-moved", true),
            ("timer-stepped-back", true),
            ("tsc-drift", true),
        ];
        assert_eq!(codes(Platform::Hardware, much), expected);
    }

    #[test]
    fn the_worst_of_many_cpus_are_named_and_the_others_counted() {
        // Several shares are equal, and one is unknown.
        let share = |cpu| if cpu == 7 { f64::NAN } else { 0.1 + (cpu as f64 * 7.0) % 63.0 / 100.0 };
        let on = |cpu| OnCpu { cpu: CpuId(cpu as u32), shares: [share(cpu), f64::NAN, f64::NAN] };
        let cpus = Table::made(64, on).unwrap();
        let mut warnings = Warnings::empty();
        warn_on(
            &mut warnings,
            Platform::Hardware,
            &Conditions { cpus: cpus.leak(), ..Conditions::default() },
            false,
        );
        let told: Vec<_> = warnings.iter().map(|warning| warning.cpu().unwrap().0).collect();
        assert_eq!((&told[..7], share(told[7] as usize)), (&[8, 17, 26, 35, 44, 53, 62][..], share(16)));
        assert_eq!((warnings.dropped(), warnings.untrusted()), (55, Some(("other-work", 48))));
        let mut text = String::new();
        warnings.write(&mut text, true, None, false).unwrap();
        assert_eq!(
            text,
            "latency-bench: warning: other processes used 66% of CPU 8 during the measurement (worst of 8); \
             stop other processes, or use idle CPUs (--cpu=N, --load-cpus=N)\n\
             latency-bench: warning: 55 more warnings\n"
        );
    }

    /// The files of a machine of four CPUs, two threads to a core: CPUs 0 and 2, 1 and 3.
    struct StatFiles(BTreeMap<String, String>);

    impl StatFiles {
        /// Returns files with the ticks that each CPU was busy, idle and stolen.
        fn with(cpus: [[u64; 3]; 4]) -> StatFiles {
            let mut files = BTreeMap::new();
            let mut stat = String::from("cpu  1 2 3 4 5 6 7 8 9 10\n");
            for (cpu, [busy, idle, stolen]) in cpus.iter().enumerate() {
                stat += &format!("cpu{cpu} {busy} 0 0 {idle} 0 0 0 {stolen} 0 0\n");
                let siblings = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
                files.insert(siblings, format!("{},{}\n", cpu % 2, cpu % 2 + 2));
            }
            files.insert("/proc/stat".into(), stat + "intr 616544 0 0\n");
            StatFiles(files)
        }
    }

    impl Files for StatFiles {
        fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            let content = self.0.get(path)?.as_bytes();
            let buffer = buffer.get_mut(..content.len())?;
            buffer.copy_from_slice(content);
            Some(buffer)
        }
    }

    /// Returns the conditions between two readings of four CPUs, by the ticks that the run's threads ran and lost on
    /// each.
    fn found(before: [[u64; 3]; 4], after: [[u64; 3]; 4], ours: [[u64; 2]; 4]) -> Conditions {
        let times = CpuTimes::begin(&(0..4).collect(), CpuId(0)).unwrap();
        for (cpu, [ran, lost]) in
            (0..).map(CpuId).zip(ours.map(|ticks| ticks.map(|ticks| ticks * 10_000_000)))
        {
            times.on(cpu).unwrap().add(ran, ran + lost, lost);
        }
        let before = look(&StatFiles::with(before));
        let watch = Watch { times, least: Bytes(0), before, cpu: CpuId(0), errors: None };
        let timer = Timer::Kernel(KernelClock { step_ns: 1, overhead_ns: 0 });
        watch.found(&StatFiles::with(after), &Noted::nothing(), &timer).unwrap()
    }

    #[test]
    fn warnings_about_a_generators_cpu_name_its_number() {
        // CPU 0 measured; on CPU 1, a generator's, the hypervisor kept 60 of 160 ticks, and another task had 40.
        let before = [[100, 1000, 7], [200, 1000, 9], [300, 1000, 0], [400, 1000, 0]];
        let after = [[300, 1000, 7], [300, 1040, 69], [300, 1200, 0], [400, 1200, 0]];
        let found = found(before, after, [[200, 0], [60, 100], [0, 0], [0, 0]]);
        let [first, second] = found.cpus else { panic!("{:?}", found.cpus) };
        assert_eq!((first.cpu.0, first.shares), (0, [0.0; 3]));
        assert_eq!((second.cpu.0, second.shares), (1, [0.25, 0.375, 0.0]));
        let mut warnings = Warnings::empty();
        warn_on(&mut warnings, Platform::Virtual, &found, false);
        let (cpu, of) = (CpuId(1), |warning| warnings.iter().any(|other| *other == warning));
        assert!(of(Warning::Stolen { cpu, share: 0.375 }) && of(Warning::OtherWork { cpu, share: 0.25 }));
        assert_eq!(warnings.iter().count(), 2);
    }

    #[test]
    fn time_of_the_run_on_a_sibling_is_not_other_work() {
        // All four CPUs take part in turn. CPU 3 was busy for 150 of 200 ticks; the run used 50 of them.
        let before = [[0, 0, 0]; 4];
        let after = [[100, 100, 0], [100, 100, 0], [100, 100, 0], [150, 50, 0]];
        let found = found(before, after, [[100, 0], [100, 0], [100, 0], [50, 0]]);
        let busy: Vec<_> = found.cpus.iter().map(|on| (on.cpu.0, on.shares[SIBLING_BUSY])).collect();
        assert_eq!(busy, [(0, 0.0), (1, 0.5), (2, 0.0), (3, 0.0)]);
        // The rest was other work on CPU 3 itself, too.
        let other_work: Vec<_> = found.cpus.iter().map(|on| on.shares[OTHER_WORK]).collect();
        assert_eq!(other_work, [0.0, 0.0, 0.0, 0.5]);
        assert_eq!(codes(Platform::Hardware, found), [("sibling-busy", false), ("other-work", true)]);
    }

    #[test]
    fn a_changing_core_clock_matters_only_for_in_core_points() {
        let changing = Conditions { core_gigahertz: Some([2.1, 3.7, 3.7]), ..Conditions::default() };
        let severity = |core: bool| {
            let mut warnings = Warnings::empty();
            warn_on(&mut warnings, Platform::Hardware, &changing, core);
            warnings.iter().map(Warning::severity).collect::<Vec<_>>()
        };
        assert_eq!((severity(true), severity(false)), (vec![Severity::Fair], vec![Severity::Note]));
    }

    #[test]
    fn conditions_of_this_process_can_be_read() {
        let cpu = cpu::allowed().unwrap().first().unwrap();
        let (first, second) = (look(&SystemFiles), look(&SystemFiles));
        assert!(first.stat.is_some() && passed(&first, &second, cpu).total < 1_000_000);
    }
}
