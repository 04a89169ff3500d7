//! Saved results that cannot be used, and questions that saved results do not answer, with the run that would.

use core::fmt;

use latency_core::text::split;
use latency_core::{Bytes, Pages, Text, messages};

use crate::options::tokens::Escaped;
use latency_report::lists::joined;
pub use latency_report::tree::Problem;
use latency_sys::Errno;

messages! {
    /// A file that `fit` or `compare` cannot use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SavedError {
        /// A saved result that cannot be read.
        Unreadable { path: Escaped<'static>, errno: Errno }
            if path.0.starts_with(b"--") =>
            "cannot read '{path}': {errno}; options go before --";
            if errno == Errno::ENOMEM =>
            "cannot read '{path}': {errno}; free memory, or raise memory.max, ulimit -v or ulimit -d";
            =>
            "cannot read '{path}': {errno}; expected a result saved with -o FILE.json";
        /// The file of `fleet --expect` that cannot be read.
        NamesUnreadable { path: Escaped<'static>, errno: Errno } =>
            "--expect: '{path}': {errno}; give a number of hosts, or a file with one host name a line";
        /// The file of `fleet --expect` that has no names.
        NoNames { path: Escaped<'static> } =>
            "--expect: '{path}': no host name; give a number of hosts, or a file with one host name a line";
        /// A file that is larger than any saved result.
        TooLarge { path: Escaped<'static>, limit: Bytes } =>
            "'{path}' is larger than {limit}; expected a result saved with -o FILE.json";
        /// A saved result that cannot be understood.
        Malformed { path: Escaped<'static>, problem: Problem }
            // The defect may name its own remedy.
            if split(problem.what, "; ").count() == 1 =>
            "'{path}', line {line}: {what}; use a result saved with --json or --csv, or a table of sizes and \
            nanoseconds"; where line = problem.line, what = problem.what;
            => "'{path}', line {line}: {what}"; where line = problem.line, what = problem.what;
        /// Input lines that are not results, with `--strict`: the first, and the number of others.
        Skipped { path: Escaped<'static>, problem: Problem, others: usize }
            if others > 0 =>
            "--strict: '{path}', line {line}: {what}, and {others} more skipped lines; save results with \
            --format=jsonl, or run without --strict"; where line = problem.line, what = problem.what;
            =>
            "--strict: '{path}', line {line}: {what}; save results with --format=jsonl, or run without --strict";
            where line = problem.line, what = problem.what;
        /// Sizes that cannot be bytes, and that have no unit.
        NoUnit { path: Escaped<'static> } =>
            "'{path}': sizes are too small to be bytes; give their unit, e.g. --unit=K or --unit=M (binary)";
        /// A result of an experiment without curves.
        OtherExperiment { path: Escaped<'static>, experiment: Text<32> } =>
            "'{path}' is a result of {experiment}, not a curve; use a result of curve or pages";
        /// A file without a curve.
        NoCurve { path: Escaped<'static>, why: &'static str } =>
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
        Unanswered { path: Escaped<'static>, why: Unanswered } => "'{path}' {why}";
        /// Results without a picture; `drawn` states which results have one.
        NoPicture { drawn: &'static str } => "only {drawn} in a picture; use --format=text or html";
        /// Results whose names of hosts and files cannot be told from other words.
        NotAnonymous => "only one measured result saved with --json can be made anonymous; show each of them alone";
    }
}

/// A few different values, as far as there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Few<T>([Option<T>; 6]);

impl<T: Copy + PartialEq> Few<T> {
    /// No value.
    pub const NONE: Few<T> = Few([None; 6]);

    /// Adds a value once.
    pub fn add(&mut self, value: T) {
        if let Some(slot) = self.0.iter_mut().find(|slot| slot.is_none_or(|own| own == value)) {
            *slot = Some(value);
        }
    }

    fn find(&self, is: impl Fn(T) -> bool) -> Option<T> {
        self.0.iter().flatten().copied().find(|value| is(*value))
    }

    /// Returns the values as text, or the words for none.
    fn or(self, none: &'static str) -> impl fmt::Display
    where
        T: fmt::Display,
    {
        let none = if self.0.iter().flatten().next().is_none() { none } else { "" };
        fmt::from_fn(move |out| write!(out, "{none}{}", joined("", ", ", self.0.iter().flatten())))
    }
}

/// The words for pages in a file that names none.
const UNNAMED: &str = "pages that it does not name";

messages! {
    /// A question beyond the measured values of a file. Its text follows the name of the file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unanswered {
        /// No latency by size.
        NoCurve => "has no latency by size; run `latency-bench curve -o FILE.json`";
        /// No latency by size in these pages.
        OtherPages { pages: Pages, known: Few<Pages> }
            // A machine has one size of base pages.
            if pages.are_base() && known.find(Pages::are_base).is_some() =>
            "is of a machine with base pages of {base}, not of {pages} (it has latency by size in: {known}); use \
            --pages=base, or save a result of another machine: `latency-bench curve --pages={pages} -o FILE.json`";
            where base = known.find(Pages::are_base).unwrap_or(Pages::AUTO), known = known.or(UNNAMED);
            =>
            "has no latency by size in {pages} pages (only in: {known}); run `latency-bench curve --pages={pages} \
            -o FILE.json`"; where known = known.or(UNNAMED);
        /// Several curves that could answer, and differ.
        SeveralCurves { count: usize, differences: Few<&'static str> } =>
            "has {count} curves that could answer, and they differ in {differences}; use a file with one of them, or \
            run `latency-bench curve{nodes} -o FILE.json`";
            where by_nodes = differences.find(|word| word.ends_with(" node")).is_some(),
                nodes = if by_nodes { " --cpunode=N --memnode=N" } else { "" },
                differences = differences.or("their values alone");
        /// A size below the smallest one.
        TooSmall { size: Bytes, least: Bytes } =>
            "has no size below {least}; run `latency-bench curve --min-size={typed} -o FILE.json`";
            where typed = Typed(size);
        /// A size above the largest one.
        TooLarge { size: Bytes, most: Bytes } =>
            "has no size above {most}; run `latency-bench curve --max-size={typed} -o FILE.json`";
            where typed = Typed(size);
        /// A number of chains that was not measured; `most` is the largest number that was, or 0.
        NoChains { chains: u32, most: u32 } =>
            "has no time of {chains} chains{known}; run `latency-bench parallel --chains=1,{chains} -o FILE.json`";
            where known = at_most(most);
        /// Chains over other sizes, which allow no conclusion because one of both sizes is in a cache.
        ChainsElsewhere { chains: u32, size: Bytes } =>
            "has no time of {chains} chains over this size, and caches differ from memory; run `latency-bench parallel \
            --chains=1,{chains} --size={typed} -o FILE.json`"; where typed = Typed(size);
        /// A number of cores for which no random bandwidth was measured; `most` is the largest number that was, or 0.
        NoCores { cores: u32, most: u32 } =>
            "has no bandwidth of random loads by {cores} cores{known}; run `latency-bench bandwidth --traffic=random \
            --view=scaling -o FILE.json`"; where known = at_most(most);
        /// Bandwidth of memory, and a size that caches hold.
        CoresElsewhere { size: Bytes } =>
            "has random loads of several cores in memory only, and a cache serves part of {size}; use a larger --size, \
            or run `latency-bench parallel --size={typed} -o FILE.json` for loads side by side of one core";
            where typed = Typed(size);
    }
}

/// A size in the form in which it is typed.
pub struct Typed(pub Bytes);

impl fmt::Display for Typed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Typed(Bytes(bytes)) = *self;
        match bytes.trailing_zeros() {
            0..10 => write!(out, "{bytes}"),
            10..20 => write!(out, "{}K", bytes >> 10),
            20..30 => write!(out, "{}M", bytes >> 20),
            _ => write!(out, "{}G", bytes >> 30),
        }
    }
}

/// Returns the words for the largest number that was measured; nothing for 0.
fn at_most(most: u32) -> impl fmt::Display {
    fmt::from_fn(move |out| if most == 0 { Ok(()) } else { write!(out, " (at most {most})") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn text(why: Unanswered) -> String {
        std::format!("'f.json' {why}")
    }

    #[test]
    fn every_refusal_names_a_command_that_saves_its_result() {
        let (size, chains, cores, most) = (Bytes(3 << 30), 8, 4, 0);
        let (pages, known) = (Pages::from_word(b"1g").unwrap(), Few::NONE);
        let mut of_x86 = Few::NONE;
        of_x86.add(Pages::from_word(b"4k").unwrap());
        let other = Pages::from_word(b"64k").unwrap();
        let mut differences = Few::NONE;
        ["host", "start", "to node", "host"].into_iter().for_each(|word| differences.add(word));
        for why in [
            Unanswered::NoCurve,
            Unanswered::OtherPages { pages, known },
            Unanswered::OtherPages { pages: other, known: of_x86 },
            Unanswered::SeveralCurves { count: 2, differences },
            Unanswered::TooSmall { size, least: size },
            Unanswered::TooLarge { size, most: size },
            Unanswered::NoChains { chains, most: 0 },
            Unanswered::ChainsElsewhere { chains, size },
            Unanswered::NoCores { cores, most },
            Unanswered::CoresElsewhere { size },
        ] {
            let text = text(why);
            assert!(text.contains("`latency-bench ") && text.contains(" -o FILE.json`"), "{text}");
        }
        let text = text(Unanswered::SeveralCurves { count: 2, differences });
        assert!(text.contains("2 curves") && text.contains("differ in host, start, to node;"), "{text}");
    }
}
