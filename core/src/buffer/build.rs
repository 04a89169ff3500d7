//! Writing a chain to memory: in address order, whole lines at a time.
//!
//! This file uses the places and the content of nodes, and makes no walks.

use super::Buffer;
use super::error::BuildError;
use super::stores::Stores;
use crate::arch::Line;
use crate::chain::Chain;

/// Number of successors that are computed between writes: 4 KiB of the first-level cache.
const BLOCK: usize = 512;

/// Number of blocks between two calls of `stop`: 1 MiB of lines, which takes 10 ms if each line lies on a separate
/// page.
const ASKED: u32 = 32;

/// The successors of all nodes, computed one block at a time.
pub(super) struct Successors<'c> {
    chain: &'c Chain,
    first: u64,
    block: [u64; BLOCK],
}

impl<'c> Successors<'c> {
    /// Returns an iterator that starts at the first node.
    pub(super) const fn new(chain: &'c Chain) -> Self {
        Successors { chain, first: 0, block: [0; BLOCK] }
    }

    /// Returns the number of the next block's first node and the successors of the block's nodes; an empty slice after
    /// the last node.
    pub(super) fn take(&mut self) -> (u64, &[u64]) {
        let first = self.first;
        let count = (self.chain.nodes() - first).min(BLOCK as u64);
        self.first += count;
        let block = self.block.get_mut(..count as usize).unwrap_or_default();
        self.chain.successors(first, block);
        (first, block)
    }
}

impl Buffer<'_> {
    /// Writes the first `hops` nodes of a walk from `from` again with stores that bypass the caches, in the order of
    /// the chain: the walk then finds each of them in memory. Returns false, and writes nothing, if several nodes
    /// share a line.
    ///
    /// The stores change no content.
    pub fn write_ahead(&mut self, from: u64, hops: u64) -> bool {
        let (lines, chain, encoding) = (&mut *self.lines, self.chain, self.encoding);
        let layout = chain.layout();
        if layout.stride().0 < 64 {
            return false;
        }
        let base = lines.as_ptr().expose_provenance() as u64;
        let mut node = from % chain.nodes();
        for _ in 0..hops {
            let successor = chain.next(node);
            if let Some(line) = lines.get_mut((layout.offset(node) / 64) as usize) {
                let place = encoding.place(base, layout.offset(successor));
                Stores::write_past(line, &[place, 0, 0, 0, 0, 0, 0, 0]);
            }
            node = successor;
        }
        Stores::STREAMING.fence();
        true
    }

    /// Writes the chain to the start of the lines.
    ///
    /// # Errors
    ///
    /// The errors of [`build_with`](Self::build_with).
    pub(super) fn write(&mut self, stores: Stores, stop: &dyn Fn() -> bool) -> Result<(), BuildError> {
        let (lines, chain, encoding) = (&mut *self.lines, self.chain, self.encoding);
        let layout = chain.layout();
        if layout.size().0 > core::mem::size_of_val::<[Line]>(lines) as u64 {
            return Err(BuildError::TooSmall);
        }
        if !encoding.reaches(layout.size(), layout.stride()) {
            return Err(BuildError::Encoding);
        }
        let base = lines.as_ptr().expose_provenance() as u64;
        let origin = encoding.place(base, 0);
        let mut successors = Successors::new(chain);
        let mut blocks = 0;
        let mut go_on = || {
            blocks += 1;
            if blocks % ASKED == 0 && stop() { Err(BuildError::Stopped) } else { Ok(()) }
        };
        match layout.stride().0 {
            _ if chain.is_grouped() => {}
            64 => {
                // A node fills a line, so its place is computed without a call of the layout.
                let distance = 64 / encoding.unit().0;
                for lines in lines.chunks_mut(BLOCK) {
                    go_on()?;
                    for (line, &successor) in lines.iter_mut().zip(successors.take().1) {
                        stores.write(line, &[origin + successor * distance, 0, 0, 0, 0, 0, 0, 0]);
                    }
                }
            }
            stride @ 1..64 => {
                let (per_line, distance) = ((64 / stride) as usize, stride / encoding.unit().0);
                for lines in lines.chunks_mut(BLOCK / per_line) {
                    go_on()?;
                    for (line, successors) in lines.iter_mut().zip(successors.take().1.chunks(per_line)) {
                        let mut words = [0; 8];
                        for (offset, &successor) in (0..64).step_by(stride as usize).zip(successors) {
                            if let Some(word) = words.get_mut(offset / 8) {
                                *word |= (origin + successor * distance) << (offset % 8 * 8);
                            }
                        }
                        stores.write(line, &words);
                    }
                }
            }
            _ => loop {
                go_on()?;
                let (first, successors) = successors.take();
                if successors.is_empty() {
                    break;
                }
                for (node, &successor) in (first..).zip(successors) {
                    if let Some(line) = lines.get_mut((layout.offset(node) / 64) as usize) {
                        let place = encoding.place(base, layout.offset(successor));
                        stores.write(line, &[place, 0, 0, 0, 0, 0, 0, 0]);
                    }
                }
            },
        }
        let mut groups = 0_u32;
        let mut pause = || {
            groups += 1;
            groups.is_multiple_of(ASKED) && stop()
        };
        let finished = chain.each_grouped(&mut pause, &mut |offset, successor| {
            if let Some(line) = lines.get_mut((offset / 64) as usize) {
                stores.write(line, &[encoding.place(base, successor), 0, 0, 0, 0, 0, 0, 0]);
            }
        });
        if !finished {
            return Err(BuildError::Stopped);
        }
        stores.finish(lines, stop)
    }
}
