//! Everything that an experiment may describe, in one place.

use crate::analysis::curve::Analysis;
use crate::machine::{Instead, Machine};
use crate::options::Options;
use crate::plan::budget::Memory;
use crate::report::terminal::Terminal;
use crate::result::conditions::Conditions;
use crate::result::distribution::Distribution;
use crate::result::{Extra, Health, Outcome, Timer};
use crate::sys::arguments::Arguments;
use crate::warning::Warnings;

/// What was found, and under which circumstances: everything that an experiment may describe.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r, 'a> {
    /// What was asked for.
    pub options: &'r Options<'a>,
    /// Where it ran.
    pub machine: &'r Machine,
    /// What it was timed with.
    pub clock: &'r Timer,
    /// How the tool itself fared.
    pub health: &'r Health,
    /// What else happened meanwhile; `None` where nothing was timed.
    pub conditions: Option<&'r Conditions>,
    /// What has to be known of it.
    pub warnings: &'r Warnings,
    /// The points.
    pub outcomes: &'r [Outcome<'a>],
    /// The single loads of the points, where those were timed.
    pub distributions: &'r [Distribution],
    /// What is concluded from them, where they are a curve.
    pub analysis: Option<&'r Analysis>,
    /// What was found besides them.
    pub extra: &'r Extra,
    /// The memory that several nodes walk; `None` where each memory is walked from one node.
    pub regions: Option<Memory>,
    /// The arguments of the program, as they were typed.
    pub arguments: Arguments,
    /// What the result is shown on.
    pub terminal: Terminal,
    /// The run was interrupted: what is here is what was finished.
    pub partial: bool,
    /// When the run began, in seconds since 1970, UTC.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl Report<'_, '_> {
    /// Returns the busy CPUs for which idle ones measured.
    pub fn busy_cpus(&self) -> impl Iterator<Item = &'static Instead> + '_ {
        let measured = |cpu| self.outcomes.iter().any(|outcome| outcome.point.cpu == cpu);
        let chosen = self.machine.instead.iter().filter(|_| self.options.runs_on_one_cpu());
        chosen.filter(move |instead| measured(instead.cpu))
    }
}
