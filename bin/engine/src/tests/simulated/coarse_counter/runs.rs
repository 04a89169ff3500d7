//! Whole measurements with coarse counters: schedules, walks of single checks, paced traffic and single loads.

use crate::tests::outcome::POINT;
use alloc::vec::Vec;

use latency_core::traffic::Kind;
use latency_core::traffic::pace::{self, Pacer, Pacing};
use latency_core::words::When;
use latency_core::{Bytes, LineSize, NodeId, PageSize, Pages};

use super::chains::CoarsePlace;
use super::*;
use crate::budget::Budget;
use crate::checks::sizing::{self, Known};
use crate::progress::Progress;
use crate::result::{Distribution, Point, Timer, Traffic, TrafficSubject};
use crate::schedule::{Schedule, walks};
use crate::seam::Walkable;
use crate::tests::words::{AARCH64, speak};
use crate::{prefetch_audit, stopwatch};

fn point(bytes: u64) -> Point {
    Point { size: Bytes(bytes), pages: Pages::AUTO, ..POINT }
}

/// Measures a chain by a schedule. Returns its latency, its core cycles, and the place.
fn measured(machine: CoarseMachine, bytes: u64, hop_ns: fn(u64, bool) -> f64) -> (f64, f64, CoarsePlace) {
    let mut place = CoarsePlace::new(machine, hop_ns);
    let budget = Budget { rounds: 6, fewest: 6, walk_ns: 3e7, ..Budget::DEFAULT };
    let like = point(bytes);
    let mut schedule = Schedule::new(&mut place, budget, &like, core::iter::once(like)).unwrap();
    schedule.run(&mut Progress::new(When::Never)).unwrap();
    let (_, series) = schedule.series(0).unwrap();
    let found = (series.nanoseconds.median, series.core_cycles.unwrap().median);
    drop(schedule);
    (found.0, found.1, place)
}

#[test]
fn a_schedule_measures_latencies_and_core_cycles_exactly() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        for (bytes, hop_ns) in [(4096, 4.0 / 3.1), (1 << 20, 14.0 / 3.1), (1 << 26, 97.31)] {
            let latency = |bytes, _| match bytes {
                4096 => 4.0 / 3.1,
                0x10_0000 => 14.0 / 3.1,
                _ => 97.31,
            };
            let mut machine = CoarseMachine::new(megahertz, bytes);
            machine.core_gigahertz = 3.1;
            let (found, cycles, place) = measured(machine, bytes, latency);
            let what = std::format!("{megahertz} MHz, {hop_ns} ns: {found} ns, {cycles} cycles");
            assert!(off(found, hop_ns) < LATENCY && off(cycles, hop_ns * 3.1) < CYCLES, "{what}");
            // Each batch has two readings of the core's clock, or every fourth batch with steps above 15 ns.
            let readings = place.clock_readings as f64 / 2.0 / place.batches as f64;
            let expected = if megahertz < 60.0 { 0.25..0.30 } else { 1.0..1.001 };
            assert!(expected.contains(&readings), "{what}: {readings} readings a batch");
        }
    }
}

#[test]
fn emulated_readings_make_measurements_longer() {
    let _words = speak(AARCH64);
    for megahertz in [24.0, FINE, 2400.0] {
        let machine = CoarseMachine::with_pairs((megahertz, 1), 900.0, 3);
        let (counter, clock) = (machine.counter, machine.core_gigahertz);
        assert!(counter.trapped && counter.is_coarse());
        // The cost of a pair varies by 90 ns.
        let pair_ns = counter.at_least(1);
        assert!((800.0..1000.0).contains(&pair_ns), "{pair_ns}");
        assert!(Timer::Counter(counter).batch_ns() > 2000.0 * 800.0);
        let (found, cycles, place) = measured(machine, 1 << 26, |_, _| 97.31);
        assert!(off(found, 97.31) < LATENCY && off(cycles, 97.31 * clock) < CYCLES, "{found} {cycles}");
        assert!(place.clock_readings < place.batches);
    }
    assert!(!CoarseMachine::with_pairs((24.0, 1), 90.0, 3).counter.trapped);
}

#[test]
fn short_walks_are_repeated_over_enough_steps() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        let window_ns = (500e3 / megahertz).max(25e3);
        let with = |bytes, walker: &mut dyn FnMut(&mut dyn Walkable) -> f64| {
            let mut place = CoarsePlace::new(CoarseMachine::new(megahertz, 7), |_, _| 20.0);
            let mut found = f64::NAN;
            let mut walk = |chain: &mut dyn Walkable| {
                found = walker(chain);
                Ok(())
            };
            place.with(bytes, &mut walk).unwrap();
            (found, place.walks)
        };
        // A part of 64 hops, which may be longer.
        let (found, walks) = with(1 << 20, &mut |chain| walks::timed(chain, 64, u64::MAX, 1e15).unwrap());
        let last_ns = walks.last().unwrap().1;
        assert!(last_ns >= window_ns && off(found, 20.0) < 0.005, "{megahertz} MHz: {found} {walks:?}");
        // A part that may not be longer.
        let (_, walks) = with(1 << 20, &mut |chain| walks::timed(chain, 64, 64, 1e15).unwrap());
        assert_eq!(walks.len(), 1);
        // The pieces of the search for prefetchers, in a cache.
        let like = Point { stride: Bytes(64), ..point(1 << 26) };
        let (found, walks) = with(1 << 26, &mut |chain| prefetch_audit::walked(chain, &like).unwrap());
        let pieces = &walks[1..];
        assert!(pieces.iter().all(|(hops, piece_ns)| *piece_ns >= window_ns && *hops >= 512), "{pieces:?}");
        assert!(pieces.len() >= 8 && off(found, 20.0) < 0.005, "{megahertz} MHz: {found} {}", pieces.len());
    }
}

#[test]
fn the_search_for_a_working_set_times_warm_parts_over_enough_steps() {
    let _words = speak(AARCH64);
    fn hop_ns(bytes: u64, cold: bool) -> f64 {
        match bytes {
            _ if cold => 100.0,
            ..=0xf_ffff => 4.0,
            0x10_0000..=0x3ff_ffff => 40.0,
            _ => 100.0,
        }
    }
    for megahertz in all() {
        let mut place = CoarsePlace::new(CoarseMachine::new(megahertz, 7), hop_ns);
        let known = Known {
            reported: Some(Bytes(16 << 20)),
            near: Bytes(1 << 20),
            page: PageSize::KIB_4,
            most: Bytes(1 << 30),
            seeks_cache: true,
            limit_ns: 1e12,
        };
        let found = sizing::search(&mut place, &point(1 << 28), &known).unwrap().unwrap();
        assert_eq!(found.clear, Some(true));
        let cache = found.cache.unwrap();
        assert!((48 << 20..80 << 20).contains(&cache.0), "{megahertz} MHz: {cache}");
        // Walks of 4 ns a hop are those of a warm chain in the private cache: its eight parts, behind rushes and walks
        // that are not timed. The first walk of each may be too short.
        let window_ns = (500e3 / megahertz).max(25e3);
        let warm: Vec<f64> = place
            .walks
            .iter()
            .filter(|(hops, ns)| off(ns / *hops as f64, 4.0) < 0.01)
            .map(|walk| walk.1)
            .collect();
        let long = warm.iter().filter(|ns| **ns >= window_ns).count();
        assert!(long >= 8, "{megahertz} MHz: {warm:?}");
    }
}

#[test]
fn a_slice_of_independent_loads_spans_enough_steps() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        let counter = CoarseMachine::new(megahertz, 1).counter;
        let slice = stopwatch::strided_slice(&counter);
        // At 100 bytes per nanosecond.
        assert!(slice.0 as f64 / 100.0 >= counter.at_least(500), "{slice}");
        assert_eq!(slice, Bytes(2 << 20));
    }
    assert!(
        stopwatch::strided_slice(&CoarseMachine::with_pairs((24.0, 1), 900.0, 1).counter) > Bytes(32 << 20)
    );
}

#[test]
fn many_short_laps_are_as_exact_as_one_long_walk() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        for pair_ns in [12.0, 45.0, 75.0] {
            // Laps over 256 lines in the first-level cache.
            let mut machine = CoarseMachine::with_pairs((megahertz, 1), pair_ns, 8);
            let counter = machine.counter;
            let lap = |_| {
                let lap_ns = counter.elapsed_ns(0, machine.ticks(330.0));
                lap_ns - counter.excess_ns_by(|| machine.ticks(0.0))
            };
            const LAPS: u32 = 30_000;
            let mean_ns = (0..LAPS).map(lap).sum::<f64>() / f64::from(LAPS);
            // The median cost of a fine counter's readings is a whole number of ticks.
            let error = if megahertz == FINE { 1.0 / 330.0 } else { LATENCY };
            assert!(off(mean_ns, 330.0) < error, "{megahertz} MHz, {pair_ns} ns: {mean_ns}");
        }
    }
}

/// Lets a generator touch bursts at the times of a pacer, and returns the rate delivered relative to the rate offered,
/// and the share of bursts in the same tick as the burst before.
fn generated(machine: &mut CoarseMachine, gap: f64, burst: u32, line_ns: f64) -> (f64, f64) {
    let mut pacer = Pacer::new(Pacing::Poisson, pace::gap(gap * f64::from(burst)), 3, machine.read());
    let (begun_ns, mut made, mut together, mut last) = (machine.now_ns, 0u64, 0, 0);
    while made < 60_000 {
        machine.now_ns += 15.0;
        let now = machine.read();
        if pacer.due(now) {
            pacer.advance(now);
            machine.now_ns += line_ns * f64::from(burst);
            made += 1;
            together += u64::from(now == last);
            last = now;
        }
    }
    let offered = (machine.now_ns - begun_ns) / 1e3 * machine.counter.frequency.megahertz() / gap;
    ((made * u64::from(burst)) as f64 / offered, together as f64 / made as f64)
}

#[test]
fn gaps_between_bursts_span_some_steps() {
    let _words = speak(AARCH64);
    let read = Kind::parse("read").unwrap();
    let node = NodeId(0);
    let traffic = Traffic {
        kind: read,
        generators: 1,
        subject: TrafficSubject::Node,
        from: node,
        node,
        footprint: Bytes(1 << 30),
        line: LineSize::LEAST,
        rate: None,
    };
    for megahertz in all() {
        for gigabytes in [0.05, 0.5, 2.0, 8.0, 12.0] {
            let mut machine = CoarseMachine::with_pairs((megahertz, 1), 30.0, 11);
            let (gap, burst) = traffic.bursts(&machine.counter, gigabytes * 1e9, None);
            let steps = gap * f64::from(burst);
            let what = std::format!("{megahertz} MHz, {gigabytes} GB/s: {burst} lines every {steps} steps");
            assert!(steps >= 4.0, "{what}");
            assert!(burst == 1 || megahertz == FINE || burst < 64, "{what}");
            let (delivered, together) = generated(&mut machine, gap, burst, 2.5);
            assert!((delivered - 1.0).abs() < 0.01, "{what}: {delivered} delivered");
            assert!(together < 0.25, "{what}: {together} in the same step");
            assert_eq!(traffic.bursts(&machine.counter, gigabytes * 1e9, Some(3)).1, 3);
        }
    }
}

#[test]
fn single_loads_have_percentiles_with_steps_of_some_nanoseconds() {
    let _words = speak(AARCH64);
    for megahertz in [121.875, FINE] {
        let mut machine = CoarseMachine::new(megahertz, 4);
        let counter = machine.counter;
        let mut found = Distribution::new(counter.frequency, counter.step.0);
        let mut empties = 0;
        const LOADS: u64 = 200_000;
        for load in 0..LOADS {
            // Most loads have 90 to 110 ns, one in fifty 300 ns.
            let load_ns = if load % 50 == 7 { 300.0 } else { 90.0 + 20.0 * machine.chance() };
            found.windows.record(machine.ticks(load_ns));
            empties += machine.ticks(0.0);
        }
        found.overhead = empties as f64 / LOADS as f64;
        let percentile = |percent| found.percentile_ns(percent).unwrap();
        let step_ns = counter.nanoseconds(counter.step);
        for (percent, truth) in [(50.0, 100.0), (99.0, 300.0)] {
            let value = percentile(percent);
            assert!((value - truth).abs() < 1.5 + step_ns / 2.0, "{megahertz} MHz: p{percent} {value}");
        }
    }
}
