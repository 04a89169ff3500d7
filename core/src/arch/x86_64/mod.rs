//! The assembly routines, the time-stamp counter and the streaming stores for x86-64.
//!
//! Each file wraps one family of routines or instructions; nothing here knows what a chain is.
//!
//! # Safety
//!
//! Assembly is only included here; the files declare its routines, and each caller states why its call is sound.

use core::arch::global_asm;

#[cfg(test)]
pub(super) mod calls_for_tests;
mod cores;
mod interrupt;
mod stream;
mod timing;
#[macro_use]
pub(crate) mod vectors;

pub use cores::*;
pub use interrupt::*;
pub use stream::*;
pub use timing::*;
pub use vectors::vector_bytes;

pub use super::x86_64_words::WORDS;

/// Returns no number: CPUID describes the processor.
pub const fn identification(_capabilities: u64) -> Option<u32> {
    None
}

global_asm!(
    include_str!("../../../asm/macros.s"),
    include_str!("../../../asm/x86_64/chase.s"),
    include_str!("../../../asm/x86_64/parallel.s"),
    include_str!("../../../asm/x86_64/window.s"),
    include_str!("../../../asm/x86_64/span.s"),
    include_str!("../../../asm/x86_64/stream.s"),
    include_str!("../../../asm/x86_64/cores.s"),
    include_str!("../../../asm/x86_64/clock.s"),
    include_str!("../../../asm/routines.s"),
    options(raw)
);
