//! The levels that a curve shows, as plain data: what the caches are and where the system says otherwise, the
//! reach of the first translation buffer, and what each model makes of the points.
//!
//! Fits are made on core cycles where they are known, since these repeat better than
//! nanoseconds by the factor that the core's clock moves.

use latency_core::model::edge::{Edge, EdgeError};
use latency_core::model::translation::{self, Classification, PageKnee};
use latency_core::model::{
    fit_mixture, fit_reported, fit_stair, Fit, FitError, Point, Workspace, MAX_POINTS,
};
use latency_core::stats;
use latency_core::units::Bytes;

use super::caches::{Cache, Caches};
use super::claims::{Claim, Claims, MAX_CLAIMS};
use super::pages::{Knees, PAGE};
use crate::result::sample::{collect, Sample, Samples};

/// Everything that is concluded from a curve.
#[derive(Clone, Copy, Debug)]
pub struct Analysis {
    /// The core's clock by which cycles become nanoseconds; `None` where the fits are in nanoseconds.
    pub gigahertz: Option<f64>,
    /// The stair, from which levels and sizes are reported.
    pub stair: Result<Fit, FitError>,
    /// The mixture by share of the working set, sizes free.
    pub mixture: Result<Fit, FitError>,
    /// The same with the sizes that the system reports; `None` where it reports none.
    pub reported: Option<Result<Fit, FitError>>,
    /// The edge of the first level, if it was looked for.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// What the system reports.
    pub claims: Claims,
    /// The first translation buffer: its pages, and what a miss adds, in the unit of the fits.
    pub translation: Option<PageKnee>,
    caches: Caches,
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
    pub fn new(samples: Samples<'_>, claims: Claims, edge: Option<Result<Edge, EdgeError>>) -> Analysis {
        let samples = samples.iter();
        let stride = samples.clone().map(|sample| sample.stride).min().unwrap_or(Bytes(64));
        let dense = || samples.clone().filter(move |sample| sample.stride == stride);
        let largest = dense().map(|sample| sample.size).max().unwrap_or(Bytes(0));
        let in_cycles = dense().all(|sample| sample.core_cycles.is_some());
        let mut points = [Point::default(); MAX_POINTS];
        // Those that are too many are left out at the end, where the curve is flat.
        let points = collect(&mut points, dense().map(|sample| sample.point(in_cycles)));
        let mut workspace = Workspace::new();

        let knees = Knees::of(samples.clone(), in_cycles, &mut workspace);
        let mixture = fit_mixture(points, &mut workspace);
        let mut sizes = [0.0; MAX_CLAIMS];
        let sizes = collect(&mut sizes, claims.iter().map(|claim| claim.size.0 as f64));
        let reported = (!sizes.is_empty()).then(|| fit_reported(points, sizes, &mut workspace));
        let rules = Classification::new(PAGE);
        let mut stair = fit_stair(points, None, &mut workspace);
        let seen = stair.as_ref().ok();
        let reach = seen.and_then(|stair| translation::first_reach(&rules, stair, knees.as_slice()));
        let translation = reach.and_then(|reach| knees.at(reach / PAGE.0 as f64));
        if reach.is_some() {
            stair = fit_stair(points, reach, &mut workspace).or(stair);
        }
        let mut caches = Caches::default();
        if let Ok(stair) = &mut stair {
            if knees.looked {
                rules.classify(stair, knees.as_slice());
            }
            caches = Caches::new(stair, &claims, points, reach, edge.and_then(Result::ok), &mut workspace);
        }
        Analysis {
            gigahertz: in_cycles.then(|| clock(dense())).flatten(),
            stair,
            mixture,
            reported,
            edge,
            claims,
            translation,
            caches,
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
        self.caches.as_slice()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::claims::Source;
    use std::vec::Vec;

    fn analysis(samples: &[Sample], claims: Claims) -> Analysis {
        Analysis::new(Samples::new(samples.len(), &|index| samples.get(index).copied()), claims, None)
    }

    /// 4, 14, 50 and 500 core cycles at 4 GHz, with knees at 33 KiB, 1.2 MiB and 10 MiB.
    fn planted() -> Vec<Sample> {
        let steps = [(33.0 * 1024.0, 60.0, 10.0), (1.2e6, 6.0, 36.0), (1e7, 5.0, 450.0)];
        let sample = |index: i32| {
            let size = 16384.0 * 2f64.powf(f64::from(index) / 6.0);
            let rise = |&(knee, shape, step): &(f64, f64, f64)| {
                let power = (size / knee).powf(shape);
                step * power / (1.0 + power)
            };
            let cycles = 4.0 + steps.iter().map(rise).sum::<f64>();
            let noise = 1.0 + 0.003 * f64::from(index * 37 % 11 - 5) / 5.0;
            Sample {
                size: Bytes(size as u64),
                nanoseconds: cycles * noise / 4.0,
                core_cycles: Some(cycles * noise),
                ..Sample::EMPTY
            }
        };
        (0..80).map(sample).collect()
    }

    fn claims() -> Claims {
        let mut claims = Claims::default();
        for (level, size) in [(1, 32 << 10), (2, 1 << 20), (3, 32 << 20)] {
            claims.add(Claim { level, size: Bytes(size), ways: 8, source: Source::Sysfs });
        }
        claims
    }

    #[test]
    fn planted_levels_come_out_and_are_held_against_what_is_reported() {
        let analysis = analysis(&planted(), claims());
        assert_eq!(analysis.gigahertz.map(|clock| (clock * 1000.0 + 0.5) as u32), Some(4000));
        let caches = analysis.caches();
        let numbers: Vec<_> = caches.iter().map(|cache| (cache.number, cache.disagrees())).collect();
        assert_eq!(numbers, [(1, false), (2, false), (3, true)]);
        for (cache, cycles) in caches.iter().zip([4.0, 14.0, 50.0]) {
            let found = cache.latency.value;
            assert!((found / cycles - 1.0).abs() < 0.015, "{found} for {cycles}");
        }
        let memory = analysis.stair.unwrap().memory.value;
        assert!((analysis.nanoseconds(memory) - 125.0).abs() < 1.5, "{memory}");
        assert!(analysis.reported.unwrap().is_ok() && analysis.translation.is_none());
    }

    #[test]
    fn without_core_cycles_everything_is_in_nanoseconds() {
        let samples: Vec<_> =
            planted().into_iter().map(|sample| Sample { core_cycles: None, ..sample }).collect();
        let analysis = analysis(&samples, Claims::default());
        assert_eq!((analysis.gigahertz, analysis.cycles(1.0)), (None, None));
        assert!((analysis.caches()[0].latency.value - 1.0).abs() < 0.01);
        assert!(analysis.reported.is_none() && analysis.caches().iter().all(|cache| !cache.disagrees()));
    }

    #[test]
    fn nothing_is_concluded_from_nothing() {
        let analysis = analysis(&[], claims());
        assert!(analysis.stair.is_err() && analysis.mixture.is_err() && analysis.caches().is_empty());
    }
}
