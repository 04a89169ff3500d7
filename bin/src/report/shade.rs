//! The shades of the numbers of a matrix, for the terminal and for SVG.
//!
//! This module uses only numbers; each picture has its own colours.

use super::axis::AxisRange;
use super::chart::Matrix;
use latency_core::math::{self, ToReal};

/// The minimum ratio of the largest to the smallest number that uses the whole scale, so that numbers that differ only
/// by noise do not have a strong contrast.
const FULL_CONTRAST: f64 = 1.25;

/// The scale of shades: from the smallest number of a matrix to the largest, or to a quarter more than the smallest if
/// that is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shades {
    range: AxisRange,
}

impl Shades {
    /// Returns the shades of a matrix; `None` if it has no number.
    pub fn of(matrix: &Matrix) -> Option<Self> {
        let AxisRange { low, high } =
            AxisRange::of(&mut |value| matrix.cells().filter_map(|(_, _, cell)| cell.ok()).for_each(value))?;
        Some(Self { range: AxisRange { low, high: high.max(low * FULL_CONTRAST) } })
    }

    /// Returns the depth of a number: 0 for the smallest, 1 for the largest.
    pub fn depth(&self, value: f64) -> f64 {
        let AxisRange { low, high } = self.range;
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the step of a number among `steps` equal ones, from the lightest.
    pub fn step(&self, value: f64, steps: usize) -> usize {
        (math::whole(self.depth(value) * steps.real()) as usize).min(steps.saturating_sub(1))
    }

    /// Returns the numbers at both ends.
    pub const fn ends(&self) -> (f64, f64) {
        (self.range.low, self.range.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::charts;

    fn shades(number: impl Fn(u32, u32) -> Option<f64>) -> Option<Shades> {
        Shades::of(&charts::of_nodes(2, &|row, column| number(row, column).ok_or("mbind: EPERM")))
    }

    #[test]
    fn the_extremes_take_the_whole_scale() {
        let shades = shades(|row, column| Some(if row == column { 80.0 } else { 140.0 })).unwrap();
        assert_eq!((shades.depth(80.0), shades.depth(110.0), shades.depth(140.0)), (0.0, 0.5, 1.0));
        assert_eq!((shades.step(80.0, 5), shades.step(110.0, 5), shades.step(140.0, 5)), (0, 2, 4));
    }

    #[test]
    fn noise_has_no_contrast() {
        let shades = shades(|row, column| Some(if row == column { 100.0 } else { 101.0 })).unwrap();
        assert_eq!(shades.ends(), (100.0, 125.0));
        assert_eq!(shades.step(101.0, 5), 0);
    }

    #[test]
    fn without_numbers_there_are_no_shades() {
        assert_eq!(shades(|_, _| None), None);
        assert_eq!(shades(|_, _| Some(0.0)).map(|shades| shades.depth(0.0)), Some(0.0));
    }
}
