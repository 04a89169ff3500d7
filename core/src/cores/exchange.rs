//! Round trips of a line between two cores.
//!
//! Knows places in memory and counts, and nothing of time or threads.
//!
//! # Safety
//!
//! The memory is shared as [`SharedLine`]s from the beginning, and all
//! accesses to it are those of atomics. So any number of threads may call any side at
//! any time: what they find there has no meaning to Rust, and a call that finds
//! what it cannot use waits until its polls are over.

use crate::arch::{
    Delays, ExchangeRoutine, Flusher, Line, SharedLine, Stamp, CAS_EXCHANGE, FLAG_EXCHANGE, MESSAGE_EXCHANGE,
    READ_CAS_EXCHANGE,
};
use crate::units::Bytes;
use crate::words::Worded;
use core::sync::atomic::{AtomicU32, Ordering};

/// The lines of a page of 4 KiB, which no prefetcher of either core looks beyond.
const PAGE: usize = 64;
/// From one line that is used to the next: a page, and one line more, so that they differ in all bits of
/// their address from which a core chooses a cache set and the machine the home of a line.
const STEP: usize = PAGE + 1;
/// Each place is a pair of lines, one for either side.
const PAIR: usize = 2;

/// The way in which a side tells the other that it is its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// A locked compare and swap of one line, over and over until it succeeds, as many tools have it.
    #[default]
    Cas,
    /// A locked compare and swap of one line, once a plain load has seen that it will succeed.
    ///
    /// The line is read first and taken then: where caches make two transfers of that, it is nearly twice
    /// the time of [`Method::Cas`].
    ReadCas,
    /// A plain store to a line of its own, which the other polls.
    Flag,
    /// The same with the time of sending in the line: the one method that compares the two CPUs' time-stamp counters.
    Message,
}

impl Worded for Method {
    const WORDS: &'static [(&'static str, Self)] = &[
        (Method::Cas.name(), Method::Cas),
        (Method::ReadCas.name(), Method::ReadCas),
        (Method::Flag.name(), Method::Flag),
        (Method::Message.name(), Method::Message),
    ];
}

impl Method {
    /// All of them, the default first.
    pub const ALL: [Method; 4] = [Method::Cas, Method::ReadCas, Method::Flag, Method::Message];

    /// Returns the name by which it is chosen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Cas => "cas",
            Method::ReadCas => "read-cas",
            Method::Flag => "flag",
            Method::Message => "message",
        }
    }

    const fn routines(self) -> [ExchangeRoutine; 2] {
        match self {
            Method::Cas => CAS_EXCHANGE,
            Method::ReadCas => READ_CAS_EXCHANGE,
            Method::Flag => FLAG_EXCHANGE,
            Method::Message => MESSAGE_EXCHANGE,
        }
    }
}

/// One of the two that exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that begins, and whose calls last as long as the round trips.
    First,
    /// The one that answers.
    Second,
}

/// The reasons for which a side gives up.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// Nobody waits once this is not zero. It is looked at every 1024 polls.
    pub stop: &'a AtomicU32,
    /// The polls for one answer after which the call returns; a poll by a plain load takes a cycle or two.
    pub polls: usize,
}

/// The result of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The round trips that are over: fewer than were asked for if the other side did not answer.
    pub count: usize,
    /// The delays of the messages that this side received; [`Delays::NONE`] of other methods.
    pub delays: Delays,
}

/// Lines for two cores to exchange, at several places of memory.
#[derive(Debug)]
pub struct Exchange<'m> {
    lines: &'m [SharedLine],
    places: usize,
    /// Says that user code may read the time-stamp counter, as messages do.
    _counter: Stamp,
}

impl<'m> Exchange<'m> {
    /// The memory of one place.
    pub const PLACE: Bytes = Bytes((PAIR * PAGE * size_of::<Line>()) as u64);
    /// The most places: two pages each, whose lines do not come round to the same line of a page.
    pub const MOST_PLACES: usize = PAGE / PAIR;

    /// Takes memory that begins with a page; what it holds will be lost.
    ///
    /// There are as many places as there are two pages, up to [`MOST_PLACES`](Self::MOST_PLACES).
    #[must_use]
    pub fn new(memory: &'m mut [Line], counter: Stamp) -> Self {
        let lines = SharedLine::share(memory);
        let places = (lines.len() / PAGE / PAIR).min(Self::MOST_PLACES);
        let exchange = Exchange { lines, places, _counter: counter };
        exchange.reset();
        exchange
    }

    /// Returns the number of places.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Sets all places back to the beginning, as calls that gave up make necessary. No side may be at work.
    pub fn reset(&self) {
        for word in self.used().flat_map(|line| &line.0) {
            word.store(0, Ordering::SeqCst);
        }
    }

    /// Leaves the lines of all places in no cache. No side may be at work.
    pub fn flush(&self, flusher: Flusher) {
        for line in self.used() {
            flusher.flush(core::slice::from_ref(line));
        }
    }

    /// Makes `count` round trips at a place with whoever calls the other side; none at a place that there is not.
    ///
    /// Both sides have to make equally many in total, by one method, but in any number of
    /// calls: the next one goes on where a call stopped. Before another method
    /// comes a [`reset`](Self::reset).
    pub fn run(
        &self,
        place: usize,
        side: Side,
        method: Method,
        count: usize,
        patience: &Patience<'_>,
    ) -> Made {
        let mut delays = Delays::NONE;
        let pair = (self.line(place, 0), self.line(place, 1));
        let ([first, second], (Some(this), Some(that))) = (method.routines(), pair) else {
            return Made { count: 0, delays };
        };
        let (routine, mine, theirs) = match (side, method) {
            (Side::First, Method::Cas | Method::ReadCas) => (first, this, this),
            (Side::Second, Method::Cas | Method::ReadCas) => (second, this, this),
            (Side::First, _) => (first, this, that),
            (Side::Second, _) => (second, that, this),
        };
        let polls = patience.polls.max(1);
        // SAFETY: both lines are shared by atomics alone, and so is the word of a borrow that outlasts the call; `new`
        // was given the proof that the counter may be read; there is at least one poll, and the delays are ours.
        let count = unsafe {
            routine(mine.0.as_ptr(), theirs.0.as_ptr(), count, patience.stop, polls, &raw mut delays)
        };
        Made { count, delays }
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
