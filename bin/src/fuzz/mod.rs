//! What comes from outside, damaged in every way: arguments, the kernel's files, saved results.
//!
//! Nothing may panic, loop, or be taken for more than it is. A fixed number of cases with `make test`;
//! `make fuzz` runs the same targets for as long as it is told.

mod arguments;
mod driver;
mod fleet;
mod kernel;
mod mutation;
mod results;
mod saved;
