//! The cost of the order of a walk.

use latency_core::chain::Order;

use crate::result::{Outcome, Strided};
use latency_core::stats::Estimate;

/// The time per load of the same lines in each order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrdersConclusion {
    /// A dependent load in random order.
    pub random: Option<Estimate>,
    /// A dependent load in address order.
    pub sequential: Option<Estimate>,
    /// A dependent load against address order.
    pub backward: Option<Estimate>,
    /// A load in address order that waits for no other.
    pub independent: Option<Estimate>,
}

impl OrdersConclusion {
    /// Returns the time of random order over that of address order.
    #[must_use]
    pub fn over_sequential(&self) -> Option<Estimate> {
        self.random?.over(self.sequential?)
    }

    /// Returns the time of random order over that of backward order.
    #[must_use]
    pub fn over_backward(&self) -> Option<Estimate> {
        self.random?.over(self.backward?)
    }

    /// Returns the time of a dependent load in random order over that of an independent one in address order.
    #[must_use]
    pub fn over_independent(&self) -> Option<Estimate> {
        self.random?.over(self.independent?)
    }
}

/// Returns what the walks and the independent loads say together.
#[must_use]
pub fn conclude(outcomes: &[Outcome<'_>], strided: Option<Strided>) -> OrdersConclusion {
    let of = |order| outcomes.iter().find(|outcome| outcome.point.order == order).and_then(Outcome::estimate);
    OrdersConclusion {
        random: of(Order::Random),
        sequential: of(Order::Sequential),
        backward: of(Order::Backward),
        independent: strided
            .map(|strided| Estimate { value: strided.nanoseconds, interval: strided.interval }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_over_random_order() {
        let found = OrdersConclusion {
            random: Some(120.0.into()),
            sequential: Some(7.5.into()),
            backward: None,
            independent: Some(5.0.into()),
        };
        let value = |ratio: Option<Estimate>| ratio.map(|ratio| ratio.value);
        assert_eq!(value(found.over_sequential()), Some(16.0));
        assert_eq!(value(found.over_independent()), Some(24.0));
        assert_eq!(value(found.over_backward()), None);
        assert_eq!(OrdersConclusion { random: None, ..found }.over_sequential(), None);
    }

    #[test]
    fn nothing_measured_says_nothing() {
        assert_eq!(conclude(&[], None), OrdersConclusion::default());
    }
}
