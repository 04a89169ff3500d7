//! Traffic by several generators: this thread and others, or others alone.
//!
//! Their memory is placed and verified before a thread starts. A `generator` executes its task and counts its lines;
//! `driver` chooses, commands and counts all of them, and reads the clock of the uncore; `stream` times their
//! traffic.

mod driver;
mod generator;
mod stream;

use latency_core::{CpuId, CpuSet};

pub use driver::{GeneratorStyle, Generators};
pub use generator::{Generator, SharedByGenerators, dismiss, work};
pub use stream::TrafficWalk;

/// Returns the CPU of one of several generators. Generators are spread over all CPUs, because neighbours share a cache
/// and a path to memory.
pub fn spread(cpus: &CpuSet, index: usize, count: usize) -> Option<CpuId> {
    cpus.iter().nth(index * cpus.len() / count.max(1)).map(CpuId)
}
