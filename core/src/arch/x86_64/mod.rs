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
pub mod lanes;
mod stream;
mod timing;

pub use cores::*;
pub use interrupt::*;
pub use stream::*;
pub use timing::*;

pub use super::x86_64_words::WORDS;

/// Returns no number: CPUID describes the processor.
pub const fn identification(_capabilities: u64) -> Option<u32> {
    None
}

global_asm!(include_str!("../../../asm/x86_64/chase.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/variants.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/parallel.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/window.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/strided.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/span.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/stream.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/cores.s"), options(raw));
global_asm!(include_str!("../../../asm/x86_64/clock.s"), options(raw));
