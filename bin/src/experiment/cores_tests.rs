//! Tests plans of `cores` for whole machines: the pairs, the memory of the lines, the duration.

use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

use latency_core::cores::State;
use latency_core::topology::Shared;

use super::tests::{machine, options, planned};
use crate::plan::budget::WINDOW_NS;
use crate::plan::duration;
use latency_core::{PageSize, Pages, Worded};
use latency_engine::budget::FEWEST_ROUNDS;
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{LineLevel, Owned, PingPong, Point};

/// The points of a plan that exchange lines.
fn pairs(machine: &Machine, line: &str) -> Vec<(Point, PingPong)> {
    let (points, ..) = planned(machine, line).unwrap();
    points.into_iter().filter_map(|point| Some((point, *point.walk.ping_pong()?))).collect()
}

/// Returns the points that walk over lines in a known state, with their walks.
fn walks(machine: &Machine, line: &str) -> Vec<(Point, Owned)> {
    let (points, ..) = planned(machine, line).unwrap();
    points.into_iter().filter_map(|point| Some((point, *point.walk.owned()?))).collect()
}

/// Returns both CPUs of all pairs.
fn names(machine: &Machine, line: &str) -> Vec<(u32, u32)> {
    pairs(machine, line).iter().map(|(point, pair)| (point.cpu.0, pair.partner.0)).collect()
}

/// Counts the pairs of each class.
fn classes(pairs: &[(Point, PingPong)]) -> BTreeMap<Shared, usize> {
    let mut classes = BTreeMap::new();
    pairs.iter().for_each(|(_, pair)| *classes.entry(pair.class).or_default() += 1);
    classes
}

fn codes(machine: &Machine, line: &str) -> Vec<&'static str> {
    planned(machine, line).unwrap().2
}

#[test]
fn few_cpus_have_all_pairs_and_many_a_few_of_each_class() {
    let small = machine("two-small-sockets", None);
    let all = pairs(&small, "cores");
    assert_eq!(classes(&all), [(Shared::Core, 4), (Shared::L3, 8), (Shared::Machine, 16)].into());
    assert!(
        all.iter()
            .all(|(point, pair)| point.cpu < pair.partner && point.pages == Pages::base(PageSize::KIB_4))
    );
    let large = machine("two-sockets", None);
    assert!(pairs(&large, "cores").len() <= 48);
    assert_eq!(pairs(&large, "cores --pairs=all --budget=100").len(), 128 * 127 / 2);
    assert_eq!(names(&large, "cores --pairs=classes"), names(&large, "cores"));
    let other = names(&large, "cores --seed=7");
    assert!(other.len() <= 48 && other != names(&large, "cores"));
    assert_eq!(pairs(&machine("two-sockets", Some("3,40,41")), "cores").len(), 3);
}

#[test]
fn a_list_is_taken_as_it_is_and_its_cpus_have_to_be_there() {
    let large = machine("two-sockets", None);
    let listed = pairs(&large, "cores --pairs=40:3,0:1,1:0 --lines=4 --method=flag --pages=thp");
    assert_eq!(names(&large, "cores --pairs=40:3,0:1,1:0"), [(3, 40), (0, 1)]);
    assert!(listed.iter().all(|(point, pair)| pair.lines == 4 && point.pages == Pages::thp(PageSize::MIB_2)));
    let refused = |machine: &Machine, line: &str| planned(machine, line).unwrap_err();
    assert!(refused(&large, "cores --pairs=0:4000").starts_with("invalid CPU 4000"));
    let part = machine("two-sockets", Some("0-3"));
    assert!(refused(&part, "cores --pairs=0:40").contains("CPU 40 is not allowed"));
    let one = machine("two-sockets", Some("5"));
    for line in ["cores", "cores --states"] {
        let message = refused(&one, line);
        assert!(
            message.starts_with("cores needs a second CPU: one CPU sends, the other replies"),
            "{message}"
        );
    }
}

#[test]
fn lines_are_on_the_nodes_of_both_cpus() {
    let small = machine("two-small-sockets", None);
    for (point, pair) in pairs(&small, "cores") {
        let node = |cpu| small.topology.node_of_cpu(cpu).unwrap();
        assert_eq!(pair.homes, [node(point.cpu), node(pair.partner)]);
        assert_eq!(point.target, pair.homes[0]);
        let mut places = Vec::new();
        for line in 0..pair.lines {
            let (home, place) = pair.home(line);
            assert!(pair.homes.contains(&home) && place < pair.lines);
            places.push((home, place));
        }
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), pair.lines as usize);
    }
    for (point, pair) in pairs(&small, "cores --memnode=1") {
        assert!(point.target.0 == 1 && pair.homes.map(|home| home.0) == [1, 1]);
    }
}

#[test]
fn without_time_for_all_pairs_a_few_of_each_class_are_planned() {
    let large = machine("two-sockets", None);
    assert!(!codes(&large, "cores --pairs=all --budget=100").contains(&"pairs-of-classes"));
    assert!(codes(&large, "cores --pairs=all --budget=20").contains(&"pairs-of-classes"));
    assert_eq!(names(&large, "cores --pairs=all --budget=20"), names(&large, "cores"));
    let takes = |machine: &Machine, line: &str| {
        let (points, budget, _) = planned(machine, line).unwrap();
        duration::estimate(machine, &points, &budget)
    };
    // Two CPUs take at most two seconds, and 64 CPUs a quarter of a minute.
    assert!(takes(&machine("one-node", None), "cores").1 < 2e9);
    let many = takes(&machine("two-sockets", Some("0-63")), "cores");
    assert!(many.0 > 4e9 && many.1 < 30e9, "{many:?}");
}

#[test]
fn a_short_budget_takes_rounds_first_and_then_pairs() {
    let many = machine("two-sockets", Some("0-63"));
    let every: Vec<Shared> = classes(&pairs(&many, "cores")).into_keys().collect();
    for (line, most) in [
        ("cores", 2016),
        ("cores --budget=2", 48),
        ("cores --budget=1", 48),
        ("cores --budget=0.5 --pairs=all", 48),
        ("cores --budget=0.1", 12),
        ("cores --budget=0.1 --pairs=classes", 12),
    ] {
        let (points, budget, codes) = planned(&many, line).unwrap();
        let found = pairs(&many, line);
        assert!(found.len() <= most && found.len() == points.len(), "{line}: {}", found.len());
        assert!(classes(&found).into_keys().eq(every.iter().copied()), "{line}: a class is missing");
        assert_eq!(codes.contains(&"pairs-of-classes"), most < 2016, "{line}");
        // The minimum number of windows fits into the budget.
        assert!(budget.fewest >= FEWEST_ROUNDS && budget.rounds == budget.fewest, "{line}");
        let least_ns = (points.len() * budget.fewest) as f64 * WINDOW_NS;
        assert!(least_ns <= options(line).visits_ns(), "{line}: {least_ns}");
        assert!(budget.spread_ns <= options(line).visits_ns(), "{line}");
    }
    // Named pairs are all measured, or the run is refused.
    assert!(planned(&many, "cores --budget=0.01 --pairs=0:1,0:2,0:3,0:4,0:5").is_err());
    let (points, _, codes) = planned(&many, "cores --budget=0.1 --pairs=0:1,0:2,0:3,0:4,0:5").unwrap();
    assert!(points.len() == 5 && !codes.contains(&"pairs-of-classes"));
}

#[test]
fn virtual_cpus_may_be_threads_unless_the_hypervisor_says_so() {
    let mut one = machine("one-node", None);
    one.processor.platform = Platform::Virtual;
    assert!(codes(&one, "cores").contains(&"vcpus-may-share-a-core"));
    let mut small = machine("two-small-sockets", None);
    small.processor.platform = Platform::Virtual;
    assert!(!codes(&small, "cores").contains(&"vcpus-may-share-a-core"));
    one.processor.platform = Platform::Hardware;
    assert!(!codes(&one, "cores").contains(&"vcpus-may-share-a-core"));
}

#[test]
fn states_are_those_of_a_pair_of_each_class_and_shared_ones_take_a_third_core() {
    let small = machine("two-small-sockets", None);
    let walks_of_small = walks(&small, "cores --states");
    let of = |walk: &(Point, Owned)| {
        let owner = walk.1.owner.map(|(owner, class)| format!("{owner} {}", class.word()));
        owner.unwrap_or_else(|| String::from("own"))
    };
    let mut owners: Vec<String> = walks_of_small.iter().map(of).collect();
    owners.dedup();
    assert_eq!(owners, ["own", "4 same core", "1 same L3", "2 other socket"]);
    // Two accesses; three states and two caches, on two nodes for a pair of different nodes.
    assert_eq!(walks_of_small.len(), 2 * (4 + 6 + 6 + 12));
    for (point, owned) in &walks_of_small {
        let core = |cpu: u32| small.sharing.core_of(cpu);
        assert_eq!(owned.third.is_some(), owned.state == State::Shared, "{owned:?}");
        if let (Some(third), Some((owner, _))) = (owned.third, owned.owner) {
            assert!(![core(point.cpu.0), core(owner.0)].contains(&core(third.0)));
        }
        let lines = point.size.0 / point.stride.0;
        let held = match owned.level {
            LineLevel::L1 => ..=512,
            LineLevel::L2 | LineLevel::Memory => ..=16384,
            LineLevel::L3 => ..=262_144,
        };
        assert!(held.contains(&lines), "{owned:?}: {lines}");
    }
    let two = machine("one-node", None);
    let walks_of_two = walks(&two, "cores --states");
    assert!(walks_of_two.iter().all(|(_, owned)| owned.third.is_none() && owned.state != State::Shared));
    assert_eq!(walks_of_two.len(), 2 * (4 + 4));
    assert!(walks(&two, "cores").is_empty());
}
