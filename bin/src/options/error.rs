//! Errors of the command line, each with its message.

use core::fmt;

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::text::joined;
use latency_core::units::{Bytes, CpuId, NodeId};

use super::tokens::Escaped;
use super::{Descriptor, Flag, FlagId, ValueError, ValueKind};
use crate::report::format::{Format, Purpose};

/// Writes a message: the fact, and the remedy after a semicolon.
macro_rules! message {
    ($out:ident, $fact:literal $(, $of_fact:expr)*; $remedy:literal $(, $of_remedy:expr)*) => {
        write!($out, "{}; {}", format_args!($fact $(, $of_fact)*), format_args!($remedy $(, $of_remedy)*))
    };
}
pub(crate) use message;

/// An invalid argument: invalid alone, together with others, or on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum UsageError<'a> {
    /// An argument that is not UTF-8.
    NotUtf8 { argument: &'a [u8] },
    /// An option that does not exist.
    UnknownOption { name: &'a [u8], nearest: Option<&'static str> },
    /// An option of another tool, with the text to type instead.
    ForeignOption { name: &'a [u8], ours: &'static str },
    /// An experiment that does not exist.
    UnknownExperiment { name: &'a [u8], nearest: Option<&'static str> },
    /// An option without the value that it needs.
    MissingValue { flag: &'static Flag },
    /// A switch with a value.
    UnexpectedValue { flag: &'static Flag, value: &'a [u8] },
    /// A value that the option does not accept.
    BadValue { flag: &'static Flag, kind: &'static ValueKind, value: &'a [u8], reason: ValueError<'a> },
    /// An option that is repeated.
    Repeated { flag: &'static Flag },
    /// Two options that exclude each other.
    Conflict { first: &'static Flag, second: &'static Flag, reason: &'static str },
    /// An option that the experiment does not have.
    NotForExperiment {
        flag: &'static Flag,
        experiment: &'static Descriptor,
        experiments: &'static [&'static Descriptor],
    },
    /// An option of measurements, together with the names of saved results.
    NotWithFiles { flag: &'static Flag, experiment: &'static Descriptor },
    /// A format that the experiment does not have.
    NoSuchOutput { format: &'static Format, experiment: &'static Descriptor, formats: &'static [Format] },
    /// A format of rows or metrics for saved results of several experiments.
    NotOfSaved { format: &'static Format },
    /// A file with an extension that is not that of a format.
    UnknownExtension { path: &'a [u8], extension: &'a [u8], formats: &'static [Format] },
    /// A file that would be read and replaced; `output` is `None` for standard output.
    OutputIsInput { output: Option<&'a [u8]>, input: &'a [u8] },
    /// One operand too many, or an empty operand.
    UnexpectedOperand { operand: &'a [u8], experiment: &'static Descriptor },
    /// One operand too few.
    MissingOperand { experiment: &'static Descriptor },
    /// More than two operands without a `--` that divides them into two sides.
    NoSides { experiment: &'static Descriptor },
    /// A working set that is too small for a chain.
    TooSmall { flag: &'static Flag, size: Bytes, stride: Bytes, least: Bytes },
    /// A stride that does not divide a page into two lines or more.
    NotPageLocal { stride: Bytes },
    /// A range of sizes with its end below its start.
    RangeBackwards { least: Bytes, most: Bytes },
    /// A label with the value of an environment variable that does not exist.
    NoVariable { name: &'a str },
    /// A load to hold (`--hold`) that is not exactly one rate of one kind of traffic.
    HoldsOneLoad,
    /// A format other than text for the word `help`.
    HelpIsText { format: &'static Format },
    /// Several CPUs for an experiment that measures on one.
    OneCpuOnly { experiment: &'static Descriptor },
    /// Several nodes for an experiment that measures one pair.
    OneNodeOnly { option: &'static str, found: usize },
    /// A node beyond the last one.
    NodeTooLarge { node: NodeId, last: NodeId },
    /// A node id between the existing ones.
    NodeAbsent { node: NodeId, nodes: &'a NodeSet },
    /// A CPU that the machine does not have.
    CpuAbsent { cpu: CpuId, online: &'a CpuSet },
    /// A CPU that is offline.
    CpuOffline { cpu: CpuId, online: &'a CpuSet },
    /// A size, a stride and an order for which there is no chain.
    NoSuchChain { size: Bytes, stride: Bytes },
}

impl fmt::Display for UsageError<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            UsageError::NotUtf8 { argument } => message!(
                out, "the argument '{}' is not UTF-8", Escaped(argument);
                "retype it in UTF-8"),
            UsageError::UnknownOption { name, nearest: Some(nearest) } => message!(
                out, "unknown option '{}'", Escaped(name);
                "did you mean --{nearest}?"),
            UsageError::UnknownOption { name, nearest: None } => message!(
                out, "unknown option '{}'", Escaped(name);
                "`latency-bench --help` lists the options"),
            UsageError::ForeignOption { name, ours } => message!(
                out, "unknown option '{}'", Escaped(name);
                "use {ours}"),
            UsageError::UnknownExperiment { name, nearest } => {
                write!(out, "unknown experiment '{}'; ", Escaped(name))?;
                match nearest {
                    Some(nearest) => write!(out, "did you mean {nearest}?"),
                    None => out.write_str("`latency-bench -h` lists the experiments"),
                }
            }
            UsageError::MissingValue { flag } => message!(out, "--{} needs a value", flag.name;
                "use {flag}"),
            UsageError::UnexpectedValue { flag, value } => {
                write!(out, "--{0} takes no value, found '{1}'; give --{0} alone", flag.name, Escaped(value))
            }
            UsageError::BadValue { flag, kind, value, reason } => {
                write!(out, "invalid --{} '{}': {reason}", flag.name, Escaped(value))?;
                match reason {
                    // The reason already names the remedy.
                    ValueError::DecimalUnit { .. } => Ok(()),
                    ValueError::NotAFormat(formats) => {
                        joined("; use one of ", ", ", formats.iter().map(|format| format.name)).fmt(out)
                    }
                    _ => write!(out, "; use {}", kind.expects),
                }
            }
            UsageError::Repeated { flag } => message!(out, "--{} given more than once", flag.name;
                "remove one of them"),
            UsageError::Conflict { first, second, reason } => message!(
                out, "--{} and --{} cannot be combined ({reason})", first.name, second.name;
                "remove one of them"),
            UsageError::NotForExperiment { flag, experiment, experiments } => {
                write!(out, "{} has no --{}", experiment.name, flag.name)?;
                if !experiment.measures() && flag.is_of_measuring() {
                    return out.write_str(" (it measures nothing)");
                }
                let has = |known: &&&Descriptor| known.flags.contains(flag.id);
                let others = experiments.iter().filter(has).map(|known| known.name);
                joined("; remove it, or use an experiment that has it: ", ", ", others).fmt(out)
            }
            UsageError::NotWithFiles { flag, experiment } => message!(
                out, "{} of saved results has no --{} (it measures nothing)", experiment.name, flag.name;
                "remove it, or the files"),
            UsageError::UnknownExtension { path, extension, formats } => {
                write!(out, "--output '{}': no format has the extension ", Escaped(path))?;
                write!(out, "'.{}'; add --format, or use one of ", Escaped(extension))?;
                joined("", ", ", formats.iter().map(|format| format.extension)).fmt(out)
            }
            UsageError::OutputIsInput { output, input } => {
                match output {
                    Some(output) => write!(out, "the output '{}'", Escaped(output))?,
                    None => out.write_str("standard output")?,
                }
                write!(
                    out,
                    " is also the input '{}' and would replace it; write to another file",
                    Escaped(input)
                )
            }
            UsageError::NoSuchOutput { format, experiment, formats } => {
                let missing = match format.purpose {
                    Purpose::Picture => "chart",
                    _ => "memory attributes of nodes",
                };
                write!(out, "{} has no {missing}, so --format={} is ", experiment.name, format.name)?;
                out.write_str("not available; use one of ")?;
                let others = |other: &&Format| **other != *format && experiment.is_written_as(other);
                joined("", ", ", formats.iter().filter(others).map(|format| format.name)).fmt(out)
            }
            UsageError::NotOfSaved { format } => message!(
                out,
                "a report of saved results cannot be written as {} (their values differ)", format.name;
                "use one of text, json, jsonl, md, html"),
            UsageError::UnexpectedOperand { operand, experiment } => message!(
                out, "unexpected argument '{}'", Escaped(operand);
                "{}", usage(experiment)),
            UsageError::MissingOperand { experiment } => {
                let missing = if experiment.operands.sides { "two results, A and B" } else { "a FILE" };
                message!(out, "{} needs {missing}", experiment.name; "{}", usage(experiment))
            }
            UsageError::NoSides { experiment } => message!(
                out, "{} needs `--` between the results of both sides", experiment.name;
                "{}", usage(experiment)),
            UsageError::TooSmall { flag, size, stride, least } => message!(
                out, "--{} of {size} is too small for a stride of {stride}", flag.name;
                "use {least} or more"),
            UsageError::NotPageLocal { stride } => message!(
                out, "--order=page-local cannot use a stride of {stride}";
                "use a power of two up to 2K"),
            UsageError::RangeBackwards { least, most } => message!(
                out, "--min-size of {least} is above --max-size of {most}";
                "swap them"),
            UsageError::NoVariable { name } => message!(out, "the environment variable {name} is not set";
                "set it, or remove --label=env:{name}"),
            UsageError::HoldsOneLoad => message!(out, "--hold needs exactly one load level";
                "use one non-zero --rates level and one --traffic mix"),
            UsageError::HelpIsText { format } => message!(
                out, "help cannot be written as {}", format.name;
                "remove the format"),
            UsageError::OneCpuOnly { experiment } => {
                let several = experiment.flags.contains(FlagId::LoadCpus);
                message!(out, "--cpu names several CPUs, but {} measures on one CPU", experiment.name;
                    "use one CPU{}", if several { ", and --load-cpus for the generators" } else { "" })
            }
            UsageError::OneNodeOnly { option, found } => message!(
                out, "--{option} lists {found} nodes, but this experiment measures one pair";
                "run it once per node"),
            // The specification fixes this text exactly.
            UsageError::NodeTooLarge { node, last } => {
                write!(out, "invalid node id {node} (max node = {last})")?;
                out.write_str(if last.0 == 0 { "; this machine has one node, 0" } else { "" })
            }
            UsageError::NodeAbsent { node, nodes } => {
                write!(out, "invalid node id {node} (nodes: {nodes})")
            }
            UsageError::CpuAbsent { cpu, online } => {
                write!(out, "invalid CPU {cpu} (online: {online})")
            }
            UsageError::CpuOffline { cpu, online } => {
                message!(out, "CPU {cpu} is offline (online: {online})";
                "choose another CPU, or as root: echo 1 > /sys/devices/system/cpu/cpu{cpu}/online")
            }
            UsageError::NoSuchChain { size, stride } => message!(
                out, "no chain of this order fits {size} with a stride of {stride}";
                "use a larger --size, or a power of two as --stride"),
        }
    }
}

fn usage(experiment: &Descriptor) -> impl fmt::Display + use<> {
    let typed = experiment.typed(" [OPTIONS]");
    fmt::from_fn(move |out| write!(out, "usage: {typed}"))
}
