//! The latency lab under load: memory that serves one line at a time, and what `loaded` and `bandwidth` say of it.
//!
//! What the tool says is compared with what the emulator has really given it, in each window; that holds on a busy host.
//! Where it depends on virtual CPUs that run at the same time, the log tells whether they did.

mod bandwidth;
mod cores;
mod levels;
mod limits;
mod low_rates;
mod waiting;

use latency_tests::lab::{ticks_per_second, Model};
use serde_json::Value;

fn model(line: &str) -> Model {
    line.parse().unwrap_or_else(|reason| panic!("{line}: {reason}"))
}

/// So many microseconds of the host's counter, in ticks.
fn microseconds(count: f64) -> u64 {
    (count * ticks_per_second() / 1e6).round() as u64
}

fn records<'d>(document: &'d Value, path: &str) -> &'d [Value] {
    document.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(record: &Value, key: &str) -> f64 {
    record[key].as_f64().unwrap_or(f64::NAN)
}
