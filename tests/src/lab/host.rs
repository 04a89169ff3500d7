//! The frequency of the host's time-stamp counter, which guests read as their own.
//!
//! Measured here, outside the executable under test, to check its calibration independently.
//!
//! # Safety
//!
//! The only unsafe operation reads the counter; it touches no memory.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// Duration of the measurement. An error of one microsecond in reading the clock is 5 millionths of it.
const SPAN: Duration = Duration::from_millis(200);

/// Returns the ticks of the counter per second.
pub fn frequency() -> f64 {
    static FREQUENCY: OnceLock<f64> = OnceLock::new();
    *FREQUENCY.get_or_init(|| {
        let (start, first) = caught();
        thread::sleep(SPAN);
        let (end, last) = caught();
        (last - first) as f64 / end.duration_since(start).as_secs_f64()
    })
}

/// Reads the clock and the counter at one moment: the closest pair of several attempts.
fn caught() -> (Instant, u64) {
    let attempt = |_| {
        let before = ticks();
        let now = Instant::now();
        let after = ticks();
        (after - before, (now, before + (after - before) / 2))
    };
    let closest = (0..100).map(attempt).min_by_key(|(width, _)| *width);
    closest.map(|(_, moment)| moment).unwrap_or_else(|| (Instant::now(), ticks()))
}

fn ticks() -> u64 {
    // SAFETY: every x86-64 has the instruction, and this process has not disabled it.
    unsafe { std::arch::x86_64::_rdtsc() }
}
