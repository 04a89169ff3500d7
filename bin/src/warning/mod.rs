//! Facts that a reader of a result must know, and the effect of each on the trust in the result.
//!
//! A warning is plain data. `table.rs` contains its code, severity, text and remedy. A new warning needs a variant here
//! and an entry there. Nothing here depends on the way in which a warning is found.

mod entry;
mod group;
mod set;
mod table;

#[cfg(test)]
mod tests;

use core::fmt;
use core::mem::discriminant;

use crate::sys::errno::Errno;
use latency_core::host::Bound;
use latency_core::text::Text;
use latency_core::units::{Bytes, CpuId, Hertz, LineSize, NodeId, PageSize, Pages, Picoseconds};

pub use entry::Severity;
use entry::{About, Entry, Facts};
pub use group::WarningGroup;
pub use set::Warnings;
pub use table::{MUCH_OTHER_WORK, SPARSE};

/// A word that was read from a system file: the longest frequency governors and hypervisor signatures have fifteen
/// bytes.
pub type ShortText = Text<15>;

/// The limit that made a working set smaller than the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipped {
    /// Half of the free memory of the node.
    HalfOfFree,
    /// The memory that the control group or another limit has left.
    By(Bound),
}

impl Clipped {
    /// Returns the words for the memory that there is, and the way to more.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Clipped::HalfOfFree => ("available on the node", "free memory there"),
            Clipped::By(by) => by.words(),
        }
    }
}

/// The reason why there are no hardware counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCounters {
    /// kernel.perf_event_paranoid forbids them.
    Paranoid,
    /// The system-call filter of the container refuses perf_event_open.
    Filtered,
    /// The processor or the hypervisor offers none.
    Absent,
}

/// Other work that was seen on the core of a failed self-test or of a slowed point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// None was seen.
    Unknown,
    /// Other tasks ran on the CPU.
    OtherWork,
    /// The SMT sibling was busy.
    BusySibling,
}

/// A fact that a reader must know.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the text
pub enum Warning {
    /// There is only one node, so there is no remote latency.
    OneNode,
    /// There are more nodes than the program can measure.
    TooManyNodes { found: u32, held: u32 },
    /// The process may not use a part of the machine's CPUs.
    CpusetPartial { allowed: u32, online: u32 },
    /// CPUs are isolated, and were not named.
    CpusIsolated { cpus: ShortText },
    /// A control group allows less CPU time than one thread needs.
    CpuQuota { cpus: f64 },
    /// The process may not use the memory of a node, so it is not measured.
    NodeLeftOut { node: NodeId },
    /// /proc does not exist.
    NoProc,
    /// /sys does not exist.
    NoSys,
    /// The kernel was built without NUMA.
    NoNuma,
    /// The working set is smaller than it should be.
    SizeClipped { from: Bytes, to: Bytes, why: Clipped },
    /// The working set fits in a reported cache, and the user chose its size: the latency of this cache is measured.
    CacheLatency { size: Bytes, level: u32, cache: Bytes },
    /// The working set is not much larger than the last-level cache, or cache hits were seen in it (`seen`). `asked` is
    /// true if the user chose the size.
    CacheCouldHold { size: Bytes, cache: Bytes, asked: bool, seen: bool },
    /// The system reports a cache of an implausible size.
    CacheSizeImplausible { level: u32, size: Bytes },
    /// Neither sysfs nor the processor reports a cache.
    CacheUnknown { assumed: Bytes },
    /// Cache hits were seen in the default working set, and the working set was doubled.
    WorkingSetDoubled { from: Bytes, to: Bytes },
    /// The measured size of the last-level cache differs from the reported one.
    ReportedCacheDiffers { reported: Bytes, found: Bytes },
    /// The warm pass was a little faster than the cold one.
    CacheServesPart { size: Bytes, cold: Picoseconds, warm: Picoseconds },
    /// The warm pass was much faster than the cold one.
    LooksCached { size: Bytes, cold: Picoseconds, warm: Picoseconds },
    /// A cache in front of a node's memory may hold much of the working set; `fits` is true if a working set of four
    /// times this cache is available.
    SideCache { node: NodeId, cache: Bytes, size: Bytes, fits: bool },
    /// `--pages=auto` did not get the largest pages.
    PagesFellBack { found: PageSize },
    /// `--pages=auto` did not request transparent huge pages, since one is larger than half of the working set.
    ThpTooLarge { page: PageSize, size: Bytes, found: PageSize },
    /// A whole number of transparent huge pages is much larger than the working set.
    ThpRoundedUp { page: PageSize, size: Bytes, mapped: Bytes },
    /// Only a part of the buffer is in transparent huge pages.
    ThpPartial { wanted: Bytes, found: Bytes },
    /// The TLB behaves as if the pages were small, because a hypervisor backs them with small ones.
    HugePagesWithoutEffect { page: PageSize, base: PageSize },
    /// The TLB was not seen to hold the pages of a window, so memory and translation were not told apart. `ratio` is the
    /// latency in windows of half the pages, divided by that in whole windows: the end of its interval that is farther from 1.
    TranslationNotSeparated { from: NodeId, to: NodeId, size: Bytes, ratio: f64 },
    /// The node of the pages could not be verified.
    PlacementUnverified { node: NodeId, why: &'static str },
    /// The node of the pages was verified, and the kernel did not report their size.
    PageSizeUnverified { node: NodeId, pages: Pages },
    /// Memory policies are forbidden; the pages were placed by first touch, and their node was verified.
    PlacedByFirstTouch { node: NodeId },
    /// The target cannot be reached by first touch either.
    NotMeasurableHere { node: NodeId },
    /// The process was started under a memory policy.
    InheritedPolicy { policy: &'static str },
    /// Pages left the target while they were measured.
    PagesMoved { node: NodeId, pages: u64 },
    /// The kernel merged or split huge pages while they were measured.
    HugePagesChanged { node: NodeId, before: Bytes, after: Bytes, mapped: Bytes },
    /// Other tasks ran for this share of the time in which a thread of the run needed its CPU.
    OtherWork { cpu: CpuId, share: f64 },
    /// The hypervisor ran something else for this share of the time in which the CPU was busy (steal time).
    Stolen { cpu: CpuId, share: f64 },
    /// The SMT sibling of a measuring CPU was busy with other work for this share of the time.
    SiblingBusy { cpu: CpuId, share: f64 },
    /// The thread was found on another CPU than the one to which it was pinned.
    ThreadMoved { times: u64 },
    /// The ratio of the latency of the whole run to the latency in rounds with quiet neighbours.
    Neighbours { from: NodeId, to: NodeId, size: Bytes, ratio: f64 },
    /// The run waited this number of seconds for quiet neighbours, and the rounds of some pair give no steady
    /// value.
    NotQuiet { seconds: f64 },
    /// A memory device had this number of errors during the run, and this number since the kernel started.
    MemoryErrors { locator: Text<64>, count: u64, total: u64, corrected: bool },
    /// The kernel counted machine checks during the run, or gave up memory because of errors.
    HardwareErrors { checks: u64, corrupted: Bytes },
    /// The CPU was too hot this number of times.
    Overheated { times: u64 },
    /// The kernel moves pages to the node that uses them (automatic NUMA balancing).
    NumaBalancing,
    /// A governor may change the core frequency.
    FrequencyScaling { governor: ShortText },
    /// The core clock changed during the run: its tenth and its ninetieth percentile. `core` is true if caches or
    /// instructions of a core were timed, and false if only memory was.
    CoreClockUnstable { least: Hertz, most: Hertz, core: bool },
    /// The processor does not declare that the counter's rate is constant, but its calibrations agree.
    CounterNotInvariant,
    /// The calibrations of the counter differ by this number of parts per million.
    CounterUnsteady { ppm: f64 },
    /// The counter and the kernel's clock drifted apart during the run.
    CounterDrift { ppm: f64 },
    /// The measured rate of the counter differs from the declared rate.
    CounterMismatch { measured: Hertz, declared: Hertz },
    /// The kernel's clock is used because the counter is not usable.
    NoCounter { why: &'static str },
    /// A pair of readings of the counter takes this number of nanoseconds, because they are emulated.
    CounterTrapped { nanoseconds: f64 },
    /// The core's clock could not be measured at some point, so `cycles` are ticks of the counter.
    NoCoreClock,
    /// A reading of the counter does not wait for earlier instructions, although the processor may promise it. This matters if loads or
    /// messages are timed one at a time (`single`), because a load may begin before its first timestamp.
    FenceNotSerialising { promised: bool, single: bool },
    /// The machine is emulated.
    Emulated { by: ShortText },
    /// The latency of an L1 hit is not a whole number of core cycles.
    L1NotInteger { cycles: f64, beside: Beside },
    /// The latency of a multiplication is not a whole multiple of the latency of an addition.
    MultiplyAddRatio { ratio: f64, beside: Beside },
    /// A measured point in the L1 cache has a latency of no whole number of core cycles.
    CoreSlowed { from: NodeId, to: NodeId, size: Bytes, cycles: f64, beside: Beside },
    /// A point that was measured again at the end of the run, in new memory, has another latency.
    RepeatRatio { ratio: f64 },
    /// Chains with a small and a large stride differ more than they should.
    PrefetchAudit { ratio: f64, line: LineSize },
    /// A prefetcher fetches neighbouring lines together, but too early for a random order in a large working set.
    NeighboursFetched { ratio: f64, line: LineSize },
    /// The ratio of the latency with pointers to the latency with indices: a prefetcher follows pointers.
    PointersFollowed { ratio: f64 },
    /// The order of the chain lets prefetchers reduce the latency.
    PrefetchAssisted { order: &'static str },
    /// The order of the chain lets loads share translations.
    GroupedOrder,
    /// The confidence interval is wider than requested.
    PrecisionNotReached { from: NodeId, to: NodeId, size: Bytes, found: f64, wanted: f64 },
    /// A share of the trials was interrupted.
    Disturbed { from: NodeId, to: NodeId, size: Bytes, share: f64 },
    /// A hop is too short to be timed alone.
    HopsTooShort { from: NodeId, to: NodeId, size: Bytes, hops: u32, latency: Picoseconds },
    /// The mean of single hops differs from the latency of the batches.
    HopMeanDiffers { from: NodeId, to: NodeId, size: Bytes, ratio: f64 },
    /// Some of many points have a confidence interval that is wider than requested; `unknown` of them have none.
    PointsNotPrecise { points: u32, unknown: u32, of: u32, wanted: f64 },
    /// Some of many points had interrupted trials, each at least this share of its trials.
    PointsDisturbed { points: u32, of: u32, share: f64 },
    /// Trials of one round are in several states, so that few of them agree on a value; `share` is the smallest share
    /// that agrees.
    StateShare { points: u32, of: u32, share: f64 },
    /// The steps of the timer are coarse compared with a trial; the shortest trial has this number of steps.
    FewSteps { steps: u64 },
    /// The timer stepped back during trials.
    TimerSteppedBack { trials: u64 },
    /// Counted core cycles differ from the cycles that a chain of dependent additions gives.
    CoreCyclesDiffer { ratio: f64 },
    /// There are no hardware counters.
    CountersUnavailable { why: NoCounters },
    /// The kernel refused some of the threads.
    ThreadsRefused { wanted: u32, started: u32, errno: Errno },
    /// Generators were found on other CPUs than those to which they were pinned.
    GeneratorMoved { times: u64 },
    /// The rate of the generators did not become steady in this number of the visits.
    NotSettled { windows: u64, of: u64 },
    /// A quota of CPU time stopped all threads in this number of the visits.
    Throttled { windows: u64, of: u64 },
    /// There is a CPU for only one generator.
    OneGenerator,
    /// There is no time for all pairs of nodes.
    PairsLeftOut { pairs: u32, of: u32 },
    /// Traffic below the limit was not delivered at the offered rate, in bytes per second.
    RateNotDelivered { offered: f64, delivered: f64 },
    /// Memory has a higher latency when idle than under a load, in bytes per second.
    IdleMemorySlower { node: NodeId, idle: Picoseconds, loaded: Picoseconds, rate: f64 },
    /// The apparent number of lines in flight per core is larger than on any real core.
    LittleImplausible { lines: f64 },
    /// The budget has no time for a kind of traffic between two nodes.
    OverBudget { from: NodeId, to: NodeId, kind: &'static str, seconds: f64 },
    /// The hypervisor does not report which virtual CPUs share a core.
    VcpusMayShareCore,
    /// The latency between two CPUs on separate reported cores is as low as between threads of one core.
    TopologyDoubtful { a: CpuId, b: CpuId, ns: f64 },
    /// There is no time for all pairs of CPUs, so only a few of each class are measured.
    PairsOfClasses { of: u32 },
    /// The measured memory latency is far from the one in the firmware tables.
    FirmwareLatencyDiffers { node: NodeId, claimed: Picoseconds, measured: Picoseconds },
    /// The DIMMs of this number of processors cannot be the same on all channels.
    ChannelsUnequal { dimms: u32, sockets: u32 },
    /// The latencies of two nodes of one memory tier differ.
    TierContradiction { tier: u32, fast: NodeId, slow: NodeId, ratio: f64 },
    /// The run was interrupted.
    Partial { finished: u32, planned: u32 },
    /// The time limit of the whole run ended it before all points were measured as planned.
    BudgetOver { finished: u32, planned: u32 },
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

    /// Returns whether the warning is evidence that a value is wrong or not verified, so that `--strict` fails.
    #[must_use]
    pub fn untrusted(&self) -> bool {
        self.severity() == Severity::Poor
    }

    /// Returns whether the warning is from a self-test, which measures a known quantity.
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

    /// Returns whether it says that an option of the user has no effect, which is shown without details as well.
    #[must_use]
    pub const fn answers_an_option(&self) -> bool {
        matches!(self, Warning::CountersUnavailable { .. })
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

    /// Returns the working set and the core cycles of the point, if the warning is about a core that was slowed.
    #[must_use]
    pub const fn slowed_point(&self) -> Option<(Bytes, f64)> {
        match *self {
            Warning::CoreSlowed { size, cycles, .. } => Some((size, cycles)),
            _ => None,
        }
    }

    /// Returns the first clause of the text, for the line with the verdict, which contains several of them.
    #[must_use]
    pub fn reason(&self) -> impl fmt::Display + '_ {
        self.shown(|entry, out| out.write_fmt(entry.reason))
    }

    /// Returns an option or a command that helps.
    #[must_use]
    pub fn remedy(&self) -> impl fmt::Display + '_ {
        self.shown(|entry, out| out.write_fmt(entry.remedy))
    }

    /// Returns what its entry has beside the texts.
    fn facts(&self) -> Facts {
        let mut facts = Facts { code: "", severity: Severity::Note, about: About::Run, measure: None };
        self.describe(&mut |entry| facts = entry.facts);
        facts
    }

    /// Returns texts of its entry, which `write` writes.
    fn shown(&self, write: impl Fn(&Entry<'_>, &mut fmt::Formatter<'_>) -> fmt::Result) -> impl fmt::Display {
        fmt::from_fn(move |out| {
            let mut written = Ok(());
            self.describe(&mut |entry| written = write(&entry, out));
            written
        })
    }

    /// Returns whether it states as a fact what the other warning states as a possibility.
    const fn settles(&self, other: &Warning) -> bool {
        match (self, other) {
            (Warning::LooksCached { size, .. }, Warning::CacheCouldHold { size: other, .. }) => {
                size.0 == other.0
            }
            _ => false,
        }
    }

    /// Returns the rank of the warning among those of its code: its severity, then its measure.
    fn weight(&self) -> (Severity, Option<f64>) {
        let facts = self.facts();
        (facts.severity, facts.measure)
    }

    /// Returns whether both have the same code and the same subject.
    fn is_like(&self, other: &Warning) -> bool {
        discriminant(self) == discriminant(other) && self.facts().about == other.facts().about
    }
}

/// Writes the fact, without the remedy and without the label of a message.
impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            self.shown(|entry, out| write!(out, "{}{}{}", entry.facts.about, entry.reason, entry.rest));
        shown.fmt(out)
    }
}
