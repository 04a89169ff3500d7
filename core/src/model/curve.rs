//! The shapes of a curve's steps: which share of the accesses misses in a level.
//!
//! Pure functions of size, capacity and shape; latencies enter elsewhere.

use core::f64::consts::LN_2;

use super::law::Law;
use super::least_squares::{Unknowns, MAX_UNKNOWNS};
use super::MAX_LEVELS;
use crate::math::{exp, ln};
use crate::sort::sort_by;

/// The range of the Hill shape: at 1 a step spreads over eight octaves and is a slope, and
/// at 128 it lies between two points of a curve with 15 of them an octave.
pub(super) const SHAPE_RANGE: (f64, f64) = (1.0, 128.0);

/// Half-way, on the logistic scale, from the knee to 5 % missing: ln(0.95 / 0.05).
const LN_19: f64 = 2.944_438_979_166_440_3;

/// How the misses of one level rise with the working set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rise {
    /// All that exceeds the capacity misses: `1 - C/S`.
    Share,
    /// A logistic step in ln S: `x^s / (1 + x^s)`.
    Hill { shape: f64 },
    /// As a cache's policy of replacement has it.
    Law(Law),
}

/// One step of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The natural logarithm of the capacity in bytes.
    pub(super) ln_capacity: f64,
    /// The form of the step.
    pub(super) rise: Rise,
}

impl Step {
    /// The share that misses, 0 to 1, at a working set.
    pub(super) fn missing(&self, ln_size: f64) -> f64 {
        let beyond = ln_size - self.ln_capacity;
        match self.rise {
            Rise::Share if beyond <= 0.0 => 0.0,
            Rise::Share => 1.0 - exp(-beyond),
            Rise::Hill { shape } => logistic(shape * beyond),
            Rise::Law(law) => law.missing(beyond),
        }
    }

    /// The derivatives of the missing share by ln capacity and by ln shape.
    pub(super) fn slopes(&self, ln_size: f64) -> (f64, f64) {
        let beyond = ln_size - self.ln_capacity;
        match self.rise {
            Rise::Share if beyond <= 0.0 => (0.0, 0.0),
            Rise::Share => (-exp(-beyond), 0.0),
            Rise::Hill { shape } => {
                let missing = self.missing(ln_size);
                let rate = shape * missing * (1.0 - missing);
                (-rate, rate * beyond)
            }
            Rise::Law(law) => {
                // Wide enough to see over the corners of a law.
                const WIDTH: f64 = 0.02;
                ((law.missing(beyond - WIDTH) - law.missing(beyond + WIDTH)) / (2.0 * WIDTH), 0.0)
            }
        }
    }

    /// The natural logarithm of the working set at which 5 % miss; the capacity itself
    /// where the rise has a sharp foot.
    pub(super) fn ln_onset(&self) -> f64 {
        match self.rise {
            Rise::Share => self.ln_capacity,
            Rise::Hill { shape } => self.ln_capacity - LN_19 / shape,
            Rise::Law(law) => self.ln_capacity + law.ln_ratio_at(0.05),
        }
    }

    /// The natural logarithm of the working set at which half of the accesses miss.
    pub(super) fn ln_knee(&self) -> f64 {
        match self.rise {
            Rise::Share => self.ln_capacity + LN_2,
            Rise::Hill { .. } => self.ln_capacity,
            Rise::Law(law) => self.ln_capacity + law.ln_ratio_at(0.5),
        }
    }
}

/// `1 / (1 + e^-t)`; far out it is flat to one part in 10^11, and the search spends its
/// time here.
fn logistic(t: f64) -> f64 {
    const FLAT: f64 = 25.0;
    if t > FLAT {
        1.0
    } else if t < -FLAT {
        0.0
    } else {
        1.0 / (1.0 + exp(-t))
    }
}

/// The nonlinear half of a model: the steps of the levels, and of the first-level
/// translation buffer if it is modelled apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    steps: [Step; MAX_LEVELS],
    count: usize,
    translation: Option<Step>,
}

impl Curve {
    /// A flat curve, but for a translation buffer of the given reach in bytes.
    pub(super) fn flat(translation_reach: Option<f64>) -> Self {
        let step = |ln_capacity| Step { ln_capacity, rise: Rise::Share };
        Self {
            steps: [step(0.0); MAX_LEVELS],
            count: 0,
            translation: translation_reach.map(|reach| step(ln(reach))),
        }
    }

    /// The same curve with one more step; unchanged if it has [`MAX_LEVELS`] of them.
    pub(super) fn with(mut self, step: Step) -> Self {
        if let Some(slot) = self.steps.get_mut(self.count) {
            *slot = step;
            self.count += 1;
        }
        self
    }

    /// Puts a step in another's place.
    pub(super) fn replace(&mut self, index: usize, step: Step) {
        if let Some(slot) = self.steps[..self.count].get_mut(index) {
            *slot = step;
        }
    }

    /// The same curve without its levels.
    pub(super) fn without_steps(mut self) -> Self {
        self.count = 0;
        self
    }

    /// The steps of the levels.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps[..self.count]
    }

    /// The step of the translation buffer.
    pub(super) fn translation(&self) -> Option<&Step> {
        self.translation.as_ref()
    }

    /// Puts the steps in the order of their capacities.
    pub(super) fn sort(&mut self) {
        sort_by(&mut self.steps[..self.count], |a, b| a.ln_capacity.total_cmp(&b.ln_capacity));
    }

    /// The number of linear unknowns: base latency, one step a level, translation.
    pub(super) fn unknowns(&self) -> usize {
        1 + self.count + usize::from(self.translation.is_some())
    }

    /// The number of parameters in all, linear and not; a given reach is none.
    pub(super) fn parameters(&self) -> usize {
        let searched = self.steps().iter().map(|step| match step.rise {
            Rise::Share => 1,
            Rise::Hill { .. } | Rise::Law(_) => 2,
        });
        self.unknowns() + searched.sum::<usize>()
    }

    /// What multiplies each linear unknown at a working set.
    pub(super) fn row(&self, ln_size: f64) -> Unknowns {
        let mut row = [0.0; MAX_UNKNOWNS];
        row[0] = 1.0;
        let steps = self.steps().iter().chain(&self.translation);
        for (value, step) in row.iter_mut().skip(1).zip(steps) {
            *value = step.missing(ln_size);
        }
        row
    }

    /// The curve's height at a working set, for given linear unknowns.
    pub(super) fn height(&self, ln_size: f64, unknowns: &Unknowns) -> f64 {
        self.row(ln_size).iter().zip(unknowns).map(|(share, value)| share * value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn share(capacity: f64) -> Step {
        Step { ln_capacity: ln(capacity), rise: Rise::Share }
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
            let height = curve.height(ln(size), &unknowns);
            assert!((height / mixture - 1.0).abs() < 1e-12, "{size}: {height} for {mixture}");
        }
    }

    #[test]
    fn slopes_are_the_derivatives() {
        let hill = Step { ln_capacity: 10.0, rise: Rise::Hill { shape: 4.0 } };
        let nudge = 1e-6;
        for ln_size in [8.0, 9.5, 10.2, 11.0] {
            let (by_capacity, by_shape) = hill.slopes(ln_size);
            let moved = Step { ln_capacity: 10.0 + nudge, ..hill };
            let sharper = Step { rise: Rise::Hill { shape: 4.0 * exp(nudge) }, ..hill };
            let difference = |other: Step| (other.missing(ln_size) - hill.missing(ln_size)) / nudge;
            assert!((difference(moved) - by_capacity).abs() < 1e-5);
            assert!((difference(sharper) - by_shape).abs() < 1e-5);
        }
        let (by_capacity, _) = share(exp(10.0)).slopes(11.0);
        assert!((by_capacity + exp(-1.0)).abs() < 1e-12);
    }

    #[test]
    fn a_hill_is_half_way_at_its_knee_and_at_a_twentieth_at_its_onset() {
        let hill = Step { ln_capacity: 12.0, rise: Rise::Hill { shape: 7.0 } };
        assert_eq!(hill.missing(12.0), 0.5);
        assert!((hill.missing(hill.ln_onset()) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn holds_no_more_steps_than_there_is_room_for_and_sorts_them() {
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
