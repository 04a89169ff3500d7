//! The options: one table, from which parser, help and README are made.
//!
//! An option is added by one entry here and one name in [`FlagId`]. What it
//! means to an experiment is not known here.

use core::num::{NonZeroU32, NonZeroU64};

use super::choices::Format;
use super::flag::{Flag, Group, ValueKind};
use super::flag_set::FlagId;
use super::values::{self, ValueError};

/// The largest `--points-per-octave`: a sixty-fourth of an octave is 1 %, below the spread of placements.
const MOST_POINTS: u32 = 64;
/// The largest `--trials`: every trial is kept in memory until the end.
const MOST_TRIALS: u32 = 1_000_000;

const LIST: ValueKind = ValueKind { name: "LIST", expects: "node ids and ranges of them, such as 0,2-3" };
const CPU: ValueKind = ValueKind { name: "N", expects: "the number of one CPU, such as 4" };
const COUNT: ValueKind = ValueKind { name: "N", expects: "a whole number, such as 1000" };
const SIZE: ValueKind =
    ValueKind { name: "SIZE", expects: "a number of bytes with K, M, G or T (binary), such as 256M or 1.5G" };
const BYTES: ValueKind = ValueKind { name: "BYTES", expects: "8, 16, 32 or a multiple of 64 bytes" };
const PERCENT: ValueKind = ValueKind { name: "PCT", expects: "a percentage, such as 1 or 0.5" };
const SECONDS: ValueKind = ValueKind { name: "SECONDS", expects: "a number of seconds, such as 10 or 0.5" };
const FILE: ValueKind = ValueKind { name: "FILE", expects: "the path of a file, or - for standard output" };
const PAGES: ValueKind = ValueKind { name: "auto|4k|thp|2m|1g", expects: "one of auto, 4k, thp, 2m and 1g" };
const ORDER: ValueKind = ValueKind {
    name: "random|page-local|sequential|backward",
    expects: "one of random, page-local, sequential and backward",
};
const KERNEL: ValueKind = ValueKind { name: "pointer|index", expects: "pointer or index" };
const FORMAT: ValueKind = ValueKind { name: "text|json|csv|svg", expects: "one of text, json, csv and svg" };
const WHEN: ValueKind = ValueKind { name: "auto|always|never", expects: "one of auto, always and never" };

/// Every option, in the order of [`FlagId`] and of the help text.
pub const FLAGS: &[Flag] = &[
    Flag::value(FlagId::CpuNode, "cpunode", Group::Placement, &LIST, |options, value| {
        options.cpunode = Some(values::nodes(value)?);
        Ok(())
    })
    .help("initiator nodes, such as 0,2-3")
    .default("all that the process may use"),
    Flag::value(FlagId::MemNode, "memnode", Group::Placement, &LIST, |options, value| {
        options.memnode = Some(values::nodes(value)?);
        Ok(())
    })
    .help("target nodes")
    .default("all that the process may use"),
    Flag::value(FlagId::Cpu, "cpu", Group::Placement, &CPU, |options, value| {
        options.cpu = Some(values::cpu(value)?);
        Ok(())
    })
    .help("the exact CPU to run on; its node is the initiator")
    .default("the first allowed CPU of the node"),
    Flag::value(FlagId::Pages, "pages", Group::Placement, &PAGES, |options, value| {
        options.pages = values::choice(value)?;
        Ok(())
    })
    .help("pages asked for; exit 2 where they cannot be had")
    .default("auto, which takes the largest that works (2m, thp, 4k) and says which")
    .because("with 4 KiB pages a random load far beyond the reach of the TLB is also a page walk"),
    Flag::value(FlagId::Size, "size", Group::Chain, &SIZE, |options, value| {
        options.size = Some(values::size(value)?);
        Ok(())
    })
    .help("working set")
    .default("4 x the last-level cache, at least 256M, at most half of the free memory of the target node")
    .because("beyond it at most a quarter of the hops still hit that cache"),
    Flag::value(FlagId::MinSize, "min-size", Group::Chain, &SIZE, |options, value| {
        options.min_size = Some(values::size(value)?);
        Ok(())
    })
    .help("the smallest working set")
    .default("half of the L1 data cache")
    .because("there every hop is an L1 hit"),
    Flag::value(FlagId::MaxSize, "max-size", Group::Chain, &SIZE, |options, value| {
        options.max_size = Some(values::size(value)?);
        Ok(())
    })
    .help("the largest working set")
    .default("4 x the last-level cache")
    .because("there the plateau of the memory is visible"),
    Flag::value(FlagId::PointsPerOctave, "points-per-octave", Group::Chain, &COUNT, |options, value| {
        options.points_per_octave = NonZeroU32::new(small(value, MOST_POINTS)?);
        Ok(())
    })
    .help("working sets for each doubling of the size")
    .default("4, and denser round each knee")
    .because("a knee is sharper than an octave"),
    Flag::value(FlagId::Order, "order", Group::Chain, &ORDER, |options, value| {
        options.order = values::choice(value)?;
        Ok(())
    })
    .help("the order in which the chain visits its nodes")
    .default("random")
    .because(
        "prefetchers and the TLB help with any other order, so that it is not the latency of a random access",
    ),
    Flag::value(FlagId::Stride, "stride", Group::Chain, &BYTES, |options, value| {
        options.stride = values::stride(value)?;
        Ok(())
    })
    .help("from node to node: 8, 16, 32 or a multiple of 64")
    .default("64")
    .because("one cache line of x86-64"),
    Flag::value(FlagId::Kernel, "kernel", Group::Chain, &KERNEL, |options, value| {
        options.kernel = values::choice(value)?;
        Ok(())
    })
    .help("what a node holds of the next: address or index")
    .default("pointer")
    .because("it adds no address arithmetic to the load"),
    Flag::value(FlagId::Seed, "seed", Group::Chain, &COUNT, |options, value| {
        options.seed = values::integer(value)?;
        Ok(())
    })
    .help("seed of the chain")
    .default("42"),
    Flag::value(FlagId::Iters, "iters", Group::Sampling, &COUNT, |options, value| {
        options.iters = NonZeroU64::new(values::count(value, u64::MAX)?);
        Ok(())
    })
    .help("hops in a trial")
    .default("chosen from the latency found while warming up")
    .because("a trial of 20 to 200 microseconds is long beside the timer and short beside a time slice"),
    Flag::value(FlagId::Trials, "trials", Group::Sampling, &COUNT, |options, value| {
        options.trials = NonZeroU32::new(small(value, MOST_TRIALS)?);
        Ok(())
    })
    .help("number of trials")
    .default("until the precision is reached, within the time limit"),
    Flag::value(FlagId::Precision, "precision", Group::Sampling, &PERCENT, |options, value| {
        options.precision = values::percentage(value, false)?;
        Ok(())
    })
    .help("stop at a confidence interval of that width")
    .default("1 %"),
    Flag::value(FlagId::TimeLimit, "time-limit", Group::Sampling, &SECONDS, |options, value| {
        options.time_limit = values::seconds(value)?;
        Ok(())
    })
    .help("give up on a point, and say so, after that long")
    .default("10"),
    Flag::value(FlagId::WarmupIters, "warmup-iters", Group::Sampling, &COUNT, |options, value| {
        options.warmup_iters = Some(values::integer(value)?);
        Ok(())
    })
    .help("hops before the first trial; 0 measures cold")
    .default("one full lap, and until the clock is steady")
    .because("the first lap also fills caches and TLB"),
    Flag::switch(FlagId::Counters, "counters", Group::Sampling, |options| options.counters = true)
        .help("add hardware counters, or say why there are none"),
    Flag::value(FlagId::Threshold, "threshold", Group::Verdict, &PERCENT, |options, value| {
        options.threshold = values::percentage(value, true)?;
        Ok(())
    })
    .help("by how much the second result may be slower")
    .default("3 %")
    .because("the same chain measured twice on one machine differs by 1 to 2 %"),
    Flag::switch(FlagId::Strict, "strict", Group::Verdict, |options| options.strict = true)
        .help("exit 3 where a result does not deserve trust"),
    Flag::switch(FlagId::DryRun, "dry-run", Group::Verdict, |options| options.dry_run = true)
        .help("print points, sizes and expected time, and stop"),
    Flag::value(FlagId::Format, "format", Group::Output, &FORMAT, |options, value| {
        options.format = values::choice(value)?;
        Ok(())
    })
    .help("what the result is written as")
    .default("text"),
    Flag::switch(FlagId::Json, "json", Group::Output, |options| options.format = Format::Json)
        .help("short for --format=json"),
    Flag::switch(FlagId::Csv, "csv", Group::Output, |options| options.format = Format::Csv)
        .help("short for --format=csv"),
    Flag::value(FlagId::Output, "output", Group::Output, &FILE, |options, value| {
        options.output = Some(values::path(value)?).filter(|&path| path != b"-");
        Ok(())
    })
    .help("file for the result; - is standard output")
    .default("standard output"),
    Flag::switch(FlagId::Heatmap, "heatmap", Group::Output, |options| options.heatmap = true)
        .help("draw the matrix below its text"),
    Flag::switch(FlagId::Reciprocal, "reciprocal", Group::Output, |options| options.reciprocal = true)
        .help("draw accesses per second in place of latencies"),
    Flag::switch(FlagId::Quiet, "quiet", Group::Output, |options| options.quiet = true)
        .help("print the results and nothing around them"),
    Flag::switch(FlagId::Verbose, "verbose", Group::Output, |options| options.verbose = true)
        .help("print everything that is known"),
    Flag::value(FlagId::Progress, "progress", Group::Output, &WHEN, |options, value| {
        options.progress = values::choice(value)?;
        Ok(())
    })
    .help("progress on standard error")
    .default("auto, which is only on a terminal"),
    Flag::value(FlagId::Color, "color", Group::Output, &WHEN, |options, value| {
        options.color = values::choice(value)?;
        Ok(())
    })
    .help("colours in text")
    .default("auto, which is only on a terminal"),
    Flag::switch(FlagId::Help, "help", Group::General, |options| options.help = true)
        .short(b'h')
        .help("print this help, or that of the experiment"),
    Flag::switch(FlagId::Version, "version", Group::General, |options| options.version = true)
        .short(b'V')
        .help("print the version and stop"),
];

/// A count that is also a length of something held in memory.
fn small(text: &[u8], most: u32) -> Result<u32, ValueError<'_>> {
    values::count(text, u64::from(most))?.try_into().map_err(|_| ValueError::Overflow)
}

#[cfg(test)]
mod tests {
    use super::super::choices::{Choice, Kernel, Order, Pages, When};
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    fn words<C: Choice>() -> String {
        C::WORDS.iter().map(|&(word, _)| word).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn the_value_names_list_every_word() {
        assert_eq!(PAGES.name, words::<Pages>());
        assert_eq!(ORDER.name, words::<Order>());
        assert_eq!(KERNEL.name, words::<Kernel>());
        assert_eq!(FORMAT.name, words::<Format>());
        assert_eq!(WHEN.name, words::<When>());
        for kind in [&PAGES, &ORDER, &KERNEL, &FORMAT, &WHEN] {
            assert!(kind.name.split('|').all(|word| kind.expects.contains(word)), "{}", kind.name);
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_ids() {
        for (index, flag) in FLAGS.iter().enumerate() {
            assert_eq!(flag.id as usize, index, "{flag}");
            assert!(!flag.help.is_empty() && !flag.help.ends_with('.'), "{flag}");
            assert_eq!(flag.default.is_empty(), flag.kind().is_none(), "{flag}");
        }
        assert_eq!(FLAGS.len(), FlagId::Version as usize + 1);
    }
}
