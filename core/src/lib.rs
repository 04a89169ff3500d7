//! The part of latency-bench that makes no system calls.
//!
//! It contains chains and their generator, the chase kernels, the arithmetic of clocks, the
//! statistics, and the parsers of the files in which the system describes itself. All of it is
//! tested with plain `cargo test`, on any host whose instruction set has a folder in [`arch`].
//! `examples/chase.rs` builds a chain, walks it and proves the walk, in 40 lines.
//!
//! The crate is always `#![no_std]`: only the tests link the standard library, so that an automatic
//! import in an editor cannot pull it into the crate.
//!
//! # Glossary
//!
//! There is one word for each concept. The first column is the word in the source; the second
//! column is the printed word, if it differs. Keys of documents have the printed word, but for
//! `initiator_node` and `target_node`.
//!
//! ## Chains
//!
//! | in the source | printed | meaning |
//! | --- | --- | --- |
//! | pointer chase | | a walk in which each load's result is the next load's address |
//! | dependent load | | a load whose address is the result of an earlier load |
//! | hop | load | one dependent load of a walk |
//! | node of a chain | line; element if it is not 64 bytes | the place that one hop reads |
//! | node, `NodeId` | node | a NUMA node; in printed text, "node" alone always means this |
//! | memory-only node | | a NUMA node without CPUs |
//! | stride | spacing | bytes from one node of a chain to the next in memory |
//! | working set | working set | all bytes that a chain's nodes occupy: nodes times stride |
//! | chain | chain | one single cycle over all nodes of a working set |
//! | lane | chain | one of several walks that run side by side |
//! | lap | | a walk over every node of a chain, once |
//! | order | order | the rule by which nodes follow each other: random, local, sequential, backward |
//! | encoding | | the form in which a node names the next: an address or an index |
//! | kernel | kernel | the loop that makes the hops |
//! | filler | | an instruction between two loads that depends on neither |
//! | unit of work | unit of work | one addition that waits for the load before it |
//!
//! ## Measuring
//!
//! | in the source | printed | meaning |
//! | --- | --- | --- |
//! | trial, batch | trial | hops that are timed together, between two stamps |
//! | round | round | the trials of one point at one time of the run |
//! | stamp | | one fenced read of the counter |
//! | ticks | `COUNTER_NAME` cycles | steps of the counter, at a fixed frequency |
//! | core cycles | cycles | cycles of the core's own clock, which changes |
//! | overhead | | the cost of a pair of stamps, which is subtracted |
//! | resolution | | the step of the counter |
//! | calibration | | the counter's frequency, found by comparing it with the system's clock |
//! | warm-up | warm-up | hops before the first trial, which do not count |
//! | interrupted, disturbed | interrupted | hit by other work while it was timed |
//! | interval | interval | the 95 % confidence interval of the median, within this run |
//! | median, MAD, p99 | same | the middle, the median distance from it, the 99th percentile |
//! | proven | proven | compared with the value that the generator or the kernel gives, and equal to it |
//!
//! ## Memory
//!
//! | in the source | printed | meaning |
//! | --- | --- | --- |
//! | initiator node | from | the NUMA node whose CPU makes the loads |
//! | target node | to | the NUMA node whose memory is read |
//! | local, remote | same | initiator and target are one node, or two |
//! | distance | firmware (SLIT) | the firmware's number for a pair of nodes; never a measured value |
//! | idle latency | latency | time per hop of one chain, while nothing else runs |
//! | loaded latency | | time per hop of one chain, while other cores use memory |
//! | inverse throughput | time per load | time per hop of several lanes, or of independent loads; never a latency |
//! | loads in flight | misses in flight | loads that wait for memory at the same time |
//! | fill buffers | | the core's entries for outstanding misses, which limit the loads in flight |
//! | level, plateau | level | one cache or memory, and the part of a curve on which it serves the loads |
//! | knee, capacity | size | the working set at which a level ends, and the number of bytes that the level holds |
//! | replacement policy, LRU | | the rule by which a cache chooses its victim; LRU: the least recently used line |
//! | eviction | | a line leaving a cache |
//! | page walk | page walk | the look-up of an address that the TLB does not hold |
//! | TLB reach | | bytes whose addresses the TLB translates without page walks |

#![no_std]

#[cfg(test)]
extern crate std;
// The oracle of the tests is also compiled into tests outside of this crate.
#[cfg(test)]
extern crate self as latency_core;

pub mod arch;
pub mod buffer;
pub mod chain;
pub mod clock;
pub mod cores;
pub mod cpulist;
pub mod decimal;
mod declare;
pub mod hash;
pub mod histogram;
pub mod hops;
pub mod host;
pub mod json;
pub mod kernel;
pub mod math;
pub mod model;
pub mod rng;
pub mod sort;
pub mod span;
pub mod stats;
pub mod text;
pub mod topology;
pub mod traffic;
pub mod units;
pub mod words;

pub use cpulist::{CpuSet, IdSet, NodeSet};
pub use decimal::Trimmed;
pub use math::ToReal;
pub use rng::Pcg32;
pub use sort::{best, sort_by, sort_by_key};
pub use stats::{Estimate, Interval, Side, Summary};
pub use text::{Text, plural};
pub use units::{
    Bytes, CpuId, Hertz, LINE, LineSize, NodeId, PageSize, PageSizes, PageSource, Pages, Picoseconds, Ticks,
};
pub use words::Worded;
