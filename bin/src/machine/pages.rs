//! The sizes of the machine's pages and cache lines. Nothing else in the program assumes one.

use latency_core::topology::Source;
use latency_core::units::{Bytes, NodeId, PageSize, PageSizes, Pages};

use super::Machine;
use crate::error::PlacementError;

impl Machine {
    /// Returns the kind of base pages.
    pub const fn base_pages(&self) -> Pages {
        Pages::base(self.page)
    }

    /// Returns the size of a kind of pages; that of base pages for a kind that is not chosen yet.
    pub fn size_of(&self, pages: Pages) -> PageSize {
        pages.size().unwrap_or(self.page)
    }

    /// Returns a kind of pages, or base pages for a kind that is not chosen yet.
    pub const fn pages_or_base(&self, pages: Pages) -> Pages {
        if matches!(pages, Pages::AUTO) { self.base_pages() } else { pages }
    }

    /// Returns the size of a transparent huge page.
    pub fn huge_page(&self) -> PageSize {
        self.host.huge_pages.size.unwrap_or(self.page.of_a_table())
    }

    /// Returns the kind of huge pages of that size: from the pool if it holds `size` bytes, otherwise transparent ones.
    pub fn huge_pages(&self, node: NodeId, size: Bytes) -> Pages {
        match self.pool_holds(node, self.huge_page(), size) {
            true => Pages::of_pool(self.huge_page()),
            false => Pages::thp(self.huge_page()),
        }
    }

    /// Returns the sizes of huge pages that are shown and compared: those of the kernel's pools. Two sizes are always
    /// among them if base pages have 4 KiB: kernels with those pages have both, unless the processor lacks them.
    pub fn pool_sizes(&self) -> PageSizes {
        let usual = match self.page {
            PageSize::KIB_4 => PageSizes::NONE.with(PageSize::MIB_2).with(PageSize::GIB_1),
            _ => PageSizes::NONE.with(self.huge_page()),
        };
        self.topology.pools().and(usual)
    }

    /// Returns true for the kinds of pages that are compared.
    pub fn has_pages(&self, pages: Pages) -> bool {
        match pages.pool() {
            Some(size) => self.pool_sizes().has(size),
            None => pages == self.base_pages() || pages == Pages::thp(self.huge_page()),
        }
    }

    /// Refuses huge pages of a size that the kernel has not. If it does not name all of its sizes, the usual ones pass:
    /// the kernel refuses them later.
    ///
    /// # Errors
    ///
    /// [`PlacementError::NoSuchPages`].
    pub fn check_pages(&self, pages: Pages) -> Result<(), PlacementError<'static>> {
        let pools = self.topology.pools();
        let known = match self.topology.source {
            Source::Sysfs if pools != PageSizes::NONE => pools,
            _ => self.pool_sizes(),
        };
        match pages.pool() {
            Some(page) if !known.has(page) => Err(PlacementError::NoSuchPages { page, pools }),
            _ => Ok(()),
        }
    }

    /// Returns true if a transparent huge page is too large for a working set of that size: it is larger than half of
    /// the working set, and than the memory that every machine has to spare.
    pub fn thp_is_too_large(&self, size: Bytes) -> bool {
        /// Memory that one buffer may leave unused: one page with base pages of 4 or 16 KiB, and less than one with
        /// 64 KiB.
        const SPARE: Bytes = Bytes(64 << 20);
        let huge = self.huge_page().bytes();
        huge > SPARE && huge.0 > size.0 / 2
    }
}
