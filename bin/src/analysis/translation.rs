//! Conclusions about address translation from walks on several kinds of pages.

use alloc::vec::Vec;

use latency_core::chain::Order;
use latency_core::sort::sort_by_key;
use latency_core::units::{Bytes, PageSize, Pages};

use super::spans::at;
use crate::report::chart::vector;
use crate::result::Outcome;
use crate::result::spans::SpanPoint;
use crate::result::words::REGION;
use latency_core::stats::Estimate;

/// Lines of the smallest working set of the walks: base pages with as many lines exceed every first-level TLB.
pub const FEWEST_LINES: u64 = 4096;
/// Random order within regions of 2 MiB.
pub const TWO_MEGABYTE_LOCAL: Order = Order::Local(REGION);

/// The walks of a run on several kinds of pages.
#[derive(Clone, Debug)]
pub struct PageWalks<'o, 'a> {
    outcomes: &'o [Outcome<'a>],
    /// The kinds of pages that were planned, smallest pages first.
    pub kinds: Vec<Pages>,
    /// Base pages; of 4 KiB if none were planned.
    pub base: Pages,
}

impl<'o, 'a> PageWalks<'o, 'a> {
    /// Returns the walks of these outcomes.
    pub fn of(outcomes: &'o [Outcome<'a>]) -> PageWalks<'o, 'a> {
        let planned = outcomes.iter().map(|outcome| outcome.point.pages);
        let mut kinds: Vec<Pages> = vector(planned.filter(|pages| *pages != Pages::AUTO));
        sort_by_key(&mut kinds, |pages| pages.code());
        kinds.dedup();
        let base = kinds.iter().copied().find(|pages| pages.are_base());
        PageWalks { outcomes, kinds, base: base.unwrap_or(Pages::base(PageSize::LEAST)) }
    }

    /// Returns the outcome of a walk.
    pub fn find(&self, pages: Pages, walk: (Order, Bytes, Bytes)) -> Option<&'o Outcome<'a>> {
        self.outcomes.iter().find(|Outcome { point, .. }| {
            point.pages == pages && (point.order, point.stride, point.size) == walk
        })
    }

    /// Returns the outcome of the same walk in pages of another kind.
    pub fn like(&self, Outcome { point, .. }: &Outcome<'_>, pages: Pages) -> Option<&'o Outcome<'a>> {
        self.find(pages, (point.order, point.stride, point.size))
    }

    /// Returns the random walks on one kind of pages, by ascending working set.
    pub fn random(&self, pages: Pages) -> impl DoubleEndedIterator<Item = &'o Outcome<'a>> + use<'o, 'a> {
        self.outcomes.iter().filter(move |Outcome { point, .. }| {
            point.pages == pages
                && point.order == Order::Random
                && point.stride == point.line.bytes()
                && point.size >= point.line.times(FEWEST_LINES)
        })
    }

    /// Returns the kinds of pages that have a measured random walk.
    pub fn had(&self) -> Vec<Pages> {
        let is_measured = |pages: &Pages| self.random(*pages).any(|outcome| outcome.result.is_ok());
        vector(self.kinds.iter().copied().filter(is_measured))
    }

    /// Returns the kinds of larger pages, largest pages first.
    fn huge(&self) -> impl Iterator<Item = Pages> {
        self.kinds.iter().copied().rev().filter(|pages| !pages.are_base())
    }

    /// Returns the ratio of the time of a walk to that of the same walk in the largest pages that were obtained; `None`
    /// for the latter walk itself.
    pub fn ratio(&self, outcome: &Outcome<'_>) -> Option<Estimate> {
        let obtained = |pages| self.like(outcome, pages).filter(|other| other.result.is_ok());
        let largest = self.huge().find_map(obtained)?;
        match largest.point.pages == outcome.point.pages {
            true => None,
            false => outcome.estimate()?.over(largest.estimate()?),
        }
    }

    /// Returns the share of translation in the time of a walk, by comparison with the largest pages that were obtained;
    /// `None` for a walk in those pages.
    pub fn share(&self, outcome: &Outcome<'_>) -> Option<f64> {
        self.ratio(outcome).map(|ratio| 1.0 - 1.0 / ratio.value)
    }

    /// Returns whether the TLB was found to treat the memory in these pages as base pages.
    pub fn behaves_as_small(&self, pages: Pages) -> bool {
        let as_small = |outcome: &Outcome<'_>| {
            outcome.result.as_ref().is_ok_and(|measured| measured.placed.as_small == Some(true))
        };
        self.outcomes.iter().any(|outcome| outcome.point.pages == pages && as_small(outcome))
    }

    /// Returns the walks over one line on each of many base pages of memory, by ascending number; `spans` are those
    /// without memory.
    pub fn in_memory(&self, spans: &[SpanPoint], line: Bytes) -> Vec<InMemory> {
        let page = self.base.size().unwrap_or(PageSize::LEAST).bytes();
        let walk = |lines: u64| {
            let time = |pages, stride: Bytes| {
                self.find(pages, (Order::Random, stride, stride.times(lines)))?.estimate()
            };
            let alone = at(spans, self.base, page, page.times(lines));
            Some(InMemory {
                lines,
                memory: time(self.base, page)?,
                data: self.huge().find_map(|pages| time(pages, line)),
                alone: alone.filter(|(span, _)| *span == page.times(lines)).map(|(_, cost)| cost),
            })
        };
        vector(lines_on_pages().filter_map(walk))
    }
}

/// The time of one line on each of many base pages of memory, and its parts.
#[derive(Clone, Copy, Debug)]
pub struct InMemory {
    /// The number of lines, which is the number of pages.
    pub lines: u64,
    /// The time of a load.
    pub memory: Estimate,
    /// The time of a load over the same number of lines, side by side in the largest pages that were obtained.
    pub data: Option<Estimate>,
    /// The cost of translation over as many pages without memory.
    pub alone: Option<Estimate>,
}

impl InMemory {
    /// Returns the cost of translation in memory.
    pub fn cost(&self) -> Option<Estimate> {
        Some(self.memory.less(self.data?))
    }

    /// Returns the part of the cost beyond the cost of translation alone: data and page tables compete for the caches, and
    /// in a guest the host translates too.
    pub fn rest(&self) -> Option<Estimate> {
        Some(self.cost()?.less(self.alone?))
    }
}

/// Returns the numbers of lines that may have been walked with one on each base page.
pub fn lines_on_pages() -> impl Iterator<Item = u64> {
    (0..40).map(|octave| FEWEST_LINES << octave)
}
