//! The linear part of a fit, robust against outliers.
//!
//! Residuals are relative, `model / measured - 1`, and assumed to have Huber's least favourable
//! distribution: Gaussian in the middle with exponential tails. The likelihood of this distribution
//! ranks the models. Its weights, which are re-estimated until they converge, keep single points
//! from dominating.
//!
//! # References
//!
//! P. J. Huber, "Robust Estimation of a Location Parameter" (1964); the joint estimate of
//! scale: P. J. Huber, "Robust Statistics" (1981), chapter 7.

use super::curve::Curve;
use super::least_squares::{MAX_UNKNOWNS, NormalEquations, Unknowns};
use super::workspace::{Row, Workspace};
use crate::math::{ToReal, ln, sqrt};
use crate::stats::median;

/// Start of the exponential tails, in standard deviations, for 95 % efficiency on Gaussian data without outliers.
const HUBER: f64 = 1.345;
/// Minimum scale of the residuals: a latency is never known to better than 0.01 %, and exact data must not have an
/// infinite likelihood.
const SCALE_FLOOR: f64 = 1e-4;
/// Ratio of a Gaussian's standard deviation to its median absolute deviation.
const MAD_TO_DEVIATION: f64 = 1.482_6;
const MAX_ITERATIONS: usize = 40;

/// A fit of the latencies to a curve with given capacities and shapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    /// The base latency, the steps, and the translation step, relative to the reference latency.
    pub(super) unknowns: Unknowns,
    /// Minus twice the logarithm of the likelihood, up to a constant that depends only on the points.
    pub(super) deviance: f64,
}

/// Fits the latencies, and leaves the weights of the last iteration and the shares of the curve in the workspace.
pub(super) fn fit(workspace: &mut Workspace, curve: &Curve) -> Linear {
    set_shares(workspace, curve);
    fit_shares(workspace, curve.unknowns())
}

/// Fits the first `count` unknowns to the shares in the workspace, and leaves the weights of the last iteration there.
pub(super) fn fit_shares(workspace: &mut Workspace, count: usize) -> Linear {
    for row in workspace.rows_mut() {
        row.weight = row.prior;
    }
    let mut scale = f64::INFINITY;
    let mut last = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let unknowns = equations(workspace, count).solve();
        workspace.set_residuals(&unknowns);
        scale = improved_scale(workspace.rows(), scale);
        let deviance = reweigh(workspace.rows_mut(), scale);
        if (last - deviance).abs() < 1e-7 * (1.0 + deviance.abs()) {
            return Linear { unknowns, deviance };
        }
        last = deviance;
    }
    Linear { unknowns: equations(workspace, count).solve(), deviance: last }
}

/// The distance of a fitted curve from its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    /// The median of the absolute relative residuals.
    pub(super) median: f64,
    /// The root of the mean square of the relative residuals.
    pub(super) root_mean_square: f64,
    /// The standard deviation that corresponds to the median residual.
    pub(super) deviation: f64,
}

/// Measures the distance of a fit from its points.
pub(super) fn distance(workspace: &mut Workspace, curve: &Curve, unknowns: &Unknowns) -> Distance {
    set_shares(workspace, curve);
    workspace.set_residuals(unknowns);
    let count = workspace.rows().len();
    let squares: f64 = workspace.rows().iter().map(|row| row.residual * row.residual).sum();
    let median = median(workspace.collect(|row| Some(row.residual.abs()))).unwrap_or(0.0);
    // A fit makes the residuals too small, depending on the degrees of freedom that it used.
    let free = count.saturating_sub(curve.parameters()).max(1);
    let correction = sqrt(count.real() / free.real());
    Distance {
        median,
        root_mean_square: sqrt(squares / count.max(1).real()),
        deviation: median * MAD_TO_DEVIATION * correction,
    }
}

/// Returns the normal equations of the first `count` unknowns for the shares in the workspace.
pub(super) fn equations(workspace: &Workspace, count: usize) -> NormalEquations {
    let mut equations = NormalEquations::new(count);
    for row in workspace.rows() {
        equations.add(&row.shares, 1.0, row.weight);
    }
    equations
}

/// Writes the shares of all unknowns, including zeros for the unknowns that the curve does not have.
fn set_shares(workspace: &mut Workspace, curve: &Curve) {
    for unknown in 0..MAX_UNKNOWNS {
        workspace.set_shares(unknown, |size| curve.share(unknown, size));
    }
}

/// Returns the next iterate of the scale that maximises the likelihood of the residuals.
fn improved_scale(rows: &[Row], scale: f64) -> f64 {
    let mut sum = 0.0;
    for row in rows {
        let square = row.prior * row.residual * row.residual;
        sum += square * damping(sqrt(square) / scale);
    }
    sqrt(sum / rows.len().max(1).real()).max(SCALE_FLOOR)
}

/// Sets the weights for `scale`, and returns the deviance of the residuals at this scale.
fn reweigh(rows: &mut [Row], scale: f64) -> f64 {
    let mut loss = 0.0;
    for row in rows.iter_mut() {
        let distance = sqrt(row.prior) * row.residual.abs() / scale;
        loss += if distance <= HUBER { distance * distance } else { 2.0 * HUBER * distance - HUBER * HUBER };
        row.weight = row.prior * damping(distance);
    }
    2.0 * rows.len().real() * ln(scale) + loss
}

/// Returns the factor of the weight of a point with a residual of `distance` standard deviations.
fn damping(distance: f64) -> f64 {
    (HUBER / distance).min(1.0)
}
