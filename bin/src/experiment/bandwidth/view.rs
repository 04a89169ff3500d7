//! Bandwidth for people: a line for each pair, the conclusions, and the method; and for programs: a record for each
//! number of generators. [`tables`](super::tables) shows the rest.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::topology::Shared;
use latency_core::traffic::{Kind, Threads, View};
use latency_core::{CpuSet, Estimate, NodeId, ToReal, Worded, math, sort_by};

use super::{sizes, tables};
use crate::analysis::reference::quantity;
use crate::analysis::traffic::{TrafficGroup, groups, local_and_remote, rate, shares};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::dimms::{self, giga};
use crate::describe::rates::{GIGA, Gigabytes, gigabytes, headline, in_parentheses, times};
use crate::describe::{self, Report, ReportParts, method, metrics, point, reference, trust};
use crate::plan::generators;
use crate::record::members::READ_BANDWIDTH;
use latency_engine::budget::TRAFFIC_WINDOW_NS;
use latency_engine::machine::Platform;
use latency_engine::result::{Outcome, Traffic, TrafficSubject, Walk};
use latency_report::chart::vector;
use latency_report::document::members;
use latency_report::{Role, Shown};

/// The conclusions from all traffic.
struct BandwidthView<'r> {
    /// The groups of nodes.
    groups: Vec<TrafficGroup<'r>>,
    /// The groups of single CPUs, of last-level caches, or of working sets.
    others: Vec<TrafficGroup<'r>>,
    /// The node with the largest rate among those whose DIMMs have a known peak, with this rate and the peak in bytes per
    /// second.
    with_peak: Option<(NodeId, Estimate, u64)>,
}

impl<'r> BandwidthView<'r> {
    /// Returns all groups.
    fn all(&self) -> impl Iterator<Item = &TrafficGroup<'r>> {
        self.groups.iter().chain(&self.others)
    }
}

/// Returns the groups with the smallest and the largest rate, if there are several.
fn extremes<'g, 'r: 'g>(
    groups: impl Iterator<Item = &'g TrafficGroup<'r>>,
) -> Option<[&'g TrafficGroup<'r>; 2]> {
    let mut all = vector(groups.filter(|group| group.best.is_some()));
    sort_by(&mut all, |one, other| {
        let rate = |group: &TrafficGroup<'_>| group.best.map_or(0.0, |(_, rate)| rate.value);
        rate(one).total_cmp(&rate(other))
    });
    match all[..] {
        [least, .., most] => Some([least, most]),
        _ => None,
    }
}

/// Returns the smallest and the largest rate, with words for each group.
fn spread(ends: [&TrafficGroup<'_>; 2], words: &dyn Fn(&TrafficGroup<'_>) -> String) -> String {
    let [least, most] =
        ends.map(|group| format!("{} GB/s ({})", gigabytes(group.best.map(|(_, rate)| rate)), words(group)));
    format!("{least} to {most}")
}

/// Describes all traffic.
pub fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let is_of_node = |group: &TrafficGroup<'_>| group.traffic.subject == TrafficSubject::Node;
    let (groups, others): (Vec<_>, Vec<_>) = groups(report.outcomes).into_iter().partition(is_of_node);
    let view = &BandwidthView { with_peak: with_peak(report, &groups), groups, others };
    metrics::traffic(&mut parts.metrics, report, &view.groups);
    summary(&mut parts.summary, view, view.with_peak.map(|(_, _, peak)| peak));
    rows(&mut parts.rows, &mut parts.data, report, view);
    if report.options.view == View::Size {
        let lines = sizes::lines(report);
        sizes::answer(&mut parts.answer, report, &lines);
        sizes::present(&mut parts.evidence, report, &lines);
    } else {
        answer(&mut parts.answer, report, view);
        tables::present(&mut parts.evidence, report, &view.groups);
        tables::by_cpus(&mut parts.evidence, report, &view.others);
        tables::picture(&mut parts.evidence, report, &view.groups);
    }
    conditions(&mut parts.evidence, report, view);
}

/// Writes the line that scripts search for.
fn line(document: &mut Shown, group: &TrafficGroup<'_>) {
    let traffic = group.traffic;
    let from_to = format_args!("Node {} -> Node {}", traffic.from, traffic.node);
    match (group.best, group.outcomes.iter().find_map(|outcome| outcome.result.as_ref().err())) {
        (Some((generators, rate)), _) => document.line(format_args!(
            "{from_to}: {} GB/s ({}, {})",
            gigabytes(Some(rate)),
            traffic.kind.name,
            tables::cores(generators)
        )),
        (None, Some(exclusion)) => describe::missing(document, Role::Line, &from_to, exclusion),
        (None, None) => {}
    }
}

/// Writes the answer: a line for each pair, the bandwidth of all cores and of a single core, and the conclusions.
fn answer(document: &mut Shown, report: &Report<'_>, view: &BandwidthView<'_>) {
    view.groups.iter().for_each(|group| line(document, group));
    let of_cpus = report.options.view == View::Cores;
    let groups = if of_cpus { &view.others } else { &view.groups };
    let first = groups.iter().find_map(|group| Some((group, group.best?)));
    let rate = match &first {
        Some((group, (_, best))) if is_of_socket(report, &group.traffic) => Some(best.value),
        _ => None,
    };
    // A guest has a part of the socket's cores, so its rate is another quantity.
    let is_hardware = report.machine.processor.platform == Platform::Hardware;
    let extremes = extremes(groups.iter());
    let most = extremes.map(|[_, most]| most).or(first.map(|(group, _)| group));
    if let Some((_, peak)) = most.and_then(|group| group.best) {
        let quantity = rate.filter(|_| is_hardware).map(|_| quantity::READ_OF_NODE);
        trust::figure(document, report, &("Peak bandwidth", "GB/s", GIGA, quantity), peak);
        if let Some(one) = most.and_then(TrafficGroup::of_one) {
            trust::figure(document, report, &("Bandwidth of one core", "GB/s", GIGA, None), one);
        }
    }
    if let Some(ends) = extremes.filter(|_| of_cpus) {
        let cpu = |group: &TrafficGroup<'_>| format!("CPU {}, {}", group.point.cpu, group.traffic.kind.name);
        document.answer(format_args!("Single CPUs: {}.", spread(ends, &cpu)));
    } else if let Some((group, (generators, best))) = first {
        let alone = group.of_one().filter(|_| generators > 1);
        let Traffic { from, node, kind, .. } = group.traffic;
        let (accesses, through) = (tables::accesses(kind), method::through(report.warnings.side_cache(node)));
        let accesses = match report.options.size {
            Some(size) => format!("{accesses} within {size} per core"),
            None if from == node => format!("local {accesses}{through}"),
            None => format!("{accesses} on node {node}{through}"),
        };
        document.answer(format_args!(
            "Node {from}, {accesses}: {} GB/s with {}{}{}.",
            headline(best, GIGA),
            tables::cores(generators),
            in_parentheses(best.interval, GIGA),
            method::optional(alone, |rate, out| {
                write!(out, ", {} GB/s with one (scaling {})", headline(rate, GIGA), times(best, rate))
            })
        ));
    }
    if let Some(rate) = rate {
        for quantity in [quantity::READ_OF_NODE, quantity::READ_OF_SOCKET] {
            reference::published(document, report, quantity, Some(rate / GIGA).filter(|_| is_hardware));
        }
    }
    findings(document, report, view);
}

/// Returns the node with the largest rate among those whose DIMMs have a known peak, with this rate and the peak in bytes
/// per second. A single core, or a cache, has another limit.
fn with_peak(report: &Report<'_>, groups: &[TrafficGroup<'_>]) -> Option<(NodeId, Estimate, u64)> {
    if report.options.size.is_some() {
        return None;
    }
    let known = groups.iter().filter(|group| report.warnings.side_cache(group.traffic.node).is_none());
    let known = known.filter_map(|group| {
        let node = group.traffic.node;
        Some((node, group.best?.1, report.machine.most_bytes_per_second(Some(node))?))
    });
    known.reduce(|most, other| if other.1.value > most.1.value { other } else { most })
}

/// Returns whether figures are published for a group: local reads by all cores of a node that is not a part of a socket.
fn is_of_socket(report: &Report<'_>, &Traffic { from, node, kind, .. }: &Traffic) -> bool {
    report.options.size.is_none() && from == node && kind.name == "read" && !report.machine.divides_packages()
}

/// Writes the slowdown of remote memory, the fastest traffic, and the number of cores that suffice.
fn findings(document: &mut Shown, report: &Report<'_>, found: &BandwidthView<'_>) {
    let view = report.options.view;
    if let Some((local, remote)) = local_and_remote(&found.groups).filter(|_| view == View::Nodes) {
        document.finding(format_args!(
            "Remote bandwidth is {share:.0}% of local ({remote} vs {local} GB/s).",
            share = 100.0 * (remote / local),
            remote = Gigabytes(remote),
            local = Gigabytes(local)
        ));
    }
    let is_local = |group: &&TrafficGroup<'_>| group.traffic.from == group.traffic.node;
    let local = found.others.iter().filter(is_local).filter(|_| view != View::Cores);
    if let Some(ends) = extremes(local) {
        let cpus = |group: &TrafficGroup<'_>| format!("CPUs {}", tables::cpus(report, group));
        document.finding(format_args!("Cores of one L3, local memory: {}.", spread(ends, &cpus)));
    }
    if let (View::Mix, Some(ends)) = (view, extremes(found.groups.iter())) {
        let kind = |group: &TrafficGroup<'_>| group.traffic.kind.name.into();
        document.finding(format_args!("Traffic mixes: {}.", spread(ends, &kind)));
    }
    if let Some((node, rate, peak)) = found.with_peak
        && let Some(dimms) = &report.machine.dimms
    {
        // A share that is rounded down is still certain. One above 100% shows that the firmware's table is wrong.
        let share = math::whole(rate.value / peak.real() * 100.0);
        document.finding(format_args!(
            "Node {node}: {rate} GB/s is at least {share}% of the theoretical peak of its DIMMs, at \
                 most {peak} GB/s ({dimms}).",
            rate = Gigabytes(rate.value),
            peak = giga(peak),
            dimms = dimms::population(dimms)
        ));
    }
    let fewer = found.groups.iter().find_map(|group| {
        let (enough, most) = (group.knee()?, group.rates.iter().map(|(generators, _)| *generators).max()?);
        (enough < most && group.rates.len() > 2).then_some((group, enough, most))
    });
    if let Some((group, enough, most)) = fewer {
        document.finding(format_args!(
            "{enough} of {most} cores are enough for 95% of peak ({kind}).",
            kind = group.traffic.kind.name
        ));
    }
}

/// Describes the CPUs, the memory and the method.
fn conditions(document: &mut Shown, report: &Report<'_>, view: &BandwidthView<'_>) {
    let mut cpus = CpuSet::EMPTY;
    for point in report.outcomes.iter().map(|outcome| &outcome.point) {
        cpus.insert(point.cpu.0);
        if let Some(traffic) = point.walk.traffic() {
            cpus = cpus.union(&generators::generating(report.options, report.machine, point, traffic));
        }
    }
    method::processor(document, report, &cpus);
    dimms::line(document, report.machine, Role::Provenance("DIMMs"));
    method::memory_of(document, report, &|point| matches!(point.walk, Walk::Traffic(_)));
    let random = view.all().any(|group| group.traffic.kind.name == "random");
    let threads = match (report.options.load_cpus, report.options.load_threads) {
        (Some(_), _) => "CPU",
        (None, Threads::One) => "core",
        (None, Threads::All) => "hardware thread",
    };
    document.under(Role::Provenance("Method")).write(format_args!(
        "lines touched in windows of {:.0} ms, {} bytes each; every {threads} walks its own part \
         sequentially{}, unthrottled{}; 1 GB = 10^9 bytes{}{}{}",
        TRAFFIC_WINDOW_NS / 1e6,
        report.machine.line.bytes().0,
        if random { " (except \"random\")" } else { "" },
        method::optional(report.regions, |memory, out| write!(out, "; {}", method::regions(memory)[1])),
        if view.all().any(|group| group.latency_ns.is_some()) {
            "; lines in flight: lines read per core within one memory latency (Little's law)"
        } else {
            ""
        },
        if view.all().any(|group| shares(group.traffic.kind).owned > 0.0) {
            "; in parentheses: including possible read-for-ownership traffic"
        } else {
            ""
        },
        method::optional(
            view.all()
                .any(|group| group.traffic.kind.is_whole())
                .then_some(report.machine.processor.vector_bytes),
            |bytes, out| write!(out, "; reads load every byte, in vectors of {bytes} bytes")
        )
    ));
}

members! {
    fn largest(dimm_peak: Option<u64>, read: Option<Estimate>, written: Option<Estimate>, of_one: Option<Estimate>);
    "dimm_peak_bytes_per_second": dimm_peak => "Upper bound of the theoretical peak of the DIMMs of the node with the largest rate, in bytes per second; null if unknown.";
    READ_BANDWIDTH: read;
    "write_bytes_per_second" interval: written => "Largest write rate of a pair of nodes, in bytes per second.";
    "single_core_bytes_per_second" interval: of_one => "Largest rate of one core alone, in bytes per second; null if it was not measured.";
}

/// Describes the largest rates of all groups.
fn summary(document: &mut Shown, view: &BandwidthView<'_>, dimm_peak: Option<u64>) {
    let most = |rate: fn(&TrafficGroup<'_>) -> Option<Estimate>, share: fn(&Kind) -> f64| {
        // The rates of working sets are those of caches.
        let in_memory =
            |group: &&TrafficGroup<'_>| !matches!(group.traffic.subject, TrafficSubject::WorkingSet(_));
        let rates = view.all().filter(in_memory).filter_map(|group| {
            let share = share(group.traffic.kind);
            Some(rate(group)?.scaled(share)).filter(|_| share > 0.0)
        });
        rates.reduce(|most, rate| if rate.value > most.value { rate } else { most })
    };
    let best = |group: &TrafficGroup<'_>| group.best.map(|(_, rate)| rate);
    let (read, written) = (most(best, |kind| shares(kind).read), most(best, |kind| shares(kind).written));
    largest(document, dimm_peak, read, written, most(|group| group.of_one(), |_| 1.0));
}

/// Describes all traffic as rows, then the latencies without load, and the evidence for all of them.
fn rows(rows: &mut Shown, data: &mut Shown, report: &Report<'_>, view: &BandwidthView<'_>) {
    let origin = RowOrigin::of(report);
    for group in view.all() {
        for outcome in group.outcomes {
            origin.row(rows, &mut |document| traffic_row(document, report, group, outcome));
        }
    }
    let idle = report.outcomes.iter().filter(|outcome| outcome.point.walk.traffic().is_none());
    for outcome in idle.clone() {
        origin.row(rows, &mut |document| point::row(document, report, outcome));
    }
    point::evidence_of(data, &vector(view.all().flat_map(|group| group.outcomes).chain(idle)));
}

/// Describes a rate of one kind of traffic, and the rates of the lines that it reads and writes.
pub fn rate_members(document: &mut Shown, kind: &Kind, found: Option<Estimate>) {
    let shares = shares(kind);
    document.put(&columns::BYTES, found);
    for (field, share) in
        [(&columns::READ, shares.read), (&columns::WRITTEN, shares.written), (&columns::OWNED, shares.owned)]
    {
        document.put(field, found.map(|rate| rate.value * share));
    }
}

/// Describes the traffic of a row.
pub fn kind_members(document: &mut Shown, traffic: &Traffic, cores: u32) {
    document.put(&columns::TRAFFIC, traffic.kind.name);
    document.put(&columns::PATTERN, traffic.kind.pattern().word());
    document.put(&columns::CORES, cores);
    document.put(&columns::FOOTPRINT, traffic.footprint);
}

fn traffic_row(document: &mut Shown, report: &Report<'_>, group: &TrafficGroup<'_>, outcome: &Outcome) {
    let (Some(traffic), point) = (outcome.point.walk.traffic(), &outcome.point) else { return };
    point::route(document, point);
    kind_members(document, traffic, traffic.generators);
    match traffic.subject {
        TrafficSubject::Node | TrafficSubject::Cpu(_) => {}
        TrafficSubject::LastLevelCache(_) => document.put(&columns::CLASS, Shared::L3.word()),
        TrafficSubject::WorkingSet(size) => document.put(&columns::WORKING_SET, size),
    }
    document.show(&columns::CPUS, &generators::generating(report.options, report.machine, point, traffic));
    document.show(&columns::PAGES_ASKED, &point.pages);
    let found = rate(outcome).map(|(_, rate)| rate);
    rate_members(document, traffic.kind, found);
    point::value(document, outcome);
    let with = found.map(|rate| (traffic.generators, rate));
    document.put(&columns::LINES_IN_FLIGHT, with.and_then(|with| group.in_flight(with)));
    document.put(&columns::KNEE_CORES, group.knee());
    document.put(&columns::EFFICIENCY, with.and_then(|with| group.efficiency(with)));
    if let Ok(measured) = &outcome.result {
        document.put(&columns::UNCORE_GHZ, measured.series.uncore_gigahertz);
        document.put(&columns::PRECISE, measured.precise);
        point::trials(document, point, measured);
    }
}
