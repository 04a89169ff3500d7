//! The levels that a curve shows, as plain data: the caches and the contradictions with the system's claims, the levels
//! of the TLB, and the fit of each model to the points.
//!
//! Fits are made on core cycles where they are known, since cycles repeat better than nanoseconds by the factor by
//! which the core's clock varies.

use alloc::vec::Vec;
use core::f64::consts::SQRT_2;
use core::ops::RangeInclusive;

use latency_core::math::ln;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::model::{
    Fit, FitError, MAX_POINTS, Point, Workspace, fit, fit_mixture, fit_reported, fit_stair,
};
use latency_core::{Bytes, Estimate, ToReal, best, sort_by_key, stats};

use super::caches::{self, Cache};
use super::claims::{Claim, Claims};
use super::reading::{Reading, clock, only, values};
use latency_engine::result::Sample;
use latency_engine::spans::tlb::{TlbLevels, knees};
use latency_report::chart::vector;

/// The conclusions from a curve.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The core clock in gigahertz that converts cycles into nanoseconds; `None` if the fits are in nanoseconds.
    pub gigahertz: Option<f64>,
    /// The stair, from which levels and sizes are reported.
    pub stair: Result<Fit, FitError>,
    /// The mixture of levels by their shares of the working set, with free sizes.
    pub mixture: Result<Fit, FitError>,
    /// The same mixture with the sizes that the system reports; `None` if the system reports no size.
    pub reported: Option<Result<Fit, FitError>>,
    /// The edge of the first level, if it was sought.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// The claims of the system.
    pub claims: Claims,
    /// The levels of the TLB, which are known from elsewhere.
    pub tlb: TlbLevels,
    /// The caches as a program sees them, nearest first.
    caches: Vec<Cache>,
    /// The latency beyond the last level; `None` without a stair.
    pub memory: Option<Reading>,
    /// The latency of the level on which the curve ends, if the curve ends before memory: the last level that is flat.
    pub open_end: Option<Option<Reading>>,
    /// The largest working set that was fitted.
    pub largest: Bytes,
    /// The latency at the largest working sets in nanoseconds: the median of the last half of an octave.
    pub largest_ns: Option<f64>,
}

impl Analysis {
    /// Draws the conclusions from the points of a curve, which may be in any order.
    ///
    /// The points of the smallest stride are fitted: a saved curve may have others, with one line on each page. The
    /// levels of the TLB distinguish their steps from those of caches. Once `stop` returns true, no further fits are
    /// made.
    pub fn new(
        samples: &[Sample],
        tlb: TlbLevels,
        claims: Claims,
        edge: Option<Result<Edge, EdgeError>>,
        stop: &dyn Fn() -> bool,
    ) -> Analysis {
        let stride = samples.iter().map(|sample| sample.stride).min().unwrap_or(Bytes(64));
        let dense = &only(samples, &|sample| sample.stride == stride);
        let largest = dense.iter().map(|sample| sample.size).max().unwrap_or(Bytes(0));
        let in_cycles = are_smoother_in_cycles(dense);
        // Of more points than the models have room for, every second or third is fitted, so that no size is left out.
        let step = dense.len().div_ceil(MAX_POINTS).max(1);
        let points: Vec<Point> = vector(dense.iter().step_by(step).map(|sample| sample.point(in_cycles)));
        let points = points.as_slice();
        let mut workspace = Workspace::new(stop);

        let gigahertz = in_cycles.then(|| clock(dense)).flatten();
        let knees = knees(&tlb, gigahertz.unwrap_or(1.0));
        let reaches = knees.map(|knee| knee.reach);
        let reach = Some(reaches[0]).filter(|reach| *reach > 0.0 && *reach < largest.0.real());
        let mixture = fit_mixture(points, &mut workspace);
        let sizes: Vec<f64> = vector(claims.iter().map(|claim| claim.size.0.real()));
        let reported = (!sizes.is_empty()).then(|| fit_reported(points, &sizes, &mut workspace));
        let mut stair = fit_stair(points, reach, &mut workspace);
        if stair.is_err() {
            stair = fit_stair(points, None, &mut workspace);
        }
        let mut caches = Vec::new();
        if let Ok(stair) = &mut stair {
            fit::classify(stair, &knees);
            let edge = edge.and_then(Result::ok);
            caches = caches::read(stair, &claims, points, reaches, edge, &mut workspace);
        }
        if in_cycles {
            let within = |sizes: &RangeInclusive<f64>| {
                clock(&only(dense, &|sample| sizes.contains(&sample.size.0.real())))
            };
            caches::read_clocks(&mut caches, &within);
        }
        let memory = stair.as_ref().ok().map(|fit| Reading::of_memory(fit, dense, gigahertz));
        let is_far = |sample: &Sample| sample.size.0.real() * SQRT_2 >= largest.0.real();
        let far = |sample: &Sample| is_far(sample).then_some(sample.nanoseconds);
        let largest_ns = stats::median(&mut values(dense, &far));
        Analysis {
            gigahertz,
            stair,
            mixture,
            reported,
            edge,
            claims,
            tlb,
            caches,
            memory,
            open_end: None,
            largest,
            largest_ns,
        }
    }

    /// Names the levels of another tool's curve, which lacks `skipped` caches in front. Its last level is not memory if the
    /// last octave rises much, as long as no cache is reported.
    pub fn of_other_tool(mut self, samples: &[Sample], skipped: u32) -> Analysis {
        /// Least rise over the last octave that is not the noise of a plateau.
        const RISE: f64 = 1.25;
        // A single point that is less than half as slow as the next level is the end of the last cache that is left out.
        let first = self.caches().first().map(|first| (first.size.value, first.latency.value));
        let next = self.caches().get(1).map(|next| next.latency.value);
        let next = next.or(self.memory.map(|memory| memory.latency.value));
        let is_end = first.zip(next).is_some_and(|((size, own), next)| {
            let points = samples.iter().filter(|sample| sample.size.0.real() <= size).count();
            points < 2 && own < next / 2.0
        });
        self.caches.iter_mut().for_each(|cache| cache.number += if is_end { 0 } else { skipped });
        let before = |sample: &&Sample| sample.size.0 <= self.largest.0 / 2;
        let octave = best(samples.iter().filter(before), |one, other| one.size >= other.size);
        let last = samples.iter().rfind(|sample| sample.size == self.largest);
        if let (Some(octave), Some(last), true) = (octave, last, self.claims.iter().next().is_none())
            && last.nanoseconds >= RISE * octave.nanoseconds
        {
            self.largest_ns = Some(last.nanoseconds);
            let is_below = |level: &Reading| level.nanoseconds().value * RISE < last.nanoseconds;
            self.open_end = Some(self.memory.take().filter(is_below));
        }
        self
    }

    /// Converts a latency of the fits to nanoseconds.
    pub fn nanoseconds(&self, latency: f64) -> f64 {
        self.gigahertz.map_or(latency, |gigahertz| latency / gigahertz)
    }

    /// Converts a latency of the fits to core cycles, if these are known.
    pub fn cycles(&self, latency: f64) -> Option<f64> {
        self.gigahertz.map(|_| latency)
    }

    /// Returns the latency of a cache in nanoseconds, by the clock at which its own points were measured.
    pub fn of_cache(&self, cache: &Cache) -> Estimate {
        cache.latency.scaled(1.0 / cache.gigahertz.or(self.gigahertz).unwrap_or(1.0))
    }

    /// Returns the largest working set and its latency, if the latency is more than a tenth above the one found for
    /// memory, and above the interval of the latter.
    pub fn still_rising(&self) -> Option<(Bytes, f64)> {
        const RISEN: f64 = 1.1;
        let latency = self.largest_ns?;
        let memory = self.memory?.nanoseconds();
        (latency > (RISEN * memory.value).max(memory.bounds().high)).then_some((self.largest, latency))
    }

    /// Returns the reason why no levels can be read from the points, if there is one.
    pub fn doubt(&self) -> Option<&'static str> {
        /// Largest median residual of a stair that is believed: half of the points of measured curves lie within 5 % of
        /// the stair; for random sizes and times, they lie beyond 30 %.
        const SCATTER: f64 = 0.2;
        /// Largest relative uncertainty that is believed: the largest one of a measured level was 105 %.
        const UNCERTAIN: f64 = 3.0;
        let Ok(stair) = &self.stair else { return Some("no model fits its points") };
        if stair.median_residual > SCATTER {
            return Some("half of its points are more than 20% off the best model");
        }
        let levels = self.caches().iter().map(|cache| &cache.latency);
        let mut all = levels.chain(self.memory.iter().map(|memory| &memory.latency));
        let is_vague = all.any(|latency| latency.half().is_some_and(|half| half > UNCERTAIN));
        is_vague.then_some("a level is uncertain by more than 300%")
    }

    /// Returns whether a level may be that of a TLB: there are levels, and no level of the TLB is known.
    pub fn may_show_tlb(&self) -> bool {
        self.tlb.iter().all(Option::is_none) && !self.caches().is_empty()
    }

    /// Returns whether the curve extends far enough beyond a reported cache to show it.
    pub fn reaches(&self, claim: &Claim) -> bool {
        self.largest.0 / 2 >= claim.size.0
    }

    /// Returns the caches as a program sees them, nearest first.
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }
}

/// Returns whether all points have core cycles, and these change no more from one size to the next than nanoseconds do: the
/// clock of the core that was found at single points may be wrong, as in an emulator.
fn are_smoother_in_cycles(samples: &[Sample]) -> bool {
    /// Largest ratio of the changes in both units at which cycles are used.
    const MORE: f64 = 1.05;
    let values = samples
        .iter()
        .map(|sample| (sample.size, sample.nanoseconds, sample.core_cycles.unwrap_or(f64::NAN)));
    let mut points = vector(values);
    sort_by_key(&mut points, |(size, ..)| *size);
    let changes = |value: &dyn Fn(&(Bytes, f64, f64)) -> f64| -> f64 {
        points.iter().zip(points.iter().skip(1)).map(|(one, next)| ln(value(next) / value(one)).abs()).sum()
    };
    // A point without cycles makes the changes no number, but a single point has no change.
    let is_known = points.first().is_none_or(|(.., cycles)| cycles.is_finite());
    is_known && changes(&|(.., cycles)| *cycles) <= MORE * changes(&|(_, nanoseconds, _)| *nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::claims::Source;
    use latency_core::Interval;
    use latency_engine::spans::tlb::TlbEnd;
    use std::vec::Vec;

    fn analysis(samples: &[Sample], claims: Claims) -> Analysis {
        beside(samples, [None; 2], claims)
    }

    fn beside(samples: &[Sample], tlb: TlbLevels, claims: Claims) -> Analysis {
        Analysis::new(samples, tlb, claims, None, &|| false)
    }

    /// Returns a curve of 4, 14, 50 and 500 core cycles at 4 GHz, with knees at 33 KiB, 1.2 MiB and 10 MiB.
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
            claims.add(Claim { level, size: Bytes(size), source: Source::Sysfs });
        }
        claims
    }

    #[test]
    fn planted_levels_are_found_and_compared_with_reported_ones() {
        let analysis = analysis(&planted(), claims());
        assert_eq!(analysis.gigahertz.map(|clock| (clock * 1000.0 + 0.5) as u32), Some(4000));
        let caches = analysis.caches();
        let numbers: Vec<_> = caches.iter().map(|cache| (cache.number, cache.disagrees())).collect();
        assert_eq!(numbers, [(1, false), (2, false), (3, true)]);
        for (cache, cycles) in caches.iter().zip([4.0, 14.0, 50.0]) {
            let found = cache.latency.value;
            assert!((found / cycles - 1.0).abs() < 0.015, "{found} for {cycles}");
        }
        let memory = analysis.memory.unwrap();
        assert!((memory.nanoseconds().value - 125.0).abs() < 1.5 && memory.points > 5, "{memory:?}");
        assert_eq!(analysis.still_rising(), None);
        assert!(analysis.reported.unwrap().is_ok());
    }

    #[test]
    fn every_part_of_a_curve_with_many_points_is_fitted() {
        // The first points in descending order lack the first levels.
        let beside = |sample: Sample| {
            (0..10).map(move |line| Sample { size: Bytes(sample.size.0 + 64 * line), ..sample })
        };
        let many: Vec<Sample> = planted().into_iter().rev().flat_map(beside).collect();
        let numbers: Vec<_> = analysis(&many, claims()).caches().iter().map(|cache| cache.number).collect();
        assert_eq!((many.len(), numbers), (800, [1, 2, 3].into()));
    }

    /// A curve of sharp steps, four points an octave: each size is known to lie between two points, and no better.
    #[test]
    fn the_size_of_a_sharp_step_lies_between_its_neighbours() {
        let capacities = [40_000.0, 1e6, 2e7];
        let sample = |index: i32| {
            let size = 16384.0 * 2f64.powf(f64::from(index) / 4.0);
            let steps = capacities.iter().zip([10.0, 36.0, 450.0]);
            let beyond = steps.filter(|(capacity, _)| size > **capacity).map(|(_, step)| step);
            let nanoseconds = 4.0 + beyond.sum::<f64>();
            Sample { size: Bytes(size as u64), nanoseconds, core_cycles: None, ..Sample::EMPTY }
        };
        let samples: Vec<_> = (0..60).map(sample).collect();
        let found = analysis(&samples, Claims::default());
        assert_eq!(found.caches().len(), 3);
        for (cache, capacity) in found.caches().iter().zip(capacities) {
            let Interval { low, high } = cache.size.interval.unwrap();
            let step = 2f64.powf(0.25);
            assert!(low <= capacity && capacity <= high && high / low < step * 1.001, "{cache:?}");
            assert!(cache.middle().is_some());
        }
    }

    /// The clock of the core was found wrong at every tenth point, as it happens in an emulator.
    #[test]
    fn levels_are_fitted_in_nanoseconds_where_the_clock_of_points_is_wrong() {
        let off = |(index, sample): (usize, Sample)| match index % 10 {
            7 => Sample { core_cycles: sample.core_cycles.map(|cycles| cycles * 1.2), ..sample },
            _ => sample,
        };
        let samples: Vec<_> = planted().into_iter().enumerate().map(off).collect();
        let (found, right) = (analysis(&samples, claims()), analysis(&planted(), claims()));
        assert_eq!(found.gigahertz, None);
        for (cache, right) in found.caches().iter().zip(right.caches()) {
            assert!((cache.size.value / right.size.value - 1.0).abs() < 0.01, "{cache:?}");
        }
    }

    #[test]
    fn without_known_tlb_levels_a_level_may_belong_to_a_tlb() {
        assert!(analysis(&planted(), claims()).may_show_tlb());
        let entries = Estimate { value: 64.0, interval: None };
        let known = [Some(TlbEnd { entries, page: Bytes(4096), miss_ns: 2.0 }), None];
        assert!(!beside(&planted(), known, claims()).may_show_tlb());
        // A flat curve has no level.
        let flat: Vec<_> = planted()
            .iter()
            .map(|sample| Sample { nanoseconds: 1.0, core_cycles: Some(4.0), ..*sample })
            .collect();
        assert!(!analysis(&flat, claims()).may_show_tlb());
    }

    /// The misses of 64 entries cost 30 cycles, and the curve has points with one line on each page, as earlier versions
    /// saved them.
    #[test]
    fn misses_of_a_known_tlb_are_not_a_cache() {
        let entries = Estimate::exact(64.0);
        let level = TlbEnd { entries, page: Bytes(4096), miss_ns: 30.0 / 4.0 };
        let more = |sample: Sample| {
            let missing = (1.0 - level.reach() / sample.size.0 as f64).max(0.0);
            let nanoseconds = sample.nanoseconds + missing * level.miss_ns;
            Sample { nanoseconds, core_cycles: Some(nanoseconds * 4.0), ..sample }
        };
        let mut samples: Vec<_> = planted().into_iter().map(more).collect();
        let spaced = |sample: &Sample| Sample { stride: Bytes(4096), nanoseconds: 99.0, ..*sample };
        samples.extend(planted().iter().take(20).map(spaced));
        let cycles = |tlb| -> Vec<u64> {
            let found = beside(&samples, tlb, Claims::default());
            assert_eq!(found.tlb, tlb);
            found.caches().iter().map(|cache| (cache.latency.value + 0.5) as u64).collect()
        };
        let known = cycles([Some(level), None]);
        assert_eq!((known.len(), &known[..2]), (3, &[4, 14][..]), "{known:?}");
        let without = cycles([None; 2]);
        assert!(without.len() > 3, "{without:?}");
        // A reach beyond the curve changes nothing.
        assert_eq!(cycles([Some(TlbEnd { page: Bytes(1 << 30), ..level }), None]), without);
    }

    #[test]
    fn a_cache_has_its_latency_before_the_misses_of_a_tlb() {
        let entries = Estimate::exact(75.0);
        let level = TlbEnd { entries, page: Bytes(4096), miss_ns: 5.0 };
        let more = |sample: Sample| {
            let power = (sample.size.0 as f64 / level.reach()).powf(20.0);
            let nanoseconds = sample.nanoseconds + 5.0 * power / (1.0 + power);
            Sample { nanoseconds, core_cycles: Some(nanoseconds * 4.0), ..sample }
        };
        let samples: Vec<_> = planted().into_iter().map(more).collect();
        let cycles = |tlb| -> Vec<u64> {
            let found = beside(&samples, tlb, claims());
            found.caches().iter().map(|cache| (cache.latency.value + 0.5) as u64).collect()
        };
        assert_eq!(cycles([None, Some(level)]), [4, 14, 70]);
    }

    // Other work lowered the core clock while the large sizes were measured: the latency in cycles fell with the clock,
    // and the latency of memory in nanoseconds did not change.
    #[test]
    fn memory_has_the_nanoseconds_of_its_own_points() {
        let slower = |sample: Sample| match sample.size.0 {
            ..=4_000_000 => sample,
            _ => Sample { core_cycles: sample.core_cycles.map(|cycles| cycles * 0.8), ..sample },
        };
        let samples: Vec<_> = planted().into_iter().map(slower).collect();
        let found = analysis(&samples, claims());
        let memory = found.memory.unwrap().nanoseconds();
        assert!((memory.value / 125.0 - 1.0).abs() < 0.01, "{memory:?}");
        let l1 = found.of_cache(&found.caches()[0]);
        assert!((l1.value - 1.0).abs() < 0.01, "{l1:?}");
        let short: Vec<_> = planted().into_iter().filter(|sample| sample.size.0 < 20_000_000).collect();
        let short = analysis(&short, claims()).memory.unwrap();
        assert!(short.points < 3 && (50.0..160.0).contains(&short.nanoseconds().value), "{short:?}");
        let walks = |sample: Sample| match sample.size.0 {
            ..=80_000_000 => sample,
            _ => Sample { nanoseconds: sample.nanoseconds * 1.3, ..sample },
        };
        let samples: Vec<_> = planted().into_iter().map(walks).collect();
        let (size, latency) = analysis(&samples, claims()).still_rising().unwrap();
        assert!(size.0 > 80_000_000 && (latency / 162.0 - 1.0).abs() < 0.02, "{latency}");
    }

    #[test]
    fn without_core_cycles_everything_is_in_nanoseconds() {
        let samples: Vec<_> =
            planted().into_iter().map(|sample| Sample { core_cycles: None, ..sample }).collect();
        let analysis = analysis(&samples, Claims::default());
        assert_eq!((analysis.gigahertz, analysis.cycles(1.0)), (None, None));
        let one = super::tests::analysis(&samples[..1], Claims::default());
        assert!(matches!(one.stair, Err(FitError::TooFewPoints { found: 1, .. })), "{:?}", one.stair);
        assert!((analysis.caches()[0].latency.value - 1.0).abs() < 0.01);
        assert!(analysis.reported.is_none() && analysis.caches().iter().all(|cache| !cache.disagrees()));
    }

    #[test]
    fn points_without_levels_are_distinguished_from_curves() {
        assert_eq!(analysis(&planted(), claims()).doubt(), None);
        let by_chance = |(index, sample): (usize, Sample)| Sample {
            core_cycles: None,
            nanoseconds: 1.0 + (index * 7919 % 101) as f64,
            ..sample
        };
        let samples: Vec<_> = planted().into_iter().enumerate().map(by_chance).collect();
        assert!(analysis(&samples, Claims::default()).doubt().is_some_and(|why| why.contains("20%")));
        // All points lie within a few bytes of one size, so that the latency beyond the step is undetermined.
        let steep = |index: u64| Sample {
            size: Bytes(1_000_000 + index),
            nanoseconds: index as f64,
            ..Sample::EMPTY
        };
        let samples: Vec<_> = (1..30).map(steep).collect();
        assert!(analysis(&samples, Claims::default()).doubt().is_some_and(|why| why.contains("300%")));
        assert!(analysis(&[], claims()).doubt().is_some());
    }

    #[test]
    fn nothing_is_concluded_from_nothing() {
        let analysis = analysis(&[], claims());
        assert!(analysis.stair.is_err() && analysis.mixture.is_err() && analysis.caches().is_empty());
    }
}
