//! Where the memory of generators is: one piece on each node, of which each generator has a part.

use latency_core::units::{Bytes, NodeId};

use crate::engine::placement::Witness;
use crate::error::PlacementError;
use crate::result::Traffic;

/// The memory of some traffic, by node and size.
pub type Key = (NodeId, Bytes);

/// One piece of it: who knows where it is, or why it could not be had.
pub type Piece<'g> = Option<(Key, Result<Witness, PlacementError<'g>>)>;

/// All of it.
pub struct Fields<'g> {
    pieces: &'g [Piece<'g>],
}
impl<'g> Fields<'g> {
    /// The memory of a run.
    #[must_use]
    pub const fn new(pieces: &'g [Piece<'g>]) -> Self {
        Fields { pieces }
    }

    /// The place of the memory of some traffic.
    #[must_use]
    pub fn find(&self, traffic: &Traffic) -> Option<usize> {
        self.pieces
            .iter()
            .position(|piece| piece.as_ref().is_some_and(|((node, _), _)| *node == traffic.node))
    }

    /// The parts that it has, if each is as large as that of a generator: more than there are generators where others
    /// have more memory together.
    #[must_use]
    pub fn parts(&self, traffic: &Traffic) -> Option<usize> {
        let ((_, all), _) = self.pieces.get(self.find(traffic)?)?.as_ref()?;
        let each = traffic.footprint.0 / u64::from(traffic.generators.max(1));
        Some((all.0 / each.max(1)) as usize)
    }

    /// The witness of one of them.
    #[must_use]
    pub fn witness(&self, index: usize) -> Option<&Witness> {
        self.pieces.get(index)?.as_ref()?.1.as_ref().ok()
    }
}
