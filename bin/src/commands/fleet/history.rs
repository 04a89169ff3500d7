//! The detection of a lasting change in the results of one host. Nothing here depends on other hosts.
//!
//! The results run through a cumulative sum of deviations from the first results at a level, in both directions. The
//! deviations are limited, so that one result cannot cause an alarm.
//!
//! # References
//!
//! E. S. Page, "Continuous inspection schemes" (1954); J. M. Lucas and R. B. Crosier, "Robust CUSUM" (1982).

use latency_core::math::{ToReal, ln, sqrt};
use latency_core::stats::gather;

use super::names::Name;
use crate::analysis::norm::Norm;

/// Least number of results at a level before a change can be found.
const FEWEST_BEFORE: usize = 8;
/// Least number of results that are searched for a change: also two after it.
pub const FEWEST_RESULTS: usize = FEWEST_BEFORE + 2;
/// Maximum number of results that define a level.
const LEVEL: usize = 128;
/// Maximum number of newest results in a sum. A change that remains is confirmed after the same number of results.
const WINDOW: usize = 8;
/// Share of a deviation that does not count, in deviations: half of a change by 5% if results scatter by 2%.
const SLACK: f64 = 1.25;
/// The slack if a change is searched in the last two results: both of them must deviate far.
const SLACK_OF_TWO: f64 = 2.15;
/// Maximum deviation of one result that counts, unless all results after a change deviate more. It is less than three
/// results need for an alarm if the others do not deviate.
const FAR: f64 = 2.5;
/// The sum that is an alarm, for a host with one series: it has 0.7 false alarms in 1000 results.
const HEIGHT: f64 = 1.85;

/// One result of a series.
#[derive(Clone, Copy, Debug)]
pub struct PastResult {
    /// The start of its run, in seconds since 1970.
    pub started: u32,
    /// The state of its host.
    pub state: Name,
    /// The logarithm of its time: a larger one is slower.
    pub log: f64,
    /// The standard error of the logarithm.
    pub error: f64,
}

/// The level of some results, as logarithms.
#[derive(Clone, Copy, Debug, Default)]
pub struct PastLevel {
    /// The location.
    middle: f64,
    /// The standard deviation of one result, increased by the uncertainty of few results.
    scale: f64,
}

impl PastLevel {
    /// Returns the level of results by one step of Huber's estimate from the median. `least` is the smallest standard
    /// deviation, and `few` its relative increase for one result: for fewer results it is less certain.
    pub fn of(results: &[PastResult], least: f64, few: f64) -> PastLevel {
        let mut room = [0.0; LEVEL];
        let results = results.get(..LEVEL.min(results.len())).unwrap_or_default();
        let Some(norm) = Norm::of(gather(&mut room, results.iter().map(|result| result.log))) else {
            return PastLevel::default();
        };
        // Tails that are heavier than those of a normal distribution increase the deviation.
        let far = 4.5 * 1.4826 * norm.mad;
        let (mut sum, mut squares, count) = (0.0, 0.0, results.len().real());
        for result in results {
            let deviation = (result.log - norm.median).max(-far).min(far);
            sum += deviation;
            squares += deviation * deviation;
        }
        let mean = sum / count;
        let scale = sqrt((squares / count - mean * mean).max(0.0)) * (1.0 + few / count);
        PastLevel { middle: norm.median + mean, scale: scale.max(least) }
    }

    /// Returns the deviation of a result in a direction, limited to `far`.
    fn deviation(&self, result: &PastResult, direction: f64, far: f64) -> f64 {
        let away = direction * (result.log - self.middle) / self.scale.max(result.error);
        if away < -far { -far } else { away.min(far) }
    }
}

/// A change of the level of a series.
#[derive(Clone, Copy, Debug)]
pub struct LevelChange {
    /// The index of the first result after it.
    pub start: usize,
    /// The index of the first result at the level before it.
    pub before: usize,
    /// The level before it.
    level: PastLevel,
    /// 1 if the results became slower, else -1.
    pub direction: f64,
}

/// The search for changes in the results of a series, one result after the other.
#[derive(Clone, Copy)]
pub struct HistoryScan {
    /// The index of the first result at the present level.
    start: usize,
    /// The levels before each of the newest results, from the newest result back.
    levels: [PastLevel; WINDOW + 1],
    /// The latest change that has remained.
    confirmed: Option<LevelChange>,
    /// A change after it that may yet turn out to be a few outliers.
    recent: Option<LevelChange>,
    /// The smallest change, and the sum that is an alarm.
    limits: [f64; 2],
}

impl HistoryScan {
    /// Begins a search for changes by more than `threshold`, a fraction, in one of `series` series of each host.
    pub fn new(threshold: f64, series: f64) -> HistoryScan {
        HistoryScan {
            start: 0,
            levels: [PastLevel::default(); WINDOW + 1],
            confirmed: None,
            recent: None,
            // Alarms become rarer exponentially with the height, so that all series together have as many as one.
            limits: [ln(1.0 + threshold), HEIGHT + ln(series.max(1.0)) / (1.5 * SLACK)],
        }
    }

    /// Adds the last one of these results; all before it were added before.
    pub fn add(&mut self, results: &[PastResult]) {
        let [least, height] = self.limits;
        let since = |start: usize| results.get(start..).unwrap_or_default();
        if let Some(change) = self.recent {
            let new = since(change.start);
            let sum: f64 =
                new.iter().map(|result| change.level.deviation(result, change.direction, FAR)).sum();
            if sum * change.level.scale < least * new.len().real() {
                // It was an episode, and the level before it continues.
                self.start = change.before;
                self.levels = [change.level; WINDOW + 1];
                self.recent = None;
            } else if new.len() > WINDOW {
                self.confirmed = self.recent.take();
            }
        }
        self.levels.rotate_right(1);
        let [newest, before, ..] = &mut self.levels;
        let level = since(self.start);
        // Further results do not change a level.
        *newest = if level.len() > LEVEL { *before } else { PastLevel::of(level, 0.5 * least, 7.0) };
        let mut best = height;
        let start = self.start;
        // One result alone may be an outlier.
        for length in 2..=WINDOW.min(level.len().saturating_sub(FEWEST_BEFORE)) {
            let level = self.levels.get(length).copied().unwrap_or_default();
            let first = results.len() - length;
            for direction in [1.0, -1.0] {
                let each =
                    |far: f64| since(first).iter().map(move |result| level.deviation(result, direction, far));
                let far = each(f64::MAX).fold(f64::MAX, f64::min).max(FAR);
                let mean = each(far).sum::<f64>() / length.real();
                let slack = if length > 2 { SLACK } else { SLACK_OF_TWO };
                let sum = (mean - slack) * length.real();
                if sum > best && mean * level.scale > least {
                    best = sum;
                    self.start = first;
                    self.recent = Some(LevelChange { start: first, before: start, level, direction });
                }
            }
        }
    }

    /// Returns the latest change in the results that were added, if the level after it is still another one. Returns the
    /// levels before and after the change as well, and the standard error of the latter.
    pub fn found(&self, results: &[PastResult]) -> Option<(LevelChange, [f64; 3])> {
        let change = self.recent.or(self.confirmed)?;
        let new = results.get(change.start..).unwrap_or_default();
        let PastLevel { middle, scale } = PastLevel::of(new, change.level.scale, 3.0);
        let error = scale / sqrt(new.len().min(LEVEL).real());
        // The first results after a change may have been exceptional.
        let is_changed = change.direction * (middle - change.level.middle) > self.limits[0];
        is_changed.then_some((change, [change.level.middle, middle, error]))
    }
}
