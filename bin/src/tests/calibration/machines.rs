//! The simulated machines of the calibration.

use latency_core::Bytes;

use super::contention::{Chance, Contention};
use super::core::Core;
use super::judged::{Host, Told};
use super::simulated::{Absences, Simulated, cache_of};

/// The working set of the default run.
const SIZE: Bytes = Bytes(256 << 20);
/// Command lines: the default, and one that gives the working set.
const DEFAULT: &str = "matrix";
const GIVEN: &str = "matrix --size=256M";

/// The expected verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Nearly always good.
    Good,
    /// Hardly ever poor, with an interval that covers the truth.
    NotPoor,
    /// Nearly always poor.
    Poor,
    /// Nearly always a steady value; and its opposite, never one.
    Undisturbed,
    NeverUndisturbed,
    /// Whatever is found: neighbours that cannot be seen.
    Unseen,
}

/// A kind of machine.
pub struct Model {
    /// Its description in the table.
    pub name: &'static str,
    /// Its expected verdict.
    pub wanted: Wanted,
    /// Draws a machine.
    pub make: fn(&mut Chance) -> Host,
    stream: u64,
}

impl Model {
    /// Returns the random numbers of the run with a seed.
    pub fn chance(&self, seed: u64) -> Chance {
        Chance::new(seed, self.stream)
    }
}

const fn model(stream: u64, name: &'static str, wanted: Wanted, make: fn(&mut Chance) -> Host) -> Model {
    Model { name, wanted, make, stream }
}

/// All machines.
pub static MODELS: [Model; 25] = [
    model(1, "quiet", Wanted::Good, quiet),
    model(2, "neighbours that add 10%", Wanted::NotPoor, |chance| neighbours(chance, 0.1)),
    model(3, "neighbours that add 30%", Wanted::NotPoor, |chance| neighbours(chance, 0.3)),
    model(4, "neighbours that add 60%", Wanted::NotPoor, |chance| neighbours(chance, 0.6)),
    model(5, "bursts: a tenth of the time 5 to 30% more", Wanted::NotPoor, |chance| {
        let contention =
            Contention::on_and_off(chance, [2.7, 0.3], 0.0, 0.0, |chance| chance.between(0.05, 0.3));
        plain(chance, contention)
    }),
    model(6, "two states: a third of the time 12% more", Wanted::NotPoor, |chance| {
        let contention = Contention::on_and_off(chance, [0.65, 0.35], 0.0, 0.0, |_| 0.12);
        plain(chance, contention)
    }),
    model(7, "hidden cache, size by default", Wanted::Poor, |chance| cached(chance, DEFAULT)),
    model(8, "hidden cache, size given", Wanted::Poor, |chance| cached(chance, GIVEN)),
    model(9, "hidden cache, size given, neighbours that add 30%", Wanted::Poor, |chance| {
        let mut host = cached(chance, GIVEN);
        host.simulated.contention = Contention::neighbours(chance, 0.3);
        host
    }),
    model(10, "huge pages in part", Wanted::Poor, |chance| {
        let share = chance.between(0.5, 0.99);
        huge_pages(chance, Some([share; 2]))
    }),
    model(11, "huge pages split while measured", Wanted::Poor, |chance| {
        let share = chance.between(0.0, 0.9);
        huge_pages(chance, Some([1.0, share]))
    }),
    model(12, "kind of pages not told", Wanted::Poor, |chance| huge_pages(chance, None)),
    model(13, "node of pages not told", Wanted::Poor, |chance| {
        faulty(quiet(chance), |host| host.told.nodes = false)
    }),
    model(14, "pages moved to another node", Wanted::Poor, |chance| {
        let pages = chance.between_orders(1.0, 30_000.0) as u64;
        faulty(quiet(chance), |host| host.told.elsewhere[1] = pages)
    }),
    model(15, "thread moved to another CPU", Wanted::Poor, |chance| {
        let moves = chance.between_orders(1.0, 100.0) as u64;
        faulty(quiet(chance), |host| host.moves = moves)
    }),
    model(16, "L1 hit of no whole number of cycles", Wanted::Poor, |chance| {
        let off = chance.between(0.08, 0.5);
        faulty(quiet(chance), |host| host.l1_cycles = 4.0 + off)
    }),
    model(17, "multiplication of no whole number of additions", Wanted::Poor, |chance| {
        let off = chance.between(0.3, 0.5);
        faulty(quiet(chance), |host| host.core.multiplication_cycles = 3.0 - off)
    }),
    model(18, "new memory 5 to 30% off", Wanted::Poor, |chance| {
        let off = chance.between(0.05, 0.3);
        let sign = if chance.is(0.5) { 1.0 } else { -1.0 };
        faulty(quiet(chance), |host| host.simulated.factors[1] += sign * off)
    }),
    model(19, "other work on half of the CPU", Wanted::Poor, |chance| {
        faulty(quiet(chance), |host| host.simulated.absences[0] = Absences::of(0.5, 3.5e6, true))
    }),
    model(20, "clock that steps by 10 to 100 ms", Wanted::Poor, |chance| {
        let count = 1 + (chance.uniform() * 3.0) as usize;
        let steps = (0..count).map(|_| {
            let by = chance.between_orders(10e6, 100e6);
            (chance.between(0.5e9, 5e9), if chance.is(0.5) { by } else { -by })
        });
        let steps = steps.collect();
        faulty(quiet(chance), |host| host.simulated.steps = steps)
    }),
    model(21, "neighbour on for 7 of 10 s", Wanted::Undisturbed, |chance| {
        let adds = chance.between(0.15, 0.6);
        let contention = Contention::periodic(chance, 10.0, 7.0, adds);
        plain(chance, contention)
    }),
    model(22, "neighbour that never stops", Wanted::NeverUndisturbed, |chance| {
        let adds = chance.between(0.15, 0.6);
        let contention = Contention::never_quiet(chance, adds);
        plain(chance, contention)
    }),
    model(23, "constant neighbour, 30%, rounds scatter 0.5%", Wanted::Unseen, |chance| {
        constant(chance, 0.005)
    }),
    model(24, "constant neighbour, 30%, rounds scatter 1%", Wanted::Unseen, |chance| constant(chance, 0.01)),
    model(25, "constant neighbour, 30%, rounds scatter 1.5%", Wanted::Unseen, |chance| {
        constant(chance, 0.015)
    }),
];

/// Makes a machine without faults: memory of 70 to 130 ns, which differs by 0.3% elsewhere.
fn plain(chance: &mut Chance, contention: Contention) -> Host {
    let memory_ns = chance.between(70.0, 130.0);
    let mut simulated = Simulated::new(chance, memory_ns, contention);
    simulated.factors = [1.0, 1.0 + 0.003 * chance.normal()].into();
    simulated.absences[0] = Absences::of(chance.between(0.0, 0.003), 0.2e6, true);
    let l1_cycles = 4.0 + 0.005 * chance.normal();
    let core = Core::new(chance.of_part(3), chance.of_part(4));
    Host { simulated, line: DEFAULT, told: Told::ALL, l1_cycles, core, moves: 0, is_faulty: false }
}

fn quiet(chance: &mut Chance) -> Host {
    let contention = Contention::quiet(chance);
    plain(chance, contention)
}

/// Makes a machine beside a neighbour that adds 30% all the time.
fn constant(chance: &mut Chance, rounds_scatter: f64) -> Host {
    let contention = Contention::constant(chance, 0.3, rounds_scatter);
    plain(chance, contention)
}

/// Makes a virtual machine beside others: half of them have time stolen, up to 8%.
fn neighbours(chance: &mut Chance, mean: f64) -> Host {
    let contention = Contention::neighbours(chance, mean);
    let mut host = plain(chance, contention);
    if chance.is(0.5) {
        host.simulated.absences[1] = Absences::of(chance.between(0.0, 0.08), 2e6, false);
    }
    host
}

fn faulty(mut host: Host, fault: impl FnOnce(&mut Host)) -> Host {
    fault(&mut host);
    Host { is_faulty: true, ..host }
}

/// Makes a machine with an unreported cache, which serves 10 to 60% of the loads of the usual working set.
fn cached(chance: &mut Chance, line: &'static str) -> Host {
    let cache = cache_of(chance.between(0.1, 0.6), SIZE);
    let mut host = quiet(chance);
    host.simulated.cache = Some(cache);
    // By default the working set can be doubled, which avoids the fault.
    Host { line, is_faulty: line == GIVEN, ..host }
}

/// Makes a machine on which a load on a small page is 11 to 50% slower.
fn huge_pages(chance: &mut Chance, shares: Option<[f64; 2]>) -> Host {
    let small = chance.between(0.11, 0.5);
    let share = shares.map_or(0.5, |[before, after]| (before + after) / 2.0);
    faulty(quiet(chance), |host| {
        host.told.huge = shares;
        host.simulated.factors.iter_mut().for_each(|factor| *factor *= 1.0 + small * (1.0 - share));
    })
}
