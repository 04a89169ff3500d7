//! All cache levels together: finds a line, and moves it.

use super::{Core, LINE_SHIFT, Machine, Scope, locked};
use crate::cache::Cache;

/// Source of a line that did not come from memory.
pub(super) enum Found {
    /// This level.
    Level(usize),
    /// A level of another node, with its ticks.
    Other(u64),
}

/// Result of a load in the levels.
pub(super) struct Brought {
    /// Source of its line.
    pub found: Option<Found>,
    /// Lines that prefetchers brought from memory, between the same nodes.
    pub prefetched: u64,
}

impl Machine {
    /// Loads `line` on a CPU at `now`, with the prefetches that follow; `pair` are the nodes, if one claims
    /// the line.
    pub(super) fn demand(&self, core: &mut Core, line: u64, pair: Option<usize>, now: u64) -> Brought {
        let found = self.fill(core.place, &mut core.levels, line, now);
        let mut brought = Brought { found, prefetched: 0 };
        if self.description.levels.is_empty() {
            // Without levels, prefetchers have no place to store a line.
            return brought;
        }
        let misses = !matches!(brought.found, Some(Found::Level(level)) if level < core.levels.len());
        let adjacent = (self.description.adjacent && misses).then_some(line ^ 1);
        let ahead = core.prefetcher.access(line);
        for line in adjacent.into_iter().chain(ahead.into_iter().flatten()) {
            if self.fill(core.place, &mut core.levels, line, now).is_none() {
                brought.prefetched += u64::from(pair.is_some());
                pair.map(|pair| self.read(pair, line));
            }
        }
        brought
    }

    /// Uses `line` in all levels from the nearest to the one that has it; each level before that one stores
    /// it.
    pub(super) fn fill(&self, place: usize, private: &mut [Cache], line: u64, now: u64) -> Option<Found> {
        let mut before = private.len();
        if let Some(hit) = private.iter_mut().position(|cache| cache.access(line)) {
            return Some(Found::Level(hit));
        }
        if let Some(own) = self.nodes.get(place) {
            let mut own = locked(own);
            let own = own.at(now);
            if let Some(hit) = own.iter_mut().position(|cache| cache.access(line)) {
                return Some(Found::Level(before + hit));
            }
            before += own.len();
        }
        if let Some(ticks) = self.description.other {
            let others = self.nodes.iter().enumerate().filter(|(other, _)| *other != place);
            let mut levels = others.map(|(_, levels)| locked(levels));
            if levels.any(|mut levels| levels.at(now).iter().any(|cache| cache.holds(line))) {
                return Some(Found::Other(ticks));
            }
        }
        let hit = locked(&self.shared).at(now).iter_mut().position(|cache| cache.access(line))?;
        Some(Found::Level(before + hit))
    }

    /// Returns true if there are caches, or if memory remembers the last reader of a line.
    #[must_use]
    pub fn has_levels(&self) -> bool {
        self.readers.are_kept() || !self.description.levels.is_empty()
    }

    /// Returns true if a store past the caches has an effect: if a cache common to several CPUs could hold the
    /// written line, or if memory remembers the last reader of a line.
    #[must_use]
    pub fn minds_stores(&self) -> bool {
        self.readers.are_kept() || self.description.levels.iter().any(|level| level.scope != Scope::Cpu)
    }

    /// Handles a store past the caches: afterwards no cache has the line, and memory forgets its last reader.
    pub fn stream(&self, physical_address: u64) {
        let line = physical_address >> LINE_SHIFT;
        for core in &self.cores {
            locked(core).levels.iter_mut().for_each(|cache| cache.evict(line));
        }
        self.nodes.iter().for_each(|levels| locked(levels).evict(line));
        locked(&self.shared).evict(line);
        self.readers.forget(line);
    }
}
