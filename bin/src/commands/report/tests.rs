//! Plans of reports for whole machines, and their schedules in simulated time.

use std::boxed::Box;
use std::vec::Vec;

use latency_core::Pcg32;
use latency_core::words::When;

use super::run::LATE_SHARES;
use super::*;
use crate::experiment::tests::{machine, options};
use crate::plan::Plan;
use latency_engine::budget::FEWEST_ROUNDS;
use latency_engine::progress::Progress;
use latency_engine::regions;
use latency_engine::result::{Point, Walk};
use latency_engine::schedule::Schedule;
use latency_engine::tests::simulated::place::{Fake, Hop};

/// Nanoseconds of a run in addition to visits, as in the tests of forecasts: its start with the audit, and a byte that is
/// mapped and written.
const AROUND_NS: f64 = 0.9e9;
const MAPPED_BYTE_NS: f64 = 0.9;

/// A section in simulated time.
#[derive(Debug)]
struct Simulated {
    name: &'static str,
    points: usize,
    left_out: usize,
    without_interval: usize,
}

/// Runs the schedules of a report, one after the other, in memory of this latency. Returns those in which single chains
/// are walked, the names of the sections without time, and the duration of all in seconds: the others last as long as is
/// forecast.
fn simulated(name: &str, line: &'static str, memory_ns: f64) -> (Vec<Simulated>, Vec<&'static str>, f64) {
    let machine: &'static Machine = Box::leak(machine(name, None));
    let whole: &'static Options = Box::leak(Box::new(options(line)));
    let (needs, budget_ns) = (Needs::of(whole, machine).unwrap(), budget_ns(whole));
    let (mut spent_ns, mut found, mut late) = (0.0, Vec::new(), Vec::new());
    for (index, section) in SECTIONS.iter().enumerate() {
        let (left_ns, name) = (budget_ns - spent_ns, section.experiment.descriptor.name);
        let share_ns = needs.share_ns(index, left_ns - END * budget_ns);
        if share_ns <= 0.0 {
            late.push(name);
            continue;
        }
        let (asked, _, limit_ns) = asked(index, whole, share_ns).unwrap();
        let Plan { points, mut budget, .. } =
            run_experiment::planned(asked, machine, section.experiment).unwrap();
        budget.limit(limit_ns, machine, &points);
        budget.intervals_by_ns = LATE_SHARES * share_ns - budget.after_ns - AROUND_NS;
        let points: Vec<Point> =
            points.iter().filter(|point| machine.has_pages_for(point)).copied().collect();
        if !points.iter().all(|point| matches!(point.walk, Walk::Chain)) {
            let forecast = duration::estimate(machine, &points, &budget);
            spent_ns += forecast.0.midpoint(forecast.1);
            continue;
        }
        let mut rng = Pcg32::new(5, 5);
        let latency = move |hop: Hop| {
            let scatter = 1.0 + 0.06 * (f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5);
            let caches = [(32 << 10, 1.4), (2 << 20, 5.0), (32 << 20, 30.0)];
            let held = caches.iter().find(|(size, _)| hop.nodes * 64 <= *size);
            held.map_or(memory_ns, |(_, latency)| *latency) * scatter
        };
        let mut fake = Fake::new(&budget, latency);
        fake.byte_ns = 0.2;
        let mut schedule = Schedule::new(Box::new(fake), budget, &points[0], points.iter().copied()).unwrap();
        schedule.run(&mut Progress::new(When::Never)).unwrap();
        spent_ns += schedule.place.now_ns + budget.after_ns + AROUND_NS;
        spent_ns += MAPPED_BYTE_NS * regions::bytes(budget.memory, &points).0.real();
        let count = |is_meant: &dyn Fn(usize) -> bool| {
            (0..points.len()).filter(|index| is_meant(schedule.rounds(*index).len())).count()
        };
        let (left_out, without_interval) =
            (count(&|rounds| rounds == 0), count(&|rounds| (1..FEWEST_ROUNDS).contains(&rounds)));
        found.push(Simulated { name, points: points.len(), left_out, without_interval });
    }
    (found, late, spent_ns / 1e9)
}

#[test]
fn every_point_of_a_report_has_an_interval_in_time() {
    for name in ["one-node", "two-sockets", "four-nodes"] {
        for memory_ns in [130.0, 260.0] {
            let (found, late, seconds) = simulated(name, "report", memory_ns);
            let scene = std::format!("{name}, {memory_ns} ns: {found:?}, {late:?}, {seconds} s");
            assert!(seconds < 90.0, "{scene}");
            assert!(found.iter().all(|section| section.without_interval == 0), "{scene}");
            // A page with a third of its points still answers its question.
            assert!(found.iter().all(|section| 3 * section.left_out <= 2 * section.points), "{scene}");
            assert!(found.len() + late.len() >= 5 && late.len() <= 2, "{scene}");
        }
    }
    let (found, late, _) = simulated("one-node", "report", 130.0);
    assert_eq!(
        found.iter().map(|section| section.name).collect::<Vec<_>>(),
        ["matrix", "curve", "pages", "distribution", "residency"]
    );
    assert!(late.is_empty() && found.iter().all(|section| section.left_out == 0), "{found:?} {late:?}");
}

#[test]
fn sections_without_time_are_the_ones_that_matter_least() {
    let (found, late, seconds) = simulated("one-node", "report --budget=30", 130.0);
    assert!(found.iter().all(|section| section.without_interval == 0), "{found:?}");
    // A section that needs little may have the time that a longer one before it did not have.
    assert!(!late.is_empty(), "{found:?}");
    for (index, section) in SECTIONS.iter().enumerate() {
        assert!(index >= 5 || !late.contains(&section.experiment.descriptor.name), "{late:?}");
    }
    assert!(seconds < 30.0, "{seconds}");
}
