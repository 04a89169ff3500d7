//! Visits of a point: a warm-up, and the window from which the tool computes a latency and a bandwidth.
//!
//! The tool reads the clock of its core before and after each stretch of a window, but not before a warm-up,
//! which has more hops than any stretch. So a log of calls separates windows from warm-ups, and the windows
//! of one level all have the same number of hops.

use super::log::{Call, Lines};

/// Minimum hops of a warm-up: run the tool with `--warmup-iters=16384`, or it makes fewer at the first visit.
const WARM_UP: u64 = 1 << 14;

/// Lines per tick of a window; the tool's window begins somewhat before its first hop and ends somewhat after
/// its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The minimum that the tool may have seen.
    pub low: f64,
    /// From the last hop of the warm-up to the last hop of the window.
    pub delivered: f64,
    /// The maximum that the tool may have seen.
    pub high: f64,
}

/// A visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// The warm-up.
    pub warm_up: Vec<Call>,
    /// The window.
    pub window: Vec<Call>,
}

/// Returns the visits of a run, in order. The last one ends with the run.
pub fn visits(calls: &[Call]) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    for stretch in calls.chunk_by(|_, next| next.blocks == 0) {
        if hops(stretch) >= WARM_UP {
            visits.push(Visit { warm_up: stretch.to_vec(), window: Vec::new() });
        } else if let Some(visit) = visits.last_mut() {
            visit.window.extend_from_slice(stretch);
        }
    }
    visits.retain(|visit| !visit.window.is_empty());
    visits
}

/// Groups the visits by level: windows of one level have the same number of hops. Levels that happen to have
/// equal numbers are distinguished by their rates, if the number of `rounds` of a level is known.
pub fn levels(visits: Vec<Visit>, rounds: usize) -> Vec<Vec<Visit>> {
    let mut all: Vec<Vec<Visit>> = Vec::new();
    for visit in visits {
        let alike = |level: &&mut Vec<Visit>| level.first().is_some_and(|first| first.hops() == visit.hops());
        match all.iter_mut().find(alike) {
            Some(level) => level.push(visit),
            None => all.push(vec![visit]),
        }
    }
    let by_rate = |mut level: Vec<Visit>| {
        level.sort_by(|one, other| one.rate().delivered.total_cmp(&other.rate().delivered));
        level.chunks(rounds.max(1)).map(<[Visit]>::to_vec).collect::<Vec<_>>()
    };
    all.into_iter().flat_map(by_rate).collect()
}

impl Visit {
    /// Returns the hops of the window.
    pub fn hops(&self) -> u64 {
        hops(&self.window)
    }

    /// Returns the ticks of a hop in the window, including any disturbance.
    pub fn latency(&self) -> f64 {
        let ticks: u64 = self.window.iter().map(Call::ticks).sum();
        ticks as f64 / self.hops() as f64
    }

    /// Returns the lines that generators got per tick of the window.
    pub fn rate(&self) -> Rate {
        let (Some(first), Some(last)) = (self.window.first(), self.window.last()) else {
            return Rate { low: f64::NAN, delivered: f64::NAN, high: f64::NAN };
        };
        let end = (of_generators(last.before) + of_generators(last.during), last.to);
        let between = |(lines, ticks): (u64, u64)| (end.0 - lines) as f64 / (end.1 - ticks) as f64;
        let inner = between((of_generators(first.before), first.from));
        let before = self.warm_up.last().unwrap_or(first);
        let outer = between((of_generators(before.before) + of_generators(before.during), before.to));
        Rate { low: inner.min(outer), delivered: outer, high: inner.max(outer) }
    }

    /// Returns true if no generator got a line meanwhile.
    pub fn is_idle(&self) -> bool {
        self.calls().all(|call| call.lines() == 0)
    }

    /// Returns all calls, including the warm-up.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.warm_up.iter().chain(&self.window)
    }
}

impl Call {
    /// Returns its duration in ticks.
    pub fn ticks(&self) -> u64 {
        self.to - self.from
    }

    /// Returns the lines that generators got meanwhile.
    pub fn lines(&self) -> u64 {
        of_generators(self.during)
    }
}

/// Minimum share of [`calm`] for a quiet host.
pub const CALM: f64 = 0.95;

/// Returns the modelled share of the windows' time: below 1 if the host took the CPU away.
pub fn calm<'v>(visits: impl IntoIterator<Item = &'v Visit>) -> f64 {
    let (mut asked, mut ticks) = (0, 0);
    for call in visits.into_iter().flat_map(|visit| &visit.window) {
        asked += call.asked;
        ticks += call.ticks();
    }
    asked as f64 / ticks as f64
}

/// Returns the median of some values; for an even number, the mean of the middle two.
pub fn middle(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    (at(values.len().saturating_sub(1) / 2) + at(values.len() / 2)) / 2.0
}

fn hops(calls: &[Call]) -> u64 {
    calls.iter().map(|call| call.hops).sum()
}

fn of_generators(lines: Lines) -> u64 {
    lines.read + lines.written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(from: u64, to: u64, blocks: u64, hops: u64, lines: (u64, u64)) -> Call {
        let before = Lines { read: lines.0, ..Lines::default() };
        let during = Lines { read: lines.1, ..Lines::default() };
        Call { from, to, blocks, hops, asked: (to - from) / 4, before, during, ..Call::default() }
    }

    #[test]
    fn windows_follow_warm_ups() {
        let calls = [
            call(0, 10, 9, 10_000, (0, 0)),
            call(10, 20, 0, 6384, (0, 5)),
            call(30, 50, 9, 100, (10, 10)),
            call(50, 60, 0, 50, (20, 5)),
            call(62, 72, 9, 50, (26, 4)),
            call(100, 200, 9, 16_384, (90, 0)),
            call(200, 300, 9, 200, (100, 70)),
            call(400, 500, 9, 20_000, (500, 0)),
        ];
        let found = visits(&calls);
        assert_eq!(found.len(), 2, "a warm-up alone is not a visit");
        assert_eq!(
            found.iter().map(|visit| (visit.warm_up.len(), visit.window.len())).collect::<Vec<_>>(),
            [(2, 3), (1, 1)]
        );
        assert!(!found[0].is_idle());
        assert_eq!(calm(&found[..1]), 9.0 / 40.0);
        assert_eq!(found[0].latency(), 40.0 / 200.0);
        let rate = found[0].rate();
        assert_eq!((rate.low, rate.delivered, rate.high), (20.0 / 42.0, 25.0 / 52.0, 25.0 / 52.0));
        assert_eq!(levels(found.clone(), 1).len(), 2);
        assert_eq!(levels(found, 2).len(), 1);
    }

    #[test]
    fn the_middle_of_two_is_between_them() {
        assert_eq!((middle([3.0, 1.0, 2.0]), middle([4.0, 1.0, 2.0, 3.0])), (2.0, 2.5));
        assert!(middle([]).is_nan());
    }
}
