//! Factors on all latencies of a machine: noise from load to load, drift and bursts with time.
//!
//! This module computes factors only: it reads no clock and does not depend on the address of a load.

/// A random factor on the latency of loads, constant for a number of loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Half width of the factor's uniform distribution around one.
    pub share: f64,
    /// Number of loads of a CPU between two draws.
    pub every: u64,
}

impl Noise {
    /// Maps a uniform 64-bit draw to the factor.
    #[must_use]
    pub fn factor(self, draw: u64) -> f64 {
        // 2^63 is the middle of all draws.
        1.0 + self.share * (draw as f64 / (1_u64 << 63) as f64 - 1.0)
    }
}

/// A slow drift: the factor follows a sine of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Amplitude of the factor around one.
    pub share: f64,
    /// Ticks of a period.
    pub period: u64,
}

impl Drift {
    /// Returns the factor at a reading of the time-stamp counter.
    #[must_use]
    pub fn factor(self, now: u64) -> f64 {
        let phase = now.checked_rem(self.period).unwrap_or(0) as f64 / self.period as f64;
        1.0 + self.share * (phase * std::f64::consts::TAU).sin()
    }
}

/// Bursts: periodic intervals of slower loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Ticks from the beginning of one burst to the next.
    pub every: u64,
    /// Ticks of a burst.
    pub length: u64,
    /// Added share of latency.
    pub share: f64,
}

impl Burst {
    /// Returns the factor at a reading of the time-stamp counter.
    #[must_use]
    pub fn factor(self, now: u64) -> f64 {
        let in_burst = now.checked_rem(self.every).is_some_and(|since| since < self.length);
        1.0 + if in_burst { self.share } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_uniform_around_one() {
        let noise = Noise { share: 0.1, every: 1 };
        let factors = [0, 1 << 62, 1 << 63, u64::MAX].map(|draw| noise.factor(draw));
        for (factor, expected) in factors.into_iter().zip([0.9, 0.95, 1.0, 1.1]) {
            assert!((factor - expected).abs() < 1e-9, "{factor} for {expected}");
        }
    }

    #[test]
    fn drift_goes_up_and_down_once_a_period() {
        let drift = Drift { share: 0.02, period: 1000 };
        for (now, expected) in [(0, 1.0), (250, 1.02), (500, 1.0), (750, 0.98), (5250, 1.02)] {
            let factor = drift.factor(now);
            assert!((factor - expected).abs() < 1e-9, "{factor} at {now}");
        }
    }

    #[test]
    fn a_burst_lasts_its_length() {
        let burst = Burst { every: 100, length: 10, share: 0.5 };
        assert_eq!([0, 9, 10, 99, 100].map(|now| burst.factor(now)), [1.5, 1.5, 1.0, 1.0, 1.5]);
    }
}
