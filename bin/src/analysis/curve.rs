//! The levels that a curve shows: three fitted models, the first level's edge, the
//! reach of the first translation buffer, and where the system says otherwise.
//!
//! Fits are made on core cycles where they are known, since these repeat better than
//! nanoseconds by the factor that the core's clock moves.

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
        if let Ok(fit) = &mut hill {
            let reach = translation::first_reach(&rules, fit, knees.as_slice());
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
        Analysis { gigahertz, hill, classic, fixed, edge, claims, stride }
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

    /// The levels of the hierarchy as a program meets them, translation buffers among them, without the memory.
    pub fn levels(&self) -> impl Iterator<Item = Named<'_>> {
        let levels = self.hill.as_ref().map_or(&[][..], Fit::levels);
        let mut number = 0;
        levels.iter().map(move |level| {
            if level.cause != Cause::Translation {
                number += 1;
            }
            let claim = (level.cause != Cause::Translation).then(|| self.claims.level(number)).flatten();
            Named { level, number, claim }
        })
    }
}

/// A level and what is said of it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'f> {
    /// What the fit found.
    pub level: &'f Level,
    /// Its place among the caches, from 1; that of the cache before it for a translation buffer.
    pub number: u32,
    /// What the system reports of the cache at that place.
    pub claim: Option<&'f Claim>,
}

impl Named<'_> {
    /// Whether the reported size lies outside of the interval in which the level gives way.
    #[must_use]
    pub fn disagrees(&self) -> bool {
        self.claim.is_some_and(|claim| {
            let size = claim.size.0 as f64;
            size * TOLERANCE < self.level.onset || size > self.level.capacity.value * TOLERANCE
        })
    }
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

    fn as_slice(&self) -> &[PageKnee] {
        self.knees.get(..self.count).unwrap_or_default()
    }
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
