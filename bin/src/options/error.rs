//! Errors of the command line, each with its message.

use latency_core::{Bytes, CpuId, CpuSet, LineSize, NodeId, NodeSet, messages};

use super::tokens::Escaped;
use super::{Descriptor, FLAGS, Flag, FlagId, MAX_OPERANDS, MOST_OUTPUTS, ValueError, ValueKind};
use latency_report::lists::joined;
use latency_report::{Format, Purpose};

messages! {
    /// An invalid argument: invalid alone, together with others, or on this machine.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum UsageError {
        /// An argument that is not UTF-8.
        NotUtf8 { argument: Escaped<'static> } =>
            "the argument '{argument}' is not UTF-8; retype it in UTF-8";
        /// An option that does not exist.
        UnknownOption { name: Escaped<'static>, nearest: Option<&'static str> }
            if nearest.is_none() =>
            "unknown option '{name}'; `latency-bench --help` lists the options";
            =>
            "unknown option '{name}'; did you mean --{nearest}?"; where nearest = nearest.unwrap_or_default();
        /// An option of another tool, with the text to type instead.
        ForeignOption { name: Escaped<'static>, ours: &'static str } =>
            "unknown option '{name}'; use {ours}";
        /// An experiment that does not exist.
        UnknownExperiment { name: Escaped<'static>, nearest: Option<&'static str> }
            if nearest.is_none() =>
            "unknown experiment '{name}'; `latency-bench -h` lists the experiments";
            =>
            "unknown experiment '{name}'; did you mean {nearest}?"; where nearest = nearest.unwrap_or_default();
        /// An option without the value that it needs.
        MissingValue { flag: &'static Flag } => "{flag:#} needs a value; use {flag}";
        /// A switch with a value.
        UnexpectedValue { flag: &'static Flag, value: Escaped<'static> } =>
            "{flag:#} takes no value, found '{value}'; give {flag:#} alone";
        /// A value that the option does not accept.
        BadValue { flag: &'static Flag, kind: &'static ValueKind, value: Escaped<'static>, reason: ValueError<'static> }
            // The reason already names the remedy.
            if matches!(reason, ValueError::DecimalUnit { .. }) =>
            "invalid {flag:#} '{value}': {reason}";
            if matches!(reason, ValueError::NotAFormat(_)) =>
            "invalid {flag:#} '{value}': {reason}; use one of {formats}"; where formats = reason.formats();
            =>
            "invalid {flag:#} '{value}': {reason}; use {valid}"; where valid = kind.expects;
        /// An option that is repeated.
        Repeated { flag: &'static Flag } =>
            "{flag:#} given more than once; remove one of them";
        /// Two options that exclude each other.
        Conflict { first: &'static Flag, second: &'static Flag, reason: &'static str } =>
            "{first:#} and {second:#} cannot be combined ({reason}); remove one of them";
        /// Another option beside `--probe`.
        ProbeAlone => "--probe allows no other option; use `latency-bench system --probe`";
        /// An option that the experiment does not have.
        NotForExperiment {
            flag: &'static Flag, experiment: &'static Descriptor, experiments: &'static [&'static Descriptor]
        }
            if !experiment.measures() && flag.is_of_measuring() =>
            "{experiment} has no {flag:#} (it measures nothing)";
            =>
            "{experiment} has no {flag:#}{others}"; where
                has = |known: &&&Descriptor| known.flags.contains(flag.id),
                names = experiments.iter().filter(has).map(|known| known.name),
                others = joined("; remove it, or use an experiment that has it: ", ", ", names);
        /// An option of measurements, together with the names of saved results.
        NotWithFiles { flag: &'static Flag, experiment: &'static Descriptor } =>
            "{experiment} of saved results has no {flag:#} (it measures nothing); remove it, or the files";
        /// A format that the experiment does not have.
        NoSuchOutput { format: &'static Format, experiment: &'static Descriptor, formats: &'static [Format] } =>
            "{experiment} has no {missing}, so --format={name} is not available; use one of {others}";
            where missing = match format.purpose {
                    Purpose::Picture => "chart",
                    Purpose::Tests => "test points",
                    _ => "memory attributes of nodes",
                },
                other = |other: &&Format| **other != *format && experiment.is_written_as(other),
                others = joined("", ", ", formats.iter().filter(other).map(|format| format.name)),
                name = format.name;
        /// A format of rows or metrics for saved results of several experiments.
        NotOfSaved { format: &'static Format } =>
            "a report of saved results cannot be written as {format} (their values differ); use one of text, \
            json, jsonl, md, html, or `show FILE --format={format}` for one result"; where format = format.name;
        /// A file with an extension that is not that of a format.
        UnknownExtension { path: Escaped<'static>, extension: Escaped<'static>, formats: &'static [Format] } =>
            "--output '{path}': no format has the extension '.{extension}'; add --format, or use one of \
            {known}"; where known = joined("", ", ", formats.iter().map(|format| format.extension));
        /// Two outputs that are the same file; `None` for standard output.
        SameOutput { path: Option<Escaped<'static>> }
            if path.is_none() => "two outputs go to standard output; write each to a file of its own";
            =>
            "two outputs go to '{path}'; write each to a file of its own";
            where path = path.unwrap_or_default();
        /// More outputs than there is room for.
        TooManyOutputs =>
            "there are more than {most} outputs; write fewer at a time"; where most = MOST_OUTPUTS;
        /// A file that would be read and replaced; `output` is `None` for standard output.
        OutputIsInput { output: Option<Escaped<'static>>, input: Escaped<'static> }
            if output.is_none() =>
            "standard output is also the input '{input}' and would replace it; write to another file";
            =>
            "the output '{output}' is also the input '{input}' and would replace it; write to another file";
            where output = output.unwrap_or_default();
        /// One operand too many, or an empty operand.
        UnexpectedOperand { operand: Escaped<'static>, experiment: &'static Descriptor }
            // The commands with the most arguments read files of several results.
            if experiment.operands.most > 2 && !operand.0.is_empty() =>
            "more than {most} arguments, from '{operand}' on; {remedy}";
            where most = experiment.operands.most,
                remedy = if most == MAX_OPERANDS { "join files: cat FILES" } else { "use fewer" };
            =>
            "unexpected argument '{operand}'; usage: {usage}";
            where usage = experiment.typed(" [OPTIONS]");
        /// One operand too few.
        MissingOperand { experiment: &'static Descriptor } =>
            "{experiment} needs {missing}; usage: {usage}";
            where missing = if experiment.operands.sides { "two results, A and B" } else { "a FILE" },
                usage = experiment.typed(" [OPTIONS]");
        /// More than two operands without a `--` that divides them into two sides.
        NoSides { experiment: &'static Descriptor } =>
            "{experiment} needs `--` between the results of both sides; usage: {usage}";
            where usage = experiment.typed(" [OPTIONS]");
        /// A working set that is too small for a chain.
        TooSmall { flag: &'static Flag, size: Bytes, stride: Bytes, least: Bytes } =>
            "{flag:#} of {size} is too small for a stride of {stride}; use {least} or more";
        /// A stride that does not divide a page into two lines or more.
        NotPageLocal { stride: Bytes, page: Bytes } =>
            "--order=page-local cannot use a stride of {stride}; use a power of two up to {half}K";
            where half = page.0 >> 11;
        /// Grouped order for an experiment other than the matrix.
        NoGroupedOrder { experiment: &'static Descriptor } =>
            "{experiment} has no --order=grouped; use matrix";
        /// A view that only another experiment has.
        NoSuchView { experiment: &'static Descriptor } =>
            "{experiment} has --view=nodes and --view=cores; use bandwidth for other views";
        /// Visits of a page in a window, with an order that has no windows.
        VisitsOfNothing => "--visits needs --order=grouped; add it, or remove --visits";
        /// A range of sizes with its end below its start.
        RangeBackwards { least: Bytes, most: Bytes } =>
            "--min-size of {least} is above --max-size of {most}; swap them";
        /// More sizes between two ends than a fit has room for; `fit` for each doubling are few enough.
        TooManySizes { per_octave: u32, least: Bytes, most: Bytes, fit: u32 } =>
            "--points-per-octave={per_octave} is too many from {least} to {most}; use {fit} or fewer, or a narrower range \
            (--min-size, --max-size)";
        /// A label with the value of an environment variable that does not exist.
        NoVariable { name: &'static str } =>
            "the environment variable {name} is not set; set it, or remove --label=env:{name}";
        /// A load to hold (`--hold`) that is not exactly one rate of one kind of traffic.
        HoldsOneLoad =>
            "--hold needs exactly one load level; use one non-zero --rates level and one --traffic mix";
        /// A format other than text for the word `help`.
        HelpIsText { format: &'static Format } =>
            "help cannot be written as {format}; remove the format"; where format = format.name;
        /// Traffic that stores to a part of each cache line.
        PartOfLine { kind: &'static str, line: LineSize } =>
            "--traffic={kind} stores to a part of each cache line of {line}, and each line would be written; \
            use read, 1:1 or copy"; where line = line.bytes();
        /// Several CPUs for an experiment that measures on one.
        OneCpuOnly { experiment: &'static Descriptor } =>
            "--cpu names several CPUs, but {experiment} measures on one CPU; use one CPU{generators}";
            where generators = match experiment.flags.contains(FlagId::LoadCpus) {
                true => ", and --load-cpus for the generators",
                false => "",
            };
        /// Several nodes for an experiment that measures one pair.
        OneNodeOnly { option: &'static str, found: usize } =>
            "--{option} lists {found} nodes, but this experiment measures one pair; run it once per node";
        /// A node beyond the last one.
        // The specification fixes this text exactly.
        NodeTooLarge { node: NodeId, last: NodeId } =>
            "invalid node id {node} (max node = {last}){only}";
            where only = if last.0 == 0 { "; this machine has one node, 0" } else { "" };
        /// A node id between the existing ones.
        NodeAbsent { node: NodeId, nodes: &'static NodeSet } => "invalid node id {node} (nodes: {nodes})";
        /// A CPU that the machine does not have.
        CpuAbsent { cpu: CpuId, online: &'static CpuSet } => "invalid CPU {cpu} (online: {online})";
        /// A CPU that is offline.
        CpuOffline { cpu: CpuId, online: &'static CpuSet } =>
            "CPU {cpu} is offline (online: {online}); choose another CPU, or as root: echo 1 > \
            /sys/devices/system/cpu/cpu{cpu}/online";
        /// A size, a stride and an order for which there is no chain.
        NoSuchChain { size: Bytes, stride: Bytes } =>
            "no chain of this order fits {size} with a stride of {stride}; use a larger --size, or a power of \
            two as --stride";
    }
}

impl UsageError {
    /// Returns the option whose help tells what to type instead.
    pub fn concerns(&self) -> Option<&'static Flag> {
        match *self {
            UsageError::MissingValue { flag }
            | UsageError::UnexpectedValue { flag, .. }
            | UsageError::BadValue { flag, .. }
            | UsageError::TooSmall { flag, .. } => Some(flag),
            UsageError::UnknownOption { nearest: Some(name), .. } => {
                FLAGS.iter().find(|flag| flag.name == name)
            }
            _ => None,
        }
    }
}
