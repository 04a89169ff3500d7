//! What was found, written down: a file for each experiment, and what they share. Writers see results and nothing else.

pub mod counters;
pub mod csv;
pub mod facts;
pub mod health;
pub mod json;
pub mod order;
pub mod pages;
pub mod variants;

pub use crate::experiment::facts::Report;
