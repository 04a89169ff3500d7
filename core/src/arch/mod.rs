//! The code for the target's instruction set, under names that are the same for every instruction set.
//!
//! Each instruction set has one folder here and one folder of assembly in `asm`. `contract.rs`
//! lists the names and their types; code outside these folders uses only these names. All inline
//! assembly of this crate is below this module. Nothing here knows what a chain is.
//!
//! # Safety
//!
//! Routines and instructions are wrapped so that each unsafe call is next to the fact that makes it
//! sound. The documentation of each routine's type states what its caller must guarantee.

mod contract;
pub mod portable;
mod routine;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// The cycles that results show: `cycles` of the first line, of JSON and of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycles {
    /// Ticks of the counter, which counts at about the rate of a core.
    Counter,
    /// Cycles of the core's clock, because ticks of the counter are many cycles long.
    Core,
}

pub use routine::{Delays, ExchangeRoutine, Exchanges, LaneRoutine, Routine, StreamRoutine, StridedRoutine};
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
