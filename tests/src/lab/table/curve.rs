//! What a curve says of the levels of the hierarchy.

use serde_json::Value;

use super::{gigahertz, text, Model, Table};

/// A latency comes from the points of a plateau, or of the fit through all points.
const LATENCY_TOLERANCE: f64 = 0.03;
/// It is a difference of two.
const TRANSLATION_TOLERANCE: f64 = 0.05;
/// A size lies between two points that are a sixteenth of an octave apart.
const SIZE_TOLERANCE: f64 = 0.1;

impl Table {
    /// The levels of `model`, and its translation buffer, beside those that `document` reports.
    pub(super) fn curve(&mut self, model: &Model, document: &Value) {
        let gigahertz = gigahertz(document);
        let tolerance = model.tolerance.unwrap_or(LATENCY_TOLERANCE);
        let levels = document["model"]["levels"].as_array().map_or(&[][..], Vec::as_slice);
        self.word("levels", model.levels.len(), text(levels.len()));
        for (index, level) in model.levels.iter().enumerate() {
            let name = format!("level {}", index + 1);
            let reported = |key: &str| levels.get(index)?[key].as_f64();
            let ticks = reported("ns").map(|nanoseconds| nanoseconds * gigahertz);
            self.figure(&format!("{name}, ticks"), level.ticks as f64, ticks, tolerance);
            self.figure(&format!("{name}, bytes"), level.size as f64, reported("size_bytes"), SIZE_TOLERANCE);
        }
        let memory = document["model"]["memory"]["ns"].as_f64().map(|nanoseconds| nanoseconds * gigahertz);
        self.figure("memory, ticks", model.memory_ticks() as f64, memory, tolerance);
        if let Some(tlb) = model.tlb.first() {
            let reported = |key: &str| document["model"]["translation"][key].as_f64();
            let miss = reported("miss_ns").map(|nanoseconds| nanoseconds * gigahertz);
            self.figure("translations", tlb.entries as f64, reported("pages"), SIZE_TOLERANCE);
            self.figure("a missing translation, ticks", tlb.ticks as f64, miss, TRANSLATION_TOLERANCE);
        }
    }
}
