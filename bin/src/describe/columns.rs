//! The columns: the keys of the objects in `rows` of every document, and the header of every CSV file.
//!
//! All experiments have the same columns in the same order. A row has only those that apply to it.

use super::Report;
use super::time::Utc;
use crate::analysis::traffic::bandwidth;
use crate::report::document::{Field, Part, Value, fields};
use crate::report::shown::Shown;
use crate::result::row::{self, FIELDS, Row};
use crate::result::sample::Sample;
use crate::result::split::LoadParts;
use crate::saved::Saved;
use latency_core::stats::Estimate;

/// Declares the columns in their order.
macro_rules! columns {
    ($($name:ident $key:literal $($interval:ident)? $about:literal;)*) => {
        fields! { $(pub $name $key $($interval)? $about;)* }
        /// All columns in their order.
        pub static COLUMNS: &'static [Field] = &[$($name),*];
    };
}

columns! {
    HOST "host" "Host name; empty with --anonymous.";
    STARTED "started" "Start of the run, in UTC.";
    EXPERIMENT "experiment" "Name of the experiment.";
    TOOL_VERSION "tool_version" "Version of the program.";
    INITIATOR_NODE "initiator_node" "NUMA node of the CPU that made the loads; for CPU pairs, node of the first CPU.";
    TARGET_NODE "target_node" "NUMA node of the memory; for CPU pairs, node of the second CPU.";
    INITIATOR_CPU "initiator_cpu" "CPU that made the loads, or that sent the cache line first.";
    TARGET_CPU "target_cpu" "CPU that replies, or that owns the cache lines; null without a second CPU.";
    THIRD_CPU "third_cpu" "CPU that shares the cache lines; null unless they are shared.";
    WORKING_SET "working_set_bytes" "Working set, in bytes.";
    STRIDE "stride_bytes" "Distance between lines, in bytes.";
    ORDER "walk_order" "Order of the loads.";
    KERNEL "kernel" "Chase kernel: `pointer` or `index`.";
    PAGES_ASKED "pages_asked" "Requested page size.";
    VARIANT "variant" "Data layout: pointer or index, packed or padded; `checked` with bounds checks, `2m` with 2 MiB pages.";
    CHAINS "chains" "Number of parallel chains; ns is the time per load of all of them together.";
    WORK "work" "Number of dependent one-cycle additions after each load.";
    PREFETCH "prefetch" "True if the next line of each chain is prefetched.";
    FILLER "filler" "Kind of the independent instructions between two loads: `nop`, `lea` or `mixed`.";
    FILLERS "fillers" "Number of independent instructions between two loads.";
    INSTRUCTIONS "instructions_per_load" "Number of instructions from one load of a chain to the next.";
    PERCENTILE "percentile" "Percentile of single loads; null for the median of batches.";
    TRAFFIC "traffic" "Kind of traffic: n:1 reads n lines and writes one.";
    PATTERN "pattern" "Order of the traffic: `stream`, `permuted` within blocks of 2 MiB, or `random`.";
    CORES "cores" "Number of cores that generate traffic at the same time.";
    CPUS "cpus" "CPUs that generate traffic, as ranges.";
    LOAD_NODE "load_node" "NUMA node of the traffic's memory.";
    FOOTPRINT "footprint_bytes" "Memory of all generators together, in bytes.";
    OFFERED "offered_bytes_per_second" "Offered rate in bytes per second; null if unthrottled.";
    CLASS "class" "Nearest hardware that both CPUs share; `own` if initiator_cpu itself owns the lines.";
    METHOD "method" "Method by which a CPU learns that it is its turn.";
    OP "op" "Access to a cache line: a read, or an atomic addition of zero.";
    STATE "state" "Coherence state of the line in the owner's cache.";
    LEVEL "level" "Smallest cache of the owner that holds all lines.";
    HOME_NODE "home_node" "NUMA node of the memory of the lines.";
    LINES "lines" "Number of cache lines.";
    NS "ns" interval "Latency of a dependent load in nanoseconds: median over rounds of the median trial in the most frequent state. Time per load for several chains, time per line for bandwidth, one-way time of a line for CPU pairs. Null if not measured.";
    MEMORY_NS "memory_ns" interval "Latency of memory in nanoseconds: a random load whose address translation is in the TLB; null if memory and translation were not told apart, or if a cache holds the working set.";
    WITHOUT_TRANSLATION "without_translation_ns" interval "Latency of a random load whose address translation is in the TLB, in nanoseconds, of memory or of a cache; null if not told apart.";
    TRANSLATION "translation_ns" interval "Latency that address translation adds to a random load, in nanoseconds: `ns` minus `without_translation_ns`; null if not told apart.";
    CYCLES "cycles" "Value of `ns` in cycles of the clock that `cycles_of` names in JSON; null without a counter.";
    CORE_CYCLES "core_cycles" interval "Value of `ns` in core cycles; null if the core clock is unknown.";
    MIN_NS "min_ns" "Value of `ns` in the fastest trial.";
    MAX_NS "max_ns" "Value of `ns` in the slowest trial that was not interrupted; null for percentiles.";
    MAD_NS "mad_ns" "Median absolute deviation over rounds, in nanoseconds.";
    BYTES "bytes_per_second" interval "Bytes of the lines read and written per second.";
    READ "read_bytes_per_second" "Bytes of the lines read per second.";
    WRITTEN "write_bytes_per_second" "Bytes of the lines written per second.";
    OWNED "rfo_estimate_bytes_per_second" "Possible additional reads for ownership (RFO) by plain stores, in bytes per second.";
    NOT_MEASURED "not_measured" "Reason why there is no value; empty otherwise.";
    UNDISTURBED_NS "undisturbed_ns" interval "Steady latency: median of the lowest rounds if rounds in separate seconds agree on it, in nanoseconds; null if they do not.";
    UNDISTURBED_ROUNDS "undisturbed_rounds" "Number of steady rounds.";
    UNDISTURBED_AT_MOST "undisturbed_at_most_ns" "Upper bound of the latency without neighbours in nanoseconds if no rounds are steady; null otherwise.";
    COLD_NS "cold_ns" "Latency of the first pass, with cold caches, in nanoseconds.";
    INDEPENDENT_NS "independent_ns" "Time per independent load of the same lines in address order, in nanoseconds.";
    RATIO_TO_IDLE "ratio_to_idle" "Latency divided by the idle latency.";
    LINES_IN_FLIGHT "lines_in_flight" "Outstanding line reads per core, by Little's law.";
    KNEE_CORES "knee_cores" "Smallest number of cores with 95% of the largest rate.";
    EFFICIENCY "efficiency_per_core" "Rate divided by the rate of one core alone times the cores; null if one core alone was not measured.";
    BURST "burst_lines" "Lines per burst of each core; null if unthrottled.";
    SPANNED "pages_spanned" "Number of pages that the working set spans.";
    PAGE_WALK "page_walk_share" "Share of the time that page walks use (0 to 1), by comparison with the largest pages; null for the largest pages.";
    MIN_LINE "min_line_ns" "Latency of the fastest cache line, in nanoseconds.";
    MAX_LINE "max_line_ns" "Latency of the slowest cache line, in nanoseconds.";
    SLOWEST_LINE "slowest_line" "Index of the slowest cache line, from 0.";
    OFFSET "offset_or_asymmetry_ns" interval "Half of the difference between messages in both directions by the clocks of the CPUs: clock offset and asymmetry together.";
    IN_ORDER "no_message_before_it_was_sent" "True if no message arrived before it was sent, by these clocks.";
    BATCH_RATIO "batch_ratio" interval "Mean of single loads divided by the mean of batches.";
    REFRESH "refresh_period_us" "Period of slow loads in microseconds; null if none was found.";
    TRIALS "trials" "Number of timed batches of loads, or of timed single loads.";
    ROUNDS "rounds" "Number of rounds.";
    LOADS "loads_per_trial" "Number of loads per trial.";
    INTERRUPTED "interrupted" "Number of trials that were interrupted and left out.";
    THROTTLED "throttled" "Number of trials during which the CPU quota was used up.";
    SETTLED "settled" "True if the traffic had a steady rate before every trial.";
    PRECISE "precise" "True if the confidence interval is as narrow as requested.";
    STATE_SHARE "state_share" "Share of a round's trials that agree with its value (0 to 1), median over rounds; null with few trials.";
    WINDOW "interval_window_s" "Time from the first to the last round, which the interval covers, in seconds.";
    PLACEMENTS "placements" "Number of different physical placements of the memory.";
    PLACEMENT_SPREAD "placement_spread" "Range from the 10th to the 90th percentile of the placements' medians, divided by their median; null with few placements.";
    CORE_GHZ "core_ghz" "Median core clock around the trials, in GHz; null if unknown.";
    UNCORE_GHZ "uncore_ghz" "Clock of the uncore that serves the memory, in GHz; null if Linux does not report it.";
    PAGES_OBTAINED "pages_obtained" "Obtained page size.";
    VERIFIED "verified" "True if every page was on the target node, before and after the trials.";
    ON_TARGET "pages_on_target" "Number of pages on the target node after the last trial; null if unknown.";
    ELSEWHERE "pages_elsewhere" "Number of pages on other nodes after the last trial; null if unknown.";
    SEED "seed" "Seed of the random order.";
    RUNNING "counted_share" "Share of the time in which the hardware counters ran (0 to 1); counts are scaled to the whole time.";
    CYCLES_RATIO "counted_cycles_ratio" "Counted core cycles divided by core cycles estimated from dependent additions.";
    PER_CYCLE "instructions_per_cycle" "Instructions per core cycle, by hardware counters.";
    COUNTED_CYCLES "counted_core_cycles" "Core cycles per load, by hardware counters of the thread of initiator_cpu, in walks that are not timed; for traffic per line, for CPU pairs per message.";
    COUNTED_INSTRUCTIONS "counted_instructions" "Retired instructions per load.";
    COUNTED_L1D "counted_l1d_misses" "Misses of the L1 data cache per load.";
    COUNTED_LLC "counted_llc_misses" "Misses of the last-level cache per load.";
    COUNTED_DTLB "counted_dtlb_misses" "Misses of the data TLB per load.";
    COUNTED_WALKS "counted_walk_cycles" "Cycles of page walks per load.";
}

fields! {
    LOAD "load_level" "Load level of a latency under load: `most` (largest bandwidth) or `idle, before KIND` (no load).";
}

/// The columns of the fields of saved points, by their index in [`FIELDS`].
pub static SAVED: [Field; FIELDS.len()] = [
    INITIATOR_NODE,
    TARGET_NODE,
    WORKING_SET,
    STRIDE,
    ORDER,
    KERNEL,
    PAGES_ASKED,
    VARIANT,
    PATTERN,
    CHAINS,
    WORK,
    PREFETCH,
    FILLER,
    FILLERS,
    TRAFFIC,
    CORES,
    EXPERIMENT,
    INITIATOR_CPU,
    TARGET_CPU,
    CLASS,
    METHOD,
    LINES,
    OP,
    STATE,
    LEVEL,
    HOME_NODE,
    LOAD,
];

/// Describes a field of a saved point, which is a number, a flag or a word, if the point has it.
pub fn saved_field(document: &mut Shown, field: usize, word: &str) {
    let Some(column) = SAVED.get(field).filter(|_| !word.is_empty()) else { return };
    let number = word.parse().ok().filter(|_| row::NUMBERS >> field & 1 == 1);
    let flag = (field == row::PREFETCH).then_some(word == "true");
    document.put(column, number.map(Value::Count).or(flag.map(Value::Flag)).unwrap_or(word.into()));
}

/// Describes the fields of a saved point of an experiment.
pub fn saved(document: &mut Shown, experiment: &str, row: &Row) {
    if !row.tells(row::EXPERIMENT) {
        saved_field(document, row::EXPERIMENT, experiment);
    }
    (0..SAVED.len()).for_each(|field| saved_field(document, field, row.plain(field).as_str()));
}

/// Describes the start of a saved run; null if the result does not state it.
pub fn start_of(document: &mut Shown, field: &'static Field, of: &Saved) {
    match of.origin.started {
        0 => document.put(field, None::<bool>),
        started => document.show(field, &Utc(started)),
    }
}

/// Describes memory and translation, the parts of a random load; null if they were not told apart.
pub fn parts(document: &mut Shown, parts: Option<LoadParts>, is_memory: bool) {
    let without_translation = parts.map(|parts| parts.without_translation);
    document.put(&MEMORY_NS, without_translation.filter(|_| is_memory));
    document.put(&WITHOUT_TRANSLATION, without_translation);
    document.put(&TRANSLATION, parts.map(|parts| parts.translation));
}

/// Describes the points of a saved result, which `next` returns, as rows.
pub fn saved_rows<'r>(document: &mut Shown, of: &Saved, next: &mut dyn FnMut() -> Option<&'r Row>) {
    for row in core::iter::from_fn(next) {
        document.part(Part::Item, |document| {
            document.put(&HOST, of.named_host().unwrap_or_default());
            start_of(document, &STARTED, of);
            saved(document, of.experiment.as_str(), row);
            let Sample { nanoseconds: value, interval, .. } = row.sample;
            document.put(&NS, Estimate { value, interval });
            match row.traffic() {
                Some(kind) => document.put(&BYTES, bandwidth(kind, Estimate { value, interval })),
                // The idle latency of a curve under load.
                None if row.tells(row::LOAD) => document.put(&OFFERED, 0.0),
                None => {}
            }
            if row.parts.is_some() {
                parts(document, row.parts, row.is_memory);
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
    pub fn row(self, document: &mut Shown, members: &mut dyn FnMut(&mut Shown)) {
        document.part(Part::Item, |document| {
            document.put(&HOST, self.host);
            document.show(&STARTED, &Utc(self.started));
            document.put(&EXPERIMENT, self.experiment);
            document.put(&TOOL_VERSION, env!("CARGO_PKG_VERSION"));
            members(document);
        });
    }
}
