//! A simulated [`Place`] for tests: a function gives the nanoseconds of each hop, in simulated time.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::budget::{Budget, Memory};
use crate::error::{Attempt, MeasureError};
use crate::result::{Point, Software, Walk};
use crate::seam::{Batch, Condition, Place, Walkable, Walked, Walker};

/// Nanoseconds between two checks of a walk for an interrupt and for its deadline.
const PIECE_NS: f64 = 5e6;
/// Nanoseconds between walks, for reading clocks and for proofs.
const BETWEEN_NS: f64 = 2e3;

/// The circumstances of a hop.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The position of its chain.
    pub place: u64,
    /// The number of nodes of its chain.
    pub nodes: u64,
    /// Hops and loads since the chain was written, in laps.
    pub laps: f64,
    /// The simulated time.
    /// The time since the start.
    pub now_ns: f64,
    /// The number of lanes that hop at the same time.
    pub lanes: usize,
    /// The walk of the point.
    pub walk: Walk,
    /// The number of the chain: 0, or one more than the index of a grouped chain.
    pub chain: usize,
}

/// One visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// The point's index.
    pub index: usize,
    /// The chain was written again before the visit.
    pub written: bool,
    /// The position of its chain.
    pub place: u64,
    /// The time at which the visit began.
    pub begun_ns: f64,
    /// Hops walked by one lane.
    pub hops: u64,
}

/// A place in which `latency` gives the nanoseconds of a hop; if the value is negative, the clock steps back meanwhile.
pub struct Fake<F> {
    /// The latency of a hop in nanoseconds.
    pub latency: F,
    /// The time since the start.
    pub now_ns: f64,
    /// Every visit so far.
    pub visits: Vec<Visit>,
    /// The time at which the program is asked to stop.
    pub interrupt_ns: f64,
    /// Nanoseconds to write a byte of a chain, if each visit writes its own chain.
    pub byte_ns: f64,
    kept: bool,
    split: bool,
    last: Option<usize>,
    /// The initiator node that last wrote the memory of each target, where initiators share it.
    written: Option<BTreeMap<u32, u32>>,
}

impl<F: FnMut(Hop) -> f64> Fake<F> {
    /// Returns a place with memory as the budget describes it.
    pub fn new(budget: &Budget, latency: F) -> Self {
        let kept = matches!(budget.memory, Memory::Kept | Memory::Shared);
        Fake {
            latency,
            now_ns: 0.0,
            visits: Vec::new(),
            interrupt_ns: f64::INFINITY,
            byte_ns: 0.0,
            kept,
            split: budget.split.is_some(),
            last: None,
            written: (budget.memory == Memory::Shared).then(BTreeMap::new),
        }
    }
}

/// The chain of one visit.
pub struct FakeChain<'g> {
    hop_ns: &'g mut dyn FnMut(Hop) -> f64,
    now_ns: &'g mut f64,
    point: &'g Point,
    visit: &'g mut Visit,
    condition: Condition,
    interrupt_ns: f64,
    loads: u64,
    split: bool,
    chain: usize,
}

impl FakeChain<'_> {
    fn walk_at(&mut self, hops: u64, until_ns: f64, faster: f64) -> Attempt<Walked> {
        let (mut made, mut spent_ns) = (0, 0.0);
        while made < hops {
            if self.interrupted() {
                return Err(MeasureError::Interrupted);
            }
            let laps = self.loads as f64 / self.nodes() as f64;
            let (nodes, lanes, walk) = (self.nodes(), self.point.walk.lanes(), self.point.walk);
            let (place, now_ns, chain) = (self.visit.place, *self.now_ns, self.chain);
            let hop = Hop { place, nodes, laps, now_ns, lanes, walk, chain };
            let hop_ns = (self.hop_ns)(hop);
            let each_ns = hop_ns.abs() / faster;
            let piece = ((PIECE_NS / each_ns) as u64).clamp(1, hops - made);
            *self.now_ns += piece as f64 * each_ns;
            spent_ns += if hop_ns < 0.0 { f64::NAN } else { piece as f64 * each_ns };
            made += piece;
            self.loads += piece;
            if *self.now_ns >= until_ns {
                break;
            }
        }
        *self.now_ns += BETWEEN_NS;
        Ok((made, spent_ns))
    }
}

impl Walkable for FakeChain<'_> {
    fn nodes(&self) -> u64 {
        self.point.size.0 / self.point.stride.0
    }

    fn lines(&self) -> u64 {
        self.point.size.0 / self.point.stride.max(self.point.line.bytes()).0
    }

    fn lanes(&self) -> Option<usize> {
        Some(self.point.walk.lanes()).filter(|&lanes| lanes > 1)
    }

    fn condition(&self) -> Condition {
        self.condition
    }

    fn is_split(&self) -> bool {
        self.split
    }

    fn turn_to(&mut self, chain: usize) {
        self.chain = chain;
    }

    fn walk(&mut self, hops: u64, until_ns: f64) -> Attempt<Walked> {
        let walked = self.walk_at(hops, until_ns, 1.0)?;
        self.visit.hops += walked.0;
        Ok(walked)
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let (made, spent_ns) = self.walk(hops, until_ns)?;
        let nanoseconds = spent_ns / made as f64;
        Ok(Batch { nanoseconds, core_gigahertz: 3.0, hops: made, ..Batch::NONE })
    }

    fn rush(&mut self, hops: u64, until_ns: f64) -> Attempt<Option<Walked>> {
        self.walk_at(hops, until_ns, 10.0).map(Some)
    }

    fn touch(&mut self) {
        self.loads += self.nodes();
    }

    fn now_ns(&self) -> f64 {
        *self.now_ns
    }

    fn interrupted(&self) -> bool {
        *self.now_ns >= self.interrupt_ns
    }

    fn batch_ns(&self) -> f64 {
        1e5
    }

    fn software(&mut self) -> Software {
        Software::default()
    }
}

impl<F: FnMut(Hop) -> f64> Place for Fake<F> {
    fn with_chain(&mut self, index: usize, point: &Point, place: u64, walker: &mut Walker<'_>) -> Attempt {
        let again = self.last.replace(index) == Some(index);
        let by = point.initiator.0;
        let is_others =
            self.written.as_mut().is_some_and(|written| written.insert(point.target.0, by) != Some(by));
        if !self.kept || is_others {
            self.now_ns += self.byte_ns * point.size.0 as f64;
        }
        let condition = match (self.kept, again) {
            (false, _) => Condition::Written,
            (true, false) => Condition::Disturbed,
            (true, true) => Condition::Undisturbed,
        };
        // A chain that stays has one position.
        let place = if self.kept { 0 } else { place };
        let mut visit = Visit { index, written: is_others, place, begun_ns: self.now_ns, hops: 0 };
        let walked = walker(&mut FakeChain {
            hop_ns: &mut self.latency,
            now_ns: &mut self.now_ns,
            point,
            visit: &mut visit,
            condition,
            interrupt_ns: self.interrupt_ns,
            loads: 0,
            split: self.split,
            chain: 0,
        });
        self.visits.push(visit);
        walked
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    fn pause(&mut self, until_ns: f64) -> Attempt {
        self.last = None;
        self.now_ns = self.now_ns.max(until_ns.min(self.interrupt_ns));
        if self.now_ns >= self.interrupt_ns {
            return Err(MeasureError::Interrupted);
        }
        Ok(())
    }
}
