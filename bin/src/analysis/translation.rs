//! Conclusions about address translation from walks on several kinds of pages.
//!
//! A chase over one line on each of many pages differs from a chase over the same number of neighbouring lines only in
//! its translations: the caches hold both. The time by which the first chase is slower grows by the cost of a miss
//! where the reach of a translation buffer ends.

use latency_core::chain::Order;
use latency_core::compact::Compact;
use latency_core::units::{Bytes, PageSize, Pages};

use crate::result::Outcome;
use latency_core::stats::Estimate;

/// Smallest working set of the walks: first-level buffers reach 32 to 128 pages of 4 KiB.
pub const SMALLEST: Bytes = Bytes(256 << 10);
/// Random order within regions of 2 MiB.
pub const TWO_MEGABYTE_LOCAL: Order = Order::Local(Bytes(2 << 20));
/// Numbers of lines that are probed: first-level buffers have 32 to 128 entries, second-level ones 512 to 4096.
pub const LINES_PROBED: [u64; 17] =
    [16, 32, 48, 64, 72, 80, 96, 128, 192, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192];
/// Extra cycles from which on hops miss a buffer; without cycles, the same number of nanoseconds is as good a bound.
const MISS: f64 = 2.0;
/// Cycles that a page walk costs more than a hit in the second level.
const WALK: f64 = 8.0;
/// Factor over a buffer's reach at which its cost is read, so that the buffer holds only a part of the pages.
const BEYOND: u64 = 3;
/// Number of parts into which the gap between a reach and the next span is divided by further sizes.
const PARTS: u64 = 5;
/// Factor within which two reaches count as equal, since reaches are found to a step of the probe.
const SAME_REACH: u64 = 2;

/// One level of translation buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TlbLevel {
    /// The largest span of one line on each 4 KiB without a miss.
    pub reach: Bytes,
    /// The next larger span that was tried, which has misses.
    pub beyond: Bytes,
    /// Cost of a miss beyond a first-level hit, in core cycles, or nanoseconds without them.
    pub miss: f64,
}

/// The translation buffers behind one kind of pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffers {
    /// The first and the second level, as far as the walks went beyond their reach.
    pub levels: [Option<TlbLevel>; 2],
    /// True if pages larger than 4 KiB are translated like 4 KiB pages; `None` if that cannot be determined.
    pub behaves_as_small: Option<bool>,
}

/// Returns a latency: core cycles, or nanoseconds without them.
fn latency(outcome: &Outcome<'_>) -> Option<f64> {
    let series = &outcome.result.as_ref().ok()?.series;
    Some(series.core_cycles.map_or(series.nanoseconds.median, |cycles| cycles.median))
}

/// Returns the outcome of a walk.
#[must_use]
pub fn find<'o, 'a>(
    outcomes: &'o [Outcome<'a>],
    pages: Pages,
    (order, stride, size): (Order, Bytes, Bytes),
) -> Option<&'o Outcome<'a>> {
    outcomes.iter().find(|outcome| {
        let point = &outcome.point;
        point.pages == pages && point.order == order && point.stride == stride && point.size == size
    })
}

/// Returns the extra time of lines on separate pages over neighbouring lines; `None` if it was not measured.
#[must_use]
pub fn excess(outcomes: &[Outcome<'_>], pages: Pages, lines: u64) -> Option<f64> {
    let page = PageSize::Small.bytes();
    let spread = find(outcomes, pages, (Order::Random, page, page.times(lines)))?;
    let dense = find(outcomes, pages, (Order::Random, Bytes(64), Bytes(64 * lines)))?;
    Some(latency(spread)? - latency(dense)?)
}

/// Returns an [`excess`] that is larger than the difference between two measurements; 0 for a smaller one.
fn clear(outcomes: &[Outcome<'_>], pages: Pages, lines: u64) -> Option<f64> {
    /// Least excess that counts, as a share of the latency: a miss is a good part of a hit in any cache that holds this
    /// number of lines.
    const PART: f64 = 0.05;
    let dense = latency(find(outcomes, pages, (Order::Random, Bytes(64), Bytes(64 * lines)))?)?;
    excess(outcomes, pages, lines).map(|excess| if excess < PART * dense { 0.0 } else { excess })
}

/// Returns the numbers of lines that were probed on one kind of pages, ascending.
fn probed<'o>(outcomes: &'o [Outcome<'_>], pages: Pages) -> impl Iterator<Item = u64> + Clone + 'o {
    let page = PageSize::Small.bytes();
    let after = move |least: u64| {
        let points = outcomes.iter().map(|outcome| &outcome.point);
        let mine = points.filter(|point| point.pages == pages && point.order == Order::Random);
        mine.filter(|point| point.stride == page)
            .map(|point| point.size.0 / page.0)
            .filter(|lines| *lines > least)
            .min()
    };
    Compact(core::iter::successors(after(0), move |lines| after(*lines)))
}

/// Returns further numbers of lines between a buffer's reach and the next span tried, to find its end more precisely.
pub fn between(buffer: &TlbLevel) -> impl Iterator<Item = u64> + use<> {
    let page = PageSize::Small.bytes();
    let (last, beyond) = (buffer.reach.0 / page.0, buffer.beyond.0 / page.0);
    (1..PARTS).map(move |part| last + (beyond - last) * part / PARTS).filter(move |lines| *lines > last)
}

/// Returns the conclusions about the buffers behind one kind of pages.
#[must_use]
pub fn buffers(outcomes: &[Outcome<'_>], pages: Pages) -> Buffers {
    let [small, levels] = [Pages::Small4k, pages]
        .map(|pages| levels(probed(outcomes, pages), |lines| clear(outcomes, pages, lines)));
    let measured = excess(outcomes, pages, 16).is_some();
    let behaves_as_small = match (small, levels) {
        _ if pages == Pages::Small4k || !measured => None,
        ([_, Some(small)], [_, Some(large)]) => Some(large.reach <= small.reach.times(SAME_REACH)),
        ([_, Some(_)], [_, None]) => Some(false),
        _ => None,
    };
    Buffers { levels, behaves_as_small }
}

/// Returns the first and the second level, from the excess time of each number of lines.
fn levels(
    probed: impl Iterator<Item = u64> + Clone,
    excess: impl Fn(u64) -> Option<f64>,
) -> [Option<TlbLevel>; 2] {
    let page = PageSize::Small.bytes();
    // Returns the last number of lines before the excess rises above `most`, and the first above it.
    let reach = |most: f64| {
        let beyond = probed.clone().find(|lines| excess(*lines).is_some_and(|excess| excess > most))?;
        let last = probed.clone().take_while(|lines| *lines < beyond).last()?;
        Some((last, beyond))
    };
    let cost = |last: u64, end: u64| {
        let far = probed.clone().find(|lines| *lines >= last * BEYOND && *lines <= end);
        far.or(probed.clone().take_while(|lines| *lines <= end).last()).and_then(&excess)
    };
    let Some((first, next)) = reach(MISS) else { return [None; 2] };
    // While the cost of the second level is unknown, its end is sought far behind the end of the first.
    let base = cost(first, u64::MAX).unwrap_or(MISS);
    let second = reach(base + WALK.max(base)).filter(|(last, _)| *last >= first * BEYOND);
    let end = second.map_or(u64::MAX, |(last, _)| last);
    let buffer = |last: u64, beyond: u64, end| {
        Some(TlbLevel { reach: page.times(last), beyond: page.times(beyond), miss: cost(last, end)? })
    };
    [buffer(first, next, end), second.and_then(|(last, beyond)| buffer(last, beyond, u64::MAX))]
}

/// Returns the ratio of the time of a walk to that of the same walk in the largest pages that were obtained; `None` for
/// the latter walk itself.
#[must_use]
#[inline(never)] // the search is large, and there are several calls
pub fn ratio(outcomes: &[Outcome<'_>], outcome: &Outcome<'_>) -> Option<Estimate> {
    let point = &outcome.point;
    let largest = [Pages::Huge1g, Pages::Huge2m, Pages::Thp].into_iter().find_map(|pages| {
        find(outcomes, pages, (point.order, point.stride, point.size)).filter(|other| other.result.is_ok())
    })?;
    if largest.point.pages == point.pages {
        return None;
    }
    outcome.estimate()?.over(largest.estimate()?)
}

/// Returns the share of translation in the time of a walk, by comparison with the largest pages that were obtained;
/// `None` for a walk in those pages.
#[must_use]
pub fn share(outcomes: &[Outcome<'_>], outcome: &Outcome<'_>) -> Option<f64> {
    ratio(outcomes, outcome).map(|ratio| 1.0 - 1.0 / ratio.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Returns the extra time of hops that miss buffers of 64 and 2048 entries, as a chase in random order does.
    fn planted(lines: u64) -> Option<f64> {
        let missed = |entries: u64| 1.0 - (entries as f64 / lines as f64).min(1.0);
        Some(7.0 * missed(64) + 30.0 * missed(2048))
    }

    #[test]
    fn both_levels_are_found() {
        let [first, second] = levels(LINES_PROBED.into_iter(), planted);
        let first = first.expect("a first level");
        assert!((64..=80).contains(&(first.reach.0 / 4096)), "{first:?}");
        assert!((3.0..9.0).contains(&first.miss), "{first:?}");
        let closer: Vec<u64> = between(&first).collect();
        let (reach, beyond) = (first.reach.0 / 4096, first.beyond.0 / 4096);
        assert!(
            closer.len() == 4 && closer.iter().all(|lines| reach < *lines && *lines < beyond),
            "{closer:?}"
        );
        let second = second.expect("a second level");
        assert!((2048..=3072).contains(&(second.reach.0 / 4096)), "{second:?}");
        assert!(second.miss > 25.0, "{second:?}");
    }

    #[test]
    fn without_misses_there_is_no_level() {
        assert_eq!(levels(LINES_PROBED.into_iter(), |_| Some(0.3)), [None; 2]);
        assert_eq!(levels(LINES_PROBED.into_iter(), |_| None), [None; 2]);
    }
}
