//! The place of chains: each chain is written once and stays, or is rewritten for each visit at one of several
//! positions. Generators, if there are any, run alongside a chain, or with this thread as one of them.

use core::array;
use core::cell::Cell;

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::Order;
use latency_core::kernel::lanes::MOST_LANES;
use latency_core::units::{Bytes, NodeId};

use crate::engine::memory::{Chase, Nodes, new_chain};
use crate::engine::placement::{Missing, Site, Sites, Witness, chain_of};
use crate::engine::schedule::grouped::few_before;
use crate::engine::seam::{Condition, Place, Walker, idle_until};
use crate::engine::stopwatch::{Loads, Positions, SideBySide, Singles, Stopwatch, Subject, start};
use crate::engine::threads::generators::{Generators, TrafficWalk};
use crate::error::{Attempt, Failure};
use crate::result::{Point, Walk};
use crate::sys::auxv::page_size;
use crate::sys::{Errno, Table};

/// The measurements that accompany the batches of chains; none by default.
#[derive(Default)]
pub struct Alongside<'b, 'a> {
    /// Single hops after each round.
    pub singles: Option<&'b mut Singles>,
    /// Independent loads after each walk in address order.
    pub loads: Option<&'b mut Loads>,
    /// Generators of traffic, alongside the walks of loaded points or by themselves.
    pub generators: Option<&'b Generators<'b>>,
    /// The memory of traffic that could not be placed.
    pub missing: Option<&'b Missing<'a>>,
}

/// The chains in a piece of memory.
pub enum Chains<'p> {
    /// One chain that is written once and stays.
    Kept(KeptChain<'p>),
    /// Chains written one after another, each at one of this number of positions.
    Rewritten(&'p mut [Line], u64),
}

/// A chain that is written once and stays.
pub struct KeptChain<'p> {
    buffer: Buffer<'p>,
    /// The nodes where walks by one lane continue on the random chain and on each grouped chain, and the nodes where
    /// walks by each number of lanes continue.
    nodes: Nodes,
    positions: Table<Option<Positions>>,
    /// The initiator node that wrote the chain.
    by: NodeId,
}

impl<'p> Chains<'p> {
    /// Returns a chain that stays, which a CPU of node `by` wrote.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn kept(buffer: Buffer<'p>, by: NodeId) -> Result<Chains<'p>, Errno> {
        let chain = buffer.chain();
        let nodes = array::from_fn(|number| chain.cycle(number).map_or(0, |(first, _)| first));
        let positions = Table::filled(MOST_LANES + 1, None)?;
        Ok(Chains::Kept(KeptChain { buffer, nodes, positions, by }))
    }
}

/// The last walk of a chain that stays: by one point, or by a number of lanes over a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastWalk {
    /// By the point with this index.
    Alone(usize),
    /// By a number of lanes over a size.
    Lanes(Bytes, usize),
}

/// The chains of a run in memory, the stopwatch, and what is measured alongside.
pub struct ChainPlace<'p, 'b, 'a> {
    /// The memory of all points.
    pub sites: &'p mut Sites<Chains<'p>>,
    /// The stopwatch.
    pub watch: Stopwatch,
    /// The measurements that accompany the batches.
    pub alongside: &'p mut Alongside<'b, 'a>,
    /// The last walk of a chain that stays; `None` before the first.
    pub last: Option<LastWalk>,
    /// The index of the point that is measured a second time in other memory, and that memory.
    pub second: Option<(usize, Site<Chains<'p>>)>,
    /// Hops over lines just written past the caches in each visit to a chain that stays.
    pub ahead: u64,
    /// A part of the checks, which is made between rounds.
    pub between: Option<&'p mut dyn FnMut() -> Attempt>,
}

impl Place for ChainPlace<'_, '_, '_> {
    fn with_chain(&mut self, index: usize, point: &Point, position: u64, walker: &mut Walker<'_>) -> Attempt {
        let ChainPlace { sites, watch, alongside, last, second, ahead, .. } = self;
        watch.go_to(point.cpu)?;
        if let (Walk::Traffic(traffic), Some(generators)) = (point.walk, alongside.generators) {
            return generators.drive(point, &traffic, &mut || {
                let part = generators.own_part(point, &traffic)?;
                walker(&mut TrafficWalk::settled(watch, generators, traffic, part)?)
            });
        }
        let [region, _] = chain_of(point);
        let site = match (second, region) {
            (Some((second, site)), _) if *second == index => Some(site),
            (_, Some(region)) => sites.index(&region).and_then(|index| sites.list.get_mut(index)?.as_mut()),
            _ => None,
        };
        let site = site.ok_or(Failure::NOTHING_TO_MEASURE)?;
        match &mut site.holds {
            Chains::Kept(kept) => kept.visit((index, point), watch, alongside, last, *ahead, walker),
            Chains::Rewritten(lines, positions) => {
                rewritten(lines, (index, point), (position, *positions), watch, alongside, walker)
            }
        }
    }

    fn between_rounds(&mut self) -> Attempt {
        if let Some(step) = &mut self.between {
            step()?;
            self.last = None;
        }
        Ok(())
    }

    fn pause(&mut self, until_ns: f64) -> Attempt {
        // On a shared machine, lines walked before the pause have left the caches.
        self.last = None;
        idle_until(until_ns)
    }

    fn witnesses(&self, point: &Point) -> Option<(Witness, Option<Witness>)> {
        let traffic = point.walk.traffic().map(|_| self.alongside.generators?.witness(point));
        match (chain_of(point), traffic) {
            ([Some(region), _], Some(traffic)) => Some((self.sites.find(&region)?.witness, Some(traffic?))),
            ([Some(region), _], None) => Some((self.sites.find(&region)?.witness, None)),
            (_, traffic) => Some((traffic??, None)),
        }
    }

    fn moves(&self) -> u64 {
        self.watch.moves()
    }
}

impl KeptChain<'_> {
    /// Lets `walker` continue where the last walk of the same kind stopped.
    fn visit(
        &mut self,
        (index, point): (usize, &Point),
        watch: &Stopwatch,
        alongside: &mut Alongside<'_, '_>,
        last: &mut Option<LastWalk>,
        ahead: u64,
        walker: &mut Walker<'_>,
    ) -> Attempt {
        let KeptChain { buffer, nodes, positions, by } = self;
        let [node, ..] = *nodes;
        let lanes = point.walk.lanes();
        if *by != point.initiator {
            new_chain::write_again(buffer)?;
            *by = point.initiator;
            *last = None;
        }
        let (who, side) = match point.walk {
            Walk::Chain | Walk::Loaded(_) => (LastWalk::Alone(index), None),
            walk => {
                let slot = positions.get(lanes).copied().flatten();
                let positions = Cell::new(slot.unwrap_or_else(|| start(buffer.chain(), lanes)));
                (LastWalk::Lanes(point.size, lanes), Some(SideBySide { walk, positions }))
            }
        };
        let mut hops = 0;
        if let (Walk::Chain, 1..) = (point.walk, ahead) {
            let chain = buffer.chain();
            let from = chain.advance(node, few_before(chain.nodes(), chain.is_split()));
            if buffer.write_ahead(from, ahead) {
                hops = ahead;
            }
        }
        let is_split = buffer.chain().is_split() && matches!(point.walk, Walk::Chain);
        // A visit ends on a grouped chain.
        let again = last.replace(who) == Some(who) && !is_split;
        let condition = if again { Condition::Undisturbed } else { Condition::Disturbed };
        let subject = Subject { buffer, kernel: point.kernel, side: side.as_ref() };
        let generators = alongside.generators;
        // The uncore whose clock matters is that of the load's node, or of the memory's node without a load.
        let loaded = point.walk.traffic().map_or(point.target, |traffic| traffic.node);
        let mut chase = Chase::new(watch, subject, condition, node);
        (chase.nodes, chase.is_split, chase.ahead) = (*nodes, is_split, hops);
        chase.singles = alongside.singles.as_deref_mut().map(|singles| (index, singles));
        chase.uncore = generators.map(|generators| (generators, loaded));
        let walked = match (point.walk, generators) {
            (Walk::Loaded(traffic), Some(generators)) => {
                chase.traffic = Some(generators);
                generators.drive(point, &traffic, &mut || {
                    generators.settle()?;
                    walker(&mut chase)
                })
            }
            _ => walker(&mut chase),
        };
        *nodes = chase.nodes_now();
        if let (Some(slot), Some(side)) = (positions.get_mut(lanes), &side) {
            *slot = Some(side.positions.get());
        }
        walked
    }
}

/// Writes the chain of a point at one of several positions, and lets `walker` walk it.
fn rewritten(
    lines: &mut [Line],
    (index, point): (usize, &Point),
    (position, positions): (u64, u64),
    watch: &Stopwatch,
    alongside: &mut Alongside<'_, '_>,
    walker: &mut Walker<'_>,
) -> Attempt {
    let room = room(point, lines, position, positions);
    let singles = alongside.singles.as_deref_mut().map(|singles| (index, singles));
    new_chain::walk(watch, room, point, singles, walker)?;
    match (&mut alongside.loads, point.order, watch.timer.counter()) {
        (Some(loads), Order::Sequential, Some(counter)) => loads.visit(lines, point, watch, counter),
        _ => Ok(()),
    }
}

/// Returns the memory of a visit's chain, at one of `positions` in the lines that its size leaves.
fn room<'l>(point: &Point, lines: &'l mut [Line], position: u64, positions: u64) -> &'l mut [Line] {
    let page = page_size().bytes();
    let unit = match point.order {
        Order::Local(region) => region.max(page),
        // The pages whose page-table entries share a line.
        Order::Grouped { page, .. } => page.bytes().times(point.line.bytes().0 / 8),
        Order::Random | Order::Sequential | Order::Backward => page,
    };
    let room = (lines.len() as u64 * 64).saturating_sub(point.size.0) / unit.0.max(1);
    let step = position % positions.max(1);
    let first = (room * step / positions.saturating_sub(1).max(1) * unit.0 / 64) as usize;
    lines.get_mut(first..).unwrap_or_default()
}
