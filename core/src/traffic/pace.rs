//! Times at which traffic touches memory: at an offered rate, whatever the time of a touch.
//!
//! Gaps of an exponential distribution make a Poisson process, which requests
//! of many independent programs resemble. Even gaps hide the waiting in queues,
//! and can keep step with a chase, which then never meets a request. The caller passes the time
//! in ticks; nothing here reads a clock.

use crate::math::ln;
use crate::rng::Pcg32;
use crate::words::Worded;

/// The fractional bits of a mean gap in ticks.
pub const FRACTION_BITS: u32 = 20;

/// The longest mean gap, in ticks with fractional bits: the longest gap, eight times as long, has to fit.
const LONGEST: u64 = 1 << 60;

/// The fractional bits of [`GAPS`]: the longest of them is 7.24.
const GAP_BITS: u32 = 13;
/// The logarithm to base 2 of the number of gaps. Their variance is 0.998 of the whole distribution's.
const INDEX_BITS: u32 = 9;

/// Mean gaps by which a caller may be late. With random gaps a caller that is slow for each burst has a queue: at 80 %
/// of its maximum it is later than this once in 10^8 bursts, but later than one gap in half of them.
const DEBT: u64 = 32;

/// Numbers of lines that are touched at one deadline, and the minimum gap between deadlines for each, as a multiple of
/// the cost of a look at the counter.
///
/// The larger bursts are for one core near its own limit, which has to read the lines in that gap too: on Zen 3, where
/// it reads 18 GB/s, bursts of 64 lines deliver 0.999 of 12 GB/s and 0.958 of 15, and bursts of 128 lines 1.001 of 15.
const BURSTS: [(u32, u32); 8] = [(1, 4), (2, 4), (4, 4), (8, 4), (16, 4), (32, 6), (64, 8), (128, 8)];

/// The exponential distribution of mean 1, cut into parts of equal probability: the mean of each part.
///
/// Their own mean is exactly 1, because each is the difference of two values
/// of one rounded integral: the integral of -ln v from zero to v is v - v ln v.
static GAPS: [u16; 1 << INDEX_BITS] = {
    let mut gaps = [0; 1 << INDEX_BITS];
    let (mut part, mut below) = (0, 0);
    while part < gaps.len() {
        let v = (part + 1) as f64 / gaps.len() as f64;
        let integral = v - v * ln(v);
        let above = (integral * (1u64 << (GAP_BITS + INDEX_BITS)) as f64 + 0.5) as u64;
        gaps[part] = (above - below) as u16;
        below = above;
        part += 1;
    }
    gaps
};

/// The distribution of the gaps between deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Exponential gaps.
    Poisson,
    /// Equal gaps.
    Even,
}

impl Worded for Pacing {
    const WORDS: &'static [(&'static str, Self)] = &[("poisson", Pacing::Poisson), ("even", Pacing::Even)];
}

/// A series of deadlines.
///
/// A caller that is late catches up, but for at most 32 mean gaps or its [patience](Pacer::patient):
/// a processor that stalled must not make a long burst without gaps afterwards.
#[derive(Clone, Debug)]
pub struct Pacer {
    pacing: Pacing,
    /// The mean gap, in ticks with fractional bits.
    mean: u64,
    rng: Pcg32,
    deadline: u64,
    /// The fraction of a tick that the deadline leaves out.
    fraction: u64,
    /// The ticks by which the deadline may lie in the past.
    debt: u64,
}

impl Pacer {
    /// Returns deadlines after `now`, whose gaps have the mean `gap`, in ticks with [`FRACTION_BITS`].
    ///
    /// The seed determines all random gaps, or the phase of even ones.
    #[must_use]
    pub fn new(pacing: Pacing, gap: u64, seed: u64, now: u64) -> Pacer {
        // Each seed has its own family, because in one family neighbouring seeds would have similar numbers.
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

    /// Returns a pacer that catches up for at least `ticks`, however short the gaps are.
    #[must_use]
    pub fn patient(self, ticks: u64) -> Pacer {
        Pacer { debt: self.debt.max(ticks), ..self }
    }

    /// Returns true from the deadline on.
    #[must_use]
    #[inline]
    pub const fn due(&self, now: u64) -> bool {
        now.wrapping_sub(self.deadline).cast_signed() >= 0
    }

    /// Goes on to the next deadline, and gives up lateness beyond the limit.
    ///
    /// `now` is the argument of the last [`due`](Self::due): one look at the counter is enough for both.
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

/// Returns a gap of `ticks` with [`FRACTION_BITS`]; the longest possible for a larger one.
#[must_use]
pub const fn gap(ticks: f64) -> u64 {
    (ticks * (1u64 << FRACTION_BITS) as f64) as u64
}

/// Returns the smallest burst for which a look at the counter costs at most a quarter of the gap between bursts, or
/// less for bursts of more than 16 lines; the largest burst where none is enough.
///
/// `gap` is the mean gap of one line, in ticks with [`FRACTION_BITS`], and
/// `cost` is the cost of a look in ticks.
#[must_use]
pub fn burst(gap: u64, cost: u64) -> u32 {
    let enough = |(lines, looks): &(u32, u32)| {
        u128::from(*lines) * u128::from(gap) >= (u128::from(cost) * u128::from(*looks)) << FRACTION_BITS
    };
    BURSTS.into_iter().find(enough).unwrap_or(BURSTS[BURSTS.len() - 1]).0
}

#[cfg(test)]
mod tests;
