//! The names that every instruction set defines, and the one that this crate was built for.
//!
//! Another instruction set is a folder beside `x86_64` that defines the same
//! names. All inline assembly of this crate is below this module. Nothing here
//! knows what a chain is.
//!
//! # Safety
//!
//! Routines and instructions are wrapped so that each unsafe call sits beside
//! the fact that makes it sound. What a routine needs of its caller, it says.

pub mod portable;
mod routine;
pub mod x86_64;

pub use routine::{Delays, ExchangeRoutine, LaneRoutine, Routine, StreamRoutine, StridedRoutine};
pub use x86_64::*;
