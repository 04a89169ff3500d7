//! The memory of a fit: its points, sorted and scaled, and the weights in force.
//!
//! A few tens of kilobytes that would not fit a small stack. It knows no model.

use super::least_squares::{Unknowns, MAX_UNKNOWNS};
use super::point::{is_reasonable, FitError, Point, MAX_POINTS};
use crate::math::ln;
use crate::sort::sort_by;
use crate::stats::median;

/// Scratch memory for fits, used again for each.
///
/// Made of numbers only, with `repr(C)`: memory filled with zeros is a valid workspace, as
/// good as [`Workspace::new`], so that it can lie in a fresh mapping without passing
/// through the stack.
#[derive(Debug)]
#[repr(C)]
pub struct Workspace {
    count: usize,
    distinct: usize,
    reference: f64,
    spread: f64,
    sorted: [Point; MAX_POINTS],
    ln_size: [f64; MAX_POINTS],
    /// The reference latency over each point's: a row times this is a relative prediction.
    relative: [f64; MAX_POINTS],
    /// What the spread of a point leaves of its say, before any fit.
    prior: [f64; MAX_POINTS],
    /// `prior` times what the current fit's residual leaves.
    weight: [f64; MAX_POINTS],
    scratch: [f64; MAX_POINTS],
    /// What multiplies each unknown, relative to the latency of the point.
    shares: [Unknowns; MAX_POINTS],
}

/// What a fit reads of one point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The working set in bytes.
    pub(super) size: f64,
    /// The natural logarithm of the working set in bytes.
    pub(super) ln_size: f64,
    /// The reference latency over the point's.
    pub(super) relative: f64,
    /// The weight that the spread of the point gives it.
    pub(super) prior: f64,
    /// The weight in force.
    pub(super) weight: f64,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    /// An empty workspace.
    #[must_use]
    pub const fn new() -> Self {
        const EMPTY: [f64; MAX_POINTS] = [0.0; MAX_POINTS];
        Self {
            count: 0,
            distinct: 0,
            reference: 0.0,
            spread: 0.0,
            sorted: [Point::new(0.0, 0.0); MAX_POINTS],
            ln_size: EMPTY,
            relative: EMPTY,
            prior: EMPTY,
            weight: EMPTY,
            scratch: EMPTY,
            shares: [[0.0; MAX_UNKNOWNS]; MAX_POINTS],
        }
    }

    /// Takes points in, in any order.
    ///
    /// # Errors
    ///
    /// Points that are too many or not positive and finite.
    pub(super) fn load(&mut self, points: &[Point]) -> Result<(), FitError> {
        let count = points.len();
        if count > MAX_POINTS {
            return Err(FitError::TooManyPoints { found: count });
        }
        let legal = |point: &Point| {
            let spread_is_legal = point.spread >= 0.0 && point.spread.is_finite();
            is_reasonable(point.working_set) && is_reasonable(point.latency) && spread_is_legal
        };
        if let Some(index) = points.iter().position(|point| !legal(point)) {
            return Err(FitError::InvalidPoint { index });
        }
        self.count = count;
        let sorted = &mut self.sorted[..count];
        sorted.copy_from_slice(points);
        // By latency too, so that the order of equal sizes in the input changes nothing.
        sort_by(sorted, |a, b| a.working_set.total_cmp(&b.working_set).then(a.latency.total_cmp(&b.latency)));
        let rises = sorted.windows(2).filter(|pair| pair[0].working_set < pair[1].working_set);
        self.distinct = rises.count() + usize::from(count > 0);

        self.reference = self.median_of(|point| Some(point.latency)).unwrap_or(1.0);
        self.spread = self.median_of(|point| Some(point.spread).filter(|&s| s > 0.0)).unwrap_or(0.0);
        for (i, point) in self.sorted[..count].iter().enumerate() {
            self.ln_size[i] = ln(point.working_set);
            self.relative[i] = self.reference / point.latency;
            self.prior[i] = if point.spread > 0.0 && self.spread > 0.0 {
                // Bounded above: a point that happened to repeat well must not rule the rest.
                let ratio = (point.spread / self.spread).min(1e6);
                2.0 / (1.0 + ratio * ratio)
            } else {
                1.0
            };
            self.weight[i] = self.prior[i];
        }
        Ok(())
    }

    fn median_of(&mut self, value: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
        let mut found = 0;
        for (slot, value) in self.scratch.iter_mut().zip(self.sorted[..self.count].iter().filter_map(value)) {
            *slot = value;
            found += 1;
        }
        median(&mut self.scratch[..found])
    }

    /// The number of points.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The number of different working sets.
    pub(super) fn distinct(&self) -> usize {
        self.distinct
    }

    /// The latency that all arithmetic is relative to.
    pub(super) fn reference(&self) -> f64 {
        self.reference
    }

    /// The median of the known spreads, relative; 0 if none is known.
    pub(super) fn spread(&self) -> f64 {
        self.spread
    }

    /// The natural logarithms of the working sets, ascending.
    pub(super) fn ln_sizes(&self) -> &[f64] {
        &self.ln_size[..self.count]
    }

    /// The points, by ascending working set.
    pub(super) fn points(&self) -> &[Point] {
        &self.sorted[..self.count]
    }

    /// The latencies of some points, in the scratch memory.
    pub(super) fn latencies(&mut self, among: impl Fn(&Point) -> bool) -> &mut [f64] {
        let mut found = 0;
        let chosen = self.sorted[..self.count].iter().filter(|point| among(point));
        for (slot, point) in self.scratch.iter_mut().zip(chosen) {
            *slot = point.latency;
            found += 1;
        }
        &mut self.scratch[..found]
    }

    /// All that a fit reads, by ascending working set.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let given = self.sorted.iter().zip(self.ln_size.iter().zip(&self.relative));
        let weights = self.prior.iter().zip(&self.weight);
        given.zip(weights).take(self.count).map(|((point, (&ln_size, &relative)), (&prior, &weight))| Row {
            size: point.working_set,
            ln_size,
            relative,
            prior,
            weight,
        })
    }

    /// Takes back what fits have made of the weights.
    pub(super) fn reset_weights(&mut self) {
        self.weight[..self.count].copy_from_slice(&self.prior[..self.count]);
    }

    /// Sets each weight from the point's prior weight and its number in the scratch memory.
    pub(super) fn reweigh(&mut self, mut weight: impl FnMut(f64, f64) -> f64) {
        let given = self.prior.iter().zip(&self.scratch);
        for (slot, (&prior, &number)) in self.weight.iter_mut().zip(given).take(self.count) {
            *slot = weight(prior, number);
        }
    }

    /// Writes, for each point, what multiplies the unknowns of a model, given as a function of ln size.
    pub(super) fn set_shares(&mut self, row: impl Fn(f64) -> Unknowns) {
        let given = self.ln_size.iter().zip(&self.relative);
        for (slot, (&ln_size, &relative)) in self.shares.iter_mut().zip(given).take(self.count) {
            *slot = row(ln_size).map(|share| share * relative);
        }
    }

    /// What multiplies the unknowns, point by point, in the order of [`Self::rows`].
    pub(super) fn shares(&self) -> &[Unknowns] {
        &self.shares[..self.count]
    }

    /// Writes the relative residuals of unknowns to the scratch memory.
    pub(super) fn write_residuals(&mut self, unknowns: &Unknowns) {
        for (slot, shares) in self.scratch.iter_mut().zip(&self.shares).take(self.count) {
            *slot = shares.iter().zip(unknowns).map(|(share, value)| share * value).sum::<f64>() - 1.0;
        }
    }

    /// The numbers of the scratch memory, to be read or reordered.
    pub(super) fn scratch_mut(&mut self) -> &mut [f64] {
        &mut self.scratch[..self.count]
    }

    /// The numbers of the scratch memory, to be read beside the rows.
    pub(super) fn scratch(&self) -> &[f64] {
        &self.scratch[..self.count]
    }
}
