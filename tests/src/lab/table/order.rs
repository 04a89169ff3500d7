//! Compares the latency by order of the walk, with and without a prefetcher.

use serde_json::Value;

use super::{Boot, Model, Table, Truth};
use crate::lab::delivered::Source;

/// Tolerance of a random walk, which has the memory's latency.
const RANDOM_TOLERANCE: f64 = 0.01;
/// Tolerance of a walk in order: with a prefetcher its hops are a mixture of a few long and many short ones.
const ORDERED_TOLERANCE: f64 = 0.02;

impl Table {
    /// Compares random, sequential and backward order.
    pub(super) fn order(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let of = |asked, source| boot.delivered.of_windows(asked, |windows| windows.source == source);
        let random = of(model.memory_ticks() as f64, Source::Memory(0, 0));
        let mixed = model.ordered_ticks() < random.asked;
        let ordered = of(model.ordered_ticks(), if mixed { Source::Mixed } else { Source::Memory(0, 0) });
        for (order, truth, tolerance) in [
            ("random", random, RANDOM_TOLERANCE),
            ("sequential", ordered, ORDERED_TOLERANCE),
            ("backward", ordered, ORDERED_TOLERANCE),
        ] {
            let mut points = document["rows"].as_array().into_iter().flatten();
            let point = points.find(|point| point["walk_order"] == order);
            let reported = point.and_then(|point| point["ns"].as_f64());
            self.time(order, truth, reported, model.tolerance.unwrap_or(tolerance));
        }
        let ratio = Truth {
            asked: random.asked / ordered.asked,
            low: random.low / ordered.high,
            delivered: random.delivered / ordered.delivered,
            high: random.high / ordered.low,
        };
        for (key, name) in
            [("random_over_sequential", "random/sequential"), ("random_over_backward", "random/backward")]
        {
            let reported = document["summary"][key].as_f64();
            self.figure(name, ratio, reported, ORDERED_TOLERANCE + RANDOM_TOLERANCE);
        }
    }
}
