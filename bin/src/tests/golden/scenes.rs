//! The scenes: their command lines, machines and formats.

use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::findings;
use super::scene::{Scene, Trouble};
use crate::report::words::{AARCH64, X86_64};
use Trouble::{
    BusyCpu, Dimms, Disturbed, Early, Edac, Emulated, Excluded, FewRounds, FirstTouch, HostileNames,
    Imprecise, Interrupted, KernelClock, Known, ManyWarnings, Moved, Neighbours, NoCoreClock, NoCounters,
    SlowIdle, SlowedCore, SmallTlb, Threads, Unverified, Virtual, Wide,
};

const ONE: &str = "one-node";
const TWO: &str = "two-sockets";
const FOUR: &str = "four-nodes";
const SMALL: &str = "two-small-sockets";
const CXL: &str = "cxl-memory";
const EVERY: &[&str] = &["txt", "json", "csv", "svg"];
const PAGES: &[&str] = &["txt", "json", "csv", "svg", "html"];
const TABLES: &[&str] = &["txt", "json", "csv"];
const TEXT: &[&str] = &["txt"];
const PROMETHEUS: &[&str] = &["prom"];

/// Scenes on a wide terminal with all characters: name, formats, machine, command line, troubles.
type Row = (&'static str, &'static [&'static str], &'static str, &'static str, &'static [Trouble]);

const WIDE: &[Row] = &[
    ("matrix", PAGES, ONE, "matrix", &[]),
    ("matrix-terminal", TEXT, ONE, "matrix", &[]),
    ("matrix-unverified-terminal", TEXT, ONE, "matrix", &[Unverified]),
    ("matrix-quiet", TEXT, TWO, "matrix --quiet", &[]),
    ("matrix-verbose", TEXT, TWO, "matrix --verbose --counters", &[]),
    ("matrix-two-nodes", EVERY, TWO, "matrix --counters --heatmap", &[]),
    ("matrix-four-nodes", PAGES, FOUR, "matrix --heatmap", &[]),
    ("matrix-one-package", &["txt", "json"], "sub-numa-clusters", "matrix", &[]),
    ("matrix-interleaved", TEXT, "node-interleaving", "matrix --verbose", &[Known]),
    ("system-interleaved", TEXT, "node-interleaving", "system", &[]),
    ("matrix-hybrid-terminal", TEXT, "hybrid", "matrix", &[]),
    ("matrix-hybrid-small", TEXT, "hybrid", "matrix --cpu=5 --verbose", &[]),
    ("cores-hybrid", &["txt", "json", "prom", "svg"], "hybrid", "cores", &[]),
    ("matrix-without-numa", &["txt", "json"], "kernel-without-numa", "matrix", &[]),
    ("matrix-memory-only-node", TABLES, CXL, "matrix --verbose", &[FirstTouch]),
    (
        "matrix-troubled",
        EVERY,
        FOUR,
        "matrix --counters",
        &[Excluded, Imprecise, Disturbed, NoCounters, ManyWarnings],
    ),
    ("matrix-neighbours", &["txt", "json", "csv", "prom"], ONE, "matrix", &[Neighbours]),
    ("matrix-neighbours-two-nodes", TEXT, TWO, "matrix --verbose", &[Neighbours, Imprecise]),
    ("matrix-neighbours-always", TEXT, ONE, "matrix", &[Neighbours, FewRounds]),
    ("matrix-wide", &["txt", "html"], ONE, "matrix", &[Wide]),
    ("matrix-wide-two-nodes", &["txt", "svg"], TWO, "matrix", &[Wide]),
    ("report-wide", TEXT, TWO, "report", &[Wide]),
    ("matrix-emulated", &["txt", "json", "md"], ONE, "matrix", &[Emulated]),
    ("matrix-memory-errors", &["txt", "json"], TWO, "matrix", &[Edac]),
    ("matrix-busy-cpu", &["txt", "json"], TWO, "matrix", &[BusyCpu]),
    ("matrix-small-tlb", &["txt", "json"], ONE, "matrix --verbose", &[SmallTlb]),
    ("matrix-split-virtual", &["txt"], TWO, "matrix --verbose", &[Virtual]),
    ("matrix-slowed-core", &["txt", "json"], ONE, "matrix --size=16K", &[SlowedCore]),
    ("matrix-known", TEXT, ONE, "matrix", &[Known]),
    ("matrix-known-virtual", &["txt", "json"], TWO, "matrix", &[Known, Virtual]),
    ("matrix-side-cache", &["txt"], CXL, "matrix --cpunode=0 --memnode=0", &[]),
    ("curve-known", TEXT, ONE, "curve", &[Known]),
    ("bandwidth-known", TEXT, TWO, "bandwidth --traffic=read", &[Known]),
    ("bandwidth-known-virtual", TEXT, ONE, "bandwidth", &[Known, Virtual]),
    ("cores-known", TEXT, SMALL, "cores", &[Known]),
    ("report-known", &["txt", "html"], ONE, "report", &[Known, Virtual]),
    ("curve-side-cache", TEXT, CXL, "curve --quiet --points-per-octave=2", &[]),
    ("bandwidth-counters", TABLES, ONE, "bandwidth --verbose --counters", &[]),
    ("cores-counters", TABLES, ONE, "cores --pairs=0:1 --verbose --counters", &[]),
    ("loaded-counters", TABLES, ONE, "loaded --traffic=read --rates=0,max --counters", &[]),
    ("bandwidth-side-cache", TEXT, CXL, "bandwidth --cpunode=0 --memnode=0", &[]),
    ("loaded-side-cache", TEXT, CXL, "loaded --quiet --cpunode=0 --memnode=0 --traffic=read", &[]),
    ("matrix-hwloc", &["sh"], CXL, "matrix", &[]),
    ("bandwidth-hwloc", &["sh"], TWO, "bandwidth --traffic=read,nt-write", &[]),
    ("loaded-hwloc", &["sh"], TWO, "loaded", &[]),
    ("matrix-early-hwloc", &["sh"], ONE, "matrix", &[Early]),
    ("matrix-hostile-names", &["txt", "json", "csv", "md", "html"], TWO, "matrix", &[HostileNames]),
    ("matrix-moved", TABLES, TWO, "matrix", &[Moved]),
    ("matrix-unverified", TABLES, ONE, "matrix --verbose", &[Unverified]),
    ("matrix-interrupted", EVERY, FOUR, "matrix", &[Interrupted]),
    ("matrix-kernel-clock", EVERY, ONE, "matrix --verbose", &[KernelClock]),
    ("curve", PAGES, ONE, "curve", &[]),
    ("curve-quiet", TEXT, ONE, "curve --quiet --points-per-octave=2", &[]),
    (
        "curve-verbose",
        TABLES,
        ONE,
        "curve --verbose --counters --pages=4k --points-per-octave=2",
        &[Imprecise],
    ),
    ("curve-reciprocal", &["txt", "svg"], ONE, "curve --reciprocal --points-per-octave=2", &[]),
    (
        "curve-remote",
        TABLES,
        TWO,
        "curve --cpunode=0 --memnode=1 --points-per-octave=2",
        &[Virtual, Disturbed],
    ),
    ("curve-interrupted", TABLES, ONE, "curve --points-per-octave=2", &[Interrupted]),
    ("curve-kernel-clock", TABLES, ONE, "curve --pages=4k --points-per-octave=2", &[KernelClock]),
    (
        "curve-no-spans",
        TEXT,
        ONE,
        "curve --verbose --pages=4k --min-size=1M --max-size=2M --points-per-octave=1",
        &[KernelClock],
    ),
    ("curve-one-size", TABLES, ONE, "curve --min-size=1M --max-size=2M --points-per-octave=1", &[]),
    ("parallel", EVERY, ONE, "parallel", &[]),
    ("parallel-quiet", TEXT, ONE, "parallel --quiet", &[]),
    ("parallel-troubled", EVERY, TWO, "parallel --verbose --counters", &[Imprecise, Disturbed, Interrupted]),
    ("parallel-one-size", EVERY, ONE, "parallel --size=1M", &[KernelClock]),
    ("parallel-chains", TEXT, ONE, "parallel --chains=1,4-6", &[]),
    ("window", EVERY, ONE, "window", &[]),
    ("window-known", TEXT, ONE, "window", &[Known]),
    ("window-known-virtual", TEXT, TWO, "window", &[Known, Virtual]),
    ("window-quiet", TEXT, ONE, "window --quiet", &[]),
    ("window-virtual", EVERY, TWO, "window --verbose", &[Virtual, Imprecise]),
    ("window-interrupted", TABLES, ONE, "window", &[Interrupted]),
    ("window-in-cache", EVERY, ONE, "window --size=1M", &[]),
    ("distribution", EVERY, ONE, "distribution", &[]),
    ("distribution-quiet", TEXT, ONE, "distribution --quiet", &[]),
    ("distribution-two-nodes", EVERY, TWO, "distribution --memnode=0-1 --verbose", &[Disturbed]),
    ("distribution-short-hops", EVERY, ONE, "distribution --size=16K", &[Imprecise]),
    (
        "distribution-interrupted",
        EVERY,
        TWO,
        "distribution --cpunode=0-1 --memnode=0-1",
        &[Interrupted, Excluded],
    ),
    ("order", TABLES, ONE, "order", &[]),
    ("order-quiet", TEXT, ONE, "order --quiet", &[]),
    ("order-troubled", TABLES, TWO, "order --verbose --counters", &[Imprecise, Disturbed, Interrupted]),
    ("order-kernel-clock", TABLES, ONE, "order --size=16M", &[KernelClock]),
    ("pages", EVERY, TWO, "pages", &[]),
    ("pages-quiet", TEXT, TWO, "pages --quiet", &[]),
    ("pages-no-benefit", TEXT, TWO, "pages --size=256K", &[]),
    ("pages-small", TEXT, TWO, "pages --size=64K", &[]),
    ("pages-few-sizes", &["json", "csv"], ONE, "pages --size=512K", &[]),
    ("pages-no-pools", TABLES, ONE, "pages --verbose", &[Imprecise]),
    ("pages-one-kind", EVERY, ONE, "pages --pages=thp", &[KernelClock]),
    ("pages-interrupted", TEXT, TWO, "pages", &[Interrupted]),
    ("pages-virtual", &["txt", "json"], TWO, "pages", &[Virtual]),
    ("residency", EVERY, ONE, "residency", &[Neighbours]),
    ("residency-quiet", TEXT, TWO, "residency --quiet", &[]),
    ("residency-kept", TABLES, TWO, "residency --size=8M --verbose", &[Virtual]),
    ("residency-none", TEXT, ONE, "residency --verbose", &[Emulated]),
    ("variants", TABLES, TWO, "variants", &[]),
    ("variants-range", TABLES, ONE, "variants --min-size=16K --max-size=1M", &[]),
    ("variants-quiet", TEXT, ONE, "variants --quiet", &[]),
    ("variants-troubled", TABLES, ONE, "variants --verbose", &[Imprecise, Disturbed, Interrupted]),
    ("variants-virtual", TEXT, TWO, "variants", &[Virtual]),
    ("variants-kernel-clock", TABLES, ONE, "variants", &[KernelClock]),
    ("bandwidth", EVERY, FOUR, "bandwidth --cpunode=1 --memnode=1", &[]),
    ("bandwidth-dimms", &["txt", "json"], FOUR, "bandwidth --cpunode=1 --memnode=1", &[Dimms]),
    ("bandwidth-quiet", TEXT, TWO, "bandwidth --quiet", &[]),
    ("bandwidth-two-nodes", EVERY, TWO, "bandwidth --traffic=read,2:1", &[]),
    ("bandwidth-four-nodes", TEXT, FOUR, "bandwidth --verbose", &[]),
    ("bandwidth-mix", EVERY, FOUR, "bandwidth --view=mix", &[]),
    ("bandwidth-scaling", EVERY, FOUR, "bandwidth --view=scaling --traffic=read,nt-write", &[]),
    ("curve-known-virtual", TEXT, ONE, "curve --pages=4k", &[Known, Virtual]),
    ("bandwidth-cores", EVERY, ONE, "bandwidth --view=cores", &[Imprecise, Disturbed]),
    ("bandwidth-in-cache", TABLES, FOUR, "bandwidth --size=32K --cpunode=0 --memnode=0", &[]),
    ("bandwidth-interrupted", EVERY, TWO, "bandwidth", &[Interrupted]),
    ("bandwidth-one-core", TABLES, ONE, "bandwidth --load-cpus=1 --cpu=1", &[FewRounds, Virtual]),
    ("bandwidth-threads-refused", TABLES, FOUR, "bandwidth --view=scaling --cpunode=0", &[Threads]),
    ("cores", PAGES, SMALL, "cores", &[]),
    ("cores-quiet", TEXT, SMALL, "cores --quiet", &[]),
    ("cores-states", EVERY, SMALL, "cores --states --verbose --pairs=classes", &[]),
    ("cores-two-cpus", EVERY, ONE, "cores --states --heatmap", &[Virtual]),
    ("cores-list", TABLES, FOUR, "cores --pairs=5:0,0:60 --method=flag --lines=4 --pages=thp --verbose", &[]),
    ("cores-many", EVERY, TWO, "cores --method=read-cas", &[Imprecise, Disturbed]),
    ("cores-messages", TABLES, SMALL, "cores --method=message --pairs=0:1,0:2 --verbose", &[]),
    ("cores-messages-unsynchronised", TABLES, SMALL, "cores --method=message", &[Virtual]),
    ("cores-interrupted", EVERY, SMALL, "cores --states", &[Interrupted]),
    ("cores-early", TABLES, ONE, "cores", &[Early]),
    ("cores-one-package", &["json"], "sub-numa-clusters", "cores --pairs=classes", &[]),
    ("cores-troubled", TABLES, SMALL, "cores --memnode=0", &[Excluded, FewRounds, Unverified]),
    ("loaded", PAGES, FOUR, "loaded --cpunode=0 --memnode=0", &[]),
    ("loaded-quiet", TEXT, TWO, "loaded --quiet", &[]),
    (
        "loaded-verbose",
        TABLES,
        FOUR,
        "loaded --verbose --memnode=0 --traffic=random,copy --burst=4",
        &[Virtual],
    ),
    ("loaded-two-nodes", EVERY, TWO, "loaded --traffic=read", &[]),
    (
        "loaded-elsewhere",
        TABLES,
        TWO,
        "loaded --memnode=0 --load-node=1 --traffic=nt-write --pacing=even",
        &[],
    ),
    ("loaded-bends-back", EVERY, TWO, "loaded --memnode=0 --traffic=random", &[]),
    ("loaded-rates-bend-back", TEXT, TWO, "loaded --memnode=0 --traffic=random --load-cpus=1-45", &[]),
    ("loaded-exhausted", TABLES, FOUR, "loaded --memnode=0 --traffic=read --load-cpus=1-4", &[]),
    ("loaded-one-generator", EVERY, ONE, "loaded", &[Virtual]),
    ("loaded-rates", EVERY, FOUR, "loaded --memnode=0 --traffic=2:1 --rates=0,5,60,500", &[]),
    ("loaded-held", TABLES, TWO, "loaded --traffic=read --rates=5 --hold=60", &[]),
    ("loaded-one-rate", TABLES, FOUR, "loaded --memnode=0 --traffic=read --rates=5", &[KernelClock]),
    ("loaded-threads-refused", TABLES, FOUR, "loaded --memnode=0 --traffic=read", &[Threads]),
    ("loaded-slow-idle", EVERY, FOUR, "loaded --memnode=0 --traffic=read", &[SlowIdle]),
    ("loaded-interrupted", EVERY, TWO, "loaded", &[Interrupted]),
    ("distribution-early", &["json"], ONE, "distribution", &[Early]),
    ("loaded-early", TABLES, ONE, "loaded", &[Early]),
    ("loaded-troubled", TABLES, FOUR, "loaded --memnode=0-1", &[Excluded, Imprecise, Disturbed, FewRounds]),
    ("system", &["txt", "json", "html"], ONE, "system", &[]),
    ("system-two-nodes", &["txt", "json"], TWO, "system", &[NoCounters]),
    ("system-virtual", &["txt", "json"], CXL, "system", &[Virtual]),
    ("system-dimms", &["txt", "json", "html"], FOUR, "system", &[Dimms]),
    ("system-dimms-virtual", &["txt", "json"], ONE, "system", &[Dimms, Virtual]),
    ("system-edac", &["txt", "json"], TWO, "system", &[Edac]),
    ("system-cpuset", &["txt", "json"], "cpuset-part", "system", &[]),
    ("system-no-sysfs", &["txt", "json"], "no-sysfs", "system", &[KernelClock]),
    ("system", PROMETHEUS, ONE, "system", &[]),
    ("matrix-four-nodes", PROMETHEUS, FOUR, "matrix", &[]),
    ("matrix-troubled", PROMETHEUS, FOUR, "matrix", &[Excluded, Imprecise, FewRounds, ManyWarnings]),
    ("curve", PROMETHEUS, ONE, "curve --points-per-octave=1", &[]),
    ("parallel", PROMETHEUS, ONE, "parallel", &[]),
    ("window", PROMETHEUS, ONE, "window", &[]),
    ("distribution", PROMETHEUS, TWO, "distribution --memnode=0-1", &[]),
    ("order", PROMETHEUS, ONE, "order", &[]),
    ("pages", PROMETHEUS, TWO, "pages", &[]),
    ("variants", PROMETHEUS, TWO, "variants", &[]),
    ("bandwidth-two-nodes", PROMETHEUS, TWO, "bandwidth --traffic=read,2:1", &[]),
    ("bandwidth-cores", PROMETHEUS, ONE, "bandwidth --view=cores", &[]),
    ("cores-states", PROMETHEUS, SMALL, "cores --states", &[]),
    ("cores-messages", PROMETHEUS, SMALL, "cores --method=message --pairs=0:1,0:2", &[]),
    ("loaded-two-nodes", PROMETHEUS, TWO, "loaded --rates=0,5,max", &[]),
    (
        "matrix-labels",
        &["json"],
        ONE,
        "matrix --label=rack=7 --label=a/b.c-d_e=\"\\\u{1b}<script> --label=empty=",
        &[],
    ),
    ("report", &["txt", "json", "md", "html"], ONE, "report", &[]),
    ("report-few-sizes", &["json"], ONE, "report --size=1M", &[]),
    ("report-two-nodes", &["txt"], TWO, "report --format=text", &[Threads, Imprecise]),
    ("report-interrupted", &["md", "html"], ONE, "report", &[Interrupted]),
    ("report-early", &["txt"], ONE, "report --format=text", &[Early]),
    (
        "report-saved",
        &["txt", "json", "html"],
        ONE,
        "report ../tests/fixtures/saved/curve.json ../tests/fixtures/saved/matrix-a.json \
         ../tests/fixtures/saved/bandwidth-a.json ../tests/fixtures/saved/foreign.txt",
        &[],
    ),
    (
        "report-saved-loaded",
        &["json"],
        ONE,
        "report ../tests/fixtures/saved/loaded-a.json ../tests/fixtures/saved/report.json",
        &[],
    ),
    ("anonymous", &["txt", "json"], ONE, "matrix --anonymous", &[]),
    (
        "show",
        &["txt", "json", "csv", "md", "prom", "svg"],
        ONE,
        "show ../tests/fixtures/saved/matrix-a.json",
        &[],
    ),
    (
        "show-memory",
        &["txt", "json", "csv", "prom"],
        ONE,
        "show ../tests/fixtures/saved/matrix-memory-a.json",
        &[],
    ),
    (
        "show-several",
        &["txt", "json"],
        ONE,
        "show ../tests/fixtures/saved/loaded-a.json ../tests/fixtures/saved/cores-a.json \
         ../tests/fixtures/saved/report.json ../tests/fixtures/saved/foreign.txt \
         ../tests/fixtures/show/every-field.csv",
        &[],
    ),
    ("report-memory", &["txt", "json"], ONE, "report ../tests/fixtures/saved/matrix-memory-a.json", &[]),
    ("report-joined", &["json"], ONE, "report ../tests/fixtures/saved/joined.csv", &[]),
    (
        "report-curves",
        TEXT,
        ONE,
        "report ../tests/fixtures/saved/curve.json ../tests/fixtures/saved/curve-no-turbo.csv \
         ../tests/fixtures/saved/foreign.txt",
        &[],
    ),
    ("report-hosts", TEXT, ONE, "report ../tests/fixtures/saved/nodes.jsonl", &[]),
    ("fit", &["txt", "json", "svg", "html"], ONE, "fit ../tests/fixtures/saved/curve.json", &[]),
    ("fit-csv", TEXT, ONE, "fit ../tests/fixtures/saved/curve.csv --reciprocal", &[]),
    ("fit-foreign", &["txt", "json"], ONE, "fit ../tests/fixtures/saved/foreign.txt", &[]),
    ("fit-matrix", TEXT, ONE, "fit ../tests/fixtures/saved/matrix-a.json", &[]),
    ("fit-pages", &["txt", "json"], ONE, "fit ../tests/fixtures/saved/pages.json", &[]),
    ("fit-lat-mem-rd", TEXT, ONE, "fit ../tests/fixtures/saved/lat_mem_rd.txt", &[]),
    ("fit-memory-latency", TEXT, ONE, "fit ../tests/fixtures/saved/memory_latency.csv", &[]),
    ("fit-multichase", TEXT, ONE, "fit ../tests/fixtures/saved/multichase.txt", &[]),
    ("fit-cpu-benchmarks", TEXT, ONE, "fit ../tests/fixtures/saved/cpu-benchmarks.json", &[]),
    ("fit-tinymembench", TEXT, ONE, "fit ../tests/fixtures/saved/tinymembench.txt", &[]),
    ("fit-no-unit", TEXT, ONE, "fit ../tests/fixtures/saved/kibibytes.txt", &[]),
    ("fit-unit", TEXT, ONE, "fit ../tests/fixtures/saved/kibibytes.txt --unit=K --quiet", &[]),
    (
        "compare",
        &["txt", "json", "svg", "html"],
        ONE,
        "compare ../tests/fixtures/saved/curve.csv ../tests/fixtures/saved/foreign.txt",
        &[],
    ),
    (
        "compare-joined",
        &["json"],
        ONE,
        "compare ../tests/fixtures/saved/joined.csv ../tests/fixtures/saved/joined.csv",
        &[],
    ),
    (
        "compare-foreign",
        &["json"],
        ONE,
        "compare ../tests/fixtures/saved/foreign.txt ../tests/fixtures/saved/foreign.txt",
        &[],
    ),
    (
        "compare-same",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/curve.json ../tests/fixtures/saved/curve.csv",
        &[],
    ),
    (
        "compare-memory",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/matrix-memory-a.json ../tests/fixtures/saved/matrix-memory-b.json",
        &[],
    ),
    (
        "compare-load",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/matrix-memory-a.json ../tests/fixtures/saved/matrix-memory-b.json --of=load",
        &[],
    ),
    (
        "compare-old",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/matrix-old.json ../tests/fixtures/saved/matrix-memory-b.json",
        &[],
    ),
    (
        "compare-size",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/matrix-old-size.json ../tests/fixtures/saved/matrix-memory-b.json",
        &[],
    ),
    (
        "compare-matrix",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/matrix-a.json ../tests/fixtures/saved/matrix-b.csv --threshold=5",
        &[],
    ),
    (
        "compare-quiet",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/matrix-a.json ../tests/fixtures/saved/matrix-b.csv --quiet",
        &[],
    ),
    (
        "compare-nodes",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/nodes-a.csv ../tests/fixtures/saved/nodes-b.csv",
        &[],
    ),
    (
        "compare-conditions",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/server-a.json ../tests/fixtures/saved/server-b.json",
        &[],
    ),
    (
        "compare-forced",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/server-a.json ../tests/fixtures/saved/server-b.json --force",
        &[],
    ),
    (
        "compare-cause",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/order-prefetch.json ../tests/fixtures/saved/order-plain.json",
        &[],
    ),
    (
        "compare-clock",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/curve.csv ../tests/fixtures/saved/curve-no-turbo.csv",
        &[],
    ),
    (
        "compare-runs",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/run-a1.csv ../tests/fixtures/saved/run-a2.csv \
         ../tests/fixtures/saved/run-a3.csv -- ../tests/fixtures/saved/run-b1.csv \
         ../tests/fixtures/saved/run-b2.csv ../tests/fixtures/saved/run-b3.csv",
        &[],
    ),
    (
        "compare-unsettled",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/run-a1.csv ../tests/fixtures/saved/unsettled.csv",
        &[],
    ),
    (
        "compare-bandwidth",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/bandwidth-a.json ../tests/fixtures/saved/bandwidth-b.csv",
        &[],
    ),
    (
        "compare-loaded",
        &["txt", "json", "csv"],
        ONE,
        "compare ../tests/fixtures/saved/loaded-a.json ../tests/fixtures/saved/loaded-b.json",
        &[],
    ),
    (
        "compare-cores",
        &["txt", "json", "csv", "md", "html"],
        ONE,
        "compare ../tests/fixtures/saved/cores-a.json ../tests/fixtures/saved/cores-b.json",
        &[],
    ),
    (
        "compare-cores-states",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/cores-states-a.json ../tests/fixtures/saved/cores-states-b.json",
        &[],
    ),
    (
        "compare-cores-method",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/cores-a.json ../tests/fixtures/saved/cores-flag.json",
        &[],
    ),
    (
        "compare-cores-many",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/cores-many-a.csv ../tests/fixtures/saved/cores-many-b.csv",
        &[],
    ),
    (
        "compare-report",
        &["txt", "json"],
        ONE,
        "compare ../tests/fixtures/saved/report.json ../tests/fixtures/saved/report.json",
        &[],
    ),
    (
        "compare-both-poor",
        TEXT,
        ONE,
        "compare ../tests/golden/matrix-unverified.json ../tests/golden/matrix-unverified.json",
        &[],
    ),
    ("fit-bandwidth", TEXT, ONE, "fit ../tests/fixtures/saved/bandwidth-a.json", &[]),
    (
        "expect",
        &["txt", "json", "csv", "md"],
        ONE,
        "expect ../tests/fixtures/expect/report.json --size=200M --chains=4,8 --cores=2",
        &[],
    ),
    ("expect-pages", TEXT, ONE, "expect ../tests/fixtures/expect/report.json --size=1G --pages=4k", &[]),
    ("fit-short", &["json"], ONE, "fit ../tests/fixtures/expect/shared-host.json", &[]),
    ("expect-curve", &["json"], ONE, "expect ../tests/fixtures/saved/curve.json", &[]),
    ("expect-measured", TEXT, ONE, "expect ../tests/fixtures/saved/memory_latency.csv", &[]),
    ("expect-too-large", TEXT, ONE, "expect ../tests/fixtures/expect/report.json --size=3G", &[]),
    ("expect-no-chains", TEXT, ONE, "expect ../tests/fixtures/expect/report.json --chains=32", &[]),
    ("reference", &["txt", "json", "csv", "md"], ONE, "reference ice lake-sp", &[]),
    ("reference-unknown", &["txt", "json"], ONE, "reference wombat", &[]),
    ("fleet", &["txt", "json", "csv", "md", "prom"], ONE, "fleet ../tests/fixtures/saved/fleet.jsonl", &[]),
    ("fleet-apart", &["txt", "json", "csv"], ONE, "fleet ../tests/fixtures/saved/fleet-apart.jsonl", &[]),
    ("fleet-causes", &["txt", "json", "csv"], ONE, "fleet ../tests/fixtures/saved/fleet-causes.jsonl", &[]),
    (
        "fleet-experiments",
        &["txt", "json"],
        ONE,
        "fleet ../tests/fixtures/saved/fleet-experiments.jsonl",
        &[],
    ),
    (
        "fleet-history",
        &["txt", "json", "csv"],
        ONE,
        "fleet --history ../tests/fixtures/saved/fleet-history.jsonl",
        &[],
    ),
    ("fleet-memory", &["txt", "json"], ONE, "fleet ../tests/fixtures/saved/fleet-memory.jsonl", &[]),
    ("fleet-load", TEXT, ONE, "fleet ../tests/fixtures/saved/fleet-memory.jsonl --of=load", &[]),
    (
        "fleet-memory-history",
        &["txt", "json"],
        ONE,
        "fleet --history ../tests/fixtures/saved/fleet-memory-history.jsonl",
        &[],
    ),
    ("fleet-one", &["json"], ONE, "fleet ../tests/fixtures/saved/server-b.json", &[]),
    (
        "fleet-few",
        &["txt", "json"],
        ONE,
        "fleet ../tests/fixtures/saved/nodes.jsonl --expect=../tests/fixtures/hosts.txt",
        &[],
    ),
    (
        "fleet-baseline",
        &["txt", "json"],
        ONE,
        "fleet ../tests/fixtures/saved/fleet.jsonl --baseline=../tests/fixtures/saved/nodes.jsonl --verbose",
        &[],
    ),
    (
        "compare-unlike",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/matrix-a.json ../tests/fixtures/saved/curve.json",
        &[],
    ),
];

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
    (
        "compare-ascii",
        TEXT,
        ONE,
        "compare ../tests/fixtures/saved/curve.csv ../tests/fixtures/saved/foreign.txt",
        &[],
    ),
];

/// Texts in colour.
const COLOURED: &[Row] = &[
    ("matrix-four-nodes-colour", TEXT, FOUR, "matrix --heatmap", &[]),
    ("curve-colour", TEXT, ONE, "curve --points-per-octave=2", &[]),
    ("distribution-colour", TEXT, ONE, "distribution", &[]),
    ("bandwidth-terminal", TEXT, TWO, "bandwidth", &[]),
    ("cores-terminal", TEXT, SMALL, "cores --states --pairs=classes", &[]),
];

/// Results of a build for another instruction set, whose counter is coarse, in files with its name.
const OF_AARCH64: &[Row] = &[
    ("matrix", TABLES, ONE, "matrix", &[]),
    ("matrix-verbose", TEXT, TWO, "matrix --verbose", &[]),
    ("matrix-no-core-clock", &["txt", "json"], ONE, "matrix", &[NoCoreClock]),
    ("curve", TEXT, ONE, "curve --points-per-octave=2", &[]),
    ("system", &["txt", "json"], ONE, "system", &[]),
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

/// Makes a scene on a wide terminal, without troubles.
pub const fn plain(file: String, machine: &'static str, line: String) -> Scene {
    let words = X86_64;
    Scene {
        file,
        machine,
        line,
        columns: 100,
        unicode: true,
        colour: false,
        screen: false,
        troubles: &[],
        words,
    }
}

/// Returns every scene.
pub fn all() -> Vec<Scene> {
    let rows = |rows: &'static [Row], columns, unicode, colour| {
        rows.iter().flat_map(move |&(name, formats, machine, line, troubles)| {
            formats.iter().map(move |extension| Scene {
                file: format!("{name}.{extension}"),
                machine,
                line: match *extension {
                    "txt" => String::from(line),
                    "sh" => format!("{line} --format=hwloc"),
                    "prom" => format!("{line} --format=prometheus"),
                    format => format!("{line} --format={format}"),
                },
                columns,
                unicode,
                colour,
                screen: name.ends_with("-terminal"),
                troubles,
                words: X86_64,
            })
        })
    };
    let plans = PLANS.iter().map(|&(name, machine, more)| {
        let experiment = name.split('-').next().unwrap_or(name);
        plain(format!("dry-run-{name}.txt"), machine, format!("{experiment} --dry-run{more}"))
    });
    let help = HELP.iter().map(|&name| {
        let (dash, space) = if name.is_empty() { ("", "") } else { ("-", " ") };
        plain(format!("help{dash}{name}.txt"), ONE, format!("{name}{space}--help"))
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

/// Returns scenes for the schema: everything that is stored, and each experiment with each trouble.
pub fn for_programs() -> Vec<Scene> {
    let mut scenes: Vec<Scene> = all();
    for scene in &mut scenes {
        scene.line = scene.line.split(" --format").next().unwrap_or_default().into();
    }
    for experiment in LINES {
        for trouble in &Trouble::ALL {
            for machine in [ONE, TWO] {
                let counted = format!("{experiment} --counters");
                let line = if findings::is_accepted(&counted) { counted } else { experiment.into() };
                scenes.push(Scene {
                    troubles: core::slice::from_ref(trouble),
                    ..plain(String::new(), machine, line)
                });
            }
        }
    }
    let mut known = BTreeSet::new();
    scenes.retain(|scene| {
        known.insert((scene.machine, scene.line.clone(), scene.troubles, scene.words.counter_source))
    });
    scenes
}
