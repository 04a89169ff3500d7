//! The levels of the TLB beside a curve: measured over spans of addresses without memory, or read from a saved curve.

use latency_core::math::ToReal;
use latency_core::model::translation::PageKnee;
use latency_core::stats::{Estimate, Interval};
use latency_core::units::{Bytes, Pages};

use super::spans::levels;
use crate::result::spans::SpanPoint;

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

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::units::PageSize;

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
}
