//! The latency lab under load: memory that serves one line at a time, and the reports of `loaded` and
//! `bandwidth`.
//!
//! The tests compare the tool's report with the emulator's delivered load in each window, which also works on
//! a busy host. If a result depends on virtual CPUs that run at the same time, the log shows whether they
//! did.

mod bandwidth;
mod cores;
mod levels;
mod limits;
mod low_rates;
mod waiting;

use latency_tests::lab::{Model, architecture, ticks_per_second};
use serde_json::Value;

fn model(line: &str) -> Model {
    let model: Model = line.parse().unwrap_or_else(|reason| panic!("{line}: {reason}"));
    Model { architecture: architecture(), ..model }
}

/// Converts microseconds to ticks of the host's counter.
fn microseconds(count: f64) -> u64 {
    (count * ticks_per_second() / 1e6).round() as u64
}

fn records<'d>(document: &'d Value, path: &str) -> &'d [Value] {
    document.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(record: &Value, key: &str) -> f64 {
    record[key].as_f64().unwrap_or(f64::NAN)
}
