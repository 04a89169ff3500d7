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

/// Declares assembly routines that take the same parameters, by the name of their type, if it has to be declared, and
/// their own names.
macro_rules! routines {
    ($($($(#[$about:meta])+ $type:ident)? fn $parameters:tt -> $result:ty: $($name:ident)+;)+) => {$(
        $(
            $(#[$about])+
            pub type $type = unsafe extern "C" fn $parameters -> $result;
        )?

        unsafe extern "C" {
            $(pub(crate) fn $name $parameters -> $result;)+
        }
    )+};
}

/// Evaluates the expression for each of the vectors at these places. A loop that is not unrolled would keep the vectors
/// in memory.
macro_rules! each_of {
    ([$($place:literal)+] $lanes:tt $value:expr) => { [$(each_of!(@ $place $lanes $value)),+] };
    (@ $place:literal [$($lane:ident in $lanes:expr),+] $value:expr) => {{
        $(let $lane = $lanes[$place];)+
        $value
    }};
}

/// Computes `G` of each lane if given the multipliers, and `G⁻¹` if given the inverses. It is a macro, since a
/// compiler that optimises for size would not inline a function, and then the vectors would go through memory.
macro_rules! mix {
    ($cycle:ident.$multipliers:ident, $lanes:expr) => {{
        let (mask, shift) = (all($cycle.mask), shift_by($cycle.shift));
        let mut lanes = $lanes;
        for &multiplier in &$cycle.$multipliers {
            let multiplier = all(multiplier);
            lanes = each!(x in lanes => and(multiply(xor_shift(x, shift), multiplier), mask));
        }
        each!(x in lanes => xor_shift(x, shift))
    }};
}

#[macro_use]
#[cfg(target_arch = "aarch64")]
mod aarch64;
mod calls;
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
#[cfg(test)]
mod traffic_tests;
mod words;
#[macro_use]
#[cfg(target_arch = "x86_64")]
mod x86_64;

// Behind the folders, whose macros it uses.
pub mod lanes;

// The words of every instruction set are plain data, so that results of one can be described on another.
#[path = "aarch64/words.rs"]
pub mod aarch64_words;
#[path = "x86_64/words.rs"]
pub mod x86_64_words;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
pub use calls::{CLOCK_BLOCK, Evictor, Flusher, dependent_adds, dependent_multiplies};
pub use data::{Delays, EndStamp, Line, SharedLine, SpanWords};
pub use routine::*;
pub use words::{Cycles, Signature, Words};
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
