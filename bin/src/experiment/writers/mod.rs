//! What was found, written down: a file for each experiment, and what they share. Writers see results and nothing else.

pub mod comparison;
pub mod counters;
pub mod csv;
pub mod curve;
pub mod distribution;
pub mod facts;
pub mod health;
pub mod json;
pub mod lanes;
pub mod order;
pub mod pages;
pub mod pairs;
pub mod parallel;
pub mod plan;
pub mod system;
pub mod text;
pub mod variants;
pub mod window;

use crate::machine::Machine;
use crate::options::Options;
use crate::report::terminal::Terminal;
use crate::result::distribution::Distribution;
use crate::result::{Extra, Health, Outcome, Timer};
use crate::sys::arguments::Arguments;
use crate::warning::Warnings;

/// Everything that a format may show.
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
    /// What has to be known of it.
    pub warnings: &'r Warnings,
    /// The points.
    pub outcomes: &'r [Outcome<'a>],
    /// The single hops of the points, where those were timed.
    pub distributions: &'r [Distribution],
    /// What was found besides them.
    pub extra: &'r Extra,
    /// The arguments of the program, as they were typed.
    pub arguments: Arguments,
    /// What the result is shown on.
    pub terminal: Terminal,
    /// The run was interrupted: what is here is what was finished.
    pub partial: bool,
}
