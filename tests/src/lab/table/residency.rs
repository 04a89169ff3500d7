//! Compares the life of lines in a shared cache with the rate at which the neighbour throws them out.

use std::f64::consts::LN_2;

use serde_json::Value;

use super::{Model, Table, Truth, given, host};

/// Tolerance of the half-life, and of the rate that follows from it.
const TOLERANCE: f64 = 0.05;
/// Ticks in which the neighbour uses its lines.
const PERIOD: f64 = 1_048_576.0;
const LINE: f64 = 64.0;

impl Table {
    /// Compares the half-life and the rate of insertions; without a neighbour nothing may leave.
    pub(super) fn residency(&mut self, model: &Model, document: &Value) {
        let summary = |key: &str| document["summary"][key].as_f64();
        let cache = model.last_level.as_ref().map_or(f64::NAN, |level| level.level.size as f64);
        let rate = model.neighbour as f64 * LINE * host::frequency() / PERIOD;
        if model.neighbour == 0 {
            self.word("a half-life", given(false), given(summary("half_life_ns").is_some()).into());
            self.word(
                "a longest wait",
                given(cache > 0.0),
                given(summary("half_life_above_ns").is_some()).into(),
            );
            return;
        }
        let half_ns = cache * LN_2 / rate * 1e9;
        self.figure("half-life, ns", Truth::exact(half_ns), summary("half_life_ns"), TOLERANCE);
        let found = summary("inserted_bytes_per_second");
        self.figure("inserted, bytes/s", Truth::exact(rate), found, TOLERANCE);
    }
}
