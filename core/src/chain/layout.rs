//! The places of a chain's nodes in memory, and the reasons why a chain of some shape cannot exist.
//!
//! This file uses the spacing and cache lines, but not the order of the nodes.

use crate::rng::Pcg32;
use crate::units::{Bytes, LineSize};

/// The reason why a chain of a given shape cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// The stride is not 4, 8, 16, 32 or a multiple of 64 bytes.
    Stride(Bytes),
    /// Fewer than two nodes fit in the working set.
    TooSmall,
    /// The region of a local order is not a power of two times the stride.
    Region(Bytes),
}

/// The places of the nodes of a working set, relative to its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLayout {
    /// The number of nodes, which a local order reduces to whole regions, and a grouped one to whole windows.
    pub(super) nodes: u64,
    pub(super) stride: u64,
    /// The number of lines of each stride from which a node's line is drawn; 1 for the first line.
    lines: u64,
    /// The size of these lines.
    line: LineSize,
    key: u64,
}

impl NodeLayout {
    /// Returns a layout of nodes that are `stride` bytes apart and fill `size` bytes, on a machine with cache lines of this
    /// size.
    ///
    /// If a node has its own line, its pointer always lies in the first half of the line: the second half arrives
    /// later (by 1.4 % of a memory access on Emerald Rapids). If `scattered`, a stride of several lines holds its
    /// node in a line drawn at random, since a fixed line would use only a part of the memory channels and cache
    /// sets.
    ///
    /// # Errors
    ///
    /// [`ShapeError::Stride`] and [`ShapeError::TooSmall`].
    pub fn new(
        size: Bytes,
        (stride, line): (Bytes, LineSize),
        scattered: bool,
        seed: u64,
    ) -> Result<NodeLayout, ShapeError> {
        if !(matches!(stride.0, 4 | 8 | 16 | 32) || (stride.0 > 0 && stride.0.is_multiple_of(64))) {
            return Err(ShapeError::Stride(stride));
        }
        let nodes = size.0 / stride.0;
        if nodes < 2 {
            return Err(ShapeError::TooSmall);
        }
        let lines = if scattered { line.within(stride).max(1) } else { 1 };
        let key = Pcg32::new(seed, 0x6c61_796f).next_u64();
        Ok(NodeLayout { nodes, stride: stride.0, lines, line, key })
    }

    /// Returns the distance between neighbouring nodes.
    pub const fn stride(&self) -> Bytes {
        Bytes(self.stride)
    }

    /// Returns the size of a cache line.
    pub const fn line(&self) -> Bytes {
        self.line.bytes()
    }

    /// Returns whether the nodes lie in lines drawn at random, and not at equal distances.
    pub const fn is_scattered(&self) -> bool {
        self.lines > 1
    }

    /// Returns the working set: nodes times stride.
    pub const fn size(&self) -> Bytes {
        Bytes(self.nodes * self.stride)
    }

    /// Returns the offset in bytes of a node from the start of the working set.
    #[inline(always)]
    pub fn offset(&self, node: u64) -> u64 {
        let first = node * self.stride;
        if self.lines == 1 {
            return first;
        }
        // The upper half of a Fibonacci hash (Knuth, TAOCP 6.4), scaled to the number of lines.
        let hash = ((node ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32;
        first + ((hash * self.lines) >> 32) * self.line.bytes().0
    }
}
