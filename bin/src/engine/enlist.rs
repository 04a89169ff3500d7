//! A run with helpers on other CPUs: places and proves the lines that all of them use, starts the threads, and ends them.

use core::array;

use latency_core::arch::{Flusher, Stamp};
use latency_core::chain::Chain;
use latency_core::cores::{Exchange, Ring};

use super::arena::{self, SITES};
use super::clock::Timer;
use super::cores::driver::{Helpers, Key};
use super::cores::mailbox::{dismiss, work, Lines, Mailbox, Shared};
use super::cores::Record;
use super::placement::{Placement, Witness};
use super::session::Session;
use crate::error::{Failure, PlacementError, TimingError};
use crate::plan::budget::Budget;
use crate::result::{chain, Point, Walk};
use crate::sys::table::Table;
use crate::sys::thread;

/// Memory for some lines.
struct Piece {
    key: Key,
    placement: Placement,
    /// A point whose chain is walked there; `None` where lines go to and fro.
    walked: Option<Point>,
}

/// What measures points with helpers.
pub type Measure<'m, 'a, R> = dyn FnMut(&mut Session<'a, '_>, Helpers<'_>) -> Result<R, Failure<'a>> + 'm;

/// Measures `points` with helpers: places the lines of all of them, starts as many threads as a point needs, and has
/// `measure` do the rest.
///
/// # Errors
///
/// Those of placing; [`PlacementError::ThreadsRefused`]; [`TimingError::NeedsCounter`] without a time-stamp counter;
/// those of `measure`.
#[inline(never)] // offsets into a small frame are short
pub fn with_helpers<'a, R>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
    measure: &mut Measure<'_, 'a, R>,
) -> Result<R, Failure<'a>> {
    let needs = || TimingError::NeedsCounter { what: "exchanges between two cores", instead: "matrix" };
    let counter = *timer.counter().ok_or_else(needs)?;
    let mut pieces = place(session, points)?;
    let chains = chains(&pieces)?;
    let mut chains = chains.iter();
    let mut sites = array::from_fn::<_, SITES, _>(|_| None::<Lines<'_>>);
    let mut known = [None::<(Key, Witness)>; SITES];
    for ((piece, site), known) in pieces.iter_mut().flatten().zip(&mut sites).zip(&mut known) {
        let key = piece.key;
        let chain = if piece.walked.is_some() { chains.next() } else { None };
        let (lines, witness) = open(piece, chain, counter.stamp)?;
        *site = Some(lines);
        *known = Some((key, witness));
    }
    let boxes = [const { Mailbox::new() }; 2];
    let wanted = points.iter().map(|point| point.walk.partners().iter().flatten().count()).max().unwrap_or(0);
    let shared = Shared { boxes: &boxes, sites: &sites, flusher: Flusher::detect() };
    let record = Record::new(points, budget)?;
    let times = session.noted.times;
    let found = thread::scope(wanted, &shared, work, dismiss, |started| {
        if let Some(errno) = started.refused {
            let (wanted, started) = (wanted as u32, started.threads as u32);
            return Err(PlacementError::ThreadsRefused { wanted, started, errno }.into());
        }
        measure(session, Helpers::new(&shared, &known, counter, record, times))
    })?;
    found
}

/// The chains that are walked, one after another; they are too large for the stack.
fn chains(pieces: &[Option<Piece>]) -> Result<Table<Chain>, Failure<'static>> {
    let walked = || pieces.iter().flatten().filter_map(|piece| piece.walked);
    let Some(first) = walked().next() else { return Ok(Table::empty()?) };
    let mut chains = Table::filled(walked().count(), chain::chain(&first)?)?;
    for (chain, point) in chains.iter_mut().zip(walked()) {
        *chain = chain::chain(&point)?;
    }
    Ok(chains)
}

/// The lines of a piece of memory, and who knows where they are.
fn open<'p>(
    piece: &'p mut Piece,
    chain: Option<&'p Chain>,
    stamp: Stamp,
) -> Result<(Lines<'p>, Witness), Failure<'static>> {
    let (lines, witness) = piece.placement.split();
    let lines = match chain {
        Some(chain) => Lines::Ring(Ring::new(lines, chain).map_err(|_| Failure::HOPS_NOT_PROVEN)?),
        None => Lines::Exchange(Exchange::new(lines, stamp)),
    };
    Ok((lines, witness))
}

/// Places the lines of every node that is the home of some.
fn place<'a>(session: &mut Session<'a, '_>, points: &[Point]) -> Result<[Option<Piece>; SITES], Failure<'a>> {
    let mut pieces = array::from_fn::<_, SITES, _>(|_| None::<Piece>);
    let mut count = 0;
    for point in points {
        let (homes, is_walked) = match point.walk {
            Walk::PingPong(pair) => (pair.homes, false),
            _ => ([point.target; 2], true),
        };
        for home in homes {
            let key = (home, point.size);
            if pieces.iter().flatten().any(|piece| piece.key == key) {
                continue;
            }
            let placement = arena::place(session, home, point.size, point.pages)?;
            let slot = pieces.get_mut(count).ok_or(PlacementError::NothingToMeasure)?;
            *slot = Some(Piece { key, placement, walked: is_walked.then_some(*point) });
            count += 1;
        }
    }
    Ok(pieces)
}
