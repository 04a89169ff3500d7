//! The expected time of a random load in a program, from saved results: its working set, pages, chains and cores.
//!
//! Only measured values answer a question. A size outside of the measured ones, other pages, more chains or more cores
//! are refused, with the run that would measure them. Between measured sizes the answer has an interval that contains
//! the result of a measurement there ([`between`]).

pub mod between;
pub mod mixture;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use latency_core::kernel::lanes::PARALLEL;
use latency_core::{Bytes, Estimate, IdSet, PageSize, Pages};

use crate::error::{Few, Unanswered};
use crate::record::columns::{
    CHAINS, CORES, Column, ColumnSet, EXPERIMENT, INITIATOR_NODE, KERNEL, ORDER, PAGES_ASKED, PAGES_OBTAINED,
    POINTS, STRIDE, TARGET_NODE, TRAFFIC, WORKING_SET,
};
use crate::record::row::Row;
use between::{Between, MeasuredCurve};
use latency_engine::result::{LoadParts, Sample};
use latency_engine::spans::tlb::TlbLevels;
use latency_report::chart::vector;
use mixture::Mixture;

/// The experiments with latencies by size, the best last: points of `pages` are few, and another tool's table has no
/// intervals.
const WITH_SIZES: [&str; 3] = ["pages", "", "curve"];
/// Minimum number of points of a curve.
const FEWEST_POINTS: usize = 6;

/// A saved result.
#[derive(Clone, Copy)]
pub struct ResultRows<'r> {
    /// The name of its experiment; empty for another tool's table.
    pub experiment: &'r str,
    /// The name of its host; empty if unknown.
    pub host: &'r str,
    /// The start of its run, in seconds since 1970; 0 if unknown.
    pub started: u64,
    /// Its points.
    pub rows: &'r [Row],
}

impl ResultRows<'_> {
    /// Returns whether both results may be of one host.
    fn is_of_host_of(&self, other: &ResultRows<'_>) -> bool {
        self.host == other.host || self.host.is_empty() || other.host.is_empty()
    }
}

/// A function that returns the levels of the TLB that a result has for the pages of a point.
pub type TlbOf<'a> = &'a dyn Fn(usize, &Row) -> TlbLevels;

/// Returns the points of some experiments, each with the index of its result and that of its experiment. Points of a table
/// of several experiments name their own.
fn points_of<'r>(results: &[ResultRows<'r>], experiments: &[&str]) -> Vec<(usize, usize, &'r Row)> {
    let mut points = Vec::new();
    for (index, result) in results.iter().enumerate() {
        for row in result.rows {
            let own = if row.tells(EXPERIMENT) { row.word(EXPERIMENT) } else { result.experiment };
            if let Some(experiment) = experiments.iter().position(|name| *name == own) {
                points.push((index, experiment, row));
            }
        }
    }
    points
}

/// A question. With `None` or [`Pages::AUTO`] the results decide.
#[derive(Clone, Copy)]
pub struct Question {
    /// The working set; `None` for the largest one that was measured.
    pub size: Option<Bytes>,
    /// The pages, in the form of the command line.
    pub pages: Pages,
    /// The numbers of chains.
    pub chains: Option<IdSet<2>>,
    /// The number of cores that load at the same time.
    pub cores: Option<u32>,
}

impl Question {
    /// Returns whether a point is in the requested pages. `4k` means the base pages of any machine and `thp` its transparent
    /// ones, as for a measurement, and huge pages of a size may come from a pool or be transparent.
    fn is_of(&self, row: &Row) -> bool {
        let Some(kind) = pages_of(row) else { return self.pages == Pages::AUTO };
        match self.pages.pool() {
            _ if self.pages == Pages::AUTO || self.pages == kind => true,
            Some(size) => kind.are_transparent() && kind.size() == Some(size),
            None if self.pages.are_base() => self.pages == Pages::base(PageSize::KIB_4) && kind.are_base(),
            None => self.pages.source() == kind.source(),
        }
    }
}

/// Returns the kind of pages of a point, if its file states one.
pub fn pages_of(row: &Row) -> Option<Pages> {
    let told = [PAGES_OBTAINED, PAGES_ASKED].into_iter().find(|column| row.tells(*column))?;
    Pages::from_word(row.word(told).as_bytes()).filter(|pages| *pages != Pages::AUTO)
}

/// The curve of a result: the points that differ from one of them only in their size.
struct SavedCurve<'r> {
    /// The index of its result.
    result: usize,
    /// The first of its points.
    like: &'r Row,
    of: ResultRows<'r>,
    /// The place of its experiment in [`WITH_SIZES`].
    rank: usize,
    rows: Vec<&'r Row>,
    measured: MeasuredCurve,
}

impl<'r> SavedCurve<'r> {
    /// Returns every curve of results.
    fn all(results: &[ResultRows<'r>]) -> Vec<SavedCurve<'r>> {
        const ALIKE: ColumnSet = ColumnSet::POINTS.without(ColumnSet::of(&[WORKING_SET]));
        let mut curves = Vec::new();
        for (result, rank, like) in points_of(results, &WITH_SIZES) {
            let is_alike = |row: &&Row| {
                is_random_load(row)
                    && row.word(PAGES_OBTAINED) == like.word(PAGES_OBTAINED)
                    && row.is_same(like, ALIKE)
            };
            let of = results[result];
            let rows = vector(of.rows.iter().filter(is_alike));
            // A curve is found once, at its first point.
            if rows.len() >= FEWEST_POINTS && core::ptr::eq(rows[0], like) {
                let measured = MeasuredCurve::of(&samples(&rows));
                curves.push(SavedCurve { result, like, of, rank, rows, measured });
            }
        }
        curves
    }

    /// Returns memory and translation of the nearest size that has them, at most an octave away.
    fn parts(&self, size: Bytes) -> Option<(Bytes, LoadParts)> {
        let near = |other: Bytes| other <= size.times(2) && size <= other.times(2);
        let apart = self.rows.iter().filter_map(|row| Some((row.size(), row.parts()?)));
        apart.filter(|(other, _)| near(*other)).min_by_key(|(other, _)| other.0.abs_diff(size.0))
    }

    fn at(&self, size: Option<Bytes>) -> Result<(Bytes, Between), Unanswered> {
        let [least, most] = self.measured.range().ok_or(Unanswered::NoCurve)?;
        let size = size.unwrap_or(most);
        self.measured.at(size).map(|between| (size, between)).ok_or(match size < least {
            true => Unanswered::TooSmall { size, least },
            false => Unanswered::TooLarge { size, most },
        })
    }

    /// Returns the merit for an answer: how close the curve comes to the size, its experiment, and its pages.
    fn merit(&self, size: Option<Bytes>) -> (u64, usize, Option<u8>) {
        // Of curves that do not cover the size, the one that comes closest to it tells what was measured.
        let near = match self.at(size) {
            Err(Unanswered::TooSmall { least, .. }) => u64::MAX - least.0,
            Err(Unanswered::TooLarge { most, .. }) => most.0,
            _ => u64::MAX,
        };
        (near, self.rank, pages_of(self.like).map(Pages::code))
    }
}

fn samples(rows: &[&Row]) -> Vec<Sample> {
    vector(rows.iter().map(|row| row.sample()))
}

/// Returns whether a point is the latency of one chain of random loads, with several lines in each page.
fn is_random_load(row: &Row) -> bool {
    let is_usual = |column: Column| match column {
        INITIATOR_NODE | TARGET_NODE | WORKING_SET | STRIDE | KERNEL | PAGES_ASKED | EXPERIMENT => true,
        _ if !row.tells(column) => true,
        ORDER => row.is_word(column, "random"),
        CHAINS => row.is_word(column, "1"),
        _ => row.is_word(column, "0"),
    };
    row.size().0 > 0 && row.stride() < PageSize::LEAST.bytes() && POINTS.iter().copied().all(is_usual)
}

/// Returns the best curve that is wanted: one that covers the size or comes closest to it, of the best experiment, in the
/// largest pages, the first among equals.
fn best<'c, 'r>(
    curves: &'c [SavedCurve<'r>],
    size: Option<Bytes>,
    is_wanted: &dyn Fn(&SavedCurve<'r>) -> bool,
) -> Option<&'c SavedCurve<'r>> {
    let mut found = None;
    for curve in curves.iter().filter(|curve| is_wanted(curve)) {
        let merit = curve.merit(size);
        if found.is_none_or(|(best, _)| merit > best) {
            found = Some((merit, curve));
        }
    }
    found.map(|(_, curve)| curve)
}

/// Returns the number of curves that could answer as well as the best one: those of other hosts, and others of its merit.
///
/// # Errors
///
/// [`Unanswered::SeveralCurves`] if something tells them apart, or if their values do not agree.
fn equals(
    curves: &[SavedCurve<'_>],
    question: &Question,
    curve: &SavedCurve<'_>,
) -> Result<usize, Unanswered> {
    let (mut count, mut differences, mut is_one_value) = (0, Few::NONE, true);
    let merit = curve.merit(question.size);
    let bounds = |curve: &SavedCurve<'_>| curve.at(question.size).map(|(_, found)| found.expected.bounds());
    for other in curves.iter().filter(|other| question.is_of(other.like)) {
        let is_of_host = curve.of.is_of_host_of(&other.of);
        let its = other.merit(question.size);
        if if is_of_host { its != merit } else { its.0 != merit.0 } {
            continue;
        }
        count += 1;
        if !is_of_host {
            differences.add("host");
        } else if curve.of.started != other.of.started {
            differences.add("start");
        }
        for column in POINTS.iter().copied().filter(|_| is_of_host) {
            let is_same = matches!(column, WORKING_SET | EXPERIMENT | PAGES_ASKED)
                || curve.like.agrees(other.like, column);
            if !is_same {
                differences.add(column.words());
            }
        }
        if let (Ok(own), Ok(found)) = (bounds(curve), bounds(other)) {
            is_one_value &= own.low <= found.high && found.low <= own.high;
        }
    }
    match differences == Few::NONE && is_one_value {
        true => Ok(count),
        false => Err(Unanswered::SeveralCurves { count, differences }),
    }
}

/// The time of a load.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedTime {
    /// The pages; `None` if the file does not state them.
    pub pages: Option<Pages>,
    /// The number of chains side by side.
    pub chains: u32,
    /// The number of cores that load at the same time, each as fast as it can; `None` for one chain or more of one core.
    pub cores: Option<u32>,
    /// Nanoseconds of a load of each core, all chains together.
    pub time: Estimate,
}

/// The answer to a question.
pub struct Expectation<'r> {
    /// The working set.
    pub size: Bytes,
    /// The index of the result with the curve that has the latency.
    pub result: usize,
    /// A point of that curve.
    pub like: &'r Row,
    /// Memory and translation of the nearest size that has them, at most an octave away.
    pub parts: Option<(Bytes, LoadParts)>,
    /// The latency of one chain, and the measured points around the size.
    pub between: Between,
    /// The mixture of levels that follows the curve.
    pub mixture: Option<Mixture>,
    /// The number of curves that are alike in host, start, nodes and pages, and agree; the first of them is used.
    pub alike: usize,
    /// The indices of the results with values of the answer.
    pub sources: Vec<usize>,
    /// The times: that of the question first, then other pages, chains, and cores.
    pub times: Vec<ExpectedTime>,
}

impl Expectation<'_> {
    /// Returns whether a working set is one of memory, as far as the curve shows it.
    fn is_in_memory(&self, size: Bytes) -> bool {
        self.mixture.as_ref().is_some_and(|mixture| mixture.is_in_memory(size))
    }
}

/// Answers a question.
///
/// # Errors
///
/// The reason why the results do not answer it.
pub fn ask<'r>(
    results: &[ResultRows<'r>],
    tlb: TlbOf<'_>,
    question: &Question,
) -> Result<Expectation<'r>, Unanswered> {
    let curves = SavedCurve::all(results);
    let Some(curve) = best(&curves, question.size, &|curve| question.is_of(curve.like)) else {
        let pages = question.pages;
        if pages == Pages::AUTO || curves.is_empty() {
            return Err(Unanswered::NoCurve);
        }
        let mut known = Few::NONE;
        curves.iter().filter_map(|curve| pages_of(curve.like)).for_each(|pages| known.add(pages));
        return Err(Unanswered::OtherPages { pages, known });
    };
    let alike = equals(&curves, question, curve)?;
    let (size, between) = curve.at(question.size)?;
    let pages = pages_of(curve.like);
    let own = ExpectedTime { pages, chains: 1, cores: None, time: between.expected };
    let mixture = Mixture::of(&samples(&curve.rows), tlb(curve.result, curve.like));
    let (sources, times) = ([curve.result].into(), [own].into());
    let (result, like, parts) = (curve.result, curve.like, curve.parts(size));
    let mut found = Expectation { size, result, like, parts, between, mixture, alike, sources, times };
    let is_open = pages.is_some() && question.pages == Pages::AUTO;
    for kind in Pages::all().filter(|kind| is_open && Some(*kind) != pages) {
        let is_of_kind = |other: &SavedCurve<'_>| {
            pages_of(other.like) == Some(kind)
                && other.like.pair() == curve.like.pair()
                && other.of.is_of_host_of(&curve.of)
        };
        let other = best(&curves, Some(size), &is_of_kind);
        let other = other.and_then(|other| Some((other.result, other.at(Some(size)).ok()?)));
        if let Some((result, (_, other))) = other {
            found.sources.push(result);
            found.times.push(ExpectedTime { pages: Some(kind), time: other.expected, ..own });
        }
    }
    if let Some(chains) = &question.chains {
        // A range means the numbers in it that `parallel` measures.
        let measurable = PARALLEL.iter().map(|kernel| kernel.lanes() as u32);
        for chains in measurable.filter(|number| *number > 1 && chains.contains(*number)) {
            let (time, sources) = side_by_side(results, &found, chains)?;
            found.sources.extend(sources.into_iter().flatten());
            found.times.push(ExpectedTime { chains, time, ..own });
        }
    }
    if let Some(cores) = question.cores {
        let (time, sources) = at_once(results, &found, cores)?;
        found.sources.extend(sources);
        found.times.push(ExpectedTime { cores: Some(cores), time, ..own });
    }
    Ok(found)
}

/// Returns a number that a field of a point has; 0 without one.
fn number(row: &Row, column: Column) -> u32 {
    row.count(column).map_or(0, |count| count as u32)
}

/// Returns the time of a load with several chains side by side: the measured one of this size, or the latency divided by
/// the speedup of another size, if both are in memory. The results with its values are next to it.
fn side_by_side(
    results: &[ResultRows<'_>],
    found: &Expectation<'_>,
    chains: u32,
) -> Result<(Estimate, [Option<usize>; 2]), Unanswered> {
    let like = found.like;
    let (mut single, mut several, mut most) = (None, None, 0);
    for (result, _, row) in points_of(results, &["parallel"]) {
        let is_of_host = results[result].is_of_host_of(&results[found.result]);
        if !is_of_host || pages_of(row) != pages_of(like) || row.pair() != like.pair() {
            continue;
        }
        let count = number(row, CHAINS);
        most = most.max(count);
        let best = match count {
            1 => &mut single,
            _ if count == chains => &mut several,
            _ => continue,
        };
        let key = |row: &Row| (row.size() == found.size, row.size());
        if best.is_none_or(|(_, best)| key(row) > key(best)) {
            *best = Some((result, row));
        }
    }
    let Some((of_several, several)) = several else { return Err(Unanswered::NoChains { chains, most }) };
    if several.size() == found.size {
        return Ok((several.time(), [Some(of_several), None]));
    }
    let is_in_memory = found.is_in_memory(found.size) && found.is_in_memory(several.size());
    let single = single.filter(|(_, single)| is_in_memory && single.size() == several.size());
    let speedup = single.and_then(|(_, single)| single.time().over(several.time()));
    let time = speedup.and_then(|speedup| found.between.expected.over(speedup));
    let sources = [Some(of_several), single.map(|(result, _)| result)];
    time.map(|time| (time, sources)).ok_or(Unanswered::ChainsElsewhere { chains, size: found.size })
}

/// Returns the time between two loads of a core while `cores` cores load at random, each with as many loads in flight
/// as it can, and the indices of the results that contain the measured values.
fn at_once(
    results: &[ResultRows<'_>],
    found: &Expectation<'_>,
    cores: u32,
) -> Result<(Estimate, Vec<usize>), Unanswered> {
    let (mut sources, mut samples) = (Vec::new(), Vec::new());
    let (mut most, mut is_in_memory) = (0, found.is_in_memory(found.size));
    for (result, _, row) in points_of(results, &["bandwidth"]) {
        let is_wanted =
            results[result].is_of_host_of(&results[found.result]) && row.is_word(TRAFFIC, "random");
        if !is_wanted || row.pair() != found.like.pair() {
            continue;
        }
        sources.push(result);
        let own = number(row, CORES);
        most = most.max(own);
        is_in_memory &= found.is_in_memory(row.size());
        // The time between two loads of one core grows with the number of cores, as a latency with the working set.
        let Estimate { value: nanoseconds, interval } = row.time().scaled(own.into());
        samples.push(Sample { size: Bytes(own.into()), nanoseconds, interval, ..Sample::EMPTY });
    }
    if most > 0 && !is_in_memory {
        return Err(Unanswered::CoresElsewhere { size: found.size });
    }
    let Some(Between { expected, neighbours }) = MeasuredCurve::of(&samples).at(Bytes(cores.into())) else {
        return Err(Unanswered::NoCores { cores, most });
    };
    // A few numbers of cores show no scatter, which would replace an interval that was not measured.
    let is_known = neighbours.iter().all(|point| point.latency.interval.is_some());
    Ok((Estimate { interval: expected.interval.filter(|_| is_known), ..expected }, sources))
}
