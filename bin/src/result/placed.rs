//! The memory of a point: the means of its placement, and the facts known about it.

use latency_core::math::ToReal;
use latency_core::units::{Bytes, NodeId, PageSource, Pages};
use latency_core::worded;

use super::evidence::{Evidence, PageCounts};

worded! {
    /// The means by which a buffer was placed on its node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Means {
        /// A memory policy: set_mempolicy and mbind.
        Policy = "bind",
        /// A first touch by a CPU of the node, because policies are forbidden.
        FirstTouch = "first touch",
        /// No means: there is only one node.
        SoleNode = "sole node",
        /// No means: the kernel was built without NUMA.
        NoNuma = "no NUMA",
    }
}

/// Facts about the memory of a point.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The means by which it was placed on its node.
    pub means: Means,
    /// The kind of pages obtained: never [`Pages::AUTO`].
    pub pages: Pages,
    /// The length of the mapping.
    pub mapped: Bytes,
    /// The kernel's evidence before the measurement.
    pub before: Evidence,
    /// The kernel's evidence after the measurement.
    pub after: Evidence,
    /// True if translation buffers treat the huge pages as small ones; `None` if that was not probed, or cannot be
    /// determined.
    pub as_small: Option<bool>,
}

impl Placed {
    /// Returns whether the kernel had every page on `node`, before and after the measurement. A kernel without NUMA has no
    /// other place for a page.
    pub fn is_verified(&self, node: NodeId) -> bool {
        self.means == Means::NoNuma
            || self.before.proves(node, self.mapped) && self.after.proves(node, self.mapped)
    }

    /// Returns the number of pages that are now on other nodes than `node`, if there are any; `None` also if the kernel
    /// does not report it.
    pub fn moved(&self, node: NodeId) -> Option<u64> {
        if !self.after.is_there() || self.after.proves(node, self.mapped) {
            return None;
        }
        let elsewhere = |counts: &PageCounts| counts.total() - counts.on(node);
        [&self.after.numa_maps, &self.after.page_query].into_iter().flatten().map(elsewhere).max()
    }

    /// Returns the part in transparent huge pages before and after, if the kernel has merged or split pages.
    pub fn huge_pages_changed(&self) -> Option<(Bytes, Bytes)> {
        let (before, after) = (self.before.transparent_huge?, self.after.transparent_huge?);
        (before != after).then_some((before, after))
    }

    /// Returns whether the size of the pages is known, and not only requested.
    ///
    /// A mapping from a pool either has pages of the pool's size or fails; for other mappings, only /proc shows the
    /// size.
    pub const fn pages_are_verified(&self) -> bool {
        match self.pages.source() {
            PageSource::Pool => true,
            PageSource::Thp => self.after.transparent_huge.is_some(),
            PageSource::Auto | PageSource::Base => self.after.kernel_page.is_some(),
        }
    }

    /// Returns the share of the buffer in transparent huge pages after the measurement, if it was mapped with them.
    pub fn huge_share(&self) -> Option<f64> {
        let huge = self.after.transparent_huge.filter(|_| self.pages.are_transparent())?;
        Some(huge.0.real() / self.mapped.0.real())
    }
}

/// Facts about the memory of generators that run during a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedField {
    /// The means by which it was placed on its node.
    pub means: Means,
    /// The kind of pages obtained.
    pub pages: Pages,
    /// True if the kernel had every page on the node, before and after the measurement.
    pub verified: bool,
}

impl PlacedField {
    /// Returns the same facts for memory with full evidence.
    pub fn of(placed: &Placed, node: NodeId) -> PlacedField {
        PlacedField { means: placed.means, pages: placed.pages, verified: placed.is_verified(node) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use latency_core::units::PageSize;

    #[test]
    fn pages_that_were_merged_or_split_are_noticed() {
        let look = |huge: Option<u64>| Evidence {
            transparent_huge: huge.map(|pages| Bytes::MIB.times(2 * pages)),
            ..Evidence::default()
        };
        let changed = |before, after| {
            let (means, pages, mapped) = (Means::SoleNode, Pages::thp(PageSize::MIB_2), Bytes::MIB.times(64));
            let placed =
                Placed { means, pages, mapped, before: look(before), after: look(after), as_small: None };
            placed.huge_pages_changed().map(|(before, after)| (before.0 >> 20, after.0 >> 20))
        };
        assert_eq!(changed(Some(32), Some(32)), None);
        assert_eq!(changed(Some(0), Some(3)), Some((0, 6)));
        assert_eq!(changed(Some(32), Some(31)), Some((64, 62)));
        assert_eq!((changed(None, Some(3)), changed(Some(3), None)), (None, None));
    }
}
