//! The place of chains: each chain is written once and stays, or is rewritten for each visit at one of several
//! positions. Generators, if there are any, run alongside a chain, or with this thread as one of them.

use core::array;
use core::cell::Cell;

use latency_core::arch::Line;
use latency_core::buffer::{Buffer, BuildError, Stores};
use latency_core::chain::{Chain, Order};
use latency_core::kernel::Encoding;
use latency_core::kernel::lanes::MOST_LANES;
use latency_core::{Bytes, NodeId};

use crate::error::{Attempt, MeasureError};
use crate::memory::{Chase, Nodes};
use crate::placement::{Missing, Site, Sites, Witness, chain_of};
use crate::result::{Point, Walk, point};
use crate::schedule::grouped::few_before;
use crate::seam::{Condition, Place, Walker, idle_until};
use crate::stopwatch::{Loads, Positions, SideBySide, Singles, Stopwatch, Subject, start};
use crate::threads::generators::{Generators, TrafficWalk};
use latency_sys::auxv::page_size;
use latency_sys::{Errno, Table, signal};

/// The measurements that accompany the batches of chains; none by default.
#[derive(Default)]
pub struct Alongside<'b> {
    /// Single hops after each round, of the planned points.
    pub singles: Option<&'b mut Singles>,
    /// Independent loads after each walk in address order.
    pub loads: Option<&'b mut Loads>,
    /// Generators of traffic, alongside the walks of loaded points or by themselves.
    pub generators: Option<&'b Generators<'b>>,
    /// The memory of traffic that could not be placed.
    pub missing: Option<&'b Missing>,
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
pub struct ChainPlace<'p, 'b> {
    /// The memory of all points.
    pub sites: &'p mut Sites<Chains<'p>>,
    /// The index among all points of the plan, for each point of the schedule except those that were added to it.
    pub planned: &'p [usize],
    /// The stopwatch.
    pub watch: Stopwatch,
    /// The measurements that accompany the batches.
    pub alongside: &'p mut Alongside<'b>,
    /// The last walk of a chain that stays; `None` before the first.
    pub last: Option<LastWalk>,
    /// The index of the point that is measured a second time in other memory, and that memory.
    pub second: Option<(usize, Site<Chains<'p>>)>,
    /// Hops over lines just written past the caches in each visit to a chain that stays.
    pub ahead: u64,
    /// A part of the checks, which is made between rounds.
    pub between: Option<&'p mut dyn FnMut() -> Attempt>,
}

impl Place for ChainPlace<'_, '_> {
    fn with_chain(&mut self, index: usize, point: &Point, position: u64, walker: &mut Walker<'_>) -> Attempt {
        let ChainPlace { sites, planned, watch, alongside, last, second, ahead, .. } = self;
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
        let site = site.ok_or(MeasureError::NOTHING_TO_MEASURE)?;
        let singles = planned.get(index).copied().zip(alongside.singles.as_deref_mut());
        match &mut site.holds {
            Chains::Kept(kept) => {
                let beside = (singles, alongside.generators);
                kept.visit((index, point), watch, beside, last, *ahead, walker)
            }
            Chains::Rewritten(lines, positions) => {
                let beside = (singles, alongside.loads.as_deref_mut());
                visit_rewritten(lines, point, (position, *positions), watch, beside, walker)
            }
        }
    }

    fn between_rounds(&mut self) -> Attempt {
        if let Some(step) = &mut self.between {
            self.watch.leave()?;
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
        (singles, generators): (Option<(usize, &mut Singles)>, Option<&Generators<'_>>),
        last: &mut Option<LastWalk>,
        ahead: u64,
        walker: &mut Walker<'_>,
    ) -> Attempt {
        let KeptChain { buffer, nodes, positions, by } = self;
        let [node, ..] = *nodes;
        let lanes = point.walk.lanes();
        if *by != point.initiator {
            write_again(buffer)?;
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
        // The uncore whose clock matters is that of the load's node, or of the memory's node without a load.
        let loaded = point.walk.traffic().map_or(point.target, |traffic| traffic.node);
        let mut chase = Chase::new(watch, subject, condition, node);
        (chase.nodes, chase.is_split, chase.ahead) = (*nodes, is_split, hops);
        chase.singles = singles;
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
fn visit_rewritten(
    lines: &mut [Line],
    point: &Point,
    (position, positions): (u64, u64),
    watch: &Stopwatch,
    (singles, loads): (Option<(usize, &mut Singles)>, Option<&mut Loads>),
    walker: &mut Walker<'_>,
) -> Attempt {
    let room = room(point, lines, position, positions);
    walk_new(watch, room, point, singles, walker)?;
    match (loads, point.order, watch.timer.counter()) {
        (Some(loads), Order::Sequential, Some(counter)) => loads.visit(lines, point, watch, counter),
        _ => Ok(()),
    }
}

/// Returns the lines from one of `positions` on, where a visit writes its chain. The positions are spread evenly over
/// the lines that the chain leaves free.
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

fn failed(error: BuildError) -> MeasureError {
    match error {
        BuildError::Stopped => MeasureError::Interrupted,
        BuildError::TooSmall | BuildError::Encoding => MeasureError::NOTHING_TO_MEASURE,
    }
}

/// Writes a chain to the start of `lines`.
///
/// # Errors
///
/// [`MeasureError::NOTHING_TO_MEASURE`] if the chain does not fit, and [`MeasureError::Interrupted`].
pub fn write<'m>(
    lines: &'m mut [Line],
    chain: &'m Chain,
    encoding: Encoding,
    stores: Stores,
) -> Attempt<Buffer<'m>> {
    Buffer::build_with(lines, chain, encoding, stores, &signal::interrupted).map_err(failed)
}

/// Rewrites the chain of a buffer from this CPU, past the caches: no cache has a line of it afterwards.
///
/// # Errors
///
/// [`MeasureError::Interrupted`].
fn write_again(buffer: &mut Buffer<'_>) -> Attempt {
    buffer.write_again(&signal::interrupted).map_err(failed)
}

/// Writes the chain of `point` to the start of `lines`, and lets `walker` walk it from its start. `singles` times
/// single hops for the point with its index.
///
/// # Errors
///
/// The errors of [`write()`] and of the walker.
pub fn walk_new(
    watch: &Stopwatch,
    lines: &mut [Line],
    point: &Point,
    singles: Option<(usize, &mut Singles)>,
    walker: &mut Walker<'_>,
) -> Attempt {
    let chain = point::chain(point)?;
    let buffer = write(lines, &chain, point.kernel.encoding, Stores::STREAMING)?;
    let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
    let mut chase = Chase::new(watch, subject, Condition::Written, chain.start(0, 1));
    chase.singles = singles;
    walker(&mut chase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;
    use crate::machine::processor::identify;
    use crate::placement::made_of;
    use crate::result::{Round, Timer};
    use crate::tests::outcome::POINT;
    use crate::warning::Warnings;

    use latency_core::{CpuId, CpuSet, Pages};
    use latency_sys::{SystemFiles, cpu};
    use std::vec;
    use std::vec::Vec;

    /// Calls `body` with a chain over `lines` in a place whose schedule has the points of the plan with these indices, with
    /// single hops alongside, and with `between` between rounds.
    fn in_place(
        timer: Timer,
        planned: &[usize],
        singles: Option<&mut Singles>,
        between: &mut dyn FnMut() -> Attempt,
        body: &mut dyn FnMut(&mut ChainPlace<'_, '_>, &Point),
    ) {
        let point = Point {
            cpu: CpuId(allowed().first().unwrap()),
            size: Bytes(1 << 16),
            pages: Pages::base(page_size()),
            ..POINT
        };
        let mut lines: Vec<Line> = vec![Line([0; 8]); 1 << 10];
        let mut sites = made_of([Chains::Rewritten(&mut lines, 1)]);
        sites.memory = Memory::Rewritten { places: 1 };
        let ([Some(region), _], [Some(site), ..]) = (chain_of(&point), &mut sites.list) else {
            panic!("one site")
        };
        site.region = region;
        let mut alongside = Alongside { singles, ..Alongside::default() };
        let mut place = ChainPlace {
            sites: &mut sites,
            planned,
            watch: Stopwatch::new(timer, None),
            alongside: &mut alongside,
            last: None,
            second: None,
            ahead: 0,
            between: Some(between),
        };
        body(&mut place, &point);
    }

    fn allowed() -> CpuSet {
        cpu::allowed().unwrap()
    }

    fn timer() -> Timer {
        let processor = identify(&SystemFiles, CpuId(allowed().first().unwrap()));
        Timer::choose(&processor, false, &mut Warnings::empty()).unwrap()
    }

    #[test]
    fn single_hops_are_those_of_the_planned_point_if_others_have_no_memory_or_came_before() {
        let (allowed, timer) = (allowed(), timer());
        let Some(counter) = timer.counter() else { return std::eprintln!("single hops need a counter") };
        let mut singles = Singles::new(counter, 3).unwrap();
        let round = Round { nanoseconds: 100.0, minimum_ns: 100.0, ..Round::default() };
        in_place(timer, &[2], Some(&mut singles), &mut || Ok(()), &mut |place, point| {
            // The second point of the schedule was added to the plan.
            for index in [0, 1] {
                place.with_chain(index, point, 0, &mut |chain| chain.beside(&round)).unwrap();
            }
        });
        cpu::pin(&allowed).unwrap();
        let found = singles.conclude(&[], &mut Warnings::empty()).unwrap();
        let recorded: Vec<bool> = found.iter().map(|found| found.total() > 0).collect();
        assert_eq!(recorded, [false, false, true]);
    }

    #[test]
    fn checks_between_rounds_may_go_to_another_cpu_and_others_may_not_move_the_thread() {
        let allowed = allowed();
        let [here, there] = [allowed.first(), allowed.last()].map(|cpu| CpuId(cpu.unwrap()));
        if here == there {
            return std::eprintln!("with one CPU, there is no other to go to");
        }
        let mut checks = || {
            cpu::pin_to(there).unwrap();
            Ok(())
        };
        in_place(timer(), &[], None, &mut checks, &mut |place, point| {
            let walk = |place: &mut ChainPlace<'_, '_>| {
                place.with_chain(0, point, 0, &mut |_| Ok(())).unwrap();
                assert_eq!(cpu::current().unwrap().0, here);
                place.moves()
            };
            assert_eq!(walk(place), 0);
            place.between_rounds().unwrap();
            assert_eq!(walk(place), 0, "the program moved itself");
            cpu::pin_to(there).unwrap();
            place.between_rounds().unwrap();
            assert_eq!(walk(place), 1, "something else moved it before the checks");
            cpu::pin_to(there).unwrap();
            assert_eq!(walk(place), 2, "something else moved it");
        });
        cpu::pin(&allowed).unwrap();
    }
}
