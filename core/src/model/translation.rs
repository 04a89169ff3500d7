//! Classification of a curve's steps as caches or translation buffers.
//!
//! The steps of both look alike on a curve. The reach of the buffers is known from another measurement, in which no
//! cache takes part. A step of the curve at the reach of a buffer is caused by the buffer if the cost of its misses
//! explains it.

use super::fit::{Cause, Fit};
use crate::math::ln;

/// Maximum distance between a step and a reach that count as equal, as |ln ratio|: a third of an octave. The two
/// measurements fill a buffer's sets in different orders, and the place of a soft step has no higher precision.
const TOLERANCE: f64 = 0.23;

/// The end of a translation buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageKnee {
    /// Entries times page size, in bytes; 0 if unknown.
    pub reach: f64,
    /// The latency that is added there, in the unit of the curve.
    pub step: f64,
}

/// Writes the [cause](super::Level::cause) of every level of a curve's fit, given the ends of translation buffers.
///
/// A level at the end of a buffer is that buffer if the added latency is at least two thirds of the level's step; if it
/// is smaller, there is also a cache of the same size. Every other level is a cache.
pub fn classify(fit: &mut Fit, knees: &[PageKnee]) {
    for level in fit.levels_mut() {
        let matching = knees.iter().filter(|knee| is_same(knee.reach, level.half));
        let step = matching.fold(0.0, |largest: f64, knee| largest.max(knee.step));
        level.cause = match () {
            () if step <= 0.0 => Cause::Cache,
            () if step >= level.step.value * 2.0 / 3.0 => Cause::Translation,
            () => Cause::Mixed,
        };
    }
}

fn is_same(one: f64, other: f64) -> bool {
    one > 0.0 && other > 0.0 && ln(one / other).abs() <= TOLERANCE
}
