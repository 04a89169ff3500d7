//! The matrix of node pairs as a picture: a heat map in the terminal and as SVG.

use core::fmt::{self, Write};

use latency_core::text::Text;
use latency_core::topology::MAX_NODES;
use latency_core::units::NodeId;

use super::Report;
use crate::error::PlacementError;
use crate::options::Choice;
use crate::report::chart::Matrix;
use crate::report::{heatmap, svg};
use crate::result::words::OrderName;
use crate::result::{Exclusion, Outcome};

/// Draws the heat map in the terminal.
///
/// # Errors
///
/// Those of `out`.
pub fn terminal(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut drawn = Ok(());
    show(report, |matrix| drawn = heatmap::write(out, matrix, report.terminal));
    drawn
}

/// Writes the heat map as SVG.
///
/// # Errors
///
/// Those of `out`.
pub fn picture(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut drawn = Ok(());
    show(report, |matrix| drawn = svg::write_heatmap(out, matrix));
    drawn
}

fn show(report: &Report<'_, '_>, draw: impl FnOnce(&Matrix<'_>)) {
    let (mut rows, mut columns) = (Nodes::default(), Nodes::default());
    for outcome in report.outcomes {
        rows.add(outcome.point.initiator);
        columns.add(outcome.point.target);
    }
    let cell = |row, column| {
        let found = report
            .outcomes
            .iter()
            .find(|outcome| (outcome.point.initiator, outcome.point.target) == (row, column));
        found.map_or(Err("not asked for"), value)
    };
    let mut subtitle = Text::<160>::EMPTY;
    if let Some(Outcome { point, .. }) = report.outcomes.first() {
        // What does not fit is left out.
        let _ = write!(
            subtitle,
            "{}, {} order, {} apart, pages asked {}, seed {}",
            point.size,
            OrderName(point.order),
            point.stride,
            point.pages.word(),
            point.seed
        );
    }
    draw(&Matrix {
        title: "Idle latency of node pairs",
        subtitle: subtitle.as_str(),
        unit: "ns",
        rows: rows.as_slice(),
        columns: columns.as_slice(),
        cell: &cell,
    });
}

fn value(outcome: &Outcome<'_>) -> Result<f64, &'static str> {
    match &outcome.result {
        Ok(measured) => Ok(measured.series.nanoseconds.median),
        Err(Exclusion::Interrupted) => Err("interrupted before it was measured"),
        Err(Exclusion::Placement(PlacementError::NotReachable { .. })) => {
            Err("not measurable here: memory policies are forbidden")
        }
        Err(Exclusion::Placement(PlacementError::MovedDuringRun { .. })) => {
            Err("pages moved while they were measured")
        }
        Err(Exclusion::Placement(_)) => Err("memory not obtained, or not proven to be there"),
    }
}

/// Nodes in the order in which they come up.
#[derive(Clone, Copy)]
struct Nodes {
    nodes: [NodeId; MAX_NODES],
    count: usize,
}

impl Default for Nodes {
    fn default() -> Self {
        Nodes { nodes: [NodeId(0); MAX_NODES], count: 0 }
    }
}

impl Nodes {
    fn add(&mut self, node: NodeId) {
        if self.as_slice().contains(&node) {
            return;
        }
        if let Some(slot) = self.nodes.get_mut(self.count) {
            *slot = node;
            self.count += 1;
        }
    }

    fn as_slice(&self) -> &[NodeId] {
        self.nodes.get(..self.count).unwrap_or_default()
    }
}
