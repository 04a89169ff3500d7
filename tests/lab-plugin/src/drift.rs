//! What changes all latencies of a machine: noise from load to load, drift and bursts with time.
//!
//! Factors only: nothing here reads a clock, and nothing knows where a load goes.

/// A factor on all that a load takes, which holds for some loads and is then drawn anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The factor is uniform from one less so much to one more, as a share.
    pub share: f64,
    /// Loads of a CPU for which it holds.
    pub every: u64,
}

impl Noise {
    /// The factor that `draw`, of 2^64, stands for.
    #[must_use]
    pub fn factor(self, draw: u64) -> f64 {
        // 2^63 is the middle of what is drawn.
        1.0 + self.share * (draw as f64 / (1_u64 << 63) as f64 - 1.0)
    }
}

/// A slow drift: a factor that follows a sine of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The most that the factor is from one, as a share.
    pub share: f64,
    /// Ticks of a period.
    pub period: u64,
}

impl Drift {
    /// The factor at a reading of the time-stamp counter.
    #[must_use]
    pub fn factor(self, now: u64) -> f64 {
        let phase = now.checked_rem(self.period).unwrap_or(0) as f64 / self.period as f64;
        1.0 + self.share * (phase * std::f64::consts::TAU).sin()
    }
}

/// Bursts: slower by a factor for a while, again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Ticks from the beginning of one to that of the next.
    pub every: u64,
    /// Ticks that one lasts.
    pub length: u64,
    /// What is added, as a share.
    pub share: f64,
}

impl Burst {
    /// The factor at a reading of the time-stamp counter.
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
