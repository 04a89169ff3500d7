//! The truth and the reported values: quantity, asked, delivered, reported, error.
//!
//! This module only compares; it starts nothing.

mod curve;
mod order;
mod pages;
mod pairs;
mod residency;

use super::delivered::Truth;
use super::plugin::ADDITIONS;
use super::{Boot, Clock, Experiment, Model, host};
use crate::run::ERROR;
use crate::vm::Architecture;
use serde_json::Value;
use std::fmt;

/// Tolerance of the counter's frequency; real calibrations are within some millionths.
const CLOCK_TOLERANCE: f64 = 0.001;
/// Frequency of the counter that QEMU gives to guests of aarch64, in GHz.
const COUNTER_OF_AARCH64: f64 = 0.0625;
/// Tolerance of the core's clock. It is larger, because arithmetic is timed only for some microseconds.
const CORE_CLOCK_TOLERANCE: f64 = 0.01;

/// Minimum number of trials for which the core's clock is checked. It is read twice per trial. The plugin
/// does not compensate the reading, and a busy host spoils some: with one or two trials in a round, the
/// others cannot outvote them.
const FEWEST_CLOCKED: u64 = 60;

/// A row of the table: one quantity.
#[derive(Clone, Debug)]
struct Row {
    quantity: String,
    asked: String,
    delivered: String,
    reported: String,
    error: String,
    good: bool,
}

/// A unit in which times are compared.
#[derive(Clone, Copy, Debug)]
struct Unit {
    name: &'static str,
    /// Units of a tick of the host's counter.
    of_tick: f64,
    /// Units of a reported nanosecond.
    of_nanosecond: f64,
}

impl Unit {
    /// Returns the unit for reports of `model`'s machine: ticks of the counter, by the frequency in the report. On
    /// aarch64 the guest's counter is not the host's and is a hundred times slower, so the unit is the nanosecond.
    fn of(model: &Model, document: &Value) -> Unit {
        match model.architecture {
            Architecture::X86_64 => Unit { name: "ticks", of_tick: 1.0, of_nanosecond: gigahertz(document) },
            Architecture::Aarch64 => {
                Unit { name: "ns", of_tick: 1e9 / host::frequency(), of_nanosecond: 1.0 }
            }
        }
    }
}

/// A comparison.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Row>,
    unit: Unit,
}

impl Table {
    /// Compares the report of `boot` with `model`.
    pub fn compare(model: &Model, boot: &Boot) -> Table {
        let document = boot.console.json();
        let mut table =
            Table { rows: Vec::new(), unit: Unit::of(model, document.as_ref().unwrap_or(&Value::Null)) };
        let expected = if model.clock == Clock::None { 3 } else { 0 };
        table.word("exit status", expected, boot.console.exit_status().map_or("none".into(), text));
        if model.clock == Clock::None {
            let said =
                boot.console.lines().any(|line| line.starts_with(&format!("{ERROR}no usable clock: ")));
            table.word("the error `no usable clock`", given(true), given(said).into());
            table.word("a result", given(false), given(document.is_some()).into());
            return table;
        }
        let document = document.unwrap_or_default();
        table.word("loads without a place", 0, text(boot.unclaimed()));
        table.clock(model, boot, &document);
        match model.experiment {
            Experiment::Matrix | Experiment::Distribution => table.pairs(model, boot, &document),
            Experiment::Curve => table.curve(model, boot, &document),
            Experiment::Order => table.order(model, boot, &document),
            Experiment::Pages => table.pages(model, boot, &document),
            Experiment::Residency => table.residency(model, &document),
        }
        table
    }

    /// Returns true if everything is right.
    pub fn is_good(&self) -> bool {
        self.rows.iter().all(|row| row.good)
    }

    fn clock(&mut self, model: &Model, boot: &Boot, document: &Value) {
        let hertz = document["clock"]["frequency_hz"].as_f64();
        let reported = document["freq_ghz"].as_f64().or(hertz.map(|hertz| hertz / 1e9));
        if model.clock == Clock::Counter {
            let counter = match model.architecture {
                Architecture::X86_64 => host::frequency() / 1e9,
                Architecture::Aarch64 => COUNTER_OF_AARCH64,
            };
            self.figure("clock, GHz", Truth::exact(counter), reported, CLOCK_TOLERANCE);
            let mut points = document["rows"].as_array().into_iter().flatten();
            let core = points.find_map(|point| point["core_ghz"].as_f64());
            let asked = host::frequency() / 1e9 / model.cycle as f64;
            let imposed = boot.delivered.of_clock(asked, (ADDITIONS * model.cycle) as f64);
            if model.trials.is_none_or(|trials| trials >= FEWEST_CLOCKED) {
                self.figure("core clock, GHz", imposed, core, CORE_CLOCK_TOLERANCE);
            }
        } else {
            self.word("clock, GHz", "none", reported.map_or("none".into(), text));
        }
    }

    /// Adds a time: its truth in ticks of the host's counter, and the reported nanoseconds.
    fn time(&mut self, quantity: &str, truth: Truth, nanoseconds: Option<f64>, tolerance: f64) {
        let Unit { name, of_tick, of_nanosecond } = self.unit;
        let reported = nanoseconds.map(|nanoseconds| nanoseconds * of_nanosecond);
        self.figure(&format!("{quantity}, {name}"), truth.times(of_tick), reported, tolerance);
    }

    /// Adds a number, with a tolerance of `tolerance` (a fraction) of the delivered value.
    fn figure(&mut self, quantity: &str, truth: Truth, reported: Option<f64>, tolerance: f64) {
        let found = reported.unwrap_or(f64::NAN);
        let (low, high) = (truth.low * (1.0 - tolerance), truth.high * (1.0 + tolerance));
        self.rows.push(Row {
            quantity: quantity.into(),
            asked: rounded(truth.asked),
            delivered: rounded(truth.delivered),
            reported: reported.map_or("none".into(), rounded),
            error: format!("{:+.3} %", (found / truth.delivered - 1.0) * 100.0),
            good: (low..=high).contains(&found),
        });
    }

    /// Adds a fact that has to be exact.
    fn word(&mut self, quantity: &str, truth: impl ToString, reported: String) {
        let truth = truth.to_string();
        let good = truth == reported;
        self.row(quantity, truth, reported, good);
    }

    fn row(&mut self, quantity: &str, asked: String, reported: String, good: bool) {
        let (delivered, error) = (String::new(), String::new());
        self.rows.push(Row { quantity: quantity.into(), asked, delivered, reported, error, good });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["asked", "delivered", "reported", "error"].map(|word| format!("{word:>12}")).concat();
        write!(out, "  {:<36}{heading}", "quantity")?;
        for Row { quantity, asked, delivered, reported, error, good } in &self.rows {
            let mark = if *good { "" } else { "  WRONG" };
            let line = format!("{quantity:<36}{asked:>12}{delivered:>12}{reported:>12}{error:>12}{mark}");
            write!(out, "\n  {}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns the nanoseconds of `cycles` core cycles.
fn nanoseconds_of_cycles(model: &Model, cycles: f64) -> f64 {
    cycles * model.cycle as f64 / host::frequency() * 1e9
}

/// Returns the ticks in a nanosecond, from the report.
fn gigahertz(document: &Value) -> f64 {
    document["clock"]["frequency_hz"].as_f64().map_or(f64::NAN, |hertz| hertz / 1e9)
}

fn text(value: impl ToString) -> String {
    value.to_string()
}

fn given(is: bool) -> &'static str {
    if is { "given" } else { "none" }
}

/// Formats ticks and nanoseconds with one decimal, gigahertz with six.
fn rounded(value: f64) -> String {
    if value < 100.0 { format!("{value:.6}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Table {
        Table { rows: Vec::new(), unit: Unit { name: "ns", of_tick: 0.5, of_nanosecond: 1.0 } }
    }

    #[test]
    fn times_are_compared_in_the_unit_of_the_table() {
        let mut table = empty();
        table.time("latency", Truth::exact(4000.0), Some(2010.0), 0.01);
        assert!(table.is_good() && table.to_string().contains("latency, ns"), "{table}");
        table.time("latency", Truth::exact(4000.0), Some(4000.0), 0.01);
        assert!(!table.is_good(), "{table}");
    }

    #[test]
    fn a_figure_is_good_within_the_tolerance() {
        let good = |reported| {
            let mut table = empty();
            let truth = Truth { asked: 1000.0, low: 1000.0, delivered: 1010.0, high: 1100.0 };
            table.figure("latency", truth, reported, 0.02);
            table.is_good()
        };
        assert!(good(Some(980.1)) && good(Some(1050.0)) && good(Some(1121.9)));
        assert!(!good(Some(979.9)) && !good(Some(1122.1)) && !good(Some(f64::NAN)) && !good(None));
    }

    #[test]
    fn wrong_rows_are_marked() {
        let mut table = empty();
        table.word("exit status", 0, text(0));
        table.figure("latency", Truth::exact(1000.0), Some(1500.0), 0.02);
        let printed = table.to_string();
        let lines: Vec<&str> = printed.lines().collect();
        assert!(!lines[1].contains("WRONG"), "{printed}");
        assert!(lines[2].contains("1000.0") && lines[2].contains("+50.000 %  WRONG"), "{printed}");
    }
}
