//! The order in which a pointer chase visits the nodes of its working set.
//!
//! A chain is one single cycle over all nodes. Arithmetic alone gives the successor of a node, the
//! node that a chase reaches after a number of hops, and start points at equal distances.
//! [`NodeLayout`] gives the places of the nodes in memory; `buffer` writes them there. Nothing here
//! reads memory.

mod grouped;
mod layout;
mod weyl;

use crate::hash::Fnv;
use crate::rng::Pcg32;
use crate::units::{Bytes, LineSize, PageSize};
use core::hash::Hasher;
use grouped::{Grouped, GroupedAlone};
use weyl::{CyclicPermutation, Within};

pub use grouped::{FEWEST_PAGES, GROUPED, WINDOWS, Window};
pub use layout::{NodeLayout, ShapeError};
pub use weyl::SATTOLO_LIMIT;

/// The order of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Every node is equally likely to follow any other: the next access cannot be predicted.
    Random,
    /// Random within regions of this size; each region is visited completely before the next one, in random order.
    ///
    /// This order avoids page walks and lets prefetchers that work within a page help: its time per
    /// hop is not the latency of memory.
    Local(Bytes),
    /// Windows of 32 base pages, taken at random; each page of a window is visited 1, 2 or 4 times, in random order.
    ///
    /// Only the first visit of a page in a window may walk the page table: its time per hop is not the latency of memory.
    Grouped {
        /// Visits of a page in a window.
        visits: u64,
        /// The base page of the machine.
        page: PageSize,
    },
    /// Ascending addresses.
    Sequential,
    /// Descending addresses.
    Backward,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Random(CyclicPermutation),
    Local { regions: CyclicPermutation, within: Within },
    Grouped(GroupedAlone),
    Sequential,
    Backward,
}

/// One single cycle over the nodes of a layout; with grouped chains, several cycles over the lines of one buffer.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    layout: NodeLayout,
    shape: Shape,
    /// The grouped chains, whose nodes are numbered behind the others.
    grouped: Option<Grouped>,
}

impl Chain {
    /// Returns the chain of `order` over a working set of `size` bytes with nodes `stride` bytes apart, on a machine with
    /// cache lines of 64 bytes.
    ///
    /// # Errors
    ///
    /// The same as [`with_line`](Self::with_line).
    pub fn new(order: Order, size: Bytes, stride: Bytes, seed: u64) -> Result<Chain, ShapeError> {
        Self::with_line(order, size, (stride, LineSize::LEAST), seed)
    }

    /// Returns the chain of `order` over a working set of `size` bytes with nodes `stride` bytes apart, on a machine with
    /// cache lines of size `line`: a node that has a line of its own starts at the start of that line.
    ///
    /// The same arguments give the same chain on every machine. For a local order the working set
    /// is reduced to whole regions, and for a grouped order to whole windows.
    ///
    /// # Errors
    ///
    /// [`ShapeError`] if a chain of this shape cannot exist.
    pub fn with_line(
        order: Order,
        size: Bytes,
        (stride, line): (Bytes, LineSize),
        seed: u64,
    ) -> Result<Chain, ShapeError> {
        let scattered = matches!(order, Order::Random | Order::Local(_));
        let mut rng = Pcg32::new(seed, 0x6368_6169);
        let mut layout = NodeLayout::new(size, (stride, line), scattered, seed)?;
        let shape = match order {
            Order::Random => Shape::Random(CyclicPermutation::new(layout.nodes, &mut rng)),
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
                let within = Within::new(per_region.trailing_zeros(), &mut rng);
                Shape::Local { regions: CyclicPermutation::new(regions, &mut rng), within }
            }
            Order::Grouped { .. } if stride != line.bytes() => return Err(ShapeError::Stride(stride)),
            Order::Grouped { visits, page } => {
                let grouped =
                    GroupedAlone::new(&layout, (visits, page), &mut rng).ok_or(ShapeError::TooSmall)?;
                layout.nodes = grouped.nodes();
                Shape::Grouped(grouped)
            }
        };
        Ok(Chain { layout, shape, grouped: None })
    }

    /// Returns a random chain over one line of each pair of lines, with grouped chains over the other lines; each chain is
    /// a cycle of its own. `page` is the base page of the machine.
    ///
    /// # Errors
    ///
    /// [`ShapeError::TooSmall`] if the working set has too few pages for grouped chains, or if pages have too few lines.
    pub fn split(size: Bytes, line: LineSize, page: PageSize, seed: u64) -> Result<Chain, ShapeError> {
        let chain = Self::with_line(Order::Random, size, (line.times(2), line), seed)?;
        let grouped = Grouped::new(&chain.layout, page, &mut Pcg32::new(seed, 0x6772_6f75));
        Ok(Chain { grouped: Some(grouped.ok_or(ShapeError::TooSmall)?), ..chain })
    }

    /// Returns the places of the nodes, without those of grouped chains.
    pub const fn layout(&self) -> &NodeLayout {
        &self.layout
    }

    /// Returns the number of nodes, which is also the number of hops in a lap; without those of grouped chains.
    pub const fn nodes(&self) -> u64 {
        self.layout.nodes
    }

    /// Returns the number behind the last node of all chains.
    pub fn end(&self) -> u64 {
        self.grouped.as_ref().map_or(self.layout.nodes, Grouped::end)
    }

    /// Returns true if grouped chains lie beside the random one.
    pub const fn is_split(&self) -> bool {
        self.grouped.is_some()
    }

    /// Returns the first node and the number of nodes of a chain: 0 is the only or the random one, and a grouped chain has
    /// one more than its index in [`WINDOWS`].
    pub fn cycle(&self, number: usize) -> Option<(u64, u64)> {
        match number.checked_sub(1) {
            None => Some((self.start(0, 1), self.nodes())),
            Some(index) => self.grouped.as_ref()?.cycle(index),
        }
    }

    /// Returns the offset in bytes of a node from the start of the working set.
    pub fn offset(&self, node: u64) -> u64 {
        match &self.grouped {
            Some(grouped) if node >= self.layout.nodes => self.other_of(grouped.pair(node)),
            _ => self.layout.offset(node),
        }
    }

    /// Returns the offset of the line of a pair that is not the random chain's.
    fn other_of(&self, pair: u64) -> u64 {
        self.layout.offset(pair) ^ self.layout.line().0
    }

    /// Calls `each` with the offset of every grouped line and the offset of its successor, in about the order of
    /// addresses, and `pause` now and then; ends early if `pause` returns true.
    pub(crate) fn each_grouped(
        &self,
        pause: &mut dyn FnMut() -> bool,
        each: &mut dyn FnMut(u64, u64),
    ) -> bool {
        match (&self.shape, &self.grouped) {
            (Shape::Grouped(alone), _) => {
                alone.each(pause, &mut |node, next| each(self.offset(node), self.offset(next)))
            }
            (_, Some(grouped)) => {
                grouped.each(pause, &mut |pair, next| each(self.other_of(pair), self.other_of(next)))
            }
            _ => true,
        }
    }

    /// Returns true if [`each_grouped`](Self::each_grouped) gives all lines.
    pub(crate) const fn is_grouped(&self) -> bool {
        matches!(self.shape, Shape::Grouped(_))
    }

    /// Returns the node that follows `node`, which must be below [`end`](Self::end).
    pub fn next(&self, node: u64) -> u64 {
        let nodes = self.layout.nodes;
        if node >= nodes {
            return self.advance(node, 1);
        }
        match &self.shape {
            Shape::Random(cycle) => cycle.next(node),
            Shape::Sequential => (node + 1) % nodes,
            Shape::Backward => (node + nodes - 1) % nodes,
            Shape::Grouped(grouped) => grouped.node((grouped.time(node) + 1) % nodes),
            Shape::Local { regions, within } => match (within.split(node).0, within.turn(node)) {
                (region, turn) if turn < within.last_turn() => within.node(region, turn + 1),
                (region, _) => within.node(regions.next(region), 0),
            },
        }
    }

    /// Returns the node on which a chase from `node` stands after `hops` hops.
    ///
    /// Every timed run is checked against this node: a chase that made a different number of hops,
    /// or loaded a damaged pointer, ends elsewhere.
    pub fn advance(&self, node: u64, hops: u64) -> u64 {
        let nodes = self.layout.nodes;
        if let Some(grouped) = self.grouped.as_ref().filter(|_| node >= nodes) {
            return grouped.advance(node, hops);
        }
        let hops = hops % nodes;
        match &self.shape {
            Shape::Random(cycle) => cycle.advance(node, hops),
            Shape::Sequential => (node + hops) % nodes,
            Shape::Backward => (node + nodes - hops) % nodes,
            Shape::Grouped(grouped) => grouped.node((grouped.time(node) + hops) % nodes),
            Shape::Local { regions, within } => {
                let (crossed, turn) = within.split(within.turn(node) + hops);
                within.node(regions.advance(within.split(node).0, crossed), turn)
            }
        }
    }

    /// Returns the start node of the `part`-th of `parts` chases; the starts are at equal distances on the cycle.
    pub fn start(&self, part: u64, parts: u64) -> u64 {
        let parts = parts.max(1);
        let share = |of: u64| (u128::from(part) * u128::from(of) / u128::from(parts)) as u64 % of.max(1);
        match &self.shape {
            Shape::Random(cycle) => cycle.part(part, parts),
            Shape::Sequential => share(self.layout.nodes),
            Shape::Backward => self.layout.nodes - 1 - share(self.layout.nodes),
            Shape::Grouped(grouped) => grouped.node(share(self.layout.nodes)),
            Shape::Local { regions, within } => {
                within.node(regions.part(part, parts), within.split(share(self.layout.nodes)).1)
            }
        }
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    pub fn successors(&self, first: u64, successors: &mut [u64]) {
        if let Shape::Random(CyclicPermutation::Weyl(weyl)) = &self.shape {
            return weyl.successors(first, successors);
        }
        for (node, successor) in (first..).zip(successors) {
            *successor = self.next(node);
        }
    }

    /// Returns a number that identifies the chain, and is the same for the same chain on every machine.
    ///
    /// It is an FNV-1a hash of the shape and of the nodes at 64 equally spaced places.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::EMPTY;
        let mut add = |word: u64| hash.write(&word.to_le_bytes());
        let NodeLayout { nodes, stride, .. } = self.layout;
        [nodes, stride].into_iter().for_each(&mut add);
        let mut add_nodes = |first: u64, nodes: u64| {
            for place in 0..64 {
                let node = first + nodes / 64 * place + nodes % 64 * place / 64;
                [self.offset(node), self.offset(self.next(node))].into_iter().for_each(&mut add);
            }
        };
        add_nodes(0, nodes);
        if let Some(grouped) = &self.grouped {
            add_nodes(nodes, grouped.end() - nodes);
        }
        hash.finish()
    }
}

#[cfg(test)]
mod tests;
