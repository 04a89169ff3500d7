//! Conclusions from all pairs of CPUs: medians by the hardware that a pair shares, and the nearest and the farthest
//! pair.

use alloc::vec::Vec;
use core::fmt;
use latency_core::cpulist::CpuSet;
use latency_core::stats::{self, Interval};
use latency_core::topology::{Shared, Sharing};
use latency_core::units::CpuId;

use crate::result::{ClockOffset, LineLevel, Measurement, Outcome, Owned, PingPong};

/// Latency below which two CPUs are likely threads of one core, which exchange a line within its own caches: two cores
/// are hardly ever as close, in nanoseconds.
const WITHIN_CORE_NS: f64 = 30.0;

/// One pair of CPUs, measured.
#[derive(Clone, Copy, Debug)]
pub struct CpuPair<'r> {
    /// The initiating CPU.
    pub a: CpuId,
    /// The responding CPU, the hardware that both share, and the method.
    pub with: PingPong,
    /// Its measurement.
    pub measured: &'r Measurement,
}

impl CpuPair<'_> {
    /// Returns the one-way time of a line, in nanoseconds.
    pub fn ns(&self) -> f64 {
        self.measured.series.nanoseconds.median
    }

    /// Returns the comparison of the time stamps of both CPUs by messages.
    pub fn messages(&self) -> Option<ClockOffset> {
        self.measured.lines?.messages
    }
}

/// Returns the pair of an outcome, if it was measured.
pub fn pair<'r>(outcome: &'r Outcome<'_>) -> Option<CpuPair<'r>> {
    let with = *outcome.point.walk.ping_pong()?;
    Some(CpuPair { a: outcome.point.cpu, with, measured: outcome.result.as_ref().ok()? })
}

/// Returns every pair that was measured.
pub fn pairs<'r>(outcomes: &'r [Outcome<'_>]) -> impl Iterator<Item = CpuPair<'r>> + Clone {
    outcomes.iter().filter_map(pair)
}

/// Returns the key of a measured walk over lines in a known state: all that it has in common with walks that differ
/// only in the cache that the lines are in. The key is both CPUs, the lines' node, their state and the access. Returns
/// `None` for other outcomes.
fn row(outcome: &Outcome<'_>) -> Option<impl PartialEq + use<>> {
    let Owned { owner, state, access, .. } = *outcome.point.walk.owned()?;
    outcome.result.as_ref().ok()?;
    Some((outcome.point.cpu, outcome.point.target, owner, state, access))
}

/// Returns the first walk of each set of walks that differ only in the cache that the lines are in.
pub fn rows<'r, 'a>(
    outcomes: &'r [Outcome<'a>],
) -> impl Iterator<Item = (&'r Outcome<'a>, &'r Owned)> + use<'r, 'a> {
    let is_first = |(index, outcome): &(usize, &Outcome<'_>)| {
        let own = row(outcome);
        own.is_some() && !outcomes.iter().take(*index).any(|earlier| row(earlier) == own)
    };
    let firsts = outcomes.iter().enumerate().filter(is_first);
    firsts.filter_map(|(_, outcome)| Some((outcome, outcome.point.walk.owned()?)))
}

/// Returns the time of the walk that differs from `like` only in the cache that the lines are in, in nanoseconds, if it
/// was measured.
pub fn in_cache(outcomes: &[Outcome<'_>], like: &Outcome<'_>, level: LineLevel) -> Option<f64> {
    let is_there = |owned: &Owned| owned.level == level;
    let same = outcomes.iter().filter(|other| other.point.walk.owned().is_some_and(is_there));
    same.filter(|other| row(other) == row(like)).find_map(Outcome::nanoseconds)
}

/// Maximum number of classes: a pair has no, one or two efficiency cores.
const MOST_CLASSES: usize = 3 * Shared::ALL.len();

/// The pairs of CPUs that share the same hardware, and are of the same kinds of cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharingClass {
    /// The hardware that they share.
    pub shared: Shared,
    /// The number of efficiency cores in a pair; `None` if the processor has one kind of core.
    pub small: Option<usize>,
    /// Number of pairs.
    pub pairs: usize,
    /// The median of the pairs' values, in nanoseconds.
    pub median: f64,
    /// The median of the lower ends of the pairs' intervals and the median of the upper ends: if every pair's true
    /// value lies in its interval, the true median lies in this one.
    pub interval: Option<Interval>,
    /// The smallest and the largest value of a pair.
    pub range: (f64, f64),
}

/// The conclusions from all pairs.
#[derive(Clone, Copy, Debug)]
pub struct CoresConclusion<'r> {
    classes: [Option<SharingClass>; MOST_CLASSES],
    /// The pair with the smallest value.
    pub nearest: Option<CpuPair<'r>>,
    /// The pair with the largest value.
    pub farthest: Option<CpuPair<'r>>,
    /// The largest difference between two lines of one pair, in nanoseconds.
    pub spread: Option<f64>,
    /// The pair of CPUs with the largest upper bound of clock offset and asymmetry between the two directions together,
    /// and that bound in nanoseconds; `None` without messages.
    pub apart: Option<(f64, [CpuId; 2])>,
}

impl CoresConclusion<'_> {
    /// Returns the classes that have a pair, nearest first.
    pub fn classes(&self) -> impl Iterator<Item = &SharingClass> + Clone {
        self.classes.iter().flatten()
    }
}

impl SharingClass {
    /// Returns whether a pair is in the class; `small` has the efficiency cores.
    #[must_use]
    pub fn has(&self, small: Option<&CpuSet>, shared: Shared, cpus: [u32; 2]) -> bool {
        shared == self.shared && (self.small.is_none() || self.small == of_kind(small, cpus))
    }

    /// Returns the number of pairs of `cpus` in the class.
    #[must_use]
    pub fn most(&self, cpus: &CpuSet, sharing: &Sharing<'_>, small: Option<&CpuSet>) -> usize {
        let of = |a| cpus.iter().skip_while(move |b| *b <= a).map(move |b| [a, b]);
        let is_in = |pair: &[u32; 2]| self.has(small, sharing.between(pair[0], pair[1]), *pair);
        cpus.iter().flat_map(of).filter(is_in).count()
    }

    /// Returns the kinds of the cores in words; empty if the processor has one kind.
    #[must_use]
    pub fn kinds(&self) -> &'static str {
        match self.small {
            None => "",
            Some(0) => "performance cores",
            Some(1) => "performance and efficiency core",
            Some(_) => "efficiency cores",
        }
    }
}

/// Writes the name.
impl fmt::Display for SharingClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = if self.small.is_some() { ", " } else { "" };
        write!(out, "{}{comma}{}", self.shared.name(), self.kinds())
    }
}

/// Returns the number of efficiency cores in a pair.
fn of_kind(small: Option<&CpuSet>, cpus: [u32; 2]) -> Option<usize> {
    small.map(|small| cpus.into_iter().filter(|cpu| small.contains(*cpu)).count())
}

/// Draws the conclusions from all pairs; `small` has the efficiency cores of a processor with several kinds of cores.
#[must_use]
pub fn conclude<'r>(outcomes: &'r [Outcome<'_>], small: Option<&CpuSet>) -> CoresConclusion<'r> {
    let classes = core::array::from_fn(|place| {
        let of_kind = Some(place % 3).filter(|of_kind| small.is_some() || *of_kind == 0)?;
        class(outcomes, *Shared::ALL.get(place / 3)?, small.map(|small| (small, of_kind)))
    });
    let mut found = CoresConclusion { classes, nearest: None, farthest: None, spread: None, apart: None };
    for pair in pairs(outcomes) {
        let ns = pair.ns();
        if found.nearest.is_none_or(|nearest| ns < nearest.ns()) {
            found.nearest = Some(pair);
        }
        if found.farthest.is_none_or(|farthest| ns > farthest.ns()) {
            found.farthest = Some(pair);
        }
        if let Some(lines) = pair.measured.lines {
            let spread = lines.slowest.value - lines.fastest.value;
            found.spread = Some(found.spread.map_or(spread, |most| most.max(spread)));
        }
        if let Some(messages) = pair.messages() {
            let most = messages.most_ns();
            if !most.is_nan() && found.apart.is_none_or(|(known, _)| most > known) {
                found.apart = Some((most, [pair.a, pair.with.partner]));
            }
        }
    }
    found
}

/// Returns the nearer one of two pairs; the first one if they are equally near.
fn nearer<'r>(one: CpuPair<'r>, other: CpuPair<'r>) -> CpuPair<'r> {
    if other.ns() < one.ns() { other } else { one }
}

/// Calls `each` with each of `cpus` for which pairs were not planned, and the CPUs with larger numbers that it was not
/// to be paired with.
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

/// Returns the closest pair that is nearer than two cores can be, although the system reports two cores.
pub fn doubtful<'r>(outcomes: &'r [Outcome<'_>]) -> Option<CpuPair<'r>> {
    let of_two_cores = pairs(outcomes).filter(|pair| pair.with.class != Shared::Core);
    of_two_cores.reduce(nearer).filter(|pair| pair.ns() < WITHIN_CORE_NS)
}

/// Returns the class of the pairs that share this hardware: of all of them, or of a number of efficiency cores.
#[must_use]
pub fn class(
    outcomes: &[Outcome<'_>],
    shared: Shared,
    kinds: Option<(&CpuSet, usize)>,
) -> Option<SharingClass> {
    let members = || {
        pairs(outcomes).filter(move |pair| {
            let own = of_kind(kinds.map(|(small, _)| small), [pair.a.0, pair.with.partner.0]);
            pair.with.class == shared && own == kinds.map(|(_, count)| count)
        })
    };
    let middle = |of: fn(CpuPair<'_>) -> f64| median(&mut members().map(of));
    let low = middle(|pair| pair.measured.series.nanoseconds.interval.map_or(f64::NAN, |it| it.low));
    let high = middle(|pair| pair.measured.series.nanoseconds.interval.map_or(f64::NAN, |it| it.high));
    let values = || members().map(|pair| pair.ns());
    Some(SharingClass {
        shared,
        small: kinds.map(|(_, count)| count),
        pairs: members().count(),
        median: middle(|pair| pair.ns())?,
        interval: low.zip(high).map(|(low, high)| Interval { low, high }),
        range: (values().reduce(f64::min)?, values().reduce(f64::max)?),
    })
}

/// Returns the median; `None` without values, or if one of them is not a number.
fn median(values: &mut dyn Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    stats::median(&mut values).filter(|_| !values.iter().any(|value| value.is_nan()))
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

    /// Returns a pair with this latency, with an interval of 1 % to each side.
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
    fn pairs_that_share_the_same_hardware_form_a_class() {
        let outcomes = [
            exchanged(0, 1, Shared::Core, 10.0),
            exchanged(0, 2, Shared::Machine, 150.0),
            exchanged(0, 3, Shared::Machine, 110.0),
            exchanged(1, 2, Shared::Machine, 120.0),
            Outcome { result: Err(Exclusion::Interrupted), ..exchanged(1, 3, Shared::L3, 9.0) },
        ];
        let found = conclude(&outcomes, None);
        let classes: std::vec::Vec<_> = found.classes().collect();
        let of = |class: &SharingClass| (class.shared, class.pairs, class.median, class.range);
        assert_eq!(classes.len(), 2);
        assert_eq!(of(classes[0]), (Shared::Core, 1, 10.0, (10.0, 10.0)));
        assert_eq!(of(classes[1]), (Shared::Machine, 3, 120.0, (110.0, 150.0)));
        assert_eq!(classes[1].interval, Some(Interval { low: 120.0 * 0.99, high: 120.0 * 1.01 }));
        let cpus = |pair: Option<CpuPair<'_>>| pair.map(|pair| (pair.a.0, pair.with.partner.0));
        assert_eq!((cpus(found.nearest), cpus(found.farthest)), (Some((0, 1)), Some((0, 2))));
        assert_eq!(found.spread, Some(5.0));
        assert!(conclude(&[], None).classes().next().is_none());
    }

    #[test]
    fn two_cores_as_close_as_threads_are_doubtful() {
        let far = exchanged(0, 2, Shared::Machine, 90.0);
        assert!(doubtful(&[far, exchanged(0, 1, Shared::Core, 8.0)]).is_none());
        let pair = [far, exchanged(2, 3, Shared::L3, 28.0), exchanged(0, 1, Shared::L3, 12.0)];
        assert_eq!(doubtful(&pair).map(|pair| pair.with.partner), Some(CpuId(1)));
    }

    #[test]
    fn walks_that_differ_only_in_the_cache_form_a_row() {
        let walk = |level, state, ns| {
            let owner = Some((CpuId(1), Shared::L3));
            outcome(4096, Walk::Owned(Owned { owner, third: None, state, access: Access::Read, level }), ns)
        };
        let outcomes = [
            walk(LineLevel::L1, State::Modified, 50.0),
            walk(LineLevel::L2, State::Modified, 47.0),
            walk(LineLevel::L1, State::Exclusive, 45.0),
        ];
        let rows: std::vec::Vec<_> = rows(&outcomes).map(|(_, owned)| (owned.state, owned.level)).collect();
        assert_eq!(rows, [(State::Modified, LineLevel::L1), (State::Exclusive, LineLevel::L1)]);
        let at = |index: usize, level| in_cache(&outcomes, &outcomes[index], level);
        assert_eq!((at(0, LineLevel::L2), at(2, LineLevel::L2)), (Some(47.0), None));
    }

    fn of(values: &[f64]) -> Option<f64> {
        median(&mut values.iter().copied())
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
