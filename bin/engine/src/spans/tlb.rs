//! Conclusions about address translation from walks over spans of addresses without memory, and the levels of the TLB:
//! from these walks, or read from a saved curve.
//!
//! The data of these walks are always in the nearest cache. So the time beyond that of a few pages is that of
//! translation, and it grows by the cost of a miss where the entries of a TLB end.

use core::cmp;

use latency_core::model::fit::PageKnee;
use latency_core::{Bytes, Estimate, Interval, Pages, ToReal};

use crate::result::SpanPoint;
use crate::result::extra::FEWEST_PAGES;

/// The first and the second level, if they are known.
pub type TlbLevels = [Option<TlbEnd>; 2];

/// The end of a level of the TLB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TlbEnd {
    /// The number of pages up to which most loads find an entry, and its bounds if they are known.
    pub entries: Estimate,
    /// The size of a page.
    pub page: Bytes,
    /// Nanoseconds that a miss costs beyond a hit of the first level.
    pub miss_ns: f64,
}

impl TlbEnd {
    /// Returns the bytes that the entries cover.
    pub fn reach(&self) -> f64 {
        self.entries.value * self.page.0.real()
    }
}

/// Returns the levels for one kind of pages, from walks over spans at this core clock.
pub fn of_spans(points: &[SpanPoint], pages: Pages, page: Bytes, gigahertz: Option<f64>) -> TlbLevels {
    levels(points, pages, gigahertz).map(|level| {
        let level = level?;
        let (low, high) = level.bounds;
        let interval = Some(Interval { low: low.real(), high: high.real() });
        let entries = Estimate { value: level.entries.real(), interval };
        Some(TlbEnd { entries, page, miss_ns: level.miss / gigahertz.unwrap_or(1.0) })
    })
}

/// Returns the steps of a curve that the levels cause, in a unit that has `per_ns` in a nanosecond.
pub fn knees(levels: &TlbLevels, per_ns: f64) -> [PageKnee; 2] {
    let mut nearer = 0.0;
    levels.map(|level| {
        let Some(level) = level else { return PageKnee::default() };
        let step = level.miss_ns - core::mem::replace(&mut nearer, level.miss_ns);
        PageKnee { reach: level.reach(), step: step * per_ns }
    })
}

/// Extra cycles from which on loads miss a TLB; without cycles, the same number of nanoseconds is as good a bound.
const MISS: f64 = 2.0;
/// Cycles that a page walk costs more than a hit in the second level.
const WALK: f64 = 8.0;
/// Factor over the entries at which the cost of a miss is read, so that the TLB holds only a part of the pages.
const BEYOND: u64 = 3;
/// Least cost that counts, as a share of a hit: a smaller one is the difference between two measurements.
const PART: f64 = 0.05;

/// Shares of a step from which on a number of pages may exceed the entries, and surely does: replacement is not always
/// that of the least recently used, and other pages need entries, too.
const STEP: [f64; 3] = [0.1, 0.5, 0.9];
/// Least cycles, or nanoseconds, of a step at the place that counts as its beginning, and of a miss.
const LEAST_STEP: f64 = 1.0;

/// Share of a step that a number of pages behind it keeps, and the least share of these numbers that keep it.
const KEPT: f64 = 0.25;
const LASTING: f64 = 0.9;

/// One level of the TLB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TlbLevel {
    /// The largest number of pages at which most loads find an entry.
    pub entries: u64,
    /// The largest number of pages at which nearly all loads find an entry, and the second one at which few do: at the
    /// first, the other pages of the process may have displaced the entries.
    pub bounds: (u64, u64),
    /// The numbers of pages between which the bounds may be narrowed.
    pub gaps: [(u64, u64); 3],
    /// Cost of a miss beyond a hit of the first level, in core cycles, or nanoseconds without them.
    pub miss: f64,
}

/// Returns the points of one kind of pages, which ascend.
pub fn of_kind(points: &[SpanPoint], pages: Pages) -> &[SpanPoint] {
    let first = points.iter().position(|point| point.pages == pages).unwrap_or(points.len());
    let rest = points.get(first..).unwrap_or_default();
    let count = rest.iter().take_while(|point| point.pages == pages).count();
    rest.get(..count).unwrap_or_default()
}

/// Returns the cost of translation of a point: its time beyond that of the fewest pages of its kind.
pub fn cost(points: &[SpanPoint], point: &SpanPoint) -> Option<Estimate> {
    let base = of_kind(points, point.pages).iter().find(|base| base.count == FEWEST_PAGES)?;
    Some(time(point).less(time(base)))
}

/// Returns the cost of translation over the largest measured span of at most `span` bytes, and that span.
pub fn at(points: &[SpanPoint], pages: Pages, page: Bytes, span: Bytes) -> Option<(Bytes, Estimate)> {
    let within = of_kind(points, pages).iter().filter(|point| page.times(point.count) <= span);
    let point = within.max_by_key(|point| point.count)?;
    Some((page.times(point.count), cost(points, point)?))
}

/// Returns the first and the second level of the TLB for one kind of pages, at this core clock.
pub fn levels(points: &[SpanPoint], pages: Pages, gigahertz: Option<f64>) -> [Option<TlbLevel>; 2] {
    let points = of_kind(points, pages);
    let Some(hit) = points.first().map(|point| point.nanoseconds) else { return [None; 2] };
    let cycles = |point: &SpanPoint| {
        let cost = point.nanoseconds - hit;
        if cost < PART * hit { 0.0 } else { cost * gigahertz.unwrap_or(1.0) }
    };
    // Returns the place of the first number of pages whose cost is above `most`.
    let place = |most: f64| points.iter().position(|point| cycles(point) > most).filter(|place| *place > 0);
    let count = |place: usize| points.get(place).map(|point| point.count);
    let reach = |most: f64| count(place(most)? - 1);
    let miss = |entries: u64, end: u64| {
        let far = points.iter().find(|point| point.count >= entries * BEYOND && point.count <= end);
        far.or(points.iter().rfind(|point| point.count <= end))
    };
    let Some(first) = reach(MISS) else { return [None; 2] };
    // While the cost of the second level is unknown, its end is sought far behind the end of the first.
    let base = miss(first, u64::MAX).map_or(MISS, cycles);
    let second = reach(base + WALK.max(base)).filter(|entries| *entries >= first * BEYOND);
    let level = |near: Option<&SpanPoint>, far: &SpanPoint| {
        let near = near.or(points.first())?;
        let (below, miss) = (cycles(near), cycles(far));
        let [low, half, high] = STEP.map(|share| place(below + (share * (miss - below)).max(LEAST_STEP)));
        let (low, high) = (low?, high?);
        let around = |place: usize| Some((count(place - 1)?, count(place)?));
        let end = if high + 1 < points.len() { high + 1 } else { high };
        let half = half?;
        // Behind the end of a TLB all loads are slower; other work slows only some.
        let behind = points.get(half..).unwrap_or_default();
        let kept = behind.iter().filter(|point| cycles(point) > below + KEPT * (miss - below)).count();
        let is_certain = kept as f64 >= LASTING * behind.len() as f64;
        let level = TlbLevel {
            entries: count(half - 1)?,
            bounds: (count(low - 1)?, count(end)?),
            gaps: [around(low)?, around(high)?, around(end)?],
            miss,
        };
        // A cheaper miss is a difference between two measurements.
        Some(level).filter(|_| is_certain && miss >= LEAST_STEP)
    };
    let near = miss(first, second.unwrap_or(u64::MAX));
    let far = second.and_then(|entries| miss(entries, u64::MAX));
    let first = near.and_then(|near| level(None, near));
    [first, first.and(far).and_then(|far| level(near, far))]
}

/// Returns the time of a load.
const fn time(point: &SpanPoint) -> Estimate {
    Estimate { value: point.nanoseconds, interval: point.interval }
}

/// Orders points by kind of pages and number of pages.
pub fn ascending(one: &SpanPoint, other: &SpanPoint) -> cmp::Ordering {
    (one.pages.code(), one.count).cmp(&(other.pages.code(), other.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::{Interval, PageSize};
    use std::vec::Vec;

    #[test]
    fn levels_of_spans_are_steps_of_a_curve() {
        let pages = Pages::base(PageSize::KIB_4);
        let miss = |count: u64, entries: u64, cost: f64| if count > entries { cost } else { 0.0 };
        let points = [8, 64, 96, 128, 192, 2048, 2560, 4096, 8192].map(|count| SpanPoint {
            pages,
            count,
            nanoseconds: 1.25 + miss(count, 96, 2.0) + miss(count, 2048, 8.0),
            interval: None,
        });
        let found = of_spans(&points, pages, Bytes(4096), Some(4.0));
        let [first, second] = found.map(Option::unwrap);
        assert_eq!([first, second].map(|level| level.entries.value), [96.0, 2048.0]);
        assert_eq!(first.entries.bounds(), Interval { low: 96.0, high: 192.0 });
        let is_near = |found: f64, truth: f64| (found - truth).abs() < 1e-9;
        assert!(is_near(first.miss_ns, 2.0) && is_near(second.miss_ns, 10.0), "{found:?}");
        let [first, second] = knees(&found, 4.0);
        assert_eq!([first.reach, second.reach], [393_216.0, 8_388_608.0]);
        assert!(is_near(first.step, 8.0) && is_near(second.step, 32.0), "{first:?} {second:?}");
        assert_eq!(knees(&[None; 2], 4.0), [PageKnee::default(); 2]);
        assert_eq!(of_spans(&points, Pages::thp(PageSize::MIB_2), Bytes::MIB, None), [None; 2]);
    }

    const SMALL: Pages = Pages::base(PageSize::KIB_4);

    /// Returns the nanoseconds of a load over a number of pages with a TLB of 64 and 2048 entries, least recently used:
    /// a walk in a cycle over more pages than entries misses with each load.
    pub(crate) fn planted(count: u64) -> f64 {
        let miss = |entries: u64, cost: f64| if count > entries { cost } else { 0.0 };
        1.25 + miss(64, 2.0) + miss(2048, 8.0)
    }

    fn points(counts: &[u64], ns: impl Fn(u64) -> f64) -> Vec<SpanPoint> {
        let point = |count: &u64| SpanPoint {
            pages: SMALL,
            count: *count,
            nanoseconds: ns(*count),
            interval: Some(Interval { low: ns(*count) - 0.01, high: ns(*count) + 0.01 }),
        };
        counts.iter().map(point).collect()
    }

    const COUNTS: [u64; 14] = [8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 3072, 8192];

    #[test]
    fn both_levels_are_found() {
        let points = points(&COUNTS, planted);
        let [first, second] = levels(&points, SMALL, Some(3.2));
        let first = first.unwrap();
        assert_eq!((first.entries, first.bounds), (64, (64, 128)));
        assert_eq!(first.gaps, [(64, 96), (64, 96), (96, 128)]);
        assert!((first.miss - 6.4).abs() < 0.01, "{first:?}");
        let second = second.unwrap();
        assert_eq!((second.entries, second.bounds), (2048, (2048, 8192)));
        assert!((second.miss - 32.0).abs() < 0.01, "{second:?}");
    }

    /// Nanoseconds of a Zen 3 guest at 3.06 GHz, whose TLBs have 64 and 2048 entries: a load of another page of zeros
    /// there misses the first-level cache by its address.
    #[test]
    fn soft_ends_have_bounds() {
        const MEASURED: [(u64, f64); 19] = [
            (8, 6.83),
            (16, 6.88),
            (32, 6.72),
            (48, 7.12),
            (56, 8.47),
            (64, 9.07),
            (96, 9.03),
            (128, 9.16),
            (192, 9.09),
            (256, 8.95),
            (512, 9.24),
            (1024, 9.28),
            (1280, 9.64),
            (1536, 11.81),
            (2048, 12.93),
            (2560, 19.13),
            (3072, 22.3),
            (4096, 22.33),
            (8192, 22.9),
        ];
        let counts = MEASURED.map(|(count, _)| count);
        let ns = |count| MEASURED.iter().find(|(other, _)| *other == count).map_or(f64::NAN, |(_, ns)| *ns);
        let [first, second] = levels(&points(&counts, ns), SMALL, Some(3.06)).map(Option::unwrap);
        assert_eq!((first.entries, first.bounds), (48, (48, 96)));
        assert!((6.0..8.0).contains(&first.miss), "{first:?}");
        assert_eq!((second.entries, second.bounds), (2048, (1280, 4096)));
        assert!((45.0..50.0).contains(&second.miss), "{second:?}");
    }

    /// Nanoseconds on a busy host, in an emulator that has no TLB.
    #[test]
    fn noise_does_not_look_like_a_level() {
        const MEASURED: [(u64, f64); 20] = [
            (8, 1311.0),
            (16, 1926.0),
            (32, 1928.0),
            (48, 1311.0),
            (64, 1905.0),
            (96, 1480.0),
            (128, 1313.0),
            (192, 1312.0),
            (256, 1938.0),
            (384, 1402.0),
            (512, 1798.0),
            (768, 1652.0),
            (1024, 1468.0),
            (1536, 1594.0),
            (2048, 1533.0),
            (3072, 1482.0),
            (4096, 1467.0),
            (8192, 1863.0),
            (16_384, 1991.0),
            (32_768, 1921.0),
        ];
        let ns = |count| MEASURED.iter().find(|(other, _)| *other == count).map_or(f64::NAN, |(_, ns)| *ns);
        assert_eq!(levels(&points(&MEASURED.map(|(count, _)| count), ns), SMALL, Some(0.58)), [None; 2]);
    }

    #[test]
    fn without_misses_there_is_no_level() {
        assert_eq!(levels(&points(&COUNTS, |_| 1.25), SMALL, Some(3.2)), [None; 2]);
        assert_eq!(levels(&points(&COUNTS, |count| 1.25 + count as f64 * 1e-6), SMALL, None), [None; 2]);
        assert_eq!(levels(&[], SMALL, None), [None; 2]);
    }

    #[test]
    fn a_cost_is_the_time_beyond_that_of_the_fewest_pages() {
        let points = points(&COUNTS, planted);
        let page = PageSize::KIB_4.bytes();
        let (span, found) = at(&points, SMALL, page, Bytes::MIB.times(8)).unwrap();
        assert_eq!(span, page.times(2048));
        let interval = found.interval.unwrap();
        assert!((found.value - 2.0).abs() < 1e-9 && (interval.high - interval.low - 0.04).abs() < 1e-9);
        assert!(at(&points, SMALL, page, Bytes(4096)).is_none());
        assert!(at(&points, Pages::thp(PageSize::MIB_2), page, Bytes::MIB).is_none());
    }
}
