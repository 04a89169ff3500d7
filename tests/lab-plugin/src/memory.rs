//! Main memory: the node of an address, the node of a CPU, and the latency between the two.
//!
//! Addresses are the ones that QEMU gives a plugin. They are not always the guest's physical ones; [`Placing`]
//! describes the relation. This module does not depend on caches.

use std::fmt;

/// A range of addresses that belongs to a node. A node may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The node.
    pub node: u32,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: u64,
}

/// A memory backend of QEMU, in the order of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Node of this memory.
    pub node: u32,
    /// Bytes.
    pub size: u64,
}

/// QEMU's numbering of the memory that it shows to a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Up to 8.1 (`plugins/api.c`: `block->offset + offset + block->mr->addr`) QEMU *adds* the place of a
    /// backend among all RAM blocks and its place within the guest's memory: backends created first and in
    /// the order of their nodes begin at twice their distance from the first.
    Doubled,
    /// From 8.2 on the number is the guest's physical address.
    Physical(Board),
}

/// The addresses of a board's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// First address.
    pub start: u64,
    /// Bytes from there on that have no gap for devices.
    pub without_gap: u64,
}

impl Board {
    /// The q35 and pc boards of every release, of x86-64.
    pub const Q35: Board = Board { start: 0, without_gap: 2 << 30 };
    /// The virt board of aarch64: devices lie below the memory.
    pub const VIRT: Board = Board { start: 1 << 30, without_gap: u64::MAX };
}

/// Computes the regions of `backends`.
///
/// # Errors
///
/// Says why, if the sizes alone do not determine the places.
pub fn place(backends: &[Backend], placing: Placing) -> Result<Vec<Region>, String> {
    let mut before = 0_u64;
    let mut regions = Vec::new();
    for backend in backends {
        let start = match placing {
            Placing::Doubled => before.saturating_mul(2),
            Placing::Physical(board) => board.start.saturating_add(before),
        };
        regions.push(Region { node: backend.node, start, size: backend.size });
        before = before.saturating_add(backend.size);
    }
    match placing {
        Placing::Physical(Board { start, without_gap }) if before > without_gap => Err(format!(
            "backends of {before} bytes do not fit below the gap for devices at {}: \
             give each range as node=NODE:START:SIZE",
            start + without_gap
        )),
        _ => Ok(regions),
    }
}

/// The latency from a node to a node; `None` matches every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Initiator node.
    pub from: Option<u32>,
    /// Target node.
    pub to: Option<u32>,
    /// Ticks of one access.
    pub ticks: u64,
}

/// A pair of nodes with its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Initiator node.
    pub from: u32,
    /// Target node.
    pub to: u32,
    /// Ticks of one access.
    pub ticks: u64,
}

/// A reachable pair of nodes without a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Initiator node.
    pub from: u32,
    /// Target node.
    pub to: u32,
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no latency from node {} to node {}: add latency={0}:{1}:TICKS", self.from, self.to)
    }
}

/// Main memory as seen from all CPUs.
#[derive(Clone, Debug)]
pub struct Memory {
    regions: Vec<Region>,
    pairs: Vec<Pair>,
}

impl Memory {
    /// Makes the memory of `regions`, reached from the `initiators`. If several latencies match a pair, one
    /// that names both nodes goes before one that names only the initiator, and that one before one that
    /// names only the target; among equals the last one counts.
    ///
    /// # Errors
    ///
    /// The first pair without a latency.
    pub fn new(regions: Vec<Region>, latencies: &[Latency], initiators: &[u32]) -> Result<Self, Missing> {
        let mut pairs: Vec<Pair> = Vec::new();
        for &from in initiators {
            for to in regions.iter().map(|region| region.node) {
                if pairs.iter().any(|pair| pair.from == from && pair.to == to) {
                    continue;
                }
                let ticks = latencies
                    .iter()
                    .filter(|latency| latency.from.is_none_or(|node| node == from))
                    .filter(|latency| latency.to.is_none_or(|node| node == to))
                    .max_by_key(|latency| (latency.from.is_some(), latency.to.is_some()))
                    .ok_or(Missing { from, to })?
                    .ticks;
                pairs.push(Pair { from, to, ticks });
            }
        }
        Ok(Self { regions, pairs })
    }

    /// Returns all pairs of initiator and target.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Returns the index in [`Memory::pairs`] of an access to `address` from node `from`; `None` if no node
    /// claims the address.
    #[must_use]
    pub fn pair(&self, from: u32, address: u64) -> Option<usize> {
        let claims = |region: &&Region| address.wrapping_sub(region.start) < region.size;
        self.pair_of_nodes(from, self.regions.iter().find(claims)?.node)
    }

    /// Returns the index in [`Memory::pairs`] of two nodes; `None` if there are no CPUs on `from` or no memory on `to`.
    #[must_use]
    pub fn pair_of_nodes(&self, from: u32, to: u32) -> Option<usize> {
        self.pairs.iter().position(|pair| pair.from == from && pair.to == to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: u64 = 512 << 20;

    fn two_nodes() -> Vec<Region> {
        let backends = [Backend { node: 0, size: HALF }, Backend { node: 1, size: HALF }];
        place(&backends, Placing::Doubled).unwrap()
    }

    fn latency(from: Option<u32>, to: Option<u32>, ticks: u64) -> Latency {
        Latency { from, to, ticks }
    }

    #[test]
    fn backends_are_placed_as_each_release_numbers_them() {
        let backends = [(0, HALF), (1, HALF), (2, HALF / 2)].map(|(node, size)| Backend { node, size });
        let starts = |placing| {
            place(&backends, placing).unwrap().iter().map(|region| region.start).collect::<Vec<_>>()
        };
        assert_eq!(starts(Placing::Doubled), [0, 1 << 30, 2 << 30]);
        assert_eq!(starts(Placing::Physical(Board::Q35)), [0, HALF, 1 << 30]);
        assert_eq!(starts(Placing::Physical(Board::VIRT)), [1 << 30, (1 << 30) + HALF, 2 << 30]);
        let large = [Backend { node: 0, size: 3 << 30 }];
        assert!(place(&large, Placing::Physical(Board::Q35)).is_err());
        assert!(place(&large, Placing::Physical(Board::VIRT)).is_ok());
        assert!(place(&large, Placing::Doubled).is_ok());
    }

    #[test]
    fn addresses_are_mapped_to_pairs() {
        let memory = Memory::new(two_nodes(), &[latency(None, None, 5)], &[0, 1]).unwrap();
        let pair = |from, address| memory.pair(from, address).map(|at| memory.pairs()[at]);
        assert_eq!(pair(0, 0), Some(Pair { from: 0, to: 0, ticks: 5 }));
        assert_eq!(pair(1, HALF - 1), Some(Pair { from: 1, to: 0, ticks: 5 }));
        assert_eq!(pair(1, HALF), None);
        assert_eq!(pair(0, 1 << 30), Some(Pair { from: 0, to: 1, ticks: 5 }));
        assert_eq!(pair(0, (1 << 30) + HALF), None);
        assert_eq!(pair(7, 0), None);
        assert_eq!((memory.pair_of_nodes(1, 0), memory.pair_of_nodes(0, 2)), (memory.pair(1, 0), None));
    }

    #[test]
    fn the_most_specific_latency_wins_then_the_last() {
        let latencies = [
            latency(Some(0), Some(0), 1),
            latency(Some(0), None, 2),
            latency(None, Some(0), 3),
            latency(None, None, 4),
            latency(None, None, 6),
        ];
        let memory = Memory::new(two_nodes(), &latencies, &[0, 1]).unwrap();
        let ticks: Vec<_> = memory.pairs().iter().map(|pair| (pair.from, pair.to, pair.ticks)).collect();
        assert_eq!(ticks, [(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 6)]);
    }

    #[test]
    fn a_pair_without_a_latency_is_named() {
        let missing = Memory::new(two_nodes(), &[latency(Some(0), None, 2)], &[0, 1]).unwrap_err();
        assert_eq!(missing, Missing { from: 1, to: 0 });
        assert_eq!(missing.to_string(), "no latency from node 1 to node 0: add latency=1:0:TICKS");
    }
}
