//! Proofs that a walk made its hops, and that memory holds the chain.
//!
//! The generator computes the node on which a walk has to end. Nothing is measured here, and only
//! [`Buffer::verify`] reads the chain from memory.

use super::error::Astray;
use super::{Buffer, Cursor};
use crate::chain::GROUPED;

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
