//! Where a look at memory before the run takes place: memory that is placed for one working set, and anew for a larger one.

use latency_core::units::Bytes;

use super::clock::Timer;
use super::new_chain;
use super::placement::Placement;
use super::seam::{Place, Walker};
use super::session::Session;
use super::sizing::{self, Known};
use super::stopwatch::Stopwatch;
use crate::error::{Failure, PlacementError};
use crate::machine::processor::Platform;
use crate::machine::{Machine, Sizing};
use crate::options::Options;
use crate::plan;
use crate::result::Point;
use crate::sys::table::Table;
use crate::sys::time;
use crate::warning::{Warning, Warnings};

/// A look takes no longer: on a quiet machine it is over in a fifth of that.
const LIMIT_NS: f64 = 2e9;
/// An emulator walks a working set hundreds of times as slowly.
const EMULATED_LIMIT_NS: f64 = 90e9;

/// Memory for one chain after another.
struct Lookout<'a> {
    machine: &'a Machine,
    watch: Stopwatch,
    placement: Option<(Bytes, Placement)>,
}

impl Place for Lookout<'_> {
    fn with_chain(
        &mut self,
        _: usize,
        point: &Point,
        _: u64,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>> {
        let cannot = || Failure::from(PlacementError::NothingToMeasure);
        if self.placement.as_ref().is_none_or(|(size, _)| *size < point.size) {
            // Both at a time may be too much.
            self.placement = None;
            let placed = Placement::new(self.machine, point.target, point.size, point.pages);
            let placed = placed.map_err(|failure| match failure {
                Failure::Interrupted => Failure::Interrupted,
                _ => cannot(),
            })?;
            self.placement = Some((point.size, placed));
        }
        self.watch.go_to(point.cpu)?;
        let (_, placement) = self.placement.as_mut().ok_or_else(cannot)?;
        new_chain::walk(&self.watch, placement.split().0, point, walker)
    }

    fn now_ns(&self) -> f64 {
        time::monotonic_raw_ns() as f64
    }

    /// A look has no rounds to spread.
    fn pause(&mut self, _: f64) -> Result<(), Failure<'static>> {
        Ok(())
    }
}

/// Looks at caches and memory where the size of the working set is the program's to choose: the machine as it was
/// found; with `seeks_cache`, the last-level cache as well. `None` where there was no look, or it found nothing.
///
/// # Errors
///
/// Those of the clock. An interrupt is left to be heard by what follows.
#[inline(never)] // offsets into a small frame are short
pub fn learn<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    seeks_cache: bool,
) -> Result<Option<&'a Machine>, Failure<'a>> {
    let Session { options, machine, .. } = *session;
    let Some(like) = plan::looked_at(options, points) else { return Ok(None) };
    session.progress.say(format_args!("looking at caches and memory"));
    let known = known(options, machine, &like, points, seeks_cache);
    let mut lookout = Lookout { machine, watch: Stopwatch::new(*timer, None), placement: None };
    let found = sizing::search(&mut lookout, &like, &known);
    session.noted.moves += lookout.watch.moves();
    session.noted.spare =
        lookout.placement.take().map(|(size, placement)| (Point { size, ..like }, placement));
    let sizing = match found {
        Ok(Some(sizing)) => sizing,
        // What cannot be placed is said by the experiment itself.
        Ok(None) | Err(Failure::Interrupted | Failure::Placement(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    tell(session.warnings, &known, &sizing);
    let machine = Table::filled(1, machine.looked_at(sizing))?;
    Ok(machine.leak().first())
}

/// Returns what is known before a look at working sets like `like`, one of `points`, and how far it may go.
#[must_use]
pub fn known(
    options: &Options<'_>,
    machine: &Machine,
    like: &Point,
    points: &[Point],
    seeks_cache: bool,
) -> Known {
    let emulated = machine.processor.platform == Platform::Emulated;
    let limit_ns = if emulated { EMULATED_LIMIT_NS } else { LIMIT_NS.min(options.point_limit_ns()) };
    Known {
        reported: machine.reported_cache(),
        near: plan::single::cache(machine, 2).unwrap_or(Bytes::MIB),
        most: plan::most(machine, like, points),
        seeks_cache: seeks_cache && !emulated,
        limit_ns,
    }
}

/// Says what a look found that was not known before.
pub fn tell(warnings: &mut Warnings, known: &Known, sizing: &Sizing) {
    if sizing.size > sizing.first {
        warnings.push(Warning::WorkingSetDoubled { from: sizing.first, to: sizing.size });
    }
    if let (Some(found), Some(reported)) = (sizing.cache, known.reported) {
        warnings.push(Warning::ReportedCacheDiffers { reported, found });
    }
}
