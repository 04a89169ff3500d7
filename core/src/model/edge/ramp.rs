//! The law of the ramp beyond an LRU cache's capacity, fitted to measured shares of misses.
//!
//! This file is pure arithmetic on (size, share) pairs.

use crate::math::{ToReal, ln, sqrt};

/// Maximum number of ways: there has been no first-level cache with more.
const MOST_WAYS: u32 = 64;
/// Maximum distances of the fitted ramp from a geometry, in size and in ways, as fractions.
const GEOMETRY_TOLERANCE: f64 = 0.03;
const WAYS_TOLERANCE: f64 = 0.15;
/// Maximum root mean square distance of the ramp's points from the law, as a share of the accesses.
const STRAIGHTNESS: f64 = 0.03;

/// The line `S miss(S) = (W + 1) (S - C)`, fitted by least squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    /// The size at which misses begin: C, in bytes.
    pub(super) start: f64,
    /// The slope minus one: W.
    pub(super) ways: f64,
    /// The root mean square distance of the points from the law, as a share of the accesses.
    bend: f64,
}

impl Ramp {
    /// Fits the law to pairs of a size in bytes and its share of misses; returns `None` for fewer
    /// than three sizes, or if the misses do not rise with the size.
    pub(super) fn fit(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Self> {
        // Sizes are relative to the first size, so that the sums of squares do not lose precision.
        let (origin, _) = points.clone().next()?;
        let (mut count, mut sum_x, mut sum_y, mut sum_xx, mut sum_xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (size, share) in points.clone() {
            let (x, y) = (size - origin, size * share);
            count += 1.0;
            sum_x += x;
            sum_y += y;
            sum_xx += x * x;
            sum_xy += x * y;
        }
        let determinant = count * sum_xx - sum_x * sum_x;
        if count < 3.0 || determinant <= 0.0 {
            return None;
        }
        let slope = (count * sum_xy - sum_x * sum_y) / determinant;
        let start = origin + (slope * sum_x - sum_y) / (slope * count);
        if slope <= 1.0 || start <= 0.0 || !start.is_finite() {
            return None;
        }
        let squares = points.map(|(size, share)| {
            let off = share - slope * (size - start) / size;
            off * off
        });
        Some(Self { start, ways: slope - 1.0, bend: sqrt(squares.sum::<f64>() / count) })
    }

    /// Returns the number of ways and of sets, a power of two, of the nearest cache geometry; `None` if the ramp is
    /// not straight or if there is no geometry near it.
    pub(super) fn geometry(&self, line: f64) -> Option<(u32, u64)> {
        if self.bend > STRAIGHTNESS {
            return None;
        }
        let mut best: Option<(f64, (u32, u64))> = None;
        for ways in 1..=MOST_WAYS {
            let slope_off = (f64::from(ways) + 1.0) / (self.ways + 1.0) - 1.0;
            if slope_off.abs() > WAYS_TOLERANCE {
                continue;
            }
            for power in 0..32 {
                let sets = 1u64 << power;
                let size_off = ln(f64::from(ways) * sets.real() * line / self.start);
                if size_off.abs() > GEOMETRY_TOLERANCE {
                    continue;
                }
                // Each deviation is scaled by its tolerance.
                let (size, slope) = (size_off / GEOMETRY_TOLERANCE, slope_off / WAYS_TOLERANCE);
                let distance = size * size + slope * slope;
                if best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, (ways, sets)));
                }
            }
        }
        best.map(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(capacity: f64, ways: f64) -> impl Iterator<Item = (f64, f64)> + Clone {
        (1..12).map(move |step| {
            let size = capacity * (1.0 + f64::from(step) / 12.0 / ways);
            (size, (ways + 1.0) * (size - capacity) / size)
        })
    }

    #[test]
    fn exact_points_give_back_the_law() {
        let ramp = Ramp::fit(law(49_152.0, 12.0)).unwrap();
        assert!((ramp.start - 49_152.0).abs() < 1e-6 && (ramp.ways - 12.0).abs() < 1e-9);
        assert_eq!(ramp.geometry(64.0), Some((12, 64)));
    }

    #[test]
    fn a_size_without_a_power_of_two_of_sets_has_no_geometry() {
        // 40 KiB in 8 ways would have 80 sets, which is not a power of two.
        let ramp = Ramp::fit(law(40_960.0, 8.0)).unwrap();
        assert_eq!(ramp.geometry(64.0), None);
    }

    #[test]
    fn too_few_points_or_falling_ones_are_not_a_ramp() {
        assert!(Ramp::fit(law(32_768.0, 8.0).take(2)).is_none());
        assert!(Ramp::fit(law(32_768.0, 8.0).map(|(size, share)| (size, 1.0 - share))).is_none());
        assert!(Ramp::fit([(64.0, 0.5); 5].into_iter()).is_none());
    }
}
