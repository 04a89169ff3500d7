//! Compares the levels of the hierarchy that a curve reports.

use serde_json::Value;

use super::{Boot, Model, Table, Truth, text};
use crate::lab::delivered::Source;

/// Tolerance of a latency, which is either from the points of a plateau or from the fit through all points.
const LATENCY_TOLERANCE: f64 = 0.02;
/// Tolerance of the cost of translation, which is a difference of two latencies.
const TRANSLATION_TOLERANCE: f64 = 0.05;
/// Tolerance of a size, which lies between two points that are a sixteenth of an octave apart.
const SIZE_TOLERANCE: f64 = 0.1;

impl Table {
    /// Compares the levels of `model`, and its translation buffer, with those of `document`.
    pub(super) fn curve(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let tolerance = model.tolerance.unwrap_or(LATENCY_TOLERANCE);
        let levels = document["model"]["levels"].as_array().map_or(&[][..], Vec::as_slice);
        let of =
            |asked: u64, source| boot.delivered.of_windows(asked as f64, |windows| windows.source == source);
        self.word("levels", model.levels.len(), text(levels.len()));
        for (index, level) in model.levels.iter().enumerate() {
            let name = format!("level {}", index + 1);
            let reported = |key: &str| levels.get(index)?[key].as_f64();
            self.time(&name, of(level.ticks, Source::Level(index + 1)), reported("ns"), tolerance);
            let (size, found) = (Truth::exact(level.size as f64), reported("capacity_bytes"));
            self.figure(&format!("{name}, bytes"), size, found, SIZE_TOLERANCE);
        }
        let memory = document["model"]["memory"]["ns"].as_f64();
        self.time("memory", of(model.memory_ticks(), Source::Memory(0, 0)), memory, tolerance);
        if let Some(tlb) = model.tlb.first() {
            let reported = |key: &str| document["model"]["tlb"][key].as_f64();
            self.figure("translations", Truth::exact(tlb.entries as f64), reported("pages"), SIZE_TOLERANCE);
            let truth = boot.delivered.of_misses(tlb.ticks as f64);
            self.time("a missing translation", truth, reported("miss_ns"), TRANSLATION_TOLERANCE);
        }
    }
}
