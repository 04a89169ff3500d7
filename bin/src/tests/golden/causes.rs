//! The signature of each cause, planted in the results of imaginary runs, and changes without a signature.

use std::boxed::Box;
use std::format;
use std::string::ToString;
use std::sync::OnceLock;
use std::vec::Vec;

use latency_core::{Estimate, Interval};

use super::findings::written;
use super::scene::{Scene, Trouble};
use super::scenes::plain;
use crate::analysis::cause::{CauseEvidence, Fact, SavedFacts, find, of_matrix};
use crate::analysis::comparison::{Comparison, Files};
use crate::record::columns::NS;
use crate::record::row::Row;
use crate::saved::Saved;

/// Changes: the facts that move, and the factor.
type Changes = [(&'static [Fact], f64)];

/// Reads the result of a scene.
fn saved(machine: &'static str, line: &str, troubles: &'static [Trouble]) -> Saved {
    let scene = Scene { troubles, ..plain(machine, format!("{line} --format=json")) };
    let text = written(&scene);
    Saved::parse(text.as_bytes(), None).unwrap_or_else(|_| panic!("{line}")).finish()
}

/// Returns the facts of a report of a machine.
fn whole() -> SavedFacts {
    static FACTS: OnceLock<SavedFacts> = OnceLock::new();
    *FACTS.get_or_init(|| {
        let mut all = SavedFacts::default();
        for line in ["curve", "pages", "order", "distribution", "window", "bandwidth", "loaded"] {
            // The machines differ in their nodes, and the first one counts.
            let machine = if line == "pages" { "two-sockets" } else { "one-node" };
            all.join(&saved(machine, line, &[]).facts);
        }
        all
    })
}

fn changed(facts: &SavedFacts, changes: &Changes) -> SavedFacts {
    let mut facts = *facts;
    for (moved, factor) in changes {
        for fact in *moved {
            let before = facts.get(*fact).unwrap_or_else(|| panic!("{fact:?} is unknown"));
            facts.put(*fact, before.scaled(*factor));
        }
    }
    facts
}

fn evidence(one: SavedFacts, other: SavedFacts) -> CauseEvidence {
    CauseEvidence { sides: [one, other], matrix: [None; 2], runs: 1, is_shared: false }
}

fn named(evidence: &CauseEvidence) -> &'static str {
    find(evidence).map_or("", |cause| cause.name())
}

use Fact::{
    Backward, Clock, HugeTranslation, Idle, IdleBeside, L1, L1Cycles, L2, L3, LargestPages, Median, Memory,
    PageLocal, Random, ReadBandwidth, ReorderBuffer, Sequential, SmallPages, SmallTranslation, Tail,
};

const CACHES: &[Fact] = &[L1, L2, L3];
const OF_MEMORY: &[Fact] =
    &[Memory, Median, Tail, Idle, IdleBeside, SmallPages, LargestPages, PageLocal, Random];

#[test]
fn each_cause_has_its_signature() {
    let before = whole();
    let causes: [(&str, &Changes); 14] = [
        ("core-clock", &[(CACHES, 1.25), (&[Clock], 0.8)]),
        ("core-clock", &[(CACHES, 1.25), (&[Memory], 1.25), (&[Clock], 0.8)]),
        ("core-clock", &[(CACHES, 0.8), (&[Clock], 1.25)]),
        ("memory", &[(OF_MEMORY, 1.3)]),
        ("memory", &[(OF_MEMORY, 0.7)]),
        ("small-pages", &[(&[SmallPages], 1.3)]),
        ("small-pages", &[(&[SmallPages], 1.2), (&[SmallTranslation], 1.5)]),
        ("translation", &[(&[SmallTranslation, HugeTranslation], 1.5), (&[SmallPages], 1.2)]),
        ("prefetchers", &[(&[Sequential, Backward], 20.0)]),
        ("tail", &[(&[Tail], 2.1)]),
        ("tail", &[(&[Tail], 0.4)]),
        ("channel", &[(&[ReadBandwidth], 0.875)]),
        ("channel", &[(&[ReadBandwidth], 4.0 / 3.0)]),
        ("sibling", &[(&[ReorderBuffer], 0.5)]),
    ];
    for (name, changes) in causes {
        let after = changed(&before, changes);
        assert_eq!(named(&evidence(before, after)), name, "{changes:?}");
        assert_eq!(named(&evidence(after, before)), name, "{changes:?} the other way");
    }
}

#[test]
fn a_change_without_a_signature_has_no_name() {
    let before = whole();
    let others: [&Changes; 14] = [
        &[],
        &[(CACHES, 1.25)],
        &[(&[Clock], 0.8)],
        &[(&[L2], 1.3)],
        &[(&[L3, Memory], 1.3)],
        &[(CACHES, 1.3), (OF_MEMORY, 1.3)],
        &[(&[Memory], 1.3)],
        &[(OF_MEMORY, 1.04)],
        &[(&[SmallPages, LargestPages], 1.3)],
        &[(&[Random, Sequential, Backward], 3.0)],
        &[(&[Median, Tail], 2.0)],
        &[(&[ReadBandwidth], 0.8)],
        &[(&[ReorderBuffer], 0.8)],
        &[(&[SmallTranslation], 0.5), (&[HugeTranslation], 2.0)],
    ];
    for changes in others {
        assert_eq!(named(&evidence(before, changed(&before, changes))), "", "{changes:?}");
    }
    // Two causes at a time.
    let both = changed(&before, &[(&[Tail], 2.5), (&[Sequential, Backward], 20.0)]);
    assert_eq!(named(&evidence(before, both)), "");
}

#[test]
fn one_number_names_no_cause() {
    let before = saved("one-node", "matrix", &[]).facts;
    let mut facts = SavedFacts::default();
    for fact in [Fact::Nodes, Fact::Cpus] {
        facts.put(fact, before.get(fact).unwrap());
    }
    for fact in OF_MEMORY.iter().chain(&[Sequential, SmallTranslation, ReorderBuffer, ReadBandwidth]) {
        let with = |value: f64| {
            let mut facts = facts;
            let interval = Some(Interval { low: value * 0.99, high: value * 1.01 });
            facts.put(*fact, Estimate { value, interval });
            facts
        };
        for factor in [0.1, 0.5, 0.875, 1.3, 2.0, 30.0] {
            assert_eq!(named(&evidence(with(100.0), with(100.0 * factor))), "", "{fact:?} {factor}");
        }
    }
}

#[test]
fn evidence_without_an_interval_is_none() {
    let before = whole();
    for fact in [Median, Tail] {
        let mut after = changed(&before, &[(&[Tail], 2.5)]);
        after.put(fact, Estimate { interval: None, ..after.get(fact).unwrap() });
        assert_eq!(named(&evidence(before, after)), "", "{fact:?}");
    }
    // The upper end of the interval reaches the value before.
    let (mut after, value) = (before, before.get(Tail).unwrap().value);
    after.put(
        Tail,
        Estimate { value: value * 2.5, interval: Some(Interval { low: value, high: value * 3.0 }) },
    );
    assert_eq!(named(&evidence(before, after)), "");
}

#[test]
fn neighbours_may_move_memory_and_not_prefetchers() {
    let before = whole();
    let shared = |changes: &Changes, runs| {
        named(&CauseEvidence { is_shared: true, runs, ..evidence(before, changed(&before, changes)) })
    };
    assert_eq!(shared(&[(OF_MEMORY, 1.4)], 5), "");
    assert_eq!(shared(&[(OF_MEMORY, 1.7)], 1), "");
    assert_eq!(shared(&[(OF_MEMORY, 1.7)], 3), "memory");
    assert_eq!(shared(&[(&[Tail], 1.4)], 5), "");
    assert_eq!(shared(&[(&[ReadBandwidth], 0.875)], 5), "");
    assert_eq!(shared(&[(&[Sequential, Backward], 20.0)], 1), "prefetchers");
}

#[test]
fn another_number_of_nodes_is_a_cause_if_the_cpus_are_the_same() {
    let before = whole();
    let named = |nodes: f64, cpus: f64, others: f64| {
        let changes: &Changes =
            &[(&[Fact::Nodes], nodes), (&[Fact::Cpus], cpus), (&[Sequential, Backward], others)];
        named(&evidence(before, changed(&before, changes)))
    };
    assert_eq!([named(2.0, 1.0, 1.0), named(0.5, 1.0, 20.0)], ["node-count"; 2]);
    assert_eq!([named(2.0, 2.0, 1.0), named(2.0, 2.0, 20.0)], [""; 2]);
}

#[test]
fn the_tlb_tells_if_huge_pages_are_small() {
    let [bare, guest] =
        [&[][..], &[Trouble::Virtual]].map(|troubles| saved("one-node", "matrix", troubles).facts);
    let flags = [bare, guest].map(|facts| facts.get(Fact::TlbPages).map(|flag| flag.value));
    assert_eq!(flags, [Some(1.0), Some(0.5)]);
    let shown = |one, other| find(&evidence(one, other)).unwrap().to_string();
    assert!(shown(bare, guest).contains("the TLB now treats huge pages as 4 KiB ones"));
    assert!(shown(guest, bare).contains("the TLB no longer treats huge pages as 4 KiB ones"));
}

#[test]
fn remote_accesses_alone_are_a_cause() {
    let before = saved("four-nodes", "matrix", &[]);
    let named = |factor: &dyn Fn(u32, u32) -> f64| {
        let moved = |row: &Row| {
            let (from, to) = row.pair().unwrap();
            row.clone().with(NS, row.time().scaled(factor(from, to)))
        };
        let after: Vec<Row> = before.rows.iter().map(moved).collect();
        let after: &'static [Row] = Box::leak(after.into());
        let comparison = Comparison::new(&Files { rows: [before.rows, after].into(), ours: 1 }, 0.03);
        let matrix = [true, false].map(|local| of_matrix(comparison.pairs(), "matrix", local));
        named(&CauseEvidence { matrix, ..evidence(before.facts, before.facts) })
    };
    assert_eq!(named(&|from, to| if from == to { 1.0 } else { 1.4 }), "remote");
    assert_eq!(named(&|from, to| if from == to { 1.0 } else { 0.7 }), "remote");
    assert_eq!(named(&|_, _| 1.4), "");
    assert_eq!(named(&|_, to| if to == 1 { 1.4 } else { 1.0 }), "");
    assert_eq!(named(&|from, to| if from == to || to == 2 { 1.0 } else { 1.4 }), "");
}

#[test]
fn a_cause_is_shown_with_its_factor_and_a_check() {
    let before = whole();
    let shown = |changes: &Changes| find(&evidence(before, changed(&before, changes))).unwrap().to_string();
    assert_eq!(
        shown(&[(CACHES, 1.25), (&[Memory], 1.25), (&[Clock], 0.8)]),
        "Looks like the core clock: the core's caches are slower by 25.0% in ns, the same in core cycles; check with \
         `turbostat` or `cpupower frequency-info`"
    );
    assert!(shown(&[(&[ReadBandwidth], 0.875)]).contains("bandwidth differs by a factor of 0.875"));
    assert!(shown(&[(&[ReadBandwidth], 0.875)]).contains("one channel less"));
    let busy = changed(&before, &[(&[ReorderBuffer], 0.5)]);
    assert!(find(&evidence(before, busy)).unwrap().to_string().contains("is now busy"));
    assert!(find(&evidence(busy, before)).unwrap().to_string().contains("is no longer busy"));
}

#[test]
fn the_facts_of_several_runs_are_means_within_all_intervals() {
    let one = |value: f64, known: bool| {
        let mut facts = SavedFacts::default();
        let interval = known.then_some(Interval { low: value - 1.0, high: value + 1.0 });
        facts.put(L1, Estimate { value, interval });
        facts.put(L1Cycles, Estimate { value, interval: None });
        facts
    };
    let of = |runs: &[SavedFacts]| SavedFacts::of_runs(&mut runs.iter());
    let all = of(&[one(10.0, true), one(14.0, true), one(12.0, true)]);
    let interval = Some(Interval { low: 9.0, high: 15.0 });
    assert_eq!(all.get(L1), Some(Estimate { value: 12.0, interval }));
    assert_eq!(all.get(L1Cycles), Some(Estimate::exact(12.0)));
    assert_eq!(of(&[one(10.0, true), one(11.0, false)]).get(L1).unwrap().interval, None);
    assert!(of(&[SavedFacts::default(), one(10.0, true)]).get(L1).is_some());
    assert!(of(&[]).get(L1).is_none());
}
