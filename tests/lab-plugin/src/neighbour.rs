//! A neighbour: a simulated program that streams through a cache shared by several CPUs, at a known rate.
//!
//! It uses new lines as time passes, each once, so that the cache evicts other lines. The caller passes all
//! times.

use std::ops::Range;

use crate::cache::Cache;

/// Base-2 logarithm of the ticks in which a neighbour uses `rate` lines.
const PERIOD_SHIFT: u32 = 20;
/// Number of its first line, beyond the lines of any memory.
const FIRST_LINE: u64 = 1 << 56;
/// Maximum number of lines used at once, in multiples of the cache's lines. Random victims then leave hardly a fiftieth
/// of the previous content, and LRU leaves nothing. More lines would only need time.
const ENOUGH: u64 = 4;

/// Progress of a neighbour in one cache.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// Lines in 2^20 ticks.
    rate: u64,
    /// End of the time in which its lines were used.
    until: Option<u64>,
    /// Number of the next line.
    next: u64,
}

impl Neighbour {
    /// Makes a neighbour that uses `rate` lines in every 2^20 ticks; 0 disables it.
    #[must_use]
    pub const fn new(rate: u64) -> Self {
        Self { rate, until: None, next: FIRST_LINE }
    }

    /// Returns the lines that are due at `now` since the last call; at most `most`.
    fn due(&mut self, now: u64, most: u64) -> Range<u64> {
        let first = self.next;
        let until = *self.until.get_or_insert(now);
        let ticks = u128::from(now.saturating_sub(until)) * u128::from(self.rate);
        let lines = u64::try_from(ticks >> PERIOD_SHIFT).unwrap_or(u64::MAX);
        if lines > 0 {
            // The remainder of a line stays due.
            let taken = (u128::from(lines) << PERIOD_SHIFT) / u128::from(self.rate);
            self.until = Some(until.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX)));
            self.next = FIRST_LINE + (first - FIRST_LINE + lines.min(most)) % FIRST_LINE;
        }
        first..first + lines.min(most)
    }
}

/// Levels that several CPUs have in common, with their neighbour.
#[derive(Clone, Debug)]
pub struct Common {
    levels: Vec<Cache>,
    neighbour: Neighbour,
}

impl Common {
    /// Makes levels with a neighbour that uses `rate` lines of each in every 2^20 ticks.
    #[must_use]
    pub const fn new(levels: Vec<Cache>, rate: u64) -> Self {
        Self { levels, neighbour: Neighbour::new(rate) }
    }

    /// Brings the levels to their state at `now` and returns them.
    pub fn at(&mut self, now: u64) -> &mut [Cache] {
        if self.neighbour.rate > 0 && !self.levels.is_empty() {
            let most = self.levels.iter().map(Cache::lines).max().unwrap_or(0).saturating_mul(ENOUGH);
            for line in self.neighbour.due(now, most) {
                self.levels.iter_mut().for_each(|level| _ = level.access(line));
            }
        }
        &mut self.levels
    }

    /// Evicts `line` from all of them.
    pub fn evict(&mut self, line: u64) {
        self.levels.iter_mut().for_each(|level| level.evict(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Replacement;

    /// Makes one level of 1024 lines, with a neighbour of 512 lines in 2^20 ticks.
    fn common(replacement: Replacement) -> Common {
        let mut common = Common::new(vec![Cache::new(64, 16, replacement, 3)], 512);
        (0..1024).for_each(|line| _ = common.at(7)[0].access(line));
        common
    }

    /// Counts the lines of the working set that are left after some periods.
    fn left(common: &mut Common, periods: u64) -> usize {
        let level = &common.at(7 + (periods << PERIOD_SHIFT))[0];
        (0..1024).filter(|&line| level.holds(line)).count()
    }

    #[test]
    fn lines_are_due_by_time_without_losses() {
        let mut neighbour = Neighbour::new(3);
        let mut due = |now| neighbour.due(now, 100).count();
        assert_eq!([due(1 << 40), due(1 << 40), due((1 << 40) + (1 << 20) - 1)], [0, 0, 2]);
        assert_eq!([due((1 << 40) + (1 << 20) + 2), due((1 << 40) + 5 * (1 << 20))], [1, 12]);
        assert_eq!([due(1 << 39), due(1 << 50)], [0, 100]);
        let mut none = Neighbour::new(0);
        assert_eq!((none.due(5, 9).count(), none.due(1 << 50, 9).count()), (0, 0));
    }

    #[test]
    fn a_neighbour_evicts_the_least_recently_used_lines() {
        let mut common = common(Replacement::LeastRecentlyUsed);
        assert_eq!([0, 1, 2, 3].map(|periods| left(&mut common, periods)), [1024, 512, 0, 0]);
    }

    // Each line of the neighbour takes one of the 16 ways of its set.
    #[test]
    fn random_victims_leave_the_expected_share() {
        let mut common = common(Replacement::Random);
        for periods in 1..5_i32 {
            let expected = 1024.0 * (15.0_f64 / 16.0).powi(8 * periods);
            let found = left(&mut common, u64::from(periods.unsigned_abs())) as f64;
            assert!((found - expected).abs() < 60.0, "{found} after {periods} periods, expected {expected}");
        }
    }

    #[test]
    fn lines_in_frequent_use_stay() {
        let mut common = common(Replacement::LeastRecentlyUsed);
        // Half a period replaces four lines of each set; meanwhile the last eight of each are used again.
        for half in 1..20_u64 {
            let level = &mut common.at(7 + (half << (PERIOD_SHIFT - 1)))[0];
            assert!((512..1024).all(|line| level.access(line)), "{half} halves of a period");
        }
    }
}
