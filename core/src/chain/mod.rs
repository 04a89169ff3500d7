//! The order in which a pointer chase visits the nodes of its working set.
//!
//! A chain is one single cycle over all nodes, known by arithmetic alone: the
//! successor of a node, where a chase stands after so many hops, and start
//! points at equal distance. Where the nodes lie in memory is the business of
//! [`Layout`]; writing them there is that of `buffer`. Nothing here reads memory.

pub mod weyl;

use crate::rng::Pcg32;
use crate::units::Bytes;
use weyl::{inverse_of_odd, Mixer, Weyl};

/// Below this many nodes Sattolo's shuffle is affordable, and better: a few
/// keyed rounds on so few bits leave structure behind for one seed in ten.
pub const SATTOLO_LIMIT: u64 = 4096;

/// The order of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Every node equally likely to follow any other: nothing to predict.
    Random,
    /// Random within regions of this size, which are visited whole, in random order.
    ///
    /// It spares page walks and lets prefetchers that work within a page help:
    /// what it measures is not the latency of memory.
    Local(Bytes),
    /// Ascending addresses.
    Sequential,
    /// Descending addresses.
    Backward,
}

/// Random within 4 KiB pages.
pub const PAGE_LOCAL: Order = Order::Local(Bytes(4096));

/// Why there is no chain of a given shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// The stride is not 4, 8, 16, 32 or a multiple of 64 bytes.
    Stride(Bytes),
    /// Fewer than two nodes fit in the working set.
    TooSmall,
    /// Regions of a local order must be a power of two times the stride.
    Region(Bytes),
}

/// Where the nodes of a working set lie, relative to its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    nodes: u64,
    stride: u64,
    /// Lines in a stride from among which a node's line is drawn; 1 means the first.
    lines: u64,
    key: u64,
}

impl Layout {
    /// Nodes `stride` bytes apart that fill `size` bytes.
    ///
    /// A pointer always lies in the first half of its cache line where a node
    /// has a line of its own: the second half arrives later (1.4 % of a memory
    /// access on Emerald Rapids). A stride of several lines holds its node in a line
    /// drawn at random if `scattered`, since a fixed one would use a part of
    /// the memory channels and cache sets.
    ///
    /// # Errors
    ///
    /// [`ShapeError::Stride`] and [`ShapeError::TooSmall`].
    pub fn new(size: Bytes, stride: Bytes, scattered: bool, seed: u64) -> Result<Layout, ShapeError> {
        if !(matches!(stride.0, 4 | 8 | 16 | 32) || (stride.0 > 0 && stride.0.is_multiple_of(64))) {
            return Err(ShapeError::Stride(stride));
        }
        let nodes = size.0 / stride.0;
        if nodes < 2 {
            return Err(ShapeError::TooSmall);
        }
        let lines = if scattered { (stride.0 / 64).max(1) } else { 1 };
        Ok(Layout { nodes, stride: stride.0, lines, key: Pcg32::new(seed, 0x6c61_796f).next_u64() })
    }

    /// The number of nodes.
    #[must_use]
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The distance between neighbouring nodes.
    #[must_use]
    pub const fn stride(&self) -> Bytes {
        Bytes(self.stride)
    }

    /// Whether the nodes lie in lines drawn at random, and not at equal distances.
    #[must_use]
    pub const fn is_scattered(&self) -> bool {
        self.lines > 1
    }

    /// The working set: nodes times stride.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        Bytes(self.nodes * self.stride)
    }

    /// The offset in bytes of a node from the start of the working set.
    #[inline(always)]
    #[must_use]
    pub fn offset(&self, node: u64) -> u64 {
        let first = node * self.stride;
        if self.lines == 1 {
            return first;
        }
        // The upper half of a Fibonacci hash (Knuth, TAOCP 6.4), scaled to the number of lines.
        let hash = ((node ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32;
        first + ((hash * self.lines) >> 32) * 64
    }
}

/// One single cycle, as a stored or computed successor function.
///
/// The table is 8 KiB in place: there is no allocator to put it elsewhere.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)]
enum Cycle {
    /// Few nodes: the successor of each, from Sattolo's shuffle.
    Table { successors: [u16; SATTOLO_LIMIT as usize], nodes: u16 },
    /// Many nodes: computed.
    Weyl(Weyl),
}

impl Cycle {
    fn new(nodes: u64, rng: &mut Pcg32) -> Cycle {
        if nodes > SATTOLO_LIMIT {
            return Cycle::Weyl(Weyl::new(nodes, rng));
        }
        // S. Sattolo, "An algorithm to generate a random cyclic permutation",
        // Information Processing Letters 22(6), 1986: a shuffle that never
        // leaves an element in place gives each cycle of full length alike.
        let mut successors = [0u16; SATTOLO_LIMIT as usize];
        let count = nodes as usize;
        for (node, successor) in (0u16..).zip(successors.iter_mut().take(count)) {
            *successor = node;
        }
        for last in (1..count).rev() {
            successors.swap(last, rng.below(last as u32) as usize);
        }
        Cycle::Table { successors, nodes: nodes as u16 }
    }

    fn next(&self, node: u64) -> u64 {
        match self {
            Cycle::Table { successors, .. } => {
                successors.get(node as usize).map_or(0, |&successor| u64::from(successor))
            }
            Cycle::Weyl(weyl) => weyl.next(node),
        }
    }

    fn advance(&self, node: u64, hops: u64) -> u64 {
        match self {
            Cycle::Table { nodes, .. } => {
                (0..hops % u64::from((*nodes).max(1))).fold(node, |node, _| self.next(node))
            }
            Cycle::Weyl(weyl) => weyl.node_at(weyl.advance(weyl.time_of(node), hops)),
        }
    }

    fn part(&self, part: u64, parts: u64) -> u64 {
        match self {
            Cycle::Table { nodes, .. } => {
                let hops = u128::from(part) * u128::from(*nodes) / u128::from(parts.max(1));
                self.advance(0, hops as u64)
            }
            Cycle::Weyl(weyl) => weyl.node_at(weyl.time_of_part(part, parts)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Random(Cycle),
    Local { regions: Cycle, within: Within },
    Sequential,
    Backward,
}

/// The order within the regions of a local order; every region has its own.
#[derive(Clone, Copy, Debug)]
struct Within {
    mixer: Mixer,
    step: u64,
    inverse_step: u64,
    key: u64,
    bits: u32,
}

impl Within {
    fn region_key(&self, region: u64) -> u64 {
        (region ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & self.mixer.mask()
    }

    /// The node that is visited `turn`-th in its region.
    fn node(&self, region: u64, turn: u64) -> u64 {
        let time = turn.wrapping_mul(self.step) & self.mixer.mask();
        region << self.bits | self.mixer.mix(time ^ self.region_key(region))
    }

    /// The turn at which a node is visited in its region.
    fn turn(&self, node: u64) -> u64 {
        let (region, place) = (node >> self.bits, node & self.mixer.mask());
        let time = self.mixer.unmix(place) ^ self.region_key(region);
        time.wrapping_mul(self.inverse_step) & self.mixer.mask()
    }
}

/// One single cycle over the nodes of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    layout: Layout,
    shape: Shape,
}

impl Chain {
    /// The chain of `order` over a working set of `size` bytes with nodes `stride` bytes apart.
    ///
    /// The same arguments give the same chain on every machine. For a local
    /// order the working set is cut to whole regions.
    ///
    /// # Errors
    ///
    /// [`ShapeError`] where there is no such chain.
    pub fn new(order: Order, size: Bytes, stride: Bytes, seed: u64) -> Result<Chain, ShapeError> {
        let scattered = matches!(order, Order::Random | Order::Local(_));
        let mut rng = Pcg32::new(seed, 0x6368_6169);
        let mut layout = Layout::new(size, stride, scattered, seed)?;
        let shape = match order {
            Order::Random => Shape::Random(Cycle::new(layout.nodes, &mut rng)),
            Order::Sequential => Shape::Sequential,
            Order::Backward => Shape::Backward,
            Order::Local(region) => {
                let per_region = region.0 / stride.0;
                if !per_region.is_power_of_two() || region.0 % stride.0 != 0 {
                    return Err(ShapeError::Region(region));
                }
                let regions = layout.nodes / per_region;
                layout.nodes = regions * per_region;
                if layout.nodes < 2 {
                    return Err(ShapeError::TooSmall);
                }
                let bits = per_region.trailing_zeros();
                let mixer = Mixer::new(bits, &mut rng);
                let step = rng.next_u64() | 1;
                let within =
                    Within { mixer, step, inverse_step: inverse_of_odd(step), key: rng.next_u64(), bits };
                Shape::Local { regions: Cycle::new(regions, &mut rng), within }
            }
        };
        Ok(Chain { layout, shape })
    }

    /// Where the nodes lie.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number of nodes, which is the number of hops of a lap.
    #[must_use]
    pub const fn nodes(&self) -> u64 {
        self.layout.nodes
    }

    /// The node that follows `node`, which must be below [`nodes`](Self::nodes).
    #[must_use]
    pub fn next(&self, node: u64) -> u64 {
        let nodes = self.layout.nodes;
        match &self.shape {
            Shape::Random(cycle) => cycle.next(node),
            Shape::Sequential => (node + 1) % nodes,
            Shape::Backward => (node + nodes - 1) % nodes,
            Shape::Local { regions, within } => match within.turn(node) {
                turn if turn < within.mixer.mask() => within.node(node >> within.bits, turn + 1),
                _ => within.node(regions.next(node >> within.bits), 0),
            },
        }
    }

    /// Where a chase that set out from `node` stands after `hops` hops.
    ///
    /// This is the proof that every timed run has to pass: a chase that made
    /// another number of hops, or met a damaged pointer, stands elsewhere.
    #[must_use]
    pub fn advance(&self, node: u64, hops: u64) -> u64 {
        let nodes = self.layout.nodes;
        let hops = hops % nodes;
        match &self.shape {
            Shape::Random(cycle) => cycle.advance(node, hops),
            Shape::Sequential => (node + hops) % nodes,
            Shape::Backward => (node + nodes - hops) % nodes,
            Shape::Local { regions, within } => {
                let turns = within.turn(node) + hops;
                let region = regions.advance(node >> within.bits, turns >> within.bits);
                within.node(region, turns & within.mixer.mask())
            }
        }
    }

    /// The node from which the `part`-th of `parts` chases sets out, at equal distances on the cycle.
    #[must_use]
    pub fn start(&self, part: u64, parts: u64) -> u64 {
        let parts = parts.max(1);
        let share = |of: u64| (u128::from(part) * u128::from(of) / u128::from(parts)) as u64 % of.max(1);
        match &self.shape {
            Shape::Random(cycle) => cycle.part(part, parts),
            Shape::Sequential => share(self.layout.nodes),
            Shape::Backward => self.layout.nodes - 1 - share(self.layout.nodes),
            Shape::Local { regions, within } => {
                within.node(regions.part(part, parts), share(self.layout.nodes) & within.mixer.mask())
            }
        }
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    pub fn successors(&self, first: u64, successors: &mut [u64]) {
        if let Shape::Random(Cycle::Weyl(weyl)) = &self.shape {
            return weyl.successors(first, successors);
        }
        for (node, successor) in (first..).zip(successors) {
            *successor = self.next(node);
        }
    }

    /// A number that tells chains apart: equal for equal chains, on every machine.
    ///
    /// It is an FNV-1a hash of the shape and of the nodes at 64 equally spaced places.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let fold = |hash: u64, word: u64| {
            word.to_le_bytes()
                .iter()
                .fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        };
        let Layout { nodes, stride, .. } = self.layout;
        let hash = fold(fold(0xcbf2_9ce4_8422_2325, nodes), stride);
        (0u64..64).fold(hash, |hash, place| {
            let node = nodes / 64 * place + nodes % 64 * place / 64;
            fold(fold(hash, self.layout.offset(node)), self.layout.offset(self.next(node)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn orders() -> impl Strategy<Value = Order> {
        prop_oneof![
            Just(Order::Random),
            Just(PAGE_LOCAL),
            Just(Order::Local(Bytes(2 << 20))),
            Just(Order::Sequential),
            Just(Order::Backward),
        ]
    }

    fn strides() -> impl Strategy<Value = Bytes> {
        prop_oneof![Just(4), Just(8), Just(16), Just(64), Just(128), Just(256), Just(4096)].prop_map(Bytes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn is_one_cycle_over_all_nodes(order in orders(), stride in strides(), nodes in 2u64..30_000, seed: u64) {
            let Ok(chain) = Chain::new(order, Bytes(nodes * stride.0), stride, seed) else {
                prop_assert!(matches!(order, Order::Local(_)));
                return Ok(());
            };
            prop_assert!(chain.nodes() <= nodes);
            let start = chain.start(0, 1);
            let mut node = start;
            for hop in 1..=chain.nodes() {
                node = chain.next(node);
                prop_assert!(node < chain.nodes());
                prop_assert_eq!(node == start, hop == chain.nodes());
            }
        }

        #[test]
        fn advances_as_the_walk_does(order in orders(), stride in strides(), nodes in 2u64..9_000, from: u64, hops in 0u64..20_000, seed: u64) {
            let Ok(chain) = Chain::new(order, Bytes(nodes * stride.0), stride, seed) else { return Ok(()) };
            let from = from % chain.nodes();
            let walked = (0..hops).fold(from, |node, _| chain.next(node));
            prop_assert_eq!(chain.advance(from, hops), walked);
        }

        #[test]
        fn nodes_lie_apart_and_in_the_first_half_of_a_line(stride in strides(), nodes in 2u64..5_000, scattered: bool, seed: u64) {
            let layout = Layout::new(Bytes(nodes * stride.0), stride, scattered, seed).unwrap();
            for node in 0..nodes {
                let offset = layout.offset(node);
                prop_assert!(offset / stride.0 == node && offset + stride.0.min(8) <= layout.size().0);
                prop_assert!(stride.0 < 64 || offset.is_multiple_of(64));
            }
        }

        #[test]
        fn starts_are_at_equal_distance(order in orders(), bits in 7u32..15, parts in 1u64..9, seed: u64) {
            let Ok(chain) = Chain::new(order, Bytes(64 << bits), Bytes(64), seed) else { return Ok(()) };
            for part in 1..parts {
                let hops = part * chain.nodes() / parts - (part - 1) * chain.nodes() / parts;
                prop_assert_eq!(chain.advance(chain.start(part - 1, parts), hops), chain.start(part, parts));
            }
        }

        #[test]
        fn one_seed_is_one_chain(order in orders(), nodes in 128u64..9_000, seed: u64) {
            let make = |seed| Chain::new(order, Bytes(nodes * 64), Bytes(64), seed).map(|chain| chain.fingerprint());
            prop_assert_eq!(make(seed), make(seed));
            if order == Order::Random {
                prop_assert_ne!(make(seed), make(seed ^ 1));
            }
        }
    }

    #[test]
    fn a_local_order_finishes_a_region_before_the_next() {
        let chain = Chain::new(PAGE_LOCAL, Bytes(4096 * 50), Bytes(64), 3).unwrap();
        let mut node = chain.start(0, 1);
        let mut pages = Vec::new();
        for _ in 0..chain.nodes() {
            pages.push(node / 64);
            node = chain.next(node);
        }
        pages.dedup();
        assert_eq!(pages.len(), 50);
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let make = |order, size, stride| Chain::new(order, Bytes(size), Bytes(stride), 1).map(|_| ());
        assert_eq!(make(Order::Random, 1 << 20, 0), Err(ShapeError::Stride(Bytes(0))));
        assert_eq!(make(Order::Random, 1 << 20, 72), Err(ShapeError::Stride(Bytes(72))));
        assert_eq!(make(Order::Random, 64, 64), Err(ShapeError::TooSmall));
        assert_eq!(make(PAGE_LOCAL, 1 << 20, 192), Err(ShapeError::Region(Bytes(4096))));
        assert_eq!(make(PAGE_LOCAL, 1 << 20, 8192), Err(ShapeError::Region(Bytes(4096))));
        assert_eq!(make(PAGE_LOCAL, 4000, 64), Err(ShapeError::TooSmall));
    }

    /// Statistics of successor distances against what a uniform cycle gives (method: chi-square).
    #[test]
    fn random_order_has_no_preferred_distance() {
        for (nodes, seed) in [(1u64 << 16, 1), (50_000, 2), (1 << 20, 3), (700_001, 4)] {
            let chain = Chain::new(Order::Random, Bytes(nodes * 64), Bytes(64), seed).unwrap();
            let mut bins = [0u64; 256];
            for node in 0..nodes {
                let distance = (chain.next(node) + nodes - node) % nodes;
                bins[(distance * 256 / nodes) as usize] += 1;
            }
            let expected = nodes as f64 / 256.0;
            let chi_square: f64 =
                bins.iter().map(|&seen| (seen as f64 - expected) * (seen as f64 - expected) / expected).sum();
            // 255 degrees of freedom: mean 255, standard deviation 22.6; six of those.
            assert!((120.0..391.0).contains(&chi_square), "{nodes} nodes: {chi_square}");
        }
    }
}
