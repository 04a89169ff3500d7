//! The calibration of the levels good, fair and poor: whole runs on simulated machines of known latency.
//!
//! `make calibration` runs 2,000 of each machine, and writes the table into bin/README.md with `UPDATE_GOLDEN=1`.
//! An ordinary test runs a few.

mod contention;
mod core;
mod judged;
mod machines;
mod simulated;
mod table;

use std::boxed::Box;
use std::thread;
use std::vec::Vec;

use judged::Verdict;
use machines::{MODELS, Model, Wanted};

use crate::experiment::tests::machine;
use latency_engine::machine::{Machine, Platform};

/// Seeds of the runs that are used to choose rules, and of those that are reported.
const TUNING_SEEDS: u64 = 1 << 32;
const REPORTED_SEEDS: u64 = 3 << 32;

/// Returns the topology of every simulated machine: one node, a last-level cache of 32 MiB.
fn topology() -> Box<Machine> {
    let mut machine = machine("one-node", None);
    machine.processor.platform = Platform::Hardware;
    machine
}

/// Runs a model with each of `count` seeds, on two threads.
fn runs(model: &'static Model, from: u64, count: u64) -> Vec<Verdict> {
    let topology = topology();
    let part = |odd: u64| -> Vec<Verdict> {
        let mine = (0..count).filter(|index| index % 2 == odd);
        mine.map(|index| judged::run(&topology, (model.make)(&mut model.chance(from + index)))).collect()
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| part(1));
        let mut all = part(0);
        all.extend(other.join().unwrap());
        all
    })
}

fn asked(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().map_or(usual, |text| text.parse().unwrap())
}

/// `make calibration`: CALIBRATION_RUNS of each machine whose name contains CALIBRATION_ONLY;
/// CALIBRATION_SEEDS=tuning uses the seeds for choosing rules. With UPDATE_GOLDEN set the table goes to
/// bin/README.md.
#[test]
#[ignore = "minutes without optimisation: make calibration"]
fn calibration() {
    let count = asked("CALIBRATION_RUNS", 2000);
    let is_tuning = std::env::var("CALIBRATION_SEEDS").is_ok_and(|seeds| seeds == "tuning");
    let from = if is_tuning { TUNING_SEEDS } else { REPORTED_SEEDS };
    let only = std::env::var("CALIBRATION_ONLY").unwrap_or_default();
    let models = MODELS.iter().filter(|model| model.name.contains(&only));
    let rows: Vec<table::Row> = models
        .map(|model| {
            let row = table::Row::of(model, &runs(model, from, count));
            std::println!("{}", row.in_full());
            row
        })
        .collect();
    let table = table::markdown(&rows, count, is_tuning);
    std::println!("{table}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        assert_eq!(rows.len(), MODELS.len(), "the table in bin/README.md has all machines");
        let readme = table::in_readme(&table::readme(), &table);
        std::fs::write(table::README, readme).unwrap();
    }
}

/// Checks that few runs can make: the seeds are fixed, and so is the outcome.
#[test]
fn quiet_machines_are_good_and_faulty_ones_poor() {
    const RUNS: u64 = 8;
    for model in &MODELS {
        let row = table::Row::of(model, &runs(model, TUNING_SEEDS, RUNS));
        let [good, _, poor] = row.levels.map(|count| count as u64);
        let is_met = match model.wanted {
            Wanted::Good => good == RUNS,
            Wanted::Poor => poor >= RUNS - 1,
            // Nothing shows the neighbour.
            Wanted::Unseen => true,
            Wanted::NotPoor | Wanted::Undisturbed | Wanted::NeverUndisturbed => poor <= 1,
        };
        assert!(is_met && row.good_off == 0, "{}", row.in_full());
    }
}

#[test]
fn the_table_in_the_readme_has_every_machine() {
    let readme = table::readme();
    let (_, table, _) = table::parts(&readme);
    let named = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).skip(2);
    let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    assert_eq!(named.collect::<Vec<_>>(), names, "UPDATE_GOLDEN=1 make calibration writes the table");
}
