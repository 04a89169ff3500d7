//! One point of a rotation: where its chain goes, how it is warmed up, and its visits.

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::chain::Order;
use latency_core::units::{Bytes, PageSize};

use crate::error::{Failure, PlacementError};
use crate::measure::{Stopwatch, Subject};
use crate::options::Options;
use crate::plan;
use crate::result::{Point, Round};
use crate::sys::time;
use crate::visit::{Pace, State, FEWEST_ROUNDS, ROUNDS};

/// Offsets that the visits to a point take turns in.
const PLACEMENTS: u64 = 16;
/// A point whose visits take longer has its confidence interval looked at after [`FEWEST_ROUNDS`].
const DEAR_VISIT_NS: f64 = 20e6;
/// Up to this size two laps of warm-up cost nothing that matters.
const SMALL: Bytes = Bytes(4 << 20);
/// The longest lap of warm-up in one visit: 0.6 s at 150 ns.
const LONGEST_LAP: u64 = 1 << 22;
/// 16 MiB of lines.
const LONG_LAP: u64 = 1 << 18;
/// Steady rounds over first pass: below the first, a good part of the hops hit a cache, and which lines it keeps
/// settles over laps; above the second, none hit.
const CACHED_RATIOS: (f64, f64) = (0.8, 0.96);
/// The laps of a visit that are spent on letting a cache settle: after so many, an eighth is missed of what a cache
/// with random victims holds in the end.
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
        let chain = plan::chain(point)?;
        let lines = room(point, lines, state.rounds as u64 * 5 + index);
        let buffer = Buffer::build(lines, &chain, point.kernel.encoding)
            .map_err(|_| PlacementError::NothingToMeasure)?;
        let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
        let asked = options.warmup_iters;
        let first = state.rounds == 0;
        if first {
            let lap = chain.nodes().min(LONGEST_LAP);
            let hops = if point.size <= SMALL { lap.max(FEW_HOPS.0) } else { lap };
            state.begin(options, watch, &subject, asked.or(Some(hops)))?;
        }
        let long = chain.nodes() > LONG_LAP;
        match asked {
            Some(_) if first => {}
            Some(hops) => {
                watch.warm_up(&subject, &mut state.node, Some(hops))?;
            }
            // What a cache may hold a part of.
            None if !long && (first || *cached_ratio < CACHED_RATIOS.0) => {
                watch.settle(&subject, &mut state.node, MOST_LAPS)?;
            }
            None => {
                let hops = warm_up_hops(chain.nodes(), *cached_ratio, first);
                if hops > 0 {
                    watch.warm_up(&subject, &mut state.node, Some(hops))?;
                }
            }
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
fn warm_up_hops(nodes: u64, cached_ratio: f64, first: bool) -> u64 {
    let lap = nodes.min(LONGEST_LAP);
    match cached_ratio {
        // The first pass has just been made, and was long enough for one that is longer than most caches.
        _ if first => 0,
        ratio if ratio < CACHED_RATIOS.0 => 2 * lap,
        ratio if ratio < CACHED_RATIOS.1 => lap,
        _ => (nodes / 16).clamp(FEW_HOPS.0, FEW_HOPS.1),
    }
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
