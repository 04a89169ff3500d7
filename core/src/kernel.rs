//! The table of chase kernels: a new one is a routine in `asm` and a line here.
//!
//! What a node holds, and the loops that follow it from one node to the next.
//! Loops with several lanes are in [`lanes`], the data structures that people
//! compare in [`variants`]. Nothing here touches memory.

pub mod lanes;
pub mod variants;

use crate::arch;
use crate::units::Bytes;

/// What a node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The address of the next node.
    Pointer,
    /// The next node's offset from the start of the buffer, in units of eight bytes.
    Index,
    /// The same in units of four bytes, and in four bytes.
    Index4,
    /// The same in units of a cache line of 64 bytes, in eight bytes.
    LineIndex,
    /// The same in units of a cache line, in four bytes.
    LineIndex4,
}

impl Encoding {
    /// The bytes of a node that hold it.
    #[must_use]
    pub const fn width(self) -> Bytes {
        match self {
            Encoding::Pointer | Encoding::Index | Encoding::LineIndex => Bytes(8),
            Encoding::Index4 | Encoding::LineIndex4 => Bytes(4),
        }
    }

    /// The bytes that an increase by one stands for.
    #[must_use]
    pub const fn unit(self) -> Bytes {
        match self {
            Encoding::Pointer => Bytes(1),
            Encoding::Index4 => Bytes(4),
            Encoding::Index => Bytes(8),
            Encoding::LineIndex | Encoding::LineIndex4 => Bytes(64),
        }
    }

    /// Whether it can name all nodes of a working set of `size` bytes, `stride` bytes apart.
    #[must_use]
    pub const fn reaches(self, size: Bytes, stride: Bytes) -> bool {
        let largest = size.0 / self.unit().0;
        stride.0 >= self.width().0
            && stride.0.is_multiple_of(self.unit().0)
            && (self.width().0 == 8 || largest <= 1 << 32)
    }

    /// What a node holds whose successor lies at `offset` in a buffer that starts at the address `base`.
    pub(crate) const fn place(self, base: u64, offset: u64) -> u64 {
        match self {
            Encoding::Pointer => base.wrapping_add(offset),
            _ => offset / self.unit().0,
        }
    }
}

/// A chase loop that makes exactly one load per hop, which waits for the one before it.
///
/// There are those of the table and no copies: a loop under another encoding
/// would follow what is no place of a node.
#[derive(Debug)]
pub struct Kernel {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// What one hop does.
    pub summary: &'static str,
    /// What it expects a node to hold.
    pub encoding: Encoding,
    pub(crate) routine: arch::Routine,
}

/// A raw pointer in each node: the load's result is the next load's address.
pub static POINTER: Kernel = Kernel {
    name: "pointer",
    summary: "each node holds the address of the next: mov rax, [rax]",
    encoding: Encoding::Pointer,
    routine: arch::POINTER_CHASE,
};

/// An index in each node, scaled and added to the base by the load itself.
pub static INDEX: Kernel = Kernel {
    name: "index",
    summary: "each node holds the index of the next: mov rax, [rdi + rax * 8]",
    encoding: Encoding::Index,
    routine: arch::INDEX_CHASE,
};

/// The same, with the index compared to the length of the array before each load.
///
/// The comparison is beside the dependent path as long as its branch is predicted.
pub static INDEX_CHECKED: Kernel = Kernel {
    name: "index-checked",
    summary: "the same with a bounds check: cmp rax, rcx; jae out; mov rax, [rdi + rax * 8]",
    encoding: Encoding::Index,
    routine: arch::INDEX_CHECKED_CHASE,
};

/// An index of four bytes, scaled and added to the base by the load itself.
pub static INDEX4: Kernel = Kernel {
    name: "index4",
    summary: "each node holds a 4-byte index of the next: mov eax, [rdi + rax * 4]",
    encoding: Encoding::Index4,
    routine: arch::INDEX4_CHASE,
};

/// The number of a node of 64 bytes, which no address mode can scale.
pub static LINE_INDEX: Kernel = Kernel {
    name: "line-index",
    summary: "each 64-byte node holds the number of the next: shl rax, 6; mov rax, [rdi + rax]",
    encoding: Encoding::LineIndex,
    routine: arch::LINE_INDEX_CHASE,
};

/// The number of a node of 64 bytes, in four bytes.
pub static LINE_INDEX4: Kernel = Kernel {
    name: "line-index4",
    summary: "each 64-byte node holds the 4-byte number of the next: shl rax, 6; mov eax, [rdi + rax]",
    encoding: Encoding::LineIndex4,
    routine: arch::LINE_INDEX4_CHASE,
};

/// Every kernel.
pub static KERNELS: [&Kernel; 6] = [&POINTER, &INDEX, &INDEX_CHECKED, &INDEX4, &LINE_INDEX, &LINE_INDEX4];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_kernels_apart() {
        for (place, kernel) in KERNELS.iter().enumerate() {
            assert!(KERNELS.iter().skip(place + 1).all(|other| other.name != kernel.name));
        }
    }

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
    fn nodes_have_room_for_what_they_hold() {
        assert!(!Encoding::Pointer.reaches(Bytes(4096), Bytes(4)));
        assert!(!Encoding::Index.reaches(Bytes(4096), Bytes(4)));
        assert!(!Encoding::LineIndex.reaches(Bytes(4096), Bytes(32)));
        assert!(Encoding::LineIndex.reaches(Bytes(4096), Bytes(128)));
        assert!(Encoding::Index4.reaches(Bytes(4096), Bytes(64)));
    }
}
