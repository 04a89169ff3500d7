//! The table of options. The parser and the help texts use it.
//!
//! An option is added by one entry here. This module does not depend on its meaning for an experiment.

use core::fmt;
use core::num::NonZeroU64;

use latency_core::cores::Exchange;
use latency_core::{NodeId, ToReal};

use super::choices::{
    BASELINE, BYTES, CHAINS, COUNT, CPU, CPUS, EXPECTED, FILE, FORMAT, KERNEL, LABEL, LIST, LOAD_FROM,
    MEMORY, METHOD, NODE, OF, ORDER, PACING, PAGES, PAIRS, PERCENT, RATES, SIZE, THREADS, TIME,
    TRAFFIC_KINDS, UNIT, UNTIL, VIEW, VISITS, ValueKind, WHEN, WHOLE_SECONDS,
};
use super::values::{self, ValueError};
use super::{Descriptor, Help, Options, pairs};
use Setter::{Switch, Value};
use latency_report::Format;

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
/// Maximum `--cores`: the CPUs that Linux can be built for (CONFIG_NR_CPUS).
const MOST_CORES: u32 = 8192;

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
    Switch(fn(&mut Options)),
    /// An option with a value.
    Value(&'static ValueKind, fn(&mut Options, &'static [u8]) -> Result<(), ValueError<'static>>),
}

/// The texts about an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagText {
    /// Its meaning, in one line.
    Meaning,
    /// Its default; empty for a switch that is off.
    Default,
    /// The reason in the hardware for the default; may be empty.
    Reason,
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
    /// Its texts for all experiments, each at the place of its [`FlagText`].
    texts: [&'static str; 3],
    /// The change that it makes.
    pub set: Setter,
}

impl Flag {
    /// Returns a text about it for all experiments.
    pub const fn text(&self, which: FlagText) -> &'static str {
        self.texts[which as usize]
    }

    /// Returns each experiment with a text of its own, and that text.
    pub fn others(&self, which: FlagText) -> impl Iterator<Item = (&'static str, &'static str)> {
        OTHERS
            .iter()
            .filter(move |other| (other.0, other.1) == (self.id, which))
            .map(|other| (other.2, other.3))
    }

    /// Returns a text about it for an experiment.
    pub fn text_of(&self, which: FlagText, experiment: &str) -> &'static str {
        let mut others = self.others(which);
        others.find(|(name, _)| *name == experiment).map_or(self.text(which), |(_, text)| text)
    }

    /// Returns the kind of its value, if it has one.
    pub const fn kind(&self) -> Option<&'static ValueKind> {
        match self.set {
            Setter::Switch(_) => None,
            Setter::Value(kind, _) => Some(kind),
        }
    }

    /// Returns whether it concerns only a measurement or its record.
    pub fn is_of_measuring(&self) -> bool {
        !matches!(self.group, Group::Verdict | Group::Output | Group::General)
            || matches!(self.id, FlagId::Strict | FlagId::Label | FlagId::Anonymous)
    }

    /// Returns whether `typed`, dashes included, is this option.
    pub fn is_called(&self, typed: &[u8]) -> bool {
        match typed {
            [b'-', b'-', name @ ..] => name == self.name.as_bytes(),
            [b'-', letter] => self.short == Some(*letter),
            _ => false,
        }
    }
}

impl FlagId {
    /// Returns its option.
    pub const fn flag(self) -> &'static Flag {
        &FLAGS[self as usize]
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

/// Writes `--size=SIZE`, or `--json`; in the alternate form `--size`.
impl fmt::Display for Flag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind().filter(|_| !out.alternate()) {
            Some(kind) => write!(out, "--{}={}", self.name, kind.name),
            None => write!(out, "--{}", self.name),
        }
    }
}

/// Marks an option that the short help lists.
const COMMON: bool = true;

/// Declares the options, each with its identifier, its typed name, an optional letter, its group, its effect and its
/// texts. A text has `for` and another text behind it if an experiment differs.
macro_rules! flags {
    ($($id:ident $name:literal $($short:literal)? $group:ident $($common:expr)?, $set:expr,
        $help:literal $(for $helped:ident $its_help:literal)*
        $(, default $default:literal $(for $defaulted:ident $its_default:literal)*)?
        $(, because $reason:literal $(for $reasoned:ident $its_reason:literal)*)?;)*) => {
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
            short: [$(Some($short),)? None][0],
            group: Group::$group,
            common: false $(|| $common)?,
            texts: [$help, concat!($($default)?), concat!($($reason)?)],
            set: $set,
        },)*];

        /// The texts for one experiment in place of those for all.
        const OTHERS: &[(FlagId, FlagText, &str, &str)] = &[$(
            $((FlagId::$id, FlagText::Meaning, stringify!($helped), $its_help),)*
            $($((FlagId::$id, FlagText::Default, stringify!($defaulted), $its_default),)*)?
            $($((FlagId::$id, FlagText::Reason, stringify!($reasoned), $its_reason),)*)?
        )*];
    };
}

flags! {
    CpuNode "cpunode" b'N' Placement COMMON,
        Value(&LIST, |options, value| set_some(&mut options.cpunode, values::ids(value))),
        "run on these nodes, such as 0,2-3",
        default "all that this process may use";
    MemNode "memnode" b'm' Placement COMMON,
        Value(&MEMORY, memory),
        "measure memory of these nodes (local: own node)",
        default "all that this process may use";
    Cpu "cpu" b'C' Placement COMMON,
        Value(&CPU, cpus),
        "run on this CPU, or on the first one of the node" for cores "measure the pairs among these CPUs, \
         such as 0,2-3",
        default "the first allowed CPU of the node, or an idle one with the same last-level cache if that CPU is busy" for cores "all",
        because "other work on the same CPU interrupts trials and evicts their lines" for cores "";
    Pages "pages" Placement COMMON,
        Value(&PAGES, |options, value| set(&mut options.pages, values::pages(value))),
        "page size (exit 2 if unavailable)" for expect "page size; 2m is also transparent pages",
        default "auto (huge pages, else thp, else 4k)" for cores "auto (4k)" for expect "pages of the curve, then others",
        because "with base pages (4k), random loads beyond the TLB reach include page walks" for expect "";
    Size "size" Chain COMMON,
        Value(&SIZE, |options, value| set_some(&mut options.size, values::size(value))),
        "working-set size" for bandwidth "memory of each core",
        default "4x the reported last-level cache, at least 256M, at most half of the node's available memory" for expect "the largest one that was measured",
        because "at most a quarter of the loads then hit that cache" for expect "";
    MinSize "min-size" Chain,
        Value(&SIZE, |options, value| set_some(&mut options.min_size, values::size(value))),
        "smallest working set",
        default "half of the L1 data cache",
        because "every load hits the L1";
    MaxSize "max-size" Chain,
        Value(&SIZE, |options, value| set_some(&mut options.max_size, values::size(value))),
        "largest working set" for pages "largest span of addresses",
        default "4x the last-level cache" for pages "64G, or less if page tables need too much time or memory",
        because "loads beyond it have memory latency" for pages "";
    PointsPerOctave "points-per-octave" Chain,
        Value(&COUNT, |options, value| set_some(&mut options.points_per_octave, values::small(value, MOST_POINTS))),
        "measured sizes per factor of two",
        default "4, and more near the end of a cache" for variants "1" for bandwidth "1",
        because "latency rises there within less than a factor of two" for variants "" for bandwidth "";
    Order "order" Chain,
        Value(&ORDER, |options, value| set(&mut options.order, values::choice(value))),
        "order in which the lines are visited",
        default "random",
        because "prefetchers and the TLB speed up every other order";
    Visits "visits" Chain,
        Value(&VISITS, |options, value| set(&mut options.visits, values::visits(value))),
        "loads from each page of a window, with --order=grouped",
        default "4",
        because "one page walk then serves 4 loads";
    Stride "stride" Chain,
        Value(&BYTES, |options, value| set_some(&mut options.stride, values::stride(value))),
        "distance between lines: 8, 16, 32 or a multiple of 64",
        default "one cache line",
        because "every load then reads another line";
    Kernel "kernel" Chain,
        Value(&KERNEL, |options, value| set(&mut options.kernel, values::choice(value))),
        "follow pointers or array indices",
        default "pointer",
        because "an index adds address arithmetic to each load";
    Chains "chains" Chain,
        Value(&CHAINS, |options, value| set_some(&mut options.chains, values::chains(value))),
        "numbers of concurrent chains to measure, such as 1,4-16" for expect "numbers of independent loads \
         at a time",
        default "all" for expect "1";
    Cores "cores" Chain,
        Value(&COUNT, |options, value| set_some(&mut options.cores, values::small(value, MOST_CORES))),
        "number of cores that load at the same time",
        default "1";
    Seed "seed" Chain,
        Value(&COUNT, |options, value| set(&mut options.seed, values::integer(value))),
        "seed of the random access order",
        default "42";
    Traffic "traffic" Traffic COMMON,
        Value(&TRAFFIC_KINDS, |options, value| set_some(&mut options.traffic, values::traffic(value))),
        "read/write mix: read, write, copy, ... (n:1 reads every line and writes every n-th)",
        default "read, or all with --view=mix" for loaded "read,2:1";
    View "view" Traffic,
        Value(&VIEW, |options, value| set(&mut options.view, values::choice(value))),
        "compare nodes, traffic mixes, core counts, single cores, working sets, or last-level caches"
        for matrix "nodes, or cores: every core with the memory of its own node",
        default "nodes";
    LoadCpus "load-cpus" Traffic COMMON,
        Value(&CPUS, |options, value| set_some(&mut options.load_cpus, values::ids(value))),
        "run generators on these CPUs (exit 2 if unavailable)",
        default "one CPU of each core of the node";
    LoadThreads "load-threads" Traffic,
        Value(&THREADS, |options, value| set(&mut options.load_threads, values::choice(value))),
        "run generators on one or all SMT siblings of a core",
        default "one",
        because "SMT siblings share the line fill buffers, so a second thread rarely adds bandwidth";
    LoadFrom "load-from" Traffic,
        Value(&LOAD_FROM, |options, value| set(&mut options.load_from, values::choice(value))),
        "run generators on the CPUs of the initiator node, the target node, or all nodes",
        default "cpunode";
    LoadNode "load-node" Traffic,
        Value(&NODE, |options, value| {
            set_some(&mut options.load_node, values::number(value, 8191).map(NodeId))
        }),
        "node of the generators' memory",
        default "the target node";
    Rates "rates" Traffic COMMON,
        Value(&RATES, |options, value| set(&mut options.rates, values::rates(value))),
        "load levels: total GB/s, percent of peak, 0 (idle) or max",
        default "auto, a curve from idle to the peak";
    Levels "levels" Traffic,
        Value(&COUNT, |options, value| set(&mut options.levels, values::small(value, MOST_LEVELS))),
        "number of load levels, including idle and maximum",
        default "10, and 2 more where latency doubles";
    Pacing "pacing" Traffic,
        Value(&PACING, |options, value| set(&mut options.pacing, values::choice(value))),
        "gaps between bursts: exponential (Poisson arrivals) or constant",
        default "poisson",
        because "constant gaps hide queueing";
    Burst "burst" Traffic,
        Value(&COUNT, |options, value| set_some(&mut options.burst, values::small(value, MOST_BURST))),
        "cache lines per burst",
        default "smallest burst for which reading the clock costs at most a quarter of the gap";
    Hold "hold" Traffic,
        Value(&WHOLE_SECONDS, |options, value| set_some(&mut options.hold, values::whole_seconds(value, MOST_HELD))),
        "sustain the one --rates level for TIME (ignores --budget) and log one line per second to stderr",
        default "none",
        because "hardware counters can be checked against a known load";
    Pairs "pairs" Cores COMMON,
        Value(&PAIRS, |options, value| set(&mut options.pairs, pairs::read(value))),
        "CPU pairs to measure: all, a sample of each topology class, or a list",
        default "auto: all pairs of up to 64 CPUs, otherwise classes";
    Method "method" Cores COMMON,
        Value(&METHOD, |options, value| set(&mut options.method, values::choice(value))),
        "ping-pong primitive: compare-and-swap, load + CAS, flag stores, or timestamped messages",
        default "cas",
        because "most tools use it; with read-cas a line may move twice";
    Lines "lines" Cores,
        Value(&COUNT, |options, value| {
            set_some(&mut options.lines, values::small(value, Exchange::MOST_PLACES as u32))
        }),
        "cache lines to try per pair, one per page (at most 32)",
        default "16",
        because "the L3 slice or home agent that tracks a line depends on its address";
    States "states" Cores COMMON,
        Switch(|options| options.states = true),
        "also time loads and atomics on lines that another core holds Modified, Exclusive or Shared";
    Iters "iters" Sampling,
        Value(&COUNT, |options, value| {
            set(&mut options.iters, values::count(value, u64::MAX).map(NonZeroU64::new))
        }),
        "loads in one trial",
        default "chosen from the latency during warm-up",
        because "a trial of 0.02 to 0.2 ms is long for the timer and short for the scheduler";
    Trials "trials" Sampling,
        Value(&COUNT, |options, value| set_some(&mut options.trials, values::small(value, MOST_TRIALS))),
        "number of trials",
        default "as many as --precision needs within --time-limit";
    Precision "precision" Sampling,
        Value(&PERCENT, |options, value| set(&mut options.precision, values::percentage(value, false))),
        "stop when the 95% confidence interval is within PCT of the result",
        default "1%" for cores "5%";
    TimeLimit "time-limit" Sampling,
        Value(&TIME, |options, value| set(&mut options.time_limit, values::time(value, false))),
        "time limit per point (node pair or size)",
        default "10s, or about 20s for all sizes of an experiment";
    Spread "spread" Sampling,
        Value(&TIME, |options, value| set(&mut options.spread, values::time(value, true))),
        "spread the rounds over TIME, idling in between (0: no idling)",
        default "5s with few pairs or sizes, 0 with --trials",
        because "other processes and core clocks change over seconds";
    Until "until" Sampling,
        Value(&UNTIL, |options, value| set_some(&mut options.until, values::until(value))),
        "continue until the latency is steady, for at most 60s or TIME",
        default "none, the run ends after --time-limit",
        because "neighbours can only add to the latency of the hardware";
    Budget "budget" Sampling COMMON,
        Value(&TIME, |options, value| set(&mut options.budget, values::time(value, false))),
        "end the run after about TIME (exit 2 if too short)",
        default "none" for bandwidth "60s" for loaded "60s" for cores "60s" for report "90s";
    WarmupIters "warmup-iters" Sampling,
        Value(&COUNT, |options, value| set_some(&mut options.warmup_iters, values::integer(value))),
        "warm-up loads before the first trial (0: cold caches)",
        default "one pass, up to 1048576 loads; more if a cache holds the working set",
        because "the first pass also fills caches and TLB";
    Counters "counters" Sampling,
        Switch(|options| options.counters = true),
        "also read hardware performance counters (perf_event_open)";
    Threshold "threshold" Verdict COMMON,
        Value(&PERCENT, |options, value| set(&mut options.threshold, values::percentage(value, true))),
        "slowdown that counts as a regression" for fleet "slowdown that counts as an outlier",
        default "3%" for fleet "10%",
        because "two runs on one machine differ by 1 to 2%";
    Baseline "baseline" Verdict COMMON,
        Value(&BASELINE, |options, value| set_some(&mut options.baseline, values::path(value))),
        "compare hosts with known-good results instead of with each other",
        default "none";
    Expect "expect" Verdict,
        Value(&EXPECTED, |options, value| set_some(&mut options.expected, values::path(value))),
        "exit 6 if fewer than N hosts have a result, or one of those that FILE names, one a line",
        default "none",
        because "a host that stopped reporting is not healthy";
    History "history" Verdict,
        Switch(|options| options.history = true),
        "first compare each host with its own older results (names changes of 3% or --threshold)";
    Of "of" Verdict,
        Value(&OF, |options, value| set(&mut options.of, values::choice(value))),
        "judge the value of the whole run (memory without address translation, where results have it), random loads, or the value on which rounds in separate seconds agree",
        default "typical",
        because "neighbours are not quiet during every run";
    Force "force" Verdict,
        Switch(|options| options.force = true),
        "give a verdict even if conditions differ or results are unreliable";
    Unit "unit" Chain,
        Value(&UNIT, |options, value| set_some(&mut options.unit, values::unit(value))),
        "unit of the sizes in the table of another tool",
        default "bytes, unless a heading or suffix names the unit";
    Strict "strict" Verdict,
        Switch(|options| options.strict = true),
        "exit 3 if the result is unreliable";
    Probe "probe" Verdict,
        Switch(|options| options.probe = true),
        "only try each system call in a process of its own, and name those at which a filter ends it (exit 2)";
    DryRun "dry-run" Sampling COMMON,
        Switch(|options| options.dry_run = true),
        "print the plan and estimated duration, then exit";
    Format "format" Output,
        Value(&FORMAT, format),
        "write the result as",
        default "text, or the format of the extension of --output; report writes html except to a terminal";
    Json "json" b'j' Output COMMON,
        Switch(|options| choose(options, "json")),
        "short for --format=json";
    Csv "csv" Output,
        Switch(|options| choose(options, "csv")),
        "short for --format=csv";
    Output "output" b'o' Output COMMON,
        Value(&FILE, output),
        "write to a file (- is standard output); repeatable",
        default "standard output";
    Save "save" Output,
        Value(&FILE, |options, value| set_some(&mut options.saved, values::path(value))),
        "also write the result to a file, as JSON",
        default "none";
    Label "label" Output,
        Value(&LABEL, |options, value| options.labels.add(value)),
        "attach KEY=VALUE to the result (env:NAME copies a variable); repeatable",
        default "none";
    Anonymous "anonymous" Output,
        Switch(|options| options.anonymous = true),
        "leave out host name, boot ID and file names";
    Heatmap "heatmap" Output,
        Switch(|options| options.heatmap = true),
        "draw a heat map below the text";
    Reciprocal "reciprocal" Output,
        Switch(|options| options.reciprocal = true),
        "plot accesses per second";
    Quiet "quiet" b'q' Output COMMON,
        Switch(|options| options.quiet = true),
        "print only the result";
    Verbose "verbose" b'v' Output,
        Switch(|options| options.verbose = true),
        "print everything, notes included";
    Progress "progress" Output,
        Value(&WHEN, |options, value| set(&mut options.progress, values::choice(value))),
        "show progress on standard error",
        default "auto, only on a terminal";
    Color "color" Output,
        Value(&WHEN, |options, value| set(&mut options.color, values::choice(value))),
        "color the text",
        default "auto, only on a terminal";
    Help "help" b'h' General,
        Switch(|options| options.help = Some(Help::Long)),
        "print common (-h) or all options (--help)";
    Version "version" b'V' General,
        Switch(|options| options.version = true),
        "print the version, the commit and the target";
}

/// Sets an option to a parsed value.
fn set<T>(option: &mut T, value: Result<T, ValueError<'static>>) -> Result<(), ValueError<'static>> {
    *option = value?;
    Ok(())
}

/// Sets an option that has no default to a parsed value.
fn set_some<T>(
    option: &mut Option<T>,
    value: Result<T, ValueError<'static>>,
) -> Result<(), ValueError<'static>> {
    set(option, value.map(Some))
}

/// Sets the CPUs to run on: `first`, a number, or a list for experiments that use several.
fn cpus(options: &mut Options, value: &'static [u8]) -> Result<(), ValueError<'static>> {
    options.first_cpu = value == b"first";
    if value == b"all" || value.iter().any(|byte| matches!(byte, b',' | b'-')) && !value.starts_with(b"-") {
        return set_some(&mut options.cpus, values::ids(value));
    }
    options.cpu = if options.first_cpu { None } else { Some(values::cpu(value)?) };
    Ok(())
}

/// Sets the target nodes: `local`, or a list.
fn memory(options: &mut Options, value: &'static [u8]) -> Result<(), ValueError<'static>> {
    options.local = value == b"local";
    if options.local { Ok(()) } else { set_some(&mut options.memnode, values::ids(value)) }
}

/// Adds an output; `-` is standard output. Its format is decided when all options are known.
fn output(options: &mut Options, value: &'static [u8]) -> Result<(), ValueError<'static>> {
    options.push_output(values::path(value)?, options.format);
    Ok(())
}

/// Chooses a format by the value of `--format`.
fn format(options: &mut Options, name: &'static [u8]) -> Result<(), ValueError<'static>> {
    let named = Format::named(options.formats, name).ok_or(ValueError::NotAFormat(options.formats));
    set(&mut options.format, named)
}

/// Chooses the format with the name of the typed option. If the table of formats does not have it, the format does not
/// change.
fn choose(options: &mut Options, name: &str) {
    options.format = Format::named(options.formats, name.as_bytes()).unwrap_or(options.format);
}

impl Options {
    /// Returns the time that the user gave the whole run, in nanoseconds; infinite without it, and if a load is held.
    pub fn whole_ns(&self) -> f64 {
        match self.given.contains(FlagId::Budget) && self.hold.is_none() {
            true => self.budget.0.real() / 1e3,
            false => f64::INFINITY,
        }
    }
}

impl Descriptor {
    /// Returns whether it measures: everything that measures can print its plan instead.
    pub const fn measures(&self) -> bool {
        self.flags.contains(FlagId::DryRun)
    }
}

#[cfg(test)]
mod tests {
    use super::super::choices::{Kernel, Order};
    use super::*;
    use latency_core::Worded;
    use latency_core::cores::Method;
    use latency_core::words::When;
    use latency_engine::tests::plain::assert_plain;
    use std::string::{String, ToString};
    use std::vec::Vec;

    fn words<C: Worded>() -> String {
        C::WORDS.iter().map(|&(word, _)| word).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn the_value_names_list_every_word() {
        let is_one = |word: &str| values::pages(word.as_bytes()).unwrap().to_string() == word;
        assert!(PAGES.name.split('|').all(is_one));
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
            let help = flag.text(FlagText::Meaning);
            assert!(!help.is_empty() && !help.ends_with('.'), "{flag}");
            assert_eq!(flag.text(FlagText::Default).is_empty(), flag.kind().is_none(), "{flag}");
            for which in [FlagText::Meaning, FlagText::Default, FlagText::Reason] {
                assert_plain(flag.text(which));
                flag.others(which).for_each(|(_, other)| assert_plain(other));
            }
        }
        assert_eq!(FLAGS.len(), FlagId::Version as usize + 1);
    }
}
