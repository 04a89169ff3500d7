//! One point of a rotation: where its chain goes, how it is warmed up, and its visits.

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::Order;
use latency_core::units::{Bytes, PageSize};

use crate::engine::stopwatch::Stopwatch;
use crate::engine::subject::Subject;
use crate::engine::visit::{Pace, State};
use crate::error::{Failure, PlacementError};
use crate::options::Options;
use crate::plan::duration::{FEWEST_ROUNDS, ROUNDS};
use crate::result::{chain, Point, Round};
use crate::sys::time;

/// Offsets that the visits to a point take turns in.
const PLACEMENTS: u64 = 16;
/// A point whose visits take longer has its confidence interval looked at after [`FEWEST_ROUNDS`].
const DEAR_VISIT_NS: f64 = 20e6;
/// Smaller working sets are not asked whether a cache holds them.
const SMALL: Bytes = Bytes(4 << 20);
/// The longest lap that single hops make: 128 MiB of lines, 0.3 s at 150 ns.
const LONGEST_LAP: u64 = 1 << 21;
/// So many hops are enough where nothing else can be had: 0.6 s at 150 ns.
const LONGEST_WARM_UP: u64 = 1 << 22;
/// 1 MiB of lines, which no first- or second-level cache takes in slowly.
const SLOWLY_FILLED: u64 = 1 << 14;
/// 64 MiB of lines at 150 ns, and a quarter more.
const LONGEST_SECOND_LOOK_NS: f64 = 2e8;
/// Visits after the first that give a cache another chance: at the first, a neighbour may have had it. Without a lap
/// the chain just written stays cold, and would for ever.
const SECOND_LOOKS: usize = 2;
/// Steady rounds over first pass: above this, no hop hits a cache.
const CACHED_RATIO: f64 = 0.96;
/// Up to 16 MiB of lines laps are walked until the latency is steady.
const STEADY: u64 = 1 << 18;
/// The most of these: after so many, an eighth is missed of what a cache with random victims holds in the end.
const MOST_LAPS: u32 = 16;
/// Where no cache helps, so many hops fill the TLBs and bring page tables into the caches.
pub const FEW_HOPS: (u64, u64) = (1 << 14, 1 << 16);

/// One point and how far it has come.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What is measured.
    pub point: Point,
    /// How far it has come.
    pub state: State,
    /// Its first steady round over its first pass, which no cache held: the smaller, the more a cache holds of it.
    cached_ratio: f64,
    /// How long its last visit took.
    pub visit_ns: f64,
}

impl Entry {
    /// A point that was not visited yet.
    pub const fn new(point: Point) -> Entry {
        Entry { point, state: State::NEW, cached_ratio: 0.0, visit_ns: 0.0 }
    }

    /// The rounds before its confidence interval is looked at.
    pub fn fewest_rounds(&self) -> usize {
        if self.visit_ns > DEAR_VISIT_NS {
            FEWEST_ROUNDS
        } else {
            ROUNDS
        }
    }

    /// Writes its chain to `lines`, warms it up and makes a round; `index` tells points apart.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::round`]; a point that does not fit.
    pub fn visit(
        &mut self,
        options: &Options<'_>,
        watch: &mut Stopwatch<'_>,
        lines: &mut [Line],
        kept: &mut [Round],
        pace: &Pace,
        index: u64,
    ) -> Result<(), Failure<'static>> {
        let start = time::monotonic_raw_ns();
        let Entry { point, state, cached_ratio, visit_ns } = self;
        let chain = chain::chain(point)?;
        let lines = room(point, lines, state.rounds as u64 * 5 + index);
        let buffer = Buffer::build(lines, &chain, point.kernel.encoding)
            .map_err(|_| PlacementError::NothingToMeasure)?;
        let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
        let asked = options.warmup_iters;
        let first = state.rounds == 0;
        if first {
            let hops = chain.nodes().clamp(FEW_HOPS.0, FEW_HOPS.1);
            state.begin(options, watch, &subject, asked.or(Some(hops)))?;
        }
        match asked {
            Some(_) if first => {}
            Some(hops) => watch.walk_for(&subject, &mut state.node, hops, f64::INFINITY).map(drop)?,
            None => warm_up(watch, &subject, state, *cached_ratio)?,
        }
        if first && asked.is_none() {
            state.settle(options, watch, &subject)?;
        }
        state.spent_ns += time::monotonic_raw_ns().saturating_sub(start) as f64;
        state.advance(options, watch, &subject, kept, pace)?;
        let made = kept.get(state.rounds.saturating_sub(1));
        if let (Some(cold_ns), Some(round), true) = (state.warm_up.cold_ns, made, point.size > SMALL) {
            // A neighbour may have had the cache in one round: the best one tells what it can keep.
            let ratio = round.nanoseconds / cold_ns;
            *cached_ratio = if first { ratio } else { ratio.min(*cached_ratio) };
        }
        *visit_ns = time::monotonic_raw_ns().saturating_sub(start) as f64;
        Ok(())
    }
}

/// The warm-up of a visit, besides the first pass in the first one.
///
/// Where a cache may hold some of the chain it is filled with it; a lap in the order of the chain then leaves it as
/// laps like it would.
fn warm_up(
    watch: &mut Stopwatch<'_>,
    subject: &Subject<'_>,
    state: &mut State,
    cached_ratio: f64,
) -> Result<(), Failure<'static>> {
    let nodes = subject.buffer.chain().nodes();
    let lap_ns = nodes as f64 * state.warm_up.estimate_ns;
    let untold = state.rounds == 0 || state.rounds <= SECOND_LOOKS && lap_ns <= LONGEST_SECOND_LOOK_NS;
    if !untold && cached_ratio >= CACHED_RATIO {
        let few = (nodes / 16).clamp(FEW_HOPS.0, FEW_HOPS.1);
        return watch.walk_for(subject, &mut state.node, few, f64::INFINITY).map(drop);
    }
    let mut filled = 0;
    if nodes >= SLOWLY_FILLED {
        filled = watch.fill(subject.buffer, state.warm_up.estimate_ns)?;
        if filled > 0 {
            state.node = subject.buffer.chain().start(0, 1);
        } else if nodes <= LONGEST_LAP {
            filled = watch.touch(subject.buffer)?;
        }
    }
    if nodes <= STEADY {
        let made = watch.walk_until_steady(subject, &mut state.node, MOST_LAPS)?;
        if state.rounds == 0 {
            state.warm_up.hops += filled + made;
        }
        return Ok(());
    }
    // The first hops of many are met as after a lap.
    let lap = match filled {
        0 => (2 * nodes).min(LONGEST_WARM_UP),
        _ if nodes <= LONGEST_LAP => nodes,
        _ => 0,
    };
    watch.walk_for(subject, &mut state.node, lap, f64::INFINITY)?;
    if state.rounds == 0 {
        state.warm_up.hops += filled + lap;
    }
    Ok(())
}

/// The memory of a visit's chain: at one of [`PLACEMENTS`] in the room that its size leaves.
pub fn room<'l>(point: &Point, lines: &'l mut [Line], place: u64) -> &'l mut [Line] {
    let unit = match point.order {
        Order::Local(region) => region.max(PageSize::Small.bytes()),
        Order::Random | Order::Sequential | Order::Backward => PageSize::Small.bytes(),
    };
    let room = (lines.len() as u64 * 64).saturating_sub(point.size.0) / unit.0.max(1);
    let step = place % PLACEMENTS;
    let first = (room * step / (PLACEMENTS - 1) * unit.0 / 64) as usize;
    lines.get_mut(first..).unwrap_or_default()
}
