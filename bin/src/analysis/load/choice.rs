//! The default levels of load.
//!
//! The levels are shares of the limit. They are close together where latency rises, and sparse elsewhere.

use latency_core::math;
use latency_core::math::ToReal;

/// Shares of the limit for all levels but the last, which has the largest possible load.
const SHARES: [f64; 9] = [0.0, 0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.95];

/// Returns the load of the level with this index among `levels`, in order of rising load. The load is a share of the
/// limit, 0 for idle memory, or `None` for the largest possible load. Ten levels have the shares of the table; more or
/// fewer levels are spread along it, with the first idle and the last at the largest possible load.
pub fn share(index: usize, levels: usize) -> Option<f64> {
    let last = levels.checked_sub(2).filter(|last| index <= *last)?;
    // If there are two levels, the first is idle.
    let place = index.real() / last.max(1).real() * (SHARES.len() - 1).real();
    let whole = math::whole(place) as usize;
    let at = |index: usize| SHARES.get(index).copied();
    let below = at(whole).unwrap_or_default();
    Some(at(whole + 1).map_or(below, |above| below + (above - below) * (place - whole.real())))
}
