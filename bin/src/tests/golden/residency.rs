//! Lines in the shared cache of an imaginary machine, into which others insert 20 GB/s.

use std::vec::Vec;

use super::scene::{Scene, Trouble};
use latency_core::{Estimate, Interval};
use latency_engine::machine::Machine;
use latency_engine::result::{Point, Residence, SecondLook};

/// Bytes per nanosecond that others insert.
const RATE: f64 = 20.0;
/// Milliseconds of the waits; two of them were added where half is left.
const WAITS: [f64; 9] = [0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0, 2.0, 4.0];

/// Returns the shares of all sets, unless the run ended before.
pub fn of(scene: &Scene, machine: &Machine, points: &[Point]) -> Vec<Residence> {
    let has = |trouble| scene.troubles.contains(&trouble);
    if has(Trouble::Interrupted) || has(Trouble::Early) || has(Trouble::Emulated) {
        return Vec::new();
    }
    let cache = machine.largest_cache().0 as f64;
    let rate = if has(Trouble::Neighbours) {
        RATE
    } else if has(Trouble::Virtual) {
        0.0
    } else {
        RATE / 8.0
    };
    let each = |point: &Point| {
        let part = point.size.0 as f64 / cache;
        WAITS.map(|wait| {
            let wait_ns = wait * 1e6;
            let after_ns = wait_ns + 0.4e6 * part + 0.05e6;
            let value = (1.0 - 0.4 * part) * (-after_ns * rate / cache).exp();
            let interval = Interval { low: value - 0.02, high: value + 0.02 };
            let share = Estimate { value, interval: (!has(Trouble::FewRounds)).then_some(interval) };
            let seen = if wait == 0.0 { 0.98 } else { f64::NAN };
            let again = SecondLook { after_ns: seen * 0.2e6 + after_ns, share: share.scaled(seen) };
            Residence {
                size: point.size,
                wait_ns,
                after_ns,
                share,
                again,
                visits: 15,
                interrupts: (wait * 15.0) as u64,
                switched: 0.0,
            }
        })
    };
    points.iter().flat_map(each).collect()
}
