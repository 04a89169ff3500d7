//! The points of a curve, and the memory of a fit: the points sorted and scaled, and the current weights.
//!
//! A workspace has a few tens of kilobytes, too much for a small stack, and contains the function that tells a fit to
//! stop. It does not depend on the model.

use super::least_squares::Unknowns;
use crate::math::ln;
use crate::messages;
use crate::sort::sort_by;
use crate::stats::median;

/// Scratch memory that successive fits share.
pub struct Workspace<'s> {
    stop: &'s dyn Fn() -> bool,
    count: usize,
    /// The number of different working sets.
    pub(super) distinct: usize,
    /// The reference latency, to which all latencies in the arithmetic are relative.
    pub(super) reference: f64,
    /// The median of the known relative spreads; 0 if none is known.
    pub(super) spread: f64,
    /// The points, by ascending working set.
    rows: [Row; MAX_POINTS],
    scratch: [f64; MAX_POINTS],
}

/// A point, and the values of it that a fit uses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub(super) point: Point,
    /// The natural logarithm of the working set in bytes.
    pub(super) ln_size: f64,
    /// The reference latency divided by the point's latency: a model's relative latency times this is the ratio of
    /// model to measurement.
    pub(super) relative: f64,
    /// The point's weight that follows from its spread.
    pub(super) prior: f64,
    /// The current weight: `prior` times a factor from the current fit's residual.
    pub(super) weight: f64,
    /// The relative residual of the current fit.
    pub(super) residual: f64,
    /// The factor of each unknown, times `relative`.
    pub(super) shares: Unknowns,
}

impl<'s> Workspace<'s> {
    /// Returns an empty workspace. Fits call `stop` every few milliseconds, and end as soon as it returns true.
    pub fn new(stop: &'s dyn Fn() -> bool) -> Self {
        Self {
            stop,
            count: 0,
            distinct: 0,
            reference: 0.0,
            spread: 0.0,
            rows: [Row::default(); MAX_POINTS],
            scratch: [0.0; MAX_POINTS],
        }
    }

    /// Loads points, in any order.
    ///
    /// # Errors
    ///
    /// [`FitError`] if there are too many points, or if one is not positive and finite.
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
        for (row, point) in self.rows_mut().iter_mut().zip(points) {
            row.point = *point;
        }
        // Points are also sorted by latency, so that the order of equal sizes in the input does not affect the result.
        sort_by(self.rows_mut(), |Row { point: a, .. }, Row { point: b, .. }| {
            a.working_set.total_cmp(&b.working_set).then(a.latency.total_cmp(&b.latency))
        });
        let alike = |one: &Row, other: &Row| one.point.working_set == other.point.working_set;
        self.distinct = self.rows().chunk_by(alike).count();

        self.reference = median(self.collect(|row| Some(row.point.latency))).unwrap_or(1.0);
        let known = self.collect(|row| Some(row.point.spread).filter(|&spread| spread > 0.0));
        self.spread = median(known).unwrap_or(0.0);
        for row in &mut self.rows[..count] {
            let point = row.point;
            let prior = if point.spread > 0.0 && self.spread > 0.0 {
                // The weight is bounded above: a point with a small spread by chance must not dominate the others.
                let ratio = (point.spread / self.spread).min(1e6);
                2.0 / (1.0 + ratio * ratio)
            } else {
                1.0
            };
            *row = Row {
                point,
                ln_size: ln(point.working_set),
                relative: self.reference / point.latency,
                prior,
                weight: prior,
                ..Row::default()
            };
        }
        Ok(())
    }

    /// Returns true if the caller wants to stop.
    pub(super) fn is_stopped(&self) -> bool {
        (self.stop)()
    }

    /// Copies the values that `number` returns for the points to the scratch memory, and returns these values.
    pub(super) fn collect(&mut self, number: impl Fn(&Row) -> Option<f64>) -> &mut [f64] {
        let mut found = 0;
        let numbers = self.rows[..self.count].iter().filter_map(number);
        for (slot, number) in self.scratch.iter_mut().zip(numbers) {
            *slot = number;
            found += 1;
        }
        &mut self.scratch[..found]
    }

    /// Returns the rows of all points, by ascending working set.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows[..self.count]
    }

    /// Returns the rows of all points for modification.
    pub(super) fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows[..self.count]
    }

    /// Writes the factors of one unknown of a model, given as a function of the working set in bytes.
    pub(super) fn set_shares(&mut self, unknown: usize, share: impl Fn(f64) -> f64) {
        for row in self.rows_mut() {
            if let Some(slot) = row.shares.get_mut(unknown) {
                *slot = share(row.point.working_set) * row.relative;
            }
        }
    }

    /// Writes the relative residuals for given unknowns.
    pub(super) fn set_residuals(&mut self, unknowns: &Unknowns) {
        for row in self.rows_mut() {
            row.residual =
                row.shares.iter().zip(unknowns).map(|(share, value)| share * value).sum::<f64>() - 1.0;
        }
    }
}

/// Maximum number of points of a fit.
pub const MAX_POINTS: usize = 512;

/// Maximum number of levels of a fit, without the memory.
pub const MAX_LEVELS: usize = 6;

/// One measured point of a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Point {
    /// The working set in bytes.
    pub working_set: f64,
    /// The latency of one access, in any unit; the fit returns latencies in the same unit.
    pub latency: f64,
    /// The spread of repeated measurements of the point, as a share of its latency; 0 if unknown.
    /// Points with a larger spread have less weight.
    pub spread: f64,
}

impl Point {
    /// Returns a point of unknown spread.
    pub const fn new(working_set: f64, latency: f64) -> Self {
        Self { working_set, latency, spread: 0.0 }
    }
}

messages! {
    /// The reason why points could not be fitted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FitError {
        /// There are fewer different working sets than the model has parameters.
        TooFewPoints { needed: usize, found: usize } =>
            "{found} different working sets are too few (the model needs {needed})";
        /// More than [`MAX_POINTS`] points.
        TooManyPoints { found: usize } => "{found} points are too many (at most {MAX_POINTS})";
        /// A working set or latency is outside the valid range (1e-9 to 1e18), or a spread is negative or not a number.
        /// `index` is the position of the first invalid point.
        InvalidPoint { index: usize } => "point {number} has no positive, finite size and latency";
            where number = index + 1;
        /// A given capacity or reach is outside the valid range. `index` is the position of the first invalid capacity,
        /// and 0 for a reach.
        InvalidCapacity { index: usize } => "capacity {number} is not a positive, finite size";
            where number = index + 1;
        /// The caller stopped the search.
        Stopped => "interrupted; `latency-bench fit FILE` fits the points of a saved result";
        /// More than [`MAX_LEVELS`] levels were requested.
        TooManyLevels { found: usize } => "{found} levels are too many (at most {MAX_LEVELS})";
    }
}

/// Returns true if a size or latency is in the valid range, in which the intermediate products and
/// ratios neither overflow nor underflow.
pub(super) fn is_reasonable(value: f64) -> bool {
    (1e-9..=1e18).contains(&value)
}
