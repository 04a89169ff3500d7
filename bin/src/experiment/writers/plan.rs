//! The plan for people who want to know before they wait (`--dry-run`).

use core::fmt::{self, Write};

use latency_core::units::Bytes;

use crate::options::Choice;
use crate::plan::duration::Range;
use crate::result::words::OrderName;
use crate::result::{Point, Walk};

/// Writes every point, the memory that they need together, and how long it `takes`.
///
/// # Errors
///
/// Those of `out`.
pub fn text(out: &mut dyn Write, points: &[Point], takes: Range) -> fmt::Result {
    let mut bytes = Bytes(0);
    for (index, point) in points.iter().enumerate() {
        let Point { initiator, cpu, target, size, stride, pages, kernel, walk, order, .. } = point;
        write!(
            out,
            "Node {initiator} (CPU {cpu}) -> Node {target}: {size} in {} nodes {stride} apart, {} order, {} kernel, pages {}",
            size.0 / stride.0.max(1),
            OrderName(*order),
            kernel.name,
            pages.word()
        )?;
        lanes_of(out, walk)?;
        out.write_char('\n')?;
        let earlier = points.get(..index).unwrap_or_default();
        // Lanes have memory for every working set; other points on one node in one kind of pages share the largest.
        let alike = |other: &Point| {
            other.target == *target
                && other.pages == *pages
                && (other.size == *size || matches!(walk, Walk::Chain))
        };
        if !earlier.iter().any(alike) {
            let sizes = points.iter().filter(|other| alike(other)).map(|other| other.size);
            bytes.0 += sizes.max().map_or(0, |largest| largest.0);
        }
    }
    writeln!(out, "{} points, {bytes} of memory, {takes}", points.len())
}

/// What is walked beside one another, if there is more than one chain.
pub(super) fn lanes_of(out: &mut dyn Write, walk: &Walk) -> fmt::Result {
    match walk {
        Walk::Chain => {}
        Walk::Lanes(kernel) if kernel.work() == 0 => write!(out, ", {} lanes", kernel.lanes())?,
        Walk::Lanes(kernel) => write!(out, ", {} lanes, work {}", kernel.lanes(), kernel.work())?,
        Walk::Apart(gap) => write!(out, ", 2 lanes, {} {}", gap.fillers(), gap.filler().name())?,
    }
    if matches!(walk, Walk::Lanes(kernel) if kernel.prefetch()) {
        out.write_str(", prefetch")?;
    }
    Ok(())
}
