//! The truth beside what was reported: quantity, truth, reported, error.
//!
//! Decides what is right and what is wrong. Starts nothing.

mod curve;
mod order;
mod pages;

use super::{host, Boot, Clock, Experiment, Latency, Model};
use serde_json::Value;
use std::fmt;

/// A calibration may be off by this much; real ones are within some millionths.
const CLOCK_TOLERANCE: f64 = 0.001;
/// What a latency may be off by where nothing else is said.
const LATENCY_TOLERANCE: f64 = 0.02;
/// Single hops are timed one by one, in an emulator that is not.
const HOP_TOLERANCE: f64 = 0.03;
/// Three decimals of nanoseconds and six of gigahertz leave less.
const ROUNDING: f64 = 0.000_1;

/// One quantity.
#[derive(Clone, Debug)]
struct Row {
    quantity: String,
    truth: String,
    reported: String,
    error: String,
    good: bool,
}

/// A comparison.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<Row>);

impl Table {
    /// Compares what `boot` reported with `model`.
    pub fn compare(model: &Model, boot: &Boot) -> Table {
        let mut table = Table::default();
        let document = boot.console.json();
        let expected = if model.clock == Clock::None { 3 } else { 0 };
        table.word("exit status", expected, boot.console.exit_status().map_or("none".into(), text));
        if model.clock == Clock::None {
            let said = boot.console.lines().any(|line| line.starts_with("ERROR: no usable clock: "));
            table.word("the error `no usable clock`", given(true), given(said).into());
            table.word("a result", given(false), given(document.is_some()).into());
            return table;
        }
        let document = document.unwrap_or_default();
        table.word("loads without a place", 0, text(boot.unclaimed()));
        table.clock(model, &document);
        match model.experiment {
            Experiment::Matrix | Experiment::Distribution => table.pairs(model, boot, &document),
            Experiment::Curve => table.curve(model, &document),
            Experiment::Order => table.order(model, &document),
            Experiment::Pages => table.pages(model, &document),
        }
        table
    }

    /// Every pair of nodes.
    fn pairs(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let matrix = model.experiment == Experiment::Matrix;
        let pairs = if matrix { &document["node_pairs"] } else { &document["points"] };
        let pairs = pairs.as_array().map_or(&[][..], Vec::as_slice);
        self.word("pairs", model.latencies.len(), text(pairs.len()));
        for latency in &model.latencies {
            let pair = pairs.iter().find(|pair| pair["from"] == latency.from && pair["to"] == latency.to);
            if matrix {
                self.pair(model, boot, document, pair, latency);
            } else {
                self.hops(model, document, pair, latency);
            }
        }
        for (code, expected) in [
            ("looks-cached", Some(model.holding_level().is_some())),
            // A busy host disturbs a guest as well, and it is right to say so.
            ("disturbed", model.pause.map(|_| true)),
            ("no-tsc", Some(model.clock == Clock::Kernel)),
        ] {
            if let Some(expected) = expected {
                let warnings = document["warnings"].as_array();
                let found = warnings.is_some_and(|all| all.iter().any(|warning| warning["code"] == code));
                self.word(&format!("warning {code}"), given(expected), given(found).into());
            }
        }
    }

    /// Whether everything is right.
    pub fn is_good(&self) -> bool {
        self.0.iter().all(|row| row.good)
    }

    fn clock(&mut self, model: &Model, document: &Value) {
        let hertz = document["clock"]["frequency_hz"].as_f64();
        let reported = document["freq_ghz"].as_f64().or(hertz.map(|hertz| hertz / 1e9));
        if model.clock == Clock::Counter {
            self.figure("clock, GHz", host::frequency() / 1e9, reported, CLOCK_TOLERANCE);
        } else {
            self.word("clock, GHz", "none", reported.map_or("none".into(), text));
        }
    }

    /// The distribution of single hops.
    fn hops(&mut self, model: &Model, document: &Value, pair: Option<&Value>, latency: &Latency) {
        let name = format!("Node {} -> Node {}", latency.from, latency.to);
        let loads = model.sorted_loads(latency);
        let gigahertz = gigahertz(document);
        let ticks = |key: &str| Some(pair?.pointer(&format!("/distribution/{key}"))?.as_f64()? * gigahertz);
        for (key, percent) in [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99_9", 99.9)] {
            let truth = loads[slower_side(loads.len(), percent)];
            let reported = ticks(&format!("hop_percentiles_ns/{key}"));
            self.figure(&format!("{name}, {key}, ticks"), truth as f64, reported, HOP_TOLERANCE);
        }
        let mean = loads.iter().sum::<u64>() as f64 / loads.len() as f64;
        self.figure(&format!("{name}, mean, ticks"), mean, ticks("hop_mean_ns"), HOP_TOLERANCE);
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
        let truth = model.truth(latency) as f64;
        let tolerance = model.tolerance.unwrap_or(LATENCY_TOLERANCE);
        let (cycles, nanoseconds) = (number("cycles"), number("ns"));
        match document["freq_ghz"].as_f64() {
            Some(gigahertz) => {
                self.figure(&format!("{name}, cycles"), truth, cycles, tolerance);
                let follows = nanoseconds.zip(cycles).is_some_and(|(nanoseconds, cycles)| {
                    (nanoseconds * gigahertz / cycles - 1.0).abs() < ROUNDING
                });
                if !follows {
                    let expected = cycles.map_or(f64::NAN, |cycles| cycles / gigahertz);
                    self.figure(&format!("{name}, ns"), expected, nanoseconds, ROUNDING);
                }
            }
            None => {
                let truth = truth / host::frequency() * 1e9;
                self.figure(&format!("{name}, ns"), truth, nanoseconds, tolerance);
            }
        }
        if let Some(pause) = model.pause {
            // Some more may have been hit by what else runs on the host.
            let hit = (model.repetitions() * model.hops() / pause.every).min(model.repetitions());
            let reported = number("disturbed_trials").unwrap_or(0.0);
            let good = reported + 1.0 >= hit as f64;
            self.row(&format!("{name}, disturbed trials"), format!(">= {hit}"), text(reported), good);
        }
    }

    /// A number that may be off by `tolerance` (a fraction).
    fn figure(&mut self, quantity: &str, truth: f64, reported: Option<f64>, tolerance: f64) {
        let error = reported.map_or(f64::NAN, |reported| reported / truth - 1.0);
        self.0.push(Row {
            quantity: quantity.into(),
            truth: rounded(truth),
            reported: reported.map_or("none".into(), rounded),
            error: format!("{:+.3} %", error * 100.0),
            good: error.abs() <= tolerance,
        });
    }

    /// A fact that has to be as it is.
    fn word(&mut self, quantity: &str, truth: impl ToString, reported: String) {
        let truth = truth.to_string();
        let good = truth == reported;
        self.row(quantity, truth, reported, good);
    }

    fn row(&mut self, quantity: &str, truth: String, reported: String, good: bool) {
        self.0.push(Row { quantity: quantity.into(), truth, reported, error: String::new(), good });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "  {:<36}{:>12}{:>12}{:>12}", "quantity", "truth", "reported", "error")?;
        for Row { quantity, truth, reported, error, good } in &self.0 {
            let mark = if *good { "" } else { "  WRONG" };
            let line = format!("{quantity:<36}{truth:>12}{reported:>12}{error:>12}{mark}");
            write!(out, "\n  {}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Ticks in a nanosecond, as the report has them.
fn gigahertz(document: &Value) -> f64 {
    document["clock"]["frequency_hz"].as_f64().map_or(f64::NAN, |hertz| hertz / 1e9)
}

/// Where in the sorted hops a percentile stands; on a step between two of them, behind it.
fn slower_side(hops: usize, percent: f64) -> usize {
    // Tails are counted in whole hops, of which there are not 100 or 1000 times as many.
    const A_FEW: f64 = 2.0;
    (hops as f64 * percent / 100.0 + A_FEW) as usize
}

fn text(value: impl ToString) -> String {
    value.to_string()
}

fn given(is: bool) -> &'static str {
    if is {
        "given"
    } else {
        "none"
    }
}

/// Ticks and nanoseconds with one decimal, gigahertz with six.
fn rounded(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.6}")
    } else {
        format!("{value:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_good_within_the_tolerance() {
        let good = |reported| {
            let mut table = Table::default();
            table.figure("latency", 1000.0, reported, 0.02);
            table.is_good()
        };
        assert!(good(Some(1019.9)) && good(Some(980.1)));
        assert!(!good(Some(1020.1)) && !good(Some(979.9)) && !good(Some(f64::NAN)) && !good(None));
    }

    #[test]
    fn the_truth_on_a_step_is_the_slower_side() {
        let line = "latency=0:0:30000 tail=100:60000 tail=1000:140000";
        let model: Model = line.parse().unwrap();
        let loads = model.sorted_loads(&model.latencies[0]);
        let truth = |percent| loads[slower_side(loads.len(), percent)];
        assert_eq!([50.0, 95.0, 99.0, 99.9].map(truth), [30_000, 30_000, 90_000, 230_000]);
    }

    #[test]
    fn what_is_wrong_is_marked() {
        let mut table = Table::default();
        table.word("exit status", 0, text(0));
        table.figure("latency", 1000.0, Some(1500.0), 0.02);
        let printed = table.to_string();
        let lines: Vec<&str> = printed.lines().collect();
        assert!(!lines[1].contains("WRONG"), "{printed}");
        assert!(lines[2].contains("1000.0") && lines[2].contains("+50.000 %  WRONG"), "{printed}");
    }
}
