//! The resources of an experiment, and its findings.

use crate::machine::Machine;
use crate::placement::Placement;
use crate::prefetch_audit::UnderWay;
use crate::progress::Progress;
use crate::result::{Clocks, Distribution, Extra, Outcome, Point, Repeat, Residence, SpanPoint, Timer};
use crate::stopwatch::{CpuTimes, Meter, Stopwatch};
use crate::warning::{TimeLimit, Warning, Warnings};
pub use latency_sys::signal::{Deadline, interrupted, requested};
pub use latency_sys::time::now_ns;
use latency_sys::{Errno, Table};

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
    /// The limit that ended the rounds of points that were not precise.
    pub limit: TimeLimit,
    /// The memory of the search before the run, which a second measurement may reuse.
    pub spare: Option<(Point, Placement)>,
}

impl Noted {
    /// Returns empty observations.
    pub const fn nothing() -> Noted {
        let limit = TimeLimit::OfPoint;
        Noted { clocks: Clocks::none(), moves: 0, steps_back: 0, times: None, limit, spare: None }
    }
}

/// The resources of an experiment.
pub struct Session<'s> {
    /// The machine.
    pub machine: &'static Machine,
    /// The clock that times.
    pub timer: Timer,
    /// The warnings to the reader.
    pub warnings: &'s mut Warnings,
    /// The progress line at the terminal.
    pub progress: &'s mut Progress,
    /// Observations of the conditions during the measurement.
    pub noted: Noted,
}

impl<'s> Session<'s> {
    /// Returns the resources before a measurement.
    pub const fn new(
        machine: &'static Machine,
        timer: Timer,
        warnings: &'s mut Warnings,
        progress: &'s mut Progress,
    ) -> Self {
        Session { machine, timer, warnings, progress, noted: Noted::nothing() }
    }

    /// Returns a stopwatch for points, with hardware counters if they are `wanted`; warns if there are none.
    pub fn stopwatch(&mut self, wanted: bool) -> Stopwatch {
        let Machine { processor, host, .. } = self.machine;
        let meter = wanted.then(|| Meter::open(processor, host.perf_event_paranoid)).transpose();
        let meter = meter.unwrap_or_else(|why| {
            self.warnings.push(Warning::CountersUnavailable { why });
            None
        });
        let mut watch = Stopwatch::new(self.timer, meter);
        watch.times = self.noted.times;
        watch
    }
}

/// The findings of an experiment.
pub struct Findings {
    /// Every point of the plan, measured or not.
    pub outcomes: Table<Outcome>,
    /// The number of the last points, which are of other cores and stand beside the others.
    pub beside: usize,
    /// The single hops of every point, if they were timed.
    pub distributions: Table<Distribution>,
    /// The spans of addresses, by kind of pages and number of pages.
    pub spans: Table<SpanPoint>,
    /// The shares of working sets that a shared cache still holds, by size and by wait.
    pub residency: Table<Residence>,
    /// The findings that only some experiments have.
    pub extra: Extra,
    /// The comparison of both measurements of a point, if one was measured twice in turn.
    pub repeat: Option<Repeat>,
    /// The audit of prefetchers, if it was begun between rounds.
    pub audit: Option<UnderWay>,
    /// True if an interrupt came before the end.
    pub interrupted: bool,
}

impl Findings {
    /// Returns findings without an outcome, with room for `most`.
    ///
    /// # Errors
    ///
    /// The error of mapping a table.
    pub fn new(most: usize) -> Result<Self, Errno> {
        Ok(Findings {
            outcomes: Table::new(most)?,
            beside: 0,
            distributions: Table::new(0)?,
            spans: Table::new(0)?,
            residency: Table::new(0)?,
            extra: Extra::default(),
            repeat: None,
            audit: None,
            interrupted: false,
        })
    }
}
