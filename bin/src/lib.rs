//! latency-bench without its start-up code: everything from arguments to report.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod args;
pub mod errno;
pub mod error;
pub mod options;
pub mod sys;
pub mod warning;

use sys::arguments::{Arguments, Environment};

/// Does what `arguments` ask for and returns the exit status.
pub fn run(_arguments: Arguments, _environment: Environment) -> i32 {
    0
}
