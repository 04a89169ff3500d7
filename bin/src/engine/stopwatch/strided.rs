//! Independent loads in address order, which do not wait for each other: inverse throughput.

use latency_core::arch::Line;
use latency_core::buffer::Buffer;
use latency_core::math::ToReal;
use latency_core::stats;
use latency_core::units::Bytes;

use crate::engine::stopwatch::Stopwatch;
use crate::error::{Attempt, Failure};
use crate::plan::budget::FEWEST_ROUNDS;
use crate::result::{Counter, Point, Strided, chain};
use crate::sys::signal;

/// Bytes of memory over which independent loads are timed together: 60 microseconds at 30 GB/s.
const SLICE: Bytes = Bytes(2 << 20);
/// Maximum slices of a visit.
const SLICES: usize = 128;
/// Steps of a coarse counter that a slice spans.
const SLICE_STEPS: u32 = 500;
/// Maximum rate at which one core loads a slice, in bytes per nanosecond.
const FASTEST: f64 = 100.0;

/// Returns the bytes that are timed together: more if a coarse counter needs a longer time.
pub fn slice(counter: &Counter) -> Bytes {
    let least = (counter.at_least(SLICE_STEPS) * FASTEST) as u64;
    Bytes(SLICE.0.max(least.next_power_of_two()))
}

/// The nanoseconds per independent load, for each visit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loads {
    times: [f64; FEWEST_ROUNDS],
    made: usize,
}

impl Loads {
    /// Times loads of every node of `point` in `lines`, and records the dominant value over the slices of the memory.
    ///
    /// A slice is written past the caches and read at once, in a time that usually falls between two interruptions.
    ///
    /// # Errors
    ///
    /// [`Failure::Interrupted`], and the errors of [`Stopwatch::brought_back`].
    pub fn visit(
        &mut self,
        lines: &mut [Line],
        point: &Point,
        watch: &Stopwatch,
        counter: &Counter,
    ) -> Attempt {
        let mut slice = *point;
        slice.size = slice.size.min(self::slice(counter));
        let chain = chain::chain(&slice)?;
        let loads = chain.nodes() as usize;
        let mut times = [f64::NAN; SLICES];
        let mut made = 0;
        let slices = lines.chunks_exact_mut((slice.size.0 / 64).max(1) as usize);
        for lines in slices.take(SLICES) {
            if signal::interrupted() {
                return Err(Failure::Interrupted);
            }
            let Ok(buffer) = Buffer::build(lines, &chain, point.kernel.encoding) else { return Ok(()) };
            let Ok(timed) = buffer.timed_strided_loads(loads, counter.stamp) else { return Ok(()) };
            let spent_ns = watch.ended(counter, timed.start, timed.end);
            let is_timed = spent_ns.is_finite() && !watch.brought_back()?;
            // If the counter steps back during a slice, or the thread is moved, the next slice replaces it.
            if let Some(time) = times.get_mut(made).filter(|_| is_timed) {
                *time = spent_ns / loads.real();
                made += 1;
            }
        }
        let state = times.get_mut(..made).and_then(stats::state);
        if let (Some(slot), Some(state)) = (self.times.get_mut(self.made), state) {
            *slot = state.value;
            self.made += 1;
        }
        Ok(())
    }

    /// Returns the median over visits, also in core cycles if the core's clock is known; `None` without a visit.
    pub fn conclude(mut self, core_gigahertz: Option<f64>) -> Option<Strided> {
        let found = self.times.get_mut(..self.made).and_then(stats::summarise_series)?;
        let (nanoseconds, interval) = (found.median, found.interval);
        let core_cycles = core_gigahertz.map(|clock| clock * nanoseconds);
        Some(Strided { nanoseconds, interval, core_cycles, rounds: self.made })
    }
}
