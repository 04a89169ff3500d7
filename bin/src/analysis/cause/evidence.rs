//! The evidence for a cause: facts that moved between two sides, and facts that stayed the same.
//!
//! A fact moved only if its interval excludes no change, and stayed the same only if its whole interval is near no
//! change. Everything between is neither, and no cause is named from it.

use latency_core::math::ToReal;
use latency_core::stats::{Estimate, Interval};

use super::facts::{Fact, SavedFacts};
use crate::analysis::comparison::PointPair;
use crate::record::columns::EXPERIMENT;

/// The experiment whose points are pairs of nodes.
const MATRIX: &str = "matrix";

/// The facts of two sides.
#[derive(Clone, Copy)]
pub struct CauseEvidence {
    /// The facts of both sides.
    pub sides: [SavedFacts; 2],
    /// The factors of accesses within a node and between nodes.
    pub matrix: [Option<Estimate>; 2],
    /// The smaller number of files of the sides.
    pub runs: usize,
    /// True if others may use the same memory: a virtual machine, or a run with disturbances.
    pub is_shared: bool,
}

impl CauseEvidence {
    /// Returns the factor from the first side to the second, with its interval; `None` if a side does not know the fact.
    pub fn change(&self, fact: Fact) -> Option<Estimate> {
        let [one, other] = &self.sides;
        match fact {
            Fact::Local => self.matrix[0],
            Fact::Remote => self.matrix[1],
            fact => other.get(fact)?.over(one.get(fact)?),
        }
    }

    /// Returns whether neither side knows a fact.
    pub fn is_unknown(&self, fact: Fact) -> bool {
        self.change(fact).is_none() && self.sides.iter().all(|side| side.get(fact).is_none())
    }
}

/// Returns the mean factor of all accesses of a matrix, within a node if `local` is true, between nodes if not, with the
/// interval that contains the intervals of all. The points of a report name their experiment.
pub fn of_matrix(pairs: &[PointPair], experiment: &str, local: bool) -> Option<Estimate> {
    let (mut sum, mut count) = (0.0, 0_usize);
    let mut ends = Interval { low: f64::INFINITY, high: 0.0 };
    for pair in pairs {
        let row = &pair.row;
        let is_of = row.is_word(EXPERIMENT, MATRIX) || !row.tells(EXPERIMENT) && experiment == MATRIX;
        if is_of && row.pair().is_some_and(|(from, to)| (from == to) == local) {
            sum += pair.ratio();
            count += 1;
            ends = Interval { low: ends.low.min(pair.interval.low), high: ends.high.max(pair.interval.high) };
        }
    }
    (count > 0).then(|| Estimate { value: sum / count.real(), interval: Some(ends) })
}
