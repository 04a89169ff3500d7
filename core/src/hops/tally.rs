//! Counts and sums of values by half octaves: small enough to keep one tally for each round.
//!
//! The values are plain numbers without a unit.

use crate::math::ToReal;

/// Number of half octaves: two for each power of two up to 2^40.
const CELLS: usize = 80;

/// The number of values in each half octave, and their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    cells: [Cell; CELLS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    count: u64,
    sum: u64,
}

/// Returns a tally without values.
impl Default for Tally {
    fn default() -> Tally {
        Tally::EMPTY
    }
}

impl Tally {
    /// A tally without values.
    pub const EMPTY: Tally = Tally { cells: [Cell { count: 0, sum: 0 }; CELLS] };

    /// Counts one value; the last cell also counts all larger values.
    pub fn record(&mut self, value: u64) {
        if let Some(cell) = self.cells.get_mut(cell_of(value)) {
            cell.count += 1;
            cell.sum = cell.sum.saturating_add(value);
        }
    }

    /// Returns the number of values in the half octave of `least` and all higher ones.
    pub fn count_from(&self, least: u64) -> u64 {
        self.cells.get(cell_of(least)..).unwrap_or_default().iter().map(|cell| cell.count).sum()
    }

    /// Returns the mean of the values below the half octave of `below`; `None` if there are no values.
    pub fn mean_below(&self, below: Option<u64>) -> Option<f64> {
        self.weighted_mean(below, |_| 1.0)
    }

    /// Returns this mean with weights: the values of each half octave get the `weight` of the half octave's mean.
    pub fn weighted_mean(&self, below: Option<u64>, weight: impl Fn(f64) -> f64) -> Option<f64> {
        let cells = self.cells.get(..below.map_or(CELLS, cell_of)).unwrap_or_default();
        let (mut total, mut sum) = (0.0, 0.0);
        for cell in cells.iter().filter(|cell| cell.count > 0) {
            let (count, ticks) = (cell.count.real(), cell.sum.real());
            let weight = weight(ticks / count);
            total += weight * count;
            sum += weight * ticks;
        }
        (total > 0.0).then(|| sum / total)
    }

    /// Returns the sum of all values.
    pub fn sum(&self) -> u64 {
        self.cells.iter().fold(0, |sum, cell| sum.saturating_add(cell.sum))
    }

    /// Returns the smallest number of each half octave, ascending. Each of these is also a boundary of histogram
    /// buckets.
    pub fn edges() -> impl DoubleEndedIterator<Item = u64> {
        (2..CELLS).map(|cell| (2 + cell as u64 % 2) << (cell / 2 - 1))
    }
}

fn cell_of(value: u64) -> usize {
    let Some(octave) = value.checked_ilog2().filter(|&octave| octave > 0) else { return 0 };
    let upper_half = value >> (octave - 1) & 1;
    (2 * octave as usize + upper_half as usize).min(CELLS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_open_their_cells() {
        assert!(Tally::edges().take(6).eq([2, 3, 4, 6, 8, 12]));
        for (index, edge) in Tally::edges().enumerate() {
            assert_eq!(
                (cell_of(edge), cell_of(edge - 1)),
                (index + 2, if index > 0 { index + 1 } else { 0 })
            );
        }
        assert_eq!((cell_of(0), cell_of(u64::MAX)), (0, CELLS - 1));
    }

    proptest! {
        #[test]
        fn counts_and_means_agree_with_the_values(
            values in prop::collection::vec(0u64..1 << 40, 1..200), edge in 0usize..78,
        ) {
            let edge = Tally::edges().nth(edge).unwrap();
            let mut tally = Tally::EMPTY;
            values.iter().for_each(|&value| tally.record(value));
            prop_assert_eq!(tally.count_from(edge), values.iter().filter(|&&value| value >= edge).count() as u64);
            prop_assert_eq!(tally.sum(), values.iter().sum::<u64>());
            let below: std::vec::Vec<u64> = values.iter().copied().filter(|&value| value < edge).collect();
            match tally.mean_below(Some(edge)) {
                Some(mean) => {
                    let expected = below.iter().sum::<u64>() as f64 / below.len() as f64;
                    prop_assert!((mean - expected).abs() <= expected * 1e-12);
                }
                None => prop_assert!(below.is_empty()),
            }
        }
    }
}
