//! The memory of a fit: its points, sorted and scaled, and the weights in force.
//!
//! It has a few tens of kilobytes, which would not fit a small stack, and knows whether the caller wants to stop. It
//! knows no model.

use super::least_squares::{Unknowns, MAX_UNKNOWNS};
use super::point::{is_reasonable, FitError, Point, MAX_POINTS};
use crate::math::ln;
use crate::sort::sort_by;
use crate::stats::median;

/// Scratch memory that fits use one after another.
pub struct Workspace<'s> {
    stop: &'s dyn Fn() -> bool,
    count: usize,
    distinct: usize,
    reference: f64,
    spread: f64,
    sorted: [Point; MAX_POINTS],
    rows: [Row; MAX_POINTS],
    ln_sizes: [f64; MAX_POINTS],
    scratch: [f64; MAX_POINTS],
}

/// The numbers of one point that a fit reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The working set in bytes.
    pub(super) size: f64,
    /// The reference latency over the point's: a model's latency times this is a relative prediction.
    pub(super) relative: f64,
    /// The point's weight from its spread alone.
    pub(super) prior: f64,
    /// The weight in force: `prior` times a factor from the current fit's residual.
    pub(super) weight: f64,
    /// The factor of each unknown, times `relative`.
    pub(super) shares: Unknowns,
}

impl<'s> Workspace<'s> {
    /// Returns an empty workspace. Once `stop`, which is asked every few milliseconds, returns true, fits end.
    #[must_use]
    pub const fn new(stop: &'s dyn Fn() -> bool) -> Self {
        const EMPTY: Row =
            Row { size: 0.0, relative: 0.0, prior: 0.0, weight: 0.0, shares: [0.0; MAX_UNKNOWNS] };
        Self {
            stop,
            count: 0,
            distinct: 0,
            reference: 0.0,
            spread: 0.0,
            sorted: [Point::new(0.0, 0.0); MAX_POINTS],
            rows: [EMPTY; MAX_POINTS],
            ln_sizes: [0.0; MAX_POINTS],
            scratch: [0.0; MAX_POINTS],
        }
    }

    /// Loads points, in any order.
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
        // Also by latency, so that the order of equal sizes in the input changes nothing.
        sort_by(sorted, |a, b| a.working_set.total_cmp(&b.working_set).then(a.latency.total_cmp(&b.latency)));
        let rises = sorted.windows(2).filter(|pair| pair[0].working_set < pair[1].working_set);
        self.distinct = rises.count() + usize::from(count > 0);

        self.reference = self.median_of(|point| Some(point.latency)).unwrap_or(1.0);
        self.spread = self.median_of(|point| Some(point.spread).filter(|&s| s > 0.0)).unwrap_or(0.0);
        let slots = self.rows.iter_mut().zip(&mut self.ln_sizes);
        for ((row, ln_size), point) in slots.zip(&self.sorted[..count]) {
            *ln_size = ln(point.working_set);
            let prior = if point.spread > 0.0 && self.spread > 0.0 {
                // Bounded above: a point that repeated well by chance must not dominate the others.
                let ratio = (point.spread / self.spread).min(1e6);
                2.0 / (1.0 + ratio * ratio)
            } else {
                1.0
            };
            *row = Row {
                size: point.working_set,
                relative: self.reference / point.latency,
                prior,
                weight: prior,
                shares: [0.0; MAX_UNKNOWNS],
            };
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

    /// Returns whether the caller wants to stop.
    pub(super) fn is_stopped(&self) -> bool {
        (self.stop)()
    }

    /// Returns the number of points.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of different working sets.
    pub(super) fn distinct(&self) -> usize {
        self.distinct
    }

    /// Returns the latency to which all arithmetic is relative.
    pub(super) fn reference(&self) -> f64 {
        self.reference
    }

    /// Returns the median of the known relative spreads; 0 if none is known.
    pub(super) fn spread(&self) -> f64 {
        self.spread
    }

    /// Returns the natural logarithms of the working sets, ascending.
    pub(super) fn ln_sizes(&self) -> &[f64] {
        &self.ln_sizes[..self.count]
    }

    /// Returns the points, by ascending working set.
    pub(super) fn points(&self) -> &[Point] {
        &self.sorted[..self.count]
    }

    /// Copies the latencies of some points to the scratch memory, and returns them.
    pub(super) fn latencies(&mut self, among: impl Fn(&Point) -> bool) -> &mut [f64] {
        let mut found = 0;
        let chosen = self.sorted[..self.count].iter().filter(|point| among(point));
        for (slot, point) in self.scratch.iter_mut().zip(chosen) {
            *slot = point.latency;
            found += 1;
        }
        &mut self.scratch[..found]
    }

    /// Returns the numbers that a fit reads, by ascending working set.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows[..self.count]
    }

    /// Resets the weights to those before any fit.
    pub(super) fn reset_weights(&mut self) {
        for row in self.rows.iter_mut().take(self.count) {
            row.weight = row.prior;
        }
    }

    /// Sets each weight from the point's prior weight and its number in the scratch memory.
    pub(super) fn reweigh(&mut self, mut weight: impl FnMut(f64, f64) -> f64) {
        for (row, &number) in self.rows.iter_mut().zip(&self.scratch).take(self.count) {
            row.weight = weight(row.prior, number);
        }
    }

    /// Writes the factors of one unknown of a model, given as a function of the working set in bytes.
    pub(super) fn set_shares(&mut self, unknown: usize, share: impl Fn(f64) -> f64) {
        for row in self.rows.iter_mut().take(self.count) {
            if let Some(slot) = row.shares.get_mut(unknown) {
                *slot = share(row.size) * row.relative;
            }
        }
    }

    /// Writes the relative residuals of unknowns to the scratch memory.
    pub(super) fn write_residuals(&mut self, unknowns: &Unknowns) {
        for (slot, row) in self.scratch.iter_mut().zip(&self.rows).take(self.count) {
            *slot = row.shares.iter().zip(unknowns).map(|(share, value)| share * value).sum::<f64>() - 1.0;
        }
    }

    /// Returns the numbers of the scratch memory, to be read or reordered.
    pub(super) fn scratch_mut(&mut self) -> &mut [f64] {
        &mut self.scratch[..self.count]
    }

    /// Returns the numbers of the scratch memory, to be read beside the rows.
    pub(super) fn scratch(&self) -> &[f64] {
        &self.scratch[..self.count]
    }
}
