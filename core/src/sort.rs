//! Sorting of records by one piece of code.
//!
//! Numbers are sorted by the core library. It generates its sort for every type and comparison, 3.5 KiB each: for the
//! thirty kinds of records here more than the executable may grow.

use core::cmp::Ordering;

/// Sorts `items` by `compare`. The sort is not stable.
///
/// It is Shell's sort with the gaps of G. Gonnet and R. Baeza-Yates, "Handbook of Algorithms and Data Structures",
/// 1991, 4.1.4, and takes some milliseconds for 100 000 items.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    shell(items.len(), &mut |below, place| {
        let (Some(lower), Some(upper)) = (items.get(below), items.get(place)) else { return false };
        let is_larger = compare(lower, upper).is_gt();
        if is_larger {
            items.swap(below, place);
        }
        is_larger
    });
}

/// Sorts `items` by a key. The sort is not stable.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// Returns the best item, or the first of several: `is_better` compares an item with the best one before it.
pub fn best<T>(items: impl Iterator<Item = T>, is_better: impl Fn(&T, &T) -> bool) -> Option<T> {
    let mut best = None;
    items.for_each(|item| {
        if best.as_ref().is_none_or(|known| is_better(&item, known)) {
            best = Some(item);
        }
    });
    best
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

    proptest! {
        #[test]
        fn the_comparison_decides(mut items in prop::collection::vec((0u8..9, any::<u16>()), 0..700)) {
            let mut expected = items.clone();
            sort_by_key(&mut items, |item| item.0);
            prop_assert!(items.is_sorted_by_key(|item| item.0));
            sort_by(&mut items, Ord::cmp);
            expected.sort();
            prop_assert_eq!(items, expected);
        }
    }
}
