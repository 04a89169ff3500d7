//! The tests of the whole program, and what tests of several folders share. Nothing here is part of the executable.
//!
//! - `calibration` runs `matrix` on simulated machines of known latency, and counts how often its words of trust are right.
//! - `golden` compares everything that the program writes, for fixed findings, with stored texts.
//! - `fuzz` damages what comes from outside: arguments, the kernel's files, saved results.
//! - `simulated` replaces memory, chains and counters, so that tests of the engine run in simulated time.
//! - `plain` has the phrases that no text for users contains.
//!
//! The tests of one file stand in it or beside it. Only code of tests imports from here; the last two count as parts of
//! the folders `engine` and `options`, and follow their rules.

mod calibration;
mod fuzz;
mod golden;
pub mod plain;
pub mod simulated;
