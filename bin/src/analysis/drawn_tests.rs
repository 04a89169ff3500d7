//! Counts how often conclusions are drawn on a thread, for tests: a presentation draws them once.

use std::cell::RefCell;
use std::collections::BTreeMap;

std::thread_local! {
    static DRAWN: RefCell<BTreeMap<&'static str, usize>> = const { RefCell::new(BTreeMap::new()) };
}

/// Counts a conclusion.
pub(crate) fn draws(conclusion: &'static str) {
    DRAWN.with_borrow_mut(|drawn| *drawn.entry(conclusion).or_default() += 1);
}

/// Returns the conclusions that were drawn since the last call, and the number of times of each.
pub(crate) fn drawn() -> BTreeMap<&'static str, usize> {
    DRAWN.take()
}
