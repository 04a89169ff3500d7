//! The latency of single cores to the memory of their own node: beside the answer of `matrix`, or as its answer
//! (`--view=cores`).

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::topology::Shared;
use latency_core::traffic::View;
use latency_core::{CpuId, CpuSet};

use crate::analysis::matrix::UnlikeCore;
use crate::describe::Report;
use crate::options::{FlagId, FlagSet, Options, Order};
use crate::plan::budget::{PAIRS_NS, budget_ns};
use crate::plan::own_cores;
use latency_engine::budget::Budget;
use latency_engine::machine::Machine;
use latency_engine::result::Point;
use latency_report::document::fields;
use latency_report::lists::joined;
use latency_report::{Digits, Role, Shown};

/// Nanoseconds that each core needs for an interval, and for each byte if its chain is written for each visit.
const CORE_NS: f64 = 0.3e9;
const BYTE_NS: f64 = 2.5;
/// Options that limit a run, or name its CPU or view: it has no other cores beside.
const ALONE: FlagSet = FlagSet::of(&[
    FlagId::Cpu,
    FlagId::View,
    FlagId::Trials,
    FlagId::Iters,
    FlagId::TimeLimit,
    FlagId::Budget,
    FlagId::Until,
]);

fields! {
    pub UNLIKE_CORES "unlike_cores" "CPUs with another latency to the memory of their node than the CPU that measured for it; with --view=cores, CPUs slower than others of their type.";
}

/// Returns the name of a CPU, with the type of its core if the processor has several.
pub fn name(report: &Report<'_, '_>, cpu: CpuId) -> String {
    match report.machine.kind_of(cpu) {
        Some(kind) => format!("CPU {cpu} ({})", kind.name()),
        None => format!("CPU {cpu}"),
    }
}

/// Writes by how much cores differ; nothing if they do not, unless each was to be measured.
pub fn answer(document: &mut Shown, report: &Report<'_, '_>, found: &[UnlikeCore], each: bool) {
    let differing = joined(
        "",
        ", ",
        found.iter().map(|UnlikeCore { cpu, ns, ratio }| {
            format!("{} {} ns ({:+.1}%)", name(report, *cpu), Digits(*ns), (ratio - 1.0) * 100.0)
        }),
    );
    let (role, head, names) = match (each, found.is_empty()) {
        (false, true) => return,
        (false, false) => (Role::Finding, "Other cores of the node differ: ", differing),
        (true, false) => (Role::Answer, "Slower than the other cores: ", differing),
        (true, true) => (Role::Answer, "", alike(report)),
    };
    document.sentence(role, format_args!("{head}{names}."));
}

/// Returns the number of compared cores, if none is slower.
fn alike(report: &Report<'_, '_>) -> String {
    let measured = report.all.iter().filter(|outcome| outcome.result.is_ok());
    let measured: CpuSet = measured.map(|outcome| outcome.point.cpu.0).collect();
    let of = report.machine.sharing.cores_of(&report.machine.cpus).len();
    match measured.len() {
        0 | 1 => "One core was measured: there is no other to compare".into(),
        count => format!("None of the {count} measured cores (of {of}) is slower than the others"),
    }
}

/// Adds the other cores of each node's own pair to the points of pairs. Unless all are wanted, they share a last-level cache,
/// and walk one chain.
pub fn add(options: &Options<'_>, machine: &Machine, points: &mut Vec<Point>) {
    let (all, sharing) = (options.view == View::Cores, &machine.sharing);
    let is_alone = options.given.intersection(ALONE) != FlagSet::EMPTY;
    if !all && (is_alone || options.order != Order::Random) {
        return;
    }
    let cache = |cpu: CpuId| sharing.lowest(Shared::L3, cpu.0);
    let cores = sharing.cores_of(&machine.cpus);
    for index in 0..points.len() {
        let Some(&own) = points.get(index) else { return };
        if own.initiator != own.target || !(all || Budget::may_tell_apart(machine, &own)) {
            continue;
        }
        let mut others = Vec::new();
        for cpu in cores.iter().map(CpuId) {
            let is_here = machine.topology.node_of_cpu(cpu) == Some(own.initiator);
            let is_other = sharing.core_of(cpu.0) != sharing.core_of(own.cpu.0);
            if is_here && is_other && (all || cache(cpu) == cache(own.cpu)) {
                others.push(cpu);
            }
        }
        let kind = |cpu: &CpuId| machine.kind_of(*cpu);
        let of_other_kind = others.iter().rfind(|cpu| kind(cpu) != kind(&own.cpu));
        let places = [of_other_kind, others.get(others.len() / 2), others.last()];
        for cpu in &others {
            let is_busy = machine.instead.iter().any(|instead| instead.first == *cpu);
            if all || places.contains(&Some(cpu)) && !is_busy {
                points.push(Point { cpu: *cpu, ..own });
            }
        }
    }
    // If time is short, each last-level cache has one core.
    let each = points.first().map_or(0.0, |point| CORE_NS + BYTE_NS * point.size.0 as f64);
    if all && each * points.len() as f64 > PAIRS_NS.min(budget_ns(options)) {
        let (mut seen, mut pairs) = (CpuSet::EMPTY, own_cores::pairs(points));
        points.retain(|point| {
            let is_first = seen.insert(cache(point.cpu));
            let is_pair = pairs > 0;
            pairs = pairs.saturating_sub(1);
            is_first || is_pair
        });
    }
}
