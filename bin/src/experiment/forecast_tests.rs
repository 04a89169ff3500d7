//! Compares forecasts with simulated runs of the same plan. The schedule and its visits are real; memory and time are
//! simulated.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

use latency_core::host::MemoryLimit;
use latency_core::{Bytes, NodeId, Pcg32};

use crate::experiment::tests::{fixture, machine, machine_of, planned};
use crate::plan::duration;
use latency_core::words::When;
use latency_engine::budget::Memory;
use latency_engine::machine::Machine;
use latency_engine::progress::Progress;
use latency_engine::regions;
use latency_engine::schedule::Schedule;
use latency_engine::tests::simulated::place::{Fake, Hop};

/// Tolerance of a forecast, which is a range: largest factor by which a run may lie outside of it.
const FACTOR: f64 = 1.5;
/// Costs of a run in addition to visits: the clocks, mapping and clearing a byte, writing a byte of a chain that is
/// kept, and the audit.
const START_NS: f64 = 0.2e9;
const MAPPED_BYTE_NS: f64 = 0.7;
const WRITTEN_BYTE_NS: f64 = 0.2;
const AUDIT_NS: f64 = 0.7e9;

/// Returns a server of eight nodes, derived from the fixture with four nodes.
fn eight_nodes() -> Box<Machine> {
    let four = fixture("four-nodes");
    let mut text = String::new();
    for part in four.split("=== ").skip(1) {
        let (path, content) = part.split_once('\n').unwrap();
        let content = match path.rsplit('/').next().unwrap() {
            "distance" => format!("{} {}\n", content.trim(), "31 31 31 31"),
            _ => content.replace("0-3", "0-7").replace("0-95", "0-191"),
        };
        text += &format!("=== {path}\n{content}");
        if let Some((before, rest)) = path.split_once("/node/node") {
            let (node, file) = rest.split_at(1);
            let node: u32 = node.parse().unwrap();
            let content = match file {
                "/cpulist" => format!("{}-{}\n", 96 + node * 24, 119 + node * 24),
                _ => content.replace(&format!("Node {node} "), &format!("Node {} ", node + 4)),
            };
            text += &format!("=== {before}/node/node{}{file}\n{content}", node + 4);
        }
    }
    machine_of(&text, None)
}

/// Returns the duration of a run of the plan in simulated time, if rounds scatter by this fraction of their latency.
fn simulated(machine: &Machine, line: &str, scatter: f64) -> (f64, duration::Range) {
    let (mut points, budget, _) = planned(machine, line).unwrap();
    let forecast = duration::estimate(machine, &points, &budget);
    // The huge-page pools of the fixtures are empty.
    points.retain(|point| point.pages.pool().is_none());
    let mut rng = Pcg32::new(5, 5);
    let mut round = 1.0;
    let latency = move |hop: Hop| {
        if hop.laps == 0.0 {
            let uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
            round = 1.0 + scatter * (core::iter::repeat_with(uniform).take(4).sum::<f64>() - 2.0);
        }
        let caches = [(32 << 10, 1.4), (2 << 20, 5.0), (32 << 20, 30.0)];
        let one = caches.iter().find(|(size, _)| hop.nodes * 64 <= *size).map_or(130.0, |(_, one)| *one);
        one * round * (hop.lanes as f64 / 8.0).max(1.0)
    };
    let mut fake = Fake::new(&budget, latency);
    fake.byte_ns = WRITTEN_BYTE_NS;
    let mut schedule =
        Schedule::new(std::boxed::Box::new(fake), budget, &points[0], points.iter().copied()).unwrap();
    schedule.run(&mut Progress::new(When::Never)).unwrap();
    // A chain that is kept has its own memory; chains that are written for each visit share a region.
    let mapped = match budget.memory {
        Memory::Kept | Memory::Shared => regions::bytes(budget.memory, &points).0 as f64,
        Memory::Rewritten { .. } => {
            let mut mapped = BTreeMap::new();
            for point in &points {
                let region = mapped.entry((point.target.0, point.pages.code())).or_insert(0.0);
                *region = f64::max(*region, point.size.0 as f64);
            }
            mapped.values().sum()
        }
    };
    let audited = points.iter().any(|point| point.size >= Bytes(16 << 20));
    let besides =
        START_NS + mapped * (MAPPED_BYTE_NS + WRITTEN_BYTE_NS) + if audited { AUDIT_NS } else { 0.0 };
    (schedule.place.now_ns + besides, forecast)
}

#[test]
fn a_run_takes_as_long_as_was_forecast() {
    let (one, two, four, eight) =
        (machine("one-node", None), machine("two-sockets", None), machine("four-nodes", None), eight_nodes());
    let mut wrong = Vec::new();
    for (machine, line) in [
        (&one, ""),
        (&one, "--size=16K"),
        (&one, "--size=1G"),
        (&one, "--spread=0"),
        (&one, "--trials=200 --iters=5000"),
        (&two, ""),
        (&four, ""),
        (&eight, ""),
        (&eight, "--spread=20"),
        (&one, "variants"),
        (&one, "pages"),
        (&one, "parallel"),
        (&one, "window"),
    ] {
        for scatter in [0.003, 0.03] {
            let (took_ns, forecast) = simulated(machine, line, scatter);
            if took_ns < forecast.0 / FACTOR || took_ns > forecast.1 * FACTOR {
                wrong.push((line, scatter, took_ns / 1e9, forecast));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Returns the same machine in a control group that has `free` bytes left.
fn with_free_memory(mut machine: Box<Machine>, free: Bytes) -> Box<Machine> {
    machine.host.memory_limit = Some(MemoryLimit { limit: free, usage: Bytes(0), headroom: free });
    machine
}

#[test]
fn a_whole_matrix_of_eight_nodes_is_over_in_a_minute() {
    let plenty = eight_nodes();
    let scarce = with_free_memory(eight_nodes(), Bytes::GIB.times(6));
    for (machine, memory) in [(&plenty, Memory::Kept), (&scarce, Memory::Shared)] {
        let (points, budget, _) = planned(machine, "").unwrap();
        assert_eq!((points.len(), points[0].size, budget.memory), (64, Bytes::MIB.times(256), memory));
        for scatter in [0.003, 0.03, 0.3] {
            let (took_ns, _) = simulated(machine, "", scatter);
            assert!(took_ns < 60e9, "{memory:?} {scatter}: {took_ns}");
        }
    }
    // One pair needs seven seconds, since its rounds are spread over five; another core beside it adds half a second.
    let took_ns = |line| simulated(&machine("one-node", None), line, 0.003).0;
    assert!((5e9..7e9).contains(&took_ns("--view=nodes")), "{}", took_ns("--view=nodes"));
    assert!((5e9..8e9).contains(&took_ns("")), "{}", took_ns(""));
}

#[test]
fn initiators_have_regions_of_their_own_where_memory_has_room() {
    let memory = |machine: &Machine, line: &str| planned(machine, line).unwrap().1.memory;
    let four = machine("four-nodes", None);
    assert_eq!((memory(&four, ""), memory(&four, "bandwidth")), (Memory::Kept, Memory::Kept));
    // If a pool has pages for some pairs only, the pairs would differ in their pages.
    let two = machine("two-sockets", None);
    assert_eq!((memory(&two, ""), memory(&two, "bandwidth")), (Memory::Kept, Memory::Shared));
    assert_eq!(memory(&two, "bandwidth --pages=thp"), Memory::Kept);
    // Half of the available memory of a node has room for one region of this size, but not for two. A single initiator
    // needs only one region.
    let half = two.supply(NodeId(1)).unwrap().on_node().0 / 2;
    let line = std::format!("--pages=thp --size={}M", (half / 10 * 6) >> 20);
    assert_eq!(memory(&two, &line), Memory::Shared);
    assert_eq!(memory(&two, &std::format!("{line} --cpunode=1")), Memory::Kept);
    // Sharing a region does not reduce the working set.
    assert_eq!(planned(&two, &line).unwrap().0[0].size.0, ((half / 10 * 6) >> 20) << 20);
}

// 64 regions of 100 MiB exceed the memory of the group, and 100 MiB are less than twice the last-level cache.
#[test]
fn chains_that_each_visit_writes_are_warmed_up_however_little_memory_there_is() {
    let scarce = with_free_memory(eight_nodes(), Bytes::GIB.times(6));
    let (_, budget, _) = planned(&scarce, "--size=100M").unwrap();
    assert!(matches!(budget.memory, Memory::Rewritten { .. }), "{:?}", budget.memory);
    assert_eq!(budget.warm_up, None);
}

#[test]
fn a_shared_region_is_written_when_its_initiator_changes_and_then_alone() {
    let scarce = with_free_memory(machine("four-nodes", None), Bytes::GIB.times(3));
    let (points, budget, _) = planned(&scarce, "--spread=0").unwrap();
    assert_eq!((points.len(), budget.memory), (16, Memory::Shared));
    let fake = Fake::new(&budget, |_| 100.0);
    let mut schedule =
        Schedule::new(std::boxed::Box::new(fake), budget, &points[0], points.iter().copied()).unwrap();
    schedule.run(&mut Progress::new(When::Never)).unwrap();
    let mut last = BTreeMap::new();
    let (mut written, mut turns) = (0, 0);
    let visits = &schedule.place.visits;
    for (index, visit) in visits.iter().enumerate() {
        let point = &points[visit.index];
        let changes = last.insert(point.target, point.initiator) != Some(point.initiator);
        assert_eq!(visit.written, changes, "visit {index}");
        written += usize::from(visit.written);
        turns += usize::from(index == 0 || points[visits[index - 1].index].initiator != point.initiator);
    }
    // In each round an initiator visits all its targets in one turn, and writes each of their regions once.
    let rounds = visits.len() / points.len();
    assert!(written <= rounds * 16 && turns <= rounds * 4 && rounds >= 15, "{written} {turns} {rounds}");
}

#[test]
fn a_wait_for_quiet_neighbours_lengthens_the_most_and_not_the_least() {
    let usual = duration::Range(6e9, 11e9);
    assert_eq!(usual.or_waits(None), usual);
    let duration::Range(least, most) = usual.or_waits(Some(60e9));
    assert!(least == 6e9 && (60e9..70e9).contains(&most), "{most}");
    // A wait that is shorter than the run does not shorten the run.
    assert_eq!(usual.or_waits(Some(1e9)), usual);
}
