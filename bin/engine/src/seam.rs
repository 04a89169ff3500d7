//! The boundary between decisions and timing: a chain that can be walked, and the place that chains come from.
//!
//! On one side are the schedule, the visits, the warm-up and the summary of batches. On the other are memory and a
//! clock, or, in tests, a function that gives the nanoseconds of a hop.

use latency_core::buffer::TimedHops;
use latency_core::{arch, math, with_constant};

use crate::budget::WAKE_NS;
use crate::error::{Attempt, MeasureError};
use crate::placement::Witness;
use crate::result::{Counted, PerLine, Point, Round, Software};
use latency_sys::{signal, time};

/// The changes to a chain since it was last walked for this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The chain was written again, past the caches.
    Written,
    /// Another walk came in between, or the chain was not walked before.
    Disturbed,
    /// No change.
    Undisturbed,
}

with_constant! {
    /// One batch, per hop. The time is NaN if the clock stepped back; the core's clock is NaN if it is unknown or was not
    /// read.
    #[derive(Clone, Copy, Debug)]
    pub struct Batch {
        /// The time.
        pub nanoseconds: f64 = f64::NAN,
        /// The core's clock.
        pub core_gigahertz: f64 = f64::NAN,
        /// Lines that generators touched during the batch, per nanosecond; NaN without generators.
        pub delivered: f64 = f64::NAN,
        /// True if another task ran during the batch.
        pub preempted: bool = false,
        /// True if the quota of CPU time was used up during the batch.
        pub throttled: bool = false,
        /// True if the rate of the generators was not steady yet when the batch began.
        pub unsettled: bool = false,
        /// The hops made: as many as requested, unless time was up.
        pub hops: u64 = 0,
    }
    /// A batch without hops.
    pub const NONE;
}

/// Minimum hops of a timed walk, so that the remainder loop and two timestamps are negligible.
pub const FEWEST_HOPS: u64 = 64;

/// Number of lanes of a [rush](Walkable::rush): enough to reach the highest rate of memory on every machine tested.
pub const RUSHING_LANES: usize = 16;

/// Hops made, and their duration in nanoseconds.
pub type Walked = (u64, f64);

/// A chain to be walked, with a clock.
///
/// Walks continue where the last one stopped, and end at the first check of the clock after `until_ns`; checks are some
/// milliseconds apart.
///
/// Traffic and lines between CPUs need none of the optional methods; the defaults do nothing, or ask the kernel for the
/// time and for an interrupt.
pub trait Walkable {
    /// Returns the number of nodes of the chain.
    fn nodes(&self) -> u64;

    /// Returns the number of cache lines of the chain.
    fn lines(&self) -> u64 {
        self.nodes()
    }

    /// Returns the number of chains walked side by side; `None` for one chain, where hops are latencies.
    fn lanes(&self) -> Option<usize>;

    /// Returns the changes to the chain since it was last walked for this point.
    fn condition(&self) -> Condition {
        Condition::Undisturbed
    }

    /// Returns the number of hops over lines just written past the caches, after the first
    /// [few](crate::schedule::grouped::few_before).
    fn ahead(&self) -> u64 {
        0
    }

    /// Returns true if [grouped chains](latency_core::chain::WINDOWS) lie beside a random one.
    fn is_split(&self) -> bool {
        false
    }

    /// Continues on another chain where its last walk stopped: 0 is the random chain, and a grouped chain has one more
    /// than its index.
    fn turn_to(&mut self, _chain: usize) {}

    /// Walks `hops` hops.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`], and an error of timing if a walk did not end at the expected node.
    fn walk(&mut self, hops: u64, until_ns: f64) -> Attempt<Walked>;

    /// Walks like [`walk`](Self::walk), and reads the core's clock before and after; if that takes long, only for some
    /// of the batches.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch>;

    /// Walks enough lanes side by side to reach the highest rate of memory; hops are counted over all lanes. Returns
    /// `None` if the nodes cannot be walked in lanes.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn rush(&mut self, _hops: u64, _until_ns: f64) -> Attempt<Option<Walked>> {
        Ok(None)
    }

    /// Times single hops, one for each sample. Returns false, and makes none, without a counter.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn each(&mut self, _samples: &mut [TimedHops]) -> Attempt<bool> {
        Ok(false)
    }

    /// Loads every node once, in address order rather than chain order.
    fn touch(&mut self) {}

    /// Moves to the node where lane number `part` of a rush began.
    fn rewind(&mut self, _part: u64) {}

    /// Returns the time in nanoseconds of a clock that also runs between walks.
    fn now_ns(&self) -> f64 {
        time::now_ns()
    }

    /// Returns true if the program is asked to stop.
    fn interrupted(&self) -> bool {
        signal::interrupted()
    }

    /// Spins without a load until the clock shows `until_ns`, and returns the interrupts that it saw meanwhile.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`] if the program is asked to stop.
    fn idle(&mut self, _until_ns: f64) -> Attempt<u64> {
        Ok(0)
    }

    /// Returns the nanoseconds of the shortest batch that the clock times precisely.
    fn batch_ns(&self) -> f64;

    /// Returns the thread's context switches, migrations and faults so far.
    fn software(&mut self) -> Software;

    /// Returns the current clock of the uncore that serves the load of this point; NaN if it is unknown or unused.
    fn uncore_gigahertz(&self) -> f64 {
        f64::NAN
    }

    /// Makes walks under hardware counters, which are not timed.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn count(&mut self, _hops: u64) -> Attempt<Counted> {
        Ok(Counted::default())
    }

    /// Makes the other measurements of this point after a `round`.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn beside(&mut self, _round: &Round) -> Attempt {
        Ok(())
    }
}

/// A function that walks a chain.
pub type Walker<'w> = dyn FnMut(&mut dyn Walkable) -> Attempt + 'w;

/// The source of chains: memory, or, in tests, a simulation.
pub trait Place {
    /// Calls `walker` with the chain of point number `index`. Where chains are rewritten, `position` selects its place
    /// in memory.
    ///
    /// # Errors
    ///
    /// The errors of the walker, and of a point without memory.
    fn with_chain(&mut self, index: usize, point: &Point, position: u64, walker: &mut Walker<'_>) -> Attempt;

    /// Makes a part of the checks between two rounds. The checks disturb chains.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`].
    fn between_rounds(&mut self) -> Attempt {
        Ok(())
    }

    /// Returns the time of the place's clock, in nanoseconds.
    fn now_ns(&self) -> f64 {
        time::now_ns()
    }

    /// Lets the CPU idle, and brings its clock up again by `until_ns`. The pause disturbs chains.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`], at once.
    fn pause(&mut self, until_ns: f64) -> Attempt {
        idle_until(until_ns)
    }

    /// Returns the witnesses of a point's memory, and of the other memory that it uses: the traffic alongside a chain,
    /// or the second home of exchanged lines. Returns `None` if some of it could not be placed, and in a simulation.
    fn witnesses(&self, _point: &Point) -> Option<(Witness, Option<Witness>)> {
        None
    }

    /// Returns the number of times that the thread was found on another CPU than a point's.
    fn moves(&self) -> u64 {
        0
    }

    /// Returns the values of each line of a point, if lines were timed one by one.
    fn per_line(&mut self, _index: usize, _point: &Point) -> Option<PerLine> {
        None
    }
}

/// Additions between two readings of the clock while a core wakes up: some microseconds.
const WAKE_BLOCKS: usize = 400;

/// Lets the CPU idle, and then keeps it busy until `until_ns`, so that its clock rises again.
///
/// # Errors
///
/// [`MeasureError::Interrupted`], at once.
pub fn idle_until(until_ns: f64) -> Attempt {
    /// Maximum nanoseconds until an interrupt is answered.
    const SLICE_NS: f64 = 20e6;
    loop {
        if signal::interrupted() {
            return Err(MeasureError::Interrupted);
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
