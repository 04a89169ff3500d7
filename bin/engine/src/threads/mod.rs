//! Threads in addition to the first: [`generators`] of traffic, and [`partners`] that exchange lines with it.

pub mod generators;
pub mod partners;
