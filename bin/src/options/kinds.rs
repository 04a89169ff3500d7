//! The kinds of values that options accept.

/// A kind of value.
#[derive(Debug, PartialEq, Eq)]
pub struct ValueKind {
    /// The word after the `=` in help texts, such as `SIZE` in `--size=SIZE`.
    pub name: &'static str,
    /// The text to type, in a form that can follow "use".
    pub expects: &'static str,
}

pub(super) const LIST: ValueKind =
    ValueKind { name: "LIST", expects: "node ids and ranges of them, such as 0,2-3" };
pub(super) const CPUS: ValueKind =
    ValueKind { name: "LIST", expects: "CPU numbers and ranges of them, such as 0,2-3" };
pub(super) const KINDS: ValueKind = ValueKind {
    name: "LIST",
    expects: "some of read, 3:1, 2:1, 1:1, nt-write, copy-nt, random, write, copy and read-stream, such as read,2:1",
};
pub(super) const VIEW: ValueKind =
    ValueKind { name: "nodes|mix|scaling|cores", expects: "one of nodes, mix, scaling and cores" };
pub(super) const LOAD_FROM: ValueKind =
    ValueKind { name: "cpunode|memnode|all", expects: "one of cpunode, memnode and all" };
pub(super) const NODE: ValueKind = ValueKind { name: "N", expects: "the id of one node, such as 1" };
pub(super) const RATES: ValueKind =
    ValueKind { name: "LIST|auto", expects: "auto, or rates such as 0,10,50%,max" };
pub(super) const PACING: ValueKind = ValueKind { name: "poisson|even", expects: "poisson or even" };
pub(super) const THREADS: ValueKind = ValueKind { name: "one|all", expects: "one or all" };
pub(super) const PAIRS: ValueKind = ValueKind {
    name: "auto|all|classes|LIST",
    expects: "auto, all, classes, or pairs of CPUs such as 0:1,4:9",
};
pub(super) const METHOD: ValueKind =
    ValueKind { name: "cas|read-cas|flag|message", expects: "one of cas, read-cas, flag and message" };
pub(super) const CPU: ValueKind =
    ValueKind { name: "N|first", expects: "the number of one CPU, such as 4, or first" };
pub(super) const COUNT: ValueKind = ValueKind { name: "N", expects: "a whole number, such as 1000" };
pub(super) const SIZE: ValueKind =
    ValueKind { name: "SIZE", expects: "bytes with K, M, G or T (binary), such as 256M or 1.5G" };
pub(super) const UNIT: ValueKind = ValueKind { name: "UNIT", expects: "B, K, M or G (binary)" };
pub(super) const BYTES: ValueKind =
    ValueKind { name: "BYTES", expects: "8, 16, 32 or a multiple of 64 bytes" };
pub(super) const PERCENT: ValueKind = ValueKind { name: "PCT", expects: "a percentage, such as 1 or 0.5" };
pub(super) const WHOLE_SECONDS: ValueKind =
    ValueKind { name: "SECONDS", expects: "whole seconds up to 1000, such as 60" };
pub(super) const SECONDS: ValueKind =
    ValueKind { name: "SECONDS", expects: "a number of seconds, such as 10 or 0.5" };
pub(super) const UNTIL: ValueKind =
    ValueKind { name: "quiet[=SECONDS]", expects: "quiet, or quiet=SECONDS such as quiet=120" };
pub(super) const BASELINE: ValueKind =
    ValueKind { name: "FILE", expects: "the path of results saved with --format=jsonl" };
pub(super) const OF: ValueKind = ValueKind { name: "typical|undisturbed", expects: "typical or undisturbed" };
pub(super) const FILE: ValueKind =
    ValueKind { name: "FILE", expects: "the path of a file, or - for standard output" };
pub(super) const LABEL: ValueKind = ValueKind {
    name: "KEY=VALUE",
    expects: "up to 16 different keys of letters, digits and _-./, such as rack=7 or env:SLURM_JOB_ID",
};
pub(super) const PAGES: ValueKind =
    ValueKind { name: "auto|4k|thp|2m|1g", expects: "one of auto, 4k, thp, 2m and 1g" };
pub(super) const ORDER: ValueKind = ValueKind {
    name: "random|page-local|sequential|backward",
    expects: "one of random, page-local, sequential and backward",
};
pub(super) const KERNEL: ValueKind = ValueKind { name: "pointer|index", expects: "pointer or index" };
pub(super) const FORMAT: ValueKind = ValueKind { name: "FORMAT", expects: "one of the formats" };
pub(super) const WHEN: ValueKind =
    ValueKind { name: "auto|always|never", expects: "one of auto, always and never" };
