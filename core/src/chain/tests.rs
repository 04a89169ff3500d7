//! Tests of chains of every order: a chain is one cycle over all nodes, and arithmetic gives the same nodes as a walk.

use super::*;
use proptest::prelude::*;
use std::vec::Vec;

/// Random within base pages of x86-64.
const PAGE_LOCAL: Order = Order::Local(Bytes(4096));

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Random),
        Just(PAGE_LOCAL),
        Just(Order::Local(Bytes(64 << 10))),
        Just(Order::Local(Bytes(2 << 20))),
        Just(Order::Sequential),
        Just(Order::Backward),
    ]
}

fn strides() -> impl Strategy<Value = Bytes> {
    prop_oneof![Just(4), Just(8), Just(16), Just(64), Just(128), Just(256), Just(4096)].prop_map(Bytes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn is_one_cycle_over_all_nodes(order in orders(), stride in strides(), nodes in 2u64..30_000, seed: u64) {
        let Ok(chain) = Chain::new(order, Bytes(nodes * stride.0), stride, seed) else {
            prop_assert!(matches!(order, Order::Local(_)));
            return Ok(());
        };
        prop_assert!(chain.nodes() <= nodes);
        let start = chain.start(0, 1);
        let mut node = start;
        for hop in 1..=chain.nodes() {
            node = chain.next(node);
            prop_assert!(node < chain.nodes());
            prop_assert_eq!(node == start, hop == chain.nodes());
        }
    }

    #[test]
    fn advances_as_the_walk_does(order in orders(), stride in strides(), nodes in 2u64..9_000, from: u64, hops in 0u64..20_000, seed: u64) {
        let Ok(chain) = Chain::new(order, Bytes(nodes * stride.0), stride, seed) else { return Ok(()) };
        let from = from % chain.nodes();
        let walked = (0..hops).fold(from, |node, _| chain.next(node));
        prop_assert_eq!(chain.advance(from, hops), walked);
    }

    #[test]
    fn nodes_lie_apart_and_in_the_first_half_of_a_line(stride in strides(), nodes in 2u64..5_000, scattered: bool, seed: u64) {
        let layout = NodeLayout::new(Bytes(nodes * stride.0), (stride, LineSize::LEAST), scattered, seed).unwrap();
        for node in 0..nodes {
            let offset = layout.offset(node);
            prop_assert!(offset / stride.0 == node && offset + stride.0.min(8) <= layout.size().0);
            prop_assert!(stride.0 < 64 || offset.is_multiple_of(64));
        }
    }

    #[test]
    fn on_a_machine_with_long_lines_nodes_start_at_the_start_of_a_line(
        line in prop_oneof![Just(64), Just(128), Just(256)],
        strides in 1u64..9,
        nodes in 2u64..2_000,
        seed: u64,
    ) {
        let stride = line * strides;
        let usual = Chain::new(Order::Random, Bytes(nodes * stride), Bytes(stride), seed).unwrap();
        let spacing = (Bytes(stride), LineSize::of(Bytes(line)).unwrap());
        let chain = Chain::with_line(Order::Random, Bytes(nodes * stride), spacing, seed).unwrap();
        let mut lines: Vec<u64> = (0..nodes).map(|node| chain.layout().offset(node)).collect();
        prop_assert!(lines.iter().all(|offset| offset % line == 0));
        prop_assert!(lines.iter().zip(0..).all(|(offset, node)| offset / stride == node));
        lines.dedup_by_key(|offset| *offset / line);
        prop_assert_eq!(lines.len() as u64, nodes);
        prop_assert!(line > 64 || usual.fingerprint() == chain.fingerprint());
        // The order is the same on every machine.
        prop_assert!((0..nodes).all(|node| chain.next(node) == usual.next(node)));
    }

    #[test]
    fn starts_are_at_equal_distance(order in orders(), bits in 7u32..15, parts in 1u64..9, seed: u64) {
        let Ok(chain) = Chain::new(order, Bytes(64 << bits), Bytes(64), seed) else { return Ok(()) };
        for part in 1..parts {
            let hops = part * chain.nodes() / parts - (part - 1) * chain.nodes() / parts;
            prop_assert_eq!(chain.advance(chain.start(part - 1, parts), hops), chain.start(part, parts));
        }
    }

    #[test]
    fn one_seed_is_one_chain(order in orders(), nodes in 128u64..9_000, seed: u64) {
        let make = |seed| Chain::new(order, Bytes(nodes * 64), Bytes(64), seed).map(|chain| chain.fingerprint());
        prop_assert_eq!(make(seed), make(seed));
        if order == Order::Random {
            prop_assert_ne!(make(seed), make(seed ^ 1));
        }
    }
}

/// Fingerprints are compared between machines and versions, so they must not change unnoticed.
#[test]
fn fingerprints_do_not_change() {
    let of = |order, nodes: u64| {
        let chain = Chain::new(order, Bytes(nodes * 64), Bytes(64), 42).unwrap();
        chain.fingerprint()
    };
    // Computes FNV-1a by hand for a sequential cycle.
    let words = |nodes: u64| {
        let offsets = (0..64).map(move |place| (u128::from(nodes) * place / 64) as u64 * 64);
        let pairs = offsets.flat_map(move |offset| [offset, (offset + 64) % (nodes * 64)]);
        [nodes, 64].into_iter().chain(pairs).flat_map(u64::to_le_bytes)
    };
    let hash = |nodes| {
        words(nodes).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    for nodes in [64, 100, 1000, 4097] {
        assert_eq!(of(Order::Sequential, nodes), hash(nodes), "{nodes}");
    }
}

#[test]
fn a_local_order_finishes_a_region_before_the_next() {
    let chain = Chain::new(PAGE_LOCAL, Bytes(4096 * 50), Bytes(64), 3).unwrap();
    let mut node = chain.start(0, 1);
    let mut pages = Vec::new();
    for _ in 0..chain.nodes() {
        pages.push(node / 64);
        node = chain.next(node);
    }
    pages.dedup();
    assert_eq!(pages.len(), 50);
}

#[test]
fn impossible_shapes_are_refused() {
    let make = |order, size, stride| Chain::new(order, Bytes(size), Bytes(stride), 1).map(|_| ());
    assert_eq!(make(Order::Random, 1 << 20, 0), Err(ShapeError::Stride(Bytes(0))));
    assert_eq!(make(Order::Random, 1 << 20, 72), Err(ShapeError::Stride(Bytes(72))));
    assert_eq!(make(Order::Random, 64, 64), Err(ShapeError::TooSmall));
    assert_eq!(make(PAGE_LOCAL, 1 << 20, 192), Err(ShapeError::Region(Bytes(4096))));
    assert_eq!(make(PAGE_LOCAL, 1 << 20, 8192), Err(ShapeError::Region(Bytes(4096))));
    assert_eq!(make(PAGE_LOCAL, 4000, 64), Err(ShapeError::TooSmall));
}

/// Compares the distribution of distances between successive nodes with that of a uniform cycle (method: chi-square).
#[test]
fn random_order_has_no_preferred_distance() {
    for (nodes, seed) in [(1u64 << 16, 1), (50_000, 2), (1 << 20, 3), (700_001, 4)] {
        let chain = Chain::new(Order::Random, Bytes(nodes * 64), Bytes(64), seed).unwrap();
        let mut bins = [0u64; 256];
        for node in 0..nodes {
            let distance = (chain.next(node) + nodes - node) % nodes;
            bins[(distance * 256 / nodes) as usize] += 1;
        }
        let expected = nodes as f64 / 256.0;
        let chi_square: f64 =
            bins.iter().map(|&seen| (seen as f64 - expected) * (seen as f64 - expected) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6; the limits are six standard deviations away.
        assert!((120.0..391.0).contains(&chi_square), "{nodes} nodes: {chi_square}");
    }
}
