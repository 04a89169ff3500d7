//! The table of chase kernels: a new kernel needs a routine in `asm` and an entry here.
//!
//! Each kernel is a loop that follows one node to the next, and the encoding that it expects. Loops
//! with several lanes are in [`lanes`], and data structures for comparison in [`variants`]. Nothing
//! here accesses memory.

pub mod encoding;
pub mod lanes;
pub mod variants;

use crate::arch;

pub use encoding::Encoding;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_different_names() {
        for (place, kernel) in KERNELS.iter().enumerate() {
            assert!(KERNELS.iter().skip(place + 1).all(|other| other.name != kernel.name));
        }
    }
}
