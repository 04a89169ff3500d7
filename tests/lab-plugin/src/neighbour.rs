//! A neighbour: a simulated program that streams through a cache shared by several CPUs, at a known rate.
//!
//! It uses new lines as time passes, each once, so that the cache evicts other lines. The pages of a program are anywhere
//! in memory, so each line may fall into any set. If the lines took turns in all sets instead, a cache of W ways with
//! random victims would lose the share ln(W / (W - 1)) where it now loses 1 / W: 3 % more for 16 ways. The caller passes
//! all times.

use crate::cache::{Cache, Generator};

/// Base-2 logarithm of the ticks in which a neighbour uses `rate` lines.
const PERIOD_SHIFT: u32 = 20;
/// Number of its first line, beyond the lines of any memory, and the bits of a draw that are not a line's.
const FIRST_LINE: u64 = 1 << 56;
const UNUSED_BITS: u32 = 8;
/// Starts the generator of its lines.
const SEED: u64 = 0x6e65_6967;
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
    /// Draws its lines.
    generator: Generator,
}

impl Neighbour {
    /// Makes a neighbour that uses `rate` lines in every 2^20 ticks; 0 disables it.
    #[must_use]
    pub const fn new(rate: u64) -> Self {
        Self { rate, until: None, generator: Generator(SEED) }
    }

    /// Returns the number of lines that are due at `now` since the last call; at most `most`.
    fn due(&mut self, now: u64, most: u64) -> u64 {
        let until = *self.until.get_or_insert(now);
        let ticks = u128::from(now.saturating_sub(until)) * u128::from(self.rate);
        let lines = u64::try_from(ticks >> PERIOD_SHIFT).unwrap_or(u64::MAX);
        if lines > 0 {
            // The remainder of a line stays due.
            let taken = (u128::from(lines) << PERIOD_SHIFT) / u128::from(self.rate);
            self.until = Some(until.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX)));
        }
        lines.min(most)
    }

    /// Returns the next line.
    fn line(&mut self) -> u64 {
        FIRST_LINE + (self.generator.draw() >> UNUSED_BITS)
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
            for _ in 0..self.neighbour.due(now, most) {
                let line = self.neighbour.line();
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
        let mut due = |now| neighbour.due(now, 100);
        assert_eq!([due(1 << 40), due(1 << 40), due((1 << 40) + (1 << 20) - 1)], [0, 0, 2]);
        assert_eq!([due((1 << 40) + (1 << 20) + 2), due((1 << 40) + 5 * (1 << 20))], [1, 12]);
        assert_eq!([due(1 << 39), due(1 << 50)], [0, 100]);
        let mut none = Neighbour::new(0);
        assert_eq!((none.due(5, 9), none.due(1 << 50, 9)), (0, 0));
    }

    // After a period, eight of the 16 lines of a set are replaced on average; the number differs by set.
    #[test]
    fn a_neighbour_evicts_the_least_recently_used_lines() {
        let mut common = common(Replacement::LeastRecentlyUsed);
        let left = [0, 1, 2, 4].map(|periods| left(&mut common, periods));
        assert_eq!((left[0], left[3]), (1024, 0));
        assert!((500..560).contains(&left[1]) && (50..160).contains(&left[2]), "{left:?}");
    }

    // If the lines came into all sets in turn, 1.6 % less would be left after one period, and 3.2 % after two.
    #[test]
    fn random_victims_leave_the_share_of_an_exponential() {
        const LINES: usize = 1 << 17;
        let cache = Cache::new(LINES as u64 / 16, 16, Replacement::Random, 3);
        let mut common = Common::new(vec![cache], LINES as u64 / 2);
        (0..LINES as u64).for_each(|line| _ = common.at(7)[0].access(line));
        for periods in 1..5_u32 {
            let level = &common.at(7 + (u64::from(periods) << PERIOD_SHIFT))[0];
            let left = (0..LINES as u64).filter(|&line| level.holds(line)).count() as f64 / LINES as f64;
            let expected = (-0.5 * f64::from(periods)).exp();
            assert!(
                (left / expected - 1.0).abs() < 0.014,
                "{left} after {periods} periods, expected {expected}"
            );
        }
    }

    #[test]
    fn lines_in_frequent_use_stay() {
        let mut common = common(Replacement::LeastRecentlyUsed);
        // A quarter of a period replaces two lines of each set on average; meanwhile eight of each are used again.
        for quarter in 1..40_u64 {
            let level = &mut common.at(7 + (quarter << (PERIOD_SHIFT - 2)))[0];
            let stayed = (512..1024).filter(|&line| level.access(line)).count();
            assert!(stayed >= 500, "{stayed} of 512 after {quarter} quarters of a period");
        }
    }
}
