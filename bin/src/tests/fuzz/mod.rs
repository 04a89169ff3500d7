//! Damaged input from outside: arguments, the kernel's files, saved results.
//!
//! No input may cause a panic or an endless loop, or be misread. `make test` runs a fixed number of cases;
//! `make fuzz` runs the same targets for a given time.

mod arguments;
mod driver;
mod fleet;
mod kernel;
mod mutation;
mod results;
mod saved;
