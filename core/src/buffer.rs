//! A chain in memory: written once, then walked, and proven.
//!
//! The generator computes the node on which a walk has to end; only [`Buffer::verify`] reads the chain from memory.
//! `build` writes the chain, with the stores that `stores` chooses.
//!
//! # Safety
//!
//! A [`Buffer`] can be made only by writing a chain over the whole of the memory that it borrows,
//! and it never lends that memory. So every node holds the place of another node of the same
//! buffer, and this is all that a chase routine requires. Walks start at nodes, never at a
//! [`Cursor`].

mod build;
mod error;
mod stores;

use core::hint::black_box;

use crate::arch::{self, EndStamp, Line, Stamp};
use crate::chain::{Chain, GROUPED};
use crate::kernel::lanes::{Gap, LaneKernel};
use crate::kernel::{Encoding, Kernel};
use crate::math::{ToReal, greatest_common_divisor, whole};

pub use error::{Astray, BuildError, WalkError};
pub use stores::Stores;

/// The end of a walk in the form that the kernel returns: an address or an index, depending on the buffer's encoding.
///
/// A caller can prove it, but cannot start a walk from it: it may belong to another buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Cursor(usize);

/// A piece of work between two stamps.
///
/// The ticks include one pair of stamps, whose own cost the caller has to subtract.
#[derive(Clone, Copy, Debug)]
pub struct Timed<T> {
    /// The result: the end of a walk, the digest of lanes, or the sum of loads.
    pub ended: T,
    /// The counter before the work.
    pub start: u64,
    /// The counter after the work.
    pub end: EndStamp,
}

/// A walk between two stamps.
pub type TimedWalk = Timed<Cursor>;

impl<T> Timed<T> {
    #[inline(always)]
    pub(crate) fn new(stamp: Stamp, work: impl FnOnce() -> T) -> Timed<T> {
        let start = stamp.start();
        let ended = work();
        let end = stamp.end();
        Timed { ended, start, end }
    }
}

/// A few hops between two stamps, and two stamps with nothing between them.
///
/// All durations are in ticks; a duration that does not fit is `u32::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimedHops {
    /// Ticks from the beginning of the walk to the first stamp.
    pub since: u32,
    /// Ticks between the stamps around the hops.
    pub window: u32,
    /// Ticks between the stamps around nothing, right after the hops.
    pub empty: u32,
    /// An interrupt came during the hops.
    pub interrupted: bool,
}

/// A chain written to memory.
#[derive(Debug)]
pub struct Buffer<'m> {
    lines: &'m mut [Line],
    chain: &'m Chain,
    encoding: Encoding,
}

impl<'m> Buffer<'m> {
    /// Writes `chain` to the start of `lines`.
    ///
    /// Lines are written whole, in address order, with stores that bypass the caches: the writing
    /// reads no line, and leaves no part of the buffer in a cache.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooSmall`] if the working set does not fit, and [`BuildError::Encoding`] if
    /// its nodes cannot hold successors in this encoding.
    pub fn build(lines: &'m mut [Line], chain: &'m Chain, encoding: Encoding) -> Result<Self, BuildError> {
        Self::build_with(lines, chain, encoding, Stores::STREAMING, &|| false)
    }

    /// Writes `chain` as [`build`](Self::build) does, but with the given kind of stores, and calls `stop` every few
    /// milliseconds.
    ///
    /// # Errors
    ///
    /// The errors of [`build`](Self::build), and [`BuildError::Stopped`].
    pub fn build_with(
        lines: &'m mut [Line],
        chain: &'m Chain,
        encoding: Encoding,
        stores: Stores,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, BuildError> {
        let mut buffer = Buffer { lines, chain, encoding };
        buffer.write(stores, stop)?;
        Ok(buffer)
    }

    /// Writes the same chain again with stores that bypass the caches, and calls `stop` every few milliseconds.
    ///
    /// The stores change no content, so the chain stays intact if the writing is stopped.
    ///
    /// # Errors
    ///
    /// [`BuildError::Stopped`] if `stop` returns true.
    pub fn write_again(&mut self, stop: &dyn Fn() -> bool) -> Result<(), BuildError> {
        self.write(Stores::STREAMING, stop)
    }

    /// Returns the chain that the buffer holds.
    pub const fn chain(&self) -> &Chain {
        self.chain
    }

    /// Returns the form in which each node names the next one.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the address of the first node, for the kernels to follow.
    fn base(&self) -> usize {
        self.lines.as_ptr().expose_provenance()
    }

    /// Returns the cursor of `node`, modulo the number of nodes of all chains.
    fn cursor(&self, node: u64) -> Cursor {
        let offset = self.chain.offset(node % self.chain.end());
        Cursor(self.encoding.place(self.base() as u64, offset) as usize)
    }

    /// Returns the routine of a kernel, and its arguments for a walk from the node `from` but the number of hops.
    #[inline(always)]
    fn call(
        &self,
        kernel: &Kernel,
        from: u64,
    ) -> Result<(arch::Routine, *const u8, usize, usize), WalkError> {
        if kernel.encoding != self.encoding {
            return Err(WalkError::Encoding);
        }
        let length = (self.chain.layout().size().0 / self.encoding.unit().0) as usize;
        Ok((kernel.routine, self.lines.as_ptr().cast(), self.cursor(from).0, length))
    }

    /// Returns a closure that makes the walk.
    #[inline(always)]
    fn ready(
        &self,
        kernel: &Kernel,
        from: u64,
        hops: usize,
    ) -> Result<impl FnOnce() -> Cursor + use<'_>, WalkError> {
        let (routine, base, cursor, length) = self.call(kernel, from)?;
        // SAFETY: `build` wrote a chain of this encoding over the working set, which cannot be written while `self`
        // borrows it; `cursor` stands on one of its nodes.
        Ok(move || Cursor(unsafe { routine(base, cursor, hops, length) }))
    }

    /// Walks `hops` hops from the node `from`.
    ///
    /// # Errors
    ///
    /// [`WalkError::Encoding`] for a kernel of another encoding.
    pub fn walk(&self, kernel: &Kernel, from: u64, hops: usize) -> Result<Cursor, WalkError> {
        Ok(self.ready(kernel, from, hops)?())
    }

    /// Walks as [`walk`](Self::walk) does, between two stamps.
    ///
    /// # Errors
    ///
    /// The error of [`walk`](Self::walk).
    pub fn timed_walk(
        &self,
        kernel: &Kernel,
        from: u64,
        hops: usize,
        stamp: Stamp,
    ) -> Result<TimedWalk, WalkError> {
        Ok(Timed::new(stamp, self.ready(kernel, from, hops)?))
    }

    /// Walks from the node `from`, with stamps around every `each` hops, until `samples` are filled.
    ///
    /// Returns the end of the walk, and the counter when it began. `samples` should
    /// fit a near cache, since they are written between the hops.
    ///
    /// An empty window follows each window with hops. Only the window with hops contains the call
    /// of the routine, which overlaps with a longer load (on Zen 4, windows of 8 L1 hits take 58.7
    /// ticks after these hits are subtracted, and empty windows 58.3).
    ///
    /// # Errors
    ///
    /// [`WalkError::Encoding`] for a kernel of another encoding.
    pub fn timed_hops(
        &self,
        kernel: &Kernel,
        from: u64,
        each: usize,
        stamp: Stamp,
        samples: &mut [TimedHops],
    ) -> Result<(Cursor, u64), WalkError> {
        let (routine, base, mut cursor, length) = self.call(kernel, from)?;
        let ticks = |from: u64, to: u64| u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX);
        let begin = stamp.start();
        arch::set_interrupt_mark();
        for sample in samples {
            if !arch::interrupt_mark_holds() {
                arch::set_interrupt_mark();
            }
            let start = stamp.start();
            // SAFETY: as in `ready`; a chase that starts on a node ends on a node.
            cursor = unsafe { routine(base, cursor, each, length) };
            let end = stamp.end().ticks;
            let marked = !arch::interrupt_mark_holds();
            let empty = stamp.start();
            let empty_end = stamp.end().ticks;
            let interrupted = marked || end < start || empty_end < empty;
            *sample = TimedHops {
                since: ticks(begin, start),
                window: ticks(start, end),
                empty: ticks(empty, empty_end),
                interrupted,
            };
        }
        Ok((Cursor(cursor), begin))
    }

    /// Returns a closure that makes the walk of several lanes; `ends` holds the start of each lane before the walk and
    /// its end after it.
    #[inline(always)]
    fn ready_lanes<'w>(
        &'w self,
        lanes: usize,
        (routine, count): (arch::LaneRoutine, usize),
        starts: &[u64],
        ends: &'w mut [Cursor],
        hops: usize,
    ) -> Result<impl FnOnce() -> u64 + use<'w>, WalkError> {
        if self.encoding != Encoding::Pointer {
            return Err(WalkError::Encoding);
        }
        if starts.len() != lanes || ends.len() != lanes {
            return Err(WalkError::Count);
        }
        for (cursor, &start) in ends.iter_mut().zip(starts) {
            *cursor = self.cursor(start);
        }
        let cursors = ends.as_mut_ptr().cast();
        // SAFETY: there is a cursor for each of the routine's lanes, which stands on a node of a chain of addresses;
        // while `self` borrows the chain, it cannot be written; and the cursors cannot be accessed until the walk has
        // ended. The count comes with the routine from a `LaneKernel` or a `Gap`, which keep it within the routine's
        // limit.
        Ok(move || unsafe { routine(cursors, hops, count) })
    }

    /// Walks `hops` hops from each of `starts` in parallel lanes, writes the ends of the lanes to `ends`, and returns
    /// a digest.
    ///
    /// The digest is the exclusive or of all loaded pointers after the work on each; for a kernel without work it is
    /// zero.
    ///
    /// # Errors
    ///
    /// [`WalkError`] if the nodes do not hold addresses, or if `starts` or `ends` does not have one place for each
    /// lane.
    pub fn walk_lanes(
        &self,
        kernel: &LaneKernel,
        starts: &[u64],
        ends: &mut [Cursor],
        hops: usize,
    ) -> Result<u64, WalkError> {
        Ok(self.ready_lanes(kernel.lanes(), kernel.routine(), starts, ends, hops)?())
    }

    /// Walks as [`walk_lanes`](Self::walk_lanes) does, between two stamps.
    ///
    /// # Errors
    ///
    /// The errors of [`walk_lanes`](Self::walk_lanes).
    pub fn timed_walk_lanes(
        &self,
        kernel: &LaneKernel,
        starts: &[u64],
        ends: &mut [Cursor],
        hops: usize,
        stamp: Stamp,
    ) -> Result<Timed<u64>, WalkError> {
        Ok(Timed::new(stamp, self.ready_lanes(kernel.lanes(), kernel.routine(), starts, ends, hops)?))
    }

    /// Walks two lanes with a gap of fillers between their loads, between two stamps.
    ///
    /// # Errors
    ///
    /// The errors of [`walk_lanes`](Self::walk_lanes).
    pub fn timed_walk_apart(
        &self,
        gap: Gap,
        starts: &[u64; Gap::LANES],
        ends: &mut [Cursor; Gap::LANES],
        hops: usize,
        stamp: Stamp,
    ) -> Result<Timed<u64>, WalkError> {
        Ok(Timed::new(stamp, self.ready_lanes(Gap::LANES, gap.routine(), starts, ends, hops)?))
    }

    /// Loads the first `loads` nodes in address order, lap after lap, between two stamps, and returns their sum.
    ///
    /// No load depends on another: the time per load is an inverse throughput, never a latency.
    ///
    /// # Errors
    ///
    /// [`WalkError`] if the nodes do not hold eight bytes at equal distances.
    pub fn timed_strided_loads(&self, loads: usize, stamp: Stamp) -> Result<Timed<u64>, WalkError> {
        let layout = self.chain.layout();
        if self.encoding.width().0 != 8 {
            return Err(WalkError::Encoding);
        }
        if layout.is_scattered() {
            return Err(WalkError::Scattered);
        }
        let (base, stride) = (self.lines.as_ptr().cast(), layout.stride().0 as usize);
        let nodes = self.chain.nodes() as usize;
        Ok(Timed::new(stamp, || {
            let (mut left, mut sum) = (loads, 0u64);
            while left > 0 {
                let pass = left.min(nodes);
                // SAFETY: `build` checked that all nodes lie in `lines`, and each has eight bytes.
                sum = sum.wrapping_add(unsafe { arch::lb_chase_strided(base, stride, pass) });
                left -= pass;
            }
            sum
        }))
    }
}

impl Buffer<'_> {
    /// Proves that a walk of `hops` hops from the node `from` ended on the node that the generator computes, and
    /// returns this node.
    ///
    /// # Errors
    ///
    /// [`Astray`] if the walk ended elsewhere.
    pub fn prove(&self, from: u64, hops: u64, ended: Cursor) -> Result<u64, Astray> {
        let node = self.chain.advance(from, hops);
        if self.cursor(node) == ended { Ok(node) } else { Err(Astray { from, hops }) }
    }

    /// Proves each lane of a walk, and replaces its start by its end.
    ///
    /// So the next walk starts with nodes that this walk did not bring into the caches.
    ///
    /// # Errors
    ///
    /// [`Astray`] for the first lane that ended elsewhere or has no end.
    pub fn prove_lanes(&self, starts: &mut [u64], hops: u64, ends: &[Cursor]) -> Result<(), Astray> {
        for (lane, start) in starts.iter_mut().enumerate() {
            let ended = ends.get(lane).ok_or(Astray { from: *start, hops })?;
            *start = self.prove(*start, hops, *ended)?;
        }
        Ok(())
    }

    /// Walks one lap of each chain in plain Rust, and checks that memory holds them: one cycle over every node, back to
    /// its start.
    ///
    /// # Errors
    ///
    /// [`Astray`] if the memory does not hold the chain.
    pub fn verify(&self) -> Result<(), Astray> {
        let chain = self.chain;
        for (start, nodes) in (0..1 + GROUPED).filter_map(|number| chain.cycle(number)) {
            let mut node = start;
            for hop in 1..=nodes {
                let next = chain.next(node);
                let expected = self.encoding.place(self.base() as u64, chain.offset(next));
                if self.held(node) != Some(expected) || (next == start) != (hop == nodes) {
                    return Err(Astray { from: node, hops: hop });
                }
                node = next;
            }
        }
        Ok(())
    }

    /// Returns the word that a node holds in memory.
    fn held(&self, node: u64) -> Option<u64> {
        let offset = self.chain.offset(node) as usize;
        let word = self.lines.get(offset / 64)?.0.get(offset / 8 % 8)? >> (offset % 8 * 8);
        Some(if self.encoding.width().0 == 4 { word & u64::from(u32::MAX) } else { word })
    }
}

/// Fraction of the nodes between two loads: the golden section. Its multiples modulo 1 stay further apart than the
/// multiples of any other number.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

impl Buffer<'_> {
    /// Loads every node once, in an order that no prefetcher foresees.
    pub fn touch(&self) {
        let layout = self.chain.layout();
        let mut sum = 0;
        for node in scattered(self.chain.nodes()) {
            let line = self.lines.get((layout.offset(node) / 64) as usize);
            sum ^= line.map_or(0, |line| line.0[0]);
        }
        black_box(sum);
    }
}

/// Returns each number below `count` once, in an order in which successive numbers are far apart.
fn scattered(count: u64) -> impl Iterator<Item = u64> {
    let golden = whole(count.real() * GOLDEN);
    // One has no common factor with any number, so a step always exists.
    let step = (1..=golden.max(1)).rev().find(|step| greatest_common_divisor(count, *step) == 1).unwrap_or(1);
    let mut next = 0;
    (0..count).map(move |_| {
        let this = next;
        next = if this + step < count { this + step } else { this + step - count };
        this
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn each_number_comes_once(count in 0u64..5000) {
            let mut numbers: Vec<u64> = scattered(count).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..count));
        }

        #[test]
        fn neighbours_are_far_apart(count in 1000u64..5000) {
            let numbers: Vec<u64> = scattered(count).collect();
            for pair in numbers.windows(2) {
                prop_assert!(pair[0].abs_diff(pair[1]) > count / 4, "{pair:?}");
            }
        }
    }
}
