//! Prefetchers turn a paced stream into bursts: measures how long other requests then wait for the server, in simulated
//! time.

use super::*;
use crate::memory::{Latency, Region};
use crate::server::{Place, Request, Servers, Service};

/// Ticks of a line.
const SERVICE: u64 = 1000;
/// Share of the server's time that a generator requests.
const LOAD: f64 = 0.5;
/// Lines of a block of 2 MiB.
const BLOCK: u64 = 1 << 15;

/// Returns the mean wait of hops, in services, next to a generator that touches the lines of `order` at
/// random times.
fn wait(prefetch: u64, order: impl Fn(u64) -> u64) -> f64 {
    let level =
        Level { sets: 64, ways: 8, ticks: 5, replacement: Replacement::LeastRecentlyUsed, scope: Scope::Cpu };
    let region = Region { node: 0, start: 0, size: 1 << 40 };
    let latency = Latency { from: None, to: None, ticks: 900 };
    let memory = Memory::new(vec![region], &[latency], &[0]).unwrap();
    let description = Description { levels: vec![level], prefetch, ..Description::default() };
    let machine = Machine::new(description, memory, &[0]);
    let pair = machine.pairs()[0];
    let service = Service { ticks: SERVICE, congestion: None };
    let servers = Servers::new(&[0], &[(Place::Node(0), service)]).unwrap();

    let mut random = Generator(11);
    let mut uniform = || (random.draw() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut now, mut waited, mut hops) = (0.0, 0, 0);
    for line in 0..4 * BLOCK {
        now += -(1.0 - uniform()).ln() * SERVICE as f64 / LOAD;
        let moment = now as u64;
        // A hop at a random moment sees the current queue; here it does not join the queue.
        if line % 13 == 0 {
            waited += servers.backlog(pair, moment);
            hops += 1;
        }
        let touched = machine.touch(0, order(line) << LINE_SHIFT, moment).unwrap();
        for _ in 0..touched.prefetched + u64::from(touched.from_memory) {
            servers.serve(pair, Request::Read, moment);
        }
    }
    waited as f64 / f64::from(hops) / SERVICE as f64
}

/// Returns every line of a block once, in an order that changes the page at each step.
fn permuted(line: u64) -> u64 {
    let place = line % BLOCK * 0x5a95 % BLOCK;
    line / BLOCK * BLOCK + (place ^ place >> 8) * 0x64e5 % BLOCK
}

#[test]
fn a_prefetched_stream_makes_others_wait_longer() {
    let theory = LOAD / (2.0 * (1.0 - LOAD));
    let (stream, calm) = (wait(8, |line| line), wait(0, |line| line));
    // Nine lines come at once, then one at a time, and none for the last eight of 64.
    assert!(stream > theory + 0.4, "{stream} for {theory}");
    assert!((calm - theory).abs() < 0.05, "{calm} for {theory}");
    let longer = wait(16, |line| line);
    assert!(longer > theory + 1.5, "seventeen lines at once: {longer} for {theory}");
}

#[test]
fn lines_in_a_permuted_order_wait_as_without_a_prefetcher() {
    let theory = LOAD / (2.0 * (1.0 - LOAD));
    for prefetch in [2, 8, 20] {
        let found = wait(prefetch, permuted);
        assert!((found - theory).abs() < 0.05, "{prefetch} lines ahead: {found} for {theory}");
    }
}
