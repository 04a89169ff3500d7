//! Measures points on several kinds of pages: a rotation for each kind, one after another.
//!
//! A kind that cannot be had is no failure unless it was asked for: its points
//! say why they have no number. Which points there are is the caller's business.

use crate::error::{Failure, PlacementError};
use crate::experiment::{Findings, Session};
use crate::options::{FlagId, Pages};
use crate::plan;
use crate::result::{Exclusion, Extra, Outcome, Point};
use crate::rotation::{Limits, Rotation};
use crate::store::Store;
use crate::timer::Timer;

/// Every kind that a point may ask for.
const KINDS: [Pages; 5] = [Pages::Auto, Pages::Small4k, Pages::Thp, Pages::Huge2m, Pages::Huge1g];

/// Measures `points`, each kind of pages within `share_ns` for each of its points, unless a time limit is given.
///
/// Outcomes are in the order of the points.
///
/// # Errors
///
/// [`Failure`] but for kinds of pages that cannot be had and were not asked for. An interrupt ends
/// the run, and what there is is kept.
pub fn run<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    share_ns: f64,
) -> Result<Findings<'a>, Failure<'a>> {
    let Some(&first) = points.first() else { return Err(PlacementError::NothingToMeasure.into()) };
    let mut outcomes =
        Store::filled(points.len(), Outcome { point: first, result: Err(Exclusion::Interrupted) })?;
    for (outcome, point) in outcomes.iter_mut().zip(points) {
        outcome.point = *point;
    }
    let mut interrupted = false;
    for pages in KINDS {
        if interrupted {
            break;
        }
        let mine = outcomes.iter_mut().filter(|outcome| outcome.point.pages == pages);
        match rotate(session, timer, points, pages, share_ns) {
            Ok(None) => {}
            Ok(Some(found)) => {
                interrupted = found.interrupted;
                for (outcome, found) in mine.zip(found.outcomes.iter()) {
                    *outcome = *found;
                }
            }
            Err(Failure::Placement(error)) if session.options.pages != pages || pages == Pages::Auto => {
                for outcome in mine {
                    outcome.result = Err(Exclusion::Placement(error));
                }
            }
            Err(Failure::Interrupted) => interrupted = true,
            Err(error) => return Err(error),
        }
    }
    Ok(Findings { outcomes, distributions: Store::empty()?, extra: Extra::default(), interrupted })
}

/// Measures the points of one kind; `None` where there are none.
fn rotate<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    pages: Pages,
    share_ns: f64,
) -> Result<Option<Findings<'a>>, Failure<'a>> {
    let mine = || points.iter().filter(|point| point.pages == pages);
    let (Some(like), Some(largest)) = (mine().next(), mine().map(|point| point.size).max()) else {
        return Ok(None);
    };
    let given = session.options.given.contains(FlagId::TimeLimit);
    let limits = Limits {
        point_ns: session.options.time_limit.0 as f64 / 1e3,
        run_ns: if given { f64::INFINITY } else { share_ns * mine().count() as f64 },
    };
    let region = plan::curve::region(largest, session.machine, like.target, pages);
    let mut rotation = Rotation::new(session, timer, like, region, mine().count(), limits)?;
    for point in mine() {
        rotation.add(*point);
    }
    let interrupted = rotation.measure(session)?;
    rotation.finish(session, interrupted).map(Some)
}
