//! The levels that a curve shows: three fitted models, the first level's edge, the
//! reach of the first translation buffer, and where the system says otherwise.
//!
//! Fits are made on core cycles where they are known, since these repeat better than
//! nanoseconds by the factor that the core's clock moves.

use core::cmp::Ordering;

use latency_core::math::ln;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::model::translation::{self, Cause, Classification, PageKnee};
use latency_core::model::{
    fit_classic, fit_classic_fixed, fit_hill, Fit, FitError, Level, LevelCount, Point, Workspace, MAX_LEVELS,
    MAX_POINTS,
};
use latency_core::stats;
use latency_core::units::Bytes;

use super::claims::{Claim, Claims, MAX_CLAIMS};
use super::samples::Sample;

/// The page whose translations the points with one line on each page use up.
pub const PAGE: Bytes = Bytes(4096);
/// A reported size outside of the interval from onset to knee by more is disagreement: neighbouring points lie
/// a sixteenth of an octave apart around a knee.
const TOLERANCE: f64 = 1.06;

/// Everything that is concluded from a curve.
#[derive(Clone, Copy, Debug)]
pub struct Analysis {
    /// The core's clock by which cycles become nanoseconds; `None` where the fits are in nanoseconds.
    pub gigahertz: Option<f64>,
    /// The stair of Hill curves: the model that levels are reported from.
    pub hill: Result<Fit, FitError>,
    /// The mixture by share of the working set, sizes free.
    pub classic: Result<Fit, FitError>,
    /// The same with the sizes that the system reports; `None` where it reports none.
    pub fixed: Option<Result<Fit, FitError>>,
    /// The edge of the first level, if it was looked for.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// What the system reports.
    pub claims: Claims,
    /// The first translation buffer: its pages, and what a miss adds, in the unit of the fits.
    pub translation: Option<PageKnee>,
    caches: [Cache; MAX_LEVELS],
    count: usize,
    /// The largest working set that was fitted.
    pub largest: Bytes,
    /// The stride of the points that were fitted.
    stride: Bytes,
}

impl Analysis {
    /// Concludes what there is to conclude from the points of a curve, in any order.
    ///
    /// Those of the smallest stride are fitted; those with one line on each page, if there are any, tell
    /// translation buffers from caches.
    #[must_use]
    pub fn new(
        samples: impl Iterator<Item = Sample> + Clone,
        claims: Claims,
        edge: Option<Result<Edge, EdgeError>>,
    ) -> Analysis {
        let stride = samples.clone().map(|sample| sample.stride).min().unwrap_or(Bytes(64));
        let dense = || samples.clone().filter(move |sample| sample.stride == stride);
        let largest = dense().map(|sample| sample.size).max().unwrap_or(Bytes(0));
        let in_cycles = dense().all(|sample| sample.core_cycles.is_some());
        let mut points = [Point::default(); MAX_POINTS];
        // Those that are too many are left out at the end, where the curve is flat.
        let points = collect(&mut points, dense().map(|sample| sample.point(in_cycles)));
        let mut workspace = Workspace::new();

        let knees = Knees::of(samples.clone(), in_cycles, &mut workspace);
        let classic = fit_classic(points, LevelCount::Chosen, &mut workspace);
        let mut sizes = [0.0; MAX_CLAIMS];
        let sizes = collect(&mut sizes, claims.iter().map(|claim| claim.size.0 as f64));
        let fixed = (!sizes.is_empty()).then(|| fit_classic_fixed(points, sizes, &mut workspace));
        let rules = Classification::new(PAGE);
        let mut hill = fit_hill(points, LevelCount::Chosen, None, &mut workspace);
        let mut translation = None;
        if let Ok(fit) = &mut hill {
            let reach = translation::first_reach(&rules, fit, knees.as_slice());
            translation = reach.and_then(|reach| knees.at(reach / PAGE.0 as f64));
            if let Some(Ok(with_reach)) =
                reach.map(|reach| fit_hill(points, LevelCount::Chosen, Some(reach), &mut workspace))
            {
                *fit = with_reach;
            }
            if knees.looked {
                rules.classify(fit, knees.as_slice());
            }
        }
        let gigahertz = in_cycles.then(|| clock(dense())).flatten();
        let (caches, count) =
            hill.as_ref().map_or(([Cache::default(); MAX_LEVELS], 0), |fit| caches(fit, &claims));
        Analysis {
            gigahertz,
            hill,
            classic,
            fixed,
            edge,
            claims,
            translation,
            caches,
            count,
            largest,
            stride,
        }
    }

    /// Whether a point is one of those that were fitted.
    #[must_use]
    pub fn is_fitted(&self, sample: &Sample) -> bool {
        sample.stride == self.stride
    }

    /// A latency of the fits in nanoseconds.
    #[must_use]
    pub fn nanoseconds(&self, latency: f64) -> f64 {
        self.gigahertz.map_or(latency, |gigahertz| latency / gigahertz)
    }

    /// A latency of the fits in core cycles, where they are known.
    #[must_use]
    pub fn cycles(&self, latency: f64) -> Option<f64> {
        self.gigahertz.map(|_| latency)
    }

    /// Whether the curve goes far enough beyond a reported cache for it to show.
    #[must_use]
    pub fn reaches(&self, claim: &Claim) -> bool {
        self.largest.0 / 2 >= claim.size.0
    }

    /// The caches as a program meets them, nearest first.
    #[must_use]
    pub fn caches(&self) -> &[Cache] {
        self.caches.get(..self.count).unwrap_or_default()
    }
}

/// The most ways in which levels could belong to claims.
const ASSIGNMENTS: usize = MAX_CLAIMS.pow(MAX_LEVELS as u32);
/// A reported cache that no level is taken for weighs as much as a size that is wrong by this factor's logarithm.
const UNUSED: f64 = 2.0;

/// What each stage's own distance from the reported size weighs beside that of the last.
const STAGE: f64 = 0.1;

/// Levels of a fit that are one cache, or one that gives way in stages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cache {
    /// Its place in the hierarchy, from 1.
    pub number: u32,
    /// Its first stage, which has its latency.
    pub first: Level,
    /// Its last, beyond which the next cache or the memory serves most accesses.
    pub last: Level,
    /// The number of stages.
    pub stages: u32,
    /// What the system reports of it.
    pub claim: Option<Claim>,
}

impl Cache {
    /// Whether the reported size lies outside of the interval in which it gives way.
    #[must_use]
    pub fn disagrees(&self) -> bool {
        self.claim.is_some_and(|claim| {
            let size = claim.size.0 as f64;
            size * TOLERANCE < self.first.onset || size > self.last.capacity.value * TOLERANCE
        })
    }
}

/// Joins the levels of a fit into caches: by what the system reports, as far as it does.
fn caches(fit: &Fit, claims: &Claims) -> ([Cache; MAX_LEVELS], usize) {
    let mut found = [Cache::default(); MAX_LEVELS];
    let mut count = 0;
    let levels = || fit.levels().iter().filter(|level| level.cause != Cause::Translation);
    let numbers = assign(levels(), claims);
    let mut last_number = 0;
    for (level, assigned) in levels().zip(numbers) {
        // Without claims, what has no plateau of its own is the end of the cache before it.
        let number = assigned.unwrap_or(last_number + u32::from(level.plateau || last_number == 0));
        if number == last_number {
            if let Some(cache) = found.get_mut(..count).and_then(<[_]>::last_mut) {
                cache.last = *level;
                cache.stages += 1;
            }
        } else if let Some(slot) = found.get_mut(count) {
            let claim = claims.level(number).copied();
            *slot = Cache { number, first: *level, last: *level, stages: 1, claim };
            count += 1;
        }
        last_number = number;
    }
    (found, count)
}

/// Which reported cache each level is, such that sizes fit best where levels leave a cache.
fn assign<'l>(levels: impl Iterator<Item = &'l Level> + Clone, claims: &Claims) -> [Option<u32>; MAX_LEVELS] {
    let mut best = ([None; MAX_LEVELS], f64::INFINITY);
    let last = claims.iter().map(|claim| claim.level).max().unwrap_or(0);
    for code in 0..ASSIGNMENTS {
        let mut rest = code;
        let mut numbers = [None; MAX_LEVELS];
        let mut cost = 0.0;
        let mut before: Option<(u32, f64)> = None;
        let off = |number, knee: f64| {
            claims.level(number).map_or(f64::INFINITY, |claim| ln(knee / claim.size.0 as f64).abs())
        };
        for (slot, level) in numbers.iter_mut().zip(levels.clone()) {
            let number = 1 + (rest % MAX_CLAIMS) as u32;
            rest /= MAX_CLAIMS;
            if let Some((previous, knee)) = before {
                match previous.cmp(&number) {
                    Ordering::Less => cost += off(previous, knee) + UNUSED * f64::from(number - previous - 1),
                    Ordering::Equal => {}
                    Ordering::Greater => cost = f64::INFINITY,
                }
            } else {
                cost += UNUSED * f64::from(number - 1);
            }
            cost += STAGE * off(number, level.capacity.value);
            *slot = Some(number);
            before = Some((number, level.capacity.value));
        }
        let Some((number, knee)) = before else { break };
        cost += off(number, knee) + UNUSED * f64::from(last.saturating_sub(number));
        // The same levels came with every code of what lies beyond them.
        if cost < best.1 {
            best = (numbers, cost);
        }
    }
    best.0
}

/// The knees of the points with one line on each page.
#[derive(Clone, Copy, Debug)]
struct Knees {
    knees: [PageKnee; MAX_LEVELS],
    count: usize,
    /// There are such points.
    looked: bool,
}

impl Knees {
    fn of(samples: impl Iterator<Item = Sample>, in_cycles: bool, workspace: &mut Workspace) -> Knees {
        let mut knees =
            Knees { knees: [PageKnee { pages: 0.0, step: 0.0 }; MAX_LEVELS], count: 0, looked: false };
        let mut points = [Point::default(); 64];
        let sparse = samples.filter(|sample| sample.stride == PAGE);
        let points = collect(
            &mut points,
            sparse.map(|sample| {
                let point = sample.point(in_cycles);
                Point { working_set: point.working_set / PAGE.0 as f64, ..point }
            }),
        );
        let Ok(fit) = fit_hill(points, LevelCount::Chosen, None, workspace) else { return knees };
        knees.looked = true;
        for (slot, level) in knees.knees.iter_mut().zip(fit.levels().iter().filter(|level| level.resolved)) {
            *slot = PageKnee { pages: level.capacity.value, step: level.step.value };
            knees.count += 1;
        }
        knees
    }

    fn at(&self, pages: f64) -> Option<PageKnee> {
        self.as_slice()
            .iter()
            .copied()
            .min_by(|one, other| (one.pages - pages).abs().total_cmp(&(other.pages - pages).abs()))
    }

    fn as_slice(&self) -> &[PageKnee] {
        self.knees.get(..self.count).unwrap_or_default()
    }
}

/// Whether a line on each of some hundred pages costs more than on a few: with huge pages that are that to the
/// processor too, all of them are one or two entries of a translation buffer.
///
/// The numbers of pages are below those of lines in any first-level cache, so that it is not a cache that shows.
#[must_use]
pub fn translates_small_pages(samples: impl Iterator<Item = Sample> + Clone) -> bool {
    const FEW: u64 = 32;
    const MANY: (u64, u64) = (192, 256);
    const RISE: f64 = 1.2;
    let latency = |least: u64, most: u64| {
        let within = move |sample: &Sample| {
            sample.stride == PAGE && (PAGE.times(least)..=PAGE.times(most)).contains(&sample.size)
        };
        let latency = |sample: Sample| sample.core_cycles.unwrap_or(sample.nanoseconds);
        samples.clone().filter(within).map(latency).fold(f64::NAN, f64::min)
    };
    latency(MANY.0, MANY.1) > latency(0, FEW) * RISE
}

/// The first items, as many as there is room for.
fn collect<T>(room: &mut [T], items: impl Iterator<Item = T>) -> &[T] {
    let mut count = 0;
    for (slot, item) in room.iter_mut().zip(items) {
        *slot = item;
        count += 1;
    }
    room.get(..count).unwrap_or_default()
}

/// The median core clock in gigahertz: cycles over nanoseconds.
fn clock(samples: impl Iterator<Item = Sample>) -> Option<f64> {
    let mut clocks = [0.0; MAX_POINTS];
    let mut count = 0;
    let ratios = samples.filter_map(|sample| Some(sample.core_cycles? / sample.nanoseconds));
    for (slot, ratio) in clocks.iter_mut().zip(ratios) {
        *slot = ratio;
        count += 1;
    }
    stats::median(clocks.get_mut(..count)?)
}
