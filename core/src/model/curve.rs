//! The shapes of a curve's steps: the share of the accesses that miss in a level.
//!
//! All functions are pure functions of size, capacity and shape; `robust.rs` fits the latencies.

use super::law::Law;
use super::least_squares::Unknowns;
use super::point::MAX_LEVELS;
use crate::math::{exp, ln};
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
}
