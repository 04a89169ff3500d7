//! Sizes of working sets that follow from the caches and the available memory of a machine.

use latency_core::host::Bound;
use latency_core::{Bytes, NodeSet, PageSize};

use super::{Machine, Supply};
use crate::result::Point;

/// Minimum default working set: smaller ones fit into caches of today's machines.
pub const LEAST_DEFAULT: Bytes = Bytes(256 << 20);
/// Minimum ratio of the working set to the last-level cache that reaches memory: in a cyclic random chase over 3.4
/// times a cache, 3.7 % of the hops still hit.
pub const CACHES: u64 = 4;

impl Machine {
    /// Returns the size of a data cache that sysfs or the processor reports, if either does.
    pub fn cache(&self, level: u8) -> Option<Bytes> {
        let sysfs = self.host.caches.data(level.into()).map(|cache| cache.size);
        let claims = || self.processor.caches.iter().flatten();
        let claimed = || claims().find(|claim| claim.level == level).map(|claim| claim.size);
        sysfs.or_else(claimed).filter(|size| *size >= PageSize::LEAST.bytes())
    }

    /// Returns the size of the largest cache that the core does not share.
    pub fn private_cache(&self) -> Bytes {
        self.cache(2).or_else(|| self.cache(1)).unwrap_or_default()
    }

    /// Returns the smallest working set that is mostly beyond the largest private cache.
    pub fn beyond_private(&self) -> Bytes {
        self.private_cache().times(2)
    }

    /// Returns a working set that the last-level cache serves: the size that a search found, or else a third of the
    /// reported cache, because the cache is shared. Returns `None` if a search found none.
    pub fn in_last_level(&self) -> Option<Bytes> {
        match self.sizing {
            Some(sizing) if sizing.cache_sought => sizing.in_cache,
            _ => self.cache(3).map(|cache| self.page.whole(Bytes(cache.0 / 3))),
        }
    }

    /// Returns the largest available working set for `like` and the other targets of `points`.
    pub fn most(&self, like: &Point, points: &[Point]) -> Bytes {
        let targets: NodeSet = points.iter().map(|point| point.target.0).collect();
        self.supply(like.target).map_or(Bytes(1 << 40), |supply| self.half_of(&supply, targets.len()))
    }

    /// Returns half of a node's available memory, in whole pages. All targets share the headroom of a control group. If
    /// a share is too small to reach memory, each target uses half of the headroom, one after another.
    pub fn half_of(&self, supply: &Supply, targets: usize) -> Bytes {
        let enough = self.largest_cache().times(CACHES);
        let whole = |bytes: u64| self.whole_pages(Bytes(bytes));
        let on_node = whole(supply.on_node().0 / 2);
        let Some(headroom) = supply.headroom else { return on_node };
        // A limit of mappings also counts a second piece of memory, which checks the first.
        let most = headroom.0 / if supply.by == Bound::Group { 2 } else { 3 };
        let share = whole(most / targets.max(1) as u64);
        let share = if share < enough { whole(most).min(enough) } else { share };
        on_node.min(share)
    }

    /// Returns a working set, rounded down to whole huge pages, so that every kind of pages can serve it. If it would lose
    /// much by that, it is rounded down to whole pages of 2 MiB.
    pub fn whole_pages(&self, size: Bytes) -> Bytes {
        /// Minimum number of huge pages in a working set that may lose one by rounding.
        const MANY: u64 = 16;
        let huge = self.huge_page();
        if size >= huge.bytes().times(MANY) { huge.whole(size) } else { PageSize::MIB_2.whole(size) }
    }

    /// Returns true if a random walk over the working set of a point may tell memory and translation apart: most of the
    /// set is in no cache.
    pub fn may_tell_apart(&self, point: &Point) -> bool {
        self.reaches_memory(point.size) || point.size >= LEAST_DEFAULT
    }

    /// Returns true unless the point needs a pool of huge pages that is too small for it.
    pub fn has_pages_for(&self, point: &Point) -> bool {
        point.pages.pool().is_none_or(|page| self.pool_holds(point.target, page, point.size))
    }
}
