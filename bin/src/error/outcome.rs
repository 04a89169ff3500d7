//! Errors of the clock, of an unreliable result, and of writing a result.

use core::fmt::{self, Display};

use crate::options::tokens::Escaped;
use latency_core::{Trimmed, messages};
use latency_report::ByPercent;
use latency_sys::Errno;

messages! {
    /// The result is unreliable, and `--strict` is set.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unreliable {
        /// Warnings make it unreliable; `code` is the code of the first.
        NotTrusted { code: &'static str, count: usize }
            if count > 1 =>
            "--strict: the result is unreliable ({code} and {others} more); see the warnings above, or run without \
            --strict"; where others = count - 1;
            => "--strict: the result is unreliable ({code}); see the warnings above, or run without --strict";
        /// Hosts differ from the others; `code` is the code of the first.
        HostsApart { code: &'static str, hosts: usize } =>
            "--strict: {hosts} host{verb} not comparable with the others ({code}); measure all hosts in the \
            same way, or run without --strict"; where verb = if hosts == 1 { " is" } else { "s are" };
    }

    /// The reason why saved results allow no verdict.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NoVerdict {
        /// The conditions of two results differ, or one of them is unreliable.
        Sides => "the results cannot be compared; measure both alike, or use --force";
        /// The uncertainty hides differences that matter.
        Uncertain => "the uncertainty hides differences; give several files of each side: A... -- B...";
        /// No host was judged.
        Hosts => "no host was judged; add hosts, or use --baseline";
        /// Expected hosts have no result.
        Missing(missing: MissingHosts) => "{missing}";
    }

    /// The result could not be written. `path` is the file, or `None` for standard output.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OutputError {
        /// The file could not be created, before anything was measured.
        Create { path: Escaped<'static>, errno: Errno } =>
            "cannot create '{path}': {errno}; nothing was measured; choose another --output";
        /// The result could not be written completely.
        Write { path: Option<Escaped<'static>>, errno: Errno }
            if path.is_none() =>
            "cannot write to standard output: {errno}; the printed result is incomplete; use --output=FILE";
            =>
            "cannot write '{path}': {errno}; no partial file was left; free disk space, or choose another \
            --output"; where path = path.unwrap_or_default();
        /// The file is complete and at its path, but may be lost if the system crashes.
        Sync { path: Escaped<'static>, errno: Errno } =>
            "cannot sync the directory of '{path}': {errno}; the file is complete, but may not survive a \
            system crash; check the disk";
    }
}

/// The second of two results is slower than allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regression {
    /// The median difference of the slower points, as a fraction of the first result.
    pub by: f64,
    /// The allowed difference, as a fraction of the first result.
    pub threshold: f64,
    /// The number of slower points.
    pub points: usize,
    /// The number of all points.
    pub of: usize,
}

impl fmt::Display for Regression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Regression { by, threshold, points, of } = *self;
        let by = &ByPercent(by) as &dyn Display;
        match of {
            1 => write!(out, "B is {by} slower than A"),
            _ if points == of => write!(out, "all {of} points slower by {by}"),
            _ => write!(out, "{points} of {of} points slower by {by}"),
        }?;
        write!(out, " (threshold {threshold}%)", threshold = Trimmed(threshold * 100.0))
    }
}

/// The hosts without a result that `fleet --expect` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingHosts {
    /// Their number.
    pub hosts: usize,
    /// The number of expected hosts.
    pub of: usize,
}

impl fmt::Display for MissingHosts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingHosts { hosts, of } = *self;
        let verb = if hosts == 1 { "is" } else { "are" };
        write!(out, "{hosts} of {of} expected hosts {verb} missing")
    }
}

/// The hosts that `fleet` found to be slower than comparable ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// The number of slow hosts.
    pub hosts: usize,
    /// The number of hosts with a verdict.
    pub of: usize,
    /// The minimum excess of a slow host, as a fraction.
    pub threshold: f64,
    /// The number of hosts that became slower, according to a history.
    pub slowed: usize,
    /// The expected hosts without a result.
    pub missing: MissingHosts,
}

impl fmt::Display for Outliers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outliers { hosts, of, threshold, slowed, missing } = *self;
        if slowed > 0 {
            write!(out, "{slowed} became slower; ")?;
        }
        write!(
            out,
            "{hosts} of {of} hosts {verb} slow (threshold {threshold}%)",
            verb = if hosts == 1 { "is" } else { "are" },
            threshold = Trimmed(threshold * 100.0)
        )?;
        if missing.hosts > 0 { write!(out, "; {missing}") } else { Ok(()) }
    }
}
