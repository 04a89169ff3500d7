//! What was found, written down: one file a format. Formats see results and nothing else.

pub mod axis;
pub mod chart;
pub mod comparison;
pub mod counters;
pub mod csv;
pub mod curve;
pub mod distribution;
pub mod figures;
pub mod health;
pub mod heatmap;
pub mod json;
pub mod labels;
pub mod lanes;
pub mod order;
pub mod pages;
pub mod pairs;
pub mod parallel;
pub mod plan;
pub mod plot;
pub mod shade;
pub mod svg;
pub mod system;
pub mod terminal;
pub mod text;
pub mod variants;
pub mod window;

#[cfg(test)]
mod samples;

use crate::distribution::Distribution;
use crate::machine::Machine;
use crate::options::Options;
use crate::result::{ClockFacts, Extra, Health, Outcome};
use crate::warning::Warnings;

/// Everything that a format may show.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r, 'a> {
    /// What was asked for.
    pub options: &'r Options<'a>,
    /// Where it ran.
    pub machine: &'r Machine,
    /// What it was timed with.
    pub clock: &'r ClockFacts,
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
    pub arguments: crate::sys::arguments::Arguments,
    /// What the result is shown on.
    pub terminal: terminal::Terminal,
    /// The run was interrupted: what is here is what was finished.
    pub partial: bool,
}
