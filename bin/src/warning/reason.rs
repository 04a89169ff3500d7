//! The warnings in a few words each, for the one line that gives the verdict.

use core::fmt;

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::text::plural;

use super::{Clipped, Warning};

/// A few words on a warning, without remedy and without a full stop: several stand in one line.
#[derive(Clone, Copy, Debug)]
pub struct Reason<'a>(pub(super) &'a Warning);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Warning::OneNode => out.write_str("one NUMA node"),
            Warning::TooManyNodes { found, held } => write!(out, "{held} of {found} nodes used"),
            Warning::CpusetPartial { allowed, online } => write!(out, "{allowed} of {online} CPUs allowed"),
            Warning::CpuQuota { cpus } => write!(out, "quota of {:.3} CPUs", Trimmed(cpus)),
            Warning::NodeLeftOut { node } => write!(out, "node {node} not allowed"),
            Warning::NoProc => out.write_str("no /proc"),
            Warning::NoSys => out.write_str("no /sys"),
            Warning::SizeClipped { to, why: Clipped::HalfOfFree, .. } => {
                write!(out, "only {to} fit on the node")
            }
            Warning::SizeClipped { to, why: Clipped::ControlGroup, .. } => {
                write!(out, "only {to} fit in the cgroup")
            }
            Warning::CacheLatency { size, level, .. } => write!(out, "{size} fit in L{level}"),
            Warning::CacheCouldHold { size, cache, .. } if size <= cache => {
                write!(out, "{size} fit the cache")
            }
            Warning::CacheCouldHold { size, .. } => write!(out, "{size} may fit the cache"),
            Warning::CacheSizeImplausible { level, size } => write!(out, "L{level} cache of {size} ignored"),
            Warning::CacheUnknown { .. } => out.write_str("last-level cache unknown"),
            Warning::WorkingSetDoubled { to, .. } => write!(out, "working set enlarged to {to}"),
            Warning::ReportedCacheDiffers { reported, found } => {
                write!(out, "cache of {found}, not {reported}")
            }
            Warning::CacheServesPart { size, .. } => write!(out, "{size} may fit a cache in part"),
            Warning::LooksCached { size, .. } => write!(out, "{size} fit the cache"),
            Warning::SideCache { node, cache, .. } => {
                write!(out, "memory of node {node} through a {cache} side cache")
            }
            Warning::PagesFellBack { found } => write!(out, "only {found} pages available"),
            Warning::ThpPartial { .. } => out.write_str("huge pages only in part"),
            Warning::HugePagesWithoutEffect { page } => write!(out, "{page} pages act like 4 KiB pages"),
            Warning::PlacementUnverified { node, .. } => write!(out, "memory on node {node} not proven"),
            Warning::PlacedByFirstTouch { node } => write!(out, "node {node} placed by first touch"),
            Warning::NotMeasurableHere { node } => write!(out, "node {node} not measurable here"),
            Warning::InheritedPolicy { policy } => write!(out, "started with memory policy {policy}"),
            Warning::PagesMoved { node, .. } => write!(out, "pages left node {node}"),
            Warning::HugePagesChanged { .. } => out.write_str("huge pages were merged or split"),
            Warning::OtherWork { cpu, share } => {
                write!(out, "other work took {} of CPU {cpu}", Percent(share))
            }
            Warning::Stolen { cpu, share } => {
                write!(out, "the hypervisor reports {} of CPU {cpu} stolen", Percent(share))
            }
            Warning::SiblingBusy { cpu, share } => {
                write!(out, "sibling of CPU {cpu} {} busy", Percent(share))
            }
            Warning::ThreadMoved { times } => {
                write!(out, "moved to another CPU {times} time{}", plural(times))
            }
            Warning::Neighbours { ratio, .. } => {
                write!(out, "neighbours: {:.2} times as slow as undisturbed", Decimal(ratio))
            }
            Warning::NumaBalancing => out.write_str("NUMA balancing is on"),
            Warning::FrequencyScaling { governor } => write!(out, "frequency governor {governor}"),
            Warning::CoreClockUnstable { least, most, .. } => {
                let (least, most) = (Decimal(least.gigahertz()), Decimal(most.gigahertz()));
                write!(out, "core clock {least:.2} to {most:.2} GHz")
            }
            Warning::TscUnsteady { ppm } => write!(out, "TSC calibrations {:.0} ppm apart", Decimal(ppm)),
            Warning::TscDrift { ppm } => write!(out, "TSC drifted by {:.0} ppm", Decimal(ppm)),
            Warning::TscNotInvariant => out.write_str("TSC not reported invariant"),
            Warning::TscMismatch { .. } => out.write_str("TSC rate differs from CPUID"),
            Warning::NoTsc { .. } => out.write_str("no TSC"),
            Warning::FenceNotSerialising { .. } => out.write_str("LFENCE does not serialise"),
            Warning::Emulated { .. } => out.write_str("emulated"),
            Warning::L1NotInteger { cycles } => write!(out, "L1 hit took {:.2} cycles", Decimal(cycles)),
            Warning::MultiplyAddRatio { ratio } => write!(out, "multiply/add {:.2}", Decimal(ratio)),
            Warning::RepeatRatio { ratio } => {
                write!(out, "measured again, {:.0} % off", Decimal(percent_off(ratio)))
            }
            Warning::PrefetchAudit { ratio } | Warning::NeighboursFetched { ratio } if ratio >= 1.0 => {
                out.write_str("prefetch audit inconclusive: noise")
            }
            Warning::PrefetchAudit { ratio } | Warning::PointersFollowed { ratio } => {
                write!(out, "a prefetcher hides {:.0} %", Decimal(percent_off(ratio)))
            }
            Warning::NotQuiet { seconds } => write!(out, "no quiet second in {} s", Trimmed(seconds)),
            Warning::NeighboursFetched { .. } => out.write_str("neighbouring lines are prefetched"),
            Warning::PrefetchAssisted { order } => write!(out, "{order} order is prefetched"),
            Warning::PrecisionNotReached { found, .. } if found.is_nan() => {
                out.write_str("too few rounds for an interval")
            }
            Warning::PrecisionNotReached { found, wanted, .. } => {
                let (found, wanted) = (Decimal(found * 100.0), Trimmed(wanted * 100.0));
                write!(out, "certain to {found:.1} %, not {wanted} %")
            }
            Warning::Disturbed { share, .. } => {
                write!(out, "{} of trials interrupted", Percent(share))
            }
            Warning::HopsTooShort { .. } => out.write_str("loads too short for percentiles"),
            Warning::HopMeanDiffers { ratio, .. } => {
                write!(out, "single loads and batches differ by {:.0} %", Decimal(percent_off(ratio)))
            }
            Warning::PointsNotPrecise { points, of, wanted, .. } => {
                write!(out, "{points} of {of} points less certain than {} %", Trimmed(wanted * 100.0))
            }
            Warning::PointsDisturbed { points, of, .. } => {
                write!(out, "trials interrupted at {points} of {of} points")
            }
            Warning::StateShare { share, .. } => {
                write!(out, "only {:.0} % of trials agree", Decimal(share * 100.0))
            }
            Warning::FewSteps { steps } => write!(out, "a trial is {steps} steps of the timer"),
            Warning::TimerSteppedBack { trials } => write!(out, "timer stepped back in {trials} trials"),
            Warning::CoreCyclesDiffer { ratio } => {
                write!(out, "counted and estimated cycles differ by {:.0} %", Decimal(percent_off(ratio)))
            }
            Warning::CountersUnavailable { .. } => out.write_str("no hardware counters"),
            Warning::ThreadsRefused { wanted, started, .. } => {
                write!(out, "{started} of {wanted} threads started")
            }
            Warning::GeneratorMoved { .. } => out.write_str("generators moved to other CPUs"),
            Warning::NotSettled { windows, of } => write!(out, "rate unsteady in {windows} of {of} runs"),
            Warning::Throttled { windows, of } => write!(out, "throttled in {windows} of {of} runs"),
            Warning::OneGenerator => out.write_str("one generator"),
            Warning::PairsLeftOut { pairs, of } => write!(out, "{pairs} of {of} pairs not measured"),
            Warning::RateNotDelivered { .. } => out.write_str("offered rates not delivered"),
            Warning::IdleMemorySlower { .. } => out.write_str("idle memory is slower"),
            Warning::LittleImplausible { .. } => out.write_str("too many lines in flight"),
            Warning::OverBudget { to, kind, .. } => write!(out, "no time for {kind} on node {to}"),
            Warning::VcpusMayShareCore => out.write_str("virtual CPUs may share a core"),
            Warning::TopologyDoubtful { a, b, .. } => write!(out, "CPUs {a} and {b} may be one core"),
            Warning::FirmwareLatencyDiffers { node, .. } => {
                write!(out, "node {node} is not as its firmware claims")
            }
            Warning::TierContradiction { tier, .. } => write!(out, "tier {tier} has memory of two speeds"),
            Warning::PairsOfClasses { .. } => out.write_str("a few pairs of each class"),
            Warning::Partial { finished, planned } => write!(out, "{finished} of {planned} points finished"),
        }
    }
}

/// A share in percent, with one digit behind the point below ten.
pub(super) struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        write!(out, "{:.*} %", usize::from(percent < 9.95), Decimal(percent))
    }
}

/// Returns how far a ratio is from one, in percent.
pub(super) fn percent_off(ratio: f64) -> f64 {
    (ratio - 1.0).abs() * 100.0
}
