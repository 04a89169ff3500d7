//! The partner of a run, from the first thread's side: brought to the CPU of a point, and given something to answer.

use latency_core::arch::Flusher;
use latency_core::units::NodeId;

use super::ground::{Rally, MOST_LINES};
use super::mailbox::{Order, Shared};
use super::record::Record;
use crate::engine::ground::Ground;
use crate::engine::placement::Witness;
use crate::engine::stopwatch::Stopwatch;
use crate::error::{Failure, PlacementError};
use crate::result::{Counter, PerLine, PingPong, Point};
use crate::sys::time;

/// Both cores exchange for so long before the first window of a visit: what slept wakes up, and clocks rise.
const WAKING_NS: f64 = 100e3;
/// A partner that is to obey is waited for without a rest for so long, then with rests of this length.
const PATIENCE_NS: u64 = 50_000;
const REST_NS: u64 = 20_000;

/// The partner of a run, and what both exchange.
pub struct Partner<'x> {
    shared: &'x Shared<'x>,
    /// Where the lines are, by their home.
    witnesses: &'x [Option<Witness>],
    counter: Counter,
    flusher: Option<Flusher>,
    record: Record,
}

impl<'x> Partner<'x> {
    /// A partner that rests, and exchanges lines that somebody knows.
    #[must_use]
    pub fn new(
        shared: &'x Shared<'x>,
        witnesses: &'x [Option<Witness>],
        counter: Counter,
        record: Record,
    ) -> Partner<'x> {
        Partner { shared, witnesses, counter, flusher: Flusher::detect(), record }
    }

    /// The place of a node's lines among all, and who knows where they are.
    #[must_use]
    pub fn home(&self, node: NodeId) -> Option<(usize, Witness)> {
        let known = self.witnesses.iter().enumerate();
        known
            .filter_map(|(index, witness)| Some((index, (*witness)?)))
            .find(|(_, witness)| witness.target == node)
    }

    /// What the windows of a point say line by line.
    pub fn found(&mut self, index: usize, point: &Point) -> Option<PerLine> {
        self.record.found(index, point, 1.0 / self.counter.frequency.gigahertz())
    }

    /// Has `walker` exchange lines as the `index`-th point has it. This thread is on its CPU.
    ///
    /// # Errors
    ///
    /// Those of `walker`; a CPU that the partner may not have; [`Failure::Interrupted`].
    pub fn visit(
        &mut self,
        watch: &Stopwatch,
        index: usize,
        pair: PingPong,
        walker: &mut dyn FnMut(&mut dyn Ground) -> Result<(), Failure<'static>>,
    ) -> Result<(), Failure<'static>> {
        let shared = self.shared;
        self.obeyed(Order::Pin(pair.partner));
        let walked = match shared.mailbox.kept_out() {
            Some(cpu) => Err(PlacementError::CpuTaken { cpu }.into()),
            None => self.walk(watch, index, pair, walker),
        };
        self.obeyed(Order::Rest);
        walked
    }

    fn walk(
        &mut self,
        watch: &Stopwatch,
        index: usize,
        pair: PingPong,
        walker: &mut dyn FnMut(&mut dyn Ground) -> Result<(), Failure<'static>>,
    ) -> Result<(), Failure<'static>> {
        let [first, second] = pair.homes.map(|node| self.home(node));
        let (Some((first, _)), Some((second, _))) = (first, second) else {
            return Err(PlacementError::NothingToMeasure.into());
        };
        let homes = [first, second];
        for home in homes {
            if let (Some(Some(exchange)), Some(flusher)) = (self.shared.exchanges.get(home), self.flusher) {
                exchange.flush(flusher);
            }
        }
        let Partner { shared, counter, record, .. } = self;
        let window = [f64::NAN; MOST_LINES];
        let mut rally = Rally { shared, homes, pair, watch, counter, record: (record, index), window };
        rally.warm_up(rally.now_ns() + WAKING_NS)?;
        walker(&mut rally)
    }

    /// Gives an order that is over in no time, and waits until it is obeyed.
    fn obeyed(&self, order: Order) {
        let mailbox = &self.shared.mailbox;
        mailbox.give(order);
        let begun_ns = time::monotonic_raw_ns();
        while !mailbox.is_obeyed() {
            match time::monotonic_raw_ns() - begun_ns {
                ..PATIENCE_NS => core::hint::spin_loop(),
                _ => time::sleep_ns(REST_NS),
            }
        }
    }
}
