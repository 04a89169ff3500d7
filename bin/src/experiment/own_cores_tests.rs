//! Tests the choice of other cores beside the CPU that measures for a node, and the comparison of their latencies.

use latency_core::{CpuId, NodeId};

use super::tests::{machine, planned};
use crate::analysis::matrix::unlike;
use crate::plan::own_cores::pairs;
use latency_engine::budget::Memory;
use latency_engine::result::{Outcome, Walk};
use latency_engine::tests::outcome::outcome;
use std::vec::Vec;

/// Returns the CPUs of a plan.
fn cpus(fixture: &str, line: &str) -> Vec<u32> {
    let (points, ..) = planned(&machine(fixture, None), line).unwrap();
    points.iter().map(|point| point.cpu.0).collect()
}

#[test]
fn the_middle_and_the_last_core_stand_beside_the_first() {
    assert_eq!(cpus("one-node", ""), [0, 1]);
    // Of each kind one, whichever kind the first CPU is.
    for fixture in ["hybrid", "big-little"] {
        let machine = machine(fixture, None);
        let kinds: Vec<_> = cpus(fixture, "").iter().map(|cpu| machine.kind_of(CpuId(*cpu))).collect();
        assert_eq!((cpus(fixture, ""), kinds[0] == kinds[2]), ([0, 4, 7].into(), false));
    }
    // A common chain would lie in both last-level caches.
    assert_eq!(cpus("two-ccx", ""), [0, 2, 3]);
    for line in [
        "--view=nodes",
        "--cpu=0",
        "--cpu=first",
        "--trials=3",
        "--iters=1000",
        "--time-limit=1",
        "--budget=30",
        "--until=quiet",
        "--order=sequential",
        "--size=1M",
    ] {
        assert_eq!(cpus("hybrid", line), [0], "{line}");
    }
}

#[test]
fn points_of_other_cores_follow_those_of_pairs() {
    let (points, budget, _) = planned(&machine("two-small-sockets", None), "").unwrap();
    let count = pairs(&points);
    assert_eq!((count, budget.steady, budget.steady(&points).len()), (4, 4, 4));
    assert!(points.len() > 4 && points[4..].iter().all(|point| point.initiator == point.target));
    let (points, budget, _) = planned(&machine("one-node", None), "--view=nodes").unwrap();
    assert_eq!((pairs(&points), budget.steady(&points).len()), (1, 1));
}

#[test]
fn a_view_has_every_core_or_one_of_each_cache() {
    let every: Vec<u32> = (0..8).collect();
    let view = |fixture, line| {
        let (points, budget, _) = planned(&machine(fixture, None), line).unwrap();
        let is_rewritten = matches!(budget.memory, Memory::Rewritten { places: 1 });
        assert_eq!((is_rewritten, budget.steady(&points).len()), (budget.split.is_none(), points.len()));
        (points.iter().map(|point| point.cpu.0).collect::<Vec<_>>(), is_rewritten)
    };
    assert_eq!(view("hybrid", "--view=cores"), (every.clone(), false));
    // In two caches, each visit has a chain that no cache has.
    assert_eq!(view("two-ccx", "--view=cores"), (every, true));
    assert_eq!(view("two-ccx", "--view=cores --budget=4"), ([0, 4].into(), true));
    assert_eq!(view("two-small-sockets", "--view=cores --cpunode=1").0.len(), 2);
}

/// Returns the latency of a CPU from one node to another, with an interval of 1 % to each side.
fn from_cpu(cpu: u32, to: u32, ns: f64) -> Outcome {
    let mut outcome = outcome(256 << 20, Walk::Chain, ns);
    (outcome.point.cpu, outcome.point.target) = (CpuId(cpu), NodeId(to));
    outcome
}

/// Returns the CPUs of the cores that differ, and by how much, in percent.
fn differing(latencies: &[(u32, u32, f64)], each: bool) -> Vec<(u32, f64)> {
    let outcomes: Vec<_> = latencies.iter().map(|&(cpu, to, ns)| from_cpu(cpu, to, ns)).collect();
    let found = unlike(&outcomes, &machine("hybrid", None), each);
    found.iter().map(|core| (core.cpu.0, (core.ratio * 100.0 - 100.0).round())).collect()
}

#[test]
fn cores_are_named_beyond_their_intervals_and_a_real_share() {
    // CPU 0 measures for the node; remote memory says nothing about a core.
    let pair = [(0, 0, 100.0), (0, 1, 180.0)];
    assert_eq!(differing(&[&pair[..], &[(3, 0, 102.9)]].concat(), false), []);
    assert_eq!(
        differing(&[&pair[..], &[(3, 0, 110.0), (7, 0, 80.0)]].concat(), false),
        [(3, 10.0), (7, -20.0)]
    );
    // Of all cores, the slow one is named and no other, also if it measures for the node.
    let slow = |slow: u32| [0, 1, 2, 3].map(|cpu| (cpu, 0, if cpu == slow { 110.0 } else { 100.0 }));
    assert_eq!(
        (differing(&slow(0), true), differing(&slow(2), true)),
        ([(0, 10.0)].into(), [(2, 10.0)].into())
    );
    assert_eq!(differing(&[(0, 0, 100.0), (1, 0, 110.0)], true), [(1, 10.0)]);
    // A core is compared with those of its type.
    assert_eq!(differing(&[(0, 0, 100.0), (1, 0, 100.0), (6, 0, 130.0), (7, 0, 131.0)], true), []);
}

#[test]
fn a_core_with_other_work_or_without_an_interval_is_not_named() {
    let mut outcomes = [from_cpu(0, 0, 100.0), from_cpu(1, 0, 110.0)];
    let count = |outcomes: &[Outcome]| unlike(outcomes, &machine("hybrid", None), true).len();
    assert_eq!(count(&outcomes), 1);
    if let Ok(measured) = &mut outcomes[1].result {
        measured.series.disturbed = measured.series.batches;
    }
    assert_eq!(count(&outcomes), 0);
    outcomes[1] = from_cpu(1, 0, 110.0);
    if let Ok(measured) = &mut outcomes[1].result {
        measured.series.nanoseconds.interval = None;
    }
    assert_eq!(count(&outcomes), 0);
}
