//! The table of chase kernels: a new kernel needs a routine in `asm` and an entry here.
//!
//! Each kernel is a loop that follows one node to the next, and the encoding that it expects: the form in which a node
//! names the next one. A variant is a kernel with the distance between its nodes and their kind of pages, for
//! comparison of data structures. Loops with several lanes are in [`lanes`]. Nothing here accesses memory.

pub mod lanes;

use crate::arch;
use crate::units::{Bytes, LINE, LineSize};

/// A chase loop that makes exactly one load per hop, which depends on the load before it.
///
/// Code outside this file cannot make a kernel: a copy with another encoding would load from
/// addresses that do not belong to nodes.
#[derive(Debug)]
pub struct Kernel {
    /// The name by which the user chooses the kernel.
    pub name: &'static str,
    /// The encoding that the loop expects in each node.
    pub encoding: Encoding,
    pub(crate) routine: arch::Routine,
}

/// A raw pointer in each node, so that each load's result is the next load's address: `mov rax,
/// [rax]`.
pub static POINTER: Kernel =
    Kernel { name: "pointer", encoding: Encoding::Pointer, routine: arch::lb_chase_pointer };

/// An index in each node, scaled and added to the base by the load itself:
/// `mov rax, [rdi + rax * 8]`.
pub static INDEX: Kernel = Kernel { name: "index", encoding: Encoding::Index, routine: arch::lb_chase_index };

/// An index in each node, which is compared with the length of the array before each load: `cmp
/// rax, rcx; jae out; mov rax, [rdi + rax * 8]`.
///
/// The comparison is not on the dependent path as long as its branch is predicted correctly.
pub static INDEX_CHECKED: Kernel =
    Kernel { name: "index-checked", encoding: Encoding::Index, routine: arch::lb_chase_index_checked };

/// An index of four bytes, scaled and added to the base by the load itself:
/// `mov eax, [rdi + rax * 4]`.
pub static INDEX4: Kernel =
    Kernel { name: "index4", encoding: Encoding::Index4, routine: arch::lb_chase_index4 };

/// The number of a node of 64 bytes, which an addressing mode cannot scale: `shl rax, 6; mov rax,
/// [rdi + rax]`.
pub static LINE_INDEX: Kernel =
    Kernel { name: "line-index", encoding: Encoding::LineIndex, routine: arch::lb_chase_line_index };

/// The number of a node of 64 bytes, in four bytes:
/// `shl rax, 6; mov eax, [rdi + rax]`.
pub static LINE_INDEX4: Kernel =
    Kernel { name: "line-index4", encoding: Encoding::LineIndex4, routine: arch::lb_chase_line_index4 };

/// Every kernel.
pub static KERNELS: [&Kernel; 6] = [&POINTER, &INDEX, &INDEX_CHECKED, &INDEX4, &LINE_INDEX, &LINE_INDEX4];

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

/// A data structure for a chain, and the loop that walks it.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name that is printed.
    pub name: &'static str,
    /// The chase loop.
    pub kernel: &'static Kernel,
    /// The distance between nodes: the size of a node, or [`LINE`] if nodes are padded to a cache line.
    pub stride: Bytes,
    /// True if it is intended for huge pages.
    pub huge: bool,
}

/// Returns a variant.
///
/// If nodes are packed, each fetched line contains several nodes: the chain has more nodes in the
/// same number of bytes, and a hop finds its line in a cache more often.
const fn variant(name: &'static str, kernel: &'static Kernel, stride: Bytes, huge: bool) -> Variant {
    Variant { name, kernel, stride, huge }
}

impl Variant {
    /// Returns the distance between nodes on a machine with cache lines of this size.
    pub fn stride_with(&self, line: LineSize) -> Bytes {
        if self.stride == LINE { line.bytes() } else { self.stride }
    }
}

/// The nine variants, in the order in which they are shown; a padded node has its own line.
pub static VARIANTS: [Variant; 9] = [
    variant("index4-packed", &INDEX4, Bytes(4), false),
    variant("index8-checked", &INDEX_CHECKED, Bytes(8), false),
    variant("index8-packed", &INDEX, Bytes(8), false),
    variant("index8-padded", &LINE_INDEX, LINE, false),
    variant("index4-padded", &LINE_INDEX4, LINE, false),
    variant("pointer-packed", &POINTER, Bytes(8), false),
    variant("pointer-padded", &POINTER, LINE, false),
    variant("index8-padded-2m", &LINE_INDEX, LINE, true),
    variant("pointer-padded-2m", &POINTER, LINE, true),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_different_names() {
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
    fn nodes_have_room_for_their_content() {
        assert!(!Encoding::Pointer.reaches(Bytes(4096), Bytes(4)));
        assert!(!Encoding::Index.reaches(Bytes(4096), Bytes(4)));
        assert!(!Encoding::LineIndex.reaches(Bytes(4096), Bytes(32)));
        assert!(Encoding::LineIndex.reaches(Bytes(4096), Bytes(128)));
        assert!(Encoding::Index4.reaches(Bytes(4096), Bytes(64)));
    }

    #[test]
    fn every_variant_can_be_built() {
        for variant in &VARIANTS {
            assert!(variant.kernel.encoding.reaches(Bytes::GIB, variant.stride), "{}", variant.name);
        }
    }

    #[test]
    fn padded_nodes_have_a_line_of_the_machine() {
        let strides = VARIANTS.map(|variant| variant.stride_with(LineSize::of(Bytes(128)).unwrap()).0);
        assert_eq!(strides, [4, 8, 8, 128, 128, 8, 128, 128, 128]);
        assert!(VARIANTS.iter().all(|variant| variant.stride_with(LineSize::LEAST) == variant.stride));
    }

    #[test]
    fn the_last_two_variants_differ_only_in_their_pages() {
        let same = |small: &Variant, huge: &Variant| {
            core::ptr::eq(small.kernel, huge.kernel) && small.stride == huge.stride && small.huge != huge.huge
        };
        assert!(same(&VARIANTS[3], &VARIANTS[7]));
        assert!(same(&VARIANTS[6], &VARIANTS[8]));
    }
}
