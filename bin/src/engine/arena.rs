//! The memory and the counters of a measurement, and what a reader has to know of how they were had.
//!
//! Shared by everything that measures. It knows no chain and no timing.

use latency_core::units::{Bytes, NodeId};

use super::counters::Meter;
use super::placement::{Placement, Witness};
use super::session::Session;
use crate::error::Failure;
use crate::options::Pages;
use crate::result::Means;
use crate::warning::Warning;

/// Places `size` bytes on `target`, and says what a reader must know of them.
///
/// # Errors
///
/// As [`Placement::new`].
pub fn place<'a>(
    session: &mut Session<'a, '_>,
    target: NodeId,
    size: Bytes,
    pages: Pages,
) -> Result<Placement, Failure<'a>> {
    session.progress.say(format_args!("placing {size} on node {target}"));
    let placement = Placement::new(session.machine, target, size, pages)?;
    tell(session, &placement, pages);
    Ok(placement)
}

/// The hardware counters, if they are wanted; says why there are none.
pub fn meter(session: &mut Session<'_, '_>) -> Option<Meter> {
    if !session.options.counters {
        return None;
    }
    let machine = session.machine;
    Meter::open(&machine.processor, machine.host.perf_event_paranoid)
        .map_err(|why| session.warnings.push(Warning::CountersUnavailable { why }))
        .ok()
}

fn tell(session: &mut Session<'_, '_>, placement: &Placement, asked: Pages) {
    let Witness { target, pages, mapped, .. } = *placement.witness();
    if asked == Pages::Auto && pages == Pages::Small4k {
        session.warnings.push(Warning::PagesFellBack { found: pages.page_size() });
    }
    if let (Pages::Thp, Some(found)) = (pages, placement.evidence().transparent_huge) {
        if found < mapped {
            session.warnings.push(Warning::ThpPartial { wanted: mapped, found });
        }
    }
    if placement.means() == Means::FirstTouch {
        session.warnings.push(Warning::PlacedByFirstTouch { node: target });
    }
    if !placement.evidence().is_there() {
        let why = "neither /proc/self/numa_maps nor move_pages answers";
        session.warnings.push(Warning::PlacementUnverified { node: target, why });
    }
}
