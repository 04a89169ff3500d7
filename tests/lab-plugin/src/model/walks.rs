//! Page walks whose loads go through the caches: small machines whose every cost is known.

use super::*;
use crate::memory::{Latency, Region};
use crate::page::Page;

const MIB: u64 = 1 << 20;
/// Ticks of a TLB miss without the load of its walk.
const MISS: u64 = 70;

/// Makes a CPU on node 0 and memory on two nodes: local 1000, remote 2000. The TLB has an entry.
fn machine(levels: Vec<Level>, page: Page, tables: Option<u32>, more: Description) -> Machine {
    let region = |node: u32| Region { node, start: u64::from(node) << 40, size: 1 << 40 };
    let latency = |to, ticks| Latency { from: Some(0), to: Some(to), ticks };
    let latencies = [latency(0, 1000), latency(1, 2000)];
    let memory = Memory::new(vec![region(0), region(1)], &latencies, &[0]).unwrap();
    let tlb = vec![TlbLevel { entries: 1, miss_ticks: MISS, ways: 1, only: None }];
    let description = Description { levels, tlb, page: PageRule::Always(page), tables, ..more };
    Machine::new(description, memory, &[0])
}

fn level(sets: u64, ways: usize, ticks: u64) -> Level {
    Level { sets, ways, ticks, replacement: Replacement::LeastRecentlyUsed, scope: Scope::Cpu }
}

/// Loads a line of each of these pages of node 0, and returns the ticks of translation.
fn walk(machine: &Machine, page: Page, numbers: &[u64]) -> Vec<u64> {
    let load = |number: &u64| {
        let address = number << page.shift();
        let outcome = machine.load(0, address, address, 0).unwrap();
        assert_eq!(outcome.ticks - outcome.translation, 1000, "each line of data comes from memory");
        outcome.translation
    };
    numbers.iter().map(load).collect()
}

#[test]
fn without_a_cache_each_walk_has_the_latency_of_the_node_of_the_tables() {
    for page in [Page::Small, Page::Large] {
        for (tables, load) in [(None, 0), (Some(0), 1000), (Some(1), 2000)] {
            let machine = machine(vec![], page, tables, Description::default());
            let found = walk(&machine, page, &[0, 1, 1, 9]);
            assert_eq!(found, [MISS + load, MISS + load, 0, MISS + load], "{page:?}, {tables:?}");
            let walks = tables.map_or([0, 0], |node| [3 * u64::from(node == 0), 3 * u64::from(node == 1)]);
            let counts = machine.counts();
            assert_eq!((counts.walk_pairs, counts.pairs, counts.loads), (walks.to_vec(), vec![4, 0], 4));
        }
    }
}

#[test]
fn eight_pages_share_a_line_of_the_table() {
    for page in [Page::Small, Page::Large] {
        // All lines of data are in the first set, which has one way; so no load hits.
        let levels = vec![level(1, 1, 5), level(64, 4, 50)];
        let machine = machine(levels, page, Some(1), Description::default());
        let numbers: Vec<u64> = (0..17).collect();
        let found = walk(&machine, page, &numbers);
        let expected = |number: u64| if number.is_multiple_of(8) { 2000 } else { 50 };
        let expected: Vec<u64> = numbers.iter().map(|&number| MISS + expected(number)).collect();
        assert_eq!(found, expected, "{page:?}");
        let counts = machine.counts();
        assert_eq!((counts.walk_hits, counts.walk_pairs), (vec![0, 14], vec![0, 3]));
        assert_eq!((counts.hits, counts.pairs), (vec![0, 0], vec![17, 0]));
    }
}

#[test]
fn lines_of_tables_and_of_data_evict_each_other() {
    // Two lines fit. Page 0 has lines 0 to 63, and its entry is in another line.
    let machine = machine(vec![level(1, 2, 5)], Page::Small, Some(0), Description::default());
    let load = |line: u64| machine.load(0, line << 6, line << 6, 0).unwrap();
    let memory = |outcome: Outcome| outcome.source == Source::Memory(0);
    assert!(memory(load(0)) && !memory(load(0)));
    // The TLB has the translation of page 0; two lines of data evict the line of its entry.
    assert!(memory(load(1)) && memory(load(2)));
    assert_eq!(load(64).translation, MISS + 1000);
    // The walk of page 0 finds its line, since page 1 has the same; the line of data is not evicted by that.
    assert_eq!((load(0).translation, machine.counts().walk_hits), (MISS + 5, vec![1]));
    // A walk evicts data: the lines of page 0 and of its entry stay, and those of page 8 replace them.
    let _ = load(8 * 64);
    assert_eq!((load(0).translation, memory(load(1))), (MISS + 1000, true));
}

#[test]
fn large_pages_in_small_pages_of_the_host_are_walked_as_small_ones() {
    // The guest's pages have 2 MiB: its addresses agree. The TLB and the walk use pages of 4 KiB.
    for (page, expected) in [(Page::Small, [MISS + 2000, MISS + 2000, 0]), (Page::Large, [MISS + 2000, 0, 0])]
    {
        let machine = machine(vec![], page, Some(1), Description::default());
        let load = |address| machine.load(0, address, address, 0).unwrap().translation;
        assert_eq!([load(2 * MIB), load(2 * MIB + 4096), load(2 * MIB + 8191)], expected);
    }
}

#[test]
fn prefetchers_do_not_follow_walks() {
    let more = Description { prefetch: 8, adjacent: true, ..Description::default() };
    let machine = machine(vec![level(64, 4, 50)], Page::Small, Some(1), more);
    // The walks load four lines in order.
    let address = |number: u64| number << 15 | (number * 5 % 64) << 6;
    let load = |number| machine.load(0, address(number), address(number), 0).unwrap();
    for outcome in [0, 1, 2, 3].map(load) {
        assert_eq!((outcome.translation, outcome.prefetched), (MISS + 2000, 1));
    }
    assert_eq!(machine.counts().walk_hits, [0]);
}

#[test]
fn drift_scales_a_walk_like_any_load() {
    let more = Description { drift: Some(Drift { share: 0.5, period: 400 }), ..Description::default() };
    let machine = machine(vec![], Page::Small, Some(1), more);
    let outcome = machine.load(0, 0, 0, 100).unwrap();
    assert_eq!((outcome.ticks, outcome.translation), (3070 * 3 / 2, 2070 * 3 / 2));
}
