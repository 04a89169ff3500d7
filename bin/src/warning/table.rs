//! The table of warnings. It is the only place for the code, severity, subject, words and remedy of each warning.
//!
//! The limits of severities are here too, so that a finding has the same severity in every experiment.

use latency_core::arch::Cycles;
use latency_core::decimal::Trimmed;
use latency_core::math::{self, ToReal};
use latency_core::text::plural;
use latency_core::units::{Bytes, Picoseconds};

use super::entry::{About, Entry, Facts, percent, percent_off, size_option};
use super::{Beside, NoCounters, Severity, Warning};
use crate::report::figures::Digits;
use crate::report::words::words;

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

impl Beside {
    /// Returns the cause that was seen, for the end of a sentence; nothing if there was none.
    const fn seen(self) -> &'static str {
        match self {
            Beside::Unknown => "",
            Beside::OtherWork => " (other processes used this CPU)",
            Beside::BusySibling => " (its SMT sibling was busy)",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Beside::Unknown => "rerun; if it recurs, compare another core (--cpu=N)",
            Beside::OtherWork => "stop other processes, then rerun",
            Beside::BusySibling => "keep the SMT sibling idle, then rerun",
        }
    }
}

impl Warning {
    /// Passes the entry of this warning to `take`.
    #[allow(clippy::too_many_lines)] // one entry a warning
    pub(super) fn describe(&self, take: &mut dyn FnMut(Entry<'_>)) {
        use About::{Cpu, Level, Node, Point, Run, Size, Traffic};
        use Severity::{Fair, Note, Poor};
        // Arguments: code, severity, subject if it is not the whole run, measure; reason, rest; remedy; values in these
        // texts that are not variables.
        macro_rules! entry {
            (@about) => { Run };
            (@about $about:expr) => { $about };
            (@measure) => { None };
            (@measure $measure:expr) => { Some($measure) };
            ($code:literal, $severity:expr $(, $about:expr $(, $measure:expr)?)?;
             $reason:literal; $remedy:literal $(; $($name:ident = $value:expr),+)?) => {
                entry!($code, $severity $(, $about $(, $measure)?)?; $reason, ""; $remedy $(; $($name = $value),+)?)
            };
            ($code:literal, $severity:expr $(, $about:expr $(, $measure:expr)?)?;
             $reason:literal, $rest:literal; $remedy:literal $(; $($name:ident = $value:expr),+)?) => {{
                let facts = Facts {
                    code: code($code),
                    severity: $severity,
                    about: entry!(@about $($about)?),
                    measure: entry!(@measure $($($measure)?)?),
                };
                $($(let $name = $value;)+)?
                take(Entry {
                    facts,
                    reason: format_args!($reason),
                    rest: format_args!($rest),
                    remedy: format_args!($remedy),
                })
            }};
        }
        let words = words();
        match *self {
            Warning::OneNode => entry!(
                "one-node", Note;
                "single NUMA node: there is no remote latency";
                "`latency-bench curve` measures its caches and memory"
            ),
            Warning::TooManyNodes { found, held } => entry!(
                "too-many-nodes", Note;
                "found {found} nodes, measuring only the first {held}";
                "select others with --cpunode and --memnode"
            ),
            Warning::CpusetPartial { allowed, online } => entry!(
                "cpuset-partial", Note;
                "restricted to {allowed} of {online} CPUs by the affinity mask or cpuset";
                "widen cpuset.cpus or the affinity mask to use the others"
            ),
            Warning::CpusIsolated { cpus } => entry!(
                "cpus-isolated", Note;
                "isolated CPUs are not measured: {cpus}";
                "name them to measure them (--cpu=N, --load-cpus=LIST)"
            ),
            Warning::CpuQuota { cpus } => entry!(
                "cpu-quota", Note;
                "cgroup CPU quota is {cpus:.3} CPUs: the kernel throttles this process in every period";
                "raise cpu.max; in a container: docker run without --cpus";
                cpus = Trimmed(cpus)
            ),
            Warning::NodeLeftOut { node } => entry!(
                "node-left-out", Note, Node(node);
                "skipping node {node}: its memory is outside cpuset.mems";
                "widen cpuset.mems to include it"
            ),
            Warning::NoProc => entry!(
                "no-proc", Fair;
                "/proc is not mounted",
                ": page sizes and memory limits are unknown";
                "as root: mount -t proc proc /proc"
            ),
            Warning::NoSys => entry!(
                "no-sys", Fair;
                "/sys is not mounted",
                ": nodes, caches and huge page pools are unknown";
                "as root: mount -t sysfs sysfs /sys"
            ),
            Warning::NoNuma => entry!(
                "no-numa", Note;
                "this kernel has no NUMA: all memory is one node";
                "`latency-bench curve` measures its caches and memory"
            ),
            Warning::SizeClipped { from, to, why } => {
                let (whose, remedy) = why.words();
                entry!(
                    "size-clipped", Note, Size(from);
                    "working set reduced from {from} to {to} (limited by the memory {whose})";
                    "{remedy}, or set --size"
                )
            }
            Warning::CacheLatency { size, level, cache } => entry!(
                "cache-latency", Note, Size(size);
                "{size} fits in the L{level} cache ({cache}): this measures cache, not memory";
                "omit --size to measure memory"
            ),
            Warning::CacheCouldHold { size, cache, asked, seen } => {
                // If a cache may hold most of the working set, it decides the latency, whoever chose the size.
                let severity = if asked && size.0 / 3 * 2 >= cache.0 { Fair } else { Poor };
                let measure = cache.0.real() / size.0.real();
                // If cache hits were seen, the size was certainly too small.
                let least = size_option(cache.times(4).max(if seen { size.times(2) } else { Bytes(0) }));
                match () {
                    () if size <= cache => entry!(
                        "cache-could-hold", severity, Size(size), measure;
                        "{size} fits in the last-level cache",
                        " ({cache})";
                        "use --size={least} or more"
                    ),
                    () if seen => entry!(
                        "cache-could-hold", severity, Size(size), measure;
                        "part of {size} hit in a cache",
                        " in a test before the run";
                        "use --size={least} or more"
                    ),
                    () => entry!(
                        "cache-could-hold", severity, Size(size), measure;
                        "much of {size} may fit in the last-level cache",
                        " ({cache})";
                        "use --size={least} or more"
                    ),
                }
            }
            Warning::CacheSizeImplausible { level, size } => entry!(
                "cache-size-implausible", Fair, Level(level);
                "ignoring the reported L{level} size: {size} is implausible";
                "`latency-bench curve` measures the caches"
            ),
            Warning::CacheUnknown { assumed } => entry!(
                "cache-unknown", Note;
                "last-level cache size unknown (not in sysfs or {claims}); assuming {assumed}";
                "`latency-bench curve` measures the caches";
                claims = words.claims_name
            ),
            Warning::WorkingSetDoubled { from, to } => entry!(
                "working-set-doubled", Note;
                "working set {grown} to {to} because {from} still hit in a cache";
                "set --size to override it";
                grown = if to == from.times(2) { "doubled" } else { "enlarged" }
            ),
            Warning::ReportedCacheDiffers { reported, found } if found < reported => entry!(
                "reported-cache-differs", Note;
                "only about {found} of the reported {reported} last-level cache was usable from this \
                 core";
                "`latency-bench curve` measures the caches"
            ),
            Warning::ReportedCacheDiffers { reported, found } => entry!(
                "reported-cache-differs", Note;
                "measured last-level cache is about {found}; the system reports {reported}";
                "`latency-bench curve` measures the caches"
            ),
            Warning::CacheServesPart { size, cold, warm } => entry!(
                "cache-serves-part", Fair, Size(size);
                "part of the {size} working set may be cached",
                " (first pass {cold} ns, later passes {warm} ns)";
                "use --size={larger}";
                cold = nanoseconds(cold), warm = nanoseconds(warm), larger = size_option(size.times(8))
            ),
            Warning::LooksCached { size, cold, warm } => entry!(
                "looks-cached", Poor, Size(size), cold.0.real() / warm.0.real();
                "the {size} working set is cached",
                " (first pass {cold} ns, later passes {warm} ns): this is not memory latency";
                "use --size={larger}";
                cold = nanoseconds(cold), warm = nanoseconds(warm), larger = size_option(size.times(8))
            ),
            Warning::SideCache { node, cache, size, fits } => {
                let (part, least) = (if size <= cache { "all" } else { "much" }, cache.times(4));
                let wanted = size_option(least);
                match fits {
                    true => entry!(
                        "side-cache", Fair, Node(node);
                        "node {node} was measured through a {cache} side cache",
                        ", which may hold {part} of {size}";
                        "use --size={wanted} (curve: --max-size) to measure the memory behind it"
                    ),
                    false => entry!(
                        "side-cache", Fair, Node(node);
                        "node {node} was measured through a {cache} side cache",
                        ", which may hold {part} of {size}";
                        "measuring the memory behind it needs {least}, more than the node has"
                    ),
                }
            }
            Warning::PagesFellBack { found } => entry!(
                "pages-fell-back", Note, Size(found.bytes());
                "using {found} pages: no larger pages available";
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
            ),
            Warning::ThpTooLarge { page, size, found } => entry!(
                "thp-too-large", Note, Size(size);
                "using {found} pages: a transparent huge page has {page}, and the working set has {size}";
                "use --pages=thp, or a larger --size"
            ),
            Warning::ThpRoundedUp { page, size, mapped } => entry!(
                "thp-rounded-up", Note, Size(size);
                "placed {mapped} of memory for a working set of {size}",
                ": a transparent huge page has {page}";
                "use --pages=base, or a larger --size"
            ),
            Warning::ThpPartial { wanted, found } => entry!(
                "thp-partial", Poor, Size(wanted),
                wanted.0.saturating_sub(found.0).real() / wanted.0.real();
                "only {found} of {wanted} is in transparent huge pages";
                "as root: echo 1 > /proc/sys/vm/compact_memory"
            ),
            Warning::HugePagesWithoutEffect { page, base } => entry!(
                "huge-pages-without-effect", Note, Size(page.bytes());
                "the hypervisor backs this guest's {page} pages with {base} pages, which cancels part \
                 of the huge-page benefit";
                "enable huge pages on the host"
            ),
            Warning::TranslationNotSeparated { from, to, size, ratio } => entry!(
                "translation-not-separated", Note, Point(from, to, size), percent_off(ratio);
                "memory and address translation could not be told apart",
                ": loads within 16 pages and within 32 pages differ by up to {off:.0}%, so the TLB may hold fewer pages";
                "compare latencies of large pages (--pages=2m)";
                off = percent_off(ratio)
            ),
            Warning::PlacementUnverified { node, why } => entry!(
                "placement-unverified", Poor, Node(node);
                "could not verify that the memory is on node {node}",
                ": {why}";
                "mount /proc, and allow this process to read its numa_maps"
            ),
            Warning::PageSizeUnverified { node, pages } => entry!(
                "page-size-unverified", Poor, Node(node);
                "could not verify that node {node} gave {pages} pages",
                ": the kernel reports no page size";
                "mount /proc, and allow this process to read its smaps"
            ),
            Warning::PlacedByFirstTouch { node } => entry!(
                "placed-by-first-touch", Note, Node(node);
                "mbind is not permitted: pages were placed on node {node} by first touch and verified \
                 there";
                "grant the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)"
            ),
            Warning::NotMeasurableHere { node } => entry!(
                "not-measurable-here", Fair, Node(node);
                "cannot measure node {node}",
                ": mbind is not permitted and no CPU of node {node} is allowed";
                "grant the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)"
            ),
            Warning::InheritedPolicy { policy } => entry!(
                "inherited-policy", Note;
                "inherited memory policy '{policy}' (numactl?): measuring only its nodes";
                "start without numactl to measure all nodes"
            ),
            Warning::PagesMoved { node, pages } => entry!(
                "pages-moved", Poor, Node(node), pages.real();
                "{pages} page{s} migrated off node {node}",
                " during the run";
                "as root: echo 0 > /proc/sys/kernel/numa_balancing";
                s = plural(pages)
            ),
            Warning::HugePagesChanged { node, before, after, mapped } => entry!(
                "huge-pages-changed",
                graded(before.0.abs_diff(after.0).real() / mapped.0.real(), MUCH_OF_HUGE_PAGES),
                Node(node);
                "huge pages on node {node} changed from {before} to {after}",
                " during the run";
                "as root: echo 0 > /sys/kernel/mm/transparent_hugepage/khugepaged/defrag"
            ),
            Warning::OtherWork { cpu, share } => entry!(
                "other-work", graded(share, MUCH_OTHER_WORK), Cpu(cpu), share;
                "other processes used {percent}% of CPU {cpu}",
                " during the measurement";
                "stop other processes, or use idle CPUs (--cpu=N, --load-cpus=N)";
                percent = percent(share)
            ),
            Warning::Stolen { cpu, share } => entry!(
                "stolen-time", Fair, Cpu(cpu), share;
                "steal time {percent}% on CPU {cpu}",
                ": the hypervisor withheld this CPU";
                "use a host that is not overcommitted, or a dedicated one";
                percent = percent(share)
            ),
            Warning::SiblingBusy { cpu, share } => entry!(
                "sibling-busy", Fair, Cpu(cpu), share;
                "the SMT sibling of CPU {cpu} was {percent}% busy",
                " with other processes";
                "keep the SMT sibling idle, or use other cores (--cpu=N, --load-cpus=N)";
                percent = percent(share)
            ),
            Warning::ThreadMoved { times } => entry!(
                "thread-moved", Poor;
                "the thread was migrated to another CPU {times} time{s}",
                "; the affected trials were discarded";
                "stop the program that changes CPU affinities or cpusets, then rerun";
                s = plural(times)
            ),
            Warning::Neighbours { from, to, size, ratio } => entry!(
                "neighbours", Fair, Point(from, to, size), ratio;
                "neighbours raise memory latency to {slower:.2}x the steady value";
                "use a dedicated host, or --until=quiet";
                slower = ratio
            ),
            Warning::NotQuiet { seconds } => entry!(
                "not-quiet", Fair;
                "no steady rounds in {seconds} s",
                ": the latency without neighbours has only an upper bound";
                "use a longer --until=quiet=TIME, or a dedicated host";
                seconds = Trimmed(seconds)
            ),
            Warning::MemoryErrors { ref locator, count, total, corrected } => {
                // An uncorrected error weighs more than any number of corrected ones.
                let (severity, uncorrected) = if corrected { (Fair, 0.0) } else { (Poor, 1e20) };
                entry!(
                    "memory-errors", severity, Run, uncorrected + count.real();
                    "{total} {un}corrected memory errors since boot, {count} during this run",
                    ", on DIMM {locator}";
                    "see the kernel log (dmesg); replace the DIMM";
                    un = if corrected { "" } else { "un" }, locator = locator.as_str()
                )
            }
            Warning::HardwareErrors { checks, corrupted } => entry!(
                "hardware-errors", Poor;
                "hardware errors during this run",
                ": {checks} machine check{s}, {corrupted} of memory given up by the kernel";
                "see the kernel log (dmesg)";
                s = plural(checks)
            ),
            Warning::Overheated { times } => entry!(
                "overheated", Fair;
                "the processor was too hot {times} time{s} during this run";
                "check fans and air flow";
                s = plural(times)
            ),
            Warning::NumaBalancing => entry!(
                "numa-balancing", Note;
                "automatic NUMA balancing is enabled: the kernel may migrate pages and interrupt the run";
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"
            ),
            Warning::FrequencyScaling { ref governor } => entry!(
                "frequency-scaling", Note;
                "the frequency governor is '{governor}': the core clock may change";
                "as root: cpupower frequency-set -g performance";
                governor = governor.as_str()
            ),
            Warning::CoreClockUnstable { least, most, core } => entry!(
                "core-clock-unstable", if core { Fair } else { Note };
                "core clock varied from {least:.2} to {most:.2} GHz",
                "{effect}";
                "as root: cpupower frequency-set -g performance";
                least = least.gigahertz(), most = most.gigahertz(),
                effect = if core { ": compare L1, L2 and instructions in core cycles, not ns" } else { "; memory has its own clock" }
            ),
            // Other instruction sets promise a constant rate.
            Warning::CounterNotInvariant => entry!(
                "tsc-not-invariant", Fair;
                "the TSC is not reported as invariant",
                ", but its calibrations agree";
                "in a virtual machine: pass the invariant TSC through (+invtsc)"
            ),
            Warning::CounterUnsteady { ppm } => entry!(
                "tsc-unsteady", graded(ppm, MUCH_DRIFT_PPM);
                "{counter} calibrations disagree by {apart:.0} ppm";
                "check the clock source; rule out suspend and live migration";
                counter = words.counter_name, apart = ppm
            ),
            Warning::CounterDrift { ppm } => {
                let (severity, drift) = (graded(ppm.abs(), MUCH_DRIFT_PPM), ppm.abs());
                let (counter, side) = (words.counter_name, if ppm < 0.0 { "slower" } else { "faster" });
                // With a longer name, the fact is short enough only without the other clock.
                match words.cycles_are {
                    Cycles::Counter => entry!(
                        "tsc-drift", severity;
                        "the {counter} runs {drift:.0} ppm {side} than CLOCK_MONOTONIC_RAW";
                        "check the clock source; rule out suspend and live migration"
                    ),
                    Cycles::Core => entry!(
                        "tsc-drift", severity;
                        "the {counter} runs {drift:.0} ppm {side}",
                        " than CLOCK_MONOTONIC_RAW";
                        "check the clock source; rule out suspend and live migration"
                    ),
                }
            }
            Warning::CounterMismatch { measured, declared } => {
                let (measured, declared) = (measured.megahertz(), declared.megahertz());
                let (counter, source) = (words.counter_name, words.counter_declared_by);
                match words.cycles_are {
                    Cycles::Counter => entry!(
                        "tsc-mismatch", Poor;
                        "the {counter} runs at {measured:.3} MHz, but {source} reports {declared:.3} MHz";
                        "the hypervisor may scale the {counter}; cross-check against another clock \
                         source"
                    ),
                    Cycles::Core => entry!(
                        "tsc-mismatch", Poor;
                        "the {counter} runs at {measured:.3} MHz",
                        ", but {source} reports {declared:.3} MHz";
                        "the firmware may set {source} wrongly; cross-check against another clock source"
                    ),
                }
            }
            Warning::NoCounter { why } => entry!(
                "no-tsc", Fair;
                "not using the {counter} ({why})",
                ": no {cycles} cycles and no percentiles";
                "use a processor or hypervisor with an invariant {counter}";
                counter = words.counter_name,
                cycles = if words.cycles_are == Cycles::Core { "core" } else { words.counter_name }
            ),
            Warning::CounterTrapped { nanoseconds } => entry!(
                "counter-trapped", Note;
                "each reading of the {counter} costs {cost:.0} ns, because the kernel or the hypervisor \
                 emulates it";
                "use a machine whose counter needs no emulation";
                counter = words.counter_name, cost = nanoseconds / 2.0
            ),
            Warning::NoCoreClock => entry!(
                "no-core-clock", Fair;
                "the core clock could not be measured",
                ": cycles are ticks of the {counter}";
                "keep the SMT sibling idle, then rerun";
                counter = words.counter_name
            ),
            // The two timestamps of a batch are far apart, so a load that begins early changes nothing.
            Warning::FenceNotSerialising { promised, single } => {
                let [fact, promise, remedy] = words.fence_does_not_wait;
                entry!(
                    "fence-not-serialising", if single { Fair } else { Note };
                    "{fact}",
                    "{promise}: timings of single loads are inexact";
                    "{remedy}";
                    promise = if promised { promise } else { "" }
                );
            }
            Warning::Emulated { ref by } => entry!(
                "emulated", Note;
                "emulated by {by}: these are not hardware latencies";
                "run on real hardware, or in a virtual machine with KVM";
                by = by.as_str()
            ),
            Warning::L1NotInteger { cycles, beside } => entry!(
                "l1-not-integer", Poor;
                "self-test failed: L1 hit latency is {cycles:.2} cycles",
                ", expected {whole}{seen}";
                "{remedy}";
                whole = words.l1_hit_cycles, seen = beside.seen(), remedy = beside.remedy()
            ),
            // A busy sibling delays some of the additions: core cycles are off by that share, nanoseconds are not.
            Warning::MultiplyAddRatio { ratio, beside } => entry!(
                "multiply-add-ratio", graded(math::distance_from_whole(ratio) / ratio, MUCH_OFF);
                "self-test failed: multiply/add latency ratio is {ratio:.2}",
                ", expected {whole}{seen}";
                "{remedy}";
                whole = words.multiply_ratio, seen = beside.seen(), remedy = beside.remedy()
            ),
            // Like stolen time, this is in the value, which is correct for a core that is slowed in this way.
            Warning::CoreSlowed { from, to, size, cycles, beside } => entry!(
                "core-slowed", Fair, Point(from, to, size), math::distance_from_whole(cycles);
                "core slowed during trials: L1 latency is {cycles:.2} cycles",
                ", expected a whole number{seen}";
                "{remedy}";
                seen = beside.seen(), remedy = beside.remedy()
            ),
            Warning::RepeatRatio { ratio } => entry!(
                "repeat-ratio", Poor;
                "the repeat of the first point was {percent:.0}% {side}",
                ", in freshly allocated memory";
                "stop other processes, then rerun";
                percent = percent_off(ratio), side = if ratio < 1.0 { "faster" } else { "slower" }
            ),
            // A prefetcher lowers the latency with a small stride; a higher latency is noise.
            Warning::PrefetchAudit { ratio, line } if ratio >= 1.0 => entry!(
                "prefetch-audit", Note;
                "prefetcher check inconclusive (noise): {line} stride was {ratio:.2}x slower than \
                 {sparse} stride";
                "stop other processes, then rerun";
                line = line.bytes(), sparse = line.times(SPARSE)
            ),
            Warning::NeighboursFetched { ratio, line } if ratio >= 1.0 => entry!(
                "neighbours-fetched", Note;
                "prefetcher check inconclusive (noise): {line} stride was {ratio:.2}x slower than \
                 {sparse} stride";
                "stop other processes, then rerun";
                line = line.bytes(), sparse = line.times(SPARSE)
            ),
            Warning::PrefetchAudit { ratio, line } => entry!(
                "prefetch-audit", graded(1.0 - ratio, MUCH_HIDDEN);
                "a prefetcher hides {percent:.0}% of the latency",
                " at {line} stride";
                "use --stride={sparse}";
                percent = percent_off(ratio), line = line.bytes(), sparse = line.times(SPARSE).0
            ),
            Warning::NeighboursFetched { ratio, line } => entry!(
                "neighbours-fetched", Fair;
                "the adjacent-line prefetcher is active",
                ": it hides {percent:.0}% of the latency of cache-resident working sets";
                "use --stride={sparse}";
                percent = percent_off(ratio), sparse = line.times(SPARSE).0
            ),
            Warning::PointersFollowed { ratio } => entry!(
                "pointers-followed", graded(1.0 - ratio, MUCH_HIDDEN);
                "a prefetcher hides {percent:.0}% of the latency",
                " of pointers";
                "use --kernel=index";
                percent = percent_off(ratio)
            ),
            Warning::PrefetchAssisted { order } => entry!(
                "prefetch-assisted", Note;
                "prefetchers accelerate {order} order: this is not random-access latency";
                "use --order=random to measure random-access latency"
            ),
            Warning::GroupedOrder => entry!(
                "grouped-order", Note;
                "loads in grouped order share page walks: this is not a latency of memory";
                "use --order=random to measure random-access latency"
            ),
            // Without an interval nothing is known of the precision, so this is the least certain value.
            Warning::PrecisionNotReached { from, to, size, found, .. } if found.is_nan() => entry!(
                "precision-not-reached", Poor, Point(from, to, size), f64::INFINITY;
                "too few rounds for a confidence interval";
                "increase --time-limit or --budget"
            ),
            // A wide interval is correct. The load from other processes differs between windows of any length.
            Warning::PrecisionNotReached { from, to, size, found, wanted } => entry!(
                "precision-not-reached", Fair, Point(from, to, size), found;
                "95% interval ±{within}% (target ±{wanted}%)";
                "use an idle or dedicated host, or relax --precision";
                within = Digits(found * 100.0), wanted = Trimmed(wanted * 100.0)
            ),
            Warning::Disturbed { from, to, size, share } => entry!(
                "disturbed", Fair, Point(from, to, size), share;
                "other processes interrupted {percent}% of the trials";
                "use an idle CPU (--cpu=N)";
                percent = percent(share)
            ),
            Warning::HopsTooShort { from, to, size, hops, latency } => entry!(
                "hops-too-short", Poor, Point(from, to, size), f64::from(hops);
                "loads of {latency} ns were timed in groups of {hops}",
                ", which understates tail percentiles";
                "use a larger --size, or rely on the median only";
                latency = nanoseconds(latency)
            ),
            Warning::HopMeanDiffers { from, to, size, ratio } => entry!(
                "hop-mean-differs", Poor, Point(from, to, size), (ratio - 1.0).abs();
                "the means of single loads and of batches differ by {percent:.1}%";
                "stop other processes, then rerun";
                percent = percent_off(ratio)
            ),
            Warning::PointsNotPrecise { points, unknown: 0, of, wanted } => entry!(
                "points-not-precise", Fair;
                "{points} of {of} points {verb} an interval wider than ±{wanted}%";
                "use an idle or dedicated host, or relax --precision";
                verb = if points == 1 { "has" } else { "have" }, wanted = Trimmed(wanted * 100.0)
            ),
            Warning::PointsNotPrecise { points, unknown, of, wanted } => entry!(
                "points-not-precise", graded(f64::from(unknown) / f64::from(of), MOST);
                "{points} of {of} points miss the target interval of ±{wanted}%",
                ", {unknown} of them without an interval";
                "increase --time-limit or --budget";
                wanted = Trimmed(wanted * 100.0)
            ),
            Warning::PointsDisturbed { points, of, share } => entry!(
                "points-disturbed", Fair;
                "other processes interrupted trials at {points} of {of} points",
                ", at least {percent}% of them";
                "use an idle CPU (--cpu=N)";
                percent = Trimmed(share * 100.0)
            ),
            Warning::StateShare { of: 1, share, .. } => entry!(
                "state-share", Fair;
                "multimodal latency: only {percent:.0}% of trials in the main mode";
                "stop other processes, fix the frequency, then rerun";
                percent = 100.0 * share
            ),
            Warning::StateShare { points, of, share } => entry!(
                "state-share", Fair;
                "multimodal latency: only {percent:.0}% of trials in the main mode",
                " (at {points} of {of} points)";
                "stop other processes, fix the frequency, then rerun";
                percent = 100.0 * share
            ),
            Warning::FewSteps { steps } => entry!(
                "few-steps", Fair;
                "trials are too short: {steps} timer tick{s} each";
                "omit --iters, or increase it";
                s = plural(steps)
            ),
            Warning::TimerSteppedBack { trials } => entry!(
                "timer-stepped-back", Poor;
                "the timer went backwards in {trials} trial{s}",
                " (discarded)";
                "check the kernel log (dmesg) for {counter} messages";
                s = plural(trials), counter = words.counter_name
            ),
            Warning::CoreCyclesDiffer { ratio } => entry!(
                "core-cycles-differ", Poor;
                "counted and estimated core cycles differ by {percent:.0}%";
                "fix the frequency, and keep the SMT sibling idle";
                percent = percent_off(ratio)
            ),
            Warning::CountersUnavailable { why: NoCounters::Paranoid } => entry!(
                "counters-unavailable", Note;
                "no hardware counters: kernel.perf_event_paranoid forbids them";
                "as root: echo 2 > /proc/sys/kernel/perf_event_paranoid"
            ),
            Warning::CountersUnavailable { why: NoCounters::Filtered } => entry!(
                "counters-unavailable", Note;
                "no hardware counters: a seccomp filter blocks perf_event_open";
                "grant the container CAP_PERFMON (docker run --cap-add=PERFMON)"
            ),
            Warning::CountersUnavailable { why: NoCounters::Absent } => entry!(
                "counters-unavailable", Note;
                "no hardware counters: the processor or hypervisor provides none";
                "in a virtual machine: enable the virtual PMU"
            ),
            Warning::ThreadsRefused { wanted, started, ref errno } => entry!(
                "threads-refused", Fair;
                "started only {started} of {wanted} threads",
                ": {errno}";
                "raise ulimit -u, pids.max of the cgroup or kernel.threads-max"
            ),
            Warning::GeneratorMoved { times } => entry!(
                "generator-moved", Poor;
                "generators were migrated to other CPUs in {times} run{s}";
                "stop the program that changes CPU affinities or cpusets, then rerun";
                s = plural(times)
            ),
            Warning::NotSettled { windows, of } => entry!(
                "not-settled", Fair;
                "generators had no steady rate at the start of {windows} of {of} runs";
                "stop other processes, fix the frequency, then rerun"
            ),
            Warning::Throttled { windows, of } => entry!(
                "throttled", Poor;
                "the CPU quota throttled the generators in {windows} of {of} runs";
                "raise cpu.max of the cgroup (docker run --cpus), or use fewer CPUs"
            ),
            Warning::OneGenerator => entry!(
                "one-generator", Note;
                "only one generator: a single core may be unable to saturate this memory";
                "give this process more CPUs"
            ),
            Warning::PairsLeftOut { pairs, of } => entry!(
                "pairs-left-out", Fair;
                "skipped {pairs} of {of} node pairs",
                ": they do not fit the time budget";
                "increase --budget, or select nodes with --cpunode and --memnode"
            ),
            Warning::RateNotDelivered { offered, delivered } => entry!(
                "rate-not-delivered", Poor;
                "generators delivered only {delivered:.2} of the requested {offered:.2} GB/s",
                ", although memory was not saturated";
                "stop other processes on those CPUs, or use more CPUs";
                delivered = delivered / 1e9, offered = offered / 1e9
            ),
            Warning::IdleMemorySlower { node, idle, loaded, rate } => entry!(
                "idle-memory-slower", Note, Node(node);
                "node {node}: idle latency {idle} ns exceeds {loaded} ns at {rate:.2} GB/s, likely due \
                 to power management";
                "select the low-latency BIOS profile";
                idle = nanoseconds(idle), loaded = nanoseconds(loaded), rate = rate / 1e9
            ),
            Warning::LittleImplausible { lines } => entry!(
                "little-implausible", Poor;
                "{lines:.0} outstanding lines per core is implausible",
                ": the data probably came from a cache";
                "use a larger --size, and check the reported caches"
            ),
            Warning::OverBudget { from, to, kind, seconds } => entry!(
                "over-budget", Fair, Traffic(from, to, kind);
                "node {from} -> node {to}, {kind}: skipped",
                ", does not fit the {seconds} s budget";
                "increase --budget, or select fewer nodes or traffic mixes";
                seconds = Trimmed(seconds)
            ),
            Warning::VcpusMayShareCore => entry!(
                "vcpus-may-share-a-core", Note;
                "the hypervisor hides the core topology: two vCPUs may be SMT siblings";
                "configure the hypervisor to expose the topology"
            ),
            Warning::TopologyDoubtful { a, b, ns } => entry!(
                "topology-doubtful", Fair;
                "CPUs {a} and {b} look like SMT siblings",
                " ({ns:.1} ns core to core), although the system reports separate cores";
                "configure the hypervisor to expose the topology"
            ),
            Warning::PairsOfClasses { of } => entry!(
                "pairs-of-classes", Note;
                "not all {of} pairs fit the time budget: sampling a few pairs per class";
                "increase --budget, or select pairs with --pairs"
            ),
            Warning::FirmwareLatencyDiffers { node, claimed, measured } => entry!(
                "firmware-latency-differs", Note, Node(node);
                "node {node}: measured latency {measured} ns, firmware reports {claimed} ns";
                "rely on the measured value; a firmware update may fix the table";
                measured = nanoseconds(measured), claimed = nanoseconds(claimed)
            ),
            Warning::ChannelsUnequal { dimms, sockets } => entry!(
                "channels-unequal", Note;
                "{dimms} DIMMs on {sockets} socket{s}: the memory channels cannot all be populated alike";
                "fit each channel with the same DIMMs";
                s = plural(sockets)
            ),
            Warning::TierContradiction { tier, fast, slow, ratio } => entry!(
                "tier-contradiction", Note, Node(slow);
                "nodes {fast} and {slow} are both in memory tier {tier}, but node {slow} has \
                 {ratio:.2}x the latency";
                "update kernel or firmware so that HMAT/CDAT describe these nodes separately"
            ),
            Warning::Partial { finished, planned } => entry!(
                "partial", Poor;
                "measured only {finished} of {planned} point{s}",
                " before the interruption";
                "rerun without interrupting to measure the remaining points";
                s = plural(planned)
            ),
            Warning::BudgetOver { finished, planned } => entry!(
                "budget-over", Fair;
                "the budget was over before the end",
                ": measured {finished} of {planned} point{s}";
                "increase --budget, or stop other processes";
                s = plural(planned)
            ),
        }
    }
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
