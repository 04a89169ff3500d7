//! The machine as the tool sees it, and the tool's permissions; only the clock itself is timed.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use latency_core::arch::Signature;
use latency_core::host::{Cache, Power, Throttle};
use latency_core::topology::{NodeKind, Source};
use latency_core::{Bytes, LineSize, NodeId, PageSize, Text, ToReal, Trimmed, Worded, plural};

use super::Experiment;
use crate::analysis::reference::contradiction;
use crate::describe::method::optional;
use crate::describe::{self, Report, ReportParts, attributes, dimms};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::budget;
use crate::plan::sizes::default_size;
use latency_engine::machine::Machine;
use latency_engine::session::Findings;
use latency_engine::stopwatch::counters::Meter;
use latency_engine::warning::Warning;
use latency_engine::words::words;
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{Level, Part, Role, Shown};

/// The experiment without a measurement.
pub const SYSTEM: Experiment = Experiment {
    descriptor: Descriptor {
        name: "system",
        summary: "detected hardware, topology and permissions",
        details: "CPU, caches, nodes, distances, page pools, cpuset and clocks; for each restriction, the \
                  command that removes it.",
        flags: FlagSet::of(&[FlagId::Strict, FlagId::Probe]).union(FlagSet::IDENTITY),
        tests: false,
        ..Descriptor::OF_VALUES
    },
    plan: |_| Ok(Vec::new()),
    budget: |options, machine, _| budget::of_options(options, machine),
    measure: |_, session, _, _| {
        let Machine { processor, host, .. } = session.machine;
        let no_counters = Meter::open(processor, host.perf_event_paranoid).err();
        let mut findings = Findings::new(0)?;
        findings.extra.no_counters = no_counters;
        Ok(findings)
    },
    conclude: |_, _| None,
    present,
};

fields! {
    LIMITS "limits" "Restrictions of this process, each with a remedy.";
}

members! {
    fn restriction(limit: &Restriction);
    "what": limit.what.as_str() => "Restriction, in words.";
    "remedy": limit.remedy.as_str() => "Command or setting that removes the restriction.";
}

members! {
    fn summary(machine: &Machine, throttle: Option<&Throttle>);
    "generator_cores": machine.sharing.cores_of(&machine.cpus).len() => "Number of cores that can generate traffic.";
    "cpu_quota": throttle.map(|throttle| throttle.cpus) => "CPU quota of the control group, in CPUs; null without a quota.";
    "throttled_times": throttle.and_then(|throttle| throttle.times) => "Number of periods in which the quota was used up; null if the kernel does not count them.";
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let (machine, limits) = (report.machine, limits(report));
    parts.summary.items(Part::List(&LIMITS), &limits, restriction);
    summary(&mut parts.summary, machine, machine.host.throttle.as_ref());
    headline(&mut parts.answer, machine);
    for Restriction { what, remedy } in &limits {
        parts.answer.finding(format_args!("Restriction: {what}; {remedy}"));
    }
    if limits.is_empty() {
        parts.answer.say(Role::Finding, "No restrictions: everything can be measured here.");
    }
    let evidence = &mut parts.evidence;
    nodes(evidence, machine);
    processor(evidence, machine);
    caches(evidence, machine);
    dimms::line(evidence, machine, Role::Method("DIMMs"));
    settings(evidence, machine);
    traffic(evidence, machine);
    if !words().interrupt_mark {
        evidence.say(
            Role::Method("Interrupts"),
            "cannot be detected one by one here: `distribution` keeps the loads that they prolong",
        );
    }
}

/// Writes the cores from which traffic is possible.
fn traffic(document: &mut Shown, machine: &Machine) {
    let cores = machine.sharing.cores_of(&machine.cpus);
    let filtered = machine.host.process.filtered;
    match cores.len() {
        1 if machine.cpus.len() == 1 => {
            document.say(Role::Method("Traffic"), "one CPU: `bandwidth` works, `loaded` does not");
        }
        count => document.under(Role::Method("Traffic")).write(format_args!(
            "{count} core{s} (CPU{s} {cores}); clone() {filter}",
            s = plural(count as u64),
            filter = match filtered {
                true => "may be blocked by a seccomp filter",
                false => "is allowed (no seccomp filter)",
            }
        )),
    }
}

/// Describes the machine in one sentence.
fn headline(document: &mut Shown, machine: &Machine) {
    let brand = describe::machine::cpu_model(machine);
    let name = machine.host.identity.name;
    document.answer(format_args!(
        "{}{brand}, {} CPU{}, {} NUMA node{}, {}.",
        optional(Some(name.as_str()).filter(|name| !name.is_empty()), |name, out| write!(out, "{name}: ")),
        machine.topology.online_cpus.len(),
        plural(machine.topology.online_cpus.len()),
        machine.topology.nodes().len(),
        plural(machine.topology.nodes().len()),
        total_memory(machine)
    ));
}

/// Returns the memory of all nodes.
fn total_memory(machine: &Machine) -> Bytes {
    Bytes(machine.topology.nodes().iter().map(|node| machine.memory_of(node).0).sum())
}

/// A restriction of this process.
struct Restriction {
    what: String,
    /// The one command that would lift it.
    remedy: String,
}

/// Returns the size of the pool of a node with which the default run is on its pages: the working set of each node that
/// walks it, and of the repetition.
fn pool_size(machine: &Machine) -> Bytes {
    let all = default_size(machine).times(machine.initiators().len() as u64 + 1);
    Bytes(all.0.next_multiple_of(machine.huge_page().bytes().0))
}

/// Returns the restriction of too few huge pages, unless there are enough. The pool of the kernel's default size may be
/// another one, and the pool of all nodes together may be filled from any of them.
fn pool_limit(machine: &Machine) -> Option<Restriction> {
    let (size, wanted, targets) = (machine.huge_page(), pool_size(machine), machine.targets());
    if targets.iter().all(|node| machine.pool_holds(NodeId(node), size, wanted)) {
        return None;
    }
    let directory = match (machine.topology.source, targets.first(), targets.len()) {
        (Source::Sysfs, Some(node), 1) => format!("> /sys/devices/system/node/node{node}"),
        (Source::Sysfs, ..) => "| tee /sys/devices/system/node/node*".into(),
        _ => "> /sys/kernel/mm".into(),
    };
    let (count, kibibytes) = (size.count(wanted), size.bytes().0 >> 10);
    Some(Restriction {
        what: format!("no {wanted} of free {size} huge pages"),
        remedy: format!("as root: echo {count} {directory}/hugepages/hugepages-{kibibytes}kB/nr_hugepages"),
    })
}

/// Returns the restrictions that this process has.
fn limits(report: &Report<'_>) -> Vec<Restriction> {
    let machine = report.machine;
    let process = &machine.host.process;
    let unless = |is_lifted: bool, what: &str, remedy: &str| {
        (!is_lifted).then(|| Restriction { what: what.into(), remedy: remedy.into() })
    };
    let counters = match report.extra.no_counters.map(|why| Warning::CountersUnavailable { why }) {
        Some(warning) => Some(Restriction {
            what: format!("{}", warning.reason()),
            remedy: format!("{}", warning.remedy()),
        }),
        None => unless(
            machine.host.perf_event_paranoid.is_none_or(|level| level <= 2)
                && (!process.filtered || process.perfmon),
            "hardware counters are not available",
            "in a container: docker run --cap-add=PERFMON; as root: echo 2 > /proc/sys/kernel/perf_event_paranoid",
        ),
    };
    let all = [
        unless(
            machine.policy_allowed || !machine.has_numa,
            "mbind is not permitted",
            "in a container: docker run --cap-add=SYS_NICE",
        ),
        unless(
            machine.has_proc,
            "/proc is not mounted, so placement cannot be verified",
            "as root: mount -t proc proc /proc",
        ),
        pool_limit(machine),
        unless(
            matches!(machine.host.huge_pages.enabled.as_str(), "always" | "madvise"),
            "transparent huge pages are disabled",
            "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        counters,
        unless(
            machine.cpus.union(&machine.isolated).len() >= machine.topology.online_cpus.len(),
            "some CPUs are not allowed",
            "start without taskset, or in a wider cpuset",
        ),
        unless(
            machine.host.throttle.is_none_or(|throttle| throttle.cpus >= machine.cpus.len().real()),
            "a cgroup CPU quota throttles this process",
            "raise cpu.max of the cgroup; in a container: docker run without --cpus",
        ),
    ];
    vector(all.into_iter().flatten())
}

fn processor(document: &mut Shown, machine: &Machine) {
    let processor = &machine.processor;
    let identity = &machine.host.identity;
    let (family, model, stepping) = processor.signature;
    document.under(Role::Method("Processor")).write(format_args!(
        "{}, {}{}; CPUs {} online, {} allowed; data-dependent prefetcher {}",
        processor.vendor,
        match words().signature {
            Signature::Family => format!("family {family} model {model} stepping {stepping}"),
            Signature::Part => format!("part {model:#05x} r{}p{}", stepping >> 4, stepping & 0xf),
        },
        optional(word(&identity.microcode), |microcode, out| write!(out, ", microcode {microcode}")),
        machine.topology.online_cpus,
        machine.cpus,
        if processor.data_dependent_prefetcher { "reported" } else { "not reported" }
    ));
    if !machine.isolated.is_empty() {
        let cpus = machine.isolated;
        document
            .under(Role::Method("Isolated"))
            .write(format_args!("CPUs {cpus}, measured only if they are named (--cpu, --load-cpus)"));
    }
    if let Some(masked) = contradiction(processor) {
        document.sentence(Role::Method("Model"), format_args!("{masked}"));
    }
    document.under(Role::Method("Platform")).write(format_args!(
        "{}{}{}{}{}; Linux {}",
        processor.platform.word(),
        optional(word(&processor.hypervisor), |hypervisor, out| write!(out, " ({hypervisor})")),
        optional(word(&processor.encryption), |encryption, out| write!(
            out,
            "; encrypted memory: {encryption}"
        )),
        optional(word(&identity.product), |product, out| { write!(out, "; {} {product}", identity.vendor) }),
        optional(word(&identity.firmware), |firmware, out| write!(out, ", BIOS {firmware}")),
        machine.host.kernel
    ));
}

/// Returns a text, or `None` if it is empty.
fn word<const N: usize>(text: &Text<N>) -> Option<&str> {
    Some(text.as_str()).filter(|text| !text.is_empty())
}

fn caches(document: &mut Shown, machine: &Machine) {
    let sysfs = machine.host.caches.as_slice();
    let shown = sysfs.iter().map(|Cache { level, kind, size, ways, shared_by, .. }| {
        let sharing = if shared_by.len() == 1 { "private to CPU" } else { "shared by CPUs" };
        format!("L{level} {} {size}, {ways} ways, {sharing} {shared_by}", kind.word())
    });
    if !sysfs.is_empty() {
        document.sentence(Role::Method("Caches"), format_args!("{}", joined("", "; ", shown)));
    }
    for claim in machine.processor.caches.iter().flatten() {
        let same = |cache: &&Cache| cache.level == u32::from(claim.level) && cache.kind.holds_data();
        if sysfs.iter().find(same).is_none_or(|cache| cache.size != claim.size) {
            document.under(Role::Method("Caches")).write(format_args!(
                "L{} {}, {} ways, by {}",
                claim.level,
                claim.size,
                claim.ways,
                words().claims_name
            ));
        }
    }
    if let Some(ways) = machine.host.ways {
        document.sentence(Role::Method("Caches"), format_args!("L3 ways allowed by resctrl: {ways}"));
    }
    let line = machine.line;
    if line != LineSize::LEAST {
        document.sentence(Role::Method("Caches"), format_args!("lines of {}", line.bytes()));
    }
    if machine.reported_cache().is_none() {
        document.under(Role::Method("Caches")).write(format_args!(
            "not reported by sysfs or {source}; assuming a last-level cache of {size}",
            source = words().claims_name,
            size = machine.last_level_cache()
        ));
    }
}

/// Shows a row for each node, and the firmware's distances if there are several nodes.
fn nodes(document: &mut Shown, machine: &Machine) {
    if machine.topology.source == Source::Assumed {
        let words = match machine.has_numa {
            true => "No NUMA information from the kernel; treating all memory as one node.",
            false => "This kernel has no NUMA: all memory is one node.",
        };
        document.say(Role::Missing, words);
    }
    let all = machine.topology.nodes();
    let sum = total_memory(machine);
    // The memory that the kernel reserves is a few percent.
    if let Some(total) = machine.host.memory_total.filter(|total| total.0.abs_diff(sum.0) > total.0 / 10) {
        document
            .missing(format_args!("The nodes report {sum} of memory, but /proc/meminfo reports {total}."));
    }
    let lost = describe::machine::lost_memory(machine);
    if !lost.is_empty() {
        document.missing(format_args!("Memory is lost: {lost}."));
    }
    // A single node has no distances.
    let others = if all.len() > 1 { all } else { &[] };
    document.tabulate("", Level::Quiet, 2, &|table| {
        table.texts(&["node", "CPUs", "memory", "free", "available"]);
        table.each(machine.pool_sizes().iter().map(|size| format!("{size} pages"))).text("package");
        table.each(others.iter().map(|node| format!("SLIT to {}", node.id)));
        for node in all {
            let memory = machine.memory_of(node);
            let cpus: &dyn Display = if node.cpus.is_empty() { &"none" } else { &node.cpus };
            table.row().show(&node.id).show(cpus);
            match node.kind() {
                NodeKind::CpuOnly | NodeKind::Empty => table.text("none"),
                _ if machine.memory_nodes.contains(node.id.0) => table.show(&memory),
                _ => table.cell(format_args!("{memory} (outside the cpuset)")),
            };
            table.show(&node.memory_free).show(&machine.free_memory(node.id));
            for size in machine.pool_sizes().iter() {
                let pool = node.page_pool(size);
                table.known(pool.map(|pool| format!("{} of {} free", pool.free, pool.total)));
            }
            table.known(Some(node.packages).filter(|packages| !packages.is_empty()));
            others.iter().for_each(|to| _ = table.known(machine.topology.distance(node.id, to.id)));
        }
    });
    attributes::table(document, machine, &|_| None);
    dimms::table(document, machine);
}

/// Writes the facts that are known, each under its label.
fn facts<const N: usize>(document: &mut Shown, facts: [(&'static str, Option<String>); N]) {
    for (label, words) in facts.into_iter().filter_map(|(label, words)| Some((label, words?))) {
        document.sentence(Role::Method(label), format_args!("{words}"));
    }
}

/// Writes the settings of the system, those that trade speed for power among them, and the temperature of memory.
fn settings(document: &mut Shown, machine: &Machine) {
    let host = &machine.host;
    let Power { profile, preference, deepest_idle } = &host.power;
    let driver = word(&host.frequency.driver).unwrap_or("unknown");
    let governor = word(&host.frequency.governor).map(|name| format!("governor {name}, driver {driver}"));
    let pages = format!(
        "{}transparent huge pages {}; defragmentation {}",
        optional(Some(machine.page).filter(|page| *page != PageSize::KIB_4), |page, out| {
            write!(out, "base pages of {page}, huge pages of {}; ", machine.huge_page())
        }),
        word(&host.huge_pages.enabled).unwrap_or("not in this kernel"),
        word(&host.huge_pages.defragment).unwrap_or("unknown")
    );
    let known = [
        ("Pages", Some(pages)),
        ("Frequency", governor.or(Some("no cpufreq information".into()))),
        ("Power profile", word(profile).map(String::from)),
        ("Preference", word(preference).map(String::from)),
        ("Deepest idle state", word(deepest_idle).map(String::from)),
    ];
    facts(document, known);
    describe::conditions::hottest(document, Role::Method("Hottest DIMM"), host.dimm_heat);
    let quota = host.throttle.map(|Throttle { cpus, file, times, .. }| {
        let times =
            optional(times, |times, out| write!(out, ", throttled {times} time{} so far", plural(times)));
        format!("{:.3} CPUs ({file}){times}", Trimmed(cpus))
    });
    let limit = host.memory_limit.map(|all| format!("cgroup limit {}, {} left", all.limit, all.headroom));
    let policy = machine.bound_to.map(|nodes| {
        format!("inherited memory policy binds this process to node{} {nodes}", plural(nodes.len()))
    });
    let known = [
        ("Balancing", host.numa_balancing.map(|balancing| format!("kernel.numa_balancing is {balancing}"))),
        ("CPU quota", quota),
        ("Sizes", Some("up to 90% of a node's available memory (free memory and reclaimable cache)".into())),
        ("Memory", limit),
        ("Policy", policy),
    ];
    facts(document, known);
}
