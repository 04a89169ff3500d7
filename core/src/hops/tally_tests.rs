//! Tests of the tally.

use super::*;
use proptest::prelude::*;

#[test]
fn edges_open_their_cells() {
    assert!(Tally::edges().take(6).eq([2, 3, 4, 6, 8, 12]));
    for (index, edge) in Tally::edges().enumerate() {
        assert_eq!((cell_of(edge), cell_of(edge - 1)), (index + 2, if index > 0 { index + 1 } else { 0 }));
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
