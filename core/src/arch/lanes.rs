//! Vector arithmetic for a Weyl cycle: 32 numbers at a time.
//!
//! The arithmetic is that of `chain::weyl`, for numbers of at most 32 bits; the tests compare
//! both. It is written in intrinsics, so that the speed of writing a chain does not depend on how a compiler that
//! optimises for size translates loops. The folder of each instruction set has the operations on one vector, and the
//! counting of hops.
//!
//! # Safety
//!
//! Only methods of [`Lanes`] call the functions compiled for instructions that a processor may lack, and
//! [`Lanes::detect`] returns a value only if they may be executed.

use super::vectors::{
    self, Vectors, add, all, and, are_all, ascending, at_most, multiply, select, shift_by, store, xor_shift,
};
pub use crate::arch::data::{Cycle, LANES};

/// Proof that the instructions of the vector arithmetic may be executed.
#[derive(Clone, Copy, Debug)]
pub struct Lanes(());

impl Lanes {
    /// Returns the proof if the processor has the instructions and the kernel saves their registers.
    pub fn detect() -> Option<Lanes> {
        vectors::are_present().then_some(Lanes(()))
    }

    /// Writes the successors of the nodes `first`, `first + 1`, … to `successors`.
    ///
    /// A number that is not a node has no successor: an arbitrary node is written for it.
    pub fn successors(self, cycle: &Cycle, first: u32, successors: &mut [u64; LANES]) {
        // SAFETY: `self` proves that the instructions may be executed.
        unsafe { write_successors(cycle, first, successors) }
    }

    /// Follows the cycle from `time` in groups of at most [`LANES`] steps, while a group cannot exceed
    /// the `hops` hops that are left. Returns the time that is reached, and the number of hops that
    /// are left.
    pub fn advance(self, cycle: &Cycle, time: u32, hops: u64) -> (u32, u64) {
        // SAFETY: `self` proves that the instructions may be executed.
        unsafe { vectors::count_hops(cycle, time, hops) }
    }
}

vectorised! {
    /// Returns the successors of the nodes from `first` on.
    ///
    /// All lanes take steps until every lane has met a node; a lane that met a node earlier keeps it.
    /// If half of the numbers are nodes, this takes 6.3 steps on average instead of 2, and is still
    /// cheaper than filling finished lanes with new numbers.
    fn successors_from(cycle: &Cycle, first: u32) -> Vectors {
        let (mask, step, last) = (all(cycle.mask), all(cycle.step), all(cycle.last));
        let mut times = mix!(cycle.inverses, ascending(first));
        let mut nodes = times;
        let none = all(0);
        let mut found = each!(_time in times => none);
        loop {
            times = each!(time in times => and(add(time, step), mask));
            let met = mix!(cycle.multipliers, times);
            nodes = each!(node in nodes, other in met, keep in found => select(keep, node, other));
            found = each!(node in nodes => at_most(node, last));
            if are_all(found) {
                return nodes;
            }
        }
    }

    fn write_successors(cycle: &Cycle, first: u32, successors: &mut [u64; LANES]) {
        store(successors_from(cycle, first), successors);
    }
}
