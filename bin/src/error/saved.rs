//! A saved result that cannot be used.

use latency_core::messages;
use latency_core::text::{Text, split};
use latency_core::units::Bytes;

use super::Unanswered;
use crate::options::tokens::Escaped;
use crate::sys::errno::Errno;

/// A defect of a file, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// The defect, and its own remedy if it has one.
    pub what: &'static str,
}

impl Problem {
    /// Returns a problem in a line.
    pub const fn new(line: u32, what: &'static str) -> Problem {
        Problem { line, what }
    }
}

messages! {
    /// A file that `fit` or `compare` cannot use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SavedError<'a> {
        /// A saved result that cannot be read.
        Unreadable { path: Escaped<'a>, errno: Errno }
            if path.0.starts_with(b"--") =>
            "cannot read '{path}': {errno}; options go before --";
            if errno == Errno::ENOMEM =>
            "cannot read '{path}': {errno}; free memory, or raise memory.max, ulimit -v or ulimit -d";
            =>
            "cannot read '{path}': {errno}; expected a result saved with -o FILE.json";
        /// The file of `fleet --expect` that cannot be read.
        NamesUnreadable { path: Escaped<'a>, errno: Errno } =>
            "--expect: '{path}': {errno}; give a number of hosts, or a file with one host name a line";
        /// The file of `fleet --expect` that has no names.
        NoNames { path: Escaped<'a> } =>
            "--expect: '{path}': no host name; give a number of hosts, or a file with one host name a line";
        /// A file that is larger than any saved result.
        TooLarge { path: Escaped<'a>, limit: Bytes } =>
            "'{path}' is larger than {limit}; expected a result saved with -o FILE.json";
        /// A saved result that cannot be understood.
        Malformed { path: Escaped<'a>, problem: Problem }
            // The defect may name its own remedy.
            if split(problem.what, "; ").count() == 1 =>
            "'{path}', line {line}: {what}; use a result saved with --json or --csv, or a table of sizes and \
            nanoseconds"; where line = problem.line, what = problem.what;
            => "'{path}', line {line}: {what}"; where line = problem.line, what = problem.what;
        /// Input lines that are not results, with `--strict`: the first, and the number of others.
        Skipped { path: Escaped<'a>, problem: Problem, others: usize }
            if others > 0 =>
            "--strict: '{path}', line {line}: {what}, and {others} more skipped lines; save results with \
            --format=jsonl, or run without --strict"; where line = problem.line, what = problem.what;
            =>
            "--strict: '{path}', line {line}: {what}; save results with --format=jsonl, or run without --strict";
            where line = problem.line, what = problem.what;
        /// Sizes that cannot be bytes, and that have no unit.
        NoUnit { path: Escaped<'a> } =>
            "'{path}': sizes are too small to be bytes; give their unit, e.g. --unit=K or --unit=M (binary)";
        /// A result of an experiment without curves.
        OtherExperiment { path: Escaped<'a>, experiment: Text<32> } =>
            "'{path}' is a result of {experiment}, not a curve; use a result of curve or pages";
        /// A file without a curve.
        NoCurve { path: Escaped<'a>, why: &'static str } =>
            "'{path}' is not a curve: {why}; a curve has the latency at many sizes";
        /// Results of different experiments.
        Different { first: Text<32>, second: Text<32> } =>
            "cannot compare a {first} result with a {second} result; compare results of one experiment";
        /// Results without a common point; `field` is the field that differs, if there is one.
        NothingCommon { field: &'static str }
            if field.is_empty() => "A and B have no point in common; measure both with the same options";
            => "A and B have no point in common: {field} differs; measure both with the same options";
        /// A result without the requested values.
        NoUndisturbed => "a result has no steady value; use `latency-bench matrix --until=quiet`";
        /// Results that do not answer a question.
        Unanswered { path: Escaped<'a>, why: Unanswered } => "'{path}' {why}";
        /// Results without a picture; `drawn` states which results have one.
        NoPicture { drawn: &'static str } => "only {drawn} in a picture; use --format=text or html";
    }
}
