//! One measured point: its plan, its values, and the evidence for the placement of its memory.

use latency_core::chain::Order;
use latency_core::text::Text;

use super::undisturbed;
use crate::report::document::{Document, Field, Part, fields};
use crate::result::counters::{Counters, EVENTS, Software};
use crate::result::evidence::{Evidence, PageCounts};
use crate::result::words::OrderName;
use crate::result::{Measurement, Outcome, Placed, Point, RoundSeries, Timer};
use latency_core::words::Worded;

fields! {
    pub POINTS "points" "Everything that was measured or planned, one object a point.";
    pub FROM "from" "The NUMA node whose CPU did the loads.";
    pub TO "to" "The NUMA node whose memory was walked.";
    CYCLES "cycles" "Median latency of a dependent load in ticks of the time-stamp counter.";
    pub NS "ns" "Median over rounds of the latency of a dependent load in nanoseconds; a round's is the median of the trials in the state that most of them agree on. With several chains the time per load.";
    pub CPU "cpu" "The CPU that did the loads.";
    pub WORKING_SET "working_set_bytes" "The memory walked.";
    STRIDE "stride_bytes" "The spacing of the lines.";
    ORDER "order" "The order of the walk.";
    KERNEL "kernel" "The walk's loop: what a line holds of the next.";
    pub PAGES_ASKED "pages_asked" "The pages asked for.";
    pub NOT_MEASURED "not_measured" "Why there is no number.";
    pub PAGES_OBTAINED "pages_obtained" "The pages that the memory is in.";
    PAGES_VERIFIED "pages_verified" "Whether the kernel said so.";
    PLACEMENT "placement" "Where the memory was, and how that is known.";
    pub VERIFIED "verified" "Whether every page was proven to be on the node, before and after.";
    MEANS "means" "How the memory came to its node.";
    MAPPED "mapped_bytes" "The memory mapped, of which the working set is a part.";
    BEFORE "before" "What the kernel said before the first trial.";
    AFTER "after" "What the kernel said after the last trial.";
    SOURCE "source" "Who said so.";
    NODES "nodes" "Pages by node.";
    NODE "node" "A NUMA node.";
    PAGES "pages" "Its pages.";
    PAGE_BYTES "page_bytes" "The size of a page of the mapping.";
    HUGE_BYTES "transparent_huge_bytes" "The part in transparent huge pages.";
    CHAIN "chain" "The chain that was walked.";
    CHAIN_NODES "nodes" "Its lines.";
    FINGERPRINT "fingerprint" "Equal for equal chains.";
    pub TRIALS "trials" "Timed batches of loads.";
    pub ROUNDS "rounds" "Rounds that the trials were made in.";
    PLACEMENTS "placements" "Places in physical memory that the rounds were made in: several, each with a chain written anew, where caches serve some of the working set.";
    PLACEMENT_SPREAD "placement_spread" "From the tenth to the ninetieth percentile of their medians, as a share of the middle one; null with few places.";
    HOPS "hops_per_trial" "Loads in each trial.";
    pub DISTURBED "disturbed_trials" "Trials that were interrupted, and left out.";
    PRECISE "precise" "Whether the confidence interval became as narrow as asked.";
    pub MIN_NS "min_ns" "The fastest trial.";
    MAD_NS "mad_ns" "Median absolute deviation over rounds.";
    pub CI95_NS "ci95_ns" "95 % confidence interval of the median over rounds, within interval_window_s.";
    pub WINDOW "interval_window_s" "The time that the rounds are spread over, of which the interval speaks.";
    STATE_SHARE "state_share" "The share of a round's trials that agree on its value, median over rounds; null with few trials.";
    pub CORE_CYCLES "core_cycles" "The median in cycles of the core's own clock.";
    CORE_CYCLES_MAD "core_cycles_mad" "Median absolute deviation over rounds, in core cycles.";
    CORE_CYCLES_CI95 "core_cycles_ci95" "95 % confidence interval of the median, in core cycles.";
    pub CORE_GHZ "core_ghz" "The median clock of the core beside the trials.";
    pub UNCORE_GHZ "uncore_ghz" "The clock of the uncore that serves the loaded memory, read after each round's windows: the mean of its dies or domains, median over rounds; null where Linux does not tell it.";
    WARM_UP "warm_up" "What happened before the first trial.";
    WARM_UP_HOPS "hops" "Loads made.";
    pub COLD_NS "cold_ns" "The first pass over memory that no cache held.";
    SOFTWARE "software" "What the kernel did to the thread.";
    VOLUNTARY "voluntary_switches" "Context switches of its own will.";
    INVOLUNTARY "involuntary_switches" "Context switches against it.";
    MIGRATIONS "migrations" "Changes of the CPU.";
    MINOR_FAULTS "minor_faults" "Page faults without input or output.";
    MAJOR_FAULTS "major_faults" "Page faults with it.";
    COUNTERS "counters" "Hardware events per load.";
    RUNNING "running" "The share of the time in which they were counted; below 1 they are scaled.";
    CYCLES_RATIO "core_cycles_ratio" "Counted core cycles against those of dependent additions.";
    pub SEED "seed" "The seed of the random order.";
}

/// The hardware events, by their index in [`Counters::per_hop`]: JSON has them in their own object.
static COUNTED: [Field; EVENTS] = [
    Field::new("core_cycles counted_core_cycles", "Core cycles."),
    Field::new("instructions counted_instructions", "Instructions retired."),
    Field::new("l1d_misses counted_l1d_misses", "Loads that missed the first-level data cache."),
    Field::new("llc_misses counted_llc_misses", "Loads that missed the last-level cache."),
    Field::new("dtlb_misses counted_dtlb_misses", "Loads that missed the data TLB."),
    Field::new("walk_cycles counted_walk_cycles", "Cycles of page walks."),
];

/// The columns of hardware events, if these were requested.
pub static COUNTED_COLUMNS: [&Field; EVENTS] =
    [&COUNTED[0], &COUNTED[1], &COUNTED[2], &COUNTED[3], &COUNTED[4], &COUNTED[5]];

/// The columns of points that are each a single chain.
pub static CHAINS: [&Field; 30] = [
    &FROM,
    &TO,
    &CYCLES,
    &NS,
    &CORE_CYCLES,
    &CI95_NS,
    &WINDOW,
    &STATE_SHARE,
    &MIN_NS,
    &MAD_NS,
    &TRIALS,
    &ROUNDS,
    &PLACEMENTS,
    &PLACEMENT_SPREAD,
    &HOPS,
    &DISTURBED,
    &CORE_GHZ,
    &WORKING_SET,
    &STRIDE,
    &ORDER,
    &KERNEL,
    &PAGES_ASKED,
    &PAGES_OBTAINED,
    &VERIFIED,
    &SEED,
    &undisturbed::NS,
    &undisturbed::LOW,
    &undisturbed::HIGH,
    &undisturbed::ROUNDS,
    &undisturbed::AT_MOST,
];

/// The columns that every table of points begins with.
pub const COLUMNS: &[&Field] = CHAINS.split_at(25).0;

/// Describes the nodes of a point.
pub fn nodes(document: &mut dyn Document, point: &Point) {
    document.put(&FROM, point.initiator.0);
    document.put(&TO, point.target.0);
}

/// Describes a point of a plan.
pub fn planned(document: &mut dyn Document, point: &Point) {
    nodes(document, point);
    conditions(document, point);
}

/// Describes the nodes of a point, and its CPU.
pub fn route(document: &mut dyn Document, point: &Point) {
    nodes(document, point);
    document.put(&CPU, point.cpu.0);
}

/// Describes the windows in which traffic was counted, and its memory.
pub fn windows(document: &mut dyn Document, point: &Point, measured: &Measurement) {
    let series = &measured.series;
    document.put(&NS, series.nanoseconds.median);
    document.put(&CI95_NS, series.nanoseconds.interval);
    document.put(&WINDOW, series.window_ns / 1e9);
    document.put(&TRIALS, series.batches);
    document.put(&ROUNDS, measured.rounds);
    document.put(&DISTURBED, series.disturbed);
    document.put(&PRECISE, measured.precise);
    memory(document, point, measured);
}

/// Describes the memory of lines, and the evidence for its placement.
pub fn memory(document: &mut dyn Document, point: &Point, measured: &Measurement) {
    document.put(&PAGES_OBTAINED, measured.placed.pages.word());
    document.part(Part::Object(&PLACEMENT), |document| placement(document, point, &measured.placed));
}

/// Describes a point by the members of the innermost object.
pub fn members(document: &mut dyn Document, clock: &Timer, outcome: &Outcome<'_>) {
    let point = &outcome.point;
    nodes(document, point);
    let nanoseconds = outcome.nanoseconds();
    document.put(&CYCLES, nanoseconds.and_then(|nanoseconds| clock.ticks(nanoseconds)));
    document.put(&NS, nanoseconds);
    conditions(document, point);
    match &outcome.result {
        Ok(measured) => findings(document, point, measured),
        Err(exclusion) => document.show(&NOT_MEASURED, exclusion),
    }
}

fn conditions(document: &mut dyn Document, point: &Point) {
    document.put(&CPU, point.cpu.0);
    document.put(&WORKING_SET, point.size);
    document.put(&STRIDE, point.stride);
    // Programs know only two regions, by name.
    let order = match point.order {
        Order::Local(region) if region.0 != 2 << 20 => Order::Local(latency_core::units::Bytes(4096)),
        order => order,
    };
    document.show(&ORDER, &OrderName(order));
    document.put(&KERNEL, point.kernel.name);
    document.put(&PAGES_ASKED, point.pages.word());
    document.put(&SEED, point.seed);
}

fn findings(document: &mut dyn Document, point: &Point, measured: &Measurement) {
    let Measurement { series, placed, .. } = measured;
    document.put(&PAGES_OBTAINED, placed.pages.word());
    document.put(&PAGES_VERIFIED, placed.pages_are_verified());
    document.part(Part::Object(&PLACEMENT), |document| placement(document, point, placed));
    document.part(Part::Object(&CHAIN), |document| {
        document.put(&CHAIN_NODES, measured.nodes);
        document.show(&FINGERPRINT, &format_args!("{:016x}", measured.fingerprint));
    });
    document.put(&TRIALS, series.batches);
    document.put(&ROUNDS, measured.rounds);
    document.put(&PLACEMENTS, measured.placements);
    document.put(&PLACEMENT_SPREAD, measured.placement_spread);
    document.put(&HOPS, measured.hops);
    document.put(&DISTURBED, series.disturbed);
    document.put(&PRECISE, measured.precise);
    document.put(&MIN_NS, series.minimum_ns);
    document.put(&MAD_NS, series.nanoseconds.mad);
    document.put(&CI95_NS, series.nanoseconds.interval);
    document.put(&WINDOW, series.window_ns / 1e9);
    document.put(&STATE_SHARE, series.state_share);
    undisturbed::members(document, series);
    document.put(&CORE_CYCLES, series.core_cycles.map(|cycles| cycles.median));
    if let Some(cycles) = &series.core_cycles {
        document.put(&CORE_CYCLES_MAD, cycles.mad);
        document.put(&CORE_CYCLES_CI95, cycles.interval);
    }
    document.put(&CORE_GHZ, series.core_gigahertz.map(|clock| clock.median));
    software(document, &series.software);
    if let Some(counters) = &series.counters {
        document.part(Part::Object(&COUNTERS), |document| counted(document, series, counters));
    }
    document.part(Part::Object(&WARM_UP), |document| {
        document.put(&WARM_UP_HOPS, measured.warm_up.hops);
        document.put(&COLD_NS, measured.warm_up.cold_ns);
    });
}

fn software(document: &mut dyn Document, software: &Software) {
    let Software { switches, migrations, faults } = *software;
    document.part(Part::Object(&SOFTWARE), |document| {
        document.put(&VOLUNTARY, switches.0);
        document.put(&INVOLUNTARY, switches.1);
        document.put(&MIGRATIONS, migrations);
        document.put(&MINOR_FAULTS, faults.0);
        document.put(&MAJOR_FAULTS, faults.1);
    });
}

fn counted(document: &mut dyn Document, series: &RoundSeries, counters: &Counters) {
    for (field, count) in COUNTED.iter().zip(counters.per_hop) {
        document.put(field, count);
    }
    document.put(&RUNNING, counters.running);
    document.put(&CYCLES_RATIO, series.core_cycles_ratio());
}

fn placement(document: &mut dyn Document, point: &Point, placed: &Placed) {
    document.put(&VERIFIED, placed.is_verified(point.target));
    document.put(&MEANS, placed.means.word());
    document.put(&MAPPED, placed.mapped);
    document.part(Part::Object(&BEFORE), |document| evidence(document, &placed.before));
    document.part(Part::Object(&AFTER), |document| evidence(document, &placed.after));
}

fn evidence(document: &mut dyn Document, evidence: &Evidence) {
    document.put(&SOURCE, evidence.source());
    let nodes = evidence.counts().into_iter().flat_map(PageCounts::nodes);
    document.items(Part::List(&NODES), nodes, |document, (node, pages)| {
        document.put(&NODE, node.0);
        document.put(&PAGES, *pages);
    });
    document.put(&PAGE_BYTES, evidence.kernel_page);
    document.put(&HUGE_BYTES, evidence.transparent_huge);
}

/// Returns the subtitle of pictures: the axes, the nodes, the order and the pages.
#[must_use]
pub fn subtitle(axes: &str, outcome: Option<&Outcome<'_>>) -> Text<320> {
    use core::fmt::Write;
    let mut text = Text::EMPTY;
    if let Some(Outcome { point, result }) = outcome {
        let pages = result.as_ref().map_or(point.pages, |measured| measured.placed.pages);
        // Text that does not fit is left out.
        let _ = write!(
            text,
            "{axes}; CPU {} of node {} to memory of node {}, {} order, {} spacing, {}, seed {}",
            point.cpu,
            point.initiator,
            point.target,
            OrderName(point.order),
            point.stride,
            crate::result::words::page_words(pages),
            point.seed
        );
    }
    text
}
