//! Everything that an experiment measures with, and everything that it finds.

use crate::analysis::curve::Analysis;
use crate::engine::checks::prefetch_audit::UnderWay;
use crate::engine::memory::placement::Placement;
use crate::engine::progress::Progress;
use crate::engine::stopwatch::cpu_time::CpuTimes;
use crate::error::Failure;
use crate::machine::Machine;
use crate::options::Options;
use crate::result::conditions::Clocks;
use crate::result::distribution::Distribution;
use crate::result::{Extra, Outcome, Point, Repeat};
use crate::sys::signal;
use crate::sys::table::Table;
use crate::warning::Warnings;

/// What is noted while points are measured.
#[derive(Debug)]
pub struct Noted {
    /// The core clocks of all rounds.
    pub clocks: Clocks,
    /// Times that the thread was found on another CPU.
    pub moves: u64,
    /// Times that the time-stamp counter was behind an earlier reading.
    pub steps_back: u64,
    /// The CPU time of all threads; `None` where nothing is timed.
    pub times: Option<&'static CpuTimes>,
    /// The memory of the look before the run, which a second measurement may take.
    pub spare: Option<(Point, Placement)>,
}

impl Noted {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Noted {
        Noted { clocks: Clocks::new(), moves: 0, steps_back: 0, times: None, spare: None }
    }
}

/// What an experiment works with.
#[derive(Debug)]
pub struct Session<'a, 's> {
    /// What was asked for.
    pub options: &'a Options<'a>,
    /// Where it runs.
    pub machine: &'a Machine,
    /// What the reader has to know.
    pub warnings: &'s mut Warnings,
    /// What a person at the terminal sees meanwhile.
    pub progress: &'s mut Progress,
    /// What is noted of the conditions meanwhile.
    pub noted: &'s mut Noted,
}

/// What an experiment found.
pub struct Findings<'a> {
    /// Every point of the plan, measured or not.
    pub outcomes: Table<Outcome<'a>>,
    /// The single hops of every point, where those were timed; otherwise nothing.
    pub distributions: Table<Distribution>,
    /// What is concluded from a curve, one; otherwise nothing.
    pub analysis: Table<Analysis>,
    /// What was found besides them.
    pub extra: Extra,
    /// The first point, if it was measured twice in turn.
    pub repeat: Option<Repeat>,
    /// The audit of prefetchers, if it was begun between rounds.
    pub audit: Option<UnderWay>,
    /// An interrupt came before the end.
    pub interrupted: bool,
}

/// Whether the program is asked to stop: an experiment that concludes something at length asks for it.
#[must_use]
pub fn interrupted() -> bool {
    signal::interrupted()
}

/// The points of an experiment, in the order in which they are reported.
pub type Plan<'a> = Result<Table<Point>, Failure<'a>>;
