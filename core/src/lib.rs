//! The half of latency-bench that needs no system call.
//!
//! Chains and their generator, the chase kernels, the arithmetic of clocks, the
//! statistics, and the parsers of what a system says of itself. Everything here
//! is tested with plain `cargo test`, on any x86-64 host.
//!
//! `#![no_std]` always: the standard library is linked for the tests alone, so
//! that it cannot creep in through an editor's import.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod arch;
pub mod buffer;
pub mod chain;
pub mod clock;
pub mod cpulist;
pub mod decimal;
pub mod double;
pub mod histogram;
pub mod hops;
pub mod host;
pub mod json;
pub mod kernel;
pub mod math;
pub mod model;
pub mod rng;
pub mod sort;
pub mod stats;
pub mod text;
pub mod topology;
pub mod units;
