//! A log-linear histogram of tick counts: fixed memory, bounded relative error.
//!
//! Each power of two is divided into 128 buckets of equal width, so a bucket is at most 1/128 of
//! its values wide, and the middle of the bucket differs from a value by at most 0.4 %. Below 256
//! every value has its own bucket. Nothing here uses clocks: the caller that prints subtracts the
//! overhead and converts ticks to time.
//!
//! The counts are as large as an L1 cache. So samples must go to plain memory while something is
//! timed, and into the histogram afterwards.
//!
//! # References
//!
//! The layout is that of HdrHistogram (G. Tene, <https://hdrhistogram.org>).

pub mod fold;

/// Base-2 logarithm of the number of buckets in each power of two.
const SUB_BUCKET_BITS: u32 = 7;
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;
/// Number of bits of the values that are distinguished: 2^40 ticks are nine minutes of a 2 GHz counter.
const VALUE_BITS: u32 = 40;
const LARGEST: u64 = (1 << VALUE_BITS) - 1;
const BUCKETS: usize = ((VALUE_BITS - SUB_BUCKET_BITS + 1) as usize) << SUB_BUCKET_BITS;
/// Millionths in a percent. Percentiles are rounded to whole millionths: 99.9 % of 1000 values is
/// then exactly the 999th value, whereas the rounding error of 99.9 / 100 would give the 1000th.
const MILLIONTHS_PER_PERCENT: f64 = 10_000.0;

/// One bucket: its range of values, both ends included, and their count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value of the bucket.
    pub low: u64,
    /// The largest value of the bucket.
    pub high: u64,
    /// The number of recorded values.
    pub count: u64,
}

/// The number of occurrences of each value, with values distinguished to 1/128.
///
/// This is plain data of 34 KiB that may be placed in mapped memory. The empty histogram is all
/// zero.
#[derive(Clone, Copy, Debug)]
pub struct Histogram {
    counts: [u64; BUCKETS],
    total: u64,
    minimum: u64,
    maximum: u64,
}

impl Histogram {
    /// A histogram without values.
    pub const EMPTY: Self = Self { counts: [0; BUCKETS], total: 0, minimum: 0, maximum: 0 };

    /// Counts one value. Values of 2^40 and above share the last bucket, but minimum and maximum
    /// are exact for these values too.
    pub fn record(&mut self, value: u64) {
        if let Some(count) = self.counts.get_mut(bucket_of(value.min(LARGEST))) {
            *count += 1;
        }
        self.minimum = if self.total == 0 { value } else { self.minimum.min(value) };
        self.total += 1;
        self.maximum = self.maximum.max(value);
    }

    /// Returns the number of values.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the smallest value, exactly; `None` without values.
    pub fn minimum(&self) -> Option<u64> {
        (self.total > 0).then_some(self.minimum)
    }

    /// Returns the largest value, exactly; `None` without values.
    pub fn maximum(&self) -> Option<u64> {
        (self.total > 0).then_some(self.maximum)
    }

    /// Returns the value that `percent` of the values do not exceed (nearest rank), with an error
    /// of at most 0.4 %; `None` without values.
    ///
    /// Percentages outside 0 to 100 are replaced by the nearer of the two.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let millionths = (percent.clamp(0.0, 100.0) * MILLIONTHS_PER_PERCENT + 0.5) as u128;
        let rank = (u128::from(self.total) * millionths).div_ceil(1_000_000).max(1) as u64;
        // The smallest and the largest value are known exactly.
        if rank == self.total {
            return self.maximum();
        }
        if rank == 1 {
            return self.minimum();
        }
        let mut seen = 0;
        let bucket = self.buckets().find(|bucket| {
            seen += bucket.count;
            seen >= rank
        })?;
        let middle = bucket.low + (bucket.high - bucket.low) / 2;
        Some(middle.clamp(self.minimum, self.maximum))
    }

    /// Returns the buckets that hold values, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(|(index, &count)| {
            let (low, high) = range_of(index as u64);
            Bucket { low, high, count }
        })
    }
}

/// Returns the bucket of a value below 2^40.
fn bucket_of(value: u64) -> usize {
    if value < SUB_BUCKETS {
        return value as usize;
    }
    let shift = value.ilog2() - SUB_BUCKET_BITS;
    ((u64::from(shift) << SUB_BUCKET_BITS) + (value >> shift)) as usize
}

/// Returns the values that fall into a bucket, both ends included.
fn range_of(bucket: u64) -> (u64, u64) {
    if bucket < SUB_BUCKETS {
        return (bucket, bucket);
    }
    let shift = (bucket >> SUB_BUCKET_BITS) - 1;
    let low = (SUB_BUCKETS + bucket % SUB_BUCKETS) << shift;
    (low, low + (1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const PERCENTAGES: [f64; 8] = [0.0, 25.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

    fn filled(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::EMPTY;
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    /// Returns a strategy for values of every order of magnitude, like latencies.
    fn value() -> impl Strategy<Value = u64> {
        (0u32..VALUE_BITS, any::<u64>()).prop_map(|(bits, value)| value & ((2u64 << bits) - 1))
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket_and_buckets_are_narrow(value in value()) {
            let (low, high) = range_of(bucket_of(value) as u64);
            prop_assert!((low..=high).contains(&value));
            prop_assert!((high - low) as f64 <= value as f64 / 128.0);
        }

        #[test]
        fn percentiles_agree_with_sorted_values(mut values in prop::collection::vec(value(), 1..400)) {
            let histogram = filled(&values);
            values.sort_unstable();
            for percent in PERCENTAGES {
                let rank = ((values.len() as f64 * percent).round() / 100.0 - 1e-6).ceil().max(1.0);
                let exact = values[rank as usize - 1] as f64;
                let found = histogram.percentile(percent).unwrap() as f64;
                prop_assert!((found - exact).abs() <= exact * 0.004, "p{percent}: {found}, exactly {exact}");
            }
            prop_assert_eq!(histogram.percentile(100.0), values.last().copied());
            prop_assert_eq!(histogram.maximum(), values.last().copied());
            prop_assert_eq!(histogram.minimum(), values.first().copied());
            prop_assert_eq!(histogram.total(), values.len() as u64);
        }

        #[test]
        fn every_value_is_in_one_bucket(values in prop::collection::vec(value(), 0..200)) {
            let buckets: Vec<Bucket> = filled(&values).buckets().collect();
            for bucket in &buckets {
                let inside = values.iter().filter(|value| (bucket.low..=bucket.high).contains(value));
                prop_assert_eq!(inside.count() as u64, bucket.count);
            }
            prop_assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
            prop_assert!(buckets.windows(2).all(|pair| pair[0].high < pair[1].low));
        }
    }

    #[test]
    fn buckets_have_no_gaps_between_them() {
        let mut next = 0;
        for bucket in 0..BUCKETS as u64 {
            let (low, high) = range_of(bucket);
            assert_eq!((low, bucket_of(low), bucket_of(high)), (next, bucket as usize, bucket as usize));
            next = high + 1;
        }
        assert_eq!(next, LARGEST + 1);
    }

    #[test]
    fn ranks_are_exact_where_the_percentage_is_not_a_binary_fraction() {
        let values: Vec<u64> =
            (1..=1000).map(|value| if value == 1000 { 1 << 30 } else { value % 100 }).collect();
        assert_eq!(filled(&values).percentile(99.9), Some(99));
    }

    #[test]
    fn values_beyond_the_last_bucket_are_counted() {
        let histogram = filled(&[1, u64::MAX]);
        assert_eq!(histogram.maximum(), Some(u64::MAX));
        assert_eq!(histogram.percentile(99.0), Some(u64::MAX));
        assert_eq!(histogram.buckets().map(|bucket| bucket.count).sum::<u64>(), 2);
    }

    #[test]
    fn an_empty_histogram_has_no_statistics() {
        let histogram = Histogram::EMPTY;
        assert_eq!((histogram.total(), histogram.minimum(), histogram.maximum()), (0, None, None));
        assert_eq!(histogram.percentile(50.0), None);
        assert_eq!(histogram.buckets().count(), 0);
    }
}
