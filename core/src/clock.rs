//! The arithmetic of clocks: converts counter readings to a frequency, and ticks to time.
//!
//! Nothing here reads a clock. Each reading of the kernel's clock lies between two readings of the
//! counter; the difference of these two bounds its error.

use crate::math::ToReal;
use crate::units::{Hertz, Ticks};

/// A reading of the kernel's clock between two readings of the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sandwich {
    /// The counter before the reading.
    pub before: u64,
    /// The kernel's clock in nanoseconds.
    pub nanoseconds: u64,
    /// The counter after the reading.
    pub after: u64,
}

impl Sandwich {
    /// Returns the ticks that passed while the kernel's clock was read.
    pub const fn width(&self) -> u64 {
        self.after.saturating_sub(self.before)
    }

    /// Returns the reading with the smallest width, which is the least disturbed one.
    pub fn narrowest(readings: impl IntoIterator<Item = Sandwich>) -> Option<Sandwich> {
        readings.into_iter().min_by_key(Sandwich::width)
    }

    fn middle(&self) -> u64 {
        self.before.saturating_add(self.width() / 2)
    }
}

/// Returns the counter's frequency between two readings, computed from the midpoints of their counter values.
///
/// Returns `None` if either clock stood still or ran backwards.
pub fn frequency(first: &Sandwich, last: &Sandwich) -> Option<Hertz> {
    let ticks = last.middle().checked_sub(first.middle())?;
    let nanoseconds = last.nanoseconds.checked_sub(first.nanoseconds)?;
    if ticks == 0 || nanoseconds == 0 {
        return None;
    }
    let hertz = (u128::from(ticks) * 1_000_000_000 + u128::from(nanoseconds) / 2) / u128::from(nanoseconds);
    u64::try_from(hertz).ok().map(Hertz)
}

/// Returns the nanoseconds between two readings of a counter, less the ticks of reading it; NaN if the rest is
/// negative.
pub fn elapsed_ns(start: u64, end: u64, overhead: Ticks, frequency: Hertz) -> f64 {
    let ticks = end.checked_sub(start).and_then(|ticks| ticks.checked_sub(overhead.0));
    ticks.map_or(f64::NAN, |ticks| nanoseconds(ticks.real(), frequency))
}

/// Returns the deviation of `other` from `reference` in parts per million.
pub fn parts_per_million(reference: Hertz, other: Hertz) -> f64 {
    if reference.0 == 0 {
        return f64::INFINITY;
    }
    (other.0.real() - reference.0.real()) / reference.0.real() * 1e6
}

/// Returns the nanoseconds of a number of ticks, which may have a fraction.
pub fn nanoseconds(ticks: f64, frequency: Hertz) -> f64 {
    if frequency.0 == 0 {
        return f64::NAN;
    }
    ticks * 1e9 / frequency.0.real()
}

/// Returns the core cycles per tick of the counter, from dependent one-cycle additions.
///
/// `short` and `long` are a small and a large number of additions, each with the ticks that they
/// took; in the difference, the cost of the stamps and of entering and leaving the loop cancels.
/// Returns `None` if the longer run did not take longer.
pub fn cycles_per_tick(short: (u64, Ticks), long: (u64, Ticks)) -> Option<f64> {
    let additions = long.0.checked_sub(short.0)?;
    let ticks = long.1.0.checked_sub(short.1.0)?;
    if ticks == 0 {
        return None;
    }
    Some(additions.real() / ticks.real())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_counter_that_steps_back_gives_no_time() {
        let elapsed = |start, end| elapsed_ns(start, end, Ticks(40), Hertz(2_000_000_000));
        assert!((elapsed(1000, 1240) - 100.0).abs() < 1e-9);
        assert!(elapsed(1000, 999).is_nan() && elapsed(u64::MAX, 0).is_nan());
        // A difference below the cost of an empty pair gives no time.
        assert!(elapsed(1000, 1039).is_nan());
    }

    proptest! {
        #[test]
        fn recovers_the_frequency_of_made_readings(
            megahertz in 400u64..6_000, start in 0u64..1 << 40, span in 1_000_000u64..1_000_000_000, width in 0u64..400,
        ) {
            let reading = |nanoseconds: u64| {
                let middle = start + nanoseconds * megahertz / 1000;
                Sandwich { before: middle, nanoseconds, after: middle + width }
            };
            let found = frequency(&reading(5), &reading(5 + span)).unwrap();
            // Error of one tick over the span.
            let limit = 2e9 / (span as f64 * megahertz as f64 / 1000.0) * 1e-3 + 1e-3;
            let error = parts_per_million(Hertz(megahertz * 1_000_000), found).abs();
            prop_assert!(error <= limit * 1e3 + 3e6 / span as f64, "{} ppm", error);
        }

        #[test]
        fn odd_readings_never_panic(a: [u64; 3], b: [u64; 3]) {
            let [a, b] = [a, b].map(|[before, nanoseconds, after]| Sandwich { before, nanoseconds, after });
            let _ = frequency(&a, &b);
        }
    }

    #[test]
    fn clocks_that_stand_still_have_no_frequency() {
        let reading = Sandwich { before: 10, nanoseconds: 7, after: 12 };
        assert_eq!(frequency(&reading, &reading), None);
        let later = Sandwich { before: 20, nanoseconds: 7, after: 22 };
        assert_eq!(frequency(&reading, &later), None);
        assert_eq!(frequency(&later, &reading), None);
    }

    #[test]
    fn ticks_become_time() {
        assert_eq!(nanoseconds(395.0, Hertz(3_000_000_000)), 395.0 / 3.0);
        assert_eq!(cycles_per_tick((320, Ticks(200)), (2880, Ticks(1480))), Some(2.0));
        assert_eq!(cycles_per_tick((320, Ticks(200)), (2880, Ticks(200))), None);
    }
}
