//! The clock that times batches: chosen, calibrated and checked before use.
//!
//! It is the time-stamp counter if that is reliable, otherwise the kernel's clock; if neither is usable, the choice is
//! an error. This module measures clocks only, never memory.

use latency_core::arch::{self, Stamp};
use latency_core::clock::{self, Sandwich};
use latency_core::{Hertz, Picoseconds, Ticks, ToReal, math, stats};

use crate::error::{Attempt, LONGEST_STEP_NS, MeasureError, PlacementError, TimingError};
use crate::machine::{Platform, Processor};
use crate::result::{Counter, KernelClock, Timer, may_be_coarse};
use crate::stopwatch::core_clock::{median_of, next_delay, spin};
use crate::warning::{Warning, Warnings};
use latency_sys::time;

/// Maximum difference of repeated calibrations without an invariant counter, in parts per million (spec: 100).
const AGREEMENT_PPM: f64 = 100.0;
/// Maximum difference of calibration and declaration before a warning, in parts per million.
const DECLARATION_PPM: f64 = 500.0;
/// Minimum cost of a pair of readings that are emulated, in nanoseconds: instructions alone take 10 to 100 ns.
const TRAPPED_NS: f64 = 250.0;
/// Minimum nanoseconds of a batch: it is short enough to fit between two interruptions.
const BATCH_NS: f64 = 100_000.0;
/// Steps of a coarse counter that a batch spans.
const BATCH_STEPS: u32 = 2000;
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
    /// [`TimingError::NoClock`] or [`TimingError::NeitherClock`] if no clock is fine and steady enough.
    pub fn choose(processor: &Processor, single: bool, warnings: &mut Warnings) -> Attempt<Timer> {
        // Waiting for a clock that does not advance would last minutes.
        if time::known_ns().is_none() {
            return Err(
                TimingError::NoClock { why: "clock_gettime fails (blocked by a seccomp filter?)" }.into()
            );
        }
        match counter(processor, single, warnings) {
            Some(counter) => Ok(Timer::Counter(counter)),
            None => kernel_clock(warnings).map(Timer::Kernel),
        }
    }

    /// Returns the counter, if its steps are short enough for single loads.
    ///
    /// # Errors
    ///
    /// [`TimingError::NeedsCounter`] without a counter; [`PlacementError::CounterTooCoarse`].
    pub fn fine_counter(&self) -> Attempt<&Counter> {
        let what = "timings of single loads";
        let counter = self.counter().ok_or(TimingError::NeedsCounter { what, instead: "matrix" })?;
        let step_ns = counter.nanoseconds(counter.step);
        match may_be_coarse() && step_ns > LONGEST_STEP_NS as f64 {
            true => {
                Err(PlacementError::CounterTooCoarse { step: Picoseconds(math::whole(step_ns * 1e3)) }.into())
            }
            false => Ok(counter),
        }
    }

    /// Returns the nanoseconds of the shortest batch that this clock times precisely.
    ///
    /// A batch is long enough for the clock's step and cost to be negligible, and short enough to fit between two
    /// disturbances: a scheduler's time slice is some milliseconds.
    pub fn batch_ns(&self) -> f64 {
        match self {
            Timer::Counter(counter) => BATCH_NS.max(counter.at_least(BATCH_STEPS)),
            Timer::Kernel(clock) => (clock.step_ns.max(clock.overhead_ns) * 2000).max(1_000_000).real(),
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
        warnings.push(Warning::CounterNotInvariant);
    } else if spread_ppm > AGREEMENT_PPM && processor.platform != Platform::Emulated {
        warnings.push(Warning::CounterUnsteady { ppm: spread_ppm });
    }
    let anchor = caught(stamp)?;
    let declared = arch::Counter::declared().or(processor.declared_counter);
    if let Some(declared) = declared {
        let difference_ppm = clock::parts_per_million(declared, frequency);
        if difference_ppm.abs() > DECLARATION_PPM {
            warnings.push(Warning::CounterMismatch { measured: frequency, declared });
        }
    }
    let step = step(|delays| {
        spin(delays);
        arch::unserialised_ticks(stamp)
    });
    let mut counter = Counter {
        stamp,
        frequency,
        anchor,
        spread_ppm,
        invariant,
        declared,
        step,
        overhead: Ticks(0),
        trapped: false,
        fence_ratio: f64::NAN,
    };
    counter.overhead = overhead(counter.is_coarse(), || {
        let start = stamp.start();
        stamp.end().ticks.saturating_sub(start)
    });
    // In an emulator, the latency of translated code is arbitrary, so the cost of a reading and the fence test are
    // meaningless.
    let is_emulated = processor.platform == Platform::Emulated;
    counter.trapped = may_be_coarse() && !is_emulated && is_trapped(&counter);
    if counter.trapped {
        warnings.push(Warning::CounterTrapped { nanoseconds: counter.nanoseconds(counter.overhead) });
    }
    let (fence_ratio, waits) = counter.fence();
    counter.fence_ratio = fence_ratio;
    if !waits && !is_emulated {
        warnings.push(Warning::FenceNotSerialising { promised: processor.fence_promised, single });
    }
    Some(counter)
}

/// Returns the frequency over `count` calibrations of `milliseconds` each, and the spread of the single frequencies in
/// parts per million; `None` if a clock stands still.
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

/// Returns whether the cost of a pair of readings shows that they are emulated.
pub fn is_trapped(counter: &Counter) -> bool {
    counter.nanoseconds(counter.overhead) > TRAPPED_NS
}

/// Returns the cost of an empty pair of readings, which `ticks` returns: the median, or the smallest with a coarse
/// counter, where a pair spans few steps and a short walk must not seem to end before it begins.
pub fn overhead(coarse: bool, mut ticks: impl FnMut() -> u64) -> Ticks {
    let mut samples = [0; 2001];
    let median = median_of(&mut samples, &mut ticks);
    Ticks(if coarse { samples.first().copied().unwrap_or(0) } else { median })
}

/// Returns the step of a counter, which `read` reads after a number of delays.
pub fn step(mut read: impl FnMut(usize) -> u64) -> Ticks {
    let mut last = read(0);
    let mut difference = |delays| {
        let now = read(delays);
        let difference = now.saturating_sub(last);
        last = now;
        difference
    };
    let mut differences = [0; 2048];
    differences.fill_with(|| difference(0));
    let found = stats::counter_step(&differences);
    if !may_be_coarse() {
        return Ticks(found);
    }
    // Readings that take equal times differ by multiples of their own cost.
    let mut delays = 0;
    differences.fill_with(|| {
        delays = next_delay(delays);
        difference(delays)
    });
    Ticks(stats::confirmed_step(found, &differences))
}

fn kernel_clock(warnings: &mut Warnings) -> Attempt<KernelClock> {
    const STEPS: usize = 16;
    /// Maximum readings during which a clock driven by the timer interrupt may stand still.
    const PATIENCE: u32 = 50_000_000;
    let unusable = |why| MeasureError::from(TimingError::NeitherClock { why });
    let mut step_ns = u64::MAX;
    let mut last = time::monotonic_raw_ns();
    for _ in 0..STEPS {
        let moved = (0..PATIENCE).map(|_| time::monotonic_raw_ns()).find(|now| *now != last);
        match moved {
            Some(now) if now < last => return Err(MeasureError::Timing(&TimingError::SteppedBack)),
            Some(now) => {
                step_ns = step_ns.min(now - last);
                last = now;
            }
            None => return Err(unusable("clock_gettime does not advance")),
        }
    }
    if step_ns > LARGEST_KERNEL_STEP_NS {
        return Err(unusable("the kernel's clock advances in steps above 0.1 ms"));
    }
    let overhead_ns = median_of(&mut [0; 101], &mut || {
        let start = time::monotonic_raw_ns();
        time::monotonic_raw_ns().saturating_sub(start)
    });
    warnings.push(Warning::NoCounter { why: "it is absent, forbidden or unsteady" });
    Ok(KernelClock { step_ns, overhead_ns })
}

impl Counter {
    /// Returns the nanoseconds between two of its readings; NaN if it stepped back.
    pub fn elapsed_ns(&self, start: u64, end: u64) -> f64 {
        clock::elapsed_ns(start, end, self.overhead, self.frequency)
    }

    /// Returns the cost of an empty pair of readings beyond the subtracted one, in nanoseconds; zero for a fine counter.
    ///
    /// Few steps of a coarse counter include a fraction of a step for the readings, which only a mean shows: the sum of
    /// many short times less this has no error that grows with their number.
    pub fn excess_ns(&self) -> f64 {
        self.excess_ns_by(|| {
            let start = self.stamp.start();
            self.stamp.end().ticks.saturating_sub(start)
        })
    }

    /// Measures as [`excess_ns`](Self::excess_ns) does; `ticks` returns the ticks of an empty pair.
    pub fn excess_ns_by(&self, ticks: impl FnOnce() -> u64) -> f64 {
        if !self.is_coarse() {
            return 0.0;
        }
        self.nanoseconds(Ticks(ticks())) - self.nanoseconds(self.overhead)
    }

    /// Returns the drift between the counter and the kernel's clock since the calibration, in parts per million; `None`
    /// if either clock is behind its first reading.
    pub fn drift_ppm(&self) -> Option<f64> {
        /// Minimum nanoseconds of the span: over less, the error of reading the clocks exceeds the bound.
        const SHORTEST_NS: u64 = 10_000_000;
        let now = caught_after(self.stamp, self.anchor.nanoseconds + SHORTEST_NS)?;
        let found = clock::frequency(&self.anchor, &now)?;
        Some(clock::parts_per_million(self.frequency, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::words::{AARCH64, speak};
    use std::string::ToString;

    #[test]
    fn a_coarse_counter_is_refused_and_one_with_short_steps_is_not() {
        let _words = speak(AARCH64);
        let timer = |hertz, step| {
            Timer::Counter(Counter {
                stamp: Stamp::detect().unwrap(),
                frequency: Hertz(hertz),
                anchor: Sandwich::default(),
                spread_ppm: 0.0,
                invariant: true,
                declared: None,
                step: Ticks(step),
                overhead: Ticks(1),
                trapped: false,
                fence_ratio: 5.0,
            })
        };
        let refused = |timer: &Timer| {
            let MeasureError::Placement(error) = timer.fine_counter().err()? else { panic!("another error") };
            Some(error.to_string())
        };
        let text = |step| {
            std::format!(
                "single loads need a counter with steps of at most 15 ns; here they are {step} ns; use a machine with a \
                 finer counter"
            )
        };
        for (hertz, step, shown) in [
            (24_000_000, 1, Some("41.7")),
            (25_000_000, 1, Some("40.0")),
            (54_000_000, 1, Some("18.5")),
            (1_000_000_000, 40, Some("40.0")),
            (121_875_000, 1, None),
            (1_000_000_000, 1, None),
            (2_450_000_000, 25, None),
        ] {
            assert_eq!(refused(&timer(hertz, step)), shown.map(text), "{hertz} Hz");
        }
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
            trapped: false,
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
