//! Bytes per second from the time per line, and the conclusions from several numbers of generators.

use alloc::vec::Vec;

use latency_core::traffic::{Kind, WHOLE_STEPS};
use latency_core::{Estimate, Interval, ToReal, best};

use latency_engine::result::{Outcome, Point, Traffic, Walk};
use latency_report::chart::vector;

/// Share of the largest rate that counts as reaching it.
const NEARLY: f64 = 0.95;

/// The composition of the bytes of a kind of traffic, as shares of all bytes that are read and written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// The share that is read.
    pub read: f64,
    /// The share that is written.
    pub written: f64,
    /// The share that memory may additionally have to read, because a written line is read first.
    pub owned: f64,
}

/// Returns the rate in bytes per second from the time per line in nanoseconds, or the time from the rate.
pub fn bandwidth(kind: &Kind, of: Estimate) -> Estimate {
    let inverse = |value: f64| kind.bytes_per_line() * 1e9 / value;
    let interval = of.interval.map(|ends| Interval { low: inverse(ends.high), high: inverse(ends.low) });
    Estimate { value: inverse(of.value), interval }
}

/// Returns the composition of the bytes of a kind of traffic.
pub fn shares(kind: &Kind) -> Shares {
    let all = (kind.reads(WHOLE_STEPS) + kind.writes(WHOLE_STEPS)).real();
    Shares {
        read: kind.reads(WHOLE_STEPS).real() / all,
        written: kind.writes(WHOLE_STEPS).real() / all,
        owned: kind.owned(WHOLE_STEPS).real() / all,
    }
}

/// Returns the bytes per second of an outcome with traffic.
pub fn rate(outcome: &Outcome) -> Option<(Traffic, Estimate)> {
    let Walk::Traffic(traffic) = outcome.point.walk else { return None };
    let found = outcome.result.as_ref().ok()?.series.nanoseconds;
    let of = |nanoseconds: f64| traffic.kind.bytes_per_line() * 1e9 / nanoseconds;
    let interval = found.interval.map(|interval| Interval { low: of(interval.high), high: of(interval.low) });
    Some((traffic, Estimate { value: of(found.median), interval }))
}

/// The traffic of one kind between two nodes, by ascending numbers of generators; if each CPU was measured on its own,
/// the traffic of one CPU.
#[derive(Clone, Debug)]
pub struct TrafficGroup<'r> {
    /// All outcomes of the group.
    pub outcomes: &'r [Outcome],
    /// The first point of the group.
    pub point: Point,
    /// Its traffic.
    pub traffic: Traffic,
    /// The rates with their numbers of generators.
    pub rates: Vec<(u32, Estimate)>,
    /// The rate of all generators, or of fewer that deliver more beyond both intervals.
    pub best: Option<(u32, Estimate)>,
    /// The latency of one chain between the nodes, in nanoseconds, if it was measured.
    pub latency_ns: Option<f64>,
}

/// Returns the index of the limit among the rates of several numbers of generators: the rate of all generators, unless
/// another one is larger beyond both intervals. The largest of similar medians is larger by chance, and so too large.
pub fn limit(rates: &[(u32, Estimate)]) -> Option<usize> {
    let all = || rates.iter().enumerate();
    let (limit, (_, whole)) = all().max_by_key(|(_, (generators, _))| *generators)?;
    let beyond = all().filter(|(_, (_, rate))| rate.is_beyond(*whole));
    let best = best(beyond, |(_, (_, one)), (_, (_, other))| one.value.total_cmp(&other.value).is_ge());
    Some(best.map_or(limit, |(place, _)| place))
}

/// Returns whether two outcomes are traffic of one kind, with the same first CPU and the same nodes.
fn is_alike(one: &Outcome, other: &Outcome) -> bool {
    match (one.point.walk, other.point.walk) {
        (Walk::Traffic(first), Walk::Traffic(second)) => {
            let route = |traffic: &Traffic, outcome: &Outcome| {
                (traffic.kind.name, traffic.subject, outcome.point.cpu, traffic.from, traffic.node)
            };
            route(&first, one) == route(&second, other)
        }
        _ => false,
    }
}

/// Returns the groups of a report, in the order of the report.
pub fn groups<'r>(outcomes: &'r [Outcome]) -> Vec<TrafficGroup<'r>> {
    #[cfg(test)]
    super::drawn_tests::draws("bandwidth");
    let group = |group: &'r [Outcome]| {
        let point = group.first()?.point;
        let Walk::Traffic(traffic) = point.walk else { return None };
        let rates = group.iter().filter_map(rate).map(|(traffic, rate)| (traffic.generators, rate));
        let rates: Vec<_> = vector(rates);
        let mut chains = outcomes.iter().filter(|outcome| matches!(outcome.point.walk, Walk::Chain));
        let chain = chains
            .find(|chain| (chain.point.initiator, chain.point.target) == (point.initiator, point.target));
        let best = limit(&rates).and_then(|place| rates.get(place).copied());
        let latency_ns = chain.and_then(Outcome::nanoseconds);
        Some(TrafficGroup { outcomes: group, point, traffic, rates, best, latency_ns })
    };
    vector(outcomes.chunk_by(is_alike).filter_map(group))
}

/// Returns the mean of the largest rates between a node and its own memory, and the mean of those between nodes and the
/// memory of other nodes, both for the first kind of traffic. `None` if either is missing.
pub fn local_and_remote(groups: &[TrafficGroup<'_>]) -> Option<(f64, f64)> {
    let first = groups.first()?.traffic.kind.name;
    let mean = |remote: bool| {
        let of = |group: &&TrafficGroup<'_>| {
            let Traffic { kind, from, node, .. } = group.traffic;
            kind.name == first && (from != node) == remote
        };
        let rates = groups.iter().filter(of).filter_map(|group| group.best);
        let (sum, count) = rates.fold((0.0, 0), |(sum, count), (_, rate)| (sum + rate.value, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    Some((mean(false)?, mean(true)?))
}

impl TrafficGroup<'_> {
    /// Returns the rate of one generator.
    pub fn of_one(&self) -> Option<Estimate> {
        self.rates.iter().find(|(generators, _)| *generators == 1).map(|(_, rate)| *rate)
    }

    /// Returns the smallest number of generators tried that reaches nearly the largest rate.
    pub fn knee(&self) -> Option<u32> {
        let (_, best) = self.best?;
        let mut near = self.rates.iter().filter(|(_, rate)| rate.value >= NEARLY * best.value);
        near.next().map(|(generators, _)| *generators)
    }

    /// Returns a rate, divided by the sum of the rates of the same number of generators that run alone.
    pub fn efficiency(&self, (generators, rate): (u32, Estimate)) -> Option<f64> {
        Some(rate.value / (f64::from(generators) * self.of_one()?.value))
    }

    /// Returns the lines that each generator has in flight at a rate, by Little's law: those read, at the latency of
    /// one chain.
    pub fn in_flight(&self, (generators, rate): (u32, Estimate)) -> Option<f64> {
        let reads = rate.value * shares(self.traffic.kind).read;
        let lines = reads * 1e-9 * self.latency_ns? / self.traffic.line.bytes().0.real();
        (lines > 0.0).then_some(lines / f64::from(generators))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::traffic::KINDS;

    /// Returns the number of generators with the limit, for rates of 1, 2 and 4 generators with their intervals.
    fn limit_of(rates: [(f64, f64); 3]) -> u32 {
        let rates = (0..3).map(|index| {
            let (value, half) = rates[index];
            let interval = (half > 0.0).then_some(Interval { low: value - half, high: value + half });
            (1 << index, Estimate { value, interval })
        });
        let rates: Vec<_> = rates.collect();
        1 << limit(&rates).unwrap()
    }

    #[test]
    fn the_limit_is_of_all_generators_unless_fewer_deliver_more_beyond_both_intervals() {
        assert_eq!(limit_of([(100.0, 3.0), (101.0, 3.0), (99.0, 3.0)]), 4);
        assert_eq!(limit_of([(50.0, 3.0), (110.0, 3.0), (99.0, 3.0)]), 2);
        assert_eq!(limit_of([(112.0, 3.0), (110.0, 3.0), (99.0, 3.0)]), 1);
        assert_eq!(limit_of([(50.0, 3.0), (104.0, 3.0), (99.0, 3.0)]), 4);
        // Without intervals, a difference of a few per cent shows nothing.
        assert_eq!(limit_of([(104.0, 0.0), (108.0, 0.0), (99.0, 0.0)]), 4);
        assert_eq!(limit_of([(50.0, 0.0), (120.0, 0.0), (99.0, 0.0)]), 2);
    }

    #[test]
    fn the_limit_of_similar_rates_is_not_biased_upwards() {
        let mut rng = latency_core::rng::Pcg32::new(11, 1);
        let mut chance = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        let (mut sum, mut all) = (0.0, 0);
        const RUNS: u32 = 2000;
        for _ in 0..RUNS {
            // Three medians with one true rate, each with an interval as wide as their scatter.
            let rates = [(); 3].map(|()| (100.0 + (0..12).map(|_| chance()).sum::<f64>(), 1.96));
            let count = limit_of(rates);
            sum += rates[count.ilog2() as usize].0;
            all += u32::from(count == 4);
        }
        // The largest of three values is 0.85 standard deviations above their mean.
        let mean = sum / f64::from(RUNS) - 100.0;
        assert!(mean.abs() < 0.1 && all > RUNS * 98 / 100, "{mean} above, all in {all} of {RUNS}");
    }

    #[test]
    fn bytes_are_lines_read_and_written() {
        let all: std::vec::Vec<_> = KINDS.iter().map(|kind| (kind.name, kind.bytes_per_line())).collect();
        assert_eq!(all[0], ("read", 64.0));
        assert_eq!(all[2], ("2:1", 96.0));
        assert_eq!(all[5], ("copy-nt", 128.0));
        for kind in &KINDS {
            let shares = shares(kind);
            assert!((shares.read + shares.written - 1.0).abs() < 1e-12, "{}", kind.name);
        }
        let write = shares(&KINDS[7]);
        assert_eq!((write.read, write.written, write.owned), (0.0, 1.0, 1.0));
    }
}
