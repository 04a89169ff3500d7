//! Walks of lines between two CPUs: a hop is one transfer of a line between the CPUs, and a batch is a window over all
//! lines. The values of each line in each window are recorded: the address of a line determines its latency, which the
//! median over the lines of a window would hide.

use latency_core::arch::{Delays, EndStamp};
use latency_core::cores::{Exchange, ExchangeSide, Method, Patience, over_lines};
use latency_core::{Interval, ToReal, stats};

use crate::budget::Budget;
use crate::error::{Attempt, MeasureError, PlacementError};
use crate::result::{
    ClockOffset, Counted, Counter, PerLine, PingPong, Point, Round, Software, may_be_coarse,
};
use crate::seam::{Batch, Walkable, Walked};
use crate::stopwatch::{Stopwatch, counters};
use crate::threads::partners::partner::{Partner, PartnerTask, RoundTrips, SharedByPartners};
use latency_sys::thread::wait_until;
use latency_sys::{Errno, Table, signal};

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
                    false => MeasureError::Interrupted,
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

/// The record of one point.
#[derive(Clone, Copy)]
struct PointRecord {
    /// Number of whole windows.
    windows: usize,
    /// Number of batches of messages with one line.
    batches: usize,
    /// The shortest delay of all messages, in ticks of the time-stamp counter.
    least: i64,
}

/// The windows of every point, line by line.
pub struct Record {
    records: Table<PointRecord>,
    samples: Table<f64>,
    /// Half of the difference between a message to the partner and one back, in ticks, as the mean of each batch. Only
    /// the last batches are kept if there are more than windows times lines.
    apart: Table<f64>,
    scratch: Table<f64>,
    /// Maximum windows of a point, and maximum lines.
    room: usize,
    lines: usize,
}

impl Record {
    /// Allocates room for all windows of `points`.
    ///
    /// # Errors
    ///
    /// The error of mapping its memory.
    pub fn new(points: &[Point], budget: &Budget) -> Result<Record, Errno> {
        let exchanges = || points.iter().filter_map(|point| point.walk.ping_pong());
        let lines = exchanges().map(|pair| pair.lines as usize).max().unwrap_or(0);
        let room = budget.room(points.len());
        let by_messages = exchanges().any(|pair| pair.method == Method::Message);
        let batches = if by_messages { room * lines } else { 0 };
        let noted = PointRecord { windows: 0, batches: 0, least: i64::MAX };
        Ok(Record {
            records: Table::filled(points.len(), noted)?,
            samples: Table::zeroed(points.len() * room * lines)?,
            apart: Table::zeroed(points.len() * batches)?,
            scratch: Table::zeroed(batches.max(room + lines))?,
            room,
            lines,
        })
    }

    /// Records a window of point number `index`.
    pub fn note(&mut self, index: usize, window: &[f64]) {
        let Some(noted) = self.records.get_mut(index) else { return };
        let from = index * self.room * self.lines + noted.windows * window.len();
        if noted.windows < self.room
            && let Some(slots) = self.samples.get_mut(from..from + window.len())
        {
            slots.copy_from_slice(window);
            noted.windows += 1;
        }
    }

    /// Records a batch of `messages` to the partner and as many back.
    pub fn messages(&mut self, index: usize, there: Delays, back: Delays, messages: u64) {
        let room = self.room * self.lines;
        let Some(noted) = self.records.get_mut(index) else { return };
        noted.least = noted.least.min(there.least).min(back.least);
        if let Some(slot) = self.apart.get_mut(index * room + noted.batches % room.max(1)) {
            *slot = (there.sum - back.sum) as f64 / (2 * messages.max(1)) as f64;
            noted.batches += 1;
        }
    }

    /// Returns the values of a point line by line; `tick_ns` is the length of a tick.
    pub fn found(&mut self, index: usize, point: &Point, tick_ns: f64) -> Option<PerLine> {
        let lines = point.walk.ping_pong()?.lines as usize;
        let noted = *self.records.get(index)?;
        let from = index * self.room * self.lines;
        let samples = self.samples.get(from..from + noted.windows * lines)?;
        let found = over_lines(samples, lines, &mut self.scratch)?;
        let batches = noted.batches.min(self.room * self.lines);
        let apart = self.apart.get(from..from + batches).unwrap_or_default();
        let scratch = self.scratch.get_mut(..apart.len())?;
        scratch.copy_from_slice(apart);
        // The median tolerates a few interrupted batches, whose offsets are wrong.
        let messages = stats::summarise(scratch).map(|apart| ClockOffset {
            apart_ns: (apart.median * tick_ns).abs(),
            interval: apart.interval.map(|Interval { low, high }| Interval {
                low: low.max(-high).max(0.0) * tick_ns,
                high: high.max(-low) * tick_ns,
            }),
            // A message may arrive within the tick in which it was sent if ticks are long.
            in_order: noted.least > -i64::from(may_be_coarse()),
        });
        Some(PerLine { fastest: found.fastest, slowest: found.slowest, messages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{PingPong, Walk};
    use crate::tests::outcome::POINT;
    use crate::tests::words::{AARCH64, X86_64, speak};

    use latency_core::topology::Shared;
    use latency_core::{Bytes, CpuId, NodeId};

    const LINES: u32 = 2;
    const MESSAGES: u64 = 50;

    /// Returns a record of two points, and the points: pairs of CPUs that exchange messages.
    fn record() -> (Record, [Point; 2]) {
        let (class, method, homes) = (Shared::Machine, Method::Message, [NodeId(0); 2]);
        let pair = PingPong { partner: CpuId(1), class, method, lines: LINES, homes };
        let point = Point { size: Bytes(8192), stride: Bytes(4096), walk: Walk::PingPong(pair), ..POINT };
        let points = [point; 2];
        (Record::new(&points, &Budget::DEFAULT).unwrap(), points)
    }

    /// Records windows of point number `index`, with the ticks of its messages there and back.
    fn exchange(record: &mut Record, index: usize, [there, back]: [i64; 2], windows: usize) {
        let delays = |ticks: i64| Delays { sum: ticks * MESSAGES.cast_signed(), least: ticks - 3 };
        for window in 0..windows {
            // Some batches are longer both ways, as under other work: that is not an offset.
            let more = (window % 5) as i64;
            for _ in 0..LINES {
                record.messages(index, delays(there + more), delays(back + more), MESSAGES);
            }
            record.note(index, &[(there + back) as f64 / 2.0; LINES as usize]);
        }
    }

    fn messages(ways: [i64; 2]) -> ClockOffset {
        let (mut record, points) = record();
        exchange(&mut record, 0, [500, 500], 12);
        exchange(&mut record, 1, ways, 12);
        record.found(1, &points[1], 0.5).unwrap().messages.unwrap()
    }

    #[test]
    fn a_clock_offset_below_the_delay_is_bounded_and_not_taken_for_asymmetry() {
        // A one-way delay of 200 ticks, and a counter of the partner that is ahead, or behind, by 0.6 of it.
        for ways in [[320, 80], [80, 320]] {
            let found = messages(ways);
            assert!(found.in_order, "{found:?}");
            assert_eq!((found.apart_ns, found.most_ns()), (60.0, 60.0));
        }
        let even = messages([200, 200]);
        assert_eq!((even.in_order, even.apart_ns, even.most_ns()), (true, 0.0, 0.0));
        // Messages that arrive before they are sent.
        let found = messages([520, -120]);
        assert_eq!((found.in_order, found.apart_ns), (false, 160.0));
    }

    #[test]
    fn messages_that_arrive_in_the_tick_of_their_sending_are_in_order_if_ticks_are_long() {
        for (words, in_order) in [(X86_64, false), (AARCH64, true)] {
            let _words = speak(words);
            assert_eq!(messages([3, 4]).in_order, in_order);
            assert!(messages([4, 4]).in_order && !messages([2, 4]).in_order);
        }
    }

    #[test]
    fn few_interrupted_batches_leave_the_offset_within_its_interval() {
        let (mut record, points) = record();
        for window in 0..12 {
            exchange(&mut record, 0, [203 - window % 7, 197 + window % 5], 1);
        }
        exchange(&mut record, 0, [80_000, 200], 1);
        let found = record.found(0, &points[0], 1.0).unwrap().messages.unwrap();
        let interval = found.interval.unwrap();
        assert!(found.apart_ns <= 1.0 && found.most_ns() <= 2.0, "{found:?}");
        assert!(interval.low <= found.apart_ns && found.apart_ns <= interval.high, "{found:?}");
        // Without messages there is no offset.
        record.note(1, &[100.0; LINES as usize]);
        assert_eq!(record.found(1, &points[1], 1.0).unwrap().messages, None);
    }

    #[test]
    fn more_batches_than_windows_and_lines_keep_the_last_ones() {
        let (mut record, points) = record();
        exchange(&mut record, 0, [300, 100], 5_000);
        exchange(&mut record, 0, [210, 190], 5_000);
        let found = record.found(0, &points[0], 1.0).unwrap().messages.unwrap();
        assert_eq!(found.apart_ns, 10.0);
    }
}
