//! The translation look-aside buffer: computes the cost of a translation above a hit.
//!
//! This module does not depend on the caches.

use crate::cache::{Cache, Replacement};
use crate::page::{Page, PageRule, Pages};

/// One level, as the arguments describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlbLevel {
    /// Translations that fit.
    pub entries: u64,
    /// Extra ticks of a miss.
    pub miss_ticks: u64,
    /// Ways of a set; equal to `entries` if fully associative.
    pub ways: u64,
    /// The only page size that it holds; both sizes, in common, if absent.
    pub only: Option<Page>,
}

/// The result of a translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Extra ticks of the access: the sum of the miss costs of all levels that missed.
    pub ticks: u64,
    /// Number of these levels.
    pub misses: usize,
    /// The size of the page, if all levels that hold its size missed. The page table is then walked.
    pub walk: Option<Page>,
}

/// All levels of one CPU, from the nearest.
#[derive(Clone, Debug)]
pub struct Tlb {
    pages: Pages,
    levels: Vec<(TlbLevel, Cache)>,
    misses: Vec<u64>,
    large: u64,
}

impl Tlb {
    /// Makes an empty buffer with these levels.
    #[must_use]
    pub fn new(rule: PageRule, levels: &[TlbLevel]) -> Self {
        let store = |level: &TlbLevel| {
            let ways = level.ways.clamp(1, level.entries.max(1));
            let ways_in_memory = usize::try_from(ways).unwrap_or(usize::MAX);
            let sets = level.entries / ways;
            (*level, Cache::new(sets, ways_in_memory, Replacement::LeastRecentlyUsed, 0))
        };
        let (pages, misses) = (Pages::new(rule), vec![0; levels.len()]);
        Self { pages, levels: levels.iter().map(store).collect(), misses, large: 0 }
    }

    /// Translates. A page whose size no level holds costs nothing.
    pub fn access(&mut self, virtual_address: u64, physical_address: u64) -> Translation {
        let mut translation = Translation::default();
        if self.levels.is_empty() {
            return translation;
        }
        let page = self.pages.of(virtual_address, physical_address);
        self.large += u64::from(page == Page::Large);
        // A store may hold both sizes: the top bit, which no page number reaches, keeps them apart and does
        // not affect the choice of the set.
        let block = page.of(virtual_address) | u64::from(page == Page::Large) << 63;
        for ((level, store), misses) in self.levels.iter_mut().zip(&mut self.misses) {
            if level.only.is_some_and(|only| only != page) {
                continue;
            }
            if store.access(block) {
                translation.walk = None;
                break;
            }
            *misses += 1;
            translation.misses += 1;
            translation.ticks = translation.ticks.saturating_add(level.miss_ticks);
            translation.walk = Some(page);
        }
        translation
    }

    /// Returns the misses of each level so far.
    #[must_use]
    pub fn misses(&self) -> &[u64] {
        &self.misses
    }

    /// Returns the number of accesses found to be on a 2 MiB page; 0 without a buffer.
    #[must_use]
    pub fn large_accesses(&self) -> u64 {
        self.large
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn level(entries: u64, miss_ticks: u64) -> TlbLevel {
        TlbLevel { entries, miss_ticks, ways: entries, only: None }
    }

    /// Returns the ticks of the last of three laps over `pages` pages, `size` bytes apart, with physical
    /// addresses `shift` bytes away.
    fn lap(tlb: &mut Tlb, pages: u64, size: u64, shift: u64) -> u64 {
        let mut ticks = 0;
        for _ in 0..3 {
            ticks = (0..pages).map(|page| tlb.access(page * size, page * size + shift).ticks).sum();
        }
        ticks
    }

    #[test]
    fn reach_is_entries_times_the_page() {
        for (size, shift) in [(4 * KIB, 4 * KIB), (2 * MIB, 0)] {
            let tlb = Tlb::new(PageRule::Agreement, &[level(64, 700)]);
            assert_eq!(lap(&mut tlb.clone(), 64, size, shift), 0);
            assert_eq!(lap(&mut tlb.clone(), 65, size, shift), 65 * 700);
        }
    }

    #[test]
    fn each_missed_level_adds_its_ticks() {
        let tlb = Tlb::new(PageRule::default(), &[level(8, 7), level(32, 100)]);
        assert_eq!(lap(&mut tlb.clone(), 8, 4 * KIB, 4 * KIB), 0);
        assert_eq!(lap(&mut tlb.clone(), 32, 4 * KIB, 4 * KIB), 32 * 7);
        let mut tlb = tlb;
        assert_eq!(lap(&mut tlb, 33, 4 * KIB, 4 * KIB), 33 * 107);
        assert_eq!(tlb.misses(), [99, 99]);
        let missed = Translation { ticks: 107, misses: 2, walk: Some(Page::Small) };
        assert_eq!([tlb.access(0, 4 * KIB), tlb.access(0, 4 * KIB)], [missed, Translation::default()]);
    }

    #[test]
    fn a_level_for_one_page_size_is_not_used_by_the_other() {
        let small = TlbLevel { only: Some(Page::Small), ..level(4, 50) };
        let large = TlbLevel { only: Some(Page::Large), ..level(2, 900) };
        let tlb = Tlb::new(PageRule::Agreement, &[small, large]);
        assert_eq!(lap(&mut tlb.clone(), 5, 4 * KIB, 4 * KIB), 5 * 50);
        assert_eq!(lap(&mut tlb.clone(), 3, 2 * MIB, 0), 3 * 900);
    }

    #[test]
    fn only_a_miss_of_all_levels_walks_the_page_table() {
        let mut tlb = Tlb::new(PageRule::Agreement, &[level(1, 7), level(2, 100)]);
        let mut walk = |page: u64| tlb.access(page * 2 * MIB, page * 2 * MIB).walk;
        assert_eq!([walk(0), walk(1), walk(0), walk(0)], [Some(Page::Large), Some(Page::Large), None, None]);
        assert_eq!(tlb.misses(), [3, 2]);
        // The second level holds no small page.
        let large = TlbLevel { only: Some(Page::Large), ..level(2, 900) };
        let mut tlb = Tlb::new(PageRule::Always(Page::Small), &[level(1, 7), large]);
        let mut walk = |page: u64| tlb.access(page * 4 * KIB, 0).walk;
        assert_eq!([walk(0), walk(1), walk(1)], [Some(Page::Small), Some(Page::Small), None]);
        let mut tlb = Tlb::new(PageRule::Always(Page::Small), &[large]);
        assert_eq!(tlb.access(0, 0), Translation::default());
    }

    #[test]
    fn sets_limit_the_capacity() {
        // 8 sets × 4 ways, pages of one set only: four fit, five do not.
        let tlb = Tlb::new(PageRule::Always(Page::Small), &[TlbLevel { ways: 4, ..level(32, 10) }]);
        assert_eq!(lap(&mut tlb.clone(), 4, 32 * KIB, 0), 0);
        assert_eq!(lap(&mut tlb.clone(), 5, 32 * KIB, 0), 50);
        assert_eq!(lap(&mut tlb.clone(), 32, 4 * KIB, 0), 0);
    }
}
