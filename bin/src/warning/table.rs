//! The table of warnings. It is the only place for the code, severity, subject, words and remedy of each warning.
//!
//! The limits of severities are here too, so that a finding has the same severity in every experiment.

use latency_core::decimal::{Decimal, Trimmed};
use latency_core::text::plural;
use latency_core::units::Bytes;

use super::entry::{About, Facts, Percent, SizeOption, Words, nanoseconds, percent_off};
use super::{Clipped, NoCounters, Severity, Warning};
use crate::report::figures::Digits;

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
/// Minimum drift in parts per million that makes a result unreliable. NTP changes the rate of clocks by up to 500.
const MUCH_DRIFT_PPM: f64 = 500.0;
/// Minimum fraction of all points that makes the whole result doubtful.
const MOST: f64 = 1.0 / 3.0;

impl Warning {
    /// Returns the facts of this warning, and calls `say` with its texts.
    #[allow(clippy::too_many_lines)] // one entry a warning
    pub(super) fn entry(&self, say: &mut dyn FnMut(&Words<'_>)) -> Facts {
        use About::{Cpu, Level, Node, Point, Run, Size, Traffic};
        use Severity::{Fair, Note, Poor};
        // Arguments: code, severity, subject, measure; reason, rest; remedy; the numbers in these texts.
        macro_rules! entry {
            (@text) => { format_args!("") };
            (@text $text:literal) => { format_args!($text) };
            (@option) => { None };
            (@option $value:expr) => { Some($value) };
            ($code:expr, $severity:expr, $about:expr $(, $measure:expr)?;
             $reason:literal $(, $rest:literal)?; $remedy:literal
             $(; $($figure:ident = $value:expr),+)?) => {{
                let (code, severity, about) = ($code, $severity, $about);
                let measure = entry!(@option $($measure)?);
                $($(let $figure = $value;)+)?
                say(&Words {
                    reason: format_args!($reason),
                    rest: entry!(@text $($rest)?),
                    remedy: format_args!($remedy),
                });
                Facts { code, severity, about, measure }
            }};
        }
        match *self {
            Warning::OneNode => entry!("one-node", Note, Run;
                "one NUMA node, so no remote latency";
                "`latency-bench curve` measures its caches and memory"),
            Warning::TooManyNodes { found, held } => entry!("too-many-nodes", Note, Run;
                "{found} nodes found, and only the first {held} are used";
                "choose others with --cpunode and --memnode"),
            Warning::CpusetPartial { allowed, online } => entry!("cpuset-partial", Note, Run;
                "this process may use {allowed} of {online} CPUs";
                "widen cpuset.cpus or the affinity mask to use the others"),
            Warning::CpuQuota { cpus } => entry!("cpu-quota", Note, Run;
                "the control group grants {cpus:.3} CPUs, so the kernel stops this process in each period";
                "raise cpu.max; in a container: docker run without --cpus"; cpus = Trimmed(cpus)),
            Warning::NodeLeftOut { node } => entry!("node-left-out", Note, Node(node);
                "node {node} is not measured: the cpuset does not allow its memory";
                "widen cpuset.mems to include it"),
            Warning::NoProc => entry!("no-proc", Fair, Run;
                "no /proc", ", so placement and memory limits cannot be read";
                "as root: mount -t proc proc /proc"),
            Warning::NoSys => entry!("no-sys", Fair, Run;
                "no /sys", ", so nodes, caches and huge page pools cannot be read";
                "as root: mount -t sysfs sysfs /sys"),
            Warning::SizeClipped { from, to, why: Clipped::HalfOfFree } => entry!(
                "size-clipped", Note, Size(from);
                "working set reduced from {from} to {to}, half of what the node can give";
                "free memory there, or set --size"),
            Warning::SizeClipped { from, to, why: Clipped::ControlGroup } => entry!(
                "size-clipped", Note, Size(from);
                "working set reduced from {from} to {to}, half of what the control group has left";
                "raise memory.max, or set --size"),
            Warning::CacheLatency { size, level, cache } => entry!("cache-latency", Note, Size(size);
                "{size} fit in L{level} ({cache}): this is cache latency";
                "leave --size out to measure memory"),
            Warning::CacheCouldHold { size, cache, asked, seen } => {
                // If a cache may hold most of the working set, it decides the latency, whoever chose the size.
                let severity = if asked && size.0 / 3 * 2 >= cache.0 { Fair } else { Poor };
                let measure = cache.0 as f64 / size.0 as f64;
                // If cache hits were seen, the size was certainly too small.
                let least = SizeOption(cache.times(4).max(if seen { size.times(2) } else { Bytes(0) }));
                match () {
                    () if size <= cache => entry!("cache-could-hold", severity, Size(size), measure;
                        "{size} fit in the last-level cache", " ({cache})";
                        "use --size={least} or more"),
                    () if seen => entry!("cache-could-hold", severity, Size(size), measure;
                        "{size} showed hits in a cache", " in a look before the run";
                        "use --size={least} or more"),
                    () => entry!("cache-could-hold", severity, Size(size), measure;
                        "much of {size} may fit in the last-level cache", " ({cache})";
                        "use --size={least} or more"),
                }
            }
            Warning::CacheSizeImplausible { level, size } => entry!(
                "cache-size-implausible", Fair, Level(level);
                "the reported L{level} cache of {size} is ignored", ": no processor has one of that size";
                "`latency-bench curve` measures the caches"),
            Warning::CacheUnknown { assumed } => entry!("cache-unknown", Note, Run;
                "neither sysfs nor CPUID reports a last-level cache, so {assumed} are assumed";
                "`latency-bench curve` measures the caches"),
            Warning::WorkingSetDoubled { from, to } => entry!("working-set-doubled", Note, Run;
                "working set {grown} to {to}: {from} showed hits in a cache";
                "set --size to choose another";
                grown = if to == from.times(2) { "doubled" } else { "enlarged" }),
            Warning::ReportedCacheDiffers { reported, found } if found < reported => entry!(
                "reported-cache-differs", Note, Run;
                "a chase held about {found} of the reported {reported} of last-level cache, while others could use it";
                "`latency-bench curve` measures the caches"),
            Warning::ReportedCacheDiffers { reported, found } => entry!("reported-cache-differs", Note, Run;
                "a last-level cache of {reported} is reported, but about {found} were found";
                "`latency-bench curve` measures the caches"),
            Warning::CacheServesPart { size, cold, warm } => entry!("cache-serves-part", Fair, Size(size);
                "a cache may serve a part of {size}", " (first pass {cold} ns, then {warm} ns)";
                "use --size={larger}";
                cold = nanoseconds(cold), warm = nanoseconds(warm), larger = SizeOption(size.times(8))),
            Warning::LooksCached { size, cold, warm } => entry!(
                "looks-cached", Poor, Size(size), cold.0 as f64 / warm.0 as f64;
                "{size} fit in a cache", " (first pass {cold} ns, then {warm} ns): not memory latency";
                "use --size={larger}";
                cold = nanoseconds(cold), warm = nanoseconds(warm), larger = SizeOption(size.times(8))),
            Warning::SideCache { node, cache, size, fits } => {
                let (part, least) = (if size <= cache { "all" } else { "much" }, cache.times(4));
                let wanted = SizeOption(least);
                match fits {
                    true => entry!("side-cache", Fair, Node(node);
                        "memory of node {node} was measured through a {cache} side cache", ", which may hold {part} of {size}";
                        "use --size={wanted} (curve: --max-size) for the memory behind it"),
                    false => entry!("side-cache", Fair, Node(node);
                        "memory of node {node} was measured through a {cache} side cache", ", which may hold {part} of {size}";
                        "the node lacks the {least} that reach the memory behind it"),
                }
            }
            Warning::PagesFellBack { found } => entry!("pages-fell-back", Note, Size(found.bytes());
                "{found} pages used, because no larger ones are available";
                "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
            Warning::ThpPartial { wanted, found } => entry!(
                "thp-partial", Poor, Size(wanted), wanted.0.saturating_sub(found.0) as f64 / wanted.0 as f64;
                "only {found} of {wanted} are in transparent huge pages";
                "as root: echo 1 > /proc/sys/vm/compact_memory"),
            Warning::HugePagesWithoutEffect { page } => entry!(
                "huge-pages-without-effect", Note, Size(page.bytes());
                "the hypervisor backs this guest's {page} pages with 4 KiB ones, so they gain less than they could";
                "enable huge pages on the host"),
            Warning::PlacementUnverified { node, why } => entry!("placement-unverified", Poor, Node(node);
                "memory on node {node} is not proven", ": {why}";
                "mount /proc, and let this process read its numa_maps"),
            Warning::PlacedByFirstTouch { node } => entry!("placed-by-first-touch", Note, Node(node);
                "memory policies are forbidden: memory on node {node} was placed by first touch and proven";
                "give the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)"),
            Warning::NotMeasurableHere { node } => entry!("not-measurable-here", Fair, Node(node);
                "node {node} is not measurable here", " (no memory policies, no allowed CPU)";
                "give the container CAP_SYS_NICE (docker run --cap-add=SYS_NICE)"),
            Warning::InheritedPolicy { policy } => entry!("inherited-policy", Note, Run;
                "started with the memory policy '{policy}', so only its nodes are measured";
                "start without numactl to measure all nodes"),
            Warning::PagesMoved { node, pages } => entry!("pages-moved", Poor, Node(node), pages as f64;
                "{pages} page{s} left node {node}", " during the run";
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"; s = plural(pages)),
            Warning::HugePagesChanged { node, before, after, mapped } => entry!(
                "huge-pages-changed",
                graded(before.0.abs_diff(after.0) as f64 / mapped.0 as f64, MUCH_OF_HUGE_PAGES), Node(node);
                "huge pages on node {node} went from {before} to {after}", " during the run";
                "as root: echo 0 > /sys/kernel/mm/transparent_hugepage/khugepaged/defrag"),
            Warning::OtherWork { cpu, share } => entry!(
                "other-work", graded(share, MUCH_OTHER_WORK), Cpu(cpu), share;
                "other work took {percent} of CPU {cpu}", " while it was measured with";
                "stop the other work, or use idle CPUs (--cpu=N, --load-cpus=N)"; percent = Percent(share)),
            Warning::Stolen { cpu, share } => entry!("stolen-time", Fair, Cpu(cpu), share;
                "the hypervisor reports {percent} of CPU {cpu} stolen", ": it kept that CPU waiting";
                "use a host that is not overcommitted, or a dedicated one"; percent = Percent(share)),
            Warning::SiblingBusy { cpu, share } => entry!("sibling-busy", Fair, Cpu(cpu), share;
                "the sibling thread of CPU {cpu} was {percent} busy", " with other work";
                "idle the sibling thread, or use other cores (--cpu=N, --load-cpus=N)";
                percent = Percent(share)),
            Warning::ThreadMoved { times } => entry!("thread-moved", Poor, Run;
                "this process was moved to another CPU {times} time{s}", "; it went back, and left those trials out";
                "stop whoever changes affinities or cpusets, and run again"; s = plural(times)),
            Warning::Neighbours { from, to, size, ratio } => entry!(
                "neighbours", Fair, Point(from, to, size), ratio;
                "neighbours make memory {slower:.2} times as slow as undisturbed";
                "use a dedicated host, or --until=quiet"; slower = Decimal(ratio)),
            Warning::NotQuiet { seconds } => entry!("not-quiet", Fair, Run;
                "no second in {seconds} s was quiet", ", so the undisturbed latency has only an upper bound";
                "use a longer --until=quiet=SECONDS, or a dedicated host"; seconds = Trimmed(seconds)),
            Warning::NumaBalancing => entry!("numa-balancing", Note, Run;
                "NUMA balancing is on, so the kernel may interrupt the run";
                "as root: echo 0 > /proc/sys/kernel/numa_balancing"),
            Warning::FrequencyScaling { governor } => entry!("frequency-scaling", Note, Run;
                "the frequency governor is '{governor}', so the core clock may change";
                "as root: cpupower frequency-set -g performance"),
            Warning::CoreClockUnstable { least, most, core } => entry!(
                "core-clock-unstable", if core { Fair } else { Note }, Run;
                "the core clock was between {least:.2} and {most:.2} GHz", "{effect}";
                "as root: cpupower frequency-set -g performance";
                least = Decimal(least.gigahertz()), most = Decimal(most.gigahertz()),
                effect = if core { ": compare L1, L2 and instructions in core cycles" }
                    else { ", which memory does not follow" }),
            Warning::TscNotInvariant => entry!("tsc-not-invariant", Fair, Run;
                "the TSC is not reported as invariant", ", but its calibrations agree";
                "in a virtual machine: pass the invariant TSC through (+invtsc)"),
            Warning::TscUnsteady { ppm } => entry!("tsc-unsteady", graded(ppm, MUCH_DRIFT_PPM), Run;
                "calibrations of the TSC are {apart:.0} ppm apart";
                "check the clock source, and for suspension or live migration"; apart = Decimal(ppm)),
            Warning::TscDrift { ppm } => entry!("tsc-drift", graded(ppm.abs(), MUCH_DRIFT_PPM), Run;
                "the TSC and the kernel's clock drifted apart by {drift:.0} ppm";
                "check the clock source, and for suspension or live migration"; drift = Decimal(ppm)),
            Warning::TscMismatch { measured, declared } => entry!("tsc-mismatch", Poor, Run;
                "the TSC runs at {measured:.3} MHz, but CPUID reports {declared:.3} MHz";
                "a hypervisor may scale it: compare with another clock source";
                measured = Decimal(measured.megahertz()), declared = Decimal(declared.megahertz())),
            Warning::NoTsc { why } => entry!("no-tsc", Fair, Run;
                "the TSC is not used", ", so there are no TSC cycles and no percentiles: {why}";
                "use a processor or hypervisor with an invariant TSC"),
            // The two timestamps of a batch are far apart, so a load that begins early changes nothing.
            Warning::FenceNotSerialising { promised, single } => entry!(
                "fence-not-serialising", if single { Fair } else { Note }, Run;
                "LFENCE does not wait for earlier loads", "{promised}: single loads are inexact";
                "update kernel or hypervisor, so that MSR C001_1029[1] is set";
                promised = if promised { " (CPUID says it does)" } else { "" }),
            Warning::Emulated { by } => entry!("emulated", Note, Run;
                "emulated by {by}: these are not hardware latencies";
                "run on real hardware, or in a virtual machine with KVM"),
            Warning::L1NotInteger { cycles } => entry!("l1-not-integer", Poor, Run;
                "self-test failed: an L1 hit took {cycles:.2} cycles", ", expected 4 or 5: the core was shared";
                "idle its sibling thread, and run again"; cycles = Decimal(cycles)),
            Warning::MultiplyAddRatio { ratio } => entry!("multiply-add-ratio", Poor, Run;
                "self-test failed: a multiplication took {ratio:.2} additions", ", expected 3 or 4: the core was shared";
                "idle its sibling thread, and run again"; ratio = Decimal(ratio)),
            Warning::RepeatRatio { ratio } => entry!("repeat-ratio", Poor, Run;
                "the first point was {percent:.0} % {side} when measured again", " in new memory";
                "stop other work, and run again";
                percent = percent_off(ratio), side = if ratio < 1.0 { "faster" } else { "slower" }),
            // A prefetcher lowers the latency with a small stride; a higher latency is noise.
            Warning::PrefetchAudit { ratio } | Warning::NeighboursFetched { ratio } if ratio >= 1.0 => {
                entry!(
                if matches!(self, Warning::PrefetchAudit { .. }) { "prefetch-audit" } else { "neighbours-fetched" },
                Note, Run;
                "prefetch audit inconclusive: lines 64 B apart took {ratio:.2} times as long as lines 256 B apart, which is noise";
                "stop other work, and run again"; ratio = Decimal(ratio))
            }
            Warning::PrefetchAudit { ratio } => entry!(
                "prefetch-audit", graded(1.0 - ratio, MUCH_HIDDEN), Run;
                "a prefetcher hides {percent:.0} % of the latency", " at 64 B spacing";
                "use --stride=256"; percent = percent_off(ratio)),
            Warning::NeighboursFetched { ratio } => entry!("neighbours-fetched", Fair, Run;
                "neighbouring lines are fetched together",
                ", which hides {percent:.0} % of the latency in working sets that fit in a cache";
                "use --stride=256"; percent = percent_off(ratio)),
            Warning::PointersFollowed { ratio } => entry!(
                "pointers-followed", graded(1.0 - ratio, MUCH_HIDDEN), Run;
                "a prefetcher hides {percent:.0} % of the latency", " of pointers";
                "use --kernel=index"; percent = percent_off(ratio)),
            Warning::PrefetchAssisted { order } => entry!("prefetch-assisted", Note, Run;
                "prefetchers help with {order} order, so this is not the latency of a random access";
                "use --order=random for that"),
            // Without an interval nothing is known of the precision, so this is the least certain value.
            Warning::PrecisionNotReached { from, to, size, found, .. } if found.is_nan() => entry!(
                "precision-not-reached", Poor, Point(from, to, size), f64::INFINITY;
                "too few rounds for an interval";
                "use a longer --time-limit"),
            // A wide interval is correct. The load from other processes differs between windows of any length.
            Warning::PrecisionNotReached { from, to, size, found, wanted } => entry!(
                "precision-not-reached", Fair, Point(from, to, size), found;
                "certain to {within} %, not {wanted} %";
                "use an idle or a dedicated host, or a wider --precision";
                within = Digits(found * 100.0), wanted = Trimmed(wanted * 100.0)),
            Warning::Disturbed { from, to, size, share } => entry!(
                "disturbed", Fair, Point(from, to, size), share;
                "other work interrupted {percent} of the trials";
                "use an idle CPU (--cpu=N)"; percent = Percent(share)),
            Warning::HopsTooShort { from, to, size, hops, latency } => entry!(
                "hops-too-short", Poor, Point(from, to, size), f64::from(hops);
                "loads of {latency} ns are timed {hops} at a time", ", so percentiles above the median are diluted";
                "use a larger --size, or only the median"; latency = nanoseconds(latency)),
            Warning::HopMeanDiffers { from, to, size, ratio } => entry!(
                "hop-mean-differs", Poor, Point(from, to, size), (ratio - 1.0).abs();
                "the means of single loads and of batches differ by {percent:.1} %";
                "stop other work, and run again"; percent = percent_off(ratio)),
            Warning::PointsNotPrecise { points, unknown: 0, of, wanted } => entry!(
                "points-not-precise", Fair, Run;
                "{points} of {of} points {verb} less certain than {wanted} %";
                "use an idle or a dedicated host, or a wider --precision";
                verb = if points == 1 { "is" } else { "are" }, wanted = Trimmed(wanted * 100.0)),
            Warning::PointsNotPrecise { points, unknown, of, wanted } => entry!(
                "points-not-precise", graded(f64::from(unknown) / f64::from(of), MOST), Run;
                "{points} of {of} points {verb} less certain than {wanted} %", ", and {unknown} of them have no interval";
                "use a longer --time-limit";
                verb = if points == 1 { "is" } else { "are" }, wanted = Trimmed(wanted * 100.0)),
            Warning::PointsDisturbed { points, of, share } => entry!("points-disturbed", Fair, Run;
                "other work interrupted trials at {points} of {of} points", ", {percent} % of them or more";
                "use an idle CPU (--cpu=N)"; percent = Trimmed(share * 100.0)),
            Warning::StateShare { of: 1, share, .. } => entry!("state-share", Fair, Run;
                "only {percent:.0} % of the trials of a round agree", " on a value";
                "stop other work, fix the frequency, and run again"; percent = Decimal(share * 100.0)),
            Warning::StateShare { points, of, share } => entry!("state-share", Fair, Run;
                "only {percent:.0} % of the trials of a round agree",
                " on a value, and few of them at {points} of {of} points";
                "stop other work, fix the frequency, and run again"; percent = Decimal(share * 100.0)),
            Warning::FewSteps { steps } => entry!("few-steps", Fair, Run;
                "a trial lasts only {steps} step{s} of the timer";
                "leave --iters out, or raise it"; s = plural(steps)),
            Warning::TimerSteppedBack { trials } => entry!("timer-stepped-back", Poor, Run;
                "the timer stepped back during {trials} trial{s}", ", not used for the result";
                "look for TSC messages in the kernel log (dmesg)"; s = plural(trials)),
            Warning::CoreCyclesDiffer { ratio } => entry!("core-cycles-differ", Poor, Run;
                "counted and estimated core cycles differ by {percent:.0} %";
                "fix the frequency, and idle the core's sibling thread"; percent = percent_off(ratio)),
            Warning::CountersUnavailable { why: NoCounters::Paranoid } => entry!(
                "counters-unavailable", Note, Run;
                "no hardware counters: kernel.perf_event_paranoid forbids them";
                "as root: echo 2 > /proc/sys/kernel/perf_event_paranoid"),
            Warning::CountersUnavailable { why: NoCounters::Filtered } => entry!(
                "counters-unavailable", Note, Run;
                "no hardware counters: a filter refuses perf_event_open";
                "give the container CAP_PERFMON (docker run --cap-add=PERFMON)"),
            Warning::CountersUnavailable { why: NoCounters::Absent } => entry!(
                "counters-unavailable", Note, Run;
                "no hardware counters: the processor or hypervisor offers none";
                "in a virtual machine: give it a virtual PMU"),
            Warning::ThreadsRefused { wanted, started, errno } => entry!("threads-refused", Fair, Run;
                "{started} of {wanted} threads could be started", " ({errno})";
                "raise ulimit -u, pids.max of the control group or kernel.threads-max"),
            Warning::GeneratorMoved { times } => entry!("generator-moved", Poor, Run;
                "generators were moved to other CPUs in {times} run{s}";
                "stop whoever changes affinities or cpusets, and run again"; s = plural(times)),
            Warning::NotSettled { windows, of } => entry!("not-settled", Fair, Run;
                "the rate of generators was unsteady before {windows} of {of} runs";
                "stop other work, fix the frequency, and run again"),
            Warning::Throttled { windows, of } => entry!("throttled", Poor, Run;
                "the quota of CPU time ran out in {windows} of {of} runs", " of the generators";
                "raise cpu.max of the control group (docker run --cpus), or use fewer CPUs"),
            Warning::OneGenerator => entry!("one-generator", Note, Run;
                "one generator: one core may not fill this memory, which may deliver more";
                "give this process more CPUs"),
            Warning::PairsLeftOut { pairs, of } => entry!("pairs-left-out", Fair, Run;
                "{pairs} of {of} pairs of nodes are not measured", ", for want of time";
                "raise --budget, or choose nodes with --cpunode and --memnode"),
            Warning::RateNotDelivered { offered, delivered } => entry!("rate-not-delivered", Poor, Run;
                "only {delivered:.2} of {offered:.2} GB/s offered were delivered", ", below the limit";
                "stop other work on those CPUs, or use more of them";
                offered = Decimal(offered / 1e9), delivered = Decimal(delivered / 1e9)),
            Warning::IdleMemorySlower { node, idle, loaded, rate } => entry!(
                "idle-memory-slower", Note, Node(node);
                "idle memory of node {node} ({idle} ns) is slower than at {rate:.2} GB/s ({loaded} ns): likely power management";
                "choose the BIOS profile for low latency";
                idle = nanoseconds(idle), loaded = nanoseconds(loaded), rate = Decimal(rate / 1e9)),
            Warning::LittleImplausible { lines } => entry!("little-implausible", Poor, Run;
                "{lines:.0} lines in flight per core, more than any core has";
                "use a larger --size, and check the reported caches"; lines = Decimal(lines)),
            Warning::OverBudget { from, to, kind, seconds } => entry!(
                "over-budget", Fair, Traffic(from, to, kind);
                "node {from} -> node {to}, {kind}: not measured", ": a budget of {seconds} s has no time for it";
                "raise --budget, or choose fewer nodes or kinds of traffic"; seconds = Trimmed(seconds)),
            Warning::VcpusMayShareCore => entry!("vcpus-may-share-a-core", Note, Run;
                "the hypervisor does not tell cores apart: two virtual CPUs may share one";
                "let the hypervisor pass the topology through"),
            Warning::TopologyDoubtful { a, b, ns } => entry!("topology-doubtful", Fair, Run;
                "CPUs {a} and {b} are as close as threads of one core", ": they exchange a line in {ns:.1} ns";
                "let the hypervisor pass the topology through"; ns = Decimal(ns)),
            Warning::PairsOfClasses { of } => entry!("pairs-of-classes", Note, Run;
                "there is no time for all {of} pairs, so a few of each class were chosen";
                "try a longer --budget, or name pairs with --pairs"),
            Warning::FirmwareLatencyDiffers { node, claimed, measured } => entry!(
                "firmware-latency-differs", Note, Node(node);
                "memory of node {node} takes {measured} ns, and its firmware claims {claimed} ns";
                "update the firmware, or go by what was measured";
                measured = nanoseconds(measured), claimed = nanoseconds(claimed)),
            Warning::TierContradiction { tier, fast, slow, ratio } => entry!(
                "tier-contradiction", Note, Node(slow);
                "nodes {fast} and {slow} are both in tier {tier}, but memory of node {slow} takes {ratio:.2} times as long";
                "use a kernel or a firmware that tells them apart (HMAT, CDAT)"; ratio = Decimal(ratio)),
            Warning::Partial { finished, planned } => entry!("partial", Poor, Run;
                "{finished} of {planned} points were measured", " before the interrupt";
                "let it run to the end for the rest"),
        }
    }
}

/// Returns the severity of a share or a difference: the result is unreliable from `poor_from` on.
fn graded(value: f64, poor_from: f64) -> Severity {
    if value < poor_from { Severity::Fair } else { Severity::Poor }
}
