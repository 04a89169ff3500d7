//! Small non-negative least-squares problems, solved by the normal equations.
//!
//! There are at most [`MAX_UNKNOWNS`] unknowns, and no unknown is negative, since an outer level is
//! never faster. Apart from this, the arithmetic does not depend on the meaning of the unknowns.
//!
//! # References
//!
//! C. L. Lawson, R. J. Hanson, "Solving Least Squares Problems" (1974), chapter 23: the
//! active-set method used here.

use crate::math::sqrt;

/// Maximum number of unknowns: a base latency, six levels and one translation step.
pub(crate) const MAX_UNKNOWNS: usize = 8;

/// One value for each unknown; values beyond the problem's count are 0.
pub(crate) type Unknowns = [f64; MAX_UNKNOWNS];

/// Ratio of a pivot to its diagonal element below which the column depends linearly on the others.
const DEPENDENT: f64 = 1e-11;

/// The normal equations of a weighted least-squares problem, summed row by row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NormalEquations {
    count: usize,
    matrix: [Unknowns; MAX_UNKNOWNS],
    right: Unknowns,
    square: f64,
}

impl NormalEquations {
    /// Returns equations without rows, in the first `count` unknowns.
    pub(crate) fn new(count: usize) -> Self {
        Self { count: count.min(MAX_UNKNOWNS), ..Self::default() }
    }

    /// Adds the row `row · unknowns = target` with a weight.
    pub(crate) fn add(&mut self, row: &Unknowns, target: f64, weight: f64) {
        for (i, &left) in row.iter().enumerate().take(self.count) {
            let scaled = weight * left;
            // Both triangles and all columns are summed, because the compiler vectorises a loop of fixed length.
            for (sum, &right) in self.matrix[i].iter_mut().zip(row) {
                *sum += scaled * right;
            }
            self.right[i] += scaled * target;
        }
        self.square += weight * target * target;
    }

    /// Replaces the weighted products of one column with all columns, and with the targets.
    pub(crate) fn set_column(&mut self, place: usize, products: &Unknowns, right: f64) {
        if place >= self.count {
            return;
        }
        self.matrix[place] = *products;
        for (row, &product) in self.matrix.iter_mut().zip(products) {
            row[place] = product;
        }
        self.right[place] = right;
    }

    /// Returns the non-negative unknowns with the smallest weighted sum of squared residuals.
    pub(crate) fn solve(&self) -> Unknowns {
        let mut passive = [false; MAX_UNKNOWNS];
        passive[..self.count].fill(true);
        // Usually no unknown is at its bound of zero, and one factorisation is enough.
        let free = self.solve_subset(&passive);
        if free.iter().all(|&value| value >= 0.0) {
            return free;
        }

        passive.fill(false);
        let mut current = [0.0; MAX_UNKNOWNS];
        // Each round frees one unknown; more than a few rounds per unknown is a cycle caused by rounding.
        for _ in 0..3 * MAX_UNKNOWNS {
            let Some(entering) = self.most_wanted(&current, &passive) else { break };
            passive[entering] = true;
            while let Some(blocking) = self.advance(&mut current, &passive) {
                passive[blocking] = false;
                current[blocking] = 0.0;
            }
        }
        current
    }

    /// Moves `current` towards the best values of the `passive` unknowns, stops where the first of
    /// them would turn negative, and returns this unknown.
    fn advance(&self, current: &mut Unknowns, passive: &[bool; MAX_UNKNOWNS]) -> Option<usize> {
        let goal = self.solve_subset(passive);
        let mut share = 1.0;
        let mut blocking = None;
        for i in (0..self.count).filter(|&i| passive[i] && goal[i] <= 0.0) {
            let reach = if current[i] > 0.0 { current[i] / (current[i] - goal[i]) } else { 0.0 };
            if reach < share || blocking.is_none() {
                share = reach;
                blocking = Some(i);
            }
        }
        for (value, goal) in current.iter_mut().zip(&goal) {
            *value = (*value + share * (goal - *value)).max(0.0);
        }
        blocking
    }

    /// Returns the weighted sum of squared residuals for given unknowns.
    pub(crate) fn residual(&self, unknowns: &Unknowns) -> f64 {
        let mut sum = self.square;
        // Unknowns beyond the count are 0 and add nothing.
        for ((row, right), value) in self.matrix.iter().zip(&self.right).zip(unknowns) {
            let product: f64 = row.iter().zip(unknowns).map(|(entry, unknown)| entry * unknown).sum();
            sum += value * (product - 2.0 * right);
        }
        sum.max(0.0)
    }

    /// Returns the unknown at its bound that would lower the residual fastest if it were released.
    fn most_wanted(&self, current: &Unknowns, passive: &[bool; MAX_UNKNOWNS]) -> Option<usize> {
        let mut best = None;
        let mut steepest = 1e-12;
        for i in (0..self.count).filter(|&i| !passive[i] && self.matrix[i][i] > 0.0) {
            let mut gradient = self.right[i];
            for (j, value) in current.iter().enumerate().take(self.count) {
                gradient -= self.matrix[i][j] * value;
            }
            let scaled = gradient * gradient / self.matrix[i][i];
            if gradient > 0.0 && scaled > steepest * self.square {
                steepest = scaled / self.square;
                best = Some(i);
            }
        }
        best
    }

    /// Returns the unconstrained solution over the `passive` unknowns. All others are 0, and so is
    /// an unknown with a column that is a combination of earlier columns.
    fn solve_subset(&self, passive: &[bool; MAX_UNKNOWNS]) -> Unknowns {
        let mut factor = [[0.0; MAX_UNKNOWNS]; MAX_UNKNOWNS];
        let mut independent = *passive;
        let mut solution = [0.0; MAX_UNKNOWNS];
        for i in 0..self.count {
            if !passive[i] {
                continue;
            }
            let mut pivot = self.matrix[i][i];
            let mut right = self.right[i];
            for j in (0..i).filter(|&j| independent[j]) {
                let mut sum = self.matrix[i][j];
                for k in (0..j).filter(|&k| independent[k]) {
                    sum -= factor[i][k] * factor[j][k];
                }
                factor[i][j] = sum / factor[j][j];
                pivot -= factor[i][j] * factor[i][j];
                right -= factor[i][j] * solution[j];
            }
            if pivot <= DEPENDENT * self.matrix[i][i] || pivot <= 0.0 {
                independent[i] = false;
            } else {
                factor[i][i] = sqrt(pivot);
                solution[i] = right / factor[i][i];
            }
        }
        for i in (0..self.count).rev() {
            if !independent[i] {
                solution[i] = 0.0;
                continue;
            }
            for k in (i + 1..self.count).filter(|&k| independent[k]) {
                solution[i] -= factor[k][i] * solution[k];
            }
            solution[i] /= factor[i][i];
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equations(rows: &[([f64; 3], f64)]) -> NormalEquations {
        let mut equations = NormalEquations::new(3);
        for (left, right) in rows {
            let mut row = [0.0; MAX_UNKNOWNS];
            row[..3].copy_from_slice(left);
            equations.add(&row, *right, 1.0);
        }
        equations
    }

    #[test]
    fn solves_exact_equations_exactly() {
        let rows = [([1.0, 0.0, 2.0], 7.0), ([0.0, 1.0, 1.0], 5.0), ([1.0, 1.0, 0.0], 3.0)];
        let solution = equations(&rows).solve();
        for (found, expected) in solution.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-10, "{solution:?}");
        }
        assert!(equations(&rows).residual(&solution) < 1e-10);
    }

    #[test]
    fn holds_a_negative_unknown_at_zero_and_refits_the_others() {
        // In the unconstrained solution the second unknown is -1; without the second, the first is the mean.
        let rows = [([1.0, 0.0, 0.0], 2.0), ([1.0, 1.0, 0.0], 1.0), ([0.0, 0.0, 1.0], 4.0)];
        let solution = equations(&rows).solve();
        assert_eq!(solution[1], 0.0);
        assert!((solution[0] - 1.5).abs() < 1e-12 && (solution[2] - 4.0).abs() < 1e-12);
    }

    #[test]
    fn leaves_out_columns_that_are_empty_or_repeated() {
        let rows = [([1.0, 1.0, 0.0], 2.0), ([2.0, 2.0, 0.0], 4.0)];
        let solution = equations(&rows).solve();
        assert!((solution[0] + solution[1] - 2.0).abs() < 1e-10, "{solution:?}");
        assert_eq!(solution[2], 0.0);
    }

    #[test]
    fn never_does_worse_than_any_subset_of_the_unknowns() {
        // A brute-force search over all subsets gives the optimum by definition.
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64 - 0.4
        };
        for _ in 0..500 {
            let mut system = NormalEquations::new(5);
            for _ in 0..9 {
                let mut row = [0.0; MAX_UNKNOWNS];
                row[..5].fill_with(&mut draw);
                system.add(&row, draw(), 1.0);
            }
            let found = system.residual(&system.solve());
            let mut best = f64::INFINITY;
            for subset in 0..32u32 {
                let mut passive = [false; MAX_UNKNOWNS];
                for (i, free) in passive.iter_mut().enumerate() {
                    *free = subset >> i & 1 == 1;
                }
                let candidate = system.solve_subset(&passive);
                if candidate.iter().all(|&value| value >= 0.0) {
                    best = best.min(system.residual(&candidate));
                }
            }
            assert!(found <= best + 1e-9, "{found} against {best}");
        }
    }
}
