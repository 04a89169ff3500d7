//! The seam between decisions and timing: a chain that can be walked, and the place that chains come from.
//!
//! On one side are the schedule, the visits, the warm-up and the summary of batches; on the other memory and a clock, or, in
//! tests, a function that gives the nanoseconds of a hop.

use crate::engine::memory::placement::Witness;
use crate::error::Failure;
use crate::result::counters::{Counted, Software};
use crate::result::{PerLine, Point, Round};
use crate::sys::{signal, time};

/// The events at a chain since it was last walked for this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It was written again, past the caches.
    Written,
    /// Another walk came in between, or there was none.
    Disturbed,
    /// Nothing.
    Undisturbed,
}

/// One batch, per hop. The time is not a number where the clock stepped back; core cycles are not where the clock of the
/// core is unknown.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The time.
    pub nanoseconds: f64,
    /// The time in core cycles.
    pub core_cycles: f64,
    /// The core's clock.
    pub core_gigahertz: f64,
    /// Lines that generators have touched meanwhile, per nanosecond; not a number without any.
    pub delivered: f64,
    /// Another task ran meanwhile.
    pub preempted: bool,
    /// The quota of CPU time was used up meanwhile.
    pub throttled: bool,
    /// The rate of the generators had not become steady before.
    pub unsettled: bool,
    /// The hops made: as many as asked for, unless time was up.
    pub hops: u64,
}

impl Batch {
    /// No hops.
    pub const NONE: Batch = Batch {
        nanoseconds: f64::NAN,
        core_cycles: f64::NAN,
        core_gigahertz: f64::NAN,
        delivered: f64::NAN,
        preempted: false,
        throttled: false,
        unsettled: false,
        hops: 0,
    };
}

/// Hops made, and the nanoseconds that they took.
pub type Walked = (u64, f64);

/// A chain to be walked, with a clock.
///
/// Walks go on from where the last one stopped, and end at the first look at the clock after `until_ns`, some
/// milliseconds apart.
///
/// Traffic and lines between CPUs need none of the optional methods; the defaults do nothing, and ask the kernel for the
/// time and for an interrupt.
pub trait Walkable {
    /// Returns the nodes of the chain.
    fn nodes(&self) -> u64;

    /// Returns the cache lines that it lies in.
    fn lines(&self) -> u64 {
        self.nodes()
    }

    /// Returns the number of chains walked side by side; `None` for one chain, where hops are latencies.
    fn lanes(&self) -> Option<usize>;

    /// Returns the events at it since it was last walked for this point.
    fn condition(&self) -> Condition {
        Condition::Undisturbed
    }

    /// Returns the hops over lines just written past the caches that follow after [`few`](crate::engine::schedule::walks::few) others.
    fn ahead(&self) -> u64 {
        0
    }

    /// Walks `hops` hops.
    ///
    /// # Errors
    ///
    /// [`Failure::Interrupted`], and one of timing where a walk did not end where it had to.
    fn walk(&mut self, hops: u64, until_ns: f64) -> Result<Walked, Failure<'static>>;

    /// Walks as [`walk`](Self::walk), with looks at the core's clock before and after.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn batch(&mut self, hops: u64, until_ns: f64) -> Result<Batch, Failure<'static>>;

    /// Walks enough lanes side by side for memory to be as fast as possible; the hops are of all lanes together. `None`
    /// where the nodes cannot be walked like that.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn rush(&mut self, _hops: u64, _until_ns: f64) -> Result<Option<Walked>, Failure<'static>> {
        Ok(None)
    }

    /// Loads every node once, in no order of the chain.
    fn touch(&mut self) {}

    /// Goes to the node where the `part`-th lane of a rush began.
    fn rewind(&mut self, _part: u64) {}

    /// Returns the time of a clock in nanoseconds, which goes on between walks too.
    fn now_ns(&self) -> f64 {
        time::now_ns()
    }

    /// Returns whether the program is asked to stop.
    fn interrupted(&self) -> bool {
        signal::interrupted()
    }

    /// Returns the nanoseconds of the shortest batch that the clock times well.
    fn batch_ns(&self) -> f64;

    /// Returns the counts of switches, migrations and faults of the thread so far.
    fn software(&mut self) -> Software;

    /// Returns the clock of the uncore that serves the load of this point, now; not a number where it is unknown or unused.
    fn uncore_gigahertz(&self) -> f64 {
        f64::NAN
    }

    /// Makes walks that are counted and not timed.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn count(&mut self, _hops: u64) -> Result<Counted, Failure<'static>> {
        Ok(Counted::default())
    }

    /// Makes the other measurements of this point after a `round`.
    ///
    /// # Errors
    ///
    /// The errors of [`walk`](Self::walk).
    fn beside(&mut self, _round: &Round) -> Result<(), Failure<'static>> {
        Ok(())
    }
}

/// A visitor of a chain.
pub type Walker<'w> = dyn FnMut(&mut dyn Walkable) -> Result<(), Failure<'static>> + 'w;

/// The source of chains: memory, or, in tests, a simulation.
pub trait Place {
    /// Has `walker` walk the chain of the `index`-th point. Where chains are rewritten, `position` chooses its place in
    /// memory.
    ///
    /// # Errors
    ///
    /// The errors of the walker, and of a point without memory.
    fn with_chain(
        &mut self,
        index: usize,
        point: &Point,
        position: u64,
        walker: &mut Walker<'_>,
    ) -> Result<(), Failure<'static>>;

    /// Does a part of what is checked between two rounds. Chains are disturbed by that.
    ///
    /// # Errors
    ///
    /// The errors of [`Walkable::walk`].
    fn between_rounds(&mut self) -> Result<(), Failure<'static>> {
        Ok(())
    }

    /// Returns the time by the clock of its chains, in nanoseconds.
    fn now_ns(&self) -> f64 {
        time::now_ns()
    }

    /// Lets the CPU idle, and has its clock come up again by `until_ns`. Chains are disturbed by that.
    ///
    /// # Errors
    ///
    /// [`Failure::Interrupted`], at once.
    fn pause(&mut self, until_ns: f64) -> Result<(), Failure<'static>>;

    /// Returns the witnesses of a point's memory, and of the other memory that it uses: that of the traffic beside a
    /// chain, or of the second home of exchanged lines. `None` where some of it could not be had, and in a simulation.
    fn witnesses(&self, _point: &Point) -> Option<(Witness, Option<Witness>)> {
        None
    }

    /// Returns how many times the thread was found on another CPU than a point's.
    fn moves(&self) -> u64 {
        0
    }

    /// Returns the values of each line of a point, if lines were timed one by one.
    fn per_line(&mut self, _index: usize, _point: &Point) -> Option<PerLine> {
        None
    }
}
