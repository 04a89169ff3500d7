//! A chain of lines that one core leaves in a known state, for another core to walk.
//!
//! Each hop depends on the one before it, so the time per hop is the latency of one transfer, just
//! as a pointer chase gives the latency of one load. This file prepares the states of lines in a
//! cache, but starts no threads: the caller runs the walks of two cores one after the other.
//!
//! # Safety
//!
//! A [`Ring`] is made by writing a chain of addresses over the memory that it
//! borrows, at multiples of a line, so that each node holds the address of another.
//! After that the memory is accessed only as atomics, and by walks that store
//! back the word that a node holds. So any number of threads may walk at once.

use crate::arch::{
    Atomics, Flusher, Line, Routine, SharedLine, Stamp, lb_cores_read, lb_cores_store, own_walk,
};
use crate::buffer::{Astray, Buffer, BuildError, Timed};
use crate::chain::Chain;
use crate::kernel::Encoding;
use crate::worded;

worded! {
    /// The access that a hop makes to its line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Walk {
        /// Loads it.
        Read = "read",
        /// Takes exclusive ownership of it by an atomic addition of zero.
        Own = "own",
        /// Loads it and stores the same word, which makes the line modified.
        Store = "store",
    }
}

impl Walk {
    fn routine(self, atomics: Atomics) -> Routine {
        match self {
            Walk::Read => lb_cores_read,
            Walk::Own => own_walk(atomics),
            Walk::Store => lb_cores_store,
        }
    }
}

worded! {
    /// The state of the lines in the owner's cache.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// Changed: memory has an old copy, and no other cache has a copy.
        Modified = "modified",
        /// Equal to memory, and in no other cache.
        Exclusive = "exclusive",
        /// Equal to memory, and also in another core's cache.
        Shared = "shared",
    }
}

impl State {
    /// All states.
    pub const ALL: [State; 3] = [State::Modified, State::Exclusive, State::Shared];

    /// Returns whether a third core has to walk over the prepared lines, by [`Walk::Read`].
    pub const fn takes_another(self) -> bool {
        matches!(self, State::Shared)
    }
}

/// A chain of addresses in lines, which several cores may walk in turn or at the same time.
#[derive(Debug)]
pub struct Ring<'m> {
    lines: &'m [SharedLine],
    chain: &'m Chain,
    atomics: Atomics,
}

impl<'m> Ring<'m> {
    /// Writes `chain`, whose stride is a multiple of 64 bytes, to the start of `memory`. [`Walk::Own`] uses `atomics`.
    ///
    /// If nodes are more than two lines apart, the prefetch of an adjacent line does not fetch another node.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooSmall`] if the working set does not fit, and [`BuildError::Encoding`] if
    /// the stride is not a multiple of 64 bytes.
    pub fn new(memory: &'m mut [Line], chain: &'m Chain, atomics: Atomics) -> Result<Self, BuildError> {
        let layout = chain.layout();
        if !layout.stride().0.is_multiple_of(size_of::<Line>() as u64) {
            return Err(BuildError::Encoding);
        }
        Buffer::build(&mut *memory, chain, Encoding::Pointer)?;
        let used = (layout.size().0 as usize).div_ceil(size_of::<Line>());
        let lines = SharedLine::share(memory.get_mut(..used).ok_or(BuildError::TooSmall)?);
        Ok(Ring { lines, chain, atomics })
    }

    /// Returns the number of nodes: a walk of more hops visits lines again.
    pub const fn nodes(&self) -> u64 {
        self.chain.nodes()
    }

    /// Walks `hops` hops from the node `from` between two stamps, and proves the node on which the walk ended.
    ///
    /// # Errors
    ///
    /// [`Astray`] if the walk did not end on the node that the generator computes.
    pub fn timed_walk(&self, walk: Walk, from: u64, hops: usize, stamp: Stamp) -> Result<Timed<u64>, Astray> {
        let (routine, base, cursor) =
            (walk.routine(self.atomics), self.lines.as_ptr().cast(), self.address(from));
        // SAFETY: `new` wrote a chain of addresses to these lines, which nothing changes while `self` borrows them, and
        // the cursor stands on one of its nodes.
        let timed = Timed::new(stamp, || unsafe { routine(base, cursor, hops, 0) });
        let node = self.prove(from, hops, timed.ended)?;
        Ok(Timed { ended: node, start: timed.start, end: timed.end })
    }

    /// Brings the lines into this core's cache in `state`, or as close to it as one core can: see
    /// [`State::takes_another`].
    ///
    /// The lines are flushed first, so that no core keeps an older copy.
    ///
    /// # Errors
    ///
    /// [`Astray`] if the walk over them did not end on the node that the generator computes.
    pub fn prepare(&self, state: State, flusher: Flusher) -> Result<(), Astray> {
        self.flush(flusher);
        let walk = match state {
            State::Modified => Walk::Store,
            State::Exclusive | State::Shared => Walk::Read,
        };
        self.lap(walk)
    }

    /// Flushes the lines from all caches.
    pub fn flush(&self, flusher: Flusher) {
        flusher.flush(self.lines);
    }

    /// Walks over all lines once. With [`Walk::Read`], this is the third core's walk for [`State::Shared`].
    ///
    /// # Errors
    ///
    /// The error of [`prepare`](Self::prepare).
    pub fn lap(&self, walk: Walk) -> Result<(), Astray> {
        let (base, hops) = (self.lines.as_ptr().cast(), self.nodes() as usize);
        // SAFETY: as in `timed_walk`.
        let ended = unsafe { (walk.routine(self.atomics))(base, self.address(0), hops, 0) };
        self.prove(0, hops, ended).map(|_| ())
    }

    fn prove(&self, from: u64, hops: usize, ended: usize) -> Result<u64, Astray> {
        let node = self.chain.advance(from % self.nodes(), hops as u64);
        if self.address(node) == ended { Ok(node) } else { Err(Astray { from, hops: hops as u64 }) }
    }

    /// Returns the address of `node`, taken modulo the number of nodes.
    fn address(&self, node: u64) -> usize {
        let offset = self.chain.layout().offset(node % self.nodes());
        self.lines.as_ptr().expose_provenance().wrapping_add(offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::tests::best_atomics;
    use crate::chain::Order;
    use crate::units::Bytes;
    use crate::words::Worded;
    use std::vec::Vec;
    use std::{thread, vec};

    const WALKS: [Walk; 3] = [Walk::Read, Walk::Own, Walk::Store];

    fn chain(nodes: u64, stride: u64) -> Chain {
        Chain::new(Order::Random, Bytes(nodes * stride), Bytes(stride), 7).unwrap()
    }

    fn stamp() -> Stamp {
        Stamp::detect().unwrap()
    }

    fn words(ring: &Ring) -> Vec<u64> {
        let load = |word: &core::sync::atomic::AtomicU64| word.load(core::sync::atomic::Ordering::SeqCst);
        ring.lines.iter().flat_map(|line| &line.0).map(load).collect()
    }

    #[test]
    fn all_walks_end_where_a_plain_walk_does_and_leave_memory_unchanged() {
        for (nodes, stride) in [(2, 64), (256, 64), (300, 256)] {
            let chain = chain(nodes, stride);
            let mut memory = vec![Line([0; 8]); (nodes * stride / 64 + 3) as usize];
            let ring = Ring::new(&mut memory, &chain, best_atomics()).unwrap();
            let before = words(&ring);
            for hops in [0, 1, 2, 3, 8, 255, 256, 257, 1000] {
                for from in [0, 1, nodes - 1] {
                    let expected = chain.advance(from, hops as u64);
                    for walk in WALKS {
                        let ended = ring.timed_walk(walk, from, hops, stamp()).map(|timed| timed.ended);
                        assert_eq!(ended, Ok(expected), "{walk:?} {hops} from {from}");
                    }
                }
            }
            assert_eq!(words(&ring), before);
        }
    }

    #[test]
    fn preparations_leave_memory_unchanged() {
        let chain = chain(256, 128);
        let mut memory = vec![Line([0; 8]); 512];
        let ring = Ring::new(&mut memory, &chain, best_atomics()).unwrap();
        let before = words(&ring);
        let flusher = Flusher::detect().unwrap();
        for state in State::ALL {
            assert_eq!(ring.prepare(state, flusher), Ok(()), "{}", state.word());
            if state.takes_another() {
                thread::scope(|scope| scope.spawn(|| ring.lap(Walk::Read)).join().unwrap()).unwrap();
            }
            assert_eq!(words(&ring), before, "{}", state.word());
        }
    }

    #[test]
    fn two_threads_may_walk_at_once() {
        let chain = chain(64, 64);
        let mut memory = vec![Line([0; 8]); 64];
        let ring = Ring::new(&mut memory, &chain, best_atomics()).unwrap();
        let before = words(&ring);
        thread::scope(|scope| {
            for walk in WALKS {
                let ring = &ring;
                scope.spawn(move || (0..20).for_each(|_| ring.lap(walk).unwrap()));
            }
        });
        assert_eq!(words(&ring), before);
    }

    #[test]
    fn a_damaged_node_is_found() {
        let chain = chain(64, 64);
        let mut memory = vec![Line([0; 8]); 64];
        let ring = Ring::new(&mut memory, &chain, best_atomics()).unwrap();
        let this = &ring.lines[chain.layout().offset(5) as usize / 64].0[0];
        this.store(ring.address(5) as u64, core::sync::atomic::Ordering::SeqCst);
        assert!(WALKS.into_iter().all(|walk| ring.lap(walk).is_err()));
    }

    #[test]
    fn a_ring_needs_whole_lines_and_enough_of_them() {
        let (mut memory, atomics) = (vec![Line([0; 8]); 64], best_atomics());
        assert_eq!(Ring::new(&mut memory, &chain(65, 64), atomics).err(), Some(BuildError::TooSmall));
        assert_eq!(Ring::new(&mut memory, &chain(64, 32), atomics).err(), Some(BuildError::Encoding));
        assert!(Ring::new(&mut memory, &chain(32, 128), atomics).is_ok());
    }
}
