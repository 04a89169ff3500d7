//! The levels of two curves side by side, and the levels that follow the core clock.
//!
//! The latency of a core's cache is constant in core cycles, and that of memory in nanoseconds: without turbo, the
//! cache becomes slower and memory does not.

use alloc::vec::Vec;

use latency_core::math::ln;
use latency_core::worded;

use super::curve::Analysis;
use latency_report::chart::vector;

/// Least ratio of the core clocks that permits a decision.
const APART: f64 = 1.05;
/// Largest factor between a ratio and the expected one at which they count as equal.
const NEAR: f64 = 1.04;

worded! {
    /// The behaviour of a level where the core clocks differ.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Follows {
        /// The same number of core cycles on both sides.
        Clock = "clock",
        /// The same number of nanoseconds on both sides.
        Time = "time",
        /// Neither number is the same, or the two cases cannot be distinguished.
        Neither = "neither",
    }
}

/// A level of both curves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedLevel {
    /// The number of the level, counted from the core; 0 is memory.
    pub number: u32,
    /// The latency of each side, in nanoseconds.
    pub nanoseconds: [f64; 2],
    /// The latency of each side in core cycles; NaN if these are not known.
    pub cycles: [f64; 2],
}

impl ComparedLevel {
    /// Returns the ratio of the second latency to the first, in nanoseconds.
    pub fn ratio(&self) -> f64 {
        self.nanoseconds[1] / self.nanoseconds[0]
    }

    /// Returns the ratio of the second latency to the first, in core cycles.
    pub fn ratio_in_cycles(&self) -> f64 {
        self.cycles[1] / self.cycles[0]
    }
}

/// The levels of one curve, or those that two curves have.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The levels, nearest first.
    pub all: Vec<ComparedLevel>,
    /// The core clock, or the clock of the first curve divided by that of the second.
    gigahertz: Option<f64>,
}

impl Levels {
    /// Returns the levels of an analysis, if there are any, with the same values on both sides.
    pub fn of(analysis: &Analysis) -> Option<Levels> {
        let memory = analysis.memory?;
        // A level that cannot be distinguished from memory may be a part of it.
        let caches = analysis.caches().iter().filter(|cache| !cache.like_memory);
        let caches = caches.map(|cache| (cache.number, cache.latency.value, analysis.of_cache(cache).value));
        let all = caches.chain([(0, memory.latency.value, memory.nanoseconds().value)]);
        let all = all.map(|(number, latency, nanoseconds)| {
            let cycles = analysis.cycles(latency).unwrap_or(f64::NAN);
            ComparedLevel { number, nanoseconds: [nanoseconds; 2], cycles: [cycles; 2] }
        });
        let all = vector(all);
        (all.len() > 1).then_some(Levels { all, gigahertz: analysis.gigahertz })
    }

    /// Joins the levels that both curves have.
    pub fn beside(&self, second: &Levels) -> Levels {
        let both = self.all.iter().filter_map(|level| {
            let other = second.all.iter().find(|other| other.number == level.number)?;
            let nanoseconds = [level.nanoseconds[0], other.nanoseconds[1]];
            Some(ComparedLevel { nanoseconds, cycles: [level.cycles[0], other.cycles[1]], ..*level })
        });
        let gigahertz = self.gigahertz.zip(second.gigahertz).map(|(one, other)| one / other);
        Levels { all: vector(both), gigahertz }
    }

    /// Returns the factor by which the second curve's core clock is slower, if it is large enough to report.
    pub fn clock_ratio(&self) -> Option<f64> {
        self.gigahertz.filter(|ratio| distance(*ratio, 1.0) > ln(APART))
    }

    /// Returns the behaviour of a level of joined curves; `None` if the clocks are the same or not known.
    pub fn follows(&self, level: &ComparedLevel) -> Option<Follows> {
        let clock = self.clock_ratio()?;
        let near = ln(NEAR);
        let ratio = level.ratio();
        // If the clocks differ little, a ratio may be near to both and decides nothing.
        Some(match (distance(ratio, clock) < near, distance(ratio, 1.0) < near) {
            (true, false) => Follows::Clock,
            (false, true) => Follows::Time,
            _ => Follows::Neither,
        })
    }
}

fn distance(one: f64, other: f64) -> f64 {
    ln(one / other).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::claims::Claims;
    use latency_core::Bytes;
    use latency_engine::result::Sample;
    use std::vec::Vec;

    /// Returns the levels of caches of 4 and 14 core cycles and memory of 80 ns, at a given clock.
    fn levels(gigahertz: f64) -> Levels {
        let sample = |index: i32| {
            let size = 8192.0 * 2f64.powf(f64::from(index) / 4.0);
            let rise = |knee: f64| (size / knee).powi(16) / (1.0 + (size / knee).powi(16));
            let cached = 4.0 + 10.0 * rise(48e3);
            let nanoseconds = cached / gigahertz + (80.0 - 14.0 / gigahertz) * rise(2e6);
            Sample {
                size: Bytes(size as u64),
                nanoseconds,
                core_cycles: Some(nanoseconds * gigahertz),
                ..Sample::EMPTY
            }
        };
        let samples: Vec<Sample> = (0..56).map(sample).collect();
        Levels::of(&Analysis::new(&samples, [None; 2], Claims::default(), None, &|| false)).unwrap()
    }

    #[test]
    fn caches_follow_the_clock_and_memory_does_not() {
        let joined = levels(3.7).beside(&levels(2.5));
        assert!((joined.clock_ratio().unwrap() - 1.48).abs() < 0.01);
        let found: Vec<_> =
            joined.all.iter().map(|level| (level.number, joined.follows(level).unwrap())).collect();
        assert_eq!(found, [(1, Follows::Clock), (2, Follows::Clock), (0, Follows::Time)]);
        let level = joined.all[0];
        assert!((level.ratio() - 1.48).abs() < 0.02 && (level.ratio_in_cycles() - 1.0).abs() < 0.02);
        // The clocks of 3.7 and 3.5 GHz differ by a factor of 1.06: a level that is 1.03 times as slow is near to both
        // ratios.
        let near = levels(3.7).beside(&levels(3.5));
        let both = ComparedLevel { nanoseconds: [100.0, 103.0], ..near.all[0] };
        assert_eq!(near.follows(&both), Some(Follows::Neither));
        let same = levels(3.7).beside(&levels(3.7));
        assert_eq!(same.follows(&same.all[0]), None);
    }
}
