//! The assembly routines, the system counter and the eviction of lines for aarch64.
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
mod identification;
#[cfg(test)]
mod instructions_tests;
mod interrupt;
pub mod lanes;
mod stream;
mod timing;

pub use cores::*;
pub use identification::identification;
pub use interrupt::*;
pub use stream::*;
pub use timing::*;

pub use super::aarch64_words::WORDS;

global_asm!(include_str!("../../../asm/aarch64/chase.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/variants.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/parallel.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/window.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/strided.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/span.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/stream.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/cores.s"), options(raw));
global_asm!(include_str!("../../../asm/aarch64/clock.s"), options(raw));
