//! The table of options. The parser and the help texts use it.
//!
//! An option is added by one entry here. This module does not depend on its meaning for an experiment.

use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};

use latency_core::cores::Exchange;
use latency_core::units::NodeId;

use super::kinds::{
    BASELINE, BYTES, COUNT, CPU, CPUS, FILE, FORMAT, KERNEL, KINDS, LABEL, LIST, LOAD_FROM, METHOD, NODE, OF,
    ORDER, PACING, PAGES, PAIRS, PERCENT, RATES, SECONDS, SIZE, THREADS, UNIT, UNTIL, VIEW, ValueKind, WHEN,
    WHOLE_SECONDS,
};
use super::values::{self, ValueError};
use super::{Help, Options, pairs};
use crate::report::format::Format;
use Setter::{Switch, Value};

/// Maximum `--points-per-octave`: a step of 1/64 of an octave is 1 %, below the spread between placements.
const MOST_POINTS: u32 = 64;
/// Maximum `--levels`.
const MOST_LEVELS: u32 = 24;
/// Maximum `--burst`, in lines: with bursts of more than 64 KiB, traffic would not have a steady rate.
const MOST_BURST: u32 = 1024;
/// Maximum `--hold`, in seconds: each second is a round, and all rounds are kept in memory.
const MOST_HELD: u32 = 1000;
/// Maximum `--trials`: every trial is kept in memory until the end.
const MOST_TRIALS: u32 = 1_000_000;

/// The options under one heading of the help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Processors, nodes and pages.
    Placement,
    /// The working set and the chain through it.
    Chain,
    /// The traffic of generators, and their CPUs.
    Traffic,
    /// The exchange of lines between CPUs.
    Cores,
    /// Duration and precision of the measurement.
    Sampling,
    /// Conclusions from a result.
    Verdict,
    /// Format, destination and appearance of the result.
    Output,
    /// Options that every program has.
    General,
}

/// Every group with its heading, in the order of the help text.
pub const GROUPS: [(Group, &str); 8] = [
    (Group::Placement, "Placement"),
    (Group::Chain, "Working set and order"),
    (Group::Traffic, "Traffic"),
    (Group::Cores, "Lines between cores"),
    (Group::Sampling, "Measurement"),
    (Group::Verdict, "Verdict"),
    (Group::Output, "Output"),
    (Group::General, "General"),
];

/// The change that an option makes to [`Options`].
#[derive(Clone, Copy)]
pub enum Setter {
    /// An option without a value.
    Switch(fn(&mut Options<'_>)),
    /// An option with a value.
    Value(&'static ValueKind, for<'a> fn(&mut Options<'a>, &'a [u8]) -> Result<(), ValueError<'a>>),
}

/// One option.
#[derive(Clone, Copy)]
pub struct Flag {
    /// Its name in sets.
    pub id: FlagId,
    /// Its name without the dashes.
    pub name: &'static str,
    /// Its one-letter form.
    pub short: Option<u8>,
    /// Its heading in the help.
    pub group: Group,
    /// True if the short help lists it.
    pub common: bool,
    /// Its meaning, in one line.
    pub help: &'static str,
    /// Its default; empty for a switch that is off.
    pub default: &'static str,
    /// The reason in the hardware for the default; may be empty.
    pub reason: &'static str,
    /// The change that it makes.
    pub set: Setter,
}

impl Flag {
    /// The values of the fields that most options share.
    const PLAIN: Flag = Flag {
        id: FlagId::Version,
        name: "",
        short: None,
        group: Group::General,
        common: false,
        help: "",
        default: "",
        reason: "",
        set: Switch(|_| ()),
    };

    /// Returns the kind of its value, if it has one.
    #[must_use]
    pub const fn kind(&self) -> Option<&'static ValueKind> {
        match self.set {
            Setter::Switch(_) => None,
            Setter::Value(kind, _) => Some(kind),
        }
    }

    /// Returns whether it concerns only a measurement or its record.
    #[must_use]
    pub fn is_of_measuring(&self) -> bool {
        !matches!(self.group, Group::Verdict | Group::Output | Group::General)
            || matches!(self.id, FlagId::Strict | FlagId::Label | FlagId::Anonymous)
    }

    /// Returns whether `typed`, dashes included, is this option.
    #[must_use]
    pub fn is_called(&self, typed: &[u8]) -> bool {
        match typed {
            [b'-', b'-', name @ ..] => name == self.name.as_bytes(),
            [b'-', letter] => self.short == Some(*letter),
            _ => false,
        }
    }
}

// Function pointers cannot be compared reliably; ids can.
impl PartialEq for Flag {
    fn eq(&self, other: &Flag) -> bool {
        self.id == other.id
    }
}

impl Eq for Flag {}

impl fmt::Debug for Flag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Flag({self})")
    }
}

/// Writes `--size=SIZE`, or `--json`.
impl fmt::Display for Flag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Some(kind) => write!(out, "--{}={}", self.name, kind.name),
            None => write!(out, "--{}", self.name),
        }
    }
}

/// Marks an option that the short help lists.
const COMMON: bool = true;

/// Declares the options, each with its identifier, its typed name, an optional letter, its group, its effect and its
/// texts.
macro_rules! flags {
    ($($id:ident $name:literal $($short:literal)? $group:ident $($common:expr)?, $set:expr,
        $help:literal $(, default $default:literal)? $(, because $reason:literal)?;)*) => {
        /// Every option, in the order of the help text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)] // each is described in the table, by the text that users read
        pub enum FlagId {
            $($id,)*
        }

        /// Every option, in the order of [`FlagId`] and of the help text.
        pub const FLAGS: &[Flag] = &[$(Flag {
            id: FlagId::$id,
            name: $name,
            $(short: Some($short),)?
            group: Group::$group,
            $(common: $common,)?
            help: $help,
            $(default: $default,)?
            $(reason: $reason,)?
            set: $set,
            ..Flag::PLAIN
        },)*];
    };
}

flags! {
    CpuNode "cpunode" Placement COMMON,
        Value(&LIST, |options, value| set_some(&mut options.cpunode, values::ids(value))),
        "run on these nodes, such as 0,2-3",
        default "all that this process may use";
    MemNode "memnode" Placement COMMON,
        Value(&LIST, |options, value| set_some(&mut options.memnode, values::ids(value))),
        "measure memory of these nodes",
        default "all that this process may use";
    Cpu "cpu" Placement COMMON,
        Value(&CPU, first_or_number),
        "run on this CPU, or on the first one of the node",
        default "the first allowed CPU of the node, or an idle one behind the same cache while others use it",
        because "other work on the same CPU interrupts trials and evicts their lines";
    Pages "pages" Placement COMMON,
        Value(&PAGES, |options, value| set(&mut options.pages, values::choice(value))),
        "pages of the working set (exit 2 if unavailable)",
        default "auto, the first that works of 2m, thp and 4k",
        because "with 4 KiB pages, random loads beyond the reach of the TLB include page walks";
    Size "size" Chain COMMON,
        Value(&SIZE, |options, value| set_some(&mut options.size, values::size(value))),
        "working set: the bytes that are walked",
        default "4 x the last-level cache, at least 256M, at most half of what the node can give; doubled while a cache serves it",
        because "a quarter of the loads or fewer then hit that cache";
    MinSize "min-size" Chain,
        Value(&SIZE, |options, value| set_some(&mut options.min_size, values::size(value))),
        "smallest working set",
        default "half of the L1 data cache",
        because "there every load hits the L1";
    MaxSize "max-size" Chain,
        Value(&SIZE, |options, value| set_some(&mut options.max_size, values::size(value))),
        "largest working set",
        default "4 x the last-level cache",
        because "there the curve is flat again, at the latency of memory";
    PointsPerOctave "points-per-octave" Chain,
        Value(&COUNT, |options, value| set_some(&mut options.points_per_octave, small(value, MOST_POINTS))),
        "working sets for each doubling of the size",
        default "4, and more where a cache ends",
        because "latency rises within less than one doubling there";
    Order "order" Chain,
        Value(&ORDER, |options, value| set(&mut options.order, values::choice(value))),
        "order in which the lines are visited",
        default "random",
        because "prefetchers and the TLB help with every other order";
    Stride "stride" Chain,
        Value(&BYTES, |options, value| set(&mut options.stride, values::stride(value))),
        "spacing from line to line: 8, 16, 32 or a multiple of 64",
        default "64",
        because "one cache line of x86-64";
    Kernel "kernel" Chain,
        Value(&KERNEL, |options, value| set(&mut options.kernel, values::choice(value))),
        "follow pointers or array indices",
        default "pointer",
        because "an index adds address arithmetic to each load";
    Seed "seed" Chain,
        Value(&COUNT, |options, value| set(&mut options.seed, values::integer(value))),
        "random order number N",
        default "42";
    Traffic "traffic" Traffic COMMON,
        Value(&KINDS, |options, value| set_some(&mut options.traffic, values::traffic(value))),
        "kinds of traffic; n:1 reads n lines and writes one of them",
        default "read; with --view=mix all of them; of loaded read,2:1";
    View "view" Traffic COMMON,
        Value(&VIEW, |options, value| set(&mut options.view, values::choice(value))),
        "show node to node, kinds of traffic, numbers of cores, or each core",
        default "nodes";
    LoadCpus "load-cpus" Traffic COMMON,
        Value(&CPUS, |options, value| set_some(&mut options.load_cpus, values::ids(value))),
        "generate traffic on these CPUs (exit 2 if unavailable)",
        default "one CPU of each core of the node";
    LoadThreads "load-threads" Traffic,
        Value(&THREADS, |options, value| set(&mut options.load_threads, values::choice(value))),
        "use one or all hardware threads of a core",
        default "one",
        because "threads of a core share its fill buffers, and seldom deliver more than one";
    LoadFrom "load-from" Traffic,
        Value(&LOAD_FROM, |options, value| set(&mut options.load_from, values::choice(value))),
        "generate on the CPUs of this node, or of all",
        default "cpunode";
    LoadNode "load-node" Traffic,
        Value(&NODE, |options, value| {
            set_some(&mut options.load_node, values::number(value, 8191).map(NodeId))
        }),
        "generate in the memory of this node",
        default "that of the chase";
    Rates "rates" Traffic COMMON,
        Value(&RATES, |options, value| set(&mut options.rates, values::rates(value))),
        "offer these rates: GB/s of all together, shares of the limit, 0 or max",
        default "auto, a curve from idle to the limit";
    Levels "levels" Traffic,
        Value(&COUNT, |options, value| set(&mut options.levels, small(value, MOST_LEVELS))),
        "levels of load of that curve, idle and the limit among them",
        default "10, then 2 where latency doubles";
    Pacing "pacing" Traffic,
        Value(&PACING, |options, value| set(&mut options.pacing, values::choice(value))),
        "draw the gaps between bursts at random, or keep them even",
        default "poisson",
        because "even gaps hide the waiting in queues";
    Burst "burst" Traffic,
        Value(&COUNT, |options, value| set_some(&mut options.burst, small(value, MOST_BURST))),
        "lines that a generator touches at a time",
        default "the fewest for which the look at the clock costs a quarter of the gap";
    Hold "hold" Traffic,
        Value(&WHOLE_SECONDS, |options, value| set_some(&mut options.hold, small(value, MOST_HELD))),
        "hold the one rate of --rates for so long, whatever the --budget, and write a line each second",
        default "none is held",
        because "a load that is known is what counters are checked against";
    Pairs "pairs" Cores COMMON,
        Value(&PAIRS, |options, value| set(&mut options.pairs, pairs::read(value))),
        "exchange lines between all CPUs, a few of each class, or these",
        default "auto, all of up to 64 CPUs, and classes of more";
    Method "method" Cores COMMON,
        Value(&METHOD, |options, value| set(&mut options.method, values::choice(value))),
        "how a core tells that it is its turn: compare and swap, or stores",
        default "cas",
        because "it is what most tools have; with read-cas plain loads wait, and a line may move twice";
    Lines "lines" Cores,
        Value(&COUNT, |options, value| {
            set_some(&mut options.lines, small(value, Exchange::MOST_PLACES as u32))
        }),
        "lines to exchange, in pages of their own; 32 or fewer",
        default "16",
        because "where a line's state is kept depends on its address";
    States "states" Cores COMMON,
        Switch(|options| options.states = true),
        "also read and take lines that another core has changed, read or shared";
    Iters "iters" Sampling,
        Value(&COUNT, |options, value| {
            set(&mut options.iters, values::count(value, u64::MAX).map(NonZeroU64::new))
        }),
        "loads in one trial",
        default "chosen from the latency found while warming up",
        because "a trial of 20 to 200 us is long for the timer and short for the scheduler";
    Trials "trials" Sampling,
        Value(&COUNT, |options, value| set_some(&mut options.trials, small(value, MOST_TRIALS))),
        "number of trials",
        default "as many as --precision needs within --time-limit";
    Precision "precision" Sampling,
        Value(&PERCENT, |options, value| set(&mut options.precision, values::percentage(value, false))),
        "stop when the 95 % interval is within +-PCT of the result",
        default "1 %; of cores 5 %";
    TimeLimit "time-limit" Sampling COMMON,
        Value(&SECONDS, |options, value| set(&mut options.time_limit, values::seconds(value, false))),
        "stop each pair or size after this time",
        default "10 for one pair; experiments with many sizes stop after about 20 in all";
    Spread "spread" Sampling,
        Value(&SECONDS, |options, value| set(&mut options.spread, values::seconds(value, true))),
        "spread the rounds over so much time, idle between them; 0 for none",
        default "5 with few pairs or sizes; 0 with --trials",
        because "neighbours and clocks change over seconds";
    Until "until" Sampling,
        Value(&UNTIL, |options, value| set_some(&mut options.until, values::until(value))),
        "go on until neighbours were quiet, for 60 s or SECONDS",
        default "none; the run ends after --time-limit",
        because "neighbours only add to a latency: what hardware gives shows while they rest";
    Budget "budget" Sampling COMMON,
        Value(&SECONDS, |options, value| set(&mut options.budget, values::seconds(value, false))),
        "end the run after about this time",
        default "60, and 90 of report";
    WarmupIters "warmup-iters" Sampling,
        Value(&COUNT, |options, value| set_some(&mut options.warmup_iters, values::integer(value))),
        "loads before the first trial; 0 measures cold",
        default "one pass, up to 1048576 loads; more where a cache holds the working set",
        because "the first pass also fills caches and TLB";
    Counters "counters" Sampling,
        Switch(|options| options.counters = true),
        "add hardware counters, or say why there are none";
    Threshold "threshold" Verdict COMMON,
        Value(&PERCENT, |options, value| set(&mut options.threshold, values::percentage(value, true))),
        "how much slower B, or a host, may be",
        default "3 %; of fleet 10 %",
        because "two runs on one machine differ by 1 to 2 %";
    Baseline "baseline" Verdict COMMON,
        Value(&BASELINE, |options, value| set_some(&mut options.baseline, values::path(value))),
        "compare hosts with these results, and not with each other",
        default "none";
    Of "of" Verdict,
        Value(&OF, |options, value| set(&mut options.of, values::choice(value))),
        "judge the value of the whole run, or that while neighbours were quiet",
        default "typical",
        because "not every run sees its neighbours quiet";
    Force "force" Verdict,
        Switch(|options| options.force = true),
        "judge results of different conditions, and unreliable ones";
    Unit "unit" Chain,
        Value(&UNIT, |options, value| set_some(&mut options.unit, values::unit(value))),
        "the unit of the sizes in another tool's table",
        default "bytes; a heading or suffix that says so decides";
    Strict "strict" Verdict,
        Switch(|options| options.strict = true),
        "exit 3 if the result is unreliable";
    DryRun "dry-run" Sampling COMMON,
        Switch(|options| options.dry_run = true),
        "print the plan to standard output; writes no file";
    Format "format" Output,
        Value(&FORMAT, format),
        "write the result as",
        default "text, or what the extension of --output says";
    Json "json" b'j' Output COMMON,
        Switch(|options| choose(options, "json")),
        "short for --format=json";
    Csv "csv" Output,
        Switch(|options| choose(options, "csv")),
        "short for --format=csv";
    Output "output" b'o' Output COMMON,
        Value(&FILE, output),
        "write the result to a file; - is standard output; repeat it for more formats",
        default "standard output";
    Save "save" Output COMMON,
        Value(&FILE, |options, value| set_some(&mut options.saved, values::path(value))),
        "also write the result to a file as JSON",
        default "none";
    Label "label" Output,
        Value(&LABEL, |options, value| options.labels.add(value)),
        "add this to the host in JSON, or with env:NAME that variable; may be repeated",
        default "none";
    Anonymous "anonymous" Output,
        Switch(|options| options.anonymous = true),
        "leave out the names of the host, its boot and files";
    Heatmap "heatmap" Output,
        Switch(|options| options.heatmap = true),
        "draw the matrix below its text";
    Reciprocal "reciprocal" Output,
        Switch(|options| options.reciprocal = true),
        "plot accesses per second";
    Quiet "quiet" b'q' Output COMMON,
        Switch(|options| options.quiet = true),
        "print only the result";
    Verbose "verbose" b'v' Output COMMON,
        Switch(|options| options.verbose = true),
        "print everything, notes included";
    Progress "progress" Output,
        Value(&WHEN, |options, value| set(&mut options.progress, values::choice(value))),
        "show progress on standard error",
        default "auto, only on a terminal";
    Color "color" Output,
        Value(&WHEN, |options, value| set(&mut options.color, values::choice(value))),
        "use colours in text",
        default "auto, only on a terminal";
    Help "help" b'h' General COMMON,
        Switch(|options| options.help = Some(Help::Long)),
        "print every option (--help) or the common ones (-h)";
    Version "version" b'V' General,
        Switch(|options| options.version = true),
        "print the version";
}

/// Sets an option to a parsed value.
fn set<'a, T>(option: &mut T, value: Result<T, ValueError<'a>>) -> Result<(), ValueError<'a>> {
    *option = value?;
    Ok(())
}

/// Sets an option that has no default to a parsed value.
fn set_some<'a, T>(option: &mut Option<T>, value: Result<T, ValueError<'a>>) -> Result<(), ValueError<'a>> {
    set(option, value.map(Some))
}

/// Sets the CPU to run on: `first`, or a number.
fn first_or_number<'a>(options: &mut Options<'a>, value: &'a [u8]) -> Result<(), ValueError<'a>> {
    options.first_cpu = value == b"first";
    options.cpu = if options.first_cpu { None } else { Some(values::cpu(value)?) };
    Ok(())
}

/// Adds an output; `-` is standard output. Its format is decided when all options are known.
fn output<'a>(options: &mut Options<'a>, value: &'a [u8]) -> Result<(), ValueError<'a>> {
    options.push_output(values::path(value)?, options.format);
    Ok(())
}

/// Chooses a format by the value of `--format`.
fn format<'a>(options: &mut Options<'a>, name: &'a [u8]) -> Result<(), ValueError<'a>> {
    let named = Format::named(options.formats, name).ok_or(ValueError::NotAFormat(options.formats));
    set(&mut options.format, named)
}

/// Chooses the format with the name of the typed option. If the table of formats does not have it, the format does not
/// change.
fn choose(options: &mut Options<'_>, name: &str) {
    options.format = Format::named(options.formats, name.as_bytes()).unwrap_or(options.format);
}

/// Reads a count of objects that are kept in memory, from 1 to `most`.
fn small(text: &[u8], most: u32) -> Result<NonZeroU32, ValueError<'_>> {
    let count = u32::try_from(values::count(text, most.into())?);
    count.ok().and_then(NonZeroU32::new).ok_or(ValueError::Overflow)
}

#[cfg(test)]
mod tests {
    use super::super::choices::{Kernel, Order};
    use super::*;
    use crate::options::plain::assert_plain;
    use latency_core::cores::Method;
    use latency_core::units::Pages;
    use latency_core::words::{When, Worded};
    use std::string::String;
    use std::vec::Vec;

    fn words<C: Worded>() -> String {
        C::WORDS.iter().map(|&(word, _)| word).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn the_value_names_list_every_word() {
        assert_eq!(PAGES.name, words::<Pages>());
        assert_eq!(ORDER.name, words::<Order>());
        assert_eq!(KERNEL.name, words::<Kernel>());
        assert_eq!(WHEN.name, words::<When>());
        assert_eq!(METHOD.name, words::<Method>());
        for kind in [&PAGES, &ORDER, &KERNEL, &WHEN, &METHOD] {
            assert!(kind.name.split('|').all(|word| kind.expects.contains(word)), "{}", kind.name);
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_ids() {
        for (index, flag) in FLAGS.iter().enumerate() {
            assert_eq!(flag.id as usize, index, "{flag}");
            assert!(!flag.help.is_empty() && !flag.help.ends_with('.'), "{flag}");
            assert_eq!(flag.default.is_empty(), flag.kind().is_none(), "{flag}");
            for text in [flag.help, flag.default, flag.reason] {
                assert_plain(text);
            }
        }
        assert_eq!(FLAGS.len(), FlagId::Version as usize + 1);
    }
}
