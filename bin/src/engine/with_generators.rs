//! A run with generators: places and verifies their memory, starts their threads, and ends them.

use latency_core::math::{self, ToReal};
use latency_core::traffic::Field;

use crate::engine::checks::translation_probe;
use crate::engine::memory::chains::Alongside;
use crate::engine::pieces::Pieces;
use crate::engine::placement::needs::traffic_of;
use crate::engine::run;
use crate::engine::run::Visits;
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::clock::Timer;
use crate::engine::threads::generators::driver::{GeneratorStyle, Generators, Uncores};
use crate::engine::threads::generators::generator::{Generator, SharedByGenerators, dismiss, work};
use crate::error::{Failure, PlacementError};
use crate::plan::budget::Budget;
use crate::result::{Point, Walk};
use crate::sys::errno::Errno;
use crate::sys::table::Table;
use crate::sys::thread;
use crate::warning::Warning;

/// Maximum seconds of a stall by an interrupt or the hypervisor that generators make up for. On a virtual CPU a timer's
/// tick costs 10 us, and the hypervisor 25 to 100 us 140 times a second, 0.7 % of the time. If generators make up for
/// these stalls, their rate is the requested one; longer stalls count as the machine's.
const INTERRUPT_S: f64 = 100e-6;

/// Returns the number of threads that `points` need: one for each generator, except a generator that is this thread.
fn threads(points: &[Point]) -> usize {
    let others = |point: &Point| match point.walk {
        Walk::Traffic(traffic) => traffic.generators.saturating_sub(1),
        Walk::Loaded(traffic) => traffic.generators,
        Walk::Chain | Walk::Lanes(_) | Walk::Apart(_) | Walk::PingPong(_) | Walk::Owned(_) => 0,
    };
    points.iter().map(others).max().unwrap_or(0) as usize
}

/// Measures `points` with generators; `visits` arranges the visits. Places the memory that generators walk over, starts
/// as many threads as the kernel allows, and ends them. With fewer threads than planned, points have fewer generators.
///
/// # Errors
///
/// The errors of placing, except for memory that the budget allows to be missing; [`PlacementError::ThreadsRefused`] if
/// points need a thread and there is none, or if the user fixed the CPUs; the errors of [`run::measure_with`].
pub fn measure_with_generators<'a>(
    session: &mut Session<'a, '_>,
    timer: &Timer,
    points: &[Point],
    budget: &Budget,
    style: GeneratorStyle<'_>,
    visits: &mut Visits<'_, 'a>,
) -> Result<Findings<'a>, Failure<'a>> {
    let mut points = Table::of(points)?;
    let mut pieces = Pieces::place(session, &points, &|_| true, traffic_of, budget)?;
    let missing = pieces.missing;
    let fields = pieces.open(&mut |_, lines| Ok(Field::new(lines)))?;
    let wanted = threads(&points);
    let generators = Table::made(wanted, |_| Generator::new())?;
    let clock = timer.counter().map(|counter| {
        let patience = INTERRUPT_S * counter.frequency.0.real();
        (counter.stamp, math::whole(patience))
    });
    let shared = SharedByGenerators { generators: &generators, fields: &fields, clock };
    let uncores = Uncores::of(&session.machine.topology, fields.nodes())?;
    let throttle = session.machine.host.throttle.as_ref();
    let mut findings = thread::scope(wanted, &shared, work, dismiss, |started| {
        let thread::Started { threads, refused } = started;
        let points = match refused {
            Some(errno) => fewer(session, &mut points, (threads, wanted, errno), &style)?,
            None => &*points,
        };
        let times = session.noted.times;
        let generators = Generators::new(&shared, &uncores, style, *timer, (threads, throttle), times);
        let mut alongside =
            Alongside { generators: Some(&generators), missing: Some(&missing), ..Alongside::default() };
        let found = run::measure_with(session, timer, points, budget, &mut alongside, visits);
        generators.tell(session.warnings);
        found
    })??;
    if let (true, Some(like)) = (budget.translation, points.first()) {
        let mut as_small = None;
        for piece in pieces.had() {
            as_small = as_small.max(translation_probe::ask(session, timer, like, &mut piece.placement)?);
        }
        let is_traffic = |point: &Point| matches!(point.walk, Walk::Traffic(_));
        translation_probe::record(&mut findings.outcomes, as_small, &is_traffic);
    }
    Ok(findings)
}

/// Reduces points to the generators that have threads, and merges points that have become equal.
fn fewer<'p>(
    session: &mut Session<'_, '_>,
    points: &'p mut [Point],
    (threads, wanted, errno): (usize, usize, Errno),
    style: &GeneratorStyle<'_>,
) -> Result<&'p [Point], Failure<'static>> {
    let (wanted, started) = (wanted as u32, threads as u32);
    let refused = PlacementError::ThreadsRefused { wanted, started, errno };
    let forbidden = matches!(errno, Errno::EPERM | Errno::ENOSYS);
    let mut kept = 0;
    for index in 0..points.len() {
        let (earlier, others) = points.split_at_mut(index);
        let Some(point) = others.first_mut() else { break };
        // The first thread generates too, unless it chases.
        let own = u32::from(matches!(point.walk, Walk::Traffic(_)));
        if let Walk::Traffic(traffic) | Walk::Loaded(traffic) = &mut point.walk {
            let wanted = traffic.generators;
            let most = started + own;
            if style.is_fixed || forbidden || most == 0 {
                return Err(refused.into());
            }
            traffic.generators = wanted.min(most);
            if style.is_sized {
                traffic.footprint.0 = traffic.footprint.0 / u64::from(wanted) * u64::from(traffic.generators);
                if own > 0 {
                    point.size = traffic.footprint;
                }
            }
            if earlier.iter().take(kept).any(|earlier| key(earlier) == key(point)) {
                continue;
            }
        }
        if let Some(slot) = earlier.get_mut(kept) {
            *slot = *point;
        }
        kept += 1;
    }
    session.warnings.push(Warning::ThreadsRefused { wanted, started, errno });
    Ok(points.get(..kept).unwrap_or_default())
}

/// Returns the properties that points with the same traffic alongside the same walk share.
fn key(point: &Point) -> Option<impl PartialEq> {
    let traffic = point.walk.traffic()?;
    let route = (point.cpu, point.initiator, point.target, point.size);
    let load = (traffic.kind.name, traffic.generators, traffic.from, traffic.node, traffic.rate);
    Some((matches!(point.walk, Walk::Traffic(_)), route, load))
}
