//! A simulated machine whose time is read only by a counter of any frequency, for tests of lengths in steps.
//!
//! All times pass through the functions that the program uses with its own counter: those that find its step and its
//! overhead, convert ticks, choose lengths and read the core's clock. The phase of the counter is random.

mod chains;
mod runs;
mod tests;

use alloc::vec::Vec;

use latency_core::arch::{self, Stamp};
use latency_core::clock::Sandwich;
use latency_core::{Hertz, Pcg32, Ticks};

use crate::result::Counter;
use crate::stopwatch::clock;
use crate::stopwatch::core_clock::Arithmetic;

/// Frequencies of coarse counters, in megahertz, and of a fine one.
pub const COARSE: [f64; 4] = [24.0, 25.0, 54.0, 121.875];
pub const FINE: f64 = 1000.0;

/// Maximum error of a latency, and of core cycles, as a fraction.
const LATENCY: f64 = 0.002;
const CYCLES: f64 = 0.003;

/// Returns all frequencies.
fn all() -> impl Iterator<Item = f64> {
    COARSE.into_iter().chain([FINE])
}

/// A machine in simulated time.
pub struct CoarseMachine {
    /// The counter, as the program finds it.
    pub counter: Counter,
    /// The core's clock, in gigahertz.
    pub core_gigahertz: f64,
    /// Nanoseconds of a pair of readings.
    pub pair_ns: f64,
    /// Core cycles of a multiplication.
    pub multiply_cycles: f64,
    /// True if readings wait for earlier instructions; otherwise a core overlaps some hundred of them with a reading.
    pub waits: bool,
    /// Nanoseconds between two pieces of work, at most. They are random, unless this is zero.
    pub idle_ns: f64,
    /// The time.
    pub now_ns: f64,
    /// The lengths of all arithmetic so far.
    pub blocks: Vec<(Arithmetic, usize)>,
    hertz: f64,
    granule: u64,
    rng: Pcg32,
}

impl CoarseMachine {
    /// Returns a machine with a counter of a frequency in megahertz; `seed` gives its phase. An interruption delays one
    /// in some hundred readings.
    pub fn new(megahertz: f64, seed: u64) -> CoarseMachine {
        Self::with_pairs((megahertz, 1), 45.0, seed)
    }

    /// Returns a machine on which the counter steps by a number of ticks, and a pair of readings takes this number of
    /// nanoseconds.
    pub fn with_pairs((megahertz, granule): (f64, u64), pair_ns: f64, seed: u64) -> CoarseMachine {
        let counter = Counter {
            stamp: Stamp::detect().unwrap(),
            frequency: Hertz((megahertz * 1e6) as u64),
            anchor: Sandwich::default(),
            spread_ppm: 0.0,
            invariant: true,
            declared: None,
            step: Ticks(1),
            overhead: Ticks(0),
            trapped: false,
            fence_ratio: f64::NAN,
        };
        let mut machine = CoarseMachine {
            counter,
            core_gigahertz: 3.0,
            pair_ns,
            multiply_cycles: 3.0,
            waits: true,
            idle_ns: 3e3,
            now_ns: 0.0,
            blocks: Vec::new(),
            hertz: megahertz * 1e6,
            granule,
            rng: Pcg32::new(seed, 24),
        };
        machine.now_ns = 1e6 * machine.chance();
        machine.counter.step = clock::step(|delays| machine.bare(delays));
        let coarse = machine.counter.is_coarse();
        machine.counter.overhead = clock::overhead(coarse, || machine.ticks(0.0));
        machine.counter.trapped = clock::is_trapped(&machine.counter);
        machine
    }

    /// Returns a random number from 0 to 1.
    pub fn chance(&mut self) -> f64 {
        f64::from(self.rng.next_u32()) / f64::from(u32::MAX)
    }

    /// Returns the counter.
    pub fn read(&self) -> u64 {
        (self.now_ns * 1e-9 * self.hertz) as u64 / self.granule * self.granule
    }

    /// Reads the counter without waiting for other instructions, after a number of delays.
    fn bare(&mut self, delays: usize) -> u64 {
        let interrupted_ns = if self.chance() < 0.002 { 2e3 } else { 0.0 };
        self.now_ns += self.pair_ns / 3.0 + 0.4 * delays as f64 + interrupted_ns;
        self.read()
    }

    /// Passes the time of some work between two readings, and returns their difference.
    pub fn ticks(&mut self, work_ns: f64) -> u64 {
        self.now_ns += self.idle_ns * self.chance();
        let start = self.read();
        // Emulated readings differ by a tenth.
        let scatter = if self.pair_ns > 200.0 { 0.1 * self.chance() } else { 0.0 };
        self.now_ns += self.pair_ns * (1.0 + scatter) + work_ns;
        self.read() - start
    }

    /// Executes blocks of dependent operations between two readings; the loop ends with a mispredicted branch.
    pub fn arithmetic(&mut self, work: Arithmetic, blocks: usize) -> u64 {
        self.blocks.push((work, blocks));
        self.ticks(self.arithmetic_ns(work, blocks) + 20.0 / self.core_gigahertz)
    }

    fn arithmetic_ns(&self, work: Arithmetic, blocks: usize) -> f64 {
        let each = if work == Arithmetic::Additions { 1.0 } else { self.multiply_cycles };
        (blocks as u64 * arch::CLOCK_BLOCK) as f64 * each / self.core_gigahertz
    }

    /// Executes two blocks of multiplications between two readings, or nothing.
    pub fn pair(&mut self, multiplies: bool, delays: usize) -> u64 {
        let needed_ns = if multiplies { self.arithmetic_ns(Arithmetic::Multiplications, 2) } else { 0.0 };
        let hidden_ns = if self.waits { 0.0 } else { 400.0 * self.multiply_cycles / self.core_gigahertz };
        self.now_ns += 0.4 * delays as f64;
        let found = self.ticks((needed_ns - hidden_ns).max(0.0));
        // What the readings did not wait for ends before the next pair.
        self.now_ns += needed_ns.min(hidden_ns);
        found
    }

    /// Reads the core's clock, in gigahertz; NaN if it is unknown.
    pub fn core_clock(&mut self) -> f64 {
        let counter = self.counter;
        let ratio = counter.core_clock_by(|work, blocks| self.arithmetic(work, blocks));
        ratio.map_or(f64::NAN, |ratio| ratio * counter.frequency.gigahertz())
    }

    /// Checks that readings wait for earlier instructions.
    pub fn fence(&mut self) -> (f64, bool) {
        let counter = self.counter;
        let machine = core::cell::RefCell::new(self);
        counter.fence_by(
            |work, blocks| machine.borrow_mut().arithmetic(work, blocks),
            |multiplies, delays| machine.borrow_mut().pair(multiplies, delays),
        )
    }
}

/// Returns the distance of a value from the true one, as a fraction.
pub fn off(found: f64, truth: f64) -> f64 {
    (found / truth - 1.0).abs()
}
