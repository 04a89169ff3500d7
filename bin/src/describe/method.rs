//! The method of a run, for people: memory, walk, self-test, clock, prefetchers. And the self-test for programs.

use core::fmt::{self, Display};

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::decimal::Decimal;
use latency_core::stats::Summary;
use latency_core::text::plural;
use latency_core::units::{Bytes, Pages};

use super::{conditions, Report};
use crate::machine::Machine;
use crate::plan::budget::Memory;
use crate::report::document::{fields, Document, Part, Role};
use crate::report::figures::{Digits, Seconds};
use crate::result::counters::Counters;
use crate::result::words::{page_words, OrderName};
use crate::result::{
    Counter, KernelClock, Measurement, Outcome, Point, Repeat, RoundSeries, Timer, Walk, WarmUp,
};
use latency_core::words::Worded;

pub use super::optional::optional;

fields! {
    HEALTH "health" "Whether the tool measures what is known as what it is.";
    L1_CYCLES "l1_core_cycles" "Core cycles of an L1 hit: a whole number.";
    MULTIPLY "multiply_add_ratio" "Multiplications take so many times as long as additions: 3, or 4.";
    AUDIT "prefetch_audit" "Whether prefetchers help a random walk; null where it was not made.";
    AUDIT_BYTES "working_set_bytes" "The memory of the audit.";
    RANDOM "random_ratio" "64-byte spacing against 256-byte spacing in random order: 1 without prefetching.";
    RANDOM_INTERVAL "random_ratio_interval" "Its 95 % confidence interval.";
    LOCAL "local_2m_ratio" "The same within regions of 2 MiB.";
    LOCAL_INTERVAL "local_2m_ratio_interval" "Its 95 % confidence interval.";
    POINTER "pointer_ratio" "Pointers against indices in random order: 1 without a prefetcher that follows pointers.";
    POINTER_INTERVAL "pointer_ratio_interval" "Its 95 % confidence interval.";
    REPEAT "repeat" "The first point, measured again at the end in new memory (A/A); null where it was not.";
    REPEAT_BYTES "working_set_bytes" "Its working set.";
    FIRST_NS "first_ns" "The first measurement.";
    SECOND_NS "second_ns" "The second one.";
    RATIO "ratio" "The second against the first.";
    BEHAVE "pages_behave_as_small" "Whether the TLB treats huge pages as 4 KiB ones; null where that cannot be told.";
}

/// Describes the self-test.
pub fn health(document: &mut dyn Document, report: &Report<'_, '_>) {
    document.part(Part::Object(&HEALTH), |document| {
        document.put(&L1_CYCLES, report.health.l1_cycles);
        document.put(&MULTIPLY, report.health.multiply_ratio);
        document.object(&AUDIT, report.health.audit, |document, audit| {
            document.put(&AUDIT_BYTES, audit.span);
            document.put(&RANDOM, audit.random.median);
            document.put(&RANDOM_INTERVAL, audit.random.interval);
            document.put(&LOCAL, audit.local.median);
            document.put(&LOCAL_INTERVAL, audit.local.interval);
            document.put(&POINTER, audit.pointer.median);
            document.put(&POINTER_INTERVAL, audit.pointer.interval);
        });
        document.object(&REPEAT, report.health.repeat, |document, Repeat { size, first, second, .. }| {
            document.put(&REPEAT_BYTES, size);
            document.put(&FIRST_NS, first);
            document.put(&SECOND_NS, second);
            document.put(&RATIO, second / first);
        });
        document.put(&BEHAVE, report.health.pages_behave_as_small);
    });
}

/// Says how walks of dependent loads were measured.
pub fn walks(document: &mut dyn Document, report: &Report<'_, '_>) {
    let mut cpus = CpuSet::EMPTY;
    for outcome in report.outcomes {
        cpus.insert(outcome.point.cpu.0);
    }
    processor(document, report, &cpus);
    memory(document, report);
    if let Some(first) = report.outcomes.first() {
        let point = &first.point;
        document.sentence(
            Role::Method(&"Method"),
            format_args!(
                "each load waits for the one before; {} order, a line every {}; page walks included; an interval is of \
                 this run, and another run may differ by more; seed {}{}",
                OrderName(point.order),
                point.stride,
                point.seed,
                optional(report.regions, |memory, out| write!(out, "; {}", regions(memory)))
            ),
        );
    }
}

/// The word of documents for the memory that several nodes walk.
#[must_use]
pub const fn regions_name(memory: Memory) -> &'static str {
    match memory {
        Memory::Kept => "own",
        Memory::Shared => "shared",
        Memory::Rewritten { .. } => "rewritten",
    }
}

/// The same in words, for people.
#[must_use]
pub const fn regions(memory: Memory) -> &'static str {
    match memory {
        Memory::Kept => "each pair of nodes has a region of its own",
        Memory::Shared => {
            "memory has no room for a region of each pair, so nodes write that of a target again in turn"
        }
        Memory::Rewritten { .. } => "the region of a target is written again for each visit",
    }
}

/// Says that these CPUs measured, and of what kind they are.
pub fn processor(document: &mut dyn Document, report: &Report<'_, '_>, cpus: &CpuSet) {
    let nodes: NodeSet = report.outcomes.iter().map(|outcome| outcome.point.initiator.0).collect();
    let processor = &report.machine.processor;
    document.sentence(
        Role::Method(&"Measured on"),
        format_args!(
            "CPU{} {cpus} of node{} {nodes}{}{}{}{}",
            plural(cpus.len()),
            plural(nodes.len()),
            busy(report),
            optional(Some(processor.brand.as_str()).filter(|brand| !brand.is_empty()), |brand, out| {
                write!(out, ", {brand}")
            }),
            optional(processor.core, |core, out| write!(out, ", {}", core.name())),
            if speaks_for_others(report.machine, cpus, &nodes) {
                "; other CPUs of the same node may differ by some ns"
            } else {
                ""
            }
        ),
    );
}

/// Writes the busy CPUs that did not measure.
fn busy<'r>(report: &'r Report<'_, '_>) -> impl Display + 'r {
    fmt::from_fn(|out| {
        let mut before = " (";
        for instead in report.busy_cpus() {
            write!(out, "{before}CPU {} was {:.0} % busy", instead.first, Decimal(instead.busy * 100.0))?;
            before = ", ";
        }
        out.write_str(if before == ", " { ")" } else { "" })
    })
}

/// Returns whether one CPU of each node measured, and a node has more of them than the threads of a core.
fn speaks_for_others(machine: &Machine, cpus: &CpuSet, nodes: &NodeSet) -> bool {
    let threads = machine.host.caches.data(1).map_or(1, |cache| cache.shared_by.len());
    let mut all = machine.topology.nodes().iter().filter(|node| nodes.contains(node.id.0));
    cpus.len() == nodes.len() && all.any(|node| node.cpus.len() > threads)
}

/// Says what does not depend on the chain: self-test, clock, prefetchers, counters.
pub fn ending(document: &mut dyn Document, report: &Report<'_, '_>) {
    self_test(document, report);
    if let Some(found) = report.conditions {
        conditions::line(document, report.machine.processor.platform, found);
    }
    clock(document, report);
    prefetchers(document, report);
    for outcome in report.outcomes {
        if let Ok(Measurement { series: series @ RoundSeries { counters: Some(counters), .. }, .. }) =
            &outcome.result
        {
            counted(document, outcome, series, counters);
        }
    }
}

/// Writes a memory-side cache that memory was measured through, behind that memory.
pub fn through(cache: Option<Bytes>) -> impl Display {
    optional(cache, |cache, out| write!(out, " (through a {cache} side cache)"))
}

/// The properties that nodes with the same kind of memory share.
#[derive(Clone, Copy, PartialEq)]
struct Alike {
    asked: Pages,
    obtained: Pages,
    verified: bool,
    complete: bool,
    as_small: bool,
    side_cache: Option<Bytes>,
}

impl Alike {
    fn of(report: &Report<'_, '_>, point: &Point, measured: &Measurement) -> Alike {
        let placed = &measured.placed;
        Alike {
            asked: point.pages,
            obtained: placed.pages,
            verified: placed.is_verified(point.target),
            complete: placed.huge_share().is_none_or(|share| share >= 1.0),
            as_small: placed.as_small == Some(true),
            side_cache: report.warnings.side_cache(point.target),
        }
    }
}

/// Says in which pages the memory of every node is, and how that is known: nodes alike in one sentence.
pub fn memory(document: &mut dyn Document, report: &Report<'_, '_>) {
    memory_of(document, report, &|_| true);
}

/// The same of some points.
pub fn memory_of(document: &mut dyn Document, report: &Report<'_, '_>, is_one: &dyn Fn(&Point) -> bool) {
    let measured = || {
        let outcomes = report.outcomes.iter().filter(|outcome| is_one(&outcome.point));
        outcomes.filter_map(|outcome| Some((&outcome.point, outcome.result.as_ref().ok()?)))
    };
    for (index, (point, first)) in measured().enumerate() {
        let alike = Alike::of(report, point, first);
        let is_alike = |(point, other): &(&Point, &Measurement)| Alike::of(report, point, other) == alike;
        if measured().take(index).any(|other| is_alike(&other)) {
            continue;
        }
        let members = || measured().filter(is_alike);
        let nodes: NodeSet = members().map(|(point, _)| point.target.0).collect();
        let (least, most) = members().fold((point.size, point.size), |(least, most), (point, _)| {
            (least.min(point.size), most.max(point.size))
        });
        let counted = |point: Option<&Point>, node: u32| {
            let there = members().filter(|(other, _)| {
                other.target.0 == node && point.is_none_or(|point| other.initiator == point.initiator)
            });
            there.filter_map(|(_, measured)| Some(measured.placed.after.counts()?.total())).max()
        };
        // The points of a pair follow each other, and have a region of their own or share that of the target.
        let pages: u64 = if report.regions == Some(Memory::Kept) {
            let mut last = None;
            let firsts = members().filter(|(point, _)| {
                let pair = Some((point.initiator, point.target));
                last.replace((point.initiator, point.target)) != pair
            });
            firsts.filter_map(|(point, _)| counted(Some(point), point.target.0)).sum()
        } else {
            nodes.iter().filter_map(|node| counted(None, node)).sum()
        };
        document.sentence(
            Role::Method(&"Memory"),
            format_args!(
                "{}{most} on node{} {nodes}{} in {}{}{}{}; {}",
                optional(Some(least).filter(|least| *least < most), |least, out| write!(out, "{least} to ")),
                plural(nodes.len()),
                through(alike.side_cache),
                page_words(alike.obtained),
                optional(first.placed.huge_share().filter(|_| !alike.complete), |share, out| {
                    write!(out, " ({:.0} %)", Decimal(share * 100.0))
                }),
                if first.placed.pages_are_verified() { "" } else { " (not proven)" },
                if alike.as_small { ", which the TLB treats as 4 KiB pages" } else { "" },
                fmt::from_fn(|out| match alike.verified {
                    true => {
                        let unit = alike.obtained.page_size().bytes();
                        write!(out, "all {pages} pages ({unit}) proven there, before and after")
                    }
                    false => out.write_str("where they are is not proven"),
                })
            ),
        );
        if point.walk.is_of_cores() {
            document.sentence(
                Role::Detail(&"Placement"),
                format_args!(
                    "pages asked for: {}; placed by {}; proven by {}",
                    alike.asked.word(),
                    first.placed.means.name(),
                    first.placed.after.source()
                ),
            );
            continue;
        }
        let WarmUp { hops, cold_ns, .. } = first.warm_up;
        document.sentence(
            Role::Detail(&"Placement"),
            format_args!(
                "pages asked for: {}; placed by {}; proven by {}; {}, {} rounds over {} in {} place{}{}{}{}",
                alike.asked.word(),
                first.placed.means.name(),
                first.placed.after.source(),
                fmt::from_fn(|out| match point.walk {
                    Walk::Traffic(_) => write!(out, "{} lines a window", first.hops),
                    _ => write!(out, "first chain {:016x}, {} loads a trial", first.fingerprint, first.hops),
                }),
                first.rounds,
                Seconds(first.series.window_ns),
                first.placements,
                plural(first.placements),
                optional(first.placement_spread, |spread, out| {
                    write!(out, " that differ by {:.1} %", Decimal(spread * 100.0))
                }),
                optional(first.series.state_share, |share, out| {
                    write!(out, ", {:.0} % of their trials agree", Decimal(share * 100.0))
                }),
                optional(Some(hops).filter(|hops| *hops > 0), |hops, out| {
                    write!(
                        out,
                        "; {hops} loads of warm-up{}",
                        optional(cold_ns, |cold, out| write!(out, ", first pass {} ns", Digits(cold)))
                    )
                })
            ),
        );
    }
}

fn self_test(document: &mut dyn Document, report: &Report<'_, '_>) {
    let health = report.health;
    let failed = report.warnings.iter().any(crate::warning::Warning::is_of_self_test);
    document.sentence(
        Role::Method(&"Self-test"),
        format_args!(
            "{}{}{}{}",
            if failed { "failed" } else { "passed" },
            optional(health.l1_cycles, |cycles, out| write!(
                out,
                "; L1 hit {:.2} core cycles",
                Decimal(cycles)
            )),
            optional(health.multiply_ratio, |ratio, out| write!(out, "; multiply/add {:.2}", Decimal(ratio))),
            optional(health.repeat, |repeat, out| {
                let Repeat { size, first, second, .. } = repeat;
                write!(out, "; {size} measured again: {} ns, then {} ns", Digits(first), Digits(second))
            }),
        ),
    );
}

fn clock(document: &mut dyn Document, report: &Report<'_, '_>) {
    let source = report.machine.host.clock_source.as_str();
    match *report.clock {
        Timer::Counter(Counter { frequency, spread_ppm, invariant, step, overhead, .. }) => document.sentence(
            Role::Detail(&"Clock"),
            format_args!(
                "time-stamp counter at {:.6} GHz; calibrations agree to {:.2} ppm, kernel clock source {}{}{}; step {} \
                 ticks, a pair of stamps costs {} ticks (subtracted)",
                Decimal(frequency.gigahertz()),
                Decimal(spread_ppm),
                if source.is_empty() { "unknown" } else { source },
                if source == "tsc" { " (the same counter, so this is no independent check)" } else { "" },
                if invariant { "" } else { "; not declared invariant" },
                step.0,
                overhead.0
            ),
        ),
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => document.sentence(
            Role::Method(&"Clock"),
            format_args!(
                "clock_gettime, so no cycles; step {step_ns} ns, a pair of reads costs {overhead_ns} ns (subtracted)"
            ),
        ),
    }
}

/// Says whether prefetchers had an effect; in short if they had none.
fn prefetchers(document: &mut dyn Document, report: &Report<'_, '_>) {
    let Some(audit) = report.health.audit else {
        let why = if report.partial {
            "the run was interrupted"
        } else {
            "it needs 16 MiB of measured memory and 64 MiB of free memory"
        };
        return document.sentence(Role::Detail(&"Prefetchers"), format_args!("not tested: {why}"));
    };
    document.sentence(
        Role::Detail(&"Prefetchers"),
        format_args!(
            "64-byte spacing takes {} of the time of 256-byte spacing in random order, {} within 2 MiB; pointers take {} \
             of that of indices (1 without prefetching; {})",
            Ratio(&audit.random),
            Ratio(&audit.local),
            Ratio(&audit.pointer),
            audit.span
        ),
    );
}

/// A ratio with its interval.
struct Ratio<'s>(&'s Summary);

impl Display for Ratio<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.2}", Decimal(self.0.median))?;
        match self.0.interval {
            Some(interval) => write!(out, " ({:.2} to {:.2})", Decimal(interval.low), Decimal(interval.high)),
            None => Ok(()),
        }
    }
}

/// The names of the events for people, in the order of [`Counters::per_hop`].
const EVENTS: [&str; crate::result::counters::EVENTS] = [
    "core cycles",
    "instructions",
    "L1D misses",
    "last-level misses",
    "data-TLB misses",
    "cycles of page walks",
];

fn counted(document: &mut dyn Document, outcome: &Outcome<'_>, series: &RoundSeries, counters: &Counters) {
    let point = &outcome.point;
    document.sentence(
        Role::Method(&"Counters"),
        format_args!(
            "node {} -> node {}, {}, {} order, {} kernel, {}, chains: {}{}: per load {}{}{}",
            point.initiator,
            point.target,
            point.size,
            OrderName(point.order),
            point.kernel.name,
            outcome.result.as_ref().map_or(point.pages, |measured| measured.placed.pages).word(),
            point.walk.lanes(),
            point.walk,
            fmt::from_fn(|out| events(out, counters)),
            optional(series.core_cycles_ratio(), |ratio, out| {
                write!(out, "; {:.3} times the core cycles of dependent additions", Decimal(ratio))
            }),
            optional(Some(counters.running).filter(|running| *running < 1.0), |running, out| {
                write!(out, "; counted {:.0} % of the time and scaled up", Decimal(running * 100.0))
            }),
        ),
    );
}

fn events(out: &mut fmt::Formatter<'_>, counters: &Counters) -> fmt::Result {
    let mut separator = "";
    for (count, word) in counters.per_hop.iter().zip(EVENTS) {
        if let Some(count) = count {
            write!(out, "{separator}{:.2} {word}", Decimal(*count))?;
            separator = ", ";
        }
    }
    if separator.is_empty() {
        out.write_str("nothing: other users of the counters left too little time")?;
    }
    Ok(())
}
