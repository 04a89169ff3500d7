//! Facts that a reader of a result must know, and the effect of each on trust.
//!
//! A warning is plain data. `table.rs` has its code, severity, text and remedy; a new one needs a variant here and an
//! entry there. Nothing here knows how a warning is found.

mod entry;
mod group;
mod set;
mod table;

#[cfg(test)]
mod tests;

use core::fmt;
use core::mem::discriminant;

use crate::sys::errno::Errno;
use latency_core::text::Text;
use latency_core::units::{Bytes, CpuId, Hertz, NodeId, PageSize, Picoseconds};

pub use entry::Severity;
use entry::{About, Facts, Words};
pub use group::WarningGroup;
pub use set::Warnings;
pub use table::MUCH_OTHER_WORK;

/// A name out of a file of the system: the longest frequency governors and hypervisor signatures have fifteen bytes.
pub type ShortText = Text<15>;

/// The limit that made a working set smaller than the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipped {
    /// Half of the node's free memory is less.
    HalfOfFree,
    /// The memory limit of the control group is less.
    ControlGroup,
}

/// The reason why there are no hardware counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCounters {
    /// kernel.perf_event_paranoid forbids them.
    Paranoid,
    /// The container's filter refuses the call.
    Filtered,
    /// The processor, or the hypervisor, offers none.
    Absent,
}

/// One thing that a reader must know.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the text
pub enum Warning {
    /// There is nothing remote to compare with.
    OneNode,
    /// There are more nodes than can be held.
    TooManyNodes { found: u32, held: u32 },
    /// A part of the machine's CPUs is out of reach.
    CpusetPartial { allowed: u32, online: u32 },
    /// A control group allows less time than one thread takes.
    CpuQuota { cpus: f64 },
    /// A node's memory is not allowed, so it is not measured.
    NodeLeftOut { node: NodeId },
    /// There is no /proc.
    NoProc,
    /// There is no /sys.
    NoSys,
    /// The working set is smaller than it should be.
    SizeClipped { from: Bytes, to: Bytes, why: Clipped },
    /// The working set fits in a cache that is reported, as somebody asked for: its latency is what is measured.
    CacheLatency { size: Bytes, level: u32, cache: Bytes },
    /// The working set is not much larger than the last-level cache, or hits were seen in it; `asked` where somebody
    /// chose its size.
    CacheCouldHold { size: Bytes, cache: Bytes, asked: bool, seen: bool },
    /// The system reports a cache of a size that none has.
    CacheSizeImplausible { level: u32, size: Bytes },
    /// Neither sysfs nor CPUID reports a cache.
    CacheUnknown { assumed: Bytes },
    /// Hits were seen in the default working set, and it was doubled.
    WorkingSetDoubled { from: Bytes, to: Bytes },
    /// The last-level cache that was found is not the one that is reported.
    ReportedCacheDiffers { reported: Bytes, found: Bytes },
    /// The warm pass was a little faster than the cold one.
    CacheServesPart { size: Bytes, cold: Picoseconds, warm: Picoseconds },
    /// The warm pass was much faster than the cold one.
    LooksCached { size: Bytes, cold: Picoseconds, warm: Picoseconds },
    /// A cache in front of a node's memory may hold much of what was measured there; `fits` where four times that cache
    /// can be had.
    SideCache { node: NodeId, cache: Bytes, size: Bytes, fits: bool },
    /// `--pages=auto` did not get the largest pages.
    PagesFellBack { found: PageSize },
    /// Only a part of the buffer is in transparent huge pages.
    ThpPartial { wanted: Bytes, found: Bytes },
    /// The TLB behaves as if the pages were small: a hypervisor backs them so.
    HugePagesWithoutEffect { page: PageSize },
    /// The node of the pages could not be proven.
    PlacementUnverified { node: NodeId, why: &'static str },
    /// Memory policies are forbidden; the pages were placed by touching them, and proven.
    PlacedByFirstTouch { node: NodeId },
    /// The target cannot be reached by first touch either.
    NotMeasurableHere { node: NodeId },
    /// The process was started under a memory policy.
    InheritedPolicy { policy: &'static str },
    /// Pages left the target while they were measured.
    PagesMoved { node: NodeId, pages: u64 },
    /// The kernel merged or split huge pages while they were measured.
    HugePagesChanged { node: NodeId, before: Bytes, after: Bytes, mapped: Bytes },
    /// Other tasks ran for this share of the time in which a thread of the run had work on a CPU.
    OtherWork { cpu: CpuId, share: f64 },
    /// The hypervisor ran something else in place of a CPU for this share of the time in which that was busy.
    Stolen { cpu: CpuId, share: f64 },
    /// A sibling thread of a CPU that took part was busy with other work for this share of the time.
    SiblingBusy { cpu: CpuId, share: f64 },
    /// The thread was found on another CPU than the one that it was pinned to.
    ThreadMoved { times: u64 },
    /// Memory took this many times as long as in rounds in which it was quiet.
    Neighbours { from: NodeId, to: NodeId, size: Bytes, ratio: f64 },
    /// The run waited these seconds for quiet neighbours, and rounds proved no undisturbed value of some pair.
    NotQuiet { seconds: f64 },
    /// The kernel moves pages to the node that uses them.
    NumaBalancing,
    /// The frequency is governed.
    FrequencyScaling { governor: ShortText },
    /// The core clock changed during the run: its tenth and its ninetieth percentile; whether caches or instructions of
    /// a core were timed, or memory alone.
    CoreClockUnstable { least: Hertz, most: Hertz, core: bool },
    /// The TSC is not said to be invariant; its calibrations agree.
    TscNotInvariant,
    /// Calibrations of the TSC differ by this number of parts per million.
    TscUnsteady { ppm: f64 },
    /// The TSC and the kernel's clock have drifted apart during the run.
    TscDrift { ppm: f64 },
    /// The TSC's rate is not the one that CPUID declares.
    TscMismatch { measured: Hertz, declared: Hertz },
    /// The kernel's clock is used, because the TSC cannot be.
    NoTsc { why: &'static str },
    /// LFENCE does not wait for earlier instructions, although the processor may promise it. That matters where loads
    /// or messages are timed one at a time: one may begin before its first stamp.
    FenceNotSerialising { promised: bool, single: bool },
    /// The machine is emulated.
    Emulated { by: ShortText },
    /// An L1 hit is not a whole number of core cycles.
    L1NotInteger { cycles: f64 },
    /// A multiplication does not take the usual number of additions.
    MultiplyAddRatio { ratio: f64 },
    /// A point measured again at the end of the run, in new memory, gives another result.
    RepeatRatio { ratio: f64 },
    /// Denser and wider spaced chains differ by more than they should.
    PrefetchAudit { ratio: f64 },
    /// Neighbouring lines are fetched together, though too early for a random order over much memory.
    NeighboursFetched { ratio: f64 },
    /// Pointers take this part of the time of indices: a prefetcher follows pointers.
    PointersFollowed { ratio: f64 },
    /// The order lets prefetchers help.
    PrefetchAssisted { order: &'static str },
    /// The confidence interval is still too wide.
    PrecisionNotReached { from: NodeId, to: NodeId, size: Bytes, found: f64, wanted: f64 },
    /// Trials were interrupted by something else.
    Disturbed { from: NodeId, to: NodeId, size: Bytes, share: f64 },
    /// A hop is too short to be timed alone.
    HopsTooShort { from: NodeId, to: NodeId, size: Bytes, hops: u32, latency: Picoseconds },
    /// The mean of single hops is not what the batches say.
    HopMeanDiffers { from: NodeId, to: NodeId, size: Bytes, ratio: f64 },
    /// Points of an experiment with many have a confidence interval that is wider than wanted; `unknown` of them have
    /// none.
    PointsNotPrecise { points: u32, unknown: u32, of: u32, wanted: f64 },
    /// Points of an experiment with many had trials interrupted, each at least this share of them.
    PointsDisturbed { points: u32, of: u32, share: f64 },
    /// Trials of one round are in several states, so that few of them agree on a value; the smallest share that agrees.
    StateShare { points: u32, of: u32, share: f64 },
    /// The timer moves in steps that are coarse beside a trial; the shortest trial.
    FewSteps { steps: u64 },
    /// The timer stepped back during trials.
    TimerSteppedBack { trials: u64 },
    /// Counted core cycles differ from those that dependent additions give.
    CoreCyclesDiffer { ratio: f64 },
    /// There are no hardware counters.
    CountersUnavailable { why: NoCounters },
    /// The kernel refused some of the threads.
    ThreadsRefused { wanted: u32, started: u32, errno: Errno },
    /// Generators were found on other CPUs than those that they were pinned to.
    GeneratorMoved { times: u64 },
    /// The rate of generators did not become steady before this number of visits of all.
    NotSettled { windows: u64, of: u64 },
    /// A quota of CPU time stopped all threads during this number of visits of all.
    Throttled { windows: u64, of: u64 },
    /// One generator is all that there is a CPU for.
    OneGenerator,
    /// There is no time for all pairs of nodes.
    PairsLeftOut { pairs: u32, of: u32 },
    /// A rate below the limit was not delivered as it was offered, in bytes per second.
    RateNotDelivered { offered: f64, delivered: f64 },
    /// Memory is slower while idle than at a load, in bytes per second.
    IdleMemorySlower { node: NodeId, idle: Picoseconds, loaded: Picoseconds, rate: f64 },
    /// More lines seem to be in flight per core than any core has.
    LittleImplausible { lines: f64 },
    /// The budget has no time for a kind of traffic between two nodes.
    OverBudget { from: NodeId, to: NodeId, kind: &'static str, seconds: f64 },
    /// A hypervisor does not say which virtual CPUs share a core.
    VcpusMayShareCore,
    /// Two CPUs that are said to be two cores are as close as threads of one.
    TopologyDoubtful { a: CpuId, b: CpuId, ns: f64 },
    /// There is no time for all pairs of CPUs, so that there are a few of each class.
    PairsOfClasses { of: u32 },
    /// Memory is far slower or faster than its firmware claims.
    FirmwareLatencyDiffers { node: NodeId, claimed: Picoseconds, measured: Picoseconds },
    /// Memory of one tier is of two speeds.
    TierContradiction { tier: u32, fast: NodeId, slow: NodeId, ratio: f64 },
    /// The run was interrupted.
    Partial { finished: u32, planned: u32 },
}

impl Warning {
    /// Returns the word for programs, in kebab-case; it does not change between versions.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.facts().code
    }

    /// Returns the effect of the warning on trust.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.facts().severity
    }

    /// Returns whether there is evidence that a value is wrong or unproven, so that `--strict` fails.
    #[must_use]
    pub fn untrusted(&self) -> bool {
        self.severity() == Severity::Poor
    }

    /// Returns whether a known fact was measured and came out wrong.
    #[must_use]
    pub const fn is_of_self_test(&self) -> bool {
        matches!(
            self,
            Warning::FenceNotSerialising { .. }
                | Warning::L1NotInteger { .. }
                | Warning::MultiplyAddRatio { .. }
                | Warning::RepeatRatio { .. }
                | Warning::HopMeanDiffers { .. }
                | Warning::CoreCyclesDiffer { .. }
        )
    }

    /// Returns the CPU that the warning is about, for kinds of warnings that exist once for each CPU.
    #[must_use]
    pub fn cpu(&self) -> Option<CpuId> {
        match self.facts().about {
            About::Cpu(cpu) => Some(cpu),
            _ => None,
        }
    }

    /// Returns the node and the size of the memory-side cache that the warning is about.
    #[must_use]
    pub const fn side_cache(&self) -> Option<(NodeId, Bytes)> {
        match *self {
            Warning::SideCache { node, cache, .. } => Some((node, cache)),
            _ => None,
        }
    }

    /// Returns the first clause of the text, for the line that gives the verdict: several are in one line.
    #[must_use]
    pub fn reason(&self) -> impl fmt::Display + '_ {
        self.shown(|words, out| out.write_fmt(words.reason))
    }

    /// Returns an option or a command that helps.
    #[must_use]
    pub fn remedy(&self) -> impl fmt::Display + '_ {
        self.shown(|words, out| out.write_fmt(words.remedy))
    }

    /// Returns whether it has found what the other one only considers possible.
    const fn settles(&self, other: &Warning) -> bool {
        match (self, other) {
            (Warning::LooksCached { size, .. }, Warning::CacheCouldHold { size: other, .. }) => {
                size.0 == other.0
            }
            _ => false,
        }
    }

    fn facts(&self) -> Facts {
        self.entry(&mut |_| ())
    }

    /// Returns whether both have one code and one subject.
    fn is_like(&self, other: &Warning) -> bool {
        discriminant(self) == discriminant(other) && self.facts().about == other.facts().about
    }

    fn shown(&self, part: fn(&Words<'_>, &mut fmt::Formatter<'_>) -> fmt::Result) -> impl fmt::Display + '_ {
        fmt::from_fn(move |out| {
            let mut result = Ok(());
            self.entry(&mut |words| result = part(words, out));
            result
        })
    }
}

/// The fact, without the remedy and without the label of a message.
impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.shown(|words, out| write!(out, "{}{}", words.reason, words.rest));
        write!(out, "{}{words}", self.facts().about)
    }
}
