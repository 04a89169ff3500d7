//! Warnings about caches between a core and the memory to be measured: cache hits, on which the first passes must
//! agree, and a cache in front of a node's memory.

use latency_engine::tests::outcome::{POINT, outcome};
use std::boxed::Box;
use std::vec::Vec;

use latency_core::topology::SideCache;
use latency_core::{Bytes, NodeId, Pages, Pcg32};

use crate::experiment::tests::{fixture, machine, machine_of, planned};
use latency_core::words::When;
use latency_engine::budget::Budget;
use latency_engine::finish::{warn_of_hits, warn_of_side_caches};
use latency_engine::machine::{Machine, Sizing};
use latency_engine::progress::Progress;
use latency_engine::result::{Measurement, Outcome, Point, Repeat, Walk};
use latency_engine::schedule::Schedule;
use latency_engine::tests::simulated::place::{Fake, Hop};
use latency_engine::warning::{Warning, Warnings};

const SIZE: Bytes = Bytes(256 << 20);

/// Measures `targets` nodes from node 0 in simulated time.
fn measured(targets: u32, latency: impl FnMut(Hop) -> f64) -> Vec<Outcome> {
    let point = |target| Point { target: NodeId(target), size: SIZE, pages: Pages::AUTO, ..POINT };
    let budget = Budget { most: 31, ..Budget::DEFAULT };
    let fake = Fake::new(&budget, latency);
    let mut schedule =
        Schedule::new(std::boxed::Box::new(fake), budget, &point(0), (0..targets).map(point)).unwrap();
    schedule.run(&mut Progress::new(When::Never)).unwrap();
    let measured = |index: usize| {
        let (entry, series) = schedule.series(index).unwrap();
        let warm_up = entry.state.warmth.found();
        let like = outcome(SIZE.0, Walk::Chain, 100.0).result.unwrap();
        let measured = Measurement { warm_up, series, rounds: entry.state.rounds, ..like };
        Outcome { point: entry.point, result: Ok(measured) }
    };
    (0..targets as usize).map(measured).collect()
}

fn codes(machine: &Machine, outcomes: &[Outcome], again: Option<bool>) -> Vec<&'static str> {
    let mut warnings = Warnings::empty();
    let repeat = Repeat { size: SIZE, first: 100.0, second: 100.0, served: again };
    warn_of_hits(machine, &mut warnings, outcomes, Some(repeat));
    warnings.iter().map(|warning| warning.code()).collect()
}

fn seen_clear(clear: bool) -> Box<Machine> {
    let sizing = Sizing {
        first: SIZE,
        size: SIZE,
        cold_ns: 100.0,
        warm_over_cold: 1.0,
        clear: Some(clear),
        cache: None,
        in_cache: None,
        cache_sought: true,
        seconds: 0.4,
    };
    Box::new(machine("one-node", None).with_sizing(sizing))
}

/// Returns hops of 100 ns; hops take `cold` ns in the first lap over the chains with the numbers in `slow`.
fn first_passes(cold: f64, slow: &'static [usize]) -> impl FnMut(Hop) -> f64 {
    let mut chains = 0;
    move |hop| {
        chains += usize::from(hop.laps == 0.0);
        if hop.laps < 0.25 && hop.now_ns < 1e9 && slow.contains(&(chains - 1)) { cold } else { 100.0 }
    }
}

#[test]
fn a_slow_first_pass_that_others_contradict_is_not_a_cache() {
    let unseen = machine("one-node", None);
    let one = || measured(1, first_passes(150.0, &[0]));
    // All evidence indicates that a cache holds the working set.
    assert_eq!(codes(&unseen, &one(), None), ["looks-cached"]);
    assert_eq!(codes(&unseen, &one(), Some(true)), ["looks-cached"]);
    // New memory at the end of the run, or passes before it, showed no hits.
    assert_eq!(codes(&unseen, &one(), Some(false)), [""; 0]);
    assert_eq!(codes(&seen_clear(true), &one(), None), [""; 0]);
    assert_eq!(codes(&seen_clear(false), &one(), None), ["looks-cached"]);
    // A single pass is one moment: a few hits are confirmed or denied by others.
    let few = || measured(1, first_passes(104.0, &[0]));
    assert_eq!(codes(&unseen, &few(), None), [""; 0]);
    assert_eq!(codes(&unseen, &measured(1, first_passes(118.0, &[0])), None), [""; 0]);
    assert_eq!(codes(&unseen, &few(), Some(true)), ["cache-serves-part"]);
    assert_eq!(codes(&seen_clear(false), &few(), None), ["cache-serves-part"]);
    assert_eq!(codes(&seen_clear(true), &few(), None), [""; 0]);
    assert_eq!(codes(&unseen, &few(), Some(false)), [""; 0]);
}

#[test]
fn most_first_passes_from_a_node_have_to_agree() {
    let unseen = machine("one-node", None);
    assert_eq!(codes(&unseen, &measured(3, first_passes(150.0, &[1])), None), [""; 0]);
    assert_eq!(codes(&unseen, &measured(3, first_passes(150.0, &[0, 2])), None), ["looks-cached"]);
    assert_eq!(codes(&unseen, &measured(3, first_passes(104.0, &[0, 2])), None), ["cache-serves-part"]);
}

#[test]
fn noise_is_not_a_cache() {
    let unseen = machine("one-node", None);
    let told = (0..60).filter(|seed| {
        let mut rng = Pcg32::new(*seed, 5);
        let (mut level, mut until_ns) = (0.0, 0.0);
        // Noise of 5 % that stays constant for 50 ms.
        let outcomes = measured(1, |hop| {
            while hop.now_ns >= until_ns {
                let uniform = (0..12).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX));
                level = 0.6 * level + 0.04 * (uniform.sum::<f64>() - 6.0);
                until_ns += 50e6;
            }
            100.0 * (1.0 + level)
        });
        codes(&unseen, &outcomes, None).contains(&"looks-cached")
    });
    let told = told.count();
    assert_eq!(told, 0, "of 60");
}

/// Every experiment on memory behind a cache warns about the cache, and names its node.
#[test]
fn memory_behind_a_cache_is_said_to_be_measured_through_it() {
    // 16 GiB in front of node 0, none in front of nodes 1 and 4.
    let machine = machine("cxl-memory", None);
    let (near, far) = (machine.topology.nodes()[0].attributes.side_cache, Bytes::GIB.times(16));
    assert_eq!(near, Some(SideCache { size: far, line: Bytes(64) }));
    let Ok(like) = measured(1, |_| 100.0)[0].result else { panic!("measured") };
    let told = |machine: &Machine, points: &[Point]| {
        let outcomes: Vec<_> =
            points.iter().map(|point| Outcome { point: *point, result: Ok(like) }).collect();
        let mut warnings = Warnings::empty();
        warn_of_side_caches(machine, &mut warnings, &outcomes);
        warnings.iter().copied().collect::<Vec<_>>()
    };
    let node = NodeId(0);
    let through = |size, fits| Warning::SideCache { node, cache: far, size, fits };
    for line in ["", "curve", "bandwidth", "loaded", "distribution", "pages"] {
        let (points, ..) = planned(&machine, line).unwrap();
        let found = told(&machine, &points);
        assert!(
            matches!(found[..], [Warning::SideCache { node: NodeId(0), cache, size, fits: false }]
                if cache == far && size >= Bytes::MIB.times(128) && size < far.times(4)),
            "{line}: {found:?}"
        );
        assert_eq!((found[0].code(), found[0].untrusted()), ("side-cache", false));
    }
    let of = |line: &'static str| planned(&machine, line).unwrap().0;
    // Line transfers between CPUs, and memory of other nodes, are not measured through this cache.
    for line in ["cores", "--memnode=1,4"] {
        assert_eq!(told(&machine, &of(line)), [], "{line}");
    }
    let at = |size| Point { size, ..of("--cpunode=0 --memnode=0")[0] };
    assert_eq!(told(&machine, &[at(Bytes(far.0 * 4 - 64))]), [through(Bytes(far.0 * 4 - 64), false)]);
    assert_eq!(told(&machine, &[at(far.times(4))]), []);
    // The largest working set of several reaches memory; if the cache is smaller, the warning names a remedy.
    assert_eq!(told(&machine, &[at(SIZE), at(far.times(4))]), []);
    // A working set that fits in a cache of the CPU is not measured through the memory-side cache either.
    let side = "=== /sys/devices/system/node/node0/memory_side_cache/index1/size\n17179869184\n";
    let one = machine_of(&[&fixture("one-node"), side].concat(), None);
    assert_eq!(told(&one, &planned(&one, "--size=16K").unwrap().0), []);
    assert_eq!(told(&one, &planned(&one, "--size=64M").unwrap().0).len(), 1);
    let text = fixture("cxl-memory").replace("17179869184", "268435456");
    let found = told(&machine_of(&text, None), &[at(SIZE)]);
    assert_eq!(found, [Warning::SideCache { node, cache: SIZE, size: SIZE, fits: true }]);
}
