//! The input of every description, in one place.

use latency_core::arch::Cycles;

use crate::analysis::curve::Analysis;
use crate::options::Options;
use latency_engine::budget::Memory;
use latency_engine::machine::{Instead, Machine};
use latency_engine::result::{
    Conditions, Distribution, Extra, Health, Outcome, Residence, RoundSeries, SpanPoint, Timer,
    lack_core_clock,
};
use latency_engine::warning::Warnings;
use latency_engine::words::words;
use latency_sys::arguments::Arguments;

/// The findings of a run and its circumstances: the input of every description.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// The options.
    pub options: &'r Options,
    /// The machine.
    pub machine: &'r Machine,
    /// The clock.
    pub clock: &'r Timer,
    /// The results of the tool's checks of itself.
    pub health: &'r Health,
    /// Other work during the run; `None` if nothing was timed.
    pub conditions: Option<&'r Conditions>,
    /// The warnings.
    pub warnings: &'r Warnings,
    /// The points.
    pub outcomes: &'r [Outcome],
    /// The points, and behind them those of other cores of the same nodes.
    pub all: &'r [Outcome],
    /// The single loads of the points, if they were timed.
    pub distributions: &'r [Distribution],
    /// The spans of addresses, by kind of pages and number of pages.
    pub spans: &'r [SpanPoint],
    /// The shares of working sets that a shared cache still holds, by size and by wait.
    pub residency: &'r [Residence],
    /// The levels of a curve.
    pub analysis: Option<&'r Analysis>,
    /// Findings of single experiments that are not points.
    pub extra: &'r Extra,
    /// The memory that several nodes walk; `None` if each memory is walked from one node.
    pub regions: Option<Memory>,
    /// The arguments of the program, as they were typed.
    pub arguments: Arguments,
    /// True if the run was interrupted, so that only the finished parts are present.
    pub partial: bool,
    /// Start of the run, in seconds since 1970, UTC.
    pub started: u64,
    /// The duration of the run, in seconds.
    pub seconds: f64,
}

impl Report<'_> {
    /// Returns the clock of the cycles in this report: that of the counter where a core's clock is unknown.
    pub fn cycles_are(&self) -> Cycles {
        match words().cycles_are {
            Cycles::Core if !lack_core_clock(self.outcomes) => Cycles::Core,
            _ => Cycles::Counter,
        }
    }

    /// Returns a time of a point in cycles; `None` if their clock is unknown. The typical time itself is measured in
    /// core cycles; other times are converted by the point's clock.
    pub fn cycles(&self, series: &RoundSeries, nanoseconds: f64) -> Option<f64> {
        match self.cycles_are() {
            Cycles::Counter => self.clock.ticks(nanoseconds),
            Cycles::Core => match series.core_cycles {
                Some(cycles) if nanoseconds == series.nanoseconds.median => Some(cycles.median),
                _ => series.core_gigahertz.map(|clock| nanoseconds * clock.median),
            },
        }
    }

    /// Returns the busy CPUs that were replaced by the idle ones that measured.
    pub fn busy_cpus(&self) -> impl Iterator<Item = &'static Instead> + '_ {
        let measured = |cpu| self.outcomes.iter().any(|outcome| outcome.point.cpu == cpu);
        let chosen = self.machine.instead.iter().filter(|_| self.options.runs_on_one_cpu());
        chosen.filter(move |instead| measured(instead.cpu))
    }
}
