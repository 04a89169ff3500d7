//! A chain that was just written into placed memory, for looks that are no point of an experiment.

use latency_core::buffer::Buffer;

use super::ground::Condition;
use super::placement::Placement;
use super::stopwatch::{Chase, Stopwatch};
use super::subject::Subject;
use crate::error::{Failure, PlacementError};
use crate::result::{chain, Point};

/// Writes the chain of `point` into `placement`, and has `walker` walk it from its start.
///
/// # Errors
///
/// [`PlacementError::NothingToMeasure`] where it does not fit, and those of the walker.
pub fn walk(
    watch: &Stopwatch,
    placement: &mut Placement,
    point: &Point,
    walker: &mut dyn FnMut(&mut Chase<'_>) -> Result<(), Failure<'static>>,
) -> Result<(), Failure<'static>> {
    let chain = chain::chain(point)?;
    let (lines, _) = placement.split();
    let buffer =
        Buffer::build(lines, &chain, point.kernel.encoding).map_err(|_| PlacementError::NothingToMeasure)?;
    let subject = Subject { buffer: &buffer, kernel: point.kernel, side: None };
    walker(&mut Chase::new(watch, subject, Condition::Written, chain.start(0, 1)))
}
