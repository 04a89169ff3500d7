//! A chain that records the calls to it, for tests of the warm-up.
//!
//! While `place` simulates runs, this chain tests one step at a time, and its time advances only in walks.

use alloc::vec::Vec;

use crate::error::Attempt;
use crate::result::Software;
use crate::seam::{Batch, Condition, Walkable, Walked};

/// A call to a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Hops of one lane.
    Walk(u64),
    /// Hops of many lanes.
    Rush(u64),
    /// A load of every node.
    Touch,
    /// A return to the start of one lane of a rush.
    Rewind(u64),
}

/// A chain whose hops have one latency in the first lap and another in later laps.
#[derive(Debug)]
pub struct RecordedChain {
    /// All calls so far.
    pub calls: Vec<Call>,
    /// The hops made in each walk by one lane.
    pub made: Vec<u64>,
    /// The condition of the chain, as its next visit sees it.
    pub condition: Condition,
    nodes: u64,
    lanes: Option<usize>,
    cold_ns: f64,
    warm_ns: f64,
    rush_ns: Option<f64>,
    touch_ns: f64,
    interrupted: bool,
    disturbed: Option<usize>,
    faster: f64,
    pace: f64,
    now_ns: f64,
    loads: u64,
    uncore: fn(f64) -> f64,
}

impl RecordedChain {
    /// Returns a chain just written whose hops have one latency; hops of many lanes have a tenth of it.
    pub fn new(nodes: u64, hop_ns: f64) -> Self {
        RecordedChain {
            calls: Vec::new(),
            made: Vec::new(),
            condition: Condition::Written,
            nodes,
            lanes: None,
            cold_ns: hop_ns,
            warm_ns: hop_ns,
            rush_ns: Some(hop_ns / 10.0),
            touch_ns: 0.0,
            interrupted: false,
            disturbed: None,
            faster: 1.0,
            pace: 1.0,
            now_ns: 0.0,
            loads: 0,
            uncore: |_| f64::NAN,
        }
    }

    /// Sets the nanoseconds of a hop after the first lap.
    pub fn warm(self, warm_ns: f64) -> Self {
        RecordedChain { warm_ns, ..self }
    }

    /// Sets the nanoseconds of a hop of many lanes.
    pub fn rushing(self, rush_ns: f64) -> Self {
        RecordedChain { rush_ns: Some(rush_ns), ..self }
    }

    /// Makes the chain refuse walks by many lanes.
    pub fn without_lanes(self) -> Self {
        RecordedChain { rush_ns: None, ..self }
    }

    /// Sets the number of lanes.
    pub fn of_lanes(self, lanes: usize) -> Self {
        RecordedChain { lanes: Some(lanes), ..self }
    }

    /// Sets the nanoseconds of a touch.
    pub fn touched_in(self, touch_ns: f64) -> Self {
        RecordedChain { touch_ns, ..self }
    }

    /// Marks the program as interrupted.
    pub fn interrupted(self) -> Self {
        RecordedChain { interrupted: true, ..self }
    }

    /// Makes one walk ten times as long.
    pub fn disturbed_at(self, walk: usize) -> Self {
        RecordedChain { disturbed: Some(walk), ..self }
    }

    /// Makes the hops of each walk longer than the hops of the walk before, by a factor.
    pub fn faster_by(self, faster: f64) -> Self {
        RecordedChain { faster, ..self }
    }

    /// Sets the clock of the uncore as a function of the time.
    pub fn on_uncore(self, uncore: fn(f64) -> f64) -> Self {
        RecordedChain { uncore, ..self }
    }

    /// Returns the requested hops of all walks by one lane.
    pub fn walks(&self) -> Vec<u64> {
        let walk = |call: &Call| match call {
            Call::Walk(hops) => Some(*hops),
            _ => None,
        };
        self.calls.iter().filter_map(walk).collect()
    }

    /// Returns the calls so far, merging consecutive walks, and clears them.
    pub fn take(&mut self) -> Vec<Call> {
        let mut together: Vec<Call> = Vec::new();
        for call in self.calls.drain(..) {
            match (together.last_mut(), call) {
                (Some(Call::Walk(before)), Call::Walk(hops)) => *before += hops,
                _ => together.push(call),
            }
        }
        together
    }

    /// Rewrites the chain: no cache holds a line of it.
    pub fn rewrite(&mut self) {
        self.loads = 0;
        self.condition = Condition::Written;
    }

    /// Makes the requested hops, or as many as time allows; the last one ends at `until_ns` or after it.
    fn go(&mut self, hops: u64, hop_ns: f64, until_ns: f64) -> Walked {
        let room = ((until_ns - self.now_ns) / hop_ns).max(1.0).ceil() as u64;
        let made = hops.min(room);
        let spent_ns = made as f64 * hop_ns;
        self.now_ns += spent_ns;
        self.loads += made;
        (made, spent_ns)
    }
}

impl Walkable for RecordedChain {
    fn nodes(&self) -> u64 {
        self.nodes
    }

    fn lanes(&self) -> Option<usize> {
        self.lanes
    }

    fn condition(&self) -> Condition {
        self.condition
    }

    fn walk(&mut self, hops: u64, until_ns: f64) -> Attempt<Walked> {
        self.calls.push(Call::Walk(hops));
        let hop_ns = if self.loads < self.nodes { self.cold_ns } else { self.warm_ns };
        let slower = if self.disturbed == Some(self.made.len()) { 10.0 } else { 1.0 };
        let walked = self.go(hops, hop_ns * slower * self.pace, until_ns);
        self.pace *= self.faster;
        self.made.push(walked.0);
        Ok(walked)
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let (hops, spent_ns) = self.walk(hops, until_ns)?;
        Ok(Batch { nanoseconds: spent_ns / hops as f64, hops, ..Batch::NONE })
    }

    fn rush(&mut self, hops: u64, until_ns: f64) -> Attempt<Option<Walked>> {
        self.calls.push(Call::Rush(hops));
        Ok(self.rush_ns.map(|rush_ns| self.go(hops, rush_ns, until_ns)))
    }

    fn touch(&mut self) {
        self.calls.push(Call::Touch);
        self.now_ns += self.touch_ns;
        self.loads += self.nodes;
    }

    fn rewind(&mut self, part: u64) {
        self.calls.push(Call::Rewind(part));
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    fn interrupted(&self) -> bool {
        self.interrupted
    }

    fn batch_ns(&self) -> f64 {
        1e5
    }

    fn software(&mut self) -> Software {
        Software::default()
    }

    fn uncore_gigahertz(&self) -> f64 {
        (self.uncore)(self.now_ns)
    }
}
