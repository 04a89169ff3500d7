//! Chains in real memory, with the traffic of generators alongside or by itself.

pub mod chains;
mod chase;
pub mod second;

use crate::schedule::Schedule;
use crate::seam::Place;

#[cfg(test)]
pub use chase::ClockTurns;
pub use chase::{Chase, Nodes};

/// The schedule of a run on real memory.
pub type RealSchedule<'v> = Schedule<&'v mut (dyn Place + 'v)>;
