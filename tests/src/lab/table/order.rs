//! What the order of a walk costs: with a prefetcher, and without one.

use serde_json::Value;

use super::{gigahertz, Model, Table};

/// A random walk is the memory's latency.
const RANDOM_TOLERANCE: f64 = 0.02;
/// What a prefetcher has brought is a mixture of few long and many short hops.
const ORDERED_TOLERANCE: f64 = 0.03;

impl Table {
    /// Random, sequential and backward order.
    pub(super) fn order(&mut self, model: &Model, document: &Value) {
        let gigahertz = gigahertz(document);
        let ordered = model.ordered_ticks();
        for (order, truth, tolerance) in [
            ("random", model.memory_ticks() as f64, RANDOM_TOLERANCE),
            ("sequential", ordered, ORDERED_TOLERANCE),
            ("backward", ordered, ORDERED_TOLERANCE),
        ] {
            let mut points = document["points"].as_array().into_iter().flatten();
            let point = points.find(|point| point["order"] == order);
            let ticks = point.and_then(|point| Some(point["ns"].as_f64()? * gigahertz));
            self.figure(&format!("{order}, ticks"), truth, ticks, model.tolerance.unwrap_or(tolerance));
        }
        for (key, name) in
            [("random_sequential", "random/sequential"), ("random_backward", "random/backward")]
        {
            let ratio = document["ratios"][key].as_f64();
            let truth = model.memory_ticks() as f64 / ordered;
            self.figure(name, truth, ratio, ORDERED_TOLERANCE + RANDOM_TOLERANCE);
        }
    }
}
