//! The latency of a random load as the sum of two parts: the load itself, and the translation of its address.

use latency_core::chain::GROUPED;
use latency_core::stats::{Estimate, Interval, Summary};

/// Relative difference between windows of half the pages and whole windows up to which the TLB holds a window.
const HELD: f64 = 0.04;
/// Maximum of this difference that the ends of its interval may show.
const UNCERTAIN: f64 = 0.15;

/// Ratio of a walk by the difference of chains to the translation of a random load above which a part of the difference is
/// not translation: random loads over three times the reach of the TLB hit it as often as that.
const MORE: f64 = 1.5;

/// The walks of grouped chains beside a random one.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// The median of each grouped chain, in nanoseconds per load.
    pub grouped: [f64; GROUPED],
    /// Both parts; `None` if the TLB does not hold the pages of a window, or if rounds are too few for an interval.
    pub parts: Option<LoadParts>,
    /// The ratio of windows of half the pages to whole windows at the end of its interval that is farther from 1, if it
    /// does not show that the TLB holds a window.
    pub windows_differ: Option<f64>,
}

/// The two parts of the latency of a random load, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadParts {
    /// The latency of a load whose translation the TLB has.
    pub without_translation: Estimate,
    /// The latency that translation adds; never negative.
    pub translation: Estimate,
}

/// The series of one quantity over rounds, by the rules for the rounds of a point.
pub struct PairedRounds {
    /// The random chain.
    pub random: Summary,
    /// The grouped chains.
    pub grouped: [Summary; GROUPED],
    /// The load without translation, by the chains of four and two visits: twice the one minus the other.
    pub by_four: Summary,
    /// The same by the chains of two visits and of one.
    pub by_two: Summary,
    /// The random chain minus [`by_four`](Self::by_four), round by round.
    pub translation: Summary,
    /// Windows of half the pages over whole windows, round by round.
    pub narrow_over_whole: Summary,
}

impl Split {
    /// Concludes from rounds in which all chains were walked in turn.
    ///
    /// The mean load of a chain of k visits has the latency of memory and one k-th of a walk, so memory is twice the
    /// chain of four minus the chain of two, or twice that of two minus that of one. The more visits, the more open rows
    /// of memory and prefetchers help, and the less a walk is extrapolated. The value is the first one, which scatters
    /// least; its interval reaches to the second. If the chains differ by much more than translation, a part of the
    /// difference is not translation, and the interval reaches to the chain of four visits.
    pub fn of(rounds: &PairedRounds) -> Split {
        let PairedRounds { random, grouped, by_four, by_two, translation, narrow_over_whole } = rounds;
        let [four, two, ..] = grouped;
        let bounds = narrow_over_whole.interval;
        let windows_differ = bounds.and_then(|Interval { low, high }| {
            let differs = high < 1.0 - HELD || low > 1.0 + HELD;
            let is_uncertain = low < 1.0 - UNCERTAIN || high > 1.0 + UNCERTAIN;
            (differs || is_uncertain).then_some(if 1.0 - low > high - 1.0 { low } else { high })
        });
        let walk = (two.median - four.median) * 4.0;
        let parts = by_four.interval.zip(translation.interval).filter(|_| windows_differ.is_none()).map(
            |(own, added)| {
                let value = random.median - by_four.median;
                let top = if walk > MORE * value { four.median } else { own.high };
                let memory =
                    Interval { low: own.low.min(by_two.median), high: own.high.max(by_two.median).max(top) };
                let ends = Interval {
                    low: added.low.min(value) - (memory.high - own.high),
                    high: added.high.max(value) + (own.low - memory.low),
                };
                let interval = Interval { low: ends.low.max(0.0), high: ends.high.max(0.0) };
                LoadParts {
                    without_translation: Estimate { value: by_four.median, interval: Some(memory) },
                    translation: Estimate { value: value.max(0.0), interval: Some(interval) },
                }
            },
        );
        Split { grouped: grouped.map(|chain| chain.median), parts, windows_differ }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(median: f64) -> Summary {
        within(median, median, median)
    }

    fn within(low: f64, median: f64, high: f64) -> Summary {
        let interval = Some(Interval { low, high });
        Summary { count: 31, median, minimum: low, maximum: high, mad: 0.0, interval }
    }

    /// Returns the rounds of a memory, a walk in grouped chains, and the translation of a random load.
    fn rounds(memory: f64, walk: f64, translation: f64) -> PairedRounds {
        let of = |visits: f64| exact(memory + walk / visits);
        PairedRounds {
            random: exact(memory + translation),
            grouped: [of(4.0), of(2.0), of(1.0), of(4.0)],
            by_four: exact(memory),
            by_two: exact(memory),
            translation: exact(translation),
            narrow_over_whole: exact(1.0),
        }
    }

    fn ends(estimate: Estimate) -> (f64, f64, f64) {
        let Interval { low, high } = estimate.interval.unwrap();
        (low, estimate.value, high)
    }

    #[test]
    fn both_parts_add_up_to_the_random_load() {
        let parts = Split::of(&rounds(150.0, 80.0, 230.0)).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (150.0, 150.0, 150.0));
        assert_eq!(ends(parts.translation), (230.0, 230.0, 230.0));
    }

    #[test]
    fn the_interval_reaches_to_the_other_pair_of_chains() {
        let other = PairedRounds {
            by_four: within(148.0, 150.0, 152.0),
            by_two: exact(171.0),
            translation: within(226.0, 230.0, 234.0),
            ..rounds(150.0, 80.0, 230.0)
        };
        let parts = Split::of(&other).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (148.0, 150.0, 171.0));
        assert_eq!(ends(parts.translation), (207.0, 230.0, 234.0));
        let lower = PairedRounds { by_two: exact(140.0), ..other };
        let parts = Split::of(&lower).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (140.0, 150.0, 152.0));
        assert_eq!(ends(parts.translation), (226.0, 230.0, 242.0));
    }

    #[test]
    fn a_difference_that_translation_does_not_explain_widens_the_interval() {
        let parts = Split::of(&rounds(150.0, 40.0, 20.0)).parts.unwrap();
        assert_eq!(ends(parts.without_translation), (150.0, 150.0, 160.0));
        assert_eq!(ends(parts.translation), (10.0, 20.0, 20.0));
        let parts = Split::of(&rounds(150.0, 40.0, -2.0)).parts.unwrap();
        assert_eq!(ends(parts.translation), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_tlb_that_does_not_hold_a_window_gives_no_parts() {
        for (ratio, differs) in [
            (within(0.90, 0.93, 0.95), Some(0.90)),
            (within(0.90, 0.93, 0.97), None),
            (within(0.97, 0.98, 0.99), None),
            (within(1.05, 1.06, 1.07), Some(1.07)),
            // A disturbed run does not show that it holds one.
            (within(0.84, 0.98, 1.1), Some(0.84)),
            (within(0.9, 1.0, 1.2), Some(1.2)),
        ] {
            let split = Split::of(&PairedRounds { narrow_over_whole: ratio, ..rounds(150.0, 80.0, 230.0) });
            assert_eq!((split.parts.is_some(), split.windows_differ), (differs.is_none(), differs));
        }
    }

    #[test]
    fn too_few_rounds_give_no_parts() {
        let few = PairedRounds {
            by_four: Summary { interval: None, ..exact(150.0) },
            ..rounds(150.0, 80.0, 230.0)
        };
        let split = Split::of(&few);
        assert_eq!((split.parts, split.windows_differ), (None, None));
    }
}
