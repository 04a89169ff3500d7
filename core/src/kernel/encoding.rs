//! The forms in which a node names the next one.
//!
//! This file is plain arithmetic on offsets and addresses; the chase loops are elsewhere.

use crate::units::{Bytes, LINE};

/// The form in which a node names the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The address of the next node.
    Pointer,
    /// The next node's offset from the start of the buffer, in units of eight bytes.
    Index,
    /// The next node's offset in units of four bytes, stored in four bytes.
    Index4,
    /// The next node's offset in units of a cache line of 64 bytes, stored in eight bytes.
    LineIndex,
    /// The next node's offset in units of a cache line, stored in four bytes.
    LineIndex4,
}

impl Encoding {
    /// Returns the number of bytes in which a node stores this form.
    pub const fn width(self) -> Bytes {
        match self {
            Encoding::Pointer | Encoding::Index | Encoding::LineIndex => Bytes(8),
            Encoding::Index4 | Encoding::LineIndex4 => Bytes(4),
        }
    }

    /// Returns the number of bytes by which the place moves if the stored value increases by one.
    pub const fn unit(self) -> Bytes {
        match self {
            Encoding::Pointer => Bytes(1),
            Encoding::Index4 => Bytes(4),
            Encoding::Index => Bytes(8),
            Encoding::LineIndex | Encoding::LineIndex4 => LINE,
        }
    }

    /// Returns true if this form can name all nodes of a working set of `size` bytes with nodes `stride` bytes apart.
    pub const fn reaches(self, size: Bytes, stride: Bytes) -> bool {
        let largest = size.0 / self.unit().0;
        stride.0 >= self.width().0
            && stride.0.is_multiple_of(self.unit().0)
            && (self.width().0 == 8 || largest <= 1 << 32)
    }

    /// Returns the value that names the node at `offset` in a buffer that starts at the address `base`.
    pub(crate) const fn place(self, base: u64, offset: u64) -> u64 {
        match self {
            Encoding::Pointer => base.wrapping_add(offset),
            _ => offset / self.unit().0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_name_four_billion_nodes() {
        let all = Bytes(1 << 34);
        assert!(Encoding::Index4.reaches(all, Bytes(4)));
        assert!(!Encoding::Index4.reaches(Bytes(all.0 + 4), Bytes(4)));
        assert!(Encoding::LineIndex4.reaches(Bytes(1 << 38), Bytes(64)));
        assert!(!Encoding::LineIndex4.reaches(Bytes((1 << 38) + 64), Bytes(64)));
        assert!(Encoding::LineIndex.reaches(Bytes(1 << 40), Bytes(64)));
    }

    #[test]
    fn nodes_have_room_for_their_content() {
        assert!(!Encoding::Pointer.reaches(Bytes(4096), Bytes(4)));
        assert!(!Encoding::Index.reaches(Bytes(4096), Bytes(4)));
        assert!(!Encoding::LineIndex.reaches(Bytes(4096), Bytes(32)));
        assert!(Encoding::LineIndex.reaches(Bytes(4096), Bytes(128)));
        assert!(Encoding::Index4.reaches(Bytes(4096), Bytes(64)));
    }
}
