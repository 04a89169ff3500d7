//! The memory of generators: a piece for each node that loads another, with a part for each generator.

use core::cell::Cell;

use latency_core::units::{Bytes, NodeId};

use crate::engine::placement::Witness;
use crate::error::PlacementError;
use crate::plan::regions::MOST;
use crate::result::Traffic;

/// The memory of some traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The node of its generators, where each has memory of its own.
    pub from: Option<NodeId>,
    /// The node where it is.
    pub on: NodeId,
    /// Its size.
    pub size: Bytes,
}

impl Key {
    /// Returns whether it is the memory of some traffic.
    #[must_use]
    pub fn serves(&self, traffic: &Traffic) -> bool {
        self.on == traffic.node && self.from.is_none_or(|from| from == traffic.from)
    }
}

/// One piece of it: who knows where it is, or why it could not be had.
pub type Piece<'g> = Option<(Key, Result<Witness, PlacementError<'g>>)>;

/// All of it.
pub struct Fields<'g> {
    pieces: &'g [Piece<'g>],
    /// The node that walked each last; `None` before the first.
    walked_by: [Cell<Option<NodeId>>; MOST],
}

impl<'g> Fields<'g> {
    /// The memory of a run.
    #[must_use]
    pub const fn new(pieces: &'g [Piece<'g>]) -> Self {
        Fields { pieces, walked_by: [const { Cell::new(None) }; MOST] }
    }

    /// Notes that some traffic walks its memory; whether another node has walked it last.
    #[must_use]
    pub fn changes_hands(&self, traffic: &Traffic) -> bool {
        let walked_by = self.find(traffic).and_then(|index| self.walked_by.get(index));
        walked_by.and_then(|by| by.replace(Some(traffic.from))).is_some_and(|by| by != traffic.from)
    }

    /// The place of the memory of some traffic.
    #[must_use]
    pub fn find(&self, traffic: &Traffic) -> Option<usize> {
        self.pieces.iter().position(|piece| piece.as_ref().is_some_and(|(key, _)| key.serves(traffic)))
    }

    /// The parts that it has, if each is as large as that of a generator: more than there are generators where others
    /// have more memory together.
    #[must_use]
    pub fn parts(&self, traffic: &Traffic) -> Option<usize> {
        let (key, _) = self.pieces.get(self.find(traffic)?)?.as_ref()?;
        let each = traffic.footprint.0 / u64::from(traffic.generators.max(1));
        Some((key.size.0 / each.max(1)) as usize)
    }

    /// The witness of one of them.
    #[must_use]
    pub fn witness(&self, index: usize) -> Option<&Witness> {
        self.pieces.get(index)?.as_ref()?.1.as_ref().ok()
    }
}
