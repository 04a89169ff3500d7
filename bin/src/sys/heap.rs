//! Memory for results and their texts: a heap over mapped memory. Nothing is allocated while anything is timed.
//!
//! The size of a small block is a power of two; a block that is given back is used again for the next one of its size. A
//! large block is a mapping of its own.
//!
//! # Safety
//!
//! Each block lies in a mapping of this heap, in a part of its own, and its address is a multiple of its size or of a
//! page. The first word of a free block is the address of the next one; the program has no reference to a free block. Only
//! the first thread allocates: the others run code of `engine` and `core`, which has no `alloc` (`structure` tests that).

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::fmt::Write;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::init;
use super::map::base_page;
use super::out::Messages;
use super::terminal::Stream;

/// Bytes of a chunk, from which small blocks are taken.
const CHUNK: usize = 256 << 10;
/// The binary logarithms of the sizes of small blocks: from two words to an eighth of a chunk.
const LEAST: u32 = 4;
const MOST: u32 = 15;

/// True while something is timed.
static SEALED: AtomicBool = AtomicBool::new(false);

/// Calls `timed`, in which an allocation is a defect of the program.
pub fn sealed<T>(timed: impl FnOnce() -> T) -> T {
    SEALED.store(true, Ordering::Relaxed);
    let done = timed();
    SEALED.store(false, Ordering::Relaxed);
    done
}

/// The heap of the program.
pub struct Heap {
    /// The first free block of each size.
    free: [Cell<*mut u8>; (MOST - LEAST + 1) as usize],
    /// The free part of the present chunk: its beginning, and its length.
    chunk: Cell<(*mut u8, usize)>,
}

// SAFETY: only the first thread uses it.
unsafe impl Sync for Heap {}

impl Heap {
    /// Returns the heap without a chunk.
    #[must_use]
    pub const fn new() -> Heap {
        Heap {
            free: [const { Cell::new(null_mut()) }; (MOST - LEAST + 1) as usize],
            chunk: Cell::new((null_mut(), 0)),
        }
    }

    /// Returns the next block of a chunk; its size is a power of two.
    fn take(&self, size: usize) -> *mut u8 {
        let (begin, length) = self.chunk.get();
        let skipped = begin.align_offset(size);
        if skipped + size <= length {
            let block = begin.wrapping_add(skipped);
            self.chunk.set((block.wrapping_add(size), length - skipped - size));
            return block;
        }
        let chunk = map(CHUNK);
        self.chunk.set((chunk.wrapping_add(size), CHUNK - size));
        chunk
    }
}

impl Default for Heap {
    fn default() -> Heap {
        Heap::new()
    }
}

/// Returns the index of the sizes of small blocks that has room for a layout; `None` for a large block.
fn small(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(1 << LEAST);
    let index = (size.next_power_of_two().ilog2() - LEAST) as usize;
    (size <= 1 << MOST).then_some(index)
}

/// Returns new memory. Without any, the program ends: no part of a result can be written then.
fn map(bytes: usize) -> *mut u8 {
    let writable = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the kernel chooses an address range that nothing uses.
    if let Ok(start) = unsafe { mmap_anonymous(null_mut(), bytes, writable, MapFlags::PRIVATE) } {
        return start.cast();
    }
    let mut messages = Messages::on(Stream::Error);
    let _ = writeln!(
        messages,
        "latency-bench: ERROR: no memory for {bytes} bytes of the result (ENOMEM); free memory, or raise its limit \
         (ulimit -v)"
    );
    drop(messages);
    init::end(2)
}

/// Returns the length of the mapping of a large block.
fn whole_pages(layout: Layout) -> usize {
    layout.size().next_multiple_of(base_page())
}

// SAFETY: blocks do not overlap, are aligned, and stay mapped until they are given back: see the top of this file.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        assert!(!SEALED.load(Ordering::Relaxed), "nothing is allocated while something is timed");
        match small(layout) {
            Some(index) => match self.free[index].get() {
                block if block.is_null() => self.take(1 << (LEAST + index as u32)),
                block => {
                    // SAFETY: a free block begins with the address of the next one.
                    self.free[index].set(unsafe { block.cast::<*mut u8>().read() });
                    block
                }
            },
            // No type of this program is aligned to more than a page.
            None if layout.align() > base_page() => null_mut(),
            None => map(whole_pages(layout)),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match small(layout) {
            Some(index) => {
                // SAFETY: the block is no longer used, has room for an address, and is aligned to its size.
                unsafe { block.cast::<*mut u8>().write(self.free[index].get()) };
                self.free[index].set(block);
            }
            None => {
                // SAFETY: the block is a mapping of its own, and no longer used. If unmapping fails, it stays mapped.
                let _ = unsafe { munmap(block.cast(), whole_pages(layout)) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    /// A block of a test: its address, its layout, and the byte that fills it.
    type Block = (*mut u8, Layout, u8);

    fn check(&(block, layout, byte): &Block) {
        assert_eq!(block as usize % layout.align(), 0);
        for place in [0, layout.size() / 2, layout.size() - 1] {
            // SAFETY: the place is in the block.
            assert_eq!(unsafe { block.add(place).read() }, byte);
        }
    }

    proptest! {
        #[test]
        fn blocks_are_aligned_and_keep_their_contents(
            steps in prop::collection::vec((1usize..200_000, 0u32..7, any::<bool>(), any::<u8>()), 1..200)
        ) {
            let heap = Heap::new();
            let mut blocks: Vec<Block> = Vec::new();
            for (size, align, gives_back, byte) in steps {
                if gives_back && !blocks.is_empty() {
                    let block = blocks.swap_remove(usize::from(byte) % blocks.len());
                    check(&block);
                    // SAFETY: it came from this heap with this layout.
                    unsafe { heap.dealloc(block.0, block.1) };
                    continue;
                }
                let layout = Layout::from_size_align(size >> (size % 17), 1 << align).unwrap();
                let layout = if layout.size() == 0 { Layout::new::<u64>() } else { layout };
                // SAFETY: the layout has a size.
                let block = unsafe { heap.alloc(layout) };
                // SAFETY: the block has this size.
                unsafe { block.write_bytes(byte, layout.size()) };
                blocks.push((block, layout, byte));
            }
            for block in blocks {
                check(&block);
                // SAFETY: it came from this heap with this layout.
                unsafe { heap.dealloc(block.0, block.1) };
            }
        }
    }

    #[test]
    fn a_block_that_is_given_back_is_used_again() {
        let heap = Heap::new();
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: the layout has a size, and each block is given back once.
        unsafe {
            let first = heap.alloc(layout);
            heap.dealloc(first, layout);
            assert_eq!(heap.alloc(layout), first);
        }
    }

    // In a process of its own: the seal is of the whole program.
    #[test]
    fn an_allocation_while_something_is_timed_ends_the_program() {
        const CHILD: &str = "LATENCY_BENCH_SEALED_CHILD";
        if std::env::var_os(CHILD).is_some() {
            let heap = Heap::new();
            // SAFETY: the layout has a size.
            let allocated = sealed(|| unsafe { heap.alloc(Layout::new::<u64>()) });
            std::println!("allocated {allocated:?}");
            return;
        }
        let name = "sys::heap::tests::an_allocation_while_something_is_timed_ends_the_program";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&[child.stdout, child.stderr].concat()).into_owned();
        assert!(!child.status.success() && text.contains("nothing is allocated while"), "{text}");
        assert!(!text.contains("allocated 0x"), "{text}");
    }
}
