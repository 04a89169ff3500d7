//! An estimate in the form that programs read.

use crate::report::document::{Document, Field, fields};
use latency_core::stats::Estimate;

/// The names of an estimate in a summary: the value, and both ends of its 95 % confidence interval.
pub type EstimateFields = [Field; 3];

fields! {
    VALUE "value" "The estimate.";
    LOW "low" "The lower end of its 95 % confidence interval within this run; null with too few rounds.";
    HIGH "high" "The upper end of the interval.";
}

/// Declares the names of estimates in a summary, each as a `static`: `NAME "key" "What it is.";`.
macro_rules! estimates {
    ($($name:ident $key:literal $about:literal;)*) => {
        $(#[doc = $about] static $name: $crate::describe::estimate::EstimateFields = [
            $crate::report::document::Field::new($key, $about),
            $crate::report::document::Field::new(
                concat!($key, "_low"),
                "The lower end of its 95 % confidence interval.",
            ),
            $crate::report::document::Field::new(concat!($key, "_high"), "The upper end of the interval."),
        ];)*
    };
}
pub(crate) use estimates;

/// Describes an estimate as an object with its interval; null without an estimate.
pub fn put(document: &mut dyn Document, field: &'static Field, estimate: Option<Estimate>) {
    document.object(field, estimate, |document, Estimate { value, interval }| {
        document.put(&VALUE, value);
        document.put(&LOW, interval.map(|interval| interval.low));
        document.put(&HIGH, interval.map(|interval| interval.high));
    });
}

/// Describes an estimate as three values side by side; null without an estimate.
#[inline(never)] // summaries of several experiments use it
pub fn flat(
    document: &mut dyn Document,
    [value, low, high]: &'static EstimateFields,
    estimate: Option<Estimate>,
) {
    let interval = estimate.and_then(|estimate| estimate.interval);
    document.put(value, estimate.map(|estimate| estimate.value));
    document.put(low, interval.map(|interval| interval.low));
    document.put(high, interval.map(|interval| interval.high));
}
