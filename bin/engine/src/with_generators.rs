//! A run with generators: places and verifies their memory, starts their threads, and ends them.

use latency_core::host::Uncore;
use latency_core::traffic::Field;
use latency_core::{ToReal, math};

use crate::budget::Budget;
use crate::checks::translation_probe;
use crate::error::{Attempt, PlacementError};
use crate::memory::chains::Alongside;
use crate::pieces::Pieces;
use crate::placement::traffic_of;
use crate::regions::MOST;
use crate::result::{Point, Walk};
use crate::run::{self, Visits};
use crate::session::{Findings, Session};
use crate::threads::generators::{self, Generator, GeneratorStyle, Generators, SharedByGenerators};
use crate::warning::Warning;
use latency_sys::{Errno, SystemFiles, Table, thread};

/// Maximum seconds of a stall by an interrupt or the hypervisor that generators make up for. On a virtual CPU a timer's
/// tick costs 10 us, and the hypervisor 25 to 100 us 140 times a second, 0.7 % of the time. If generators make up for
/// these stalls, their rate is the requested one; longer stalls count as the machine's.
const INTERRUPT_S: f64 = 100e-6;

/// Measures `points` with generators; `visits` arranges the visits. Places the memory that generators walk over, starts
/// as many threads as the kernel allows, and ends them. With fewer threads than planned, points have fewer generators.
///
/// # Errors
///
/// The errors of placing, except for memory that the budget allows to be missing; [`PlacementError::ThreadsRefused`] if
/// points need a thread and there is none, or if the user fixed the CPUs; the errors of [`run::measure_with`].
pub fn measure_with_generators(
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
    style: GeneratorStyle<'_>,
    visits: &mut Visits<'_>,
) -> Attempt<Findings> {
    let mut pieces = Pieces::place(session, points, &|_| true, traffic_of, budget)?;
    let missing = pieces.missing;
    let fields = pieces.open(&mut |_, lines| Ok(Field::new(lines)))?;
    let wanted = points.iter().map(|point| point.walk.other_generators()).max().unwrap_or(0) as usize;
    let generators = Table::made(wanted, |_| Generator::idle())?;
    let clock = session.timer.counter().map(|counter| {
        let patience = INTERRUPT_S * counter.frequency.0.real();
        (counter.stamp, math::whole(patience))
    });
    let shared = SharedByGenerators { generators: &generators, fields: &fields, clock };
    let topology = &session.machine.topology;
    let nodes = fields.list.iter().flatten().map(|site| site.region.on);
    let uncore = |node| Some((node, Uncore::find(&SystemFiles, &topology.node(node)?.cpus)?));
    let mut uncores = Table::new(MOST)?;
    uncores.refill(nodes.filter_map(uncore));
    let throttle = session.machine.host.throttle.as_ref();
    let mut findings = thread::scope(wanted, &shared, generators::work, generators::dismiss, |started| {
        let thread::Started { threads, refused } = started;
        let mut fewer = Table::new(points.len())?;
        let points = match refused {
            Some(errno) => reduced(session, points, (threads, wanted, errno), &style, &mut fewer)?,
            None => points,
        };
        let Session { timer, noted, .. } = session;
        let generators = Generators::new(&shared, &uncores, style, *timer, (threads, throttle), noted.times);
        let mut alongside =
            Alongside { generators: Some(&generators), missing: Some(&missing), ..Alongside::default() };
        let found = run::measure_with(session, points, budget, &mut alongside, visits);
        generators.tell(session.warnings);
        found
    })??;
    if let (true, Some(like)) = (budget.translation, points.first()) {
        let mut as_small = None;
        for piece in pieces.placed() {
            as_small = as_small.max(translation_probe::ask(session, like, &mut piece.placement)?);
        }
        let is_traffic = |point: &Point| matches!(point.walk, Walk::Traffic(_));
        translation_probe::record(&mut findings.outcomes, as_small, &is_traffic);
    }
    Ok(findings)
}

/// Reduces points to the generators that have threads, and merges points that have become equal; returns those in `kept`.
fn reduced<'k>(
    session: &mut Session<'_>,
    points: &[Point],
    (threads, wanted, errno): (usize, usize, Errno),
    style: &GeneratorStyle<'_>,
    kept: &'k mut Table<Point>,
) -> Attempt<&'k [Point]> {
    let (wanted, started) = (wanted as u32, threads as u32);
    let refused = PlacementError::ThreadsRefused { wanted, started, errno };
    let forbidden = matches!(errno, Errno::EPERM | Errno::ENOSYS);
    for &(mut point) in points {
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
            if kept.iter().any(|earlier| key(earlier) == key(&point)) {
                continue;
            }
        }
        kept.push(point);
    }
    session.warnings.push(Warning::ThreadsRefused { wanted, started, errno });
    Ok(kept)
}

/// Returns the properties that points with the same traffic alongside the same walk share.
fn key(point: &Point) -> Option<impl PartialEq> {
    let traffic = point.walk.traffic()?;
    let route = (point.cpu, point.initiator, point.target, point.size, traffic.from);
    let load = (traffic.kind.name, traffic.generators, traffic.subject, traffic.node, traffic.rate);
    Some((matches!(point.walk, Walk::Traffic(_)), route, load))
}
