//! Findings that are not points, from the experiments that seek them.

use latency_core::kernel::lanes::Filler;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::stats::Interval;

use super::spans::{KINDS, SpanSeries};
use super::walk::Reach;
use crate::warning::NoCounters;

/// Findings that are not points, from the experiments that seek them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// The edge of the first-level cache, or the reason why there is none; `None` if it was not sought.
    pub edge: Option<Result<Edge, EdgeError>>,
    /// The reach of the processor over each kind of filler; `None` if it was not sought.
    pub reach: [Option<Reach>; Filler::ALL.len()],
    /// Loads of the same lines as the walks in several orders, but without a chain; `None` without a counter, or
    /// without these loads.
    pub strided: Option<Strided>,
    /// The reason why there are no hardware counters, if they were sought.
    pub no_counters: Option<NoCounters>,
    /// The spans of addresses of each kind of pages, if they were measured.
    pub spans: [Option<SpanSeries>; KINDS],
}

/// Independent loads in address order: the inverse of throughput.
#[derive(Clone, Copy, Debug)]
pub struct Strided {
    /// Nanoseconds per load, over a whole pass.
    pub nanoseconds: f64,
    /// The interval of the nanoseconds over rounds; `None` with too few rounds.
    pub interval: Option<Interval>,
    /// Core cycles per load; `None` without a counter.
    pub core_cycles: Option<f64>,
    /// The number of rounds that the medians are of.
    pub rounds: usize,
}
