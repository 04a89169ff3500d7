//! Conclusions from bandwidths: if memory or generators are the limit, and which rates were not delivered.
//!
//! Knows bandwidths and numbers of cores, and nothing of how they were measured.

use super::{LoadLevel, ends};
use latency_core::stats::Estimate;

/// Bytes that one load or store of a generator moves.
const LINE_BYTES: f64 = 64.0;
/// Twice the cores that move no more than this have reached a limit beyond them.
const REACHED: f64 = 1.25;
/// Share of the rate of half of the cores below which all cores overload the memory.
const TOO_MUCH: f64 = 0.9;
/// Twice the cores that move more than this would move still more if there were any.
const EXHAUSTED: f64 = 1.6;
/// Share of the limit below which every offered rate can be delivered.
const DELIVERABLE: f64 = 0.8;
/// A difference from the offered rate that pacing does not have.
const SOME_MISSED: f64 = 0.01;

/// Whose limit the largest bandwidth is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One core alone says nothing of what memory can do.
    OneGenerator,
    /// Memory's, or that of the way to it.
    LimitReached,
    /// The same, and all cores together are beyond it: they move less than half of them.
    OverSaturated,
    /// Neither is shown.
    NotShown,
    /// The cores': memory could do more.
    GeneratorsExhausted,
}

impl Verdict {
    /// Concludes from the bandwidth of all cores, and from the bandwidth of half of them, rounded down.
    ///
    /// Bounds are of the growth for a doubling; 3 cores are three times half of them, 5 two and a half times. A core's
    /// time for a line is taken as a part of its own and one that grows with the number of cores.
    #[must_use]
    pub fn of(cores: usize, all: f64, half: Option<f64>) -> Verdict {
        if cores < 2 {
            return Verdict::OneGenerator;
        }
        let Some(growth) = half.filter(|half| *half > 0.0).map(|half| all / half) else {
            return Verdict::NotShown;
        };
        let times = cores as f64 / (cores / 2) as f64;
        let doubled = 1.0 + (growth - 1.0) / (times - 1.0);
        match growth {
            _ if growth < TOO_MUCH => Verdict::OverSaturated,
            _ if doubled <= REACHED => Verdict::LimitReached,
            _ if doubled > EXHAUSTED => Verdict::GeneratorsExhausted,
            _ => Verdict::NotShown,
        }
    }

    /// Concludes as [`of`](Self::of) where it is not shown that fewer cores move more than all of them: these reach the
    /// limit if they do so with the upper end of their interval, too.
    #[must_use]
    pub fn of_all(cores: usize, all: &Estimate, half: Option<f64>) -> Verdict {
        match Verdict::of(cores, all.value, half) {
            Verdict::OverSaturated => match Verdict::of(cores, ends(all).high, half) {
                Verdict::OverSaturated | Verdict::LimitReached => Verdict::LimitReached,
                _ => Verdict::NotShown,
            },
            verdict => verdict,
        }
    }

    /// Returns the words for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::OneGenerator => "one generator",
            Verdict::LimitReached => "limit reached",
            Verdict::OverSaturated => "over-saturated",
            Verdict::NotShown => "not shown",
            Verdict::GeneratorsExhausted => "generators exhausted",
        }
    }
}

/// Returns the lines that each core has in flight, by Little's law: arrivals in a second, times the latency.
/// `None` where that is not a number.
#[must_use]
pub fn lines_in_flight(read_bytes_per_second: f64, latency_ns: f64, cores: usize) -> Option<f64> {
    let lines = read_bytes_per_second * latency_ns / 1e9 / (LINE_BYTES * cores as f64);
    lines.is_finite().then_some(lines)
}

/// Returns the level whose delivered rate is furthest from the offered one, and how far as a part of that; `None` where
/// all are within 1 %. Rates near the limit, which need not be delivered, are left out. A difference within the interval
/// does not count.
#[must_use]
pub fn not_delivered(levels: &[LoadLevel], limit: f64) -> Option<(LoadLevel, f64)> {
    let mut worst = None::<(&LoadLevel, f64)>;
    for level in levels {
        let Some(offered) = level.offered.filter(|offered| *offered > 0.0 && *offered < DELIVERABLE * limit)
        else {
            continue;
        };
        let delivered = ends(&level.delivered);
        let short = (offered - delivered.high).max(delivered.low - offered) / offered;
        if short > SOME_MISSED && worst.is_none_or(|(_, most)| short >= most) {
            worst = Some((level, short));
        }
    }
    worst.map(|(level, short)| (*level, short))
}
