//! The table of warnings: the code for programs, how much each takes from a result, and what it is about.
//!
//! Bounds of severities stand here, so that the same finding weighs the same in every experiment.

use latency_core::units::{Bytes, CpuId, NodeId};

use super::{Severity, Warning};

/// The subject of a warning: two with the same code and the same subject are one.
type Subject = [u64; 3];

/// From this share of a CPU on, other work changes the caches and clocks of most trials. What interrupts fewer is left
/// out of them.
///
/// Work that would take 30 % of an idle CPU waits for the run as the run waits for it: of 1.3 s it has 0.3.
pub const MUCH_OTHER_WORK: f64 = 0.3 / 1.3;
/// A part of a buffer in other pages moves its latency by a tenth of this: 2 MiB pages gain 11 to 50 %.
const MUCH_OF_HUGE_PAGES: f64 = 0.05;
/// What a prefetcher hides of a latency, as a fraction, from which on it is no latency of memory.
const MUCH_HIDDEN: f64 = 0.05;
/// Parts per million. NTP bends clocks by 500 at the most.
const MUCH_DRIFT_PPM: f64 = 500.0;
/// Of all points.
const MOST: f64 = 1.0 / 3.0;

impl Warning {
    /// Returns its code, its severity and its subject.
    pub(super) const fn facts(&self) -> (&'static str, Severity, Subject) {
        use Severity::{Fair, Note, Poor};
        const ALL: Subject = [0; 3];
        match *self {
            Warning::OneNode => ("one-node", Note, ALL),
            Warning::TooManyNodes { .. } => ("too-many-nodes", Note, ALL),
            Warning::CpusetPartial { .. } => ("cpuset-partial", Note, ALL),
            Warning::CpuQuota { .. } => ("cpu-quota", Note, ALL),
            Warning::NodeLeftOut { node } => ("node-left-out", Note, of_node(node)),
            Warning::NoProc => ("no-proc", Fair, ALL),
            Warning::NoSys => ("no-sys", Fair, ALL),
            Warning::SizeClipped { from, .. } => ("size-clipped", Note, [from.0, 0, 0]),
            Warning::CacheLatency { size, .. } => ("cache-latency", Note, [size.0, 0, 0]),
            // A cache that may hold most of it decides the value, whoever chose the size.
            Warning::CacheCouldHold { size, cache, asked, .. } => {
                let severity = if asked && size.0 / 3 * 2 >= cache.0 { Fair } else { Poor };
                ("cache-could-hold", severity, [size.0, 0, 0])
            }
            Warning::CacheSizeImplausible { level, .. } => {
                ("cache-size-implausible", Fair, [level as u64, 0, 0])
            }
            Warning::CacheUnknown { .. } => ("cache-unknown", Note, ALL),
            Warning::WorkingSetDoubled { .. } => ("working-set-doubled", Note, ALL),
            Warning::ReportedCacheDiffers { .. } => ("reported-cache-differs", Note, ALL),
            Warning::CacheServesPart { size, .. } => ("cache-serves-part", Fair, [size.0, 0, 0]),
            Warning::LooksCached { size, .. } => ("looks-cached", Poor, [size.0, 0, 0]),
            Warning::PagesFellBack { found } => ("pages-fell-back", Note, [found.bytes().0, 0, 0]),
            Warning::ThpPartial { wanted, .. } => ("thp-partial", Poor, [wanted.0, 0, 0]),
            Warning::SideCache { node, .. } => ("side-cache", Fair, of_node(node)),
            Warning::HugePagesWithoutEffect { page } => {
                ("huge-pages-without-effect", Note, [page.bytes().0, 0, 0])
            }
            Warning::PlacementUnverified { node, .. } => ("placement-unverified", Poor, of_node(node)),
            Warning::PlacedByFirstTouch { node } => ("placed-by-first-touch", Note, of_node(node)),
            Warning::NotMeasurableHere { node } => ("not-measurable-here", Fair, of_node(node)),
            Warning::InheritedPolicy { .. } => ("inherited-policy", Note, ALL),
            Warning::PagesMoved { node, .. } => ("pages-moved", Poor, of_node(node)),
            Warning::HugePagesChanged { node, before, after, mapped } => {
                let changed = before.0.abs_diff(after.0) as f64 / mapped.0 as f64;
                ("huge-pages-changed", graded(changed, MUCH_OF_HUGE_PAGES), of_node(node))
            }
            Warning::OtherWork { cpu, share } => ("other-work", graded(share, MUCH_OTHER_WORK), of_cpu(cpu)),
            Warning::Stolen { cpu, .. } => ("stolen-time", Fair, of_cpu(cpu)),
            Warning::SiblingBusy { cpu, .. } => ("sibling-busy", Fair, of_cpu(cpu)),
            Warning::Neighbours { from, to, size, .. } => ("neighbours", Fair, of_point(from, to, size)),
            Warning::NotQuiet { .. } => ("not-quiet", Fair, ALL),
            Warning::ThreadMoved { .. } => ("thread-moved", Poor, ALL),
            Warning::NumaBalancing => ("numa-balancing", Note, ALL),
            Warning::FrequencyScaling { .. } => ("frequency-scaling", Note, ALL),
            Warning::CoreClockUnstable { core, .. } => {
                ("core-clock-unstable", if core { Fair } else { Note }, ALL)
            }
            Warning::TscNotInvariant => ("tsc-not-invariant", Fair, ALL),
            Warning::TscUnsteady { ppm } => ("tsc-unsteady", graded(ppm, MUCH_DRIFT_PPM), ALL),
            Warning::TscDrift { ppm } => ("tsc-drift", graded(ppm.abs(), MUCH_DRIFT_PPM), ALL),
            Warning::TscMismatch { .. } => ("tsc-mismatch", Poor, ALL),
            Warning::NoTsc { .. } => ("no-tsc", Fair, ALL),
            // The stamps of a batch are far apart: a load that begins early changes nothing.
            Warning::FenceNotSerialising { single, .. } => {
                ("fence-not-serialising", if single { Fair } else { Note }, ALL)
            }
            Warning::Emulated { .. } => ("emulated", Note, ALL),
            Warning::L1NotInteger { .. } => ("l1-not-integer", Poor, ALL),
            Warning::MultiplyAddRatio { .. } => ("multiply-add-ratio", Poor, ALL),
            Warning::RepeatRatio { .. } => ("repeat-ratio", Poor, ALL),
            // A prefetcher makes dense lines faster; slower ones are noise.
            Warning::PrefetchAudit { ratio } if ratio < 1.0 => {
                ("prefetch-audit", graded(1.0 - ratio, MUCH_HIDDEN), ALL)
            }
            Warning::PrefetchAudit { .. } => ("prefetch-audit", Note, ALL),
            Warning::NeighboursFetched { ratio } if ratio < 1.0 => ("neighbours-fetched", Fair, ALL),
            Warning::NeighboursFetched { .. } => ("neighbours-fetched", Note, ALL),
            Warning::PointersFollowed { ratio } => {
                ("pointers-followed", graded(1.0 - ratio, MUCH_HIDDEN), ALL)
            }
            Warning::PrefetchAssisted { .. } => ("prefetch-assisted", Note, ALL),
            // A wide interval that holds is right. Without one nothing is said of the value.
            Warning::PrecisionNotReached { from, to, size, found, .. } => {
                let severity = if found.is_nan() { Poor } else { Fair };
                ("precision-not-reached", severity, of_point(from, to, size))
            }
            Warning::Disturbed { from, to, size, .. } => ("disturbed", Fair, of_point(from, to, size)),
            Warning::HopsTooShort { from, to, size, .. } => {
                ("hops-too-short", Poor, of_point(from, to, size))
            }
            Warning::HopMeanDiffers { from, to, size, .. } => {
                ("hop-mean-differs", Poor, of_point(from, to, size))
            }
            Warning::PointsNotPrecise { unknown, of, .. } => {
                ("points-not-precise", graded(part(unknown, of), MOST), ALL)
            }
            Warning::PointsDisturbed { .. } => ("points-disturbed", Fair, ALL),
            Warning::StateShare { .. } => ("state-share", Fair, ALL),
            Warning::FewSteps { .. } => ("few-steps", Fair, ALL),
            Warning::TimerSteppedBack { .. } => ("timer-stepped-back", Poor, ALL),
            Warning::CoreCyclesDiffer { .. } => ("core-cycles-differ", Poor, ALL),
            Warning::CountersUnavailable { .. } => ("counters-unavailable", Note, ALL),
            Warning::ThreadsRefused { .. } => ("threads-refused", Fair, ALL),
            Warning::GeneratorMoved { .. } => ("generator-moved", Poor, ALL),
            Warning::NotSettled { .. } => ("not-settled", Fair, ALL),
            Warning::Throttled { .. } => ("throttled", Poor, ALL),
            Warning::OneGenerator => ("one-generator", Note, ALL),
            Warning::PairsLeftOut { .. } => ("pairs-left-out", Fair, ALL),
            Warning::RateNotDelivered { .. } => ("rate-not-delivered", Poor, ALL),
            Warning::IdleMemorySlower { node, .. } => ("idle-memory-slower", Note, of_node(node)),
            Warning::LittleImplausible { .. } => ("little-implausible", Poor, ALL),
            Warning::OverBudget { from, to, kind, .. } => {
                // Names of kinds that are as long begin with different letters.
                let kind = (kind.len() as u64) << 8 | kind.as_bytes()[0] as u64;
                ("over-budget", Fair, [from.0 as u64, to.0 as u64, kind])
            }
            Warning::VcpusMayShareCore => ("vcpus-may-share-a-core", Note, ALL),
            Warning::TopologyDoubtful { .. } => ("topology-doubtful", Fair, ALL),
            Warning::PairsOfClasses { .. } => ("pairs-of-classes", Note, ALL),
            Warning::FirmwareLatencyDiffers { node, .. } => ("firmware-latency-differs", Note, of_node(node)),
            Warning::TierContradiction { slow, .. } => ("tier-contradiction", Note, of_node(slow)),
            Warning::Partial { .. } => ("partial", Poor, ALL),
        }
    }
}

/// Returns what a share, or a difference, makes of the trust: nobody can rely on what reaches `poor_from`.
const fn graded(value: f64, poor_from: f64) -> Severity {
    if value < poor_from {
        Severity::Fair
    } else {
        Severity::Poor
    }
}

const fn part(points: u32, of: u32) -> f64 {
    points as f64 / of as f64
}

const fn of_cpu(cpu: CpuId) -> Subject {
    [cpu.0 as u64, 0, 0]
}

const fn of_node(node: NodeId) -> Subject {
    [node.0 as u64, 0, 0]
}

const fn of_point(from: NodeId, to: NodeId, size: Bytes) -> Subject {
    [from.0 as u64, to.0 as u64, size.0]
}
