//! The machine as the tool sees it, and the tool's permissions; only the clock itself is timed.

use core::fmt;
use latency_core::arch::Signature;
use latency_core::math::ToReal;

use latency_core::decimal::Trimmed;
use latency_core::host::{Cache, Power, Throttle};
use latency_core::text::{Text, plural};
use latency_core::topology::{NodeKind, Source};
use latency_core::units::{Bytes, LineSize, NodeId, PageSize};
use latency_core::words::Worded;

use super::interface::Experiment;
use crate::analysis::reference::contradiction;
use crate::describe::method::optional;
use crate::describe::{self, Presentation, Report, attributes, dimms};
use crate::engine::session::Findings;
use crate::engine::stopwatch::counters::Meter;
use crate::machine::Machine;
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::budget::Budget;
use crate::plan::sizes::default_size;
use crate::report::document::{Level, Part, Role, fields};
use crate::report::shown::Shown;
use crate::report::words::words;
use crate::result::Extra;
use crate::sys::table::Table;
use crate::warning::Warning;

/// The experiment without a measurement.
pub const SYSTEM: Experiment = Experiment {
    descriptor: Descriptor {
        name: "system",
        summary: "detected hardware, topology and permissions",
        details: "CPU, caches, nodes, distances, page pools, cpuset and clocks; for each restriction, the \
                  command that removes it.",
        flags: FlagSet::of(&[FlagId::Strict, FlagId::Probe]).union(FlagSet::IDENTITY),
        ..Descriptor::OF_VALUES
    },
    plan: |_| Ok(Table::empty()?),
    budget: |options, machine, _| Budget::new(options, machine),
    measure: |_, session, _, _, _| {
        let Machine { processor, host, .. } = session.machine;
        let no_counters = Meter::open(processor, host.perf_event_paranoid).err();
        Ok(Findings {
            outcomes: Table::empty()?,
            distributions: Table::empty()?,
            spans: Table::empty()?,
            residency: Table::empty()?,
            analysis: Table::empty()?,
            extra: Extra { no_counters, ..Extra::default() },
            repeat: None,
            audit: None,
            interrupted: false,
        })
    },
    present: Presentation { answer, evidence, summary, rows: |_, _| {}, data: |_, _| {} },
};

fields! {
    LIMITS "limits" "Restrictions of this process, each with a remedy.";
    WHAT "what" "Restriction, in words.";
    REMEDY "remedy" "Command or setting that removes the restriction.";
    CORES "generator_cores" "Number of cores that can generate traffic.";
    CPU_QUOTA "cpu_quota" "CPU quota of the control group, in CPUs; null without a quota.";
    THROTTLED "throttled_times" "Number of periods in which the quota was used up; null if the kernel does not count them.";
}

fn answer(document: &mut Shown, report: &Report<'_, '_>) {
    headline(document, report.machine);
    limits(document, report);
}

fn evidence(document: &mut Shown, report: &Report<'_, '_>) {
    let machine = report.machine;
    nodes(document, machine);
    processor(document, machine);
    caches(document, machine);
    dimms::line(document, machine, Role::Method("DIMMs"));
    settings(document, machine);
    traffic(document, machine);
    if !words().interrupt_mark {
        document.say(
            Role::Method("Interrupts"),
            "cannot be detected one by one here: `distribution` keeps the loads that they prolong",
        );
    }
}

fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let machine = report.machine;
    document.items(Part::List(&LIMITS), found_limits(report), |document, limit| {
        document.put(&WHAT, limit.what.as_str());
        document.put(&REMEDY, limit.remedy.as_str());
    });
    document.put(&CORES, machine.sharing.cores_of(&machine.cpus).len());
    let throttle = machine.host.throttle.as_ref();
    document.put(&CPU_QUOTA, throttle.map(|throttle| throttle.cpus));
    document.put(&THROTTLED, throttle.and_then(|throttle| throttle.times));
}

/// Writes the cores from which traffic is possible.
fn traffic(document: &mut Shown, machine: &Machine) {
    let cores = machine.sharing.cores_of(&machine.cpus);
    let filtered = machine.host.process.filtered;
    match cores.len() {
        1 if machine.cpus.len() == 1 => {
            document.say(Role::Method("Traffic"), "one CPU: `bandwidth` works, `loaded` does not");
        }
        count => document.sentence(
            Role::Method("Traffic"),
            format_args!(
                "{count} core{s} (CPU{s} {cores}); clone() {filter}",
                s = plural(count as u64),
                filter = match filtered {
                    true => "may be blocked by a seccomp filter",
                    false => "is allowed (no seccomp filter)",
                }
            ),
        ),
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
    what: Text<64>,
    /// The one command that would lift it.
    remedy: Text<128>,
}

/// Returns the size of the pool of a node with which the default run is on its pages: the working set of each node that
/// walks it, and of the repetition.
fn pool_size(machine: &Machine) -> Bytes {
    let all = default_size(machine).times(machine.initiators().len() as u64 + 1);
    Bytes(all.0.next_multiple_of(machine.huge_page().bytes().0))
}

/// Returns the restriction of too few huge pages. The pool of the kernel's default size may be another one, and the pool
/// of all nodes together may be filled from any of them.
fn pool_limit(machine: &Machine) -> Restriction {
    let (size, wanted) = (machine.huge_page(), pool_size(machine));
    let file = fmt::from_fn(|out| {
        match (machine.topology.source, machine.targets().first(), machine.targets().len()) {
            (Source::Sysfs, Some(node), 1) => write!(out, "> /sys/devices/system/node/node{node}"),
            (Source::Sysfs, ..) => out.write_str("| tee /sys/devices/system/node/node*"),
            _ => out.write_str("> /sys/kernel/mm"),
        }?;
        write!(out, "/hugepages/hugepages-{}kB/nr_hugepages", size.bytes().0 >> 10)
    });
    Restriction {
        what: Text::of(format_args!("no {wanted} of free {size} huge pages")),
        remedy: Text::of(format_args!("as root: echo {} {file}", size.count(wanted))),
    }
}

/// Returns the restrictions that this process has.
fn found_limits(report: &Report<'_, '_>) -> impl Iterator<Item = Restriction> {
    let machine = report.machine;
    let process = &machine.host.process;
    let wanted = pool_size(machine);
    let pool =
        machine.targets().iter().all(|node| machine.pool_holds(NodeId(node), machine.huge_page(), wanted));
    let thp = matches!(machine.host.huge_pages.enabled.as_str(), "always" | "madvise");
    let counters = machine.host.perf_event_paranoid.is_none_or(|level| level <= 2)
        && (!process.filtered || process.perfmon);
    let every_cpu = machine.cpus.union(&machine.isolated).len() >= machine.topology.online_cpus.len();
    let all_time = machine.host.throttle.is_none_or(|throttle| throttle.cpus >= machine.cpus.len().real());
    let no_counters = report.extra.no_counters.map(|why| {
        let warning = Warning::CountersUnavailable { why };
        Restriction {
            what: Text::of(format_args!("{}", warning.reason())),
            remedy: Text::of(format_args!("{}", warning.remedy())),
        }
    });
    let one = |what: &str, remedy: &str| Restriction {
        what: Text::from_bytes(what.as_bytes()),
        remedy: Text::from_bytes(remedy.as_bytes()),
    };
    [
        (
            machine.policy_allowed || !machine.has_numa,
            one("mbind is not permitted", "in a container: docker run --cap-add=SYS_NICE"),
        ),
        (
            machine.has_proc,
            one("/proc is not mounted, so placement cannot be verified", "as root: mount -t proc proc /proc"),
        ),
        (pool, pool_limit(machine)),
        (
            thp,
            one(
                "transparent huge pages are disabled",
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
            ),
        ),
        (
            counters && no_counters.is_none(),
            no_counters.unwrap_or(one(
                "hardware counters are not available",
                "in a container: docker run --cap-add=PERFMON; as root: echo 2 > \
                 /proc/sys/kernel/perf_event_paranoid",
            )),
        ),
        (every_cpu, one("some CPUs are not allowed", "start without taskset, or in a wider cpuset")),
        (
            all_time,
            one(
                "a cgroup CPU quota throttles this process",
                "raise cpu.max of the cgroup; in a container: docker run without --cpus",
            ),
        ),
    ]
    .into_iter()
    .filter_map(|(is_lifted, restriction)| (!is_lifted).then_some(restriction))
}

fn limits(document: &mut Shown, report: &Report<'_, '_>) {
    let mut any = false;
    for Restriction { what, remedy } in found_limits(report) {
        any = true;
        document.finding(format_args!("Restriction: {what}; {remedy}"));
    }
    if !any {
        document.say(Role::Finding, "No restrictions: everything can be measured here.");
    }
}

fn processor(document: &mut Shown, machine: &Machine) {
    let processor = &machine.processor;
    let identity = &machine.host.identity;
    let (family, model, stepping) = processor.signature;
    document.sentence(
        Role::Method("Processor"),
        format_args!(
            "{}, {}{}; CPUs {} online, {} allowed; data-dependent prefetcher {}",
            processor.vendor,
            fmt::from_fn(|out| match words().signature {
                Signature::Family => write!(out, "family {family} model {model} stepping {stepping}"),
                Signature::Part => write!(out, "part {model:#05x} r{}p{}", stepping >> 4, stepping & 0xf),
            }),
            optional(word(&identity.microcode), |microcode, out| write!(out, ", microcode {microcode}")),
            machine.topology.online_cpus,
            machine.cpus,
            if processor.data_dependent_prefetcher { "reported" } else { "not reported" }
        ),
    );
    if !machine.isolated.is_empty() {
        let cpus = machine.isolated;
        document.sentence(
            Role::Method("Isolated"),
            format_args!("CPUs {cpus}, measured only if they are named (--cpu, --load-cpus)"),
        );
    }
    if let Some(masked) = contradiction(processor) {
        document.sentence(Role::Method("Model"), format_args!("{masked}"));
    }
    document.sentence(
        Role::Method("Platform"),
        format_args!(
            "{}{}{}{}{}; Linux {}",
            processor.platform.name(),
            optional(word(&processor.hypervisor), |hypervisor, out| write!(out, " ({hypervisor})")),
            optional(word(&processor.encryption), |encryption, out| write!(
                out,
                "; encrypted memory: {encryption}"
            )),
            optional(word(&identity.product), |product, out| {
                write!(out, "; {} {product}", identity.vendor)
            }),
            optional(word(&identity.firmware), |firmware, out| write!(out, ", BIOS {firmware}")),
            machine.host.kernel
        ),
    );
}

/// Returns a text, or `None` if it is empty.
fn word<const N: usize>(text: &latency_core::text::Text<N>) -> Option<&str> {
    Some(text.as_str()).filter(|text| !text.is_empty())
}

fn caches(document: &mut Shown, machine: &Machine) {
    let sysfs = machine.host.caches.as_slice();
    if !sysfs.is_empty() {
        let shown = fmt::from_fn(|out| {
            sysfs.iter().enumerate().try_for_each(
                |(index, Cache { level, kind, size, ways, shared_by, .. })| {
                    let (before, kind) = (if index > 0 { "; " } else { "" }, kind.word());
                    write!(out, "{before}L{level} {kind} {size}, {ways} ways, ")?;
                    match shared_by.len() {
                        1 => write!(out, "private to CPU {shared_by}"),
                        _ => write!(out, "shared by CPUs {shared_by}"),
                    }
                },
            )
        });
        document.sentence(Role::Method("Caches"), format_args!("{shown}"));
    }
    for claim in machine.processor.caches.iter().flatten() {
        let same = |cache: &&Cache| cache.level == u32::from(claim.level) && cache.kind.holds_data();
        if sysfs.iter().find(same).is_none_or(|cache| cache.size != claim.size) {
            document.sentence(
                Role::Method("Caches"),
                format_args!(
                    "L{} {}, {} ways, by {}",
                    claim.level,
                    claim.size,
                    claim.ways,
                    words().claims_name
                ),
            );
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
        document.sentence(
            Role::Method("Caches"),
            format_args!(
                "not reported by sysfs or {source}; assuming a last-level cache of {size}",
                source = words().claims_name,
                size = machine.last_level_cache()
            ),
        );
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
        machine.pool_sizes().iter().for_each(|size| table.cell(format_args!("{size} pages")));
        table.text("package");
        others.iter().for_each(|node| table.cell(format_args!("SLIT to {}", node.id)));
        for node in all {
            let memory = machine.memory_of(node);
            table.row();
            table.show(&node.id);
            match node.cpus.is_empty() {
                true => table.text("none"),
                false => table.show(&node.cpus),
            }
            match node.kind() {
                NodeKind::CpuOnly | NodeKind::Empty => table.text("none"),
                _ if machine.memory_nodes.contains(node.id.0) => table.show(&memory),
                _ => table.cell(format_args!("{memory} (outside the cpuset)")),
            }
            table.show(&node.memory_free);
            table.show(&machine.free_memory(node.id));
            for size in machine.pool_sizes().iter() {
                match node.page_pool(size) {
                    Some(pool) => table.cell(format_args!("{} of {} free", pool.free, pool.total)),
                    None => table.text("-"),
                }
            }
            table.known(Some(node.packages).filter(|packages| !packages.is_empty()));
            others.iter().for_each(|to| table.known(machine.topology.distance(node.id, to.id)));
        }
    });
    attributes::table(document, machine, &|_| None);
    dimms::table(document, machine);
}

/// Writes the settings that trade speed for power, and the temperature of memory, as far as they are known.
fn power(document: &mut Shown, machine: &Machine) {
    let Power { profile, preference, deepest_idle } = &machine.host.power;
    for (label, setting) in
        [("Power profile", profile), ("Preference", preference), ("Deepest idle state", deepest_idle)]
    {
        if !setting.is_empty() {
            document.sentence(Role::Method(label), format_args!("{setting}"));
        }
    }
    describe::conditions::hottest(document, Role::Method("Hottest DIMM"), machine.host.dimm_heat);
}

fn settings(document: &mut Shown, machine: &Machine) {
    let host = &machine.host;
    document.sentence(
        Role::Method("Pages"),
        format_args!(
            "{}transparent huge pages {}; defragmentation {}",
            optional(Some(machine.page).filter(|page| *page != PageSize::KIB_4), |page, out| {
                write!(out, "base pages of {page}, huge pages of {}; ", machine.huge_page())
            }),
            word(&host.huge_pages.enabled).unwrap_or("not in this kernel"),
            word(&host.huge_pages.defragment).unwrap_or("unknown")
        ),
    );
    match word(&host.frequency.governor) {
        Some(governor) => document.sentence(
            Role::Method("Frequency"),
            format_args!("governor {governor}, driver {}", word(&host.frequency.driver).unwrap_or("unknown")),
        ),
        None => document.say(Role::Method("Frequency"), "no cpufreq information"),
    }
    power(document, machine);
    if let Some(balancing) = host.numa_balancing {
        document.sentence(Role::Method("Balancing"), format_args!("kernel.numa_balancing is {balancing}"));
    }
    if let Some(Throttle { cpus, file, times, .. }) = host.throttle {
        document.sentence(
            Role::Method("CPU quota"),
            format_args!(
                "{:.3} CPUs ({file}){}",
                Trimmed(cpus),
                optional(times, |times, out| write!(out, ", throttled {times} time{} so far", plural(times)))
            ),
        );
    }
    document.say(
        Role::Method("Sizes"),
        "up to 90% of a node's available memory (free memory and reclaimable cache)",
    );
    if let Some(limit) = host.memory_limit {
        document.sentence(
            Role::Method("Memory"),
            format_args!("cgroup limit {limit}, {left} left", limit = limit.limit, left = limit.headroom),
        );
    }
    if let Some(nodes) = machine.bound_to {
        document.sentence(
            Role::Method("Policy"),
            format_args!(
                "inherited memory policy binds this process to node{s} {nodes}",
                s = plural(nodes.len() as u64)
            ),
        );
    }
}
