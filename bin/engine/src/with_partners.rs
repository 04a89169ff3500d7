//! The partners of a run, seen from the first thread: it places and verifies the lines that all of them use, starts the
//! threads, moves them to the CPUs of a point, gives them tasks, and ends them.

use latency_core::arch::Flusher;
use latency_core::cores::{Exchange, Ring};

use crate::budget::{Budget, Memory, Optional};
use crate::error::{Attempt, MeasureError, PlacementError, TimingError};
use crate::pieces::Pieces;
use crate::placement::{Witness, lines_of};
use crate::result::{Counter, Owned, PerLine, PingPong, Point, Walk};
use crate::run;
use crate::seam::{Place, Walkable, Walker};
use crate::session::{Findings, Session};
use crate::stopwatch::Stopwatch;
use crate::threads::partners::{
    self, Lines, MOST_LINES, Others, OwnedWalk, Partner, PartnerTask, PingPongWalk, Record, SharedByPartners,
};
use latency_sys::thread;

/// Nanoseconds of exchanges before the first window of a visit, so that sleeping threads wake up and clocks rise.
const WAKING_NS: f64 = 100e3;

/// The partners of a run, and their lines.
pub struct Partners<'x> {
    /// The state that all threads share.
    pub shared: &'x SharedByPartners<'x>,
    /// The stopwatch of this thread.
    pub watch: Stopwatch,
    /// The counter of that stopwatch.
    pub counter: Counter,
    /// The record of values per line.
    pub record: Record,
}

impl<'x> Place for Partners<'x> {
    fn with_chain(&mut self, index: usize, point: &Point, _: u64, walker: &mut Walker<'_>) -> Attempt {
        self.watch.go_to(point.cpu)?;
        let mut others: Others<'x> = [None; 2];
        let mut walked = Ok(());
        let cpus = point.walk.partners();
        for ((slot, cpu), partner) in others.iter_mut().zip(cpus).zip(self.shared.partners) {
            let Some(cpu) = cpu else { continue };
            *slot = Some(partner);
            walked = walked.and_then(|()| {
                partner.obeys(PartnerTask::Pin(cpu)).map_err(|_| PlacementError::CpuTaken { cpu }.into())
            });
            partner.clock.begin_run();
        }
        walked = walked.and_then(|()| match point.walk {
            Walk::PingPong(pair) => self.ping_pong(index, point, pair, walker),
            Walk::Owned(owned) => self.owned_lines(point, owned, others, walker),
            _ => Err(MeasureError::NOTHING_TO_MEASURE),
        });
        for (partner, cpu) in others.iter().flatten().zip(cpus.iter().flatten()) {
            partner.clock.end_run(self.watch.times, *cpu, false);
        }
        let rested = others.iter().flatten().try_for_each(|partner| partner.obeys(PartnerTask::Rest));
        walked.and(rested)
    }

    fn witnesses(&self, point: &Point) -> Option<(Witness, Option<Witness>)> {
        let [first, second] = lines_of(point).map(|home| Some(self.shared.sites.find(&home?)?.witness));
        match point.walk.ping_pong() {
            Some(_) => Some((first?, Some(second?))),
            None => Some((first?, None)),
        }
    }

    fn moves(&self) -> u64 {
        self.watch.moves()
    }

    fn per_line(&mut self, index: usize, point: &Point) -> Option<PerLine> {
        self.record.found(index, point, 1.0 / self.counter.frequency.gigahertz())
    }
}

impl<'x> Partners<'x> {
    fn ping_pong(&mut self, index: usize, point: &Point, pair: PingPong, walker: &mut Walker<'_>) -> Attempt {
        let sites = lines_of(point).map(|home| self.shared.sites.index(&home?));
        let Partners { shared, watch, counter, record, .. } = self;
        let ([Some(first), Some(second)], Some(partner)) = (sites, shared.partners.first()) else {
            return Err(MeasureError::NOTHING_TO_MEASURE);
        };
        let sites = [first, second];
        for site in sites {
            if let (Some(exchange), Some(flusher)) = (shared.exchange(site), shared.flusher) {
                exchange.flush(flusher);
            }
        }
        let window = [f64::NAN; MOST_LINES];
        let mut walk =
            PingPongWalk { shared, partner, sites, pair, watch, counter, record: (record, index), window };
        walk.warm_up(walk.now_ns() + WAKING_NS)?;
        walker(&mut walk)
    }

    fn owned_lines(
        &self,
        point: &Point,
        owned: Owned,
        others: Others<'_>,
        walker: &mut Walker<'_>,
    ) -> Attempt {
        let Partners { shared, watch, counter, .. } = self;
        let [home, _] = lines_of(point);
        let site = home.and_then(|home| shared.sites.index(&home));
        let ring = site.and_then(|site| Some((site, shared.ring(site)?)));
        let (site, ring) = ring.ok_or(MeasureError::NOTHING_TO_MEASURE)?;
        walker(&mut OwnedWalk { shared, ring, site, owned, others, watch, counter })
    }
}

/// Measures `points` with partners: places the lines of all points, starts as many threads as a point needs, and ends
/// them.
///
/// # Errors
///
/// The errors of placing; [`PlacementError::ThreadsRefused`]; [`TimingError::NeedsCounter`] without a time-stamp counter;
/// those of [`run::measure_in`].
pub fn measure_with_partners(
    session: &mut Session<'_>,
    points: &[Point],
    budget: &Budget,
) -> Attempt<Findings> {
    let needs = || TimingError::NeedsCounter { what: "core-to-core measurements", instead: "matrix" };
    let counter = *session.timer.counter().ok_or_else(needs)?;
    let atomics = session.machine.atomics;
    let shared_lines = Budget { memory: Memory::Shared, optional: Optional::Nothing, ..*budget };
    let mut pieces = Pieces::place(session, points, &|_| true, lines_of, &shared_lines)?;
    let chains = pieces.chains(&shared_lines)?;
    let mut chains = chains.iter();
    let sites = pieces.open(&mut |like, lines| match (like.walk.ping_pong(), chains.next()) {
        (None, Some(Some(chain))) => {
            Ok(Lines::Ring(Ring::new(lines, chain, atomics).map_err(|_| MeasureError::HOPS_NOT_PROVEN)?))
        }
        (None, _) => Err(MeasureError::NOTHING_TO_MEASURE),
        _ => Ok(Lines::Exchange(Exchange::new(lines, counter.stamp, atomics))),
    })?;
    let both = [const { Partner::idle() }; 2];
    let wanted = points.iter().map(|point| point.walk.partners().iter().flatten().count()).max().unwrap_or(0);
    let shared = SharedByPartners { partners: &both, sites: &sites, flusher: Flusher::detect() };
    let record = Record::new(points, budget)?;
    thread::scope(wanted, &shared, partners::work, partners::dismiss, |started| {
        if let Some(errno) = started.refused {
            let (wanted, started) = (wanted as u32, started.threads as u32);
            return Err(PlacementError::ThreadsRefused { wanted, started, errno }.into());
        }
        let watch = session.stopwatch(budget.counters);
        let mut place = Partners { shared: &shared, watch, counter, record };
        run::measure_in(session, points, budget, &mut place, &mut run::all_rounds)
    })?
}
