//! The memory behind a point: how it came to its node, and what is known of it.

use latency_core::units::{Bytes, NodeId, Pages};
use latency_core::words::Worded;

use super::evidence::{Evidence, PageCounts};

/// The way in which a buffer came to its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// The kernel was told: set_mempolicy and mbind.
    Policy,
    /// The first touch came from a CPU of the node, because policies are forbidden.
    FirstTouch,
    /// There is one node only.
    SoleNode,
}

impl Worded for Means {
    const WORDS: &'static [(&'static str, Self)] =
        &[("bind", Means::Policy), ("first touch", Means::FirstTouch), ("sole node", Means::SoleNode)];
}

/// Facts about the memory behind a point.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The way in which it came to its node.
    pub means: Means,
    /// The pages obtained: never [`Pages::Auto`].
    pub pages: Pages,
    /// The length of the mapping.
    pub mapped: Bytes,
    /// The kernel's evidence before measuring.
    pub before: Evidence,
    /// Its evidence afterwards.
    pub after: Evidence,
    /// True if translation buffers treat its huge pages as small ones; `None` if that was not probed, or cannot be
    /// told.
    pub as_small: Option<bool>,
}

impl Placed {
    /// Returns whether the kernel put every page on `node`, before and after.
    #[must_use]
    pub fn is_verified(&self, node: NodeId) -> bool {
        self.before.proves(node, self.mapped) && self.after.proves(node, self.mapped)
    }

    /// Returns the pages that are elsewhere than on `node` now, if any; `None` too where the kernel does not tell.
    #[must_use]
    pub fn moved(&self, node: NodeId) -> Option<u64> {
        if !self.after.is_there() || self.after.proves(node, self.mapped) {
            return None;
        }
        let elsewhere = |counts: &PageCounts| counts.total() - counts.on(node);
        [&self.after.numa_maps, &self.after.page_query].into_iter().flatten().map(elsewhere).max()
    }

    /// Returns the part in transparent huge pages before and after, where the kernel has merged or split some.
    #[must_use]
    pub fn huge_pages_changed(&self) -> Option<(Bytes, Bytes)> {
        let (before, after) = (self.before.transparent_huge?, self.after.transparent_huge?);
        (before != after).then_some((before, after))
    }

    /// Returns whether the size of the pages is known, and not only asked for.
    ///
    /// A mapping from a pool has pages of its size or does not come about; of
    /// the others only /proc tells.
    #[must_use]
    pub const fn pages_are_verified(&self) -> bool {
        match self.pages {
            Pages::Huge2m | Pages::Huge1g => true,
            Pages::Thp => self.after.transparent_huge.is_some(),
            Pages::Auto | Pages::Small4k => self.after.kernel_page.is_some(),
        }
    }

    /// Returns the share of the buffer in transparent huge pages at the end, where those were obtained.
    #[must_use]
    pub fn huge_share(&self) -> Option<f64> {
        let huge = self.after.transparent_huge.filter(|_| self.pages == Pages::Thp)?;
        Some(huge.0 as f64 / self.mapped.0 as f64)
    }
}

/// Facts about the memory of generators that run beside a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedField {
    /// The way in which it came to its node.
    pub means: Means,
    /// The pages obtained.
    pub pages: Pages,
    /// True if the kernel put every page on the node, before and after.
    pub verified: bool,
}

impl PlacedField {
    /// Returns the same of memory that is known in full.
    #[must_use]
    pub fn of(placed: &Placed, node: NodeId) -> PlacedField {
        PlacedField { means: placed.means, pages: placed.pages, verified: placed.is_verified(node) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_merged_or_split_are_noticed() {
        let look = |huge: Option<u64>| Evidence {
            transparent_huge: huge.map(|pages| Bytes::MIB.times(2 * pages)),
            ..Evidence::default()
        };
        let changed = |before, after| {
            let (means, pages, mapped) = (Means::SoleNode, Pages::Thp, Bytes::MIB.times(64));
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
