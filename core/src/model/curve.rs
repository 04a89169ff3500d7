//! The shapes of a curve's steps: the share of the accesses that miss in a level, for several replacement policies.
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
//! The knees of the laws lie between less than the capacity and 1.4 times the capacity, so a curve gives a size only
//! for a given law. All functions are pure functions of size, capacity and shape; `robust.rs` fits the latencies.

use core::f64::consts::LN_2;

use super::least_squares::Unknowns;
use super::workspace::MAX_LEVELS;
use crate::math::{exp, ln, sqrt};
use crate::sort::sort_by;

/// One step of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The natural logarithm of the capacity in bytes.
    pub(super) ln_capacity: f64,
    /// The law by which the misses rise; `None` in the mixture, in which the part beyond the capacity misses: `1 -
    /// C/S`.
    pub(super) law: Option<Law>,
}

impl Step {
    /// Returns the share of the accesses that miss, 0 to 1, at a working set in bytes.
    pub(super) fn missing(&self, size: f64) -> f64 {
        let ratio = size * exp(-self.ln_capacity);
        self.law.map_or((1.0 - 1.0 / ratio).max(0.0), |law| law.missing(ratio))
    }

    /// Returns the derivative of the share of misses with respect to ln capacity.
    pub(super) fn slope(&self, ln_size: f64) -> f64 {
        // The width of the difference quotient in ln S, which is wide enough to smooth the corners of a law.
        const WIDTH: f64 = 0.02;
        let beyond = ln_size - self.ln_capacity;
        match self.law {
            None if beyond <= 0.0 => 0.0,
            None => -exp(-beyond),
            Some(law) => {
                (law.missing(exp(beyond - WIDTH)) - law.missing(exp(beyond + WIDTH))) / (2.0 * WIDTH)
            }
        }
    }

    /// Returns the natural logarithm of the working set at which `share` of the accesses miss. In the mixture, misses
    /// begin at the capacity and never reach 1; for a share below one half, this returns the capacity itself.
    pub(super) fn ln_size_at(&self, share: f64) -> f64 {
        match self.law {
            None if share < 0.5 => self.ln_capacity,
            None => self.ln_capacity - ln(1.0 - share),
            Some(law) => self.ln_capacity + ln(law.ratio_at(share)),
        }
    }
}

/// The nonlinear part of a model: the steps of the levels, and the step of the first-level
/// translation buffer if it is modelled separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    steps: [Step; MAX_LEVELS],
    count: usize,
    /// The step of the translation buffer.
    pub(super) translation: Option<Step>,
}

impl Curve {
    /// Returns a curve that is flat except for a translation buffer of the given reach in bytes.
    pub(super) fn flat(translation_reach: Option<f64>) -> Self {
        let step = |ln_capacity| Step { ln_capacity, law: None };
        Self {
            steps: [step(0.0); MAX_LEVELS],
            count: 0,
            translation: translation_reach.map(|reach| step(ln(reach))),
        }
    }

    /// Returns the curve with one more step; unchanged if it has [`MAX_LEVELS`] steps.
    pub(super) fn with(mut self, step: Step) -> Self {
        if let Some(slot) = self.steps.get_mut(self.count) {
            *slot = step;
            self.count += 1;
        }
        self
    }

    /// Replaces a step.
    pub(super) fn replace(&mut self, index: usize, step: Step) {
        if let Some(slot) = self.steps[..self.count].get_mut(index) {
            *slot = step;
        }
    }

    /// Returns the steps of the levels.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps[..self.count]
    }

    /// Sorts the steps by capacity.
    pub(super) fn sort(&mut self) {
        sort_by(&mut self.steps[..self.count], |a, b| a.ln_capacity.total_cmp(&b.ln_capacity));
    }

    /// Returns the number of linear unknowns: the base latency, one step per level, and the translation step.
    pub(super) fn unknowns(&self) -> usize {
        1 + self.count + usize::from(self.translation.is_some())
    }

    /// Returns the number of all parameters, linear and nonlinear; a given reach does not count.
    pub(super) fn parameters(&self) -> usize {
        let searched = self.steps().iter().map(|step| 1 + usize::from(step.law.is_some()));
        self.unknowns() + searched.sum::<usize>()
    }

    /// Returns the factor of a linear unknown at a working set; 0 for an unknown that the curve does not have.
    pub(super) fn share(&self, unknown: usize, size: f64) -> f64 {
        let Some(index) = unknown.checked_sub(1) else { return 1.0 };
        // The unknown of the translation buffer follows those of the levels.
        let behind = self.translation.as_ref().filter(|_| index == self.count);
        self.steps().get(index).or(behind).map_or(0.0, |step| step.missing(size))
    }

    /// Returns the curve's height at a working set in bytes, for given linear unknowns.
    pub(super) fn height(&self, size: f64, unknowns: &Unknowns) -> f64 {
        unknowns.iter().enumerate().map(|(unknown, value)| self.share(unknown, size) * value).sum()
    }
}

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
    use super::super::least_squares::MAX_UNKNOWNS;
    use super::*;
    use std::vec::Vec;

    fn share(capacity: f64) -> Step {
        Step { ln_capacity: ln(capacity), law: None }
    }

    #[test]
    fn steps_of_shares_are_the_mixture_by_share_of_the_working_set() {
        let (capacities, latencies) = ([48e3, 1e6, 8e6], [1.0, 4.0, 16.0, 116.0]);
        let mut curve = Curve::flat(None);
        let mut unknowns = [0.0; MAX_UNKNOWNS];
        unknowns[0] = latencies[0];
        for (i, capacity) in capacities.into_iter().enumerate() {
            curve = curve.with(share(capacity));
            unknowns[i + 1] = latencies[i + 1] - latencies[i];
        }
        for size in [1e3, 48e3, 50e3, 3e5, 2e6, 8e6, 9e6, 1e9] {
            let mut held = 0.0;
            let mut mixture = 0.0;
            for (capacity, latency) in capacities.into_iter().chain([f64::INFINITY]).zip(latencies) {
                let reach = capacity.min(size);
                mixture += (reach - held) / size * latency;
                held = reach;
            }
            let height = curve.height(size, &unknowns);
            assert!((height / mixture - 1.0).abs() < 1e-12, "{size}: {height} for {mixture}");
        }
    }

    #[test]
    fn slopes_are_the_derivatives() {
        let (capacity, nudge) = (10.0, 1e-3);
        for law in [None, Some(Law::Coloured(8)), Some(Law::ColouredRandom(8))] {
            let step = |ln_capacity| Step { ln_capacity, law };
            for ln_size in [9.5, 10.1, 10.2, 11.0] {
                let difference =
                    step(capacity + nudge).missing(exp(ln_size)) - step(capacity).missing(exp(ln_size));
                let slope = step(capacity).slope(ln_size);
                assert!((difference / nudge - slope).abs() < 2e-2, "{law:?} at {ln_size}: {slope}");
            }
        }
    }

    #[test]
    fn a_share_is_missed_at_the_size_of_the_step() {
        for law in Law::ALL.map(Some) {
            let step = Step { ln_capacity: 12.0, law };
            for share in [0.05, 0.5, 0.95] {
                // Some laws have a jump.
                let at = step.ln_size_at(share);
                let (below, above) = (step.missing(exp(at - 1e-6)), step.missing(exp(at + 1e-6)));
                assert!(below <= share && share <= above, "{law:?}: {below}, {share}, {above}");
            }
        }
        let mixture = share(1e6);
        assert!((mixture.missing(exp(mixture.ln_size_at(0.5))) - 0.5).abs() < 1e-9);
        assert_eq!(mixture.ln_size_at(0.05), mixture.ln_capacity);
    }

    #[test]
    fn holds_at_most_max_levels_steps_and_sorts_them() {
        let mut curve = Curve::flat(Some(4096.0));
        for i in 0..MAX_LEVELS + 3 {
            curve = curve.with(share(1e9 / (i + 1) as f64));
        }
        curve.sort();
        let capacities: Vec<f64> = curve.steps().iter().map(|step| step.ln_capacity).collect();
        assert_eq!(capacities.len(), MAX_LEVELS);
        assert!(capacities.is_sorted());
        assert_eq!((curve.unknowns(), curve.parameters()), (2 + MAX_LEVELS, 2 + 2 * MAX_LEVELS));
    }

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
