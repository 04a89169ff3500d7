//! Changes of all hosts of a kind that did not last. If there are many of a size, a host that changes by as much may have
//! gone to another of the states of its kind (placement of memory, neighbours that stay for weeks), and may come back.

use alloc::vec::Vec;

use latency_core::sort::sort_by;

use super::history::SEEN;
use super::names::Name;

/// Least number of changes of a size that are usual.
const FEWEST: usize = 2;
/// Number of results in which one change is usual: false alarms are rarer.
const RESULTS: usize = 1000;

/// The changes that did not last, or were to a faster level, in all series of one key.
#[derive(Default)]
pub struct PassingChanges {
    /// The number of results of these series.
    pub results: usize,
    /// The key.
    pub key: Option<Name>,
    /// The size of each change, as a logarithm.
    sizes: Vec<f64>,
}

impl PassingChanges {
    /// Removes everything.
    pub fn clear(&mut self) {
        self.results = 0;
        self.sizes.clear();
    }

    /// Adds a change.
    pub fn add(&mut self, size: f64) {
        self.sizes.push(size);
    }

    /// Returns whether changes of at least this size are usual; `own` is the number of added changes that do not count.
    #[must_use]
    pub fn are_usual(&self, size: f64, own: usize) -> bool {
        let count = self.sizes.iter().filter(|known| **known > SEEN * size).count();
        let count = count.saturating_sub(own);
        count >= FEWEST && count * RESULTS > self.results
    }

    /// Returns the size up to which changes are usual; 0 without any. Sorts the sizes.
    pub fn largest_usual(&mut self) -> f64 {
        sort_by(&mut self.sizes, |one, other| other.total_cmp(one));
        self.sizes.get((self.results / RESULTS).max(FEWEST - 1)).map_or(0.0, |size| size / SEEN)
    }
}
