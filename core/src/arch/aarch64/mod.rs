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
mod stream;
mod timing;
#[macro_use]
pub(crate) mod vectors;

pub use cores::*;
pub use identification::identification;
pub use interrupt::*;
pub use stream::*;
pub use timing::*;

pub use super::aarch64_words::WORDS;

global_asm!(
    include_str!("../../../asm/macros.s"),
    include_str!("../../../asm/aarch64/chase.s"),
    include_str!("../../../asm/aarch64/parallel.s"),
    include_str!("../../../asm/aarch64/window.s"),
    include_str!("../../../asm/aarch64/span.s"),
    include_str!("../../../asm/aarch64/stream.s"),
    include_str!("../../../asm/aarch64/cores.s"),
    include_str!("../../../asm/aarch64/clock.s"),
    include_str!("../../../asm/routines.s"),
    options(raw)
);
