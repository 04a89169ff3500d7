//! latency-bench without its start-up code: everything from arguments to report.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod args;
pub mod error;
pub mod options;
pub mod warning;
