//! The clock that batches are timed with: chosen, calibrated and checked before use.
//!
//! The time-stamp counter where it can be trusted, the kernel's clock where not,
//! an error where neither works. This module measures clocks only, never memory.

use latency_core::arch::{self, Stamp};
use latency_core::clock::{self, Sandwich};
use latency_core::sort::sort_by;
use latency_core::stats;
use latency_core::units::{Hertz, Ticks};

use crate::error::{Failure, TimingError};
use crate::machine::processor::{Platform, Processor};
pub use crate::result::{Counter, KernelClock, Timer};
use crate::sys::time;
use crate::warning::{Warning, Warnings};

/// Maximum difference of repeated calibrations without an invariant counter, as a fraction (spec: 100 ppm).
const AGREEMENT_PPM: f64 = 100.0;
/// Maximum difference of calibration and declaration before a warning, as a fraction.
const DECLARATION_PPM: f64 = 500.0;
/// Multiplications behind a fence that waits take this many times as long as none (method 1.1: 4 to 8).
const FENCE_WAITS: f64 = 2.5;
/// A kernel clock with a larger step cannot time batches of a bearable length.
const LARGEST_KERNEL_STEP_NS: u64 = 100_000;
/// The narrowest of this many attempts to catch the kernel's clock between two counter readings.
const ATTEMPTS: usize = 20;

impl Timer {
    /// Chooses and calibrates a clock; it needs some 20 ms, more where the counter has to prove itself. A fence that does
    /// not wait weighs more if it is to time `single` loads or messages.
    ///
    /// # Errors
    ///
    /// [`TimingError::NoClock`] where no clock is fine and steady enough.
    pub fn choose(
        processor: &Processor,
        single: bool,
        warnings: &mut Warnings,
    ) -> Result<Timer, Failure<'static>> {
        // Waiting for a clock that does not answer would take minutes.
        if !time::clock_is_there() {
            return Err(
                TimingError::NoClock { why: "clock_gettime fails, forbidden by a filter perhaps" }.into()
            );
        }
        match counter(processor, single, warnings) {
            Some(counter) => Ok(Timer::Counter(counter)),
            None => kernel_clock(warnings).map(Timer::Kernel),
        }
    }

    /// Returns the nanoseconds of the shortest batch that this clock times well.
    ///
    /// Long enough for the clock's step and cost to vanish, short enough to fit
    /// between two disturbances: a scheduler's slice is some milliseconds.
    #[must_use]
    pub fn batch_ns(&self) -> f64 {
        match self {
            Timer::Counter(_) => 100_000.0,
            Timer::Kernel(clock) => (clock.step_ns.max(clock.overhead_ns) * 2000).max(1_000_000) as f64,
        }
    }
}

fn counter(processor: &Processor, single: bool, warnings: &mut Warnings) -> Option<Counter> {
    if !time::tsc_readable() {
        return None;
    }
    let stamp = Stamp::detect()?;
    if steps_back(stamp) {
        return None;
    }
    let invariant = arch::Counter::STEADY || processor.invariant_counter;
    let (frequency, spread_ppm) = prove(stamp, invariant)?;
    // Without a promise agreement is the condition of use; with one it is looked at all the same.
    if !invariant {
        warnings.push(Warning::TscNotInvariant);
    } else if spread_ppm > AGREEMENT_PPM && processor.platform != Platform::Emulated {
        warnings.push(Warning::TscUnsteady { ppm: spread_ppm });
    }
    let anchor = caught(stamp)?;
    let declared = processor.declared_counter;
    if let Some(declared) = declared {
        let difference_ppm = clock::parts_per_million(declared, frequency);
        if difference_ppm.abs() > DECLARATION_PPM {
            warnings.push(Warning::TscMismatch { measured: frequency, declared });
        }
    }
    let overhead = empty_pair(stamp);
    let fence_ratio = fence_ratio(|| stamp.start());
    // Translated code takes as long as the translator pleases: the test says nothing there.
    if fence_ratio < FENCE_WAITS && processor.platform != Platform::Emulated {
        warnings.push(Warning::FenceNotSerialising { promised: processor.fence_promised, single });
    }
    let step = step(stamp);
    Some(Counter { stamp, frequency, anchor, spread_ppm, invariant, declared, step, overhead, fence_ratio })
}

/// Returns the frequency and the spread of `count` calibrations, each over `milliseconds`.
fn calibrate(stamp: Stamp, count: usize, milliseconds: u64) -> Option<(Hertz, f64)> {
    let mut first = caught(stamp)?;
    let (mut lowest, mut highest) = (Hertz(u64::MAX), Hertz(0));
    let start = first;
    for _ in 0..count {
        let last = caught_after(stamp, first.nanoseconds.checked_add(milliseconds * 1_000_000)?)?;
        let found = clock::frequency(&first, &last)?;
        lowest = lowest.min(found);
        highest = highest.max(found);
        first = last;
    }
    // Over the whole span the error of catching the clock weighs least.
    Some((clock::frequency(&start, &first)?, clock::parts_per_million(lowest, highest)))
}

/// Returns calibrations that agree. A counter that is not declared invariant has to have them; of another one the closest are
/// taken.
///
/// Longer ones forgive a kernel clock that is slow to read, as under an emulator, and a busy machine.
fn prove(stamp: Stamp, invariant: bool) -> Option<(Hertz, f64)> {
    let count = if invariant { 2 } else { 4 };
    let mut closest = None::<(Hertz, f64)>;
    for milliseconds in [10, 50, 200] {
        let Some(found) = calibrate(stamp, count, milliseconds) else { continue };
        if closest.is_none_or(|(_, spread_ppm)| found.1 < spread_ppm) {
            closest = Some(found);
        }
        if found.1 <= AGREEMENT_PPM {
            break;
        }
    }
    closest.filter(|(_, spread_ppm)| invariant || *spread_ppm <= AGREEMENT_PPM)
}

/// Reads the kernel's clock between two counter readings, as close together as possible.
fn caught(stamp: Stamp) -> Option<Sandwich> {
    let attempt = || {
        let before = stamp.start();
        let nanoseconds = time::monotonic_raw_ns();
        Sandwich { before, nanoseconds, after: stamp.end().ticks }
    };
    Sandwich::narrowest((0..ATTEMPTS).map(|_| attempt()))
}

/// The same, at the earliest when the kernel's clock shows `nanoseconds`; gives up on a clock that stands still.
fn caught_after(stamp: Stamp, nanoseconds: u64) -> Option<Sandwich> {
    const PATIENCE: u32 = 100_000_000;
    for _ in 0..PATIENCE {
        if time::monotonic_raw_ns() >= nanoseconds {
            return caught(stamp);
        }
    }
    None
}

fn steps_back(stamp: Stamp) -> bool {
    let mut last = stamp.start();
    (0..10_000).any(|_| {
        let now = stamp.end().ticks;
        let back = now < last;
        last = now;
        back
    })
}

fn median_ticks<const N: usize>(mut sample: impl FnMut() -> u64) -> u64 {
    let mut samples = [0; N];
    samples.fill_with(&mut sample);
    sort_by(&mut samples, u64::cmp);
    samples.get(N / 2).copied().unwrap_or(0)
}

fn empty_pair(stamp: Stamp) -> Ticks {
    Ticks(median_ticks::<2001>(|| {
        let start = stamp.start();
        stamp.end().ticks.saturating_sub(start)
    }))
}

/// 128 dependent multiplications take at least 384 cycles; a fence that waits makes them seen.
///
/// Both readings are `lfence; rdtsc`: RDTSCP at the end would wait by itself, whether the fence does or not.
fn fence_ratio(read: impl Fn() -> u64) -> f64 {
    let ticks = |blocks: Option<usize>| {
        median_ticks::<501>(|| {
            let start = read();
            core::hint::black_box(blocks.map(arch::dependent_multiplies));
            read().saturating_sub(start)
        })
    };
    ticks(Some(2)) as f64 / ticks(None).max(1) as f64
}

fn step(stamp: Stamp) -> Ticks {
    let mut last = arch::unserialised_ticks(stamp);
    let mut differences = [0; 2048];
    differences.fill_with(|| {
        let now = arch::unserialised_ticks(stamp);
        let difference = now.saturating_sub(last);
        last = now;
        difference
    });
    Ticks(stats::counter_step(&differences))
}

fn kernel_clock(warnings: &mut Warnings) -> Result<KernelClock, Failure<'static>> {
    const STEPS: usize = 16;
    /// Readings for which a clock of the timer interrupt may stand still.
    const PATIENCE: u32 = 50_000_000;
    let unusable = |why| Failure::from(TimingError::NoClock { why });
    let mut step_ns = u64::MAX;
    let mut last = time::monotonic_raw_ns();
    for _ in 0..STEPS {
        let moved = (0..PATIENCE).map(|_| time::monotonic_raw_ns()).find(|now| *now != last);
        match moved {
            Some(now) if now < last => return Err(Failure::Timing(&TimingError::SteppedBack)),
            Some(now) => {
                step_ns = step_ns.min(now - last);
                last = now;
            }
            None => return Err(unusable("the TSC is not to be trusted, and clock_gettime stands still")),
        }
    }
    if step_ns > LARGEST_KERNEL_STEP_NS {
        return Err(unusable(
            "the TSC is not to be trusted, and the kernel's clock moves in steps above 0.1 ms",
        ));
    }
    let overhead_ns = median_ticks::<101>(|| {
        let start = time::monotonic_raw_ns();
        time::monotonic_raw_ns().saturating_sub(start)
    });
    warnings.push(Warning::NoTsc { why: "it is absent, forbidden or unsteady" });
    Ok(KernelClock { step_ns, overhead_ns })
}

impl Counter {
    /// Returns the nanoseconds between two of its readings; not a number where it stepped back.
    #[must_use]
    pub fn elapsed_ns(&self, start: u64, end: u64) -> f64 {
        clock::elapsed_ns(start, end, self.overhead, self.frequency)
    }

    /// Returns the drift between the counter and the kernel's clock since it was calibrated, in parts per million;
    /// `None` where either of them is behind its first reading.
    #[must_use]
    pub fn drift_ppm(&self) -> Option<f64> {
        /// Over less, the readings of the clocks do not improve on the bound.
        const SHORTEST_NS: u64 = 10_000_000;
        let now = caught_after(self.stamp, self.anchor.nanoseconds + SHORTEST_NS)?;
        let found = clock::frequency(&self.anchor, &now)?;
        Some(clock::parts_per_million(self.frequency, found))
    }

    /// Measures core cycles per tick right now by dependent additions, for some microseconds.
    ///
    /// The counter does not follow turbo; the core's clock does, and it changes
    /// within seconds, so it is measured beside every batch. Both runs are too
    /// long for the branch predictor to foresee their end, so that this cost
    /// cancels too; and their difference is some hundred steps of the counter:
    /// Zen 4 counts in steps of 26 ticks. `None` where the runs were disturbed beyond sense.
    #[must_use]
    pub fn core_clock(&self) -> Option<f64> {
        const SHORT: usize = 40;
        let long = SHORT + (self.step.0 as usize * 16).clamp(SHORT, 50 * SHORT);
        let run = |blocks: usize| {
            let start = self.stamp.start();
            let sum = arch::dependent_adds(blocks);
            let end = self.stamp.end().ticks;
            core::hint::black_box(sum);
            (blocks as u64 * arch::CLOCK_BLOCK, Ticks(end.saturating_sub(start)))
        };
        // A long chase has put this code out of the caches, and fetching it must not be timed.
        let _ = run(1);
        clock::cycles_per_tick(run(SHORT), run(long))
    }

    /// Returns the ratio of a multiplication's latency to that of an addition: 3, or 4 on old cores.
    ///
    /// Any other figure says that the additions are not what they seem, and
    /// that core cycles are not to be trusted.
    #[must_use]
    pub fn multiply_ratio(&self) -> Option<f64> {
        const SHORT: usize = 40;
        const LONG: usize = 480;
        let ticks = |routine: fn(usize) -> u64, blocks: usize| {
            Ticks(median_ticks::<51>(|| {
                let start = self.stamp.start();
                let result = routine(blocks);
                let end = self.stamp.end().ticks;
                core::hint::black_box(result);
                end.saturating_sub(start)
            }))
        };
        let rate = |routine| {
            let (short, long) = (ticks(routine, SHORT), ticks(routine, LONG));
            clock::cycles_per_tick((SHORT as u64, short), (LONG as u64, long))
        };
        Some(rate(arch::dependent_adds)? / rate(arch::dependent_multiplies)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn readings_that_wait_for_nothing_fail_the_test_of_the_fence() {
        let ticks = Cell::new(0);
        let ratio = fence_ratio(|| ticks.replace(ticks.get() + 40));
        assert!((ratio - 1.0).abs() < 1e-9 && ratio < FENCE_WAITS, "{ratio}");
    }

    #[test]
    fn a_counter_that_is_behind_its_first_reading_has_no_drift() {
        let Some(stamp) = Stamp::detect() else { return };
        let anchor = caught(stamp).unwrap();
        let counter = Counter {
            stamp,
            frequency: Hertz(1_000_000_000),
            anchor: Sandwich { before: u64::MAX - 1, after: u64::MAX, ..anchor },
            spread_ppm: 0.0,
            invariant: true,
            declared: None,
            step: Ticks(1),
            overhead: Ticks(0),
            fence_ratio: 7.0,
        };
        assert_eq!(counter.drift_ppm(), None);
        let half = Counter { anchor, ..counter };
        // Whatever the machine's rate is, half of it is not the one that was taken for it.
        let (found, doubled) = (
            half.drift_ppm().unwrap(),
            Counter { frequency: Hertz(2_000_000_000), ..half }.drift_ppm().unwrap(),
        );
        assert!(found > doubled, "{found} {doubled}");
    }
}
