//! Round trips of a line between two cores.
//!
//! This file uses places in memory and counts, but neither time nor threads.
//!
//! # Safety
//!
//! The memory is shared as [`SharedLine`]s from the beginning, and all accesses to it are atomic.
//! So any number of threads may call any side at any time: no safety condition depends on the words
//! that they find, and a call that finds an unexpected word returns after its maximum number of
//! polls.

use crate::arch::{Atomics, Delays, EndStamp, ExchangeRoutine, Flusher, Line, SharedLine, Stamp, exchanges};
use crate::units::Bytes;
use crate::worded;
use core::sync::atomic::{AtomicU32, Ordering};

/// Number of lines in a page of 4 KiB, which the prefetchers of the cores do not cross.
const PAGE: usize = 64;
/// Distance between two lines in use, in lines: a page and one line, so that their addresses differ in the bits by
/// which a core chooses a cache set and in the bits by which the machine chooses the home of a line.
const STEP: usize = PAGE + 1;
/// Number of lines at one place, one for each side.
const PAIR: usize = 2;

worded! {
    /// The way in which a side passes the turn to the other.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Method {
        /// An atomic compare and swap of one line, repeated until it succeeds, as in many tools.
        #[default]
        Cas = "cas",
        /// An atomic compare and swap of one line, once a plain load has seen that it will succeed.
        ///
        /// The core first reads the line and then acquires it for writing: if the caches need two transfers for this, an
        /// exchange takes nearly twice the time of [`Method::Cas`].
        ReadCas = "read-cas",
        /// A plain store to the side's own line, which the other side polls.
        Flag = "flag",
        /// A plain store of the time of sending to the side's own line: the only method that compares the counters of the
        /// two CPUs.
        Message = "message",
    }
}

impl Method {
    fn routines(self, atomics: Atomics) -> [ExchangeRoutine; 2] {
        let routines = exchanges(atomics);
        match self {
            Method::Cas => routines.cas,
            Method::ReadCas => routines.read_cas,
            Method::Flag => routines.flag,
            Method::Message => routines.message,
        }
    }
}

/// One of the two partners of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeSide {
    /// The side that begins. Its calls return when the round trips are complete.
    First,
    /// The side that answers.
    Second,
}

/// The conditions under which a side gives up.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// A word that ends all waiting as soon as it is not zero. Each side reads it every 1024 polls.
    pub stop: &'a AtomicU32,
    /// Maximum number of polls for one answer before the call returns; a poll by a plain load costs one or two cycles.
    pub polls: usize,
}

/// The result of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The number of complete round trips: smaller than requested if the other side did not answer.
    pub count: usize,
    /// The delays of the messages that this side received; [`Delays::NONE`] for other methods.
    pub delays: Delays,
    /// The counter before the first round trip.
    pub start: u64,
    /// The counter after the last round trip.
    pub end: EndStamp,
}

/// Lines for two cores to exchange, at several places of memory.
#[derive(Debug)]
pub struct Exchange<'m> {
    lines: &'m [SharedLine],
    places: usize,
    /// The counter, which the message routines read, too.
    counter: Stamp,
    atomics: Atomics,
}

impl<'m> Exchange<'m> {
    /// Amount of memory for one place.
    pub const PLACE: Bytes = Bytes((PAIR * PAGE * size_of::<Line>()) as u64);
    /// Maximum number of places, of two pages each, for which no two lines in use lie at the same offset in a page.
    pub const MOST_PLACES: usize = PAGE / PAIR;

    /// Prepares an exchange by `atomics` in `memory`, which starts at a page boundary; its content is overwritten.
    ///
    /// There is one place for every two pages, up to [`MOST_PLACES`](Self::MOST_PLACES).
    pub fn new(memory: &'m mut [Line], counter: Stamp, atomics: Atomics) -> Self {
        let lines = SharedLine::share(memory);
        let places = (lines.len() / PAGE / PAIR).min(Self::MOST_PLACES);
        let exchange = Exchange { lines, places, counter, atomics };
        exchange.reset();
        exchange
    }

    /// Resets all places, which is necessary after calls that gave up. No call of [`run`](Self::run) may be in
    /// progress.
    pub fn reset(&self) {
        for word in self.used().flat_map(|line| &line.0) {
            // Relaxed: the caller orders this and all calls of `run`.
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Flushes the lines of all places from all caches. No call of [`run`](Self::run) may be in progress.
    pub fn flush(&self, flusher: Flusher) {
        for line in self.used() {
            flusher.flush(core::slice::from_ref(line));
        }
    }

    /// Makes `count` round trips at a place with the caller of the other side; makes none at a place that does not
    /// exist.
    ///
    /// Both sides have to make the same total number of round trips, by one method, but in any
    /// number of calls: each call continues where the last one stopped. A change of the method
    /// needs a [`reset`](Self::reset).
    pub fn run(
        &self,
        place: usize,
        side: ExchangeSide,
        method: Method,
        count: usize,
        patience: &Patience<'_>,
    ) -> Made {
        let mut delays = Delays::NONE;
        let pair = (self.line(place, 0), self.line(place, 1));
        let ([first, second], (Some(this), Some(that))) = (method.routines(self.atomics), pair) else {
            return Made { count: 0, delays, start: 0, end: EndStamp::default() };
        };
        let (routine, mine, theirs) = match (side, method) {
            (ExchangeSide::First, Method::Cas | Method::ReadCas) => (first, this, this),
            (ExchangeSide::Second, Method::Cas | Method::ReadCas) => (second, this, this),
            (ExchangeSide::First, _) => (first, this, that),
            (ExchangeSide::Second, _) => (second, that, this),
        };
        let polls = patience.polls.max(1);
        // The time is that of the routine alone, without the code around it.
        let start = self.counter.start();
        // SAFETY: both lines and the stop word are only accessed as atomics, and their borrows outlast the call;
        // `new` received the proof that the counter may be read; there is at least one poll; and only this call
        // accesses the delays.
        let count = unsafe {
            routine(mine.0.as_ptr(), theirs.0.as_ptr(), count, patience.stop, polls, &raw mut delays)
        };
        let end = self.counter.end();
        Made { count, delays, start, end }
    }

    fn line(&self, place: usize, side: usize) -> Option<&SharedLine> {
        (place < self.places).then(|| self.lines.get((place * PAIR + side) * STEP)).flatten()
    }

    fn used(&self) -> impl Iterator<Item = &SharedLine> {
        self.lines.iter().step_by(STEP).take(self.places * PAIR)
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
