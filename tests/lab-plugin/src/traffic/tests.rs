//! Generators: lines, waits for outstanding lines, and traffic that caches keep from memory.

use super::*;
use crate::server::{Congestion, Lines, Place, Service};

const PAIR: Pair = Pair { from: 0, to: 0, ticks: 900 };

fn traffic(service: Service, most: usize) -> Traffic {
    let kernel = |start: u64, name: &str| Kernel { code: start..start + 10, name: name.to_owned() };
    let servers = Servers::new(&[0], &[(Place::Node(0), service)]).unwrap();
    Traffic::new(vec![kernel(0, "read"), kernel(10, "update")], servers, 2, most)
}

/// Returns the lines that CPU 0 gets in `ticks` ticks, as fast as it can with `cost` ticks of its own for each.
fn lines(traffic: &Traffic, ticks: u64, cost: u64) -> u64 {
    let (mut now, mut lines) = (0, 0);
    while now < ticks {
        now = traffic.admitted(0, now + cost);
        traffic.post(0, &traffic.streams[0], Some(PAIR), false, now);
        lines += 1;
    }
    lines
}

#[test]
fn accesses_to_a_line_in_a_row_are_one() {
    let traffic = traffic(Service::default(), 8);
    let touches: Vec<bool> = [
        (0, 0, false),
        (0, 8, false),
        (0, 48, false),
        (0, 0, true),
        (0, 8, true),
        (0, 0, false),
        (1, 0, false),
        (0, 64, false),
        (0, 0, false),
    ]
    .map(|(cpu, address, is_store)| traffic.touches(cpu, address, is_store))
    .to_vec();
    assert_eq!(touches, [true, false, false, true, false, false, true, true, true]);
    assert!(!traffic.touches(2, 0, false));
}

#[test]
fn the_server_limits_throughput_with_enough_outstanding_lines() {
    let service = Service { ticks: 100, congestion: None };
    let found = lines(&traffic(service, 64), 1_000_000, 10);
    assert!((10_000..10_100).contains(&found), "{found}");
}

#[test]
fn too_few_outstanding_lines_limit_throughput() {
    let service = Service { ticks: 10, congestion: None };
    let found = lines(&traffic(service, 4), 1_000_000, 1);
    // Four lines of 910 ticks each; they also wait for each other.
    let expected = 4 * 1_000_000 / 910;
    assert!(found.abs_diff(expected) < expected / 20, "{found} for {expected}");
}

#[test]
fn a_congested_server_delivers_less_at_higher_load() {
    let congestion = Some(Congestion { lines: 20, share: 1.0 });
    let service = Service { ticks: 100, congestion };
    let (paced, greedy) =
        (lines(&traffic(service, 64), 1_000_000, 110), lines(&traffic(service, 64), 1_000_000, 10));
    assert!(paced > 9000 && greedy < 5200, "{paced} and {greedy}");
}

#[test]
fn an_interrupted_generator_leaves_a_gap() {
    let traffic = traffic(Service::default(), 8);
    for now in [1000, 1100, 1700, 1800] {
        traffic.post(0, &traffic.streams[0], Some(PAIR), false, now);
        traffic.longest_gap();
    }
    for now in [1900, 2600, 2700] {
        traffic.post(1, &traffic.streams[0], Some(PAIR), false, now);
    }
    assert_eq!((traffic.longest_gap(), traffic.longest_gap()), (700, 0));
}

#[test]
fn lines_are_counted_by_kernel_and_by_server() {
    let traffic = traffic(Service::default(), 8);
    let update = traffic.stream(15).unwrap();
    for is_store in [false, false, true] {
        traffic.post(1, update, Some(PAIR), is_store, 5);
    }
    traffic.post(1, update, None, false, 5);
    assert_eq!((update.lines(), traffic.streams[0].lines(), traffic.unclaimed()), ((2, 1), (0, 0), 1));
    assert_eq!(
        traffic.servers.lines(),
        [(Place::Node(0), Lines { read: 2, written: 1, ..Lines::default() })]
    );
    assert!(traffic.stream(20).is_none());
}

#[test]
fn cache_hits_do_not_reach_memory() {
    let traffic = traffic(Service::default(), 8);
    let reaches = |address, touch, is_cached: bool| {
        traffic.touches(0, address, touch == Touch::Store);
        traffic.reaches_memory(0, address, touch, || !is_cached)
    };
    assert!(reaches(0, Touch::Load, false) && !reaches(64, Touch::Load, true));
    assert!(!reaches(64, Touch::Store, true), "the line came from a cache, not from memory");
    assert!(reaches(128, Touch::Load, false));
    assert!(reaches(128, Touch::Store, true), "a changed line is written back to memory");
    assert!(reaches(192, Touch::Store, false) && !reaches(0, Touch::Store, true));
    assert!(traffic.reaches_memory(0, 128, Touch::StorePast, || panic!("no cache is asked")));
    let read = &traffic.streams[0];
    traffic.post(0, read, Some(PAIR), false, 5);
    traffic.hit(read, false, 6);
    traffic.prefetch(PAIR, 3, 7);
    assert_eq!((read.lines(), read.cached(), traffic.longest_gap()), ((2, 0), 1, 5));
    let lines = Lines { read: 1, prefetched: 3, ..Lines::default() };
    assert_eq!(traffic.servers.lines(), [(Place::Node(0), lines)]);
}
