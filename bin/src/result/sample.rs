//! The points of a curve, newly measured or read from a file: the input of a fit.

use core::ops::Range;

use latency_core::math::ToReal;
use latency_core::model;
use latency_core::stats::Interval;
use latency_core::units::Bytes;

use super::Outcome;

/// Latencies that are written and read, in nanoseconds.
pub const LATENCIES: Range<f64> = 1e-6..1e12;

/// Approximate number of deviations in half of a 95 % confidence interval over 15 rounds.
const DEVIATIONS: f64 = 1.5;

/// One point of a curve.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The working set.
    pub size: Bytes,
    /// The distance between nodes.
    pub stride: Bytes,
    /// The latency in nanoseconds.
    pub nanoseconds: f64,
    /// Its confidence interval.
    pub interval: Option<Interval>,
    /// The latency in core cycles, if it is known.
    pub core_cycles: Option<f64>,
    /// The median absolute deviation of rounds, relative to the latency, if it is known.
    pub deviation: Option<f64>,
}

impl Sample {
    /// A sample without values.
    pub const EMPTY: Sample = Sample {
        size: Bytes(0),
        stride: Bytes(64),
        nanoseconds: f64::NAN,
        interval: None,
        core_cycles: None,
        deviation: None,
    };

    /// Returns the sample of an outcome that has a value.
    pub fn of(outcome: &Outcome<'_>) -> Option<Sample> {
        let series = &outcome.result.as_ref().ok()?.series;
        let clocked = series.core_cycles.filter(|cycles| cycles.median > 0.0);
        let relative = clocked.map_or(series.nanoseconds, |cycles| cycles);
        Some(Sample {
            size: outcome.point.size,
            stride: outcome.point.stride,
            nanoseconds: series.nanoseconds.median,
            interval: series.nanoseconds.interval,
            core_cycles: clocked.map(|cycles| cycles.median),
            deviation: Some(relative.mad / relative.median),
        })
    }

    /// Returns the spread of repeated measurements, as a share of the latency; 0 if it is not known.
    pub fn spread(&self) -> f64 {
        /// Minimum relative spread: no measurement repeats better than the clock that times it.
        const LEAST: f64 = 5e-4;
        let by_interval =
            self.interval.map(|interval| interval.relative_half_width(self.nanoseconds) / DEVIATIONS);
        let spread = by_interval.or(self.deviation).filter(|spread| spread.is_finite());
        spread.map_or(0.0, |spread| spread.max(LEAST))
    }

    /// Returns the point for a fit: latency in core cycles or in nanoseconds, against bytes.
    pub fn point(&self, in_cycles: bool) -> model::Point {
        let latency = if in_cycles { self.core_cycles.unwrap_or(f64::NAN) } else { self.nanoseconds };
        model::Point { working_set: self.size.0.real(), latency, spread: self.spread() }
    }
}

/// Samples of any origin, by index. The dynamic getter keeps a single copy of the code that fits them, which is large.
#[derive(Clone, Copy)]
pub struct Samples<'s> {
    length: usize,
    get: &'s dyn Fn(usize) -> Option<Sample>,
}

impl<'s> Samples<'s> {
    /// Returns the samples that `get` yields for the indices below `length`.
    pub const fn new(length: usize, get: &'s dyn Fn(usize) -> Option<Sample>) -> Samples<'s> {
        Samples { length, get }
    }

    /// Returns the sample at an index, if there is one.
    pub fn get(self, index: usize) -> Option<Sample> {
        (self.get)(index)
    }

    /// Returns the samples with another getter, which selects some of them.
    pub const fn only<'o>(self, get: &'o dyn Fn(usize) -> Option<Sample>) -> Samples<'o> {
        Samples { length: self.length, get }
    }

    /// Returns all samples.
    pub fn iter(self) -> impl Iterator<Item = Sample> + Clone + 's {
        (0..self.length).filter_map(self.get)
    }
}
