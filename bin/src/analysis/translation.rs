//! Conclusions about address translation from walks on several kinds of pages.

use core::iter;

use latency_core::chain::Order;
use latency_core::compact::Compact;
use latency_core::units::{Bytes, PageSize, Pages};

use crate::result::Outcome;
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
    Compact(codes.map(Pages::of_code))
}

/// Returns the size of base pages; 4 KiB if none were planned.
#[must_use]
pub fn base_page(outcomes: &[Outcome<'_>]) -> PageSize {
    let base = outcomes.iter().find(|outcome| outcome.point.pages.are_base());
    base.and_then(|outcome| outcome.point.pages.size()).unwrap_or(PageSize::LEAST)
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
