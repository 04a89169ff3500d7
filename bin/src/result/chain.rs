//! The chain of a point.

use latency_core::chain::Chain;

use super::Point;
use crate::error::Failure;

/// Returns the chain of a point.
///
/// # Errors
///
/// [`Failure::no_such_chain`].
pub fn chain(point: &Point) -> Result<Chain, Failure<'static>> {
    let Point { order, size, stride, line, seed, .. } = *point;
    Chain::with_line(order, size, (stride, line), seed).map_err(|_| Failure::no_such_chain(size, stride))
}
