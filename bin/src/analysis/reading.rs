//! Latencies read from the points of a curve directly; a fit determines the points that belong to a level.
//!
//! A fit in core cycles assumes one clock for all sizes. Memory and a shared cache do not follow the core's clock, and
//! on a busy host that clock differs from point to point. The latency of a level in nanoseconds is therefore taken from
//! its own points.

use alloc::vec::Vec;

use latency_core::model::Fit;
use latency_core::{Estimate, ToReal, stats};

use latency_engine::result::Sample;
use latency_report::chart::vector;

/// Share of misses in every level from which on a point counts as memory.
const MISSES: f64 = 0.9;
/// Least number of points at which their median is better than the end of a fit.
const ENOUGH: usize = 3;

/// A latency and the clock at which it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The latency in the unit of the fits; its interval is that of a median, or the full range if there are fewer than
    /// six points.
    pub latency: Estimate,
    /// The median core clock of the points in gigahertz; `None` if the fits are in nanoseconds.
    pub gigahertz: Option<f64>,
    /// The number of points; 0 if they are too few and the latency is that of the fit.
    pub points: usize,
}

impl Reading {
    /// Reads the latency behind the last level of a fit.
    ///
    /// Each point is scaled to the latency that the fit has for an infinite working set, so that the last hits of a
    /// cache with random replacement do not make memory look faster. If no point lies there, `overall` is the clock; it
    /// is `None` if the fit is in nanoseconds.
    pub fn of_memory(fit: &Fit, samples: &[Sample], overall: Option<f64>) -> Reading {
        let all_miss =
            |sample: &Sample| fit.levels().iter().all(|level| level.missing(sample.size.0.real()) >= MISSES);
        let samples = &only(samples, &all_miss);
        let raised = |sample: &Sample| {
            let point = sample.point(overall.is_some());
            Some(point.latency * fit.memory.value / fit.evaluate(point.working_set))
        };
        let mut values = values(samples, &raised);
        let gigahertz = overall.map(|overall| clock(samples).unwrap_or(overall));
        let points = if values.len() < ENOUGH { 0 } else { values.len() };
        let read = stats::summarise(&mut values).filter(|_| points > 0);
        Reading { latency: read.map_or(fit.memory, |summary| summary.or_range()), gigahertz, points }
    }

    /// Returns the latency in nanoseconds.
    pub fn nanoseconds(&self) -> Estimate {
        self.latency.scaled(1.0 / self.gigahertz.unwrap_or(1.0))
    }
}

/// Returns the samples for which `is` returns true.
pub fn only(samples: &[Sample], is: &dyn Fn(&Sample) -> bool) -> Vec<Sample> {
    vector(samples.iter().copied().filter(|sample| is(sample)))
}

/// Returns the median core clock of points in gigahertz.
pub fn clock(samples: &[Sample]) -> Option<f64> {
    stats::median(&mut values(samples, &|sample| Some(sample.core_cycles? / sample.nanoseconds)))
}

/// Returns the values of the samples that have one.
pub fn values(samples: &[Sample], value: &dyn Fn(&Sample) -> Option<f64>) -> Vec<f64> {
    vector(samples.iter().filter_map(|sample| value(sample).filter(|value| value.is_finite())))
}
