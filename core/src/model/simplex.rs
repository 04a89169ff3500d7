//! Minimisation without derivatives: the Nelder–Mead simplex.
//!
//! Deterministic: the first simplex is the start plus one step along each axis, and
//! nothing is drawn at random. It knows nothing of what it minimises.
//!
//! # References
//!
//! J. A. Nelder, R. Mead, "A simplex method for function minimization" (1965), with the
//! dimension-dependent coefficients of F. Gao, L. Han, "Implementing the Nelder–Mead
//! simplex algorithm with adaptive parameters" (2012), without which it stalls from
//! about six dimensions on.

use crate::sort::sort_by;

/// The most dimensions a search may have.
pub(crate) const MAX_DIMENSIONS: usize = 12;

/// A point of the search space; the dimensions beyond the search's own are 0.
pub(crate) type Position = [f64; MAX_DIMENSIONS];

/// When a search ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Calls of the objective, at the most (about: a step is finished once begun).
    pub(crate) evaluations: usize,
    /// The simplex is done when its values differ by less than this share of the best …
    pub(crate) relative_value: f64,
    /// … and its corners by less than this along every axis.
    pub(crate) size: f64,
}

#[derive(Clone, Copy)]
struct Vertex {
    position: Position,
    value: f64,
}

/// Searches the first `dimensions` axes for the smallest value of `objective`, from
/// `start` with a simplex of edge `step`. Returns the best position and its value.
///
/// The objective may return infinity but not NaN, which counts as infinity.
pub(crate) fn minimise(
    start: &Position,
    dimensions: usize,
    step: f64,
    limits: Limits,
    mut objective: impl FnMut(&Position) -> f64,
) -> (Position, f64) {
    let dimensions = dimensions.min(MAX_DIMENSIONS);
    let mut evaluate = |position: &Position| {
        let value = objective(position);
        if value.is_nan() {
            f64::INFINITY
        } else {
            value
        }
    };
    let first = Vertex { position: *start, value: evaluate(start) };
    if dimensions == 0 {
        return (first.position, first.value);
    }
    let mut storage = [first; MAX_DIMENSIONS + 1];
    let simplex = &mut storage[..=dimensions];
    for (axis, vertex) in simplex.iter_mut().skip(1).enumerate() {
        vertex.position[axis] += step;
        vertex.value = evaluate(&vertex.position);
    }
    let mut evaluations = dimensions + 1;

    let count = dimensions as f64;
    let (expansion, contraction, shrinkage) = if dimensions == 1 {
        (2.0, 0.5, 0.5)
    } else {
        (1.0 + 2.0 / count, 0.75 - 0.5 / count, 1.0 - 1.0 / count)
    };

    loop {
        sort_by(simplex, |a, b| a.value.total_cmp(&b.value));
        let (best, second_worst, worst) = (simplex[0], simplex[dimensions - 1], simplex[dimensions]);
        let flat = worst.value - best.value <= limits.relative_value * best.value.abs();
        if evaluations >= limits.evaluations || (flat && extent(simplex) < limits.size) {
            return (best.position, best.value);
        }

        let centre = centroid(&simplex[..dimensions]);
        // The worst vertex, moved along its line through the centre of the others.
        let along = |factor: f64| {
            let mut position = centre;
            for (coordinate, from) in position.iter_mut().zip(&worst.position) {
                *coordinate += factor * (*coordinate - from);
            }
            position
        };
        let mut try_at = |factor: f64| {
            let position = along(factor);
            evaluations += 1;
            Vertex { position, value: evaluate(&position) }
        };

        let reflected = try_at(1.0);
        let accepted = if reflected.value < best.value {
            let expanded = try_at(expansion);
            Some(if expanded.value < reflected.value { expanded } else { reflected })
        } else if reflected.value < second_worst.value {
            Some(reflected)
        } else {
            let outside = reflected.value < worst.value;
            let contracted = try_at(if outside { contraction } else { -contraction });
            (contracted.value < worst.value.min(reflected.value)).then_some(contracted)
        };
        if let Some(vertex) = accepted {
            simplex[dimensions] = vertex;
            continue;
        }
        for vertex in simplex.iter_mut().skip(1) {
            for (coordinate, to) in vertex.position.iter_mut().zip(&best.position) {
                *coordinate = to + shrinkage * (*coordinate - to);
            }
            vertex.value = evaluate(&vertex.position);
        }
        evaluations += dimensions;
    }
}

/// The mean position of some vertices, of which there is at least one.
fn centroid(vertices: &[Vertex]) -> Position {
    let mut centre = [0.0; MAX_DIMENSIONS];
    let share = 1.0 / vertices.len() as f64;
    for vertex in vertices {
        for (sum, coordinate) in centre.iter_mut().zip(&vertex.position) {
            *sum += coordinate * share;
        }
    }
    centre
}

/// The largest distance, along one axis, of any vertex from the first.
fn extent(simplex: &[Vertex]) -> f64 {
    let Some((best, others)) = simplex.split_first() else { return 0.0 };
    others
        .iter()
        .flat_map(|vertex| vertex.position.iter().zip(&best.position))
        .fold(0.0, |largest: f64, (a, b)| largest.max((a - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { evaluations: 20_000, relative_value: 1e-14, size: 1e-7 };

    #[test]
    fn finds_the_bottom_of_a_curved_valley() {
        let rosenbrock = |x: &Position| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
        let mut start = [0.0; MAX_DIMENSIONS];
        (start[0], start[1]) = (-1.2, 1.0);
        let (found, value) = minimise(&start, 2, 0.5, LIMITS, rosenbrock);
        assert!(value < 1e-10, "{value}");
        assert!((found[0] - 1.0).abs() < 1e-4 && (found[1] - 1.0).abs() < 1e-4);
    }

    #[test]
    fn works_in_every_number_of_dimensions() {
        for dimensions in 0..=MAX_DIMENSIONS {
            let bowl = |x: &Position| {
                x[..dimensions]
                    .iter()
                    .enumerate()
                    .map(|(i, c)| (c - i as f64).powi(2) * (1.0 + i as f64))
                    .sum()
            };
            let (_, value) = minimise(&[0.3; MAX_DIMENSIONS], dimensions, 0.7, LIMITS, bowl);
            assert!(value < 1e-8, "{dimensions}: {value}");
        }
    }

    #[test]
    fn treats_an_undefined_value_as_a_wall() {
        let (found, _) =
            minimise(&[1.0; MAX_DIMENSIONS], 1, 0.5, LIMITS, |x| if x[0] < 0.5 { f64::NAN } else { x[0] });
        assert!((found[0] - 0.5).abs() < 1e-3);
    }
}
