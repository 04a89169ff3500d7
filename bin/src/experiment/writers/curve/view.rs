//! Everything that the formats of a curve show.

use crate::analysis::curve::Analysis;
use crate::result::sample::Sample;

/// What the formats of a curve show, measured here or read from a file.
#[derive(Clone, Copy, Debug)]
pub struct View<'v> {
    /// What is above the picture.
    pub title: &'v str,
    /// The conditions.
    pub subtitle: &'v str,
    /// The points that were fitted, by ascending size.
    pub samples: &'v [Sample],
    /// What was concluded of them.
    pub analysis: &'v Analysis,
    /// Accesses per second in place of latencies.
    pub reciprocal: bool,
}
