//! The walk of a point: one chain, several side by side, a chain beside traffic, or the traffic itself; and the reach
//! that walks of two chains showed. Plain data.

use core::fmt;

use latency_core::cores::{Method, State, Walk as Access};
use latency_core::kernel::lanes::{Filler, Gap, LaneKernel};
use latency_core::topology::Shared;
use latency_core::traffic::Kind;
use latency_core::units::{Bytes, CpuId, NodeId};
use latency_core::words::Worded;

/// The chains that are walked at a time.
#[derive(Clone, Copy, Debug, Default)]
pub enum Walk {
    /// One chain of dependent loads, by the point's kernel: what it takes is a latency.
    #[default]
    Chain,
    /// Lanes side by side: what it takes is the inverse of a throughput.
    Lanes(&'static LaneKernel),
    /// Two lanes with fillers between their loads.
    Apart(Gap),
    /// No chain: the lines of generators. What it takes is the time for each line of all of them together.
    Traffic(Traffic),
    /// One chain of dependent loads beside the traffic of generators on other CPUs.
    Loaded(Traffic),
    /// No chain: lines that go to another CPU and back. What it takes is half of that.
    PingPong(PingPong),
    /// One chain of lines that a core has in a known state: what it takes is a latency.
    Owned(Owned),
}

/// Lines between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong {
    /// The CPU that answers.
    pub partner: CpuId,
    /// The hardware that it shares with the first.
    pub class: Shared,
    /// The way in which each tells that it is the other's turn.
    pub method: Method,
    /// The number of lines.
    pub lines: u32,
    /// The nodes that they are on, in turn; the first is the point's target.
    pub homes: [NodeId; 2],
}

impl PingPong {
    /// Returns the node of a line, and its place there.
    #[must_use]
    pub fn home(&self, line: u32) -> (NodeId, u32) {
        let [first, second] = self.homes;
        match first == second {
            true => (first, line),
            false if line.is_multiple_of(2) => (first, line / 2),
            false => (second, line / 2),
        }
    }
}

/// Lines in a known state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The CPU that has them, and what it shares with the point's; `None` where that is the point's own.
    pub owner: Option<(CpuId, Shared)>,
    /// A CPU of a third core, that shares them.
    pub third: Option<CpuId>,
    /// Their state.
    pub state: State,
    /// The access to them.
    pub access: Access,
    /// The nearest cache of the owner that has room for all.
    pub level: LineLevel,
}

/// The place of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLevel {
    /// In the first-level cache.
    L1,
    /// In the second.
    L2,
    /// In the third.
    L3,
    /// In no cache.
    Memory,
}

impl LineLevel {
    /// All of them, the nearest first.
    pub const ALL: [LineLevel; 4] = [LineLevel::L1, LineLevel::L2, LineLevel::L3, LineLevel::Memory];

    /// Returns the word for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LineLevel::L1 => "L1",
            LineLevel::L2 => "L2",
            LineLevel::L3 => "L3",
            LineLevel::Memory => "memory",
        }
    }
}

/// The work of generators.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// The kind of their traffic.
    pub kind: &'static Kind,
    /// Their number.
    pub generators: u32,
    /// The node whose CPUs they run on.
    pub from: NodeId,
    /// The node of their memory.
    pub node: NodeId,
    /// The memory of all of them together.
    pub footprint: Bytes,
    /// The rate of all of them together in bytes per second; `None` for as much as they can.
    pub rate: Option<f64>,
}

impl Walk {
    /// Returns the traffic that is measured or measured beside, if there is any.
    #[must_use]
    pub const fn traffic(&self) -> Option<&Traffic> {
        match self {
            Walk::Traffic(traffic) | Walk::Loaded(traffic) => Some(traffic),
            Walk::Chain | Walk::Lanes(_) | Walk::Apart(_) | Walk::PingPong(_) | Walk::Owned(_) => None,
        }
    }

    /// Returns whether it is by threads of several CPUs that take turns, or could be: lines that they share.
    #[must_use]
    pub const fn is_of_cores(&self) -> bool {
        matches!(self, Walk::PingPong(_) | Walk::Owned(_))
    }

    /// Returns the CPUs beside the point's own.
    #[must_use]
    pub fn partners(&self) -> [Option<CpuId>; 2] {
        match self {
            Walk::PingPong(pair) => [Some(pair.partner), None],
            Walk::Owned(owned) => [owned.owner.map(|(owner, _)| owner), owned.third],
            _ => [None, None],
        }
    }

    /// Returns the lines in a known state, if they are walked over.
    #[must_use]
    pub const fn owned(&self) -> Option<&Owned> {
        match self {
            Walk::Owned(owned) => Some(owned),
            _ => None,
        }
    }

    /// Returns the two CPUs, if lines go between any.
    #[must_use]
    pub const fn ping_pong(&self) -> Option<&PingPong> {
        match self {
            Walk::PingPong(pair) => Some(pair),
            _ => None,
        }
    }

    /// Returns the chains walked side by side.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        match self {
            Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => 1,
            Walk::Lanes(kernel) => kernel.lanes,
            Walk::Apart(_) => Gap::LANES,
        }
    }
}

/// The words for a walk in the conditions of a point, without the number of chains: the work between loads, and others.
impl fmt::Display for Walk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Walk::Chain => return Ok(()),
            Walk::Traffic(Traffic { kind, generators, .. })
            | Walk::Loaded(Traffic { kind, generators, .. }) => {
                return write!(out, ", {} by {generators}", kind.name);
            }
            Walk::PingPong(PingPong { partner, method, .. }) => {
                return write!(out, ", {} with CPU {partner}", method.word());
            }
            Walk::Owned(Owned { state, level, .. }) => {
                return write!(out, ", {} in {}", state.name(), level.name());
            }
            Walk::Lanes(kernel) if kernel.work == 0 => {}
            Walk::Lanes(kernel) => write!(out, ", work {}", kernel.work)?,
            Walk::Apart(gap) => write!(out, ", {} {}", gap.fillers(), gap.filler().name())?,
        }
        match self {
            Walk::Lanes(kernel) if kernel.prefetch => out.write_str(", prefetch"),
            _ => Ok(()),
        }
    }
}

/// The number of fillers that the processor reaches over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Their kind.
    pub filler: Filler,
    /// Number of fillers with which two loads still overlap.
    pub overlaps: usize,
    /// Number with which they no longer do; `None` where they always did.
    pub alone: Option<usize>,
}
