//! The clock that batches are timed with: plain data, which [`crate::engine::stopwatch::clock`] finds and reads by.

use latency_core::arch::Stamp;
use latency_core::clock::Sandwich;
use latency_core::units::{Hertz, Ticks};

/// How batches are timed.
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
    /// The reads.
    pub stamp: Stamp,
    /// Ticks per second.
    pub frequency: Hertz,
    /// The first look at both clocks, from which their drift is counted.
    pub anchor: Sandwich,
    /// How far two calibrations were apart.
    pub spread_ppm: f64,
    /// CPUID promises one rate in all power states.
    pub invariant: bool,
    /// What CPUID or the hypervisor declares.
    pub declared: Option<Hertz>,
    /// The smallest difference between two readings: the resolution.
    pub step: Ticks,
    /// The median cost of an empty pair of stamps, which is subtracted.
    pub overhead: Ticks,
    /// A chain of multiplications between stamps, relative to an empty pair; near 1 if the fence does not wait.
    pub fence_ratio: f64,
}

/// The kernel's clock.
#[derive(Clone, Copy, Debug)]
pub struct KernelClock {
    /// The smallest step seen.
    pub step_ns: u64,
    /// The cost of reading it twice.
    pub overhead_ns: u64,
}

impl Timer {
    /// The counter, if that is what times.
    #[must_use]
    pub const fn counter(&self) -> Option<&Counter> {
        match self {
            Timer::Counter(counter) => Some(counter),
            Timer::Kernel(_) => None,
        }
    }

    /// The smallest difference between two readings, in nanoseconds.
    #[must_use]
    pub fn step_ns(&self) -> f64 {
        match self {
            Timer::Counter(counter) => counter.step.0 as f64 / counter.frequency.gigahertz(),
            Timer::Kernel(clock) => clock.step_ns as f64,
        }
    }

    /// Ticks of the counter in so many nanoseconds; `None` without a counter.
    #[must_use]
    pub fn ticks(&self, nanoseconds: f64) -> Option<f64> {
        self.counter().map(|counter| nanoseconds * counter.frequency.gigahertz())
    }
}
