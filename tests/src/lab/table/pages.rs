//! Compares the cost of translation.

use serde_json::Value;

use super::{Boot, Model, Table, Truth, nanoseconds_of_cycles};

/// Tolerance of a cost, which is a difference of two latencies.
const COST_TOLERANCE: f64 = 0.05;
/// Tolerance of a number of entries, since the probe tries numbers of pages in steps.
const ENTRIES_TOLERANCE: f64 = 0.1;

impl Table {
    /// Compares the first translation buffer, by its own probe on 4 KiB pages, and its cost to a random walk
    /// over the largest working set, by the difference to larger pages, if there were any.
    pub(super) fn pages(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let points = document["rows"].as_array().map_or(&[][..], Vec::as_slice);
        let small = || points.iter().filter(|point| point["pages_asked"] == "4k");
        let mut kinds = document["tlbs"].as_array().into_iter().flatten();
        let probed = kinds.find(|kind| kind["pages_asked"] == "4k").map(|kind| &kind["levels"][0]);
        let number = |key: &str| probed.and_then(|level| level[key].as_f64());
        let Some(tlb) = model.tlb.first() else {
            return self.word(
                "translation buffers",
                "none",
                number("span_bytes").map_or("none".into(), super::text),
            );
        };
        let entries = number("span_bytes").map(|bytes| bytes / 4096.0);
        self.figure("translations", Truth::exact(tlb.entries as f64), entries, ENTRIES_TOLERANCE);

        let walks = || small().filter(|point| point["walk_order"] == "random" && point["stride_bytes"] == 64);
        let set = |point: &Value| point["working_set_bytes"].as_u64();
        let truth = boot.delivered.of_misses(tlb.ticks as f64);
        let reported = number("miss_core_cycles").map(nanoseconds_of_cycles);
        self.time("a missing translation", truth, reported, COST_TOLERANCE);

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
}
