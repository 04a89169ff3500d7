//! The resources of an experiment, and its findings.

use crate::engine::placement::Placement;
use crate::engine::prefetch_audit::UnderWay;
use crate::engine::progress::Progress;
use crate::engine::stopwatch::cpu_time::CpuTimes;
use crate::machine::Machine;
use crate::result::conditions::Clocks;
use crate::result::distribution::Distribution;
use crate::result::residency::Residence;
use crate::result::spans::SpanPoint;
use crate::result::{Extra, Outcome, Point, Repeat};
pub use crate::sys::signal::{Deadline, interrupted, requested};
use crate::sys::table::Table;
pub use crate::sys::time::now_ns;
use crate::warning::Warnings;

/// Observations during a measurement.
#[derive(Debug)]
pub struct Noted {
    /// The core clocks of all rounds.
    pub clocks: Clocks,
    /// Number of times that the thread was found on another CPU.
    pub moves: u64,
    /// Number of times that the time-stamp counter was behind an earlier reading.
    pub steps_back: u64,
    /// The CPU time of all threads; `None` if nothing is timed.
    pub times: Option<&'static CpuTimes>,
    /// The memory of the search before the run, which a second measurement may reuse.
    pub spare: Option<(Point, Placement)>,
}

impl Noted {
    /// Returns empty observations.
    pub const fn new() -> Noted {
        Noted { clocks: Clocks::new(), moves: 0, steps_back: 0, times: None, spare: None }
    }
}

/// The resources of an experiment.
pub struct Session<'a, 's> {
    /// The machine.
    pub machine: &'a Machine,
    /// The warnings to the reader.
    pub warnings: &'s mut Warnings,
    /// The progress line at the terminal.
    pub progress: &'s mut Progress,
    /// Observations of the conditions during the measurement.
    pub noted: &'s mut Noted,
}

/// The findings of an experiment.
pub struct Findings<'a> {
    /// Every point of the plan, measured or not.
    pub outcomes: Table<Outcome<'a>>,
    /// The single hops of every point, if they were timed.
    pub distributions: Table<Distribution>,
    /// The spans of addresses, by kind of pages and number of pages.
    pub spans: Table<SpanPoint>,
    /// The shares of working sets that a shared cache still holds, by size and by wait.
    pub residency: Table<Residence>,
    /// The findings that only some experiments have.
    pub extra: Extra,
    /// The comparison of the first point, if it was measured twice in turn.
    pub repeat: Option<Repeat>,
    /// The audit of prefetchers, if it was begun between rounds.
    pub audit: Option<UnderWay>,
    /// An interrupt came before the end.
    pub interrupted: bool,
}
