//! Kernels with several lanes, and loads without any chain, compared with the generator.

mod portable;

use latency_core::arch::{Cycles, Line, Stamp, WORDS};
use latency_core::buffer::{Buffer, Cursor, WalkError};
use latency_core::chain::{Chain, Order};
use latency_core::kernel::Encoding;
use latency_core::kernel::lanes::{Filler, Gap, LaneKernel, PARALLEL, WINDOW, parallel};
use latency_core::units::Bytes;
use proptest::prelude::*;

fn lines(size: Bytes) -> Vec<Line> {
    vec![Line([0xdead_beef; 8]); size.0.div_ceil(64) as usize]
}

fn stamp() -> Stamp {
    Stamp::detect().expect("a counter that programs can read")
}

fn kernels() -> impl Strategy<Value = &'static LaneKernel> {
    let all: Vec<&LaneKernel> = PARALLEL.iter().chain(WINDOW.iter().flatten()).collect();
    prop::sample::select(all)
}

/// Random within base pages of x86-64.
const PAGE_LOCAL: Order = Order::Local(Bytes(4096));

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Random), Just(PAGE_LOCAL), Just(Order::Sequential), Just(Order::Backward)]
}

/// Returns nodes at equal distances on the cycle, one for each lane.
fn spread(chain: &Chain, lanes: usize) -> Vec<u64> {
    (0..lanes as u64).map(|lane| chain.start(lane, lanes as u64)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_lane_makes_exactly_the_requested_hops(
        kernel in kernels(), order in orders(), nodes in 64u64..6_000, hops in 0usize..200, seed: u64,
        stride in prop::sample::select(vec![8u64, 64, 256]),
    ) {
        let Ok(chain) = Chain::new(order, Bytes(nodes * stride), Bytes(stride), seed) else { return Ok(()) };
        let mut memory = lines(chain.layout().size());
        let base = memory.as_ptr().expose_provenance();
        let buffer = Buffer::build(&mut memory, &chain, Encoding::Pointer).unwrap();
        let mut starts = spread(&chain, kernel.lanes());
        let mut ends = vec![Cursor::default(); kernel.lanes()];
        // Twice, so that the second walk goes on where the first ended.
        for _ in 0..2 {
            let from = starts.clone();
            let digest = buffer.walk_lanes(kernel, &starts, &mut ends, hops).unwrap();
            prop_assert!(buffer.prove_lanes(&mut starts.clone(), hops as u64 + 1, &ends).is_err());
            prop_assert_eq!(buffer.prove_lanes(&mut starts, hops as u64, &ends), Ok(()));
            let place = |node: &u64| base + chain.layout().offset(*node) as usize;
            let mut cursors: Vec<usize> = from.iter().map(place).collect();
            // SAFETY: each cursor stands on a node of the buffer, which holds addresses.
            let expected = unsafe { portable::lane_chase(&mut cursors, hops, kernel.work()) };
            prop_assert_eq!(&cursors, &starts.iter().map(place).collect::<Vec<_>>());
            let has_digest = WINDOW.iter().flatten().any(|window| std::ptr::eq(window, kernel));
            prop_assert_eq!(digest, if has_digest { expected } else { 0 });
        }
    }

    #[test]
    fn lanes_with_a_gap_make_exactly_their_hops(
        filler in prop::sample::select(&Filler::ALL[..]), fillers in 0usize..=Gap::MOST,
        nodes in 2u64..6_000, hops in 0usize..100, seed: u64,
    ) {
        let chain = Chain::new(Order::Random, Bytes(nodes * 64), Bytes(64), seed).unwrap();
        let mut memory = lines(chain.layout().size());
        let buffer = Buffer::build(&mut memory, &chain, Encoding::Pointer).unwrap();
        let gap = Gap::new(filler, fillers).unwrap();
        let mut starts = [chain.start(0, 2), chain.start(1, 2)];
        let mut ends = [Cursor::default(); 2];
        let timed = buffer.timed_walk_apart(gap, &starts, &mut ends, hops, stamp()).unwrap();
        // A tick of a counter that is slower than the core may be longer than a walk.
        prop_assert!(timed.end.ticks >= timed.start + u64::from(WORDS.cycles_are == Cycles::Counter));
        prop_assert_eq!(buffer.prove_lanes(&mut starts, hops as u64, &ends), Ok(()));
    }

    #[test]
    fn strided_loads_are_proven_by_their_sum(
        order in orders(), stride in prop::sample::select(vec![8u64, 16, 64, 128]), nodes in 2u64..3_000,
        loads in 0usize..20_000, seed: u64, pointers: bool,
    ) {
        let Ok(chain) = Chain::new(order, Bytes(nodes * stride), Bytes(stride), seed) else { return Ok(()) };
        let mut memory = lines(chain.layout().size());
        let base = memory.as_ptr().expose_provenance() as u64;
        let encoding = if pointers { Encoding::Pointer } else { Encoding::Index };
        let buffer = Buffer::build(&mut memory, &chain, encoding).unwrap();
        if chain.layout().is_scattered() {
            prop_assert_eq!(buffer.timed_strided_loads(loads, stamp()).err(), Some(WalkError::Scattered));
            return Ok(());
        }
        let timed = buffer.timed_strided_loads(loads, stamp()).unwrap();
        // Lap after lap in address order, each load brings the place of the successor.
        let held = |load: u64| match chain.layout().offset(chain.next(load % chain.nodes())) {
            offset if pointers => base + offset,
            offset => offset / 8,
        };
        prop_assert_eq!((0..loads as u64).map(held).fold(0, u64::wrapping_add), timed.ended);
    }
}

#[test]
fn there_is_a_kernel_for_every_number_of_lanes_and_amount_of_work() {
    for lanes in [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64] {
        assert!(parallel(lanes).is_some(), "{lanes} lanes");
    }
    assert_eq!(WINDOW.map(|[plain, _]| plain.work()), [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
}

#[test]
fn impossible_walks_of_lanes_are_refused() {
    let chain = Chain::new(Order::Random, Bytes(6400), Bytes(64), 1).unwrap();
    let mut memory = lines(Bytes(6400));
    let kernel = parallel(2).unwrap();
    let mut ends = [Cursor::default(); 3];
    let buffer = Buffer::build(&mut memory, &chain, Encoding::Pointer).unwrap();
    assert_eq!(buffer.walk_lanes(kernel, &[0, 1, 2], &mut ends[..2], 1), Err(WalkError::Count));
    assert_eq!(buffer.walk_lanes(kernel, &[0, 1], &mut ends, 1), Err(WalkError::Count));
    assert!(buffer.prove_lanes(&mut [0, 1], 0, &ends[..1]).is_err());
    let buffer = Buffer::build(&mut memory, &chain, Encoding::Index).unwrap();
    assert_eq!(buffer.walk_lanes(kernel, &[0, 1], &mut ends[..2], 1), Err(WalkError::Encoding));
    let buffer = Buffer::build(&mut memory, &chain, Encoding::LineIndex4).unwrap();
    assert_eq!(buffer.timed_strided_loads(1, stamp()).err(), Some(WalkError::Encoding));
}
