//! Builds a chain in 64 MiB, walks it, and proves where the walk ended: `cargo run --release --example chase`.

use latency_core::arch::{Line, Stamp};
use latency_core::buffer::Buffer;
use latency_core::chain::{Chain, Order};
use latency_core::clock::{Sandwich, elapsed_ns, frequency};
use latency_core::kernel::{Encoding, POINTER};
use latency_core::units::{Bytes, LINE, Ticks};
use std::time::Instant;

const SIZE: Bytes = Bytes(64 << 20);
const HOPS: usize = 1_000_000;

fn main() {
    let stamp = Stamp::detect().expect("a counter that programs can read");
    let begin = Instant::now();
    let both_clocks = || {
        let before = stamp.start();
        Sandwich { before, nanoseconds: begin.elapsed().as_nanos() as u64, after: stamp.end().ticks }
    };
    let first = both_clocks();

    // One cycle over every line, in an order that depends on the seed alone.
    let chain = Chain::new(Order::Random, SIZE, LINE, 1).expect("whole lines");
    let mut memory = vec![Line([0; 8]); (SIZE.0 / LINE.0) as usize];
    let buffer = Buffer::build(&mut memory, &chain, Encoding::Pointer).expect("memory for every node");
    buffer.verify().expect("the chain in memory");

    // The first walk warms up the TLB; the timed one sets out where it ended.
    let ended = buffer.walk(&POINTER, 0, HOPS).expect("a chain of addresses");
    let from = buffer.prove(0, HOPS as u64, ended).expect("every hop");
    let walk = buffer.timed_walk(&POINTER, from, HOPS, stamp).expect("a chain of addresses");
    let node = buffer.prove(from, HOPS as u64, walk.ended).expect("every hop");

    let rate = frequency(&first, &both_clocks()).expect("clocks that advance");
    let hop_ns = elapsed_ns(walk.start, walk.end.ticks, Ticks(0), rate) / HOPS as f64;
    println!("{hop_ns:.1} ns per hop, in {SIZE} of memory, by a counter of {:.1} MHz", rate.megahertz());
    println!("proven: the memory holds one cycle over {} nodes, and exactly", chain.nodes());
    println!("{HOPS} hops lead from node {from} to node {node}, where the walk ended");
}
