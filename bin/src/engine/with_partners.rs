//! A run with partners on other CPUs: places and proves the lines that all of them use, starts the threads, and ends them.

use latency_core::arch::Flusher;
use latency_core::cores::{Exchange, Ring};

use crate::engine::memory::pieces::{lines_of, Pieces};
use crate::engine::run;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::engine::stopwatch::Stopwatch;
use crate::engine::threads::partners::driver::Partners;
use crate::engine::threads::partners::partner::{dismiss, work, Lines, Partner, SharedByPartners};
use crate::engine::threads::partners::Record;
use crate::error::{Failure, PlacementError, TimingError};
use crate::plan::budget::{Budget, Memory, Optional};
use crate::result::Point;
use crate::sys::thread;

/// Measures `points` with partners: places the lines of all of them, starts as many threads as a point needs, and ends
/// them.
///
/// # Errors
///
/// The errors of placing; [`PlacementError::ThreadsRefused`]; [`TimingError::NeedsCounter`] without a time-stamp counter;
/// those of [`run::measure_in`].
#[inline(never)] // offsets into a small frame are short
pub fn measure_with_partners<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
) -> Result<Findings<'a>, Failure<'a>> {
    let needs = || TimingError::NeedsCounter { what: "exchanges between two cores", instead: "matrix" };
    let counter = *timer.counter().ok_or_else(needs)?;
    let shared_lines = Budget { memory: Memory::Shared, optional: Optional::Nothing, ..*budget };
    let mut pieces = Pieces::place(session, points.iter().copied(), lines_of, &shared_lines)?;
    let chains = pieces.chains()?;
    let mut chains = chains.iter();
    let sites = pieces.open(&mut |like, lines| match (like.walk.ping_pong(), chains.next()) {
        (None, Some(Some(chain))) => {
            Ok(Lines::Ring(Ring::new(lines, chain).map_err(|_| Failure::HOPS_NOT_PROVEN)?))
        }
        (None, _) => Err(PlacementError::NothingToMeasure.into()),
        _ => Ok(Lines::Exchange(Exchange::new(lines, counter.stamp))),
    })?;
    let partners = [const { Partner::new() }; 2];
    let wanted = points.iter().map(|point| point.walk.partners().iter().flatten().count()).max().unwrap_or(0);
    let shared = SharedByPartners { partners: &partners, sites: &sites, flusher: Flusher::detect() };
    let record = Record::new(points, budget)?;
    let times = session.noted.times;
    thread::scope(wanted, &shared, work, dismiss, |started| {
        if let Some(errno) = started.refused {
            let (wanted, started) = (wanted as u32, started.threads as u32);
            return Err(PlacementError::ThreadsRefused { wanted, started, errno }.into());
        }
        let mut watch = Stopwatch::new(*timer, None);
        watch.times = times;
        let mut place = Partners { shared: &shared, watch, counter, record, times };
        run::measure_in(session, points, budget, &mut place, &mut run::all_rounds)
    })?
}
