//! The share of a cyclic chain's accesses that miss in a cache, for several replacement policies.
//!
//! A cyclic chain visits its lines in the same order in every lap. With `x` the working set divided
//! by the capacity, and W lines per set:
//!
//! | law | share of misses | valid for |
//! | --- | --- | --- |
//! | in turn | `(W + 1) (x - 1) / x`, at most 1 | least recently used, lines spread evenly over the sets |
//! | coloured | `P(Poisson(W x) >= W)` | least recently used, if the addresses of random pages choose the sets |
//! | placed | as coloured, but 0 while the median placement has no set with too many lines | few colours |
//! | random | `m` for a set with n lines solves `m = 1 - (1 - 1/W)^(m (n - 1))` | random victims |
//!
//! The knees of the laws lie between less than the capacity and 1.4 times the capacity, so a curve
//! gives a size only for a given law. The laws use neither latencies nor points.

use core::f64::consts::LN_2;

use crate::math::{exp, ln, sqrt};

/// The law by which a cache's misses rise beyond its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Victims are the least recently used lines, in sets of this number of ways that fill evenly.
    InTurn(u32),
    /// Victims are the least recently used lines, in sets of this number of ways that random pages fill.
    Coloured(u32),
    /// The law [`Coloured`](Self::Coloured) for few colours of pages: most placements of a small working set have no
    /// misses, and the measured value is the median over placements. The numbers are the ways and the colours of
    /// pages. The number of colours is sets times line size over page size: 8 for 256 KiB in 8 ways, and 16 for 256
    /// KiB in 4 ways or 1 MiB in 16 ways.
    Placed(u32, u32),
    /// Victims are random, in sets of this number of ways that fill evenly.
    Random(u32),
    /// None of these: a logistic step in the logarithm of the size, with its middle at the capacity.
    Soft(u32),
    /// Victims are random, in sets of this number of ways that random pages fill.
    ColouredRandom(u32),
}

impl Law {
    /// The laws that a stair's steps may follow: a number of ways that is wrong by half changes a size by 3 %.
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

    /// Returns the share of accesses that miss, 0 to 1, at a working set of `ratio` capacities.
    pub(super) fn missing(self, ratio: f64) -> f64 {
        /// Ratio above which the share of misses is 1, to one part in ten thousand; below the inverse of this ratio
        /// the share is 0.
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
                // Some sets have one more line than others.
                let lines = f64::from(ways) * ratio;
                let few = lines as u32;
                let more = lines - f64::from(few);
                let of = |lines: f64| lines * random(ways, lines);
                ((1.0 - more) * of(f64::from(few)) + more * of(f64::from(few) + 1.0)) / lines
            }
            Law::ColouredRandom(ways) => {
                // The number of other lines in a line's set has a Poisson distribution, which is sampled at five
                // points.
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

    /// Returns the working set, in capacities, at which this share of the accesses miss.
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

/// Returns the share of accesses that miss in one set of `ways` with `lines` and random victims.
///
/// With `e^-r` the probability that a line survives a lap in which every access misses, the share m solves
/// m = 1 - e^(-m r). The first estimate of m r is wrong by at most 4 %, and one step of Newton's method leaves an
/// error of 0.002 of m.
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
        // Shares from a simulated cache, and sums by hand.
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
                // Some laws have a jump.
                let at = law.ratio_at(share);
                let (below, above) = (law.missing(at * (1.0 - 1e-6)), law.missing(at * (1.0 + 1e-6)));
                assert!(below <= share && share <= above, "{law:?}: {below}, {share}, {above}");
            }
        }
    }
}
