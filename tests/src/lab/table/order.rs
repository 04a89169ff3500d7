//! What the order of a walk costs.

use serde_json::Value;

use super::{Model, Table};

impl Table {
    /// Random, sequential and backward order.
    pub(super) fn order(&mut self, model: &Model, document: &Value) {
        self.word("todo", model.prefetch, document["points"].to_string());
    }
}
