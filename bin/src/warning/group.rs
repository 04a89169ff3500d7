//! The warnings as people read them: one line for each kind, the worst first.

use latency_core::compact::Compact;

use core::fmt::{self, Write};
use core::mem::discriminant;

use super::{Severity, Warning, Warnings};
use crate::report::wrap::Wrap;

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
        Compact([Severity::Poor, Severity::Fair, Severity::Note].into_iter().flat_map(move |severity| {
            self.iter().enumerate().filter_map(move |(index, warning)| {
                let known = self.iter().take(index).any(|other| discriminant(other) == discriminant(warning));
                let group = || self.group(warning);
                (!known).then(group).filter(|group| group.worst.severity() == severity)
            })
        }))
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

    /// Writes one line for each group: `WARNING: …`, and if `notes` is true, `NOTE: …`.
    ///
    /// Lines are wrapped only if `columns` is the width of a terminal, so that programs read complete lines.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write(&self, out: &mut dyn Write, notes: bool, columns: Option<usize>) -> fmt::Result {
        let mut out = Wrap::new(out, columns.unwrap_or(usize::MAX), INDENT, 0);
        for group in self.groups() {
            match group.worst.severity() {
                Severity::Note if !notes => {}
                Severity::Note => writeln!(out, "NOTE: {group}")?,
                Severity::Fair | Severity::Poor => writeln!(out, "WARNING: {group}")?,
            }
        }
        match self.dropped() {
            0 => Ok(()),
            count => writeln!(out, "WARNING: and {count} more"),
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
        warnings.write(&mut text, notes, columns).unwrap();
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
        let precision = "WARNING: node 0 -> node 7, 1 MiB: certain to 10.0 %, not 1 % \
                         (worst of 32); use an idle or a dedicated host, or a wider --precision\n";
        let moved = "WARNING: this process was moved to another CPU 2 times; it went back, and left those \
                     trials out; stop whoever changes affinities or cpusets, and run again\n";
        let no_sys = "WARNING: no /sys, so nodes, caches and huge page pools cannot be read; \
                      as root: mount -t sysfs sysfs /sys\n";
        let notes = "NOTE: NUMA balancing is on, so the kernel may interrupt the run; \
                     as root: echo 0 > /proc/sys/kernel/numa_balancing\n\
                     NOTE: node 8 is not measured: the cpuset does not allow its memory (and 1 more); \
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
            text.contains("\nWARNING: node 0 -> node 7, 1 MiB: certain to 10.0 %, not 1 %\n  (worst"),
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
        assert!(text.contains(" (and 63 more); ") && text.ends_with("\nWARNING: and 6 more\n"), "{text}");
    }
}
