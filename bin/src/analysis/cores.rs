//! Conclusions from all pairs of CPUs: medians by what the two share, and the nearest and the farthest pair.

use latency_core::compact::Compact;
use latency_core::cpulist::CpuSet;
use latency_core::stats::Interval;
use latency_core::topology::{Shared, Sharing};
use latency_core::units::CpuId;

use crate::result::{ClockOffset, LineLevel, Measurement, Outcome, Owned, PingPong, Point};

/// Threads of one core exchange a line within its own caches: two cores hardly ever are as close, in nanoseconds.
const WITHIN_CORE_NS: f64 = 30.0;

/// One pair of CPUs, measured.
#[derive(Clone, Copy, Debug)]
pub struct CpuPair<'r> {
    /// The CPU that begins.
    pub a: CpuId,
    /// The CPU that answers, what they share, and how.
    pub with: PingPong,
    /// Its measurement.
    pub measured: &'r Measurement,
}

impl CpuPair<'_> {
    /// Returns the time of a line one way, in nanoseconds.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.measured.series.nanoseconds.median
    }

    /// Returns the difference between the slowest and the fastest line of the pair, in nanoseconds.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        self.measured.lines.map(|lines| lines.slowest.value - lines.fastest.value)
    }

    /// Returns the time stamps of both CPUs, compared by messages.
    #[must_use]
    pub fn messages(&self) -> Option<ClockOffset> {
        self.measured.lines?.messages
    }
}

/// Returns the pair of an outcome, if it was measured.
#[must_use]
pub fn pair<'r>(outcome: &'r Outcome<'_>) -> Option<CpuPair<'r>> {
    let with = *outcome.point.walk.ping_pong()?;
    Some(CpuPair { a: outcome.point.cpu, with, measured: outcome.result.as_ref().ok()? })
}

/// Returns every pair that was measured.
pub fn pairs<'r>(outcomes: &'r [Outcome<'_>]) -> impl Iterator<Item = CpuPair<'r>> + Clone {
    Compact(outcomes.iter().filter_map(pair))
}

/// Lines in a known state, measured.
#[derive(Clone, Copy, Debug)]
pub struct WalkedLines<'r> {
    /// The CPU that walked over them, and their node.
    pub point: &'r Point,
    /// Their owner, and their state.
    pub owned: Owned,
    /// Its measurement.
    pub measured: &'r Measurement,
}

/// Returns every walk over lines in a known state that was measured.
pub fn walks<'r>(outcomes: &'r [Outcome<'_>]) -> impl Iterator<Item = WalkedLines<'r>> + Clone {
    Compact(outcomes.iter().filter_map(|outcome| {
        let owned = *outcome.point.walk.owned()?;
        Some(WalkedLines { point: &outcome.point, owned, measured: outcome.result.as_ref().ok()? })
    }))
}

impl<'r> WalkedLines<'r> {
    /// Returns whether two walks differ in no more than the cache that the lines are in.
    #[must_use]
    pub fn is_like(&self, other: &WalkedLines<'_>) -> bool {
        let of = |walk: &WalkedLines<'_>| {
            let Owned { owner, state, access, .. } = walk.owned;
            (walk.point.cpu, walk.point.target, owner, state, access)
        };
        of(self) == of(other)
    }

    /// Returns the same over lines in another cache, if that was measured.
    #[must_use]
    pub fn at(&self, level: LineLevel, outcomes: &'r [Outcome<'_>]) -> Option<WalkedLines<'r>> {
        walks(outcomes).find(|other| self.is_like(other) && other.owned.level == level)
    }
}

/// One walk of those that differ in no more than the cache.
pub fn rows<'r>(outcomes: &'r [Outcome<'_>]) -> impl Iterator<Item = WalkedLines<'r>> + Clone {
    let is_first = move |(index, walk): &(usize, WalkedLines<'r>)| {
        !walks(outcomes).take(*index).any(|earlier| walk.is_like(&earlier))
    };
    Compact(walks(outcomes).enumerate().filter(is_first).map(|(_, walk)| walk))
}

/// Pairs of CPUs that share the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharingClass {
    /// The hardware that they share.
    pub shared: Shared,
    /// Number of pairs.
    pub pairs: usize,
    /// The median of the pairs' values, in nanoseconds.
    pub median: f64,
    /// From the median of their intervals' lower ends to that of the upper ends: where every pair's value lies in its
    /// interval, the median lies in this.
    pub interval: Option<Interval>,
    /// The smallest and the largest value of a pair.
    pub range: (f64, f64),
}

/// The conclusions from all pairs.
#[derive(Clone, Copy, Debug)]
pub struct CoresConclusion<'r> {
    classes: [Option<SharingClass>; Shared::ALL.len()],
    /// The pair with the smallest value.
    pub nearest: Option<CpuPair<'r>>,
    /// The pair with the largest.
    pub farthest: Option<CpuPair<'r>>,
    /// The largest distance between two lines of one pair, in nanoseconds.
    pub spread: Option<f64>,
    /// The largest upper end of clock offset and asymmetry of both ways together, in nanoseconds, and its pair of CPUs;
    /// `None` without messages.
    pub apart: Option<(f64, [CpuId; 2])>,
}

impl CoresConclusion<'_> {
    /// Returns the classes that have a pair, the nearest first.
    pub fn classes(&self) -> impl Iterator<Item = &SharingClass> + Clone {
        Compact(self.classes.iter().flatten())
    }
}

/// Concludes from all pairs.
#[must_use]
pub fn conclude<'r>(outcomes: &'r [Outcome<'_>]) -> CoresConclusion<'r> {
    let all = || pairs(outcomes);
    let classes =
        Shared::ALL.map(|shared| class(shared, &|| all().filter(move |pair| pair.with.class == shared)));
    let mut found = CoresConclusion { classes, nearest: None, farthest: None, spread: None, apart: None };
    for pair in all() {
        if found.nearest.is_none_or(|nearest| pair.ns() < nearest.ns()) {
            found.nearest = Some(pair);
        }
        if found.farthest.is_none_or(|farthest| pair.ns() > farthest.ns()) {
            found.farthest = Some(pair);
        }
        // The larger of both, or the one that there is.
        found.spread =
            pair.spread().map_or(found.spread, |spread| Some(spread.max(found.spread.unwrap_or(f64::NAN))));
        let apart = pair.messages().map_or(f64::NAN, |messages| messages.most_ns());
        if found.apart.is_none_or(|(most, _)| apart > most) && !apart.is_nan() {
            found.apart = Some((apart, [pair.a, pair.with.partner]));
        }
    }
    found
}

/// Returns the numbers of pairs of `cpus` in each class, in the order of [`Shared::ALL`].
#[must_use]
pub fn of_classes(cpus: &CpuSet, sharing: &Sharing<'_>) -> [usize; Shared::ALL.len()] {
    let mut counts = [0; Shared::ALL.len()];
    for a in cpus {
        for b in cpus.iter().skip_while(|b| *b <= a) {
            if let Some(count) = counts.get_mut(sharing.between(a, b) as usize) {
                *count += 1;
            }
        }
    }
    counts
}

/// Calls `each` with every one of `cpus` and those with larger numbers with which it was not to be measured.
pub fn left_out(outcomes: &[Outcome<'_>], cpus: &CpuSet, each: &mut dyn FnMut(CpuId, &CpuSet)) {
    for a in cpus.iter().map(CpuId) {
        let of_a = outcomes.iter().filter(|outcome| outcome.point.cpu == a);
        let measured: CpuSet =
            of_a.filter_map(|outcome| Some(outcome.point.walk.ping_pong()?.partner.0)).collect();
        let others: CpuSet = cpus.difference(&measured).iter().filter(|b| *b > a.0).collect();
        if !others.is_empty() {
            each(a, &others);
        }
    }
}

/// Returns the pair that is closer than two cores are, though it is said to be two.
#[must_use]
pub fn doubtful<'r>(outcomes: &'r [Outcome<'_>]) -> Option<CpuPair<'r>> {
    let nearest = pairs(outcomes).filter(|pair| pair.with.class != Shared::Core);
    let nearest = nearest.reduce(|one, other| if other.ns() < one.ns() { other } else { one });
    nearest.filter(|pair| pair.ns() < WITHIN_CORE_NS)
}

fn class<'r, I: Iterator<Item = CpuPair<'r>>>(
    shared: Shared,
    members: &dyn Fn() -> I,
) -> Option<SharingClass> {
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
    Some(SharingClass {
        shared,
        pairs,
        median: median(pairs, &|each| values().for_each(each))?,
        interval: low.zip(high).map(|(low, high)| Interval { low, high }),
        range: (values().reduce(f64::min)?, values().reduce(f64::max)?),
    })
}

/// A function that passes each value to another, always the same ones.
type VisitValues<'v> = &'v dyn Fn(&mut dyn FnMut(f64));

/// Returns the median of the `count` values that `values` passes on, which are not stored: each is compared with all
/// others. `None` where one of them is not a number, or there are none.
fn median(count: usize, values: VisitValues<'_>) -> Option<f64> {
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
    use super::super::lanes::tests::outcome;
    use super::*;
    use crate::result::{Exclusion, PerLine, Walk};
    use latency_core::cores::lines::OfLine;
    use latency_core::cores::{Method, State, Walk as Access};
    use latency_core::units::NodeId;
    use proptest::prelude::*;

    /// Returns a pair with this latency, with an interval of one hundredth to each side.
    fn exchanged(a: u32, b: u32, class: Shared, ns: f64) -> Outcome<'static> {
        let (partner, method, homes) = (CpuId(b), Method::Cas, [NodeId(0); 2]);
        let walk = Walk::PingPong(PingPong { partner, class, method, lines: 16, homes });
        let mut outcome = outcome(4096, walk, ns);
        outcome.point.cpu = CpuId(a);
        if let Ok(measured) = &mut outcome.result {
            let of = |line, value| OfLine { line, value };
            let (fastest, slowest) = (of(3, ns - 2.0), of(5, ns + f64::from(b)));
            measured.lines = Some(PerLine { fastest, slowest, messages: None });
        }
        outcome
    }

    #[test]
    fn pairs_that_share_the_same_are_a_class() {
        let outcomes = [
            exchanged(0, 1, Shared::Core, 10.0),
            exchanged(0, 2, Shared::Machine, 150.0),
            exchanged(0, 3, Shared::Machine, 110.0),
            exchanged(1, 2, Shared::Machine, 120.0),
            Outcome { result: Err(Exclusion::Interrupted), ..exchanged(1, 3, Shared::L3, 9.0) },
        ];
        let found = conclude(&outcomes);
        let classes: std::vec::Vec<_> = found.classes().collect();
        let of = |class: &SharingClass| (class.shared, class.pairs, class.median, class.range);
        assert_eq!(classes.len(), 2);
        assert_eq!(of(classes[0]), (Shared::Core, 1, 10.0, (10.0, 10.0)));
        assert_eq!(of(classes[1]), (Shared::Machine, 3, 120.0, (110.0, 150.0)));
        assert_eq!(classes[1].interval, Some(Interval { low: 120.0 * 0.99, high: 120.0 * 1.01 }));
        let cpus = |pair: Option<CpuPair<'_>>| pair.map(|pair| (pair.a.0, pair.with.partner.0));
        assert_eq!((cpus(found.nearest), cpus(found.farthest)), (Some((0, 1)), Some((0, 2))));
        assert_eq!(found.spread, Some(5.0));
        assert!(conclude(&[]).classes().next().is_none());
    }

    #[test]
    fn two_cores_as_close_as_threads_are_doubtful() {
        let far = exchanged(0, 2, Shared::Machine, 90.0);
        assert!(doubtful(&[far, exchanged(0, 1, Shared::Core, 8.0)]).is_none());
        let pair = [far, exchanged(2, 3, Shared::L3, 28.0), exchanged(0, 1, Shared::L3, 12.0)];
        assert_eq!(doubtful(&pair).map(|pair| pair.with.partner), Some(CpuId(1)));
    }

    #[test]
    fn walks_that_differ_in_the_cache_alone_are_a_row() {
        let walk = |level, state, ns| {
            let owner = Some((CpuId(1), Shared::L3));
            outcome(4096, Walk::Owned(Owned { owner, third: None, state, access: Access::Read, level }), ns)
        };
        let outcomes = [
            walk(LineLevel::L1, State::Modified, 50.0),
            walk(LineLevel::L2, State::Modified, 47.0),
            walk(LineLevel::L1, State::Exclusive, 45.0),
        ];
        let rows: std::vec::Vec<_> = rows(&outcomes).collect();
        assert_eq!(rows.len(), 2);
        let at =
            |row: &WalkedLines<'_>, level| Some(row.at(level, &outcomes)?.measured.series.nanoseconds.median);
        assert_eq!((at(&rows[0], LineLevel::L2), at(&rows[1], LineLevel::L2)), (Some(47.0), None));
    }

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
