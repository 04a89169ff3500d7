//! A pass that brings a working set into the caches without a walk.
//!
//! The loads are independent, so the pass takes a fraction of the time of a lap. Nothing is timed.

use core::hint::black_box;

use super::Buffer;
use crate::math::{ToReal, greatest_common_divisor, whole};

/// Fraction of the nodes between two loads: the golden section. Its multiples modulo 1 stay further apart than the
/// multiples of any other number.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

impl Buffer<'_> {
    /// Loads every node once, in an order that no prefetcher foresees.
    pub fn touch(&self) {
        let layout = self.chain.layout();
        let mut sum = 0;
        for node in scattered(self.chain.nodes()) {
            let line = self.lines.get((layout.offset(node) / 64) as usize);
            sum ^= line.map_or(0, |line| line.0[0]);
        }
        black_box(sum);
    }
}

/// Returns each number below `count` once, in an order in which successive numbers are far apart.
fn scattered(count: u64) -> impl Iterator<Item = u64> {
    let golden = whole(count.real() * GOLDEN);
    // One has no common factor with any number, so a step always exists.
    let step = (1..=golden.max(1)).rev().find(|step| greatest_common_divisor(count, *step) == 1).unwrap_or(1);
    let mut next = 0;
    (0..count).map(move |_| {
        let this = next;
        next = if this + step < count { this + step } else { this + step - count };
        this
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn each_number_comes_once(count in 0u64..5000) {
            let mut numbers: Vec<u64> = scattered(count).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..count));
        }

        #[test]
        fn neighbours_are_far_apart(count in 1000u64..5000) {
            let numbers: Vec<u64> = scattered(count).collect();
            for pair in numbers.windows(2) {
                prop_assert!(pair[0].abs_diff(pair[1]) > count / 4, "{pair:?}");
            }
        }
    }
}
