//! The counter and the arithmetic between its readings: coarse counters are as exact as fine ones, and with fine ones
//! no length differs from that on an instruction set without coarse counters.

use alloc::vec::Vec;
use core::cell::RefCell;

use latency_core::Hertz;
use proptest::prelude::*;

use super::*;
use crate::checks::self_test;
use crate::result::Timer;
use crate::schedule::walks;
use crate::tests::words::{AARCH64, X86_64, speak};

#[test]
fn a_step_is_one_tick_whatever_a_reading_costs_and_whatever_interrupts_it() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        for seed in 0..8 {
            for pair_ns in [12.0, 45.0, 75.0] {
                let machine = CoarseMachine::with_pairs((megahertz, 1), pair_ns, seed);
                assert_eq!(machine.counter.step, Ticks(1), "{megahertz} MHz, {pair_ns} ns");
                let least = (pair_ns * megahertz / 1e3) as u64;
                assert!(machine.counter.overhead.0.abs_diff(least) <= 1, "{:?}", machine.counter.overhead);
            }
        }
    }
}

#[test]
fn a_counter_of_nanoseconds_that_steps_by_many_is_coarse() {
    let _words = speak(AARCH64);
    let mut machine = CoarseMachine::with_pairs((1000.0, 40), 45.0, 6);
    assert_eq!(machine.counter.step, Ticks(40));
    assert!(machine.counter.is_coarse() && (machine.counter.at_least(2000) - 80e3).abs() < 1e-6);
    let error = (0..300).map(|_| off(machine.core_clock(), machine.core_gigahertz)).fold(0.0, f64::max);
    assert!(error < CYCLES, "{error}");
    assert!(!CoarseMachine::with_pairs((1000.0, 10), 45.0, 6).counter.is_coarse());
}

#[test]
fn each_reading_of_the_core_clock_is_exact() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        for clock in [1.5, 2.6, 3.0, 3.49, 4.5] {
            let mut machine = CoarseMachine::new(megahertz, 9);
            machine.core_gigahertz = clock;
            let error = (0..300).map(|_| off(machine.core_clock(), clock)).fold(0.0, f64::max);
            assert!(error < CYCLES, "{megahertz} MHz, {clock} GHz: {error}");
        }
    }
}

#[test]
fn the_self_test_finds_whole_numbers_over_enough_steps() {
    let _words = speak(AARCH64);
    for megahertz in all() {
        for (hit, multiply) in [(3.0, 3.0), (4.0, 5.0), (5.0, 2.0)] {
            let machine = RefCell::new(CoarseMachine::new(megahertz, 5));
            machine.borrow_mut().multiply_cycles = multiply;
            machine.borrow_mut().core_gigahertz = 3.3;
            let counter = machine.borrow().counter;
            let mut lengths = Vec::new();
            let cycles = self_test::hit_cycles(
                &counter,
                &mut || Some(machine.borrow_mut().core_clock() / counter.frequency.gigahertz()),
                &mut |hops| {
                    let ticks = machine.borrow_mut().ticks(hops as f64 * hit / 3.3);
                    lengths.push(ticks);
                    Some(ticks)
                },
            );
            let cycles = cycles.unwrap();
            assert!((cycles - hit).abs() < CYCLES * hit, "{megahertz} MHz: {cycles} for {hit}");
            let span = |lengths: &[u64]| lengths.iter().max().unwrap() - lengths.iter().min().unwrap();
            assert!(span(&lengths) >= 2000, "{megahertz} MHz: hits over {} steps", span(&lengths));
            lengths.clear();
            let ratio = counter.multiply_ratio_by(|work, blocks| {
                let ticks = machine.borrow_mut().arithmetic(work, blocks);
                lengths.push(ticks);
                ticks
            });
            let ratio = ratio.unwrap();
            assert!((ratio - multiply).abs() < CYCLES * multiply, "{megahertz} MHz: {ratio} for {multiply}");
            let (additions, multiplications) = lengths.split_at(lengths.len() / 2);
            let steps = span(additions).min(span(multiplications));
            assert!(steps >= 2000 || !counter.is_coarse(), "{megahertz} MHz: arithmetic over {steps} steps");
        }
    }
}

#[test]
fn readings_that_do_not_wait_are_found_at_any_phase() {
    let _words = speak(AARCH64);
    for megahertz in COARSE {
        for seed in 0..20 {
            for (idle_ns, pair_ns) in
                [(3e3, 45.0), (0.0, 45.0), (0.0, 20.0), (0.0, 1e3 / megahertz), (3e3, 800.0)]
            {
                let found = |waits| {
                    let mut machine = CoarseMachine::with_pairs((megahertz, 1), pair_ns, seed);
                    machine.idle_ns = idle_ns;
                    machine.waits = waits;
                    machine.fence()
                };
                let (with, without) = (found(true), found(false));
                let what = std::format!("{megahertz} MHz, {idle_ns} {pair_ns} ns: {with:?} {without:?}");
                assert!(with.1 && !without.1, "{what}");
                // Two blocks of multiplications take 128 ns. A pair of half a step has a mean with an error of 5 %.
                let truth = 1.0 + 128.0 / pair_ns / if pair_ns > 200.0 { 1.05 } else { 1.0 };
                assert!(off(with.0, truth) < 0.2, "{what} for {truth}");
            }
        }
    }
    // The rule for a fine counter is the ratio itself.
    let mut fine = CoarseMachine::new(FINE, 1);
    assert!(fine.fence().1);
    fine.waits = false;
    assert!(!fine.fence().1);
}

proptest! {
    #[test]
    fn lengths_follow_the_counter_and_those_of_fine_counters_stay_as_they_are(
        megahertz in 10.0f64..6000.0, step in 1u64..60, overhead in 0u64..200, ticks_are_long: bool,
    ) {
        let _words = speak(if ticks_are_long { AARCH64 } else { X86_64 });
        let frequency = Hertz((megahertz * 1e6) as u64);
        let counter = Counter {
            frequency,
            step: Ticks(step),
            overhead: Ticks(overhead),
            ..CoarseMachine::new(24.0, 1).counter
        };
        let step_ns = step as f64 * 1e3 / megahertz;
        let coarse = ticks_are_long && (megahertz < 500.0 || step_ns > 15.0);
        let near = |one: f64, other: f64| (one - other).abs() < 1e-3 * other + 1e-6;
        let ten_ns = if coarse { 10.0 * step_ns } else { 0.0 };
        prop_assert!(near(counter.at_least(10), ten_ns));
        let batch_ns = Timer::Counter(counter).batch_ns();
        let wanted_ns = if coarse { (2000.0 * step_ns).max(1e5) } else { 1e5 };
        prop_assert!(near(batch_ns, wanted_ns));
        let mut blocks = Vec::new();
        let mut note = |work, made| {
            blocks.push((work, made));
            made as u64
        };
        let _ = counter.core_clock_by(&mut note);
        let _ = counter.multiply_ratio_by(&mut note);
        let usual = (step as usize * 16).clamp(40, 2000);
        let of = |steps: f64| if coarse { (steps * step_ns * 4.5 / 64.0) as usize } else { 0 };
        let at = |index: usize| blocks[index].1 as f64;
        prop_assert_eq!(blocks[..2].iter().map(|(_, made)| *made).collect::<Vec<_>>(), [1, 40]);
        prop_assert!((at(2) - (40 + usual.max(of(1000.0))) as f64).abs() <= 1.0, "{}", at(2));
        if coarse {
            prop_assert!((at(3 + 51) - 480.max(40 + of(2000.0)) as f64).abs() <= 1.0, "{}", at(3 + 51));
            prop_assert!((at(3 + 153) - 480.max(40 + of(2000.0) / 2) as f64).abs() <= 1.0, "{}", at(3 + 153));
        } else {
            let round: Vec<usize> = blocks[3..12].iter().map(|(_, made)| *made).collect();
            prop_assert_eq!(round, [[1, 40, 120]; 3].concat());
        }
        let mut hops = Vec::new();
        let _ = self_test::hit_cycles(&counter, &mut || Some(1.0), &mut |made| {
            hops.push(made);
            Some(made as u64)
        });
        let hit_ns = 3.0 / 4.5;
        let long = 9216.max(1024 + if coarse { (2000.0 * step_ns / hit_ns) as usize } else { 0 });
        prop_assert!(hops[1] == 1024 && hops[0].abs_diff(long) <= 1, "{:?} {}", &hops[..2], long);
    }

    #[test]
    fn times_are_exact_at_any_phase(
        which in 0usize..5, seed: u64, hop_ns in 0.5f64..400.0, core in 0.8f64..4.5,
    ) {
        let _words = speak(AARCH64);
        let megahertz = all().nth(which).unwrap();
        let mut machine = CoarseMachine::new(megahertz, seed);
        machine.core_gigahertz = core;
        let hops = walks::hops_per_batch(Timer::Counter(machine.counter).batch_ns(), hop_ns);
        let ticks = machine.ticks(hops as f64 * hop_ns);
        let nanoseconds = machine.counter.elapsed_ns(0, ticks) / hops as f64;
        prop_assert!(off(nanoseconds, hop_ns) < LATENCY, "{}", nanoseconds);
        let clock = machine.core_clock();
        prop_assert!(off(clock, core) < CYCLES, "{}", clock);
    }
}
