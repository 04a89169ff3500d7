//! The levels of caches together: where a line is found, and where it is afterwards.

use super::{locked, Machine, Scope, LINE_SHIFT};
use crate::cache::Cache;

/// Where a line was, if not in memory.
pub(super) enum Found {
    /// In this level.
    Level(usize),
    /// In a level of another node, which serves it in so many ticks.
    Other(u64),
}

impl Machine {
    /// Uses `line` in all levels from the nearest to the one that has it; each level before that has it from now on.
    pub(super) fn fill(&self, place: usize, private: &mut [Cache], line: u64) -> Option<Found> {
        let mut before = private.len();
        if let Some(hit) = private.iter_mut().position(|cache| cache.access(line)) {
            return Some(Found::Level(hit));
        }
        if let Some(own) = self.nodes.get(place) {
            let mut own = locked(own);
            if let Some(hit) = own.iter_mut().position(|cache| cache.access(line)) {
                return Some(Found::Level(before + hit));
            }
            before += own.len();
        }
        if let Some(ticks) = self.description.other {
            let others = self.nodes.iter().enumerate().filter(|(other, _)| *other != place);
            let mut levels = others.map(|(_, levels)| locked(levels));
            if levels.any(|levels| levels.iter().any(|cache| cache.holds(line))) {
                return Some(Found::Other(ticks));
            }
        }
        let hit = locked(&self.shared).iter_mut().position(|cache| cache.access(line))?;
        Some(Found::Level(before + hit))
    }

    /// Whether a store past the caches has an effect: whether any cache is common to several CPUs, and could hold what they
    /// wrote, or memory remembers who read a line.
    #[must_use]
    pub fn minds_stores(&self) -> bool {
        self.readers.are_kept() || self.description.levels.iter().any(|level| level.scope != Scope::Cpu)
    }

    /// A store past the caches: none has the line afterwards, and memory does not remember who read it.
    pub fn stream(&self, physical_address: u64) {
        let line = physical_address >> LINE_SHIFT;
        let forget = |levels: &mut [Cache]| levels.iter_mut().for_each(|cache| cache.evict(line));
        self.cores.iter().for_each(|core| forget(&mut locked(core).levels));
        self.nodes.iter().for_each(|levels| forget(&mut locked(levels)));
        forget(&mut locked(&self.shared));
        self.readers.forget(line);
    }
}
