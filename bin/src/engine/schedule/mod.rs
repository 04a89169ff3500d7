//! Which point is visited when, and in which memory: one way for each kind of points.

pub mod kinds;
pub mod lanes;
pub mod rotation;
pub mod sweep;
