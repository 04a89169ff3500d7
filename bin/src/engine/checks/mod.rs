//! Checks before, between and after the rounds: of the tool, of the machine and of prefetching by the processor.

pub mod conditions;
pub mod find_working_set;
pub mod hardware;
pub mod prefetch_audit;
pub mod repeat;
pub mod self_test;
pub mod sizing;
pub mod translation_probe;
