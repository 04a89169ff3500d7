//! The method of a run, for people: memory, walk, self-test, clock, prefetchers; and the self-test for programs.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use super::{Report, conditions, split};
use crate::record::members::{HEALTH, L1_CYCLES, PAGES_AS_SMALL, REPEAT, REPEAT_RATIO};
use latency_core::{Bytes, CpuId, CpuSet, Interval, NodeSet, Summary, Worded, plural};
use latency_engine::budget::Memory;
use latency_engine::machine::{CoreKind, Machine};
use latency_engine::result::{
    Counter, KernelClock, Means, Measurement, OrderWords, Outcome, PageCounts, PageWords, Point, Repeat,
    Timer, Walk,
};
use latency_engine::warning::SPARSE;
use latency_engine::words::words;
use latency_report::document::{fields, members};
use latency_report::figures::seconds;
use latency_report::lists::joined;
use latency_report::{Digits, Part, Role, Shown};

pub use super::rates::optional;

fields! {
    MULTIPLY "multiply_add_ratio" "Time of a multiplication divided by the time of an addition: a whole number; null if unknown.";
    AUDIT "prefetch_audit" "Search for prefetchers that accelerate a random walk; null if it was not made.";
}

/// Describes the self-test.
pub fn health(document: &mut Shown, report: &Report<'_>) {
    document.part(Part::Object(&HEALTH), |document| {
        document.put(&L1_CYCLES, report.health.l1_cycles);
        document.put(&MULTIPLY, report.health.multiply_ratio);
        document.object(&AUDIT, report.health.audit, |document, audit| {
            members! { document;
                "working_set_bytes": audit.span => "Working set of the search, in bytes.";
                "random_ratio" interval: audit.random => "Latency with 64-byte spacing divided by latency with 256-byte spacing, in random order; 1 without prefetching.";
                "local_2m_ratio" interval: audit.local => "Latency with 64-byte spacing divided by latency with 256-byte spacing, in random order within 2 MiB; 1 without prefetching.";
                "pointer_ratio" interval: audit.pointer => "Latency of pointers divided by latency of indices, in random order; 1 without a prefetcher that follows pointers.";
            }
        });
        document.object(&REPEAT, report.health.repeat, |document, Repeat { size, first, second, .. }| {
            members! { document;
                "working_set_bytes": size => "Working set of the repeated point, in bytes.";
                "first_ns": first => "First measurement, in nanoseconds.";
                "second_ns": second => "Second measurement, in nanoseconds.";
                REPEAT_RATIO: second / first;
            }
        });
        document.put(&PAGES_AS_SMALL, report.health.pages_behave_as_small);
    });
}

/// Writes how walks of dependent loads were measured.
pub fn walks(document: &mut Shown, report: &Report<'_>) {
    processor(document, report, &report.outcomes.iter().map(|outcome| outcome.point.cpu.0).collect());
    memory(document, report);
    let Some(Outcome { point, .. }) = report.outcomes.first() else { return };
    let misses = match report.outcomes.iter().any(|outcome| split::parts(outcome).is_some()) {
        true => "TLB misses told apart by chains that visit each page 1, 2 and 4 times among 32 pages",
        false => "TLB misses included",
    };
    let regions = optional(report.regions, |memory, out| write!(out, "; {}", regions(memory)[1]));
    document.under(Role::Provenance("Method")).write(format_args!(
        "pointer chase (dependent loads), {}, {} stride; {misses}; intervals describe this run, another \
             run may differ by more; seed {}{regions}",
        OrderWords(point.order),
        point.stride,
        point.seed
    ));
}

/// Returns the memory that several nodes walk: its name in documents, and its words for people.
pub const fn regions(memory: Memory) -> [&'static str; 2] {
    match memory {
        Memory::Kept => ["own", "separate memory for each node pair"],
        Memory::Shared => {
            ["shared", "initiator nodes share the memory on a target node and rewrite it in turn"]
        }
        Memory::Rewritten { .. } => ["rewritten", "the memory on a target node is rewritten for each visit"],
    }
}

/// Writes the CPUs that measured, and their kind.
pub fn processor(document: &mut Shown, report: &Report<'_>, cpus: &CpuSet) {
    let (machine, processor) = (report.machine, &report.machine.processor);
    let nodes: NodeSet = report.outcomes.iter().map(|outcome| outcome.point.initiator.0).collect();
    let mut busy = String::new();
    for instead in report.busy_cpus() {
        let before = if busy.is_empty() { " (" } else { ", " };
        busy += &format!("{before}CPU {} was {:.0}% busy", instead.first, instead.busy * 100.0);
    }
    busy += if busy.is_empty() { "" } else { ")" };
    let brand = optional(Some(processor.brand.as_str()).filter(|brand| !brand.is_empty()), |brand, out| {
        write!(out, ", {brand}")
    });
    let kind = optional(kind(machine, cpus), |kind, out| write!(out, ", {kind}"));
    // A single CPU of each node measured, although a node has more CPUs than a core has threads.
    let threads = machine.host.caches.data(1).map_or(1, |cache| cache.shared_by.len());
    let own = cpus.first().and_then(|cpu| machine.kind_of(CpuId(cpu)));
    let measured = || machine.topology.nodes().iter().filter(|node| nodes.contains(node.id.0));
    let is_alone = cpus.len() == nodes.len() && measured().any(|node| node.cpus.len() > threads);
    let is_other = |cpu: u32| machine.kind_of(CpuId(cpu)) != own;
    let others = match is_alone {
        false => "",
        true if measured().any(|node| node.cpus.iter().any(is_other)) => {
            "; the node has cores of another kind, whose latency differs (--cpu=N)"
        }
        true => "; other CPUs of a node may differ by a few ns",
    };
    let (s, of_nodes) = (plural(cpus.len()), plural(nodes.len()));
    document
        .under(Role::Provenance("Measured on"))
        .write(format_args!("CPU{s} {cpus} of node{of_nodes} {nodes}{busy}{brand}{kind}{others}"));
}

/// Returns the kind of the cores of some CPUs, if there are several kinds.
fn kind(machine: &Machine, cpus: &CpuSet) -> Option<&'static str> {
    let Some(small) = &machine.small else { return machine.processor.core.map(CoreKind::name) };
    Some(match (small.intersection(cpus).len(), cpus.len()) {
        (0, 1) => CoreKind::Performance.name(),
        (1, 1) => CoreKind::Efficiency.name(),
        (0, _) => "performance cores",
        (few, all) if few == all => "efficiency cores",
        _ => "performance and efficiency cores",
    })
}

/// Writes the parts that do not depend on the chain: self-test, clock, prefetchers, counters.
pub fn ending(document: &mut Shown, report: &Report<'_>) {
    self_test(document, report);
    if let Some(found) = report.conditions {
        conditions::line(document, report.machine.processor.platform, found);
        conditions::since_boot(document, report);
    }
    clock(document, report);
    prefetchers(document, report);
    for outcome in report.outcomes {
        if let Ok(measured) = &outcome.result {
            counted(document, &outcome.point, measured);
        }
    }
}

/// Returns the words after the name of a memory about the memory-side cache through which it was measured.
pub fn through(cache: Option<Bytes>) -> impl Display {
    optional(cache, |cache, out| write!(out, " (through a {cache} side cache)"))
}

/// Writes the pages of every node's memory, and the evidence for its placement, with equal nodes in one sentence.
pub fn memory(document: &mut Shown, report: &Report<'_>) {
    memory_of(document, report, &|_| true);
}

/// Writes the pages and the evidence, for the points that `is_one` selects.
pub fn memory_of(document: &mut Shown, report: &Report<'_>, is_one: &dyn Fn(&Point) -> bool) {
    let machine = report.machine;
    // Points for which all of these values are equal share a sentence.
    let kind = |point: &Point, measured: &Measurement| {
        let placed = &measured.placed;
        let is_partial = placed.huge_share().is_some_and(|share| share < 1.0);
        let is_verified = placed.is_verified(point.target);
        let side_cache = report.warnings.side_cache(point.target);
        let are_known = placed.pages_are_verified();
        let is_small = placed.as_small == Some(true);
        (point.pages, placed.pages, [is_verified, are_known], is_partial, is_small, side_cache)
    };
    // Each pair has its own region, or all pairs with one target share a region.
    let region =
        |point: &Point| ((report.regions == Some(Memory::Kept)).then_some(point.initiator), point.target);
    let mut kinds: Vec<(_, Vec<(&Point, &Measurement)>)> = Vec::new();
    for Outcome { point, result } in report.outcomes.iter().filter(|outcome| is_one(&outcome.point)) {
        let Ok(measured) = result else { continue };
        let own = kind(point, measured);
        match kinds.iter_mut().find(|(known, _)| *known == own) {
            Some((_, members)) => members.push((point, measured)),
            None => kinds.push((own, Vec::from([(point, measured)]))),
        }
    }
    for (kind, members) in &kinds {
        let (asked, obtained, [is_verified, are_known], is_partial, as_small, side_cache) = *kind;
        let Some((point, first)) = members.first() else { continue };
        let nodes: NodeSet = members.iter().map(|(point, _)| point.target.0).collect();
        let sizes = sizes(members.iter().map(|(point, _)| point.size));
        // The pages of each region: the most at any of its points.
        let mut regions: Vec<(_, u64)> = Vec::new();
        for (point, measured) in members {
            let pages = measured.placed.after.counts().map_or(0, PageCounts::total);
            match regions.iter_mut().find(|(known, _)| *known == region(point)) {
                Some((_, most)) => *most = pages.max(*most),
                None => regions.push((region(point), pages)),
            }
        }
        let pages: u64 = regions.iter().map(|(_, pages)| pages).sum();
        let share = first.placed.huge_share().filter(|_| is_partial);
        let share = optional(share, |share, out| write!(out, " ({:.0}%)", share * 100.0));
        let unknown = if are_known { "" } else { " (page size not verified)" };
        let small = optional(Some(machine.base_pages()).filter(|_| as_small), |base, out| {
            write!(out, ", which the TLB treats as {}", PageWords(base))
        });
        let unit = obtained.pool().unwrap_or(machine.page);
        let base = if obtained.are_transparent() { "base " } else { "" };
        let proof = match is_verified {
            false => "placement not verified".into(),
            // The query of the pages names the node of each address, not the size of its page.
            true if first.placed.means == Means::NoNuma => "this kernel has no other node".into(),
            true if !are_known => "all of it verified there before and after".into(),
            true if pages == 1 => format!("its page ({unit}) verified there before and after"),
            true => format!("all {pages} {base}pages ({unit}) verified there before and after"),
        };
        let (s, through, obtained) = (plural(nodes.len()), through(side_cache), PageWords(obtained));
        document.under(Role::Provenance("Memory")).write(format_args!(
            "{sizes} on node{s} {nodes}{through} in {obtained}{share}{unknown}{small}; {proof}"
        ));
        let visits = if point.walk.is_of_cores() { String::new() } else { visits(point, first) };
        let (means, source) = (first.placed.means.word(), first.placed.after.source());
        document
            .under(Role::Detail("Placement"))
            .write(format_args!("requested pages: {asked}; placed by {means}; verified by {source}{visits}"));
    }
}

/// Returns the smallest and the largest size as text.
fn sizes(sizes: impl Iterator<Item = Bytes>) -> impl Display {
    let (least, most) =
        sizes.fold((Bytes(u64::MAX), Bytes(0)), |(least, most), size| (least.min(size), most.max(size)));
    fmt::from_fn(move |out| if least < most { write!(out, "{least} to {most}") } else { most.fmt(out) })
}

/// Returns the numbers of loads, rounds and places of a point, and the agreement between the places.
fn visits(point: &Point, measured: &Measurement) -> String {
    let Measurement { hops, rounds, placements, warm_up, ref series, .. } = *measured;
    let loads = match point.walk {
        Walk::Traffic(_) => format!("{hops} lines per window"),
        _ => format!("first chain {:016x}, {hops} loads per trial", measured.fingerprint),
    };
    let spread =
        optional(measured.placement_spread, |spread, out| write!(out, " (spread {:.1}%)", spread * 100.0));
    let share = optional(series.state_share, |share, out| {
        write!(out, ", {:.0}% of trials in the main mode", share * 100.0)
    });
    let warm_up = optional(Some(warm_up).filter(|warm_up| warm_up.hops > 0), |warm_up, out| {
        let cold = optional(warm_up.cold_ns, |cold, out| write!(out, ", first pass {} ns", Digits(cold)));
        write!(out, "; {} warm-up loads{cold}", warm_up.hops)
    });
    format!(
        "; {loads}, {rounds} round{} over {} in {placements} place{}{spread}{share}{warm_up}",
        plural(rounds),
        seconds(series.window_ns),
        plural(placements)
    )
}

/// Returns the result of the self-test in one word.
fn passed(report: &Report<'_>) -> &'static str {
    if report.warnings.iter().any(latency_engine::warning::Warning::is_of_self_test) {
        "failed"
    } else {
        "passed"
    }
}

/// Writes the memory, the self-test and the core clock in one line, and whether the placement is verified.
pub fn brief(document: &mut Shown, report: &Report<'_>) {
    let measured = || {
        let outcomes = report.outcomes.iter();
        outcomes.filter_map(|outcome| Some((&outcome.point, &outcome.result.as_ref().ok()?.placed)))
    };
    let Some((_, first)) = measured().next() else { return };
    let cpus: CpuSet = measured().map(|(point, _)| point.cpu.0).collect();
    let is_verified = measured().all(|(point, placed)| placed.is_verified(point.target));
    let nodes: NodeSet = measured().map(|(point, _)| point.target.0).collect();
    let pages = Some(first.pages).filter(|pages| measured().all(|(_, placed)| placed.pages == *pages));
    let are_known = measured().all(|(_, placed)| placed.pages_are_verified());
    let sizes = sizes(measured().map(|(point, _)| point.size));
    let pages = optional(pages, |pages, out| match pages.are_transparent() {
        _ if !are_known => out.write_str(" (page size not verified)"),
        true => out.write_str(" (THP)"),
        false => write!(out, " ({})", PageWords(pages)),
    });
    let clock = report.conditions.and_then(|found| found.core_gigahertz);
    let clock = optional(clock, |[_, middle, _], out| write!(out, ", core {middle:.2} GHz"));
    let kind =
        optional(report.machine.small.and(kind(report.machine, &cpus)), |kind, out| match cpus.len() {
            1 => write!(out, ", on CPU {cpus} ({kind})"),
            _ => write!(out, ", on {kind}"),
        });
    let (s, passed) = (plural(nodes.len()), passed(report));
    document.under(Role::Brief(if is_verified { "Verified" } else { "Not verified" })).write(format_args!(
        "{sizes} on node{s} {nodes}{pages}, self-test {passed}{clock}{kind}; details: -v"
    ));
}

fn self_test(document: &mut Shown, report: &Report<'_>) {
    let (health, passed) = (report.health, passed(report));
    let l1 = optional(health.l1_cycles, |cycles, out| write!(out, "; L1 hit {cycles:.2} core cycles"));
    let multiply = optional(health.multiply_ratio, |ratio, out| write!(out, "; multiply/add {ratio:.2}"));
    let repeat = optional(health.repeat, |Repeat { size, first, second, .. }, out| {
        write!(out, "; repeat of {size}: {} → {} ns", Digits(first), Digits(second))
    });
    document.sentence(Role::Provenance("Self-test"), format_args!("{passed}{l1}{multiply}{repeat}"));
}

fn clock(document: &mut Shown, report: &Report<'_>) {
    let source = report.machine.host.clock_source.as_str();
    let same = match source == words().kernel_clock_source {
        true => " (same counter: not an independent check)",
        false => "",
    };
    let source = if source.is_empty() { "unknown" } else { source };
    match *report.clock {
        Timer::Counter(Counter { frequency, spread_ppm, invariant, step, overhead, .. }) => document
            .under(Role::Detail("Clock")).write(format_args!(
                    "{} at {:.6} GHz; calibrations agree to {spread_ppm:.2} ppm; kernel clock source \
                     {source}{same}{}; resolution {} ticks; a timestamp pair costs {} ticks (subtracted)",
                    words().counter_in_full,
                    frequency.gigahertz(),
                    if invariant { "" } else { "; not declared invariant" },
                    step.0,
                    overhead.0
                )),
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => document.under(Role::Method("Clock")).write(format_args!(
                "clock_gettime (no cycles); resolution {step_ns} ns; two reads cost {overhead_ns} ns (subtracted)"
            )),
    }
}

/// Writes whether prefetchers had an effect; briefly if they had none.
fn prefetchers(document: &mut Shown, report: &Report<'_>) {
    let Some(audit) = report.health.audit else {
        let why = match report.partial {
            true => "the run was interrupted",
            false => "this requires 16 MiB of measured memory and 64 MiB of free memory",
        };
        return document.sentence(Role::Detail("Prefetchers"), format_args!("not tested: {why}"));
    };
    let [random, local, pointer] = [&audit.random, &audit.local, &audit.pointer].map(ratio);
    document.under(Role::Detail("Prefetchers")).write(format_args!(
        "latency ratio of {} to {} stride {random} in random order, {local} within 2 MiB; of pointers to \
             indices {pointer} (1 without prefetching; {} working set)",
        audit.line.bytes(),
        audit.line.times(SPARSE),
        audit.span
    ));
}

/// Returns a ratio with its interval.
fn ratio(ratio: &Summary) -> String {
    let interval =
        optional(ratio.interval, |Interval { low, high }, out| write!(out, " ({low:.2} to {high:.2})"));
    format!("{:.2}{interval}", ratio.median)
}

/// Names of the events for people, in the order of [`Counters::per_hop`](latency_engine::result::series::Counters::per_hop).
const EVENTS: [&str; latency_engine::result::series::EVENTS] =
    ["core cycles", "instructions", "L1D misses", "last-level misses", "data-TLB misses", "page-walk cycles"];

fn counted(document: &mut Shown, point: &Point, Measurement { placed, series, .. }: &Measurement) {
    let Some(counters) = &series.counters else { return };
    let walk = match point.walk {
        Walk::Traffic(traffic) => {
            let (kind, count) = (traffic.kind.name, traffic.generators);
            format!("{kind} traffic, cores: {count}: on CPU {}, per line", point.cpu)
        }
        Walk::PingPong(pair) => format!("CPUs {} and {}: on the first, per message", point.cpu, pair.partner),
        walk => {
            let (order, kernel, chains) = (OrderWords(point.order), point.kernel.name, walk.lanes());
            format!("{order}, {kernel} kernel, {}, chains: {chains}{walk}: per load", placed.pages)
        }
    };
    let counted = counters.per_hop.iter().zip(EVENTS);
    let counted = counted.filter_map(|(count, word)| Some(format!("{:.2} {word}", (*count)?)));
    let mut counts = joined("", ", ", counted);
    if counts.is_empty() {
        counts += "no counts: other users held the counters";
    }
    let per_cycle = optional(counters.instructions_per_cycle(), |count, out| {
        write!(out, "; {count:.3} instructions per cycle")
    });
    let ratio = optional(series.core_cycles_ratio(), |ratio, out| {
        write!(out, "; {ratio:.3}x the core cycles of dependent additions")
    });
    let scaled = optional(Some(counters.running).filter(|running| *running < 1.0), |running, out| {
        write!(out, "; counted {:.0}% of the time and scaled up", running * 100.0)
    });
    let Point { initiator, target, size, .. } = point;
    document.under(Role::Method("Counters")).write(format_args!(
        "node {initiator} -> node {target}, {size}, {walk} {counts}{per_cycle}{ratio}{scaled}"
    ));
}
