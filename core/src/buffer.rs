//! A chain in memory: written once, then walked.
//!
//! # Safety
//!
//! A [`Buffer`] can be made only by writing a chain over the whole of the
//! memory that it borrows, and lends that memory to nobody. So every node holds
//! the place of another node of the same buffer, which is all that a chase
//! routine asks for.

use crate::arch::{self, EndStamp, Line, Routine, Stamp};
use crate::chain::Chain;
use crate::kernel::{Encoding, Kernel};

/// How many successors are computed between writes; 4 KiB of the first-level cache.
const BLOCK: usize = 512;

/// The memory is smaller than the chain's working set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall;

/// The kernel follows something else than what the nodes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongEncoding;

/// Where a walk ended, as the kernels see it: an address or an index, by the buffer's encoding.
///
/// It can be proven, and not be walked on from: it may be another buffer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(usize);

/// A walk between two stamps.
#[derive(Clone, Copy, Debug)]
pub struct TimedWalk {
    /// Where it ended.
    pub ended: Cursor,
    /// The counter before it.
    pub start: u64,
    /// The counter after it.
    pub end: EndStamp,
}

/// A few hops between two stamps, and two stamps with nothing between them.
///
/// All in ticks; what does not fit is the largest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimedHops {
    /// From the beginning of the walk to the first stamp.
    pub since: u32,
    /// Between the stamps around the hops.
    pub window: u32,
    /// Between the stamps around nothing, right after the hops.
    pub empty: u32,
    /// An interrupt came during the hops.
    pub interrupted: bool,
}

/// A timed or untimed walk that ended elsewhere than the generator says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Astray {
    /// The node on which the walk set out.
    pub from: u64,
    /// The hops that it was to make.
    pub hops: u64,
}

/// A chain written to memory.
#[derive(Debug)]
pub struct Buffer<'m> {
    lines: &'m mut [Line],
    chain: &'m Chain,
    encoding: Encoding,
}

/// The successors of all nodes, a block at a time.
struct Successors<'c> {
    chain: &'c Chain,
    first: u64,
    block: [u64; BLOCK],
}

impl Successors<'_> {
    /// The successors of the next nodes, `most` at the most, and the first of these nodes.
    fn take(&mut self, most: usize) -> (u64, &[u64]) {
        let first = self.first;
        let count = (self.chain.nodes() - first).min(most as u64);
        self.first += count;
        let block = self.block.get_mut(..count as usize).unwrap_or_default();
        self.chain.successors(first, block);
        (first, block)
    }
}

impl<'m> Buffer<'m> {
    /// Writes `chain` to the start of `lines`.
    ///
    /// In address order, whole lines at a time and past the caches: the buffer
    /// is written once, read never, and no part of it is left in a cache.
    ///
    /// # Errors
    ///
    /// [`TooSmall`] where the working set does not fit.
    pub fn build(lines: &'m mut [Line], chain: &'m Chain, encoding: Encoding) -> Result<Self, TooSmall> {
        if chain.layout().size().0 > core::mem::size_of_val::<[Line]>(lines) as u64 {
            return Err(TooSmall);
        }
        let base = lines.as_ptr().expose_provenance() as u64;
        let layout = chain.layout();
        let (origin, unit) = match encoding {
            Encoding::Pointer => (base, 1),
            Encoding::Index => (0, 8),
        };
        let place = |node: u64| origin + layout.offset(node) / unit;
        let mut successors = Successors { chain, first: 0, block: [0; BLOCK] };
        match layout.stride().0 {
            64 => {
                // A node fills a line: its place needs no look at the layout, and no call.
                let distance = 64 / unit;
                for lines in lines.chunks_mut(BLOCK) {
                    let (_, successors) = successors.take(BLOCK);
                    for (line, &successor) in lines.iter_mut().zip(successors) {
                        arch::stream_line(line, &[origin + successor * distance, 0, 0, 0, 0, 0, 0, 0]);
                    }
                }
            }
            stride @ 0..64 => {
                let per_line = (64 / stride) as usize;
                for line in lines.iter_mut() {
                    let (_, successors) = successors.take(per_line);
                    let mut words = [0; 8];
                    for (word, &successor) in words.iter_mut().step_by(8 / per_line).zip(successors) {
                        *word = place(successor);
                    }
                    arch::stream_line(line, &words);
                }
            }
            _ => loop {
                let (first, successors) = successors.take(BLOCK);
                if successors.is_empty() {
                    break;
                }
                for (node, &successor) in (first..).zip(successors) {
                    if let Some(line) = lines.get_mut((layout.offset(node) / 64) as usize) {
                        arch::stream_line(line, &[place(successor), 0, 0, 0, 0, 0, 0, 0]);
                    }
                }
            },
        }
        arch::streams_done();
        Ok(Buffer { lines, chain, encoding })
    }

    /// The chain that the buffer holds.
    #[must_use]
    pub const fn chain(&self) -> &Chain {
        self.chain
    }

    /// What its nodes hold.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The cursor that stands on `node`, taken modulo the number of nodes.
    fn cursor(&self, node: u64) -> Cursor {
        let offset = self.chain.layout().offset(node % self.chain.nodes()) as usize;
        match self.encoding {
            Encoding::Pointer => Cursor(self.lines.as_ptr().expose_provenance() + offset),
            Encoding::Index => Cursor(offset / 8),
        }
    }

    /// The routine of a kernel, if it follows what the nodes hold.
    fn routine(&self, kernel: &Kernel) -> Result<Routine, WrongEncoding> {
        if kernel.encoding == self.encoding {
            Ok(kernel.routine)
        } else {
            Err(WrongEncoding)
        }
    }

    /// Walks `hops` hops from the node `from`.
    ///
    /// # Errors
    ///
    /// [`WrongEncoding`] for a kernel that follows something else than the nodes hold.
    pub fn walk(&self, kernel: &Kernel, from: u64, hops: usize) -> Result<Cursor, WrongEncoding> {
        let routine = self.routine(kernel)?;
        let cursor = self.cursor(from);
        // SAFETY: `build` wrote a chain of this encoding over the working set, which nobody can write while `self`
        // borrows it; `cursor` stands on one of its nodes.
        Ok(Cursor(unsafe { routine(self.lines.as_ptr().cast(), cursor.0, hops) }))
    }

    /// Walks as [`walk`](Self::walk) does, between two stamps.
    ///
    /// The ticks include one pair of stamps, whose own cost the caller has to subtract.
    ///
    /// # Errors
    ///
    /// [`WrongEncoding`] for a kernel that follows something else than the nodes hold.
    pub fn timed_walk(
        &self,
        kernel: &Kernel,
        from: u64,
        hops: usize,
        stamp: Stamp,
    ) -> Result<TimedWalk, WrongEncoding> {
        let routine = self.routine(kernel)?;
        let cursor = self.cursor(from);
        let base = self.lines.as_ptr().cast();
        let start = stamp.start();
        // SAFETY: as in `walk`.
        let ended = Cursor(unsafe { routine(base, cursor.0, hops) });
        let end = stamp.end();
        Ok(TimedWalk { ended, start, end })
    }

    /// Walks from the node `from`, with stamps around every `each` hops, until `samples` are filled.
    ///
    /// Gives where the walk ended and the counter when it began. `samples` should
    /// fit a near cache, since they are written between the hops.
    ///
    /// Beside every window with hops there is an empty one. The call of the
    /// routine is in the first alone: it hides behind a load that takes longer
    /// (windows of 8 L1 hits less these hits are 58.7 ticks on Zen 4, empty ones 58.3).
    ///
    /// # Errors
    ///
    /// [`WrongEncoding`] for a kernel that follows something else than the nodes hold.
    pub fn timed_hops(
        &self,
        kernel: &Kernel,
        from: u64,
        each: usize,
        stamp: Stamp,
        samples: &mut [TimedHops],
    ) -> Result<(Cursor, u64), WrongEncoding> {
        let routine = self.routine(kernel)?;
        let Cursor(mut cursor) = self.cursor(from);
        let base = self.lines.as_ptr().cast();
        let ticks = |from: u64, to: u64| u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX);
        let begin = stamp.start();
        arch::set_interrupt_mark();
        for sample in samples {
            if !arch::interrupt_mark_holds() {
                arch::set_interrupt_mark();
            }
            let start = stamp.start();
            // SAFETY: as in `walk`; a chase that set out on a node ends on one.
            cursor = unsafe { routine(base, cursor, each) };
            let end = stamp.end().ticks;
            let interrupted = !arch::interrupt_mark_holds();
            let empty = stamp.start();
            let empty_end = stamp.end().ticks;
            *sample = TimedHops {
                since: ticks(begin, start),
                window: ticks(start, end),
                empty: ticks(empty, empty_end),
                interrupted,
            };
        }
        Ok((Cursor(cursor), begin))
    }

    /// Proves that a walk of `hops` hops from the node `from` ended where the generator says.
    ///
    /// # Errors
    ///
    /// [`Astray`] where it did not; otherwise the node on which it ended.
    pub fn prove(&self, from: u64, hops: u64, ended: Cursor) -> Result<u64, Astray> {
        let node = self.chain.advance(from, hops);
        if self.cursor(node) == ended {
            Ok(node)
        } else {
            Err(Astray { from, hops })
        }
    }

    /// Walks the whole lap in plain Rust: one cycle, over every node, back to its start.
    ///
    /// # Errors
    ///
    /// [`Astray`] where the memory does not hold the chain.
    pub fn verify(&self) -> Result<(), Astray> {
        let word = |index: usize| self.lines.get(index / 8).and_then(|line| line.0.get(index % 8));
        let base = self.lines.as_ptr().expose_provenance();
        let start = self.chain.start(0, 1);
        let mut node = start;
        for hop in 1..=self.chain.nodes() {
            let offset = self.chain.layout().offset(node) as usize;
            let next = self.chain.next(node);
            let expected = match self.encoding {
                Encoding::Pointer => base + self.chain.layout().offset(next) as usize,
                Encoding::Index => (self.chain.layout().offset(next) / 8) as usize,
            };
            if word(offset / 8) != Some(&(expected as u64)) || (next == start) != (hop == self.chain.nodes())
            {
                return Err(Astray { from: node, hops: hop });
            }
            node = next;
        }
        Ok(())
    }
}
