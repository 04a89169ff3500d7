//! Conclusions from bandwidths: whether memory or the generators are the limit, and which rates were not delivered.
//!
//! The input is bandwidths and numbers of cores, independent of how they were measured.

use super::{LoadLevel, ends};
use latency_core::math::ToReal;
use latency_core::stats::Estimate;
use latency_core::units::LineSize;

/// Largest growth of the bandwidth for twice the cores at which memory, or the path to it, is the limit.
const GROWTH_AT_LIMIT: f64 = 1.25;
/// Largest share of the bandwidth of half of the cores at which all cores overload the memory.
const OVERLOADED: f64 = 0.9;
/// Growth of the bandwidth for twice the cores above which the cores are the limit: more of them would move more.
const GROWTH_OF_CORES: f64 = 1.6;
/// Share of the limit below which every offered rate can be delivered.
const DELIVERABLE: f64 = 0.8;
/// Least relative difference from the offered rate that counts; paced generators differ by less.
const SOME_MISSED: f64 = 0.01;

/// The cause of the limit of the largest bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One core alone does not show the limit of memory.
    OneGenerator,
    /// Memory, or the path to it, is the limit.
    LimitReached,
    /// Memory, or the path to it, is the limit, and all cores together overload it: they move less than half of them.
    OverSaturated,
    /// Neither limit is shown.
    NotShown,
    /// The cores are the limit: memory could deliver more.
    GeneratorsExhausted,
}

impl Verdict {
    /// Returns the verdict from two bandwidths: of all cores, and of half of them, rounded down.
    ///
    /// The bounds are for twice the cores. With an odd number, all cores are more than twice the half (3 cores are three
    /// times 1), so the growth is scaled: the time per line of a core is modelled as a constant part and a part that
    /// grows with the number of cores.
    pub fn of(cores: usize, all: f64, half: Option<f64>) -> Verdict {
        if cores < 2 {
            return Verdict::OneGenerator;
        }
        let Some(growth) = half.filter(|half| *half > 0.0).map(|half| all / half) else {
            return Verdict::NotShown;
        };
        let times = cores.real() / (cores / 2).real();
        let doubled = 1.0 + (growth - 1.0) / (times - 1.0);
        match growth {
            _ if growth < OVERLOADED => Verdict::OverSaturated,
            _ if doubled <= GROWTH_AT_LIMIT => Verdict::LimitReached,
            _ if doubled > GROWTH_OF_CORES => Verdict::GeneratorsExhausted,
            _ => Verdict::NotShown,
        }
    }

    /// Returns the verdict where no smaller number of cores delivers more beyond both intervals. It is the verdict of
    /// [`of`](Self::of), but never over-saturated: all cores that deliver less than half of them reach the limit if they
    /// do so with the upper end of their interval too; else neither limit is shown.
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

/// Returns the lines that each core has in flight, by Little's law: arrivals per second, times the latency. `None` if
/// the result is not finite.
pub fn lines_in_flight(
    read_bytes_per_second: f64,
    latency_ns: f64,
    cores: usize,
    line: LineSize,
) -> Option<f64> {
    let lines = read_bytes_per_second * latency_ns / 1e9 / (line.bytes().0.real() * cores.real());
    lines.is_finite().then_some(lines)
}

/// Returns the level with the delivered rate that is furthest from the offered one, and the difference as a share of
/// the offered rate; `None` if all are within 1 %. Rates near the limit, which need not be delivered, are left out. A
/// difference within the interval does not count.
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
