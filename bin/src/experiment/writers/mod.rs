//! What was found, written down: a file for each experiment, and what they share. Writers see results and nothing else.

pub mod counters;
pub mod csv;
pub mod curve;
pub mod distribution;
pub mod facts;
pub mod health;
pub mod json;
pub mod lanes;
pub mod pairs;
pub mod parallel;
pub mod text;
pub mod window;

pub use crate::experiment::facts::Report;
