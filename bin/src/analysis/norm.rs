//! The usual values of similar hosts, and the hosts that are slower.

use latency_core::{Interval, stats};

/// Least number of hosts with values that define the usual one.
pub const FEWEST: usize = 5;

/// Ratio of the standard deviation of a normal distribution to its median absolute deviation.
const DEVIATION: f64 = 1.4826;
/// Number of standard deviations that occur by chance in one of 16,000 hosts.
const FAR: f64 = 4.0;

/// The usual value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// The median over hosts.
    pub median: f64,
    /// The median absolute deviation from that median.
    pub mad: f64,
}

/// The physical quantity of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds: a slower host has a larger value.
    Latency,
    /// Bytes per second: a slower host has a smaller value.
    Bandwidth,
}

impl Norm {
    /// Returns the median and the deviation of some values, and reorders them; `None` if there are no values.
    pub fn of(values: &mut [f64]) -> Option<Norm> {
        stats::summarise(values).map(|found| Norm { median: found.median, mad: found.mad })
    }

    /// Returns the allowed distance from the median: four robust standard deviations, but at least `threshold` as a
    /// share of the median.
    pub fn allowed(&self, threshold: f64) -> f64 {
        (FAR * DEVIATION * self.mad).max(threshold * self.median)
    }

    /// Returns by how many robust standard deviations a value is slower; `None` if all hosts have the same value.
    pub fn deviations(&self, of: Quantity, value: f64) -> Option<f64> {
        let away = match of {
            Quantity::Latency => value - self.median,
            Quantity::Bandwidth => self.median - value,
        };
        Some(away / (DEVIATION * self.mad)).filter(|away| away.is_finite())
    }

    /// Returns whether the whole interval is slower than is allowed.
    pub fn is_slower(&self, of: Quantity, interval: Interval, threshold: f64) -> bool {
        self.is_beyond(of == Quantity::Latency, interval, threshold)
    }

    /// Returns whether the whole interval is faster than the same bound on the other side.
    pub fn is_faster(&self, of: Quantity, interval: Interval, threshold: f64) -> bool {
        self.is_beyond(of == Quantity::Bandwidth, interval, threshold)
    }

    fn is_beyond(&self, above: bool, interval: Interval, threshold: f64) -> bool {
        let allowed = self.allowed(threshold);
        if above { interval.low > self.median + allowed } else { interval.high < self.median - allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const AT: fn(f64, f64) -> Interval = |low, high| Interval { low, high };

    #[test]
    fn a_host_is_slower_if_its_whole_interval_is_beyond_both_bounds() {
        let norm = Norm::of(&mut [98.0, 99.0, 100.0, 101.0, 102.0]).unwrap();
        assert_eq!(norm, Norm { median: 100.0, mad: 1.0 });
        assert_eq!(norm.allowed(0.1), 10.0);
        assert!((norm.allowed(0.01) - 5.9304).abs() < 1e-9);
        for (of, interval, slower) in [
            (Quantity::Latency, AT(110.5, 112.0), true),
            (Quantity::Latency, AT(109.5, 130.0), false),
            (Quantity::Latency, AT(50.0, 60.0), false),
            (Quantity::Bandwidth, AT(80.0, 89.5), true),
            (Quantity::Bandwidth, AT(80.0, 90.5), false),
            (Quantity::Bandwidth, AT(150.0, 160.0), false),
        ] {
            assert_eq!(norm.is_slower(of, interval, 0.1), slower, "{of:?} {interval:?}");
        }
        for (of, interval, faster) in [
            (Quantity::Latency, AT(80.0, 89.5), true),
            (Quantity::Latency, AT(80.0, 90.5), false),
            (Quantity::Latency, AT(150.0, 160.0), false),
            (Quantity::Bandwidth, AT(110.5, 112.0), true),
            (Quantity::Bandwidth, AT(109.5, 130.0), false),
            (Quantity::Bandwidth, AT(50.0, 60.0), false),
        ] {
            assert_eq!(norm.is_faster(of, interval, 0.1), faster, "{of:?} {interval:?}");
        }
        assert!((norm.deviations(Quantity::Bandwidth, 90.0).unwrap() - 6.745).abs() < 1e-3);
        assert_eq!(Norm { median: 1.0, mad: 0.0 }.deviations(Quantity::Latency, 1.0), None);
        assert_eq!(Norm::of(&mut []), None);
    }

    proptest! {
        #[test]
        fn no_host_that_is_within_the_threshold_is_slower(
            values in prop::collection::vec(95.0f64..105.0, 5..50),
        ) {
            let norm = Norm::of(&mut values.clone()).unwrap();
            let slower: Vec<_> = values.iter().filter(|value| {
                [Quantity::Latency, Quantity::Bandwidth].iter().any(|of| norm.is_slower(*of, AT(**value, **value), 0.11))
            }).collect();
            prop_assert!(slower.is_empty(), "{slower:?}");
        }
    }
}
