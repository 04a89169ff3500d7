//! The clock that times batches, as plain data; [`crate::stopwatch::clock`] finds and reads it.

use latency_core::arch::{Cycles, Stamp};
use latency_core::clock::{self, Sandwich};
use latency_core::{Hertz, Ticks, ToReal};

use crate::error::LONGEST_STEP_NS;
use crate::words::words;

/// The clock that times batches.
#[derive(Clone, Copy, Debug)]
pub enum Timer {
    /// The time-stamp counter, between serialising instructions.
    Counter(Counter),
    /// `clock_gettime`: whole batches only, no ticks, no core cycles.
    Kernel(KernelClock),
}

/// Minimum frequency of a fine counter, whose ticks are at most a few core cycles long. The lengths of all measurements
/// were chosen for fine counters; some of these step by 10 ns.
const FINE: Hertz = Hertz(500_000_000);

/// Returns whether the instruction set has counters whose ticks are many core cycles long.
pub fn may_be_coarse() -> bool {
    words().cycles_are == Cycles::Core
}

/// A calibrated counter.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The instructions that read the counter.
    pub stamp: Stamp,
    /// Ticks per second.
    pub frequency: Hertz,
    /// The first simultaneous reading of both clocks, from which their drift is measured.
    pub anchor: Sandwich,
    /// Difference of two calibrations, in parts per million.
    pub spread_ppm: f64,
    /// True if the processor promises a constant rate in all power states.
    pub invariant: bool,
    /// The frequency that the processor or the hypervisor declares.
    pub declared: Option<Hertz>,
    /// The smallest difference between two readings, which is the resolution.
    pub step: Ticks,
    /// The cost of an empty pair of stamps, which is subtracted.
    pub overhead: Ticks,
    /// True if each reading takes hundreds of nanoseconds, because the kernel or a hypervisor emulates it.
    pub trapped: bool,
    /// The ratio of the time of a chain of multiplications between stamps to that of an empty pair; near 1 if the fence
    /// does not wait.
    pub fence_ratio: f64,
}

/// The kernel's clock.
#[derive(Clone, Copy, Debug)]
pub struct KernelClock {
    /// The smallest step that was seen, in nanoseconds.
    pub step_ns: u64,
    /// The cost of reading the clock twice, in nanoseconds.
    pub overhead_ns: u64,
}

impl Counter {
    /// Returns whether measurements must be longer than with a fine counter.
    pub fn is_coarse(&self) -> bool {
        let steps = || self.frequency < FINE || self.nanoseconds(self.step) > LONGEST_STEP_NS as f64;
        may_be_coarse() && (self.trapped || steps())
    }

    /// Returns the nanoseconds of a number of ticks.
    pub fn nanoseconds(&self, ticks: Ticks) -> f64 {
        clock::nanoseconds(ticks.0.real(), self.frequency)
    }

    /// Returns the minimum nanoseconds of a measurement that must span a number of steps: its error is at most one step
    /// at each end. If readings are emulated, a step is as long as a pair of them, because their cost varies. Returns
    /// zero for a fine counter.
    pub fn at_least(&self, steps: u32) -> f64 {
        match self.ticks_at_least(steps) {
            0 => 0.0,
            ticks => self.nanoseconds(Ticks(ticks)),
        }
    }

    /// Returns the ticks of [`at_least`](Self::at_least).
    pub fn ticks_at_least(&self, steps: u32) -> u64 {
        let step = if self.trapped { self.step.max(self.overhead) } else { self.step };
        if self.is_coarse() { u64::from(steps) * step.0 } else { 0 }
    }
}

impl Timer {
    /// Returns the counter, if it is the clock that times.
    pub const fn counter(&self) -> Option<&Counter> {
        match self {
            Timer::Counter(counter) => Some(counter),
            Timer::Kernel(_) => None,
        }
    }

    /// Returns the smallest difference between two readings, in nanoseconds.
    pub fn step_ns(&self) -> f64 {
        match self {
            Timer::Counter(counter) => counter.nanoseconds(counter.step),
            Timer::Kernel(clock) => clock.step_ns.real(),
        }
    }

    /// Returns the ticks of the counter in this number of nanoseconds; `None` without a counter.
    pub fn ticks(&self, nanoseconds: f64) -> Option<f64> {
        self.counter().map(|counter| nanoseconds * counter.frequency.gigahertz())
    }
}
