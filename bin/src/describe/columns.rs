//! The columns: the keys of the objects in `rows` of every document, and the header of every CSV file.
//!
//! All experiments have the same columns in the same order. A row has only those that apply to it.

use super::Report;
use super::time::Utc;
use crate::analysis::traffic::bandwidth;
use crate::report::document::{Document, Field, Part, Value, fields};
use crate::result::row::{self, FIELDS, Row};
use crate::result::sample::Sample;
use crate::saved::Saved;
use latency_core::stats::Estimate;

/// Declares the columns in their order.
macro_rules! columns {
    ($($name:ident $key:literal $about:literal;)*) => {
        fields! { $(pub $name $key $about;)* }
        /// All columns in their order.
        pub static COLUMNS: &[&Field] = &[$(&$name),*];
    };
}

columns! {
    HOST "host" "The name of the host.";
    STARTED "started" "The start of the run, in UTC.";
    EXPERIMENT "experiment" "The experiment.";
    TOOL_VERSION "tool_version" "The version of the tool.";
    INITIATOR_NODE "initiator_node" "The NUMA node of the CPU that made the loads; of pairs of CPUs that of the first one.";
    TARGET_NODE "target_node" "The NUMA node of the memory; of pairs of CPUs that of the second one.";
    INITIATOR_CPU "initiator_cpu" "The CPU that made the loads, or began to send a line.";
    TARGET_CPU "target_cpu" "The CPU that answers or owns the lines; null where there is none.";
    THIRD_CPU "third_cpu" "The CPU that shares the lines; null unless they are shared.";
    WORKING_SET "working_set_bytes" "The memory of the loads.";
    STRIDE "stride_bytes" "The distance between lines.";
    ORDER "walk_order" "The order of the loads.";
    KERNEL "kernel" "The loop of the loads: `pointer` or `index`.";
    PAGES_ASKED "pages_asked" "The requested pages.";
    VARIANT "variant" "The variant of the loop, the index and the pages.";
    CHAINS "chains" "Chains side by side; ns is the time per load of any of them.";
    WORK "work" "Units of work that wait for each load.";
    PREFETCH "prefetch" "True if the next line of a chain is prefetched.";
    FILLER "filler" "The kind of the instructions between the loads of two chains.";
    FILLERS "fillers" "The number of these instructions.";
    INSTRUCTIONS "instructions_per_load" "Instructions between a load of a chain and its next one.";
    PERCENTILE "percentile" "The percentile of single loads; null for the median of batches.";
    TRAFFIC "traffic" "The kind of traffic: n:1 reads n lines and writes one.";
    PATTERN "pattern" "The order of the traffic: `stream`, `permuted` within blocks of 2 MiB, or `random`.";
    CORES "cores" "The number of CPUs that made traffic at the same time.";
    CPUS "cpus" "These CPUs, as a list of ranges.";
    LOAD_NODE "load_node" "The NUMA node of the memory of the traffic.";
    FOOTPRINT "footprint_bytes" "The memory of all traffic together.";
    OFFERED "offered_bytes_per_second" "The offered rate; null for as much as the CPUs can.";
    CLASS "class" "The nearest hardware that both CPUs share.";
    METHOD "method" "The method by which a CPU sees that it is its turn.";
    OP "op" "The access to a line: a read, or an atomic addition of zero that takes it for this CPU.";
    STATE "state" "The state of the line in the caches of its owner.";
    LEVEL "level" "The nearest cache of the owner with room for all lines.";
    HOME_NODE "home_node" "The NUMA node of the lines.";
    LINES "lines" "The number of lines.";
    NS "ns +-" "Median over rounds of the latency of a dependent load in nanoseconds; the value of a round is the median of its trials in their most frequent state. With several chains the time per load; of pairs of CPUs the time of a line in one direction.";
    CYCLES "cycles" "The same in cycles of the time-stamp counter.";
    CORE_CYCLES "core_cycles +-" "The same in cycles of the core clock.";
    MIN_NS "min_ns" "The fastest trial.";
    MAX_NS "max_ns" "The slowest trial that was not interrupted; of a percentile null.";
    MAD_NS "mad_ns" "Median absolute deviation over rounds.";
    BYTES "bytes_per_second +-" "Bytes of the lines that were read and written per second.";
    READ "read_bytes_per_second" "Bytes of the lines that were read per second.";
    WRITTEN "write_bytes_per_second" "Bytes of the lines that were written per second.";
    OWNED "rfo_estimate_bytes_per_second" "Bytes per second that memory may deliver in addition, because plain stores read the line first (read for ownership).";
    NOT_MEASURED "not_measured" "The reason why there is no value; empty otherwise.";
    UNDISTURBED_NS "undisturbed_ns +-" "Median latency in the rounds while neighbours were quiet; null where no rounds prove it.";
    UNDISTURBED_ROUNDS "undisturbed_rounds" "The number of these rounds.";
    UNDISTURBED_AT_MOST "undisturbed_at_most_ns" "An upper bound where no rounds prove a value; null otherwise.";
    COLD_NS "cold_ns" "Latency of the first pass, while no cache held the memory.";
    INDEPENDENT_NS "independent_ns" "Time per load of the same lines in address order without waiting.";
    RATIO_TO_IDLE "ratio_to_idle" "The latency divided by the idle latency.";
    LINES_IN_FLIGHT "lines_in_flight" "Outstanding reads of lines per core, by Little's law.";
    KNEE_CORES "knee_cores" "The smallest number of cores with 95 % of the largest rate.";
    EFFICIENCY "efficiency_per_core" "The rate divided by the rate of as many cores alone; null where one core alone was not measured.";
    BURST "burst_lines" "Lines that each core touches at a time; null without a pace.";
    SPANNED "pages_spanned" "The pages that the working set spans.";
    PAGE_WALK "page_walk_share" "The part of the time that page walks need, by the difference to the largest pages.";
    MIN_LINE "min_line_ns" "The time of the fastest line.";
    MAX_LINE "max_line_ns" "The time of the slowest line.";
    SLOWEST_LINE "slowest_line" "The index of the slowest line, from 0.";
    OFFSET "offset_or_asymmetry_ns +-" "Half of the difference between messages in both directions by the clocks of the CPUs: clock offset and asymmetry together.";
    IN_ORDER "no_message_before_it_was_sent" "True if each message arrived after it was sent, by these clocks.";
    BATCH_RATIO "batch_ratio +-" "The mean of single loads divided by the mean of batches.";
    REFRESH "refresh_period_us" "The period of slow loads; null where there is none.";
    TRIALS "trials" "Timed batches of loads, or timed single loads.";
    ROUNDS "rounds" "The rounds of these trials.";
    LOADS "loads_per_trial" "Loads in each trial.";
    INTERRUPTED "interrupted" "Trials that were interrupted and left out.";
    THROTTLED "throttled" "Trials during which the quota of CPU time was used up.";
    SETTLED "settled" "True if the rate of the traffic was steady before every trial.";
    PRECISE "precise" "True if the confidence interval became as narrow as requested.";
    STATE_SHARE "state_share" "The share of the trials of a round that agree on its value, median over rounds; null with few trials.";
    WINDOW "interval_window_s" "The duration of all rounds, which the interval covers.";
    PLACEMENTS "placements" "The number of different physical placements of the memory.";
    PLACEMENT_SPREAD "placement_spread" "From the 10th to the 90th percentile of the medians of the placements, as a share of their median; null with few placements.";
    CORE_GHZ "core_ghz" "The median clock of the core beside the trials.";
    UNCORE_GHZ "uncore_ghz" "The clock of the uncore that serves the memory; null where Linux does not report it.";
    PAGES_OBTAINED "pages_obtained" "The obtained pages.";
    VERIFIED "verified" "True if every page was proven to be on the target node, before and after.";
    ON_TARGET "pages_on_target" "Pages of the working set on the target node after the last trial; null where that is not known.";
    ELSEWHERE "pages_elsewhere" "Pages of the working set on other nodes after the last trial; null where that is not known.";
    SEED "seed" "The seed of the random order.";
    RUNNING "counted_share" "The share of the time in which the hardware counters counted; below 1 they are scaled.";
    CYCLES_RATIO "counted_cycles_ratio" "Counted core cycles divided by those of dependent additions.";
    PER_CYCLE "instructions_per_cycle" "Counted instructions divided by counted core cycles.";
    COUNTED_CYCLES "counted_core_cycles" "Core cycles per load, by hardware counters of the thread of initiator_cpu alone, in walks that are not timed. Of traffic per line that this thread touches, of pairs of CPUs per message.";
    COUNTED_INSTRUCTIONS "counted_instructions" "Instructions retired per load.";
    COUNTED_L1D "counted_l1d_misses" "Misses of the first-level data cache per load.";
    COUNTED_LLC "counted_llc_misses" "Misses of the last-level cache per load.";
    COUNTED_DTLB "counted_dtlb_misses" "Misses of the data TLB per load.";
    COUNTED_WALKS "counted_walk_cycles" "Cycles of page walks per load.";
}

fields! {
    LOAD "load_level" "Of latencies under load: `most` for the largest bandwidth, or `idle` with the traffic that comes after it.";
}

/// The columns of the fields of saved points, by their index in [`FIELDS`].
pub static SAVED: [&Field; FIELDS.len()] = [
    &INITIATOR_NODE,
    &TARGET_NODE,
    &WORKING_SET,
    &STRIDE,
    &ORDER,
    &KERNEL,
    &PAGES_ASKED,
    &VARIANT,
    &PATTERN,
    &CHAINS,
    &WORK,
    &PREFETCH,
    &FILLER,
    &FILLERS,
    &TRAFFIC,
    &CORES,
    &EXPERIMENT,
    &INITIATOR_CPU,
    &TARGET_CPU,
    &CLASS,
    &METHOD,
    &LINES,
    &OP,
    &STATE,
    &LEVEL,
    &HOME_NODE,
    &LOAD,
];

/// Describes a field of a saved point, which is a number, a flag or a word, if the point has it.
pub fn saved_field(document: &mut dyn Document, field: usize, word: &str) {
    let Some(column) = SAVED.get(field).filter(|_| !word.is_empty()) else { return };
    let number = word.parse::<u64>().ok();
    let flag = matches!(word, "true" | "false").then_some(word == "true");
    document.value(column, number.map(Value::Count).or(flag.map(Value::Flag)).unwrap_or(Value::Word(word)));
}

/// Describes the fields of a saved point of an experiment.
#[inline(never)] // it is called in several places
pub fn saved(document: &mut dyn Document, experiment: &str, row: &Row) {
    if !row.tells(row::EXPERIMENT) {
        saved_field(document, row::EXPERIMENT, experiment);
    }
    (0..SAVED.len()).for_each(|field| saved_field(document, field, row.plain(field).as_str()));
}

/// Describes the start of a saved run; null if the result does not state it.
pub fn start_of(document: &mut dyn Document, field: &'static Field, of: &Saved) {
    match of.origin.started {
        0 => document.put(field, None::<bool>),
        started => document.show(field, &Utc(started)),
    }
}

/// Describes the points of a saved result, which `next` returns, as rows.
#[inline(never)] // it is called in several places
pub fn saved_rows<'r>(document: &mut dyn Document, of: &Saved, next: &mut dyn FnMut() -> Option<&'r Row>) {
    for row in core::iter::from_fn(next) {
        document.part(Part::Item, |document| {
            document.put(&HOST, of.named_host().unwrap_or_default());
            start_of(document, &STARTED, of);
            saved(document, of.experiment.as_str(), row);
            let Sample { nanoseconds: value, interval, .. } = row.sample;
            document.put(&NS, Estimate { value, interval });
            if let Some(kind) = row.traffic() {
                document.put(&BYTES, bandwidth(kind, Estimate { value, interval }));
            }
            document.put(&CORE_CYCLES, row.sample.core_cycles);
            document.put(
                &UNDISTURBED_NS,
                row.undisturbed.map(|(value, interval)| Estimate { value, interval: Some(interval) }),
            );
            document.put(&CORE_GHZ, row.gigahertz);
            document.put(&SEED, row.seed);
            document.put(&PAGES_OBTAINED, Some(row.pages.as_str()).filter(|pages| !pages.is_empty()));
            document.put(&VERIFIED, row.verified);
            document.put(&NOT_MEASURED, "");
        });
    }
}

/// The origin of rows: the run.
#[derive(Clone, Copy)]
pub struct RowOrigin<'r> {
    /// The name of the host; empty if it is unknown.
    pub host: &'r str,
    /// The start of the run, in seconds since 1970, UTC.
    pub started: u64,
    /// The experiment.
    pub experiment: &'r str,
}

impl<'r> RowOrigin<'r> {
    /// Returns the origin of the rows of a report.
    #[must_use]
    pub fn of(report: &Report<'r, '_>) -> RowOrigin<'r> {
        RowOrigin {
            host: report.machine.host.identity.name.as_str(),
            started: report.started,
            experiment: report.options.experiment.descriptor.name,
        }
    }

    /// Writes a row, which begins with its origin.
    #[inline(never)] // it is called in several places
    pub fn row(self, document: &mut dyn Document, members: &mut dyn FnMut(&mut dyn Document)) {
        document.part(Part::Item, |document| {
            document.put(&HOST, self.host);
            document.show(&STARTED, &Utc(self.started));
            document.put(&EXPERIMENT, self.experiment);
            document.put(&TOOL_VERSION, env!("CARGO_PKG_VERSION"));
            members(document);
        });
    }
}
