//! Tests of the stay.

use std::vec::Vec;

use super::*;
use crate::budget::Budget;
use crate::progress::Progress;
use crate::schedule::tests::points;
use crate::tests::simulated::place::{Fake, Hop};
use latency_core::words::When;

/// Simulates two points in memory of 100 ns. The stay at the second point begins after a second, when hops become
/// twice as long.
fn held(seconds: usize, interrupt_ns: f64) -> (Vec<f64>, usize, bool) {
    let latency = |now_ns: f64| if now_ns < 2e9 { 100.0 } else { 200.0 };
    let mut fake = Fake::new(&Budget::DEFAULT, |hop: Hop| latency(hop.now_ns));
    fake.interrupt_ns = interrupt_ns;
    let like = points(1).next().unwrap();
    let mut schedule = Schedule::new(std::boxed::Box::new(fake), Budget::DEFAULT, &like, points(2)).unwrap();
    schedule.reach(&mut Progress::new(When::Never), 3).unwrap();
    assert_eq!(schedule.rounds(1).len(), 3);
    let begun_ns = 2e9;
    schedule.place.now_ns = begun_ns;
    let mut told = Vec::new();
    let ended = schedule.stay(1, seconds, &mut |point, round| {
        assert_eq!(point.size, points(2).nth(1).unwrap().size);
        told.push(round.nanoseconds);
    });
    let spent_s = (schedule.place.now_ns - begun_ns) / 1e9;
    assert!((spent_s - told.len() as f64).abs() < 0.6, "{spent_s}");
    assert_eq!(schedule.rounds(0).len(), 3);
    (told, schedule.rounds(1).len(), ended.is_err())
}

#[test]
fn each_second_is_a_round_and_earlier_rounds_are_dropped() {
    let (told, rounds, interrupted) = held(5, f64::INFINITY);
    assert_eq!((told.as_slice(), rounds, interrupted), ([200.0; 5].as_slice(), 5, false));
}

#[test]
fn an_interrupt_keeps_whole_seconds() {
    let (told, rounds, interrupted) = held(5, 5.5e9);
    assert!(interrupted && told.len() == rounds && (2..=3).contains(&rounds), "{rounds}");
}
