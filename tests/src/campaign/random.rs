//! Random choices that a seed repeats: one sequence for each case.

use latency_core::rng::Pcg32;

/// A separate family of sequences, so that no case of a campaign repeats another test's numbers.
const FAMILY: u64 = 0x6361_6d70;

/// The choices of one case.
pub struct Random(Pcg32);

impl Random {
    /// Returns the choices of case `number` of the campaign `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        Random(Pcg32::new(seed, FAMILY.wrapping_add(number)))
    }

    /// Returns a number below `bound`, and zero for a bound of zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(u32::try_from(bound).expect("a small bound")) as usize
    }

    /// Decides, with a probability of one in `count`.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Picks one of several.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Returns a number from `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_reproducible_and_differs_from_others() {
        let numbers = |seed, number| {
            let mut random = Random::new(seed, number);
            (0..8).map(|_| random.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
    }
}
