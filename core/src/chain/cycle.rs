//! One random cycle over any number of nodes: a table for few nodes, arithmetic for many.
//!
//! Nodes are numbers here; this file does not use their places in memory.

use super::weyl::Weyl;
use crate::rng::Pcg32;

/// Maximum number of nodes that Sattolo's shuffle orders. Up to this number a table is affordable
/// and more random: a few keyed rounds on twelve bits or fewer leave structure for one seed in ten.
pub const SATTOLO_LIMIT: u64 = 4096;

/// One single cycle, as a stored or computed successor function.
///
/// The table occupies 8 KiB inside this type: there is no allocator that could place it elsewhere.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)]
pub(super) enum CyclicPermutation {
    /// Few nodes: the successor of each, from Sattolo's shuffle. Proofs of walks over up to 256 KiB of lines need no
    /// multiplication.
    Table { successors: [u16; SATTOLO_LIMIT as usize], nodes: u16 },
    /// Many nodes: the successor of each is computed.
    Weyl(Weyl),
}

impl CyclicPermutation {
    pub(super) fn new(nodes: u64, rng: &mut Pcg32) -> CyclicPermutation {
        if nodes > SATTOLO_LIMIT {
            return CyclicPermutation::Weyl(Weyl::new(nodes, rng));
        }
        // S. Sattolo, "An algorithm to generate a random cyclic permutation", Information
        // Processing Letters 22(6), 1986: a shuffle that never leaves an element in place gives
        // every cycle of full length with equal probability.
        let mut successors = [0u16; SATTOLO_LIMIT as usize];
        let count = nodes as usize;
        for (node, successor) in (0u16..).zip(successors.iter_mut().take(count)) {
            *successor = node;
        }
        for last in (1..count).rev() {
            successors.swap(last, rng.below(last as u32) as usize);
        }
        CyclicPermutation::Table { successors, nodes: nodes as u16 }
    }

    pub(super) fn next(&self, node: u64) -> u64 {
        match self {
            CyclicPermutation::Table { successors, .. } => {
                successors.get(node as usize).map_or(0, |&successor| u64::from(successor))
            }
            CyclicPermutation::Weyl(weyl) => weyl.after(node, 1),
        }
    }

    pub(super) fn advance(&self, node: u64, hops: u64) -> u64 {
        match self {
            CyclicPermutation::Table { nodes, .. } => {
                (0..hops % u64::from((*nodes).max(1))).fold(node, |node, _| self.next(node))
            }
            CyclicPermutation::Weyl(weyl) => weyl.after(node, hops),
        }
    }

    pub(super) fn part(&self, part: u64, parts: u64) -> u64 {
        match self {
            CyclicPermutation::Table { nodes, .. } => {
                let hops = u128::from(part) * u128::from(*nodes) / u128::from(parts.max(1));
                self.advance(0, hops as u64)
            }
            CyclicPermutation::Weyl(weyl) => weyl.part(part, parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chains_of_first_level_caches_are_proven_by_a_table(nodes in 2u64..=SATTOLO_LIMIT, hops in 0u64..20_000, seed: u64) {
            let cycle = CyclicPermutation::new(nodes, &mut Pcg32::new(seed, 1));
            let CyclicPermutation::Table { successors, .. } = &cycle else { panic!("{nodes} nodes are computed") };
            let walked = (0..hops).fold(0u64, |node, _| u64::from(successors[node as usize]));
            prop_assert_eq!(cycle.advance(0, hops), walked);
        }
    }
}
