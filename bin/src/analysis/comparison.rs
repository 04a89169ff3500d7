//! Two results of one experiment, point by point: ratios, and which of them are beyond doubt.

use latency_core::math::{exp, ln};
use latency_core::stats::{self, Interval};

use crate::result::row::Row;
use crate::sys::table::Table;

/// From so many points on, a few may lie beyond both intervals by chance or by their neighbours' noise.
const MANY: usize = 20;
/// The share of many points that has to be slower for the whole to be.
const SHARE: usize = 10;

/// What a difference amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the threshold, or within the uncertainty.
    Same,
    /// The second is slower beyond both.
    Slower,
    /// The second is faster beyond both.
    Faster,
}

/// One point of both results.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The point of the first.
    pub first: Row,
    /// That of the second, between two of its points where it has none of this size.
    pub second: Row,
    /// Whether the second is between two points.
    pub interpolated: bool,
    /// What the difference amounts to.
    pub verdict: Verdict,
}

impl Pair {
    /// The second latency over the first.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.second.sample.nanoseconds / self.first.sample.nanoseconds
    }
}

/// All points that both results have.
#[derive(Debug)]
pub struct Comparison {
    pairs: Table<Pair>,
    count: usize,
    scratch: Table<f64>,
}

impl Comparison {
    /// Compares two results; differences up to `threshold`, a fraction of the first, are none.
    ///
    /// # Errors
    ///
    /// That of mapping the tables.
    pub fn new(
        first: &[Row],
        second: &[Row],
        threshold: f64,
    ) -> Result<Comparison, crate::sys::errno::Errno> {
        let Some(&any) = first.first() else {
            return Ok(Comparison { pairs: Table::empty()?, count: 0, scratch: Table::empty()? });
        };
        let pair = Pair { first: any, second: any, interpolated: false, verdict: Verdict::Same };
        let mut found = Comparison {
            pairs: Table::filled(first.len(), pair)?,
            count: 0,
            scratch: Table::filled(first.len(), 0.0)?,
        };
        let same = |row: &Row| second.iter().find(|other| row.is_same_point(other)).copied();
        // Curves are refined where their own knees are, so that they share the coarse grid at least, if they begin
        // and end alike. Where they do not, what lies between two points has to do.
        let shared = first.iter().filter(|row| same(row).is_some()).count();
        for row in first {
            let matching = same(row).map(|row| (row, false));
            let between = || Some((between(row, second).filter(|_| shared * 2 < first.len())?, true));
            let Some((other, interpolated)) = matching.or_else(between) else { continue };
            if let Some(slot) = found.pairs.get_mut(found.count) {
                let verdict = judge(row, &other, threshold);
                *slot = Pair { first: *row, second: other, interpolated, verdict };
                found.count += 1;
            }
        }
        Ok(found)
    }

    /// The points, in the order of the first result.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        self.pairs.get(..self.count).unwrap_or_default()
    }

    /// The middle of all ratios.
    pub fn median_ratio(&mut self) -> Option<f64> {
        self.median(|_| true)
    }

    /// By how much the second is slower as a whole, as a fraction of the first; `None` where it is not.
    ///
    /// Of few points one is enough; of many, a tenth has to be slower, and the middle of these counts.
    pub fn slower_by(&mut self) -> Option<f64> {
        let slower = self.pairs().iter().filter(|pair| pair.verdict == Verdict::Slower).count();
        let needed = if self.count < MANY { 1 } else { self.count / SHARE + 1 };
        if slower < needed {
            return None;
        }
        if self.count < MANY {
            return self.pairs().iter().map(|pair| pair.ratio() - 1.0).max_by(f64::total_cmp);
        }
        self.median(|pair| pair.verdict == Verdict::Slower).map(|ratio| ratio - 1.0)
    }

    fn median(&mut self, wanted: impl Fn(&Pair) -> bool) -> Option<f64> {
        let mut count = 0;
        let pairs = self.pairs.get(..self.count).unwrap_or_default();
        let ratios = pairs.iter().filter(|pair| wanted(pair)).map(Pair::ratio);
        for (slot, ratio) in self.scratch.iter_mut().zip(ratios) {
            *slot = ratio;
            count += 1;
        }
        stats::median(self.scratch.get_mut(..count)?)
    }
}

/// The interval of a point; without one, what its spread makes likely; without that, its latency alone.
fn ends(row: &Row) -> Interval {
    /// The median of three to five rounds lies within so many median deviations of the true one nearly always.
    const DEVIATIONS: f64 = 3.0;
    let latency = row.sample.nanoseconds;
    let half = latency * DEVIATIONS * row.sample.deviation.unwrap_or(0.0);
    row.sample.interval.unwrap_or(Interval { low: latency - half, high: latency + half })
}

/// Whether two latencies differ beyond the threshold, and beyond their intervals as far as these are known.
fn judge(first: &Row, second: &Row, threshold: f64) -> Verdict {
    let (one, two) = (ends(first), ends(second));
    let ratio = second.sample.nanoseconds / first.sample.nanoseconds;
    if ratio > 1.0 + threshold && two.low > one.high {
        Verdict::Slower
    } else if ratio < 1.0 / (1.0 + threshold) && two.high < one.low {
        Verdict::Faster
    } else {
        Verdict::Same
    }
}

/// The point of `row`'s size between the nearest two of `rows`, on straight lines between the logarithms; its
/// interval holds theirs.
fn between(row: &Row, rows: &[Row]) -> Option<Row> {
    let size = row.sample.size;
    let alike =
        || rows.iter().filter(|other| other.sample.stride == row.sample.stride && row.is_alike(other));
    let below = alike().filter(|other| other.sample.size <= size).max_by_key(|other| other.sample.size)?;
    let above = alike().filter(|other| other.sample.size >= size).min_by_key(|other| other.sample.size)?;
    let (low, high) = (below.sample.size.0 as f64, above.sample.size.0 as f64);
    let share = if high > low { ln(size.0 as f64 / low) / ln(high / low) } else { 0.0 };
    let middle = |one: f64, other: f64| exp(ln(one) + share * ln(other / one));
    let mut found = *row;
    found.sample.nanoseconds = middle(below.sample.nanoseconds, above.sample.nanoseconds);
    let (one, other) = (ends(below), ends(above));
    found.sample.interval = Some(Interval { low: one.low.min(other.low), high: one.high.max(other.high) });
    found.sample.core_cycles = None;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::sample::Sample;
    use latency_core::text::Text;
    use latency_core::units::Bytes;
    use std::vec::Vec;

    fn rows(latencies: impl Iterator<Item = (u64, f64)>, half_width: f64) -> Vec<Row> {
        let row = |(size, nanoseconds): (u64, f64)| Row {
            pair: Some((0, 0)),
            sample: Sample {
                size: Bytes(size),
                nanoseconds,
                interval: Some(Interval {
                    low: nanoseconds * (1.0 - half_width),
                    high: nanoseconds * (1.0 + half_width),
                }),
                ..Sample::EMPTY
            },
            name: Text::EMPTY,
        };
        latencies.map(row).collect()
    }

    fn compare(first: &[Row], second: &[Row]) -> Comparison {
        Comparison::new(first, second, 0.03).unwrap()
    }

    #[test]
    fn a_difference_counts_beyond_threshold_and_uncertainty() {
        for (latency, half_width, verdict) in [
            (102.0, 0.001, Verdict::Same),
            (104.0, 0.001, Verdict::Slower),
            (104.0, 0.05, Verdict::Same),
            (96.0, 0.001, Verdict::Faster),
            (98.0, 0.001, Verdict::Same),
        ] {
            let first = rows([(0, 100.0)].into_iter(), half_width);
            let second = rows([(0, latency)].into_iter(), half_width);
            let mut found = compare(&first, &second);
            assert_eq!(found.pairs()[0].verdict, verdict, "{latency}");
            assert_eq!(found.slower_by().is_some(), verdict == Verdict::Slower);
        }
    }

    #[test]
    fn of_many_points_a_tenth_has_to_be_slower() {
        let first = rows((0..50).map(|index| (64 * (index + 1), 10.0)), 0.01);
        let second = |slow: u64| {
            rows((0..50).map(|index| (64 * (index + 1), if index < slow { 12.0 } else { 10.0 })), 0.01)
        };
        assert_eq!(compare(&first, &second(5)).slower_by(), None);
        let by = compare(&first, &second(10)).slower_by().unwrap();
        assert!((by - 0.2).abs() < 1e-9);
    }

    #[test]
    fn other_sizes_are_read_between_the_points() {
        let first = rows([(128, 2.0), (512, 8.0), (4096, 9.0)].into_iter(), 0.01);
        let second = rows([(64, 1.0), (256, 4.0), (1024, 16.0)].into_iter(), 0.01);
        let found = compare(&first, &second);
        assert_eq!(found.pairs().len(), 2);
        for pair in found.pairs() {
            assert!(pair.interpolated && (pair.ratio() - 1.0).abs() < 1e-9, "{pair:?}");
        }
    }
}
