//! The levels of load that are measured where none are asked for.
//!
//! Knows shares of the limit alone. They are close to each other where latency rises, and few where it does not.

/// The shares of the limit below it; the last level has as much load as can be.
const SHARES: [f64; 9] = [0.0, 0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.95];

/// Returns the load of the level with this index among `levels`, by rising load: a share of the limit, which is 0 for an
/// idle memory, or `None` for the largest possible load. Ten levels have the shares of the table; more or fewer are spread
/// along it, the first idle and the last with the largest possible load.
#[must_use]
pub fn share(index: usize, levels: usize) -> Option<f64> {
    let last = levels.checked_sub(2).filter(|last| index <= *last)?;
    // Of two levels the first is idle.
    let place = index as f64 / last.max(1) as f64 * (SHARES.len() - 1) as f64;
    let whole = place as usize;
    let at = |index: usize| SHARES.get(index).copied();
    let below = at(whole).unwrap_or_default();
    Some(at(whole + 1).map_or(below, |above| below + (above - below) * (place - whole as f64)))
}
