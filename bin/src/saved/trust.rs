//! Trust in a saved result: the trust that it states, corrected by its reasons and its other values.
//!
//! Earlier versions called results poor that were uncertain but not wrong. Their documents contain the reasons and
//! mostly the measured values behind them, so that the present limits can be applied.

use latency_core::math::ToReal;
use latency_core::text::Text;

use crate::warning::MUCH_OTHER_WORK;

/// Maximum number of reasons of a document that are kept.
const MOST: usize = 16;
/// The code of a warning.
pub type Code = Text<32>;

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
    #[must_use]
    pub fn level(&self) -> &'static str {
        if self.is_said_poor() && !self.is_poor() { "fair" } else { self.said }
    }

    /// Returns whether the result is poor by the present limits.
    #[must_use]
    pub fn is_poor(&self) -> bool {
        self.is_said_poor() && (self.count == 0 || self.omitted || self.evidence().next().is_some())
    }

    /// Returns whether every reason that makes the result poor is a condition of its points.
    #[must_use]
    pub fn is_by_conditions(&self) -> bool {
        self.count > 0 && !self.omitted && self.evidence().all(|code| matches!(code, UNVERIFIED | PARTIAL))
    }

    /// Returns whether a reason that is a condition makes the result poor: unverified placement, and an interrupted
    /// run.
    #[must_use]
    pub fn by_conditions(&self) -> [bool; 2] {
        [UNVERIFIED, PARTIAL]
            .map(|condition| self.is_said_poor() && self.evidence().any(|code| code == condition))
    }

    /// Returns whether a reason tells of other work or of neighbours.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.has(&DISTURBANCES)
    }

    /// Returns whether a reason tells of an interrupted run.
    #[must_use]
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
