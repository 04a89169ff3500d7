//! A run with generators: places and proves their memory, starts their threads, and ends them.

use core::array;

use latency_core::traffic::Field;

use super::arena::{self, SITES};
use super::clock::Timer;
use super::generators::driver::{Generators, Style};
use super::generators::fields::{Fields, Key};
use super::generators::mailbox::{dismiss, work, Mailbox, Shared};
use super::generators::uncores::Uncores;
use super::placement::Placement;
use super::session::Session;
use super::translation_probe;
use crate::error::{Failure, PlacementError};
use crate::plan::budget::{Budget, Memory};
use crate::result::{Point, Traffic, Walk};
use crate::sys::errno::Errno;
use crate::sys::table::Table;
use crate::sys::thread;
use crate::warning::Warning;

/// An interrupt takes a CPU so long at most, or somebody else has it: on a virtual CPU a timer's tick takes 10 us, and what
/// the hypervisor does 140 times a second 25 to 100, 0.7 % of the time. What it kept from memory is made up for, so
/// that a rate is what was asked for; longer stalls are the machine's.
const INTERRUPT_S: f64 = 100e-6;

/// One piece of it, as it was wanted.
struct Piece<'a> {
    key: Key,
    placement: Result<Placement, PlacementError<'a>>,
}

/// What measures points with generators.
pub type Measure<'m, 'a, R> =
    dyn FnMut(&mut Session<'a, '_>, &[Point], &Generators<'_>) -> Result<R, Failure<'a>> + 'm;

/// The threads that `points` need: each of their generators has one, but for a generator that is this thread.
fn threads(points: &[Point]) -> usize {
    let others = |point: &Point| match point.walk {
        Walk::Traffic(traffic) => traffic.generators.saturating_sub(1),
        Walk::Loaded(traffic) => traffic.generators,
        Walk::Chain | Walk::Lanes(_) | Walk::Apart(_) | Walk::PingPong(_) | Walk::Owned(_) => 0,
    };
    points.iter().map(others).max().unwrap_or(0) as usize
}

/// Measures `points` with generators: places what they walk over, starts as many as the kernel allows, and has
/// `measure` do the rest. Where there are fewer threads than were planned, points have fewer generators.
///
/// # Errors
///
/// Those of placing, but for what the budget lets be left out; [`PlacementError::ThreadsRefused`] where there is no
/// thread at all and points need one, or where `all` were asked for by number; those of `measure`.
#[inline(never)] // offsets into a small frame are short
pub fn with_generators<'a, R>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &mut [Point],
    budget: &Budget,
    style: Style<'_>,
    all: bool,
    measure: &mut Measure<'_, 'a, R>,
) -> Result<R, Failure<'a>> {
    let mut pieces = place(session, points, budget)?;
    let mut known = array::from_fn::<_, SITES, _>(|_| None);
    let mut fields = array::from_fn::<_, SITES, _>(|_| None::<Field<'_>>);
    for ((piece, known), field) in pieces.iter_mut().flatten().zip(&mut known).zip(&mut fields) {
        *known = Some((
            piece.key,
            match &mut piece.placement {
                Ok(placement) => {
                    let (lines, witness) = placement.split();
                    *field = Some(Field::new(lines));
                    Ok(witness)
                }
                Err(error) => Err(*error),
            },
        ));
    }
    let wanted = threads(points);
    let boxes = Table::made(wanted, |_| Mailbox::new())?;
    let clock = timer.counter().map(|counter| {
        let patience = INTERRUPT_S * counter.frequency.0 as f64;
        (counter.stamp, patience as u64)
    });
    let shared = Shared { boxes: &boxes, fields: &fields, clock };
    let known_fields = Fields::new(&known);
    let loaded = known.iter().flatten().map(|(key, _)| key.on);
    let uncores = Uncores::of(&session.machine.topology, loaded)?;
    let throttle = session.machine.host.throttle.as_ref();
    let found = thread::scope(wanted, &shared, work, dismiss, |started| {
        let thread::Started { threads, refused } = started;
        let points = match refused {
            Some(errno) => fewer(session, points, (threads, wanted, errno), all)?,
            None => &*points,
        };
        let placed = (&known_fields, &uncores);
        let times = session.noted.times;
        let generators = Generators::new(&shared, placed, style, *timer, (threads, throttle), times);
        let found = measure(session, points, &generators);
        generators.tell(session.warnings);
        found
    })?;
    if let (true, Some(like)) = (budget.translation, points.first()) {
        for placement in pieces.iter_mut().flatten().filter_map(|piece| piece.placement.as_mut().ok()) {
            let as_small = translation_probe::ask(session, timer, like, placement)?;
            session.noted.traffic_as_small = session.noted.traffic_as_small.max(as_small);
        }
    }
    found
}

/// What becomes of points where some threads were refused: those that have become alike are one.
fn fewer<'p>(
    session: &mut Session<'_, '_>,
    points: &'p mut [Point],
    (threads, wanted, errno): (usize, usize, Errno),
    all: bool,
) -> Result<&'p [Point], Failure<'static>> {
    let (wanted, started) = (wanted as u32, threads as u32);
    let refused = PlacementError::ThreadsRefused { wanted, started, errno };
    let forbidden = matches!(errno, Errno::EPERM | Errno::ENOSYS);
    let mut kept = 0;
    for index in 0..points.len() {
        let Some(mut point) = points.get(index).copied() else { break };
        // The first thread generates too, unless it chases.
        let own = u32::from(matches!(point.walk, Walk::Traffic(_)));
        if let Walk::Traffic(traffic) | Walk::Loaded(traffic) = &mut point.walk {
            let wanted = traffic.generators;
            let most = started + own;
            if all || forbidden || most == 0 {
                return Err(refused.into());
            }
            traffic.generators = wanted.min(most);
            if session.options.size.is_some() {
                // It was asked for each.
                traffic.footprint.0 = traffic.footprint.0 / u64::from(wanted) * u64::from(traffic.generators);
                if own > 0 {
                    point.size = traffic.footprint;
                }
            }
            if points.iter().take(kept).any(|earlier| is_alike(earlier, &point)) {
                continue;
            }
        }
        if let Some(slot) = points.get_mut(kept) {
            *slot = point;
            kept += 1;
        }
    }
    session.warnings.push(Warning::ThreadsRefused { wanted, started, errno });
    Ok(points.get(..kept).unwrap_or_default())
}

/// Whether two points have the same traffic beside the same walk.
fn is_alike(one: &Point, other: &Point) -> bool {
    let route = |point: &Point| (point.cpu, point.initiator, point.target, point.size);
    let same = |one: &Traffic, other: &Traffic| {
        let of = |traffic: &Traffic| {
            (traffic.kind.name, traffic.generators, traffic.from, traffic.node, traffic.rate)
        };
        of(one) == of(other)
    };
    route(one) == route(other)
        && match (&one.walk, &other.walk) {
            (Walk::Traffic(one), Walk::Traffic(other)) | (Walk::Loaded(one), Walk::Loaded(other)) => {
                same(one, other)
            }
            _ => false,
        }
}

/// Places the memory of all traffic: on each node, and where there is room for each node that loads it, as much as its
/// largest needs.
fn place<'a>(
    session: &mut Session<'a, '_>,
    points: &[Point],
    budget: &Budget,
) -> Result<[Option<Piece<'a>>; SITES], Failure<'a>> {
    let mut pieces = array::from_fn::<_, SITES, _>(|_| None::<Piece<'a>>);
    let mut count = 0;
    for point in points {
        let Some(traffic) = point.walk.traffic() else { continue };
        if pieces.iter().flatten().any(|piece| piece.key.serves(traffic)) {
            continue;
        }
        let from = (budget.memory == Memory::Kept).then_some(traffic.from);
        let mut key = Key { from, on: traffic.node, size: traffic.footprint };
        let all = points.iter().filter_map(|point| point.walk.traffic());
        let largest = all.filter(|other| key.serves(other)).map(|other| other.footprint).max();
        key.size = largest.unwrap_or(key.size);
        let placement = match arena::place(session, key.on, key.size, point.pages) {
            Ok(placement) => Ok(placement),
            Err(Failure::Placement(&error)) if budget.optional.covers(point, &error) => Err(error),
            Err(error) => return Err(error),
        };
        let slot = pieces.get_mut(count).ok_or(PlacementError::NothingToMeasure)?;
        *slot = Some(Piece { key, placement });
        count += 1;
    }
    Ok(pieces)
}
