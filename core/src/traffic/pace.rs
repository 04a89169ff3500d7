//! Times at which traffic touches memory: at an offered rate, whatever a touch takes.
//!
//! Gaps of an exponential distribution make a Poisson process, which requests
//! of many independent programs resemble. Even gaps hide the waiting in queues,
//! and can keep step with a chase, which then never meets a request. Time comes
//! in ticks from the caller; nothing here reads a clock.

use crate::math::ln;
use crate::rng::Pcg32;
use crate::words::Worded;

/// The fractional bits of a mean gap in ticks.
pub const FRACTION_BITS: u32 = 20;

/// The longest mean gap, in ticks with fractional bits: eight times as much, the longest gap, has to fit.
const LONGEST: u64 = 1 << 60;

/// The fractional bits of [`GAPS`]: the longest of them is 7.24.
const GAP_BITS: u32 = 13;
/// The logarithm to base 2 of the number of gaps. Their variance is 0.998 of the whole distribution's.
const INDEX_BITS: u32 = 9;

/// The mean gaps that a caller may be late. Random gaps make a queue of one that takes its time for each burst: at 80 %
/// of what it can, it is more than so many gaps late once in 10^8 bursts, but more than one in half of them.
const DEBT: u64 = 32;

/// Numbers of lines that are touched at one deadline, and how many times the cost of a look the gap between has to be then.
///
/// The larger ones are for one core near its own limit, which has to read the lines in that gap too: on Zen 3, where it reads
/// 18 GB/s, 64 lines at a time deliver 0.999 of 12 GB/s and 0.958 of 15, and 128 of them 1.001 of 15.
const BURSTS: [(u32, u32); 8] = [(1, 4), (2, 4), (4, 4), (8, 4), (16, 4), (32, 6), (64, 8), (128, 8)];

/// The exponential distribution of mean 1, cut into parts of equal probability: the mean of each part.
///
/// Their own mean is exactly 1, because each is the difference of two values
/// of one rounded integral. That of -ln v from zero to v is v - v ln v.
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
/// A caller that comes too late catches up, but for at most [`DEBT`] mean gaps or its [patience](Pacer::patient):
/// a stalled processor is not to be followed by a long burst without gaps.
#[derive(Clone, Debug)]
pub struct Pacer {
    pacing: Pacing,
    /// The mean gap, in ticks with fractional bits.
    mean: u64,
    rng: Pcg32,
    deadline: u64,
    /// What the deadline leaves out of a tick.
    fraction: u64,
    /// The ticks that the deadline may lie behind.
    debt: u64,
}

impl Pacer {
    /// Returns deadlines after `now`, whose gaps have the mean `gap`, in ticks with [`FRACTION_BITS`].
    ///
    /// The seed decides on all gaps, or on the phase of even ones.
    #[must_use]
    pub fn new(pacing: Pacing, gap: u64, seed: u64, now: u64) -> Pacer {
        // A family of its own for each seed, because one family would give neighbours similar numbers.
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

    /// Catches up for so many ticks at least, however short the gaps are.
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

    /// Goes on to the next deadline, which is not left further behind `now` than what is caught up with.
    ///
    /// `now` is what [`due`](Self::due) was asked with: one look at the counter serves both.
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

/// `mean` times a factor with so many fractional bits.
const fn scaled(mean: u64, factor: u32, bits: u32) -> u64 {
    ((mean as u128 * factor as u128) >> bits) as u64
}

/// Returns the gap of so many ticks with [`FRACTION_BITS`]; the longest one for more than fits.
#[must_use]
pub const fn gap(ticks: f64) -> u64 {
    (ticks * (1u64 << FRACTION_BITS) as f64) as u64
}

/// Returns the smallest burst for which a look at the counter costs at most a quarter of the gap between bursts; less of
/// it for bursts of more than 16 lines.
///
/// `gap` is the mean gap of one line, in ticks with [`FRACTION_BITS`], and
/// `cost` is that of a look in ticks. The largest burst where none is enough.
#[must_use]
pub fn burst(gap: u64, cost: u64) -> u32 {
    let enough = |(lines, looks): &(u32, u32)| {
        u128::from(*lines) * u128::from(gap) >= (u128::from(cost) * u128::from(*looks)) << FRACTION_BITS
    };
    BURSTS.into_iter().find(enough).unwrap_or(BURSTS[BURSTS.len() - 1]).0
}

#[cfg(test)]
mod tests;
