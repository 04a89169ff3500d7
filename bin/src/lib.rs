//! latency-bench without its start-up code: everything from arguments to report.
#![no_std]

#[cfg(test)]
extern crate std;

pub mod report;
