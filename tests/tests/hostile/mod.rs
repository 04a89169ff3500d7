//! The built executable in hostile places: one table of places, one body that says what must hold in each.
//!
//! `make test` goes through a part of the combinations that is always the same; `make hostile` through all.

mod body;
mod calls;
mod files;
mod limits;
mod results;
mod start;
mod streams;
mod threads;
