//! The only code that times, and the only one that places memory.
pub mod checks;
#[cfg(test)]
pub mod fake;
pub mod finish;
pub mod live_lines;
pub mod memory;
pub mod progress;
pub mod run;
pub mod schedule;
#[cfg(test)]
mod scripted;
pub mod seam;
pub mod session;
pub mod stopwatch;
pub mod threads;
pub mod with_generators;
pub mod with_partners;
