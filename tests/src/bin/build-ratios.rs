//! Measures how fast a chain is written, as ratios to `memset` of the same mapped buffer.
//!
//! `make bench` runs it: chains of a power of two of nodes and of other sizes, and for comparison Sattolo's
//! shuffle in place. All are in 2 MiB pages if the kernel gives them, interleaved; each figure is the median
//! of several rounds. The kind of stores is chosen as the program chooses it, and the trial is part of the
//! time.

use latency_core::arch::{Line, Stamp};
use latency_core::buffer::{Buffer, Stores};
use latency_core::chain::{Chain, Order};
use latency_core::kernel::Encoding;
use latency_core::rng::Pcg32;
use latency_core::units::Bytes;
use std::time::Instant;

const ROUNDS: usize = 5;

/// Maps memory whose pages are present, 2 MiB ones if possible.
fn mapped(size: Bytes) -> &'static mut [Line] {
    const HUGE: usize = 2 << 20;
    let length = size.0 as usize + HUGE;
    // SAFETY: a fresh anonymous mapping, never unmapped; the slice lies within it, aligned, and zero bytes are valid.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(start, libc::MAP_FAILED, "no memory for {size}");
        libc::madvise(start, length, libc::MADV_HUGEPAGE);
        let aligned = start.cast::<u8>().add(start.align_offset(HUGE));
        std::ptr::write_bytes(aligned, 1, size.0 as usize);
        std::slice::from_raw_parts_mut(aligned.cast(), size.0 as usize / 64)
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn sattolo_in_place(lines: &mut [Line], rng: &mut Pcg32) {
    for (node, line) in lines.iter_mut().enumerate() {
        line.0[0] = node as u64;
    }
    for last in (1..lines.len()).rev() {
        let other = rng.below(last as u32) as usize;
        let held = lines[last].0[0];
        lines[last].0[0] = lines[other].0[0];
        lines[other].0[0] = held;
    }
}

/// Returns the size of the largest cache that the system reports; zero if it reports none.
fn largest_cache() -> Bytes {
    let size = |index: u32| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        std::fs::read_to_string(path).ok()?.trim().strip_suffix('K')?.parse().ok()
    };
    Bytes::KIB.times((0..4).filter_map(size).max().unwrap_or(0))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    println!(
        "{:>9}  {:>10}  {:>12}  {:>14}  {:>12}  {:>9}",
        "size", "memset", "build/memset", "sattolo/memset", "ns per node", "stores"
    );
    let largest = Bytes::GIB;
    let (stamp, cache) = (Stamp::detect(), largest_cache());
    let mut stores = Stores::STREAMING;
    let memory = mapped(largest);
    for size in [Bytes::GIB, Bytes(3 << 28), Bytes((1 << 29) + 64 * 12_345), Bytes::MIB.times(256)] {
        let lines = &mut memory[..size.0 as usize / 64];
        let (mut memset, mut build, mut sattolo) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // SAFETY: the whole slice; all of its bytes may have any value.
            memset.push(seconds(|| unsafe {
                std::ptr::write_bytes(std::hint::black_box(lines.as_mut_ptr()), round as u8, lines.len());
            }));
            let chain = Chain::new(Order::Random, size, Bytes(64), round as u64).expect("a chain of lines");
            build.push(seconds(|| {
                stores = Stores::choose(lines, stamp, cache);
                Buffer::build_with(lines, &chain, Encoding::Pointer, stores, &|| false)
                    .expect("room for the chain");
            }));
            sattolo.push(seconds(|| sattolo_in_place(lines, &mut Pcg32::new(round as u64, 1))));
        }
        let (memset, build, sattolo) = (median(memset), median(build), median(sattolo));
        println!(
            "{:>9}  {:>7.1} ms  {:>12.2}  {:>14.2}  {:>12.2}  {:>9}",
            size.to_string(),
            memset * 1e3,
            build / memset,
            sattolo / memset,
            build * 1e9 / (size.0 / 64) as f64,
            if stores == Stores::STREAMING { "streaming" } else { "ordinary" }
        );
    }
}
