//! The only timed code: walks between two stamps, and the check of the node where each ended.
//!
//! The stopwatch uses a buffer and a clock. Other modules place the buffer and evaluate the times.

pub mod clock;
pub mod core_clock;
pub mod counters;
pub mod cpu_time;
mod lanes;
mod single_hops;
pub mod strided;

use core::cell::Cell;

use latency_core::arch::EndStamp;
use latency_core::math::ToReal;
use latency_core::units::CpuId;

use crate::engine::placement;
use crate::error::{Attempt, Failure};
use crate::result::{Counter, KernelClock, Software, Timer};
use crate::sys::{cpu, time};

pub use counters::Meter;
pub use cpu_time::{CpuTimes, MOST_LOST, ThreadClock};
pub use lanes::{NEEDS_COUNTER, Positions, Rush, SideBySide, Subject, UNKNOWN_HOP_NS, start};
pub use single_hops::Singles;
pub use strided::Loads;

/// Returns the nanoseconds since `start` by the kernel's clock; NaN if the clock stepped back.
fn elapsed_ns(clock: &KernelClock, start: u64) -> f64 {
    let spent = time::monotonic_raw_ns().checked_sub(start);
    spent.and_then(|spent| spent.checked_sub(clock.overhead_ns)).map_or(f64::NAN, |spent| spent.real())
}

/// Returns the error of a walk that did not end at the expected node, or could not begin.
pub fn not_proven<E>(_: E) -> Failure<'static> {
    Failure::HOPS_NOT_PROVEN
}

/// Times walks on one CPU with one clock.
pub struct Stopwatch {
    /// The clock.
    pub timer: Timer,
    /// The hardware counters of this thread, if they are wanted and available.
    pub meter: Option<Meter>,
    /// The CPU to which the thread was pinned.
    home: Cell<Option<CpuId>>,
    moves: Cell<u64>,
    /// The processor number that the counter's reads return on that CPU, and whether a read has returned another number
    /// since.
    number: Cell<u32>,
    strayed: Cell<bool>,
    /// The CPU times of the run, to which the thread's stays on each CPU are added.
    pub times: Option<&'static CpuTimes>,
}

impl Stopwatch {
    /// Returns a stopwatch on `timer`, with hardware counters if they are wanted.
    pub const fn new(timer: Timer, meter: Option<Meter>) -> Self {
        let (number, strayed) = (Cell::new(0), Cell::new(false));
        Stopwatch { timer, meter, home: Cell::new(None), moves: Cell::new(0), number, strayed, times: None }
    }

    /// Pins the thread to `cpu`, where it must stay.
    ///
    /// # Errors
    ///
    /// The errors of [`placement::pin`].
    pub fn go_to(&self, cpu: CpuId) -> Attempt {
        self.brought_back()?;
        placement::pin(cpu)?;
        self.stay_on(cpu);
        Ok(())
    }

    /// Lets the thread go to any CPU until it is pinned again: the program itself moves it. A move before is counted.
    ///
    /// # Errors
    ///
    /// The errors of [`brought_back`](Self::brought_back).
    pub fn leave(&self) -> Attempt {
        self.brought_back()?;
        self.home.set(None);
        Ok(())
    }

    /// Records `cpu` as the CPU to which the thread was pinned and where it must stay.
    pub fn stay_on(&self, cpu: CpuId) {
        self.home.set(Some(cpu));
        if let Some(counter) = self.timer.counter() {
            self.number.set(counter.stamp.end().processor);
        }
        self.strayed.set(false);
        if let Some(times) = self.times {
            times.first_goes_to(cpu);
        }
    }

    /// Returns the nanoseconds from `start` to a stamp. A stamp of another CPU is recorded, because the thread may be
    /// back before the next check.
    pub fn ended(&self, counter: &Counter, start: u64, end: EndStamp) -> f64 {
        if end.processor != self.number.get() {
            self.strayed.set(true);
        }
        counter.elapsed_ns(start, end.ticks)
    }

    /// Pins the thread again if it was moved; returns true if so, or if a timed walk ended on another CPU.
    ///
    /// An administrator's taskset moves the thread, and so does a change of the cpuset.
    ///
    /// # Errors
    ///
    /// The errors of [`placement::pin`], if the thread may not return.
    pub fn brought_back(&self) -> Attempt<bool> {
        let Some(home) = self.home.get() else { return Ok(false) };
        let is_away = cpu::current().is_ok_and(|(cpu, _)| cpu != home);
        if is_away {
            placement::pin(home)?;
        }
        let moved = is_away | self.strayed.take();
        self.moves.set(self.moves.get() + u64::from(moved));
        Ok(moved)
    }

    /// Returns the number of times that the thread was found on another CPU.
    pub fn moves(&self) -> u64 {
        self.moves.get()
    }

    /// Runs `body`. Returns its value and its duration in nanoseconds; NaN if the clock stepped back.
    pub fn time<R>(&self, body: impl FnOnce() -> R) -> (R, f64) {
        match &self.timer {
            Timer::Counter(counter) => {
                let start = counter.stamp.start();
                let found = body();
                (found, self.ended(counter, start, counter.stamp.end()))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let found = body();
                (found, elapsed_ns(clock, start))
            }
        }
    }

    /// Walks once from stamp to stamp, verifies where the walk ended, and returns its nanoseconds.
    pub fn walk(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Attempt<f64> {
        if let Some(side) = subject.side {
            return self.walk_lanes(subject.buffer, side, hops);
        }
        let Subject { buffer, kernel, .. } = subject;
        let (ended, nanoseconds) = match &self.timer {
            Timer::Counter(counter) => {
                let walk = buffer.timed_walk(kernel, *node, hops as usize, counter.stamp);
                let walk = walk.map_err(not_proven)?;
                (walk.ended, self.ended(counter, walk.start, walk.end))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let ended = buffer.walk(kernel, *node, hops as usize).map_err(not_proven)?;
                (ended, elapsed_ns(clock, start))
            }
        };
        *node = buffer.prove(*node, hops, ended).map_err(not_proven)?;
        Ok(nanoseconds)
    }

    /// Returns the thread's context switches, migrations and faults so far.
    pub fn software(&self) -> Software {
        let usage = cpu::thread_usage().unwrap_or_default();
        Software {
            switches: (usage.voluntary_switches, usage.involuntary_switches),
            migrations: self.moves.get(),
            faults: (usage.minor_faults, usage.major_faults),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::processor::identify;
    use crate::sys::file::SystemFiles;
    use crate::warning::Warnings;

    #[test]
    fn a_time_that_ends_on_another_cpu_counts_as_a_move_after_the_thread_returns() {
        let allowed = cpu::allowed().unwrap();
        let (here, there) = (CpuId(allowed.first().unwrap()), CpuId(allowed.last().unwrap()));
        let processor = identify(&SystemFiles, here);
        let watch = Stopwatch::new(Timer::choose(&processor, false, &mut Warnings::new()).unwrap(), None);
        let number_on = |cpu| {
            cpu::pin_to(cpu).unwrap();
            watch.timer.counter().map(|counter| counter.stamp.end().processor)
        };
        if number_on(there) == number_on(here) {
            return std::eprintln!(
                "one CPU, or a counter that does not tell which: a move cannot be seen by it"
            );
        }
        watch.stay_on(here);
        let (_, nanoseconds) = watch.time(|| ());
        assert!(nanoseconds.is_finite() && !watch.brought_back().unwrap());
        let (_, _) = watch.time(|| cpu::pin_to(there).unwrap());
        cpu::pin_to(here).unwrap();
        assert_eq!(cpu::current().unwrap().0, here);
        assert!(watch.brought_back().unwrap() && watch.moves() == 1);
        assert!(!watch.brought_back().unwrap() && watch.moves() == 1);
        cpu::pin(&allowed).unwrap();
    }
}
