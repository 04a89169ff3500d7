//! One measured point: its plan, its values, and the evidence for the placement of its memory; and every measured point
//! as a row of a table, for readers who want to know its uncertainty.

use alloc::string::String;

use latency_core::Worded;

use super::columns::{self, RowOrigin};
use super::{Report, split, undisturbed};
use latency_engine::machine::Machine;
use latency_engine::result::series::EVENTS;
use latency_engine::result::{
    Evidence, Measurement, OrderName, OrderWords, Outcome, PageCounts, PageWords, Placed, Point, Software,
};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{Level, Part, Shown};

fields! {
    POINTS "points" "Evidence for each measured point.";
    pub ROW "row" "Index of the point in `rows`, from 0.";
    PLACEMENT "placement" "Placement of the memory, and the evidence for it.";
    BEFORE "before" "Pages reported by the kernel before the first trial.";
    AFTER "after" "Pages reported by the kernel after the last trial.";
    SOURCE "source" "Kernel interface that reported the pages; `none` if none did.";
    NODES "nodes" "Number of pages on each node, a list of nodes.";
    NODE "node" "Node number.";
    PAGES "pages" "Number of pages.";
    PAGE_BYTES "page_bytes" "Page size of the mapping, in bytes.";
    HUGE_BYTES "transparent_huge_bytes" "Memory in transparent huge pages, in bytes.";
    CHAIN "chain" "Pointer chain of the loads, with the grouped chains beside it.";
    CHAIN_LINES "lines" "Number of cache lines in these chains.";
    FINGERPRINT "fingerprint" "Checksum of the chain; equal chains have equal checksums.";
    CORE_CYCLES_MAD "core_cycles_mad" "Median absolute deviation over rounds, in core cycles.";
    WARM_UP_LOADS "warm_up_loads" "Number of loads before the first trial.";
    SOFTWARE "software" "Kernel events of the measuring thread.";
}

/// The hardware events, by their index in [`Counters::per_hop`](latency_engine::result::series::Counters::per_hop).
static COUNTED: [columns::Column; EVENTS] = [
    columns::COUNTED_CYCLES,
    columns::COUNTED_INSTRUCTIONS,
    columns::COUNTED_L1D,
    columns::COUNTED_LLC,
    columns::COUNTED_DTLB,
    columns::COUNTED_WALKS,
];

/// Describes the nodes of a point, and its CPU.
pub fn route(document: &mut Shown, point: &Point) {
    document.put(&columns::INITIATOR_NODE, point.initiator.0);
    document.put(&columns::TARGET_NODE, point.target.0);
    document.put(&columns::INITIATOR_CPU, point.cpu.0);
}

/// Describes a point of a plan.
pub fn planned(document: &mut Shown, point: &Point) {
    route(document, point);
    document.put(&columns::WORKING_SET, point.size);
    document.put(&columns::STRIDE, point.stride);
    document.show(&columns::ORDER, &OrderName(point.order));
    document.put(&columns::KERNEL, point.kernel.name);
    document.show(&columns::PAGES_ASKED, &point.pages);
    document.put(&columns::SEED, point.seed);
}

/// Describes the obtained pages of a point and the proof of their node.
pub fn proof(document: &mut Shown, point: &Point, placed: &Placed) {
    document.show(&columns::PAGES_OBTAINED, &placed.pages);
    document.put(&columns::VERIFIED, placed.is_verified(point.target));
    let counts = placed.after.counts();
    document.put(&columns::ON_TARGET, counts.map(|counts| counts.on(point.target)));
    document.put(&columns::ELSEWHERE, counts.map(|counts| counts.total() - counts.on(point.target)));
}

/// Describes the trials of a point, or the windows in which traffic was counted, and the placement of its memory.
pub fn trials(document: &mut Shown, point: &Point, measured: &Measurement) {
    let Measurement { series, placed, .. } = measured;
    document.put(&columns::MIN_NS, series.minimum_ns);
    document.put(&columns::MAX_NS, series.maximum_ns);
    document.put(&columns::MAD_NS, series.nanoseconds.mad);
    document.put(&columns::TRIALS, series.batches);
    document.put(&columns::ROUNDS, measured.rounds);
    document.put(&columns::INTERRUPTED, series.disturbed);
    document.put(&columns::WINDOW, series.window_ns / 1e9);
    document.put(&columns::CORE_GHZ, series.core_gigahertz.map(|clock| clock.median));
    proof(document, point, placed);
    if let Some(counters) = &series.counters {
        document.put(&columns::RUNNING, counters.running);
        document.put(&columns::CYCLES_RATIO, series.core_cycles_ratio());
        document.put(&columns::PER_CYCLE, counters.instructions_per_cycle());
        for (field, count) in COUNTED.iter().zip(counters.per_hop) {
            document.put(field, count);
        }
    }
}

/// Describes the value of a point, or the reason why there is none.
pub fn value(document: &mut Shown, outcome: &Outcome) {
    let (ns, reason) = match &outcome.result {
        Ok(measured) => (Some(measured.series.nanoseconds), String::new()),
        Err(exclusion) => (None, format!("{exclusion}")),
    };
    document.put(&columns::NS, ns);
    document.put(&columns::NOT_MEASURED, reason);
}

/// A function that describes members of a row which only some points have.
pub type OwnMembers<'m> = &'m dyn Fn(&mut Shown, usize, &Outcome);

/// Describes every point as a row; `own` describes further members of the point at an index.
pub fn rows_with(document: &mut Shown, report: &Report<'_>, own: OwnMembers<'_>) {
    for (index, outcome) in report.outcomes.iter().enumerate() {
        RowOrigin::of(report).row(document, &mut |document| {
            row(document, report, outcome);
            own(document, index, outcome);
        });
    }
}

/// Describes every point as a row.
pub fn rows(document: &mut Shown, report: &Report<'_>) {
    rows_with(document, report, &|_, _, _| {});
}

/// Returns the latency of a point, or its time per load, in cycles.
pub fn cycles(report: &Report<'_>, outcome: &Outcome) -> Option<f64> {
    let series = &outcome.result.as_ref().ok()?.series;
    report.cycles(series, series.nanoseconds.median)
}

/// Describes a point by the members of a row.
pub fn row(document: &mut Shown, report: &Report<'_>, outcome: &Outcome) {
    let point = &outcome.point;
    planned(document, point);
    value(document, outcome);
    split::members(document, report, outcome);
    document.put(&columns::CYCLES, cycles(report, outcome));
    let Ok(measured) = &outcome.result else { return };
    let series = &measured.series;
    trials(document, point, measured);
    undisturbed::members(document, series);
    document.put(&columns::CORE_CYCLES, series.core_cycles);
    document.put(&columns::COLD_NS, measured.warm_up.cold_ns);
    document.put(&columns::LOADS, measured.hops);
    document.put(&columns::PRECISE, measured.precise);
    document.put(&columns::STATE_SHARE, series.state_share);
    document.put(&columns::PLACEMENTS, measured.placements);
    document.put(&columns::PLACEMENT_SPREAD, measured.placement_spread);
}

/// Describes the evidence for every measured point, if rows are in the order of points.
pub fn evidence(document: &mut Shown, report: &Report<'_>) {
    evidence_of(document, &vector(report.outcomes.iter()));
}

/// Describes the evidence for every measured point; the points are in the order of rows.
pub fn evidence_of(document: &mut Shown, outcomes: &[&Outcome]) {
    let measured = outcomes.iter().enumerate();
    let measured =
        measured.filter_map(|(index, outcome)| Some((index, outcome, outcome.result.as_ref().ok()?)));
    document.items(Part::List(&POINTS), measured, |document, (index, outcome, measured)| {
        let series = &measured.series;
        document.put(&ROW, index);
        document.part(Part::Object(&PLACEMENT), |document| placement(document, &measured.placed));
        document.part(Part::Object(&CHAIN), |document| {
            document.put(&CHAIN_LINES, measured.nodes);
            document.show(&FINGERPRINT, &format_args!("{:016x}", measured.fingerprint));
            split::left_out(document, outcome, measured);
        });
        split::grouped(document, measured);
        document.put(&WARM_UP_LOADS, measured.warm_up.hops);
        document.put(&CORE_CYCLES_MAD, series.core_cycles.map(|cycles| cycles.mad));
        software(document, &series.software);
    });
}

fn software(document: &mut Shown, software: &Software) {
    let Software { switches, migrations, faults } = *software;
    document.part(Part::Object(&SOFTWARE), |document| {
        members! { document;
            "voluntary_switches": switches.0 => "Number of voluntary context switches.";
            "involuntary_switches": switches.1 => "Number of involuntary context switches.";
            "migrations": migrations => "Number of migrations to another CPU.";
            "minor_faults": faults.0 => "Number of page faults without I/O.";
            "major_faults": faults.1 => "Number of page faults with I/O.";
        }
    });
}

fn placement(document: &mut Shown, placed: &Placed) {
    members! { document;
        "means": placed.means.word() => "Method that placed the memory on its node.";
        "mapped_bytes": placed.mapped => "Mapped memory, which includes the working set, in bytes.";
        "pages_verified": placed.pages_are_verified() => "True if the kernel reported the obtained page size.";
    }
    document.part(Part::Object(&BEFORE), |document| pages(document, &placed.before));
    document.part(Part::Object(&AFTER), |document| pages(document, &placed.after));
}

fn pages(document: &mut Shown, evidence: &Evidence) {
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
pub fn subtitle(axes: &str, machine: &Machine, outcome: Option<&Outcome>) -> String {
    let Some(Outcome { point, result }) = outcome else { return String::new() };
    let pages = result.as_ref().map_or(point.pages, |measured| measured.placed.pages);
    format!(
        "{axes}; CPU {} of node {} to memory of node {}, {}, {} spacing, {}, seed {}",
        point.cpu,
        point.initiator,
        point.target,
        OrderWords(point.order),
        point.stride,
        PageWords(machine.pages_or_base(pages)),
        point.seed
    )
}

/// Describes every measured point, under the name that `name` returns for its index; `what` is the heading of the names.
pub fn table(
    document: &mut Shown,
    report: &Report<'_>,
    (level, what): (Level, &str),
    name: &dyn Fn(usize, &Outcome) -> String,
) {
    let measured = || {
        let all = report.outcomes.iter().enumerate();
        all.filter_map(|(index, outcome)| Some((index, outcome, &outcome.result.as_ref().ok()?.series)))
    };
    // The column for the steady latency exists only if the run sought it.
    let looked = measured().any(|(.., series)| series.undisturbed.is_some());
    let told_apart = measured().any(|(.., series)| series.split.is_some());
    document.tabulate("", level, 1, &|table| {
        table.text(what).texts(&["ns", "95% CI"]);
        if told_apart {
            table.texts(&["without translation", "translation"]);
        }
        table.texts(match looked {
            true => &["steady", "fastest", "core cycles", "interrupted"],
            false => &["fastest", "core cycles", "interrupted"],
        });
        for (index, outcome, series) in measured() {
            table.row().text(&name(index, outcome));
            table.number(series.nanoseconds.median).range(series.nanoseconds.interval, "too few rounds");
            if told_apart {
                split::cells(table, split::parts(outcome));
            }
            if looked {
                table.text(&undisturbed::cell(series));
            }
            table.number(series.minimum_ns).number(series.core_cycles.map(|cycles| cycles.median));
            table.cell(format_args!("{:.1}%", series.disturbed_share() * 100.0));
        }
    });
}
