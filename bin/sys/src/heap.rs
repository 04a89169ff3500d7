//! The heap: memory for documents and reports, in mapped chunks. Nothing is allocated while anything is timed.
//!
//! # Safety
//!
//! A block lies in its own part of a mapping that stays, or has a mapping of its own until it is freed. A free block of a
//! class is in the list of this class alone, and begins with the address of the next one. Only the first thread
//! allocates: generators and partners have no code that does, and a test of the source says so.

use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::{NonNull, null_mut, with_exposed_provenance_mut as pointer};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};

use latency_core::Pages;

use super::map::Region;

/// Bytes of a chunk. Only the pages of it that are used become resident.
const CHUNK: usize = 1 << 20;
/// Bytes of a block of the smallest class, and its alignment. Each class has blocks of twice the size of the one before.
const SMALLEST: usize = 16;
/// Number of classes. A larger block has a mapping of its own.
const CLASSES: usize = 14;

/// The heap of the executable. Tests of the library have that of the standard library.
pub static HEAP: Heap = Heap::new();

/// A heap: chunks, and lists of free blocks.
#[derive(Debug, Default)]
pub struct Heap {
    /// The addresses of the first free block of each class; 0 without one.
    free: [AtomicUsize; CLASSES],
    /// The address of the unused part of the chunk, and of its end.
    unused: [AtomicUsize; 2],
    /// True while nothing may be allocated.
    sealed: AtomicBool,
}

impl Heap {
    /// Returns a heap without a chunk.
    pub const fn new() -> Heap {
        Heap {
            free: [const { AtomicUsize::new(0) }; CLASSES],
            unused: [const { AtomicUsize::new(0) }; 2],
            sealed: AtomicBool::new(false),
        }
    }

    /// Calls `timed`, in which an allocation is a defect of the program.
    pub fn sealed<T>(&self, timed: impl FnOnce() -> T) -> T {
        let outside = self.sealed.swap(true, Relaxed);
        let done = timed();
        self.sealed.store(outside, Relaxed);
        done
    }

    /// Returns whether nothing may be allocated now.
    pub fn is_sealed(&self) -> bool {
        self.sealed.load(Relaxed)
    }

    /// Returns a block; null if there is no memory, or while the heap is sealed.
    pub fn allocate(&self, layout: Layout) -> *mut u8 {
        if self.is_sealed() {
            return null_mut();
        }
        let Some(class) = class(layout) else { return map(layout.size()).map_or(null_mut(), pointer) };
        let [size, free] = [SMALLEST << class, self.free[class].load(Relaxed)];
        if free > 0 {
            // SAFETY: a free block begins with the address of the next one.
            self.free[class].store(unsafe { pointer::<usize>(free).read() }, Relaxed);
            return pointer(free);
        }
        let [mut block, mut end] = [0, 1].map(|part| self.unused[part].load(Relaxed));
        if end - block < size {
            let Some(chunk) = map(CHUNK) else { return null_mut() };
            (block, end) = (chunk, chunk + CHUNK);
            self.unused[1].store(end, Relaxed);
        }
        self.unused[0].store(block + size, Relaxed);
        pointer(block)
    }

    /// Frees a block.
    ///
    /// # Safety
    /// The block is one of [`allocate`](Self::allocate) for this layout, and no code uses it any more.
    pub unsafe fn free(&self, block: *mut u8, layout: Layout) {
        match (class(layout), NonNull::new(block)) {
            (Some(class), _) => {
                let next = self.free[class].swap(block.expose_provenance(), Relaxed);
                // SAFETY: a block has room for an address, is aligned for it, and is not used any more.
                unsafe { block.cast::<usize>().write(next) };
            }
            // SAFETY: `map` made this mapping for these bytes, and this is its last use.
            (None, Some(block)) => drop(unsafe { Region::of_forgotten(block, layout.size(), Pages::AUTO) }),
            (None, None) => {}
        }
    }
}

/// Returns the class of a block; `None` for a block with a mapping of its own.
fn class(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST);
    let class = (size.next_power_of_two() / SMALLEST).ilog2() as usize;
    (class < CLASSES && layout.align() <= SMALLEST).then_some(class)
}

/// Maps memory that stays until it is freed, and returns its address.
fn map(bytes: usize) -> Option<usize> {
    let region = ManuallyDrop::new(Region::with_small_pages(bytes, Pages::AUTO).ok()?);
    Some(region.start().as_ptr().expose_provenance())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn blocks_do_not_overlap_and_are_used_again() {
        let heap = Heap::new();
        let sizes = [1, 16, 17, 100, 4096, 1 << 16, 1 << 17, (1 << 17) + 1, 3 << 20];
        for round in 0..3_u8 {
            let mut blocks: Vec<(*mut u8, usize)> = Vec::new();
            for size in sizes.into_iter().cycle().take(100) {
                let block = heap.allocate(layout(size));
                assert!(!block.is_null() && block.addr().is_multiple_of(SMALLEST));
                // SAFETY: the block has this size.
                unsafe { block.write_bytes(blocks.len() as u8 + round, size) };
                blocks.push((block, size));
            }
            for (index, (block, size)) in blocks.into_iter().enumerate() {
                // SAFETY: the block has this size, was written, and is freed once.
                unsafe {
                    let bytes = core::slice::from_raw_parts(block, size);
                    assert!(bytes.iter().all(|byte| *byte == index as u8 + round), "{index} {size}");
                    heap.free(block, layout(size));
                }
            }
        }
        let first = heap.allocate(layout(40));
        // SAFETY: it is freed once.
        unsafe { heap.free(first, layout(40)) };
        assert_eq!(heap.allocate(layout(64)), first);
    }

    #[test]
    fn a_sealed_heap_has_no_block() {
        let heap = Heap::new();
        let block = heap.allocate(layout(8));
        heap.sealed(|| {
            for size in [8, 1 << 10, 1 << 22] {
                assert!(heap.is_sealed() && heap.allocate(layout(size)).is_null());
            }
            // SAFETY: it is freed once.
            unsafe { heap.free(block, layout(8)) };
            heap.sealed(|| ());
            assert!(heap.allocate(layout(8)).is_null(), "the inner seal does not end the outer one");
        });
        assert_eq!(heap.allocate(layout(8)), block);
    }

    #[test]
    fn a_block_that_is_too_large_is_refused() {
        assert!(Heap::new().allocate(layout(isize::MAX as usize - 8)).is_null());
    }
}
