//! The table of chase kernels: a new one is a routine in `asm` and a line here.

use crate::arch;

/// What a node holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// The address of the next node.
    Pointer,
    /// The next node's offset from the start of the buffer, in units of eight bytes.
    Index,
}

/// A chase loop that makes exactly one dependent load per hop.
#[derive(Clone, Copy, Debug)]
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

/// Every kernel.
pub static KERNELS: [&Kernel; 2] = [&POINTER, &INDEX];
