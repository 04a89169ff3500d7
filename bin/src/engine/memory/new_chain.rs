//! Writes a chain, and walks one that is just written.

use latency_core::arch::Line;
use latency_core::buffer::{Buffer, BuildError, Stores};
use latency_core::chain::Chain;
use latency_core::kernel::Encoding;

use crate::engine::memory::Chase;
use crate::engine::seam::{Condition, Walker};
use crate::engine::stopwatch::{Singles, Stopwatch, Subject};
use crate::error::{Attempt, Failure};
use crate::result::{Point, chain};
use crate::sys::signal;

fn failed(error: BuildError) -> Failure<'static> {
    match error {
        BuildError::Stopped => Failure::Interrupted,
        BuildError::TooSmall | BuildError::Encoding => Failure::NOTHING_TO_MEASURE,
    }
}

/// Writes a chain to the start of `lines`.
///
/// # Errors
///
/// [`Failure::NOTHING_TO_MEASURE`] if the chain does not fit, and [`Failure::Interrupted`].
pub fn write<'m>(
    lines: &'m mut [Line],
    chain: &'m Chain,
    encoding: Encoding,
    stores: Stores,
) -> Attempt<Buffer<'m>> {
    Buffer::build_with(lines, chain, encoding, stores, &signal::interrupted).map_err(failed)
}

/// Rewrites the chain of a buffer from this CPU, past the caches: no cache has a line of it afterwards.
///
/// # Errors
///
/// [`Failure::Interrupted`].
pub fn write_again(buffer: &mut Buffer<'_>) -> Attempt {
    buffer.write_again(&signal::interrupted).map_err(failed)
}

/// Writes the chain of `point` to the start of `lines`, and has `walker` walk it from its start, with single hops for the
/// point of an index.
///
/// # Errors
///
/// The errors of [`write`] and of the walker.
pub fn walk(
    watch: &Stopwatch,
    lines: &mut [Line],
    point: &Point,
    singles: Option<(usize, &mut Singles)>,
    walker: &mut Walker<'_>,
) -> Attempt {
    let chain = chain::chain(point)?;
    let buffer = write(lines, &chain, point.kernel.encoding, Stores::STREAMING)?;
    let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
    let mut chase = Chase::new(watch, subject, Condition::Written, chain.start(0, 1));
    chase.singles = singles;
    walker(&mut chase)
}
