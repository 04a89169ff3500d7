//! Bandwidth for people: a line for each pair, the conclusions, and the method. [`tables`](super::tables) and
//! [`picture`](super::picture) show the rest.

use core::fmt;

use latency_core::cpulist::CpuSet;
use latency_core::math::{self, ToReal};
use latency_core::stats::Estimate;
use latency_core::text::plural;
use latency_core::traffic::{Kind, Threads, View};
use latency_core::units::NodeId;

use super::{picture, tables};
use crate::analysis::reference::quantity;
use crate::analysis::traffic::{TrafficGroup, groups, local_and_remote, shares};
use crate::describe::dimms::{self, Giga};
use crate::describe::rates::{GIGA, Gigabytes, gigabytes, headline, in_parentheses, times};
use crate::describe::{self, Report, method, reference, trust};
use crate::machine::processor::Platform;
use crate::plan::budget::TRAFFIC_WINDOW_NS;
use crate::plan::generators;
use crate::report::document::Role;
use crate::report::shown::Shown;
use crate::result::{Traffic, Walk};

/// Describes the tables, the picture and the method.
pub fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    tables::present(document, report);
    picture::present(document, report);
    conditions(document, report);
}

fn cores(count: u32) -> impl fmt::Display {
    fmt::from_fn(move |out| write!(out, "{count} core{}", plural(count)))
}

/// Writes the line that scripts search for.
fn line(document: &mut Shown, group: &TrafficGroup<'_, '_>) {
    let traffic = group.traffic;
    let from_to = format_args!("Node {} -> Node {}", traffic.from, traffic.node);
    match (group.best(), group.outcomes.iter().find_map(|outcome| outcome.result.as_ref().err())) {
        (Some((generators, rate)), _) => document.line(format_args!(
            "{from_to}: {} GB/s ({}, {})",
            gigabytes(Some(rate)),
            traffic.kind.name,
            cores(generators)
        )),
        (None, Some(exclusion)) => describe::missing(document, Role::Line, &from_to, exclusion),
        (None, None) => {}
    }
}

/// Writes the answer: a line for each pair, the bandwidth of all cores and of a single core, and the conclusions.
pub fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    if report.options.view != View::Cores {
        groups(report.outcomes).for_each(|group| line(document, &group));
    }
    let first = groups(report.outcomes).find_map(|group| Some((group, group.best()?)));
    let rate = match &first {
        Some((group, (_, best))) if is_of_socket(report, &group.traffic) => Some(best.value),
        _ => None,
    };
    // A guest has a part of the socket's cores, so its rate is another quantity.
    let is_hardware = report.machine.processor.platform == Platform::Hardware;
    let extremes = extremes(report);
    let most = extremes.as_ref().map(|(_, most)| most);
    if let Some((_, peak)) = most.or(first.as_ref().map(|(group, _)| group)).and_then(TrafficGroup::best) {
        let quantity = rate.filter(|_| is_hardware).map(|_| quantity::READ_OF_NODE);
        trust::figure(document, report, &("Peak bandwidth", "GB/s", GIGA, quantity), peak);
    }
    if let (View::Cores, Some((least, most))) = (report.options.view, &extremes) {
        document.answer(format_args!(
            "Single CPUs: {low} GB/s (CPU {cpu}, {kind}) to {high} GB/s (CPU {other}, {another}).",
            low = gigabytes(least.of_one()),
            cpu = least.cpu(),
            kind = least.traffic.kind.name,
            high = gigabytes(most.of_one()),
            other = most.cpu(),
            another = most.traffic.kind.name
        ));
    } else if let Some((group, (generators, best))) = first {
        let alone = group.of_one().filter(|_| generators > 1);
        let Traffic { from, node, kind, .. } = group.traffic;
        document.answer(format_args!(
            "Node {from}, {}: {} GB/s with {}{}{}.",
            fmt::from_fn(|out| {
                let accesses = accesses(kind);
                match report.options.size {
                    Some(size) => return write!(out, "{accesses} within {size} per core"),
                    None if from == node => write!(out, "local {accesses}")?,
                    None => write!(out, "{accesses} on node {node}")?,
                }
                write!(out, "{}", method::through(report.warnings.side_cache(node)))
            }),
            headline(best, GIGA),
            cores(generators),
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
    findings(document, report);
}

fn accesses(kind: &Kind) -> &'static str {
    match (shares(kind).read, shares(kind).written) {
        (_, 0.0) => "reads",
        (0.0, _) => "writes",
        _ => "reads and writes",
    }
}

/// Returns the groups with the smallest and the largest rate.
fn extremes<'r, 'a>(report: &Report<'r, 'a>) -> Option<(TrafficGroup<'r, 'a>, TrafficGroup<'r, 'a>)> {
    let mut all = groups(report.outcomes).filter_map(|group| Some((group, group.best()?.1.value)));
    let first = all.next()?;
    let (mut least, mut most, mut several) = (first, first, false);
    for other in all {
        several = true;
        if other.1 < least.1 {
            least = other;
        }
        if other.1 > most.1 {
            most = other;
        }
    }
    several.then_some((least.0, most.0))
}

/// Returns the node with the largest rate among those whose DIMMs have a known peak, with this rate and the peak in bytes
/// per second. A single core, or a cache, has another limit.
pub fn with_peak(report: &Report<'_, '_>) -> Option<(NodeId, Estimate, u64)> {
    if report.options.view == View::Cores || report.options.size.is_some() {
        return None;
    }
    let mut most = None::<(NodeId, Estimate, u64)>;
    for group in groups(report.outcomes) {
        let node = group.traffic.node;
        if let Some((_, rate)) = group.best()
            && most.is_none_or(|most| most.1.value < rate.value)
            && report.warnings.side_cache(node).is_none()
            && let Some(peak) = report.machine.most_bytes_per_second(Some(node))
        {
            most = Some((node, rate, peak));
        }
    }
    most
}

/// Returns whether figures are published for a group: local reads by all cores of a node that is not a part of a socket.
fn is_of_socket(report: &Report<'_, '_>, &Traffic { from, node, kind, .. }: &Traffic) -> bool {
    let is_whole = report.options.view != View::Cores && report.options.size.is_none();
    is_whole && from == node && kind.name == "read" && !report.machine.divides_packages()
}

/// Writes the slowdown of remote memory, the fastest traffic, and the number of cores that suffice.
fn findings(document: &mut Shown, report: &Report<'_, '_>) {
    let view = report.options.view;
    if let Some((local, remote)) = local_and_remote(report.outcomes).filter(|_| view == View::Nodes) {
        document.finding(format_args!(
            "Remote bandwidth is {share:.0}% of local ({remote} vs {local} GB/s).",
            share = 100.0 * (remote / local),
            remote = Gigabytes(remote),
            local = Gigabytes(local)
        ));
    }
    if let (View::Mix, Some((least, most))) = (view, extremes(report)) {
        document.finding(format_args!(
            "Traffic mixes: {} GB/s ({}) to {} GB/s ({}).",
            gigabytes(least.best().map(|(_, rate)| rate)),
            least.traffic.kind.name,
            gigabytes(most.best().map(|(_, rate)| rate)),
            most.traffic.kind.name
        ));
    }
    if let Some((node, rate, peak)) = with_peak(report)
        && let Some(dimms) = &report.machine.dimms
    {
        // A share that is rounded down is still certain. One above 100% shows that the firmware's table is wrong.
        let share = math::whole(rate.value / peak.real() * 100.0);
        document.finding(format_args!(
            "Node {node}: {rate} GB/s is at least {share}% of the theoretical peak of its DIMMs, at \
                 most {peak} GB/s ({dimms}).",
            rate = Gigabytes(rate.value),
            peak = Giga(peak),
            dimms = dimms::population(dimms)
        ));
    }
    let mut fewer = groups(report.outcomes).filter_map(|group| {
        let (enough, most) = (group.knee()?, group.rates().map(|(generators, _)| generators).max()?);
        (enough < most && group.rates().count() > 2).then_some((group, enough, most))
    });
    if let Some((group, enough, most)) = fewer.next() {
        document.finding(format_args!(
            "{enough} of {most} cores are enough for 95% of peak ({kind}).",
            kind = group.traffic.kind.name
        ));
    }
}

/// Describes the CPUs, the memory and the method.
fn conditions(document: &mut Shown, report: &Report<'_, '_>) {
    let mut cpus = CpuSet::EMPTY;
    for point in report.outcomes.iter().map(|outcome| &outcome.point) {
        cpus.insert(point.cpu.0);
        if let Some(traffic) = point.walk.traffic().filter(|_| report.options.view != View::Cores) {
            cpus = cpus.union(&generators::generating(report.options, report.machine, point, traffic));
        }
    }
    method::processor(document, report, &cpus);
    dimms::line(document, report.machine, Role::Provenance("DIMMs"));
    method::memory_of(document, report, &|point| matches!(point.walk, Walk::Traffic(_)));
    let random = groups(report.outcomes).any(|group| group.traffic.kind.name == "random");
    let threads = match (report.options.load_cpus, report.options.load_threads) {
        (Some(_), _) => "CPU",
        (None, Threads::One) => "core",
        (None, Threads::All) => "hardware thread",
    };
    document.sentence(
        Role::Provenance("Method"),
        format_args!(
            "lines touched in windows of {:.0} ms, {} bytes each; every {threads} walks its own part \
             sequentially{}, unthrottled{}; 1 GB = 10^9 bytes{}{}{}",
            TRAFFIC_WINDOW_NS / 1e6,
            report.machine.line.bytes().0,
            if random { " (except \"random\")" } else { "" },
            method::optional(report.regions, |memory, out| write!(out, "; {}", method::regions(memory))),
            if groups(report.outcomes).any(|group| group.latency_ns.is_some()) {
                "; lines in flight: lines read per core within one memory latency (Little's law)"
            } else {
                ""
            },
            if groups(report.outcomes).any(|group| shares(group.traffic.kind).owned > 0.0) {
                "; in parentheses: including possible read-for-ownership traffic"
            } else {
                ""
            },
            if report.options.size.is_some() {
                "; reads load 32 bytes of each line, so a cache may deliver fewer bytes than counted"
            } else {
                ""
            }
        ),
    );
}
