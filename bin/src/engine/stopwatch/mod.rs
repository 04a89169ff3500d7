//! The only timed code: walks between two stamps, and the proof of where each ended.
//!
//! It knows a buffer and a clock. Where the buffer lies and what is made of the
//! figures is the business of others.

mod chase;
mod lanes;

use core::cell::Cell;

use latency_core::buffer::{Astray, Cursor};
use latency_core::clock;

use super::clock::Timer;
use super::counters::Meter;
use super::subject::Subject;
use crate::error::{Failure, TimingError};
use crate::result::counters::Software;
use crate::sys::{cpu, time};

pub use chase::Chase;
pub use lanes::{start, NEEDS_COUNTER};

/// Times walks on one CPU with one clock.
#[derive(Debug)]
pub struct Stopwatch {
    timer: Timer,
    meter: Option<Meter>,
    migrations: Cell<u64>,
    cpu: Cell<Option<u32>>,
}

impl Stopwatch {
    /// A stopwatch on `timer`, with counters beside it if they are wanted.
    #[must_use]
    pub const fn new(timer: Timer, meter: Option<Meter>) -> Self {
        Stopwatch { timer, meter, migrations: Cell::new(0), cpu: Cell::new(None) }
    }

    /// The clock.
    #[must_use]
    pub const fn timer(&self) -> &Timer {
        &self.timer
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
                let ticks = walk.end.ticks.saturating_sub(walk.start).saturating_sub(counter.overhead.0);
                Ok((walk.ended, clock::nanoseconds(ticks as f64, counter.frequency)))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let ended = subject.buffer.walk(subject.kernel, node, hops as usize).map_err(wrong)?;
                let spent = time::monotonic_raw_ns().saturating_sub(start).saturating_sub(clock.overhead_ns);
                Ok((ended, spent as f64))
            }
        }
    }

    /// What the kernel has done to the thread so far.
    fn software(&self) -> Software {
        let usage = cpu::thread_usage().unwrap_or_default();
        let now = cpu::current().ok().map(|(cpu, _)| cpu.0);
        if self.cpu.get().is_some() && self.cpu.get() != now {
            self.migrations.set(self.migrations.get() + 1);
        }
        self.cpu.set(now);
        Software {
            switches: (usage.voluntary_switches, usage.involuntary_switches),
            migrations: self.migrations.get(),
            faults: (usage.minor_faults, usage.major_faults),
        }
    }
}
