//! A simulated machine for measurements: its memory, its caches, its neighbours and its clock, in simulated
//! time.

use std::collections::BTreeMap;
use std::vec::Vec;

use latency_core::Bytes;

use crate::tests::calibration::contention::{Chance, Contention};
use latency_engine::budget::few;
use latency_engine::error::Attempt;
use latency_engine::prefetch_audit::{self, PairRatios};
use latency_engine::result::{Point, Software};
use latency_engine::seam::{Batch, Condition, Place, Walkable, Walked, Walker};

/// Nanoseconds between walks, for reading clocks and for proofs.
const BETWEEN_NS: f64 = 2e3;
/// Nanoseconds to write a byte of a chain.
const BYTE_NS: f64 = 0.3;
/// Nanoseconds to map, clear and write a byte of a chain.
const SET_UP_BYTE_NS: f64 = 0.8;
/// Nanoseconds of the usual batch; longer walks scatter less.
const BATCH_NS: f64 = 1e5;
/// Standard deviation of batches without neighbours, and its increase relative to the addition of neighbours.
const SCATTER: f64 = 0.005;
const SCATTER_OF_CONTENTION: f64 = 0.15;
/// Index of the audit's chains, which are not points.
const AUDITED: usize = usize::MAX;
/// Factor by which the lanes of a rush are faster.
const RUSH: f64 = 10.0;
/// Size and latency in nanoseconds of a near cache, and of the reported last-level cache.
const NEAR: (Bytes, f64) = (Bytes::MIB, 5.0);
const REPORTED: (Bytes, f64) = (Bytes(32 << 20), 30.0);
/// Latency of a load in an unreported cache, as a share of the memory's.
pub const HIT: f64 = 0.35;

/// Times in which another task has the CPU.
#[derive(Clone, Debug)]
pub struct Absences {
    /// Mean nanoseconds between two of them, and mean duration.
    pub every_ns: f64,
    pub each_ns: f64,
    /// True if the kernel counts them as switches to another task.
    pub are_seen: bool,
    next_ns: f64,
    /// Nanoseconds lost so far.
    pub lost_ns: f64,
}

impl Absences {
    /// Makes absences that take a share of the requested time, each of a mean length in nanoseconds.
    pub fn of(share: f64, each_ns: f64, are_seen: bool) -> Absences {
        let every_ns = if share > 0.0 { each_ns * (1.0 - share) / share } else { f64::INFINITY };
        Absences { every_ns, each_ns, are_seen, next_ns: f64::NAN, lost_ns: 0.0 }
    }

    /// Returns the nanoseconds that are lost during a piece of work, and advances the state.
    fn during(&mut self, chance: &mut Chance, now_ns: f64, work_ns: f64) -> f64 {
        if self.every_ns.is_infinite() {
            return 0.0;
        }
        // An idle CPU loses no time.
        if self.next_ns.is_nan() || self.next_ns < now_ns {
            self.next_ns = now_ns + chance.wait(self.every_ns);
        }
        let mut lost_ns = 0.0;
        while self.next_ns < now_ns + work_ns + lost_ns {
            lost_ns += self.each_ns * chance.between(0.5, 1.5);
            self.next_ns = now_ns + work_ns.min(self.next_ns - now_ns) + lost_ns + chance.wait(self.every_ns);
        }
        self.lost_ns += lost_ns;
        lost_ns
    }
}

/// A simulated machine.
pub struct Simulated {
    pub now_ns: f64,
    pub contention: Contention,
    chance: Chance,
    /// Latency of a load from memory without neighbours, in nanoseconds.
    pub memory_ns: f64,
    /// An unreported cache with random replacement.
    pub cache: Option<Bytes>,
    /// Other tasks on the CPU, and the hypervisor's.
    pub absences: [Absences; 2],
    /// Moments at which the clock steps, with the step in nanoseconds.
    pub steps: Vec<(f64, f64)>,
    /// True if chains stay as they are written, and walks continue.
    pub is_kept: bool,
    /// Latency in the memory of each point, relative to the first.
    pub factors: Vec<f64>,
    /// Nanoseconds in which the CPU was requested.
    pub wanted_ns: f64,
    /// Hops in each visit to a chain that stays, over lines just written past the caches.
    pub ahead: u64,
    /// The audit of prefetchers between rounds: the point that it imitates, and its results.
    pub audit: Option<(Point, PairRatios)>,
    chains: BTreeMap<usize, u64>,
    last: Option<usize>,
    hits: BTreeMap<u64, f64>,
}

impl Simulated {
    /// Makes a machine with a memory latency of `memory_ns` nanoseconds without neighbours.
    pub fn new(chance: &mut Chance, memory_ns: f64, contention: Contention) -> Simulated {
        Simulated {
            now_ns: 0.0,
            contention,
            chance: chance.of_part(2),
            memory_ns,
            cache: None,
            absences: [Absences::of(0.0, 1.0, true), Absences::of(0.0, 1.0, false)],
            steps: Vec::new(),
            is_kept: false,
            factors: Vec::new(),
            wanted_ns: 0.0,
            ahead: 0,
            audit: None,
            chains: BTreeMap::new(),
            last: None,
            hits: BTreeMap::new(),
        }
    }

    /// Writes the chain of a point, which stays.
    pub fn place(&mut self, index: usize, size: Bytes) {
        self.chains.insert(index, 0);
        self.now_ns += SET_UP_BYTE_NS * size.0 as f64;
    }

    /// Walks the next pair of chains of the audit; returns false once it is complete.
    pub fn step_audit(&mut self) -> Attempt<bool> {
        let Some((like, mut pairs)) = self.audit else { return Ok(false) };
        let is_kept = std::mem::replace(&mut self.is_kept, false);
        let goes_on = pairs.step(&like, &mut |point| {
            let mut latency_ns = f64::NAN;
            self.with_chain(AUDITED, point, 0, &mut |chain| {
                latency_ns = prefetch_audit::walked(chain, point)?;
                Ok(())
            })?;
            Ok(latency_ns)
        });
        (self.is_kept, self.last, self.audit) = (is_kept, None, Some((like, pairs)));
        goes_on
    }

    /// Returns the share of the loads of a cyclic walk that the unreported cache serves.
    fn hits(&mut self, size: Bytes) -> f64 {
        let Some(cache) = self.cache else { return 0.0 };
        *self.hits.entry(size.0).or_insert_with(|| hits(cache, size))
    }
}

/// Returns the steady share of hits of a cache with random replacement in a cyclic walk.
pub fn hits(cache: Bytes, size: Bytes) -> f64 {
    if size <= cache {
        return 1.0;
    }
    let laps = size.0 as f64 / cache.0 as f64;
    (0..200).fold(0.5, |hits: f64, _| (-(1.0 - hits) * laps).exp())
}

/// Returns the size of the cache that serves that share of a cyclic walk.
pub fn cache_of(hits: f64, size: Bytes) -> Bytes {
    Bytes((size.0 as f64 * (1.0 - hits) / -hits.ln()) as u64)
}

/// A chain on the machine.
struct Chain<'m> {
    machine: &'m mut Simulated,
    point: &'m Point,
    condition: Condition,
    factor: f64,
    hits: f64,
    loads: u64,
    /// The range of hops over lines that were just written, in the numbering of `loads`.
    ahead: [u64; 2],
    was_preempted: bool,
}

impl Chain<'_> {
    /// Returns the latency of the next load, without neighbours.
    fn load_ns(&self) -> f64 {
        let Simulated { memory_ns, .. } = *self.machine;
        let memory_ns = memory_ns * self.factor;
        let [from, to] = self.ahead;
        if self.loads < self.nodes() || (from..to).contains(&self.loads) {
            return memory_ns;
        }
        match self.point.size {
            size if size <= NEAR.0 => NEAR.1,
            size if size <= REPORTED.0 => REPORTED.1,
            _ => memory_ns * (1.0 - self.hits * (1.0 - HIT)),
        }
    }

    fn go(&mut self, hops: u64, until_ns: f64, faster: f64) -> Walked {
        let (mut made, mut spent_ns) = (0, 0.0);
        self.was_preempted = false;
        while made < hops {
            let now_ns = self.machine.now_ns;
            let load_ns = self.load_ns() / faster;
            let (adds, changes_ns) = self.machine.contention.now(now_ns);
            let hop_ns = load_ns * (1.0 + adds);
            let most = ((changes_ns - now_ns).min(2e6) / hop_ns).ceil().max(1.0) as u64;
            // Neither the first lap nor the part that was just written ends within a piece.
            let [from, to] = self.ahead;
            let ends = [self.nodes(), from, to].map(|end| end.saturating_sub(self.loads));
            let most = ends.into_iter().filter(|left| *left > 0).fold(most, u64::min);
            let piece = most.min(hops - made);
            let usual_ns = piece as f64 * hop_ns;
            let scatter = (SCATTER + SCATTER_OF_CONTENTION * adds) * (BATCH_NS / usual_ns).min(25.0).sqrt();
            let took_ns = usual_ns * (1.0 + scatter * self.machine.chance.normal()).max(0.7);
            let Simulated { absences, chance, steps, .. } = &mut *self.machine;
            let mut lost_ns = 0.0;
            for absences in absences {
                let lost_here_ns = absences.during(chance, now_ns, took_ns);
                self.was_preempted |= lost_here_ns > 0.0 && absences.are_seen;
                lost_ns += lost_here_ns;
            }
            let end_ns = now_ns + took_ns + lost_ns;
            let stepped_ns: f64 =
                steps.iter().filter(|(at, _)| (now_ns..end_ns).contains(at)).map(|(_, by)| by).sum();
            let shown_ns = took_ns + lost_ns + stepped_ns;
            spent_ns += if shown_ns < 0.0 { f64::NAN } else { shown_ns };
            self.machine.wanted_ns += took_ns + lost_ns;
            self.machine.now_ns = end_ns;
            made += piece;
            self.loads += piece;
            if end_ns >= until_ns {
                break;
            }
        }
        self.machine.now_ns += BETWEEN_NS;
        (made, spent_ns)
    }
}

impl Walkable for Chain<'_> {
    fn nodes(&self) -> u64 {
        self.point.size.0 / self.point.stride.0
    }

    fn lines(&self) -> u64 {
        self.point.size.0 / self.point.stride.0.max(64)
    }

    fn lanes(&self) -> Option<usize> {
        None
    }

    fn condition(&self) -> Condition {
        self.condition
    }

    fn ahead(&self) -> u64 {
        let [from, to] = self.ahead;
        to - from
    }

    fn walk(&mut self, hops: u64, until_ns: f64) -> Attempt<Walked> {
        Ok(self.go(hops, until_ns, 1.0))
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let (made, spent_ns) = self.go(hops, until_ns, 1.0);
        let nanoseconds = spent_ns / made as f64;
        let core_gigahertz = 3.0 + 0.005 * self.machine.chance.normal();
        let preempted = self.was_preempted;
        Ok(Batch { nanoseconds, core_gigahertz, preempted, hops: made, ..Batch::NONE })
    }

    fn rush(&mut self, hops: u64, until_ns: f64) -> Attempt<Option<Walked>> {
        Ok(Some(self.go(hops, until_ns, RUSH)))
    }

    fn touch(&mut self) {
        self.loads += self.nodes();
    }

    fn now_ns(&self) -> f64 {
        self.machine.now_ns
    }

    fn interrupted(&self) -> bool {
        false
    }

    fn batch_ns(&self) -> f64 {
        BATCH_NS
    }

    fn software(&mut self) -> Software {
        Software::default()
    }
}

impl Place for Simulated {
    fn with_chain(&mut self, index: usize, point: &Point, _: u64, walker: &mut Walker<'_>) -> Attempt {
        let again = self.last.replace(index) == Some(index);
        let loads = self.chains.get(&index).copied().filter(|_| self.is_kept);
        if loads.is_none() {
            self.now_ns += BYTE_NS * point.size.0 as f64;
        }
        let condition = match (self.is_kept, again) {
            (false, _) => Condition::Written,
            (true, false) => Condition::Disturbed,
            (true, true) => Condition::Undisturbed,
        };
        let factor = self.factors.get(index).copied().unwrap_or(1.0);
        let hits = self.hits(point.size);
        let loads = loads.unwrap_or(0);
        let mut ahead = [0; 2];
        if self.is_kept && self.ahead > 0 {
            let from = loads + few(point.size.0 / point.stride.0);
            ahead = [from, from + self.ahead];
        }
        let mut chain =
            Chain { machine: self, point, condition, factor, hits, loads, ahead, was_preempted: false };
        let walked = walker(&mut chain);
        let loads = chain.loads;
        self.chains.insert(index, loads);
        walked
    }

    fn between_rounds(&mut self) -> Attempt {
        self.step_audit().map(drop)
    }

    fn now_ns(&self) -> f64 {
        self.now_ns
    }

    fn pause(&mut self, until_ns: f64) -> Attempt {
        self.last = None;
        self.now_ns = self.now_ns.max(until_ns);
        Ok(())
    }
}
