//! A histogram of the ticks by which timed windows exceeded the model.

use std::collections::BTreeMap;
use std::fmt;

/// Significant bits of a counted excess: below 2^7 ticks it is exact.
const EXACT_BITS: u32 = 7;

/// Counts of each excess.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excesses {
    counts: BTreeMap<i64, u64>,
    /// Number of windows.
    pub windows: u64,
    /// Sum of their excesses per hop, in ticks.
    pub sum: i64,
}

impl Excesses {
    /// Adds one excess.
    pub fn note(&mut self, ticks: i64) {
        *self.counts.entry(rounded(ticks)).or_default() += 1;
        self.windows += 1;
        self.sum = self.sum.saturating_add(ticks);
    }

    /// Adds the excesses of `other`.
    pub fn add(&mut self, other: &Excesses) {
        for (&ticks, count) in &other.counts {
            *self.counts.entry(ticks).or_default() += count;
        }
        self.windows += other.windows;
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Returns the excesses in ascending order, with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.counts.iter().map(|(&ticks, &count)| (ticks, count))
    }
}

/// Returns the middle of the bucket of an excess.
fn rounded(ticks: i64) -> i64 {
    let size = ticks.unsigned_abs();
    let shift = (u64::BITS - size.leading_zeros()).saturating_sub(EXACT_BITS);
    let middle = (size >> shift << shift) | (1_u64 << shift >> 1);
    i64::try_from(middle).unwrap_or(i64::MAX) * ticks.signum()
}

impl fmt::Display for Excesses {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "excess")?;
        self.counts().try_for_each(|(ticks, count)| write!(out, " {ticks}:{count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excesses_are_rounded_to_a_part_of_themselves() {
        assert_eq!([-127, -1, 0, 127].map(rounded), [-127, -1, 0, 127]);
        assert!((0..100_000).all(|ticks: i64| (rounded(-ticks) + ticks).abs() * 128 <= ticks));
    }

    #[test]
    fn equal_excesses_are_counted_together() {
        let (mut all, mut more) = (Excesses::default(), Excesses::default());
        [3, -2, 3].into_iter().for_each(|ticks| all.note(ticks));
        more.note(3);
        all.add(&more);
        assert_eq!((all.windows, all.sum, all.to_string().as_str()), (4, 7, "excess -2:1 3:3"));
    }
}
