//! The turns of grouped chains in a round, so that memory and translation are told apart.
//!
//! The random chain and the grouped ones are walked in turn, each in proportion to its lines: then a line comes back
//! after as many other lines as the working set has, as with one chain. A change of the machine between two rounds
//! affects all chains alike, and drops out of their differences. Grouped chains are walked by whole windows, since the
//! first loads of a window have more translations than the others.

use latency_core::Summary;
use latency_core::chain::{GROUPED, WINDOWS, Window};

use crate::budget::few;
use crate::error::Attempt;
use crate::result::{PairedRounds, Round, Split};
use crate::seam::{Batch, Walkable};

/// Turns of the random chain in a lap at least: between two loads of a line, nearly every line of the other chains is then
/// loaded, as on one chain.
const LAP_PARTS: u64 = 32;
/// Minimum batches of the random chain in a turn, so that each grouped chain has a batch.
const FEWEST_BATCHES: u64 = 8;
/// Minimum share of the loads of a turn that are made before it, untimed, to bring TLBs and near caches into the state of
/// the chain.
const WARM_UP_PART: u64 = 4;
/// Maximum of this minimum.
const ENOUGH_WARM_UP: u64 = 1 << 12;

/// Returns the hops of a batch of the random chain, at most `hops`, so that turns are short compared with a lap.
pub fn hops_of_batch(chain: &dyn Walkable, hops: u64) -> u64 {
    if chain.is_split() { hops.min(chain.nodes() / (LAP_PARTS * FEWEST_BATCHES)) } else { hops }
}

/// Returns the hops over a chain of `nodes` nodes that refill TLBs, page tables and near caches before it is timed: with
/// grouped chains, at most a turn. Lines that are written ahead lie behind them.
pub fn few_before(nodes: u64, is_split: bool) -> u64 {
    if is_split { few(nodes).min(nodes / LAP_PARTS) } else { few(nodes) }
}

/// Walks each grouped chain for its share of `loads` loads that the random one has made, in turn, so that caches hold the
/// same share of all chains.
///
/// # Errors
///
/// The errors of [`Walkable::walk`].
pub fn walk_others(chain: &mut dyn Walkable, loads: u64, until_ns: f64) -> Attempt {
    if !chain.is_split() {
        return Ok(());
    }
    let turn = (chain.nodes() / LAP_PARTS).max(1);
    for made in (0..loads).step_by(turn as usize) {
        each_other(chain, &mut |chain, window| {
            chain.walk(whole(window, turn.min(loads - made) * window.eighths / 8), until_ns).map(drop)
        })?;
    }
    Ok(())
}

/// Does the same by [rushes](Walkable::rush), one of each chain.
///
/// # Errors
///
/// The errors of [`Walkable::rush`].
pub fn rush_others(chain: &mut dyn Walkable, loads: u64, until_ns: f64) -> Attempt {
    each_other(chain, &mut |chain, window| chain.rush(loads * window.eighths / 8, until_ns).map(drop))
}

/// A function that walks a grouped chain with these windows.
type WalkOther<'w> = dyn FnMut(&mut dyn Walkable, Window) -> Attempt + 'w;

/// Turns to each grouped chain, and back to the random one.
fn each_other(chain: &mut dyn Walkable, walk: &mut WalkOther<'_>) -> Attempt {
    if chain.is_split() {
        for (number, window) in (1..).zip(WINDOWS) {
            chain.turn_to(number);
            walk(chain, window)?;
        }
        chain.turn_to(0);
    }
    Ok(())
}

/// Returns a number of loads, rounded up to whole windows.
fn whole(window: Window, loads: u64) -> u64 {
    loads.div_ceil(window.loads()).max(1) * window.loads()
}

/// Returns the number of loads in whole windows that is nearest to a number of loads, at least one window.
fn nearest(window: Window, loads: u64) -> u64 {
    whole(window, loads.saturating_sub(window.loads() / 2))
}

/// The turns of one grouped chain, and the place of its batches in a table for all chains.
#[derive(Clone, Copy, Debug, Default)]
struct ChainTurns {
    first: usize,
    made: usize,
    room: usize,
    /// Loads so far, timed or not.
    loads: u64,
    /// The least loads of a batch.
    fewest: u64,
}

/// The turns of the grouped chains in one round.
#[derive(Clone, Copy, Debug)]
pub struct GroupedTurns {
    /// Loads of the random chain in a turn, and timed loads of it at the end of the last one.
    turn: u64,
    ended: u64,
    /// Loads of a batch of the random chain.
    hops: u64,
    /// Untimed loads of the random chain before its next turn, since the last turn of the others, and in all.
    few: u64,
    untimed: u64,
    all_untimed: u64,
    /// The grouped chains take their next turns from the last to the first one: what a chain leaves in caches and TLBs
    /// is found by each of the others alike.
    backward: bool,
    parts: [ChainTurns; GROUPED],
}

impl GroupedTurns {
    /// Returns the turns of a round of at most `count` batches of `hops` hops after `untimed` loads of the random
    /// chain, with room for `most` batches of grouped chains; `None` without grouped chains.
    pub fn of(
        chain: &dyn Walkable,
        (untimed, hops): (u64, u64),
        count: usize,
        most: usize,
    ) -> Option<GroupedTurns> {
        if !chain.is_split() {
            return None;
        }
        let mut first = 0;
        let parts = WINDOWS.map(|Window { eighths, .. }| {
            let room = most / 8 * eighths as usize;
            let part = ChainTurns { first, room, fewest: u64::MAX, ..ChainTurns::default() };
            first += room;
            part
        });
        let batches = (chain.nodes() / LAP_PARTS / hops.max(1)).max(FEWEST_BATCHES).min(count as u64);
        let turn = batches * hops;
        let few = few_before(chain.nodes(), true).min(turn / WARM_UP_PART);
        Some(GroupedTurns {
            turn,
            ended: 0,
            hops,
            few,
            untimed,
            all_untimed: untimed,
            backward: false,
            parts,
        })
    }

    /// Lets the grouped chains have their turn if the random one, with `timed` timed loads so far, has had its own.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`].
    pub fn catch_up(
        &mut self,
        chain: &mut dyn Walkable,
        batches: &mut [Batch],
        timed: u64,
        until_ns: f64,
    ) -> Attempt {
        if timed >= self.ended + self.turn {
            self.take_turns(chain, batches, timed, until_ns)?;
            self.untimed = chain.walk(self.few, until_ns)?.0;
            self.all_untimed += self.untimed;
        }
        Ok(())
    }

    /// Walks the grouped chains until they have their share of the random one's loads; `timed` is the number of its timed
    /// loads.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`].
    pub fn take_turns(
        &mut self,
        chain: &mut dyn Walkable,
        batches: &mut [Batch],
        timed: u64,
        until_ns: f64,
    ) -> Attempt {
        let (new_timed, untimed) = (timed - self.ended, self.untimed);
        let (most, backward) = (self.hops, self.backward);
        self.backward = !backward;
        for place in 0..GROUPED {
            let index = if backward { GROUPED - 1 - place } else { place };
            let Some((part, window)) = self.parts.get_mut(index).zip(WINDOWS.get(index)) else { continue };
            let due = ((timed + self.all_untimed) * window.eighths / 8).saturating_sub(part.loads);
            // What is too little for a warm-up and a batch is left for the next turn.
            if due < 2 * window.loads() && part.made > 0 {
                continue;
            }
            chain.turn_to(index + 1);
            let before =
                (due * untimed / (new_timed + untimed).max(1)).max((due / WARM_UP_PART).min(ENOUGH_WARM_UP));
            let before = nearest(*window, before);
            part.loads += chain.walk(before, until_ns)?.0;
            let end = part.loads + due.saturating_sub(before);
            let hops = nearest(*window, most.min(due.saturating_sub(before)));
            for slot in batches.iter_mut().skip(part.first).take(part.room).skip(part.made) {
                *slot = chain.batch(hops, until_ns)?;
                (part.made, part.loads) = (part.made + 1, part.loads + slot.hops);
                part.fewest = part.fewest.min(slot.hops);
                if part.loads + hops / 2 > end || slot.hops < hops {
                    break;
                }
            }
        }
        (self.ended, self.untimed) = (timed, 0);
        chain.turn_to(0);
        Ok(())
    }

    /// Returns the batches of each grouped chain, and the least loads of one.
    pub fn parts<'b>(&self, batches: &'b mut [Batch]) -> [(&'b mut [Batch], u64); GROUPED] {
        let mut rest = batches;
        self.parts.map(|ChainTurns { made, room, fewest, .. }| {
            let (own, others) = core::mem::take(&mut rest).split_at_mut_checked(room).unwrap_or_default();
            rest = others;
            (own.get_mut(..made).unwrap_or_default(), fewest)
        })
    }
}

/// A function that summarises a quantity of rounds, in the order of time.
pub type Summarise<'s> = dyn FnMut(&dyn Fn(&Round) -> f64) -> Option<Summary> + 's;

/// Tells memory and translation apart from rounds in which all chains were walked; `None` without them.
pub fn split(random: &Summary, of: &mut Summarise<'_>) -> Option<Split> {
    let chain = |round: &Round, index: usize| {
        let value = round.grouped.and_then(|grouped| grouped.get(index).copied());
        value.unwrap_or(f64::NAN)
    };
    let by_four = |round: &Round| 2.0 * chain(round, 0) - chain(round, 1);
    let mut each = |index: usize| of(&|round| chain(round, index));
    let grouped = [each(0)?, each(1)?, each(2)?, each(3)?];
    Some(Split::of(&PairedRounds {
        random: *random,
        grouped,
        by_four: of(&by_four)?,
        by_two: of(&|round| 2.0 * chain(round, 1) - chain(round, 2))?,
        translation: of(&|round| round.nanoseconds - by_four(round))?,
        narrow_over_whole: of(&|round| chain(round, 3) / chain(round, 0))?,
    }))
}

#[cfg(test)]
#[path = "grouped_tests.rs"]
mod tests;
