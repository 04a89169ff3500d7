//! latency-bench without its start-up code: everything from arguments to report.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod sys;

use core::fmt::Write;
use sys::arguments::{Arguments, Environment};

/// Does what `arguments` ask for and returns the exit status.
pub fn run(arguments: Arguments, _environment: Environment) -> i32 {
    let mut messages = sys::out::Messages::new();
    for argument in arguments {
        for chunk in argument.utf8_chunks() {
            let _ = messages.write_str(chunk.valid());
        }
        let _ = messages.write_str("\n");
    }
    0
}
