//! What can be measured of a point besides its batches, at the same time and in the same memory.
//!
//! The sweep calls it; what it does with the chase is its own affair.

use super::subject::Subject;
use crate::error::Failure;
use crate::result::Round;

/// What is measured of a point beside its batches, in alternation with them.
pub trait Companion {
    /// The point with this index has had a round. The chase stands on `node`, and afterwards wherever it was walked to.
    ///
    /// # Errors
    ///
    /// Those of a walk; they end the sweep.
    fn visit(
        &mut self,
        index: usize,
        subject: &Subject<'_>,
        node: &mut u64,
        round: &Round,
    ) -> Result<(), Failure<'static>>;
}

/// Nothing but the batches.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Companion for Alone {
    fn visit(&mut self, _: usize, _: &Subject<'_>, _: &mut u64, _: &Round) -> Result<(), Failure<'static>> {
        Ok(())
    }
}
