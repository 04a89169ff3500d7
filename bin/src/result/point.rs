//! One point of a plan.

use latency_core::chain::Order;
use latency_core::kernel::Kernel;
use latency_core::units::{Bytes, CpuId, LineSize, NodeId, Pages};

use super::walk::Walk;

/// One point of a plan: all parameters of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The node on which the chase runs.
    pub initiator: NodeId,
    /// The CPU of that node on which the chase runs.
    pub cpu: CpuId,
    /// The target node, which has the memory.
    pub target: NodeId,
    /// The chase loop.
    pub kernel: &'static Kernel,
    /// The order of the chain.
    pub order: Order,
    /// The working set.
    pub size: Bytes,
    /// The distance between neighbouring nodes of the chain.
    pub stride: Bytes,
    /// The cache line of the machine.
    pub line: LineSize,
    /// The seed of the chain.
    pub seed: u64,
    /// The pages requested.
    pub pages: Pages,
    /// Its walk.
    pub walk: Walk,
}
