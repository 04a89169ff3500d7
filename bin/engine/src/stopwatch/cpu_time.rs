//! The CPU time of every thread of a run, by CPU: the time that each ran, and the time that it lost to other work.
//!
//! The first thread reads the clocks of all of them, outside the timed parts: a thread that has lost its CPU cannot
//! detect that itself. The clocks work without /proc.

use core::cell::Cell;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use latency_core::topology::Files;
use latency_core::{CpuId, CpuSet, ToReal};

use crate::result::conditions::ran_and_waited;
use latency_sys::{Errno, SystemFiles, Table, time};

/// Share of a window that a thread must lose to count as interrupted: every window has a switch or two.
pub const MOST_LOST: f64 = 0.01;
/// Minimum nanoseconds that count as lost: a thread's clock and the kernel's clock are read one after the other, and an
/// interrupt may come between.
const LEAST_LOST_NS: u64 = 10_000;
/// Minimum nanoseconds of a run for meaningful shares.
const SHORTEST_NS: u64 = 50_000_000;

/// The CPU time of a run's threads on one CPU, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct TimeOnCpu {
    /// The time that they ran.
    pub ran: Cell<u64>,
    /// The time in which one of them had work, as far as known.
    pub wanted: Cell<u64>,
    /// The part of the time with work in which it did not run.
    pub lost: Cell<u64>,
    /// True if the first thread was on this CPU.
    pub is_of_first: Cell<bool>,
    /// True if the CPU only stands beside others, so that its conditions say nothing of the result.
    pub is_beside: Cell<bool>,
}

impl TimeOnCpu {
    /// Adds times, in nanoseconds.
    pub fn add(&self, ran: u64, wanted: u64, lost: u64) {
        for (sum, more) in [(&self.ran, ran), (&self.wanted, wanted), (&self.lost, lost)] {
            sum.set(sum.get() + more);
        }
    }

    /// Returns the share of the time with work in which the thread did not run; `None` if unknown.
    pub fn lost_share(&self) -> Option<f64> {
        let wanted = self.wanted.get();
        (wanted >= SHORTEST_NS).then(|| self.lost.get().real() / wanted.real())
    }
}

/// The CPU time of all threads of a run.
#[derive(Debug)]
pub struct CpuTimes {
    /// The times, indexed by the number of the CPU.
    of: &'static [TimeOnCpu],
    /// The CPU of the first thread, and the nanoseconds that the thread had run and waited when it moved there.
    first: Cell<(CpuId, Option<(u64, u64)>)>,
}

impl CpuTimes {
    /// Begins to count on `cpus`, with the first thread on one of them. CPUs beyond the largest of `cpus` are not
    /// counted.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn begin(cpus: &CpuSet, first: CpuId) -> Result<&'static CpuTimes, Errno> {
        let count = cpus.last().map_or(0, |last| last as usize + 1);
        let of: &[TimeOnCpu] = Table::made(count, |_| TimeOnCpu::default())?.leak();
        let times = Table::made(1, |_| CpuTimes { of, first: Cell::new((first, first_thread())) })?;
        times.leak().first().ok_or(Errno::ENOMEM)
    }

    /// Adds the time that the first thread has run and waited so far to its CPU, and records `cpu` as its new CPU.
    pub fn first_goes_to(&self, cpu: CpuId) {
        let now = first_thread();
        let (before, then) = self.first.replace((cpu, now));
        if let (Some((ran, waited)), Some(then), Some(times)) = (now, then, self.on(before)) {
            let (ran, waited) = (ran.saturating_sub(then.0), waited.saturating_sub(then.1));
            times.add(ran, ran + waited, waited);
            times.is_of_first.set(true);
        }
    }

    /// Adds the time that the first thread has run and waited so far to its CPU.
    pub fn first_stays(&self) {
        self.first_goes_to(self.first.get().0);
    }

    /// Returns the times on a CPU.
    pub fn on(&self, cpu: CpuId) -> Option<&TimeOnCpu> {
        self.of.get(cpu.0 as usize)
    }

    /// Returns the CPUs on which threads had work, with their times.
    pub fn iter(&self) -> impl Iterator<Item = (CpuId, &TimeOnCpu)> {
        let numbered = (0..).map(CpuId).zip(self.of);
        numbered.filter(|(_, times)| times.wanted.get() > 0 && !times.is_beside.get())
    }
}

/// Returns the nanoseconds that the first thread has run, and those that it has waited for a CPU; `None` without /proc.
pub fn first_thread() -> Option<(u64, u64)> {
    let mut buffer = [0; 64];
    SystemFiles.read("/proc/self/schedstat", &mut buffer).and_then(ran_and_waited)
}

/// The clock of a thread other than the first, which the first thread reads.
///
/// Relaxed accesses suffice: the thread's first task publishes the number, and only the first thread accesses the other
/// words.
#[derive(Debug, Default)]
#[repr(align(128))] // the first thread writes it, and the thread itself looks at other words
pub struct ThreadClock {
    /// The number of the thread's clock; zero before the thread has begun.
    number: AtomicU32,
    /// The nanoseconds that have been added to a CPU.
    counted: AtomicU64,
    /// The reading at the beginning of its run.
    run: ClockReading,
    /// The reading at the beginning of the last window.
    window: ClockReading,
}

impl ThreadClock {
    /// Returns the clock of a thread that has not begun.
    pub const fn new() -> ThreadClock {
        let (number, counted) = (AtomicU32::new(0), AtomicU64::new(0));
        ThreadClock { number, counted, run: no_reading(), window: no_reading() }
    }

    /// Makes this the clock of the calling thread.
    pub fn is_of_this_thread(&self) {
        self.number.store(time::thread_clock(), Relaxed);
    }

    /// Records the clock at the beginning of a run.
    pub fn begin_run(&self) {
        self.note(&self.run);
    }

    /// Adds a run that ends to the CPU that it was on. Time stopped by a quota is not lost to other work.
    pub fn end_run(&self, times: Option<&CpuTimes>, cpu: CpuId, throttled: bool) {
        let times = times.and_then(|times| times.on(cpu));
        let ended = self.since(&self.run);
        // The thread may not begin a run again, if it cannot have its CPU.
        let [_, begun] = &self.run;
        begun.store(0, Relaxed);
        let (Some((ran, passed, lost)), Some(times)) = (ended, times) else { return };
        let (wanted, lost) = if throttled { (0, 0) } else { (passed, lost) };
        times.add(ran.saturating_sub(self.counted.swap(ran, Relaxed)), wanted, lost);
    }

    /// Records the clock at the beginning of a window.
    pub fn begin_window(&self) {
        self.note(&self.window);
    }

    /// Returns true if the thread lost more than [`MOST_LOST`] of the window that ends.
    pub fn has_lost(&self) -> bool {
        self.since(&self.window)
            .is_some_and(|(_, passed, lost)| lost > LEAST_LOST_NS && lost.real() > passed.real() * MOST_LOST)
    }

    /// Returns the nanoseconds that the thread has run, and the time of the kernel's clock.
    fn read(&self) -> Option<[u64; 2]> {
        Some([time::read(self.number.load(Relaxed))?, time::monotonic_raw_ns()])
    }

    fn note(&self, reading: &ClockReading) {
        let now = self.read().unwrap_or_default();
        reading.iter().zip(now).for_each(|(word, now)| word.store(now, Relaxed));
    }

    /// Returns the nanoseconds that the thread has run in all, the nanoseconds since a reading, and the part of these
    /// in which the thread did not run; `None` without both readings.
    fn since(&self, reading: &ClockReading) -> Option<(u64, u64, u64)> {
        let [ran, now] = self.read()?;
        let [ran_before, before] = reading.each_ref().map(|word| word.load(Relaxed));
        let passed = now.checked_sub(before).filter(|_| before > 0)?;
        Some((ran, passed, passed.saturating_sub(ran.saturating_sub(ran_before))))
    }
}

/// The clock of a thread at one moment: the nanoseconds that it has run, and the time of the kernel's clock, or zeros.
type ClockReading = [AtomicU64; 2];

const fn no_reading() -> ClockReading {
    [AtomicU64::new(0), AtomicU64::new(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Calls `body` with the clock of a thread that spins while the flag is set, and sleeps otherwise.
    fn beside_a_thread(body: impl FnOnce(&ThreadClock, &AtomicBool)) {
        let (clock, runs, ends) = (ThreadClock::new(), AtomicBool::new(true), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                clock.is_of_this_thread();
                while !ends.load(Relaxed) {
                    while runs.load(Relaxed) {
                        core::hint::spin_loop();
                    }
                    time::sleep_ns(1_000_000);
                }
            });
            while clock.number.load(Relaxed) == 0 {
                std::thread::yield_now();
            }
            body(&clock, &runs);
            runs.store(false, Relaxed);
            ends.store(true, Relaxed);
            thread.join().unwrap();
        });
    }

    #[test]
    fn time_of_a_run_without_the_cpu_counts_as_lost_on_that_cpu() {
        beside_a_thread(|clock, runs| {
            let [before, spun, slept, stopped] = [0, 1, 2, 3].map(CpuId);
            let times = CpuTimes::begin(&(0..4).collect(), before).unwrap();
            let end_run = |cpu, throttled| {
                clock.end_run(Some(times), cpu, throttled);
                times.on(cpu).unwrap()
            };
            // A run that has not begun adds nothing.
            let before = end_run(before, false);
            assert_eq!((before.wanted.get(), before.lost_share()), (0, None));
            clock.begin_run();
            time::sleep_ns(60_000_000);
            let spun = end_run(spun, false);
            runs.store(false, Relaxed);
            time::sleep_ns(10_000_000);
            clock.begin_run();
            clock.begin_window();
            time::sleep_ns(60_000_000);
            assert!(clock.has_lost());
            let slept = end_run(slept, false);
            let wanted = slept.wanted.get();
            assert_eq!(end_run(CpuId(2), false).wanted.get(), wanted, "a run ends once");
            // A busy host takes more of the first run, and none of the second is added to it.
            assert!(spun.wanted.get() >= 60_000_000 && spun.lost_share().unwrap() < 1.0, "{spun:?}");
            assert!(slept.lost_share().unwrap() > 0.8, "{slept:?}");
            clock.begin_run();
            let stopped = end_run(stopped, true);
            assert_eq!((stopped.wanted.get(), stopped.lost.get()), (0, 0));
        });
    }
}
