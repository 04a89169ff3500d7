//! The latency of single cores to the memory of their own node: beside the answer of `matrix`, or as its answer
//! (`--view=cores`).

use alloc::string::String;

use latency_core::{CpuId, CpuSet};

use crate::analysis::matrix::UnlikeCore;
use crate::describe::Report;
use latency_report::document::fields;
use latency_report::lists::joined;
use latency_report::{Digits, Role, Shown};

fields! {
    pub UNLIKE_CORES "unlike_cores" "CPUs with another latency to the memory of their node than the CPU that measured for it; with --view=cores, CPUs slower than others of their type.";
}

/// Returns the name of a CPU, with the type of its core if the processor has several.
pub fn name(report: &Report<'_>, cpu: CpuId) -> String {
    match report.machine.kind_of(cpu) {
        Some(kind) => format!("CPU {cpu} ({})", kind.name()),
        None => format!("CPU {cpu}"),
    }
}

/// Writes by how much cores differ; nothing if they do not, unless each was to be measured.
pub fn answer(document: &mut Shown, report: &Report<'_>, found: &[UnlikeCore], each: bool) {
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
fn alike(report: &Report<'_>) -> String {
    let measured = report.all.iter().filter(|outcome| outcome.result.is_ok());
    let measured: CpuSet = measured.map(|outcome| outcome.point.cpu.0).collect();
    let of = report.machine.sharing.cores_of(&report.machine.cpus).len();
    match measured.len() {
        0 | 1 => "One core was measured: there is no other to compare".into(),
        count => format!("None of the {count} measured cores (of {of}) is slower than the others"),
    }
}
