//! The clock that times batches, as plain data; [`crate::engine::stopwatch::clock`] finds and reads it.

use latency_core::arch::Stamp;
use latency_core::clock::Sandwich;
use latency_core::units::{Hertz, Ticks};

/// The clock that times batches.
#[derive(Clone, Copy, Debug)]
pub enum Timer {
    /// The time-stamp counter, between serialising instructions.
    Counter(Counter),
    /// `clock_gettime`: whole batches only, no ticks, no core cycles.
    Kernel(KernelClock),
}

/// A calibrated time-stamp counter.
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
    /// The median cost of an empty pair of stamps, which is subtracted.
    pub overhead: Ticks,
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

impl Timer {
    /// Returns the counter, if it is the clock that times.
    #[must_use]
    pub const fn counter(&self) -> Option<&Counter> {
        match self {
            Timer::Counter(counter) => Some(counter),
            Timer::Kernel(_) => None,
        }
    }

    /// Returns the smallest difference between two readings, in nanoseconds.
    #[must_use]
    pub fn step_ns(&self) -> f64 {
        match self {
            Timer::Counter(counter) => counter.step.0 as f64 / counter.frequency.gigahertz(),
            Timer::Kernel(clock) => clock.step_ns as f64,
        }
    }

    /// Returns the ticks of the counter in this number of nanoseconds; `None` without a counter.
    #[must_use]
    #[inline(never)] // it is called in several places
    pub fn ticks(&self, nanoseconds: f64) -> Option<f64> {
        self.counter().map(|counter| nanoseconds * counter.frequency.gigahertz())
    }
}
