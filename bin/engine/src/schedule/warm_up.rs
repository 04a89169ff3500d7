//! The warm-up of a chain before it is timed, so that caches, TLBs and clocks are in the state of a steady walk.
//!
//! Every experiment uses the same warm-up, so a point is warmed up alike in all of them. The warm-up has no clock of
//! its own; it sees only the durations of walks.

use latency_core::stats;

use crate::budget::{Budget, FEW_HOPS, FEWEST_ROUNDS, FILLING_LAPS, Pass, SHORT_PASS, few};
use crate::error::Attempt;
use crate::result::WarmUp;
use crate::schedule::grouped::{few_before, walk_others};
use crate::schedule::summariser::Summariser;
use crate::schedule::walks::{ENOUGH_TO_JUDGE, estimate, fill, parts, touch, trail};
use crate::seam::{Condition, FEWEST_HOPS, Walkable};

/// Maximum ratio of the latency of a steady walk to that of a first pass at which a cache serves some of the working
/// set, if many passes or rounds agree.
pub const SERVES_SOME: f64 = 0.98;
/// Maximum of the same ratio that chance does not explain, for a single pass and the shortest of few rounds.
///
/// Medians of both repeat within 3 % where neighbours share the memory. If a cache serves a share h of the hops in a
/// third of memory's time, a ratio of 0.95 is h = 8 %. For comparison, in a cyclic walk over three times a cache with
/// random replacement, 6 % of the hops hit.
const HOLDS_SOME: f64 = 0.95;
/// Minimum nodes of a chain for which passes and rounds decide whether a cache holds it: 4 MiB of lines, which a lap
/// brings into any last-level cache at once.
const ASKED_FROM: u64 = 1 << 16;
/// Maximum lines of an unconditional lap (32 MiB); a longer lap is made only if a cache was seen to hold some of the
/// lines.
const LOOKED_AT: u64 = 1 << 19;
/// Maximum hops of a lap by one lane: 128 MiB of lines, 0.3 s at 150 ns.
const LONGEST_LAP: u64 = 1 << 21;
/// Maximum hops of a warm-up by one lane: 0.6 s at 150 ns.
const LONGEST_WARM_UP: u64 = 1 << 22;
/// Minimum lines of a chain for caches that fill slowly: 1 MiB, more than first- and second-level caches, which fill at
/// once.
const SLOWLY_FILLED: u64 = 1 << 14;
/// Maximum lines over which laps are walked until the latency is steady: 16 MiB.
const STEADY: u64 = 1 << 18;
/// Maximum size, in trails (1.5 last-level caches each), of a chain that keeps a measurable share of lines cached: at 6
/// caches with random replacement, 0.25 %.
const PARTLY_HELD: u64 = 4;
/// Maximum laps; a cache with random replacement is then within 1/8 of its steady state.
const MOST_LAPS: u32 = 16;
/// Maximum share of a point's time for its first pass over a chain in memory: a whole pass over slow memory would leave
/// no time for rounds, and an interruption cannot be detected in a single trial.
const WARM_UP_SHARE: f64 = 0.3;
/// Number of visits after the first that repeat the test for a cache: during the first, a neighbour may have filled the
/// cache. Later visits do not repeat it, because a newly written chain would appear uncached on every visit.
const SECOND_LOOKS: usize = 2;

/// Returns true if a cache holds some of a working set, from the latency of a first pass, which no cache serves, and
/// the latency of later laps.
pub fn is_held(cold_ns: f64, warm_ns: f64) -> bool {
    warm_ns < HOLDS_SOME * cold_ns
}

/// The state of a point's warm-up, and the findings about its caches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Warmth {
    /// The findings of the first warm-up.
    pub first: WarmUp,
    /// Visits made.
    visits: usize,
    /// The shortest round.
    warm_ns: Option<f64>,
    /// True if a cache holds some of the chain; `None` until that is decided.
    held: Option<bool>,
    /// Latencies of first passes, from the first visits that made one.
    passes: [f64; FEWEST_ROUNDS],
    passed: usize,
    /// Latency of the first pass of the last visit, if it made one.
    last_cold_ns: Option<f64>,
    /// Number of laps until the walk was steady.
    laps: u32,
}

impl Warmth {
    /// Records the latency of a round. In the first visits, it decides whether a cache holds some of the chain. A
    /// neighbour may have filled the cache, or slowed the memory, during one of them; so the shortest times count.
    pub fn note(&mut self, nanoseconds: f64) {
        self.warm_ns = Some(self.warm_ns.map_or(nanoseconds, |best| best.min(nanoseconds)));
        if self.visits <= 1 + SECOND_LOOKS {
            let passes = self.passes.get(..self.passed).unwrap_or_default().iter().copied().reduce(f64::min);
            self.held = passes.zip(self.warm_ns).map(|(cold_ns, warm_ns)| is_held(cold_ns, warm_ns));
        }
    }

    /// Returns the latency of lines that no cache held, in the last visit; NaN if there were none.
    pub fn cold_ns(&self) -> f64 {
        self.last_cold_ns.unwrap_or(f64::NAN)
    }

    /// Returns the findings for a result; the latency of first passes is the median over several visits.
    pub fn found(&self) -> WarmUp {
        let mut passes = self.passes;
        let cold_ns = passes.get_mut(..self.passed).and_then(stats::median);
        WarmUp { cold_ns, passes: self.passed, ..self.first }
    }

    /// Returns true if a cache may hold some of the chain.
    fn may_be_held(&self, nodes: u64) -> bool {
        nodes <= ASKED_FROM || self.held != Some(false)
    }

    /// Brings the chain, and the TLBs and page tables that it needs, into the state to be measured. Returns the hops of a
    /// random chain that the grouped chains beside it have not matched yet.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`].
    pub fn warm_up(
        &mut self,
        chain: &mut dyn Walkable,
        summariser: &mut Summariser,
        budget: &Budget,
        until_ns: f64,
    ) -> Attempt<u64> {
        let first = self.visits == 0;
        let mut untimed = 0;
        self.visits += 1;
        self.last_cold_ns = None;
        let nodes = chain.nodes();
        let few = few_before(nodes, chain.is_split());
        match (chain.condition(), chain.lanes()) {
            (Condition::Written, _) => self.written(chain, summariser, budget, until_ns)?,
            (Condition::Disturbed, Some(lanes)) => {
                trail(chain, budget.trail, lanes as u64, until_ns)?;
                if first {
                    let hops = budget.warm_up.unwrap_or(budget.trail / lanes as u64 / 64 + 1);
                    self.pass(chain, summariser, hops, until_ns)?;
                }
            }
            (_, None) if first => {
                let now_ns = chain.now_ns();
                let share = if budget.warm_up.is_some() { 1.0 } else { WARM_UP_SHARE };
                let until_ns = now_ns + share * (until_ns - now_ns);
                let asked = budget.warm_up.unwrap_or(nodes.min(SHORT_PASS));
                let made = self.pass(chain, summariser, asked, until_ns)?;
                walk_others(chain, made, until_ns)?;
                // If a cache holds some of the chain, a lap brings it in, and this pass does not.
                let alone_ns = self.first.cold_ns.unwrap_or(f64::INFINITY);
                if chain.ahead() > 0 && fill(chain, 1, alone_ns, until_ns)? > 0 {
                    chain.rewind(0);
                }
            }
            (_, None) if chain.ahead() > 0 => {
                let (warmed, _) = chain.walk(few, until_ns)?;
                let ahead = chain.ahead();
                let (made, cold_ns) = parts(chain, summariser, ahead, until_ns)?;
                self.last_cold_ns = cold_ns;
                untimed = warmed + made;
            }
            // Another point was walked in between, so TLBs and near caches hold its data.
            (Condition::Disturbed, None) => {
                let asked = budget.warm_up.unwrap_or(u64::MAX);
                (untimed, _) = chain.walk(few.min(asked.max(FEW_HOPS.0)), until_ns)?;
            }
            _ => {}
        }
        if first {
            self.first.estimate_ns = estimate(chain, until_ns)?;
        }
        Ok(untimed)
    }

    /// Warms up a chain just written, which is in no cache.
    fn written(
        &mut self,
        chain: &mut dyn Walkable,
        summariser: &mut Summariser,
        budget: &Budget,
        until_ns: f64,
    ) -> Attempt {
        let nodes = chain.nodes();
        let first = self.visits == 1;
        let held = self.may_be_held(nodes);
        match (budget.warm_up, budget.pass) {
            (Some(hops), _) => return self.pass(chain, summariser, hops, until_ns).map(drop),
            (None, Pass::Lap) => {
                let hops = if held { nodes } else { nodes.min(SHORT_PASS) };
                return self.pass(chain, summariser, hops, until_ns).map(drop);
            }
            (None, Pass::Short) => {}
        }
        let asks = nodes > ASKED_FROM && self.visits <= 1 + SECOND_LOOKS && nodes <= LONGEST_LAP;
        if first || asks || !held {
            self.pass(chain, summariser, few(nodes), until_ns)?;
        }
        let alone_ns = self.first.cold_ns.unwrap_or(f64::INFINITY);
        if !first && !asks && !held {
            // A cyclic walk over four times a cache with random replacement finds 2 % of its lines there, but none of a
            // chain just written. A lap of many lanes leaves the cache in the same state as a lap of one lane.
            if chain.lines() <= PARTLY_HELD * budget.trail && fill(chain, 1, alone_ns, until_ns)? > 0 {
                chain.rewind(0);
            }
            return Ok(());
        }
        let mut filled = 0;
        // A chain larger than every known cache, and larger than the caches of usual machines, is in memory.
        let may_fit = chain.lines() <= LONGEST_LAP.max(budget.trail);
        if nodes >= SLOWLY_FILLED && may_fit {
            filled = fill(chain, FILLING_LAPS, alone_ns, until_ns)?;
            if filled > 0 {
                chain.rewind(0);
            } else if nodes <= LONGEST_LAP {
                filled = touch(chain, until_ns)?;
            }
        }
        if let (true, Some(cold_ns)) = (asks && filled > 0 && nodes > LOOKED_AT, self.last_cold_ns) {
            // The lines at the start of each lane's part were touched longest ago, as in every later lap. The lines
            // behind them were touched more recently than after a lap.
            let (hops, warm_ns) =
                parts(chain, summariser, (nodes / 128).clamp(ENOUGH_TO_JUDGE, FEW_HOPS.0), until_ns)?;
            self.count(hops);
            if warm_ns.is_some_and(|warm_ns| !is_held(cold_ns, warm_ns)) {
                chain.rewind(1);
                self.count(filled);
                return Ok(());
            }
        }
        let walked = if nodes <= STEADY {
            self.until_steady(chain, until_ns)?
        } else {
            // The first hops after a lap of many lanes have the same latency as after a lap of one.
            let lap = match filled {
                0 if may_fit => (2 * nodes).min(LONGEST_WARM_UP),
                _ if nodes <= LONGEST_LAP => nodes,
                _ => 0,
            };
            chain.walk(lap, until_ns)?.0
        };
        self.count(filled + walked);
        Ok(())
    }

    /// Makes a first pass over a chain, and times it separately. Returns the hops made.
    fn pass(
        &mut self,
        chain: &mut dyn Walkable,
        summariser: &mut Summariser,
        hops: u64,
        until_ns: f64,
    ) -> Attempt<u64> {
        let (hops, cold_ns) = parts(chain, summariser, hops, until_ns)?;
        if let (Some(slot), Some(cold_ns)) = (self.passes.get_mut(self.passed), cold_ns) {
            *slot = cold_ns;
            self.passed += 1;
        }
        self.last_cold_ns = cold_ns;
        if self.visits == 1 {
            self.first.cold_ns = cold_ns;
        }
        self.count(hops);
        Ok(hops)
    }

    fn count(&mut self, hops: u64) {
        if self.visits == 1 {
            self.first.hops += hops;
        }
    }

    /// Walks laps until one is not faster than the one before; in later visits, as many as the first visits needed.
    ///
    /// A cache with random replacement holds ever more of a working set of about its size: in the n-th lap of a cyclic
    /// walk, a share of 2 / n of the lines misses.
    fn until_steady(&mut self, chain: &mut dyn Walkable, until_ns: f64) -> Attempt<u64> {
        const FASTER: f64 = 0.985;
        // Several very short laps count as one, so that the clock resolves them.
        let lap = chain.nodes().max(FEWEST_HOPS * 32);
        if self.laps > 0 && self.visits > 1 + SECOND_LOOKS {
            return Ok(chain.walk(lap * u64::from(self.laps), until_ns)?.0);
        }
        let (mut all, mut last) = (0, f64::INFINITY);
        let mut laps = 0;
        for _ in 0..MOST_LAPS {
            let (made, spent_ns) = chain.walk(lap, until_ns)?;
            all += made;
            if spent_ns > last * FASTER || made < lap {
                break;
            }
            last = spent_ns;
            laps += 1;
        }
        self.laps = self.laps.max(laps);
        Ok(all)
    }
}

#[cfg(test)]
#[path = "warm_up_tests.rs"]
mod tests;
