//! The chain of a point.

use latency_core::chain::Chain;

use super::Point;
use crate::error::Failure;
use crate::options::UsageError;

/// Returns the chain of a point.
///
/// # Errors
///
/// [`UsageError::NoSuchChain`] where size, stride and order do not go together.
pub fn chain(point: &Point) -> Result<Chain, Failure<'static>> {
    Chain::new(point.order, point.size, point.stride, point.seed)
        .map_err(|_| UsageError::NoSuchChain { size: point.size, stride: point.stride }.into())
}
