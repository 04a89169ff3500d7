//! A sort that is small rather than fast: sorting samples takes less time than measuring them.

use core::cmp::Ordering;

/// Sorts `items` by `compare`. The sort is not stable.
///
/// It is Shell's sort with the gaps of G. Gonnet and R. Baeza-Yates, "Handbook of Algorithms and Data Structures",
/// 1991, 4.1.4, and takes some milliseconds for 100 000 items. The code of the core library's quicksort is ten times
/// as large, and is generated for every type.
pub fn sort_by<T: Copy>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    shell(items.len(), &mut |below, place| {
        let (Some(lower), Some(upper)) = (items.get(below), items.get(place)) else { return false };
        let is_larger = compare(lower, upper).is_gt();
        if is_larger {
            items.swap(below, place);
        }
        is_larger
    });
}

/// Sorts `samples` in ascending order, with NaNs last.
pub fn ascending(samples: &mut [f64]) {
    sort_by(samples, f64::total_cmp);
}

/// Sorts `count` items with `swaps`, which exchanges two items if the first is larger, and returns true if it was.
fn shell(count: usize, swaps: &mut dyn FnMut(usize, usize) -> bool) {
    let mut gap = count;
    while gap > 1 {
        gap = (gap * 5 / 11).max(1);
        for end in gap..count {
            let mut place = end;
            while let Some(below) = place.checked_sub(gap).filter(|below| swaps(*below, place)) {
                place = below;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(bits in prop::collection::vec(any::<u64>(), 0..700)) {
            let mut samples: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
            let mut expected = samples.clone();
            expected.sort_by(f64::total_cmp);
            ascending(&mut samples);
            let bits = |samples: &[f64]| samples.iter().map(|sample| sample.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&samples), bits(&expected));
        }

        #[test]
        fn the_comparison_decides(mut items in prop::collection::vec((0u8..9, any::<u16>()), 0..99)) {
            let mut expected = items.clone();
            sort_by(&mut items, |a, b| a.0.cmp(&b.0));
            prop_assert!(items.is_sorted_by_key(|item| item.0));
            items.sort();
            expected.sort();
            prop_assert_eq!(items, expected);
        }
    }
}
