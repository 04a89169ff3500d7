//! Remedies of warnings: an option or one command each.

use core::fmt;

use latency_core::units::Bytes;

use super::{Clipped, NoCounters, Warning};

/// The remedy of a warning; a command that only root may give begins with "as root".
#[derive(Clone, Copy, Debug)]
pub struct Remedy<'a>(pub(super) &'a Warning);

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match *self.0 {
            Warning::OneNode => "`latency-bench curve` measures its caches and memory",
            Warning::TooManyNodes { .. } => "choose others with --cpunode and --memnode",
            Warning::CpusetPartial { .. } => "widen cpuset.cpus or the affinity mask to use the others",
            Warning::CpuQuota { .. } => "raise cpu.max; in a container: docker run without --cpus",
            Warning::NodeLeftOut { .. } => "widen cpuset.mems to include it",
            Warning::NoProc => "as root: mount -t proc proc /proc",
            Warning::NoSys => "as root: mount -t sysfs sysfs /sys",
            Warning::SizeClipped { why: Clipped::HalfOfFree, .. } => "free memory there, or set --size",
            Warning::SizeClipped { why: Clipped::ControlGroup, .. } => "raise memory.max, or set --size",
            Warning::CacheCouldHold { size, cache, seen, .. } => {
                // Hits that were seen leave no doubt that the size was too small.
                let least = if seen { size.times(2) } else { Bytes(0) };
                return write!(out, "use --size={} or more", Typed(cache.times(4).max(least)));
            }
            Warning::SideCache { cache, fits: true, .. } => {
                let least = Typed(cache.times(4));
                return write!(out, "use --size={least} (curve: --max-size) for the memory behind it");
            }
            Warning::SideCache { cache, .. } => {
                let least = cache.times(4);
                return write!(out, "the node lacks the {least} that reach the memory behind it");
            }
            Warning::WorkingSetDoubled { .. } => "set --size to choose another",
            Warning::CacheSizeImplausible { .. }
            | Warning::CacheUnknown { .. }
            | Warning::ReportedCacheDiffers { .. } => "`latency-bench curve` measures the caches",
            Warning::CacheLatency { .. } => "leave --size out to measure memory",
            Warning::LooksCached { size, .. } | Warning::CacheServesPart { size, .. } => {
                return write!(out, "use --size={}", Typed(size.times(8)))
            }
            Warning::PagesFellBack { .. } => {
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
            }
            Warning::ThpPartial { .. } => "as root: echo 1 > /proc/sys/vm/compact_memory",
            Warning::HugePagesWithoutEffect { .. } => "enable huge pages on the host",
            Warning::PlacementUnverified { .. } => "mount /proc, and let this process read its numa_maps",
            Warning::PlacedByFirstTouch { .. } | Warning::NotMeasurableHere { .. } => {
                "give the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)"
            }
            Warning::InheritedPolicy { .. } => "start without numactl to measure all nodes",
            Warning::HugePagesChanged { .. } => {
                "as root: echo 0 > /sys/kernel/mm/transparent_hugepage/khugepaged/defrag"
            }
            Warning::OtherWork { .. } => "stop the other work, or use idle CPUs (--cpu=N, --load-cpus=N)",
            Warning::Stolen { .. } => "use a host that is not overcommitted, or a dedicated one",
            Warning::SiblingBusy { .. } => {
                "idle the sibling thread, or use other cores (--cpu=N, --load-cpus=N)"
            }
            Warning::Neighbours { .. } => "use a dedicated host, or --until=quiet",
            Warning::NotQuiet { .. } => "use a longer --until=quiet=SECONDS, or a dedicated host",
            Warning::ThreadMoved { .. } => "stop whoever changes affinities or cpusets, and run again",
            Warning::PagesMoved { .. } | Warning::NumaBalancing => {
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"
            }
            Warning::FrequencyScaling { .. } | Warning::CoreClockUnstable { .. } => {
                "as root: cpupower frequency-set -g performance"
            }
            Warning::TscNotInvariant => "in a virtual machine: pass the invariant TSC through (+invtsc)",
            Warning::TscUnsteady { .. } | Warning::TscDrift { .. } => {
                "check the clock source, and for suspension or live migration"
            }
            Warning::TscMismatch { .. } => "a hypervisor may scale it: compare with another clock source",
            Warning::NoTsc { .. } => "use a processor or hypervisor with an invariant TSC",
            Warning::FenceNotSerialising { .. } => {
                "update kernel or hypervisor, so that MSR C001_1029[1] is set"
            }
            Warning::Emulated { .. } => "run on real hardware, or in a virtual machine with KVM",
            Warning::L1NotInteger { .. } | Warning::MultiplyAddRatio { .. } => {
                "idle its sibling thread, and run again"
            }
            Warning::HopsTooShort { .. } => "use a larger --size, or only the median",
            Warning::RepeatRatio { .. } | Warning::HopMeanDiffers { .. } => "stop other work, and run again",
            Warning::PrefetchAudit { ratio } | Warning::NeighboursFetched { ratio } if ratio >= 1.0 => {
                "stop other work, and run again"
            }
            Warning::PrefetchAudit { .. } | Warning::NeighboursFetched { .. } => "use --stride=256",
            Warning::PointersFollowed { .. } => "use --kernel=index",
            Warning::PrefetchAssisted { .. } => "use --order=random for that",
            Warning::PrecisionNotReached { found, .. } if found.is_nan() => "use a longer --time-limit",
            Warning::PointsNotPrecise { unknown: 1.., .. } => "use a longer --time-limit",
            // Between windows of any length, what others do differs.
            Warning::PrecisionNotReached { .. } | Warning::PointsNotPrecise { .. } => {
                "use an idle or a dedicated host, or a wider --precision"
            }
            Warning::Disturbed { .. } | Warning::PointsDisturbed { .. } => "use an idle CPU (--cpu=N)",
            Warning::StateShare { .. } => "stop other work, fix the frequency, and run again",
            Warning::FewSteps { .. } => "leave --iters out, or raise it",
            Warning::TimerSteppedBack { .. } => "look for TSC messages in the kernel log (dmesg)",
            Warning::CoreCyclesDiffer { .. } => "fix the frequency, and idle the core's sibling thread",
            Warning::CountersUnavailable { why: NoCounters::Paranoid } => {
                "as root: echo 2 > /proc/sys/kernel/perf_event_paranoid"
            }
            Warning::CountersUnavailable { why: NoCounters::Filtered } => {
                "give the container CAP_PERFMON (docker run --cap-add=PERFMON)"
            }
            Warning::CountersUnavailable { why: NoCounters::Absent } => {
                "in a virtual machine: give it a virtual PMU"
            }
            Warning::ThreadsRefused { .. } => {
                "raise ulimit -u, pids.max of the control group or kernel.threads-max"
            }
            Warning::GeneratorMoved { .. } => "stop whoever changes affinities or cpusets, and run again",
            Warning::NotSettled { .. } => "stop other work, fix the frequency, and run again",
            Warning::Throttled { .. } => {
                "raise cpu.max of the control group (docker run --cpus), or use fewer CPUs"
            }
            Warning::OneGenerator => "give this process more CPUs",
            Warning::PairsLeftOut { .. } => "raise --budget, or choose nodes with --cpunode and --memnode",
            Warning::RateNotDelivered { .. } => "stop other work on those CPUs, or use more of them",
            Warning::IdleMemorySlower { .. } => "choose the BIOS profile for low latency",
            Warning::LittleImplausible { .. } => "use a larger --size, and check the reported caches",
            Warning::TopologyDoubtful { .. } | Warning::VcpusMayShareCore => {
                "let the hypervisor pass the topology through"
            }
            Warning::FirmwareLatencyDiffers { .. } => "update the firmware, or go by what was measured",
            Warning::TierContradiction { .. } => {
                "use a kernel or a firmware that tells them apart (HMAT, CDAT)"
            }
            Warning::PairsOfClasses { .. } => "try a longer --budget, or name pairs with --pairs",
            Warning::OverBudget { .. } => "raise --budget, or choose fewer nodes or kinds of traffic",
            Warning::Partial { .. } => "let it run to the end for the rest",
        })
    }
}

/// A size as `--size` takes it, rounded up to a whole number of units: `1K`, `800M`.
struct Typed(Bytes);

impl fmt::Display for Typed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Typed(Bytes(bytes)) = *self;
        let units = [(40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')];
        // From ten units on rounding up adds a tenth or less.
        let fits = |shift: u32| bytes >> shift >= 10 || bytes > 0 && bytes.is_multiple_of(1 << shift);
        match units.iter().find(|(shift, _)| fits(*shift)) {
            Some(&(shift, letter)) => write!(out, "{}{letter}", bytes.div_ceil(1 << shift)),
            None => write!(out, "{bytes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn sizes_are_as_options_take_them() {
        for (bytes, shown) in [
            (1 << 10, "1K"),
            (800 << 20, "800M"),
            (2 << 30, "2G"),
            (143 << 20, "143M"),
            ((143 << 20) + 4096, "144M"),
            ((9 << 30) + 1, "9217M"),
            (100, "100"),
        ] {
            assert_eq!(Typed(Bytes(bytes)).to_string(), shown);
        }
    }
}
