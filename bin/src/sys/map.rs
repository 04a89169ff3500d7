//! Buffers to be measured: anonymous mappings of a chosen kind of page.
//!
//! A [`Region`] stands alone in the address space, so that one line of
//! `/proc/self/numa_maps` begins at its address and counts its pages and no others.
//! Knows nothing of nodes: a policy is set before, or put on the address range
//! between [`Region::map`] and [`Region::populate`].
//!
//! # Safety
//!
//! All pointers here come from an address range that the value reserved itself and
//! holds until it is dropped. Mappings are private and anonymous: they start as
//! zero bytes and no other code changes them. Views are for types without invalid
//! bit patterns.

use super::errno::{patiently, Errno};
use super::raw::syscall6;
use core::ops::Range;
use core::ptr::{null_mut, NonNull};
use core::sync::atomic::{AtomicU8, Ordering};
use latency_core::units::PageSize;
use linux_raw_sys::general::__NR_rt_sigprocmask;
use rustix::mm::{madvise, mmap_anonymous, munmap, Advice, MapFlags, ProtFlags};

/// The page that every mapping of x86-64 consists of at least.
const SMALL_PAGE: usize = 4096;
/// The space that is kept free of mappings on either side of a region.
const GUARD: usize = SMALL_PAGE;

/// The kind of page that a region is to consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 4 KiB pages, and never anything larger in their place.
    Small,
    /// 4 KiB pages that the kernel is asked to replace by 2 MiB ones where it can.
    Thp,
    /// 2 MiB pages out of the kernel's pool (hugetlb).
    Huge2M,
    /// 1 GiB pages out of the kernel's pool (hugetlb).
    Huge1G,
}

impl Kind {
    /// Returns the unit in which memory of this kind is mapped.
    #[must_use]
    pub const fn page(self) -> PageSize {
        match self {
            Kind::Small | Kind::Thp => PageSize::Small,
            Kind::Huge2M => PageSize::Huge2M,
            Kind::Huge1G => PageSize::Huge1G,
        }
    }

    /// Returns the unit that address and length of a region are multiples of.
    const fn granule(self) -> usize {
        match self {
            Kind::Small => SMALL_PAGE,
            Kind::Thp | Kind::Huge2M => PageSize::Huge2M.bytes().0 as usize,
            Kind::Huge1G => PageSize::Huge1G.bytes().0 as usize,
        }
    }

    /// Returns the alignment of the address. Small pages begin where a huge one could, so that the two differ
    /// in nothing but the page.
    const fn alignment(self) -> usize {
        match self {
            Kind::Small => Kind::Thp.granule(),
            kind => kind.granule(),
        }
    }

    fn flags(self) -> MapFlags {
        // Never NORESERVE: the pool would then be found empty by a signal, not an errno.
        // Never POPULATE: it follows the thread's policy and hides what it could not get.
        match self {
            Kind::Small | Kind::Thp => MapFlags::PRIVATE,
            Kind::Huge2M => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB,
            Kind::Huge1G => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_1GB,
        }
    }
}

/// A private, anonymous, writable mapping with an unmapped page on either side; unmapped when dropped.
#[derive(Debug)]
pub struct Region {
    base: NonNull<u8>,
    length: usize,
    kind: Kind,
}

// SAFETY: a region owns its mapping, which belongs to the process and not to a thread.
unsafe impl Send for Region {}

impl Region {
    /// Maps at least `bytes` bytes, rounded up to whole pages of `kind` (at least one; 2 MiB for `Thp`).
    ///
    /// Nothing is populated; the pages come with [`Region::populate`] or the first touch.
    ///
    /// # Errors
    /// `ENOMEM` where the huge-page pool (of the nodes that the thread's policy
    /// allows) or the address space is too small; `EINVAL` where the kernel has no
    /// pages of this kind.
    pub fn map(bytes: usize, kind: Kind) -> Result<Region, Errno> {
        let granule = kind.granule();
        let length = bytes.max(1).checked_next_multiple_of(granule).ok_or(Errno::ENOMEM)?;
        let base = reserve(length, kind.alignment())?;
        // From here on the address range is released when `region` is dropped.
        let region = Region { base, length, kind };
        let writable = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: MAP_FIXED replaces a part of the reservation just made, which nothing else uses.
        unsafe { mmap_anonymous(base.as_ptr().cast(), length, writable, kind.flags() | MapFlags::FIXED) }?;
        match kind {
            // A kernel that knows no transparent huge pages says EINVAL, and is right for small ones.
            Kind::Small => match region.advise(0..length, Advice::LinuxNoHugepage) {
                Ok(()) | Err(Errno::EINVAL) => {}
                Err(error) => return Err(error),
            },
            Kind::Thp => region.advise(0..length, Advice::LinuxHugepage)?,
            Kind::Huge2M | Kind::Huge1G => {}
        }
        Ok(region)
    }

    /// Returns the region that [`map`](Self::map) made of these, whose first byte is at `base`.
    ///
    /// # Safety
    /// The region was forgotten, and others no longer use its mapping.
    pub(super) unsafe fn again(base: NonNull<u8>, bytes: usize, kind: Kind) -> Region {
        Region { base, length: bytes.max(1).next_multiple_of(kind.granule()), kind }
    }

    /// Returns the first address.
    #[must_use]
    pub fn address(&self) -> usize {
        self.base.as_ptr() as usize
    }

    /// Returns the first byte, for a type of this directory that owns the region.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.base
    }

    /// Returns the first byte.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Returns the length in bytes: what was asked for, rounded up.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a region is never empty")]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns the kind of page asked for.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Makes every page of a range of bytes present and writable; what is there already stays as it is.
    ///
    /// The range is widened to whole pages. A long buffer is better populated in
    /// several calls, between which an interrupt from the keyboard can be heard.
    ///
    /// # Errors
    /// `ENOMEM` where memory is short, `EFAULT` where a node's huge-page pool is empty,
    /// `EINVAL` for a range outside the region. Before Linux 5.14 the pages are
    /// touched one by one; want of huge ones is `EFAULT` then as well, that of small ones a signal.
    pub fn populate(&mut self, range: Range<usize>) -> Result<(), Errno> {
        if range.start > range.end || range.end > self.length {
            return Err(Errno::EINVAL);
        }
        let page = self.kind.page().bytes().0 as usize;
        let start = range.start / page * page;
        // The length of the region is a multiple of the page, so this stays inside.
        let end = range.end.next_multiple_of(page);
        match self.advise(start..end, Advice::LinuxPopulateWrite) {
            Err(Errno::EINVAL) => self.touch(start..end, page),
            result => result,
        }
    }

    /// Writes one byte of each page, the one that it holds. A huge page is had by the kernel first, which answers want
    /// with an error where a touch ends the process.
    ///
    /// The first access to a small page has to be a write: a read maps the shared page of zeroes, and kernels from 5.8
    /// on replace a huge one, when it is written later, by small pages. A compare-and-exchange is a write whatever it
    /// finds.
    fn touch(&mut self, range: Range<usize>, page: usize) -> Result<(), Errno> {
        for offset in range.step_by(page) {
            if page != SMALL_PAGE {
                fetch(self.base.as_ptr().wrapping_add(offset))?;
            }
            // SAFETY: the caller's range lies inside the mapping, and this is its only user; a byte is aligned.
            let byte = unsafe { AtomicU8::from_ptr(self.base.as_ptr().add(offset)) };
            // Either outcome leaves the byte as it was.
            let _ = byte.compare_exchange(0, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        Ok(())
    }

    fn advise(&self, range: Range<usize>, advice: Advice) -> Result<(), Errno> {
        let start = self.base.as_ptr().wrapping_add(range.start);
        // SAFETY: the three kinds of advice given in this file change how pages are
        // provided, inside the mapping, and never what they hold.
        patiently(|| unsafe { madvise(start.cast(), range.len(), advice) })
    }

    /// Returns the region as values of `T`, as many as fit.
    #[must_use]
    pub fn as_slice<T: Plain>(&self) -> &[T] {
        // SAFETY: aligned to 2 MiB, inside the mapping, readable, not written
        // while `self` is borrowed; every bit pattern is a `T`.
        unsafe { core::slice::from_raw_parts(self.base.as_ptr().cast(), self.length / size_of::<T>()) }
    }

    /// Returns the region as values of `T`, as many as fit.
    #[must_use]
    pub fn as_mut_slice<T: Plain>(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and `self` is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.length / size_of::<T>()) }
    }
}

impl Drop for Region {
    // Called from the end of every function that holds one.
    #[inline(never)]
    fn drop(&mut self) {
        let start = self.base.as_ptr().wrapping_sub(GUARD);
        // SAFETY: the reservation, guards included, is this value's own, and no
        // borrow of it outlives it. An error would leave it mapped, which is harmless.
        let _ = unsafe { munmap(start.cast(), self.length + 2 * GUARD) };
    }
}

/// Has the kernel read eight bytes at an address, so that the page is there.
///
/// # Errors
/// `EFAULT` where it cannot be had.
fn fetch(at: *const u8) -> Result<(), Errno> {
    const NO_SUCH_OPERATION: usize = usize::MAX >> 33;
    const SET: usize = size_of::<u64>();
    // SAFETY: the kernel reads a set of signals from a mapping of the caller, and refuses the operation after that.
    match unsafe { syscall6(__NR_rt_sigprocmask, [NO_SUCH_OPERATION, at as usize, 0, SET, 0, 0]) } {
        Err(Errno::EFAULT) => Err(Errno::EFAULT),
        _ => Ok(()),
    }
}

/// Reserves `length` bytes at a multiple of `alignment` with a guard on either side, none of it accessible.
fn reserve(length: usize, alignment: usize) -> Result<NonNull<u8>, Errno> {
    let whole = length.checked_add(alignment + 2 * GUARD).ok_or(Errno::ENOMEM)?;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other.
    let start = unsafe { mmap_anonymous(null_mut(), whole, ProtFlags::empty(), flags) }?.cast::<u8>();
    let before = (start as usize + GUARD).next_multiple_of(alignment) - GUARD - start as usize;
    let used = before + length + 2 * GUARD;
    // What the alignment did not need is given back: it would count as address space in use.
    release(start, before);
    release(start.wrapping_add(used), whole - used);
    NonNull::new(start.wrapping_add(before + GUARD)).ok_or(Errno::ENOMEM)
}

/// Unmaps `length` bytes of a reservation just made.
fn release(start: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: nothing points into a reservation that `reserve` has not returned yet.
        let _ = unsafe { munmap(start.cast(), length) };
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type without padding and without invalid bit patterns, aligned to at most a page.
pub trait Plain: sealed::Sealed + Copy + 'static {}

macro_rules! plain {
    ($($name:ty)*) => { $(impl sealed::Sealed for $name {} impl Plain for $name {})* };
}
plain! { u8 u16 u32 u64 usize f64 latency_core::arch::Line }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::file::for_each_line;
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
        let mut region = Region::map(10_000, Kind::Small).unwrap();
        assert_eq!(region.len(), 12_288);
        assert_eq!(region.address() % (2 << 20), 0);
        assert!(region.as_slice::<u64>().iter().all(|&word| word == 0));
        region.as_mut_slice::<u64>()[1535] = 7;
        region.populate(8192..12_288).unwrap();
        assert_eq!(region.as_slice::<u64>()[1535], 7, "populating leaves the content alone");
        assert_eq!(region.populate(0..12_289), Err(Errno::EINVAL));
        region.touch(0..12_288, 4096).unwrap();
        assert_eq!(region.as_slice::<u64>()[1535], 7);
    }

    #[test]
    fn a_page_that_cannot_be_had_is_an_errno() {
        let region = Region::map(10_000, Kind::Small).unwrap();
        assert_eq!(fetch(region.base.as_ptr()), Ok(()));
        assert_eq!(fetch(region.base.as_ptr().wrapping_sub(GUARD)), Err(Errno::EFAULT));
        let held_back = || std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let held_back = || held_back().lines().find(|line| line.starts_with("SigBlk")).map(String::from);
        let before = held_back();
        assert_eq!(fetch([u8::MAX; 8].as_ptr()), Ok(()));
        assert_eq!(held_back(), before);
    }

    #[test]
    fn a_region_has_a_line_of_its_own_and_counts_its_pages() {
        let mut regions = [0; 3].map(|_: i32| Region::map(1 << 20, Kind::Small).unwrap());
        let whole = regions[1].len();
        regions[0].populate(0..whole).unwrap();
        regions[1].populate(0..100_000).unwrap();
        // Where the kernel has no numa_maps there is no line to look at.
        let Some(line) = numa_maps(regions[0].address()) else { return };
        assert!(line.contains("anon=256 ") && line.contains("kernelpagesize_kB=4"), "{line}");
        let line = numa_maps(regions[1].address()).unwrap();
        assert!(line.contains("anon=25 "), "whole pages, in one chunk: {line}");
    }

    #[test]
    fn transparent_huge_pages_are_aligned_and_may_be_refused() {
        match Region::map(3 << 20, Kind::Thp) {
            Ok(mut region) => {
                assert_eq!((region.len(), region.address() % (2 << 20)), (4 << 20, 0));
                region.populate(0..4 << 20).unwrap();
                region.as_mut_slice::<u8>()[(4 << 20) - 1] = 1;
            }
            Err(error) => assert_eq!(error, Errno::EINVAL),
        }
    }

    #[test]
    fn an_empty_pool_is_an_errno_and_leaves_nothing_mapped() {
        for kind in [Kind::Huge2M, Kind::Huge1G] {
            // More than any machine that runs this test has.
            match Region::map(1 << 44, kind) {
                Ok(_) => panic!("16 TiB of {kind:?}"),
                Err(error) => assert!(matches!(error, Errno::ENOMEM | Errno::EINVAL), "{error}"),
            }
        }
        assert_eq!(Region::map(usize::MAX, Kind::Small).err(), Some(Errno::ENOMEM));
        assert_eq!(Region::map(usize::MAX - 8192, Kind::Small).err(), Some(Errno::ENOMEM));
    }
}
