//! The warnings in words: what was found, and what to do.

use core::fmt;

use latency_core::decimal::Decimal;
use latency_core::units::{PageSize, Picoseconds};

use super::{Clipped, NoCounters, Warning};

/// What was found, without the remedy and without `WARNING: `.
impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Warning::OneNode => out.write_str("one NUMA node only: no remote latency to compare with"),
            Warning::TooManyNodes { found, held } => {
                write!(out, "{found} nodes found, the first {held} are used")
            }
            Warning::CpusetPartial { allowed, online } => {
                write!(out, "this process may use {allowed} of {online} CPUs")
            }
            Warning::NodeLeftOut { node } => {
                write!(out, "node {node} was left out: the cpuset does not allow its memory")
            }
            Warning::NoProc => out.write_str("no /proc: placement and limits cannot be read"),
            Warning::NoSys => out.write_str("no /sys: nodes, caches and page pools cannot be read"),
            Warning::SizeClipped { from, to, why } => {
                let limit = match why {
                    Clipped::HalfOfFree => "half of the node's free memory",
                    Clipped::ControlGroup => "what the control group allows",
                };
                write!(out, "working set clipped from {from} to {to}: {limit}")
            }
            Warning::CacheCouldHold { size, cache } => {
                write!(out, "a working set of {size} could be held by the last-level cache of {cache}")
            }
            Warning::LooksCached { size, cold, warm } => {
                let (cold, warm) = (Nanoseconds(cold), Nanoseconds(warm));
                write!(
                    out,
                    "{size} look cached, so this is not the latency of memory: {cold} cold, {warm} warm"
                )
            }
            Warning::PagesFellBack { found } => {
                write!(out, "pages of {found} used: no larger ones to be had")
            }
            Warning::ThpPartial { wanted, found } => {
                write!(out, "{found} of {wanted} are in transparent huge pages, the rest in small ones")
            }
            Warning::HugePagesWithoutEffect { page } => {
                write!(out, "pages of {page} mapped, but the TLB behaves as with 4 KiB ones")
            }
            Warning::PlacementUnverified { node, why } => {
                write!(out, "placement on node {node} unverified: {why}")
            }
            Warning::PlacedByFirstTouch { node } => {
                write!(
                    out,
                    "memory policies are forbidden: placed on node {node} by first touch, and verified"
                )
            }
            Warning::NotMeasurableHere { node } => {
                write!(out, "node {node} is not measurable here: memory policies are forbidden, ")?;
                out.write_str("and it has no allowed CPU to touch its memory from")
            }
            Warning::InheritedPolicy { policy } => {
                write!(out, "started under the memory policy '{policy}', which is replaced for the buffers")
            }
            Warning::PagesMoved { node, pages } => {
                write!(out, "{pages} pages left node {node} during the run")
            }
            Warning::NumaBalancing => {
                out.write_str("NUMA balancing is on: the kernel may interrupt the run to sample its accesses")
            }
            Warning::FrequencyScaling { governor } => {
                write!(out, "the frequency governor is '{governor}': the core clock may change")
            }
            Warning::CoreClockUnstable { least, most } => {
                let (least, most) = (least.gigahertz(), most.gigahertz());
                write!(
                    out,
                    "the core clock was between {least:.2} and {most:.2} GHz: ",
                    least = Decimal(least),
                    most = Decimal(most)
                )?;
                out.write_str("compare cache latencies in core cycles, not in ns")
            }
            Warning::TscNotInvariant => {
                out.write_str("the time-stamp counter is not declared invariant; its calibrations agree")
            }
            Warning::TscMismatch { measured, declared } => {
                let (measured, declared) = (measured.megahertz(), declared.megahertz());
                write!(
                    out,
                    "the time-stamp counter runs at {measured:.3} MHz, CPUID declares {declared:.3}",
                    measured = Decimal(measured),
                    declared = Decimal(declared)
                )
            }
            Warning::NoTsc { why } => {
                write!(out, "clock_gettime is used, so there are no ticks and no percentiles: {why}")
            }
            Warning::FenceNotSerialising => {
                out.write_str("LFENCE does not wait for earlier instructions; RDTSCP is used")
            }
            Warning::Emulated { by } => write!(out, "emulated by {by}: these are not hardware latencies"),
            Warning::L1NotInteger { cycles } => {
                write!(
                    out,
                    "an L1 hit takes {cycles:.3} core cycles, which is no whole number",
                    cycles = Decimal(cycles)
                )
            }
            Warning::MultiplyAddRatio { ratio } => {
                write!(out, "a multiplication takes {ratio:.3} additions, not 3 or 4", ratio = Decimal(ratio))
            }
            Warning::RepeatRatio { ratio } => {
                write!(
                    out,
                    "the same chain measured twice differs by a factor of {ratio:.3}",
                    ratio = Decimal(ratio)
                )
            }
            Warning::PrefetchAudit { ratio } | Warning::NeighboursFetched { ratio } if ratio >= 1.0 => {
                let ratio = Decimal(ratio);
                write!(
                    out,
                    "prefetch audit inconclusive: lines 64 bytes apart took {ratio:.2} times as long "
                )?;
                out.write_str("as lines 256 bytes apart, which is noise")
            }
            Warning::PrefetchAudit { ratio } => {
                write!(
                    out,
                    "nodes 64 and 256 bytes apart differ by a factor of {ratio:.3}: ",
                    ratio = Decimal(ratio)
                )?;
                out.write_str("prefetch-assisted between L2 and memory")
            }
            Warning::NeighboursFetched { ratio } => {
                write!(
                    out,
                    "within 2 MiB, nodes 64 bytes apart take {ratio:.3} of the time of those 256 bytes apart: ",
                    ratio = Decimal(ratio)
                )?;
                out.write_str(
                    "neighbouring lines are fetched together, which helps in working sets that caches hold",
                )
            }
            Warning::PrefetchAssisted { order } => {
                write!(out, "order {order} is prefetch-assisted: not the latency of a random access")
            }
            Warning::PrecisionNotReached { from, to, size, found, wanted } => {
                let (found, wanted) = (found * 100.0, wanted * 100.0);
                write!(
                    out,
                    "node {from} -> node {to}, {size}: precision {found:.2} %, {wanted:.2} % asked for",
                    found = Decimal(found),
                    wanted = Decimal(wanted)
                )
            }
            Warning::Disturbed { from, to, size, share } => {
                let share = share * 100.0;
                write!(
                    out,
                    "node {from} -> node {to}, {size}: {share:.1} % of the trials were disturbed",
                    share = Decimal(share)
                )
            }
            Warning::HopsTooShort { from, to, size, hops, latency } => {
                let latency = Nanoseconds(latency);
                write!(
                    out,
                    "node {from} -> node {to}, {size}: hops of {latency} are too short to be timed "
                )?;
                write!(out, "one by one: {hops} together, and percentiles above the median are diluted")
            }
            Warning::HopMeanDiffers { from, to, size, ratio } => {
                write!(
                    out,
                    "node {from} -> node {to}, {size}: single hops take {ratio:.3} times ",
                    ratio = Decimal(ratio)
                )?;
                out.write_str("what the batches do on average")
            }
            Warning::PointsNotPrecise { points, of, wanted } => {
                let wanted = wanted * 100.0;
                write!(
                    out,
                    "{points} of {of} points did not reach a precision of {wanted:.2} %: ",
                    wanted = Decimal(wanted)
                )?;
                out.write_str("their intervals are given")
            }
            Warning::PointsDisturbed { points, of, share } => {
                let share = share * 100.0;
                write!(
                    out,
                    "at {points} of {of} points {share:.0} % of the trials or more were disturbed",
                    share = Decimal(share)
                )
            }
            Warning::CoreCyclesDiffer { ratio } => {
                let ratio = Decimal(ratio);
                write!(out, "counted core cycles are {ratio:.3} times those that dependent additions tell")
            }
            Warning::CountersUnavailable { why } => out.write_str(match why {
                NoCounters::Paranoid => "no hardware counters: kernel.perf_event_paranoid forbids them",
                NoCounters::Filtered => "no hardware counters: perf_event_open is filtered out",
                NoCounters::Absent => "no hardware counters: the processor or hypervisor offers none",
            }),
            Warning::Partial { finished, planned } => {
                write!(out, "interrupted: {finished} of {planned} points are finished")
            }
        }
    }
}

/// What to do about a warning; for a command of root it says so.
#[derive(Clone, Copy, Debug)]
pub struct Remedy<'a>(pub(super) &'a Warning);

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match *self.0 {
            Warning::OneNode => "`latency-bench curve` shows the levels of this one",
            Warning::TooManyNodes { .. } => "choose others with --cpunode and --memnode",
            Warning::CpusetPartial { .. } => "widen cpuset.cpus or the affinity mask to reach the others",
            Warning::NodeLeftOut { .. } => "widen cpuset.mems to include it",
            Warning::NoProc => "as root: mount -t proc proc /proc",
            Warning::NoSys => "as root: mount -t sysfs sysfs /sys",
            Warning::SizeClipped { why: Clipped::HalfOfFree, .. } => {
                "free memory on that node, or give --size"
            }
            Warning::SizeClipped { why: Clipped::ControlGroup, .. } => "raise memory.max, or give --size",
            Warning::CacheCouldHold { .. } => "give a --size of at least four times that cache",
            Warning::LooksCached { .. } => "give a larger --size",
            Warning::PagesFellBack { found: PageSize::Small } => {
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, or fill the pool \
                 in /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
            }
            Warning::PagesFellBack { .. } => {
                "as root: fill the pool in /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
            }
            Warning::ThpPartial { .. } => "as root: echo 1 > /proc/sys/vm/compact_memory",
            Warning::HugePagesWithoutEffect { .. } => "ask for huge pages behind the guest on the host",
            Warning::PlacementUnverified { .. } => {
                "mount /proc, and allow this process to read its own numa_maps"
            }
            Warning::PlacedByFirstTouch { .. } | Warning::NotMeasurableHere { .. } => {
                "give the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)"
            }
            Warning::InheritedPolicy { .. } => "start without numactl or a parent's memory policy",
            Warning::PagesMoved { .. } | Warning::NumaBalancing => {
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"
            }
            Warning::FrequencyScaling { .. } => "as root: cpupower frequency-set -g performance",
            Warning::CoreClockUnstable { .. } => "fix the frequency, or keep the rest of the machine quiet",
            Warning::TscNotInvariant => "in a virtual machine: pass the invariant TSC through (+invtsc)",
            Warning::TscMismatch { .. } => {
                "compare with another clocksource; a hypervisor may scale the counter"
            }
            Warning::NoTsc { .. } => "use a processor or hypervisor that offers an invariant RDTSC",
            Warning::FenceNotSerialising => "update kernel or hypervisor, so that MSR C001_1029[1] is set",
            Warning::Emulated { .. } => "run on hardware, or under a hypervisor that uses it",
            Warning::L1NotInteger { .. } | Warning::MultiplyAddRatio { .. } => {
                "keep the sibling thread of this core idle, and run again"
            }
            Warning::HopsTooShort { .. } => "give a larger --size, or read the median alone",
            Warning::RepeatRatio { .. } | Warning::HopMeanDiffers { .. } => {
                "keep the rest of the machine quiet, and run again"
            }
            Warning::PrefetchAudit { ratio } | Warning::NeighboursFetched { ratio } if ratio >= 1.0 => {
                "keep the rest of the machine idle and run again"
            }
            Warning::PrefetchAudit { .. } => "give --stride=256 for memory",
            Warning::NeighboursFetched { .. } => "give --stride=256 to leave that out",
            Warning::PrefetchAssisted { .. } => "give --order=random for the latency",
            Warning::PrecisionNotReached { .. } | Warning::PointsNotPrecise { .. } => {
                "give a longer --time-limit, or a wider --precision"
            }
            Warning::Disturbed { .. } | Warning::PointsDisturbed { .. } => {
                "choose a quieter --cpu, or one isolated with isolcpus"
            }
            Warning::CoreCyclesDiffer { .. } => {
                "fix the frequency, and keep the sibling thread of this core idle"
            }
            Warning::CountersUnavailable { why: NoCounters::Paranoid } => {
                "as root: echo 2 > /proc/sys/kernel/perf_event_paranoid"
            }
            Warning::CountersUnavailable { why: NoCounters::Filtered } => {
                "give the container CAP_PERFMON (docker run --cap-add=PERFMON)"
            }
            Warning::CountersUnavailable { why: NoCounters::Absent } => {
                "in a virtual machine: give it a virtual PMU"
            }
            Warning::Partial { .. } => "let it run to the end for the rest",
        })
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
