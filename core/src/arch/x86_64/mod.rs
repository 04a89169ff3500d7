//! The assembly routines, the time-stamp counter and streaming stores of x86-64.
//!
//! Each file here wraps one family of them; nothing here knows what a chain is.
//!
//! # Safety
//!
//! `routines!` declares functions of the assembly with the parameters that its comments give; each caller says why a call
//! is sound.

/// Declares assembly routines that take the same parameters, by name.
macro_rules! routines {
    ($parameters:tt -> $result:ty: $($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name $parameters -> $result;)*
        }
    };
}

mod chases;
mod cores;
#[cfg(test)]
mod cores_tests;
mod interrupt;
pub mod lanes;
mod stream;
#[cfg(test)]
mod tests;
mod timing;
mod traffic;
#[cfg(test)]
mod traffic_tests;

pub use chases::*;
pub use cores::*;
pub use interrupt::*;
pub use stream::*;
pub use timing::*;
pub use traffic::*;

/// The word for the source of the processor's own claims, about its caches above all.
pub const CLAIMS_NAME: &str = "CPUID";
