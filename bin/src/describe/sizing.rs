//! The findings of the search for caches and memory before the run, for programs and for readers of details.

use super::Report;
use super::method::optional;
use crate::report::document::{Part, Role, fields, members};
use crate::report::figures::Digits;
use crate::report::shown::Shown;

fields! {
    SIZING "sizing" "Search for the default working set; null if --size or --max-size gives it, or if there was no time.";
}

/// Describes the choice of the working set.
pub fn sizing(document: &mut Shown, report: &Report<'_, '_>) {
    let machine = report.machine;
    let Some(sizing) = machine.sizing else { return document.put(&SIZING, None::<bool>) };
    document.part(Part::Object(&SIZING), |document| {
        members! { document;
            "first_working_set_bytes": sizing.first => "Working set at the start of the search, in bytes.";
            "working_set_bytes": sizing.size => "Working set for memory that the search chose, in bytes.";
            "warm_over_cold": sizing.warm_over_cold => "Time per load after a complete pass, divided by the time of loads that no cache serves.";
            "clear": sizing.clear => "True if no cache serves the working set; false if memory did not allow more, null if there was no time or passes differ too much.";
            "reported_cache_bytes": machine.reported_cache() => "Capacity of the last-level cache by sysfs or the processor, in bytes.";
            "planned_cache_bytes": machine.last_level_cache() => "Capacity of the last-level cache that the plan assumes, in bytes; differs from the reported one if the search found another.";
            "cache_sought": sizing.cache_sought => "True if the search measured smaller working sets to find the last-level cache.";
            "in_cache_bytes": sizing.in_cache => "Working set that the last-level cache serves, and no nearer one, in bytes; null if none was found.";
            "duration_s": sizing.seconds => "Duration of the search, in seconds.";
        }
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
