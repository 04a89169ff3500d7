//! Load in the lab: what generators and a chase beside them were really given, and what is reported of it.
//!
//! Memory of such a model serves one line at a time (`server=`), and the plugin keeps every call of a chase: when it
//! began and ended, what its hops were to take, and what the servers had served at both ends. That is the truth of a
//! window, whatever else runs on the host: what a tool says of latency and bandwidth has to be what it was given.
//! That hops wait as theory has it needs more: both virtual CPUs must really run at a time.
//!
//! The documentation of the package `latency-lab-plugin` has the form of the lines.

mod log;
mod visits;

pub use log::{Call, Lines, Log, Window};
pub use visits::{calm, levels, middle, visits, Rate, Visit, CALM};

use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::boot::boot_all;
use super::host;
use super::Model;
use crate::vm::Console;

/// Two guests at a time would have two virtual CPUs each to a CPU of the host.
static ALONE: Mutex<()> = Mutex::new(());

/// Several runs of the executable in one boot of a machine whose memory has servers.
#[derive(Clone, Debug)]
pub struct Loaded<const N: usize> {
    /// What each run printed.
    pub consoles: [Console; N],
    /// The plugin's log.
    pub log: Log,
}

impl<const N: usize> Loaded<N> {
    /// Boots `model` with no other guest of this kind beside it.
    ///
    /// # Errors
    ///
    /// When executable, plugin or emulator are missing, the guest does not end, or a run is missing.
    pub fn boot(model: &Model, runs: [&str; N]) -> Result<Self, String> {
        let _alone: MutexGuard<()> = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (consoles, report) = boot_all(model, runs)?;
        Ok(Loaded { consoles, log: Log::parse(&report) })
    }

    /// The document of a run.
    ///
    /// # Panics
    ///
    /// When it did not end well, or printed none.
    pub fn document(&self, run: usize) -> Value {
        self.consoles[run].expect_json(0)
    }

    /// The visits of a run.
    pub fn visits(&self, run: usize) -> Vec<Visit> {
        self.log.runs(0).get(run).map(|calls| visits(calls)).unwrap_or_default()
    }
}

/// Nanoseconds of so many ticks.
pub fn nanoseconds(ticks: f64) -> f64 {
    ticks / host::frequency() * 1e9
}

/// Bytes per second of lines per tick.
pub fn bytes_per_second(lines_per_tick: f64) -> f64 {
    const LINE: f64 = 64.0;
    lines_per_tick * host::frequency() * LINE
}
