//! Single cycles over any number of nodes, which look random: a table for few nodes, arithmetic for many, and the order
//! within one region of a local order. Nodes are numbers here; this file does not use their places in memory.
//!
//! A Weyl sequence `t → t + c (mod 2^k)` with odd `c` is one cycle of length
//! 2^k (Hull and Dobell, 1962, with multiplier 1). Conjugated by a bijection
//! `G` it is still one cycle of that length, but looks random: the successor of
//! node `i` is `G(G⁻¹(i) + c)`. For a number of nodes that is not a power of two,
//! the successor is the first return of that cycle to `0..nodes`; leaving out
//! elements of one cycle leaves one cycle.
//!
//! `G` is three rounds of xor-shift and odd multiplication. Two rounds
//! are too few: the distance between successive nodes then shows structure
//! that a prefetcher could learn.
//!
//! There are two benefits in addition to speed: successors are computed in address order, so the
//! buffer is written once, in whole lines; and the node at any *time* `t` is `G(c t)`, which needs
//! no walk.

use crate::arch::lanes::{self, LANES, Lanes};
use crate::rng::Pcg32;

/// The bijection `G` on numbers of `bits` bits, and its inverse.
#[derive(Clone, Copy, Debug)]
pub struct Mixer {
    /// The largest number of the domain, in which all bits are ones.
    pub mask: u64,
    shift: u32,
    multipliers: [u64; 3],
    /// The inverses of the multipliers, the last one first.
    inverses: [u64; 3],
}

impl Mixer {
    /// Returns a bijection on `0 .. 2^bits`, for `bits` up to 63.
    pub fn new(bits: u32, rng: &mut Pcg32) -> Self {
        let mask = (1u64 << bits.min(63)) - 1;
        let multipliers @ [first, second, third] = [0; 3].map(|_| (rng.next_u64() & mask) | 1);
        let inverses = [third, second, first].map(|multiplier| inverse_of_odd(multiplier) & mask);
        // An xor-shift by at least half of the bits is its own inverse.
        Mixer { mask, shift: bits.div_ceil(2), multipliers, inverses }
    }

    /// Returns `G(x)`.
    pub const fn mix(&self, x: u64) -> u64 {
        self.rounds(x, self.multipliers)
    }

    /// Returns `G⁻¹(x)`; its rounds have the same form as the rounds of `G`.
    pub const fn unmix(&self, x: u64) -> u64 {
        self.rounds(x, self.inverses)
    }

    #[inline(always)]
    const fn rounds(&self, x: u64, [first, second, third]: [u64; 3]) -> u64 {
        // This is not a loop, since every proof of a hop count runs it, and loops are not unrolled in code optimised
        // for size.
        let x = self.fold(x).wrapping_mul(first) & self.mask;
        let x = self.fold(x).wrapping_mul(second) & self.mask;
        let x = self.fold(x).wrapping_mul(third) & self.mask;
        self.fold(x)
    }

    /// Computes the xor-shift between multiplications, which is its own inverse.
    #[inline(always)]
    const fn fold(&self, x: u64) -> u64 {
        x ^ (x >> self.shift)
    }
}

/// Returns the multiplicative inverse of an odd number modulo 2^64.
///
/// Newton's iteration doubles the number of correct low bits; an odd number is
/// its own inverse modulo 8, so five steps give 96 ≥ 64 of them.
pub const fn inverse_of_odd(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// The single cycle over `0..nodes`.
#[derive(Clone, Copy, Debug)]
pub struct Weyl {
    nodes: u64,
    mixer: Mixer,
    step: u64,
}

impl Weyl {
    /// Returns a cycle over `nodes` nodes, at least one and at most 2^62.
    pub fn new(nodes: u64, rng: &mut Pcg32) -> Self {
        let bits = nodes.max(1).next_power_of_two().trailing_zeros();
        let mixer = Mixer::new(bits, rng);
        // A step of 1 would make runs of nodes whose mixed values are related.
        let step = (rng.next_u64() & mixer.mask) | 1;
        Weyl { nodes: nodes.max(1), mixer, step }
    }

    /// Returns the node that a chase from `node` reaches after `hops` hops.
    pub fn after(&self, node: u64, hops: u64) -> u64 {
        self.mixer.mix(self.advance(self.mixer.unmix(node), hops))
    }

    /// Returns the time that a chase from `time` reaches after `hops` hops.
    ///
    /// For a power of two nodes this is one multiplication. Otherwise the elements that the cycle
    /// leaves out have to be counted, which takes about 1 ns per hop and needs no memory.
    pub fn advance(&self, time: u64, hops: u64) -> u64 {
        let mask = self.mixer.mask;
        if self.nodes == mask + 1 {
            return time.wrapping_add(self.step.wrapping_mul(hops)) & mask;
        }
        let hops = hops % self.nodes;
        match self.vectorised() {
            Some((lanes, cycle)) => {
                let (time, left) = lanes.advance(&cycle, time as u32, hops);
                self.step_by_step(u64::from(time), left)
            }
            None => self.step_by_step(time, hops),
        }
    }

    fn step_by_step(&self, time: u64, hops: u64) -> u64 {
        let mask = self.mixer.mask;
        let (mut time, mut left) = (time, hops);
        while left > 0 {
            // Each step meets at most one node, so `left` steps cannot overshoot; and the last pass
            // ends on a node, since each of its steps met one.
            let mut met = 0;
            for _ in 0..left {
                time = time.wrapping_add(self.step) & mask;
                met += u64::from(self.mixer.mix(time) < self.nodes);
            }
            left -= met;
        }
        time
    }

    /// Returns the cycle in the form for vector instructions if the processor has them and the cycle's numbers fit.
    fn vectorised(&self) -> Option<(Lanes, lanes::Cycle)> {
        let Mixer { mask, shift, multipliers, inverses } = self.mixer;
        let cycle = lanes::Cycle {
            mask: u32::try_from(mask).ok()?,
            shift,
            multipliers: multipliers.map(|multiplier| multiplier as u32),
            inverses: inverses.map(|inverse| inverse as u32),
            step: self.step as u32,
            last: (self.nodes - 1) as u32,
        };
        Some((Lanes::detect()?, cycle))
    }

    /// Returns the first node at or after `part`/`parts` of the cycle.
    ///
    /// Parts have equal numbers of steps of the full cycle. So their numbers of nodes differ by
    /// about the square root of this number, or not at all for a power of two.
    pub fn part(&self, part: u64, parts: u64) -> u64 {
        let mask = self.mixer.mask;
        let index = (u128::from(part) * (u128::from(mask) + 1) / u128::from(parts.max(1))) as u64;
        let mut time = self.step.wrapping_mul(index) & mask;
        while self.mixer.mix(time) >= self.nodes {
            time = time.wrapping_add(self.step) & mask;
        }
        self.mixer.mix(time)
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    pub fn successors(&self, first: u64, successors: &mut [u64]) {
        match self.vectorised() {
            Some((lanes, cycle)) => {
                let (groups, rest) = successors.as_chunks_mut::<LANES>();
                let mut first = first as u32;
                for group in groups {
                    lanes.successors(&cycle, first, group);
                    first = first.wrapping_add(LANES as u32);
                }
                self.one_by_one(first.into(), rest);
            }
            // Page faults dominate the time of writing a chain that is too large for 32 bits.
            None => self.one_by_one(first, successors),
        }
    }

    fn one_by_one(&self, first: u64, successors: &mut [u64]) {
        for (node, successor) in (first..).zip(successors) {
            *successor = self.after(node, 1);
        }
    }
}

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

/// The order of nodes within the regions of a local order, which differs between regions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within {
    mixer: Mixer,
    step: u64,
    inverse_step: u64,
    key: u64,
    bits: u32,
}

impl Within {
    /// Returns an order for regions of `2^bits` nodes.
    pub(super) fn new(bits: u32, rng: &mut Pcg32) -> Within {
        let mixer = Mixer::new(bits, rng);
        let step = rng.next_u64() | 1;
        Within { mixer, step, inverse_step: inverse_of_odd(step), key: rng.next_u64(), bits }
    }

    /// Returns the number of the last turn in a region.
    pub(super) const fn last_turn(&self) -> u64 {
        self.mixer.mask
    }

    /// Splits a number of nodes into the number of whole regions and the rest.
    pub(super) const fn split(&self, nodes: u64) -> (u64, u64) {
        (nodes >> self.bits, nodes & self.mixer.mask)
    }

    fn region_key(&self, region: u64) -> u64 {
        (region ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & self.mixer.mask
    }

    /// Returns the node of `region` that is visited at `turn`.
    pub(super) fn node(&self, region: u64, turn: u64) -> u64 {
        let time = turn.wrapping_mul(self.step) & self.mixer.mask;
        region << self.bits | self.mixer.mix(time ^ self.region_key(region))
    }

    /// Returns the turn at which a node is visited in its region.
    pub(super) fn turn(&self, node: u64) -> u64 {
        let (region, place) = self.split(node);
        let time = self.mixer.unmix(place) ^ self.region_key(region);
        time.wrapping_mul(self.inverse_step) & self.mixer.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn mixing_is_undone(bits in 0u32..=48, x: u64, seed: u64) {
            let mixer = Mixer::new(bits, &mut Pcg32::new(seed, 1));
            let x = x & mixer.mask;
            prop_assert_eq!(mixer.unmix(mixer.mix(x)), x);
            prop_assert_eq!(mixer.mix(mixer.unmix(x)), x);
            prop_assert!(mixer.mix(x) <= mixer.mask);
        }

        #[test]
        fn odd_numbers_have_inverses(x: u64) {
            prop_assert_eq!((x | 1).wrapping_mul(inverse_of_odd(x | 1)), 1);
        }

        #[test]
        fn is_one_cycle_over_all_nodes(nodes in 1u64..20_000, seed: u64) {
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            let mut node = 0;
            for hop in 1..=nodes {
                node = weyl.after(node, 1);
                prop_assert!(node < nodes);
                prop_assert_eq!(node == 0, hop == nodes);
            }
        }

        #[test]
        fn blocks_agree_with_single_steps(nodes in 1u64..5_000, first in 0u64..5_000, count in 0usize..900, seed: u64) {
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            let first = first % nodes;
            let count = count.min((nodes - first) as usize);
            let mut successors = std::vec![0; count];
            weyl.successors(first, &mut successors);
            for (node, successor) in (first..).zip(successors) {
                prop_assert_eq!(successor, weyl.after(node, 1));
            }
        }

        #[test]
        fn vectors_agree_with_single_steps(bits in 1u32..=32, below: u64, time: u64, first: u64, hops in 0u64..3_000, seed: u64) {
            // A number between half of a power of two and the power, so that the cycle has the requested number of
            // bits.
            let nodes = (1u64 << bits) - below % (1u64 << (bits - 1));
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            let time = time & weyl.mixer.mask;
            prop_assert_eq!(weyl.advance(time, hops % nodes), weyl.step_by_step(time, hops % nodes));
            let (first, mut vectorised, mut single) = (first % nodes, [0; 70], [0; 70]);
            let count = (nodes - first).min(70) as usize;
            weyl.successors(first, &mut vectorised[..count]);
            weyl.one_by_one(first, &mut single[..count]);
            prop_assert_eq!(vectorised, single);
        }

        #[test]
        fn chains_beyond_32_bits_are_walked_one_by_one(more in 1u64..1 << 33, first: u64, hops in 0u64..300, seed: u64) {
            let nodes = (1u64 << 32) + more;
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            let first = first % (nodes - 9);
            let mut successors = [0; 9];
            weyl.successors(first, &mut successors);
            for (node, successor) in (first..).zip(successors) {
                prop_assert_eq!(successor, weyl.after(node, 1));
            }
            let walked = (0..hops).fold(first, |node, _| weyl.after(node, 1));
            prop_assert_eq!(weyl.after(first, hops), walked);
        }

        #[test]
        fn time_advances_as_the_walk_does(nodes in 1u64..5_000, from in 0u64..5_000, hops in 0u64..12_000, seed: u64) {
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            let from = from % nodes;
            let walked = (0..hops).fold(from, |node, _| weyl.after(node, 1));
            prop_assert_eq!(weyl.after(from, hops), walked);
        }

        #[test]
        fn parts_are_equally_far_apart(bits in 4u32..14, parts in 1u64..16, seed: u64) {
            let nodes = 1u64 << bits;
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            for part in 1..parts {
                let (earlier, later) = (weyl.part(part - 1, parts), weyl.part(part, parts));
                let hops = part * nodes / parts - (part - 1) * nodes / parts;
                prop_assert_eq!(weyl.after(earlier, hops), later);
            }
        }
    }

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
