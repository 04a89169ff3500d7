//! The expected time of a random load of a program, from saved results, for people and programs. Without them the
//! caller measures what is needed.

pub mod needed;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use latency_core::{Estimate, Interval};

use super::report::saved::{self, File, read};
use super::{Command, CommandResult, show};
use crate::analysis::expect::between::CurvePoint;
use crate::analysis::expect::mixture::Term;
use crate::analysis::expect::{Expectation, ExpectedTime, Question, ResultRows, ask};
use crate::describe::time::readable_time;
use crate::describe::{self, columns, output, split, trust};
use crate::error::{Failure, SavedError};
use crate::experiment::curve::levels;
use crate::options::tokens::Escaped;
use crate::options::{Descriptor, FlagId, FlagSet, Operands, Options};
use crate::record::columns::{
    CHAINS, CORES, ColumnSet, EXPERIMENT, HOST, PAGES_ASKED, PAGES_OBTAINED, STARTED, WORKING_SET,
};
use crate::record::row::Row;
use crate::saved::{Saved, tlb};
use latency_engine::result::{PageKind, PageWords};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{Digits, Level, Part, Role, Shown};

/// The `expect` command.
pub const EXPECT: Command = Command {
    descriptor: Descriptor {
        name: "expect",
        summary: "time of a load of your program's data",
        details: "FILE is a saved curve, a report as JSON, or another tool's table; `-` reads standard input. The latency of \
             a random load over --size bytes is read between the measured sizes around it. Without FILE it measures: a \
             curve to --size, `parallel` for --chains, and `bandwidth --traffic=random` for --cores.\n\
             In a FILE, --chains needs a result of parallel, and --cores one of bandwidth --traffic=random. What was not \
             measured is refused, with the run that would measure it (exit 1).",
        flags: FlagSet::of(&[FlagId::Size, FlagId::Pages, FlagId::Chains, FlagId::Cores]),
        operands: Operands { names: "[FILE]", least: 0, most: 1, sides: false },
        tests: false,
        ..Descriptor::OF_VALUES
    },
    columns: output::COLUMNS,
    run,
};

/// Returns the result of a file. Tables have the name of the host among their conditions.
fn result<'f>(File { saved, .. }: &'f File) -> ResultRows<'f> {
    ResultRows {
        experiment: saved.experiment.as_str(),
        host: saved.named_host().unwrap_or_default(),
        started: saved.origin.started,
        rows: saved.rows,
    }
}

/// Reads the results of a file, and presents the answer.
fn run(options: &Options) -> Result<CommandResult, Failure> {
    Ok(answer(options, &read(options.operands(), false)?)?.into())
}

/// Presents the answer of results, which are of a file, or were measured for it.
///
/// # Errors
///
/// The reason why they do not answer.
pub fn answer(options: &Options, files: &[File]) -> Result<Shown, Failure> {
    let tlb = |index: usize, like: &Row| {
        files.get(index).map_or([None; 2], |file| tlb::of_row(&file.saved.tlb, like))
    };
    let question = Question {
        size: options.size,
        pages: options.pages,
        chains: options.chains,
        cores: options.cores.map(NonZeroU32::get),
    };
    let path = files.first().map_or(&b""[..], |file| file.path);
    let results = vector(files.iter().map(result));
    let found =
        ask(&results, &tlb, &question).map_err(|why| SavedError::Unanswered { path: Escaped(path), why })?;
    let from = if options.operands().is_empty() { "Measured by" } else { "File" };
    Ok(Shown::of(|document| {
        if let Some(file) = files.get(found.result) {
            present(document, files, (from, file), &found);
        }
    }))
}

fields! {
    NS "ns" interval "Expected latency of a random load, in nanoseconds; the interval contains the result of a measurement of this size.";
    MEASURED "measured" "Result with the measured points, and its conditions.";
    TERMS "terms" "Terms of the mixture of levels: share of the loads times latency.";
}

/// Writes the answer, its terms, and the conditions of its curve, which is from a file.
fn present(
    document: &mut Shown,
    files: &[File],
    (from, file): (&'static str, &File),
    found: &Expectation<'_>,
) {
    let saved = &file.saved;
    let terms = found.mixture.as_ref().map(|mixture| mixture.terms(found.size));
    let sum = terms.as_ref().map(|terms| terms.iter().map(Term::adds).sum::<f64>());
    document.part(Part::Object(&describe::SUMMARY), |document| {
        let [below, above] = found.between.neighbours;
        document.put(&columns::WORKING_SET, found.size);
        document.put(&NS, found.between.expected);
        members! { document;
            "below_bytes": below.size => "Nearest measured working set below, in bytes.";
            "above_bytes": above.size => "Nearest measured working set above, in bytes.";
            "mixture_ns": sum => "Latency by the mixture of levels, in nanoseconds; null without a fit.";
        }
        let parts = found.parts.map(|(_, parts)| parts);
        document.put(&columns::WITHOUT_TRANSLATION, parts.map(|parts| parts.without_translation));
        document.put(&columns::TRANSLATION, parts.map(|parts| parts.translation));
        members! { document;
            "alike_curves": found.alike => "Number of saved curves that are alike in host, start, nodes and pages, and whose values agree; the first of them answers.";
        }
    });
    let is_source = |(index, _): &(usize, &File)| found.sources.contains(index);
    let sources = || files.iter().enumerate().filter(is_source).map(|(_, file)| file);
    let level = saved::worst(sources().map(|file| file.saved.origin.trust.level()));
    let reasons = vector(sources().flat_map(reasons));
    let mut once = Vec::new();
    for (code, _) in &reasons {
        if !once.contains(code) {
            once.push(*code);
        }
    }
    trust::of_command(document, level, &once);
    rows(document, saved, found);
    let others: String = found.times.iter().skip(1).map(other).collect();
    let expected = nanoseconds(found.between.expected, " ns");
    document.answer(format_args!("A random load over {}: {expected}{others}.", found.size));
    neighbours(document, found);
    if let Some((size, parts)) = found.parts {
        document.finding(format_args!(
            "At {size}, a random load costs {} without address translation, which adds {}.",
            split::with_ends(parts.without_translation),
            split::with_ends(parts.translation)
        ));
    }
    if let Some((terms, sum)) = terms.zip(sum) {
        mixture(document, found, &terms, sum);
    }
    if sources().any(|file| !file.saved.origin.trust.said.is_empty()) {
        let listed = joined(
            ": ",
            ", ",
            reasons.iter().map(|(code, experiment)| match *experiment {
                own if own == file.experiment() => String::from(*code),
                other => format!("{code} ({other})"),
            }),
        );
        document.sentence(Role::Trust, format_args!("{level}{listed}"));
    }
    if found.alike > 1 {
        let alike = found.alike;
        document.sentence(Role::Method("Curve"), format_args!("the first of {alike} alike, which agree"));
    }
    let name = file.name();
    document.sentence(Role::Method(from), format_args!("{}", name.as_str()));
    file.origin(document);
    if let Some(pages) = found.times.first().and_then(|time| time.pages) {
        document.sentence(Role::Method("Pages"), format_args!("{}", PageKind(pages)));
    }
    if let Some((from, to)) = found.like.pair() {
        document.sentence(Role::Method("Nodes"), format_args!("{from} -> {to}"));
    }
    if saved.origin.started > 0 {
        document.sentence(Role::Method("Started"), format_args!("{}", readable_time(saved.origin.started)));
    }
    document.part(Part::Object(&MEASURED), |document| {
        document.put(&saved::FILE, name.as_str());
        show::conditions(document, saved);
    });
}

/// Returns the reasons of a result for its trust, each with its experiment.
fn reasons(file: &File) -> impl Iterator<Item = (&str, &str)> {
    let trust = &file.saved.origin.trust;
    let unstated = trust.level().is_empty().then_some("not-stated");
    trust.evidence().chain(unstated).map(|code| (code, file.experiment()))
}

/// Describes each time as a row.
fn rows(document: &mut Shown, saved: &Saved, found: &Expectation<'_>) {
    document.part(Part::Records(&describe::ROWS), |document| {
        for time in &found.times {
            let mut row = found.like.clone();
            row.keep(ColumnSet::POINTS.without(PAGES_ASKED.into()) | HOST | STARTED);
            row.put(EXPERIMENT, "expect");
            row.put(WORKING_SET, found.size);
            row.put(columns::NS, time.time);
            if let Some(pages) = time.pages {
                row.put(PAGES_OBTAINED, format!("{pages}"));
            }
            let (column, count) = time.cores.map_or((CHAINS, time.chains), |cores| (CORES, cores));
            row.put(column, count);
            columns::saved_rows(document, saved, [&row]);
        }
    });
}

/// Returns a time in other pages, with several chains, or of several cores, with its interval.
fn other(time: &ExpectedTime) -> String {
    let found = nanoseconds(time.time, "");
    match (time.cores, time.chains, time.pages) {
        (Some(cores), ..) => format!("; {cores} cores at a time {found} each"),
        (None, 1, Some(pages)) => format!("; with {} {found}", PageWords(pages)),
        (None, chains, _) => format!("; {chains} at a time {found} each"),
    }
}

/// Writes the measured points around the size.
fn neighbours(document: &mut Shown, found: &Expectation<'_>) {
    let [below, above] = found.between.neighbours;
    let point = |CurvePoint { size, latency, .. }| format!("{size}, {}", nanoseconds(latency, " ns"));
    let second = if below.size == above.size { String::new() } else { format!("; {}", point(above)) };
    document.finding(format_args!("Measured: {}{second}.", point(below)));
}

/// Shows the terms of the mixture, and whether their sum agrees with the measured points.
fn mixture(document: &mut Shown, found: &Expectation<'_>, terms: &[Term], sum: f64) {
    document.tabulate("Mixture of levels: share of the loads times latency", Level::Normal, 1, &|table| {
        table.texts(&["part", "up to", "share", "ns", "adds"]);
        for term in terms {
            table.row().show(&term.part).known(term.capacity.map(levels::size));
            table.cell(format_args!("{:.1}%", 100.0 * term.share)).number(term.nanoseconds);
            table.cell(format_args!("{:.2}", term.adds()));
        }
    });
    document.items(Part::List(&TERMS), terms, |document, term| {
        members! { document;
            "part": term.part => "Part of the load: `level`, `memory` or `translation`.";
            "capacity_bytes": term.capacity.map(levels::size) => "Capacity of the level in the mixture, in bytes; null for memory and translation.";
            "share": term.share => "Share of the loads (0 to 1).";
            "term_ns": term.nanoseconds => "Nanoseconds of one of these loads.";
            "adds_ns": term.adds() => "Nanoseconds that the term adds to the mean load.";
        }
    });
    let Interval { low, high } = found.between.expected.bounds();
    let verdict = match low <= sum && sum <= high {
        true => "within the interval",
        false => "outside of the interval: here the curve does not follow a mixture",
    };
    document.finding(format_args!("The terms add up to {} ns, {verdict}.", Digits(sum)));
}

/// Returns nanoseconds with their unit, and their interval.
fn nanoseconds(Estimate { value, interval }: Estimate, unit: &str) -> String {
    let ends = interval.map(|Interval { low, high }| format!(" ({} to {})", Digits(low), Digits(high)));
    format!("{}{unit}{}", Digits(value), ends.unwrap_or_default())
}
