//! Errors of the command line, each with its message.

use core::fmt;

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::text::joined;
use latency_core::units::{Bytes, CpuId, LineSize, NodeId};

use super::tokens::Escaped;
use super::{Descriptor, Flag, FlagId, MAX_OPERANDS, MOST_OUTPUTS, ValueError, ValueKind};
use crate::report::format::{Format, Purpose};

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
    /// Two outputs that are the same file; `None` for standard output.
    SameOutput { path: Option<&'a [u8]> },
    /// More outputs than there is room for.
    TooManyOutputs,
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
    NotPageLocal { stride: Bytes, page: Bytes },
    /// Grouped order for an experiment other than the matrix.
    NoGroupedOrder { experiment: &'static Descriptor },
    /// Visits of a page in a window, with an order that has no windows.
    VisitsOfNothing,
    /// A range of sizes with its end below its start.
    RangeBackwards { least: Bytes, most: Bytes },
    /// A label with the value of an environment variable that does not exist.
    NoVariable { name: &'a str },
    /// A load to hold (`--hold`) that is not exactly one rate of one kind of traffic.
    HoldsOneLoad,
    /// A format other than text for the word `help`.
    HelpIsText { format: &'static Format },
    /// Traffic that stores to a part of each cache line.
    PartOfLine { kind: &'static str, line: LineSize },
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
            UsageError::NotUtf8 { argument } => {
                write!(
                    out,
                    "the argument '{argument}' is not UTF-8; retype it in UTF-8",
                    argument = Escaped(argument)
                )
            }
            UsageError::UnknownOption { name, nearest: Some(nearest) } => {
                write!(out, "unknown option '{name}'; did you mean --{nearest}?", name = Escaped(name))
            }
            UsageError::UnknownOption { name, nearest: None } => {
                write!(
                    out,
                    "unknown option '{name}'; `latency-bench --help` lists the options",
                    name = Escaped(name)
                )
            }
            UsageError::ForeignOption { name, ours } => {
                write!(out, "unknown option '{name}'; use {ours}", name = Escaped(name))
            }
            UsageError::UnknownExperiment { name, nearest: Some(nearest) } => {
                write!(out, "unknown experiment '{name}'; did you mean {nearest}?", name = Escaped(name))
            }
            UsageError::UnknownExperiment { name, nearest: None } => {
                write!(
                    out,
                    "unknown experiment '{name}'; `latency-bench -h` lists the experiments",
                    name = Escaped(name)
                )
            }
            UsageError::MissingValue { flag } => {
                write!(out, "--{name} needs a value; use {flag}", name = flag.name)
            }
            UsageError::UnexpectedValue { flag, value } => {
                write!(
                    out,
                    "--{name} takes no value, found '{value}'; give --{name} alone",
                    name = flag.name,
                    value = Escaped(value)
                )
            }
            UsageError::BadValue { flag, kind, value, reason } => {
                write!(
                    out,
                    "invalid --{name} '{value}': {reason}",
                    name = flag.name,
                    value = Escaped(value)
                )?;
                match reason {
                    // The reason already names the remedy.
                    ValueError::DecimalUnit { .. } => Ok(()),
                    ValueError::NotAFormat(formats) => {
                        joined("; use one of ", ", ", formats.iter().map(|format| format.name)).fmt(out)
                    }
                    _ => write!(out, "; use {}", kind.expects),
                }
            }
            UsageError::Repeated { flag } => {
                write!(out, "--{name} given more than once; remove one of them", name = flag.name)
            }
            UsageError::Conflict { first, second, reason } => write!(
                out,
                "--{first} and --{second} cannot be combined ({reason}); remove one of them",
                first = first.name,
                second = second.name
            ),
            UsageError::NotForExperiment { flag, experiment, experiments } => {
                write!(out, "{experiment} has no --{flag}", experiment = experiment.name, flag = flag.name)?;
                if !experiment.measures() && flag.is_of_measuring() {
                    return write!(out, " (it measures nothing)");
                }
                let has = |known: &&&Descriptor| known.flags.contains(flag.id);
                let others = experiments.iter().filter(has).map(|known| known.name);
                joined("; remove it, or use an experiment that has it: ", ", ", others).fmt(out)
            }
            UsageError::NotWithFiles { flag, experiment } => write!(
                out,
                "{experiment} of saved results has no --{flag} (it measures nothing); remove it, or the \
                 files",
                experiment = experiment.name,
                flag = flag.name
            ),
            UsageError::UnknownExtension { path, extension, formats } => {
                write!(
                    out,
                    "--output '{path}': no format has the extension '.{extension}'; add --format, or use \
                     one of ",
                    path = Escaped(path),
                    extension = Escaped(extension)
                )?;
                joined("", ", ", formats.iter().map(|format| format.extension)).fmt(out)
            }
            UsageError::SameOutput { path: Some(path) } => {
                write!(
                    out,
                    "two outputs go to '{path}'; write each to a file of its own",
                    path = Escaped(path)
                )
            }
            UsageError::SameOutput { path: None } => {
                write!(out, "two outputs go to standard output; write each to a file of its own")
            }
            UsageError::TooManyOutputs => {
                write!(out, "there are more than {most} outputs; write fewer at a time", most = MOST_OUTPUTS)
            }
            UsageError::OutputIsInput { output: Some(output), input } => write!(
                out,
                "the output '{output}' is also the input '{input}' and would replace it; write to another \
                 file",
                output = Escaped(output),
                input = Escaped(input)
            ),
            UsageError::OutputIsInput { output: None, input } => write!(
                out,
                "standard output is also the input '{input}' and would replace it; write to another file",
                input = Escaped(input)
            ),
            UsageError::NoSuchOutput { format, experiment, formats } => {
                let missing = match format.purpose {
                    Purpose::Picture => "chart",
                    _ => "memory attributes of nodes",
                };
                write!(
                    out,
                    "{experiment} has no {missing}, so --format={format} is not available; use one of ",
                    experiment = experiment.name,
                    format = format.name
                )?;
                let others = |other: &&Format| **other != *format && experiment.is_written_as(other);
                joined("", ", ", formats.iter().filter(others).map(|format| format.name)).fmt(out)
            }
            UsageError::NotOfSaved { format } => write!(
                out,
                "a report of saved results cannot be written as {format} (their values differ); use one of \
                 text, json, jsonl, md, html",
                format = format.name
            ),
            UsageError::UnexpectedOperand { operand, experiment }
                if experiment.operands.most > 2 && !operand.is_empty() =>
            {
                // The commands with the most arguments read files of several results.
                let is_of_files = experiment.operands.most == MAX_OPERANDS;
                write!(
                    out,
                    "more than {most} arguments, from '{operand}' on; {remedy}",
                    most = experiment.operands.most,
                    operand = Escaped(operand),
                    remedy = if is_of_files { "join files: cat FILES" } else { "use fewer" }
                )
            }
            UsageError::UnexpectedOperand { operand, experiment } => write!(
                out,
                "unexpected argument '{operand}'; usage: {usage}",
                usage = experiment.typed(" [OPTIONS]"),
                operand = Escaped(operand)
            ),
            UsageError::MissingOperand { experiment } => {
                let missing = if experiment.operands.sides { "two results, A and B" } else { "a FILE" };
                write!(
                    out,
                    "{experiment} needs {missing}; usage: {usage}",
                    experiment = experiment.name,
                    usage = experiment.typed(" [OPTIONS]")
                )
            }
            UsageError::NoSides { experiment } => write!(
                out,
                "{experiment} needs `--` between the results of both sides; usage: {usage}",
                experiment = experiment.name,
                usage = experiment.typed(" [OPTIONS]")
            ),
            UsageError::TooSmall { flag, size, stride, least } => write!(
                out,
                "--{flag} of {size} is too small for a stride of {stride}; use {least} or more",
                flag = flag.name
            ),
            UsageError::NotPageLocal { stride, page } => write!(
                out,
                "--order=page-local cannot use a stride of {stride}; use a power of two up to {half}K",
                half = page.0 >> 11
            ),
            UsageError::NoGroupedOrder { experiment } => {
                write!(out, "{experiment} has no --order=grouped; use matrix", experiment = experiment.name)
            }
            UsageError::VisitsOfNothing => {
                write!(out, "--visits needs --order=grouped; add it, or remove --visits")
            }
            UsageError::RangeBackwards { least, most } => {
                write!(out, "--min-size of {least} is above --max-size of {most}; swap them")
            }
            UsageError::NoVariable { name } => write!(
                out,
                "the environment variable {name} is not set; set it, or remove --label=env:{name}",
            ),
            UsageError::PartOfLine { kind, line } => write!(
                out,
                "--traffic={kind} stores to a part of each cache line of {line}, and each line would be \
                 written; use read, 1:1 or copy",
                line = line.bytes()
            ),
            UsageError::HoldsOneLoad => write!(
                out,
                "--hold needs exactly one load level; use one non-zero --rates level and one --traffic mix"
            ),
            UsageError::HelpIsText { format } => {
                write!(out, "help cannot be written as {format}; remove the format", format = format.name)
            }
            UsageError::OneCpuOnly { experiment } => {
                let several = experiment.flags.contains(FlagId::LoadCpus);
                write!(
                    out,
                    "--cpu names several CPUs, but {experiment} measures on one CPU; use one CPU{generators}",
                    experiment = experiment.name,
                    generators = if several { ", and --load-cpus for the generators" } else { "" }
                )
            }
            UsageError::OneNodeOnly { option, found } => write!(
                out,
                "--{option} lists {found} nodes, but this experiment measures one pair; run it once per node"
            ),
            // The specification fixes this text exactly.
            UsageError::NodeTooLarge { node, last } => write!(
                out,
                "invalid node id {node} (max node = {last}){only}",
                only = if last.0 == 0 { "; this machine has one node, 0" } else { "" }
            ),
            UsageError::NodeAbsent { node, nodes } => write!(out, "invalid node id {node} (nodes: {nodes})"),
            UsageError::CpuAbsent { cpu, online } => write!(out, "invalid CPU {cpu} (online: {online})"),
            UsageError::CpuOffline { cpu, online } => write!(
                out,
                "CPU {cpu} is offline (online: {online}); choose another CPU, or as root: echo 1 > \
                 /sys/devices/system/cpu/cpu{cpu}/online"
            ),
            UsageError::NoSuchChain { size, stride } => write!(
                out,
                "no chain of this order fits {size} with a stride of {stride}; use a larger --size, or a \
                 power of two as --stride"
            ),
        }
    }
}
