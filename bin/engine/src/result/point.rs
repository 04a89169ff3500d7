//! One point of a plan, its chain, and its walk: one chain, several chains side by side, a chain with concurrent
//! traffic, or the traffic itself; the reach that walks of two chains showed; and the words for orders and pages. Plain
//! data.

use core::fmt::{self, Display};

use latency_core::chain::{Chain, Order};
use latency_core::cores::{Method, State, Walk as Access};
use latency_core::kernel::Kernel;
use latency_core::kernel::lanes::{Filler, Gap, LaneKernel};
use latency_core::topology::Shared;
use latency_core::traffic::{Kind, pace};
use latency_core::{Bytes, CpuId, LineSize, NodeId, Pages, ToReal, Worded, math};

use super::Counter;
use crate::error::Attempt;

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

/// The chains or lines that are walked at a time.
#[derive(Clone, Copy, Debug, Default)]
pub enum Walk {
    /// One chain of dependent loads, by the point's kernel: the time per hop is a latency.
    #[default]
    Chain,
    /// Lanes side by side: the time per load is the inverse of a throughput.
    Lanes(&'static LaneKernel),
    /// Two lanes with fillers between their loads.
    Apart(Gap),
    /// Traffic of generators without a chain. The value is the time per line of all generators together.
    Traffic(Traffic),
    /// One chain of dependent loads during the traffic of generators on other CPUs.
    Loaded(Traffic),
    /// Lines that go to another CPU and back, without a chain. The value is half of the round trip.
    PingPong(PingPong),
    /// One chain of lines that a core has in a known state: the time per hop is a latency.
    Owned(Owned),
}

/// An exchange of lines between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong {
    /// The CPU that responds.
    pub partner: CpuId,
    /// The hardware that it shares with the initiating CPU.
    pub class: Shared,
    /// The method by which each CPU signals that it is the other's turn.
    pub method: Method,
    /// The number of lines.
    pub lines: u32,
    /// The nodes of the lines, in turn; the first is the point's target.
    pub homes: [NodeId; 2],
}

impl PingPong {
    /// Returns the node of a line, and its index there.
    pub fn home(&self, line: u32) -> (NodeId, u32) {
        let [first, second] = self.homes;
        match first == second {
            true => (first, line),
            false if line.is_multiple_of(2) => (first, line / 2),
            false => (second, line / 2),
        }
    }
}

/// A walk over lines in a known state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The CPU that owns the lines, and the hardware that it shares with the point's CPU; `None` if the point's own CPU
    /// owns them.
    pub owner: Option<(CpuId, Shared)>,
    /// A CPU of a third core that shares the lines.
    pub third: Option<CpuId>,
    /// The state of the lines.
    pub state: State,
    /// The access to the lines.
    pub access: Access,
    /// The nearest cache of the owner that has room for all lines.
    pub level: LineLevel,
}

/// The level of the hierarchy that contains the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLevel {
    /// The first-level cache.
    L1,
    /// The second-level cache.
    L2,
    /// The third-level cache.
    L3,
    /// No cache.
    Memory,
}

impl LineLevel {
    /// All levels, nearest first.
    pub const ALL: [LineLevel; 4] = [LineLevel::L1, LineLevel::L2, LineLevel::L3, LineLevel::Memory];

    /// Returns the word for reports.
    pub const fn name(self) -> &'static str {
        match self {
            LineLevel::L1 => "L1",
            LineLevel::L2 => "L2",
            LineLevel::L3 => "L3",
            LineLevel::Memory => "memory",
        }
    }
}

/// The subject of a measurement of bandwidth: what its generators have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrafficSubject {
    /// The CPUs of a node, or those that the user gave, and memory.
    #[default]
    Node,
    /// This CPU, and memory.
    Cpu(CpuId),
    /// The CPUs that share the last-level cache of this CPU, and memory.
    LastLevelCache(CpuId),
    /// A working set of this size for each generator, which a cache may hold.
    WorkingSet(Bytes),
}

/// The work of generators.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// The kind of traffic.
    pub kind: &'static Kind,
    /// The number of generators.
    pub generators: u32,
    /// The subject of the measurement.
    pub subject: TrafficSubject,
    /// The node with the generators' CPUs.
    pub from: NodeId,
    /// The node of the generators' memory.
    pub node: NodeId,
    /// The memory of all generators together.
    pub footprint: Bytes,
    /// The cache line of the machine.
    pub line: LineSize,
    /// The rate of all generators together in bytes per second; `None` without pacing.
    pub rate: Option<f64>,
}

impl Traffic {
    /// Returns the number of lines of 64 bytes that one step of a generator moves.
    pub const fn lines_per_step(&self) -> u64 {
        self.kind.lines_per_step(self.line)
    }

    /// Returns the ticks from step to step of each generator at a total rate, and the number of lines in a burst. That
    /// number is `asked`, or else the smallest with which reading the counter, and fences, take a quarter of the time, and
    /// with which gaps span some steps of a coarse counter.
    pub fn bursts(&self, counter: &Counter, rate: f64, asked: Option<u32>) -> (f64, u32) {
        /// Time of a fence, which waits for stores to leave the core, in nanoseconds: 90 to 140 ns on Zen 3.
        const FENCE_NS: f64 = 120.0;
        /// Minimum mean gap between bursts, in steps of a coarse counter: in shorter gaps, most bursts would be due in the
        /// same step as the one before.
        const GAP_STEPS: u32 = 4;
        let frequency = counter.frequency.0.real();
        let bytes_per_step = self.kind.bytes_per_line() * self.lines_per_step().real();
        let ticks = frequency * bytes_per_step * f64::from(self.generators) / rate;
        let fence = if self.kind.is_fenced() { FENCE_NS * 1e-9 * frequency } else { 0.0 };
        let least = counter.ticks_at_least(GAP_STEPS);
        let cost = counter.overhead.0 + math::whole(fence);
        let burst = asked.unwrap_or_else(|| pace::burst(pace::gap(ticks), cost, least));
        (ticks, burst)
    }
}

impl Walk {
    /// Returns the traffic of the walk, measured itself or concurrent with a chain, if there is any.
    pub const fn traffic(&self) -> Option<&Traffic> {
        match self {
            Walk::Traffic(traffic) | Walk::Loaded(traffic) => Some(traffic),
            Walk::Chain | Walk::Lanes(_) | Walk::Apart(_) | Walk::PingPong(_) | Walk::Owned(_) => None,
        }
    }

    /// Returns the number of generators that are not on the CPU of the point.
    pub fn other_generators(&self) -> u32 {
        let generators = self.traffic().map_or(0, |traffic| traffic.generators);
        generators.saturating_sub(u32::from(matches!(self, Walk::Traffic(_))))
    }

    /// Returns whether the walk is over lines that threads of several CPUs share, and so can need threads that take
    /// turns.
    pub const fn is_of_cores(&self) -> bool {
        matches!(self, Walk::PingPong(_) | Walk::Owned(_))
    }

    /// Returns the CPUs other than the point's own.
    pub fn partners(&self) -> [Option<CpuId>; 2] {
        match self {
            Walk::PingPong(pair) => [Some(pair.partner), None],
            Walk::Owned(owned) => [owned.owner.map(|(owner, _)| owner), owned.third],
            _ => [None, None],
        }
    }

    /// Returns the walk over lines in a known state, if it is one.
    pub const fn owned(&self) -> Option<&Owned> {
        match self {
            Walk::Owned(owned) => Some(owned),
            _ => None,
        }
    }

    /// Returns the exchange of lines between two CPUs, if it is one.
    pub const fn ping_pong(&self) -> Option<&PingPong> {
        match self {
            Walk::PingPong(pair) => Some(pair),
            _ => None,
        }
    }

    /// Returns the number of chains walked side by side.
    pub const fn lanes(&self) -> usize {
        match self {
            Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => 1,
            Walk::Lanes(kernel) => kernel.lanes(),
            Walk::Apart(_) => Gap::LANES,
        }
    }
}

/// The words for a walk in the conditions of a point, without the number of chains: the work between loads, and the
/// like.
impl fmt::Display for Walk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Walk::Chain => Ok(()),
            Walk::Traffic(Traffic { kind, generators, .. })
            | Walk::Loaded(Traffic { kind, generators, .. }) => {
                write!(out, ", {} by {generators}", kind.name)
            }
            Walk::PingPong(PingPong { partner, method, .. }) => {
                write!(out, ", {} with CPU {partner}", method.word())
            }
            Walk::Owned(Owned { state, level, .. }) => {
                write!(out, ", {} in {}", state.word(), level.name())
            }
            Walk::Apart(gap) => write!(out, ", {} {}", gap.fillers(), gap.filler().word()),
            Walk::Lanes(kernel) => {
                if kernel.work() > 0 {
                    write!(out, ", work {}", kernel.work())?;
                }
                out.write_str(if kernel.prefetch { ", prefetch" } else { "" })
            }
        }
    }
}

/// The number of fillers that the processor reaches over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The kind of the fillers.
    pub filler: Filler,
    /// The number of fillers at which two loads still overlap.
    pub overlaps: usize,
    /// The number of fillers at which they no longer overlap; `None` if they always did.
    pub alone: Option<usize>,
}

/// Returns the chain of a point.
///
/// # Errors
///
/// [`MeasureError::NoSuchChain`](crate::error::MeasureError::NoSuchChain).
pub fn chain(point: &Point) -> Attempt<Chain> {
    let Point { order, size, stride, line, seed, .. } = *point;
    Chain::with_line(order, size, (stride, line), seed).map_err(|_| (size, stride).into())
}

/// The larger one of the two regions within which a local order visits lines; the smaller one is a base page.
pub const REGION: Bytes = Bytes(2 << 20);

/// The name of an order, as in the command-line option.
pub struct OrderName(pub Order);

impl Display for OrderName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Order::Random => out.write_str("random"),
            Order::Local(REGION) => out.write_str("2m-local"),
            Order::Local(_) => out.write_str("page-local"),
            Order::Grouped { visits, .. } => write!(out, "grouped-{visits}"),
            Order::Sequential => out.write_str("sequential"),
            Order::Backward => out.write_str("backward"),
        }
    }
}

/// The words for an order, for people: `random order`, `grouped order, 4 visits`.
pub struct OrderWords(pub Order);

impl Display for OrderWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Order::Grouped { visits: 1, .. } => out.write_str("grouped order, 1 visit"),
            Order::Grouped { visits, .. } => write!(out, "grouped order, {visits} visits"),
            order => write!(out, "{} order", OrderName(order)),
        }
    }
}

/// The size of pages for people: `2 MiB`, `transparent 2 MiB`; `auto` for pages that are not chosen yet.
pub struct PageKind(pub Pages);

impl Display for PageKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.are_transparent() {
            out.write_str("transparent ")?;
        }
        match self.0.size() {
            Some(size) => size.fmt(out),
            None => out.write_str("auto"),
        }
    }
}

/// The words for pages, for people: `2 MiB pages`.
pub struct PageWords(pub Pages);

impl Display for PageWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} pages", PageKind(self.0))
    }
}
