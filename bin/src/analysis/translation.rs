//! Conclusions about address translation from walks on several kinds of pages.
//!
//! A chase over one line on each of many base pages differs from a chase over the same number of neighbouring lines only
//! in its translations: the caches hold both. The time by which the first chase is slower grows by the cost of a miss
//! where the reach of a translation buffer ends.

use core::iter;

use latency_core::chain::Order;
use latency_core::compact::Compact;
use latency_core::units::{Bytes, LINE, PageSize, Pages};

use crate::result::Outcome;
use crate::result::words::REGION;
use latency_core::stats::Estimate;

/// Lines of the smallest working set of the walks: as many lines are also walked on separate pages, and first-level buffers
/// reach 32 to 128 pages.
pub const FEWEST_LINES: u64 = 4096;
/// Random order within regions of 2 MiB.
pub const TWO_MEGABYTE_LOCAL: Order = Order::Local(REGION);
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
    /// The largest span of one line on each base page without a miss.
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
    /// True if larger pages are translated like base pages; `None` if that cannot be determined.
    pub behaves_as_small: Option<bool>,
}

/// Returns a latency: core cycles, or nanoseconds without them.
fn latency(outcome: &Outcome<'_>) -> Option<f64> {
    let series = &outcome.result.as_ref().ok()?.series;
    Some(series.core_cycles.map_or(series.nanoseconds.median, |cycles| cycles.median))
}

/// Returns the kinds of pages that were planned, smallest pages first.
pub fn kinds<'o>(outcomes: &'o [Outcome<'_>]) -> impl Iterator<Item = Pages> + Clone + use<'o> {
    let next = |last: u8| {
        let codes = outcomes.iter().map(|outcome| outcome.point.pages.code());
        codes.filter(|code| *code > last).min()
    };
    let codes = iter::successors(next(Pages::AUTO.code()), move |last| next(*last));
    Compact(codes.map(Pages::of_code))
}

/// Returns the size of base pages; 4 KiB if none were planned.
#[must_use]
pub fn base_page(outcomes: &[Outcome<'_>]) -> PageSize {
    let base = outcomes.iter().find(|outcome| outcome.point.pages.are_base());
    base.and_then(|outcome| outcome.point.pages.size()).unwrap_or(PageSize::LEAST)
}

/// Returns the size of a cache line.
fn line(outcomes: &[Outcome<'_>]) -> Bytes {
    outcomes.first().map_or(LINE, |outcome| outcome.point.line.bytes())
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
    let (page, line) = (base_page(outcomes).bytes(), line(outcomes));
    let spread = find(outcomes, pages, (Order::Random, page, page.times(lines)))?;
    let dense = find(outcomes, pages, (Order::Random, line, line.times(lines)))?;
    Some(latency(spread)? - latency(dense)?)
}

/// Returns an [`excess`] that is larger than the difference between two measurements; 0 for a smaller one.
fn clear(outcomes: &[Outcome<'_>], pages: Pages, lines: u64) -> Option<f64> {
    /// Least excess that counts, as a share of the latency: a miss is a good part of a hit in any cache that holds this
    /// number of lines.
    const PART: f64 = 0.05;
    let line = line(outcomes);
    let dense = latency(find(outcomes, pages, (Order::Random, line, line.times(lines)))?)?;
    excess(outcomes, pages, lines).map(|excess| if excess < PART * dense { 0.0 } else { excess })
}

/// A number of lines that was probed, and its [`clear`] excess.
type Probe = (u64, Option<f64>);

/// Maximum number of probes of one kind of pages: those of every run, and more around both reaches, of base pages and of
/// larger ones.
const MOST: usize = LINES_PROBED.len() + 4 * (PARTS as usize - 1);

/// Returns the probes of one kind of pages by their number of lines, ascending.
fn probed<'r>(outcomes: &[Outcome<'_>], pages: Pages, room: &'r mut [Probe; MOST]) -> &'r [Probe] {
    let page = base_page(outcomes).bytes();
    let (mut count, mut last) = (0, 0);
    while let Some(slot) = room.get_mut(count) {
        let points = outcomes.iter().map(|outcome| &outcome.point);
        let mine = points.filter(|point| point.pages == pages && point.order == Order::Random);
        let lines = mine.filter(|point| point.stride == page).map(|point| point.size.0 / page.0);
        let Some(lines) = lines.filter(|lines| *lines > last).min() else { break };
        *slot = (lines, clear(outcomes, pages, lines));
        (count, last) = (count + 1, lines);
    }
    room.get(..count).unwrap_or_default()
}

/// Returns further numbers of lines between a buffer's reach and the next span tried, to find its end more precisely.
pub fn between(buffer: &TlbLevel, page: Bytes) -> impl Iterator<Item = u64> + use<> {
    let (last, beyond) = (buffer.reach.0 / page.0, buffer.beyond.0 / page.0);
    (1..PARTS).map(move |part| last + (beyond - last) * part / PARTS).filter(move |lines| *lines > last)
}

/// Returns the conclusions about the buffers behind one kind of pages.
#[must_use]
pub fn buffers(outcomes: &[Outcome<'_>], pages: Pages) -> Buffers {
    let page = base_page(outcomes);
    let mut room = [(0, None); MOST];
    let [small, levels] =
        [Pages::base(page), pages].map(|pages| levels(probed(outcomes, pages, &mut room), page.bytes()));
    let measured = excess(outcomes, pages, 16).is_some();
    let behaves_as_small = match (small, levels) {
        _ if pages.are_base() || !measured => None,
        ([_, Some(small)], [_, Some(large)]) => Some(large.reach <= small.reach.times(SAME_REACH)),
        ([_, Some(_)], [_, None]) => Some(false),
        _ => None,
    };
    Buffers { levels, behaves_as_small }
}

/// Returns the first and the second level.
fn levels(probed: &[Probe], page: Bytes) -> [Option<TlbLevel>; 2] {
    // Returns the last number of lines before the excess rises above `most`, and the first above it.
    let reach = |most: f64| {
        let beyond = probed.iter().position(|(_, excess)| excess.is_some_and(|excess| excess > most))?;
        Some((probed.get(beyond.checked_sub(1)?)?.0, probed.get(beyond)?.0))
    };
    let cost = |last: u64, end: u64| {
        let far = probed.iter().find(|(lines, _)| *lines >= last * BEYOND && *lines <= end);
        far.or(probed.iter().rfind(|(lines, _)| *lines <= end))?.1
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
    let huge = kinds(outcomes).filter(|pages| !pages.are_base());
    let all = huge.filter_map(|pages| find(outcomes, pages, (point.order, point.stride, point.size)));
    let largest = all.filter(|other| other.result.is_ok()).last()?;
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

    fn probes(excess: impl Fn(u64) -> Option<f64>) -> [Probe; LINES_PROBED.len()] {
        LINES_PROBED.map(|lines| (lines, excess(lines)))
    }

    #[test]
    fn both_levels_are_found() {
        let page = Bytes(4096);
        let [first, second] = levels(&probes(planted), page);
        let first = first.expect("a first level");
        assert!((64..=80).contains(&(first.reach.0 / 4096)), "{first:?}");
        assert!((3.0..9.0).contains(&first.miss), "{first:?}");
        let closer: Vec<u64> = between(&first, page).collect();
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
        let page = Bytes(4096);
        assert_eq!(levels(&probes(|_| Some(0.3)), page), [None; 2]);
        assert_eq!(levels(&probes(|_| None), page), [None; 2]);
    }
}
