//! The only code that times, and the only one that places memory.
//!
//! It takes points from a plan and gives findings. What becomes of those is the caller's business.

pub mod clock;
pub mod conditions;
pub mod cores;
pub mod counters;
pub mod cpu_time;
#[cfg(test)]
pub mod fake;
pub mod finish;
pub mod generators;
pub mod judge;
pub mod lines;
pub mod lookout;
pub mod memory;
mod new_chain;
pub mod placement;
pub mod prefetch_audit;
pub mod progress;
pub mod reach;
pub mod repeat;
pub mod run;
pub mod schedule;
#[cfg(test)]
mod scripted;
pub mod seam;
pub mod second;
pub mod self_test;
pub mod session;
pub mod single_hops;
pub mod sizing;
pub mod stopwatch;
pub mod stream;
pub mod strided;
pub mod subject;
pub mod translation_probe;
mod undisturbed;
pub mod visit;
pub mod walks;
mod warm_up;
pub mod with_generators;
pub mod with_partners;
