//! The only code that times, and the only code that places memory. It turns the points of a plan into findings.
//!
//! Two traits in [`seam`] are its base. A [`Walkable`](seam::Walkable) walks a number of hops and returns their
//! duration: a pointer chase, traffic of generators, lines between two CPUs. A [`Place`](seam::Place) finds the
//! walkable of a point and passes it to a function of the schedule. The schedule above them uses neither clock nor
//! memory, and the stopwatch below uses no statistics; so tests run whole schedules over a simulated place, in
//! simulated time.
//!
//! The steps of a run: [`pieces`] places and verifies the memory of all points. [`schedule`] visits each point that is
//! not precise yet, in shuffled order, and pauses between rounds where there is time. [`finish`] queries the memory
//! again and makes outcomes of the rounds. The steps of a visit:
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
//! Read [`seam`] first, then [`schedule`] and its `visit`, then [`run`]. [`placement`] has the memory of a point, [`memory`]
//! the chains in it, [`session`] the resources and findings of a run. [`stopwatch`] has the timed loops, with clock
//! and counters; [`threads`] the generators of traffic and the partners of lines between CPUs, which [`with_generators`]
//! and [`with_partners`] start; [`checks`], [`repeat`] and [`prefetch_audit`] the tests of the tool and of the machine.
//! [`spans`] walks over addresses without memory, for the cost of translation.
//!
//! Below all of them is plain data: [`budget`] and [`regions`], which a plan determines, [`machine`] (read from the
//! system by its `detect`), [`result`], [`warning`] and [`error`], and the [`words`] of the instruction set. A file
//! imports only from floors below its own; `tests/tests/structure.rs` lists the floors.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod budget;
pub mod checks;
pub mod error;
pub mod finish;
pub mod machine;
pub mod memory;
pub mod pieces;
pub mod placement;
pub mod prefetch_audit;
pub mod progress;
pub mod regions;
pub mod repeat;
pub mod result;
pub mod run;
pub mod schedule;
pub mod seam;
pub mod session;
pub mod spans;
pub mod stopwatch;
#[cfg(any(test, feature = "tests"))]
pub mod tests;
pub mod threads;
pub mod warning;
pub mod with_generators;
pub mod with_partners;
pub mod words;

use latency_sys::heap::HEAP;

/// Returns the result of `measure`, during which an allocation is a defect of the program: it would disturb the timing.
pub fn sealed<T>(measure: impl FnOnce() -> T) -> T {
    HEAP.sealed(measure)
}
