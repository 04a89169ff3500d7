//! Idle latency from every initiator node to every target node.

use super::interface::Experiment;
use super::writers::{csv, json, pairs, text};
use crate::engine::run;
use crate::engine::session::{Plan, Session};
use crate::error::PlacementError;
use crate::options::{Descriptor, FlagId, FlagSet, Format, Operands};
use crate::plan::budget::Budget;
use crate::plan::{self, Scope};
use crate::result::Point;
use crate::sys::table::Table;

/// The experiment that runs where none is named.
pub const MATRIX: Experiment = Experiment {
    descriptor: Descriptor {
        name: "matrix",
        summary: "idle latency of every initiator node to every target node",
        details:
            "One line a pair: the mean latency of a dependent load, median over rounds, in TSC cycles and \
                  nanoseconds. Then how far remote memory is, which pages were obtained, and how it is known \
                  that the memory was where it had to be.",
        flags: FlagSet::MEASURING.union(FlagSet::of(&[
            FlagId::Size,
            FlagId::Order,
            FlagId::Stride,
            FlagId::Kernel,
            FlagId::Seed,
            FlagId::Heatmap,
        ])),
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Svg],
        operands: Operands::NONE,
    },
    plan,
    budget: Budget::of_pairs,
    measure: run::measure,
    writers: &[
        (Format::Text, text::matrix),
        (Format::Json, json::matrix),
        (Format::Csv, csv::matrix),
        (Format::Svg, pairs::picture),
    ],
};

fn plan<'a>(session: &mut Session<'a, '_>) -> Plan<'a> {
    let scope = Scope::resolve(session.options, session.machine, session.warnings)?;
    pairs(session, &scope)
}

/// A point for every pair of a scope.
pub(super) fn pairs<'a>(session: &mut Session<'a, '_>, scope: &Scope) -> Plan<'a> {
    let mut planned = None::<Table<Point>>;
    let mut count = 0;
    let mut refused = None;
    plan::matrix(session.options, session.machine, scope, session.warnings, |point| {
        if planned.is_none() && refused.is_none() {
            match Table::filled(scope.pairs(), point) {
                Ok(store) => planned = Some(store),
                Err(errno) => refused = Some(errno),
            }
        }
        if let Some(slot) = planned.as_mut().and_then(|points| points.get_mut(count)) {
            *slot = point;
            count += 1;
        }
    })?;
    match (planned, refused) {
        (Some(points), _) if count == scope.pairs() => Ok(points),
        (_, Some(errno)) => Err(errno.into()),
        _ => Err(PlacementError::NothingToMeasure.into()),
    }
}
