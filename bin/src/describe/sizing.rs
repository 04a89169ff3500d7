//! The findings of the search for caches and memory before the run, for programs and for readers of details.

use super::Report;
use super::method::optional;
use crate::report::document::{Part, Role, fields};
use crate::report::figures::Digits;
use crate::report::shown::Shown;

fields! {
    SIZING "sizing" "Search for the default working set; null if --size or --max-size gives it, or if there was no time.";
    FIRST "first_working_set_bytes" "Working set at the start of the search, in bytes.";
    SIZE "working_set_bytes" "Working set for memory that the search chose, in bytes.";
    RATIO "warm_over_cold" "Time per load after a complete pass, divided by the time of loads that no cache serves.";
    CLEAR "clear" "True if no cache serves the working set; false if memory did not allow more, null if there was no time or passes differ too much.";
    REPORTED "reported_cache_bytes" "Capacity of the last-level cache by sysfs or the processor, in bytes.";
    PLANNED "planned_cache_bytes" "Capacity of the last-level cache that the plan assumes, in bytes; differs from the reported one if the search found another.";
    SOUGHT "cache_sought" "True if the search measured smaller working sets to find the last-level cache.";
    IN_CACHE "in_cache_bytes" "Working set that the last-level cache serves, and no nearer one, in bytes; null if none was found.";
    SECONDS "duration_s" "Duration of the search, in seconds.";
}

/// Describes the choice of the working set.
pub fn sizing(document: &mut Shown, report: &Report<'_, '_>) {
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
        Role::Detail("Working set"),
        format_args!(
            "{} found by a search of {} s: warm/cold latency ratio {:.3}; assumed last-level cache {}{}",
            sizing.size,
            Digits(sizing.seconds),
            sizing.warm_over_cold,
            machine.last_level_cache(),
            optional(sizing.in_cache, |size, out| write!(out, " (serves {size})"))
        ),
    );
}
