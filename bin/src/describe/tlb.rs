//! Levels of the TLB, for people and programs.

use core::fmt::{self, Display};

use latency_core::math;
use latency_core::stats::{Estimate, Interval};

use crate::analysis::tlb::TlbEnd;
use crate::report::document::fields;
use crate::report::shown::Shown;

fields! {
    PAGES "pages" interval "Number of pages up to which most loads find an entry; its bounds are those up to which nearly all do, and from which few do.";
    PAGE_BYTES "page_bytes" "Page size of a TLB entry, in bytes.";
    MISS_NS "miss_ns" "Extra time of a miss over a hit of the first level, in nanoseconds.";
    MISS_CYCLES "miss_core_cycles" "Extra time of a miss over a hit of the first level, in core cycles; null if the core clock is unknown.";
}

/// Describes a level for programs, at this core clock.
pub fn level(document: &mut Shown, level: &TlbEnd, gigahertz: Option<f64>) {
    document.put(&PAGES, level.entries);
    document.put(&PAGE_BYTES, level.page);
    document.put(&MISS_NS, level.miss_ns);
    document.put(&MISS_CYCLES, gigahertz.map(|gigahertz| level.miss_ns * gigahertz));
}

/// Shows a number of entries with its bounds, if they are known and differ.
pub fn entries(Estimate { value, interval }: Estimate) -> impl Display {
    let whole = |number: f64| math::whole(number + 0.5);
    let ends = interval.map_or([value; 2], |Interval { low, high }| [low, high]).map(whole);
    fmt::from_fn(move |out| match ends {
        [low, high] if low < high => write!(out, "{low} to {high}"),
        _ => write!(out, "{}", whole(value)),
    })
}
