//! The inputs of every planner, and the receiver of its points.

use crate::error::Failure;
use crate::machine::Machine;
use crate::options::Options;
use crate::result::Point;
use crate::sys::table::Table;
use crate::warning::Warnings;

/// The inputs of a plan.
pub struct Planning<'p, 'a> {
    /// The options.
    pub options: &'p Options<'a>,
    /// The machine.
    pub machine: &'a Machine,
    /// The warnings about points that are made smaller or left out.
    pub warnings: &'p mut Warnings,
}

/// A function that receives points, one after another.
pub type EachPoint<'e> = &'e mut dyn FnMut(Point);

/// The points of an experiment, in the order in which they are reported.
pub type Plan<'a> = Result<Table<Point>, Failure<'a>>;
