//! Lines from core to core: the cost of an access by class, operation and state, and the report of `cores`.

use latency_tests::attempts::{retried, retried_where_quiet};
use latency_tests::lab::load::{Loaded, nanoseconds};
use latency_tests::lab::ready;
use latency_tests::others::{Others, QUIET};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

use super::{model, number, records};

/// Returns the deviation of a latency from `ticks`, as a fraction.
fn off(record: &Value, key: &str, ticks: u64) -> f64 {
    number(record, key) / nanoseconds(ticks as f64) - 1.0
}

#[test]
fn pairs_have_the_cost_of_their_class_and_a_slow_line_is_found() {
    const TEST: &str = "pairs of cores";
    const TOLERANCE: f64 = 0.05;
    /// Extra ticks of one of the 16 lines. Each is in a separate page; every other page has a line.
    const SLOW: u64 = 60_000;
    if !ready(TEST) {
        return;
    }
    // Long enough to make polls, of 1000 ticks, and the emulator's time for their instructions, 2500 on a
    // busy host, a small part. The other side's load hides the transfer of a line.
    let [near, far] = [80_000, 180_000];
    let model = model(&format!(
        "nodes=2 cpus=2 memory=128M level=32K:8:300 latency=0:0:1000,0:1:1000,1:0:1000,1:1:1000 \
         cluster=near:0-1 cluster=near:2-3 cost=near:*:*:40000 cost=near:load:*:{near} \
         cost=far:*:*:100000 cost=far:load:*:{far} cost=own:*:*:1000 cost=memory:*:*:120000 slowline=32:4:{SLOW}"
    ));
    let runs = ["cores --json --progress=never --method=read-cas --budget=6"];
    // Another machine on the same host lengthens a few transfers, of other lines in each boot, and no program here sees
    // it. What the report adds to the model it adds in every boot: so the least of all boots is judged.
    let least = Mutex::new([[f64::INFINITY; 2]; 6]);
    retried_where_quiet(TEST, |attempt| {
        let others = Others::begin();
        let boot = Loaded::boot(&model, runs).unwrap_or_else(|reason| panic!("{TEST}: {reason}"));
        let mut table = format!("{TEST}, boot {attempt}, {:.0?}\n", boot.consoles[0].elapsed);
        let (mut is_good, mut is_slow) = (true, false);
        let document = boot.document(0);
        let pairs = records(&document, "/rows");
        assert_eq!(pairs.len(), 6);
        for (pair, least) in pairs.iter().zip(least.lock().unwrap_or_else(PoisonError::into_inner).iter_mut())
        {
            let [a, b] = ["initiator_cpu", "target_cpu"].map(|key| pair[key].as_u64().unwrap_or(u64::MAX));
            let (ticks, class) = if a / 2 == b / 2 { (near, "same node") } else { (far, "same socket") };
            let [median, most] = [off(pair, "ns", ticks), off(pair, "max_line_ns", ticks + SLOW)];
            let good = pair["class"] == class && median >= -TOLERANCE && most >= -TOLERANCE;
            *least = [least[0].min(median), least[1].min(most)];
            let slow = least.iter().any(|off| *off > TOLERANCE);
            (is_good, is_slow) = (is_good && good, is_slow || slow);
            table += &format!(
                "  {a} and {b}, {}: {:+.2} %, slowest line {:+.2} %{}\n",
                pair["class"],
                median * 100.0,
                most * 100.0,
                if good && !slow { "" } else { "  WRONG" }
            );
        }
        println!("{table}");
        // If the host does not run one of two virtual CPUs that hand lines to each other, the other one waits for it.
        let share = others.share();
        assert!(is_good && (!is_slow || share > QUIET), "{table}");
        (!is_slow)
            .then_some(())
            .ok_or(format!("other programs used {:.0} % of the CPUs\n{table}", share * 100.0))
    });
}

#[test]
fn lines_cost_what_their_state_was_delivered_with() {
    const TEST: &str = "states of lines";
    const TOLERANCE: f64 = 0.01;
    /// By state, ticks to load a line and to take it. All differ, so the modelled time of a lap tells the state of its
    /// lines.
    const COSTS: [(&str, u64, u64); 3] =
        [("exclusive", 3_000, 6_000), ("modified", 4_500, 9_000), ("shared", 18_000, 30_000)];
    if !ready(TEST) {
        return;
    }
    let mut words = String::from(
        "cpus=3 memory=192M level=32K:8:300 latency=0:0:1000 cost=own:*:*:500 cost=memory:*:*:1000 cost=far:store:*:3000",
    );
    for (state, load, exchange) in COSTS {
        let letter = &state[..1];
        words += &format!(" cost=far:load:{letter}:{load} cost=far:rmw:{letter}:{exchange}");
    }
    let model = model(&words);
    let runs = ["cores --json --progress=never --pairs=0:1 --states --budget=2"];
    retried(TEST, |attempt| {
        let boot = Loaded::boot(&model, runs).unwrap_or_else(|reason| panic!("{TEST}: {reason}"));
        let mut table = format!("{TEST}, boot {attempt}, {:.0?}\n", boot.consoles[0].elapsed);
        let document = boot.document(0);
        let states = records(&document, "/rows");
        let mut is_good = true;
        for operation in ["read", "own"] {
            for (level, (state, load, exchange)) in
                ["L1", "L2"].into_iter().flat_map(|level| COSTS.map(|costs| (level, costs)))
            {
                let of = |record: &&Value| {
                    record["target_cpu"] == 1
                        && record["op"] == operation
                        && record["state"] == state
                        && record["level"] == level
                };
                let name = format!("{operation} {state} in {level}");
                let record = states.iter().find(of).unwrap_or_else(|| panic!("{name}: no row"));
                let asked = if operation == "read" { load } else { exchange };
                let [lines, trials] = ["lines", "trials"].map(|key| record[key].as_u64().unwrap_or(0));
                let truth = boot.log.laps(0, lines, asked, trials as usize);
                let truth = truth.unwrap_or_else(|| {
                    panic!("{name}: {trials} laps, and fewer had all {lines} lines in this state")
                });
                let found = number(record, "ns");
                let [asked, low, delivered, high] =
                    [truth.asked, truth.low, truth.delivered, truth.high].map(nanoseconds);
                let good = (low * (1.0 - TOLERANCE)..=high * (1.0 + TOLERANCE)).contains(&found);
                is_good &= good;
                table += &format!(
                    "  {name}: {found:.0} ns, asked {asked:.0}, delivered {delivered:.0} ({low:.0} to {high:.0}), {:+.2} %{}\n",
                    (found / delivered - 1.0) * 100.0,
                    if good { "" } else { "  WRONG" }
                );
            }
        }
        println!("{table}");
        assert!(is_good, "{table}");
    });
}
