//! Walks of lines between two CPUs: a hop is one transfer of a line between the CPUs, and a batch is a window over all
//! lines.

use latency_core::arch::{Delays, EndStamp};
use latency_core::cores::{Exchange, ExchangeSide, Patience};
use latency_core::math::ToReal;
use latency_core::stats;

use crate::engine::seam::{Batch, Walkable, Walked};
use crate::engine::stopwatch::{Stopwatch, counters};
use crate::engine::threads::partners::partner::{Partner, PartnerTask, RoundTrips, SharedByPartners};
use crate::engine::threads::partners::record::Record;
use crate::error::{Attempt, Failure, PlacementError};
use crate::result::{Counted, Counter, PingPong, Round, Software};
use crate::sys::signal;
use crate::sys::thread::wait_until;

/// Maximum lines of a pair.
pub const MOST_LINES: usize = Exchange::MOST_PLACES;
/// Nanoseconds for which each line is timed: a thousand times the clock's step, and short relative to a scheduler's
/// time slice.
const LINE_NS: f64 = 25e3;
/// Steps of a coarse counter for which each line is timed.
const LINE_STEPS: u32 = 500;
/// Round trips before a line is timed, so that it is in a cache of one of the two CPUs.
const WARM_TRIPS: usize = 20;
/// Polls by the first side between two checks for an interrupt: some milliseconds.
const POLLS: usize = 1_000_000;
/// Nanoseconds without an answer after which the partner is assumed to have no CPU.
const SILENCE_NS: f64 = 5e9;

/// The exchange of lines between this thread and its partner.
pub struct PingPongWalk<'s> {
    /// The state that both share.
    pub shared: &'s SharedByPartners<'s>,
    /// The partner.
    pub partner: &'s Partner,
    /// The site of even lines, and the site of odd ones.
    pub sites: [usize; 2],
    /// The pair and its method.
    pub pair: PingPong,
    /// The stopwatch.
    pub watch: &'s Stopwatch,
    /// The counter of that stopwatch.
    pub counter: &'s Counter,
    /// The record of windows, and the index of the point.
    pub record: (&'s mut Record, usize),
    /// The values of the last window, by line.
    pub window: [f64; MOST_LINES],
}

impl<'s> PingPongWalk<'s> {
    /// Exchanges the first line until `until_ns`, so that the clocks of both cores rise.
    pub fn warm_up(&mut self, until_ns: f64) -> Attempt {
        const TRIPS: usize = 200;
        while self.now_ns() < until_ns {
            self.line(0, TRIPS)?;
        }
        Ok(())
    }

    /// Makes `trips` round trips with each line. Returns the hops made, their nanoseconds, and true if the partner was
    /// late.
    fn window(&mut self, trips: usize) -> Attempt<(u64, f64, bool)> {
        let (mut spent_ns, mut late) = (0.0, false);
        for line in 0..self.pair.lines {
            let (line_ns, was_late) = self.line(line, trips)?;
            spent_ns += line_ns;
            late |= was_late;
            if let Some(slot) = self.window.get_mut(line as usize) {
                *slot = line_ns / (2 * trips).real();
            }
        }
        Ok((u64::from(self.pair.lines) * trips as u64 * 2, spent_ns, late))
    }

    /// Makes the partner answer `count` round trips with one line; returns the memory and the place of the line.
    fn answered(&self, line: u32, count: usize) -> Attempt<(&'s Exchange<'s>, usize)> {
        let (node, place) = self.pair.home(line);
        let [first, second] = self.sites;
        let site = if node == self.pair.homes[0] { first } else { second };
        let (place, method) = (place as usize, self.pair.method);
        let exchange = self.shared.exchange(site).ok_or(PlacementError::NothingToMeasure)?;
        self.partner.mailbox.give(PartnerTask::Answer(RoundTrips { site, place, method, count }));
        Ok((exchange, place))
    }

    /// Makes `trips` timed round trips with one line, after some untimed ones.
    fn line(&mut self, line: u32, trips: usize) -> Attempt<(f64, bool)> {
        let (partner, counter) = (self.partner, self.counter);
        let count = WARM_TRIPS + trips;
        let moves = partner.moves();
        let (exchange, place) = self.answered(line, count)?;
        let mut back = Delays::NONE;
        let (was_late, ..) = self.trips(exchange, place, WARM_TRIPS, &mut back)?;
        let (late, start, end) = self.trips(exchange, place, trips, &mut back)?;
        let line_ns = self.watch.ended(counter, start, end);
        while !partner.mailbox.is_obeyed() {
            core::hint::spin_loop();
        }
        let (record, index) = &mut self.record;
        let there = partner.mailbox.answer().flatten();
        if let Some(there) = there.filter(|_| back.least < i64::MAX) {
            record.messages(*index, there, back, count as u64);
        }
        Ok((line_ns, was_late || late || partner.moves() != moves))
    }

    /// Makes `count` round trips. Returns true if one of them was late, and the counter before and after them.
    fn trips(
        &self,
        exchange: &Exchange<'_>,
        place: usize,
        count: usize,
        delays: &mut Delays,
    ) -> Attempt<(bool, u64, EndStamp)> {
        let patience = Patience { stop: self.partner.mailbox.stop_word(), polls: POLLS };
        let (mut left, mut since_ns, mut first) = (count, None, None);
        loop {
            let made = exchange.run(place, ExchangeSide::First, self.pair.method, left, &patience);
            left -= made.count;
            let start = *first.get_or_insert(made.start);
            delays.sum += made.delays.sum;
            delays.least = delays.least.min(made.delays.least);
            if left == 0 {
                return Ok((since_ns.is_some(), start, made.end));
            }
            let now_ns = self.now_ns();
            if made.count > 0 {
                since_ns = Some(now_ns);
            }
            let silent = now_ns - *since_ns.get_or_insert(now_ns) > SILENCE_NS;
            if silent || signal::interrupted() {
                self.leave_off(exchange);
                return Err(match silent {
                    true => PlacementError::CpuTaken { cpu: self.pair.partner }.into(),
                    false => Failure::Interrupted,
                });
            }
        }
    }

    /// Makes the partner stop, and resets the lines of the exchange.
    fn leave_off(&self, exchange: &Exchange<'_>) {
        let mailbox = &self.partner.mailbox;
        mailbox.stop();
        wait_until(&|| mailbox.is_obeyed(), &|| false);
        exchange.reset();
    }

    /// Returns the number of round trips of each line, from the hops of all lines.
    fn trips_of(&self, hops: u64) -> usize {
        (hops / (2 * u64::from(self.pair.lines.max(1)))).max(1) as usize
    }
}

impl Walkable for PingPongWalk<'_> {
    fn nodes(&self) -> u64 {
        u64::from(self.pair.lines)
    }

    /// Returns one lane, so that no first pass is made: the line was warmed up.
    fn lanes(&self) -> Option<usize> {
        Some(1)
    }

    fn walk(&mut self, hops: u64, _: f64) -> Attempt<Walked> {
        let (made, spent_ns, _) = self.window(self.trips_of(hops))?;
        Ok((made, spent_ns))
    }

    fn batch(&mut self, hops: u64, _: f64) -> Attempt<Batch> {
        self.partner.clock.begin_window();
        let before = self.watch.software();
        let (made, _, late) = self.window(self.trips_of(hops))?;
        let after = self.watch.software().since(&before);
        let late = late || self.partner.clock.has_lost();
        let moved = self.watch.brought_back()?;
        let mut values = self.window;
        let values = values.get_mut(..self.pair.lines as usize).unwrap_or_default();
        Ok(Batch {
            nanoseconds: stats::median(values).unwrap_or(f64::NAN),
            preempted: late || moved || after.switches.1 > 0,
            hops: made.max(hops),
            ..Batch::NONE
        })
    }

    fn batch_ns(&self) -> f64 {
        LINE_NS.max(self.counter.at_least(LINE_STEPS)) * f64::from(self.pair.lines)
    }

    fn software(&mut self) -> Software {
        self.watch.software()
    }

    /// Counts the events of the first CPU's thread in round trips with the first line.
    fn count(&mut self, _: u64) -> Attempt<Counted> {
        const TRIPS: usize = counters::FEWEST_COUNTED as usize;
        let Some(meter) = &self.watch.meter else { return Ok(Counted::default()) };
        let (mut made, mut delays) = (Ok(()), Delays::NONE);
        let counted = meter.count_all(2 * TRIPS as u64, || {
            let trips = self
                .answered(0, TRIPS)
                .and_then(|(exchange, place)| self.trips(exchange, place, TRIPS, &mut delays));
            while trips.is_ok() && !self.partner.mailbox.is_obeyed() {
                core::hint::spin_loop();
            }
            let _ = self.partner.mailbox.answer();
            made = made.and(trips.map(drop));
        });
        made.map(|()| counted)
    }

    /// Records the window of the round.
    fn beside(&mut self, _: &Round) -> Attempt {
        let (record, index) = &mut self.record;
        if let Some(window) = self.window.get(..self.pair.lines as usize) {
            record.note(*index, window);
        }
        Ok(())
    }
}
