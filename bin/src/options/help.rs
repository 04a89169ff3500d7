//! The texts of `-h`, `--help` and `--version`, which are made from the table of options.

use core::fmt::{self, Display, Write};

use latency_core::text::joined;

use super::Descriptor;
use super::bits::FlagSet;
use super::choices::Help;
use super::flags::{FLAGS, Flag, FlagId, GROUPS};
use crate::report::figures::width;
use crate::report::format::Format;
use crate::report::wrap::{self, Wrap};

/// Maximum width of a help text in columns, which every terminal has.
const WIDTH: usize = 80;
/// The column at which the text to the right of a name begins.
const COLUMN: usize = 28;

/// The table of exit codes, one on each line.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    invalid arguments
  2    requested CPU, node or pages unavailable, or placement not verified
  3    no usable clock; or --strict, and the result is unreliable
  4    the result could not be written
  5    compare: B is slower than A; fleet: a host is slower than its peers
  130  interrupted; the finished points were printed
";

/// Example command lines with their effects, one on each line.
pub const EXAMPLES: &str = "
Examples:
  latency-bench                                  every node to every node
  latency-bench --cpunode=0 --memnode=1 --json   one pair, for a program
  latency-bench curve --pages=2m -o curve.svg    a picture of the cache levels
";

/// Writes `latency-bench 0.2.0` and a newline.
///
/// # Errors
/// Returns the error of `out`.
pub fn write_version(out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "latency-bench {}", env!("CARGO_PKG_VERSION"))
}

/// Writes the help of the program: its experiments and options, one line each.
///
/// # Errors
/// Returns the error of `out`.
#[inline(never)] // offsets into a small frame are short
pub fn write_help(
    out: &mut dyn Write,
    help: Help,
    experiments: &[&Descriptor],
    formats: &[Format],
) -> fmt::Result {
    out.write_str(
        "latency-bench measures memory latency: NUMA nodes, cache levels, page sizes.\n\n\
         Usage: latency-bench [EXPERIMENT] [OPTIONS]\n\nExperiments:\n",
    )?;
    for (index, experiment) in experiments.iter().enumerate() {
        let mut text = named(out, &format_args!("  {}", experiment.name))?;
        text.write_str(experiment.summary)?;
        text.write_str(if index == 0 { " (the default)" } else { "" })?;
        text.finish()?;
    }
    options(out, help, None, formats)?;
    if help == Help::Short {
        return out.write_str(
            "\n`latency-bench --help` lists every option, exit codes and examples.\n\
             `latency-bench help EXPERIMENT` explains an experiment.\n",
        );
    }
    out.write_str(
        "\nSIZE is in bytes; K, M, G and T are binary. `latency-bench help EXPERIMENT`\n\
         explains an experiment and the defaults of its options.\n\n",
    )?;
    out.write_str(EXIT_CODES)?;
    out.write_str(EXAMPLES)
}

/// Writes the help of one experiment: the options and formats that it has, and the reasons for the defaults.
///
/// # Errors
/// Returns the error of `out`.
#[inline(never)] // offsets into a small frame are short
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
    wrap::line(out, experiment.details, WIDTH)?;
    options(out, help, Some(experiment), formats)?;
    writeln!(out, "\n{EXIT_CODES}\nExample:\n  {}", experiment.typed(""))
}

/// Writes the options of an experiment, or all of them: the common ones, or each below the heading of its group.
fn options(out: &mut dyn Write, help: Help, of: Option<&Descriptor>, formats: &[Format]) -> fmt::Result {
    let mut section = |heading: &str, is_shown: &dyn Fn(&Flag) -> bool| {
        let has = |flag: &&Flag| of.is_none_or(|of| of.flags.union(FlagSet::ALWAYS).contains(flag.id));
        let mut flags = FLAGS.iter().filter(has).filter(|flag| is_shown(flag)).peekable();
        if flags.peek().is_some() {
            writeln!(out, "\n{heading}:")?;
        }
        flags.try_for_each(|flag| {
            let formats = formats.iter().filter(|format| of.is_none_or(|of| of.is_written_as(format)));
            describe(out, flag, of.is_some() && help == Help::Long, formats)
        })
    };
    match help {
        Help::Short => section("Common options", &|flag| flag.common),
        Help::Long => {
            GROUPS.iter().try_for_each(|(group, heading)| section(heading, &|flag| flag.group == *group))
        }
    }
}

/// Writes an option: its name and its text; with `reasons` also its default and the reason for it.
fn describe<'f>(
    out: &mut dyn Write,
    flag: &Flag,
    reasons: bool,
    formats: impl Iterator<Item = &'f Format> + Clone,
) -> fmt::Result {
    let mut text = match flag.short {
        Some(letter) => named(out, &format_args!("  -{}, {flag}", char::from(letter)))?,
        None => named(out, &format_args!("  {flag}"))?,
    };
    text.write_str(flag.help)?;
    if flag.id == FlagId::Format {
        write!(text, "{}", joined(" ", ", ", formats.map(|format| format.name)))?;
    }
    for (label, words) in [("default:", flag.default), ("why:", flag.reason)] {
        if reasons && !words.is_empty() {
            text.break_line()?;
            write!(text, "{label} {words}")?;
        }
    }
    text.finish()
}

/// Writes a name, and returns a writer of the text to its right, or below it if the name is too long.
fn named<'o>(out: &'o mut dyn Write, name: &dyn Display) -> Result<Wrap<'o>, fmt::Error> {
    write!(out, "{name}")?;
    match width(name) {
        wide if wide + 2 > COLUMN => write!(out, "\n{:COLUMN$}", "")?,
        wide => write!(out, "{:1$}", "", COLUMN - wide)?,
    }
    Ok(Wrap::new(out, WIDTH, COLUMN, COLUMN))
}
