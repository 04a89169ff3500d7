//! What the latencies of all pairs of nodes say together.

use latency_core::units::NodeId;

use crate::result::Outcome;

/// One measured pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The node whose CPU did the loads.
    pub from: NodeId,
    /// The node whose memory was walked.
    pub to: NodeId,
    /// The latency in nanoseconds.
    pub ns: f64,
}

/// What a matrix says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The mean latency of nodes to their own memory.
    pub local_ns: Option<f64>,
    /// The mean latency of nodes to the memory of others.
    pub remote_ns: Option<f64>,
    /// The pair with the smallest latency.
    pub fastest: Option<Pair>,
    /// The pair with the largest latency; `None` where there is one pair only.
    pub slowest: Option<Pair>,
}

impl Conclusion {
    /// How many times as long remote memory takes.
    #[must_use]
    pub fn remote_over_local(&self) -> Option<f64> {
        Some(self.remote_ns? / self.local_ns?)
    }
}

/// The measured pairs.
pub fn pairs<'o>(outcomes: &'o [Outcome<'_>]) -> impl Iterator<Item = Pair> + Clone + 'o {
    outcomes.iter().filter_map(|outcome| {
        let (from, to) = (outcome.point.initiator, outcome.point.target);
        Some(Pair { from, to, ns: outcome.nanoseconds()? })
    })
}

/// Returns what the pairs say together.
#[must_use]
pub fn conclude(pairs: impl Iterator<Item = Pair> + Clone) -> Conclusion {
    let mean = |local: bool| mean(pairs.clone().filter(|pair| (pair.from == pair.to) == local));
    let by_latency = |a: &Pair, b: &Pair| a.ns.total_cmp(&b.ns);
    let fastest = pairs.clone().min_by(by_latency);
    let slowest = pairs.clone().max_by(by_latency);
    Conclusion {
        local_ns: mean(true),
        remote_ns: mean(false),
        fastest,
        slowest: slowest.filter(|_| pairs.clone().nth(1).is_some()),
    }
}

/// Returns how many times as long a node's remote memory takes as its own, on average.
#[must_use]
pub fn remote_over_local_of(pairs: impl Iterator<Item = Pair> + Clone, from: NodeId) -> Option<f64> {
    conclude(pairs.filter(|pair| pair.from == from)).remote_over_local()
}

fn mean(pairs: impl Iterator<Item = Pair>) -> Option<f64> {
    let (sum, count) = pairs.fold((0.0, 0_u32), |(sum, count), pair| (sum + pair.ns, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn pair(from: u32, to: u32, ns: f64) -> Pair {
        Pair { from: NodeId(from), to: NodeId(to), ns }
    }

    #[test]
    fn remote_is_compared_with_local_by_means_and_by_node() {
        let pairs =
            [pair(0, 0, 100.0), pair(0, 1, 180.0), pair(1, 0, 220.0), pair(1, 1, 110.0), pair(1, 2, 440.0)];
        let found = conclude(pairs.into_iter());
        assert_eq!((found.local_ns, found.remote_ns), (Some(105.0), Some(280.0)));
        assert_eq!((found.fastest, found.slowest), (Some(pairs[0]), Some(pairs[4])));
        assert_eq!(remote_over_local_of(pairs.into_iter(), NodeId(0)), Some(1.8));
        assert_eq!(remote_over_local_of(pairs.into_iter(), NodeId(1)), Some(3.0));
    }

    #[test]
    fn one_pair_is_compared_with_nothing() {
        let found = conclude([pair(0, 0, 100.0)].into_iter());
        assert_eq!((found.remote_over_local(), found.slowest), (None, None));
        assert_eq!(conclude([].into_iter()), Conclusion::default());
    }
}
