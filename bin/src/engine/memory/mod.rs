//! Chains in real memory, with the traffic of generators alongside or by itself.

pub mod chains;
pub mod new_chain;
pub mod second;

use latency_core::arch;
use latency_core::math;

use crate::engine::schedule::Schedule;
use crate::engine::seam::Place;
use crate::error::Failure;
use crate::plan::budget::WAKE_NS;
use crate::sys::{signal, time};

/// The schedule of a run on real memory.
pub type RealSchedule<'v> = Schedule<&'v mut (dyn Place + 'v)>;

/// Additions between two readings of the clock while a core wakes up: some microseconds.
const WAKE_BLOCKS: usize = 400;

/// Lets the CPU idle, and then keeps it busy until `until_ns`, so that its clock rises again.
///
/// # Errors
///
/// [`Failure::Interrupted`], at once.
pub fn idle_until(until_ns: f64) -> Result<(), Failure<'static>> {
    /// Maximum nanoseconds until an interrupt is answered.
    const SLICE_NS: f64 = 20e6;
    loop {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        match until_ns - time::now_ns() {
            left if left <= 0.0 => return Ok(()),
            left if left <= WAKE_NS => {
                core::hint::black_box(arch::dependent_adds(WAKE_BLOCKS));
            }
            left => time::sleep_ns(math::whole((left - WAKE_NS).min(SLICE_NS)) + 1),
        }
    }
}
