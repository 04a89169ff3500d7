//! The table of options. The parser and the help texts use it.
//!
//! An option is added by one entry here and one name in [`FlagId`]. This module does not know its meaning for an
//! experiment.

use core::num::{NonZeroU32, NonZeroU64};

use latency_core::cores::Exchange;

use super::flag::{Flag, Group, ValueKind};
use super::flag_set::FlagId;
use super::values::{self, ValueError};
use super::{pairs, Help, Options};
use crate::report::format::Format;
use latency_core::units::NodeId;

/// The largest `--points-per-octave`: a sixty-fourth of an octave is 1 %, below the spread of placements.
const MOST_POINTS: u32 = 64;
/// The largest `--levels`.
const MOST_LEVELS: u32 = 24;
/// The largest `--burst`: with more than 64 KiB at a time, traffic would not have a steady rate.
const MOST_BURST: u32 = 1024;
/// The longest `--hold`, in seconds: each second is a round, and all rounds are kept in memory.
const MOST_HELD: u32 = 1000;
/// The largest `--trials`: every trial is kept in memory until the end.
const MOST_TRIALS: u32 = 1_000_000;

const LIST: ValueKind = ValueKind { name: "LIST", expects: "node ids and ranges of them, such as 0,2-3" };
const CPUS: ValueKind = ValueKind { name: "LIST", expects: "CPU numbers and ranges of them, such as 0,2-3" };
const KINDS: ValueKind = ValueKind {
    name: "LIST",
    expects: "some of read, 3:1, 2:1, 1:1, nt-write, copy-nt, random, write, copy and read-stream, such as read,2:1",
};
const VIEW: ValueKind =
    ValueKind { name: "nodes|mix|scaling|cores", expects: "one of nodes, mix, scaling and cores" };
const LOAD_FROM: ValueKind =
    ValueKind { name: "cpunode|memnode|all", expects: "one of cpunode, memnode and all" };
const NODE: ValueKind = ValueKind { name: "N", expects: "the id of one node, such as 1" };
const RATES: ValueKind = ValueKind { name: "LIST|auto", expects: "auto, or rates such as 0,10,50%,max" };
const PACING: ValueKind = ValueKind { name: "poisson|even", expects: "poisson or even" };
const THREADS: ValueKind = ValueKind { name: "one|all", expects: "one or all" };
const PAIRS: ValueKind = ValueKind {
    name: "auto|all|classes|LIST",
    expects: "auto, all, classes, or pairs of CPUs such as 0:1,4:9",
};
const METHOD: ValueKind =
    ValueKind { name: "cas|read-cas|flag|message", expects: "one of cas, read-cas, flag and message" };
const CPU: ValueKind = ValueKind { name: "N|first", expects: "the number of one CPU, such as 4, or first" };
const COUNT: ValueKind = ValueKind { name: "N", expects: "a whole number, such as 1000" };
const SIZE: ValueKind =
    ValueKind { name: "SIZE", expects: "bytes with K, M, G or T (binary), such as 256M or 1.5G" };
const UNIT: ValueKind = ValueKind { name: "UNIT", expects: "B, K, M or G (binary)" };
const BYTES: ValueKind = ValueKind { name: "BYTES", expects: "8, 16, 32 or a multiple of 64 bytes" };
const PERCENT: ValueKind = ValueKind { name: "PCT", expects: "a percentage, such as 1 or 0.5" };
const WHOLE_SECONDS: ValueKind =
    ValueKind { name: "SECONDS", expects: "whole seconds up to 1000, such as 60" };
const SECONDS: ValueKind = ValueKind { name: "SECONDS", expects: "a number of seconds, such as 10 or 0.5" };
const UNTIL: ValueKind =
    ValueKind { name: "quiet[=SECONDS]", expects: "quiet, or quiet=SECONDS such as quiet=120" };
const BASELINE: ValueKind =
    ValueKind { name: "FILE", expects: "the path of results saved with --format=jsonl" };
const OF: ValueKind = ValueKind { name: "typical|undisturbed", expects: "typical or undisturbed" };
const FILE: ValueKind = ValueKind { name: "FILE", expects: "the path of a file, or - for standard output" };
const LABEL: ValueKind = ValueKind {
    name: "KEY=VALUE",
    expects: "up to 16 different keys of letters, digits and _-./, such as rack=7 or env:SLURM_JOB_ID",
};
const PAGES: ValueKind = ValueKind { name: "auto|4k|thp|2m|1g", expects: "one of auto, 4k, thp, 2m and 1g" };
const ORDER: ValueKind = ValueKind {
    name: "random|page-local|sequential|backward",
    expects: "one of random, page-local, sequential and backward",
};
const KERNEL: ValueKind = ValueKind { name: "pointer|index", expects: "pointer or index" };
const FORMAT: ValueKind = ValueKind { name: "FORMAT", expects: "one of the formats" };
const WHEN: ValueKind = ValueKind { name: "auto|always|never", expects: "one of auto, always and never" };

/// Every option, in the order of [`FlagId`] and of the help text.
pub const FLAGS: &[Flag] = &[
    Flag::value(FlagId::CpuNode, "cpunode", Group::Placement, &LIST, |options, value| {
        options.cpunode = Some(values::nodes(value)?);
        Ok(())
    })
    .common()
    .help("run on these nodes, such as 0,2-3")
    .default("all that this process may use"),
    Flag::value(FlagId::MemNode, "memnode", Group::Placement, &LIST, |options, value| {
        options.memnode = Some(values::nodes(value)?);
        Ok(())
    })
    .common()
    .help("measure memory of these nodes")
    .default("all that this process may use"),
    Flag::value(FlagId::Cpu, "cpu", Group::Placement, &CPU, |options, value| {
        options.first_cpu = value == b"first";
        options.cpu = if options.first_cpu { None } else { Some(values::cpu(value)?) };
        Ok(())
    })
    .common()
    .help("run on this CPU, or on the first one of the node")
    .default("the first allowed CPU of the node, or an idle one behind the same cache while others use it")
    .because("other work on the same CPU interrupts trials and evicts their lines"),
    Flag::value(FlagId::Pages, "pages", Group::Placement, &PAGES, |options, value| {
        options.pages = values::choice(value)?;
        Ok(())
    })
    .common()
    .help("pages of the working set (exit 2 if unavailable)")
    .default("auto, the first that works of 2m, thp and 4k")
    .because("with 4 KiB pages, random loads beyond the reach of the TLB include page walks"),
    Flag::value(FlagId::Size, "size", Group::Chain, &SIZE, |options, value| {
        options.size = Some(values::size(value)?);
        Ok(())
    })
    .common()
    .help("working set: the bytes that are walked")
    .default("4 x the last-level cache, at least 256M, at most half of what the node can give; doubled while a cache serves it")
    .because("a quarter of the loads or fewer then hit that cache"),
    Flag::value(FlagId::MinSize, "min-size", Group::Chain, &SIZE, |options, value| {
        options.min_size = Some(values::size(value)?);
        Ok(())
    })
    .help("smallest working set")
    .default("half of the L1 data cache")
    .because("there every load hits the L1"),
    Flag::value(FlagId::MaxSize, "max-size", Group::Chain, &SIZE, |options, value| {
        options.max_size = Some(values::size(value)?);
        Ok(())
    })
    .help("largest working set")
    .default("4 x the last-level cache")
    .because("there the curve is flat again, at the latency of memory"),
    Flag::value(FlagId::PointsPerOctave, "points-per-octave", Group::Chain, &COUNT, |options, value| {
        options.points_per_octave = NonZeroU32::new(small(value, MOST_POINTS)?);
        Ok(())
    })
    .help("working sets for each doubling of the size")
    .default("4, and more where a cache ends")
    .because("latency rises within less than one doubling there"),
    Flag::value(FlagId::Order, "order", Group::Chain, &ORDER, |options, value| {
        options.order = values::choice(value)?;
        Ok(())
    })
    .help("order in which the lines are visited")
    .default("random")
    .because("prefetchers and the TLB help with every other order"),
    Flag::value(FlagId::Stride, "stride", Group::Chain, &BYTES, |options, value| {
        options.stride = values::stride(value)?;
        Ok(())
    })
    .help("spacing from line to line: 8, 16, 32 or a multiple of 64")
    .default("64")
    .because("one cache line of x86-64"),
    Flag::value(FlagId::Kernel, "kernel", Group::Chain, &KERNEL, |options, value| {
        options.kernel = values::choice(value)?;
        Ok(())
    })
    .help("follow pointers or array indices")
    .default("pointer")
    .because("an index adds address arithmetic to each load"),
    Flag::value(FlagId::Seed, "seed", Group::Chain, &COUNT, |options, value| {
        options.seed = values::integer(value)?;
        Ok(())
    })
    .help("random order number N")
    .default("42"),
    Flag::value(FlagId::Traffic, "traffic", Group::Traffic, &KINDS, |options, value| {
        options.traffic = Some(values::traffic(value)?);
        Ok(())
    })
    .common()
    .help("kinds of traffic; n:1 reads n lines and writes one of them")
    .default("read; with --view=mix all of them; of loaded read,2:1"),
    Flag::value(FlagId::View, "view", Group::Traffic, &VIEW, |options, value| {
        options.view = values::choice(value)?;
        Ok(())
    })
    .common()
    .help("show node to node, kinds of traffic, numbers of cores, or each core")
    .default("nodes"),
    Flag::value(FlagId::LoadCpus, "load-cpus", Group::Traffic, &CPUS, |options, value| {
        options.load_cpus = Some(values::cpus(value)?);
        Ok(())
    })
    .common()
    .help("generate traffic on these CPUs (exit 2 if unavailable)")
    .default("one CPU of each core of the node"),
    Flag::value(FlagId::LoadThreads, "load-threads", Group::Traffic, &THREADS, |options, value| {
        options.load_threads = values::choice(value)?;
        Ok(())
    })
    .help("use one or all hardware threads of a core")
    .default("one")
    .because("threads of a core share its fill buffers, and seldom deliver more than one"),
    Flag::value(FlagId::LoadFrom, "load-from", Group::Traffic, &LOAD_FROM, |options, value| {
        options.load_from = values::choice(value)?;
        Ok(())
    })
    .help("generate on the CPUs of this node, or of all")
    .default("cpunode"),
    Flag::value(FlagId::LoadNode, "load-node", Group::Traffic, &NODE, |options, value| {
        options.load_node = Some(NodeId(values::number(value, 8191)?));
        Ok(())
    })
    .help("generate in the memory of this node")
    .default("that of the chase"),
    Flag::value(FlagId::Rates, "rates", Group::Traffic, &RATES, |options, value| {
        options.rates = values::rates(value)?;
        Ok(())
    })
    .common()
    .help("offer these rates: GB/s of all together, shares of the limit, 0 or max")
    .default("auto, a curve from idle to the limit"),
    Flag::value(FlagId::Levels, "levels", Group::Traffic, &COUNT, |options, value| {
        options.levels = NonZeroU32::new(small(value, MOST_LEVELS)?).unwrap_or(options.levels);
        Ok(())
    })
    .help("levels of load of that curve, idle and the limit among them")
    .default("10, then 2 where latency doubles"),
    Flag::value(FlagId::Pacing, "pacing", Group::Traffic, &PACING, |options, value| {
        options.pacing = values::choice(value)?;
        Ok(())
    })
    .help("draw the gaps between bursts at random, or keep them even")
    .default("poisson")
    .because("even gaps hide the waiting in queues"),
    Flag::value(FlagId::Burst, "burst", Group::Traffic, &COUNT, |options, value| {
        options.burst = NonZeroU32::new(small(value, MOST_BURST)?);
        Ok(())
    })
    .help("lines that a generator touches at a time")
    .default("the fewest for which the look at the clock costs a quarter of the gap"),
    Flag::value(FlagId::Hold, "hold", Group::Traffic, &WHOLE_SECONDS, |options, value| {
        options.hold = NonZeroU32::new(small(value, MOST_HELD)?);
        Ok(())
    })
    .help("hold the one rate of --rates for so long, whatever the --budget, and write a line each second")
    .default("none is held")
    .because("a load that is known is what counters are checked against"),
    Flag::value(FlagId::Pairs, "pairs", Group::Cores, &PAIRS, |options, value| {
        options.pairs = pairs::read(value)?;
        Ok(())
    })
    .common()
    .help("exchange lines between all CPUs, a few of each class, or these")
    .default("auto, all of up to 64 CPUs, and classes of more"),
    Flag::value(FlagId::Method, "method", Group::Cores, &METHOD, |options, value| {
        options.method = values::choice(value)?;
        Ok(())
    })
    .common()
    .help("how a core tells that it is its turn: compare and swap, or stores")
    .default("cas")
    .because("it is what most tools have; with read-cas plain loads wait, and a line may move twice"),
    Flag::value(FlagId::Lines, "lines", Group::Cores, &COUNT, |options, value| {
        options.lines = NonZeroU32::new(small(value, Exchange::MOST_PLACES as u32)?);
        Ok(())
    })
    .help("lines to exchange, in pages of their own; 32 or fewer")
    .default("16")
    .because("where a line's state is kept depends on its address"),
    Flag::switch(FlagId::States, "states", Group::Cores, |options| options.states = true)
        .common()
        .help("also read and take lines that another core has changed, read or shared"),
    Flag::value(FlagId::Iters, "iters", Group::Sampling, &COUNT, |options, value| {
        options.iters = NonZeroU64::new(values::count(value, u64::MAX)?);
        Ok(())
    })
    .help("loads in one trial")
    .default("chosen from the latency found while warming up")
    .because("a trial of 20 to 200 us is long for the timer and short for the scheduler"),
    Flag::value(FlagId::Trials, "trials", Group::Sampling, &COUNT, |options, value| {
        options.trials = NonZeroU32::new(small(value, MOST_TRIALS)?);
        Ok(())
    })
    .help("number of trials")
    .default("as many as --precision needs within --time-limit"),
    Flag::value(FlagId::Precision, "precision", Group::Sampling, &PERCENT, |options, value| {
        options.precision = values::percentage(value, false)?;
        Ok(())
    })
    .help("stop when the 95 % interval is within +-PCT of the result")
    .default("1 %; of cores 5 %"),
    Flag::value(FlagId::TimeLimit, "time-limit", Group::Sampling, &SECONDS, |options, value| {
        options.time_limit = values::seconds(value, false)?;
        Ok(())
    })
    .common()
    .help("stop each pair or size after this time")
    .default("10 for one pair; experiments with many sizes stop after about 20 in all"),
    Flag::value(FlagId::Spread, "spread", Group::Sampling, &SECONDS, |options, value| {
        options.spread = values::seconds(value, true)?;
        Ok(())
    })
    .help("spread the rounds over so much time, idle between them; 0 for none")
    .default("5 with few pairs or sizes; 0 with --trials")
    .because("neighbours and clocks change over seconds"),
    Flag::value(FlagId::Until, "until", Group::Sampling, &UNTIL, |options, value| {
        options.until = Some(values::until(value)?);
        Ok(())
    })
    .help("go on until neighbours were quiet, for 60 s or SECONDS")
    .default("none; the run ends after --time-limit")
    .because("neighbours only add to a latency: what hardware gives shows while they rest"),
    Flag::value(FlagId::Budget, "budget", Group::Sampling, &SECONDS, |options, value| {
        options.budget = values::seconds(value, false)?;
        Ok(())
    })
    .common()
    .help("end the run after about this time")
    .default("60, and 90 of report"),
    Flag::value(FlagId::WarmupIters, "warmup-iters", Group::Sampling, &COUNT, |options, value| {
        options.warmup_iters = Some(values::integer(value)?);
        Ok(())
    })
    .help("loads before the first trial; 0 measures cold")
    .default("one pass, up to 1048576 loads; more where a cache holds the working set")
    .because("the first pass also fills caches and TLB"),
    Flag::switch(FlagId::Counters, "counters", Group::Sampling, |options| options.counters = true)
        .help("add hardware counters, or say why there are none"),
    Flag::value(FlagId::Threshold, "threshold", Group::Verdict, &PERCENT, |options, value| {
        options.threshold = values::percentage(value, true)?;
        Ok(())
    })
    .common()
    .help("how much slower B, or a host, may be")
    .default("3 %; of fleet 10 %")
    .because("two runs on one machine differ by 1 to 2 %"),
    Flag::value(FlagId::Baseline, "baseline", Group::Verdict, &BASELINE, |options, value| {
        options.baseline = Some(values::path(value)?);
        Ok(())
    })
    .common()
    .help("compare hosts with these results, and not with each other")
    .default("none"),
    Flag::value(FlagId::Of, "of", Group::Verdict, &OF, |options, value| {
        options.of = values::choice(value)?;
        Ok(())
    })
    .help("judge the value of the whole run, or that while neighbours were quiet")
    .default("typical")
    .because("not every run sees its neighbours quiet"),
    Flag::switch(FlagId::Force, "force", Group::Verdict, |options| options.force = true)
        .help("judge results of different conditions, and unreliable ones"),
    Flag::value(FlagId::Unit, "unit", Group::Chain, &UNIT, |options, value| {
        options.unit = Some(values::unit(value)?);
        Ok(())
    })
    .help("the unit of the sizes in another tool's table")
    .default("bytes; a heading or suffix that says so decides"),
    Flag::switch(FlagId::Strict, "strict", Group::Verdict, |options| options.strict = true)
        .help("exit 3 if the result is unreliable"),
    Flag::switch(FlagId::DryRun, "dry-run", Group::Sampling, |options| options.dry_run = true)
        .common()
        .help("print the plan to standard output; writes no file"),
    Flag::value(FlagId::Format, "format", Group::Output, &FORMAT, |options, value| {
        options.format =
            Format::named(options.formats, value).ok_or(ValueError::NotAFormat(options.formats))?;
        Ok(())
    })
    .help("write the result as")
    .default("text, or what the extension of --output says"),
    Flag::switch(FlagId::Json, "json", Group::Output, |options| choose(options, "json"))
        .short(b'j')
        .common()
        .help("short for --format=json"),
    Flag::switch(FlagId::Csv, "csv", Group::Output, |options| choose(options, "csv"))
        .help("short for --format=csv"),
    Flag::value(FlagId::Output, "output", Group::Output, &FILE, |options, value| {
        options.output = Some(values::path(value)?).filter(|&path| path != b"-");
        Ok(())
    })
    .short(b'o')
    .common()
    .help("write the result to a file; - is standard output")
    .default("standard output"),
    Flag::value(FlagId::Label, "label", Group::Output, &LABEL, |options, value| options.labels.add(value))
        .help("add this to the host in JSON, or with env:NAME that variable; may be repeated")
        .default("none"),
    Flag::switch(FlagId::Heatmap, "heatmap", Group::Output, |options| options.heatmap = true)
        .help("draw the matrix below its text"),
    Flag::switch(FlagId::Reciprocal, "reciprocal", Group::Output, |options| options.reciprocal = true)
        .help("plot accesses per second"),
    Flag::switch(FlagId::Quiet, "quiet", Group::Output, |options| options.quiet = true)
        .short(b'q')
        .common()
        .help("print only the result"),
    Flag::switch(FlagId::Verbose, "verbose", Group::Output, |options| options.verbose = true)
        .short(b'v')
        .common()
        .help("print everything, notes included"),
    Flag::value(FlagId::Progress, "progress", Group::Output, &WHEN, |options, value| {
        options.progress = values::choice(value)?;
        Ok(())
    })
    .help("show progress on standard error")
    .default("auto, only on a terminal"),
    Flag::value(FlagId::Color, "color", Group::Output, &WHEN, |options, value| {
        options.color = values::choice(value)?;
        Ok(())
    })
    .help("use colours in text")
    .default("auto, only on a terminal"),
    Flag::switch(FlagId::Help, "help", Group::General, |options| options.help = Some(Help::Long))
        .short(b'h')
        .common()
        .help("print every option (--help) or the common ones (-h)"),
    Flag::switch(FlagId::Version, "version", Group::General, |options| options.version = true)
        .short(b'V')
        .help("print the version"),
];

/// Chooses a format by the option with its name. If the table of formats does not have it, the format does not change.
fn choose(options: &mut Options<'_>, name: &str) {
    options.format = Format::named(options.formats, name.as_bytes()).unwrap_or(options.format);
}

/// Reads a count of things that are kept in memory.
fn small(text: &[u8], most: u32) -> Result<u32, ValueError<'_>> {
    values::count(text, u64::from(most))?.try_into().map_err(|_| ValueError::Overflow)
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
