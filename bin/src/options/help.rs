//! The texts of `-h`, `--help`, `help options` and `--version`, which are made from the table of options.

use core::fmt::{self, Display, Write};

use latency_core::arch::ARCHITECTURE;

use super::Descriptor;
use super::bits::FlagSet;
use super::choices::Help;
use super::error::UsageError;
use super::flags::{FLAGS, Flag, FlagId, FlagText, GROUPS, Group};
use latency_report::figures::width;
use latency_report::lists::joined;
use latency_report::{Format, Wrap};

/// Maximum width of a help text in columns, which every terminal has.
const WIDTH: usize = 80;
/// The column at which the text to the right of an option begins.
const COLUMN: usize = 29;
/// The column at which the summary of an experiment begins.
const SUMMARIES: usize = 16;
/// The column at which the effect of an example begins.
const EFFECTS: usize = 52;

/// The purpose of the program, in a form that can follow its name.
pub const TAGLINE: &str = "measures memory latency and bandwidth: caches, TLB, NUMA nodes, loaded latency and \
                           core-to-core latency";

/// The commit of the sources, if it was known to the build; otherwise empty.
pub const COMMIT: &str = match option_env!("LATENCY_BENCH_COMMIT") {
    Some(commit) => commit,
    None => "",
};

/// The forms of values, each with its name.
pub const VALUES: [(&str, &str); 3] = [
    ("SIZE", "bytes, or a number with K, M, G or T (binary): 256M, 1.5G"),
    ("TIME", "seconds, or a number with ms, s, m or h: 10, 500ms, 1m"),
    ("LIST", "ids and ranges of them, or all: 0,2-3"),
];

/// The exit codes, each with its meaning.
pub const EXIT_CODES: [(&str, &str); 8] = [
    ("0", "success"),
    ("1", "invalid arguments"),
    ("2", "CPU, node, pages or time not available, or placement not verified"),
    ("3", "no usable clock; or --strict, and the result is unreliable"),
    ("4", "the result could not be written"),
    ("5", "compare: B is slower than A; fleet: a host is slower than its peers"),
    ("6", "compare, fleet: the results allow no verdict"),
    ("130", "interrupted; the finished points were printed"),
];

/// Command lines without the name of the program, each with its effect. The first ones are examples of the program as a
/// whole. Each belongs to the experiment that it names.
pub const EXAMPLES: [(&str, &str); 47] = [
    ("matrix --cpunode=0", "node 0 to every node"),
    ("matrix -N 0 -m local --json", "one pair, for a program"),
    ("curve --pages=2m -o curve.svg", "a picture of cache levels"),
    ("report --budget=2m -o report.html", "everything, as one page"),
    ("matrix --size=1G --pages=1g", "on 1 GiB pages"),
    ("curve --max-size=64M --seed=7", "caches only"),
    ("curve -C 3 --order=sequential", "from CPU 3, with prefetching"),
    ("parallel -m 0 --pages=2m", "misses in parallel to node 0"),
    ("parallel --chains=1,4-16", "1 chain, and 4 to 16"),
    ("window --size=16K", "all loads hit the L1"),
    ("window -o window.svg", "the result as a picture"),
    ("distribution --pages=2m", "tail latency, few TLB misses"),
    ("distribution -N 0 -o tail.csv", "percentiles as a table"),
    ("order --stride=256", "every fourth line"),
    ("order --size=1M --json", "in a cache, for a program"),
    ("pages --pages=4k --size=64M", "base pages only"),
    ("pages --counters --budget=15s", "counted page walks"),
    ("residency --size=8M", "a quarter of a small L3"),
    ("residency --time-limit=20", "longer waits, up to a second"),
    ("variants -C 2", "on CPU 2"),
    ("variants --max-size=1M", "each doubling up to 1 MiB"),
    ("bandwidth --view=mix", "read/write mixes"),
    ("bandwidth --view=scaling -o gb.svg", "GB/s by number of cores"),
    ("bandwidth --load-cpus=0-1", "CPUs 0 and 1 only"),
    ("cores --cpu=0-3 --heatmap", "the pairs of four CPUs"),
    ("cores --pairs=0:1 --states", "one pair, all line states"),
    ("cores --budget=20s -o cores.svg", "a heat map as a picture"),
    ("loaded --rates=0,50%,max", "idle, half and full load"),
    ("loaded --traffic=2:1 --budget=30s", "two reads for a write"),
    ("loaded --hold=1m --rates=5", "5 GB/s for a minute"),
    ("system -o system.json", "for an inventory of hosts"),
    ("system --strict", "exit 3 on a serious warning"),
    ("fit curve.json -o curve.svg", "a picture of a saved curve"),
    ("fit --unit=K other.txt", "another tool's table, in KiB"),
    ("expect --size=8M curve.json", "a load of a program's data"),
    ("expect curve.json --json", "the largest size, as JSON"),
    ("compare a.json b.json", "tells if B is slower"),
    ("compare a*.json -- b*.json", "several runs of each side"),
    ("show saved.json --csv", "its points as a table"),
    ("show *.json -o page.html", "points of several results"),
    ("reference ice lake", "of cores of this name"),
    ("reference all -o all.csv", "everything, as a table"),
    ("fleet --threshold=5% *.jsonl", "hosts that are 5% slower"),
    ("fleet --baseline=ok.jsonl *.jsonl", "against known-good results"),
    ("fleet --history *.jsonl", "also what changed, and when"),
    ("report --format=text", "everything, as text"),
    ("report *.json -o report.html", "one page of saved results"),
];

/// The number of examples that the help of the program lists.
const FIRST_EXAMPLES: usize = 4;

/// Writes a line such as `latency-bench 0.2.0 (35538b35, ARCHITECTURE-linux)`: version, commit and target.
///
/// # Errors
/// Returns the error of `out`.
pub fn write_version(out: &mut dyn Write) -> fmt::Result {
    let comma = if COMMIT.is_empty() { "" } else { ", " };
    writeln!(out, "latency-bench {} ({COMMIT}{comma}{ARCHITECTURE}-linux)", env!("CARGO_PKG_VERSION"))
}

/// Writes the help of the program: its experiments and options, one line each; or only the options that every
/// experiment has, with their defaults.
///
/// # Errors
/// Returns the error of `out`.
pub fn write_help(
    out: &mut dyn Write,
    help: Help,
    experiments: &[&Descriptor],
    formats: &[Format],
) -> fmt::Result {
    if help == Help::Shared {
        out.write_str("Options that every experiment has.\n")?;
        options(out, help, None, formats)?;
        return write_tables(out);
    }
    let mut text = Wrap::new(out, WIDTH, 0, 0);
    write!(text, "latency-bench {TAGLINE}.")?;
    text.finish()?;
    out.write_str("\nUsage: latency-bench [EXPERIMENT] [OPTIONS]\n\nExperiments:\n")?;
    for (index, experiment) in experiments.iter().enumerate() {
        let mut text = named(out, &format_args!("  {}", experiment.name), SUMMARIES)?;
        write!(text, "{}", experiment.summary)?;
        text.write_str(if index == 0 { " (the default)" } else { "" })?;
        text.finish()?;
    }
    let default = experiments.first().copied().filter(|_| help == Help::Short);
    options(out, help, default, formats)?;
    if help == Help::Short {
        return out
            .write_str("\n`latency-bench help EXPERIMENT` explains one; `--help` lists all options.\n");
    }
    write_tables(out)?;
    examples(out, FIRST_EXAMPLES, "")?;
    out.write_str("\n`latency-bench help EXPERIMENT` explains an experiment.\n")
}

/// Writes the help of one experiment: its options with the reasons for the defaults, its formats, and examples.
///
/// # Errors
/// Returns the error of `out`.
pub fn write_experiment_help(
    out: &mut dyn Write,
    help: Help,
    experiment: &Descriptor,
    formats: &[Format],
) -> fmt::Result {
    writeln!(out, "latency-bench {}: {}\n", experiment.name, experiment.summary)?;
    writeln!(out, "Usage: {}", experiment.typed(" [OPTIONS]"))?;
    if help == Help::Short {
        options(out, help, Some(experiment), formats)?;
        return writeln!(out, "\n`latency-bench help {}` lists every option.", experiment.name);
    }
    out.write_str("\n")?;
    let mut text = Wrap::new(out, WIDTH, 0, 0);
    write!(text, "{}", experiment.details)?;
    text.finish()?;
    options(out, help, Some(experiment), formats)?;
    let written = formats.iter().filter(|format| experiment.is_written_as(format));
    writeln!(
        out,
        "\nFormats:{}\n`latency-bench help options`: output options, values, exit codes",
        joined(" ", ", ", written.map(|format| format.name))
    )?;
    examples(out, usize::MAX, experiment.name)
}

/// Writes the forms of values and the exit codes.
fn write_tables(out: &mut dyn Write) -> fmt::Result {
    out.write_str("\nValues:\n")?;
    VALUES.iter().try_for_each(|(name, form)| writeln!(out, "  {name:4}  {form}"))?;
    out.write_str("\nExit codes:\n")?;
    EXIT_CODES.iter().try_for_each(|(code, meaning)| writeln!(out, "  {code:3}  {meaning}"))
}

/// Writes those of the first `most` examples that begin with a name, each with its effect to the right of the command
/// line.
fn examples(out: &mut dyn Write, most: usize, name: &str) -> fmt::Result {
    out.write_str("\nExamples:\n")?;
    for (line, effect) in EXAMPLES.iter().take(most).filter(|(line, _)| line.starts_with(name)) {
        let mut text = named(out, &format_args!("  latency-bench {line}"), EFFECTS)?;
        text.write_str(effect)?;
        text.finish()?;
    }
    Ok(())
}

/// Writes options: those of an experiment, or all of them. The short help has the common ones in one section, and the
/// long help a section for each group. Only the short help of an experiment repeats the options that all of them have.
fn options(out: &mut dyn Write, help: Help, of: Option<&Descriptor>, formats: &[Format]) -> fmt::Result {
    let mut section = |heading: &str, is_shown: &dyn Fn(&Flag) -> bool| {
        let has = |flag: &&Flag| {
            let shared = FlagSet::ALWAYS.contains(flag.id);
            match (of, help) {
                (_, Help::Shared) => shared,
                (Some(of), Help::Short) => shared || of.flags.contains(flag.id),
                (Some(of), Help::Long) => of.flags.contains(flag.id),
                (None, _) => true,
            }
        };
        let mut flags = FLAGS.iter().filter(has).filter(|flag| is_shown(flag)).peekable();
        if flags.peek().is_some() {
            writeln!(out, "\n{heading}:")?;
        }
        flags.try_for_each(|flag| {
            let name = of.map_or("", |of| of.name);
            let reasons = help == Help::Shared || help == Help::Long && of.is_some();
            describe(out, flag, name, reasons, formats)
        })
    };
    match help {
        Help::Short => section("Common options", &|flag| flag.common),
        Help::Long | Help::Shared => GROUPS
            .iter()
            .try_for_each(|(group, heading): &(Group, _)| section(heading, &|flag| flag.group == *group)),
    }
}

/// Writes the option that an error of the command line concerns, with its default and the reason for it.
pub fn write_concerned(out: &mut dyn Write, error: &UsageError, formats: &[Format]) -> fmt::Result {
    error.concerns().map_or(Ok(()), |flag| describe(out, flag, "", true, formats))
}

/// Writes an option of an experiment: its name and its text; with `reasons` also its default and the reason for it.
fn describe(
    out: &mut dyn Write,
    flag: &Flag,
    experiment: &str,
    reasons: bool,
    formats: &[Format],
) -> fmt::Result {
    let mut text = match flag.short {
        Some(letter) => named(out, &format_args!("  -{}, {flag}", char::from(letter)), COLUMN)?,
        None => named(out, &format_args!("  {flag}"), COLUMN)?,
    };
    text.write_str(flag.text_of(FlagText::Meaning, experiment))?;
    if flag.id == FlagId::Format {
        write!(text, "{}", joined(" ", ", ", formats.iter().map(|format| format.name)))?;
    }
    for (label, words) in [("default:", FlagText::Default), ("why:", FlagText::Reason)] {
        let words = flag.text_of(words, experiment);
        if reasons && !words.is_empty() {
            text.break_line()?;
            write!(text, "{label} {words}")?;
        }
    }
    text.finish()
}

/// Writes a name, and returns a writer of the text at `column`, or below the name if that is too long.
fn named<'o>(out: &'o mut dyn Write, name: &dyn Display, column: usize) -> Result<Wrap<'o>, fmt::Error> {
    write!(out, "{name}")?;
    match width(name) {
        wide if wide + 2 > column => write!(out, "\n{:column$}", "")?,
        wide => write!(out, "{:1$}", "", column - wide)?,
    }
    Ok(Wrap::new(out, WIDTH, column, column))
}
