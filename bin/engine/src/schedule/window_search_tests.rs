//! Simulated loads that overlap across a known number of fillers.

use crate::tests::outcome::POINT;
use std::vec::Vec;

use latency_core::{Bytes, Pages};

use super::*;
use crate::budget::Budget;
use crate::tests::simulated::place::{Fake, Hop};
use latency_core::words::When;

const PLANNED: [usize; 6] = [0, 64, 128, 256, 512, Gap::MOST];

fn points() -> impl Iterator<Item = Point> + Clone {
    let gaps = PLANNED.into_iter().map(|fillers| Gap::new(Filler::Lea, fillers).unwrap());
    gaps.map(|gap| Point { size: Bytes(64 << 20), pages: Pages::AUTO, walk: Walk::Apart(gap), ..POINT })
}

/// Returns the reach found if loads overlap across up to `last` fillers of a kind, and the fillers probed.
fn found(last: fn(Filler) -> (usize, usize)) -> ([Option<Reach>; Filler::ALL.len()], Vec<usize>) {
    let mut walked = Vec::new();
    let latency = |hop: Hop| {
        let Walk::Apart(gap) = hop.walk else { panic!("{hop:?}") };
        walked.push(gap.fillers());
        let (overlap, alone) = last(gap.filler());
        match gap.fillers() {
            fillers if fillers <= overlap => 50.0,
            fillers if fillers < alone => 82.0,
            _ => 100.0,
        }
    };
    let budget = Budget { trials: Some(1), iters: Some(1000), ..Budget::DEFAULT };
    let like = points().next().unwrap();
    let mut fake = Fake::new(&budget, latency);
    let place: &mut dyn Place = &mut fake;
    let mut schedule = Schedule::new(place, budget, &like, points()).unwrap();
    let mut progress = Progress::new(When::Never);
    schedule.run(&mut progress).unwrap();
    let mut reach = [None; Filler::ALL.len()];
    search(&mut progress, &mut schedule, &mut reach).unwrap();
    drop(schedule);
    walked.retain(|fillers| !PLANNED.contains(fillers));
    walked.dedup();
    (reach, walked)
}

fn of(reaches: [Option<Reach>; Filler::ALL.len()], filler: Filler) -> Option<Reach> {
    Filler::ALL.into_iter().zip(reaches).find(|(kind, _)| *kind == filler).unwrap().1
}

#[test]
fn the_reach_is_found_within_four_fillers() {
    let (reaches, walked) = found(|_| (199, 200));
    let reach = of(reaches, Filler::Lea).unwrap();
    let alone = reach.alone.unwrap();
    assert!(reach.overlaps <= 199 && alone >= 200 && alone - reach.overlaps <= FINEST, "{reach:?}");
    // The bisection halves the interval between two points of the plan, beginning in its middle.
    assert_eq!(walked[..2], [192, 224]);
    assert_eq!(reach.filler, Filler::Lea);
    // Kinds that are not on the schedule are not searched.
    assert_eq!((of(reaches, Filler::Nop), of(reaches, Filler::Mixed)), (None, None));
}

#[test]
fn a_gradually_filling_window_is_bounded_by_two_numbers() {
    // Between these numbers a hop is 1.64 times as slow as without fillers: neither overlapping nor serial.
    let (reaches, _) = found(|_| (150, 400));
    let reach = of(reaches, Filler::Lea).unwrap();
    assert!((147..=150).contains(&reach.overlaps), "{reach:?}");
    assert!((400..=403).contains(&reach.alone.unwrap()), "{reach:?}");
}

#[test]
fn loads_that_always_overlap_have_an_unbounded_reach() {
    let (reaches, walked) = found(|_| (Gap::MOST, Gap::MOST + 1));
    let endless = Reach { filler: Filler::Lea, overlaps: Gap::MOST, alone: None };
    assert_eq!((of(reaches, Filler::Lea), walked.len()), (Some(endless), 0));
}
