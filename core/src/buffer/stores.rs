//! The kinds of stores that write a chain: stores that bypass the caches, or ordinary stores.
//!
//! The faster kind depends on the machine. Writing a line costs 3.5 ns with bypassing stores and 10 ns with
//! ordinary stores on Emerald Rapids, 9.2 and 6.5 ns on Cascade Lake. So both kinds are tried on
//! the memory that is about to be written.
//!
//! Stores that bypass the caches leave no line in a cache. Ordinary stores leave the last lines
//! that they wrote in the caches, and the first pass over 64 MiB is then 5 % too fast. A warm-up of
//! one lap displaces these lines, but a warm-up of a million hops over a larger working set does
//! not, and timed hops would hit them. So the most recently written lines, four times the size of
//! the cache, are evicted before the chain is handed out. Even in a cache that chooses its victims
//! at random, older lines occupy only e^-4 of the cache, or 2 %, which is 0.1 % of a working set of
//! sixteen cache sizes. So the measured values do not depend on the kind of stores.
//!
//! If bypassing is a hint that the processor may ignore, the stores with the hint may leave lines in
//! the caches like ordinary ones. Then nothing is tried, and lines are always evicted: the most
//! recently written ones if the largest cache is known and small enough, otherwise all.

use super::error::BuildError;
use crate::arch::{self, Evictor, Line, Stamp};
use crate::units::Bytes;

/// The way in which lines are written so that no cache keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stores(Option<Ordinary>);

/// Ordinary stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ordinary {
    evictor: Evictor,
    /// The number of lines to evict, counted back from the last line written.
    last: usize,
}

/// Number of lines in one part of the trial, which one kind of stores writes: 1 MiB.
const PART: usize = (1 << 20) / 64;
/// Number of parts for each kind of stores. The kinds alternate, so that neither has all of the colder pages.
const PARTS: usize = 4;
/// Amount of the most recently written lines that is evicted, in cache sizes.
const EVICTED: u64 = 4;
/// Minimum working set for which ordinary stores are tried, in cache sizes: in a smaller one, too large a part of the
/// lines would have to be evicted.
const CACHES: u64 = 16;

impl Stores {
    /// Stores that go past the caches. If these are a hint, all their lines are evicted afterwards.
    pub const STREAMING: Stores = Stores(None);

    /// Tries both kinds on the start of `lines`, overwriting the content, and returns the faster kind.
    ///
    /// `cache` is the size of the largest cache, or zero if it is not known. Without this size,
    /// without a counter or without the instruction that evicts lines, it returns
    /// [`STREAMING`](Self::STREAMING) and tries nothing. If stores bypass the caches by a hint only,
    /// it tries nothing either, and returns ordinary stores: the others need an eviction of every line.
    #[must_use]
    pub fn choose(lines: &mut [Line], stamp: Option<Stamp>, cache: Bytes) -> Stores {
        /// Reciprocal of the fraction by which ordinary stores have to be faster: the trial does not include their
        /// eviction.
        const CLEARLY: u64 = 5;
        let written = core::mem::size_of_val::<[Line]>(lines) as u64;
        let (Some(stamp), Some(evictor)) = (stamp, Evictor::detect()) else { return Stores::STREAMING };
        if cache.0 == 0 || written / CACHES < cache.0 {
            return Stores::STREAMING;
        }
        let ordinary = Stores::ordinary(evictor, cache);
        if !arch::STREAMS_BYPASS {
            return ordinary;
        }
        let mut ticks = [0u64; 2];
        for pair in lines.chunks_exact_mut(2 * PART).take(PARTS) {
            let (first, second) = pair.split_at_mut(PART);
            for ((part, stores), ticks) in
                [(first, Stores::STREAMING), (second, ordinary)].into_iter().zip(&mut ticks)
            {
                let start = stamp.start();
                for line in part.iter_mut() {
                    stores.write(line, &[start; 8]);
                }
                stores.fence();
                *ticks += stamp.end().ticks.saturating_sub(start);
            }
        }
        let [streaming, cached] = ticks;
        if cached + cached / CLEARLY < streaming { ordinary } else { Stores::STREAMING }
    }

    /// Returns ordinary stores, for memory whose lines a cache of `cache` bytes may keep.
    pub(super) const fn ordinary(evictor: Evictor, cache: Bytes) -> Stores {
        Stores(Some(Ordinary { evictor, last: (cache.0 / 64 * EVICTED) as usize }))
    }

    /// Writes one line.
    #[inline(always)]
    pub(super) fn write(self, line: &mut Line, words: &[u64; 8]) {
        match self.0 {
            None => arch::stream_line(line, words),
            Some(_) => *line = Line(*words),
        }
    }

    /// Writes one line past the caches, and leaves it in no cache. After the last line, call [`fence`](Self::fence).
    pub(super) fn write_past(line: &mut Line, words: &[u64; 8]) {
        Stores::STREAMING.write(line, words);
        if let Some(evictor) = hinted() {
            evictor.evict(core::slice::from_ref(line));
        }
    }

    /// Waits until all stores that bypass the caches are complete.
    pub(super) fn fence(self) {
        if self.0.is_none() {
            arch::streams_done();
        }
    }

    /// Makes all stores visible, and leaves none of `lines` in a cache.
    ///
    /// # Errors
    ///
    /// [`BuildError::Stopped`] if `stop` returns true.
    pub(super) fn finish(self, lines: &[Line], stop: &dyn Fn() -> bool) -> Result<(), BuildError> {
        self.fence();
        let all = || hinted().map(|evictor| Ordinary { evictor, last: usize::MAX });
        if let Some(Ordinary { evictor, last }) = self.0.or_else(all) {
            let written = lines.get(lines.len().saturating_sub(last)..).unwrap_or_default();
            for part in written.chunks(PART) {
                if stop() {
                    return Err(BuildError::Stopped);
                }
                evictor.evict(part);
            }
        }
        Ok(())
    }
}

/// Returns the means to evict lines that were written past the caches, if bypassing is only a hint.
fn hinted() -> Option<Evictor> {
    if arch::STREAMS_BYPASS { None } else { Evictor::detect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn there_is_a_choice_only_far_beyond_a_known_cache() {
        let mut lines = vec![Line([7; 8]); 16 * PART];
        let stamp = Stamp::detect();
        for (stamp, cache) in [(None, Bytes::KIB), (stamp, Bytes(0)), (stamp, Bytes(1 << 21))] {
            assert_eq!(Stores::choose(&mut lines, stamp, cache), Stores::STREAMING);
            assert!(lines.iter().all(|line| *line == Line([7; 8])), "nothing was tried");
        }
        if let (Some(stamp), Some(evictor)) = (stamp, Evictor::detect()) {
            let chosen = Stores::choose(&mut lines, Some(stamp), Bytes::MIB);
            let ordinary = Stores::ordinary(evictor, Bytes::MIB);
            assert!(chosen == ordinary || arch::STREAMS_BYPASS && chosen == Stores::STREAMING);
            let mut tried = lines.iter().take(2 * PARTS * PART).map(|line| *line != Line([7; 8]));
            assert!(tried.all(|tried| tried == arch::STREAMS_BYPASS), "both were tried if there is a choice");
        }
    }

    #[test]
    fn both_kinds_write_the_same() {
        let Some(evictor) = Evictor::detect() else { return };
        let words: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
        for stores in [Stores::STREAMING, Stores::ordinary(evictor, Bytes(128))] {
            let mut lines = [Line([0; 8]); 9];
            for line in &mut lines {
                stores.write(line, &words);
            }
            stores.finish(&lines, &|| false).unwrap();
            assert!(lines.iter().all(|line| line.0 == words));
        }
    }
}
