//! The chains of an experiment in memory: what they are built in, and where the walks over them stand.

use core::cell::Cell;

use latency_core::arch::{self, Line};
use latency_core::buffer::{Buffer, Stores};
use latency_core::chain::Order;
use latency_core::kernel::lanes::MOST_LANES;
use latency_core::units::{Bytes, NodeId, PageSize, Pages};

use super::cores::driver::Helpers;
use super::generators::driver::Generators;
use super::ground::{Arena, Condition, Ground};
use super::new_chain;
use super::placement::{self, Witness};
use super::prefetch_audit::UnderWay;
use super::single_hops::Singles;
use super::stopwatch::{start, Chase, Stopwatch};
use super::stream::Stream;
use super::strided::Loads;
use super::subject::{Positions, SideBySide, Subject};
use super::walks::few;
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::plan::budget::WAKE_NS;
use crate::result::{chain, Point, Traffic, Walk};
use crate::sys::errno::Errno;
use crate::sys::table::Table;
use crate::sys::{signal, time};

/// What is measured of points besides their batches.
#[derive(Default)]
pub struct Beside<'b> {
    /// Their single hops.
    pub singles: Option<Singles>,
    /// Independent loads of those in address order.
    pub loads: Option<Loads>,
    /// The generators of their traffic.
    pub generators: Option<&'b Generators<'b>>,
    /// The helpers of those whose lines several CPUs use.
    pub helpers: Option<Helpers<'b>>,
}

/// The memory that a point shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The node of the CPUs that walk it, where each initiator has a region of its own.
    pub initiator: Option<NodeId>,
    /// Its node.
    pub target: NodeId,
    /// The pages asked for.
    pub pages: Pages,
    /// Its size, where each has a chain of its own.
    pub size: Option<Bytes>,
}

/// The chains in a piece of memory.
enum Chains<'p> {
    /// One that stays as it is written: where it is walked on, by one and by any number of lanes, and the node that
    /// has written it.
    Kept(Buffer<'p>, u64, Table<Option<Positions>>, NodeId),
    /// One after another, each at one of so many places.
    Rewritten(&'p mut [Line], u64),
}

/// A piece of memory.
pub struct Site<'p> {
    key: Key,
    witness: Witness,
    chains: Chains<'p>,
}

impl<'p> Site<'p> {
    /// Memory that holds a chain, which stays; a CPU of node `by` wrote it.
    ///
    /// # Errors
    ///
    /// That of mapping a table.
    pub fn kept(key: Key, witness: Witness, buffer: Buffer<'p>, by: NodeId) -> Result<Site<'p>, Errno> {
        let node = buffer.chain().start(0, 1);
        let positions = Table::filled(MOST_LANES + 1, None)?;
        Ok(Site { key, witness, chains: Chains::Kept(buffer, node, positions, by) })
    }

    /// Memory for a chain after another, each at one of so many places.
    pub const fn rewritten(key: Key, witness: Witness, lines: &'p mut [Line], places: u64) -> Site<'p> {
        Site { key, witness, chains: Chains::Rewritten(lines, places) }
    }

    /// Knows where the memory is.
    #[must_use]
    pub const fn witness(&self) -> &Witness {
        &self.witness
    }
}

/// Who walked a chain that stays last: a point by itself, or lanes of some number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walker {
    Alone(usize),
    Lanes(Bytes, usize),
}

/// All memory of a run, the stopwatch, and what is measured besides.
pub struct Memory<'p, 'b> {
    /// The pieces.
    pub sites: &'p mut [Option<Site<'p>>],
    watch: Stopwatch,
    /// What is measured besides batches.
    pub beside: &'p mut Beside<'b>,
    last: Option<Walker>,
    /// The index of the point that is measured in other memory than its like, and that memory.
    second: Option<(usize, Site<'p>)>,
    /// Hops over lines just written in each visit to a chain that stays.
    ahead: u64,
    /// The audit of prefetchers that is made between rounds.
    audit: Option<(&'p mut UnderWay, &'p Machine)>,
}

impl<'p, 'b> Memory<'p, 'b> {
    /// The memory of a run.
    pub const fn new(
        sites: &'p mut [Option<Site<'p>>],
        watch: Stopwatch,
        beside: &'p mut Beside<'b>,
    ) -> Memory<'p, 'b> {
        Memory { sites, watch, beside, last: None, second: None, ahead: 0, audit: None }
    }

    /// The same, with other memory for the `index`-th point than for those like it.
    #[must_use]
    pub fn with_second(mut self, index: usize, site: Option<Site<'p>>) -> Self {
        self.second = site.map(|site| (index, site));
        self
    }

    /// The same, with `hops` hops over lines just written past the caches in each visit to a chain that stays.
    #[must_use]
    pub const fn with_ahead(mut self, hops: u64) -> Self {
        self.ahead = hops;
        self
    }

    /// The same, with an audit of prefetchers between rounds.
    #[must_use]
    pub fn with_audit(mut self, audit: Option<&'p mut UnderWay>, machine: &'p Machine) -> Self {
        self.audit = audit.map(|audit| (audit, machine));
        self
    }

    /// Times that the thread was found on another CPU than a point's.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.watch.moves()
    }

    /// The piece that a point's chain lies in, and who knows where that is; of traffic, that of its generators,
    /// which follow the others.
    #[must_use]
    pub fn site(&self, point: &Point) -> Option<(usize, Witness)> {
        if let Walk::Traffic(traffic) = point.walk {
            return self.traffic_site(&traffic);
        }
        if point.walk.is_of_cores() {
            return self.lines_on(point, point.target);
        }
        let index =
            self.sites.iter().position(|site| site.as_ref().is_some_and(|site| serves(&site.key, point)))?;
        Some((index, *self.sites.get(index)?.as_ref()?.witness()))
    }

    /// The lines of a point on a node, which several CPUs use, and who knows where they are.
    #[must_use]
    pub fn lines_on(&self, point: &Point, node: NodeId) -> Option<(usize, Witness)> {
        let (index, witness) = self.beside.helpers.as_ref()?.site((node, point.size))?;
        Some((self.sites.len() + index, witness))
    }

    /// The piece that generators walk over, and who knows where that is.
    #[must_use]
    pub fn traffic_site(&self, traffic: &Traffic) -> Option<(usize, Witness)> {
        let generators = self.beside.generators?;
        let index = generators.ground(traffic)?;
        Some((self.sites.len() + index, *generators.witness(traffic)?))
    }
}

/// Whether a point lies in the memory with that key.
#[must_use]
pub fn serves(key: &Key, point: &Point) -> bool {
    (key.target, key.pages) == (point.target, point.pages)
        && key.size.is_none_or(|size| size == point.size)
        && key.initiator.is_none_or(|initiator| initiator == point.initiator)
}

impl Arena for Memory<'_, '_> {
    fn stand<'w>(
        &'w mut self,
        index: usize,
        point: &Point,
        place: u64,
        walker: &'w mut dyn FnMut(&mut dyn Ground) -> Result<(), Failure<'static>>,
    ) -> Result<(), Failure<'static>> {
        let Memory { sites, watch, beside, last, second, ahead, .. } = self;
        watch.brought_back()?;
        placement::pin(point.cpu)?;
        watch.stay_on(point.cpu);
        if let (true, Some(helpers)) = (point.walk.is_of_cores(), &mut beside.helpers) {
            return helpers.visit(watch, index, point, walker);
        }
        let generators = beside.generators;
        if let (Walk::Traffic(traffic), Some(generators)) = (point.walk, generators) {
            return generators.drive(point, &traffic, &mut || {
                let part = generators.own_part(&traffic)?;
                walker(&mut Stream::settled(watch, generators, traffic, part)?)
            });
        }
        let mut sites = sites.iter_mut().flatten();
        let site = match second {
            Some((second, site)) if *second == index => site,
            _ => sites.find(|site| serves(&site.key, point)).ok_or(PlacementError::NothingToMeasure)?,
        };
        match &mut site.chains {
            Chains::Kept(buffer, node, positions, by) => {
                let lanes = point.walk.lanes();
                if *by != point.initiator {
                    new_chain::write_again(buffer)?;
                    *by = point.initiator;
                    *last = None;
                }
                let (who, side) = match point.walk {
                    Walk::Chain | Walk::Loaded(_) => (Walker::Alone(index), None),
                    walk => {
                        let slot = positions.get(lanes).copied().flatten();
                        let positions = Cell::new(slot.unwrap_or_else(|| start(buffer.chain(), lanes)));
                        (Walker::Lanes(point.size, lanes), Some(SideBySide { walk, positions }))
                    }
                };
                let mut hops = 0;
                if let (Walk::Chain, 1..) = (point.walk, *ahead) {
                    let chain = buffer.chain();
                    let from = chain.advance(*node, few(chain.nodes()));
                    if buffer.write_ahead(from, *ahead) {
                        hops = *ahead;
                    }
                }
                let again = last.replace(who) == Some(who);
                let condition = if again { Condition::Undisturbed } else { Condition::Disturbed };
                let subject = Subject { buffer, kernel: point.kernel, side: side.as_ref() };
                // The uncore of the load; beside none, that of the memory itself.
                let loaded = point.walk.traffic().map_or(point.target, |traffic| traffic.node);
                let mut chase = Chase::new(watch, subject, condition, *node)
                    .with(beside.singles.as_mut(), index)
                    .with_ahead(hops)
                    .on_uncore(generators, loaded);
                let walked = match (point.walk, generators) {
                    (Walk::Loaded(traffic), Some(generators)) => {
                        chase = chase.beside(generators);
                        generators.drive(point, &traffic, &mut || {
                            generators.settle()?;
                            walker(&mut chase)
                        })
                    }
                    _ => walker(&mut chase),
                };
                *node = chase.node;
                if let (Some(slot), Some(side)) = (positions.get_mut(lanes), &side) {
                    *slot = Some(side.positions.get());
                }
                walked
            }
            Chains::Rewritten(lines, places) => {
                let chain = chain::chain(point)?;
                let room = room(point, lines, place, *places);
                let buffer = new_chain::write(room, &chain, point.kernel.encoding, Stores::STREAMING)?;
                let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
                let mut chase = Chase::new(watch, subject, Condition::Written, chain.start(0, 1))
                    .with(beside.singles.as_mut(), index);
                walker(&mut chase)?;
                if let (Some(loads), Order::Sequential, Some(counter)) =
                    (&mut beside.loads, point.order, watch.timer().counter())
                {
                    loads.visit(lines, point, watch, counter)?;
                }
                Ok(())
            }
        }
    }

    fn between_rounds(&mut self) -> Result<(), Failure<'static>> {
        if let Some((audit, machine)) = &mut self.audit {
            audit.step(machine)?;
            self.last = None;
        }
        Ok(())
    }

    fn now_ns(&self) -> f64 {
        time::monotonic_raw_ns() as f64
    }

    fn pause(&mut self, until_ns: f64) -> Result<(), Failure<'static>> {
        /// An interrupt is answered after so long.
        const SLICE_NS: f64 = 20e6;
        // What was walked before the pause is no longer in the caches of a machine that others use.
        self.last = None;
        loop {
            if signal::interrupted() {
                return Err(Failure::Interrupted);
            }
            match until_ns - self.now_ns() {
                left if left <= 0.0 => return Ok(()),
                left if left <= WAKE_NS => {
                    core::hint::black_box(arch::dependent_adds(WAKE_BLOCKS));
                }
                left => time::sleep_ns((left - WAKE_NS).min(SLICE_NS) as u64 + 1),
            }
        }
    }
}

/// Additions between two looks at the clock while a core wakes up: some microseconds.
const WAKE_BLOCKS: usize = 400;

/// The memory of a visit's chain: at one of `places` in the room that its size leaves.
fn room<'l>(point: &Point, lines: &'l mut [Line], place: u64, places: u64) -> &'l mut [Line] {
    let unit = match point.order {
        Order::Local(region) => region.max(PageSize::Small.bytes()),
        Order::Random | Order::Sequential | Order::Backward => PageSize::Small.bytes(),
    };
    let room = (lines.len() as u64 * 64).saturating_sub(point.size.0) / unit.0.max(1);
    let step = place % places.max(1);
    let first = (room * step / places.saturating_sub(1).max(1) * unit.0 / 64) as usize;
    lines.get_mut(first..).unwrap_or_default()
}
