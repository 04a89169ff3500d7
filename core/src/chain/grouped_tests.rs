//! Tests of grouped chains: each is one cycle, each line belongs to one chain, and windows visit pages as often as they
//! should.

use super::*;
use crate::chain::{Chain, Order};
use crate::units::{Bytes, LineSize};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::vec;
use std::vec::Vec;

fn pages() -> impl Strategy<Value = PageSize> {
    prop_oneof![Just(PageSize::BASES[0]), Just(PageSize::BASES[1]), Just(PageSize::BASES[2])]
}

fn split(pages: u64, page: PageSize, line: u64, seed: u64) -> Chain {
    let size = Bytes(page.bytes().0 * pages);
    Chain::split(size, LineSize::of(Bytes(line)).unwrap(), page, seed).unwrap()
}

fn alone(pages: u64, page: PageSize, line: u64, (visits, seed): (u64, u64)) -> Option<Chain> {
    let (size, line) = (Bytes(page.bytes().0 * pages), LineSize::of(Bytes(line)).unwrap());
    Chain::with_line(Order::Grouped { visits, page }, size, (line.bytes(), line), seed).ok()
}

fn visits() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), Just(2), Just(4)]
}

/// Returns the offsets of the lines of a grouped chain, in the order of a lap.
fn lap(chain: &Chain, index: usize) -> Vec<u64> {
    let (first, nodes) = chain.cycle(index + 1).unwrap();
    let mut node = first;
    let mut offsets = vec![];
    for _ in 0..nodes {
        offsets.push(chain.offset(node));
        node = chain.next(node);
    }
    assert_eq!(node, first, "a lap of chain {index} ends where it began");
    offsets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_line_belongs_to_one_chain(pages in 256u64..700, seed: u64, long in any::<bool>()) {
        let page = PageSize::BASES[usize::from(long)];
        let chain = split(pages, page, 64 << u32::from(long), seed);
        let size = pages * page.bytes().0;
        let mut owners = HashMap::new();
        for node in 0..chain.nodes() {
            prop_assert_eq!(owners.insert(chain.offset(node), 0), None);
        }
        for index in 0..GROUPED {
            for offset in lap(&chain, index) {
                prop_assert!(offset < size && offset.is_multiple_of(chain.layout().line().0));
                prop_assert_eq!(owners.insert(offset, index + 1), None);
            }
        }
        // Less than a window in each pass is in no chain.
        let left = size / chain.layout().line().0 - owners.len() as u64;
        prop_assert!(left < 13 * 4 * 32 * 4 + chain.layout().stride().0, "{left} lines");
    }

    #[test]
    fn a_window_visits_each_of_its_pages_alike_and_by_lines_of_different_pairs(
        page in pages(), groups in 32u64..90, seed: u64,
    ) {
        let chain = split(groups * 8 + 5, page, 64, seed);
        for (index, Window { visits, pages: window, .. }) in WINDOWS.into_iter().enumerate() {
            let offsets = lap(&chain, index);
            for window_of in offsets.chunks((visits * window) as usize) {
                let mut pages: HashMap<u64, HashSet<u64>> = HashMap::new();
                for offset in window_of {
                    pages.entry(offset / page.bytes().0).or_default().insert(offset / 128);
                }
                prop_assert_eq!(pages.len() as u64, window);
                prop_assert!(pages.values().all(|pairs| pairs.len() as u64 == visits));
                let groups: HashSet<u64> = pages.keys().map(|page| page / 8).collect();
                prop_assert_eq!(groups.len() as u64, window / 8);
            }
        }
    }

    #[test]
    fn advances_as_the_walk_does(groups in 32u64..60, seed: u64, from: u64, hops in 0u64..9000) {
        let chain = split(groups * 8, PageSize::KIB_4, 64, seed);
        for index in 0..GROUPED {
            let (first, nodes) = chain.cycle(index + 1).unwrap();
            let from = first + from % nodes;
            let walked = (0..hops).fold(from, |node, _| chain.next(node));
            prop_assert_eq!(chain.advance(from, hops), walked);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_chain_alone_has_all_lines_of_whole_windows(
        pages in 256u64..400, page in pages(), long in any::<bool>(), visits in visits(), seed: u64,
    ) {
        let line = if long && page != PageSize::KIB_4 { 128 } else { 64 };
        let chain = alone(pages, page, line, (visits, seed)).unwrap();
        prop_assert_eq!(chain.layout().size().0, pages / 32 * 32 * page.bytes().0);
        let mut node = chain.start(0, 1);
        let mut visited = HashSet::new();
        for _ in 0..chain.nodes() {
            prop_assert!(node < chain.nodes() && visited.insert(node));
            node = chain.next(node);
        }
        prop_assert_eq!(node, chain.start(0, 1));
    }

    #[test]
    fn a_window_of_a_chain_alone_visits_pages_alike_and_by_lines_of_different_pairs(
        groups in 32u64..70, page in pages(), visits in visits(), seed: u64,
    ) {
        let chain = alone(groups * 8 + 5, page, 64, (visits, seed)).unwrap();
        let mut node = chain.start(0, 1);
        for _ in 0..chain.nodes() / (visits * 32) {
            let mut pages: HashMap<u64, HashSet<u64>> = HashMap::new();
            for _ in 0..visits * 32 {
                let offset = chain.offset(node);
                pages.entry(offset / page.bytes().0).or_default().insert(offset / 128);
                node = chain.next(node);
            }
            prop_assert_eq!(pages.len(), 32);
            prop_assert!(pages.values().all(|pairs| pairs.len() as u64 == visits));
            let groups: HashSet<u64> = pages.keys().map(|page| page / 8).collect();
            prop_assert_eq!(groups.len(), 4);
        }
    }

    #[test]
    fn a_chain_alone_advances_as_the_walk_does(
        pages in 256u64..600, visits in visits(), seed: u64, from: u64, hops in 0u64..9000, parts in 1u64..9,
    ) {
        let chain = alone(pages, PageSize::KIB_4, 64, (visits, seed)).unwrap();
        let from = from % chain.nodes();
        let walked = (0..hops).fold(from, |node, _| chain.next(node));
        prop_assert_eq!(chain.advance(from, hops), walked);
        for part in 1..parts {
            let hops = part * chain.nodes() / parts - (part - 1) * chain.nodes() / parts;
            prop_assert_eq!(chain.advance(chain.start(part - 1, parts), hops), chain.start(part, parts));
        }
    }
}

/// In each pass, a group has other partners, so that no pattern of pages repeats.
#[test]
fn partners_change_from_pass_to_pass() {
    let chain = split(8 * 1024, PageSize::KIB_4, 64, 3);
    let offsets = lap(&chain, 0);
    let per_pass = offsets.len() / 4;
    let partners = |pass: usize| -> HashSet<Vec<u64>> {
        let windows = offsets[pass * per_pass..(pass + 1) * per_pass].chunks(128);
        windows
            .map(|window| {
                let mut groups: Vec<u64> = window.iter().map(|offset| offset >> 15).collect();
                groups.sort_unstable();
                groups.dedup();
                groups
            })
            .collect()
    };
    let passes: Vec<_> = (0..4).map(partners).collect();
    for (index, pass) in passes.iter().enumerate() {
        for other in &passes[index + 1..] {
            assert!(pass.intersection(other).count() < 3);
        }
    }
}

/// No distance between the lines of a page that are visited together is much more frequent than by chance: prefetchers
/// would learn it.
#[test]
fn distances_within_pages_are_random() {
    for seed in [1, 7, 42] {
        let chain = split(8 * 4096, PageSize::KIB_4, 64, seed);
        let mut seen = [0_u32; 63];
        for window in lap(&chain, 1).chunks(64) {
            let mut first: HashMap<u64, u64> = HashMap::new();
            for offset in window {
                let (page, pair) = (offset >> 12, offset >> 7 & 31);
                if let Some(before) = first.insert(page, pair) {
                    seen[(pair + 31 - before) as usize] += 1;
                }
            }
        }
        let all = f64::from(seen.iter().sum::<u32>());
        for (distance, seen) in (0_u32..).zip(seen).filter(|(distance, _)| *distance != 31) {
            let expected = all * f64::from(32 - distance.abs_diff(31)) / 992.0;
            // Six standard deviations, and a quarter.
            let most = expected * 1.25 + 6.0 * expected.sqrt();
            assert!(f64::from(seen) < most, "seed {seed}, distance {distance}: {seen}, not {expected}");
        }
    }
}

#[test]
fn small_sets_and_unusual_lines_have_no_grouped_chains() {
    let make = |pages: u64, page: PageSize, line: u64| {
        Chain::split(Bytes(page.bytes().0 * pages), LineSize::of(Bytes(line)).unwrap(), page, 1).is_ok()
    };
    assert!(make(256, PageSize::KIB_4, 64) && !make(255, PageSize::KIB_4, 64));
    assert!(make(256, PageSize::KIB_64, 128) && !make(4096, PageSize::KIB_4, 128));
    assert!(!make(4096, PageSize::KIB_64, 256));
    let make = |pages, line, visits| alone(pages, PageSize::KIB_4, line, (visits, 1)).is_some();
    assert!(make(256, 64, 4) && !make(255, 64, 4) && !make(4096, 128, 4) && !make(4096, 64, 3));
}
