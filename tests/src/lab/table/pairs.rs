//! Compares the values of pairs of nodes: batches of hops, and single hops.

use serde_json::Value;

use super::{CORE_CLOCK_TOLERANCE, COUNTER_OF_AARCH64, Table, gigahertz, given, text};
use crate::lab::delivered::{Source, Truth, Windows};
use crate::lab::{Boot, Clock, Experiment, Latency, Model, host};
use crate::vm::Architecture;

/// Default tolerance of a latency.
const LATENCY_TOLERANCE: f64 = 0.01;
/// Tolerance with the kernel's clock, which is read through an emulated device: this costs up to 1 % of a trial on a
/// busy host.
const KERNEL_CLOCK_TOLERANCE: f64 = 0.02;
/// Tolerance if latencies change, or if a hidden cache holds a part.
const TREACHEROUS_TOLERANCE: f64 = 0.02;
/// Maximum share of the timed hops that another node's cache may serve.
const SERVED_BY_ANOTHER: f64 = 0.01;
/// Warnings in the report of every guest.
const ALWAYS_SAID: [&str; 2] = ["emulated", "tsc-not-invariant"];
/// Tolerance of single hops, which are timed one by one, in an emulator with varying speed.
const HOP_TOLERANCE: f64 = 0.02;
/// Tolerance of rounding to three decimals of nanoseconds and six of gigahertz.
const ROUNDING: f64 = 0.000_1;
/// Minimum excess of a first lap over the others, as a fraction, that indicates a cache.
const FIRST_LAP: f64 = 0.2;
/// Tolerance of the number of hops beyond a percentile: hops in which the kernel was entered are missing, and
/// longer hops are missing more often.
const RANK_TOLERANCE: f64 = 0.1;

/// Returns a predicate for windows that were served like those of a pair in the steady state.
fn serve<'m>(model: &'m Model, latency: &'m Latency) -> impl Fn(&Windows) -> bool + 'm {
    let level = model.levels.iter().position(|level| Some(level) == model.holding_level());
    let source = level.map_or(Source::Memory(latency.from, latency.to), |level| Source::Level(level + 1));
    move |windows| windows.source == source
}

impl Table {
    /// Compares every pair of nodes.
    pub(super) fn pairs(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let matrix = model.experiment == Experiment::Matrix;
        let rows = document["rows"].as_array().into_iter().flatten();
        let pairs: Vec<&Value> = rows.filter(|row| row["percentile"].is_null()).collect();
        self.word("pairs", model.latencies.len(), text(pairs.len()));
        for latency in &model.latencies {
            let pair = pairs
                .iter()
                .copied()
                .find(|pair| pair["initiator_node"] == latency.from && pair["target_node"] == latency.to);
            if matrix {
                self.pair(model, boot, document, pair, latency);
            } else {
                self.hops(model, boot, document, latency);
            }
        }
        if model.last_level.is_some() {
            let (hops, served) = boot.served_by_another_node(model.hops());
            let good = hops > 0 && (served as f64) < SERVED_BY_ANOTHER * hops as f64;
            let limit = format!("< {:.0} %", SERVED_BY_ANOTHER * 100.0);
            self.row("timed hops from the other cache", limit, format!("{served}/{hops}"), good);
        }
        let warnings = document["warnings"].as_array();
        let is_given = |code: &str| warnings.is_some_and(|all| all.iter().any(|one| one["code"] == code));
        let mut warning = |code: &str, expected| {
            self.word(&format!("warning {code}"), given(expected), given(is_given(code)).into());
        };
        // A busy host also disturbs a guest, and the tool is right to warn about it. Its effect on a first
        // lap looks like a lap that misses the caches.
        if model.holding_level().is_some()
            || !model.latencies.iter().any(|latency| is_late(model, boot, latency))
        {
            warning("looks-cached", model.holding_level().is_some());
        }
        if model.pause.is_some() {
            warning("disturbed", true);
        }
        warning("no-tsc", model.clock == Clock::Kernel);
    }

    /// Compares the distribution of single hops.
    fn hops(&mut self, model: &Model, boot: &Boot, document: &Value, latency: &Latency) {
        let name = format!("Node {} -> Node {}", latency.from, latency.to);
        let asked = model.sorted_loads(latency);
        let gigahertz = gigahertz(document);
        let is_of_pair =
            |row: &&Value| row["initiator_node"] == latency.from && row["target_node"] == latency.to;
        let place = document["rows"].as_array().and_then(|rows| rows.iter().position(|row| is_of_pair(&row)));
        let mut all = document["distributions"].as_array().into_iter().flatten();
        let found = all.find(|found| place.is_some_and(|place| found["row"] == place));
        let ticks = |key: &str| Some(found?.pointer(&format!("/{key}"))?.as_f64()? * gigahertz);
        // The tool drops the hops that it considers interrupted; if it dropped tails, they would be missing
        // below.
        let end = ticks("interruptions/by_time/from_ns").unwrap_or(f64::INFINITY);
        let hops = boot.delivered.single_hops(model.truth(latency) as f64, end, serve(model, latency));
        for percent in [50.0, 95.0, 99.0, 99.9] {
            let (share, slack) = (percent / 100.0, RANK_TOLERANCE * (1.0 - percent / 100.0));
            // The tool drops more of the hops that a busy host made longer. The modelled value of a rank a
            // little below is therefore the minimum that it may report; on a step this is the faster side.
            let low = asked[((share - slack) * asked.len() as f64) as usize] as f64;
            let asked = asked[slower_side(asked.len(), percent)] as f64;
            let at = |share| hops.at(share).map_or(asked, |ticks| ticks.max(asked));
            let truth = Truth { asked, low, delivered: at(share), high: at(share + slack) };
            let mut rows = document["rows"].as_array().into_iter().flatten();
            let row = rows.find(|row| is_of_pair(row) && row["percentile"] == percent);
            let reported = row.and_then(|row| Some(row["ns"].as_f64()? * gigahertz));
            self.figure(&format!("{name}, p{percent}, ticks"), truth, reported, HOP_TOLERANCE);
        }
        let asked = asked.iter().sum::<u64>() as f64 / asked.len() as f64;
        let delivered = hops.mean();
        let truth = Truth { asked, low: asked, delivered, high: delivered.max(asked) };
        self.figure(&format!("{name}, mean, ticks"), truth, ticks("load_mean_ns"), HOP_TOLERANCE);
    }

    /// Compares a pair whose latency changes, or which a cache serves in part: its value has to be right, or
    /// the report has to doubt it.
    fn treacherous(
        &mut self,
        model: &Model,
        document: &Value,
        name: &str,
        truth: Truth,
        nanoseconds: Option<f64>,
    ) {
        let doubts = doubts(model, document);
        let tolerance = model.tolerance.unwrap_or(TREACHEROUS_TOLERANCE);
        let name = match model.architecture {
            Architecture::X86_64 => format!("{name}, cycles"),
            Architecture::Aarch64 => format!("{name}, ns"),
        };
        let truth = truth.times(self.unit.of_tick);
        let reported = nanoseconds.map(|nanoseconds| nanoseconds * self.unit.of_nanosecond);
        if doubts.is_empty() {
            return self.figure(&name, truth, reported, tolerance);
        }
        let off = (reported.unwrap_or(f64::NAN) / truth.delivered - 1.0) * 100.0;
        self.row(&name, format!("{:.1}", truth.asked), format!("{off:+.2} %"), true);
        self.row("said", "a doubt".into(), doubts.join(" "), true);
    }

    fn pair(
        &mut self,
        model: &Model,
        boot: &Boot,
        document: &Value,
        pair: Option<&Value>,
        latency: &Latency,
    ) {
        let Latency { from, to, .. } = *latency;
        let name = format!("Node {from} -> Node {to}");
        let number = |key: &str| pair.and_then(|pair| pair[key].as_f64());
        if boot.loads(from, to) == 0 {
            self.word(&format!("{name}, loads seen by the model"), "some", "none".into());
        }
        let serve = serve(model, latency);
        let trials = |windows: &Windows| windows.hops == model.hops() && serve(windows);
        let truth = boot.delivered.of_windows(model.truth(latency) as f64, trials);
        let usual = if model.clock == Clock::Kernel { KERNEL_CLOCK_TOLERANCE } else { LATENCY_TOLERANCE };
        let tolerance = model.tolerance.unwrap_or(usual);
        let (cycles, nanoseconds) = (number("cycles"), number("ns"));
        if model.is_treacherous() {
            return self.treacherous(model, document, &name, truth, nanoseconds);
        }
        if !boot.delivered.has(trials) {
            self.word(&format!("{name}, windows seen by the model"), "some", "none".into());
        }
        let counter = document["freq_ghz"].as_f64().filter(|_| model.architecture == Architecture::X86_64);
        match counter {
            Some(gigahertz) => {
                self.figure(&format!("{name}, cycles"), truth, cycles, tolerance);
                let follows = nanoseconds.zip(cycles).is_some_and(|(nanoseconds, cycles)| {
                    (nanoseconds * gigahertz / cycles - 1.0).abs() < ROUNDING
                });
                if !follows {
                    let expected = Truth::exact(cycles.map_or(f64::NAN, |cycles| cycles / gigahertz));
                    self.figure(&format!("{name}, ns"), expected, nanoseconds, ROUNDING);
                }
            }
            None => {
                let truth = truth.times(1e9 / host::frequency());
                self.figure(&format!("{name}, ns"), truth, nanoseconds, tolerance);
            }
        }
        if model.architecture == Architecture::Aarch64 {
            let of_tick = match document["cycles_of"].as_str() {
                Some("core") => 1.0 / model.cycle as f64,
                _ => COUNTER_OF_AARCH64 * 1e9 / host::frequency(),
            };
            let tolerance = tolerance + CORE_CLOCK_TOLERANCE;
            self.figure(&format!("{name}, cycles"), truth.times(of_tick), cycles, tolerance);
        }
        if let Some(pause) = model.pause {
            // Other work on the host may have disturbed some more.
            let hit = (model.repetitions() * model.hops() / pause.every).min(model.repetitions());
            let reported = number("interrupted").unwrap_or(0.0);
            let good = reported + 1.0 >= hit as f64;
            self.row(&format!("{name}, disturbed trials"), format!(">= {hit}"), text(reported), good);
        }
    }
}

/// Returns the reasons for doubt in a report, without those of every guest. A busy host explains its own
/// warnings at any time, but never one about a cache.
fn doubts<'d>(model: &Model, document: &'d Value) -> Vec<&'d str> {
    let reasons = document["trust"]["reasons"].as_array().into_iter().flatten();
    let reasons = reasons.filter_map(Value::as_str).filter(|reason| !ALWAYS_SAID.contains(reason));
    reasons.filter(|reason| model.hidden.is_none() || reason.contains("cache")).collect()
}

/// Returns true if a walk longer than a trial was as slow as if it had missed a cache.
fn is_late(model: &Model, boot: &Boot, latency: &Latency) -> bool {
    let serve = serve(model, latency);
    let worst = boot.delivered.worst(|windows| windows.hops > model.hops() && serve(windows));
    worst > FIRST_LAP * model.truth(latency) as f64
}

/// Returns the index of a percentile in the sorted hops; on a step between two hops, the index behind it.
fn slower_side(hops: usize, percent: f64) -> usize {
    // A tail makes whole hops slower, while the number of hops is not an exact multiple of 100 or 1000.
    const A_FEW: f64 = 2.0;
    (hops as f64 * percent / 100.0 + A_FEW) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_on_a_step_is_the_slower_side() {
        let line = "latency=0:0:30000 tail=100:60000 tail=1000:140000";
        let model: Model = line.parse().unwrap();
        let loads = model.sorted_loads(&model.latencies[0]);
        let truth = |percent| loads[slower_side(loads.len(), percent)];
        assert_eq!([50.0, 95.0, 99.0, 99.9].map(truth), [30_000, 30_000, 90_000, 230_000]);
    }

    #[test]
    fn the_windows_of_a_pair_come_from_the_level_that_holds_it() {
        let windows = |source| Windows { source, misses: 0, hops: 9, tail: 0, excess: vec![] };
        let model = |words: &str| format!("latency=0:0:30000 {words}").parse::<Model>().unwrap();
        let (memory, cached) = (model("level=1M:8:900"), model("level=1M:8:900 level=16M:8:3000"));
        assert!(serve(&memory, &memory.latencies[0])(&windows(Source::Memory(0, 0))));
        assert!(serve(&cached, &cached.latencies[0])(&windows(Source::Level(2))));
        assert!(!serve(&cached, &cached.latencies[0])(&windows(Source::Level(1))));
    }
}
