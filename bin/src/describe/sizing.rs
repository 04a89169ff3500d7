//! The findings of the search for caches and memory before the run, for programs and for readers of details.

use latency_core::decimal::Decimal;

use super::Report;
use super::method::optional;
use crate::report::document::{Document, Part, Role, fields};
use crate::report::figures::Digits;

fields! {
    SIZING "sizing" "How the working set was chosen by measurement; null where --size or --max-size gives it, and where a busy machine left no time.";
    FIRST "first_working_set_bytes" "The working set at which the look began.";
    SIZE "working_set_bytes" "The working set for memory that it ended with.";
    RATIO "warm_over_cold" "Time per load in it after a lap, over that of loads that no cache serves.";
    CLEAR "clear" "Whether no cache was seen to serve it; false where memory did not allow more, null where time was short or passes differ too much to tell.";
    REPORTED "reported_cache_bytes" "The last-level cache by sysfs or CPUID.";
    PLANNED "planned_cache_bytes" "The last-level cache that the plan was made for: as found where that differs.";
    SOUGHT "cache_sought" "Whether smaller working sets were looked at to find that cache.";
    IN_CACHE "in_cache_bytes" "A working set that this cache serves, and no nearer one.";
    SECONDS "duration_s" "How long the look took.";
}

/// Describes the choice of the working set.
#[inline(never)] // offsets into a small frame are short
pub fn sizing(document: &mut dyn Document, report: &Report<'_, '_>) {
    let machine = report.machine;
    let Some(sizing) = machine.sizing else { return document.put(&SIZING, None::<bool>) };
    document.part(Part::Object(&SIZING), |document| {
        document.put(&FIRST, sizing.first);
        document.put(&SIZE, sizing.size);
        document.put(&RATIO, sizing.warm_over_cold);
        document.put(&CLEAR, sizing.clear);
        document.put(&REPORTED, machine.reported_cache());
        document.put(&PLANNED, machine.last_level_cache());
        document.put(&SOUGHT, sizing.cache_sought);
        document.put(&IN_CACHE, sizing.in_cache);
        document.put(&SECONDS, sizing.seconds);
    });
    document.sentence(
        Role::Detail(&"Working set"),
        format_args!(
            "{} found by a search of {} s: warm/cold latency ratio {:.3}; assumed last-level cache {}{}",
            sizing.size,
            Digits(sizing.seconds),
            Decimal(sizing.warm_over_cold),
            machine.last_level_cache(),
            optional(sizing.in_cache, |size, out| write!(out, " (serves {size})"))
        ),
    );
}
