//! The texts of `-h`, `--help` and `--version`, which the table of options yields.

use core::fmt::{self, Write};

use super::choices::Help;
use super::flag::{Flag, Group};
use super::flag_set::{FlagId, FlagSet};
use super::flags::FLAGS;
use super::Descriptor;
use crate::report::format::Format;

/// The maximum width of a help text, which every terminal has.
const WIDTH: usize = 80;
/// The column at which the text to the right of a name begins.
const COLUMN: usize = 28;

/// The table of exit codes, one a line.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    invalid arguments
  2    CPU, node, policy or pages not obtained, or not proven
  3    no usable clock; or --strict, and the result is unreliable
  4    the result could not be written
  5    compare: B is slower than A; fleet: a host is slower than others like it
  130  interrupted; finished points were printed
";

/// A few command lines with what they do, one a line.
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
        let mut text = WordWrapper::after(out, format_args!("  {}", experiment.name))?;
        text.words(experiment.summary)?;
        if index == 0 {
            text.words("(the default)")?;
        }
        text.end()?;
    }
    if help == Help::Short {
        out.write_str("\nCommon options:\n")?;
        for flag in FLAGS.iter().filter(|flag| flag.common) {
            describe(out, flag, false, formats.iter())?;
        }
        return out.write_str(
            "\n`latency-bench --help` lists every option, exit codes and examples.\n\
             `latency-bench help EXPERIMENT` explains an experiment.\n",
        );
    }
    for group in Group::ALL {
        writeln!(out, "\n{}:", group.heading())?;
        for flag in FLAGS.iter().filter(|flag| flag.group == group) {
            describe(out, flag, false, formats.iter())?;
        }
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
    let formats = || formats.iter().filter(|format| experiment.is_written_as(format));
    let accepted = experiment.flags.union(FlagSet::ALWAYS);
    if help == Help::Short {
        out.write_str("\nCommon options:\n")?;
        for flag in FLAGS.iter().filter(|flag| flag.common && accepted.contains(flag.id)) {
            describe(out, flag, false, formats())?;
        }
        return writeln!(out, "\n`latency-bench help {}` lists every option.", experiment.name);
    }
    out.write_str("\n")?;
    for paragraph in experiment.details.split('\n') {
        let mut text = WordWrapper { out: &mut *out, margin: 0, used: 0 };
        text.words(paragraph)?;
        text.end()?;
    }
    for group in Group::ALL {
        let mut flags =
            FLAGS.iter().filter(|flag| flag.group == group && accepted.contains(flag.id)).peekable();
        if flags.peek().is_some() {
            writeln!(out, "\n{}:", group.heading())?;
        }
        for flag in flags {
            describe(out, flag, true, formats())?;
        }
    }
    writeln!(out, "\n{EXIT_CODES}\nExample:\n  {}", experiment.typed(""))
}

/// Writes an option: its name and its text; with `reasons` also its default and the reason for it.
fn describe<'f>(
    out: &mut dyn Write,
    flag: &Flag,
    reasons: bool,
    formats: impl Iterator<Item = &'f Format>,
) -> fmt::Result {
    let mut text = match flag.short {
        Some(letter) => WordWrapper::after(out, format_args!("  -{}, {flag}", char::from(letter)))?,
        None => WordWrapper::after(out, format_args!("  {flag}"))?,
    };
    text.words(flag.help)?;
    if flag.id == FlagId::Format {
        for (index, format) in formats.enumerate() {
            if index > 0 {
                text.comma()?;
            }
            text.words(format.name)?;
        }
    }
    if reasons && !flag.default.is_empty() {
        text.newline()?;
        text.words("default:")?;
        text.words(flag.default)?;
    }
    if reasons && !flag.reason.is_empty() {
        text.newline()?;
        text.words("why:")?;
        text.words(flag.reason)?;
    }
    text.end()
}

/// A writer that wraps text between words; each line begins at a margin.
struct WordWrapper<'o> {
    out: &'o mut dyn Write,
    margin: usize,
    used: usize,
}

impl<'o> WordWrapper<'o> {
    /// Begins the text to the right of `name`, or below it if the name is too long.
    fn after(out: &'o mut dyn Write, name: fmt::Arguments<'_>) -> Result<Self, fmt::Error> {
        let mut counted = ByteCounter { out: &mut *out, written: 0 };
        counted.write_fmt(name)?;
        let written = counted.written;
        let mut column = WordWrapper { out, margin: COLUMN, used: 0 };
        if written + 2 > COLUMN {
            column.newline()?;
        } else {
            write!(column.out, "{:1$}", "", COLUMN - written)?;
        }
        Ok(column)
    }

    fn newline(&mut self) -> fmt::Result {
        self.used = 0;
        write!(self.out, "\n{:1$}", "", self.margin)
    }

    fn words(&mut self, text: &str) -> fmt::Result {
        for word in text.split(' ') {
            if self.used > 0 && self.margin + self.used + 1 + word.len() > WIDTH {
                self.newline()?;
            }
            if self.used > 0 {
                self.out.write_str(" ")?;
                self.used += 1;
            }
            self.out.write_str(word)?;
            self.used += word.len();
        }
        Ok(())
    }

    /// Ends an item of a list.
    fn comma(&mut self) -> fmt::Result {
        self.used += 1;
        self.out.write_str(",")
    }

    fn end(self) -> fmt::Result {
        self.out.write_str("\n")
    }
}

/// A writer that counts bytes; names are ASCII.
struct ByteCounter<'o> {
    out: &'o mut dyn Write,
    written: usize,
}

impl Write for ByteCounter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.written += text.len();
        self.out.write_str(text)
    }
}
