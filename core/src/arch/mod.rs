//! The instruction set that this crate is built for, under names that all of them share.
//!
//! One instruction set is one folder, and its assembly one folder of `asm`. `contract.rs` lists the
//! names and their types; everything outside these folders uses the names alone. All inline
//! assembly of this crate is below this module. Nothing here knows what a chain is.
//!
//! # Safety
//!
//! Routines and instructions are wrapped so that each unsafe call sits beside
//! the fact that makes it sound. Each routine's type says what its caller guarantees.

mod contract;
pub mod portable;
mod routine;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use routine::{Delays, ExchangeRoutine, Exchanges, LaneRoutine, Routine, StreamRoutine, StridedRoutine};
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
