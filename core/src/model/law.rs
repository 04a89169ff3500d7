//! The share of a cyclic chain that misses in a cache, by the cache's choice of victims.
//!
//! A chain visits its lines in the same order again and again. With `x` the working set over
//! the capacity, and W lines to a set:
//!
//! | law | share that misses | right for |
//! | --- | --- | --- |
//! | in turn | `(W + 1) (x - 1) / x`, at most 1 | least recently used, lines spread evenly over the sets |
//! | coloured | `P(Poisson(W x) >= W)` | the same where pages chosen at random choose the sets |
//! | placed | the same, 0 as long as the median of placements has no set with too many lines | few colours |
//! | random | `m` of a set with n lines solves `m = 1 - (1 - 1/W)^(m (n - 1))` | random victims |
//!
//! Their knees differ, from less than the capacity to 1.4 of it, so that a curve gives a size
//! only under one of them. They know neither latencies nor points.

use core::f64::consts::LN_2;

use crate::math::{exp, ln, sqrt};

/// The rise of a cache's misses beyond its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Victims are the least recently used lines, in sets of this number of ways that fill evenly.
    InTurn(u32),
    /// The same, in sets that random pages fill.
    Coloured(u32),
    /// The same, where few pages choose the sets, so that most placements of a small working set miss nothing: the
    /// measured value is the median over placements. Ways, and the colours of pages: sets times line over page, which
    /// are 8 for 256 KiB in 8 ways and 16 for 256 KiB in 4 or 1 MiB in 16.
    Placed(u32, u32),
    /// Victims are random, in sets of this number of ways that fill evenly.
    Random(u32),
    /// None of these: a logistic step in the logarithm of the size, with its middle at the capacity.
    Soft(u32),
    /// Victims are random, in sets that random pages fill.
    ColouredRandom(u32),
}

impl Law {
    /// The laws of a stair's steps: half too many or too few ways change a size by 3 %.
    pub(super) const ALL: [Law; 25] = [
        Law::InTurn(2),
        Law::InTurn(4),
        Law::InTurn(8),
        Law::InTurn(16),
        Law::Random(4),
        Law::Random(8),
        Law::Random(24),
        Law::Soft(2),
        Law::Soft(3),
        Law::Soft(5),
        Law::Soft(8),
        Law::Soft(13),
        Law::Soft(22),
        Law::Soft(40),
        Law::Coloured(4),
        Law::Coloured(8),
        Law::Coloured(16),
        Law::Placed(4, 8),
        Law::Placed(4, 16),
        Law::Placed(8, 8),
        Law::Placed(8, 16),
        Law::Placed(16, 16),
        Law::ColouredRandom(4),
        Law::ColouredRandom(8),
        Law::ColouredRandom(16),
    ];

    /// Returns the share that misses, 0 to 1, at a working set of `ratio` capacities.
    pub(super) fn missing(self, ratio: f64) -> f64 {
        /// Ratio beyond which, and below its inverse, the share that misses is 1 or 0 to a part in ten thousand.
        const FAR: f64 = 12.0;
        if ratio >= FAR {
            return 1.0;
        }
        match self {
            Law::InTurn(_) | Law::Random(_) if ratio <= 1.0 => 0.0,
            _ if ratio <= 1.0 / FAR => 0.0,
            Law::Soft(slope) => {
                let power = exp(f64::from(slope) * ln(ratio));
                power / (1.0 + power)
            }
            Law::InTurn(ways) => ((f64::from(ways) + 1.0) * (ratio - 1.0) / ratio).min(1.0),
            Law::Coloured(ways) => not_below(ways, f64::from(ways) * ratio),
            Law::Placed(ways, colours) => {
                let lines = f64::from(ways) * ratio;
                // In most placements no colour has too many pages.
                if not_below(ways + 1, lines) < LN_2 / f64::from(colours) {
                    return 0.0;
                }
                not_below(ways, lines)
            }
            Law::Random(ways) => {
                // Some sets have one line more than others.
                let lines = f64::from(ways) * ratio;
                let few = lines as u32;
                let more = lines - f64::from(few);
                let of = |lines: f64| lines * random(ways, lines);
                ((1.0 - more) * of(f64::from(few)) + more * of(f64::from(few) + 1.0)) / lines
            }
            Law::ColouredRandom(ways) => {
                // The number of other lines in a line's set has a Poisson distribution, taken at five points.
                const POINTS: [(f64, f64); 5] = [
                    (-2.857, 0.011_26),
                    (-1.355_6, 0.222_08),
                    (0.0, 0.533_32),
                    (1.355_6, 0.222_08),
                    (2.857, 0.011_26),
                ];
                let lines = f64::from(ways) * ratio;
                let deviation = sqrt(lines);
                POINTS.iter().map(|(at, share)| share * random(ways, lines + 1.0 + at * deviation)).sum()
            }
        }
    }

    /// Returns the working set, in capacities, at which this share misses.
    pub(super) fn ratio_at(self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0, 12.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.missing(middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// Returns P(Poisson(mean) >= least).
fn not_below(least: u32, mean: f64) -> f64 {
    let mut term = exp(-mean);
    let mut below = 0.0;
    for number in 0..least {
        below += term;
        term *= mean / f64::from(number + 1);
    }
    (1.0 - below).clamp(0.0, 1.0)
}

/// Returns the share that misses in one set of `ways` with `lines` and random victims.
///
/// With `r` the rate at which a line is at risk over a lap, the share m solves m = 1 - e^(-m r). The estimate of m r
/// is off by at most 4 %, and one step of Newton's method leaves an error of 0.002 of m.
fn random(ways: u32, lines: f64) -> f64 {
    let ways = f64::from(ways);
    let beyond = -ln(1.0 - 1.0 / ways.max(1.5)) * (lines - 1.0) - 1.0;
    if lines <= ways || beyond <= 0.0 {
        return 0.0;
    }
    let rate = 1.0 + beyond;
    let share = 1.0 - exp(-beyond * (2.0 + beyond) / (1.0 + beyond));
    let kept = exp(-share * rate);
    (share - (share - 1.0 + kept) / (1.0 - rate * kept)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_agree_with_simulated_shares() {
        // The plug-in's cache, and the sums by hand.
        for (law, ratio, expected) in [
            (Law::InTurn(8), 1.0, 0.0),
            (Law::InTurn(8), 520.0 / 512.0, 72.0 / 520.0),
            (Law::InTurn(8), 1.125, 1.0),
            (Law::Random(1024), 1.1, 0.176),
            (Law::Random(1024), 1.5, 0.583),
            (Law::Random(1024), 2.0, 0.797),
            (Law::Random(1024), 3.0, 0.940),
            (Law::Coloured(16), 0.75, 0.156),
            (Law::Coloured(16), 1.0, 0.533),
            (Law::Coloured(16), 1.5, 0.969),
        ] {
            let missing = law.missing(ratio);
            assert!((missing - expected).abs() < 0.004, "{law:?} at {ratio}: {missing}, expected {expected}");
        }
    }

    #[test]
    fn shares_rise_from_0_to_1_and_are_found_again() {
        for law in Law::ALL {
            let mut last = 0.0;
            for step in 0..=1300 {
                let missing = law.missing(f64::from(step) / 100.0);
                assert!((last - 1e-9..=1.0).contains(&missing), "{law:?} at {step}: {last} then {missing}");
                last = missing;
            }
            assert!(law.missing(0.0) == 0.0 && last > 1.0 - 1e-9, "{law:?}: {last}");
            for share in [0.2, 0.5, 0.95] {
                // Some rise by a jump.
                let at = law.ratio_at(share);
                let (below, above) = (law.missing(at * (1.0 - 1e-6)), law.missing(at * (1.0 + 1e-6)));
                assert!(below <= share && share <= above, "{law:?}: {below}, {share}, {above}");
            }
        }
    }
}
