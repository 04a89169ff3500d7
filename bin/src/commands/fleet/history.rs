//! The detection of a lasting change in the results of one host. Nothing here depends on other hosts.
//!
//! The results run through a cumulative sum of deviations from the first results at a level, in both directions. The
//! deviations are limited, so that one result cannot cause an alarm. The correlation of each result with the next one
//! is estimated from the series, and raises the sum that is an alarm. If few results do not tell it, the largest
//! likely one does, so that only a large step is found. A return to an earlier level does not count
//! as a change, and a step at a reboot does not until further reboots have confirmed it.
//!
//! # References
//!
//! E. S. Page, "Continuous inspection schemes" (1954); J. M. Lucas and R. B. Crosier, "Robust CUSUM" (1982);
//! M. G. Kendall, "Note on bias in the estimation of autocorrelation" (1954).

use latency_core::math::{exp, ln, sqrt};
use latency_core::stats::gather;
use latency_core::{ToReal, worded};

use super::names::Name;
use crate::analysis::norm::Norm;

/// Least number of results at a level before a change can be found.
const FEWEST_BEFORE: usize = 8;
/// Least number of results that are searched for a change: also two after it.
pub const FEWEST_RESULTS: usize = FEWEST_BEFORE + 2;
/// Maximum number of results that define a level, if they are not correlated.
const LEVEL: usize = 128;
/// Maximum number of results that define a level.
const CORRELATED_LEVEL: usize = 256;
/// Maximum number of newest results in a sum. A change that remains is confirmed after the same number of results.
const WINDOW: usize = 8;
/// Share of a deviation that does not count, in deviations: half of a change by 5% if results scatter by 2%.
const SLACK: f64 = 1.25;
/// The slack if a change is searched in the last two results: both of them must deviate far.
const SLACK_OF_TWO: f64 = 2.15;
/// Maximum deviation of one result that counts, unless all results after a change deviate more. It is less than three
/// results need for an alarm if the others do not deviate.
const FAR: f64 = 2.5;
/// The sum that is an alarm, for a host with one series: it has 0.6 false alarms in 1000 results.
const HEIGHT: f64 = 1.5;
/// Minimum number of independent results that tell as much about a level as its results before a change.
const ENOUGH: f64 = 8.0;
/// Number of standard errors by which the correlation may be larger than it was estimated.
const ERRORS: f64 = 1.5;
/// The same for results that are said to resemble the one before.
const LIKELY: f64 = 0.5;
/// Largest correlation that is estimated.
const MOST_CORRELATED: f64 = 0.98;
/// Number of standard errors by which two levels differ.
const DISTINCT: f64 = 3.0;
/// Share of a change that an earlier deviation must have had, so that the level is not a new one.
pub const SEEN: f64 = 0.8;
/// Share of that deviation below which results are back at the level before.
const NEAR: f64 = 0.5;
/// Maximum chance of a step at a reboot, if each boot had one of two levels at random.
const CHANCE: f64 = 0.015;
/// Least number of results of an episode that was another level.
const EPISODE: usize = 3;
/// Number of results in which a [detectable](HistoryScan::detectable) step is found.
pub const DETECTED_IN: usize = 5;

/// One result of a series.
#[derive(Clone, Copy, Debug)]
pub struct PastResult {
    /// The start of its run, in seconds since 1970.
    pub started: u32,
    /// The state of its host.
    pub state: Name,
    /// The boot and the facts of that state.
    pub of_state: [Name; 2],
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
    /// The correlation of a result with the next one, as far as it is significant.
    correlation: f64,
    /// The largest likely correlation.
    most: f64,
    /// The number of independent results that tell as much, if the correlation is as large as it may be.
    independent: f64,
    /// The same, if the correlation is about as large as it was estimated.
    likely: f64,
}

impl PastLevel {
    /// Returns the level of results by one step of Huber's estimate from the median. `least` is the smallest standard
    /// deviation, and `few` its relative increase for one result: for fewer results it is less certain.
    pub fn of(results: &[PastResult], least: f64, few: f64) -> PastLevel {
        let mut room = [0.0; CORRELATED_LEVEL];
        let results = results.get(..CORRELATED_LEVEL.min(results.len())).unwrap_or_default();
        let Some(norm) = Norm::of(gather(&mut room, results.iter().map(|result| result.log))) else {
            return PastLevel::default();
        };
        // Tails that are heavier than those of a normal distribution increase the deviation.
        let far = 4.5 * 1.4826 * norm.mad;
        let count = results.len().real();
        let deviations = || results.iter().map(|result| (result.log - norm.median).max(-far).min(far));
        let mean = deviations().sum::<f64>() / count;
        let (mut squares, mut products, mut before) = (0.0, 0.0, 0.0);
        for deviation in deviations().map(|deviation| deviation - mean) {
            squares += deviation * deviation;
            products += deviation * before;
            before = deviation;
        }
        let found = if squares > 0.0 { products / squares } else { 0.0 };
        // Few results show less correlation than there is (Kendall).
        let found = found + (1.0 + 3.0 * found) / count;
        let limited = |correlation: f64| correlation.clamp(0.0, MOST_CORRELATED);
        let [likely, most] = [LIKELY, ERRORS].map(|errors| limited(found + errors / sqrt(count)));
        let [likely, independent] = [likely, most].map(|correlation| independent(count, correlation));
        // The square of the standard error is 1 / count: a smaller correlation may be none (James and Stein).
        let correlation = if found > 0.0 { limited(found - 1.0 / (count * found)) } else { 0.0 };
        let scale = sqrt(squares / count) * (1.0 + few / independent);
        PastLevel {
            middle: norm.median + mean,
            scale: scale.max(least),
            correlation,
            most,
            independent,
            likely,
        }
    }

    /// Returns the standard deviation of the mean of `length` results in a row, as a multiple of what it would be for
    /// independent results.
    fn spread(&self, length: usize) -> f64 {
        // Too few results to tell a correlation from chance: only a step that the largest one allows is a change.
        let each = if self.independent < ENOUGH { self.most } else { self.correlation };
        let (mut correlation, mut sum) = (1.0, 1.0);
        for distance in 1..length {
            correlation *= each;
            sum += 2.0 * (1.0 - distance.real() / length.real()) * correlation;
        }
        sqrt(sum)
    }

    /// Returns the square of the standard error of the mean of `count` results in a row, in deviations.
    fn variance(&self, count: usize) -> f64 {
        let count = count.min(CORRELATED_LEVEL);
        let spread = self.spread(count);
        spread * spread / count.real()
    }

    /// Returns the deviation of a result in a direction, in multiples of `scale` and limited to `far`.
    fn deviation(&self, result: &PastResult, direction: f64, far: f64, scale: f64) -> f64 {
        let away = direction * (result.log - self.middle) / scale.max(result.error);
        if away < -far { -far } else { away.min(far) }
    }
}

/// Returns the number of independent results that tell as much as `count` results with a correlation.
fn independent(count: f64, correlation: f64) -> f64 {
    count * (1.0 - correlation) / (1.0 + correlation)
}

/// Returns whether `count` results are too few even if they do not show any correlation.
fn is_few(count: usize) -> bool {
    let count = count.real();
    independent(count, ERRORS / sqrt(count)) < ENOUGH
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

impl LevelChange {
    /// Returns whether a fact about the host changed at the same time.
    pub fn has_changed_fact(&self, results: &[PastResult]) -> bool {
        match results.get(self.start.saturating_sub(1)..=self.start) {
            Some([before, after]) => before.of_state[1] != after.of_state[1],
            _ => false,
        }
    }
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
    /// The first one of the newest results, if they returned to an earlier level.
    returned: Option<usize>,
    /// The number of changes that did not last, without a changed fact, and the size of the latest one as a logarithm.
    pub passed: (usize, f64),
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
            returned: None,
            passed: (0, 0.0),
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
            let sum: f64 = new
                .iter()
                .map(|result| change.level.deviation(result, change.direction, FAR, change.level.scale))
                .sum();
            if sum * change.level.scale < least * new.len().real() {
                // It was an episode, and the level before it continues.
                if new.len() > EPISODE {
                    let episode = new.get(..new.len() - 1).unwrap_or_default();
                    let away = PastLevel::of(episode, 0.0, 0.0).middle - change.level.middle;
                    self.passed = (self.passed.0 + 1, change.direction * away);
                }
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
        let most = if before.independent > 1.5 * ENOUGH { LEVEL } else { CORRELATED_LEVEL };
        *newest = if level.len() > most { *before } else { PastLevel::of(level, 0.5 * least, 7.0) };
        let (mut best, mut found) = (height, None);
        let start = self.start;
        // One result alone may be an outlier.
        for length in 2..=WINDOW.min(level.len().saturating_sub(FEWEST_BEFORE)) {
            let count = level.len() - length;
            let level = self.levels.get(length).copied().unwrap_or_default();
            if level.independent < ENOUGH && is_few(count) {
                continue;
            }
            let first = results.len() - length;
            // The mean of correlated results scatters more, as if each of them did.
            let scale = level.spread(length) * level.scale;
            for direction in [1.0, -1.0] {
                let each = |far: f64| {
                    since(first).iter().map(move |result| level.deviation(result, direction, far, scale))
                };
                let far = each(f64::MAX).fold(f64::MAX, f64::min).max(FAR);
                let mean = each(far).sum::<f64>() / length.real();
                let slack = if length > 2 { SLACK } else { SLACK_OF_TWO };
                let sum = (mean - slack) * length.real();
                if sum > best && mean * scale > least {
                    best = sum;
                    let change = LevelChange { start: first, before: start, level, direction };
                    found = Some((change, scale, far, SEEN * mean * length.real()));
                }
            }
        }
        let Some((change, scale, far, seen)) = found else {
            self.returned = self.returned.filter(|first| *first == start);
            return;
        };
        // Earlier results as far away, and then some that were nearer again: a drift has none.
        let (older, newest) = results.split_at(change.start);
        let mut was_there = false;
        let is_seen = older.windows(newest.len()).any(|window| {
            let each = |result| change.level.deviation(result, change.direction, far, scale);
            let sum: f64 = window.iter().map(each).sum();
            was_there |= sum > seen;
            was_there && sum < NEAR * seen
        });
        if is_seen && self.returned.is_none() && !change.has_changed_fact(results) {
            self.passed = (self.passed.0 + 1, seen / SEEN / newest.len().real() * scale);
        }
        self.returned = is_seen.then_some(change.start);
        if !is_seen {
            self.start = change.start;
            self.recent = Some(change);
        } else if self.latest().is_some_and(|before| before.direction != change.direction) {
            self.start = change.start;
            (self.recent, self.confirmed) = (None, None);
        }
    }

    /// Returns the latest change, whether or not it has remained.
    fn latest(&self) -> Option<LevelChange> {
        self.recent.or(self.confirmed)
    }

    /// Returns the latest change in the results that were added, if the level after it is still another one. Returns the
    /// levels before and after the change as well, and the standard error of the latter.
    fn changed(&self, results: &[PastResult]) -> Option<(LevelChange, [f64; 3])> {
        let change = self.latest()?;
        let new = results.get(change.start..).unwrap_or_default();
        let PastLevel { middle, scale, .. } = PastLevel::of(new, change.level.scale, 3.0);
        let error = scale / sqrt(new.len().min(CORRELATED_LEVEL).real());
        // The first results after a change may have been exceptional, and the newest ones may be as before.
        let newest = PastLevel::of(new.get(new.len().saturating_sub(WINDOW)..).unwrap_or_default(), 0.0, 0.0);
        let before = change.level;
        let away = change.direction * (middle - before.middle);
        let error_of_both =
            before.scale * sqrt(before.variance(new.len()) + before.variance(change.start - change.before));
        let is_changed = away > self.limits[0]
            && away > DISTINCT * error_of_both
            && change.direction * (newest.middle - before.middle) > 0.5 * away;
        is_changed.then_some((change, [before.middle, middle, error]))
    }

    /// Returns the [latest change](Self::changed), unless reboots alone may explain it.
    pub fn found(&self, results: &[PastResult]) -> Option<(LevelChange, [f64; 3])> {
        self.changed(results).filter(|(change, levels)| !is_by_boot(change, *levels, results))
    }

    /// Returns the reason why the newest results are not judged, and the index of the first one of them.
    pub fn undecided(&self, results: &[PastResult]) -> Option<(Undecided, usize)> {
        let level = &self.levels[0];
        let (start, count) = (self.start, results.len() - self.start);
        match (self.changed(results), self.returned) {
            (Some((change, levels)), _) => {
                is_by_boot(&change, levels, results).then_some((Undecided::Boot, change.start))
            }
            (_, Some(first)) => Some((Undecided::Returned, first)),
            _ if level.independent >= ENOUGH && count >= FEWEST_RESULTS => None,
            _ if is_few(count) => Some((Undecided::Few, start)),
            _ => (level.likely < ENOUGH).then_some((Undecided::Correlated, start)),
        }
    }

    /// Returns the correlation of a result with the next one at the present level.
    pub fn correlation(&self) -> f64 {
        self.levels[0].correlation
    }

    /// Returns the smallest step at the present level, as a fraction, that is found within [`DETECTED_IN`] results
    /// in nine of ten cases; `None` if the results at this level are too few to find any.
    pub fn detectable(&self) -> Option<f64> {
        let [least, height] = self.limits;
        let level = &self.levels[0];
        let count = DETECTED_IN.real();
        // The mean of the results after the step scatters too: 1.28 deviations are exceeded in one case of ten.
        let deviations = SLACK + height / count + 1.28 / sqrt(count);
        let step = exp((deviations * level.spread(DETECTED_IN) * level.scale).max(least)) - 1.0;
        (level.likely >= ENOUGH).then_some(step)
    }
}

worded! {
    /// A reason why the newest results of a series are not judged.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Undecided {
        /// Too few results at the present level.
        Few = "few-results",
        /// Results that resemble the result before, too few for their correlation.
        Correlated = "correlated",
        /// A step at a reboot without another changed fact: memory may have been placed otherwise.
        Boot = "boot",
        /// A level at which earlier results were too.
        Returned = "earlier-level",
        /// A step of a size at which the hosts of its kind often step and come back.
        States = "states",
    }
}

impl Undecided {
    /// Returns whether the newest results are at another level than those before them.
    pub const fn is_step(self) -> bool {
        matches!(self, Undecided::Boot | Undecided::Returned | Undecided::States)
    }
}

/// Returns whether a change is a step at a reboot without another changed fact, and too few boots have confirmed it: if
/// each boot had one of the two levels at random, this order of them would not be rare.
fn is_by_boot(change: &LevelChange, [before, after, _]: [f64; 3], results: &[PastResult]) -> bool {
    let is_boot = |place: usize| match results.get(place.saturating_sub(1)..=place) {
        Some([one, other]) => {
            let ([boot, facts], [new_boot, new_facts]) = (one.of_state, other.of_state);
            boot != new_boot && facts == new_facts
        }
        _ => false,
    };
    let share =
        |place: usize| results.get(place).map_or(0.0, |result| (result.log - before) / (after - before));
    // The estimated start may be off by one result, if that result does not contradict.
    let start = change.start;
    let first = match start {
        _ if is_boot(start) => start,
        _ if is_boot(start + 1) && share(start) < 0.75 => start + 1,
        _ if is_boot(start - 1) && share(start - 1) > 0.25 => start - 1,
        _ => return false,
    };
    let boots = |from: usize, to: usize| {
        let results = results.get(from..to).unwrap_or_default();
        results.chunk_by(|one, other| one.of_state[0] == other.of_state[0]).count()
    };
    let (old, new) = (boots(change.before, first), boots(first, results.len()));
    let orders: f64 = (1..=new).map(|place| (old + place).real() / place.real()).product();
    orders * CHANCE < 1.0
}
