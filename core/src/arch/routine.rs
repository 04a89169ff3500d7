//! The types of the assembly routines, which are the same for every instruction set.
//!
//! # Safety
//!
//! Nothing is called here; the documentation of each type states what a caller must guarantee.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// A chase loop: `(base, cursor, hops, length)` to the cursor after exactly that many hops.
///
/// # Safety
///
/// `base` is the start of a buffer that holds a chain in the encoding that the routine follows, and
/// `cursor` stands on one of its nodes. `length` is one more than the largest index in the chain; a
/// routine that checks it ends the walk at an index that is not below it.
pub type Routine = unsafe extern "C" fn(base: *const u8, cursor: usize, hops: usize, length: usize) -> usize;

/// Chases side by side: `(cursors, hops, count)`, with the cursors advanced by that many hops each.
///
/// It returns a digest of the work between the loads, or zero if there is no work.
///
/// # Safety
///
/// `cursors` points to as many cursors as the routine has lanes. Each
/// stands on a node of a chain of addresses. `count` is a number of further lanes, at most
/// `MOST_LANES` less `REGISTER_LANES`, or a number of fillers, at most
/// `MOST_FILLERS`; other routines ignore it.
pub type LaneRoutine = unsafe extern "C" fn(cursors: *mut usize, hops: usize, count: usize) -> u64;

/// Independent loads at equal distances: `(base, stride, loads)` to the wrapping sum of the words loaded.
///
/// # Safety
///
/// Eight bytes can be read at each of the first `loads` multiples of `stride` from `base`.
pub type StridedRoutine = unsafe extern "C" fn(base: *const u8, stride: usize, loads: usize) -> u64;

/// The state of a walk over one line in each of many pages; the assembly has the meaning of each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs, reason = "the assembly documents them, in the same order")]
pub struct SpanWords {
    pub base: u64,
    pub page: u64,
    pub time: u64,
    pub step: u64,
    pub mask: u64,
    pub multiplier: u64,
    pub outer: u64,
    pub outer_step: u64,
    pub back: u64,
    pub value: u64,
}

/// Loads of one line in each of many pages: `(walk, loads)` to the address of the last load.
///
/// # Safety
///
/// Every word whose address the sequence of `walk` reaches can be read and is zero.
pub type SpanRoutine = unsafe extern "C" fn(walk: *mut SpanWords, loads: usize) -> usize;

/// Traffic over cache lines: `(from, lines, to, state, field)` to the state after exactly that many lines.
///
/// It returns the state for the next call. Only its memory accesses matter: its result is not
/// checked, and the words that it leaves in memory have no meaning.
///
/// # Safety
///
/// `from` is aligned to 64 bytes, and `lines` lines from there on can be read and written. For a copy, `to` and the
/// `lines` lines from there on fulfil the same conditions, and the two runs of lines do not overlap. Random and
/// permuted reads need `field` readable lines from `from`, at least one, for any value of `lines`. For permuted
/// reads, `field` is a power of two, at most 32,768, and `to` may be any address: lines from there on are only
/// prefetched. For updates, `state` is zero or a number that the same routine returned.
pub type StreamRoutine =
    unsafe extern "C" fn(from: *mut u8, lines: usize, to: *mut u8, state: u64, field: usize) -> u64;

/// One side of an exchange: `(mine, theirs, count, stop, polls, delays)` to the number of round trips that were made.
///
/// # Safety
///
/// `mine` and `theirs` each point to the first of the eight words of a line. Other threads access these lines and
/// `stop` only as atomics. `mine` and `theirs` may be the same line. `polls` is at least 1. A routine that reads the
/// counter is called only where user code may read it. Only the caller accesses `delays`.
pub type ExchangeRoutine = unsafe extern "C" fn(
    mine: *const AtomicU64,
    theirs: *const AtomicU64,
    count: usize,
    stop: *const AtomicU32,
    polls: usize,
    delays: *mut Delays,
) -> usize;

/// The exchange routines with one set of atomic instructions, a pair for each method: the first side and the second.
#[derive(Clone, Copy, Debug)]
pub struct Exchanges {
    /// An atomic compare and swap of one line, which also polls.
    pub cas: [ExchangeRoutine; 2],
    /// An atomic compare and swap of one line, but plain loads poll.
    pub read_cas: [ExchangeRoutine; 2],
    /// Plain loads and stores; each side stores to its own line.
    pub flag: [ExchangeRoutine; 2],
    /// Plain stores of the sender's counter, which both sides read: the only method that fills [`Delays`].
    pub message: [ExchangeRoutine; 2],
}

/// The delays of messages: the receiver's counter less the sender's, in ticks.
///
/// Each delay includes the offset between the two counters, with opposite signs in the two directions: the offset
/// cancels in the mean of both directions, and a delay that is not positive shows that there is an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Delays {
    /// The sum over all messages.
    pub sum: i64,
    /// The smallest delay of one message; `i64::MAX` if there was no message.
    pub least: i64,
}

impl Delays {
    /// The value before the first message.
    pub const NONE: Delays = Delays { sum: 0, least: i64::MAX };
}
