//! Facts that a reader of a result must know, and the effect of each on the trust in the result.
//!
//! A warning is plain data. It is declared by one entry of `table.rs`, with its code, severity, text and remedy. Nothing
//! here depends on the way in which a warning is found.

mod entry;
mod set;
mod table;

#[cfg(test)]
mod tests;

use core::fmt;
use core::mem::discriminant;

use latency_core::{Bytes, CpuId, NodeId};

use entry::{About, Entry, Facts};
pub use entry::{Clipped, NoCounters, SeenCause, Severity, ShortText, TimeLimit};
pub use set::{WarningGroup, Warnings};
pub use table::{MUCH_OTHER_WORK, SPARSE, Warning};

impl Warning {
    /// Returns the word for programs, in kebab-case; it does not change between versions.
    pub fn code(&self) -> &'static str {
        self.facts().code
    }

    /// Returns the effect of the warning on trust.
    pub fn severity(&self) -> Severity {
        self.facts().severity
    }

    /// Returns whether the warning is evidence that a value is wrong or not verified, so that `--strict` fails.
    pub fn untrusted(&self) -> bool {
        self.severity() == Severity::Poor
    }

    /// Returns whether the warning is from a self-test, which measures a known quantity.
    pub const fn is_of_self_test(&self) -> bool {
        matches!(
            self,
            Warning::FenceNotSerialising { .. }
                | Warning::L1NotInteger { .. }
                | Warning::MultiplyAddRatio { .. }
                | Warning::RepeatRatio { .. }
                | Warning::HopMeanDiffers { .. }
                | Warning::CoreCyclesDiffer { .. }
        )
    }

    /// Returns the CPU that the warning is about, for kinds of warnings that exist once for each CPU.
    pub fn cpu(&self) -> Option<CpuId> {
        match self.facts().about {
            About::Cpu(cpu) => Some(cpu),
            _ => None,
        }
    }

    /// Returns the node and the size of the memory-side cache that the warning is about.
    pub const fn side_cache(&self) -> Option<(NodeId, Bytes)> {
        match *self {
            Warning::SideCache { node, cache, .. } => Some((node, cache)),
            _ => None,
        }
    }

    /// Returns the working set and the core cycles of the point, if the warning is about a core that was slowed.
    pub const fn slowed_point(&self) -> Option<(Bytes, f64)> {
        match *self {
            Warning::CoreSlowed { size, cycles, .. } => Some((size, cycles)),
            _ => None,
        }
    }

    /// Returns the first clause of the text, for the line with the verdict, which contains several of them.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        self.shown(|entry, out| out.write_fmt(entry.reason))
    }

    /// Returns an option or a command that helps.
    pub fn remedy(&self) -> impl fmt::Display + '_ {
        self.shown(|entry, out| out.write_fmt(entry.remedy))
    }

    /// Records the cause that was seen during the run, if the warning depends on one.
    fn explain(&mut self, seen: SeenCause) {
        match self {
            Warning::NoCoreClock { cause }
            | Warning::L1NotInteger { cause, .. }
            | Warning::MultiplyAddRatio { cause, .. }
            | Warning::CoreSlowed { cause, .. }
            | Warning::RepeatRatio { cause, .. }
            | Warning::PrefetchAudit { cause, .. }
            | Warning::NeighboursFetched { cause, .. }
            | Warning::PrecisionNotReached { cause, .. }
            | Warning::Disturbed { cause, .. }
            | Warning::HopMeanDiffers { cause, .. }
            | Warning::PointsNotPrecise { cause, .. }
            | Warning::PointsDisturbed { cause, .. }
            | Warning::StateShare { cause, .. }
            | Warning::CoreCyclesDiffer { cause, .. }
            | Warning::NotSettled { cause, .. }
            | Warning::RateNotDelivered { cause, .. } => *cause = seen,
            _ => {}
        }
    }

    /// Returns what its entry has beside the texts.
    fn facts(&self) -> Facts {
        let mut facts = Facts { code: "", severity: Severity::Note, about: About::Run, measure: None };
        self.describe(&mut |entry| facts = entry.facts);
        facts
    }

    /// Returns texts of its entry, which `write` writes.
    fn shown(&self, write: impl Fn(&Entry<'_>, &mut fmt::Formatter<'_>) -> fmt::Result) -> impl fmt::Display {
        fmt::from_fn(move |out| {
            let mut written = Ok(());
            self.describe(&mut |entry| written = write(&entry, out));
            written
        })
    }

    /// Returns whether it states as a fact what the other warning states as a possibility.
    const fn settles(&self, other: &Warning) -> bool {
        match (self, other) {
            (Warning::LooksCached { size, .. }, Warning::CacheCouldHold { size: other, .. }) => {
                size.0 == other.0
            }
            _ => false,
        }
    }

    /// Returns the rank of the warning among those of its code: its severity, then its measure.
    fn weight(&self) -> (Severity, Option<f64>) {
        let facts = self.facts();
        (facts.severity, facts.measure)
    }

    /// Returns whether both have the same code and the same subject.
    fn is_like(&self, other: &Warning) -> bool {
        discriminant(self) == discriminant(other) && self.facts().about == other.facts().about
    }
}

/// Writes the fact, without the remedy and without the label of a message.
impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            self.shown(|entry, out| write!(out, "{}{}{}", entry.facts.about, entry.reason, entry.rest));
        shown.fmt(out)
    }
}
