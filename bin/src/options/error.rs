//! Errors of the command line, each with its message.

use core::fmt::{self, Display};

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::packed::{Packed, PackedPart};
use latency_core::text::joined;
use latency_core::units::{Bytes, CpuId, LineSize, NodeId};

use super::message::{Insert, message};
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
    ForeignOption { name: &'a [u8], ours: PackedPart },
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
    Conflict { first: &'static Flag, second: &'static Flag, reason: Packed },
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
            UsageError::NotUtf8 { argument } => message!(
                out, "the argument '{argument}' is not UTF-8";
                "retype it in UTF-8"; argument),
            UsageError::UnknownOption { name, nearest: Some(nearest) } => message!(
                out, "unknown option '{name}'";
                "did you mean --{nearest}?"; name, nearest),
            UsageError::UnknownOption { name, nearest: None } => message!(
                out, "unknown option '{name}'";
                "`latency-bench --help` lists the options"; name),
            UsageError::ForeignOption { name, ours } => message!(
                out, "unknown option '{name}'";
                "use {ours}"; name, ours = &ours as &dyn Display),
            UsageError::UnknownExperiment { name, nearest: Some(nearest) } => message!(
                out, "unknown experiment '{name}'";
                "did you mean {nearest}?"; name, nearest),
            UsageError::UnknownExperiment { name, nearest: None } => message!(
                out, "unknown experiment '{name}'";
                "`latency-bench -h` lists the experiments"; name),
            UsageError::MissingValue { flag } => message!(
                out, "--{name} needs a value";
                "use {flag}"; name = flag.name, flag = flag as &dyn Display),
            UsageError::UnexpectedValue { flag, value } => message!(
                out, "--{name} takes no value, found '{value}'";
                "give --{name} alone"; name = flag.name, value),
            UsageError::BadValue { flag, kind, value, reason } => {
                message!(
                    out, "invalid --{name} '{value}': {reason}";
                    name = flag.name, value, reason = &reason as &dyn Display)?;
                match reason {
                    // The reason already names the remedy.
                    ValueError::DecimalUnit { .. } => Ok(()),
                    ValueError::NotAFormat(formats) => {
                        joined("; use one of ", ", ", formats.iter().map(|format| format.name)).fmt(out)
                    }
                    _ => write!(out, "; use {}", kind.expects),
                }
            }
            UsageError::Repeated { flag } => message!(
                out, "--{name} given more than once";
                "remove one of them"; name = flag.name),
            UsageError::Conflict { first, second, reason } => message!(
                out, "--{first} and --{second} cannot be combined ({reason})";
                "remove one of them"; first = first.name, second = second.name, reason = &reason as &dyn Display),
            UsageError::NotForExperiment { flag, experiment, experiments } => {
                message!(
                    out, "{experiment} has no --{flag}";
                    experiment = experiment.name, flag = flag.name)?;
                if !experiment.measures() && flag.is_of_measuring() {
                    return message!(out, " (it measures nothing)");
                }
                let has = |known: &&&Descriptor| known.flags.contains(flag.id);
                let others = experiments.iter().filter(has).map(|known| known.name);
                joined("; remove it, or use an experiment that has it: ", ", ", others).fmt(out)
            }
            UsageError::NotWithFiles { flag, experiment } => message!(
                out, "{experiment} of saved results has no --{flag} (it measures nothing)";
                "remove it, or the files"; experiment = experiment.name, flag = flag.name),
            UsageError::UnknownExtension { path, extension, formats } => {
                message!(
                    out, "--output '{path}': no format has the extension '.{extension}'";
                    "add --format, or use one of "; path, extension)?;
                joined("", ", ", formats.iter().map(|format| format.extension)).fmt(out)
            }
            UsageError::SameOutput { path: Some(path) } => message!(
                out, "two outputs go to '{path}'";
                "write each to a file of its own"; path),
            UsageError::SameOutput { path: None } => message!(
                out, "two outputs go to standard output";
                "write each to a file of its own"),
            UsageError::TooManyOutputs => message!(
                out, "there are more than {most} outputs";
                "write fewer at a time"; most = MOST_OUTPUTS),
            UsageError::OutputIsInput { output: Some(output), input } => message!(
                out, "the output '{output}' is also the input '{input}' and would replace it";
                "write to another file"; output, input),
            UsageError::OutputIsInput { output: None, input } => message!(
                out, "standard output is also the input '{input}' and would replace it";
                "write to another file"; input),
            UsageError::NoSuchOutput { format, experiment, formats } => {
                let missing = match format.purpose {
                    Purpose::Picture => "chart",
                    _ => "memory attributes of nodes",
                };
                message!(
                    out, "{experiment} has no {missing}, so --format={format} is not available";
                    "use one of "; experiment = experiment.name, missing, format = format.name)?;
                let others = |other: &&Format| **other != *format && experiment.is_written_as(other);
                joined("", ", ", formats.iter().filter(others).map(|format| format.name)).fmt(out)
            }
            UsageError::NotOfSaved { format } => message!(
                out, "a report of saved results cannot be written as {format} (their values differ)";
                "use one of text, json, jsonl, md, html"; format = format.name),
            UsageError::UnexpectedOperand { operand, experiment }
                if experiment.operands.most > 2 && !operand.is_empty() =>
            {
                // The commands with the most arguments read files of several results.
                let is_of_files = experiment.operands.most == MAX_OPERANDS;
                let remedy = if is_of_files { "join files: cat FILES" } else { "use fewer" };
                message!(
                    out, "more than {most} arguments, from '{operand}' on"; "{remedy}";
                    most = experiment.operands.most, operand, remedy)
            }
            UsageError::UnexpectedOperand { operand, experiment } => message!(
                out, "unexpected argument '{operand}'";
                "usage: {usage}"; operand, usage = &experiment.typed(" [OPTIONS]") as &dyn Display),
            UsageError::MissingOperand { experiment } => {
                let missing = if experiment.operands.sides { "two results, A and B" } else { "a FILE" };
                message!(
                    out, "{experiment} needs {missing}";
                    "usage: {usage}"; experiment = experiment.name, missing,
                    usage = &experiment.typed(" [OPTIONS]") as &dyn Display)
            }
            UsageError::NoSides { experiment } => message!(
                out, "{experiment} needs `--` between the results of both sides";
                "usage: {usage}"; experiment = experiment.name,
                usage = &experiment.typed(" [OPTIONS]") as &dyn Display),
            UsageError::TooSmall { flag, size, stride, least } => message!(
                out, "--{flag} of {size} is too small for a stride of {stride}";
                "use {least} or more"; flag = flag.name, size, stride, least),
            UsageError::NotPageLocal { stride, page } => message!(
                out, "--order=page-local cannot use a stride of {stride}";
                "use a power of two up to {half}"; stride, half = Insert::Unit(page.0 >> 11, 'K')),
            UsageError::RangeBackwards { least, most } => message!(
                out, "--min-size of {least} is above --max-size of {most}";
                "swap them"; least, most),
            UsageError::NoVariable { name } => message!(
                out, "the environment variable {name} is not set";
                "set it, or remove --label=env:{name}"; name),
            UsageError::PartOfLine { kind, line } => message!(
                out, "--traffic={kind} stores to a part of each cache line of {line}, and each line would be written";
                "use read, 1:1 or copy"; kind, line = line.bytes()),
            UsageError::HoldsOneLoad => message!(
                out, "--hold needs exactly one load level";
                "use one non-zero --rates level and one --traffic mix"),
            UsageError::HelpIsText { format } => message!(
                out, "help cannot be written as {format}";
                "remove the format"; format = format.name),
            UsageError::OneCpuOnly { experiment } => {
                let several = experiment.flags.contains(FlagId::LoadCpus);
                message!(
                    out, "--cpu names several CPUs, but {experiment} measures on one CPU";
                    "use one CPU{generators}"; experiment = experiment.name,
                    generators = if several { ", and --load-cpus for the generators" } else { "" })
            }
            UsageError::OneNodeOnly { option, found } => message!(
                out, "--{option} lists {found} nodes, but this experiment measures one pair";
                "run it once per node"; option, found),
            // The specification fixes this text exactly.
            UsageError::NodeTooLarge { node, last } => message!(
                out, "invalid node id {node} (max node = {last}){only}"; node, last,
                only = if last.0 == 0 { "; this machine has one node, 0" } else { "" }),
            UsageError::NodeAbsent { node, nodes } => message!(
                out, "invalid node id {node} (nodes: {nodes})"; node, nodes),
            UsageError::CpuAbsent { cpu, online } => message!(
                out, "invalid CPU {cpu} (online: {online})"; cpu, online),
            UsageError::CpuOffline { cpu, online } => message!(
                out, "CPU {cpu} is offline (online: {online})";
                "choose another CPU, or as root: echo 1 > /sys/devices/system/cpu/cpu{cpu}/online"; cpu, online),
            UsageError::NoSuchChain { size, stride } => message!(
                out, "no chain of this order fits {size} with a stride of {stride}";
                "use a larger --size, or a power of two as --stride"; size, stride),
        }
    }
}
