//! The clock that times batches: chosen, calibrated and checked before use.
//!
//! It is the time-stamp counter if that is reliable, otherwise the kernel's clock; if neither is usable, the choice is
//! an error. This module measures clocks only, never memory.

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

/// Maximum difference of repeated calibrations without an invariant counter, in parts per million (spec: 100).
const AGREEMENT_PPM: f64 = 100.0;
/// Maximum difference of calibration and declaration before a warning, in parts per million.
const DECLARATION_PPM: f64 = 500.0;
/// Minimum ratio of multiplications before a fence to none that shows that the fence waits (method 1.1: 4 to 8).
const FENCE_WAITS: f64 = 2.5;
/// Maximum step of the kernel's clock, in nanoseconds; with larger steps, batches would become too long.
const LARGEST_KERNEL_STEP_NS: u64 = 100_000;
/// Number of attempts to read the kernel's clock between two counter readings; the narrowest one counts.
const ATTEMPTS: usize = 20;

impl Timer {
    /// Chooses and calibrates a clock, in some 20 ms, or more if the counter must be verified. If the clock is to time
    /// `single` loads or messages, a fence that does not wait leads to a stronger warning.
    ///
    /// # Errors
    ///
    /// [`TimingError::NoClock`] if no clock is fine and steady enough.
    pub fn choose(
        processor: &Processor,
        single: bool,
        warnings: &mut Warnings,
    ) -> Result<Timer, Failure<'static>> {
        // Waiting for a clock that does not advance would last minutes.
        if !time::clock_is_there() {
            return Err(
                TimingError::NoClock { why: "clock_gettime fails (blocked by a seccomp filter?)" }.into()
            );
        }
        match counter(processor, single, warnings) {
            Some(counter) => Ok(Timer::Counter(counter)),
            None => kernel_clock(warnings).map(Timer::Kernel),
        }
    }

    /// Returns the nanoseconds of the shortest batch that this clock times precisely.
    ///
    /// A batch is long enough for the clock's step and cost to be negligible, and short enough to fit between two
    /// disturbances: a scheduler's time slice is some milliseconds.
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
    // Without a declared invariant counter, agreement is the condition of use; with one, it is checked all the same.
    if !invariant {
        warnings.push(Warning::TscNotInvariant);
    } else if spread_ppm > AGREEMENT_PPM && processor.platform != Platform::Emulated {
        warnings.push(Warning::TscUnsteady { ppm: spread_ppm });
    }
    let anchor = caught(stamp)?;
    let declared = arch::Counter::declared().or(processor.declared_counter);
    if let Some(declared) = declared {
        let difference_ppm = clock::parts_per_million(declared, frequency);
        if difference_ppm.abs() > DECLARATION_PPM {
            warnings.push(Warning::TscMismatch { measured: frequency, declared });
        }
    }
    let overhead = empty_pair(stamp);
    let fence_ratio = fence_ratio(|| stamp.start());
    // In an emulator, the latency of translated code is arbitrary, so the fence test is meaningless.
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
    // Over the whole span, the error of reading the kernel's clock is smallest.
    Some((clock::frequency(&start, &first)?, clock::parts_per_million(lowest, highest)))
}

/// Returns calibrations that agree. A counter that is not declared invariant must have them; for another counter, the
/// closest calibrations are used.
///
/// Longer calibrations tolerate a kernel clock that is slow to read, as under an emulator, and a busy machine.
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

/// Reads the clocks like [`caught`], but not before the kernel's clock shows `nanoseconds`; gives up on a clock that
/// stands still.
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

/// Returns the ratio of a time with 128 dependent multiplications to the time without them; they need at least 384
/// cycles, which show whether the fence waits.
///
/// Both readings are `lfence; rdtsc`: RDTSCP at the end would wait by itself, even if the fence does not.
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
    /// Maximum readings during which a clock driven by the timer interrupt may stand still.
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
            None => return Err(unusable("the TSC is unreliable, and clock_gettime does not advance")),
        }
    }
    if step_ns > LARGEST_KERNEL_STEP_NS {
        return Err(unusable("the TSC is unreliable, and the kernel's clock advances in steps above 0.1 ms"));
    }
    let overhead_ns = median_ticks::<101>(|| {
        let start = time::monotonic_raw_ns();
        time::monotonic_raw_ns().saturating_sub(start)
    });
    warnings.push(Warning::NoTsc { why: "it is absent, forbidden or unsteady" });
    Ok(KernelClock { step_ns, overhead_ns })
}

impl Counter {
    /// Returns the nanoseconds between two of its readings; NaN if it stepped back.
    #[must_use]
    pub fn elapsed_ns(&self, start: u64, end: u64) -> f64 {
        clock::elapsed_ns(start, end, self.overhead, self.frequency)
    }

    /// Returns the drift between the counter and the kernel's clock since the calibration, in parts per million; `None`
    /// if either clock is behind its first reading.
    #[must_use]
    pub fn drift_ppm(&self) -> Option<f64> {
        /// Minimum nanoseconds of the span: over less, the error of reading the clocks exceeds the bound.
        const SHORTEST_NS: u64 = 10_000_000;
        let now = caught_after(self.stamp, self.anchor.nanoseconds + SHORTEST_NS)?;
        let found = clock::frequency(&self.anchor, &now)?;
        Some(clock::parts_per_million(self.frequency, found))
    }

    /// Measures the current core cycles per tick by dependent additions, for some microseconds.
    ///
    /// The counter does not follow turbo. The core's clock does, and it changes within seconds, so it is measured with
    /// every batch. Both runs are too long for the branch predictor to predict their end, so the cost of the
    /// misprediction cancels. Their difference is some hundred steps of the counter, because Zen 4 counts in steps of
    /// 26 ticks. Returns `None` if the runs were disturbed too much.
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
        // A long chase has evicted this code from the caches, and the fetch must not be timed.
        let _ = run(1);
        clock::cycles_per_tick(run(SHORT), run(long))
    }

    /// Returns the ratio of a multiplication's latency to that of an addition: 3, or 4 on old cores.
    ///
    /// Any other ratio means that the additions do not take one cycle each, and that core cycles are unreliable.
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
    fn readings_without_a_waiting_fence_fail_the_fence_test() {
        let ticks = Cell::new(0);
        let ratio = fence_ratio(|| ticks.replace(ticks.get() + 40));
        assert!((ratio - 1.0).abs() < 1e-9 && ratio < FENCE_WAITS, "{ratio}");
    }

    #[test]
    fn a_counter_behind_its_first_reading_has_no_drift() {
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
        // Half of the machine's rate is never the rate that was calibrated.
        let (found, doubled) = (
            half.drift_ppm().unwrap(),
            Counter { frequency: Hertz(2_000_000_000), ..half }.drift_ppm().unwrap(),
        );
        assert!(found > doubled, "{found} {doubled}");
    }
}
