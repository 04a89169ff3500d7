//! Buffers to be measured: anonymous mappings of a selected kind of page.
//!
//! A [`Region`] has no neighbours in the address space, so that one line of `/proc/self/numa_maps` begins at its
//! address and counts its pages only. The module knows no nodes: a policy is set before the mapping, or on the address
//! range between [`Region::map`] and [`Region::populate`].
//!
//! # Safety
//!
//! All pointers here come from an address range that the value reserved itself and keeps until it is dropped. Mappings
//! are private and anonymous: they start as zero bytes and no other code changes them. Views are of lines, which have
//! no invalid bit patterns.

use super::auxv::page_size;
use super::errno::{Errno, patiently};
use super::raw::syscall6;
use core::ops::Range;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU8, Ordering};
use latency_core::arch::Line;
use latency_core::{PageSource, Pages};
use linux_raw_sys::general::{__NR_rt_sigprocmask, MAP_HUGE_SHIFT};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Least alignment of a region: small pages begin at an address where a huge page of 2 MiB could begin, so that both
/// kinds differ in the page size only.
const ALIGNMENT: usize = 2 << 20;

/// Returns the size of a base page, which is also the length of the guard on either side of a region.
pub(super) fn base_page() -> usize {
    page_size().bytes().0 as usize
}

/// Returns the granularity of the address and the length of a region.
fn granule(pages: Pages) -> usize {
    pages.size().unwrap_or_else(page_size).bytes().0 as usize
}

/// Returns the flags of a mapping; those of a pool contain the binary logarithm of the page size.
fn flags(pages: Pages) -> MapFlags {
    // Not NORESERVE: an empty pool would then cause a signal instead of an errno. Not POPULATE: it follows the thread's
    // policy and hides pages that could not be populated.
    pages.pool().map_or(MapFlags::PRIVATE, |size| {
        let size = MapFlags::from_bits_retain(size.log2() << MAP_HUGE_SHIFT);
        MapFlags::PRIVATE | MapFlags::HUGETLB | size
    })
}

/// A range of addresses with an unmapped page on either side, inaccessible until a part is mapped; unmapped when dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: a reservation owns its addresses, which belong to the process rather than to a thread.
unsafe impl Send for Reservation {}

impl Reservation {
    /// Reserves `length` bytes at a multiple of `alignment`.
    pub(super) fn new(length: usize, alignment: usize) -> Result<Reservation, Errno> {
        let guard = base_page();
        let whole = length.checked_add(alignment + 2 * guard).ok_or(Errno::ENOMEM)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches no other.
        let start = unsafe { mmap_anonymous(null_mut(), whole, ProtFlags::empty(), flags) }?.cast::<u8>();
        let before = (start as usize + guard).next_multiple_of(alignment) - guard - start as usize;
        let used = before + length + 2 * guard;
        // The space that the alignment did not need is released, because it would count as address space in use.
        release(start, before);
        release(start.wrapping_add(used), whole - used);
        let base = NonNull::new(start.wrapping_add(before + guard)).ok_or(Errno::ENOMEM)?;
        Ok(Reservation { base, length })
    }

    /// Returns the first byte.
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the length in bytes.
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// Returns the address of a byte.
    pub(super) const fn at(&self, place: usize) -> *mut u8 {
        self.base.as_ptr().wrapping_add(place)
    }

    /// Maps private, anonymous memory in place of a range, which is inside the reservation.
    pub(super) fn map(
        &mut self,
        range: Range<usize>,
        access: ProtFlags,
        flags: MapFlags,
    ) -> Result<(), Errno> {
        let flags = flags | MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: MAP_FIXED replaces a part of this value's own addresses, which nothing else borrows.
        unsafe { mmap_anonymous(self.at(range.start).cast(), range.len(), access, flags) }?;
        Ok(())
    }

    /// Advises the kernel about the pages of a range.
    pub(super) fn advise(&self, range: Range<usize>, advice: Advice) -> Result<(), Errno> {
        // SAFETY: the kinds of advice in this folder change how pages are provided, inside the reservation, and never
        // their contents.
        patiently(|| unsafe { madvise(self.at(range.start).cast(), range.len(), advice) })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let guard = base_page();
        // No borrow of the addresses outlives this value. An error would leave them mapped, which is harmless.
        release(self.at(0).wrapping_sub(guard), self.length + 2 * guard);
    }
}

/// Unmaps `length` bytes of a reservation, to which no reference exists.
fn release(start: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: the callers own the addresses, and nothing points there.
        let _ = unsafe { munmap(start.cast(), length) };
    }
}

/// A private, anonymous, writable mapping with an unmapped page on either side; unmapped when dropped.
#[derive(Debug)]
pub struct Region {
    range: Reservation,
    pages: Pages,
}

impl Region {
    /// Maps at least `bytes` bytes, rounded up to whole pages of that kind, at least one; `Auto` means base pages.
    ///
    /// Nothing is populated; the pages come with [`Region::populate`] or the first touch.
    ///
    /// # Errors
    /// `ENOMEM` if the huge-page pool (of the nodes that the thread's policy allows) or the address space is too small;
    /// `EINVAL` if the kernel has no pages of this kind.
    pub fn map(bytes: usize, pages: Pages) -> Result<Region, Errno> {
        let region = Self::of_any_pages(bytes, pages)?;
        let all = 0..region.len();
        match pages.source() {
            // A kernel without transparent huge pages returns EINVAL, which is correct for base pages.
            PageSource::Auto | PageSource::Base => match region.range.advise(all, Advice::LinuxNoHugepage) {
                Ok(()) | Err(Errno::EINVAL) => {}
                Err(error) => return Err(error),
            },
            PageSource::Thp => region.range.advise(all, Advice::LinuxHugepage)?,
            PageSource::Pool => {}
        }
        Ok(region)
    }

    /// Maps memory like [`map`](Self::map) that is not measured: the kernel chooses between small and transparent huge
    /// pages where its advice is forbidden.
    ///
    /// # Errors
    /// The errors of [`map`](Self::map), except those of the advice.
    pub(super) fn with_small_pages(bytes: usize, pages: Pages) -> Result<Region, Errno> {
        let region = Self::of_any_pages(bytes, pages)?;
        // Small pages save memory, because most of a table is never touched.
        let _ = region.range.advise(0..region.len(), Advice::LinuxNoHugepage);
        Ok(region)
    }

    fn of_any_pages(bytes: usize, pages: Pages) -> Result<Region, Errno> {
        let granule = granule(pages);
        let length = bytes.max(1).checked_next_multiple_of(granule).ok_or(Errno::ENOMEM)?;
        let mut range = Reservation::new(length, granule.max(ALIGNMENT))?;
        range.map(0..length, ProtFlags::READ | ProtFlags::WRITE, flags(pages))?;
        Ok(Region { range, pages })
    }

    /// Returns the region that [`map`](Self::map) made for `bytes` and `pages`, with its first byte at `base`, after it
    /// was forgotten.
    ///
    /// # Safety
    /// The region was forgotten, and no other code uses its mapping any more.
    pub(super) unsafe fn of_forgotten(base: NonNull<u8>, bytes: usize, pages: Pages) -> Region {
        let length = bytes.max(1).next_multiple_of(granule(pages));
        Region { range: Reservation { base, length }, pages }
    }

    /// Returns the first address.
    pub fn address(&self) -> usize {
        self.range.at(0) as usize
    }

    /// Returns the first byte, for a type of this directory that owns the region.
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.range.start()
    }

    /// Returns the length in bytes: the requested size, rounded up.
    #[allow(clippy::len_without_is_empty, reason = "a region is never empty")]
    pub const fn len(&self) -> usize {
        self.range.len()
    }

    /// Populates every page of a range of bytes and makes it writable; present pages stay as they are.
    ///
    /// The range is widened to whole pages. A long buffer should be populated in several calls, with a check for an
    /// interrupt after each.
    ///
    /// # Errors
    /// `ENOMEM` if memory is short, `EFAULT` if a node's huge-page pool is empty, `EINVAL` for a range outside the
    /// region. Before Linux 5.14 the pages are touched one by one; then a lack of huge pages is `EFAULT` too, and a
    /// lack of small ones is a signal.
    pub fn populate(&mut self, range: Range<usize>) -> Result<(), Errno> {
        if range.start > range.end || range.end > self.len() {
            return Err(Errno::EINVAL);
        }
        let page = self.pages.pool().unwrap_or_else(page_size).bytes().0 as usize;
        let start = range.start / page * page;
        // The length of the region is a multiple of the page, so the end stays inside.
        let end = range.end.next_multiple_of(page);
        match self.range.advise(start..end, Advice::LinuxPopulateWrite) {
            Err(Errno::EINVAL) => self.touch(start..end, page),
            result => result,
        }
    }

    /// Touches each page by writing a byte without changing it. For a huge page, the kernel is first made to fetch it,
    /// because it answers a lack of pages with an error there; a direct touch would end the process.
    ///
    /// The first access to a small page must be a write: a read maps the shared zero page, and kernels from 5.8 on
    /// replace a huge zero page by small pages when it is written later. A compare-and-exchange is a write whatever its
    /// result.
    fn touch(&mut self, range: Range<usize>, page: usize) -> Result<(), Errno> {
        for offset in range.step_by(page) {
            if self.pages.pool().is_some() {
                fetch(self.range.at(offset))?;
            }
            // SAFETY: the caller's range is inside the mapping, and this is its only user; a byte is always aligned.
            let byte = unsafe { AtomicU8::from_ptr(self.range.at(offset)) };
            // Either outcome leaves the byte as it was. Relaxed: `&mut` excludes other threads.
            let _ = byte.compare_exchange(0, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the region as lines.
    pub fn lines(&mut self) -> &mut [Line] {
        // SAFETY: aligned to [`ALIGNMENT`], inside the mapping, readable and writable through this borrow only; every bit
        // pattern is a line, and a page is a whole number of lines.
        unsafe { core::slice::from_raw_parts_mut(self.range.at(0).cast(), self.len() / size_of::<Line>()) }
    }
}

/// Makes the kernel read eight bytes at an address, so that the page is populated.
///
/// # Errors
/// `EFAULT` if the page cannot be provided.
pub(super) fn fetch(at: *const u8) -> Result<(), Errno> {
    const NO_SUCH_OPERATION: usize = usize::MAX >> 33;
    const SET: usize = size_of::<u64>();
    // SAFETY: the kernel reads a set of signals from a mapping of the caller, and then refuses the operation.
    match unsafe { syscall6(__NR_rt_sigprocmask, [NO_SUCH_OPERATION, at as usize, 0, SET, 0, 0]) } {
        Err(Errno::EFAULT) => Err(Errno::EFAULT),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::for_each_line;
    use latency_core::{Bytes, PageSize};
    use linux_raw_sys::general;
    use std::format;
    use std::string::String;

    /// Returns the line of numa_maps that begins at `address`.
    fn numa_maps(address: usize) -> Option<String> {
        let mut buffer = [0; 4096];
        let mut found = None;
        for_each_line(b"/proc/self/numa_maps", &mut buffer, |line| {
            let line = String::from_utf8_lossy(line);
            if line.starts_with(&format!("{address:x} ")) {
                found = Some(line.into_owned());
            }
            found.is_none()
        })
        .ok()?;
        found
    }

    #[test]
    fn a_region_is_zero_writable_and_rounded_up() {
        let mut region = Region::map(10_000, Pages::base(page_size())).unwrap();
        let (page, length) = (base_page(), 10_000_usize.next_multiple_of(base_page()));
        assert_eq!(region.len(), length);
        assert_eq!(region.address() % (2 << 20), 0);
        assert!(region.lines().iter().all(|line| line.0 == [0; 8]));
        let last = length / 64 - 1;
        region.lines()[last].0[7] = 7;
        region.populate(length - page..length).unwrap();
        assert_eq!(region.lines()[last].0[7], 7, "populating does not change the contents");
        assert_eq!(region.populate(0..length + 1), Err(Errno::EINVAL));
        region.touch(0..length, page).unwrap();
        assert_eq!(region.lines()[last].0[7], 7);
    }

    #[test]
    fn a_page_that_cannot_be_populated_is_an_errno() {
        let region = Region::map(10_000, Pages::base(page_size())).unwrap();
        assert_eq!(fetch(region.range.at(0)), Ok(()));
        assert_eq!(fetch(region.range.at(0).wrapping_sub(base_page())), Err(Errno::EFAULT));
        let held_back = || std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let held_back = || held_back().lines().find(|line| line.starts_with("SigBlk")).map(String::from);
        let before = held_back();
        assert_eq!(fetch([u8::MAX; 8].as_ptr()), Ok(()));
        assert_eq!(held_back(), before);
    }

    #[test]
    fn a_region_has_a_line_of_its_own_and_counts_its_pages() {
        let mut regions = [0; 3].map(|_: i32| Region::map(1 << 20, Pages::base(page_size())).unwrap());
        let whole = regions[1].len();
        regions[0].populate(0..whole).unwrap();
        regions[1].populate(0..100_000).unwrap();
        // A kernel without numa_maps has no line to check.
        let Some(line) = numa_maps(regions[0].address()) else { return };
        let page = base_page();
        let parts = [format!("anon={} ", (1 << 20) / page), format!("kernelpagesize_kB={}", page >> 10)];
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        let line = numa_maps(regions[1].address()).unwrap();
        let some = format!("anon={} ", 100_000_usize.div_ceil(page));
        assert!(line.contains(&some), "whole pages, in one mapping: {line}");
    }

    #[test]
    fn transparent_huge_pages_are_aligned_and_may_be_refused() {
        match Region::map(3 << 20, Pages::thp(PageSize::MIB_2)) {
            Ok(mut region) => {
                assert_eq!((region.len(), region.address() % (2 << 20)), (4 << 20, 0));
                region.populate(0..4 << 20).unwrap();
                region.lines()[(4 << 14) - 1].0[7] = 1;
            }
            Err(error) => assert_eq!(error, Errno::EINVAL),
        }
    }

    #[test]
    fn the_flags_of_a_pool_contain_its_page_size() {
        for (size, flag) in [
            (64 << 10, general::MAP_HUGE_64KB),
            (2 << 20, general::MAP_HUGE_2MB),
            (32 << 20, general::MAP_HUGE_32MB),
            (512 << 20, general::MAP_HUGE_512MB),
            (1 << 30, general::MAP_HUGE_1GB),
            (16 << 30, general::MAP_HUGE_16GB),
        ] {
            let size = PageSize::of(Bytes(size)).unwrap();
            assert_eq!(
                flags(Pages::of_pool(size)),
                MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::from_bits_retain(flag)
            );
            assert_eq!(flags(Pages::thp(size)), MapFlags::PRIVATE);
        }
    }

    #[test]
    fn an_empty_pool_is_an_errno_and_leaves_nothing_mapped() {
        for pages in [Pages::of_pool(PageSize::MIB_2), Pages::of_pool(PageSize::GIB_1)] {
            // Larger than the memory of any machine that runs this test.
            match Region::map(1 << 44, pages) {
                Ok(_) => panic!("16 TiB of {pages:?}"),
                Err(error) => assert!(matches!(error, Errno::ENOMEM | Errno::EINVAL), "{error}"),
            }
        }
        assert_eq!(Region::map(usize::MAX, Pages::base(page_size())).err(), Some(Errno::ENOMEM));
        assert_eq!(Region::map(usize::MAX - 8192, Pages::base(page_size())).err(), Some(Errno::ENOMEM));
    }
}
