//! Conclusions from lines that move between CPUs: medians of pairs by the hardware that they share, the nearest and the
//! farthest pair, pairs that were left out, and rows of walks over lines in known states.

use alloc::vec::Vec;
use core::fmt;
use latency_core::topology::{Shared, Sharing};
use latency_core::{CpuId, CpuSet, Estimate, Interval, Worded, best, stats};

use latency_engine::result::{ClockOffset, LineLevel, Measurement, Outcome, Owned, PingPong, Point};
use latency_report::chart::vector;

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
fn pair<'r>(outcome: &'r Outcome) -> Option<CpuPair<'r>> {
    let with = *outcome.point.walk.ping_pong()?;
    Some(CpuPair { a: outcome.point.cpu, with, measured: outcome.result.as_ref().ok()? })
}

/// Returns every pair that was measured.
fn pairs<'r>(outcomes: &'r [Outcome]) -> impl Iterator<Item = CpuPair<'r>> {
    outcomes.iter().filter_map(pair)
}

/// The walks over lines in one known state, which differ only in the cache that the lines are in.
#[derive(Clone, Copy, Debug)]
pub struct StateRow<'r> {
    /// The point of the first walk: its CPU and the lines' node.
    pub point: &'r Point,
    /// The owner, the state and the access.
    pub owned: &'r Owned,
    /// The nanoseconds of the measured walks, in the order of [`LineLevel::ALL`].
    pub ns: [Option<f64>; LineLevel::ALL.len()],
}

/// Returns the measured walks over lines in known states.
pub fn state_rows<'r>(outcomes: &'r [Outcome]) -> Vec<StateRow<'r>> {
    let mut rows: Vec<StateRow<'r>> = Vec::new();
    for outcome in outcomes {
        let (Some(owned), Some(ns)) = (outcome.point.walk.owned(), outcome.nanoseconds()) else { continue };
        let key = |point: &Point, of: &Owned| (point.cpu, point.target, of.owner, of.state, of.access);
        let is_alike = |row: &StateRow<'_>| key(row.point, row.owned) == key(&outcome.point, owned);
        let place = rows.iter().position(is_alike).unwrap_or(rows.len());
        if place == rows.len() {
            rows.push(StateRow { point: &outcome.point, owned, ns: [None; LineLevel::ALL.len()] });
        }
        let Some(row) = rows.get_mut(place) else { continue };
        let mut levels = row.ns.iter_mut().zip(LineLevel::ALL);
        if let Some((slot, _)) = levels.find(|(_, level)| *level == owned.level) {
            slot.get_or_insert(ns);
        }
    }
    rows
}

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
    pub median: Estimate,
    /// The smallest and the largest value of a pair.
    pub range: Interval,
}

/// The conclusions from all pairs.
#[derive(Clone, Debug)]
pub struct CoresConclusion<'r> {
    /// The measured pairs.
    pub pairs: Vec<CpuPair<'r>>,
    /// The classes that have a pair, nearest first.
    pub classes: Vec<SharingClass>,
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
    /// Returns the median of all pairs that share this hardware, of any kind of core.
    pub fn median(&self, shared: Shared) -> Option<f64> {
        let alike = self.pairs.iter().filter(|pair| pair.with.class == shared);
        median(&mut alike.map(CpuPair::ns))
    }
}

impl SharingClass {
    /// Returns whether a pair is in the class; `small` has the efficiency cores.
    pub fn has(&self, small: Option<&CpuSet>, shared: Shared, cpus: [u32; 2]) -> bool {
        shared == self.shared && (self.small.is_none() || self.small == of_kind(small, cpus))
    }

    /// Returns the number of pairs of `cpus` in the class, measured or not.
    pub fn possible(&self, cpus: &CpuSet, sharing: &Sharing<'_>, small: Option<&CpuSet>) -> usize {
        let of = |a| cpus.iter().skip_while(move |b| *b <= a).map(move |b| [a, b]);
        let is_in = |pair: &[u32; 2]| self.has(small, sharing.between(pair[0], pair[1]), *pair);
        cpus.iter().flat_map(of).filter(is_in).count()
    }

    /// Returns the kinds of the cores in words; empty if the processor has one kind.
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
        write!(out, "{}{comma}{}", self.shared.word(), self.kinds())
    }
}

/// Returns the number of efficiency cores in a pair.
fn of_kind(small: Option<&CpuSet>, cpus: [u32; 2]) -> Option<usize> {
    small.map(|small| cpus.into_iter().filter(|cpu| small.contains(*cpu)).count())
}

/// Draws the conclusions from all pairs; `small` has the efficiency cores of a processor with several kinds of cores.
pub fn conclude<'r>(outcomes: &'r [Outcome], small: Option<&CpuSet>) -> CoresConclusion<'r> {
    #[cfg(test)]
    super::drawn_tests::draws("cores");
    let all: Vec<CpuPair<'r>> = vector(pairs(outcomes));
    let mut classes = Vec::new();
    for shared in Shared::ALL {
        // A pair has no, one or two efficiency cores.
        for count in 0..if small.is_some() { 3 } else { 1 } {
            classes.extend(class(&all, shared, small.map(|small| (small, count))));
        }
    }
    let apart = all.iter().filter_map(|pair| Some((pair.messages()?.most_ns(), [pair.a, pair.with.partner])));
    let spread = all.iter().filter_map(|pair| pair.measured.lines);
    CoresConclusion {
        nearest: best(all.iter().copied(), is_nearer),
        farthest: best(all.iter().copied(), |one, other| one.ns() > other.ns()),
        spread: spread.map(|lines| lines.slowest.value - lines.fastest.value).reduce(f64::max),
        apart: best(apart.filter(|(most, _)| !most.is_nan()), |one, other| one.0 > other.0),
        classes,
        pairs: all,
    }
}

/// Returns whether a pair is nearer than another one.
fn is_nearer(one: &CpuPair<'_>, other: &CpuPair<'_>) -> bool {
    one.ns() < other.ns()
}

/// Returns each of `cpus` with pairs that were not planned, and the CPUs of these pairs that have larger numbers.
pub fn left_out(outcomes: &[Outcome], cpus: &CpuSet) -> Vec<(CpuId, CpuSet)> {
    let others = |a: u32| {
        let of_a = outcomes.iter().filter(|outcome| outcome.point.cpu.0 == a);
        let planned: CpuSet =
            of_a.filter_map(|outcome| Some(outcome.point.walk.ping_pong()?.partner.0)).collect();
        (CpuId(a), cpus.difference(&planned).iter().filter(|b| *b > a).collect::<CpuSet>())
    };
    vector(cpus.iter().map(others).filter(|(_, others)| !others.is_empty()))
}

/// Returns the closest pair that is nearer than two cores can be, although the system reports two cores.
pub fn doubtful<'r>(outcomes: &'r [Outcome]) -> Option<CpuPair<'r>> {
    let of_two_cores = pairs(outcomes).filter(|pair| pair.with.class != Shared::Core);
    best(of_two_cores, is_nearer).filter(|pair| pair.ns() < WITHIN_CORE_NS)
}

/// Returns the class of the pairs that share this hardware: all of them, or those with a number of efficiency cores.
fn class(all: &[CpuPair<'_>], shared: Shared, kinds: Option<(&CpuSet, usize)>) -> Option<SharingClass> {
    let members = || {
        all.iter().filter(move |pair| {
            let own = of_kind(kinds.map(|(small, _)| small), [pair.a.0, pair.with.partner.0]);
            pair.with.class == shared && own == kinds.map(|(_, count)| count)
        })
    };
    let values = || members().map(CpuPair::ns);
    Some(SharingClass {
        shared,
        small: kinds.map(|(_, count)| count),
        pairs: members().count(),
        median: middle(&vector(members().map(|pair| pair.measured.series.nanoseconds.into())))?,
        range: Interval { low: values().reduce(f64::min)?, high: values().reduce(f64::max)? },
    })
}

/// Returns the median of estimates. The ends of its interval are the medians of their lower and upper ends: if each true
/// value lies in its interval, the true median lies in this one.
pub fn middle(all: &[Estimate]) -> Option<Estimate> {
    let end = |of: fn(Interval) -> f64| {
        let end = |estimate: &Estimate| estimate.interval.map_or(f64::NAN, of);
        median(&mut all.iter().map(end))
    };
    let interval = end(|interval| interval.low).zip(end(|interval| interval.high));
    Some(Estimate {
        value: median(&mut all.iter().map(|estimate| estimate.value))?,
        interval: interval.map(|(low, high)| Interval { low, high }),
    })
}

/// Returns the median; `None` without values, or if one of them is not a number.
fn median(values: &mut dyn Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = vector(values);
    stats::median(&mut values).filter(|_| !values.iter().any(|value| value.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::NodeId;
    use latency_core::cores::lines::OfLine;
    use latency_core::cores::{Method, State, Walk as Access};
    use latency_engine::result::{Exclusion, PerLine, Walk};
    use latency_engine::tests::outcome::outcome;

    /// Returns a pair with this latency, with an interval of 1 % to each side.
    fn exchanged(a: u32, b: u32, class: Shared, ns: f64) -> Outcome {
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
        let classes = &found.classes;
        let of = |class: &SharingClass| {
            (class.shared, class.pairs, class.median.value, (class.range.low, class.range.high))
        };
        assert_eq!(classes.len(), 2);
        assert_eq!(of(&classes[0]), (Shared::Core, 1, 10.0, (10.0, 10.0)));
        assert_eq!(of(&classes[1]), (Shared::Machine, 3, 120.0, (110.0, 150.0)));
        assert_eq!(classes[1].median.interval, Some(Interval { low: 120.0 * 0.99, high: 120.0 * 1.01 }));
        let cpus = |pair: Option<CpuPair<'_>>| pair.map(|pair| (pair.a.0, pair.with.partner.0));
        assert_eq!((cpus(found.nearest), cpus(found.farthest)), (Some((0, 1)), Some((0, 2))));
        assert_eq!(found.spread, Some(5.0));
        assert!(conclude(&[], None).classes.is_empty());
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
        let rows: std::vec::Vec<_> =
            state_rows(&outcomes).iter().map(|row| (row.owned.state, row.ns[0], row.ns[1])).collect();
        let expected = [(State::Modified, Some(50.0), Some(47.0)), (State::Exclusive, Some(45.0), None)];
        assert_eq!((rows, &LineLevel::ALL[..2]), (expected.into(), &[LineLevel::L1, LineLevel::L2][..]));
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
}
