//! The kernel's clock, and whether the time-stamp counter may be read at all.
//!
//! Knows nothing of ticks or frequencies: the clock of the measurements is in core.

use rustix::process::{time_stamp_counter_readability, TimeStampCounterReadability};
use rustix::thread::{nanosleep, NanosleepRelativeResult};
use rustix::time::{clock_gettime_dynamic, ClockId, DynamicClockId, Timespec};

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// Nanoseconds since some moment before the process began, at the rate of the hardware: no time daemon bends it.
///
/// `CLOCK_MONOTONIC_RAW` through the vDSO where there is one; `CLOCK_MONOTONIC` where the raw clock is missing.
#[must_use]
pub fn monotonic_raw_ns() -> u64 {
    [ClockId::MonotonicRaw, ClockId::Monotonic]
        .into_iter()
        .find_map(|clock| clock_gettime_dynamic(DynamicClockId::Known(clock)).ok())
        .map_or(0, |time| time.tv_sec as u64 * NANOSECONDS_PER_SECOND + time.tv_nsec as u64)
}

/// Sleeps at least `nanoseconds`, through any interruption.
pub fn sleep_ns(nanoseconds: u64) {
    let mut request = Timespec {
        tv_sec: (nanoseconds / NANOSECONDS_PER_SECOND) as i64,
        tv_nsec: (nanoseconds % NANOSECONDS_PER_SECOND) as i64,
    };
    while let NanosleepRelativeResult::Interrupted(rest) = nanosleep(&request) {
        request = rest;
    }
}

/// Whether `rdtsc` works in this process, or the kernel was asked to end it with SIGSEGV.
///
/// # References
/// `PR_GET_TSC` in `prctl(2)`.
#[must_use]
pub fn tsc_readable() -> bool {
    // A kernel that does not know the question cannot have been told to forbid it.
    !matches!(time_stamp_counter_readability(), Ok(TimeStampCounterReadability::RaiseSIGSEGV))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_advances_by_what_was_slept() {
        let before = monotonic_raw_ns();
        sleep_ns(3_000_000);
        let passed = monotonic_raw_ns() - before;
        // NTP may bend the sleep against the raw clock by 500 ppm.
        assert!((2_990_000..2_000_000_000).contains(&passed), "{passed}");
    }

    #[test]
    fn the_counter_is_readable_unless_forbidden() {
        assert!(tsc_readable());
    }
}
