//! The texts made from the table of options: `--help`, `--version`, the README's table.

use core::fmt::{self, Write};

use super::choices::Choice;
use super::flag::{Flag, Group};
use super::flag_set::FlagSet;
use super::flags::FLAGS;
use super::Descriptor;

/// The width that a terminal has had since it was made of cards.
const WIDTH: usize = 80;
/// Where the text beside a name begins.
const COLUMN: usize = 28;

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  invalid arguments
  2  CPU, node, policy or pages: asked for and not obtained, or not verified
  3  no usable clock; or --strict, and the result does not deserve trust
  4  the result could not be written
  5  compare: slower beyond the threshold and the uncertainty
  130  interrupted, after printing what was finished
";

/// Writes `latency-bench 0.1.0` and a newline.
///
/// # Errors
/// Those of `out`.
pub fn write_version(out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "latency-bench {}", env!("CARGO_PKG_VERSION"))
}

/// Writes the help of the program: its experiments and every option in one line each.
///
/// # Errors
/// Those of `out`.
pub fn write_help(out: &mut dyn Write, experiments: &[Descriptor]) -> fmt::Result {
    out.write_str(
        "latency-bench: what one memory access costs, from this core to that memory.\n\n\
         Usage: latency-bench [EXPERIMENT] [OPTIONS]\n\nExperiments:\n",
    )?;
    for (index, experiment) in experiments.iter().enumerate() {
        let mut text = Column::after(out, format_args!("  {}", experiment.name))?;
        text.words(experiment.summary)?;
        if index == 0 {
            text.words("(the default)")?;
        }
        text.end()?;
    }
    for group in Group::ALL {
        writeln!(out, "\n{}:", group.heading())?;
        for flag in FLAGS.iter().filter(|flag| flag.group == group) {
            let mut text = beside(out, flag)?;
            text.words(flag.help)?;
            text.end()?;
        }
    }
    out.write_str(
        "\nA SIZE has K, M, G or T (binary) behind it. `latency-bench EXPERIMENT --help`\n\
         explains an experiment and the defaults of its options.\n\n",
    )?;
    out.write_str(EXIT_CODES)?;
    out.write_str(
        "\nExamples:\n  \
         latency-bench                                  every node to every node\n  \
         latency-bench --cpunode=0 --memnode=1 --json   one pair, for a program\n  \
         latency-bench curve --pages=2m --output=c.svg --format=svg\n",
    )
}

/// Writes the help of one experiment: every option that bears on it, with its default and the reason.
///
/// # Errors
/// Those of `out`.
pub fn write_experiment_help(out: &mut dyn Write, experiment: &Descriptor) -> fmt::Result {
    let names = experiment.operands.names;
    let space = if names.is_empty() { "" } else { " " };
    writeln!(out, "latency-bench {}: {}\n", experiment.name, experiment.summary)?;
    writeln!(out, "Usage: latency-bench {}{space}{names} [OPTIONS]\n", experiment.name)?;
    for paragraph in experiment.details.split('\n') {
        let mut text = Column { out: &mut *out, margin: 0, used: 0 };
        text.words(paragraph)?;
        text.end()?;
    }
    out.write_str("Formats:")?;
    for format in experiment.formats {
        write!(out, " {}", format.word())?;
    }
    out.write_str("\n")?;
    let accepted = experiment.flags.union(FlagSet::ALWAYS);
    for group in Group::ALL {
        let mut flags =
            FLAGS.iter().filter(|flag| flag.group == group && accepted.contains(flag.id)).peekable();
        if flags.peek().is_some() {
            writeln!(out, "\n{}:", group.heading())?;
        }
        for flag in flags {
            let mut text = beside(out, flag)?;
            text.words(flag.help)?;
            if !flag.default.is_empty() {
                text.newline()?;
                text.words("default:")?;
                text.words(flag.default)?;
            }
            if !flag.reason.is_empty() {
                text.newline()?;
                text.words("why:")?;
                text.words(flag.reason)?;
            }
            text.end()?;
        }
    }
    writeln!(out, "\n{EXIT_CODES}\nExample:\n  latency-bench {}{space}{names}", experiment.name)
}

/// Writes the table of options as Markdown, as it stands in the README.
///
/// # Errors
/// Those of `out`.
pub fn write_markdown_table(out: &mut dyn Write, experiments: &[Descriptor]) -> fmt::Result {
    out.write_str("| option | meaning | default | experiments |\n| --- | --- | --- | --- |\n")?;
    for flag in FLAGS {
        out.write_str("| `")?;
        // A bar ends a cell even inside of code.
        for part in Bars(flag).parts() {
            out.write_str(part)?;
        }
        let default = if flag.default.is_empty() { "off" } else { flag.default };
        write!(out, "` | {} | {default}", flag.help)?;
        if !flag.reason.is_empty() {
            write!(out, ": {}", flag.reason)?;
        }
        out.write_str(" | ")?;
        write_bearing(out, flag, experiments)?;
        out.write_str(" |\n")?;
    }
    Ok(())
}

/// An option whose value may be written with bars.
struct Bars(&'static Flag);

impl Bars {
    fn parts(&self) -> impl Iterator<Item = &'static str> {
        let kind = self.0.kind();
        let words = kind.map_or("", |kind| kind.name).split('|').enumerate();
        let head = ["--", self.0.name, if kind.is_some() { "=" } else { "" }];
        head.into_iter().chain(words.flat_map(|(index, word)| [if index == 0 { "" } else { "\\|" }, word]))
    }
}

/// `all`, or the experiments that `flag` bears on, or all but those that it does not.
fn write_bearing(out: &mut dyn Write, flag: &Flag, experiments: &[Descriptor]) -> fmt::Result {
    let bears = |known: &&Descriptor| known.flags.union(FlagSet::ALWAYS).contains(flag.id);
    let with = experiments.iter().filter(bears).count();
    let most = with * 2 > experiments.len();
    if with == experiments.len() {
        return out.write_str("all");
    }
    let mut separator = if most { "all but " } else { "" };
    for known in experiments.iter().filter(|known| bears(known) != most) {
        write!(out, "{separator}`{}`", known.name)?;
        separator = ", ";
    }
    Ok(())
}

/// Begins the line of an option.
fn beside<'o>(out: &'o mut dyn Write, flag: &Flag) -> Result<Column<'o>, fmt::Error> {
    match flag.short {
        Some(letter) => Column::after(out, format_args!("  -{}, {flag}", char::from(letter))),
        None => Column::after(out, format_args!("  {flag}")),
    }
}

/// Text that is broken between words, each line beginning at a margin.
struct Column<'o> {
    out: &'o mut dyn Write,
    margin: usize,
    used: usize,
}

impl<'o> Column<'o> {
    /// Text beside `name`, or below it where it is too long.
    fn after(out: &'o mut dyn Write, name: fmt::Arguments<'_>) -> Result<Self, fmt::Error> {
        let mut counted = Counted { out: &mut *out, written: 0 };
        counted.write_fmt(name)?;
        let written = counted.written;
        let mut column = Column { out, margin: COLUMN, used: 0 };
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

    fn end(self) -> fmt::Result {
        self.out.write_str("\n")
    }
}

/// Counts what passes through it; names are ASCII.
struct Counted<'o> {
    out: &'o mut dyn Write,
    written: usize,
}

impl Write for Counted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.written += text.len();
        self.out.write_str(text)
    }
}
