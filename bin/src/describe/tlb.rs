//! Levels of the TLB, for people and programs.

use core::fmt::{self, Display};

use latency_core::math;
use latency_core::stats::{Estimate, Interval};

use crate::analysis::tlb::TlbEnd;
use crate::record::members::{TLB_MISS, TLB_PAGE, TLB_PAGES};
use crate::report::document::members;
use crate::report::shown::Shown;

/// Describes a level for programs, at this core clock.
pub fn level(document: &mut Shown, level: &TlbEnd, gigahertz: Option<f64>) {
    members! { document;
        TLB_PAGES: level.entries;
        TLB_PAGE: level.page;
        TLB_MISS: level.miss_ns;
        "miss_core_cycles": gigahertz.map(|gigahertz| level.miss_ns * gigahertz) => "Extra time of a miss over a hit of the first level, in core cycles; null if the core clock is unknown.";
    }
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
