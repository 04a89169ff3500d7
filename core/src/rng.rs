//! PCG32: the project's only source of pseudo-random numbers.
//!
//! The generator is small, has a seed and gives the same numbers on every host, which is all that a
//! chain needs. It must not be used for cryptography.
//!
//! # References
//!
//! M. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
//! Algorithms for Random Number Generation", Harvey Mudd College, 2014;
//! member XSH-RR with 64 bits of state and 32 of output.

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// A PCG-XSH-RR 64/32 generator.
#[derive(Clone, Copy, Debug)]
pub struct Pcg32 {
    state: u64,
    increment: u64,
}

impl Pcg32 {
    /// Returns a generator: `stream` selects one of 2^63 sequences, and `seed` the start in this sequence.
    pub const fn new(seed: u64, stream: u64) -> Self {
        let increment = (stream << 1) | 1;
        let state = increment.wrapping_add(seed).wrapping_mul(MULTIPLIER).wrapping_add(increment);
        Pcg32 { state, increment }
    }

    /// Returns the next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        let state = self.state;
        self.state = state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
        let folded = (((state >> 18) ^ state) >> 27) as u32;
        folded.rotate_right((state >> 59) as u32)
    }

    /// Returns the next 64 bits, which are two outputs, the first in the upper half.
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    /// Returns a uniform number below `bound`, without modulo bias; zero for a bound of zero.
    ///
    /// # References
    ///
    /// D. Lemire, "Fast Random Integer Generation in an Interval", ACM
    /// Transactions on Modeling and Computer Simulation 29(1), 2019.
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound.max(1);
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Puts the items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for left in (2..=items.len()).rev() {
            items.swap(left - 1, self.below(left as u32) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the output of the reference implementation's demo for seed 42, stream 54.
    #[test]
    fn reproduces_the_published_vectors() {
        let mut rng = Pcg32::new(42, 54);
        let published = [0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e];
        for expected in published {
            assert_eq!(rng.next_u32(), expected);
        }
    }

    #[test]
    fn joins_two_outputs_high_first() {
        assert_eq!(Pcg32::new(42, 54).next_u64(), 0xa15c_02b7_7b47_f409);
    }

    #[test]
    fn stays_below_its_bound_and_reaches_every_value() {
        let mut rng = Pcg32::new(7, 7);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[rng.below(6) as usize] += 1;
        }
        // 10 000 are expected, with a standard deviation of 91: the limits are six standard deviations away.
        assert!(seen.iter().all(|&count| (9_450..10_550).contains(&count)), "{seen:?}");
        assert_eq!(rng.below(1), 0);
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn every_order_of_three_items_is_as_frequent() {
        let mut rng = Pcg32::new(7, 7);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            let mut items = [0, 1, 2];
            rng.shuffle(&mut items);
            assert_eq!(items.iter().sum::<usize>(), 3);
            seen[items[0] * 2 + usize::from(items[1] > items[2])] += 1;
        }
        assert!(seen.iter().all(|&count| (9_450..10_550).contains(&count)), "{seen:?}");
        rng.shuffle::<u8>(&mut []);
    }
}
