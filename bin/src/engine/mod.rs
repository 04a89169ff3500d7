//! The only code that times, and the only one that places memory. It takes points from a plan and gives findings.
//!
//! Two traits in [`seam`] carry it. A [`Walkable`](seam::Walkable) can be walked for a number of hops and says how long that
//! took: a pointer chase, traffic of generators, lines between two CPUs. A [`Place`](seam::Place) brings the walkable of a
//! point and hands it to a visitor. The schedule above them knows no clock and no memory, and the stopwatch below knows no
//! statistics; so tests run whole schedules over a simulated place, in simulated time.
//!
//! A run goes like this. [`memory`] places and proves the memory of all points. [`schedule`] goes round them in shuffled
//! order, visits each that is not precise yet, and pauses between rounds where there is time. [`finish`] looks at the memory
//! again and makes outcomes of the rounds. A visit:
//!
//! ```text
//!  Schedule            Place                     Walkable               Stopwatch
//!    | with_chain(point) |                          |                      |
//!    |------------------>| brings the thread to its |                      |
//!    |                   | CPU, finds or writes     |                      |
//!    |  VisitRules::visit(chain)                    |                      |
//!    |<------------------| the chain                |                      |
//!    |  warm up: walk, rush, touch                  |  stamp, load, load,  |
//!    |--------------------------------------------->|  ..., load, stamp    |
//!    |  round: batch, batch, ..., batch             |--------------------->|
//!    |--------------------------------------------->|<---------------------|
//!    |  precise? out of time?                       |  proof of the last   |
//!    |                                              |  node                |
//! ```
//!
//! Read [`seam`] first, then [`schedule`] and its `visit`, then [`run`]. [`stopwatch`] has the loops that are timed, with
//! clock and counters; [`threads`] the generators of traffic and the partners of lines between CPUs; [`checks`] the tests of
//! the tool and of the machine around a run.

pub mod checks;
#[cfg(test)]
pub mod fake;
pub mod finish;
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
