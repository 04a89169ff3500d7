//! The only timed code: walks between two stamps, and the proof of where each ended.
//!
//! It knows a buffer and a clock. Where the buffer lies and what is made of the
//! figures is the business of others.

mod chase;
mod lanes;

use core::cell::Cell;

use latency_core::buffer::{Astray, Cursor};
use latency_core::units::CpuId;

use super::clock::{KernelClock, Timer};
use super::counters::Meter;
use super::placement;
use super::subject::Subject;
use crate::error::{Failure, TimingError};
use crate::result::counters::Software;
use crate::sys::{cpu, time};

pub use chase::Chase;
pub use lanes::{start, NEEDS_COUNTER};

/// The nanoseconds since `start` by the kernel's clock; not a number where it stepped back.
fn elapsed_ns(clock: &KernelClock, start: u64) -> f64 {
    let spent = time::monotonic_raw_ns().checked_sub(start);
    spent.and_then(|spent| spent.checked_sub(clock.overhead_ns)).map_or(f64::NAN, |spent| spent as f64)
}

/// Times walks on one CPU with one clock.
#[derive(Debug)]
pub struct Stopwatch {
    timer: Timer,
    meter: Option<Meter>,
    /// The CPU to which the thread was pinned.
    home: Cell<Option<CpuId>>,
    moves: Cell<u64>,
}

impl Stopwatch {
    /// A stopwatch on `timer`, with counters beside it if they are wanted.
    #[must_use]
    pub const fn new(timer: Timer, meter: Option<Meter>) -> Self {
        Stopwatch { timer, meter, home: Cell::new(None), moves: Cell::new(0) }
    }

    /// The clock.
    #[must_use]
    pub const fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Takes `cpu` for the one to which the thread was pinned, and is to stay on.
    pub fn stay_on(&self, cpu: CpuId) {
        self.home.set(Some(cpu));
    }

    /// Pins the thread again where something has moved it; true if so.
    ///
    /// An administrator's taskset moves it, and so does a cpuset that changes.
    ///
    /// # Errors
    ///
    /// As [`placement::pin`], where it may not go back.
    pub fn brought_back(&self) -> Result<bool, Failure<'static>> {
        let Some(home) = self.home.get() else { return Ok(false) };
        let is_home = !cpu::current().is_ok_and(|(cpu, _)| cpu != home);
        if !is_home {
            self.moves.set(self.moves.get() + 1);
            placement::pin(home)?;
        }
        Ok(!is_home)
    }

    /// Times that the thread was found elsewhere.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.moves.get()
    }

    /// What `body` gives, and the nanoseconds that it takes; not a number where the clock stepped back.
    pub fn time<R>(&self, body: impl FnOnce() -> R) -> (R, f64) {
        match &self.timer {
            Timer::Counter(counter) => {
                let start = counter.stamp.start();
                let found = body();
                (found, counter.elapsed_ns(start, counter.stamp.end().ticks))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let found = body();
                (found, elapsed_ns(clock, start))
            }
        }
    }

    /// Walks once from stamp to stamp, proves where the walk ended, and gives the nanoseconds that it took.
    fn walk(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Result<f64, Failure<'static>> {
        if let Some(side) = subject.side {
            return self.walk_lanes(subject.buffer, side, hops);
        }
        let (ended, nanoseconds) = self.timed(subject, *node, hops)?;
        let proven = subject.buffer.prove(*node, hops, ended);
        *node = proven.map_err(|Astray { .. }| TimingError::HopsNotProven)?;
        Ok(nanoseconds)
    }

    #[inline(always)]
    fn timed(&self, subject: &Subject<'_>, node: u64, hops: u64) -> Result<(Cursor, f64), Failure<'static>> {
        let wrong = |_| Failure::HOPS_NOT_PROVEN;
        match &self.timer {
            Timer::Counter(counter) => {
                let walk = subject
                    .buffer
                    .timed_walk(subject.kernel, node, hops as usize, counter.stamp)
                    .map_err(wrong)?;
                Ok((walk.ended, counter.elapsed_ns(walk.start, walk.end.ticks)))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let ended = subject.buffer.walk(subject.kernel, node, hops as usize).map_err(wrong)?;
                Ok((ended, elapsed_ns(clock, start)))
            }
        }
    }

    /// What the kernel has done to the thread so far.
    pub fn software(&self) -> Software {
        let usage = cpu::thread_usage().unwrap_or_default();
        Software {
            switches: (usage.voluntary_switches, usage.involuntary_switches),
            migrations: self.moves.get(),
            faults: (usage.minor_faults, usage.major_faults),
        }
    }
}
