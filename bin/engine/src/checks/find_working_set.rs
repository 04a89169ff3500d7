//! The search for a working-set size before the run: its memory, its limits and its warnings. [`sizing`] has its steps.

use latency_core::Bytes;

use crate::checks::sizing::{self, Known};
use crate::error::{Attempt, MeasureError};
use crate::machine::{Machine, Platform, Sizing};
use crate::memory::chains;
use crate::placement::Placement;
use crate::result::Point;
use crate::seam::{Place, Walker};
use crate::session::Session;
use crate::stopwatch::Stopwatch;
use crate::warning::{Warning, Warnings};
use latency_sys::Table;

/// Maximum nanoseconds of a search; on a quiet machine it ends in a fifth of that.
const LIMIT_NS: f64 = 2e9;
/// Maximum nanoseconds of a search under an emulator, which walks a working set hundreds of times more slowly.
const EMULATED_LIMIT_NS: f64 = 90e9;

/// Memory for the chains of a search, one after another; it is placed again for a larger one.
struct SearchPlace {
    machine: &'static Machine,
    watch: Stopwatch,
    placement: Option<(Bytes, Placement)>,
}

impl Place for SearchPlace {
    fn with_chain(&mut self, _: usize, point: &Point, _: u64, walker: &mut Walker<'_>) -> Attempt {
        if self.placement.as_ref().is_none_or(|(size, _)| *size < point.size) {
            // The old and the new memory together may not fit.
            self.placement = None;
            self.placement = Placement::optional(self.machine, point)?.map(|placed| (point.size, placed));
        }
        self.watch.go_to(point.cpu)?;
        let (_, placement) = self.placement.as_mut().ok_or(MeasureError::NOTHING_TO_MEASURE)?;
        chains::walk_new(&self.watch, placement.split().0, point, None, walker)
    }
}

/// Searches for a working set that no cache holds, and with `seeks_cache` for the size of the last-level cache. `like` is
/// the point to search with and the time for a point; `None` if the user chose the size, so that there is no search.
/// Returns the machine with the sizes found; `None` if nothing was found.
///
/// # Errors
///
/// The errors of the clock. The caller detects an interrupt itself.
pub fn find(
    session: &mut Session<'_>,
    like: Option<(Point, f64)>,
    points: &[Point],
    seeks_cache: bool,
) -> Attempt<Option<&'static Machine>> {
    let machine = session.machine;
    let Some((like, limit_ns)) = like else { return Ok(None) };
    session.progress.say(format_args!("sizing the working set"));
    let known = known(machine, &like, points, limit_ns, seeks_cache);
    let mut place = SearchPlace { machine, watch: Stopwatch::new(session.timer, None), placement: None };
    let found = sizing::search(&mut place, &like, &known);
    session.noted.moves += place.watch.moves();
    session.noted.spare = place.placement.take().map(|(size, placement)| (Point { size, ..like }, placement));
    let sizing = match found {
        Ok(Some(sizing)) => sizing,
        // The experiment itself reports memory that cannot be placed.
        Ok(None) | Err(MeasureError::Interrupted | MeasureError::Placement(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    tell(session.warnings, &known, &sizing);
    let machine = Table::filled(1, machine.with_sizing(sizing))?;
    Ok(machine.leak().first())
}

/// Returns the knowledge and the limits with which a search begins. The search walks working sets of the kind of `like`,
/// one of `points`; `limit_ns` is the time for a point.
pub fn known(machine: &Machine, like: &Point, points: &[Point], limit_ns: f64, seeks_cache: bool) -> Known {
    let emulated = machine.processor.platform == Platform::Emulated;
    let limit_ns = if emulated { EMULATED_LIMIT_NS } else { LIMIT_NS.min(limit_ns) };
    Known {
        reported: machine.reported_cache(),
        near: machine.cache(2).unwrap_or(Bytes::MIB),
        page: machine.page,
        most: machine.most(like, points),
        seeks_cache: seeks_cache && !emulated,
        limit_ns,
    }
}

/// Warns about findings of a search that differ from the knowledge before it.
pub fn tell(warnings: &mut Warnings, known: &Known, sizing: &Sizing) {
    if sizing.size > sizing.first && known.reported.is_none() {
        warnings.push(Warning::WorkingSetDoubled { from: sizing.first, to: sizing.size });
    }
    if let (Some(found), Some(reported)) = (sizing.cache, known.reported) {
        warnings.push(Warning::ReportedCacheDiffers { reported, found });
    }
}
