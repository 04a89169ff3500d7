//! The helpers of a run, from the first thread's side: brought to the CPUs of a point, and given something to do there.

use latency_core::units::{Bytes, CpuId, NodeId};

use super::laps::Laps;
use super::mailbox::{Mailbox, Order, Shared};
use super::orders::{obeyed, Others};
use super::rally::{Rally, MOST_LINES};
use super::record::Record;
use crate::engine::cpu_time::CpuTimes;
use crate::engine::ground::Ground;
use crate::engine::placement::Witness;
use crate::engine::stopwatch::Stopwatch;
use crate::error::{Failure, PlacementError};
use crate::result::{Counter, Owned, PerLine, PingPong, Point, Walk};

/// Cores exchange for so long before the first window of a visit: what slept wakes up, and clocks rise.
const WAKING_NS: f64 = 100e3;

/// What walks over a point.
pub type Walker<'w> = dyn FnMut(&mut dyn Ground) -> Result<(), Failure<'static>> + 'w;

/// Lines on a node: points of one size share them.
pub type Key = (NodeId, Bytes);

/// The helpers of a run, and the lines.
pub struct Helpers<'x> {
    shared: &'x Shared<'x>,
    /// Where the lines are.
    known: &'x [Option<(Key, Witness)>],
    counter: Counter,
    record: Record,
    /// Their CPU time, as it is counted.
    times: Option<&'static CpuTimes>,
}

impl<'x> Helpers<'x> {
    /// Helpers that rest, and lines that somebody knows.
    #[must_use]
    pub const fn new(
        shared: &'x Shared<'x>,
        known: &'x [Option<(Key, Witness)>],
        counter: Counter,
        record: Record,
        times: Option<&'static CpuTimes>,
    ) -> Helpers<'x> {
        Helpers { shared, known, counter, record, times }
    }

    /// The place of lines among all, and who knows where they are.
    #[must_use]
    pub fn site(&self, key: Key) -> Option<(usize, Witness)> {
        let mut known = self.known.iter().flatten().enumerate();
        known.find(|(_, (other, _))| *other == key).map(|(index, (_, witness))| (index, *witness))
    }

    /// What the windows of a point say line by line.
    pub fn found(&mut self, index: usize, point: &Point) -> Option<PerLine> {
        self.record.found(index, point, 1.0 / self.counter.frequency.gigahertz())
    }

    /// Has `walker` walk over the lines of the `index`-th point. This thread is on its CPU.
    ///
    /// # Errors
    ///
    /// Those of `walker`; a CPU that a helper may not have; [`Failure::Interrupted`].
    pub fn visit(
        &mut self,
        watch: &Stopwatch,
        index: usize,
        point: &Point,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>> {
        let boxes = self.shared.boxes;
        let mut others: Others<'x> = [None; 2];
        let mut walked = Ok(());
        for ((slot, partner), mailbox) in others.iter_mut().zip(point.walk.partners()).zip(boxes) {
            let Some(cpu) = partner else { continue };
            *slot = Some(mailbox);
            walked = walked.and_then(|()| pin(mailbox, cpu));
            mailbox.clock.begin_run();
        }
        walked = walked.and_then(|()| match point.walk {
            Walk::PingPong(pair) => self.rally(watch, index, point, pair, walker),
            Walk::Owned(owned) => self.laps(watch, point, owned, others, walker),
            _ => Err(PlacementError::NothingToMeasure.into()),
        });
        for mailbox in others.iter().flatten() {
            mailbox.clock.end_run(self.times, mailbox.cpu(), false);
        }
        let rested = others.iter().flatten().try_for_each(|mailbox| obeyed(mailbox, Order::Rest));
        walked.and(rested)
    }

    fn rally(
        &mut self,
        watch: &Stopwatch,
        index: usize,
        point: &Point,
        pair: PingPong,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>> {
        let [first, second] = pair.homes.map(|node| self.site((node, point.size)));
        let Helpers { shared, counter, record, .. } = self;
        let (Some((first, _)), Some((second, _)), Some(partner)) = (first, second, shared.boxes.first())
        else {
            return Err(PlacementError::NothingToMeasure.into());
        };
        let sites = [first, second];
        for site in sites {
            if let (Some(exchange), Some(flusher)) = (shared.exchange(site), shared.flusher) {
                exchange.flush(flusher);
            }
        }
        let window = [f64::NAN; MOST_LINES];
        let mut rally =
            Rally { shared, partner, sites, pair, watch, counter, record: (record, index), window };
        rally.warm_up(rally.now_ns() + WAKING_NS)?;
        walker(&mut rally)
    }

    fn laps(
        &self,
        watch: &Stopwatch,
        point: &Point,
        owned: Owned,
        others: Others<'_>,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>> {
        let Helpers { shared, counter, .. } = self;
        let site = self.site((point.target, point.size)).map(|(site, _)| site);
        let ring = site.and_then(|site| Some((site, shared.ring(site)?)));
        let (site, ring) = ring.ok_or(PlacementError::NothingToMeasure)?;
        walker(&mut Laps { shared, ring, site, owned, others, watch, counter })
    }
}

/// Brings a helper to a CPU.
fn pin(mailbox: &Mailbox, cpu: CpuId) -> Result<(), Failure<'static>> {
    obeyed(mailbox, Order::Pin(cpu)).map_err(|_| PlacementError::CpuTaken { cpu }.into())
}
