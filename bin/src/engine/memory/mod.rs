//! The places of real memory: [`chains`], with the traffic of generators beside them or by itself, and [`lines`] that CPUs
//! exchange. [`pieces`] places and proves the memory of all.

pub mod chains;
pub mod lines;
pub mod new_chain;
pub mod pieces;
pub mod placement;
pub mod second;
pub mod sites;

use latency_core::arch;

use crate::engine::memory::placement::Witness;
use crate::engine::schedule::Schedule;
use crate::engine::seam::Place;
use crate::error::Failure;
use crate::plan::budget::WAKE_NS;
use crate::result::{PerLine, Point};
use crate::sys::{signal, time};

/// A place in memory that was proven to be on its node, and that is looked at again after the last trial.
pub trait ProvenPlace: Place {
    /// Returns the witnesses of a point's memory, and of the other memory that it uses: that of the traffic beside a
    /// chain, or of the second home of exchanged lines. `None` where some of it could not be had.
    fn witnesses(&self, point: &Point) -> Option<(Witness, Option<Witness>)>;

    /// Returns how many times the thread was found on another CPU than a point's.
    fn moves(&self) -> u64;

    /// Returns the values of each line of a point, if lines were timed one by one.
    fn per_line(&mut self, _index: usize, _point: &Point) -> Option<PerLine> {
        None
    }
}

/// The schedule of a run on real memory.
pub type RealSchedule<'v> = Schedule<&'v mut (dyn ProvenPlace + 'v)>;

/// Additions between two looks at the clock while a core wakes up: some microseconds.
const WAKE_BLOCKS: usize = 400;

/// Lets the CPU idle, and has its clock come up again by `until_ns`.
///
/// # Errors
///
/// [`Failure::Interrupted`], at once.
pub fn idle_until(until_ns: f64) -> Result<(), Failure<'static>> {
    /// Nanoseconds until an interrupt is answered.
    const SLICE_NS: f64 = 20e6;
    loop {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        match until_ns - time::monotonic_raw_ns() as f64 {
            left if left <= 0.0 => return Ok(()),
            left if left <= WAKE_NS => {
                core::hint::black_box(arch::dependent_adds(WAKE_BLOCKS));
            }
            left => time::sleep_ns((left - WAKE_NS).min(SLICE_NS) as u64 + 1),
        }
    }
}
