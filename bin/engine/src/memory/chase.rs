//! A timed pointer chase in pieces of about 5 ms, with a check for an interrupt and for the deadline after each piece.

use latency_core::buffer::TimedHops;
use latency_core::chain::{GROUPED, SATTOLO_LIMIT};
use latency_core::{NodeId, ToReal, arch, math};

use crate::budget::LOADED_WINDOW_NS;
use crate::error::{Attempt, LONGEST_STEP_NS, MeasureError};
use crate::result::{Counted, Counter, Round, Software};
use crate::seam::{Batch, Condition, FEWEST_HOPS, RUSHING_LANES, Walkable, Walked};
use crate::stopwatch::{Rush, Singles, Stopwatch, Subject, UNKNOWN_HOP_NS, counters, not_proven};
use crate::threads::generators::Generators;
use latency_sys::{cpu, signal, time};

/// Maximum hops of a walk: half a second at 120 ns a hop.
const LONGEST_WALK: u64 = 1 << 22;
/// Nanoseconds of a piece, between two checks of the clock and for an interrupt; two batches if these are longer.
const PIECE_NS: f64 = 5e6;
/// Nanoseconds between two readings of the core's clock within a batch; a reading costs some microseconds.
const LOOK_NS: f64 = 10e6;
/// Number of batches for each that has readings of the core's clock, if these take as long as a batch: with a counter that
/// is too coarse for single loads.
const CLOCK_TURNS: u32 = 4;
/// Maximum retries of a batch during which the thread migrated.
const AGAIN: u64 = 2;
/// Number of pauses of an idle processor between two readings of the clock: 0.2 to 3 us.
const SPINS: usize = 64;

/// The nodes where walks of the random chain and of each grouped chain continue.
pub type Nodes = [u64; 1 + GROUPED];

/// A timed chase over a buffer: the production [`Walkable`] of chains.
pub struct Chase<'g> {
    watch: &'g Stopwatch,
    subject: Subject<'g>,
    condition: Condition,
    /// The node where the next walk begins.
    pub node: u64,
    /// The number of the chain that is walked.
    chain: usize,
    /// The nodes where walks of the other chains continue.
    pub nodes: Nodes,
    /// True if grouped chains are walked beside the random one.
    pub is_split: bool,
    /// Number of hops over lines just written past the caches, after the first few hops.
    pub ahead: u64,
    /// The lanes of a rush over the chain that is walked, after the first rush.
    rush: Option<Rush>,
    /// Nanoseconds per hop of the last piece.
    hop_ns: f64,
    turns: ClockTurns,
    /// The recorder of single hops, and the index of the point.
    pub singles: Option<(usize, &'g mut Singles)>,
    /// Generators whose traffic is counted during the walk.
    pub traffic: Option<&'g Generators<'g>>,
    /// The source of the uncore's clock, and the node of that uncore.
    pub uncore: Option<(&'g Generators<'g>, NodeId)>,
}

impl<'g> Chase<'g> {
    /// Returns a chase that begins at `node`.
    pub const fn new(watch: &'g Stopwatch, subject: Subject<'g>, condition: Condition, node: u64) -> Self {
        Chase {
            watch,
            subject,
            condition,
            node,
            chain: 0,
            nodes: [0; 1 + GROUPED],
            is_split: false,
            ahead: 0,
            rush: None,
            hop_ns: UNKNOWN_HOP_NS,
            turns: ClockTurns::FIRST,
            singles: None,
            traffic: None,
            uncore: None,
        }
    }

    /// Returns the nodes where walks of each chain continue.
    pub fn nodes_now(&self) -> Nodes {
        let mut nodes = self.nodes;
        if let Some(slot) = nodes.get_mut(self.chain) {
            *slot = self.node;
        }
        nodes
    }

    /// Makes a batch, on whatever CPU the thread is, with readings of the core's clock by `counter`; returns true if a
    /// generator lost its CPU during it.
    fn batch_anywhere(
        &mut self,
        hops: u64,
        until_ns: f64,
        counter: Option<&Counter>,
    ) -> Attempt<(Batch, bool)> {
        if self.nodes() <= SATTOLO_LIMIT {
            // The table that verifies a small chain uses the same cache, so an untimed lap brings the chain back.
            let _ = self.subject.buffer.walk(self.subject.kernel, self.node, self.nodes() as usize);
        }
        let before = cpu::thread_usage().map(|usage| usage.involuntary_switches);
        let traffic = self.traffic;
        let stops = || traffic.and_then(Generators::stops);
        let stopped = stops();
        if let Some(generators) = traffic {
            generators.begin_window();
        }
        let counted = traffic.and_then(Generators::read);
        // The clock of a core changes within milliseconds, so a long batch reads it repeatedly.
        let mut looks = Looks::new(clock(counter));
        let mut made = 0;
        loop {
            let stretch = math::whole(LOOK_NS / self.hop_ns.max(0.05)).clamp(FEWEST_HOPS, LONGEST_WALK);
            let (walked, spent_ns) = self.walk(stretch.min(hops - made), until_ns)?;
            looks.add(spent_ns, clock(counter));
            made += walked;
            // A walk of one piece does not check the clock.
            if made >= hops || time::now_ns() >= until_ns {
                break;
            }
        }
        let delivered = traffic.map_or(f64::NAN, |generators| generators.rate_since(counted));
        let lost = traffic.is_some_and(Generators::has_lost);
        let after = cpu::thread_usage().map(|usage| usage.involuntary_switches);
        let nanoseconds = looks.spent_ns / made.max(1).real();
        let core_gigahertz = looks.mean();
        let preempted = matches!((before, after), (Ok(before), Ok(after)) if before != after);
        let batch = Batch {
            nanoseconds,
            core_gigahertz,
            delivered,
            preempted: preempted || lost,
            throttled: stops() > stopped,
            unsettled: traffic.is_some_and(|generators| !generators.is_steady()),
            hops: made,
        };
        Ok((batch, lost))
    }
}

/// Calls `walk` in pieces until `hops` hops are made or `until_ns` is reached; `hop_ns` determines the length of a
/// piece.
fn in_pieces(
    hops: u64,
    until_ns: f64,
    hop_ns: &mut f64,
    piece_ns: f64,
    mut walk: impl FnMut(u64) -> Attempt<f64>,
) -> Attempt<Walked> {
    let (mut left, mut spent_ns) = (hops, 0.0);
    while left > 0 {
        if signal::interrupted() {
            return Err(MeasureError::Interrupted);
        }
        let piece = left.min(math::whole(piece_ns / hop_ns.max(0.05)).clamp(FEWEST_HOPS, LONGEST_WALK));
        let took_ns = walk(piece)?;
        if piece >= FEWEST_HOPS && took_ns.is_finite() {
            *hop_ns = took_ns / piece.real();
        }
        spent_ns += took_ns;
        left -= piece;
        if until_ns.is_finite() && left > 0 && time::now_ns() >= until_ns {
            break;
        }
    }
    Ok((hops - left, spent_ns))
}

/// Returns the clock of the core in gigahertz; NaN without a counter.
fn clock(counter: Option<&Counter>) -> f64 {
    let cycles_per_tick = counter.and_then(|counter| Some((counter, counter.core_clock()?)));
    cycles_per_tick.map_or(f64::NAN, |(counter, ratio)| ratio * counter.frequency.gigahertz())
}

/// The batches of a chain that have readings of the core's clock.
pub struct ClockTurns(u32);

impl ClockTurns {
    /// The turn of the first batch.
    pub const FIRST: ClockTurns = ClockTurns(0);

    /// Returns whether the next batch has readings.
    pub fn next(&mut self, counter: &Counter) -> bool {
        counter.at_least(1) <= LONGEST_STEP_NS as f64 || {
            let turn = self.0;
            self.0 = turn.wrapping_add(1);
            turn.is_multiple_of(CLOCK_TURNS)
        }
    }
}

/// The readings of the core's clock between the stretches of a walk.
struct Looks {
    last: f64,
    cycles: f64,
    spent_ns: f64,
}

impl Looks {
    /// Returns readings before the first stretch.
    const fn new(clock: f64) -> Looks {
        Looks { last: clock, cycles: 0.0, spent_ns: 0.0 }
    }

    /// Adds a stretch, and the clock after it.
    fn add(&mut self, spent_ns: f64, clock: f64) {
        self.cycles += spent_ns * (self.last + clock) / 2.0;
        self.spent_ns += spent_ns;
        self.last = clock;
    }

    /// Returns the mean clock over all stretches.
    fn mean(&self) -> f64 {
        self.cycles / self.spent_ns
    }
}

impl Walkable for Chase<'_> {
    fn nodes(&self) -> u64 {
        self.subject.buffer.chain().nodes()
    }

    fn lines(&self) -> u64 {
        let layout = self.subject.buffer.chain().layout();
        layout.size().0 / layout.stride().max(layout.line()).0
    }

    fn lanes(&self) -> Option<usize> {
        self.subject.side.map(|side| side.walk.lanes())
    }

    fn condition(&self) -> Condition {
        self.condition
    }

    fn ahead(&self) -> u64 {
        self.ahead
    }

    fn is_split(&self) -> bool {
        self.is_split
    }

    fn turn_to(&mut self, chain: usize) {
        self.nodes = self.nodes_now();
        if let Some(&node) = self.nodes.get(chain) {
            (self.node, self.chain, self.rush) = (node, chain, None);
        }
    }

    fn walk(&mut self, hops: u64, until_ns: f64) -> Attempt<Walked> {
        let Self { watch, subject, node, hop_ns, .. } = self;
        let piece_ns = PIECE_NS.max(2.0 * watch.timer.batch_ns());
        in_pieces(hops, until_ns, hop_ns, piece_ns, |piece| watch.walk(subject, node, piece))
    }

    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let mut again = 0;
        let watch = self.watch;
        let counter = watch.timer.counter().filter(|counter| self.turns.next(counter));
        loop {
            let (batch, lost) = self.batch_anywhere(hops, until_ns, counter)?;
            // The batch is repeated after a migration, because the caches of another CPU differ and a round may have no
            // other batch. It is repeated once if a generator lost its CPU, because the traffic was then below the
            // requested rate.
            if !(watch.brought_back()? || lost && again == 0) {
                return Ok(batch);
            }
            if again == AGAIN {
                return Ok(Batch { preempted: true, ..batch });
            }
            again += 1;
        }
    }

    fn rush(&mut self, hops: u64, until_ns: f64) -> Attempt<Option<Walked>> {
        if self.rush.is_none() {
            self.rush = Rush::over(self.subject.buffer, self.chain);
        }
        let (Some(rush), watch, buffer) = (&mut self.rush, self.watch, self.subject.buffer) else {
            return Ok(None);
        };
        let piece_ns = PIECE_NS.max(2.0 * watch.timer.batch_ns());
        let lanes = RUSHING_LANES as u64;
        let (made, spent_ns) = in_pieces(hops / lanes + 1, until_ns, &mut rush.hop_ns, piece_ns, |piece| {
            watch.walk_lanes(buffer, &rush.side, piece)
        })?;
        Ok(Some((made * lanes, spent_ns)))
    }

    fn each(&mut self, samples: &mut [TimedHops]) -> Attempt<bool> {
        let Some(counter) = self.watch.timer.counter() else { return Ok(false) };
        let Subject { buffer, kernel, .. } = self.subject;
        let (ended, _) =
            buffer.timed_hops(kernel, self.node, 1, counter.stamp, samples).map_err(not_proven)?;
        self.node = buffer.prove(self.node, samples.len() as u64, ended).map_err(not_proven)?;
        Ok(true)
    }

    fn touch(&mut self) {
        self.subject.buffer.touch();
    }

    fn rewind(&mut self, part: u64) {
        self.node = self.subject.buffer.chain().start(part, RUSHING_LANES as u64);
    }

    fn idle(&mut self, until_ns: f64) -> Attempt<u64> {
        let mut interrupts = 0;
        while self.now_ns() < until_ns {
            if self.interrupted() {
                return Err(MeasureError::Interrupted);
            }
            // Reading the clock is a call of the kernel, which may wipe out a mark, too.
            arch::set_interrupt_mark();
            for _ in 0..SPINS {
                core::hint::spin_loop();
            }
            interrupts += u64::from(!arch::interrupt_mark_holds());
        }
        Ok(interrupts)
    }

    fn batch_ns(&self) -> f64 {
        let usual_ns = self.watch.timer.batch_ns();
        if self.traffic.is_some() { usual_ns.max(LOADED_WINDOW_NS) } else { usual_ns }
    }

    fn software(&mut self) -> Software {
        self.watch.software()
    }

    fn uncore_gigahertz(&self) -> f64 {
        self.uncore.map_or(f64::NAN, |(generators, node)| generators.uncore_gigahertz(node))
    }

    /// Makes one walk for each group of events.
    fn count(&mut self, hops: u64) -> Attempt<Counted> {
        let (Some(meter), Subject { buffer, kernel, side }) = (&self.watch.meter, self.subject) else {
            return Ok(Counted::default());
        };
        let hops = counters::hops(hops);
        if let Some(side) = side {
            return self.watch.count_lanes(meter, buffer, side, hops);
        }
        let mut all = Counted::default();
        for group in 0..counters::WALKS {
            let walk = |hops: u64| buffer.walk(kernel, self.node, hops as usize);
            if buffer.chain().nodes() <= SATTOLO_LIMIT {
                // Opening and reading counters has evicted the chain from the nearest cache.
                let _ = walk(buffer.chain().nodes());
            }
            let mut ended = None;
            all = all.and(&meter.count(group, hops, || ended = walk(hops).ok()));
            let proven = ended.and_then(|ended| buffer.prove(self.node, hops, ended).ok());
            self.node = proven.ok_or(MeasureError::HOPS_NOT_PROVEN)?;
        }
        Ok(all)
    }

    fn beside(&mut self, round: &Round) -> Attempt {
        match &mut self.singles {
            Some((index, singles)) => {
                singles.visit(*index, &self.subject, &mut self.node, round, &|| self.watch.brought_back())
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changing_core_clock_is_averaged_by_time() {
        // Two readings, one at each end, would give 3 GHz.
        let mut looks = Looks::new(4.0);
        looks.add(10e6, 4.0);
        (0..8).for_each(|_| looks.add(10e6, 2.0));
        assert!((looks.mean() - (4.0 + 3.0 + 7.0 * 2.0) / 9.0).abs() < 1e-9, "{}", looks.mean());
        assert!((looks.spent_ns - 90e6).abs() < 1e-6);
        assert!(Looks::new(f64::NAN).mean().is_nan());
    }

    #[test]
    fn a_walk_ends_at_its_deadline_and_ignores_a_clock_step_back() {
        let mut hop_ns = 100.0;
        let (made, spent_ns) =
            in_pieces(1000, f64::INFINITY, &mut hop_ns, 20_000.0, |hops| Ok(hops as f64 * 50.0)).unwrap();
        assert_eq!((made, hop_ns), (1000, 50.0));
        assert!((spent_ns - 50_000.0).abs() < 1e-6);
        let mut first = true;
        let (made, spent_ns) = in_pieces(1000, f64::INFINITY, &mut hop_ns, 20_000.0, |hops| {
            Ok(if core::mem::take(&mut first) { f64::NAN } else { hops as f64 * 50.0 })
        })
        .unwrap();
        assert!(made == 1000 && spent_ns.is_nan() && hop_ns == 50.0);
    }
}
