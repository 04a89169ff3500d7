//! The scenes: their command lines, machines and formats.

use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::findings;
use super::scene::{Scene, Trouble};
use Trouble::{
    BusyCpu, Dimms, Disturbed, Early, Edac, Emulated, Excluded, FewRounds, FirstTouch, HostileNames,
    Imprecise, Interrupted, KernelClock, Known, ManyWarnings, Moved, Neighbours, NoCoreClock, NoCounters,
    SlowIdle, SlowedCore, SmallTlb, Threads, Unverified, Virtual, Wide,
};
use latency_engine::tests::words::{AARCH64, X86_64};
use latency_report::Audience;

const ONE: &str = "one-node";
const TWO: &str = "two-sockets";
const CACHES: &str = "several-caches";
const FOUR: &str = "four-nodes";
const SMALL: &str = "two-small-sockets";
const CXL: &str = "cxl-memory";
const TEXT: &[&str] = &["txt"];
/// A text, and the document with every member that no other stored one has in this form.
const BOTH: &[&str] = &["txt", "json"];
/// For tests that read a small document of each experiment.
const DOCUMENT: &[&str] = &["json"];
const METRICS: &[&str] = &["prom"];

/// Scenes on a wide terminal with all characters: name, formats, machine, command line, troubles. In a command line `@`
/// is the folder of the fixtures.
type Row = (&'static str, &'static [&'static str], &'static str, &'static str, &'static [Trouble]);

const WIDE: &[Row] = &[
    ("matrix", BOTH, ONE, "matrix", &[]),
    ("matrix-file", TEXT, ONE, "matrix", &[]),
    ("matrix-two-nodes-terminal", TEXT, TWO, "matrix", &[]),
    ("curve-file", TEXT, ONE, "curve", &[]),
    ("matrix-unverified-file", TEXT, ONE, "matrix", &[Unverified]),
    ("matrix-quiet", TEXT, TWO, "matrix --quiet", &[]),
    ("matrix-verbose", TEXT, TWO, "matrix --verbose --counters", &[]),
    ("matrix-two-nodes", &["txt", "json", "csv", "svg", "tap"], TWO, "matrix --counters --heatmap", &[]),
    ("matrix-four-nodes", TEXT, FOUR, "matrix --heatmap", &[]),
    ("matrix-one-package", TEXT, "sub-numa-clusters", "matrix", &[]),
    ("matrix-interleaved", TEXT, "node-interleaving", "matrix --verbose", &[Known]),
    ("system-interleaved", TEXT, "node-interleaving", "system", &[]),
    ("matrix-hybrid-file", TEXT, "hybrid", "matrix", &[]),
    ("matrix-hybrid-small", TEXT, "hybrid", "matrix --cpu=5 --verbose", &[]),
    (
        "matrix-cores",
        &["txt", "json", "csv", "svg"],
        "hybrid",
        "matrix --view=cores --heatmap",
        &[SlowedCore],
    ),
    ("matrix-cores-alike", TEXT, SMALL, "matrix --view=cores", &[]),
    ("matrix-core-beside", BOTH, "hybrid", "matrix --counters", &[SlowedCore]),
    ("cores-hybrid", TEXT, "hybrid", "cores", &[]),
    ("matrix-without-numa", BOTH, "kernel-without-numa", "matrix", &[]),
    ("matrix-memory-only-node", TEXT, CXL, "matrix --verbose", &[FirstTouch]),
    (
        "matrix-troubled",
        BOTH,
        FOUR,
        "matrix --counters",
        &[Excluded, Imprecise, Disturbed, NoCounters, ManyWarnings],
    ),
    ("matrix-neighbours", BOTH, ONE, "matrix", &[Neighbours]),
    ("matrix-neighbours-two-nodes", TEXT, TWO, "matrix --verbose", &[Neighbours, Imprecise]),
    ("matrix-neighbours-always", TEXT, ONE, "matrix", &[Neighbours, FewRounds]),
    ("matrix-wide", TEXT, ONE, "matrix", &[Wide]),
    ("matrix-wide-two-nodes", TEXT, TWO, "matrix", &[Wide]),
    ("report-wide", TEXT, TWO, "report", &[Wide]),
    ("matrix-emulated", TEXT, ONE, "matrix", &[Emulated]),
    ("matrix-memory-errors", BOTH, TWO, "matrix", &[Edac]),
    ("matrix-busy-cpu", TEXT, TWO, "matrix", &[BusyCpu]),
    ("matrix-small-tlb", TEXT, ONE, "matrix --verbose", &[SmallTlb]),
    ("matrix-split-virtual", TEXT, TWO, "matrix --verbose", &[Virtual]),
    ("matrix-slowed-core", BOTH, ONE, "matrix --size=16K", &[SlowedCore]),
    ("matrix-known", TEXT, ONE, "matrix", &[Known]),
    ("matrix-known-virtual", TEXT, TWO, "matrix", &[Known, Virtual]),
    ("matrix-side-cache", TEXT, CXL, "matrix --cpunode=0 --memnode=0", &[]),
    ("curve-known", TEXT, ONE, "curve", &[Known]),
    ("bandwidth-known", TEXT, TWO, "bandwidth --traffic=read", &[Known]),
    ("bandwidth-known-virtual", TEXT, ONE, "bandwidth", &[Known, Virtual]),
    ("cores-known", TEXT, SMALL, "cores", &[Known]),
    ("report-known", TEXT, ONE, "report", &[Known, Virtual]),
    ("curve-side-cache", TEXT, CXL, "curve --quiet --points-per-octave=2", &[]),
    ("bandwidth-counters", TEXT, ONE, "bandwidth --verbose --counters", &[]),
    ("cores-counters", TEXT, ONE, "cores --pairs=0:1 --verbose --counters", &[]),
    ("loaded-counters", TEXT, ONE, "loaded --traffic=read --rates=0,max --counters", &[]),
    ("bandwidth-side-cache", TEXT, CXL, "bandwidth --cpunode=0 --memnode=0", &[]),
    ("loaded-side-cache", TEXT, CXL, "loaded --quiet --cpunode=0 --memnode=0 --traffic=read", &[]),
    ("matrix-hwloc", &["sh"], CXL, "matrix", &[]),
    ("bandwidth-hwloc", &["sh"], TWO, "bandwidth --traffic=read,nt-write", &[]),
    ("loaded-hwloc", &["sh"], TWO, "loaded", &[]),
    ("matrix-early-hwloc", &["sh"], ONE, "matrix", &[Early]),
    ("matrix-hostile-names", &["txt", "csv", "md", "html"], TWO, "matrix", &[HostileNames]),
    ("matrix-moved", TEXT, TWO, "matrix", &[Moved]),
    ("matrix-unverified", &["txt", "json", "tap"], ONE, "matrix --verbose", &[Unverified]),
    ("matrix-interrupted", &["txt", "svg"], FOUR, "matrix", &[Interrupted]),
    ("matrix-kernel-clock", BOTH, ONE, "matrix --verbose", &[KernelClock]),
    ("curve", &["txt", "csv", "svg"], ONE, "curve", &[]),
    ("curve-quiet", TEXT, ONE, "curve --quiet --points-per-octave=2", &[]),
    ("curve-verbose", TEXT, ONE, "curve --verbose --counters --pages=4k --points-per-octave=2", &[Imprecise]),
    ("curve-reciprocal", TEXT, ONE, "curve --reciprocal --points-per-octave=2", &[]),
    ("curve-remote", TEXT, TWO, "curve --cpunode=0 --memnode=1 --points-per-octave=2", &[Virtual, Disturbed]),
    ("curve-interrupted", &["txt", "json", "tap"], ONE, "curve --points-per-octave=2", &[Interrupted]),
    ("curve-kernel-clock", BOTH, ONE, "curve --pages=4k --points-per-octave=2", &[KernelClock]),
    (
        "curve-no-spans",
        TEXT,
        ONE,
        "curve --verbose --pages=4k --min-size=1M --max-size=2M --points-per-octave=1",
        &[KernelClock],
    ),
    ("curve-one-size", BOTH, ONE, "curve --min-size=1M --max-size=2M --points-per-octave=1", &[]),
    ("parallel", &["txt", "csv", "svg", "prom"], ONE, "parallel", &[]),
    ("parallel-quiet", TEXT, ONE, "parallel --quiet", &[]),
    ("parallel-troubled", BOTH, TWO, "parallel --verbose --counters", &[Imprecise, Disturbed, Interrupted]),
    ("parallel-one-size", TEXT, ONE, "parallel --size=1M", &[KernelClock]),
    ("parallel-few", DOCUMENT, ONE, "parallel --chains=1,4 --size=1M", &[]),
    ("parallel-chains", TEXT, ONE, "parallel --chains=1,4-6", &[]),
    ("window", &["txt", "csv", "prom"], ONE, "window", &[]),
    ("window-known", TEXT, ONE, "window", &[Known]),
    ("window-known-virtual", TEXT, TWO, "window", &[Known, Virtual]),
    ("window-quiet", TEXT, ONE, "window --quiet", &[]),
    ("window-virtual", &["txt", "json", "svg"], TWO, "window --verbose", &[Virtual, Imprecise]),
    ("window-interrupted", TEXT, ONE, "window", &[Interrupted]),
    ("window-in-cache", TEXT, ONE, "window --size=1M", &[]),
    ("distribution", &["txt", "json", "csv", "svg"], ONE, "distribution", &[]),
    ("distribution-quiet", TEXT, ONE, "distribution --quiet", &[]),
    ("distribution-two-nodes", TEXT, TWO, "distribution --memnode=0-1 --verbose", &[Disturbed]),
    ("distribution-short-hops", TEXT, ONE, "distribution --size=16K", &[Imprecise]),
    (
        "distribution-interrupted",
        TEXT,
        TWO,
        "distribution --cpunode=0-1 --memnode=0-1",
        &[Interrupted, Excluded],
    ),
    ("order", &["txt", "json", "csv", "prom"], ONE, "order", &[]),
    ("order-quiet", TEXT, ONE, "order --quiet", &[]),
    ("order-troubled", BOTH, TWO, "order --verbose --counters", &[Imprecise, Disturbed, Interrupted]),
    ("order-kernel-clock", TEXT, ONE, "order --size=16M", &[KernelClock]),
    ("pages", &["txt", "csv", "svg", "prom"], TWO, "pages", &[]),
    ("pages-quiet", TEXT, TWO, "pages --quiet", &[]),
    ("pages-no-benefit", TEXT, TWO, "pages --size=256K", &[]),
    ("pages-small", TEXT, TWO, "pages --size=64K", &[]),
    ("pages-few-sizes", DOCUMENT, ONE, "pages --size=512K", &[]),
    ("pages-no-pools", TEXT, ONE, "pages --verbose", &[Imprecise]),
    ("pages-one-kind", BOTH, ONE, "pages --pages=thp", &[KernelClock]),
    ("pages-interrupted", TEXT, TWO, "pages", &[Interrupted]),
    ("pages-virtual", TEXT, TWO, "pages", &[Virtual]),
    ("residency", &["txt", "json", "csv", "svg"], ONE, "residency", &[Neighbours]),
    ("residency-quiet", TEXT, TWO, "residency --quiet", &[]),
    ("residency-kept", BOTH, TWO, "residency --size=8M --verbose", &[Virtual]),
    ("residency-none", TEXT, ONE, "residency --verbose", &[Emulated]),
    ("variants", &["txt", "csv"], TWO, "variants", &[]),
    ("variants-range", TEXT, ONE, "variants --min-size=16K --max-size=1M", &[]),
    ("variants-one-size", DOCUMENT, ONE, "variants --min-size=1M --max-size=1M", &[]),
    ("variants-quiet", TEXT, ONE, "variants --quiet", &[]),
    ("variants-troubled", TEXT, ONE, "variants --verbose", &[Imprecise, Disturbed, Interrupted]),
    ("variants-virtual", TEXT, TWO, "variants", &[Virtual]),
    ("variants-kernel-clock", BOTH, ONE, "variants", &[KernelClock]),
    ("bandwidth", &["txt", "csv", "svg"], FOUR, "bandwidth --cpunode=1 --memnode=1", &[]),
    ("bandwidth-dimms", BOTH, FOUR, "bandwidth --cpunode=1 --memnode=1", &[Dimms]),
    ("bandwidth-quiet", TEXT, TWO, "bandwidth --quiet", &[]),
    ("bandwidth-two-nodes", &["txt", "prom"], TWO, "bandwidth --traffic=read,2:1", &[]),
    ("bandwidth-four-nodes", TEXT, FOUR, "bandwidth --verbose", &[]),
    ("bandwidth-mix", &["txt", "json", "svg"], FOUR, "bandwidth --view=mix", &[]),
    ("bandwidth-scaling", &["txt", "svg"], FOUR, "bandwidth --view=scaling --traffic=read,nt-write", &[]),
    ("curve-known-virtual", TEXT, ONE, "curve --pages=4k", &[Known, Virtual]),
    ("bandwidth-cores", BOTH, ONE, "bandwidth --view=cores", &[Imprecise, Disturbed]),
    ("bandwidth-in-cache", BOTH, FOUR, "bandwidth --size=32K --cpunode=0 --memnode=0", &[]),
    ("bandwidth-size", &["txt", "json", "csv", "svg", "prom"], ONE, "bandwidth --view=size", &[]),
    ("bandwidth-size-kinds", TEXT, TWO, "bandwidth --view=size --traffic=read,write --verbose", &[]),
    ("bandwidth-caches", &["txt", "json", "prom"], CACHES, "bandwidth", &[]),
    ("bandwidth-view-caches", TEXT, CACHES, "bandwidth --view=caches --cpunode=0 --verbose", &[]),
    ("bandwidth-interrupted", BOTH, TWO, "bandwidth", &[Interrupted]),
    ("bandwidth-one-core", BOTH, ONE, "bandwidth --load-cpus=1 --cpu=1", &[FewRounds, Virtual]),
    ("bandwidth-threads-refused", TEXT, FOUR, "bandwidth --view=scaling --cpunode=0", &[Threads]),
    ("cores", &["txt", "svg"], SMALL, "cores", &[]),
    ("cores-quiet", TEXT, SMALL, "cores --quiet", &[]),
    ("cores-states", &["txt", "json", "csv", "svg"], SMALL, "cores --states --verbose --pairs=classes", &[]),
    ("cores-two-cpus", TEXT, ONE, "cores --states --heatmap", &[Virtual]),
    ("cores-list", BOTH, FOUR, "cores --pairs=5:0,0:60 --method=flag --lines=4 --pages=thp --verbose", &[]),
    ("cores-many", TEXT, TWO, "cores --method=read-cas", &[Imprecise, Disturbed]),
    ("cores-messages", &["txt", "csv"], SMALL, "cores --method=message --pairs=0:1,0:2 --verbose", &[]),
    ("cores-messages-unsynchronised", TEXT, SMALL, "cores --method=message", &[Virtual]),
    ("cores-interrupted", TEXT, SMALL, "cores --states", &[Interrupted]),
    ("cores-early", BOTH, ONE, "cores", &[Early]),
    ("cores-troubled", TEXT, SMALL, "cores --memnode=0", &[Excluded, FewRounds, Unverified]),
    ("loaded", &["txt", "csv"], FOUR, "loaded --cpunode=0 --memnode=0", &[]),
    ("loaded-quiet", TEXT, TWO, "loaded --quiet", &[]),
    (
        "loaded-verbose",
        TEXT,
        FOUR,
        "loaded --verbose --memnode=0 --traffic=random,copy --burst=4",
        &[Virtual],
    ),
    ("loaded-two-nodes", TEXT, TWO, "loaded --traffic=read", &[]),
    ("loaded-elsewhere", TEXT, TWO, "loaded --memnode=0 --load-node=1 --traffic=nt-write --pacing=even", &[]),
    ("loaded-bends-back", &["txt", "svg"], TWO, "loaded --memnode=0 --traffic=random", &[]),
    ("loaded-rates-bend-back", TEXT, TWO, "loaded --memnode=0 --traffic=random --load-cpus=1-45", &[]),
    ("loaded-exhausted", TEXT, FOUR, "loaded --memnode=0 --traffic=read --load-cpus=1-4", &[]),
    ("loaded-one-generator", TEXT, ONE, "loaded", &[Virtual]),
    ("loaded-rates", TEXT, FOUR, "loaded --memnode=0 --traffic=2:1 --rates=0,5,60,500", &[]),
    ("loaded-held", TEXT, TWO, "loaded --traffic=read --rates=5 --hold=60", &[]),
    ("loaded-one-rate", BOTH, FOUR, "loaded --memnode=0 --traffic=read --rates=5", &[KernelClock]),
    ("loaded-threads-refused", BOTH, FOUR, "loaded --memnode=0 --traffic=read", &[Threads]),
    ("loaded-slow-idle", TEXT, FOUR, "loaded --memnode=0 --traffic=read", &[SlowIdle]),
    ("loaded-interrupted", TEXT, TWO, "loaded", &[Interrupted]),
    ("distribution-early", DOCUMENT, ONE, "distribution", &[Early]),
    ("loaded-early", BOTH, ONE, "loaded", &[Early]),
    ("loaded-troubled", BOTH, FOUR, "loaded --memnode=0-1", &[Excluded, Imprecise, Disturbed, FewRounds]),
    ("system", &["txt", "json", "prom"], ONE, "system", &[]),
    ("system-two-nodes", TEXT, TWO, "system", &[NoCounters]),
    ("system-virtual", BOTH, CXL, "system", &[Virtual]),
    ("system-dimms", &["txt", "html"], FOUR, "system", &[Dimms]),
    ("system-dimms-virtual", BOTH, ONE, "system", &[Dimms, Virtual]),
    ("system-edac", TEXT, TWO, "system", &[Edac]),
    ("system-cpuset", BOTH, "cpuset-part", "system", &[]),
    ("system-no-sysfs", BOTH, "no-sysfs", "system", &[KernelClock]),
    ("matrix-four-nodes", METRICS, FOUR, "matrix", &[]),
    ("matrix-troubled", METRICS, FOUR, "matrix", &[Excluded, Imprecise, FewRounds, ManyWarnings]),
    ("curve", METRICS, ONE, "curve --points-per-octave=1", &[]),
    ("distribution", METRICS, TWO, "distribution --memnode=0-1", &[]),
    ("cores-states", METRICS, SMALL, "cores --states", &[]),
    ("cores-messages", METRICS, SMALL, "cores --method=message --pairs=0:1,0:2", &[]),
    ("loaded-two-nodes", METRICS, TWO, "loaded --rates=0,5,max", &[]),
    (
        "matrix-labels",
        DOCUMENT,
        ONE,
        "matrix --label=rack=7 --label=a/b.c-d_e=\"\\\u{1b}<script> --label=empty=",
        &[],
    ),
    ("report", &["txt", "svg"], ONE, "report", &[]),
    ("report-two-nodes", TEXT, TWO, "report --format=text", &[Threads, Imprecise]),
    ("report-interrupted", &["json", "md", "html", "svg"], ONE, "report", &[Interrupted]),
    ("report-early", TEXT, ONE, "report --format=text", &[Early]),
    (
        "report-saved",
        TEXT,
        ONE,
        "report @saved/curve.json @saved/matrix-a.json @saved/bandwidth-a.json @saved/foreign.txt",
        &[],
    ),
    ("report-saved-loaded", DOCUMENT, ONE, "report @saved/loaded-a.json @saved/report.json", &[]),
    ("anonymous", BOTH, ONE, "matrix --anonymous", &[]),
    ("show", BOTH, ONE, "show @saved/matrix-a.json", &[]),
    ("show-memory", BOTH, ONE, "show @saved/matrix-memory-a.json", &[]),
    (
        "show-several",
        BOTH,
        ONE,
        "show @saved/loaded-a.json @saved/cores-a.json @saved/report.json @saved/foreign.txt @show/every-field.csv",
        &[],
    ),
    ("report-memory", BOTH, ONE, "report @saved/matrix-memory-a.json", &[]),
    ("report-joined", DOCUMENT, ONE, "report @saved/joined.csv", &[]),
    (
        "report-curves",
        TEXT,
        ONE,
        "report @saved/curve.json @saved/curve-no-turbo.csv @saved/foreign.txt",
        &[],
    ),
    ("report-hosts", TEXT, ONE, "report @saved/nodes.jsonl", &[]),
    ("fit", &["txt", "json", "svg"], ONE, "fit @saved/curve.json", &[]),
    ("fit-csv", TEXT, ONE, "fit @saved/curve.csv --reciprocal", &[]),
    ("fit-foreign", BOTH, ONE, "fit @saved/foreign.txt", &[]),
    ("fit-matrix", TEXT, ONE, "fit @saved/matrix-a.json", &[]),
    ("fit-pages", BOTH, ONE, "fit @saved/pages.json", &[]),
    ("fit-lat-mem-rd", TEXT, ONE, "fit @saved/lat_mem_rd.txt", &[]),
    ("fit-memory-latency", TEXT, ONE, "fit @saved/memory_latency.csv", &[]),
    ("fit-multichase", TEXT, ONE, "fit @saved/multichase.txt", &[]),
    ("fit-cpu-benchmarks", TEXT, ONE, "fit @saved/cpu-benchmarks.json", &[]),
    ("fit-tinymembench", TEXT, ONE, "fit @saved/tinymembench.txt", &[]),
    ("fit-no-unit", TEXT, ONE, "fit @saved/kibibytes.txt", &[]),
    ("fit-unit", TEXT, ONE, "fit @saved/kibibytes.txt --unit=K --quiet", &[]),
    ("compare", &["txt", "svg"], ONE, "compare @saved/curve.csv @saved/foreign.txt", &[]),
    ("compare-joined", DOCUMENT, ONE, "compare @saved/joined.csv @saved/joined.csv", &[]),
    ("compare-foreign", DOCUMENT, ONE, "compare @saved/foreign.txt @saved/foreign.txt", &[]),
    ("compare-same", TEXT, ONE, "compare @saved/curve.json @saved/curve.csv", &[]),
    ("compare-memory", BOTH, ONE, "compare @saved/matrix-memory-a.json @saved/matrix-memory-b.json", &[]),
    (
        "compare-load",
        TEXT,
        ONE,
        "compare @saved/matrix-memory-a.json @saved/matrix-memory-b.json --of=load",
        &[],
    ),
    ("compare-old", TEXT, ONE, "compare @saved/matrix-old.json @saved/matrix-memory-b.json", &[]),
    ("compare-size", TEXT, ONE, "compare @saved/matrix-old-size.json @saved/matrix-memory-b.json", &[]),
    (
        "compare-matrix",
        &["txt", "json", "tap"],
        ONE,
        "compare @saved/matrix-a.json @saved/matrix-b.csv --threshold=5",
        &[],
    ),
    ("compare-quiet", TEXT, ONE, "compare @saved/matrix-a.json @saved/matrix-b.csv --quiet", &[]),
    ("compare-nodes", TEXT, ONE, "compare @saved/nodes-a.csv @saved/nodes-b.csv", &[]),
    (
        "compare-conditions",
        &["txt", "json", "tap"],
        ONE,
        "compare @saved/server-a.json @saved/server-b.json",
        &[],
    ),
    ("compare-forced", TEXT, ONE, "compare @saved/server-a.json @saved/server-b.json --force", &[]),
    ("compare-cause", BOTH, ONE, "compare @saved/order-prefetch.json @saved/order-plain.json", &[]),
    ("compare-clock", BOTH, ONE, "compare @saved/curve.csv @saved/curve-no-turbo.csv", &[]),
    (
        "compare-runs",
        TEXT,
        ONE,
        "compare @saved/run-a1.csv @saved/run-a2.csv @saved/run-a3.csv -- @saved/run-b1.csv @saved/run-b2.csv @saved/run-b3.csv",
        &[],
    ),
    ("compare-unsettled", BOTH, ONE, "compare @saved/run-a1.csv @saved/unsettled.csv", &[]),
    ("compare-bandwidth", TEXT, ONE, "compare @saved/bandwidth-a.json @saved/bandwidth-b.csv", &[]),
    (
        "compare-loaded",
        &["txt", "json", "csv"],
        ONE,
        "compare @saved/loaded-a.json @saved/loaded-b.json",
        &[],
    ),
    (
        "compare-cores",
        &["txt", "csv", "md", "html"],
        ONE,
        "compare @saved/cores-a.json @saved/cores-b.json",
        &[],
    ),
    ("compare-cores-states", TEXT, ONE, "compare @saved/cores-states-a.json @saved/cores-states-b.json", &[]),
    ("compare-cores-method", BOTH, ONE, "compare @saved/cores-a.json @saved/cores-flag.json", &[]),
    ("compare-cores-many", TEXT, ONE, "compare @saved/cores-many-a.csv @saved/cores-many-b.csv", &[]),
    ("compare-report", TEXT, ONE, "compare @saved/report.json @saved/report.json", &[]),
    (
        "compare-both-poor",
        TEXT,
        ONE,
        "compare ../tests/golden/matrix-unverified.json ../tests/golden/matrix-unverified.json",
        &[],
    ),
    ("fit-bandwidth", TEXT, ONE, "fit @saved/bandwidth-a.json", &[]),
    (
        "expect",
        &["txt", "json", "csv", "md"],
        ONE,
        "expect @expect/report.json --size=200M --chains=4,8 --cores=2",
        &[],
    ),
    ("expect-pages", TEXT, ONE, "expect @expect/report.json --size=1G --pages=4k", &[]),
    ("fit-short", DOCUMENT, ONE, "fit @expect/shared-host.json", &[]),
    ("expect-curve", DOCUMENT, ONE, "expect @saved/curve.json", &[]),
    ("expect-measured", TEXT, ONE, "expect @saved/memory_latency.csv", &[]),
    ("expect-too-large", TEXT, ONE, "expect @expect/report.json --size=3G", &[]),
    ("expect-no-chains", TEXT, ONE, "expect @expect/report.json --chains=32", &[]),
    ("reference", &["txt", "json", "csv", "md"], ONE, "reference ice lake-sp", &[]),
    ("reference-unknown", BOTH, ONE, "reference wombat", &[]),
    ("fleet", &["txt", "json", "csv", "md", "prom", "tap"], ONE, "fleet @saved/fleet.jsonl", &[]),
    ("fleet-apart", &["txt", "json", "tap"], ONE, "fleet @saved/fleet-apart.jsonl", &[]),
    ("fleet-causes", BOTH, ONE, "fleet @saved/fleet-causes.jsonl", &[]),
    ("fleet-experiments", BOTH, ONE, "fleet @saved/fleet-experiments.jsonl", &[]),
    ("fleet-history", &["txt", "json", "csv"], ONE, "fleet --history @saved/fleet-history.jsonl", &[]),
    ("fleet-memory", BOTH, ONE, "fleet @saved/fleet-memory.jsonl", &[]),
    ("fleet-load", TEXT, ONE, "fleet @saved/fleet-memory.jsonl --of=load", &[]),
    ("fleet-memory-history", BOTH, ONE, "fleet --history @saved/fleet-memory-history.jsonl", &[]),
    ("fleet-one", DOCUMENT, ONE, "fleet @saved/server-b.json", &[]),
    ("fleet-few", BOTH, ONE, "fleet @saved/nodes.jsonl --expect=@hosts.txt", &[]),
    ("fleet-baseline", BOTH, ONE, "fleet @saved/fleet.jsonl --baseline=@saved/nodes.jsonl --verbose", &[]),
    ("compare-unlike", TEXT, ONE, "compare @saved/matrix-a.json @saved/curve.json", &[]),
];

/// Machines and command lines without a stored text, which `again` and the schema show.
const UNSTORED: [(&str, &str); 2] =
    [("sub-numa-clusters", "cores --pairs=classes"), (ONE, "report --size=1M")];

/// Texts that depend on the terminal, on one of 80 columns with only ASCII characters.
const NARROW: &[Row] = &[
    ("matrix-two-nodes-ascii", TEXT, TWO, "matrix --heatmap", &[]),
    ("matrix-four-nodes-ascii", TEXT, FOUR, "matrix --heatmap", &[]),
    ("curve-ascii", TEXT, ONE, "curve --points-per-octave=2", &[]),
    ("parallel-ascii", TEXT, ONE, "parallel", &[]),
    ("window-ascii", TEXT, ONE, "window", &[]),
    ("distribution-ascii", TEXT, ONE, "distribution", &[]),
    ("pages-ascii", TEXT, TWO, "pages", &[]),
    ("cores-ascii", TEXT, SMALL, "cores --heatmap", &[]),
    ("bandwidth-ascii", TEXT, TWO, "bandwidth --traffic=read,write", &[]),
    ("bandwidth-mix-ascii", TEXT, FOUR, "bandwidth --view=mix", &[]),
    ("bandwidth-scaling-ascii", TEXT, FOUR, "bandwidth --view=scaling --cpunode=0", &[]),
    ("loaded-ascii", TEXT, FOUR, "loaded --memnode=0", &[]),
    ("compare-ascii", TEXT, ONE, "compare @saved/curve.csv @saved/foreign.txt", &[]),
];

/// Texts in colour.
const COLOURED: &[Row] = &[
    ("matrix-four-nodes-colour", TEXT, FOUR, "matrix --heatmap", &[]),
    ("curve-colour", TEXT, ONE, "curve --points-per-octave=2", &[]),
    ("distribution-colour", TEXT, ONE, "distribution", &[]),
    ("bandwidth-file", TEXT, TWO, "bandwidth", &[]),
    ("cores-states-file", TEXT, SMALL, "cores --states --pairs=classes", &[]),
];

/// Results of a build for another instruction set, whose counter is coarse, in files with its name.
const OF_AARCH64: &[Row] = &[
    ("matrix", BOTH, ONE, "matrix", &[]),
    ("matrix-verbose", TEXT, TWO, "matrix --verbose", &[]),
    ("matrix-no-core-clock", BOTH, ONE, "matrix", &[NoCoreClock]),
    ("curve", TEXT, ONE, "curve --points-per-octave=2", &[]),
    ("system", BOTH, ONE, "system", &[]),
];

/// Experiments with an instructive plan, each with a machine.
const PLANS: &[(&str, &str, &str)] = &[
    ("matrix", FOUR, ""),
    ("curve", ONE, ""),
    ("parallel", ONE, ""),
    ("window", ONE, ""),
    ("distribution", TWO, ""),
    ("order", ONE, ""),
    ("pages", TWO, ""),
    ("residency", TWO, ""),
    ("variants", TWO, ""),
    ("bandwidth", TWO, ""),
    ("bandwidth-mix", FOUR, " --view=mix"),
    ("cores", SMALL, ""),
    ("cores-states", TWO, " --states --verbose --pairs=0:1,0:32"),
    ("loaded", TWO, ""),
    ("report", TWO, " --format=text --cpu=1 --pages=4k --seed=7"),
    ("report-short", TWO, " --format=text --budget=25"),
    ("curve-limited", TWO, " --time-limit=2 --min-size=64K --max-size=1M --memnode=1 --cpunode=0"),
    ("matrix-trials", TWO, " --trials=10 --iters=100000 --order=page-local --kernel=index"),
];

const HELP: &[&str] = &[
    "",
    "matrix",
    "curve",
    "parallel",
    "window",
    "distribution",
    "order",
    "pages",
    "residency",
    "variants",
    "bandwidth",
    "cores",
    "loaded",
    "system",
    "fit",
    "compare",
    "fleet",
    "show",
    "report",
];

/// Makes a scene on a wide terminal, without troubles and without a stored text.
pub fn plain(machine: &'static str, line: impl Into<String>) -> Scene {
    Scene {
        file: String::new(),
        machine,
        line: line.into(),
        columns: 100,
        unicode: true,
        colour: false,
        audience: Audience::Pipe,
        troubles: &[],
        words: X86_64,
    }
}

/// Returns every scene.
pub fn all() -> Vec<Scene> {
    let rows = |rows: &'static [Row], columns, unicode, colour| {
        rows.iter().flat_map(move |&(name, formats, machine, line, troubles)| {
            let line = line.replace('@', "../tests/fixtures/");
            formats.iter().map(move |extension| Scene {
                file: format!("{name}.{extension}"),
                machine,
                line: match *extension {
                    "txt" => line.clone(),
                    "sh" => format!("{line} --format=hwloc"),
                    "prom" => format!("{line} --format=prometheus"),
                    format => format!("{line} --format={format}"),
                },
                columns,
                unicode,
                colour,
                audience: match name.rsplit('-').next() {
                    Some("terminal") => Audience::Person,
                    Some("file") => Audience::File,
                    _ => Audience::Pipe,
                },
                troubles,
                words: X86_64,
            })
        })
    };
    let plans = PLANS.iter().map(|&(name, machine, more)| {
        let experiment = name.split('-').next().unwrap_or(name);
        let file = format!("dry-run-{name}.txt");
        Scene { file, ..plain(machine, format!("{experiment} --dry-run{more}")) }
    });
    let help = HELP.iter().map(|&name| {
        let (dash, space) = if name.is_empty() { ("", "") } else { ("-", " ") };
        let file = format!("help{dash}{name}.txt");
        Scene { file, ..plain(ONE, format!("{name}{space}--help")) }
    });
    let mut all: Vec<Scene> = rows(WIDE, 100, true, false).collect();
    all.extend(rows(NARROW, 80, false, false));
    all.extend(rows(COLOURED, 100, true, true));
    all.extend(rows(OF_AARCH64, 100, true, false).map(|scene| {
        let (name, format) = scene.file.rsplit_once('.').unwrap_or_default();
        Scene { file: format!("{name}.aarch64.{format}"), words: AARCH64, ..scene.clone() }
    }));
    all.extend(plans.chain(help));
    all
}

/// Command lines of all experiments and of some of their views; a curve has few points.
pub const LINES: [&str; 14] = [
    "matrix",
    "curve --points-per-octave=1",
    "parallel",
    "window",
    "distribution",
    "order",
    "pages",
    "residency",
    "variants",
    "bandwidth",
    "bandwidth --view=cores",
    "cores --states",
    "cores --method=message",
    "loaded",
];

/// Returns scenes for the schema and for `again`: everything that is stored, and each experiment with each trouble.
pub fn for_programs() -> Vec<Scene> {
    let mut scenes: Vec<Scene> = all();
    for scene in &mut scenes {
        scene.line = scene.line.split(" --format").next().unwrap_or_default().into();
    }
    scenes.extend(UNSTORED.map(|(machine, line)| plain(machine, line)));
    for experiment in LINES {
        for trouble in &Trouble::ALL {
            for machine in [ONE, TWO] {
                let counted = format!("{experiment} --counters");
                let line = if findings::is_accepted(&counted) { counted } else { experiment.into() };
                scenes.push(Scene { troubles: core::slice::from_ref(trouble), ..plain(machine, line) });
            }
        }
    }
    let mut known = BTreeSet::new();
    scenes.retain(|scene| {
        known.insert((scene.machine, scene.line.clone(), scene.troubles, scene.words.counter_source))
    });
    scenes
}
