//! Compares the cost of translation.

use serde_json::Value;

use super::{Boot, Model, Table, Truth, nanoseconds_of_cycles};

/// Tolerance of the cost of a miss, and of translation in a walk over all lines.
const MISS_TOLERANCE: f64 = 0.02;
const COST_TOLERANCE: f64 = 0.05;
/// Tolerance of a number of entries.
const ENTRIES_TOLERANCE: f64 = 0.02;

impl Table {
    /// Compares the levels of the TLB by the spans of 4 KiB pages, and the cost of translation to a random walk
    /// over the largest working set, by the difference to larger pages, if there were any.
    pub(super) fn pages(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let points = document["rows"].as_array().map_or(&[][..], Vec::as_slice);
        let small = || points.iter().filter(|point| point["pages_asked"] == "4k");
        let mut kinds = document["translation"].as_array().into_iter().flatten();
        let levels = kinds.find(|kind| kind["pages_asked"] == "4k").and_then(|kind| kind["tlb"].as_array());
        let levels = levels.map_or(&[][..], Vec::as_slice);
        self.word("levels of the TLB", model.tlb.len(), levels.len().to_string());
        let mut ticks = 0.0;
        for (place, tlb) in model.tlb.iter().enumerate() {
            let number = |key: &str| levels.get(place).and_then(|level| level[key].as_f64());
            ticks += tlb.ticks as f64;
            let truth = Truth::exact(tlb.entries as f64);
            self.figure(&format!("TLB {}, entries", place + 1), truth, number("pages"), ENTRIES_TOLERANCE);
            let reported = number("miss_core_cycles").map(|cycles| nanoseconds_of_cycles(model, cycles));
            let truth = boot.delivered.of_misses(ticks);
            self.time(&format!("TLB {}, a miss", place + 1), truth, reported, MISS_TOLERANCE);
        }
        self.largest_span(model, boot, document, ticks);
        // Two levels have different shares of misses in a walk over all lines.
        let [tlb] = &model.tlb[..] else { return };
        let truth = boot.delivered.of_misses(tlb.ticks as f64);
        let walks = || small().filter(|point| point["walk_order"] == "random" && point["stride_bytes"] == 64);
        let set = |point: &Value| point["working_set_bytes"].as_u64();

        let largest = walks().max_by_key(|point| set(point));
        let value = |key: &str| largest.and_then(|point| point[key].as_f64());
        if let Some(share) = value("page_walk_share") {
            // Successive lines are in the translation buffer only by chance.
            let pages = value("working_set_bytes").map_or(f64::NAN, |bytes| bytes / 4096.0);
            let truth = truth.times(1.0 - tlb.entries as f64 / pages);
            let reported = value("ns").map(|nanoseconds| nanoseconds * share);
            self.time("translation of a random hop", truth, reported, COST_TOLERANCE);
        } else if model.reserved() > 0 {
            self.word("a share of translation", "some", "none".into());
        }
    }

    /// Compares the cost of translation over the largest span, where every load misses all levels of the TLB.
    fn largest_span(&mut self, model: &Model, boot: &Boot, document: &Value, ticks: f64) {
        let cost = document["summary"]["small_pages_translation_ns"].as_f64();
        if !model.tlb.is_empty() {
            let truth = boot.delivered.of_misses(ticks);
            return self.time("translation over the largest span", truth, cost, MISS_TOLERANCE);
        }
        let hit = document["translation"][0]["spans"][0]["ns"].as_f64();
        let share = cost.zip(hit).map(|(cost, hit)| cost / hit);
        let is_none = share.is_some_and(|share| share.abs() < COST_TOLERANCE);
        self.word("a visible cost of translation", false, (!is_none).to_string());
    }
}
