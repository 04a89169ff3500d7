//! What translation costs.

use serde_json::Value;

use super::{Model, Table};

impl Table {
    /// Kinds of pages.
    pub(super) fn pages(&mut self, model: &Model, document: &Value) {
        self.word("todo", model.prefetch, document["translation"].to_string());
    }
}
