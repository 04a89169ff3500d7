//! The parts of an entry in the table of warnings: severity, subject, the causes that warnings name, and the numbers in
//! their texts.

use core::fmt;

use latency_core::host::Bound;
use latency_core::{Bytes, CpuId, NodeId, Text, messages, worded};

worded! {
    /// The effect of a warning on trust, mildest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Severity {
        /// A fact that does not lower the trust in the result.
        Note = "note",
        /// The result is correct within its interval, but less precise, clean or complete than was requested.
        Fair = "fair",
        /// There is evidence that the value is wrong or not verified.
        Poor = "poor",
    }
}

/// The subject of a warning. Two warnings with the same code and the same subject are duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// The whole run.
    Run,
    /// One node.
    Node(NodeId),
    /// One CPU.
    Cpu(CpuId),
    /// One size: of a working set or of a page.
    Size(Bytes),
    /// The cache of one level.
    Level(u32),
    /// One point. The text of the warning begins with it.
    Point(NodeId, NodeId, Bytes),
    /// One kind of traffic between two nodes.
    Traffic(NodeId, NodeId, &'static str),
}

/// A warning without its texts.
pub struct Facts {
    /// The word for programs.
    pub code: &'static str,
    /// The effect on trust.
    pub severity: Severity,
    /// The subject.
    pub about: About,
    /// The measured value or its distance from the expected one, if warnings with this code can be ranked by it.
    pub measure: Option<f64>,
}

/// The parts of a warning.
pub struct Entry<'a> {
    /// Everything but the texts.
    pub facts: Facts,
    /// The fact, short enough for the line with the verdict.
    pub reason: fmt::Arguments<'a>,
    /// The rest of the sentence that begins with the fact.
    pub rest: fmt::Arguments<'a>,
    /// An option or a command. A command that needs root begins with "as root".
    pub remedy: fmt::Arguments<'a>,
}

/// Writes the point at the start of its warnings; nothing for other subjects, which the sentence names.
impl fmt::Display for About {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            About::Point(from, to, size) => write!(out, "node {from} -> node {to}, {size}: "),
            _ => Ok(()),
        }
    }
}

/// Returns the distance of a ratio from one, in percent.
pub fn percent_off(ratio: f64) -> f64 {
    (ratio * 100.0 - 100.0).abs()
}

/// Returns a share in percent, with one decimal below ten.
pub fn percent(share: f64) -> impl fmt::Display {
    fmt::from_fn(move |out| write!(out, "{:.*}", usize::from(share < 0.0995), share * 100.0))
}

/// Returns a size as `--size` accepts it, rounded up to a whole number of units: `1K`, `800M`.
pub fn size_option(Bytes(bytes): Bytes) -> impl fmt::Display {
    let units = [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')];
    // From ten units on, rounding up adds a tenth or less.
    let fits = move |shift: u32| bytes >> shift >= 10 || bytes > 0 && bytes.is_multiple_of(1 << shift);
    fmt::from_fn(move |out| match units.iter().find(|(shift, _)| fits(*shift)) {
        Some((shift, letter)) => write!(out, "{}{letter}", bytes.div_ceil(1 << shift)),
        None => write!(out, "{bytes}"),
    })
}

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
    /// The processor offers none.
    Absent,
    /// The hypervisor offers none.
    Hidden,
}

/// The cause of scatter, or of a failed check, that was seen on the CPUs of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeenCause {
    /// None was seen.
    #[default]
    Unseen,
    /// The SMT sibling was busy.
    BusySibling,
    /// Other tasks ran on a CPU.
    OtherWork,
    /// The hypervisor withheld a CPU.
    Stolen,
    /// The core clock changed.
    Clock,
    /// None was seen, but the machine is virtual: it cannot see the work of other guests.
    Virtual,
}

impl SeenCause {
    /// Returns the cause for the end of a sentence; nothing if none was seen.
    pub(super) const fn seen(self) -> &'static str {
        match self {
            SeenCause::Unseen | SeenCause::Virtual => "",
            SeenCause::BusySibling => " (the SMT sibling was busy)",
            SeenCause::OtherWork => " (other processes ran there)",
            SeenCause::Stolen => " (the hypervisor withheld CPU time)",
            SeenCause::Clock => " (the core clock changed)",
        }
    }

    /// Returns the cause as far as it was seen on this machine.
    pub(super) const fn here(self) -> SeenCause {
        match self {
            SeenCause::Virtual => SeenCause::Unseen,
            seen => seen,
        }
    }

    /// Returns the remedy for the cause, or `otherwise` if none was seen.
    pub(super) const fn remedy(self, otherwise: &str) -> &str {
        match self {
            SeenCause::Unseen => otherwise,
            SeenCause::BusySibling => "keep the SMT sibling idle, then rerun",
            SeenCause::OtherWork => "stop other processes or use an idle CPU (--cpu=N), then rerun",
            SeenCause::Stolen => "use a dedicated host: the hypervisor withholds CPU time",
            SeenCause::Clock => "fix the core frequency, then rerun",
            SeenCause::Virtual => "use a dedicated host: a virtual machine cannot see its neighbours",
        }
    }
}

messages! {
    /// The limit of time that ended the rounds of a point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TimeLimit {
        /// `--time-limit`, or its default.
        OfPoint => "--time-limit";
        /// `--budget`.
        OfRun => "--budget";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn sizes_are_written_as_options_accept_them() {
        for (bytes, shown) in [
            (1 << 10, "1K"),
            (800 << 20, "800M"),
            (2 << 30, "2G"),
            (143 << 20, "143M"),
            ((143 << 20) + 4096, "144M"),
            ((9 << 30) + 1, "9217M"),
            (100, "100"),
        ] {
            assert_eq!(size_option(Bytes(bytes)).to_string(), shown);
        }
    }
}
