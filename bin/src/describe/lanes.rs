//! Points with several chains side by side: the walk as members and columns, and in words.

use core::fmt::{self, Display};

use super::{Report, method, point, rows};
use crate::analysis::lanes::HierarchyPlace;
use crate::report::document::{Document, Field, Part, Role, fields};
use crate::result::{Point, Walk};

fields! {
    LANES "lanes" "Chains walked side by side; ns is the time for each load of any of them.";
    WORK "work" "Units of work that wait for each load.";
    PREFETCH "prefetch" "Whether the next line of a chain is prefetched.";
    INSTRUCTIONS "instructions_per_hop" "Instructions between a chain's load and its next one.";
    FILLER "filler" "The instructions between the loads of two chains.";
    FILLERS "fillers" "How many of them.";
}

/// The columns that distinguish points of one working set.
pub static COLUMNS: [&Field; 5] = [&LANES, &WORK, &PREFETCH, &FILLER, &FILLERS];

/// Describes the walk of a point.
fn members(document: &mut dyn Document, walk: &Walk) {
    document.put(&LANES, walk.lanes());
    match walk {
        Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => {}
        Walk::Lanes(kernel) => {
            document.put(&WORK, kernel.work);
            document.put(&PREFETCH, kernel.prefetch);
            document.put(&INSTRUCTIONS, kernel.instructions);
        }
        Walk::Apart(gap) => {
            document.put(&FILLER, gap.filler().name());
            document.put(&FILLERS, gap.fillers());
        }
    }
}

/// Returns the name of a point for people: `16 chains, work 4, 256 MiB`.
fn name(point: &Point) -> impl Display + '_ {
    fmt::from_fn(move |out| match point.walk.lanes() {
        1 => write!(out, "1 chain{}, {}", point.walk, point.size),
        chains => write!(out, "{chains} chains{}, {}", point.walk, point.size),
    })
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
pub fn method(document: &mut dyn Document, report: &Report<'_, '_>, walked: &str) {
    let last = report.outcomes.chunk_by(|one, other| one.point.size == other.point.size).last();
    let largest = Report { outcomes: last.unwrap_or_default(), ..*report };
    method::memory(document, &largest);
    if let Some(first) = largest.outcomes.first() {
        document.sentence(
            Role::Provenance(&"Method"),
            format_args!(
                "{walked}; random order, {} stride; TLB misses included; seed {}",
                first.point.stride, first.point.seed
            ),
        );
    }
}

/// Describes every point, as a row for people and as a record for programs.
pub fn points(document: &mut dyn Document, report: &Report<'_, '_>) {
    rows::table(document, report, "point", &|table, _, outcome| table.show(&name(&outcome.point)));
    super::points(document, Part::Records(&point::POINTS), report, &|document, _, outcome| {
        members(document, &outcome.point.walk);
    });
}
