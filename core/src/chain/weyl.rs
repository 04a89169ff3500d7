//! A pseudo-random single cycle over any number of nodes, computed and not stored.
//!
//! A Weyl sequence `t → t + c (mod 2^k)` with odd `c` is one cycle of length
//! 2^k (Hull and Dobell, 1962, with multiplier 1). Conjugated by a bijection
//! `G` it is still one cycle of that length, but looks random: the successor of
//! node `i` is `G(G⁻¹(i) + c)`. For a number of nodes that is no power of two,
//! the successor is the first return of that cycle to `0..nodes`; leaving out
//! elements of one cycle leaves one cycle.
//!
//! `G` is three rounds of xor-shift and odd multiplication, which two rounds
//! are too few for: the distance between successive nodes then shows structure
//! that a prefetcher could learn.
//!
//! What this gives beside speed: successors in address order, so that the
//! buffer is written once, in whole lines; and the node at any *time* `t`,
//! `G(c t)`, without a walk.

use core::ops::{BitAnd, BitXor, Shr};

use crate::arch;
use crate::rng::Pcg32;

/// How many successors are computed side by side.
const BLOCK: usize = 256;

/// How many of them go through a multiplication in lockstep: four vectors of eight.
const LANES: usize = 32;

/// The integers that the arithmetic is done in.
///
/// Up to 2^32 nodes it is 32 bits wide, because vector units multiply those:
/// that makes the difference between computing a chain at half and at three times
/// the speed at which memory takes it.
pub trait Word: Copy + Ord + BitAnd<Output = Self> + BitXor<Output = Self> + Shr<u32, Output = Self> {
    /// The low bits of a number.
    fn low(number: u64) -> Self;
    /// The number.
    fn wide(self) -> u64;
    /// The product, modulo the word.
    fn times(self, other: Self) -> Self;
    /// The sum, modulo the word.
    fn plus(self, other: Self) -> Self;
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            #[inline(always)]
            fn low(number: u64) -> Self {
                number as Self
            }
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    };
}
word!(u32);
word!(u64);

/// The bijection `G` on numbers of `bits` bits, and its inverse.
#[derive(Clone, Copy, Debug)]
pub struct Mixer<W = u64> {
    mask: W,
    shift: u32,
    multipliers: [W; 3],
    inverses: [W; 3],
}

impl Mixer<u64> {
    /// A bijection on `0 .. 2^bits`, for `bits` up to 63.
    #[must_use]
    pub fn new(bits: u32, rng: &mut Pcg32) -> Self {
        let mask = (1u64 << bits.min(63)) - 1;
        let mut multipliers = [1; 3];
        let mut inverses = [1; 3];
        for (multiplier, inverse) in multipliers.iter_mut().zip(&mut inverses) {
            *multiplier = (rng.next_u64() & mask) | 1;
            *inverse = inverse_of_odd(*multiplier) & mask;
        }
        // A shift by at least half of the bits undoes itself.
        Mixer { mask, shift: bits.div_ceil(2), multipliers, inverses }
    }

    /// The same bijection in other words, which have to be wide enough.
    fn in_words<W: Word>(&self) -> Mixer<W> {
        Mixer {
            mask: W::low(self.mask),
            shift: self.shift,
            multipliers: self.multipliers.map(W::low),
            inverses: self.inverses.map(W::low),
        }
    }

    /// The largest number of the domain, which is all ones.
    #[must_use]
    pub const fn mask(&self) -> u64 {
        self.mask
    }
}

impl<W: Word> Mixer<W> {
    /// `G(x)`.
    #[inline(always)]
    #[must_use]
    pub fn mix(&self, x: W) -> W {
        let mut x = [x];
        self.mix_lanes(&mut x);
        x[0]
    }

    /// `G⁻¹(x)`.
    #[inline(always)]
    #[must_use]
    pub fn unmix(&self, x: W) -> W {
        let mut x = [x];
        self.unmix_lanes(&mut x);
        x[0]
    }

    /// `G` of each lane, in lockstep: the multiplications of one lane wait for
    /// each other, and other lanes fill the time.
    #[inline(always)]
    fn mix_lanes<const LANES: usize>(&self, lanes: &mut [W; LANES]) {
        for multiplier in self.multipliers {
            for x in lanes.iter_mut() {
                *x = (*x ^ (*x >> self.shift)).times(multiplier) & self.mask;
            }
        }
        for x in lanes.iter_mut() {
            *x = *x ^ (*x >> self.shift);
        }
    }

    /// `G⁻¹` of each lane, in lockstep.
    #[inline(always)]
    fn unmix_lanes<const LANES: usize>(&self, lanes: &mut [W; LANES]) {
        for x in lanes.iter_mut() {
            *x = *x ^ (*x >> self.shift);
        }
        for inverse in self.inverses.iter().rev() {
            for x in lanes.iter_mut() {
                *x = x.times(*inverse) & self.mask;
                *x = *x ^ (*x >> self.shift);
            }
        }
    }
}

/// The multiplicative inverse of an odd number modulo 2^64.
///
/// Newton's iteration doubles the number of correct low bits; an odd number is
/// its own inverse modulo 8, so five steps give 96 ≥ 64 of them.
#[must_use]
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
    /// A cycle over `nodes` nodes, at least one and at most 2^62.
    #[must_use]
    pub fn new(nodes: u64, rng: &mut Pcg32) -> Self {
        let bits = nodes.max(1).next_power_of_two().trailing_zeros();
        let mixer = Mixer::new(bits, rng);
        // A step of 1 would make runs of nodes whose mixed values are related.
        let step = (rng.next_u64() & mixer.mask()) | 1;
        Weyl { nodes: nodes.max(1), mixer, step }
    }

    /// The node that follows `node`.
    #[must_use]
    pub fn next(&self, node: u64) -> u64 {
        self.node_at(self.advance(self.time_of(node), 1))
    }

    /// The time at which the cycle stands on `node`.
    #[must_use]
    pub fn time_of(&self, node: u64) -> u64 {
        self.mixer.unmix(node)
    }

    /// The node on which the cycle stands at `time`.
    #[must_use]
    pub fn node_at(&self, time: u64) -> u64 {
        self.mixer.mix(time)
    }

    /// The time at which a chase that set out at `time` stands after `hops` hops.
    ///
    /// At once for a power of two. Otherwise the elements that are left out
    /// have to be counted; that is a few nanoseconds a hop, and needs no memory.
    #[must_use]
    pub fn advance(&self, time: u64, hops: u64) -> u64 {
        let mask = self.mixer.mask();
        if self.nodes == mask + 1 {
            return time.wrapping_add(self.step.wrapping_mul(hops)) & mask;
        }
        let mut time = time;
        let mut left = hops % self.nodes;
        while left > 0 {
            // Each step meets one node at most, so this many cannot overshoot;
            // and the last pass ends on a node, since all of its steps met one.
            let mut met = 0;
            for _ in 0..left {
                time = time.wrapping_add(self.step) & mask;
                met += u64::from(self.mixer.mix(time) < self.nodes);
            }
            left -= met;
        }
        time
    }

    /// The first time from `part`/`parts` of the cycle on at which it stands on a node.
    ///
    /// Parts are equal in steps of the full cycle, hence in nodes to within the
    /// square root of their number; exactly for a power of two.
    #[must_use]
    pub fn time_of_part(&self, part: u64, parts: u64) -> u64 {
        let mask = self.mixer.mask();
        let index = (u128::from(part) * (u128::from(mask) + 1) / u128::from(parts.max(1))) as u64;
        let mut time = self.step.wrapping_mul(index) & mask;
        while self.mixer.mix(time) >= self.nodes {
            time = time.wrapping_add(self.step) & mask;
        }
        time
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    pub fn successors(&self, first: u64, successors: &mut [u64]) {
        if self.mixer.mask() <= u64::from(u32::MAX) {
            arch::vectorised(
                #[inline(always)]
                || self.successors_in_words::<u32, LANES>(first, successors),
            );
        } else {
            // No vector unit multiplies these; so large a chain waits for its page faults anyway.
            self.successors_in_words::<u64, 1>(first, successors);
        }
    }

    #[inline(always)]
    fn successors_in_words<W: Word, const LANES: usize>(&self, first: u64, successors: &mut [u64]) {
        let mixer = self.mixer.in_words::<W>();
        let step = W::low(self.step);
        let first_lanes = |first: u64| {
            let mut lanes = [W::low(first); LANES];
            for (lane, number) in lanes.iter_mut().zip(0u32..) {
                *lane = lane.plus(W::low(u64::from(number)));
            }
            lanes
        };
        let everywhere = self.nodes == self.mixer.mask() + 1;
        let mut node = first;
        for block in successors.chunks_mut(BLOCK) {
            let mut times = [W::low(0); BLOCK];
            for (group, first) in times.as_chunks_mut::<LANES>().0.iter_mut().zip((node..).step_by(LANES)) {
                *group = first_lanes(first);
                mixer.unmix_lanes(group);
                if everywhere {
                    for time in group.iter_mut() {
                        *time = time.plus(step) & mixer.mask;
                    }
                    mixer.mix_lanes(group);
                }
            }
            if everywhere {
                for (successor, time) in block.iter_mut().zip(times) {
                    *successor = time.wide();
                }
            } else {
                first_returns::<W, LANES>(&mixer, step, W::low(self.nodes - 1), &mut times, block);
            }
            node += block.len() as u64;
        }
    }
}

/// The first nodes after `times` on the cycle of `mixer` and `step` that are not above `last`.
///
/// All lanes take a step together, which has no branch to mispredict and fits
/// vector units. Those that met no node then close ranks and take another.
#[inline(always)]
fn first_returns<W: Word, const LANES: usize>(
    mixer: &Mixer<W>,
    step: W,
    last: W,
    times: &mut [W; BLOCK],
    successors: &mut [u64],
) {
    let mut nodes = [W::low(0); BLOCK];
    let mut lanes = [0u16; BLOCK];
    for (lane, number) in lanes.iter_mut().zip(0..) {
        *lane = number;
    }
    let mut waiting = successors.len().min(BLOCK);
    while waiting > 0 {
        let groups = times.as_chunks_mut::<LANES>().0.iter_mut().zip(nodes.as_chunks_mut::<LANES>().0);
        for (times, nodes) in groups.take(waiting.div_ceil(LANES)) {
            for time in times.iter_mut() {
                *time = time.plus(step) & mixer.mask;
            }
            *nodes = *times;
            mixer.mix_lanes(nodes);
        }
        let mut still = 0;
        for place in 0..waiting {
            let (node, lane) = (nodes[place], lanes[place]);
            // Whoever has to wait is written again later.
            if let Some(successor) = successors.get_mut(usize::from(lane)) {
                *successor = node.wide();
            }
            times[still] = times[place];
            lanes[still] = lane;
            still += usize::from(node > last);
        }
        waiting = still;
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
            let x = x & mixer.mask();
            prop_assert_eq!(mixer.unmix(mixer.mix(x)), x);
            prop_assert_eq!(mixer.mix(mixer.unmix(x)), x);
            prop_assert!(mixer.mix(x) <= mixer.mask());
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
                node = weyl.next(node);
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
                prop_assert_eq!(successor, weyl.next(node));
            }
        }

        #[test]
        fn time_advances_as_the_walk_does(nodes in 1u64..5_000, from in 0u64..5_000, hops in 0u64..12_000, seed: u64) {
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            let from = from % nodes;
            let walked = (0..hops).fold(from, |node, _| weyl.next(node));
            prop_assert_eq!(weyl.node_at(weyl.advance(weyl.time_of(from), hops)), walked);
        }

        #[test]
        fn parts_are_equally_far_apart(bits in 4u32..14, parts in 1u64..16, seed: u64) {
            let nodes = 1u64 << bits;
            let weyl = Weyl::new(nodes, &mut Pcg32::new(seed, 2));
            for part in 1..parts {
                let (earlier, later) = (weyl.time_of_part(part - 1, parts), weyl.time_of_part(part, parts));
                let hops = part * nodes / parts - (part - 1) * nodes / parts;
                prop_assert_eq!(weyl.advance(earlier, hops), later);
            }
        }
    }
}
