//! Addresses without memory of their own: a private mapping that is only read, in which every page is the kernel's page
//! of zeros, or many mappings of one page of a pool. Otherwise only page tables cost memory.
//!
//! # Safety
//!
//! A [`ZeroPages`] reserved its address range itself, and keeps it until it is dropped. The mapping is never writable. It
//! is private and anonymous, or of a new file that only this value knows and never writes, so that it reads as zeros for
//! all of that time.
//!
//! # References
//! `madvise(2)`: MADV_POPULATE_READ. `memfd_create(2)`: MFD_HUGETLB. Linux `mm/memory.c`, `do_anonymous_page`, and
//! `mm/huge_memory.c`, `do_huge_pmd_anonymous_page`: a read fault maps the (huge) zero page.

use super::errno::Errno;
use super::map::{Reservation, base_page, fetch};
use core::ops::Range;
use latency_core::span::SpanWalk;
use latency_core::{Bytes, PageSize, Pcg32};
use linux_raw_sys::general::MFD_HUGE_SHIFT;
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, mmap};

/// A range of addresses that reads as zeros.
#[derive(Debug)]
pub struct ZeroPages {
    range: Reservation,
    /// A file of one page of a pool, and the size of that page.
    pool: Option<(OwnedFd, usize)>,
}

impl ZeroPages {
    /// Maps `length` bytes, a multiple of `alignment`, with huge zero pages of that size if `huge`.
    ///
    /// # Errors
    /// `ENOMEM` without address space (RLIMIT_AS counts it); `EINVAL` from a kernel without transparent huge pages, if
    /// they are wanted.
    pub fn map(length: usize, alignment: usize, huge: bool) -> Result<ZeroPages, Errno> {
        let mut range = Reservation::new(length, alignment)?;
        range.map(0..length, ProtFlags::READ, MapFlags::NORESERVE)?;
        let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        match range.advise(0..length, advice) {
            Err(Errno::EINVAL) if !huge => {}
            result => result?,
        }
        Ok(ZeroPages { range, pool: None })
    }

    /// Reserves `length` bytes, a multiple of `page`, for mappings of one page of that pool.
    ///
    /// # Errors
    /// `ENOMEM` without address space; `ENOSYS` and `EINVAL` from a kernel without these pages.
    pub fn of_pool(length: usize, page: PageSize) -> Result<ZeroPages, Errno> {
        let size = MemfdFlags::from_bits_retain(page.log2() << MFD_HUGE_SHIFT);
        let file = memfd_create(c"zeros", MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | size)?;
        ftruncate(&file, page.bytes().0)?;
        let page = page.bytes().0 as usize;
        Ok(ZeroPages { range: Reservation::new(length, page)?, pool: Some((file, page)) })
    }

    /// Returns the first address.
    pub fn address(&self) -> usize {
        self.range.at(0) as usize
    }

    /// Returns the length in bytes.
    #[allow(clippy::len_without_is_empty, reason = "a range is never empty")]
    pub const fn len(&self) -> usize {
        self.range.len()
    }

    /// Makes the page tables of a range of whole pages refer to the page of zeros, or to that of the pool.
    ///
    /// # Errors
    /// `EINVAL` for a range outside of the mapping, `ENOMEM` without memory for tables or without a page in the pool,
    /// `EFAULT` if the node has none. Before Linux 5.14 a byte of each page is read instead; then a lack of memory for
    /// tables is a signal.
    pub fn populate(&self, range: Range<usize>) -> Result<(), Errno> {
        if range.start > range.end || range.end > self.len() {
            return Err(Errno::EINVAL);
        }
        let step = self.pool.as_ref().map_or_else(base_page, |(_, page)| *page);
        if let Some((file, page)) = &self.pool {
            for place in range.clone().step_by(*page) {
                let flags = MapFlags::SHARED | MapFlags::FIXED;
                // SAFETY: MAP_FIXED replaces a part of this value's reservation, which no walk uses before it is
                // populated. The file has one page, which is mapped whole.
                unsafe { mmap(self.range.at(place).cast(), *page, ProtFlags::READ, flags, file, 0) }?;
            }
        }
        match self.range.advise(range.clone(), Advice::LinuxPopulateRead) {
            Err(Errno::EINVAL) => {
                if self.pool.is_some() {
                    // A pool without a page would be a signal below.
                    fetch(self.range.at(range.start))?;
                }
                let pages = range.step_by(step);
                // SAFETY: each place is inside the mapping, which is readable.
                pages.for_each(|place| _ = unsafe { self.range.at(place).read_volatile() });
                Ok(())
            }
            result => result,
        }
    }

    /// Returns a walk over one word in each of `pages` pages; `None` if the mapping is shorter.
    pub fn walk(&self, page: Bytes, pages: u64, offset: Bytes, rng: &mut Pcg32) -> Option<SpanWalk<'_>> {
        // SAFETY: the mapping is readable and lives as long as the borrow; any byte pattern is valid.
        let zeros = unsafe { core::slice::from_raw_parts(self.range.at(0), self.len()) };
        // SAFETY: a mapping that cannot be written reads as zeros: it is private and anonymous, or of a file of zeros.
        unsafe { SpanWalk::new(zeros, page, pages, offset, rng) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::SystemFiles;
    use crate::numa::query_pages;
    use latency_core::host::Footprint;
    use latency_core::span::Loads;

    #[test]
    fn addresses_of_zeros_need_no_memory_but_their_tables() {
        const SPAN: usize = 256 << 20;
        let before = Footprint::read(&SystemFiles);
        let pages = ZeroPages::map(SPAN, 2 << 20, false).unwrap();
        pages.populate(0..SPAN).unwrap();
        let mut walk = pages.walk(Bytes(4096), 1 << 16, Bytes(320), &mut Pcg32::new(1, 1)).unwrap();
        let earlier = walk;
        let ended = walk.run(100_000, Loads::Dependent);
        assert!(earlier.proves(100_000, &walk, ended));
        let (Some(before), Some(after)) = (before, Footprint::read(&SystemFiles)) else { return };
        // Other tests of this process allocate meanwhile.
        assert!(after.resident.0 < before.resident.0 + (64 << 20), "{before:?} {after:?}");
        let mut nodes = [0; 2];
        // Where the query is allowed, it tells the page of zeros from an absent one.
        if query_pages(&[pages.address(), pages.address() + SPAN - 4096], &mut nodes).is_ok() {
            assert_eq!(nodes, [-Errno::EFAULT.code(); 2]);
        }
    }

    #[test]
    fn one_page_of_a_pool_is_mapped_many_times() {
        const PAGES: u64 = 64;
        let page = PageSize::MIB_2;
        let length = (page.bytes().0 * PAGES) as usize;
        let pages = match ZeroPages::of_pool(length, page) {
            Ok(pages) => pages,
            Err(error) => return assert!(matches!(error, Errno::EINVAL | Errno::ENOSYS), "{error}"),
        };
        match pages.populate(0..length) {
            Ok(()) => {}
            // An empty pool has no page to be shared.
            Err(error) => return assert!(matches!(error, Errno::ENOMEM | Errno::EFAULT), "{error}"),
        }
        let mut walk = pages.walk(page.bytes(), PAGES, Bytes(320), &mut Pcg32::new(1, 1)).unwrap();
        let earlier = walk;
        let ended = walk.run(10_000, Loads::Dependent);
        assert!(earlier.proves(10_000, &walk, ended));
        let mut nodes = [-1; 2];
        if query_pages(&[pages.address(), pages.address() + length / 2], &mut nodes).is_ok() {
            assert!(nodes[0] >= 0 && nodes[0] == nodes[1], "{nodes:?}");
        }
    }

    #[test]
    fn ranges_outside_are_refused() {
        let pages = ZeroPages::map(2 << 20, 2 << 20, false).unwrap();
        assert_eq!(pages.populate(0..(2 << 20) + 1), Err(Errno::EINVAL));
        assert!(pages.walk(Bytes(4096), 513, Bytes(0), &mut Pcg32::new(1, 1)).is_none());
        assert!(ZeroPages::map(1 << 60, 2 << 20, false).is_err());
    }
}
