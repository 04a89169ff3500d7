//! The table of warnings. It is the only place for the code, severity, subject, words and remedy of each warning.
//!
//! The limits of severities are here too, so that a finding has the same severity in every experiment.

use core::fmt;

use latency_core::arch::Cycles;
use latency_core::{
    Bytes, CpuId, Hertz, LineSize, NodeId, PageSize, Pages, Picoseconds, Text, ToReal, Trimmed, math, plural,
};

use super::entry::About::{self, Cpu, Level, Node, Point, Run, Size, Traffic};
use super::entry::Severity::{self, Fair, Note, Poor};
use super::entry::{
    Clipped, Entry, Facts, NoCounters, SeenCause, ShortText, TimeLimit, percent, percent_off, size_option,
};
use crate::words::words;
use latency_report::Digits;
use latency_sys::Errno;

/// Minimum share of a CPU for other work at which it changes caches and clocks in most trials. Trials that less work
/// interrupts are not used.
///
/// Work that needs 30 % of an idle CPU competes with the run for the CPU: of 1.3 s it runs for 0.3 s.
pub const MUCH_OTHER_WORK: f64 = 0.3 / 1.3;
/// Minimum share of a buffer in other pages that makes a result unreliable. It changes the latency by a tenth of this
/// share or more, because 2 MiB pages lower the latency by 11 to 50 %.
const MUCH_OF_HUGE_PAGES: f64 = 0.05;
/// Minimum fraction of a latency that a prefetcher hides at which the value is not a memory latency.
const MUCH_HIDDEN: f64 = 0.05;
/// Minimum distance of the multiply/add ratio from a whole number, as a share of it, that a busy sibling does not explain.
const MUCH_OFF: f64 = 0.1;
/// Distance of the nodes without prefetching to which the audit compares, in lines.
pub const SPARSE: u64 = 4;
/// Minimum drift in parts per million that makes a result unreliable. NTP changes the rate of clocks by up to 500.
const MUCH_DRIFT_PPM: f64 = 500.0;
/// The remedy for a failed check beside which nothing was seen.
const ANOTHER_CORE: &str = "rerun; if it recurs, compare another core (--cpu=N)";

/// Minimum fraction of all points that makes the whole result doubtful.
const MOST: f64 = 1.0 / 3.0;

/// Words for programs about the counter: where results show its cycles, and elsewhere. Saved results have the first ones.
const COUNTER_CODES: [(&str, &str); 5] = [
    ("tsc-not-invariant", "counter-not-invariant"),
    ("tsc-unsteady", "counter-unsteady"),
    ("tsc-drift", "counter-drift"),
    ("tsc-mismatch", "counter-mismatch"),
    ("no-tsc", "no-counter"),
];

/// Declares the warnings. Each has its meaning, its fields, its code, and one entry or several: the first whose condition is
/// true is used. An entry has a severity, a subject if that is not the whole run, and a measure; the fact
/// and the rest of its sentence; the remedy; and the values in these texts that are not fields.
macro_rules! warnings {
    (@about) => { About::Run };
    (@about $about:expr) => { $about };
    (@measure) => { None };
    (@measure $measure:expr) => { Some($measure) };
    (@rest) => { format_args!("") };
    (@rest $rest:literal) => { format_args!($rest) };
    ($(
        $(#[$doc:meta])+
        $variant:ident $({ $($field:ident: $type:ty),+ })? = $code:literal $(
            $(if $condition:expr)? => $severity:expr $(, $about:expr $(, $measure:expr)?)?;
            $reason:literal $(, $rest:literal)?;
            $remedy:literal;
            $(where $($name:pat = $value:expr),+;)?
        )+
    )+) => {
        /// A fact that a reader must know.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs)] // the fields are named for what they hold; what they mean is the text
        pub enum Warning {
            $($(#[$doc])+ $variant $({ $($field: $type),+ })?,)+
        }

        impl Warning {
            /// Passes the entry of this warning to `take`.
            #[allow(clippy::too_many_lines, unused_variables)] // one entry a warning, which may not use every field
            pub(super) fn describe(&self, take: &mut dyn FnMut(Entry<'_>)) {
                match *self {
                    $(Warning::$variant $({ $($field),+ })? => match () {
                        $(() $(if $condition)? => {
                            let facts = Facts {
                                code: code($code),
                                severity: $severity,
                                about: warnings!(@about $($about)?),
                                measure: warnings!(@measure $($($measure)?)?),
                            };
                            $($(let $name = $value;)+)?
                            take(Entry {
                                facts,
                                reason: format_args!($reason),
                                rest: warnings!(@rest $($rest)?),
                                remedy: format_args!($remedy),
                            })
                        })+
                    },)+
                }
            }
        }
    };
}

warnings! {
    /// There is only one node, so there is no remote latency.
    OneNode = "one-node" => Note;
        "single NUMA node: there is no remote latency";
        "`latency-bench curve` measures its caches and memory";
    /// A node has CPUs of several packages, so that its memory may be of several, too.
    NodeOfPackages { node: NodeId, packages: u32 } = "node-spans-packages" => Note;
        "node {node} spans {packages} packages: part of its memory may be remote";
        "switch off node interleaving (NPS0) in the firmware, and numa=off of the kernel";
    /// There are more nodes than the program can measure.
    TooManyNodes { found: u32, held: u32 } = "too-many-nodes" => Note;
        "found {found} nodes, measuring only the first {held}";
        "select others with --cpunode and --memnode";
    /// The process may not use a part of the machine's CPUs.
    CpusetPartial { allowed: u32, online: u32 } = "cpuset-partial" => Note;
        "restricted to {allowed} of {online} CPUs by the affinity mask or cpuset";
        "widen cpuset.cpus or the affinity mask to use the others";
    /// CPUs are isolated, and were not named.
    CpusIsolated { cpus: ShortText } = "cpus-isolated" => Note;
        "isolated CPUs are not measured: {cpus}";
        "name them to measure them (--cpu=N, --load-cpus=LIST)";
    /// A control group allows less CPU time than one thread needs.
    CpuQuota { cpus: f64 } = "cpu-quota" => Note;
        "cgroup CPU quota is {cpus:.3} CPUs: the kernel throttles this process in every period";
        "raise cpu.max; in a container: docker run without --cpus"; where cpus = Trimmed(cpus);
    /// The process may not use the memory of a node, so it is not measured.
    NodeLeftOut { node: NodeId } = "node-left-out" => Note, Node(node);
        "skipping node {node}: its memory is outside cpuset.mems";
        "widen cpuset.mems to include it";
    /// /proc does not exist.
    NoProc = "no-proc" => Fair;
        "/proc is not mounted", ": page sizes and memory limits are unknown";
        "as root: mount -t proc proc /proc";
    /// /sys does not exist.
    NoSys = "no-sys" => Fair;
        "/sys is not mounted", ": nodes, caches and huge page pools are unknown";
        "as root: mount -t sysfs sysfs /sys";
    /// The kernel was built without NUMA.
    NoNuma = "no-numa" => Note;
        "this kernel has no NUMA: all memory is one node";
        "`latency-bench curve` measures its caches and memory";
    /// The working set is smaller than it should be.
    SizeClipped { from: Bytes, to: Bytes, why: Clipped } = "size-clipped" => Note, Size(from);
        "working set reduced from {from} to {to} (limited by the memory {whose})";
        "{remedy}, or set --size"; where (whose, remedy) = why.words();
    /// The working set fits in a reported cache, and the user chose its size: the latency of this cache is measured.
    CacheLatency { size: Bytes, level: u32, cache: Bytes } = "cache-latency" => Note, Size(size);
        "{size} fits in the L{level} cache ({cache}): this measures cache, not memory";
        "omit --size to measure memory";
    /// The working set is not much larger than the last-level cache, or cache hits were seen in it (`seen`). `asked` is
    /// true if the user chose the size.
    CacheCouldHold { size: Bytes, cache: Bytes, asked: bool, seen: bool } = "cache-could-hold"
        if seen && size > cache => may_hold(size, cache, asked), Size(size), cache.0.real() / size.0.real();
        "part of {size} hit in a cache", " in a test before the run";
        "use --size={least} or more"; where least = beyond(cache, size, seen);
        => may_hold(size, cache, asked), Size(size), cache.0.real() / size.0.real();
        "{much}{size} {fits} in the last-level cache", " ({cache})";
        "use --size={least} or more";
        where least = beyond(cache, size, seen), much = if size > cache { "much of " } else { "" },
            fits = if size > cache { "may fit" } else { "fits" };
    /// The system reports a cache of an implausible size.
    CacheSizeImplausible { level: u32, size: Bytes } = "cache-size-implausible" => Fair, Level(level);
        "ignoring the reported L{level} size: {size} is implausible";
        "`latency-bench curve` measures the caches";
    /// Neither sysfs nor the processor reports a cache.
    CacheUnknown { assumed: Bytes } = "cache-unknown" => Note;
        "last-level cache size unknown (not in sysfs or {claims}); assuming {assumed}";
        "`latency-bench curve` measures the caches"; where claims = words().claims_name;
    /// Cache hits were seen in the default working set, and the working set was doubled.
    WorkingSetDoubled { from: Bytes, to: Bytes } = "working-set-doubled" => Note;
        "working set {grown} to {to} because {from} still hit in a cache";
        "set --size to override it"; where grown = if to == from.times(2) { "doubled" } else { "enlarged" };
    /// The measured size of the last-level cache differs from the reported one.
    ReportedCacheDiffers { reported: Bytes, found: Bytes } = "reported-cache-differs"
        if found < reported => Note;
        "only about {found} of the reported {reported} last-level cache was usable from this core";
        "`latency-bench curve` measures the caches";
        => Note;
        "measured last-level cache is about {found}; the system reports {reported}";
        "`latency-bench curve` measures the caches";
    /// The warm pass was a little faster than the cold one.
    CacheServesPart { size: Bytes, cold: Picoseconds, warm: Picoseconds } = "cache-serves-part"
        => Fair, Size(size);
        "part of the {size} working set may be cached", " (first pass {cold} ns, later passes {warm} ns)";
        "use --size={larger}";
        where cold = nanoseconds(cold), warm = nanoseconds(warm), larger = size_option(size.times(8));
    /// The warm pass was much faster than the cold one.
    LooksCached { size: Bytes, cold: Picoseconds, warm: Picoseconds } = "looks-cached"
        => Poor, Size(size), cold.0.real() / warm.0.real();
        "the {size} working set is cached",
        " (first pass {cold} ns, later passes {warm} ns): this is not memory latency";
        "use --size={larger}";
        where cold = nanoseconds(cold), warm = nanoseconds(warm), larger = size_option(size.times(8));
    /// A cache in front of a node's memory may hold much of the working set; `fits` is true if a working set of four
    /// times this cache is available.
    SideCache { node: NodeId, cache: Bytes, size: Bytes, fits: bool } = "side-cache"
        if fits => Fair, Node(node);
        "node {node} was measured through a {cache} side cache", ", which may hold {part} of {size}";
        "use --size={wanted} (curve: --max-size) to measure the memory behind it";
        where part = if size <= cache { "all" } else { "much" }, wanted = size_option(cache.times(4));
        => Fair, Node(node);
        "node {node} was measured through a {cache} side cache", ", which may hold {part} of {size}";
        "measuring the memory behind it needs {least}, more than the node has";
        where part = if size <= cache { "all" } else { "much" }, least = cache.times(4);
    /// `--pages=auto` did not get the largest pages.
    PagesFellBack { found: PageSize } = "pages-fell-back" => Note, Size(found.bytes());
        "using {found} pages: no larger pages available";
        "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
    /// `--pages=auto` did not request transparent huge pages, since one is larger than half of the working set.
    ThpTooLarge { page: PageSize, size: Bytes, found: PageSize } = "thp-too-large" => Note, Size(size);
        "using {found} pages: a transparent huge page has {page}, and the working set has {size}";
        "use --pages=thp, or a larger --size";
    /// A whole number of transparent huge pages is much larger than the working set.
    ThpRoundedUp { page: PageSize, size: Bytes, mapped: Bytes } = "thp-rounded-up" => Note, Size(size);
        "placed {mapped} of memory for a working set of {size}", ": a transparent huge page has {page}";
        "use --pages=base, or a larger --size";
    /// Only a part of the buffer is in transparent huge pages.
    ThpPartial { wanted: Bytes, found: Bytes } = "thp-partial"
        => Poor, Size(wanted), wanted.0.saturating_sub(found.0).real() / wanted.0.real();
        "only {found} of {wanted} is in transparent huge pages";
        "as root: echo 1 > /proc/sys/vm/compact_memory";
    /// The TLB behaves as if the pages were small, because a hypervisor backs them with small ones.
    HugePagesWithoutEffect { page: PageSize, base: PageSize } = "huge-pages-without-effect"
        => Note, Size(page.bytes());
        "the hypervisor backs this guest's {page} pages with {base} pages, which cancels part of the huge-page \
         benefit";
        "enable huge pages on the host";
    /// The TLB was not seen to hold the pages of a window, so memory and translation were not told apart. `ratio` is
    /// the latency in windows of half the pages, divided by that in whole windows: the end of its interval that is
    /// farther from 1.
    TranslationNotSeparated { from: NodeId, to: NodeId, size: Bytes, ratio: f64 } = "translation-not-separated"
        => Note, Point(from, to, size), percent_off(ratio);
        "memory and address translation could not be told apart",
        ": loads within 16 pages and within 32 pages differ by up to {off:.0}%, so the TLB may hold fewer pages";
        "compare latencies of large pages (--pages=2m)"; where off = percent_off(ratio);
    /// The node of the pages could not be verified.
    PlacementUnverified { node: NodeId, why: &'static str } = "placement-unverified" => Poor, Node(node);
        "could not verify that the memory is on node {node}", ": {why}";
        "mount /proc, and allow this process to read its numa_maps";
    /// The node of the pages was verified, and the kernel did not report their size.
    PageSizeUnverified { node: NodeId, pages: Pages } = "page-size-unverified" => Poor, Node(node);
        "could not verify that node {node} gave {pages} pages", ": the kernel reports no page size";
        "mount /proc, and allow this process to read its smaps";
    /// Memory policies are forbidden; the pages were placed by first touch, and their node was verified.
    PlacedByFirstTouch { node: NodeId } = "placed-by-first-touch" => Note, Node(node);
        "mbind is not permitted: pages were placed on node {node} by first touch and verified there";
        "grant the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)";
    /// The target cannot be reached by first touch either.
    NotMeasurableHere { node: NodeId } = "not-measurable-here" => Fair, Node(node);
        "cannot measure node {node}", ": mbind is not permitted and no CPU of node {node} is allowed";
        "grant the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)";
    /// The process was started under a memory policy.
    InheritedPolicy { policy: &'static str } = "inherited-policy" => Note;
        "inherited memory policy '{policy}' (numactl?): measuring only its nodes";
        "start without numactl to measure all nodes";
    /// Pages left the target while they were measured.
    PagesMoved { node: NodeId, pages: u64 } = "pages-moved" => Poor, Node(node), pages.real();
        "{pages} page{s} migrated off node {node}", " during the run";
        "use reserved pages (--pages=2m), which the kernel does not move"; where s = plural(pages);
    /// The kernel merged or split huge pages while they were measured.
    HugePagesChanged { node: NodeId, before: Bytes, after: Bytes, mapped: Bytes } = "huge-pages-changed"
        => graded(before.0.abs_diff(after.0).real() / mapped.0.real(), MUCH_OF_HUGE_PAGES), Node(node);
        "huge pages on node {node} changed from {before} to {after}", " during the run";
        "use reserved pages (--pages=2m), which the kernel does not change";
    /// Other tasks ran for this share of the time in which a thread of the run needed its CPU.
    OtherWork { cpu: CpuId, share: f64 } = "other-work" => graded(share, MUCH_OTHER_WORK), Cpu(cpu), share;
        "other processes used {percent}% of CPU {cpu}", " during the measurement";
        "stop other processes, or use idle CPUs (--cpu=N, --load-cpus=N)"; where percent = percent(share);
    /// The hypervisor ran something else for this share of the time in which the CPU was busy (steal time).
    Stolen { cpu: CpuId, share: f64 } = "stolen-time" => Fair, Cpu(cpu), share;
        "steal time {percent}% on CPU {cpu}", ": the hypervisor withheld this CPU";
        "use a host that is not overcommitted, or a dedicated one"; where percent = percent(share);
    /// The SMT sibling of a measuring CPU was busy with other work for this share of the time.
    SiblingBusy { cpu: CpuId, share: f64 } = "sibling-busy" => Fair, Cpu(cpu), share;
        "the SMT sibling of CPU {cpu} was {percent}% busy", " with other processes";
        "keep the SMT sibling idle, or use other cores (--cpu=N, --load-cpus=N)"; where percent = percent(share);
    /// The thread was found on another CPU than the one to which it was pinned.
    ThreadMoved { times: u64 } = "thread-moved" => Poor;
        "the thread was migrated to another CPU {times} time{s}", "; the affected trials were discarded";
        "stop the program that changes CPU affinities or cpusets, then rerun"; where s = plural(times);
    /// The ratio of the latency of the whole run to the latency in rounds with quiet neighbours.
    Neighbours { from: NodeId, to: NodeId, size: Bytes, ratio: f64 } = "neighbours"
        => Fair, Point(from, to, size), ratio;
        "neighbours raise memory latency to {slower:.2}x the steady value";
        "use a dedicated host, or --until=quiet"; where slower = ratio;
    /// The run waited this number of seconds for quiet neighbours, and the rounds of some pair give no steady
    /// value.
    NotQuiet { seconds: f64 } = "not-quiet" => Fair;
        "no steady rounds in {seconds} s", ": the latency without neighbours has only an upper bound";
        "use a longer --until=quiet=TIME, or a dedicated host"; where seconds = Trimmed(seconds);
    /// A memory device had this number of errors during the run, and this number since the kernel started.
    // An uncorrected error weighs more than any number of corrected ones.
    MemoryErrors { locator: Text<64>, count: u64, total: u64, corrected: bool } = "memory-errors"
        => if corrected { Fair } else { Poor }, Run, count.real() + if corrected { 0.0 } else { 1e20 };
        "{total} {un}corrected memory errors since boot, {count} during this run", ", on DIMM {locator}";
        "see the kernel log (dmesg); replace the DIMM";
        where un = if corrected { "" } else { "un" };
    /// The kernel counted machine checks during the run, or gave up memory because of errors.
    HardwareErrors { checks: u64, corrupted: Bytes } = "hardware-errors" => Poor;
        "hardware errors during this run",
        ": {checks} machine check{s}, {corrupted} of memory given up by the kernel";
        "see the kernel log (dmesg)"; where s = plural(checks);
    /// The CPU was too hot this number of times.
    Overheated { times: u64 } = "overheated" => Fair;
        "the processor was too hot {times} time{s} during this run";
        "check fans and air flow"; where s = plural(times);
    /// The kernel moves pages to the node that uses them (automatic NUMA balancing).
    NumaBalancing = "numa-balancing" => Note;
        "automatic NUMA balancing is enabled: the kernel may migrate pages and interrupt the run";
        "as root: echo 0 > /proc/sys/kernel/numa_balancing";
    /// A governor may change the core frequency.
    FrequencyScaling { governor: ShortText } = "frequency-scaling" => Note;
        "the frequency governor is '{governor}': the core clock may change";
        "as root: cpupower frequency-set -g performance";
    /// The core clock changed during the run: its tenth and its ninetieth percentile. `core` is true if caches or
    /// instructions of a core were timed, and false if only memory was.
    CoreClockUnstable { least: Hertz, most: Hertz, core: bool } = "core-clock-unstable"
        => if core { Fair } else { Note };
        "core clock varied from {least:.2} to {most:.2} GHz", "{effect}";
        "fix the core frequency, then rerun";
        where least = least.gigahertz(), most = most.gigahertz(), effect = match core {
            true => ": compare L1, L2 and instructions in core cycles, not ns",
            false => "; memory has its own clock",
        };
    /// The processor does not declare that the counter's rate is constant, but its calibrations agree.
    // Other instruction sets promise a constant rate.
    CounterNotInvariant = "tsc-not-invariant" => Fair;
        "the TSC is not reported as invariant", ", but its calibrations agree";
        "compare the results of several runs, or use a machine with an invariant TSC";
    /// The calibrations of the counter differ by this number of parts per million.
    CounterUnsteady { ppm: f64 } = "tsc-unsteady" => graded(ppm, MUCH_DRIFT_PPM);
        "{counter} calibrations disagree by {apart:.0} ppm";
        "check the clock source; rule out suspend and live migration";
        where counter = words().counter_name, apart = ppm;
    /// The counter and the kernel's clock drifted apart during the run.
    CounterDrift { ppm: f64 } = "tsc-drift" => graded(ppm.abs(), MUCH_DRIFT_PPM);
        "the {counter} runs {drift:.0} ppm {side}{clock}", "{rest}";
        "check the clock source; rule out suspend and live migration";
        where counter = words().counter_name, drift = ppm.abs(), side = if ppm < 0.0 { "slower" } else { "faster" },
            // With a longer name, the fact is short enough only without the other clock.
            [clock, rest] = match words().cycles_are {
                Cycles::Counter => [" than CLOCK_MONOTONIC_RAW", ""],
                Cycles::Core => ["", " than CLOCK_MONOTONIC_RAW"],
            };
    /// The measured rate of the counter differs from the declared rate.
    CounterMismatch { measured: Hertz, declared: Hertz } = "tsc-mismatch"
        if words().cycles_are == Cycles::Counter => Poor;
        "the {counter} runs at {measured:.3} MHz, but {source} reports {declared:.3} MHz";
        "cross-check against another clock source";
        where counter = words().counter_name, source = words().counter_declared_by,
            measured = measured.megahertz(), declared = declared.megahertz();
        => Poor;
        "the {counter} runs at {measured:.3} MHz", ", but {source} reports {declared:.3} MHz";
        "cross-check against another clock source";
        where counter = words().counter_name, source = words().counter_declared_by,
            measured = measured.megahertz(), declared = declared.megahertz();
    /// The kernel's clock is used because the counter is not usable.
    NoCounter { why: &'static str } = "no-tsc" => Fair;
        "not using the {counter} ({why})", ": no {cycles} cycles and no percentiles";
        "use a machine with an invariant {counter}";
        where counter = words().counter_name,
            cycles = if words().cycles_are == Cycles::Core { "core" } else { words().counter_name };
    /// A pair of readings of the counter takes this number of nanoseconds, because they are emulated.
    CounterTrapped { nanoseconds: f64 } = "counter-trapped" => Note;
        "each reading of the {counter} costs {cost:.0} ns, because the kernel or the hypervisor emulates it";
        "use a machine whose counter needs no emulation";
        where counter = words().counter_name, cost = nanoseconds / 2.0;
    /// The core's clock could not be measured at some point, so `cycles` are ticks of the counter.
    NoCoreClock { cause: SeenCause } = "no-core-clock" => Fair;
        "the core clock could not be measured", ": cycles are ticks of the {counter}";
        "{remedy}"; where counter = words().counter_name, remedy = cause.remedy(ANOTHER_CORE);
    /// A reading of the counter does not wait for earlier instructions, although the processor may promise it. This
    /// matters if loads or messages are timed one at a time (`single`), because a load may begin before its first
    /// timestamp.
    // The two timestamps of a batch are far apart, so a load that begins early changes nothing.
    FenceNotSerialising { promised: bool, single: bool } = "fence-not-serialising"
        => if single { Fair } else { Note };
        "{fact}", "{promise}: timings of single loads are inexact";
        "{remedy}"; where [fact, promise, remedy] = words().fence_does_not_wait,
            promise = if promised { promise } else { "" };
    /// The machine is emulated.
    Emulated { by: ShortText } = "emulated" => Note;
        "emulated by {by}: these are not hardware latencies";
        "run on real hardware, or in a virtual machine with KVM";
    /// The latency of an L1 hit is not a whole number of core cycles.
    L1NotInteger { cycles: f64, cause: SeenCause } = "l1-not-integer" => Poor;
        "self-test failed: L1 hit latency is {cycles:.2} cycles", ", expected {whole}{seen}";
        "{remedy}"; where whole = words().l1_hit_cycles, seen = cause.seen(), remedy = cause.remedy(ANOTHER_CORE);
    /// The latency of a multiplication is not a whole multiple of the latency of an addition.
    // A busy sibling delays some of the additions: core cycles are off by that share, nanoseconds are not.
    MultiplyAddRatio { ratio: f64, cause: SeenCause } = "multiply-add-ratio"
        => graded(math::distance_from_whole(ratio) / ratio, MUCH_OFF);
        "self-test failed: multiply/add latency ratio is {ratio:.2}", ", expected {whole}{seen}";
        "{remedy}"; where whole = words().multiply_ratio, seen = cause.seen(), remedy = cause.remedy(ANOTHER_CORE);
    /// A measured point in the L1 cache has a latency of no whole number of core cycles.
    // Like stolen time, this is in the value, which is correct for a core that is slowed in this way.
    CoreSlowed { from: NodeId, to: NodeId, size: Bytes, cycles: f64, cause: SeenCause } = "core-slowed"
        => Fair, Point(from, to, size), math::distance_from_whole(cycles);
        "core slowed during trials: L1 latency is {cycles:.2} cycles", ", expected a whole number{seen}";
        "{remedy}"; where seen = cause.seen(), remedy = cause.remedy(ANOTHER_CORE);
    /// A point that was measured again at the end of the run, in new memory, has another latency.
    RepeatRatio { ratio: f64, cause: SeenCause } = "repeat-ratio" => Poor;
        "the repeat of the first point was {percent:.0}% {side}", ", in freshly allocated memory";
        "{remedy}";
        where percent = percent_off(ratio), side = if ratio < 1.0 { "faster" } else { "slower" },
            remedy = cause.remedy(ANOTHER_CORE);
    /// Chains with a small and a large stride differ more than they should.
    // A prefetcher lowers the latency with a small stride; a higher latency is noise.
    PrefetchAudit { ratio: f64, line: LineSize, cause: SeenCause } = "prefetch-audit"
        if ratio >= 1.0 => Note;
        "prefetcher check inconclusive (noise): {line} stride was {ratio:.2}x slower than {sparse} stride";
        "{remedy}"; where line = line.bytes(), sparse = line.times(SPARSE), remedy = cause.remedy(ANOTHER_CORE);
        => graded(1.0 - ratio, MUCH_HIDDEN);
        "a prefetcher hides {percent:.0}% of the latency", " at {line} stride";
        "use --stride={sparse}";
        where percent = percent_off(ratio), line = line.bytes(), sparse = line.times(SPARSE).0;
    /// A prefetcher fetches neighbouring lines together, but too early for a random order in a large working set.
    NeighboursFetched { ratio: f64, line: LineSize, cause: SeenCause } = "neighbours-fetched"
        if ratio >= 1.0 => Note;
        "prefetcher check inconclusive (noise): {line} stride was {ratio:.2}x slower than {sparse} stride";
        "{remedy}"; where line = line.bytes(), sparse = line.times(SPARSE), remedy = cause.remedy(ANOTHER_CORE);
        => Fair;
        "the adjacent-line prefetcher is active",
        ": it hides {percent:.0}% of the latency of cache-resident working sets";
        "use --stride={sparse}"; where percent = percent_off(ratio), sparse = line.times(SPARSE).0;
    /// The ratio of the latency with pointers to the latency with indices: a prefetcher follows pointers.
    PointersFollowed { ratio: f64 } = "pointers-followed" => graded(1.0 - ratio, MUCH_HIDDEN);
        "a prefetcher hides {percent:.0}% of the latency", " of pointers";
        "use --kernel=index"; where percent = percent_off(ratio);
    /// The order of the chain lets prefetchers reduce the latency.
    PrefetchAssisted { order: &'static str } = "prefetch-assisted" => Note;
        "prefetchers accelerate {order} order: this is not random-access latency";
        "use --order=random to measure random-access latency";
    /// The order of the chain lets loads share translations.
    GroupedOrder = "grouped-order" => Note;
        "loads in grouped order share page walks: this is not a latency of memory";
        "use --order=random to measure random-access latency";
    /// The confidence interval is wider than requested.
    // Without an interval nothing is known of the precision, so this is the least certain value.
    PrecisionNotReached {
        from: NodeId, to: NodeId, size: Bytes, found: f64, wanted: f64, limit: TimeLimit, cause: SeenCause
    } = "precision-not-reached"
        if found.is_nan() => Poor, Point(from, to, size), f64::INFINITY;
        "too few rounds for a confidence interval";
        "increase {limit}";
        // A wide interval is correct. The load from other processes differs between windows of any length.
        => Fair, Point(from, to, size), found;
        "95% interval ±{within}% (target ±{wanted}%)";
        "{remedy}";
        where within = Digits(found * 100.0), wanted = Trimmed(wanted * 100.0), longer = longer(limit),
            remedy = cause.remedy(longer.as_str());
    /// A share of the trials was interrupted.
    Disturbed { from: NodeId, to: NodeId, size: Bytes, share: f64, cause: SeenCause } = "disturbed"
        => Fair, Point(from, to, size), share;
        "{percent}% of the trials were interrupted", "{seen}";
        "{remedy}"; where percent = percent(share), seen = cause.seen(), remedy = cause.remedy(ANOTHER_CORE);
    /// A hop is too short to be timed alone.
    HopsTooShort { from: NodeId, to: NodeId, size: Bytes, hops: u32, latency: Picoseconds } = "hops-too-short"
        => Poor, Point(from, to, size), f64::from(hops);
        "loads of {latency} ns were timed in groups of {hops}", ", which understates tail percentiles";
        "use a larger --size, or rely on the median only"; where latency = nanoseconds(latency);
    /// The mean of single hops differs from the latency of the batches.
    HopMeanDiffers { from: NodeId, to: NodeId, size: Bytes, ratio: f64, cause: SeenCause } = "hop-mean-differs"
        => Poor, Point(from, to, size), (ratio - 1.0).abs();
        "the means of single loads and of batches differ by {percent:.1}%";
        "{remedy}"; where percent = percent_off(ratio), remedy = cause.remedy(ANOTHER_CORE);
    /// Some of many points have a confidence interval that is wider than requested; `unknown` of them have none.
    PointsNotPrecise { points: u32, unknown: u32, of: u32, wanted: f64, limit: TimeLimit, cause: SeenCause }
        = "points-not-precise"
        if unknown == 0 => Fair;
        "{points} of {of} point{s} {verb} an interval wider than ±{wanted}%";
        "{remedy}"; where verb = if points == 1 { "has" } else { "have" }, wanted = Trimmed(wanted * 100.0),
            s = plural(of), longer = longer(limit), remedy = cause.remedy(longer.as_str());
        => graded(f64::from(unknown) / f64::from(of), MOST);
        "{points} of {of} point{s} {verb} the target interval of ±{wanted}%", ", {unknown} of them without an interval";
        "increase {limit}"; where wanted = Trimmed(wanted * 100.0), s = plural(of),
            verb = if points == 1 { "misses" } else { "miss" };
    /// Some of many points had interrupted trials, each at least this share of its trials.
    PointsDisturbed { points: u32, of: u32, share: f64, cause: SeenCause } = "points-disturbed" => Fair;
        "trials were interrupted at {points} of {of} point{s}", ", at least {percent}% of them{seen}";
        "{remedy}"; where percent = Trimmed(share * 100.0), s = plural(of), seen = cause.seen(),
            remedy = cause.remedy(ANOTHER_CORE);
    /// Trials of one round are in several states, so that few of them agree on a value; `share` is the smallest share
    /// that agrees.
    StateShare { points: u32, of: u32, share: f64, cause: SeenCause } = "state-share"
        if of == 1 => Fair;
        "multimodal latency: only {percent:.0}% of trials in the main mode";
        "{remedy}"; where percent = 100.0 * share, remedy = cause.remedy(ANOTHER_CORE);
        => Fair;
        "multimodal latency: only {percent:.0}% of trials in the main mode", " (at {points} of {of} points)";
        "{remedy}"; where percent = 100.0 * share, remedy = cause.remedy(ANOTHER_CORE);
    /// The steps of the timer are coarse compared with a trial; the shortest trial has this number of steps.
    FewSteps { steps: u64 } = "few-steps" => Fair;
        "trials are too short: {steps} timer tick{s} each";
        "omit --iters, or increase it"; where s = plural(steps);
    /// The timer stepped back during trials.
    TimerSteppedBack { trials: u64 } = "timer-stepped-back" => Poor;
        "the timer went backwards in {trials} trial{s}", " (discarded)";
        "check the kernel log (dmesg) for {counter} messages"; where s = plural(trials),
            counter = words().counter_name;
    /// Counted core cycles differ from the cycles that a chain of dependent additions gives.
    CoreCyclesDiffer { ratio: f64, cause: SeenCause } = "core-cycles-differ" => Poor;
        "counted and estimated core cycles differ by {percent:.0}%";
        "{remedy}"; where percent = percent_off(ratio), remedy = cause.remedy(ANOTHER_CORE);
    /// There are no hardware counters.
    CountersUnavailable { why: NoCounters } = "counters-unavailable"
        if why == NoCounters::Paranoid => Note;
        "no hardware counters: kernel.perf_event_paranoid forbids them";
        "as root: echo 2 > /proc/sys/kernel/perf_event_paranoid";
        if why == NoCounters::Filtered => Note;
        "no hardware counters: a seccomp filter blocks perf_event_open";
        "grant the container CAP_PERFMON (docker run --cap-add=PERFMON)";
        if why == NoCounters::Hidden => Note;
        "no hardware counters: the hypervisor provides none";
        "enable the virtual PMU in the hypervisor";
        => Note;
        "no hardware counters: the processor provides none";
        "use a machine with hardware counters";
    /// The kernel refused some of the threads.
    ThreadsRefused { wanted: u32, started: u32, errno: Errno } = "threads-refused" => Fair;
        "started only {started} of {wanted} threads", ": {errno}";
        "raise ulimit -u, pids.max of the cgroup or kernel.threads-max";
    /// Generators were found on other CPUs than those to which they were pinned.
    GeneratorMoved { times: u64 } = "generator-moved" => Poor;
        "generators were migrated to other CPUs in {times} run{s}";
        "stop the program that changes CPU affinities or cpusets, then rerun"; where s = plural(times);
    /// The rate of the generators did not become steady in this number of the visits.
    NotSettled { windows: u64, of: u64, cause: SeenCause } = "not-settled" => Fair;
        "generators had no steady rate at the start of {windows} of {of} runs";
        "{remedy}"; where remedy = cause.here().remedy("rerun; if it recurs, use other CPUs (--load-cpus=LIST)");
    /// A quota of CPU time stopped all threads in this number of the visits.
    Throttled { windows: u64, of: u64 } = "throttled" => Poor;
        "the CPU quota throttled the generators in {windows} of {of} runs";
        "raise cpu.max of the cgroup (docker run --cpus), or use fewer CPUs";
    /// There is a CPU for only one generator.
    OneGenerator = "one-generator" => Note;
        "only one generator: a single core may be unable to saturate this memory";
        "give this process more CPUs";
    /// There is no time for all pairs of nodes.
    PairsLeftOut { pairs: u32, of: u32 } = "pairs-left-out" => Fair;
        "skipped {pairs} of {of} node pairs", ": they do not fit the time budget";
        "increase --budget, or select nodes with --cpunode and --memnode";
    /// Traffic below the limit was not delivered at the offered rate, in bytes per second.
    RateNotDelivered { offered: f64, delivered: f64, cause: SeenCause } = "rate-not-delivered" => Poor;
        "generators delivered only {delivered:.2} of the requested {offered:.2} GB/s",
        ", although memory was not saturated";
        "{remedy}"; where delivered = delivered / 1e9, offered = offered / 1e9,
            remedy = cause.here().remedy("use more CPUs (--load-cpus=LIST)");
    /// Memory has a higher latency when idle than under a load, in bytes per second.
    IdleMemorySlower { node: NodeId, idle: Picoseconds, loaded: Picoseconds, rate: f64 } = "idle-memory-slower"
        => Note, Node(node);
        "node {node}: idle latency {idle} ns exceeds {loaded} ns at {rate:.2} GB/s, likely due to power management";
        "select the low-latency BIOS profile";
        where idle = nanoseconds(idle), loaded = nanoseconds(loaded), rate = rate / 1e9;
    /// The apparent number of lines in flight per core is larger than on any real core.
    LittleImplausible { lines: f64 } = "little-implausible" => Poor;
        "{lines:.0} outstanding lines per core is implausible", ": the data probably came from a cache";
        "use a larger --size, and check the reported caches";
    /// The budget has no time for a kind of traffic between two nodes.
    OverBudget { from: NodeId, to: NodeId, kind: &'static str, seconds: f64 } = "over-budget"
        => Fair, Traffic(from, to, kind);
        "node {from} -> node {to}, {kind}: skipped", ", does not fit the {seconds} s budget";
        "increase --budget, or select fewer nodes or traffic mixes"; where seconds = Trimmed(seconds);
    /// The hypervisor does not report which virtual CPUs share a core.
    VcpusMayShareCore = "vcpus-may-share-a-core" => Note;
        "the hypervisor hides the core topology: two vCPUs may be SMT siblings";
        "configure the hypervisor to expose the topology";
    /// In a virtual machine, the latency between two CPUs on separate reported cores is as low as between threads of one
    /// core.
    TopologyDoubtful { a: CpuId, b: CpuId, ns: f64 } = "topology-doubtful" => Fair;
        "CPUs {a} and {b} look like SMT siblings",
        " ({ns:.1} ns core to core), although the system reports separate cores";
        "configure the hypervisor to expose the topology";
    /// There is no time for all pairs of CPUs, so only a few of each class are measured.
    PairsOfClasses { of: u32 } = "pairs-of-classes" => Note;
        "not all {of} pairs fit the time budget: sampling a few pairs per class";
        "increase --budget, or select pairs with --pairs";
    /// The measured memory latency is far from the one in the firmware tables.
    FirmwareLatencyDiffers { node: NodeId, claimed: Picoseconds, measured: Picoseconds } = "firmware-latency-differs"
        => Note, Node(node);
        "node {node}: measured latency {measured} ns, firmware reports {claimed} ns";
        "rely on the measured value; a firmware update may fix the table";
        where measured = nanoseconds(measured), claimed = nanoseconds(claimed);
    /// The DIMMs of this number of processors cannot be the same on all channels.
    ChannelsUnequal { dimms: u32, sockets: u32 } = "channels-unequal" => Note;
        "{dimms} DIMMs on {sockets} socket{s}: the memory channels cannot all be populated alike";
        "fit each channel with the same DIMMs"; where s = plural(sockets);
    /// The latencies of two nodes of one memory tier differ.
    TierContradiction { tier: u32, fast: NodeId, slow: NodeId, ratio: f64 } = "tier-contradiction"
        => Note, Node(slow);
        "nodes {fast} and {slow} are both in memory tier {tier}, but node {slow} has {ratio:.2}x the latency";
        "update kernel or firmware so that HMAT/CDAT describe these nodes separately";
    /// The run was interrupted.
    Partial { finished: u32, planned: u32 } = "partial" => Poor;
        "measured only {finished} of {planned} point{s}", " before the interruption";
        "rerun without interrupting to measure the remaining points"; where s = plural(planned);
    /// The time limit of the whole run ended it before all points were measured as planned.
    BudgetOver { finished: u32, planned: u32 } = "budget-over"
        if finished < planned => Fair;
        "no time for {left} of {planned} point{s}", ", which were not measured";
        "increase --budget"; where left = planned - finished, s = plural(planned);
        => Fair;
        "the budget was over before the end";
        "increase --budget";
}

/// Returns the severity of a cache that may hold most of the working set: it decides the latency, whoever chose the size.
fn may_hold(size: Bytes, cache: Bytes, asked: bool) -> Severity {
    if asked && size.0 / 3 * 2 >= cache.0 { Fair } else { Poor }
}

/// Returns the smallest size that a cache does not serve; with hits `seen`, the size was certainly too small.
fn beyond(cache: Bytes, size: Bytes, seen: bool) -> impl fmt::Display {
    size_option(cache.times(4).max(if seen { size.times(2) } else { Bytes(0) }))
}

/// Returns the severity of a share or a difference: the result is unreliable from `poor_from` on.
fn graded(value: f64, poor_from: f64) -> Severity {
    if value < poor_from { Severity::Fair } else { Severity::Poor }
}

/// Returns the word for programs of a warning whose code is `code` where results show the counter's cycles.
fn code(code: &'static str) -> &'static str {
    let other = COUNTER_CODES.iter().find(|(known, _)| *known == code && words().cycles_are == Cycles::Core);
    other.map_or(code, |(_, other)| *other)
}

/// Returns a latency in nanoseconds.
fn nanoseconds(latency: Picoseconds) -> Digits {
    Digits(latency.0.real() / 1000.0)
}

/// Returns the remedy for scatter beside which nothing was seen.
fn longer(limit: TimeLimit) -> Text<48> {
    Text::of(format_args!("increase {limit}, or relax --precision"))
}
