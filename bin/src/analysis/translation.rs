//! Conclusions about address translation from walks on several kinds of pages.

use core::iter;

use latency_core::chain::Order;
use latency_core::units::{Bytes, PageSize, Pages};

use super::spans::at;
use crate::result::Outcome;
use crate::result::spans::SpanPoint;
use crate::result::words::REGION;
use latency_core::stats::Estimate;

/// Lines of the smallest working set of the walks: base pages with as many lines exceed every first-level TLB.
pub const FEWEST_LINES: u64 = 4096;
/// Random order within regions of 2 MiB.
pub const TWO_MEGABYTE_LOCAL: Order = Order::Local(REGION);

/// Returns the kinds of pages that were planned, smallest pages first.
pub fn kinds<'o>(outcomes: &'o [Outcome<'_>]) -> impl Iterator<Item = Pages> + Clone + use<'o> {
    let next = |last: u8| {
        let codes = outcomes.iter().map(|outcome| outcome.point.pages.code());
        codes.filter(|code| *code > last).min()
    };
    let codes = iter::successors(next(Pages::AUTO.code()), move |last| next(*last));
    codes.map(Pages::of_code)
}

/// Returns the size of base pages; 4 KiB if none were planned.
pub fn base_page(outcomes: &[Outcome<'_>]) -> PageSize {
    let base = outcomes.iter().find(|outcome| outcome.point.pages.are_base());
    base.and_then(|outcome| outcome.point.pages.size()).unwrap_or(PageSize::LEAST)
}

/// Returns the outcome of a walk.
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

/// Returns the ratio of the time of a walk to that of the same walk in the largest pages that were obtained; `None` for
/// the latter walk itself.
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
pub fn share(outcomes: &[Outcome<'_>], outcome: &Outcome<'_>) -> Option<f64> {
    ratio(outcomes, outcome).map(|ratio| 1.0 - 1.0 / ratio.value)
}

/// The time of one line on each of many base pages of memory, and its parts.
#[derive(Clone, Copy, Debug)]
pub struct InMemory {
    /// The number of lines, which is the number of pages.
    pub lines: u64,
    /// The time of a load.
    pub memory: Estimate,
    /// The time over as many lines side by side, in the largest pages that were obtained.
    pub data: Option<Estimate>,
    /// The cost of translation over as many pages without memory.
    pub alone: Option<Estimate>,
}

impl InMemory {
    /// Returns the cost of translation in memory.
    pub fn cost(&self) -> Option<Estimate> {
        Some(self.memory.less(self.data?))
    }

    /// Returns the part of that cost which is not that of translation alone: data and page tables compete for the
    /// caches, and in a guest the host translates, too.
    pub fn rest(&self) -> Option<Estimate> {
        Some(self.cost()?.less(self.alone?))
    }
}

/// Returns the walk over one line on each of `lines` base pages of memory; `None` if it was not measured.
pub fn in_memory(outcomes: &[Outcome<'_>], spans: &[SpanPoint], line: Bytes, lines: u64) -> Option<InMemory> {
    let page = base_page(outcomes);
    let (base, span) = (Pages::base(page), page.bytes().times(lines));
    let time = |pages, stride: Bytes| {
        find(outcomes, pages, (Order::Random, stride, stride.times(lines)))?.estimate()
    };
    let memory = time(base, page.bytes())?;
    let data = kinds(outcomes).filter(|pages| !pages.are_base()).filter_map(|pages| time(pages, line)).last();
    let alone = at(spans, base, page.bytes(), span).filter(|(found, _)| *found == span);
    Some(InMemory { lines, memory, data, alone: alone.map(|(_, cost)| cost) })
}

/// Returns the numbers of lines that may have been walked with one on each base page.
pub fn lines_on_pages() -> impl DoubleEndedIterator<Item = u64> + Clone {
    (0..40).map(|octave| FEWEST_LINES << octave)
}
