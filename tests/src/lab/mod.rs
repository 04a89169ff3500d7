//! The latency lab: emulated machines whose latencies are known, and what the
//! executable under test reports of them.
//!
//! Hardware cannot tell whether a measured latency is right. Here every load of the
//! chase loops takes a time that was chosen before ([`Model`]), the executable runs
//! as process 1 of such a machine ([`Boot`]), and its JSON is compared with the truth
//! ([`Table`]). Ticks of the guest's time-stamp counter are ticks of the host's, and
//! four of them are a cycle of the guest's core.
//!
//! # The truth
//!
//! A busy host takes the guest's CPU away, and then a load takes longer than was
//! chosen. Most of that is made good before the guest's window ends, but not what is
//! longer than the window. So the truth of a time is what was *delivered*: the plugin
//! sees the stamps by which the guest opens and closes its windows, and keeps by how
//! much each was longer than its loads were to take ([`Truth`]). What was asked stays
//! its lower bound and its base: a tool that walks the wrong memory, or leaves hops out,
//! gets what it walked delivered, and is wrong all the same. Sizes, entries, numbers of
//! levels and warnings have nothing to do with the host, but for one: a first lap that
//! was delivered late may be taken for one that misses a cache.
//!
//! What a host can do to a guest has no bound: a boot that fails is made again, up to three in all, and a case
//! passes when one agrees ([`crate::attempts`]). A tool that is wrong is wrong in each: what it leaves out, doubles
//! or takes from another node does not depend on the host. Every failed boot is printed with its table and console.
//!
//! # Models
//!
//! A model is a line of words `name=value`. The same line is the argument of
//! `make lab`, which then checks that model alone:
//!
//! ```text
//! make lab LAB_ARGS="nodes=2 latency=0:0:7000,0:1:19000,1:0:17000,1:1:8000"
//! ```
//!
//! Numbers are decimal, with binary K, M and G.
//!
//! | word | meaning | default |
//! | --- | --- | --- |
//! | `experiment=NAME` | what is run: `matrix`, `distribution`, `curve`, `order` or `pages` | matrix, with a tail distribution |
//! | `nodes=N` | nodes with CPUs and memory | 1 |
//! | `cpus=N` | CPUs of each of these; those experiments that load no memory use the first | 1 |
//! | `memory-only=N` | nodes with memory alone, numbered behind those | 0 |
//! | `memory=SIZE` | memory of each node | 256M |
//! | `latency=FROM:TO:TICKS,…` | ticks of a load from each node with a CPU to each node with memory; all pairs are required. From 1000 ticks on the lab is exact | |
//! | `level=SIZE:WAYS:TICKS[:random]` | a cache of each CPU, replaced in LRU order or with random victims; may be repeated, the nearest first. For `matrix` and `distribution`, which measure one working set: in LRU order it holds that or, since a lap visits every line once, nothing of it; so a size between one and the number of targets working sets is refused, and so are random victims | none |
//! | `llc=SIZE:WAYS:TICKS[:random]` | a last-level cache of each node, common to its CPUs; what it holds it serves to other nodes, too, in twice the time | none |
//! | `other=TICKS` | behind `llc=`: ticks of a load that another node's last level serves | twice those of its own |
//! | `directory-bit=TICKS` | memory remembers for each line that another node read it last: the next load by its own node takes TICKS longer | none |
//! | `hidden=SIZE:WAYS:TICKS[:random]` | a cache in front of all memory, behind all others, of which the guest is not told | none |
//! | `l3=on\|off` | whether the processor claims the emulator's own last level of 16 MiB | off |
//! | `tlb=ENTRIES:TICKS` | a translation buffer of each CPU, fully associative, and what a miss adds; may be repeated, the nearest first | none |
//! | `shared=SIZE:WAYS:TICKS[:random]` | a cache that all CPUs have in common, behind all others; for the tests of [`load`], whose generators go through the caches, too | none |
//! | `neighbour=LINES` | a program elsewhere that streams through each cache common to several CPUs: lines of its own in 2^20 ticks. Not for experiments whose truth is compared with the model | none |
//! | `prefetch=LINES` | a prefetcher that runs LINES lines ahead of a walk in order, up or down, within each 4 KiB, of chases and generators | none |
//! | `adjacent=on\|off` | a prefetcher that brings the other line of 128 bytes with each that its CPU misses; for the tests of [`load`] | off |
//! | `drift=PERCENT:PERIOD_MS` | a factor on all latencies that follows a sine of time, 1 ± PERCENT | none |
//! | `burst=EVERY_MS:LENGTH_MS:PERCENT` | for LENGTH_MS out of every EVERY_MS all latencies are so much longer | none |
//! | `noise=PERCENT:EVERY` | a factor on all latencies, drawn anew after so many loads of a CPU, uniform in 1 ± PERCENT | none |
//! | `pause=EVERY:TICKS` | a disturbance: after every so many loads of a CPU nothing happens for so long | none |
//! | `tail=EVERY:TICKS` | every so many loads of a CPU one is slower by so much; may be repeated. `distribution` finds it | none |
//! | `server=NODE:TICKS[:LINES:PERCENT]` `outstanding=LINES` | memory that serves one line at a time, and lines that the generators of a CPU may have on their way, as the plugin has them; for the tests of [`load`] | none |
//! | `cluster=CLASS:FIRST[-LAST]` `cost=CLASS:OPERATION:STATE:TICKS` `slowline=EVERY:INDEX:TICKS` | what handing a line from CPU to CPU costs, as the plugin has it | nothing |
//! | `clock=tsc\|kernel\|none` | what can be timed with: the time-stamp counter; the kernel's clock alone; nothing | tsc |
//! | `size=SIZE` `iters=N` `trials=N` | options of the executable; `size=default` leaves all of them to it | 8M, 103, 150 for `matrix` and `distribution`; else its own |
//! | `pages=4k\|thp\|2m` | the same | 4k for those two; else its own |
//! | `seed=N` `kernel=NAME` `min-size=SIZE` `max-size=SIZE` `points-per-octave=N` `warmup-iters=N` | the same; rounds are spread over 5 s with a drift or bursts, and else not | its own |
//! | `pool=SIZE` | memory of each node set aside as pages of 2 MiB | with `pages=2m` the working set, else none |
//! | `tolerance=PERCENT` | how far a reported latency may be from the truth | 1; 2 for `curve`, walks in order and `clock=kernel` |
//!
//! 103 hops leave a remainder of seven of the loop that is unrolled eight times:
//! a tool that drops it is 7 % off.
//!
//! # Conditions that are planted elsewhere
//!
//! Who read a line last, prefetchers, a neighbour in the cache and load are planted here, by the plugin. The emulator
//! can give neither offsets between the counters of CPUs nor stolen time. All of its virtual CPUs read the counter of
//! the host: it ignores what a guest writes to `IA32_TSC` and `IA32_TSC_ADJUST`, and adds an offset of a CPU's own only
//! to the guest of a guest (`helper_wrmsr` and `helper_rdtsc` of QEMU 7.2 to 10.0); a plugin may read registers and
//! change none. Stolen time is told by KVM alone, to guests that it runs itself. Both are given by readers of the unit
//! tests of `bin`, which stand in for the counter and for `/proc/stat`.
//!
//! # What is checked
//!
//! The exit status; every pair's `cycles`, and that `ns` follow from them; the clock's
//! frequency against one that was measured outside the guest; the core's clock; that the model saw
//! loads of every pair, and none that it could not place. A level that holds the
//! working set is what has to be reported then, with the warning `looks-cached`,
//! which must not be given otherwise. With last levels of the nodes, of the timed hops fewer than 1 % may have been
//! served by another node's. With a drift, bursts or a hidden cache, a value has to be right to 2 %, or there
//! has to be a reason for doubt in the verdict besides those of every emulated machine. With a pause the medians have to stay
//! and the trials that it hit have to be counted, with the warning `disturbed`. With
//! tails, percentiles and mean of single hops are compared, to 2 %. A percentile that
//! stands on a step exactly, as the 99th does where every 100th hop is slower, is the
//! slower side: the least that the slowest hundredth takes. What follows a load
//! in a window of its own, some 100 ticks, is the emulator's: below 5000 ticks that is too
//! much. Without a clock nothing may be reported, with exit status 3.
//!
//! Pairs of nodes whose caches keep a share that is not known before are compared by a test of their own with what the
//! plugin counted ([`timed`]): `lab_pairs`.
//!
//! Of a `curve`: how many levels there are, each one's latency, to 2 %, and size, to 10 %, the memory's latency,
//! and the entries and the cost of the first translation buffer. The size is `capacity_bytes` of `model.levels`:
//! not the onset nor the knee, which under random replacement lie at 1.03 and 1.39 of it. Of `order`: the random
//! walk, which is the memory's latency, and those up and down, of which a prefetcher leaves two lines in 64. Of
//! `pages`: the first buffer's entries and cost by the probe on 4 KiB pages, and the cost by the difference of
//! random walks on small and large pages, which misses in all but entries/pages of the hops.

mod boot;
mod delivered;
mod host;
pub mod load;
mod model;
mod plugin;
mod table;
pub mod timed;

pub use boot::Boot;
pub use delivered::Truth;
pub use host::frequency as ticks_per_second;
pub use model::{
    Burst, Clock, Drift, Experiment, LastLevel, Latency, Level, Model, Noise, Pages, Pause, Tlb,
};
pub use table::Table;

use crate::attempts::retried;
use crate::vm::ready;

/// Environment variable with a model to be checked beside the committed ones.
pub const MODEL_VARIABLE: &str = "LAB_ARGS";

/// Boots the machine that `line` describes, and compares what is reported with the truth: again if that fails.
///
/// Prints the comparison. Where guests cannot be booted that is reported, and nothing is checked.
///
/// # Panics
///
/// When the comparison fails in each attempt, with its table and the console; when `line` is no model.
pub fn check(test: &str, line: &str) {
    if !ready(test) {
        return;
    }
    let model: Model = line.parse().unwrap_or_else(|reason| panic!("{test}: {reason}"));
    retried(test, |attempt| {
        let boot = Boot::new(&model).unwrap_or_else(|reason| panic!("{test}: {reason}"));
        let table = Table::compare(&model, &boot);
        let compared = format!("{test} ({line}), boot {attempt}, {:.0?}\n{table}", boot.console.elapsed);
        assert!(
            table.is_good(),
            "the report is not the truth, see the lines marked WRONG\n{compared}\n{}",
            boot.console.framed()
        );
        // In one piece, since tests print side by side.
        println!("\n{compared}");
    });
}

/// Boots the machine that `line` describes twice, for a `matrix` of working sets of `size` bytes and for a `curve` up
/// to that size: both have to report the same latency, to `tolerance` (a fraction).
///
/// What it is does not matter, so a cache may hold any part of the working set.
///
/// # Panics
///
/// When they differ in each attempt; when `line` is no model of a curve.
pub fn check_agreement(test: &str, line: &str, size: u64, tolerance: f64) {
    if !ready(test) {
        return;
    }
    let curve: Model = line.parse().unwrap_or_else(|reason| panic!("{test}: {reason}"));
    let mut matrix = Model { experiment: Experiment::Matrix, size: Some(size), ..curve.clone() };
    matrix.options.clear();
    retried(test, |attempt| {
        // What is reported, and between which values it lies without what the host added.
        let cycles = |model: &Model, points: &str| {
            let boot = Boot::new(model).unwrap_or_else(|reason| panic!("{test}: {reason}"));
            let document = boot.console.expect_json(0);
            let mut points = document[points].as_array().into_iter().flatten();
            let point =
                points.find(|point| point["working_set_bytes"] == size && point["stride_bytes"] == 64);
            let cycles = point.and_then(|point| point["cycles"].as_f64());
            let cycles =
                cycles.unwrap_or_else(|| panic!("no point of {size} bytes\n{}", boot.console.framed()));
            let excess = boot.delivered.of_windows(0.0, |windows| windows.hops == model.hops());
            (cycles, cycles - excess.high, cycles - excess.low)
        };
        let (matrix, curve) = (cycles(&matrix, "node_pairs"), cycles(&curve, "points"));
        let compared = format!(
            "{test} ({line}), boots {attempt}: {size} bytes take {:.1} ticks in the matrix and {:.1} in the curve; \
             without what the host added {:.1} to {:.1} and {:.1} to {:.1}",
            matrix.0, curve.0, matrix.1, matrix.2, curve.1, curve.2
        );
        let agree = matrix.1 * (1.0 - tolerance) <= curve.2 && curve.1 <= matrix.2 * (1.0 + tolerance);
        assert!(agree, "they differ\n{compared}");
        println!("\n{compared}");
    });
}
