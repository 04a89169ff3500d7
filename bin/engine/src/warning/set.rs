//! The warnings of one run, in the order in which they occurred; and as people read them: one line for each kind, the
//! worst first.

use alloc::vec::{self, Vec};
use core::fmt::{self, Write};
use core::mem::{discriminant, swap};

use latency_core::{Bytes, NodeId};

use super::{SeenCause, Severity, Warning};
use latency_report::Wrap;
use latency_report::terminal::Ascii;

/// Maximum number of warnings in a set. People would not read more.
const CAPACITY: usize = 64;

/// A set of warnings without an allocator: one warning for each code and subject.
#[derive(Clone, Copy, Debug)]
pub struct Warnings {
    slots: [Option<Warning>; CAPACITY],
    dropped: usize,
    dropped_untrusted: (Option<&'static str>, usize),
}

impl Warnings {
    /// Returns the empty set. The executable would contain each byte of a constant.
    pub const fn empty() -> Warnings {
        Warnings { slots: [None; CAPACITY], dropped: 0, dropped_untrusted: (None, 0) }
    }

    /// Adds `warning`, unless the set contains one with the same code and subject.
    ///
    /// A warning that states a possibility is replaced by one that states it as a fact. A set without room counts every
    /// further warning, also repeated ones; they may still make the result unreliable.
    pub fn push(&mut self, warning: Warning) {
        let known = |other: &&mut Warning| {
            other.is_like(&warning) || warning.settles(other) || other.settles(&warning)
        };
        if let Some(other) = self.slots.iter_mut().flatten().find(known) {
            if warning.settles(other) {
                *other = warning;
            }
            return;
        }
        match self.slots.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(warning),
            None => self.drop(&warning),
        }
    }

    /// Adds `warning` if `is_so`.
    pub fn push_if(&mut self, is_so: bool, warning: Warning) {
        self.extend(is_so.then_some(warning));
    }

    /// Adds warnings, such as the one that there may be.
    pub fn extend(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        warnings.into_iter().for_each(|warning| self.push(warning));
    }

    /// Adds `warning` as [`push`](Self::push) does, but before the milder ones of its code. Beyond `most` warnings of
    /// the code, the mildest one is left out and counted.
    pub fn push_worst_first(&mut self, mut warning: Warning, most: usize) {
        let (kind, mut count) = (discriminant(&warning), 0);
        for other in self.slots.iter_mut().flatten().filter(|other| discriminant(*other) == kind) {
            if other.facts().measure < warning.facts().measure {
                swap(other, &mut warning);
            }
            count += 1;
        }
        if count < most { self.push(warning) } else { self.drop(&warning) }
    }

    /// Adds the warnings of another part of a result. Of two warnings with the same code and subject, the worse one
    /// stays.
    pub fn pool(&mut self, other: &Warnings) {
        for warning in other.iter() {
            match self.slots.iter_mut().flatten().find(|known| known.is_like(warning)) {
                Some(known) if known.weight() < warning.weight() => *known = *warning,
                Some(_) => {}
                None => self.push(*warning),
            }
        }
        let ((first, count), (more, others)) = (self.dropped_untrusted, other.dropped_untrusted);
        self.dropped += other.dropped;
        self.dropped_untrusted = (first.or(more), count + others);
    }

    /// Records the cause that was seen during the run, in every warning that depends on one.
    pub fn explain(&mut self, seen: SeenCause) {
        self.slots.iter_mut().flatten().for_each(|warning| warning.explain(seen));
    }

    /// Counts a warning for which there is no room.
    fn drop(&mut self, warning: &Warning) {
        self.dropped += 1;
        if warning.untrusted() {
            let (first, count) = self.dropped_untrusted;
            self.dropped_untrusted = (first.or(Some(warning.code())), count + 1);
        }
    }

    /// Returns the warnings, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.slots.iter().flatten()
    }

    /// Returns the memory-side cache through which the memory of a node was measured.
    pub fn side_cache(&self, node: NodeId) -> Option<Bytes> {
        let mut found = self.iter().filter_map(Warning::side_cache);
        found.find(|(of, _)| *of == node).map(|(_, cache)| cache)
    }

    /// Returns the number of warnings for which there was no room.
    pub const fn dropped(&self) -> usize {
        self.dropped
    }

    /// Returns the code of the first warning that makes the result unreliable, and the number of these warnings.
    pub fn untrusted(&self) -> Option<(&'static str, usize)> {
        let (dropped, more) = self.dropped_untrusted;
        let held = || self.iter().filter(|warning| warning.untrusted());
        let first = held().next().map(Warning::code).or(dropped)?;
        Some((first, held().count() + more))
    }
}

/// The words before a warning.
const WARNING: &str = "latency-bench: warning: ";
/// Number of blanks before each line of a warning except its first.
const INDENT: usize = 2;

/// Maximum number of warnings on a terminal whose reader has not asked for everything.
const MOST_SHOWN: usize = 3;

/// The warnings with one code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarningGroup<'a> {
    /// The most important one: of the worst severity, and with the largest measure if the code has one.
    pub worst: &'a Warning,
    /// Number of warnings.
    pub count: usize,
}

/// Writes the fact, the number of similar warnings, and the remedy.
impl fmt::Display for WarningGroup<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.worst.fmt(out)?;
        match (self.count, self.worst.facts().measure) {
            (0 | 1, _) => {}
            (count, Some(_)) => write!(out, " (worst of {count})")?,
            (count, None) => write!(out, " (and {} more)", count - 1)?,
        }
        write!(out, "; {}", self.worst.remedy())
    }
}

impl Warnings {
    /// Returns the groups, those of the worst severity first, and within one severity in the order of their first
    /// warnings.
    pub fn groups(&self) -> vec::IntoIter<WarningGroup<'_>> {
        let mut groups: Vec<WarningGroup<'_>> = Vec::new();
        for warning in self.iter() {
            let is_alike = |group: &&mut WarningGroup<'_>| discriminant(group.worst) == discriminant(warning);
            match groups.iter_mut().find(is_alike) {
                None => groups.push(WarningGroup { worst: warning, count: 1 }),
                Some(group) => {
                    group.count += 1;
                    if warning.weight() > group.worst.weight() {
                        group.worst = warning;
                    }
                }
            }
        }
        let mut ranked = Vec::new();
        for severity in [Severity::Poor, Severity::Fair, Severity::Note] {
            ranked.extend(groups.extract_if(.., |group| group.worst.severity() == severity));
        }
        ranked.into_iter()
    }

    /// Writes one line for each group: `latency-bench: warning: …`, and if `details` is true, `latency-bench: note: …`.
    ///
    /// Lines are wrapped only if `columns` is the width of a terminal, so that programs read complete lines. Without
    /// `details`, a terminal shows the first `MOST_SHOWN` of them, in short. They are ASCII unless `unicode` is true.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write(
        &self,
        out: &mut dyn Write,
        details: bool,
        columns: Option<usize>,
        unicode: bool,
    ) -> fmt::Result {
        let mut wrap = Wrap::new(out, columns.unwrap_or(usize::MAX), INDENT, 0);
        let mut out = Ascii { out: &mut wrap, unicode };
        let is_short = columns.is_some() && !details;
        let (mut shown, mut more) = (0, self.dropped());
        for group in self.groups() {
            match group.worst.severity() {
                // That an option of the user has no effect is shown without details as well.
                Severity::Note if !details && !matches!(group.worst, Warning::CountersUnavailable { .. }) => {
                }
                Severity::Note => writeln!(out, "latency-bench: note: {group}")?,
                _ if is_short && shown == MOST_SHOWN => more += 1,
                _ if is_short => {
                    let WarningGroup { worst, count } = group;
                    let worst_of =
                        fmt::from_fn(
                            |out| if count > 1 { write!(out, " (worst of {count})") } else { Ok(()) },
                        );
                    let about = worst.facts().about;
                    writeln!(out, "{WARNING}{about}{}{worst_of}; {}", worst.reason(), worst.remedy())?;
                    shown += 1;
                }
                Severity::Fair | Severity::Poor => writeln!(out, "{WARNING}{group}")?,
            }
        }
        match (more, is_short) {
            (0, _) => Ok(()),
            (_, true) => writeln!(out, "{WARNING}{more} more: -v"),
            (_, false) => writeln!(out, "{WARNING}{more} more warnings"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warning::TimeLimit;
    use latency_core::{Bytes, NodeId};
    use std::string::String;

    fn written(warnings: &Warnings, notes: bool, columns: Option<usize>) -> String {
        let mut text = String::new();
        warnings.write(&mut text, notes, columns, false).unwrap();
        text
    }

    fn eight_nodes() -> Warnings {
        let mut warnings = Warnings::empty();
        warnings.push(Warning::NumaBalancing);
        warnings.push(Warning::NoSys);
        warnings.push(Warning::ThreadMoved { times: 2 });
        for from in 0..4 {
            for to in 0..8 {
                let (from, to, size) = (NodeId(from), NodeId(to), Bytes::MIB);
                let found = 0.03 + f64::from(to.0) / 100.0;
                warnings.push(Warning::PrecisionNotReached {
                    from,
                    to,
                    size,
                    found,
                    wanted: 0.01,
                    limit: TimeLimit::OfPoint,
                    cause: SeenCause::Unseen,
                });
            }
        }
        warnings.push(Warning::NodeLeftOut { node: NodeId(8) });
        warnings.push(Warning::NodeLeftOut { node: NodeId(9) });
        warnings
    }

    #[test]
    fn pairs_are_one_line_and_the_worst_come_first() {
        let precision = "latency-bench: warning: node 0 -> node 7, 1 MiB: 95% interval +-10.0% (target +-1%) \
                         (worst of 32); increase --time-limit, or relax --precision\n";
        let moved = "latency-bench: warning: the thread was migrated to another CPU 2 times; the affected \
                     trials were discarded; stop the program that changes CPU affinities or cpusets, \
                     then rerun\n";
        let no_sys = "latency-bench: warning: /sys is not mounted: nodes, caches and huge page pools are unknown; \
                      as root: mount -t sysfs sysfs /sys\n";
        let notes = "latency-bench: note: automatic NUMA balancing is enabled: the kernel may migrate pages and \
                     interrupt the run; \
                     as root: echo 0 > /proc/sys/kernel/numa_balancing\n\
                     latency-bench: note: skipping node 8: its memory is outside cpuset.mems (and 1 more); \
                     widen cpuset.mems to include it\n";
        let warnings = eight_nodes();
        assert_eq!(written(&warnings, false, None), [moved, no_sys, precision].concat());
        assert_eq!(written(&warnings, true, None), [moved, no_sys, precision, notes].concat());
    }

    #[test]
    fn a_terminal_gets_lines_that_fit() {
        let text = written(&eight_nodes(), true, Some(60));
        assert!(text.lines().all(|line| line.len() <= 60), "{text}");
        assert!(
            text.contains("\nlatency-bench: warning: node 0 -> node 7, 1 MiB: 95%\n  interval"),
            "{text}"
        );
    }

    #[test]
    fn a_terminal_shows_three_warnings_in_short() {
        let mut warnings = eight_nodes();
        warnings.push(Warning::TimerSteppedBack { trials: 1 });
        let text = written(&warnings, false, Some(80)).replace("\n  ", " ");
        let first =
            "latency-bench: warning: the thread was migrated to another CPU 2 times; stop the program";
        assert!(text.starts_with(first), "{text}");
        assert!(
            text.ends_with("\nlatency-bench: warning: 1 more: -v\n") && text.lines().count() == 4,
            "{text}"
        );
        assert!(text.contains("/sys is not mounted; as root"), "{text}");
        // A file or a reader of all details has every word.
        for (details, columns) in [(false, None), (true, Some(80))] {
            let text = written(&warnings, details, columns);
            assert!(text.contains("discarded") && !text.contains("more: -v"), "{text}");
        }
    }

    #[test]
    fn dropped_warnings_are_counted() {
        let mut warnings = Warnings::empty();
        for node in 0..70 {
            warnings.push(Warning::NotMeasurableHere { node: NodeId(node) });
        }
        let text = written(&warnings, false, None);
        assert!(
            text.contains(" (and 63 more); ")
                && text.ends_with("\nlatency-bench: warning: 6 more warnings\n"),
            "{text}"
        );
    }
}
