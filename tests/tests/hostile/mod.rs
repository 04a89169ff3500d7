//! The built executable in hostile places: one table of places, and one body that checks the same rules in
//! each.
//!
//! `make test` tries a fixed part of the combinations, `make hostile` all of them.

mod body;
mod calls;
mod files;
mod limits;
mod results;
mod start;
mod streams;
mod threads;
