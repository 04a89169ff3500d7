//! A short search before the measurement: for a working set too large for any cache, and for the size of the last-level
//! cache.
//!
//! A first pass over a chain that was just written past the caches gives the latency of loads that no cache serves. A
//! steady walk, after a whole lap, gives the latency that caches may shorten. Both are timed on the same lines, after
//! the loads that fill the TLBs and bring in page tables. The working set is doubled until the steady walk is no longer
//! faster.

use latency_core::math::{ln, sqrt};
use latency_core::{Bytes, PageSize, ToReal, math, stats};

use crate::budget::{FILLING_LAPS, few};
use crate::error::{Attempt, MeasureError};
use crate::machine::Sizing;
use crate::machine::sizes::CACHES;
use crate::result::Point;
use crate::schedule::walks::{fill, timed};
use crate::schedule::warm_up::SERVES_SOME;
use crate::seam::{Place, RUSHING_LANES, Walkable};

/// Working set at which the search begins: more than most last-level caches hold, and written in a tenth of a second.
pub const FIRST: Bytes = Bytes(256 << 20);
/// Minimum passes over a working set before a verdict. The parts of one pass share the moments of their first and of
/// their second loads, so their scatter does not show the influence of a neighbour between the two.
const FEWEST_PASSES: usize = 2;
/// Maximum passes over a working set, so that the search keeps its time limit whatever the noise.
const MOST_PASSES: usize = 7;
/// Share of the time limit that the growing working sets leave to the search for the last-level cache.
const FOR_CACHE: f64 = 0.5;
/// Half widths of an interval of the mean of passes, in standard errors, beyond which a working set is clear or served.
/// With noise of 5 % between passes (simulated) 3 in 100 sets with 5 % of hits are called clear, and 2 in 10,000 sets
/// without hits served, which costs a larger working set or the trust in a result.
const CLEAR_ERRORS: f64 = 2.2;
const SERVED_ERRORS: f64 = 6.0;
/// Minimum standard deviation of passes assumed for clear sets, and for served sets with two passes. Two passes agree
/// by chance far more often than seven: for n passes the value is divided by (n - 1)^1.5.
const CLEAR_DEVIATION: f64 = 0.01;
const SERVED_DEVIATION: f64 = 0.05;
/// Maximum latency of a steady walk, as a share of the latency of a first pass, at which a cache holds most of the
/// working set.
const HOLDS_MOST: f64 = 0.7;
/// Minimum latency of a hit in the shared cache relative to a hit in a private cache, and maximum relative to memory.
const IN_CACHE: (f64, f64) = (1.5, 0.5);
/// Latency of a hit in a last-level cache relative to memory, assumed if this cache served no working set: servers with
/// local DDR have 0.25 to 0.4, memory behind CXL 0.1 to 0.15.
const ASSUMED_HIT: f64 = 0.4;
/// Minimum factor between a reported size and the size found, in either direction, at which the reported size is not
/// used.
const TOO_LARGE: f64 = 2.0;
const TOO_SMALL: f64 = 1.5;
/// Parts of a pass. Each part begins where one lane of a lap begins, so a lap loads these lines first.
const PARTS: usize = 8;
/// Hops of a part, which last a millisecond.
const PART: u64 = 1 << 13;
/// Maximum number of sizes tried while searching downwards for the last-level cache.
const SIZES: usize = 16;

/// The knowledge before the search, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The reported size of the last-level cache.
    pub reported: Option<Bytes>,
    /// The largest private cache of the core.
    pub near: Bytes,
    /// The base page: working sets are whole pages.
    pub page: PageSize,
    /// The largest working set that memory allows.
    pub most: Bytes,
    /// True if the search includes the size of the last-level cache.
    pub seeks_cache: bool,
    /// Maximum nanoseconds of the whole search.
    pub limit_ns: f64,
}

impl Known {
    /// Returns true if the reported cache needs a working set larger than [`FIRST`].
    fn is_large(&self) -> bool {
        self.reported.is_some_and(|cache| cache.times(CACHES) > FIRST)
    }
}

/// The measurement of one working set.
#[derive(Clone, Copy, Debug)]
struct SizeMeasurement {
    size: Bytes,
    cold_ns: f64,
    warm_ns: f64,
    /// The median of the ratios of steady walk to first pass, part by part; of several passes, the mean of these
    /// medians.
    ratio: f64,
}

/// The working set found for memory.
struct Grown {
    largest: SizeMeasurement,
    clear: Option<bool>,
    /// The largest smaller set, which a cache served in part.
    before: Option<SizeMeasurement>,
}

/// A search in progress.
struct Search<'s, A> {
    place: &'s mut A,
    like: Point,
    known: Known,
    until_ns: f64,
    /// The fastest first pass over memory, in nanoseconds.
    fastest_ns: f64,
}

/// Searches over working sets like `like`; returns `None` if time or memory ran out before anything was found.
///
/// # Errors
///
/// [`MeasureError::Interrupted`], and the errors of the clock.
pub fn search<A: Place>(place: &mut A, like: &Point, known: &Known) -> Attempt<Option<Sizing>> {
    let begun_ns = place.now_ns();
    let until_ns = begun_ns + known.limit_ns;
    let mut search = Search { place, like: *like, known: *known, until_ns, fastest_ns: f64::INFINITY };
    let Some(Grown { largest, clear, before }) = search.grow()? else { return Ok(None) };
    let mut sizing = Sizing {
        first: FIRST.min(known.most),
        size: largest.size,
        warm_over_cold: largest.ratio,
        cold_ns: search.fastest_ns,
        clear,
        ..Sizing::default()
    };
    match known.seeks_cache {
        // A cache that holds the first working set may have any larger size.
        true if known.is_large() && largest.ratio < HOLDS_MOST => {}
        true => search.descend(&mut sizing, largest.cold_ns)?,
        false => sizing.cache = before.and_then(|look| search.disagreeing(of_hits(&look, ASSUMED_HIT))),
    }
    sizing.seconds = (search.place.now_ns() - begun_ns) / 1e9;
    Ok(Some(sizing))
}

impl<A: Place> Search<'_, A> {
    /// Doubles the working set until no cache serves it, or until memory or time runs out. If the reported cache is
    /// large, the first working set is enough: the plan will choose a larger one anyway.
    fn grow(&mut self) -> Attempt<Option<Grown>> {
        let mut size = FIRST.min(self.known.most);
        let mut before = None;
        let Some((mut look, mut served)) = self.settled(size)? else { return Ok(None) };
        while served == Some(true) && !self.known.is_large() {
            let next = size.times(2).min(self.known.most);
            // A slightly larger set would not change the result.
            if next.0 < size.0 / 2 * 3 {
                break;
            }
            size = next;
            before = Some(look);
            match self.settled(size) {
                Ok(Some(found)) => (look, served) = found,
                // There is less memory than reported.
                Err(MeasureError::Placement(_)) => break,
                Err(error) => return Err(error),
                // An untested size is better than one that a cache is known to serve.
                Ok(None) => {
                    return Ok(Some(Grown {
                        largest: SizeMeasurement { size, ..look },
                        clear: None,
                        before,
                    }));
                }
            }
        }
        Ok(Some(Grown { largest: look, clear: served.map(|served| !served), before }))
    }

    /// Makes passes over a working set until they show whether a cache serves it. Returns the measurement and that
    /// verdict, which is `None` if the passes do not decide it; returns `None` if time is up before the first pass
    /// ends.
    fn settled(&mut self, size: Bytes) -> Attempt<Option<(SizeMeasurement, Option<bool>)>> {
        let (mut sum, mut squares, mut settled) = (0.0, 0.0, None);
        for made in 1..=MOST_PASSES {
            let Some(look) = self.pass(size)? else { break };
            self.fastest_ns = self.fastest_ns.min(look.cold_ns);
            // Distances from one, so that squares keep their precision.
            let off = look.ratio - 1.0;
            (sum, squares) = (sum + off, squares + off * off);
            let (passes, others) = (made.real(), (made - 1).max(1).real());
            let mean = sum / passes;
            let variance = ((squares - sum * mean) / others).max(0.0);
            let half = |errors: f64, least: f64| errors * sqrt((variance + least * least) / passes);
            let ratio = 1.0 + mean;
            let served = if made < FEWEST_PASSES {
                None
            } else if ratio - half(CLEAR_ERRORS, CLEAR_DEVIATION) > SERVES_SOME {
                Some(false)
            } else if ratio + half(SERVED_ERRORS, SERVED_DEVIATION / (others * sqrt(others))) < SERVES_SOME {
                Some(true)
            } else {
                None
            };
            settled = Some((SizeMeasurement { ratio, ..look }, served));
            let late = self.place.now_ns() > self.until_ns - FOR_CACHE * self.known.limit_ns;
            if served.is_some() || late && made >= FEWEST_PASSES {
                break;
            }
        }
        Ok(settled)
    }

    /// Searches ever smaller working sets for the size of the last-level cache.
    fn descend(&mut self, sizing: &mut Sizing, memory_ns: f64) -> Attempt {
        let near = self.known.near;
        let Some(SizeMeasurement { warm_ns: near_ns, .. }) = self.pass(Bytes(near.0 / 2))? else {
            return Ok(());
        };
        let serves = |look: &SizeMeasurement| {
            look.warm_ns > IN_CACHE.0 * near_ns && look.warm_ns < IN_CACHE.1 * memory_ns
        };
        // The largest set that the cache holds, and the smallest that it does not.
        let (mut held, mut beyond) = (Bytes(0), None::<SizeMeasurement>);
        // The latency of a hit, from the smallest set that the cache serves, since it holds most of that set.
        let mut hit_ns = None;
        let mut size = sizing.size;
        for _ in 0..SIZES {
            size = self.known.page.whole(Bytes(size.0 / 2));
            if size < near.times(2) {
                break;
            }
            let Some(look) = self.pass(size)? else { return Ok(()) };
            if look.ratio >= HOLDS_MOST {
                beyond = Some(look);
                continue;
            }
            // A set that nearly fills the cache leaves no room for other data in it.
            let fills = held.0 == 0;
            held = held.max(size);
            if serves(&look) {
                sizing.in_cache = Some(size);
                hit_ns = Some(look.warm_ns);
            }
            if !fills {
                break;
            }
        }
        let size = self.middle(held, beyond.map_or(sizing.size, |look| look.size));
        if held.0 > 0 {
            match self.pass(size)? {
                Some(look) if look.ratio < HOLDS_MOST => held = size,
                Some(look) => beyond = Some(look),
                None => return Ok(()),
            }
        } else {
            // A cache below twice the size of the private one is treated as absent.
            held = near;
        }
        sizing.cache_sought = true;
        let cache = match beyond {
            // With random replacement, a cache serves part of a larger set, and that share gives its size more
            // precisely.
            Some(look) if look.ratio < SERVES_SOME && held > near => {
                of_hits(&look, hit_ns.map_or(ASSUMED_HIT, |hit_ns| hit_ns / look.cold_ns))
            }
            Some(look) => self.middle(held, look.size),
            None => self.middle(held, sizing.size),
        };
        sizing.cache = self.disagreeing(cache);
        Ok(())
    }

    /// Returns the geometric mean of two sizes, in whole pages.
    fn middle(&self, one: Bytes, other: Bytes) -> Bytes {
        self.known.page.whole(Bytes(math::whole(sqrt(one.0.real() * other.0.real()))))
    }

    /// Returns a cache size if it differs much from the reported one.
    fn disagreeing(&self, found: Bytes) -> Option<Bytes> {
        let reported = self.known.reported.map_or(f64::INFINITY, |reported| reported.0.real());
        let size = found.0.real();
        let agrees = reported <= size * TOO_LARGE && size <= reported * TOO_SMALL;
        Some(Bytes((found.0 >> 20).max(1) << 20)).filter(|_| !agrees)
    }

    /// Makes one pass over a chain just written, and one after laps over all of it; returns `None` if time is up.
    fn pass(&mut self, size: Bytes) -> Attempt<Option<SizeMeasurement>> {
        let point = Point { size, ..self.like };
        let (mut cold, mut warm, mut ratios) = ([f64::NAN; PARTS], [f64::NAN; PARTS], [f64::NAN; PARTS]);
        let until_ns = self.until_ns;
        let mut complete = false;
        self.place.with_chain(0, &point, 0, &mut |chain| {
            let nodes = chain.nodes();
            let part = (nodes / 64).clamp(64, PART);
            let warm_up = few(nodes).min(nodes / RUSHING_LANES as u64);
            let walk = |chain: &mut dyn Walkable, slots: &mut [f64; PARTS], rewinds: bool, most: u64| {
                for (index, slot) in slots.iter_mut().enumerate() {
                    if rewinds {
                        chain.rewind(PARTS as u64 + index as u64);
                    }
                    *slot = timed(chain, part, most, until_ns)?;
                }
                Ok::<(), MeasureError>(())
            };
            chain.walk(warm_up, until_ns)?;
            // Lines of the next part must stay cold.
            walk(chain, &mut cold, true, (nodes / RUSHING_LANES as u64).saturating_sub(part))?;
            let cold_ns = stats::median(&mut { cold }).unwrap_or(f64::INFINITY);
            let filled = fill(chain, FILLING_LAPS, cold_ns, until_ns)?;
            if filled > 0 {
                chain.rewind(0);
                chain.walk(warm_up, until_ns)?;
            } else {
                // If many lanes are not faster than one, the lap has one lane, and the walk continues from its end.
                chain.rewind(PARTS as u64);
                chain.walk(nodes, until_ns)?;
            }
            walk(chain, &mut warm, filled > 0, u64::MAX)?;
            complete = chain.now_ns() < until_ns;
            Ok(())
        })?;
        for (ratio, (cold, warm)) in ratios.iter_mut().zip(cold.iter().zip(&warm)) {
            *ratio = warm / cold;
        }
        let middle = |values: &mut [f64; PARTS]| stats::median(values).unwrap_or(f64::NAN);
        let look = SizeMeasurement {
            size,
            cold_ns: middle(&mut cold),
            warm_ns: middle(&mut warm),
            ratio: middle(&mut ratios),
        };
        Ok(Some(look).filter(|look| complete && look.ratio.is_finite()))
    }
}

/// Returns the size of a cache by its share of hits in a working set; `hit` is the latency of a hit relative to memory.
///
/// In a cyclic walk over S bytes, a cache of C bytes with random replacement serves h = exp(-(1 - h) S / C).
fn of_hits(look: &SizeMeasurement, hit: f64) -> Bytes {
    let hits = ((1.0 - look.ratio) / (1.0 - hit)).clamp(1e-3, 0.95);
    Bytes(math::whole(look.size.0.real() * (1.0 - hits) / -ln(hits)))
}

#[cfg(test)]
#[path = "sizing_tests.rs"]
mod tests;
