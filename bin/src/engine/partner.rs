//! A run with a partner: places and proves the lines that both exchange, starts its thread, and ends it.

use core::array;

use latency_core::cores::Exchange;

use super::arena::{self, SITES};
use super::clock::Timer;
use super::ping_pong::driver::Partner;
use super::ping_pong::mailbox::{dismiss, work, Mailbox, Shared};
use super::ping_pong::Record;
use super::placement::{Placement, Witness};
use super::session::Session;
use crate::error::{Failure, PlacementError, TimingError};
use crate::plan::budget::Budget;
use crate::result::Point;
use crate::sys::thread;

/// What measures points with a partner.
pub type Measure<'m, 'a, R> = dyn FnMut(&mut Session<'a, '_>, Partner<'_>) -> Result<R, Failure<'a>> + 'm;

/// Measures `points` with a partner: places the lines on the nodes of all of them, starts the thread, and has
/// `measure` do the rest.
///
/// # Errors
///
/// Those of placing; [`PlacementError::ThreadsRefused`]; [`TimingError::NeedsCounter`] without a time-stamp counter;
/// those of `measure`.
#[inline(never)] // offsets into a small frame are short
pub fn with_partner<'a, R>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
    measure: &mut Measure<'_, 'a, R>,
) -> Result<R, Failure<'a>> {
    let needs = || TimingError::NeedsCounter { what: "exchanges between two cores", instead: "matrix" };
    let counter = *timer.counter().ok_or_else(needs)?;
    let mut pieces = place(session, points)?;
    let mut exchanges = array::from_fn::<_, SITES, _>(|_| None::<Exchange<'_>>);
    let mut witnesses = [None::<Witness>; SITES];
    for ((piece, exchange), known) in pieces.iter_mut().flatten().zip(&mut exchanges).zip(&mut witnesses) {
        let (lines, witness) = piece.split();
        *exchange = Some(Exchange::new(lines, counter.stamp));
        *known = Some(witness);
    }
    let shared = Shared { mailbox: Mailbox::new(), exchanges: &exchanges };
    let record = Record::new(points, budget)?;
    let found = thread::scope(1, &shared, work, dismiss, |started| {
        if let Some(errno) = started.refused {
            return Err(PlacementError::ThreadsRefused { wanted: 1, started: 0, errno }.into());
        }
        measure(session, Partner::new(&shared, &witnesses, counter, record))
    })?;
    found
}

/// Places the lines of every node that is the home of some.
fn place<'a>(
    session: &mut Session<'a, '_>,
    points: &[Point],
) -> Result<[Option<Placement>; SITES], Failure<'a>> {
    let mut pieces = array::from_fn::<_, SITES, _>(|_| None::<Placement>);
    let mut count = 0;
    for point in points {
        let Some(pair) = point.walk.ping_pong() else { continue };
        for home in pair.homes {
            if pieces.iter().flatten().any(|piece| piece.witness().target == home) {
                continue;
            }
            let placed = arena::place(session, home, point.size, point.pages)?;
            *pieces.get_mut(count).ok_or(PlacementError::NothingToMeasure)? = Some(placed);
            count += 1;
        }
    }
    Ok(pieces)
}
