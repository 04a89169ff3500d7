//! Plain data that is the same for every instruction set: lines, the end of a timed window, the numbers of a cycle and
//! of a walk, and the delays of messages.
//!
//! # Safety
//!
//! Lines become shared lines, whose words are atomics; the conversion states why both have one layout.

use core::sync::atomic::AtomicU64;

/// One line of 64 bytes, the unit of the kernels.
///
/// A cache line may be a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// One line that several threads access, by atomics or by the routines between cores.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct SharedLine(pub [AtomicU64; 8]);

impl SharedLine {
    /// Converts lines to shared lines, which threads may access during the borrow.
    #[must_use]
    pub fn share(lines: &mut [Line]) -> &[SharedLine] {
        let count = lines.len();
        // SAFETY: both types have 64 bytes and an alignment of 64; an atomic has the layout of its number; and the
        // exclusive borrow of the lines lasts as long as the borrow of the result.
        unsafe { core::slice::from_raw_parts(lines.as_mut_ptr().cast(), count) }
    }
}

/// The end of a timed window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndStamp {
    /// The counter.
    pub ticks: u64,
    /// The number of the processor, `node << 12 | CPU` on Linux, if the counter is read together with it; otherwise
    /// zero.
    pub processor: u32,
}

/// Number of values that are computed in lockstep, in several vectors, since the multiplications of one vector depend
/// on each other.
pub const LANES: usize = 32;

/// A cycle over the numbers `0 ..= last`, whose parameters are all below 2^32.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// The domain of the bijection, `2^k - 1`.
    pub mask: u32,
    /// The number of bits by which the bijection shifts.
    pub shift: u32,
    /// The multipliers of the bijection's rounds.
    pub multipliers: [u32; 3],
    /// The inverses of the multipliers, the last one first.
    pub inverses: [u32; 3],
    /// The number that each step adds to the time.
    pub step: u32,
    /// The largest number that is a node of the chain.
    pub last: u32,
}

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
