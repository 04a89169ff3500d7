//! An estimate, as programs read it.

use crate::analysis::estimate::Estimate;
use crate::report::document::{fields, Document, Field, Part};

fields! {
    VALUE "value" "The estimate.";
    LOW "low" "The lower end of its 95 % confidence interval within this run; null with too few rounds.";
    HIGH "high" "The upper end of the interval.";
}

/// Describes an estimate as an object with its interval; null where there is none.
pub fn put(document: &mut dyn Document, field: &'static Field, estimate: Option<Estimate>) {
    let Some(Estimate { value, interval }) = estimate else { return document.put(field, None::<bool>) };
    document.part(Part::Object(field), |document| {
        document.put(&VALUE, value);
        document.put(&LOW, interval.map(|interval| interval.low));
        document.put(&HIGH, interval.map(|interval| interval.high));
    });
}
