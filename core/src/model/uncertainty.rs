//! The standard errors of a fit's parameters, from the curvature of its residuals.
//!
//! They are computed by the Gauss–Newton approximation: with J the derivatives of the relative
//! residuals with respect to latencies and ln capacities, and W the robust weights, the covariance
//! is `sigma^2 (J^T W J)^-1`. Capacities have a vague prior (anywhere in the curve), so that a step
//! without a point in its transition does not make every other error infinite.

use super::curve::{Curve, Step};
use super::least_squares::{MAX_UNKNOWNS, Unknowns};
use super::workspace::{MAX_LEVELS, Row, Workspace};
use crate::math::sqrt;

/// Maximum number of parameters: latencies and capacities.
const MAX_PARAMETERS: usize = MAX_UNKNOWNS + MAX_LEVELS;
/// Standard deviation of the prior of a capacity, in ln S: seven octaves.
const CAPACITY_PRIOR: f64 = 5.0;
/// Minimum standard deviation of the relative residuals: exact data has rounding errors.
const MIN_DEVIATION: f64 = 1e-9;
/// Half-width of a 95 % interval, in standard errors.
pub(super) const WITHIN_95: f64 = 1.96;
/// Shares of misses at the start and the end of a step's transition.
const TRANSITION: (f64, f64) = (0.05, 0.95);

/// Number of points that determine a capacity as well as one independent point, about the points of an octave:
/// neighbouring sizes use the same pages, and a law that is only nearly right has the same error at all of them. With
/// 6, the true L2 size of 1 MiB was outside the interval for two of nine curves of Zen 4 in a virtual machine with
/// random 4 KiB pages; with 12, for none.
pub(super) const ALIKE: f64 = 12.0;

/// The natural logarithms of the smallest and the largest of some sizes.
pub(super) type Range = (f64, f64);

type MatrixRow = [f64; MAX_PARAMETERS];

/// The standard errors of one fit, with latencies relative to the reference latency.
pub(super) struct Uncertainty {
    covariance: [MatrixRow; MAX_PARAMETERS],
    latencies: usize,
    levels: usize,
    /// The points around each step, in ln S.
    around: [Around; MAX_LEVELS],
}

/// The ln S of the points between which a capacity lies.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    /// The points around a step whose whole transition lies between them, or else the first and the last point.
    ends: Range,
    /// True if no point is within the transition.
    is_unseen: bool,
}

impl Around {
    fn of(rows: &[Row], step: &Step) -> Around {
        let (from, to) = (step.ln_size_at(TRANSITION.0), step.ln_size_at(TRANSITION.1));
        let next = rows.partition_point(|row| row.ln_size <= from.midpoint(to));
        let neighbours = next.checked_sub(1).and_then(|index| rows.get(index)).zip(rows.get(next));
        let is_between = |(below, above): &(&Row, &Row)| to - from < above.ln_size - below.ln_size;
        let unseen = neighbours.filter(is_between);
        let (low, high) = match unseen.or(rows.first().zip(rows.last())) {
            Some((low, high)) => (low.ln_size, high.ln_size),
            None => (step.ln_capacity, step.ln_capacity),
        };
        let ends = (low.min(step.ln_capacity), high.max(step.ln_capacity));
        Around { ends, is_unseen: unseen.is_some() }
    }
}

impl Uncertainty {
    /// Computes the errors of a fit, given its shares in the workspace and the standard deviation `deviation` of its
    /// relative residuals.
    pub(super) fn new(
        workspace: &Workspace,
        curve: &Curve,
        unknowns: &Unknowns,
        deviation: f64,
        capacities_are_given: bool,
    ) -> Self {
        let latencies = curve.unknowns();
        let levels = curve.steps().len();
        let variance = deviation.max(MIN_DEVIATION) * deviation.max(MIN_DEVIATION);
        let searched = if capacities_are_given { 0 } else { levels };
        let parameters = latencies + searched;

        let mut information = [[0.0; MAX_PARAMETERS]; MAX_PARAMETERS];
        for row in workspace.rows() {
            let mut derivatives = [0.0; MAX_PARAMETERS];
            derivatives[..MAX_UNKNOWNS].copy_from_slice(&row.shares);
            for (i, step) in curve.steps().iter().enumerate().take(searched) {
                derivatives[latencies + i] = unknowns[i + 1] * row.relative * step.slope(row.ln_size);
            }
            for i in 0..parameters {
                for j in 0..parameters {
                    information[i][j] += row.weight * derivatives[i] * derivatives[j] / variance;
                }
            }
        }
        for i in 0..searched {
            information[latencies + i][latencies + i] += 1.0 / (CAPACITY_PRIOR * CAPACITY_PRIOR);
        }
        let mut around = [Around::default(); MAX_LEVELS];
        for (around, step) in around.iter_mut().zip(curve.steps()) {
            *around = Around::of(workspace.rows(), step);
        }
        Self { covariance: inverse(&information, parameters), latencies, levels: searched, around }
    }

    /// Returns the ends of the interval of the natural logarithm of a level's capacity `at`, and the points around it that
    /// no interval leaves.
    pub(super) fn capacity(&self, level: usize, at: f64) -> (Range, Range) {
        if level >= self.levels {
            return ((at, at), (at, at));
        }
        let Around { ends: (low, high), is_unseen } = self.around[level];
        let variance = self.covariance[self.latencies + level][self.latencies + level];
        // An error is never larger than that of the prior.
        let variance = (ALIKE * variance).min(CAPACITY_PRIOR * CAPACITY_PRIOR).max(variance);
        let error = if is_unseen { f64::INFINITY } else { WITHIN_95 * sqrt_or_infinite(variance) };
        (((at - error).max(low), (at + error).min(high)), (low, high))
    }

    /// Returns the error of the step from a level to the next; of the translation step if `level`
    /// is the number of levels.
    pub(super) fn step(&self, level: usize) -> f64 {
        sqrt_or_infinite(self.covariance[level + 1][level + 1])
    }

    /// Returns the error of the latency of a level; of the memory if `level` is the number of levels.
    pub(super) fn plateau(&self, level: usize) -> f64 {
        let sums = self.covariance.iter().take(level + 1);
        sqrt_or_infinite(sums.flat_map(|row| row.iter().take(level + 1)).sum())
    }
}

/// Returns the root of a sum that may be infinite, or slightly negative because of rounding.
fn sqrt_or_infinite(variance: f64) -> f64 {
    if variance.is_finite() { sqrt(variance.max(0.0)) } else { f64::INFINITY }
}

/// Returns the inverse of a symmetric matrix by Gauss–Jordan elimination on its diagonal.
/// Parameters without information get an infinite variance and do not affect others.
fn inverse(matrix: &[MatrixRow; MAX_PARAMETERS], size: usize) -> [MatrixRow; MAX_PARAMETERS] {
    /// Ratio of a pivot to its diagonal element below which the pivot is only rounding error.
    const SINGULAR: f64 = 1e-13;
    let mut work = *matrix;
    let mut known = [true; MAX_PARAMETERS];
    for pivot in 0..size {
        let diagonal = work[pivot][pivot];
        if diagonal <= SINGULAR * matrix[pivot][pivot] || diagonal <= 0.0 {
            known[pivot] = false;
            continue;
        }
        let reciprocal = 1.0 / diagonal;
        let row = work[pivot];
        for (i, target) in work.iter_mut().enumerate().take(size) {
            if i == pivot || !known[i] && i < pivot {
                continue;
            }
            let factor = target[pivot] * reciprocal;
            for (j, value) in target.iter_mut().enumerate().take(size) {
                *value = if j == pivot { -factor } else { *value - factor * row[j] };
            }
        }
        for (j, value) in work[pivot].iter_mut().enumerate().take(size) {
            *value = if j == pivot { reciprocal } else { row[j] * reciprocal };
        }
    }
    for i in 0..size {
        for j in 0..size {
            if !known[i] || !known[j] {
                work[i][j] = if i == j { f64::INFINITY } else { 0.0 };
            }
        }
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_the_identity() {
        let mut matrix = [[0.0; MAX_PARAMETERS]; MAX_PARAMETERS];
        for (i, row) in matrix.iter_mut().enumerate().take(5) {
            for (j, entry) in row.iter_mut().enumerate().take(5) {
                *entry = 1.0 / (1.0 + i as f64 + j as f64) + if i == j { 1.0 } else { 0.0 };
            }
        }
        let inverse = inverse(&matrix, 5);
        for (i, row) in matrix.iter().enumerate().take(5) {
            for j in 0..5 {
                let product: f64 = row.iter().zip(&inverse).map(|(left, right)| left * right[j]).sum();
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-12, "{i} {j} {product}");
            }
        }
    }

    #[test]
    fn a_parameter_without_information_has_infinite_variance_and_affects_no_other() {
        let mut matrix = [[0.0; MAX_PARAMETERS]; MAX_PARAMETERS];
        matrix[0][0] = 4.0;
        matrix[2][2] = 1.0;
        let inverse = inverse(&matrix, 3);
        assert_eq!((inverse[0][0], inverse[2][2]), (0.25, 1.0));
        assert_eq!(inverse[1][1], f64::INFINITY);
    }
}
