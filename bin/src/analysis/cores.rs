//! What pairs of CPUs say together: by what the two share, and which are the nearest and the farthest.

use latency_core::stats::Interval;
use latency_core::topology::Shared;
use latency_core::units::CpuId;

use crate::result::{Measurement, Outcome, PingPong};

/// Threads of one core exchange a line within its own caches: two cores hardly ever are as close, in nanoseconds.
const WITHIN_CORE_NS: f64 = 30.0;

/// One pair of CPUs, measured.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'r> {
    /// The CPU that begins.
    pub a: CpuId,
    /// The CPU that answers, what they share, and how.
    pub with: PingPong,
    /// What was found.
    pub measured: &'r Measurement,
}

impl Pair<'_> {
    /// What a line takes one way, in nanoseconds.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.measured.series.nanoseconds.median
    }

    /// How far the lines of the pair are apart, in nanoseconds.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        self.measured.lines.map(|lines| lines.slowest.value - lines.fastest.value)
    }
}

/// The pair of an outcome, if it was measured.
#[must_use]
pub fn pair<'r>(outcome: &'r Outcome<'_>) -> Option<Pair<'r>> {
    let with = *outcome.point.walk.ping_pong()?;
    Some(Pair { a: outcome.point.cpu, with, measured: outcome.result.as_ref().ok()? })
}

/// Every pair that was measured.
pub fn pairs<'r>(outcomes: &'r [Outcome<'_>]) -> impl Iterator<Item = Pair<'r>> + Clone {
    outcomes.iter().filter_map(pair)
}

/// Pairs of CPUs that share the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// What they share.
    pub shared: Shared,
    /// How many there are.
    pub pairs: usize,
    /// The median of the pairs' values, in nanoseconds.
    pub median: f64,
    /// From the median of their intervals' lower ends to that of the upper ends: where every pair's value lies in its
    /// interval, the median lies in this.
    pub interval: Option<Interval>,
    /// The smallest and the largest value of a pair.
    pub range: (f64, f64),
}

/// What all pairs say.
#[derive(Clone, Copy, Debug)]
pub struct Conclusion<'r> {
    classes: [Option<Class>; Shared::ALL.len()],
    /// The pair with the smallest value.
    pub nearest: Option<Pair<'r>>,
    /// The pair with the largest.
    pub farthest: Option<Pair<'r>>,
    /// The largest distance between two lines of one pair, in nanoseconds.
    pub spread: Option<f64>,
}

impl Conclusion<'_> {
    /// The classes that have a pair, the nearest first.
    pub fn classes(&self) -> impl Iterator<Item = &Class> + Clone {
        self.classes.iter().flatten()
    }
}

/// Concludes from all pairs.
#[must_use]
pub fn conclude<'r>(outcomes: &'r [Outcome<'_>]) -> Conclusion<'r> {
    let all = || pairs(outcomes);
    Conclusion {
        classes: Shared::ALL
            .map(|shared| class(shared, &|| all().filter(move |pair| pair.with.class == shared))),
        nearest: all().reduce(|one, other| if other.ns() < one.ns() { other } else { one }),
        farthest: all().reduce(|one, other| if other.ns() > one.ns() { other } else { one }),
        spread: all().filter_map(|pair| pair.spread()).reduce(f64::max),
    }
}

/// The pair that is closer than two cores are, though it is said to be two.
#[must_use]
pub fn doubtful<'r>(outcomes: &'r [Outcome<'_>]) -> Option<Pair<'r>> {
    let nearest = pairs(outcomes).filter(|pair| pair.with.class != Shared::Core);
    let nearest = nearest.reduce(|one, other| if other.ns() < one.ns() { other } else { one });
    nearest.filter(|pair| pair.ns() < WITHIN_CORE_NS)
}

fn class<'r, I: Iterator<Item = Pair<'r>>>(shared: Shared, members: &dyn Fn() -> I) -> Option<Class> {
    let pairs = members().count();
    let end = |of: fn(&Interval) -> f64| {
        median(pairs, &|each| {
            members().for_each(|pair| {
                each(pair.measured.series.nanoseconds.interval.as_ref().map_or(f64::NAN, of))
            });
        })
    };
    let values = || members().map(|pair| pair.ns());
    let (low, high) = (end(|interval| interval.low), end(|interval| interval.high));
    Some(Class {
        shared,
        pairs,
        median: median(pairs, &|each| values().for_each(each))?,
        interval: low.zip(high).map(|(low, high)| Interval { low, high }),
        range: (values().reduce(f64::min)?, values().reduce(f64::max)?),
    })
}

/// Gives every value to its argument.
type Each<'e> = &'e dyn Fn(&mut dyn FnMut(f64));

/// The median of `count` values, which are nowhere kept: each is counted against all others. `None` where one of them
/// is no number, or there is none.
fn median(count: usize, values: Each<'_>) -> Option<f64> {
    let (mut lower, mut upper) = (None, None);
    values(&mut |value| {
        let (mut below, mut not_above) = (0, 0);
        values(&mut |other| {
            below += usize::from(other < value);
            not_above += usize::from(other <= value);
        });
        let has = |rank: usize| below <= rank && rank < not_above;
        if count > 0 && has((count - 1) / 2) {
            lower = Some(value);
        }
        if has(count / 2) {
            upper = Some(value);
        }
    });
    lower.zip(upper).map(|(lower, upper)| lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Option<f64> {
        median(values.len(), &|each| values.iter().copied().for_each(each))
    }

    #[test]
    fn a_median_of_few_values_is_the_middle() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[4.0]), Some(4.0));
        assert_eq!(of(&[4.0, 1.0]), Some(2.5));
        assert_eq!(of(&[4.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(of(&[1.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn a_median_is_that_of_sorted_values(values in prop::collection::vec(0u8..20, 1..40)) {
            let mut values: std::vec::Vec<f64> = values.into_iter().map(f64::from).collect();
            let found = of(&values);
            prop_assert_eq!(found, latency_core::stats::median(&mut values));
        }
    }
}
