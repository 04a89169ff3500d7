//! Points with several chains side by side: the walk as members and columns, and in words.

use alloc::string::String;
use core::fmt::{self, Display};
use latency_core::{Worded, plural};

use super::{Report, columns, method, point};
use crate::analysis::lanes::HierarchyPlace;
use latency_engine::result::{Point, Walk};
use latency_report::{Level, Role, Shown};

/// Describes the walk of a point.
fn members(document: &mut Shown, walk: &Walk) {
    document.put(&columns::CHAINS, walk.lanes());
    match walk {
        Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => {}
        Walk::Lanes(kernel) => {
            document.put(&columns::WORK, kernel.work());
            document.put(&columns::PREFETCH, kernel.prefetch);
            document.put(&columns::INSTRUCTIONS, kernel.instructions());
        }
        Walk::Apart(gap) => {
            document.put(&columns::FILLER, gap.filler().word());
            document.put(&columns::FILLERS, gap.fillers());
        }
    }
}

/// Returns the name of a point for people: `16 chains, work 4, 256 MiB`.
fn name(point: &Point) -> String {
    let chains = point.walk.lanes();
    format!("{chains} chain{}{}, {}", plural(chains), point.walk, point.size)
}

/// Returns the name of a place in the hierarchy for people.
pub fn place(place: HierarchyPlace) -> impl Display {
    fmt::from_fn(move |out| match place {
        HierarchyPlace::Cache(level) => write!(out, "L{level}"),
        HierarchyPlace::Memory => out.write_str("memory"),
        HierarchyPlace::Unknown => out.write_str("cache or memory"),
    })
}

/// Writes the method: the memory of the largest working set, which the other working sets do not share, then `walked`.
pub fn method(document: &mut Shown, report: &Report<'_>, walked: &str) {
    let last = report.outcomes.chunk_by(|one, other| one.point.size == other.point.size).last();
    let largest = Report { outcomes: last.unwrap_or_default(), ..*report };
    method::memory(document, &largest);
    if let Some(first) = largest.outcomes.first() {
        document.under(Role::Provenance("Method")).write(format_args!(
            "{walked}; random order, {} stride; TLB misses included; seed {}",
            first.point.stride, first.point.seed
        ));
    }
}

/// Describes every point as a row for programs.
pub fn records(document: &mut Shown, report: &Report<'_>) {
    point::rows_with(document, report, &|document, _, outcome| members(document, &outcome.point.walk));
}

/// Describes every point as a row for people, and the evidence for it.
pub fn points(document: &mut Shown, report: &Report<'_>) {
    point::table(document, report, (Level::Verbose, "point"), &|_, outcome| name(&outcome.point));
    point::evidence(document, report);
}
