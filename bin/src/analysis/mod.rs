//! Conclusions from points, as pure functions of the points: every output format reports the same ones.
//!
//! This module does not measure, make system calls, or write output.

pub mod caches;
pub mod cause;
pub mod claims;
pub mod comparison;
pub mod cores;
pub mod curve;
pub mod distribution;
#[cfg(test)]
pub mod drawn_tests;
pub mod expect;
pub mod lanes;
pub mod load;
pub mod loaded;
pub mod matrix;
pub mod norm;
pub mod orders;
pub mod reading;
pub mod reference;
pub mod residency;
pub mod side_by_side;
pub mod traffic;
pub mod translation;
pub mod variants;
pub mod window;
