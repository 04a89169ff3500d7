//! The host of a saved result, the time of its run, and its trust: the trust that it states, corrected by its reasons
//! and its other values.
//!
//! Earlier versions called results poor that were uncertain but not wrong. Their documents contain the reasons and
//! mostly the measured values behind them, so that the present limits can be applied.

use latency_core::{Text, ToReal};

use latency_engine::warning::MUCH_OTHER_WORK;

/// The separator of the parts of a combined name, which does not occur in shown texts.
pub const SEPARATOR: char = '\u{1f}';

/// The host of a result, if its file names it. No text can control a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Its name, or else its boot ID.
    pub name: Text<96>,
    /// Boot ID, the random number that a kernel chooses at its start; empty if unknown.
    pub boot: Text<40>,
    /// The name of its processor.
    pub cpu: Text<96>,
    /// Its labels, each as [`SEPARATOR`], then `label KEY=VALUE`; a label that does not fit is left out.
    pub labels: Text<192>,
    /// Version of the schema of the document; 0 if unknown.
    pub schema: u64,
    /// Family, model and stepping of its processor, each plus 1, the type of the core, and if the model is masked; 0 if
    /// unknown.
    pub identity: [u64; 5],
    /// The number of its NUMA nodes; 0 if unknown.
    pub nodes: u32,
    /// True if a cache lies in front of a node's memory; `None` if unknown.
    pub side_cache: Option<bool>,
    /// The start of the run, in seconds since 1970; 0 if unknown.
    pub started: u64,
    /// Duration of the run in seconds.
    pub seconds: f64,
    /// Trust in the result.
    pub trust: Trust,
}

/// Reads a time in the format of documents, `2026-11-22T01:20:00Z`, and returns the seconds since 1970; `None` for any
/// other text.
pub fn instant(text: &str) -> Option<u64> {
    let mut parts = text.strip_suffix('Z')?.split(['-', 'T', ':']);
    let mut part = |least: u64, most: u64| {
        let digits = parts.next().filter(|part| (1..=4).contains(&part.len()))?;
        let number = digits
            .bytes()
            .try_fold(0, |all, digit| digit.is_ascii_digit().then(|| all * 10 + u64::from(digit & 15)))?;
        (least..=most).contains(&number).then_some(number)
    };
    let [year, month, day] = [part(1970, 9999)?, part(1, 12)?, part(1, 31)?];
    let [hour, minute, second] = [part(0, 23)?, part(0, 59)?, part(0, 60)?];
    if parts.next().is_some() {
        return None;
    }
    // Years are counted from March on, so that the leap day is the last day of a year.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
    /// Number of days from 1 March of year 0 to 1 January 1970.
    const BEFORE: u64 = 719_468;
    Some(((days - BEFORE) * 24 + hour) * 3600 + minute * 60 + second)
}

/// Maximum number of reasons of a document that are kept.
const MOST: usize = 16;
/// The code of a warning.
type Code = Text<32>;

/// The level of a result with evidence that it is wrong.
const POOR: &str = "poor";

/// Maximum relative difference between a point and its repetition that counts as agreement.
const CLOSE: f64 = 0.03;
/// Minimum share of points without an interval at which imprecision makes a result poor.
const MOST_POINTS: f64 = 1.0 / 3.0;
/// Reasons that concern only the precision of a result or interference with it. None of them means that it is wrong.
const MILD: [&str; 6] =
    ["disturbed", "points-disturbed", "stolen-time", "sibling-busy", "emulated", "neighbours"];
/// Reasons that tell of other work, or of neighbours that use the same memory.
const DISTURBANCES: [&str; 6] =
    ["disturbed", "points-disturbed", "stolen-time", "neighbours", "other-work", "state-share"];
/// The reason "placement not verified", which is a condition of the points. A comparison of hosts names it as one.
const UNVERIFIED: &str = "placement-unverified";
/// The reason "interrupted run", which is a condition too.
const PARTIAL: &str = "partial";

/// The trust that a document states.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trust {
    /// The level that it states; empty if it states none.
    pub said: &'static str,
    /// True if the document left out warnings because it had too many.
    pub omitted: bool,
    /// Its reasons, and whether its warnings grade them as poor; at most [`MOST`].
    reasons: [(Code, Option<bool>); MOST],
    count: usize,
    /// The largest share of other work on a CPU, if known.
    pub other_work: Option<f64>,
    /// The repeated measurement of a point divided by the first one, if known.
    pub repeat: Option<f64>,
    /// The number of points, and the number of points without an interval.
    pub points: [usize; 2],
}

impl Trust {
    /// Adds a reason; `poor` is the grade of the warning with this code, if it has one.
    pub fn add(&mut self, code: &str, poor: Option<bool>) {
        let code = Text::from_bytes(code.as_bytes());
        let known = self.reasons.iter().take(self.count).position(|(known, _)| *known == code);
        let place = known.unwrap_or(self.count);
        if let Some(slot) = self.reasons.get_mut(place) {
            self.count = self.count.max(place + 1);
            *slot = match (poor, slot.1) {
                (Some(one), Some(other)) => (code, Some(one || other)),
                (one, other) => (code, one.or(other)),
            };
        }
    }

    fn is_said_poor(&self) -> bool {
        self.said == POOR
    }

    /// Returns the level by the present limits; an empty word if the document states none.
    pub fn level(&self) -> &'static str {
        if self.is_said_poor() && !self.is_poor() { "fair" } else { self.said }
    }

    /// Returns whether the result is poor by the present limits.
    pub fn is_poor(&self) -> bool {
        self.is_said_poor() && (self.count == 0 || self.omitted || self.evidence().next().is_some())
    }

    /// Returns whether every reason that makes the result poor is a condition of its points.
    pub fn is_by_conditions(&self) -> bool {
        self.count > 0 && !self.omitted && self.evidence().all(|code| matches!(code, UNVERIFIED | PARTIAL))
    }

    /// Returns whether a reason that is a condition makes the result poor: unverified placement, and an interrupted
    /// run.
    pub fn by_conditions(&self) -> [bool; 2] {
        [UNVERIFIED, PARTIAL]
            .map(|condition| self.is_said_poor() && self.evidence().any(|code| code == condition))
    }

    /// Returns whether a reason tells of other work or of neighbours.
    pub fn is_disturbed(&self) -> bool {
        self.has(&DISTURBANCES)
    }

    /// Returns whether a reason tells of an interrupted run.
    pub fn is_partial(&self) -> bool {
        self.has(&[PARTIAL])
    }

    /// Returns whether it has one of some reasons.
    fn has(&self, codes: &[&str]) -> bool {
        self.reasons.iter().take(self.count).any(|(code, _)| codes.contains(&code.as_str()))
    }

    /// Returns the reasons that make the result poor.
    pub fn evidence(&self) -> impl Iterator<Item = &str> + Clone {
        let all = self.reasons.iter().take(self.count);
        all.filter(|(code, poor)| self.weighs(code.as_str(), *poor)).map(|(code, _)| code.as_str())
    }

    /// Returns whether a reason is evidence that the value is wrong or unproven.
    fn weighs(&self, code: &str, poor: Option<bool>) -> bool {
        let [points, without] = self.points.map(|count| count.real());
        match code {
            // A reason without a grade may be the one that made the result poor.
            _ if poor == Some(false) => false,
            _ if MILD.contains(&code) => false,
            "precision-not-reached" => without > 0.0,
            "points-not-precise" => points > 0.0 && without >= points * MOST_POINTS,
            "other-work" => self.other_work.is_none_or(|share| share >= MUCH_OTHER_WORK),
            "repeat-ratio" => self.repeat.is_none_or(|ratio| (ratio - 1.0).abs() > CLOSE),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-28T23:59:59Z", 951_782_399),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2024-02-28T00:00:00Z", 1_709_078_400),
            ("2024-03-01T00:00:00Z", 1_709_251_200),
            ("2099-12-31T23:59:59Z", 4_102_444_799),
        ] {
            assert_eq!(instant(text), Some(seconds), "{text}");
        }
        for text in
            ["", "Z", "2026-11-22", "2026-13-22T01:20:00Z", "2026-11-22T01:20:00", "1969-11-22T01:20:00Z"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
        assert_eq!(instant("2026-11-22T01:20:00:00Z"), None);
        assert_eq!(instant("99999999999999999999-11-22T01:20:00Z"), None);
    }

    fn of(reasons: &[(&str, Option<bool>)]) -> Trust {
        let mut trust = Trust { said: POOR, points: [4, 0], ..Trust::default() };
        reasons.iter().for_each(|(code, poor)| trust.add(code, *poor));
        trust
    }

    #[test]
    fn uncertainty_alone_does_not_make_a_result_poor() {
        for code in MILD.into_iter().chain(["precision-not-reached", "points-not-precise"]) {
            assert!(!of(&[(code, None)]).is_poor() && !of(&[(code, Some(true))]).is_poor(), "{code}");
        }
        let poor = of(&[("disturbed", Some(true)), ("looks-cached", Some(true))]);
        assert!(poor.is_poor() && !poor.is_by_conditions());
        assert_eq!(poor.evidence().next(), Some("looks-cached"));
        assert!(!of(&[("looks-cached", Some(false))]).is_poor());
        assert!(of(&[]).is_poor() && !Trust::default().is_poor());
    }

    #[test]
    fn the_present_limits_apply_to_old_results() {
        let work = |share| Trust { other_work: share, ..of(&[("other-work", Some(true))]) }.is_poor();
        assert!(work(None) && work(Some(0.24)) && !work(Some(0.22)));
        let repeat = |ratio| Trust { repeat: ratio, ..of(&[("repeat-ratio", None)]) }.is_poor();
        assert!(repeat(None) && repeat(Some(1.04)) && repeat(Some(0.96)) && !repeat(Some(1.02)));
        let points =
            |without| Trust { points: [6, without], ..of(&[("points-not-precise", None)]) }.is_poor();
        assert!(!points(1) && points(2));
        assert!(Trust { points: [1, 1], ..of(&[("precision-not-reached", None)]) }.is_poor());
    }

    #[test]
    fn conditions_are_distinguished_from_other_evidence() {
        let both = of(&[(UNVERIFIED, Some(true)), (PARTIAL, Some(true)), ("stolen-time", Some(false))]);
        assert!(both.is_poor() && both.is_by_conditions());
        assert_eq!(both.by_conditions(), [true, true]);
        let other = of(&[(UNVERIFIED, None), ("pages-moved", None)]);
        assert!(!other.is_by_conditions() && other.by_conditions() == [true, false]);
    }
}
