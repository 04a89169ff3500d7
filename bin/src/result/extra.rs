//! Findings that are not points, of the experiments that look for them.

use latency_core::kernel::lanes::Filler;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::stats::Interval;

use super::walk::Reach;

/// Findings that are not points, of the experiments that look for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// The edge of the first-level cache, or why there is none; `None` if it was not looked for.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// The reach of the processor over each kind of filler; `None` if it was not looked for.
    pub reach: [Option<Reach>; Filler::ALL.len()],
    /// Loads of the lines of several orders without a chain; `None` without a counter, or if there were none.
    pub strided: Option<Strided>,
}

/// Independent loads in address order: the inverse of throughput.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// For each load, over a whole pass.
    pub nanoseconds: f64,
    /// Its interval over the rounds; `None` with too few of them.
    pub interval: Option<Interval>,
    /// The same in core cycles; `None` without a counter.
    pub core_cycles: Option<f64>,
    /// The rounds whose median this is.
    pub rounds: usize,
}
