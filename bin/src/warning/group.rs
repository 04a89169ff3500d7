//! The warnings as people read them: one line for each kind, the worst first.

use core::fmt::{self, Write};
use core::mem::discriminant;

use super::{Severity, Warning, Warnings};
use crate::report::ascii::Ascii;
use crate::report::wrap::Wrap;

/// The words before a warning.
const WARNING: &str = "latency-bench: warning: ";
/// Number of blanks before each line of a warning except its first.
const INDENT: usize = 2;

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
    pub fn groups(&self) -> impl Iterator<Item = WarningGroup<'_>> {
        [Severity::Poor, Severity::Fair, Severity::Note].into_iter().flat_map(move |severity| {
            self.iter().enumerate().filter_map(move |(index, warning)| {
                let known = self.iter().take(index).any(|other| discriminant(other) == discriminant(warning));
                let group = || self.group(warning);
                (!known).then(group).filter(|group| group.worst.severity() == severity)
            })
        })
    }

    fn group<'a>(&'a self, first: &'a Warning) -> WarningGroup<'a> {
        let mut group = WarningGroup { worst: first, count: 0 };
        for warning in self.iter().filter(|other| discriminant(*other) == discriminant(first)) {
            group.count += 1;
            if warning.weight() > group.worst.weight() {
                group.worst = warning;
            }
        }
        group
    }

    /// Writes one line for each group: `latency-bench: warning: …`, and if `notes` is true, `latency-bench: note: …`.
    ///
    /// Lines are wrapped only if `columns` is the width of a terminal, so that programs read complete lines. They are ASCII
    /// unless `unicode` is true.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write(
        &self,
        out: &mut dyn Write,
        notes: bool,
        columns: Option<usize>,
        unicode: bool,
    ) -> fmt::Result {
        let mut wrap = Wrap::new(out, columns.unwrap_or(usize::MAX), INDENT, 0);
        let mut out = Ascii { out: &mut wrap, unicode };
        for group in self.groups() {
            match group.worst.severity() {
                Severity::Note if !notes && !group.worst.answers_an_option() => {}
                Severity::Note => writeln!(out, "latency-bench: note: {group}")?,
                Severity::Fair | Severity::Poor => writeln!(out, "{WARNING}{group}")?,
            }
        }
        match self.dropped() {
            0 => Ok(()),
            count => writeln!(out, "{WARNING}{count} more warnings"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::units::{Bytes, NodeId};
    use std::string::String;

    fn written(warnings: &Warnings, notes: bool, columns: Option<usize>) -> String {
        let mut text = String::new();
        warnings.write(&mut text, notes, columns, false).unwrap();
        text
    }

    fn eight_nodes() -> Warnings {
        let mut warnings = Warnings::new();
        warnings.push(Warning::NumaBalancing);
        warnings.push(Warning::NoSys);
        warnings.push(Warning::ThreadMoved { times: 2 });
        for from in 0..4 {
            for to in 0..8 {
                let (from, to, size) = (NodeId(from), NodeId(to), Bytes::MIB);
                let found = 0.03 + f64::from(to.0) / 100.0;
                warnings.push(Warning::PrecisionNotReached { from, to, size, found, wanted: 0.01 });
            }
        }
        warnings.push(Warning::NodeLeftOut { node: NodeId(8) });
        warnings.push(Warning::NodeLeftOut { node: NodeId(9) });
        warnings
    }

    #[test]
    fn pairs_are_one_line_and_the_worst_come_first() {
        let precision = "latency-bench: warning: node 0 -> node 7, 1 MiB: 95% interval +-10.0% (target +-1%) \
                         (worst of 32); use an idle or dedicated host, or relax --precision\n";
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
    fn dropped_warnings_are_counted() {
        let mut warnings = Warnings::new();
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
