//! Records the touched memory as ranges, to find the addresses of nodes.
//!
//! It keeps one bit for each MiB of the first TiB. It does not depend on nodes: the ranges of a guest that touches only
//! the memory of one node are the ranges of that node.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

/// Base-2 logarithm of the bytes that one bit covers.
const SHIFT: u32 = 20;
/// Number of 64-bit words: 1 TiB in all.
const WORDS: usize = 1 << (40 - SHIFT - 6);
/// Maximum hole in a range, in bits: a random sample of a node's pages leaves holes, and nodes lie further
/// apart.
const HOLE: u64 = 64;

/// The memory touched so far.
pub struct Touched(Vec<AtomicU64>);

impl Default for Touched {
    fn default() -> Self {
        Self((0..WORDS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Touched {
    /// Notes an access to `address`. Addresses beyond 1 TiB are ignored.
    pub fn note(&self, address: u64) {
        let bit = address >> SHIFT;
        let Some(word) = usize::try_from(bit / 64).ok().and_then(|word| self.0.get(word)) else { return };
        let mask = 1 << (bit % 64);
        // The bit is nearly always set already, and a load is cheaper than an exchange.
        if word.load(Ordering::Relaxed) & mask == 0 {
            word.fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Returns the touched ranges in ascending order, to the MiB; holes of up to 64 MiB are ignored.
    #[must_use]
    pub fn ranges(&self) -> Vec<RangeInclusive<u64>> {
        let bits = (0_u64..).zip(&self.0).flat_map(|(word, bits)| {
            let bits = bits.load(Ordering::Relaxed);
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        });
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for bit in bits {
            match ranges.last_mut() {
                Some((_, last)) if bit - *last <= HOLE + 1 => *last = bit,
                _ => ranges.push((bit, bit)),
            }
        }
        ranges.into_iter().map(|(first, last)| first << SHIFT..=((last + 1) << SHIFT) - 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn small_holes_join_ranges_and_large_ones_split_them() {
        let touched = Touched::default();
        assert_eq!(touched.ranges(), []);
        for place in [0, 1, 66, 512, 1024, 1025] {
            touched.note(place * MIB + 77);
        }
        touched.note(u64::MAX);
        let expected = [0..=67 * MIB - 1, 512 * MIB..=513 * MIB - 1, 1024 * MIB..=1026 * MIB - 1];
        assert_eq!(touched.ranges(), expected);
        touched.note((1 << 40) - 1);
        assert_eq!(touched.ranges().last(), Some(&((1 << 40) - MIB..=(1 << 40) - 1)));
    }
}
