//! Times at which traffic accesses memory: at an offered rate that does not depend on the time of an access.
//!
//! Gaps with an exponential distribution make a Poisson process, which resembles the requests of
//! many independent programs. Even gaps hide queueing delays, and can synchronise with a chase,
//! which then never waits for a request. The caller passes the time in ticks; nothing here reads a
//! clock.

use crate::math::{ln, whole};
use crate::rng::Pcg32;
use crate::worded;

/// Number of fractional bits of a mean gap in ticks.
pub const FRACTION_BITS: u32 = 20;

/// Maximum mean gap, in ticks with fractional bits: the longest gap, which is eight times as long, has to fit in 64
/// bits.
const LONGEST: u64 = 1 << 60;

/// Number of fractional bits of [`GAPS`]; the longest gap is 7.24.
const GAP_BITS: u32 = 13;
/// Base-2 logarithm of the number of gaps. The variance of these gaps is 0.998 of the variance of the exact
/// distribution.
const INDEX_BITS: u32 = 9;

/// Maximum lateness of a caller, in mean gaps. With random gaps, the deadlines of a caller that needs some time for
/// each burst form a queue: at 80 % of its maximum rate, the caller is later than this once in 10^8 bursts, but later
/// than one gap in half of the bursts.
const DEBT: u64 = 32;

/// Burst sizes, in lines per deadline, each with its minimum gap between deadlines as a multiple of the cost of
/// reading the counter.
///
/// The larger bursts are for a single core near its maximum rate, which also has to read the lines within the gap: on
/// Zen 3, where a core reads up to 18 GB/s, bursts of 64 lines deliver 0.999 of 12 GB/s and 0.958 of 15 GB/s, and
/// bursts of 128 lines deliver 1.001 of 15 GB/s.
const BURSTS: [(u32, u32); 8] = [(1, 4), (2, 4), (4, 4), (8, 4), (16, 4), (32, 6), (64, 8), (128, 8)];

/// Gaps of the exponential distribution of mean 1: the distribution is divided into parts of equal probability, and
/// each gap is the mean of one part.
///
/// The mean of the gaps is exactly 1, because each gap is the difference of two values of one
/// rounded integral: the integral of -ln v from zero to v is v - v ln v.
static GAPS: [u16; 1 << INDEX_BITS] = {
    let mut gaps = [0; 1 << INDEX_BITS];
    let (mut part, mut below) = (0, 0);
    while part < gaps.len() {
        let v = (part + 1) as f64 / gaps.len() as f64;
        let integral = v - v * ln(v);
        let above = whole(integral * (1u64 << (GAP_BITS + INDEX_BITS)) as f64 + 0.5);
        gaps[part] = (above - below) as u16;
        below = above;
        part += 1;
    }
    gaps
};

worded! {
    /// The distribution of the gaps between deadlines.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Pacing {
        /// Exponential gaps.
        Poisson = "poisson",
        /// Equal gaps.
        Even = "even",
    }
}

/// A series of deadlines.
///
/// A caller that is late catches up, but only for 32 mean gaps or its [patience](Pacer::patient), whichever is
/// longer: a processor that stalled must not make a long burst without gaps afterwards.
#[derive(Clone, Debug)]
pub struct Pacer {
    pacing: Pacing,
    /// The mean gap in ticks, with fractional bits.
    mean: u64,
    rng: Pcg32,
    deadline: u64,
    /// The fraction of a tick by which the exact deadline exceeds the deadline in whole ticks.
    fraction: u64,
    /// The maximum number of ticks by which the deadline may lie in the past.
    debt: u64,
}

impl Pacer {
    /// Returns a series of deadlines after `now`; the gaps have the mean `gap`, in ticks with [`FRACTION_BITS`].
    ///
    /// The seed determines all random gaps, or the phase of even ones.
    pub fn new(pacing: Pacing, gap: u64, seed: u64, now: u64) -> Pacer {
        // Each seed has its own stream, because in one stream neighbouring seeds would give similar numbers.
        let rng = Pcg32::new(seed, seed);
        let mean = gap.min(LONGEST);
        let debt = (mean >> FRACTION_BITS).saturating_mul(DEBT);
        let mut pacer = Pacer { pacing, mean, rng, deadline: now, fraction: 0, debt };
        let first = match pacing {
            Pacing::Poisson => pacer.gap(),
            Pacing::Even => scaled(mean, pacer.rng.next_u32(), 32),
        };
        pacer.postpone(first);
        pacer
    }

    /// Returns a pacer that catches up for at least `ticks`, even if the gaps are short.
    #[must_use]
    pub fn patient(self, ticks: u64) -> Pacer {
        Pacer { debt: self.debt.max(ticks), ..self }
    }

    /// Returns true if the deadline has been reached.
    #[inline]
    pub const fn due(&self, now: u64) -> bool {
        now.wrapping_sub(self.deadline).cast_signed() >= 0
    }

    /// Advances to the next deadline, and drops lateness beyond the limit.
    ///
    /// `now` is the argument of the last [`due`](Self::due), so that both need only one read of the counter.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        let gap = self.gap();
        self.postpone(gap);
        if now.wrapping_sub(self.deadline).cast_signed() > self.debt.cast_signed() {
            self.deadline = now.wrapping_sub(self.debt);
        }
    }

    fn gap(&mut self) -> u64 {
        match self.pacing {
            Pacing::Even => self.mean,
            Pacing::Poisson => {
                let place = self.rng.next_u32() >> (u32::BITS - INDEX_BITS);
                scaled(self.mean, GAPS[place as usize] as u32, GAP_BITS)
            }
        }
    }

    const fn postpone(&mut self, gap: u64) {
        let sum = self.fraction + gap;
        self.deadline = self.deadline.wrapping_add(sum >> FRACTION_BITS);
        self.fraction = sum & ((1 << FRACTION_BITS) - 1);
    }
}

/// Returns `mean` times a factor with `bits` fractional bits.
const fn scaled(mean: u64, factor: u32, bits: u32) -> u64 {
    ((mean as u128 * factor as u128) >> bits) as u64
}

/// Converts a gap of `ticks` to a number with [`FRACTION_BITS`], limited to the largest number.
pub const fn gap(ticks: f64) -> u64 {
    whole(ticks * (1u64 << FRACTION_BITS) as f64)
}

/// Returns the smallest burst for which a read of the counter takes at most a quarter of the gap between bursts, or
/// less for bursts of more than 16 lines; the largest burst if there is none.
///
/// `gap` is the mean gap for one line, in ticks with [`FRACTION_BITS`], `cost` is the time of a
/// counter read in ticks, and `least` is the minimum gap between bursts in ticks.
pub fn burst(gap: u64, cost: u64, least: u64) -> u32 {
    let enough = |(lines, looks): &(u32, u32)| {
        let wanted = (u128::from(cost) * u128::from(*looks)).max(least.into());
        u128::from(*lines) * u128::from(gap) >= wanted << FRACTION_BITS
    };
    BURSTS.into_iter().find(enough).unwrap_or(BURSTS[BURSTS.len() - 1]).0
}

#[cfg(test)]
mod tests;
