//! The prefetch audit: does something fetch lines before a random chase asks for them?
//!
//! The audit walks the same memory with a node in every line, and with one node in every four lines, in a line drawn at
//! random. Prefetchers of neighbouring lines can help only the first walk. In full random order most prefetched lines
//! are evicted before they are needed; within regions of 2 MiB they are still in a second-level cache.
//!
//! A prefetcher that follows pointers (Intel's data-dependent prefetcher) helps both walks alike. It cannot follow
//! indices, which are not addresses: the audit also compares chains of pointers and of indices in the same order.
//!
//! The audit runs between the rounds of a matrix or after other experiments, in memory of its own of at most the same
//! size. It walks each chain for a part of its first lap, so that no cache has the requested lines unless something
//! fetched them. Lines that a large cache would keep for a second lap do not show here.

use latency_core::chain::Order;
use latency_core::kernel::{Encoding, INDEX, POINTER};
use latency_core::{Bytes, Interval, LINE, Pages, Summary, ToReal, stats};

use crate::error::Attempt;
use crate::machine::{Machine, Platform};
use crate::memory::chains;
use crate::placement::Placement;
use crate::result::{Audit, Outcome, Point, Timer, Walk};
use crate::schedule::walks::hops_in_window;
use crate::seam::Walkable;
use crate::stopwatch::Stopwatch;
use crate::warning::{SPARSE, SeenCause, Warning, Warnings};
use latency_sys::time;

/// Minimum distance of a ratio's interval from one for a warning.
const TOLERANCE: f64 = 0.02;
/// Number of rounds; each round writes and walks all six chains. The range of six medians contains the true median in
/// 96.9 of 100 runs.
const ROUNDS: usize = 6;
/// Hops of a timed piece: 50 us, so that most pieces fall between two interruptions.
const PIECE: u64 = 512;
/// Maximum nanoseconds of a walk, which limits walks under an emulator.
const MOST_NS: f64 = 2e7;
/// Maximum working set of the audit: memory of this size is written in a fiftieth of a second, and its page tables do
/// not fit in a first-level cache.
const LARGEST: Bytes = Bytes(256 << 20);
/// Maximum working set under an emulator, which needs seconds to write 256 MiB, has no page tables that a cache could
/// hold, and does not prefetch.
const LARGEST_EMULATED: Bytes = Bytes(32 << 20);
/// Size of a region in which prefetched lines survive in a second-level cache until they are needed.
const REGION: Bytes = Bytes(2 << 20);
/// Maximum working set that prefetched neighbours affect, in last-level caches. If pairs of lines are fetched, half of
/// the cached lines were prefetched, so they serve a share of the hops of half a cache over the working set: one in
/// sixteen at eight caches.
const CACHES: u64 = 8;
/// Index of the pair within regions, index of the pair of pointers and indices, and number of pairs.
const WITHIN: usize = 1;
const POINTERS: usize = 2;
const PAIRS: usize = 3;
/// Minimum number of regions in a walk within regions.
const FEWEST_REGIONS: u64 = 8;

/// An audit in progress, which measures one pair of chains after the other.
pub struct UnderWay {
    /// The point from which the points of all chains are derived.
    pub point: Point,
    placed: Option<Placement>,
    watch: Stopwatch,
    /// The ratios found so far.
    pub pairs: PairRatios,
}

impl UnderWay {
    /// Returns an audit of chains like a point whose pages are `mapped` bytes; `None` if there is too little memory for
    /// a verdict.
    pub fn new(machine: &Machine, timer: Timer, like: &Point, mapped: Bytes) -> Option<UnderWay> {
        // If the user gave a working-set size, the audit must not use more, nor the last of the free memory.
        let quarter = machine.free_memory(like.target).0 / 4;
        let is_emulated = machine.processor.platform == Platform::Emulated;
        let written_in_time = if is_emulated { LARGEST_EMULATED } else { LARGEST };
        let most = written_in_time.min(mapped).0.min(quarter);
        // A chain of a power of two of nodes is written fastest.
        let span = Bytes(most.checked_ilog2().map_or(0, |log| 1 << log));
        if span < REGION.times(FEWEST_REGIONS) {
            return None;
        }
        // A pool that was large enough for the experiment may be too small for the audit.
        let pages = if like.pages.pool().is_some() { Pages::AUTO } else { like.pages };
        let point = Point { size: span, pages, walk: Walk::Chain, ..*like };
        Some(UnderWay { point, placed: None, watch: Stopwatch::new(timer, None), pairs: PairRatios::NONE })
    }

    /// Returns an audit of chains like the largest of the `measured` points.
    pub fn like(machine: &Machine, timer: Timer, measured: &[Outcome]) -> Option<UnderWay> {
        let mapped =
            |outcome: &Outcome| outcome.result.as_ref().map_or(Bytes(0), |result| result.placed.mapped);
        let largest = measured.iter().max_by_key(|outcome| mapped(outcome))?;
        UnderWay::new(machine, timer, &largest.point, mapped(largest))
    }

    /// Places the memory of all chains in the first call. Each further call walks the next pair of chains for some
    /// hundredths of a second. Returns false if the audit is complete, or if there is no memory for it.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`](crate::error::MeasureError::Interrupted), and the errors of a walk.
    pub fn step(&mut self, machine: &Machine) -> Attempt<bool> {
        let UnderWay { point, placed, watch, pairs } = self;
        if let Some(placed) = placed {
            return pairs.step(point, &mut |point| {
                let mut latency = f64::NAN;
                chains::walk_new(watch, placed.split().0, point, None, &mut |chase| {
                    latency = walked(chase, point)?;
                    Ok(())
                })?;
                Ok(latency)
            });
        }
        *placed = Placement::optional(machine, point)?;
        Ok(placed.is_some())
    }

    /// Walks all remaining pairs, until `until_ns`.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`](crate::error::MeasureError::Interrupted), and the errors of a walk.
    pub fn finish(&mut self, machine: &Machine, until_ns: f64) -> Attempt {
        while time::now_ns() < until_ns && self.step(machine)? {}
        Ok(())
    }
}

/// The ratios of all pairs of chains, measured one after the other.
#[derive(Clone, Copy, Debug)]
pub struct PairRatios {
    ratios: [[f64; ROUNDS]; PAIRS],
    made: usize,
    /// The ratios of a first pass, which is repeated if one of them differs from one.
    first: Option<[Summary; PAIRS]>,
    found: Option<[Summary; PAIRS]>,
}

impl PairRatios {
    /// No ratios yet.
    pub const NONE: PairRatios =
        PairRatios { ratios: [[0.0; ROUNDS]; PAIRS], made: 0, first: None, found: None };

    /// Measures both chains of the next pair like `point` by calling `visit`; returns false if all pairs are measured.
    ///
    /// # Errors
    ///
    /// The errors of `visit`.
    pub fn step(&mut self, point: &Point, visit: &mut dyn FnMut(&Point) -> Attempt<f64>) -> Attempt<bool> {
        if self.found.is_some() {
            return Ok(false);
        }
        let (round, pair) = (self.made / PAIRS, self.made % PAIRS);
        let by_stride = pair != POINTERS;
        let mut ratio = 1.0;
        for turn in 0..2 {
            // The chains of a pair take turns at being first, so that drift affects both alike.
            let is_first = (turn + round) % 2 == 0;
            let latency = visit(&Point {
                // No cache holds lines just written, so a small working set is enough.
                size: if by_stride { point.size } else { REGION.times(FEWEST_REGIONS) },
                order: if pair == WITHIN { Order::Local(REGION) } else { Order::Random },
                stride: if by_stride && is_first { point.line.bytes() } else { point.line.times(SPARSE) },
                kernel: if by_stride || is_first { &POINTER } else { &INDEX },
                ..*point
            })?;
            ratio = if is_first { ratio * latency } else { ratio / latency };
        }
        if let Some(slot) = self.ratios.get_mut(pair).and_then(|ratios| ratios.get_mut(round)) {
            *slot = ratio;
        }
        self.made += 1;
        if self.made == ROUNDS * PAIRS {
            self.conclude();
        }
        Ok(self.found.is_none())
    }

    /// Accepts the ratios, or begins a second pass: noise does not repeat, but a prefetcher does.
    fn conclude(&mut self) {
        let found = self.ratios.each_mut().map(|ratios| stats::summarise(ratios));
        let [Some(random), Some(local), Some(pointer)] = found else { return };
        let mut found = [random, local, pointer];
        match &self.first {
            None if found.iter().any(|ratio| off(ratio).is_some()) => {
                (self.first, self.made) = (Some(found), 0);
                return;
            }
            None => {}
            Some(first) => found.iter_mut().zip(first).for_each(|(found, first)| nearer(found, first)),
        }
        self.found = Some(found);
    }

    /// Returns the ratios over `span`, and warns if a ratio differs from one and that affects one of the `measured`
    /// points; `None` before the end.
    pub fn told(
        &self,
        span: Bytes,
        machine: &Machine,
        warnings: &mut Warnings,
        measured: &[Outcome],
    ) -> Option<Audit> {
        let [random, local, pointer] = self.found?;
        let audit = Audit { span, line: machine.line, random, local, pointer };
        warn(warnings, &audit, measured, machine.last_level_cache().times(CACHES));
        Some(audit)
    }
}

/// Warns about a ratio that differs from one if that affects a measured point: prefetched neighbours affect working
/// sets below `kept`.
fn warn(warnings: &mut Warnings, audit: &Audit, measured: &[Outcome], kept: Bytes) {
    let has_chain = |outcome: &Outcome| !matches!(outcome.point.walk, Walk::Traffic(_));
    let helped = |outcome: &Outcome| {
        has_chain(outcome) && outcome.point.stride < audit.line.times(SPARSE) && outcome.point.size < kept
    };
    if let Some(ratio) = off(&audit.random) {
        warnings.push(Warning::PrefetchAudit { ratio, line: audit.line, cause: SeenCause::Unseen });
    } else if let Some(ratio) = off(&audit.local).filter(|_| measured.iter().any(helped)) {
        warnings.push(Warning::NeighboursFetched { ratio, line: audit.line, cause: SeenCause::Unseen });
    }
    let by_pointers = |outcome: &Outcome| matches!(outcome.point.kernel.encoding, Encoding::Pointer);
    if let Some(ratio) = off(&audit.pointer).filter(|ratio| *ratio < 1.0 && measured.iter().any(by_pointers))
    {
        warnings.push(Warning::PointersFollowed { ratio });
    }
}

/// Returns a ratio if its whole interval is further from one than [`TOLERANCE`].
fn off(ratio: &Summary) -> Option<f64> {
    let off = |interval: Interval| interval.low > 1.0 + TOLERANCE || interval.high < 1.0 - TOLERANCE;
    ratio.interval.is_some_and(off).then_some(ratio.median)
}

/// Replaces a ratio with the other one if that is nearer to one.
fn nearer(one: &mut Summary, other: &Summary) {
    if (one.median - 1.0).abs() > (other.median - 1.0).abs() {
        *one = *other;
    }
}

/// Walks as many nodes of a chain as a region has: once untimed, then timed in pieces. Returns nanoseconds per hop.
///
/// Only whole regions are comparable, because a region that is half walked is half fetched. The first, untimed region
/// also fills the TLBs; no cache holds lines of a chain just written.
///
/// # Errors
///
/// The errors of [`Walkable::walk`].
pub fn walked(chase: &mut dyn Walkable, point: &Point) -> Attempt<f64> {
    let nodes = REGION.0 / point.stride.0;
    let mut pieces = [f64::NAN; (REGION.0 / LINE.0 / PIECE) as usize];
    let mut made = 0;
    let first = chase.walk(nodes, chase.now_ns() + MOST_NS)?;
    let until_ns = chase.now_ns() + MOST_NS;
    // With a coarse clock, fewer and longer pieces.
    let piece = hops_in_window(chase, first).min(nodes).max(PIECE);
    for slot in pieces.iter_mut().take((nodes / piece) as usize) {
        let (hops, spent_ns) = chase.walk(piece, until_ns)?;
        *slot = spent_ns / hops.real();
        made += 1;
        if chase.now_ns() >= until_ns {
            break;
        }
    }
    Ok(pieces.get_mut(..made).and_then(undisturbed_mean).unwrap_or(f64::NAN))
}

/// Returns the mean of the pieces that were not interrupted: pieces of one walk differ by less than half, and an
/// interruption is longer.
///
/// A walk with a node in every line lasts four times as long as one with a node in every fourth, so it is four times as
/// likely to be interrupted by a time slice of another task. With its total time, the interruptions would make the
/// ratio 2 to 4.
fn undisturbed_mean(pieces: &mut [f64]) -> Option<f64> {
    let most = 1.5 * stats::median(pieces)?;
    let calm = || pieces.iter().filter(|piece| **piece <= most);
    Some(calm().sum::<f64>() / calm().count().real())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Exclusion;
    use crate::tests::outcome::POINT;
    use latency_core::LineSize;

    #[test]
    fn noise_does_not_repeat_in_a_second_pass() {
        let around = |median: f64| Summary {
            count: 6,
            median,
            minimum: median - 0.01,
            maximum: median + 0.01,
            mad: 0.005,
            interval: Some(Interval { low: median - 0.01, high: median + 0.01 }),
        };
        let twice = |one, other| {
            let mut found = around(one);
            nearer(&mut found, &around(other));
            off(&found)
        };
        assert_eq!(twice(0.9, 1.0), None);
        assert_eq!(twice(2.1, 0.99), None);
        assert_eq!(twice(0.8, 0.82), Some(0.82));
    }

    #[test]
    fn an_interruption_does_not_look_like_a_prefetcher() {
        // 64 pieces of 512 loads of 100 ns; a slice of 4 ms falls into one of them.
        let mut pieces = [100.0; 64];
        pieces[17] += 4e6 / 512.0;
        let mean = undisturbed_mean(&mut pieces).unwrap();
        assert!((mean - 100.0).abs() < 1e-9, "{mean}");
        // The time that prefetchers save in the course of a region stays in the mean.
        let mut half: [f64; 64] = core::array::from_fn(|piece| 100.0 - piece as f64 / 2.0);
        let mean = undisturbed_mean(&mut half).unwrap();
        assert!((mean - 84.25).abs() < 1e-9, "{mean}");
    }

    fn like() -> Point {
        Point { size: LARGEST, pages: Pages::AUTO, ..POINT }
    }

    /// Audits a machine whose loads have the latency `load_ns`, and returns the codes of its warnings about a point.
    fn audited(measured: &Point, load_ns: &dyn Fn(&Point) -> f64) -> (Audit, std::vec::Vec<&'static str>) {
        let mut visits = 0;
        let mut visit = |point: &Point| {
            visits += 1;
            // One percent of noise, and a drift of one percent in a hundred visits.
            Ok(load_ns(point) * (1.0 + 0.0001 * f64::from(visits) + 0.002 * f64::from(visits % 5)))
        };
        let (mut pairs, point) = (PairRatios::NONE, like());
        while pairs.step(&point, &mut visit).unwrap() {}
        let [random, local, pointer] = pairs.found.unwrap();
        let audit = Audit { span: LARGEST, line: LineSize::LEAST, random, local, pointer };
        let mut warnings = Warnings::empty();
        let measured = [Outcome { point: *measured, result: Err(Exclusion::Interrupted) }];
        warn(&mut warnings, &audit, &measured, LARGEST.times(2));
        (audit, warnings.iter().map(Warning::code).collect())
    }

    #[test]
    fn chains_of_indices_reveal_a_pointer_prefetcher() {
        let is_pointer = |point: &Point| point.kernel.name == POINTER.name;
        // The prefetcher helps both strides alike, so the comparison of strides does not show it.
        let follows = |point: &Point| if is_pointer(point) { 90.0 } else { 100.0 };
        let (audit, codes) = audited(&like(), &follows);
        assert_eq!((off(&audit.random), off(&audit.local)), (None, None));
        assert!((audit.pointer.median - 0.9).abs() < 0.01, "{audit:?}");
        assert_eq!(codes, ["pointers-followed"]);
        // If the measured chain has indices, the ratio does not affect it.
        assert!(audited(&Point { kernel: &INDEX, ..like() }, &follows).1.is_empty());
        // Without a prefetcher, and where the index costs a cycle of its own, there is no warning.
        assert!(audited(&like(), &|_| 100.0).1.is_empty());
        assert!(audited(&like(), &|point| if is_pointer(point) { 100.0 } else { 100.6 }).1.is_empty());
        assert!(audited(&like(), &|point| if is_pointer(point) { 110.0 } else { 100.0 }).1.is_empty());
    }

    #[test]
    fn strides_are_one_line_and_four_lines_of_the_machine() {
        let mut strides = std::vec::Vec::new();
        let mut visit = |point: &Point| {
            strides.push(point.stride.0);
            Ok(100.0)
        };
        let point = Point { line: LineSize::of(Bytes(128)).unwrap(), ..like() };
        let mut pairs = PairRatios::NONE;
        for _ in 0..PAIRS {
            pairs.step(&point, &mut visit).unwrap();
        }
        assert_eq!(strides, [128, 512, 128, 512, 512, 512]);
    }

    #[test]
    fn strides_reveal_a_prefetcher_of_neighbouring_lines() {
        let pairs = |point: &Point| if point.stride == LINE { 60.0 } else { 100.0 };
        assert_eq!(audited(&like(), &pairs).1, ["prefetch-audit"]);
        let within = |point: &Point| match point.order {
            Order::Local(_) => pairs(point),
            _ => 100.0,
        };
        assert_eq!(audited(&like(), &within).1, ["neighbours-fetched"]);
        assert!(audited(&Point { stride: LINE.times(SPARSE), ..like() }, &within).1.is_empty());
    }
}
