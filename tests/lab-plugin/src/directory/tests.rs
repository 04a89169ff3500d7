//! Transfers of lines from CPU to CPU, and the cost of each step.

use super::*;
use Operation::{Exchange, Load, Store};
use State::{Exclusive, Invalid, Modified, Shared};

fn cost(class: &str, operation: Option<Operation>, state: Option<State>, ticks: u64) -> Cost {
    Cost { class: (class != "*").then(|| class.to_owned()), operation, state, ticks }
}

/// Returns the rules for four CPUs in two clusters.
fn rules() -> Rules {
    let cluster = |cpus| Cluster { class: "near".to_owned(), cpus };
    Rules {
        clusters: vec![cluster(0..=1), cluster(2..=3)],
        costs: vec![
            cost("own", None, None, 5),
            cost("near", None, None, 50),
            cost("near", Some(Load), Some(Modified), 60),
            cost("far", None, None, 200),
            cost("far", Some(Exchange), None, 250),
            cost("memory", None, None, 900),
        ],
        slow: None,
    }
}

fn directory() -> Directory {
    Directory::new(&rules(), 4).unwrap()
}

/// Returns the class, state and cost of an access to the only line.
fn access(directory: &Directory, cpu: usize, operation: Operation) -> (String, State, u64) {
    let access = directory.access(cpu, 0x5000, 0x5000, operation).unwrap();
    (directory.classes[access.class].clone(), access.state, access.ticks)
}

#[test]
fn a_line_moves_from_memory_to_each_cpu_that_uses_it() {
    let directory = directory();
    for (cpu, operation, class, state, ticks) in [
        (0, Load, "memory", Invalid, 900),
        (0, Load, "own", Exclusive, 5),
        (1, Load, "near", Exclusive, 50),
        (0, Load, "own", Shared, 5),
        (2, Load, "far", Shared, 200),
        (3, Load, "near", Shared, 50),
        (0, Store, "far", Shared, 200),
        (0, Exchange, "own", Modified, 5),
        (1, Load, "near", Modified, 60),
        (1, Exchange, "near", Shared, 50),
        (2, Exchange, "far", Modified, 250),
        (2, Store, "own", Modified, 5),
    ] {
        let expected = (class.to_owned(), state, ticks);
        assert_eq!(access(&directory, cpu, operation), expected, "{cpu} {operation:?}");
    }
    assert_eq!(directory.access(4, 0, 0, Load), None);
}

#[test]
fn a_store_to_an_exclusive_line_makes_it_modified() {
    let directory = directory();
    access(&directory, 3, Load);
    assert_eq!(access(&directory, 3, Store), ("own".to_owned(), Exclusive, 5));
    assert_eq!(access(&directory, 2, Load), ("near".to_owned(), Modified, 60));
}

#[test]
fn a_flushed_line_comes_from_memory() {
    let directory = directory();
    assert_eq!(access(&directory, 0, Store).2, 900);
    directory.forget(0x503f);
    assert_eq!(access(&directory, 0, Store), ("memory".to_owned(), Invalid, 900));
    directory.forget(0x5040);
    assert_eq!(access(&directory, 0, Store).2, 5);
}

#[test]
fn slow_pages_are_periodic_and_slow_only_for_transfers() {
    let slow = Some(SlowLine { every: 16, index: 3, ticks: 1000 });
    let directory = Directory::new(&Rules { slow, ..rules() }, 4).unwrap();
    let ticks = |cpu, page: u64| directory.access(cpu, page << 12, page << 12, Store).unwrap().ticks;
    let first: Vec<u64> = (0..32).map(|page| ticks(0, page)).collect();
    assert!((0..32).all(|page| first[page] == if page % 16 == 3 { 1900 } else { 900 }), "{first:?}");
    assert_eq!((ticks(0, 3), ticks(1, 3), ticks(1, 4)), (5, 1050, 50));
}

#[test]
fn imposed_ticks_are_kept_by_class_operation_and_state() {
    let directory = directory();
    for imposed in [950, 1000] {
        let access = directory.access(0, 0, imposed << 12, Load).unwrap();
        directory.note(&access, imposed);
    }
    let tally = Tally { count: 2, asked: 1800, imposed: 1950 };
    assert_eq!(directory.tallies(), [("memory load i".to_owned(), tally)]);
    assert_eq!(tally.to_string(), "count 2; asked 1800; imposed 1950");
}

#[test]
fn missing_and_unknown_costs_are_named() {
    let error = |change: fn(&mut Rules)| {
        let mut rules = rules();
        change(&mut rules);
        Directory::new(&rules, 4).unwrap_err()
    };
    assert!(error(|rules| drop(rules.costs.remove(5))).ends_with("add cost=memory:load:i:TICKS"));
    assert!(error(|rules| drop(rules.costs.remove(0))).ends_with("add cost=own:load:m:TICKS"));
    assert!(error(|rules| rules.clusters.clear()).contains("class 'near'"));
    assert!(Directory::new(&rules(), 65).unwrap_err().contains("65 CPUs"));
    // Two CPUs of one cluster are never far.
    let near = Rules {
        costs: rules().costs.into_iter().filter(|cost| cost.ticks < 200 || cost.ticks == 900).collect(),
        ..rules()
    };
    assert!(Directory::new(&near, 2).is_ok() && Directory::new(&near, 3).is_err());
}
