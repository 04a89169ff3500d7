//! Checks before and after the rounds: of the tool and of the machine.

pub mod conditions;
pub mod find_working_set;
pub mod hardware;
pub mod self_test;
pub mod sizing;
pub mod translation_probe;
