//! The memory of a point: the means of its placement, and the kernel's answers about the nodes of its pages, as data:
//! counting, parsing and comparison.
//!
//! Pure functions: `placement` queries the kernel, and this module interprets the answers.
//!
//! # References
//!
//! numa(7) for /proc/PID/numa_maps; Linux Documentation/filesystems/proc.rst for smaps.

use latency_core::topology::files::{hexadecimal, parse};
use latency_core::{Bytes, NodeId, PageSize, PageSource, Pages, ToReal, worded};

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

/// Number of nodes on which a buffer's pages are counted separately; pages on further nodes are counted together.
const MOST_NODES: usize = 8;

/// The numbers of pages of a buffer on each node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    nodes: [(NodeId, u64); MOST_NODES],
    length: usize,
    /// Pages on further nodes, or on none.
    pub others: u64,
}

impl PageCounts {
    /// Counts `pages` more pages on `node`.
    pub fn add(&mut self, node: NodeId, pages: u64) {
        let known = self.nodes.get_mut(..self.length).unwrap_or_default();
        if let Some((_, count)) = known.iter_mut().find(|(known, _)| *known == node) {
            *count = count.saturating_add(pages);
        } else if let Some(slot) = self.nodes.get_mut(self.length) {
            *slot = (node, pages);
            self.length += 1;
        } else {
            self.others = self.others.saturating_add(pages);
        }
    }

    /// Returns the nodes and their counts, in the order of their first page.
    pub fn nodes(&self) -> &[(NodeId, u64)] {
        self.nodes.get(..self.length).unwrap_or_default()
    }

    /// Returns the pages on `node`.
    pub fn on(&self, node: NodeId) -> u64 {
        self.nodes().iter().find(|(known, _)| *known == node).map_or(0, |(_, count)| *count)
    }

    /// Returns the number of all pages.
    pub fn total(&self) -> u64 {
        self.nodes().iter().fold(self.others, |sum, (_, count)| sum.saturating_add(*count))
    }
}

/// The evidence from one examination of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The counts of /proc/self/numa_maps, if it could be read.
    pub numa_maps: Option<PageCounts>,
    /// The counts of the page query of move_pages(2), if it is allowed.
    pub page_query: Option<PageCounts>,
    /// `kernelpagesize_kB`: the unit in which the kernel mapped the buffer.
    pub kernel_page: Option<Bytes>,
    /// The part of the buffer in transparent huge pages, if smaps could be read.
    pub transparent_huge: Option<Bytes>,
}

impl Evidence {
    /// Returns whether there is evidence and all of it places every page of `size` bytes on `node`.
    pub fn proves(&self, node: NodeId, size: Bytes) -> bool {
        let complete = |counts: &PageCounts, page: Bytes| {
            counts.on(node) == counts.total() && counts.total().saturating_mul(page.0) >= size.0
        };
        // numa_maps counts pages of the mapping's size, and the query covered each of these pages. A size that the kernel
        // does not report counts as the smallest, with which the most pages are necessary.
        let page = self.kernel_page.unwrap_or(PageSize::LEAST.bytes());
        self.is_there()
            && self.numa_maps.as_ref().is_none_or(|counts| complete(counts, page))
            && self.page_query.as_ref().is_none_or(|counts| counts.on(node) == counts.total())
    }

    /// Returns whether the kernel reported the nodes of the pages at all.
    pub const fn is_there(&self) -> bool {
        self.numa_maps.is_some() || self.page_query.is_some()
    }

    /// Returns the source of the evidence, in the words of reports.
    pub const fn source(&self) -> &'static str {
        match (self.numa_maps.is_some(), self.page_query.is_some()) {
            (true, true) => "numa_maps and page query",
            (true, false) => "numa_maps",
            (false, true) => "page query",
            (false, false) => "none",
        }
    }

    /// Returns the counts that reports show: those of numa_maps, or those of the query without them.
    pub fn counts(&self) -> Option<&PageCounts> {
        self.numa_maps.as_ref().or(self.page_query.as_ref())
    }
}

/// Returns the counts and the page size from a line of numa_maps, if the line describes the mapping at `address`.
///
/// An example is `7f0000000000 bind:1 anon=4 dirty=4 N1=4 kernelpagesize_kB=2048`.
pub fn numa_maps_line(line: &[u8], address: u64) -> Option<(PageCounts, Option<Bytes>)> {
    let mut words = line.split(|&byte| byte == b' ');
    if hexadecimal(words.next()?)? != address {
        return None;
    }
    let mut counts = PageCounts::default();
    let mut page = None;
    for word in words {
        let mut parts = word.splitn(2, |&byte| byte == b'=');
        let (Some(key), Some(value)) = (parts.next(), parts.next().and_then(parse::<u64>)) else { continue };
        if key == b"kernelpagesize_kB" {
            page = value.checked_mul(1024).map(Bytes);
        } else if let Some(node) = key.strip_prefix(b"N").and_then(parse::<u64>) {
            counts.add(NodeId(u32::try_from(node).ok()?), value);
        }
    }
    Some((counts, page))
}

/// Returns whether a line of smaps begins the description of the mapping at `address`.
pub fn smaps_opens(line: &[u8], address: u64) -> bool {
    let start = line.split(|&byte| byte == b'-').next().unwrap_or_default();
    hexadecimal(start) == Some(address)
}

/// Returns the amount in an `AnonHugePages:` line of smaps.
pub fn smaps_transparent_huge(line: &[u8]) -> Option<Bytes> {
    kilobytes(line.strip_prefix(b"AnonHugePages:")?)
}

/// Returns the unit in which the kernel mapped the memory, from a `KernelPageSize:` line of smaps.
pub fn smaps_page(line: &[u8]) -> Option<Bytes> {
    kilobytes(line.strip_prefix(b"KernelPageSize:")?)
}

/// Returns the amount behind the key of a line of smaps.
fn kilobytes(rest: &[u8]) -> Option<Bytes> {
    let number = rest.split(|&byte| byte == b' ').find(|word| !word.is_empty())?;
    parse::<u64>(number)?.checked_mul(1024).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::PageSize;
    use proptest::prelude::*;
    use std::vec::Vec;

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

    #[test]
    fn reads_lines_as_kernels_write_them() {
        let line = b"7f5a00000000 bind:1 anon=524288 dirty=524288 active=0 N1=524288 kernelpagesize_kB=4";
        let (counts, page) = numa_maps_line(line, 0x7f5a_0000_0000).unwrap();
        assert_eq!((counts.on(NodeId(1)), counts.total(), page), (524_288, 524_288, Some(Bytes(4096))));
        let line = b"7f5a00000000 default huge anon=8 dirty=8 N0=6 N2=2 kernelpagesize_kB=2048\n";
        let (counts, page) = numa_maps_line(line, 0x7f5a_0000_0000).unwrap();
        assert_eq!(counts.nodes(), [(NodeId(0), 6), (NodeId(2), 2)]);
        assert_eq!(page, Some(Bytes(2 << 20)));
        assert_eq!(numa_maps_line(line, 0x7f5a_0000_1000), None);
        assert_eq!(
            numa_maps_line(b"7f5a00000000 default", 0x7f5a_0000_0000),
            Some((PageCounts::default(), None))
        );
        assert!(smaps_opens(b"7f5a00000000-7f5a20000000 rw-p 00000000 00:00 0", 0x7f5a_0000_0000));
        assert!(!smaps_opens(b"AnonHugePages:    524288 kB", 0xa));
        assert_eq!(smaps_page(b"KernelPageSize:        4 kB"), Some(Bytes(4096)));
        assert_eq!(smaps_transparent_huge(b"AnonHugePages:    524288 kB"), Some(Bytes(512 << 20)));
    }

    #[test]
    fn one_page_elsewhere_or_missing_disproves_placement() {
        let mut all = PageCounts::default();
        all.add(NodeId(1), 8);
        let evidence =
            Evidence { numa_maps: Some(all), kernel_page: Some(Bytes(2 << 20)), ..Evidence::default() };
        assert!(evidence.proves(NodeId(1), Bytes(16 << 20)));
        assert!(!evidence.proves(NodeId(1), Bytes(18 << 20)));
        assert!(!evidence.proves(NodeId(0), Bytes(16 << 20)));
        assert!(!Evidence::default().proves(NodeId(0), Bytes(4096)));
        let mut stray = all;
        stray.add(NodeId(0), 1);
        assert!(!Evidence { numa_maps: Some(stray), ..evidence }.proves(NodeId(1), Bytes(16 << 20)));
        assert!(!Evidence { page_query: Some(stray), ..evidence }.proves(NodeId(1), Bytes(16 << 20)));
    }

    proptest! {
        #[test]
        fn any_line_is_parsed_or_rejected(line: Vec<u8>, address: u64) {
            let _ = numa_maps_line(&line, address);
            let _ = smaps_opens(&line, address);
            let _ = smaps_transparent_huge(&line);
        }

        #[test]
        fn counts_add_up(pages in prop::collection::vec((0u32..20, 0u64..1000), 0..50)) {
            let mut counts = PageCounts::default();
            for (node, count) in &pages {
                counts.add(NodeId(*node), *count);
            }
            prop_assert_eq!(counts.total(), pages.iter().map(|(_, count)| count).sum::<u64>());
        }
    }
}
