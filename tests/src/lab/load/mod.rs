//! Load in the lab: compares the report with the latency and bandwidth that a chase and its generators really
//! got.
//!
//! The memory of these models serves one line at a time (`server=`), and the plugin keeps every call of a
//! chase: its beginning and end, the modelled time of its hops, and the lines that the servers had served at
//! both ends. That is the truth of a window, whatever else runs on the host: a tool has to report the latency
//! and bandwidth that it got. A comparison of the waits with theory needs more: both virtual CPUs must really
//! run at the same time.
//!
//! The documentation of the package `latency-lab-plugin` has the form of the lines.

mod log;
mod visits;

pub use log::{Call, Lines, Log, Window};
pub use visits::{CALM, Rate, Visit, calm, levels, middle, visits};

use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::boot::boot_all;
use super::{Model, host};
use crate::vm::Console;

/// Lock that prevents two guests at a time, since they would have two virtual CPUs for each CPU of the host.
static ALONE: Mutex<()> = Mutex::new(());

/// Several runs of the executable in one boot of a machine whose memory has servers.
#[derive(Clone, Debug)]
pub struct Loaded<const N: usize> {
    /// Output of each run.
    pub consoles: [Console; N],
    /// The plugin's log.
    pub log: Log,
}

impl<const N: usize> Loaded<N> {
    /// Boots `model` while no other guest of this kind runs.
    ///
    /// # Errors
    ///
    /// Fails if executable, plugin or emulator are missing, the guest does not end, or a run is missing.
    pub fn boot(model: &Model, runs: [&str; N]) -> Result<Self, String> {
        let _alone: MutexGuard<()> = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (consoles, report) = boot_all(model, runs)?;
        Ok(Loaded { consoles, log: Log::parse(&report) })
    }

    /// Returns the document of a run.
    ///
    /// # Panics
    ///
    /// If it failed or printed no document.
    pub fn document(&self, run: usize) -> Value {
        self.consoles[run].expect_json(0)
    }

    /// Returns the visits of a run.
    pub fn visits(&self, run: usize) -> Vec<Visit> {
        self.log.runs(0).get(run).map(|calls| visits(calls)).unwrap_or_default()
    }
}

/// Converts ticks to nanoseconds.
pub fn nanoseconds(ticks: f64) -> f64 {
    ticks / host::frequency() * 1e9
}

/// Converts lines per tick to bytes per second.
pub fn bytes_per_second(lines_per_tick: f64) -> f64 {
    const LINE: f64 = 64.0;
    lines_per_tick * host::frequency() * LINE
}
