//! The sentence that compares a result with published figures of the processor.
//!
//! It is information only: no trust and no verdict depends on it.

use core::ops::RangeInclusive;

use latency_core::decimal::Decimal;
use latency_core::text::plural;
use latency_core::units::Bytes;

use super::optional::optional;
use super::report::Report;
use crate::analysis::reference::quantity::REORDER_BUFFER;
use crate::analysis::reference::{self, PublishedQuantity};
use crate::machine::processor::Platform;
use crate::report::document::Document;

/// The shares of a published reorder buffer that are about half of it.
const HALF: RangeInclusive<f64> = 0.42..=0.56;
/// The largest size of pages that are small.
const SMALL: Bytes = Bytes(64 << 10);

/// Writes how a result compares with the published figures of the processor, if there are any. Without a value, only the
/// figures are shown.
#[inline(never)] // it is called in several places
pub fn published(
    document: &mut dyn Document,
    report: &Report<'_, '_>,
    quantity: PublishedQuantity,
    value: Option<f64>,
) {
    let processor = &report.machine.processor;
    let Some((name, usual)) = reference::usual(processor, quantity) else { return };
    let [low, high] = usual.ends();
    // The family of a processor of this instruction set; each of its cores has two threads.
    let is_split = quantity == REORDER_BUFFER && processor.signature.0 < 0x40;
    let machine = match (processor.platform == Platform::Virtual, usual.stated.is_virtual()) {
        (true, false) => ", on a virtual machine",
        (false, true) => ", on bare metal",
        _ => "",
    };
    let placed = report.outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok());
    let size = placed.and_then(|measured| measured.placed.pages.size());
    let pages = if size.is_some_and(|size| size.bytes() <= SMALL) { ", in small pages" } else { "" };
    let relation = optional(value, |value, out| {
        let ratio = value / value.max(low).min(high);
        if is_split && HALF.contains(&ratio) {
            return out.write_str("; this is about half, as when the sibling thread of the core is active");
        }
        write!(out, "; this is {:.2}x that", Decimal(ratio))?;
        match quantity.depends_on_machine() {
            true => write!(out, "{machine}{pages}"),
            false => Ok(()),
        }
    });
    let sources = usual.stated.sources();
    let s = plural(sources as usize);
    document.finding(format_args!("Published for {name}: {usual}, {sources} source{s}{relation}."));
}
