//! Sorting that is small rather than fast: what is sorted here was measured,
//! which took longer.

use core::cmp::Ordering;

/// Puts `items` in the order of `compare`. Equal items may change places.
///
/// Shell's sort with the gaps of G. Gonnet and R. Baeza-Yates, "Handbook of
/// Algorithms and Data Structures", 1991, 4.1.4: of 100 000 items some
/// milliseconds. A quicksort of the core library is ten times as large, for every
/// type anew.
pub fn sort_by<T: Copy>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut gap = items.len();
    while gap > 1 {
        gap = (gap * 5 / 11).max(1);
        for end in gap..items.len() {
            sink(items, gap, end, &compare);
        }
    }
}

/// Puts `samples` in ascending order, not-a-number last.
pub fn ascending(samples: &mut [f64]) {
    sort_by(samples, f64::total_cmp);
}

/// Moves the item at `place` down in strides of `gap` until no larger one precedes it.
fn sink<T: Copy>(items: &mut [T], gap: usize, place: usize, compare: &impl Fn(&T, &T) -> Ordering) {
    let Some(&item) = items.get(place) else { return };
    let mut hole = place;
    while let Some(below) = hole.checked_sub(gap) {
        match items.get(below) {
            Some(&other) if compare(&other, &item).is_gt() => put(items, hole, other),
            _ => break,
        }
        hole = below;
    }
    put(items, hole, item);
}

fn put<T>(items: &mut [T], place: usize, item: T) {
    if let Some(slot) = items.get_mut(place) {
        *slot = item;
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
