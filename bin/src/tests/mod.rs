//! The tests of the whole program, and what tests of several folders share. Nothing here is part of the executable.
//!
//! - `calibration` runs `matrix` on simulated machines of known latency, and counts how often its words of trust are right.
//! - `golden` compares everything that the program writes, for fixed findings, with stored texts.
//! - `fuzz` damages what comes from outside: arguments, the kernel's files, saved results.
//!
//! The tests of one file stand in it or beside it. Only code of tests imports from here. What tests of the engine
//! need, too, is in [`latency_engine::tests`].

mod calibration;
mod fuzz;
mod golden;
