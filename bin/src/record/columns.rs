//! The columns: the keys of the objects in `rows` of every document, and the header of every CSV file.
//!
//! All experiments have the same columns in the same order, and a row has only those that apply to it. A column is one
//! line of the table below: rows are written, read, joined and labelled by it.

use core::fmt::{self, Debug};
use core::ops::{BitOr, Deref};

use latency_report::Field;
use latency_report::document::ENDS;

/// A column, by its place in the table. Dereferences to its field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column(u8);

/// The kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A whole number.
    Count,
    /// A size in bytes, which is not zero.
    Bytes,
    /// A measured number.
    Real,
    /// A measured number with a confidence interval, whose ends have keys of their own.
    Estimate,
    /// Yes or no.
    Flag,
    /// A word or a text.
    Word,
}

/// Declares the columns in their order: `NAME Kind "key" "About it.";`, with `[rank "words"]` behind the key of a
/// column that tells points apart.
macro_rules! columns {
    ($($name:ident $kind:ident $key:literal $([$rank:literal $words:literal])? $about:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of constants")]
        enum ColumnPlace { $($name),* }
        $(#[doc = $about] pub const $name: Column = Column(ColumnPlace::$name as u8);)*
        /// Number of columns.
        pub const COUNT: usize = [$($key),*].len();
        /// The fields of all columns.
        pub static FIELDS: [Field; COUNT] =
            [$(Field::new($key, matches!(ColumnKind::$kind, ColumnKind::Estimate), $about)),*];
        /// The kinds of all columns.
        static KINDS: [ColumnKind; COUNT] = [$(ColumnKind::$kind),*];
        /// The columns that tell points apart: the rank of each in their labels, and its words for people.
        static RANKS: &[(usize, Column, &str)] = &[$($(($rank, $name, $words),)?)*];
    };
}

columns! {
    HOST Word "host" "Host name; empty with --anonymous.";
    STARTED Word "started" "Start of the run, in UTC.";
    EXPERIMENT Word "experiment" [16 "experiment"] "Name of the experiment.";
    TOOL_VERSION Word "tool_version" "Version of the program.";
    INITIATOR_NODE Count "initiator_node" [0 "from node"] "NUMA node of the CPU that made the loads; for CPU pairs, node of the first CPU.";
    TARGET_NODE Count "target_node" [1 "to node"] "NUMA node of the memory; for CPU pairs, node of the second CPU.";
    INITIATOR_CPU Count "initiator_cpu" [17 "CPU"] "CPU that made the loads, or that sent the cache line first.";
    TARGET_CPU Count "target_cpu" [18 "CPU"] "CPU that replies, or that owns the cache lines; null without a second CPU.";
    THIRD_CPU Count "third_cpu" "CPU that shares the cache lines; null unless they are shared.";
    WORKING_SET Bytes "working_set_bytes" [2 "working set"] "Working set, in bytes; for traffic by working set, the memory of each core.";
    STRIDE Bytes "stride_bytes" [3 "stride"] "Distance between lines, in bytes.";
    ORDER Word "walk_order" [4 "order"] "Order of the loads.";
    KERNEL Word "kernel" [5 "chase kernel"] "Chase kernel: `pointer` or `index`.";
    PAGES_ASKED Word "pages_asked" [6 "requested pages"] "Requested page size.";
    VARIANT Word "variant" [7 "variant"] "Data layout: pointer or index, packed or padded; `checked` with bounds checks, `2m` with 2 MiB pages.";
    CHAINS Count "chains" [9 "chains"] "Number of parallel chains; ns is the time per load of all of them together.";
    WORK Count "work" [10 "work"] "Number of dependent one-cycle additions after each load.";
    PREFETCH Flag "prefetch" [11 "prefetch"] "True if the next line of each chain is prefetched.";
    FILLER Word "filler" [12 "filler"] "Kind of the independent instructions between two loads: `nop`, `lea` or `mixed`.";
    FILLERS Count "fillers" [13 "fillers"] "Number of independent instructions between two loads.";
    INSTRUCTIONS Count "instructions_per_load" "Number of instructions from one load of a chain to the next.";
    PERCENTILE Real "percentile" "Percentile of single loads; null for the median of batches.";
    TRAFFIC Word "traffic" [14 "traffic"] "Kind of traffic: n:1 reads n lines and writes one.";
    PATTERN Word "pattern" [8 "pattern"] "Order of the traffic: `stream`, `permuted` within blocks of 2 MiB, or `random`.";
    CORES Count "cores" [15 "cores"] "Number of cores that generate traffic at the same time.";
    CPUS Word "cpus" "CPUs that generate traffic, as ranges.";
    LOAD_NODE Count "load_node" "NUMA node of the traffic's memory.";
    FOOTPRINT Count "footprint_bytes" "Memory of all generators together, in bytes.";
    OFFERED Real "offered_bytes_per_second" "Offered rate in bytes per second; null if unthrottled.";
    CLASS Word "class" [19 "class"] "Nearest hardware that both CPUs share, or all CPUs that generate traffic; `own` if initiator_cpu itself owns the lines; `single core` in rows of `matrix` that are of no pair of nodes.";
    METHOD Word "method" [20 "method"] "Method by which a CPU learns that it is its turn.";
    OP Word "op" [22 "access"] "Access to a cache line: a read, or an atomic addition of zero.";
    STATE Word "state" [23 "state"] "Coherence state of the line in the owner's cache.";
    LEVEL Word "level" [24 "cache"] "Smallest cache of the owner that holds all lines.";
    HOME_NODE Count "home_node" [25 "home node"] "NUMA node of the memory of the lines.";
    LINES Count "lines" [21 "lines"] "Number of cache lines.";
    NS Estimate "ns" "Latency of a dependent load in nanoseconds: median over rounds of the median trial in the most frequent state. Time per load for several chains, time per line for bandwidth, one-way time of a line for CPU pairs. Null if not measured.";
    MEMORY_NS Estimate "memory_ns" "Latency of memory in nanoseconds: a random load whose address translation is in the TLB; null if memory and translation were not told apart, or if a cache holds the working set.";
    WITHOUT_TRANSLATION Estimate "without_translation_ns" "Latency of a random load whose address translation is in the TLB, in nanoseconds, of memory or of a cache; null if not told apart.";
    TRANSLATION Estimate "translation_ns" "Latency that address translation adds to a random load, in nanoseconds: `ns` minus `without_translation_ns`; null if not told apart.";
    CYCLES Real "cycles" "Value of `ns` in cycles of the clock that `cycles_of` names in JSON; null without a counter.";
    CORE_CYCLES Estimate "core_cycles" "Value of `ns` in core cycles; null if the core clock is unknown.";
    MIN_NS Real "min_ns" "Value of `ns` in the fastest trial.";
    MAX_NS Real "max_ns" "Value of `ns` in the slowest trial that was not interrupted; null for percentiles.";
    MAD_NS Real "mad_ns" "Median absolute deviation over rounds, in nanoseconds.";
    BYTES Estimate "bytes_per_second" "Bytes of the lines read and written per second.";
    READ Real "read_bytes_per_second" "Bytes of the lines read per second.";
    WRITTEN Real "write_bytes_per_second" "Bytes of the lines written per second.";
    OWNED Real "rfo_estimate_bytes_per_second" "Possible additional reads for ownership (RFO) by plain stores, in bytes per second.";
    NOT_MEASURED Word "not_measured" "Reason why there is no value; empty otherwise.";
    UNDISTURBED_NS Estimate "undisturbed_ns" "Steady latency: median of the lowest rounds if rounds in separate seconds agree on it, in nanoseconds; null if they do not.";
    UNDISTURBED_ROUNDS Count "undisturbed_rounds" "Number of steady rounds.";
    UNDISTURBED_AT_MOST Real "undisturbed_at_most_ns" "Upper bound of the latency without neighbours in nanoseconds if no rounds are steady; null otherwise.";
    COLD_NS Real "cold_ns" "Latency of the first pass, with cold caches, in nanoseconds.";
    INDEPENDENT_NS Real "independent_ns" "Time per independent load of the same lines in address order, in nanoseconds.";
    RATIO_TO_IDLE Real "ratio_to_idle" "Latency divided by the idle latency.";
    LINES_IN_FLIGHT Real "lines_in_flight" "Outstanding line reads per core, by Little's law.";
    KNEE_CORES Count "knee_cores" "Smallest number of cores with 95% of the largest rate.";
    EFFICIENCY Real "efficiency_per_core" "Rate divided by the rate of one core alone times the cores; null if one core alone was not measured.";
    BURST Count "burst_lines" "Lines per burst of each core; null if unthrottled.";
    SPANNED Count "pages_spanned" "Number of pages that the working set spans.";
    PAGE_WALK Real "page_walk_share" "Share of the time that page walks use (0 to 1), by comparison with the largest pages; null for the largest pages.";
    MIN_LINE Real "min_line_ns" "Latency of the fastest cache line, in nanoseconds.";
    MAX_LINE Real "max_line_ns" "Latency of the slowest cache line, in nanoseconds.";
    SLOWEST_LINE Count "slowest_line" "Index of the slowest cache line, from 0.";
    OFFSET Estimate "offset_or_asymmetry_ns" "Half of the difference between messages in both directions by the clocks of the CPUs: clock offset and asymmetry together.";
    IN_ORDER Flag "no_message_before_it_was_sent" "True if no message arrived before it was sent, by these clocks.";
    BATCH_RATIO Estimate "batch_ratio" "Mean of single loads divided by the mean of batches.";
    REFRESH Real "refresh_period_us" "Period of slow loads in microseconds; null if none was found.";
    TRIALS Count "trials" "Number of timed batches of loads, or of timed single loads.";
    ROUNDS Count "rounds" "Number of rounds.";
    LOADS Count "loads_per_trial" "Number of loads per trial.";
    INTERRUPTED Count "interrupted" "Number of trials that were interrupted and left out.";
    THROTTLED Count "throttled" "Number of trials during which the CPU quota was used up.";
    SETTLED Flag "settled" "True if the traffic had a steady rate before every trial.";
    PRECISE Flag "precise" "True if the confidence interval is as narrow as requested.";
    STATE_SHARE Real "state_share" "Share of a round's trials that agree with its value (0 to 1), median over rounds; null with few trials.";
    WINDOW Real "interval_window_s" "Time from the first to the last round, which the interval covers, in seconds.";
    PLACEMENTS Count "placements" "Number of different physical placements of the memory.";
    PLACEMENT_SPREAD Real "placement_spread" "Range from the 10th to the 90th percentile of the placements' medians, divided by their median; null with few placements.";
    CORE_GHZ Real "core_ghz" "Median core clock around the trials, in GHz; null if unknown.";
    UNCORE_GHZ Real "uncore_ghz" "Clock of the uncore that serves the memory, in GHz; null if Linux does not report it.";
    PAGES_OBTAINED Word "pages_obtained" "Obtained page size.";
    VERIFIED Flag "verified" "True if every page was on the target node, before and after the trials.";
    ON_TARGET Count "pages_on_target" "Number of pages on the target node after the last trial; null if unknown.";
    ELSEWHERE Count "pages_elsewhere" "Number of pages on other nodes after the last trial; null if unknown.";
    SEED Count "seed" "Seed of the random order.";
    RUNNING Real "counted_share" "Share of the time in which the hardware counters ran (0 to 1); counts are scaled to the whole time.";
    CYCLES_RATIO Real "counted_cycles_ratio" "Counted core cycles divided by core cycles estimated from dependent additions.";
    PER_CYCLE Real "instructions_per_cycle" "Instructions per core cycle, by hardware counters.";
    COUNTED_CYCLES Real "counted_core_cycles" "Core cycles per load, by hardware counters of the thread of initiator_cpu, in walks that are not timed; for traffic per line, for CPU pairs per message.";
    COUNTED_INSTRUCTIONS Real "counted_instructions" "Retired instructions per load.";
    COUNTED_L1D Real "counted_l1d_misses" "Misses of the L1 data cache per load.";
    COUNTED_LLC Real "counted_llc_misses" "Misses of the last-level cache per load.";
    COUNTED_DTLB Real "counted_dtlb_misses" "Misses of the data TLB per load.";
    COUNTED_WALKS Real "counted_walk_cycles" "Cycles of page walks per load.";
    LOAD Word "load_level" [26 "load"] "Load level of a latency under load: `most` (largest bandwidth) or `idle, before KIND` (no load).";
}

/// The columns of the tables of runs. Only saved results have the last column.
pub static COLUMNS: &[Field] = FIELDS.split_at(LOAD.0 as usize).0;

/// The columns that tell points apart, in the order of their labels.
pub static POINTS: [Column; RANKS.len()] = {
    let mut all = [HOST; RANKS.len()];
    let mut index = 0;
    while index < RANKS.len() {
        let (rank, column, _) = RANKS[index];
        assert!(all[rank].0 == HOST.0, "each rank is that of one column");
        all[rank] = column;
        index += 1;
    }
    all
};

/// The fields of the columns that tell points apart.
pub static FIELDS_OF_POINTS: [Field; POINTS.len()] = {
    let mut all = [FIELDS[0]; POINTS.len()];
    let mut place = 0;
    while place < POINTS.len() {
        all[place] = FIELDS[POINTS[place].place()];
        place += 1;
    }
    all
};

impl Column {
    /// Returns its key.
    pub const fn name(self) -> &'static str {
        FIELDS[self.place()].key
    }

    /// Returns its place in the table.
    pub const fn place(self) -> usize {
        self.0 as usize
    }

    /// Returns the kind of its values.
    pub fn kind(self) -> ColumnKind {
        KINDS[self.place()]
    }

    /// Returns its words for people; empty if it does not tell points apart.
    pub fn words(self) -> &'static str {
        RANKS.iter().find(|(_, column, _)| *column == self).map_or("", |(.., words)| words)
    }

    /// Returns the largest count: nodes, CPUs and numbers of chains, which tell points apart, have 32 bits.
    pub fn largest(self) -> u64 {
        if self.words().is_empty() { u64::MAX } else { u32::MAX.into() }
    }

    /// Returns all columns.
    pub fn all() -> impl DoubleEndedIterator<Item = Column> {
        (0..COUNT as u8).map(Column)
    }

    /// Returns the column with a key, and the part with it: its value (0), or an end of its interval (1, 2). The search
    /// begins at `near`, because the members of a row follow each other in about the order of the table.
    pub fn named(key: &str, near: Column) -> Option<(Column, usize)> {
        let end = |end: usize| Some((key.strip_suffix(ENDS[end])?, end + 1));
        let (own, part) = end(0).or_else(|| end(1)).unwrap_or((key, 0));
        let (before, behind) = FIELDS.split_at(near.place());
        let place = behind.iter().chain(before).position(|field| field.key == own)? + near.place();
        let column = Column((place % COUNT) as u8);
        (part == 0 || column.has_interval).then_some((column, part))
    }
}

impl Deref for Column {
    type Target = Field;

    fn deref(&self) -> &Field {
        &FIELDS[self.place()]
    }
}

impl Debug for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.key)
    }
}

/// A set of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnSet(u128);

const _: () = assert!(COUNT <= u128::BITS as usize, "a set has a bit for each column");

impl ColumnSet {
    /// The set of no column.
    pub const EMPTY: ColumnSet = ColumnSet(0);
    /// The set of the columns that tell points apart.
    pub const POINTS: ColumnSet = ColumnSet::of(&POINTS);
    /// Both nodes of a point.
    pub const NODES: ColumnSet = ColumnSet::of(&[INITIATOR_NODE, TARGET_NODE]);
    /// Both CPUs of a pair.
    pub const CPUS: ColumnSet = ColumnSet::of(&[INITIATOR_CPU, TARGET_CPU]);

    /// Returns the set of some columns.
    pub const fn of(columns: &[Column]) -> ColumnSet {
        let (mut set, mut index) = (0, 0);
        while index < columns.len() {
            set |= 1 << columns[index].0;
            index += 1;
        }
        ColumnSet(set)
    }

    /// Returns the columns that tell points apart and for which `is` returns true.
    pub fn that(is: &dyn Fn(Column) -> bool) -> ColumnSet {
        let found = POINTS.iter().filter(|column| is(**column));
        found.fold(ColumnSet::EMPTY, |all, column| all | *column)
    }

    /// Returns whether a column is in the set.
    pub const fn has(self, column: Column) -> bool {
        self.0 >> column.0 & 1 == 1
    }

    /// Returns the columns of this set that are not in another one.
    pub const fn without(self, other: ColumnSet) -> ColumnSet {
        ColumnSet(self.0 & !other.0)
    }

    /// Returns the columns of the set that tell points apart, in the order of labels.
    pub fn points(self) -> impl Iterator<Item = Column> + Clone {
        POINTS.iter().copied().filter(move |column| self.has(*column))
    }

    /// Returns whether a column is in both sets.
    pub const fn meets(self, other: ColumnSet) -> bool {
        self.0 & other.0 != 0
    }
}

impl<S: Into<ColumnSet>> BitOr<S> for ColumnSet {
    type Output = ColumnSet;

    fn bitor(self, other: S) -> ColumnSet {
        ColumnSet(self.0 | other.into().0)
    }
}

impl From<Column> for ColumnSet {
    fn from(column: Column) -> ColumnSet {
        ColumnSet(1 << column.0)
    }
}
