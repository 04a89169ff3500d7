//! The time of loads over spans of addresses that have no memory: the cost of translation alone.
//!
//! Every page there is the kernel's page of zeros, so data stay in the nearest cache. `zeroes` maps the addresses and
//! shows that no memory is behind them. Here numbers of pages are visited in shuffled rounds, and more of them where the
//! entries of a TLB end. [`tlb`] concludes the levels from them.

pub mod tlb;
mod zeroes;

use core::array::from_fn;

use latency_core::span::Loads;
use latency_core::{Bytes, Pages, Pcg32, ToReal, sort_by, stats};

use crate::budget::Budget;
use crate::error::{Attempt, MeasureError};
use crate::result::extra::{FEWEST_PAGES, KINDS, WARM_UP};
use crate::result::{SpanEnd, SpanPoint, core_clock};
use crate::session::{Findings, Session};
use crate::stopwatch::Stopwatch;
use latency_sys::{Table, signal, time};

use tlb::{ascending, levels};
use zeroes::{Span, between, counts};

/// Maximum rounds of a number of pages, and minimum rounds if time is short.
const ROUNDS: (usize, usize) = (15, 7);
/// Batches of a visit; the time that most of them agree on counts.
const BATCHES: usize = 8;
/// Loads of the first batch, which decides the length of the others, and their minimum and maximum.
const TRIED: u64 = 1 << 10;
const LOADS: (u64, u64) = (1 << 11, 1 << 16);
/// Minimum laps of a batch over as many pages as a TLB may have entries for.
const LAPS: u64 = 8;
/// Maximum entries of a TLB: larger spans have no knee to be found.
const MOST_ENTRIES: u64 = 4096;
/// Offsets of the word in a page; rounds alternate between them, so that the cost of an alias is not a level.
const OFFSETS: [Bytes; 2] = [Bytes(320), Bytes(2240)];
/// Maximum numbers of pages of all kinds together, those that are added while measuring included.
const MOST: usize = 192;
/// Maximum numbers of pages that are added for one kind.
const ADDED: usize = 20;
/// Cycles below which no cache answers a load.
const FASTEST_LOAD: f64 = 3.0;
/// Minimum nanoseconds for each kind of pages.
const LEAST_NS: f64 = 1e8;
/// Share of the time for populating the spans of one kind of pages.
const POPULATE_SHARE: f64 = 0.3;

/// A number of pages of one kind, and its times.
#[derive(Clone, Copy)]
struct SpanTimes {
    kind: usize,
    count: u64,
    times: [f64; ROUNDS.0],
    made: usize,
}

impl SpanTimes {
    const fn new(kind: usize, count: u64) -> SpanTimes {
        SpanTimes { kind, count, times: [f64::NAN; ROUNDS.0], made: 0 }
    }

    fn point(&self, pages: Pages) -> Option<SpanPoint> {
        let mut times = self.times;
        let found = times.get_mut(..self.made).and_then(stats::summarise_series)?;
        Some(SpanPoint { pages, count: self.count, nanoseconds: found.median, interval: found.interval })
    }
}

/// Measures spans of the kinds of pages in `kinds`, of at most `most` bytes, after the points were measured: on the CPU of
/// the first point, if the budget has time for it. The spans, and an interrupt before their end, are added to
/// `findings`. If the user gave the largest span, populating it may use the time of the whole run.
///
/// # Errors
///
/// The errors of the stopwatch, and those of a table.
pub fn walk_spans(
    session: &mut Session<'_>,
    findings: &mut Findings,
    budget: &Budget,
    kinds: [Option<Pages>; KINDS],
    most: Bytes,
    is_given: bool,
) -> Attempt {
    let Some(first) = findings.outcomes.first() else { return Ok(()) };
    let (cpu, node, now) = (first.point.cpu, first.point.initiator, time::now_ns());
    let until_ns = budget.until_ns.min(now + budget.after_ns);
    if until_ns - now < LEAST_NS * kinds.iter().flatten().count().real() {
        return Ok(());
    }
    let populate_ns = POPULATE_SHARE * if is_given { budget.until_ns - now } else { budget.after_ns };
    // The core's clock decides what a miss is.
    let gigahertz = core_clock(&findings.outcomes);
    let watch = session.stopwatch(false);
    watch.go_to(cpu)?;
    let mut spans: [Option<Span>; KINDS] = [const { None }; KINDS];
    let (machine, mut interrupted) = (session.machine, false);
    for (kind, pages) in kinds.into_iter().enumerate() {
        // The TLB treats a page of a pool as it treats a transparent one of the same size.
        let is_same = |span: &Span| span.zeroes.is_some() && Some(span.page) == pages.and_then(Pages::size);
        let (Some(pages), false) = (pages, spans.iter().flatten().any(is_same)) else { continue };
        session.progress.say(format_args!("populating page tables"));
        match Span::new(machine, node, pages, most, populate_ns) {
            Err(MeasureError::Interrupted) => interrupted = true,
            made => spans[kind] = Some(made?),
        }
    }
    session.progress.say(format_args!("walking spans of addresses"));
    let [orders, visits] = [1, 2].map(|seed| Pcg32::new(seed, 0x7370_616e));
    let mut walks = SpanWalks { watch: &watch, spans: &spans, orders, visits, until_ns };
    let mut entries = Table::new(MOST)?;
    let ended = match interrupted {
        true => Err(MeasureError::Interrupted),
        false => walks.all(&mut entries, kinds, gigahertz),
    };
    let at_once: [_; KINDS] = from_fn(|kind| walks.at_once(kind).unwrap_or(None));
    session.progress.clear();
    session.noted.moves += watch.moves();
    match ended {
        Ok(()) => {}
        Err(MeasureError::Interrupted) => interrupted = true,
        Err(error) => return Err(error),
    }
    for (kind, (span, at_once)) in spans.iter_mut().zip(at_once).enumerate() {
        let Some(span) = span else { continue };
        span.series.at_once = at_once;
        span.prove(span.series.tables.is_some());
        let mut hits = entries.iter().filter(|entry| (entry.kind, entry.count) == (kind, FEWEST_PAGES));
        let hit = hits.next().filter(|_| span.zeroes.is_some()).and_then(|hit| hit.point(span.series.pages));
        // A processor that predicts values is faster than the nearest cache.
        if hit.zip(gigahertz).is_some_and(|(hit, gigahertz)| hit.nanoseconds * gigahertz < FASTEST_LOAD) {
            span.give_up(SpanEnd::Predicted);
        }
    }
    let is_kept = |kind: usize| {
        let span = spans.get(kind).and_then(Option::as_ref).filter(|span| span.zeroes.is_some());
        span.map(|span| span.series.pages)
    };
    let mut points = Table::new(MOST)?;
    points.refill(entries.iter().filter_map(|entry| entry.point(is_kept(entry.kind)?)));
    sort_by(&mut points, ascending);
    for (span, series) in spans.iter().zip(&mut findings.extra.spans) {
        *series = span.as_ref().map(|span| span.series);
    }
    (findings.spans, findings.interrupted) = (points, interrupted);
    Ok(())
}

/// The walks over spans.
struct SpanWalks<'s> {
    watch: &'s Stopwatch,
    spans: &'s [Option<Span>; KINDS],
    /// The sources of the orders of pages, and of the order of visits.
    orders: Pcg32,
    visits: Pcg32,
    until_ns: f64,
}

impl SpanWalks<'_> {
    /// Makes the rounds of all numbers of pages, and then of more numbers around the ends of TLBs.
    fn all(
        &mut self,
        entries: &mut Table<SpanTimes>,
        kinds: [Option<Pages>; KINDS],
        gigahertz: Option<f64>,
    ) -> Attempt {
        for kind in 0..KINDS {
            counts(self.most(kind)).for_each(|count| _ = entries.push(SpanTimes::new(kind, count)));
        }
        self.rounds(entries)?;
        let mut room = Table::new(MOST)?;
        for (kind, pages) in kinds.into_iter().enumerate() {
            let Some(pages) = pages else { continue };
            for _ in 0..ADDED {
                if time::now_ns() > self.until_ns {
                    return Ok(());
                }
                let mine = entries.iter().filter(|entry| entry.kind == kind);
                let points = room.refill(mine.filter_map(|entry| entry.point(pages)));
                sort_by(points, ascending);
                let open = levels(points, pages, gigahertz);
                let mut gaps = open.iter().flatten().flat_map(|level| level.gaps);
                let Some(count) = gaps.find_map(|(low, high)| between(low, high)) else { break };
                if entries.push(SpanTimes::new(kind, count)).is_none() {
                    break;
                }
                let added = entries.len() - 1;
                self.rounds(entries.get_mut(added..).unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// Visits numbers of pages in shuffled rounds.
    fn rounds(&mut self, entries: &mut [SpanTimes]) -> Attempt {
        for round in 0..ROUNDS.0 {
            if round >= ROUNDS.1 && time::now_ns() > self.until_ns {
                return Ok(());
            }
            self.visits.shuffle(entries);
            for entry in entries.iter_mut() {
                let nanoseconds = self.timed(entry.kind, entry.count, round, Loads::Dependent)?;
                if let Some(slot) = entry.times.get_mut(entry.made).filter(|_| nanoseconds.is_finite()) {
                    *slot = nanoseconds;
                    entry.made += 1;
                }
            }
        }
        Ok(())
    }

    fn span(&self, kind: usize) -> Option<&Span> {
        self.spans.get(kind)?.as_ref()
    }

    /// Returns the number of pages of a kind.
    fn most(&self, kind: usize) -> u64 {
        self.span(kind).map_or(0, Span::count)
    }

    /// Returns the time of a dependent load of the largest span divided by that of an independent one: the number of
    /// translations at a time.
    fn at_once(&mut self, kind: usize) -> Attempt<Option<f64>> {
        let count = self.most(kind);
        let mut ratios = [f64::NAN; ROUNDS.1];
        for (round, slot) in ratios.iter_mut().enumerate().filter(|_| count > FEWEST_PAGES) {
            let one = self.timed(kind, count, round, Loads::Dependent)?;
            *slot = one / self.timed(kind, count, round, Loads::Independent)?;
        }
        Ok(stats::median(&mut ratios).filter(|ratio| ratio.is_finite()))
    }

    /// Walks over a number of pages in a new order, and returns the nanoseconds of a load; NaN if the walk does not count.
    fn timed(&mut self, kind: usize, count: u64, round: usize, how: Loads) -> Attempt<f64> {
        let offset = OFFSETS.get(round % OFFSETS.len()).copied().unwrap_or_default();
        let seed = self.orders.next_u64();
        let walk = self.span(kind).and_then(|span| {
            let page = span.page.bytes();
            span.zeroes.as_ref()?.walk(page, count, offset, &mut Pcg32::new(seed, 3))
        });
        let Some(mut walk) = walk else { return Ok(f64::NAN) };
        let mut batch = |loads: u64| {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            let before = walk;
            let (ended, spent_ns) = self.watch.time(|| walk.run(loads, how));
            match before.proves(loads, &walk, ended) {
                true => Ok(spent_ns / loads.real()),
                false => Err(MeasureError::HOPS_NOT_PROVEN),
            }
        };
        batch((2 * count).min(WARM_UP))?;
        let tried = batch(TRIED)?;
        // The code between two batches needs entries of the TLB, too, for which a whole lap may miss.
        let least = if count <= MOST_ENTRIES { (LAPS * count).max(LOADS.0) } else { LOADS.0 };
        let loads = (self.watch.timer.batch_ns() / tried).max(least.real()).min(LOADS.1 as f64) as u64;
        let mut times = [f64::NAN; BATCHES];
        for slot in &mut times {
            *slot = batch(loads)?;
        }
        let moved = self.watch.brought_back()?;
        let state = stats::state(stats::gather(&mut [0.0; BATCHES], times.into_iter()));
        Ok(state.filter(|_| !moved).map_or(f64::NAN, |state| state.value))
    }
}
