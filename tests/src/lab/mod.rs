//! The latency lab: emulated machines with known latencies, to check the reports of the executable under
//! test.
//!
//! Hardware cannot tell whether a measured latency is right. In the lab every load of the chase loops has a
//! chosen latency ([`Model`]). The executable runs as process 1 of an emulated machine ([`Boot`]), and its
//! JSON is compared with the truth ([`Table`]). Ticks of a guest's time-stamp counter are ticks of the
//! host's, and four of them are a cycle of the guest's core. Guests of aarch64 have a counter of 62.5 MHz; their tables
//! are in nanoseconds.
//!
//! # The truth
//!
//! A busy host takes the guest's CPU away, and then a load lasts longer than its chosen latency. The plugin
//! makes up for most of this before the guest's window ends, but not for an interruption that is longer than
//! the window. So the truth of a time is the *delivered* time: the plugin sees the stamps by which the guest
//! opens and closes its windows, and keeps by how much each exceeded the modelled time of its loads
//! ([`Truth`]). The modelled time stays the lower bound and the base: a tool that walks the wrong memory, or
//! leaves out hops, gets the delivered time of its actual walk, and is still wrong. Sizes, entries, numbers
//! of levels and warnings do not depend on the host, with one exception: a first lap that was delivered late
//! may look like one that misses a cache.
//!
//! The effect of a host on a guest has no bound. So a failed boot is repeated, up to three boots in all, and
//! a case passes when one agrees ([`crate::attempts`]). A wrong tool fails in each boot: an omission, a
//! factor of two or the wrong node does not depend on the host. Every failed boot is printed with its table
//! and console.
//!
//! # Models
//!
//! A model is a line of words `name=value`. The same line is the argument of `make lab`, which then checks
//! only that model:
//!
//! ```text
//! make lab LAB_ARGS="nodes=2 latency=0:0:7000,0:1:19000,1:0:17000,1:1:8000"
//! ```
//!
//! With `ARCH=aarch64` the machine is of that instruction set. Models without a counter, with single loads and with a
//! reported last level cannot be: [`Model::absent`].
//!
//! Numbers are decimal, with binary K, M and G.
//!
//! | word | meaning | default |
//! | --- | --- | --- |
//! | `experiment=NAME` | the experiment to run: `matrix`, `distribution`, `curve`, `order`, `pages` or `residency` | matrix, with a tail distribution |
//! | `nodes=N` | nodes with CPUs and memory | 1 |
//! | `cpus=N` | CPUs of each of these; experiments without load use the first | 1 |
//! | `memory-only=N` | nodes without CPUs, numbered behind those | 0 |
//! | `memory=SIZE` | memory of each node | 256M |
//! | `latency=FROM:TO:TICKS,…` | ticks of a load from each node with a CPU to each node with memory; all pairs are required. From 1000 ticks on the lab is exact; on aarch64, for lines on a page each, from 3000 on | |
//! | `level=SIZE:WAYS:TICKS[:random]` | a cache of each CPU, replaced in LRU order or with random victims; may be repeated, the nearest first. For `matrix` and `distribution`, which measure one working set: in LRU order a cache holds all of it or, since a lap visits every line once, nothing of it; so a size between one working set and one for each target is refused, and so are random victims | none |
//! | `llc=SIZE:WAYS:TICKS[:random]` | a last-level cache of each node, common to its CPUs; it also serves its lines to other nodes, in twice the time | none |
//! | `other=TICKS` | after `llc=`: ticks of a load that another node's last level serves | twice those of its own |
//! | `directory-bit=TICKS` | memory keeps a bit for each line that another node read last: the next load by its own node costs TICKS more | none |
//! | `hidden=SIZE:WAYS:TICKS[:random]` | a cache in front of all memory, behind all others, unknown to the guest | none |
//! | `l3=on\|off` | the processor reports the emulator's own last level of 16 MiB | off |
//! | `tlb=ENTRIES:TICKS[:4k\|:2m]` | a translation buffer of each CPU, fully associative, and the cost of a miss; may be repeated, the nearest first; with `:4k` or `:2m` it holds only these pages | none |
//! | `tables=NODE` | with `tlb=`: the page tables are on this node. A miss of all levels that hold pages of its size also loads the line of the page's entry, which eight pages share, through the caches and for the ticks of a load; not with `server=` | a miss has only the ticks of `tlb=` |
//! | `host-pages=4k` | a host backs the guest's memory with pages of 4 KiB: the TLB and page walks treat all pages as 4 KiB ones | the guest's pages |
//! | `cycle=TICKS` | ticks of a core cycle: the core clock | 4 |
//! | `shared=SIZE:WAYS:TICKS[:random]` | a cache that all CPUs have in common, behind all others; for the tests of [`load`], whose generators go through the caches, too | none |
//! | `neighbour=LINES` | another program that streams through each cache common to several CPUs: its lines in 2^20 ticks. Only for `residency`, whose truth it is, and for the tests of [`load`] | none |
//! | `prefetch=LINES` | a prefetcher that runs LINES lines ahead of a walk in order, up or down, within each 4 KiB, of chases and generators | none |
//! | `adjacent=on\|off` | a prefetcher that brings the other line of the same 128 bytes with each line that its CPU misses; for the tests of [`load`] | off |
//! | `drift=PERCENT:PERIOD_MS` | a factor on all latencies that follows a sine of time, 1 ± PERCENT | none |
//! | `burst=EVERY_MS:LENGTH_MS:PERCENT` | for LENGTH_MS out of every EVERY_MS all latencies are PERCENT longer | none |
//! | `noise=PERCENT:EVERY` | a factor on all latencies, uniform in 1 ± PERCENT, with a new draw after EVERY loads of a CPU | none |
//! | `pause=EVERY:TICKS` | a disturbance: the CPU pauses for TICKS after every EVERY loads | none |
//! | `tail=EVERY:TICKS` | one in EVERY loads of a CPU is TICKS slower; may be repeated. `distribution` finds it | none |
//! | `server=NODE:TICKS[:LINES:PERCENT]` `outstanding=LINES` | memory that serves one line at a time, and the maximum number of outstanding lines of a CPU's generators, in the form of the plugin's arguments; for the tests of [`load`] | none |
//! | `cluster=CLASS:FIRST[-LAST]` `cost=CLASS:OPERATION:STATE:TICKS` `slowline=EVERY:INDEX:TICKS` | costs of transfers from CPU to CPU, in the form of the plugin's arguments | nothing |
//! | `clock=tsc\|kernel\|none` | available clocks: the time-stamp counter; only the kernel's clock; none | tsc |
//! | `size=SIZE` `iters=N` `trials=N` | options of the executable; `size=default` uses its defaults | 8M, 103, 150 for `matrix` and `distribution`; else its own |
//! | `pages=4k\|thp\|2m` | the same | 4k for those two; else its own |
//! | `seed=N` `kernel=NAME` `min-size=SIZE` `max-size=SIZE` `points-per-octave=N` `warmup-iters=N` | the same; with a drift or bursts, rounds are spread over 5 s | its own |
//! | `pool=SIZE` | memory of each node reserved as pages of 2 MiB | with `pages=2m` the working set, else none |
//! | `tolerance=PERCENT` | tolerance of a reported latency | 1; 2 for `curve`, walks in order and `clock=kernel` |
//!
//! 103 hops leave a remainder of seven in the loop that is unrolled eight times: a tool that drops it is 7 %
//! off.
//!
//! # Conditions that are simulated elsewhere
//!
//! The plugin simulates directory bits, prefetchers, a neighbour in the cache and load. The emulator can
//! simulate neither offsets between the counters of CPUs nor stolen time. All of its virtual CPUs read the
//! counter of the host: it ignores a guest's writes to `IA32_TSC` and `IA32_TSC_ADJUST`, and applies an
//! offset per CPU only to a nested guest (`helper_wrmsr` and `helper_rdtsc` of QEMU 7.2 to 10.0); a plugin
//! may read registers but not change them. Only KVM reports stolen time, to its own guests. The unit tests of
//! `bin` simulate both, with readers in place of the counter and of `/proc/stat`.
//!
//! # What is checked
//!
//! The exit status; every pair's `cycles`, and that `ns` follow from them (on aarch64 both, since cycles may be the core's); the clock's frequency against one
//! measured outside the guest; the core's clock; that the model saw loads of every pair, and could place all
//! of them. If a level holds the working set, its latency has to be reported, with the warning
//! `looks-cached`, which is an error otherwise. With last-level caches of the nodes, another node's cache may
//! serve fewer than 1 % of the timed hops. With a drift, bursts or a hidden cache, either a value is right to
//! 2 %, or the verdict has a reason for doubt beyond those of every emulated machine. With a pause the
//! medians have to stay, and the disturbed trials have to be counted, with the warning `disturbed`. With
//! tails, percentiles and mean of single hops are compared, to 2 %. A percentile exactly on a step, like the
//! 99th if every 100th hop is slower, is the slower side: the minimum of the slowest hundredth. In a window
//! of one load the emulator adds some 100 ticks, which is too much below 5000 ticks. Without a clock nothing
//! may be reported, with exit status 3.
//!
//! `lab_walks` tests page walks of known cost: it compares the report with the ticks of translation that the plugin
//! delivered, which can be counted by chain ([`chains`]).
//!
//! `lab_pairs` tests pairs of nodes whose caches keep an unknown share of the lines: it compares the report
//! with the plugin's counts ([`timed`]).
//!
//! For `curve`: the number of levels, each one's latency, to 2 %, and size, to 10 %, the memory's latency,
//! and the entries and the cost of the first translation buffer. The size is `capacity_bytes` of
//! `model.levels`, neither the onset nor the knee, which under random replacement lie at 1.03 and 1.39 of it.
//! For `order`: the random walk, which gives the memory's latency, and the ascending and descending walks, in
//! which a prefetcher leaves two lines in 64. For `pages`: the first buffer's entries and cost by the probe
//! on 4 KiB pages, and the cost by the difference of random walks on small and large pages, which misses in
//! all but entries/pages of the hops. For `residency`: the half-life of a last level with random victims, and the
//! rate of the neighbour, to 5 %.

mod boot;
pub mod chains;
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
use crate::skip::not_shown;
use crate::vm::{Architecture, is_ready};

/// Environment variable with an additional model to check.
pub const MODEL_VARIABLE: &str = "LAB_ARGS";

/// Environment variable with the instruction set of the guests, `x86_64` or `aarch64`; without it, that of the host.
pub const ARCHITECTURE_VARIABLE: &str = "LAB_ARCH";

/// Returns the instruction set that the environment variable chooses.
///
/// # Panics
///
/// If it has another value.
pub fn architecture() -> Architecture {
    match std::env::var(ARCHITECTURE_VARIABLE).as_deref() {
        Err(_) | Ok("" | "x86_64") => Architecture::X86_64,
        Ok("aarch64") => Architecture::Aarch64,
        Ok(other) => panic!("{ARCHITECTURE_VARIABLE}={other}: neither x86_64 nor aarch64"),
    }
}

/// Returns true if `test` can boot guests of the instruction set that the environment variable chooses; otherwise the
/// reason has been reported.
///
/// # Panics
///
/// Like [`is_ready`].
pub fn ready(test: &str) -> bool {
    is_ready(test, architecture())
}

/// Returns the model that `line` describes, if guests of `architecture` can be booted, and if it can be a model of
/// one. If not, it has reported the reason.
///
/// # Panics
///
/// If `line` is not a model; if guests cannot be booted and [`crate::skip::REQUIRE_VARIABLE`] is set.
pub fn model(test: &str, architecture: Architecture, line: &str) -> Option<Model> {
    let model: Model = line.parse().unwrap_or_else(|reason| panic!("{test}: {reason}"));
    let model = Model { architecture, ..model };
    if let Some(reason) = model.absent() {
        not_shown(test, reason);
        return None;
    }
    is_ready(test, architecture).then_some(model)
}

/// Boots the machine that `line` describes, and compares the report with the truth, in up to three attempts.
///
/// Prints the comparison. If guests cannot be booted, it reports this and checks nothing.
///
/// # Panics
///
/// If the comparison fails in each attempt, with its table and the console; if `line` is not a model.
pub fn check(test: &str, line: &str) {
    check_on(architecture(), test, line);
}

/// Does the same as [`check`] with guests of `architecture`.
///
/// # Panics
///
/// Like [`check`].
pub fn check_on(architecture: Architecture, test: &str, line: &str) {
    let Some(model) = model(test, architecture, line) else { return };
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

/// Boots the machine that `line` describes twice, for a `matrix` of working sets of `size` bytes and for a
/// `curve` up to that size: both have to report the same latency, to `tolerance` (a fraction).
///
/// The value does not matter, so a cache may hold any part of the working set.
///
/// # Panics
///
/// If they differ in each attempt; if `line` is not a model of a curve.
pub fn check_agreement(test: &str, line: &str, size: u64, tolerance: f64) {
    let Some(curve) = model(test, architecture(), line) else { return };
    let mut matrix = Model { experiment: Experiment::Matrix, size: Some(size), ..curve.clone() };
    matrix.options.clear();
    retried(test, |attempt| {
        // Each reported value, with the bounds that allow for the host.
        let ticks = |model: &Model| {
            let boot = Boot::new(model).unwrap_or_else(|reason| panic!("{test}: {reason}"));
            let document = boot.console.expect_json(0);
            let mut points = document["rows"].as_array().into_iter().flatten();
            let point =
                points.find(|point| point["working_set_bytes"] == size && point["stride_bytes"] == 64);
            let nanoseconds = point.and_then(|point| point["ns"].as_f64());
            let nanoseconds =
                nanoseconds.unwrap_or_else(|| panic!("no point of {size} bytes\n{}", boot.console.framed()));
            let ticks = nanoseconds * ticks_per_second() / 1e9;
            let excess = boot.delivered.of_windows(0.0, |windows| windows.hops == model.hops());
            (ticks, ticks - excess.high, ticks - excess.low)
        };
        let (matrix, curve) = (ticks(&matrix), ticks(&curve));
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
