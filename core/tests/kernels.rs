//! Every assembly kernel compared with the plain Rust walk and with the generator.

mod portable;

use latency_core::arch::{Cycles, Line, Stamp, WORDS};
use latency_core::buffer::{Buffer, BuildError, TimedHops, WalkError};
use latency_core::chain::{Chain, GROUPED, Order};
use latency_core::kernel::{Encoding, INDEX, KERNELS, Kernel, POINTER, VARIANTS};
use latency_core::units::{Bytes, LineSize, PageSize};
use proptest::prelude::*;

fn lines(size: Bytes) -> Vec<Line> {
    vec![Line([0xdead_beef; 8]); size.0.div_ceil(64) as usize]
}

/// Random within base pages of x86-64.
const PAGE_LOCAL: Order = Order::Local(Bytes(4096));

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Random), Just(PAGE_LOCAL), Just(Order::Sequential), Just(Order::Backward)]
}

fn strides() -> impl Strategy<Value = Bytes> {
    prop::sample::select(vec![4u64, 8, 16, 32, 64, 128, 256]).prop_map(Bytes)
}

fn kernels() -> impl Strategy<Value = &'static Kernel> {
    prop::sample::select(&KERNELS[..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_walk_makes_exactly_the_requested_hops(
        kernel in kernels(), order in orders(), stride in strides(),
        nodes in 2u64..10_000, from: u64, hops in 0usize..300, seed: u64,
    ) {
        let Ok(chain) = Chain::new(order, Bytes(nodes * stride.0), stride, seed) else { return Ok(()) };
        let mut memory = lines(chain.layout().size());
        let built = Buffer::build(&mut memory, &chain, kernel.encoding);
        prop_assert_eq!(built.is_ok(), kernel.encoding.reaches(chain.layout().size(), stride));
        let Ok(buffer) = built else { return Ok(()) };
        prop_assert_eq!(buffer.verify(), Ok(()));
        let from = from % chain.nodes();
        let ended = buffer.walk(kernel, from, hops).unwrap();
        prop_assert_eq!(buffer.prove(from, hops as u64, ended), Ok(chain.advance(from, hops as u64)));
        prop_assert!(buffer.prove(from, hops as u64 + 1, ended).is_err());
    }

    #[test]
    fn grouped_chains_are_in_memory_beside_the_random_one(groups in 32u64..80, hops in 0usize..9_000, seed: u64) {
        let size = Bytes(groups * 8 * 4096 + 4096);
        let chain = Chain::split(size, LineSize::LEAST, PageSize::KIB_4, seed).unwrap();
        let mut memory = lines(size);
        let mut buffer = Buffer::build(&mut memory, &chain, Encoding::Pointer).unwrap();
        prop_assert_eq!(buffer.verify(), Ok(()));
        prop_assert!(buffer.write_ahead(seed % chain.nodes(), 500));
        buffer.write_again(&|| false).unwrap();
        prop_assert_eq!(buffer.verify(), Ok(()));
        for start in (1..1 + GROUPED).filter_map(|number| chain.cycle(number)).map(|(first, _)| first) {
            let ended = buffer.walk(&POINTER, start, hops).unwrap();
            prop_assert_eq!(buffer.prove(start, hops as u64, ended), Ok(chain.advance(start, hops as u64)));
        }
    }

    #[test]
    fn a_grouped_chain_alone_is_in_memory(
        groups in 32u64..80, visits in prop::sample::select(vec![1u64, 2, 4]), kernel in kernels(), hops in 0usize..9_000, seed: u64,
    ) {
        let order = Order::Grouped { visits, page: PageSize::KIB_4 };
        let chain = Chain::new(order, Bytes(groups * 8 * 4096 + 4096), Bytes(64), seed).unwrap();
        let mut memory = lines(chain.layout().size());
        let mut buffer = Buffer::build(&mut memory, &chain, kernel.encoding).unwrap();
        prop_assert_eq!(buffer.verify(), Ok(()));
        let from = seed % chain.nodes();
        prop_assert!(buffer.write_ahead(from, 500));
        buffer.write_again(&|| false).unwrap();
        prop_assert_eq!(buffer.verify(), Ok(()));
        let ended = buffer.walk(kernel, from, hops).unwrap();
        prop_assert_eq!(buffer.prove(from, hops as u64, ended), Ok(chain.advance(from, hops as u64)));
    }

    #[test]
    fn timed_hops_are_hops(kernel in kernels(), nodes in 2u64..5_000, from: u64, each in 1usize..9, count in 0usize..40) {
        let Some(stamp) = Stamp::detect() else { return Ok(()) };
        let chain = Chain::new(Order::Random, Bytes(nodes * 64), Bytes(64), 3).unwrap();
        let mut memory = lines(chain.layout().size());
        let buffer = Buffer::build(&mut memory, &chain, kernel.encoding).unwrap();
        let mut samples = vec![TimedHops::default(); count];
        let (ended, begin) = buffer.timed_hops(kernel, from, each, stamp, &mut samples).unwrap();
        let end = stamp.end().ticks;
        let hops = (each * count) as u64;
        let from = from % nodes;
        prop_assert_eq!(buffer.prove(from, hops, ended), Ok(chain.advance(from, hops)));
        let mut free = 0;
        // A tick of a counter that is slower than the core may be longer than a window.
        let least = u32::from(WORDS.cycles_are == Cycles::Counter);
        for sample in samples {
            prop_assert!(u64::from(sample.since) >= free && sample.window >= least && sample.empty >= least);
            free = u64::from(sample.since) + u64::from(sample.window) + u64::from(sample.empty);
        }
        prop_assert!(begin + free <= end);
    }

    #[test]
    fn agrees_with_the_plain_walk(kernel in kernels(), nodes in 2u64..6_000, hops in 0usize..500, seed: u64) {
        let chain = Chain::new(Order::Random, Bytes(nodes * 64), Bytes(64), seed).unwrap();
        let mut memory = lines(chain.layout().size());
        let base = memory.as_ptr().expose_provenance();
        let buffer = Buffer::build(&mut memory, &chain, kernel.encoding).unwrap();
        let node = buffer.prove(0, hops as u64, buffer.walk(kernel, 0, hops).unwrap()).unwrap();
        let base = std::ptr::with_exposed_provenance::<u8>(base);
        let (origin, unit) = match kernel.encoding {
            Encoding::Pointer => (base.addr(), 1),
            encoding => (0, encoding.unit().0 as usize),
        };
        // SAFETY: the buffer holds a chain of this encoding, and node 0 lies at its start.
        let expected = unsafe { portable::chase(kernel.encoding, base, origin, hops) };
        prop_assert_eq!(chain.layout().offset(node) as usize, (expected - origin) * unit);
    }
}

#[test]
fn the_nine_variants_walk_a_lap_over_every_node() {
    for variant in &VARIANTS {
        let chain = Chain::new(Order::Random, Bytes(1 << 18), variant.stride, 7).unwrap();
        let mut memory = lines(chain.layout().size());
        let buffer = Buffer::build(&mut memory, &chain, variant.kernel.encoding).unwrap();
        assert_eq!(buffer.verify(), Ok(()), "{}", variant.name);
        let lap = buffer.walk(variant.kernel, 5, chain.nodes() as usize).unwrap();
        assert_eq!(buffer.prove(5, chain.nodes(), lap), Ok(5), "{}", variant.name);
        let short = buffer.walk(variant.kernel, 5, chain.nodes() as usize - 1).unwrap();
        assert!(buffer.prove(5, chain.nodes(), short).is_err(), "{}", variant.name);
    }
}

#[test]
fn chains_that_do_not_fit_are_refused() {
    let chain = Chain::new(Order::Random, Bytes(6400), Bytes(64), 1).unwrap();
    let mut small = lines(Bytes(6336));
    assert_eq!(Buffer::build(&mut small, &chain, Encoding::Index).err(), Some(BuildError::TooSmall));
    let packed = Chain::new(Order::Random, Bytes(6336), Bytes(4), 1).unwrap();
    for encoding in [Encoding::Pointer, Encoding::Index, Encoding::LineIndex, Encoding::LineIndex4] {
        assert_eq!(Buffer::build(&mut small, &packed, encoding).err(), Some(BuildError::Encoding));
    }
}

#[test]
fn writing_a_chain_can_be_stopped() {
    use core::cell::Cell;
    use latency_core::buffer::Stores;
    // 8, 64 and 4096 bytes a node: each kind of layout has a loop of its own.
    for (stride, size) in [(8, 1 << 20), (64, 8 << 20), (4096, 256 << 20)] {
        let chain = Chain::new(Order::Random, Bytes(size), Bytes(stride), 1).unwrap();
        let mut memory = lines(Bytes(size));
        let asked = Cell::new(0);
        let mut write = |most: u32| {
            asked.set(0);
            let stop = || {
                asked.set(asked.get() + 1);
                asked.get() > most
            };
            Buffer::build_with(&mut memory, &chain, Encoding::Pointer, Stores::STREAMING, &stop).map(drop)
        };
        assert_eq!(write(u32::MAX), Ok(()));
        let times = asked.get();
        assert!(times >= 3, "asked {times} times while {size} bytes were written");
        for most in [0, 1, times - 1] {
            assert_eq!(write(most), Err(BuildError::Stopped));
            assert_eq!(asked.get(), most + 1, "it goes on after it was told to stop");
        }
    }
}

#[test]
fn a_kernel_walks_only_its_own_encoding() {
    let chain = Chain::new(Order::Random, Bytes(6400), Bytes(64), 1).unwrap();
    for held in KERNELS {
        let mut memory = lines(Bytes(6400));
        let buffer = Buffer::build(&mut memory, &chain, held.encoding).unwrap();
        for kernel in KERNELS {
            let walked = buffer.walk(kernel, 0, 1).map(|_| ());
            let expected = if kernel.encoding == held.encoding { Ok(()) } else { Err(WalkError::Encoding) };
            assert_eq!(walked, expected, "{} over nodes for {}", kernel.name, held.name);
        }
    }
    assert_ne!(POINTER.encoding, INDEX.encoding);
}
