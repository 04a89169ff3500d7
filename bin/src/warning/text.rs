//! The warnings in words: what was found, and why where that is known.

use core::fmt;

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::text::plural;
use latency_core::units::Picoseconds;

use super::reason::{percent_off, Percent};
use super::{Clipped, NoCounters, Warning};

/// The fact, without the remedy and without the label of a message.
impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Warning::OneNode => out.write_str("one NUMA node, so no remote latency"),
            Warning::TooManyNodes { found, held } => {
                write!(out, "{found} nodes found, and only the first {held} are used")
            }
            Warning::CpusetPartial { allowed, online } => {
                write!(out, "this process may use {allowed} of {online} CPUs")
            }
            Warning::CpuQuota { cpus } => write!(
                out,
                "the control group grants {:.3} CPUs, so the kernel stops this process in each period",
                Trimmed(cpus)
            ),
            Warning::NodeLeftOut { node } => {
                write!(out, "node {node} is not measured: the cpuset does not allow its memory")
            }
            Warning::NoProc => out.write_str("no /proc, so placement and memory limits cannot be read"),
            Warning::NoSys => out.write_str("no /sys, so nodes, caches and huge page pools cannot be read"),
            Warning::SizeClipped { from, to, why } => {
                let limit = match why {
                    Clipped::HalfOfFree => "half of what the node can give",
                    Clipped::ControlGroup => "half of what the control group has left",
                };
                write!(out, "working set reduced from {from} to {to}, {limit}")
            }
            Warning::CacheLatency { size, level, cache } => {
                write!(out, "{size} fit in L{level} ({cache}): this is cache latency")
            }
            Warning::CacheCouldHold { size, cache, .. } if size <= cache => {
                write!(out, "a {size} working set fits in the {cache} last-level cache")
            }
            Warning::CacheCouldHold { size, seen: true, .. } => {
                write!(out, "a look before the run saw hits of a cache in a {size} working set")
            }
            Warning::CacheCouldHold { size, cache, .. } => {
                write!(out, "the {cache} last-level cache may hold a large part of a {size} working set")
            }
            Warning::CacheSizeImplausible { level, size } => {
                write!(out, "the system reports an L{level} cache of {size}, which no processor has; ignored")
            }
            Warning::CacheUnknown { assumed } => {
                write!(out, "neither sysfs nor CPUID reports a last-level cache, so {assumed} are assumed")
            }
            Warning::WorkingSetDoubled { from, to } if to == from.times(2) => {
                write!(out, "working set doubled to {to}: {from} showed hits in a cache")
            }
            Warning::WorkingSetDoubled { from, to } => {
                write!(out, "working set enlarged to {to}: {from} showed hits in a cache")
            }
            Warning::ReportedCacheDiffers { reported, found } if found < reported => {
                write!(
                    out,
                    "a chase held about {found} of the reported {reported} of last-level cache, while others could use it"
                )
            }
            Warning::ReportedCacheDiffers { reported, found } => {
                write!(out, "a last-level cache of {reported} is reported, but about {found} were found")
            }
            Warning::CacheServesPart { size, cold, warm } => {
                let (cold, warm) = (Nanoseconds(cold), Nanoseconds(warm));
                write!(out, "a cache may serve a part of {size} (first pass {cold}, then {warm})")
            }
            Warning::LooksCached { size, cold, warm } => {
                let (cold, warm) = (Nanoseconds(cold), Nanoseconds(warm));
                write!(out, "{size} fit in a cache (first pass {cold}, then {warm}): not memory latency")
            }
            Warning::SideCache { node, cache, size, .. } => {
                let part = if size <= cache { "all" } else { "much" };
                write!(out, "memory of node {node} was measured through a {cache} side cache, ")?;
                write!(out, "which may hold {part} of {size}")
            }
            Warning::PagesFellBack { found } => {
                write!(out, "{found} pages used, because no larger ones are available")
            }
            Warning::ThpPartial { wanted, found } => {
                write!(out, "only {found} of {wanted} are in transparent huge pages")
            }
            Warning::HugePagesWithoutEffect { page } => {
                write!(out, "the hypervisor backs this guest's {page} pages with 4 KiB ones, ")?;
                out.write_str("so they gain less than they could")
            }
            Warning::PlacementUnverified { node, why } => {
                write!(out, "memory on node {node} is not proven: {why}")
            }
            Warning::PlacedByFirstTouch { node } => {
                write!(out, "memory policies are forbidden: memory on node {node} was placed ")?;
                out.write_str("by first touch and proven")
            }
            Warning::NotMeasurableHere { node } => {
                write!(out, "node {node} is not measurable here (no memory policies, no allowed CPU)")
            }
            Warning::InheritedPolicy { policy } => {
                write!(out, "started with the memory policy '{policy}', so only its nodes are measured")
            }
            Warning::PagesMoved { node, pages } => {
                write!(out, "{pages} page{} left node {node} during the run", plural(pages))
            }
            Warning::HugePagesChanged { node, before, after, .. } => {
                write!(out, "huge pages on node {node} went from {before} to {after} during the run")
            }
            Warning::OtherWork { cpu, share } => {
                write!(out, "other work took {} of CPU {cpu} while it was measured with", Percent(share))
            }
            Warning::Stolen { cpu, share } => {
                write!(out, "the hypervisor reports that it kept CPU {cpu} waiting for {}", Percent(share))?;
                out.write_str(" of the time")
            }
            Warning::SiblingBusy { cpu, share } => {
                let percent = Percent(share);
                write!(out, "the sibling thread of CPU {cpu} was busy with other work for {percent} of the time")
            }
            Warning::ThreadMoved { times } => {
                write!(out, "this process was moved to another CPU {times} time{}; ", plural(times))?;
                out.write_str("it went back, and left those trials out")
            }
            Warning::Neighbours { from, to, size, ratio } => {
                let ratio = Decimal(ratio);
                write!(out, "node {from} -> node {to}, {size}: neighbours use this memory, ")?;
                write!(out, "which takes {ratio:.2} times as long as undisturbed")
            }
            Warning::NotQuiet { seconds } => {
                write!(out, "no second in {} s was quiet, ", Trimmed(seconds))?;
                out.write_str("so the undisturbed latency has only an upper bound")
            }
            Warning::NumaBalancing => {
                out.write_str("NUMA balancing is on, so the kernel may interrupt the run")
            }
            Warning::FrequencyScaling { governor } => {
                write!(out, "the frequency governor is '{governor}', so the core clock may change")
            }
            Warning::CoreClockUnstable { least, most, core } => {
                let (least, most) = (Decimal(least.gigahertz()), Decimal(most.gigahertz()));
                write!(out, "the core clock was between {least:.2} and {most:.2} GHz")?;
                out.write_str(match core {
                    true => ": compare L1, L2 and instructions in core cycles",
                    false => ", which memory does not follow",
                })
            }
            Warning::TscNotInvariant => {
                out.write_str("the TSC is not reported as invariant, but its calibrations agree")
            }
            Warning::TscUnsteady { ppm } => {
                write!(out, "calibrations of the TSC are {:.0} ppm apart", Decimal(ppm))
            }
            Warning::TscDrift { ppm } => {
                write!(out, "the TSC and the kernel's clock drifted apart by {:.0} ppm", Decimal(ppm))
            }
            Warning::TscMismatch { measured, declared } => {
                let (measured, declared) = (Decimal(measured.megahertz()), Decimal(declared.megahertz()));
                write!(out, "the TSC runs at {measured:.3} MHz, but CPUID reports {declared:.3} MHz")
            }
            Warning::NoTsc { why } => {
                write!(out, "the TSC is not used, so there are no TSC cycles and no percentiles: {why}")
            }
            Warning::FenceNotSerialising { promised, .. } => {
                out.write_str("LFENCE does not wait for earlier loads")?;
                out.write_str(if promised { " (CPUID says it does)" } else { "" })?;
                out.write_str(": single loads are inexact")
            }
            Warning::Emulated { by } => write!(out, "emulated by {by}: these are not hardware latencies"),
            Warning::L1NotInteger { cycles } => {
                write!(out, "self-test failed: an L1 hit took {:.2} cycles, ", Decimal(cycles))?;
                out.write_str("expected 4 or 5: the core was shared")
            }
            Warning::MultiplyAddRatio { ratio } => {
                write!(out, "self-test failed: a multiplication took {:.2} additions, ", Decimal(ratio))?;
                out.write_str("expected 3 or 4: the core was shared")
            }
            Warning::RepeatRatio { ratio } => {
                let percent = Decimal(percent_off(ratio));
                write!(out, "the first point, measured again in new memory, came out {percent:.0} % ")?;
                out.write_str(if ratio < 1.0 { "faster" } else { "slower" })
            }
            Warning::PrefetchAudit { ratio } | Warning::NeighboursFetched { ratio } if ratio >= 1.0 => {
                out.write_str("prefetch audit inconclusive: lines 64 B apart took ")?;
                write!(out, "{:.2} times as long as lines 256 B apart, which is noise", Decimal(ratio))
            }
            Warning::PrefetchAudit { ratio } | Warning::PointersFollowed { ratio } => {
                let percent = Decimal(percent_off(ratio));
                write!(out, "a prefetcher hides {percent:.0} % of the latency ")?;
                let by_pointers = matches!(self, Warning::PointersFollowed { .. });
                out.write_str(if by_pointers { "of pointers" } else { "at 64 B spacing" })
            }
            Warning::NeighboursFetched { ratio } => {
                let percent = Decimal(percent_off(ratio));
                write!(out, "neighbouring lines are fetched together, which hides {percent:.0} % ")?;
                out.write_str("of the latency in working sets that fit in a cache")
            }
            Warning::PrefetchAssisted { order } => {
                write!(out, "prefetchers help with {order} order, ")?;
                out.write_str("so this is not the latency of a random access")
            }
            Warning::PrecisionNotReached { from, to, size, found, .. } if found.is_nan() => {
                write!(out, "node {from} -> node {to}, {size}: too few rounds for an interval")
            }
            Warning::PrecisionNotReached { from, to, size, found, wanted } => {
                let (found, wanted) = (Decimal(found * 100.0), Trimmed(wanted * 100.0));
                write!(out, "node {from} -> node {to}, {size}: ")?;
                write!(out, "less certain than {wanted} % (within {found:.2} %)")
            }
            Warning::Disturbed { from, to, size, share } => {
                write!(out, "node {from} -> node {to}, {size}: ")?;
                write!(out, "other work interrupted {} of the trials", Percent(share))
            }
            Warning::HopsTooShort { from, to, size, hops, latency } => {
                write!(
                    out,
                    "node {from} -> node {to}, {size}: loads of {} are timed ",
                    Nanoseconds(latency)
                )?;
                write!(out, "{hops} at a time, so percentiles above the median are diluted")
            }
            Warning::HopMeanDiffers { from, to, size, ratio } => {
                write!(out, "node {from} -> node {to}, {size}: ")?;
                let percent = Decimal(percent_off(ratio));
                write!(out, "the means of single loads and of batches differ by {percent:.1} %")
            }
            Warning::PointsNotPrecise { points, unknown, of, wanted } => {
                let verb = if points == 1 { "is" } else { "are" };
                write!(
                    out,
                    "{points} of {of} points {verb} less certain than {} %",
                    Trimmed(wanted * 100.0)
                )?;
                match unknown {
                    0 => Ok(()),
                    _ => write!(out, ", and {unknown} of them have no interval"),
                }
            }
            Warning::PointsDisturbed { points, of, share } => {
                let share = Trimmed(share * 100.0);
                write!(
                    out,
                    "other work interrupted {share} % of the trials or more at {points} of {of} points"
                )
            }
            Warning::StateShare { points, of, share } => {
                write!(
                    out,
                    "only {:.0} % of the trials of a round agree on a value",
                    Decimal(share * 100.0)
                )?;
                match of {
                    1 => Ok(()),
                    _ => write!(out, ", and few of them at {points} of {of} points"),
                }
            }
            Warning::FewSteps { steps } => {
                write!(out, "a trial lasts only {steps} step{} of the timer", plural(steps))
            }
            Warning::TimerSteppedBack { trials } => {
                write!(
                    out,
                    "the timer stepped back during {trials} trial{}, not used for the result",
                    plural(trials)
                )
            }
            Warning::CoreCyclesDiffer { ratio } => {
                let percent = Decimal(percent_off(ratio));
                write!(out, "counted and estimated core cycles differ by {percent:.0} %")
            }
            Warning::CountersUnavailable { why } => out.write_str(match why {
                NoCounters::Paranoid => "no hardware counters: kernel.perf_event_paranoid forbids them",
                NoCounters::Filtered => "no hardware counters: a filter refuses perf_event_open",
                NoCounters::Absent => "no hardware counters: the processor or hypervisor offers none",
            }),
            Warning::ThreadsRefused { wanted, started, errno } => {
                write!(out, "{started} of {wanted} threads could be started ({errno})")
            }
            Warning::GeneratorMoved { times } => {
                write!(out, "generators were moved to other CPUs in {times} run{}", plural(times))
            }
            Warning::NotSettled { windows, of } => {
                write!(out, "the rate of the generators was not steady before {windows} of {of} runs")
            }
            Warning::Throttled { windows, of } => {
                write!(out, "the quota of CPU time ran out in {windows} of {of} runs of the generators")
            }
            Warning::OneGenerator => {
                out.write_str("one generator: one core may not fill this memory, which may deliver more")
            }
            Warning::PairsLeftOut { pairs, of } => {
                write!(out, "{pairs} of {of} pairs of nodes are not measured, for want of time")
            }
            Warning::RateNotDelivered { offered, delivered } => {
                write!(
                    out,
                    "of {:.2} GB/s that were offered, {:.2} were delivered, below the limit",
                    Decimal(offered / 1e9),
                    Decimal(delivered / 1e9)
                )
            }
            Warning::IdleMemorySlower { node, idle, loaded, rate } => {
                let (idle, loaded, rate) = (Nanoseconds(idle), Nanoseconds(loaded), Decimal(rate / 1e9));
                write!(out, "idle memory of node {node} ({idle}) is slower than at {rate:.2} GB/s ({loaded}): ")?;
                out.write_str("likely power management")
            }
            Warning::LittleImplausible { lines } => {
                write!(out, "{:.0} lines in flight per core, more than any core has", Decimal(lines))
            }
            Warning::OverBudget { from, to, kind, seconds } => {
                write!(out, "node {from} -> node {to}, {kind}: not measured: ")?;
                write!(out, "a budget of {} s has no time for it", Trimmed(seconds))
            }
            Warning::VcpusMayShareCore => {
                out.write_str("the hypervisor does not tell cores apart: two virtual CPUs may share one")
            }
            Warning::TopologyDoubtful { a, b, ns } => {
                write!(
                    out,
                    "CPUs {a} and {b} exchange a line in {:.1} ns, as threads of one core do",
                    Decimal(ns)
                )
            }
            Warning::FirmwareLatencyDiffers { node, claimed, measured } => {
                let (measured, claimed) = (Nanoseconds(measured), Nanoseconds(claimed));
                write!(out, "memory of node {node} takes {measured}, and its firmware claims {claimed}")
            }
            Warning::TierContradiction { tier, fast, slow, ratio } => write!(
                out,
                "nodes {fast} and {slow} are both in tier {tier}, but memory of node {slow} takes {:.2} times as long",
                Decimal(ratio)
            ),
            Warning::PairsOfClasses { of } => {
                write!(out, "there is no time for all {of} pairs, so a few of each class were chosen")
            }
            Warning::Partial { finished, planned } => {
                write!(out, "interrupted: {finished} of {planned} points were measured")
            }
        }
    }
}

/// From 10 up a whole number, below with two decimals, as everywhere in text.
struct Nanoseconds(Picoseconds);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0 .0 as f64 / 1000.0;
        write!(
            out,
            "{nanoseconds:.*} ns",
            if nanoseconds < 9.995 { 2 } else { 0 },
            nanoseconds = Decimal(nanoseconds)
        )
    }
}
