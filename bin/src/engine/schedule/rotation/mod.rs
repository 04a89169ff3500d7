//! Measures points of different size, order, stride or kernel side by side, in one region of memory.
//!
//! A round visits every point in an order shuffled anew; a visit writes the point's
//! chain at one of several offsets, warms it up and makes a round of trials. The
//! rounds of a point are thus spread over the whole run and over placements: from
//! half of a physically indexed cache to one and a half of it, the pages behind a
//! buffer decide more than anything else, and one placement is one sample.

mod entry;

use latency_core::buffer::Buffer;
use latency_core::rng::Pcg32;
use latency_core::stats;
use latency_core::units::Bytes;

use crate::engine::arena;
use crate::engine::clock::Timer;
use crate::engine::finish::{self, DISTURBED_SHARE};
use crate::engine::placement::{self, Placement};
use crate::engine::session::{Findings, Session};
use crate::engine::stopwatch::Stopwatch;
use crate::engine::subject::Subject;
use crate::engine::visit::{Pace, State};
use crate::error::{Failure, PlacementError};
use crate::options::Options;
use crate::plan::duration::{FEWEST_ROUNDS, ROUNDS};
use crate::result::{chain, Exclusion, Extra, Outcome, Point, Round};
use crate::sys::table::Table;
use crate::sys::time;
use crate::warning::Warning;
use entry::{room, Entry, FEW_HOPS};

/// The rounds of all points together, at the most: half a MiB of results.
const ROUNDS_KEPT: usize = 12_288;
/// Beyond this share of the time for all, points are left with the rounds that they have.
const OVERTIME: f64 = 1.2;
/// The run is spread over at least this long, since drift is a matter of seconds.
const SPREAD_NS: f64 = 1e9;

/// How long everything may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A point.
    pub point_ns: f64,
    /// All of them together. A fifth more is given where [`FEWEST_ROUNDS`] are not there by then.
    pub run_ns: f64,
}

/// Points under way in one region.
#[derive(Debug)]
pub struct Rotation<'t> {
    placement: Placement,
    watch: Stopwatch<'t>,
    entries: Table<Entry>,
    count: usize,
    rounds: Table<Round>,
    per_point: usize,
    order: Table<usize>,
    rng: Pcg32,
    limits: Limits,
    begun_ns: u64,
}

impl<'t> Rotation<'t> {
    /// Places `region` bytes as `like` wants them, with room for `capacity` points.
    ///
    /// # Errors
    ///
    /// As [`Placement::new`].
    pub fn new<'a>(
        session: &mut Session<'a, '_>,
        timer: &'t Timer,
        like: &Point,
        region: Bytes,
        capacity: usize,
        limits: Limits,
    ) -> Result<Self, Failure<'a>> {
        let placement = arena::place(session, like.target, region, like.pages)?;
        // Without policies, memory is placed by touching it from a CPU of its node.
        placement::pin(like.cpu)?;
        let entry = Entry::new(*like);
        let per_point =
            (ROUNDS_KEPT / capacity.max(1)).clamp(2 * ROUNDS, crate::engine::stopwatch::MOST_ROUNDS);
        Ok(Rotation {
            placement,
            watch: Stopwatch::new(timer, arena::meter(session))?,
            entries: Table::filled(capacity, entry)?,
            count: 0,
            rounds: Table::filled(capacity * per_point, Round::default())?,
            per_point,
            order: Table::filled(capacity, 0)?,
            rng: Pcg32::new(like.seed, 0x726f_7461),
            limits,
            begun_ns: time::monotonic_raw_ns(),
        })
    }

    /// Adds a point; false where there is no room for it.
    pub fn add(&mut self, point: Point) -> bool {
        let Some(entry) = self.entries.get_mut(self.count) else { return false };
        entry.point = point;
        self.count += 1;
        true
    }

    /// The points added.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Gives all points together so long from now on.
    pub fn limit(&mut self, run_ns: f64) {
        self.limits.run_ns = run_ns;
        self.begun_ns = time::monotonic_raw_ns();
    }

    /// The most points that there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// The points and the median of their rounds so far: nanoseconds, which are not a number before the first.
    pub fn so_far(&mut self) -> impl Iterator<Item = (&Point, f64)> + use<'_, 't> {
        let Self { entries, rounds, watch, per_point, count, .. } = self;
        entries.iter().take(*count).zip(rounds.chunks(*per_point)).map(|(entry, rounds)| {
            let made = rounds.get(..entry.state.rounds).unwrap_or_default();
            let latency = watch.summarise(made).map_or(f64::NAN, |series| series.nanoseconds.median);
            (&entry.point, latency)
        })
    }

    /// Brings every point that has fewer to `rounds` rounds.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::round`], [`Failure::Interrupted`] among them.
    pub fn reach(&mut self, session: &mut Session<'_, '_>, rounds: usize) -> Result<(), Failure<'static>> {
        let lacking = |entry: &Entry, _| entry.state.rounds < rounds;
        while self.go_round(session, lacking)? {}
        Ok(())
    }

    /// Goes round until every point is precise or out of time; true where an interrupt came first.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::round`], but for the interrupt.
    pub fn measure(&mut self, session: &mut Session<'_, '_>) -> Result<bool, Failure<'static>> {
        loop {
            match self.go(session) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(Failure::Interrupted) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    /// Goes round once; false where every point is precise or out of time.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::round`], [`Failure::Interrupted`] among them.
    pub fn go(&mut self, session: &mut Session<'_, '_>) -> Result<bool, Failure<'static>> {
        let open = |entry: &Entry, share| {
            let least = match share {
                ..1.0 => usize::MAX,
                ..OVERTIME => FEWEST_ROUNDS,
                // What is cheap is not to go without an interval for what is dear.
                _ if entry.fewest_rounds() == ROUNDS => FEWEST_ROUNDS,
                _ => 1,
            };
            entry.state.rounds < least
        };
        self.go_round(session, open)
    }

    /// The medians of `visits` visits to a point that is not one of the rotation: nanoseconds, and core
    /// cycles, which are not a number without a counter.
    ///
    /// # Errors
    ///
    /// As [`Stopwatch::round`], [`Failure::Interrupted`] among them.
    pub fn probe(
        &mut self,
        session: &mut Session<'_, '_>,
        point: &Point,
        visits: u64,
    ) -> Result<(f64, f64), Failure<'static>> {
        const MOST: usize = 16;
        /// Batches of a probe: enough for a mode.
        const BATCHES: u32 = 8;
        let (mut nanoseconds, mut cycles) = ([f64::NAN; MOST], [f64::NAN; MOST]);
        let chain = chain::chain(point)?;
        let mut made = 0;
        for ((nanoseconds, cycles), place) in nanoseconds.iter_mut().zip(&mut cycles).zip(0..visits) {
            let (lines, _) = self.placement.split();
            let lines = room(point, lines, place);
            let buffer = Buffer::build(lines, &chain, point.kernel.encoding)
                .map_err(|_| PlacementError::NothingToMeasure)?;
            let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
            let mut state = State::default();
            state.begin(
                session.options,
                &mut self.watch,
                &subject,
                Some((2 * chain.nodes()).max(FEW_HOPS.0)),
            )?;
            let round =
                self.watch.round(&subject, &mut state.node, state.hops, BATCHES, self.limits.point_ns)?;
            (*nanoseconds, *cycles) = (round.nanoseconds, round.core_cycles);
            made += 1;
        }
        let middle =
            |values: &mut [f64; MOST]| values.get_mut(..made).and_then(stats::median).unwrap_or(f64::NAN);
        Ok((middle(&mut nanoseconds), middle(&mut cycles)))
    }

    /// The results, in the order in which points were added, and what speaks against them.
    ///
    /// # Errors
    ///
    /// That of mapping the table of results.
    pub fn finish<'a>(
        mut self,
        session: &mut Session<'a, '_>,
        interrupted: bool,
    ) -> Result<Findings<'a>, Failure<'a>> {
        session.progress.clear();
        let placed = finish::look_again(session, self.placement.witness());
        let Some(first) = self.entries.first() else {
            return Err(PlacementError::NothingToMeasure.into());
        };
        let unmeasured = Outcome { point: first.point, result: Err(Exclusion::Interrupted) };
        let mut outcomes = Table::filled(self.count, unmeasured)?;
        let (mut imprecise, mut disturbed) = (0, 0);
        let entries = self.entries.iter().take(self.count);
        for ((outcome, entry), rounds) in
            outcomes.iter_mut().zip(entries).zip(self.rounds.chunks(self.per_point))
        {
            let rounds = rounds.get(..entry.state.rounds).unwrap_or_default();
            let chain = chain::chain(&entry.point)?;
            outcome.point = entry.point;
            outcome.result = placed.and_then(|placed| {
                finish::measurement(session, &mut self.watch, placed, &chain, &entry.state, rounds)
            });
            if let Ok(measured) = &outcome.result {
                imprecise += u32::from(!measured.precise);
                disturbed += u32::from(measured.series.disturbed_share() >= DISTURBED_SHARE);
            }
        }
        let of = self.count as u32;
        if imprecise > 0 && session.options.trials.is_none() {
            let wanted = session.options.precision;
            session.warnings.push(Warning::PointsNotPrecise { points: imprecise, of, wanted });
        }
        if disturbed > 0 {
            let share = DISTURBED_SHARE;
            session.warnings.push(Warning::PointsDisturbed { points: disturbed, of, share });
        }
        Ok(Findings { outcomes, distributions: Table::empty()?, extra: Extra::default(), interrupted })
    }

    /// Visits every point that is not done and `wants` it at that share of the time for all, in shuffled order; false
    /// where none did.
    fn go_round(
        &mut self,
        session: &mut Session<'_, '_>,
        wants: impl Fn(&Entry, f64) -> bool,
    ) -> Result<bool, Failure<'static>> {
        let mut length = 0;
        let share = self.share();
        let open = |(_, entry): &(usize, &Entry)| !entry.state.done && wants(entry, share);
        for (index, _) in self.entries.iter().take(self.count).enumerate().filter(open) {
            if let Some(slot) = self.order.get_mut(length) {
                *slot = index;
                length += 1;
            }
        }
        // Fisher and Yates.
        for last in (1..length).rev() {
            self.order.swap(last, self.rng.below(last as u32 + 1) as usize);
        }
        for turn in 0..length {
            let Some(&index) = self.order.get(turn) else { break };
            // In large memory a round takes seconds.
            let share = self.share();
            if !self.entries.get(index).is_some_and(|entry| wants(entry, share)) {
                continue;
            }
            self.visit(session.options, index)?;
            self.tell(session);
        }
        Ok(length > 0)
    }

    fn visit(&mut self, options: &Options<'_>, index: usize) -> Result<(), Failure<'static>> {
        let per_point = self.per_point;
        let kept = self.rounds.get_mut(index * per_point..(index + 1) * per_point);
        let (Some(entry), Some(kept)) = (self.entries.get_mut(index), kept) else { return Ok(()) };
        let round_ns = SPREAD_NS / (entry.fewest_rounds() * self.count.max(1)) as f64;
        let pace = Pace { rounds: entry.fewest_rounds(), round_ns, limit_ns: self.limits.point_ns };
        let (lines, _) = self.placement.split();
        entry.visit(options, &mut self.watch, lines, kept, &pace, index as u64)
    }

    /// The share of the time for all that has gone by.
    fn share(&self) -> f64 {
        self.elapsed_ns() / self.limits.run_ns
    }

    fn elapsed_ns(&self) -> f64 {
        time::monotonic_raw_ns().saturating_sub(self.begun_ns) as f64
    }

    /// How far the run is, and how long it will take yet, to the fewest rounds that can do.
    fn tell(&self, session: &mut Session<'_, '_>) {
        let entries = || self.entries.iter().take(self.count);
        let done = entries().filter(|entry| entry.state.done).count();
        let left = entries().filter(|entry| !entry.state.done).map(|entry| {
            entry.visit_ns * entry.fewest_rounds().saturating_sub(entry.state.rounds).max(1) as f64
        });
        let left = left.sum::<f64>().min((self.limits.run_ns - self.elapsed_ns()).max(0.0));
        session.progress.say(format_args!(
            "{} points, {done} precise, about {} s left",
            self.count,
            (left / 1e9) as u64 + 1
        ));
    }
}
