//! The cost of the order of a walk.

use latency_core::Estimate;
use latency_core::chain::Order;
use latency_engine::result::{Outcome, Strided};

/// The time per load over the same lines in each order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrdersConclusion {
    /// A dependent load in random order.
    pub random: Option<Estimate>,
    /// A dependent load in address order.
    pub sequential: Option<Estimate>,
    /// A dependent load in descending address order.
    pub backward: Option<Estimate>,
    /// A load in address order that depends on no other.
    pub independent: Option<Estimate>,
    /// The ratio of the time in random order to that in address order, to that in descending order, and to that of
    /// independent loads.
    pub over: [Option<Estimate>; 3],
}

/// Draws the conclusions from the walks and the independent loads.
pub fn conclude(outcomes: &[Outcome], strided: Option<Strided>) -> OrdersConclusion {
    #[cfg(test)]
    super::drawn_tests::draws("order");
    let of = |order| outcomes.iter().find(|outcome| outcome.point.order == order).and_then(Outcome::estimate);
    let (random, sequential, backward) = (of(Order::Random), of(Order::Sequential), of(Order::Backward));
    let independent =
        strided.map(|strided| Estimate { value: strided.nanoseconds, interval: strided.interval });
    let over = [sequential, backward, independent].map(|other| random?.over(other?));
    OrdersConclusion { random, sequential, backward, independent, over }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_engine::result::Walk;
    use latency_engine::tests::outcome::outcome;

    fn ratios(random: f64) -> [Option<f64>; 3] {
        let walk = |order, ns| {
            let mut walk = outcome(1 << 28, Walk::Chain, ns);
            walk.point.order = order;
            walk
        };
        let outcomes = [walk(Order::Random, random), walk(Order::Sequential, 7.5)];
        let outcomes = if random > 0.0 { &outcomes[..] } else { &outcomes[1..] };
        let strided = Strided { nanoseconds: 5.0, interval: None, core_cycles: None, rounds: 5 };
        conclude(outcomes, Some(strided)).over.map(|ratio| ratio.map(|ratio| ratio.value))
    }

    #[test]
    fn ratios_are_over_random_order() {
        assert_eq!(ratios(120.0), [Some(16.0), None, Some(24.0)]);
        assert_eq!(ratios(0.0), [None; 3]);
    }

    #[test]
    fn without_measurements_there_are_no_conclusions() {
        assert_eq!(conclude(&[], None), OrdersConclusion::default());
    }
}
