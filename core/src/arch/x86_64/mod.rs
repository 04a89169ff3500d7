//! The assembly routines, the time-stamp counter and the streaming stores for x86-64.
//!
//! Each file wraps one family of routines or instructions; nothing here knows what a chain is.
//!
//! # Safety
//!
//! `routines!` declares assembly functions with the parameters that the comments in the assembly give; each caller
//! states why its call is sound.

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

/// The printed name of the source of the processor's claims about itself, mainly about its caches.
pub const CLAIMS_NAME: &str = "CPUID";
