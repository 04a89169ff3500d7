//! The method of a run, for people: memory, walk, self-test, clock, prefetchers; and the self-test for programs.

use core::fmt::{self, Display};

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::stats::{Interval, Summary};
use latency_core::text::plural;
use latency_core::units::Bytes;

use super::{Report, conditions, split};
use crate::machine::Machine;
use crate::machine::processor::CoreKind;
use crate::plan::budget::Memory;
use crate::report::document::{Part, Role, fields, members};
use crate::report::figures::{Digits, Seconds};
use crate::report::shown::Shown;
use crate::report::words::words;
use crate::result::counters::Counters;
use crate::result::words::{OrderWords, PageWords};
use crate::result::{Counter, KernelClock, Means, Measurement, Point, Repeat, Timer, Walk};
use crate::warning::SPARSE;
use latency_core::words::Worded;

pub use super::optional::optional;

fields! {
    HEALTH "health" "Self-tests of the program.";
    L1_CYCLES "l1_core_cycles" "Core cycles of an L1 hit; a whole number if the clock is right; null if unknown.";
    MULTIPLY "multiply_add_ratio" "Time of a multiplication divided by the time of an addition: a whole number; null if unknown.";
    AUDIT "prefetch_audit" "Search for prefetchers that accelerate a random walk; null if it was not made.";
    REPEAT "repeat" "Second measurement of the first point at the end, in new memory (A/A); null if it was not made.";
    BEHAVE "pages_behave_as_small" "True if the TLB treats huge pages as base pages; null if unknown.";
}

/// Describes the self-test.
pub fn health(document: &mut Shown, report: &Report<'_, '_>) {
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
                "ratio": second / first => "Second measurement divided by the first.";
            }
        });
        document.put(&BEHAVE, report.health.pages_behave_as_small);
    });
}

/// Writes how walks of dependent loads were measured.
pub fn walks(document: &mut Shown, report: &Report<'_, '_>) {
    let mut cpus = CpuSet::EMPTY;
    for outcome in report.outcomes {
        cpus.insert(outcome.point.cpu.0);
    }
    processor(document, report, &cpus);
    memory(document, report);
    if let Some(first) = report.outcomes.first() {
        let point = &first.point;
        let regions = optional(report.regions, |memory, out| write!(out, "; {}", regions(memory)));
        document.sentence(
            Role::Provenance("Method"),
            format_args!(
                "pointer chase (dependent loads), {order}, {stride} stride; {misses}; \
                 intervals describe this run, another run may differ by more; seed {seed}{regions}",
                order = OrderWords(point.order),
                stride = point.stride,
                misses = match report.outcomes.iter().any(|outcome| split::parts(outcome).is_some()) {
                    true => {
                        "TLB misses told apart by chains that visit each page 1, 2 and 4 times among 32 pages"
                    }
                    false => "TLB misses included",
                },
                seed = point.seed
            ),
        );
    }
}

/// Returns the name in documents of the memory that several nodes walk.
#[must_use]
pub const fn regions_name(memory: Memory) -> &'static str {
    match memory {
        Memory::Kept => "own",
        Memory::Shared => "shared",
        Memory::Rewritten { .. } => "rewritten",
    }
}

/// Returns the words for people for the memory that several nodes walk.
#[must_use]
pub const fn regions(memory: Memory) -> &'static str {
    match memory {
        Memory::Kept => "separate memory for each node pair",
        Memory::Shared => "initiator nodes share the memory on a target node and rewrite it in turn",
        Memory::Rewritten { .. } => "the memory on a target node is rewritten for each visit",
    }
}

/// Writes the CPUs that measured, and their kind.
pub fn processor(document: &mut Shown, report: &Report<'_, '_>, cpus: &CpuSet) {
    let nodes: NodeSet = report.outcomes.iter().map(|outcome| outcome.point.initiator.0).collect();
    let processor = &report.machine.processor;
    document.sentence(
        Role::Provenance("Measured on"),
        format_args!(
            "CPU{} {cpus} of node{} {nodes}{}{}{}{}",
            plural(cpus.len()),
            plural(nodes.len()),
            busy(report),
            optional(Some(processor.brand.as_str()).filter(|brand| !brand.is_empty()), |brand, out| {
                write!(out, ", {brand}")
            }),
            optional(kind(report.machine, cpus), |kind, out| write!(out, ", {kind}")),
            match speaks_for_others(report.machine, cpus, &nodes) {
                true if has_others(report.machine, cpus, &nodes) =>
                    "; the node has cores of another kind, whose latency differs (--cpu=N)",
                true => "; other CPUs of a node may differ by a few ns",
                false => "",
            }
        ),
    );
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

/// Returns whether nodes have cores of another kind than these CPUs.
fn has_others(machine: &Machine, cpus: &CpuSet, nodes: &NodeSet) -> bool {
    let own = cpus.first().and_then(|cpu| machine.kind_of(latency_core::units::CpuId(cpu)));
    let mut all = machine.topology.nodes().iter().filter(|node| nodes.contains(node.id.0));
    all.any(|node| node.cpus.iter().any(|cpu| machine.kind_of(latency_core::units::CpuId(cpu)) != own))
}

/// Writes the busy CPUs that did not measure.
fn busy<'r>(report: &'r Report<'_, '_>) -> impl Display + 'r {
    fmt::from_fn(|out| {
        let mut before = " (";
        for instead in report.busy_cpus() {
            write!(out, "{before}CPU {} was {:.0}% busy", instead.first, instead.busy * 100.0)?;
            before = ", ";
        }
        out.write_str(if before == ", " { ")" } else { "" })
    })
}

/// Returns whether a single CPU of each node measured, although a node has more CPUs than a core has threads.
fn speaks_for_others(machine: &Machine, cpus: &CpuSet, nodes: &NodeSet) -> bool {
    let threads = machine.host.caches.data(1).map_or(1, |cache| cache.shared_by.len());
    let mut all = machine.topology.nodes().iter().filter(|node| nodes.contains(node.id.0));
    cpus.len() == nodes.len() && all.any(|node| node.cpus.len() > threads)
}

/// Writes the parts that do not depend on the chain: self-test, clock, prefetchers, counters.
pub fn ending(document: &mut Shown, report: &Report<'_, '_>) {
    brief(document, report);
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

/// Writes the memory-side cache through which a memory was measured, after the name of that memory.
pub fn through(cache: Option<Bytes>) -> impl Display {
    optional(cache, |cache, out| write!(out, " (through a {cache} side cache)"))
}

/// Writes the pages of every node's memory, and the evidence for its placement, with equal nodes in one sentence.
pub fn memory(document: &mut Shown, report: &Report<'_, '_>) {
    memory_of(document, report, &|_| true);
}

/// Writes the pages and the evidence, for the points that `is_one` selects.
pub fn memory_of(document: &mut Shown, report: &Report<'_, '_>, is_one: &dyn Fn(&Point) -> bool) {
    let measured = || {
        let outcomes = report.outcomes.iter().filter(|outcome| is_one(&outcome.point));
        outcomes.filter_map(|outcome| Some((&outcome.point, outcome.result.as_ref().ok()?)))
    };
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
    for (index, (point, first)) in measured().enumerate() {
        let first_kind = kind(point, first);
        let is_alike = |(point, other): &(&Point, &Measurement)| kind(point, other) == first_kind;
        if measured().take(index).any(|other| is_alike(&other)) {
            continue;
        }
        let (asked, obtained, [is_verified, are_known], is_partial, as_small, side_cache) = first_kind;
        let members = || measured().filter(is_alike);
        let nodes: NodeSet = members().map(|(point, _)| point.target.0).collect();
        let sizes = sizes(members().map(|(point, _)| point.size));
        let pages_of = |(index, (point, _)): (usize, (&Point, &Measurement))| {
            let is_there = |(other, _): &(&Point, &Measurement)| region(other) == region(point);
            if members().take(index).any(|other| is_there(&other)) {
                return None;
            }
            let there = members().filter(is_there);
            there.filter_map(|(_, measured)| Some(measured.placed.after.counts()?.total())).max()
        };
        let pages: u64 = members().enumerate().filter_map(pages_of).sum();
        document.sentence(
            Role::Provenance("Memory"),
            format_args!(
                "{sizes} on node{} {nodes}{} in {}{}{}{}; {}",
                plural(nodes.len()),
                through(side_cache),
                PageWords(obtained),
                optional(first.placed.huge_share().filter(|_| is_partial), |share, out| {
                    write!(out, " ({:.0}%)", share * 100.0)
                }),
                if are_known { "" } else { " (page size not verified)" },
                optional(Some(machine.base_pages()).filter(|_| as_small), |base, out| {
                    write!(out, ", which the TLB treats as {}", PageWords(base))
                }),
                fmt::from_fn(|out| match is_verified {
                    // The query of the pages names the node of each address, not the size of its page.
                    true if first.placed.means == Means::NoNuma =>
                        out.write_str("this kernel has no other node"),
                    true if !are_known => out.write_str("all of it verified there before and after"),
                    true => {
                        let base = if obtained.are_transparent() { "base " } else { "" };
                        let unit = obtained.pool().unwrap_or(machine.page);
                        match pages {
                            1 => write!(out, "its page ({unit}) verified there before and after"),
                            _ => write!(
                                out,
                                "all {pages} {base}pages ({unit}) verified there before and after"
                            ),
                        }
                    }
                    false => out.write_str("placement not verified"),
                })
            ),
        );
        document.sentence(
            Role::Detail("Placement"),
            format_args!(
                "requested pages: {}; placed by {}; verified by {}{}",
                asked,
                first.placed.means.word(),
                first.placed.after.source(),
                fmt::from_fn(|out| if point.walk.is_of_cores() { Ok(()) } else { visits(out, point, first) })
            ),
        );
    }
}

/// Shows the smallest and the largest size.
fn sizes(sizes: impl Iterator<Item = Bytes>) -> impl Display {
    let (least, most) =
        sizes.fold((Bytes(u64::MAX), Bytes(0)), |(least, most), size| (least.min(size), most.max(size)));
    fmt::from_fn(move |out| match least < most {
        true => write!(out, "{least} to {most}"),
        false => most.fmt(out),
    })
}

/// Writes the numbers of loads, rounds and places of a point, and the agreement between the places.
fn visits(out: &mut fmt::Formatter<'_>, point: &Point, measured: &Measurement) -> fmt::Result {
    let Measurement { hops, rounds, placements, warm_up, ref series, .. } = *measured;
    match point.walk {
        Walk::Traffic(_) => write!(out, "; {hops} lines per window")?,
        _ => write!(out, "; first chain {:016x}, {hops} loads per trial", measured.fingerprint)?,
    }
    let window = Seconds(series.window_ns);
    write!(
        out,
        ", {rounds} round{} over {window} in {placements} place{}",
        plural(rounds),
        plural(placements)
    )?;
    if let Some(spread) = measured.placement_spread {
        write!(out, " (spread {:.1}%)", spread * 100.0)?;
    }
    if let Some(share) = series.state_share {
        write!(out, ", {:.0}% of trials in the main mode", share * 100.0)?;
    }
    if warm_up.hops > 0 {
        write!(out, "; {} warm-up loads", warm_up.hops)?;
    }
    match warm_up.cold_ns {
        Some(cold) if warm_up.hops > 0 => write!(out, ", first pass {} ns", Digits(cold)),
        _ => Ok(()),
    }
}

/// Returns the result of the self-test in one word.
fn passed(report: &Report<'_, '_>) -> &'static str {
    match report.warnings.iter().any(crate::warning::Warning::is_of_self_test) {
        true => "failed",
        false => "passed",
    }
}

/// Writes the memory, the self-test and the core clock in one line, and whether the placement is verified.
fn brief(document: &mut Shown, report: &Report<'_, '_>) {
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
    document.sentence(
        Role::Brief(if is_verified { "Verified" } else { "Not verified" }),
        format_args!(
            "{} on node{} {nodes}{}, self-test {}{}{}; details: -v",
            sizes(measured().map(|(point, _)| point.size)),
            plural(nodes.len()),
            optional(pages, |pages, out| match pages.are_transparent() {
                _ if !are_known => out.write_str(" (page size not verified)"),
                true => out.write_str(" (THP)"),
                false => write!(out, " ({})", PageWords(pages)),
            }),
            passed(report),
            optional(report.conditions.and_then(|found| found.core_gigahertz), |[_, middle, _], out| {
                write!(out, ", core {middle:.2} GHz")
            }),
            optional(report.machine.small.and(kind(report.machine, &cpus)), |kind, out| match cpus.len() {
                1 => write!(out, ", on CPU {cpus} ({kind})"),
                _ => write!(out, ", on {kind}"),
            })
        ),
    );
}

fn self_test(document: &mut Shown, report: &Report<'_, '_>) {
    let health = report.health;
    document.sentence(
        Role::Provenance("Self-test"),
        format_args!(
            "{}{}{}{}",
            passed(report),
            optional(health.l1_cycles, |cycles, out| write!(out, "; L1 hit {cycles:.2} core cycles")),
            optional(health.multiply_ratio, |ratio, out| write!(out, "; multiply/add {ratio:.2}")),
            optional(health.repeat, |repeat, out| {
                let Repeat { size, first, second, .. } = repeat;
                write!(out, "; repeat of {size}: {} → {} ns", Digits(first), Digits(second))
            }),
        ),
    );
}

fn clock(document: &mut Shown, report: &Report<'_, '_>) {
    let source = report.machine.host.clock_source.as_str();
    match *report.clock {
        Timer::Counter(Counter { frequency, spread_ppm, invariant, step, overhead, .. }) => document
            .sentence(
                Role::Detail("Clock"),
                format_args!(
                    "{counter} at {gigahertz:.6} GHz; calibrations agree to {spread:.2} ppm; kernel clock \
                 source {source}{same}{variant}; resolution {step} ticks; a timestamp pair costs \
                 {overhead} ticks (subtracted)",
                    counter = words().counter_in_full,
                    gigahertz = frequency.gigahertz(),
                    spread = spread_ppm,
                    source = if source.is_empty() { "unknown" } else { source },
                    same = if source == words().kernel_clock_source {
                        " (same counter: not an independent check)"
                    } else {
                        ""
                    },
                    variant = if invariant { "" } else { "; not declared invariant" },
                    step = step.0,
                    overhead = overhead.0
                ),
            ),
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => document.sentence(
            Role::Method("Clock"),
            format_args!(
                "clock_gettime (no cycles); resolution {step} ns; two reads cost {overhead} ns (subtracted)",
                step = step_ns,
                overhead = overhead_ns
            ),
        ),
    }
}

/// Writes whether prefetchers had an effect; briefly if they had none.
fn prefetchers(document: &mut Shown, report: &Report<'_, '_>) {
    let Some(audit) = report.health.audit else {
        let why = if report.partial {
            "the run was interrupted"
        } else {
            "this requires 16 MiB of measured memory and 64 MiB of free memory"
        };
        return document.sentence(Role::Detail("Prefetchers"), format_args!("not tested: {why}"));
    };
    document.sentence(
        Role::Detail("Prefetchers"),
        format_args!(
            "latency ratio of {line} to {sparse} stride {random} in random order, {local} within 2 MiB; \
             of pointers to indices {pointer} (1 without prefetching; {span} working set)",
            line = audit.line.bytes(),
            sparse = audit.line.times(SPARSE),
            random = ratio(&audit.random),
            local = ratio(&audit.local),
            pointer = ratio(&audit.pointer),
            span = audit.span
        ),
    );
}

/// Shows a ratio with its interval.
fn ratio(ratio: &Summary) -> impl Display + '_ {
    fmt::from_fn(|out| {
        let interval =
            optional(ratio.interval, |Interval { low, high }, out| write!(out, " ({low:.2} to {high:.2})"));
        write!(out, "{:.2}{interval}", ratio.median)
    })
}

/// Names of the events for people, in the order of [`Counters::per_hop`].
const EVENTS: [&str; crate::result::counters::EVENTS] =
    ["core cycles", "instructions", "L1D misses", "last-level misses", "data-TLB misses", "page-walk cycles"];

fn counted(document: &mut Shown, point: &Point, Measurement { placed, series, .. }: &Measurement) {
    let Some(counters) = &series.counters else { return };
    document.sentence(
        Role::Method("Counters"),
        format_args!(
            "node {} -> node {}, {}, {} {}{}{}{}",
            point.initiator,
            point.target,
            point.size,
            fmt::from_fn(|out| match point.walk {
                Walk::Traffic(traffic) => {
                    let (kind, count) = (traffic.kind.name, traffic.generators);
                    write!(out, "{kind} traffic, cores: {count}: on CPU {}, per line", point.cpu)
                }
                Walk::PingPong(pair) => {
                    write!(out, "CPUs {} and {}: on the first, per message", point.cpu, pair.partner)
                }
                walk => write!(
                    out,
                    "{}, {} kernel, {}, chains: {}{walk}: per load",
                    OrderWords(point.order),
                    point.kernel.name,
                    placed.pages,
                    walk.lanes(),
                ),
            }),
            fmt::from_fn(|out| events(out, counters)),
            optional(counters.instructions_per_cycle(), |count, out| {
                write!(out, "; {count:.3} instructions per cycle")
            }),
            optional(series.core_cycles_ratio(), |ratio, out| {
                write!(out, "; {ratio:.3}x the core cycles of dependent additions")
            }),
            optional(Some(counters.running).filter(|running| *running < 1.0), |running, out| {
                write!(out, "; counted {:.0}% of the time and scaled up", running * 100.0)
            }),
        ),
    );
}

fn events(out: &mut fmt::Formatter<'_>, counters: &Counters) -> fmt::Result {
    let mut separator = "";
    for (count, word) in counters.per_hop.iter().zip(EVENTS) {
        if let Some(count) = count {
            write!(out, "{separator}{count:.2} {word}")?;
            separator = ", ";
        }
    }
    if separator.is_empty() {
        out.write_str("no counts: other users held the counters")?;
    }
    Ok(())
}
