//! Loads of one line in each of many pages of zeros: the cost of address translation.
//!
//! Every page of a private mapping that is only read is one page of the kernel, which is full of zeros. So the data
//! of a walk stay in the nearest cache, however many pages it visits, and its time grows with the cost of translation
//! alone. The pages are visited in the order of a computed cycle: an odd number of outer parts, in steps,
//! and in each part a mixed Weyl sequence over a power of two of pages. Both are advanced by each load, and as the
//! lengths have no common factor, the walk visits each page once before it returns to the first.
//!
//! # Safety
//!
//! A [`SpanWalk`] borrows its memory, which is all zero; and its addresses are those of whole words within the
//! number of pages that was checked against the length of the memory.

use core::marker::PhantomData;

use crate::arch::{self, SpanWords};
use crate::math::greatest_common_divisor;
use crate::rng::Pcg32;
use crate::units::Bytes;

/// The dependence between the loads of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Each address depends on the value that the load before found.
    Dependent,
    /// No address depends on a load, so that loads overlap.
    Independent,
}

/// A walk over one line in each of a number of pages, from the page at which the last one ended.
#[derive(Clone, Copy, Debug)]
pub struct SpanWalk<'m> {
    words: SpanWords,
    /// Bytes of an outer part, and the number of parts.
    part: u64,
    parts: u64,
    memory: PhantomData<&'m [u8]>,
}

impl<'m> SpanWalk<'m> {
    /// Returns a walk over the word at `offset` in each of the first `pages` pages of `zeros`, in an order that `rng`
    /// decides; `None` if the memory is shorter, or the word is not within a page.
    ///
    /// # Safety
    ///
    /// All bytes of `zeros` are zero.
    #[must_use]
    pub unsafe fn new(
        zeros: &'m [u8],
        page: Bytes,
        pages: u64,
        offset: Bytes,
        rng: &mut Pcg32,
    ) -> Option<SpanWalk<'m>> {
        let span = page.0.checked_mul(pages)?;
        let word = size_of::<u64>() as u64;
        let fits = span <= zeros.len() as u64 && offset.0.is_multiple_of(word) && offset.0 + word <= page.0;
        if pages == 0 || !fits {
            return None;
        }
        let inner = 1 << pages.trailing_zeros();
        let (part, parts) = (page.0 * inner, pages / inner);
        // Steps of five eighths of all parts are far apart in the long run, too.
        let step = (parts * 5 / 8..=parts).find(|step| greatest_common_divisor(*step, parts) == 1)?;
        let words = SpanWords {
            base: (zeros.as_ptr().expose_provenance() as u64).wrapping_add(offset.0 + span),
            page: page.0,
            time: rng.next_u64(),
            step: rng.next_u64() | 1,
            mask: inner - 1,
            multiplier: rng.next_u64() | 1,
            outer: span.wrapping_neg(),
            outer_step: part * step,
            back: (part * step).wrapping_sub(span),
            value: 0,
        };
        Some(SpanWalk { words, part, parts, memory: PhantomData })
    }

    /// Makes exactly `loads` loads, and returns the address of the last one.
    #[inline]
    pub fn run(&mut self, loads: u64, kind: Loads) -> usize {
        let routine = match kind {
            Loads::Dependent => arch::lb_chase_span,
            Loads::Independent => arch::lb_chase_span_free,
        };
        // SAFETY: `new` checked that all pages of the sequence lie in the memory, which is borrowed and zero.
        unsafe { routine(&raw mut self.words, loads as usize) }
    }

    /// Returns whether a run of `loads` loads from `self` ends in the state `after`, at the address `ended`.
    pub fn proves(&self, loads: u64, after: &SpanWalk<'m>, ended: usize) -> bool {
        let Some(before_last) = loads.checked_sub(1) else { return after.words == self.words };
        let mut words = self.words;
        words.time = words.time.wrapping_add(words.step.wrapping_mul(before_last));
        let span = self.part * self.parts;
        let index = words.outer.wrapping_add(span) / self.part;
        let steps = words.outer_step / self.part * (before_last % self.parts);
        words.outer = ((index + steps) % self.parts * self.part).wrapping_sub(span);
        let last = step(&mut words);
        last == ended as u64 && words == after.words
    }
}

/// Advances the sequence of a walk over pages by one load, and returns its address.
pub const fn step(walk: &mut SpanWords) -> u64 {
    walk.time = walk.time.wrapping_add(walk.step);
    let x = walk.time & walk.mask;
    let x = (x ^ x >> 2).wrapping_mul(walk.multiplier) & walk.mask;
    let page = x ^ x >> 3;
    let (next, ended) = walk.outer.overflowing_add(walk.outer_step);
    walk.outer = if ended { walk.outer.wrapping_add(walk.back) } else { next };
    walk.base.wrapping_add(walk.outer).wrapping_add(page * walk.page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns a walk over zeros; the page is small, so that there can be many.
    fn walk(zeros: &[u8], page: u64, pages: u64, seed: u64) -> SpanWalk<'_> {
        // SAFETY: the tests make zeros.
        unsafe { SpanWalk::new(zeros, Bytes(page), pages, Bytes(8), &mut Pcg32::new(seed, 1)) }.unwrap()
    }

    proptest! {
        #[test]
        fn every_page_is_visited_once_in_a_lap(pages in 1u64..600, seed: u64) {
            let zeros = std::vec![0; pages as usize * 16];
            let mut walk = walk(&zeros, 16, pages, seed);
            let mut visit = || walk.run(1, Loads::Dependent) - zeros.as_ptr() as usize;
            let order: std::vec::Vec<usize> = (0..=pages).map(|_| visit()).collect();
            prop_assert!(order.iter().all(|place| place % 16 == 8 && *place < zeros.len()));
            prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len() as u64, pages);
            prop_assert_eq!(order.first(), order.last());
        }

        #[test]
        fn both_routines_agree_with_plain_rust(pages in 1u64..600, loads in 0u64..40, seed: u64) {
            let zeros = std::vec![0; pages as usize * 16];
            for kind in [Loads::Dependent, Loads::Independent] {
                let before = walk(&zeros, 16, pages, seed);
                let (mut after, mut expected) = (before, before.words);
                let mut last = expected.base;
                for _ in 0..loads {
                    last = step(&mut expected);
                }
                let ended = after.run(loads, kind);
                prop_assert_eq!((ended as u64, after.words), (last, expected));
                prop_assert!(before.proves(loads, &after, ended));
                prop_assert!(loads == 0 || !before.proves(loads + 1, &after, ended));
                prop_assert!(loads == 0 || !before.proves(loads, &after, ended + 16));
            }
        }
    }

    #[test]
    fn memory_that_is_too_short_is_refused() {
        let zeros = [0; 160];
        let new = |page, pages, offset| {
            // SAFETY: they are zeros.
            unsafe { SpanWalk::new(&zeros, Bytes(page), pages, Bytes(offset), &mut Pcg32::new(1, 1)) }
                .is_some()
        };
        assert!(new(16, 10, 8));
        assert!(!new(16, 11, 8) && !new(16, 0, 8) && !new(16, 10, 16) && !new(16, 10, 4));
        assert!(!new(u64::MAX, 2, 8));
    }
}
