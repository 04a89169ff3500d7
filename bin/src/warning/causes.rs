//! The causes that warnings name, and their words.

use latency_core::host::Bound;
use latency_core::text::Text;

/// A word that was read from a system file: the longest frequency governors and hypervisor signatures have fifteen
/// bytes.
pub type ShortText = Text<15>;

/// The limit that made a working set smaller than the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipped {
    /// Half of the free memory of the node.
    HalfOfFree,
    /// The memory that the control group or another limit has left.
    By(Bound),
}

impl Clipped {
    /// Returns the words for the memory that there is, and the way to more.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Clipped::HalfOfFree => ("available on the node", "free memory there"),
            Clipped::By(by) => by.words(),
        }
    }
}

/// The reason why there are no hardware counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCounters {
    /// kernel.perf_event_paranoid forbids them.
    Paranoid,
    /// The system-call filter of the container refuses perf_event_open.
    Filtered,
    /// The processor or the hypervisor offers none.
    Absent,
}

/// Other work that was seen on the core of a failed self-test or of a slowed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// None was seen.
    Unknown,
    /// Other tasks ran on the CPU.
    OtherWork,
    /// The SMT sibling was busy.
    BusySibling,
}

impl Beside {
    /// Returns the cause that was seen, for the end of a sentence; nothing if there was none.
    pub(super) const fn seen(self) -> &'static str {
        match self {
            Beside::Unknown => "",
            Beside::OtherWork => " (other processes used this CPU)",
            Beside::BusySibling => " (its SMT sibling was busy)",
        }
    }

    /// Returns the remedy for the cause.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            Beside::Unknown => "rerun; if it recurs, compare another core (--cpu=N)",
            Beside::OtherWork => "stop other processes, then rerun",
            Beside::BusySibling => "keep the SMT sibling idle, then rerun",
        }
    }
}
