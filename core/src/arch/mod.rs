//! The code for the target's instruction set, under names that are the same for every instruction set.
//!
//! Each instruction set has one folder here and one folder of assembly in `asm`. `contract.rs`
//! lists the names and their types; code outside these folders uses only these names. All inline
//! assembly of this crate is below this module. Nothing here knows what a chain is. The other files
//! are the same for every instruction set, and so are the tests.
//!
//! # Safety
//!
//! `routines!` declares assembly functions with the parameters that the comments in the assembly
//! give. Routines and instructions are wrapped so that each unsafe call is next to the fact that makes it
//! sound. The documentation of each routine's type states what its caller must guarantee.

/// Declares assembly routines that take the same parameters, by name.
macro_rules! routines {
    ($parameters:tt -> $result:ty: $($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name $parameters -> $result;)*
        }
    };
}

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod chases;
mod contract;
#[cfg(test)]
mod cores_tests;
mod data;
#[cfg(test)]
#[path = "../../tests/portable/mod.rs"]
pub(crate) mod portable;
mod routine;
#[cfg(test)]
pub(crate) mod tests;
mod traffic;
#[cfg(test)]
mod traffic_tests;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86_64;

// The words of every instruction set are plain data, so that results of one can be described on another.
#[path = "aarch64/words.rs"]
pub mod aarch64_words;
#[path = "x86_64/words.rs"]
pub mod x86_64_words;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
pub use chases::*;
pub use data::{EndStamp, Line, SharedLine};
pub use routine::{
    Delays, ExchangeRoutine, Exchanges, LaneRoutine, Routine, SpanRoutine, SpanWords, StreamRoutine,
    StridedRoutine,
};
pub use traffic::*;
pub use words::{Cycles, Signature, Words};
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
