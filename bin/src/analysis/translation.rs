//! Conclusions about address translation from the same random walks on every kind of pages: its cost in memory, and the
//! decision if larger pages are worthwhile.

use alloc::vec::Vec;

use latency_core::chain::Order;
use latency_core::{Bytes, Estimate, PageSize, Pages, Side, sort_by_key};

use latency_engine::result::point::REGION;
use latency_engine::result::{Outcome, Point, SpanPoint};
use latency_engine::spans::tlb::at;
use latency_report::chart::vector;

/// Lines of the smallest working set of the walks: base pages with as many lines exceed every first-level TLB.
pub const FEWEST_LINES: u64 = 4096;
/// Random order within regions of 2 MiB.
pub const TWO_MEGABYTE_LOCAL: Order = Order::Local(REGION);

/// The walks of a run on several kinds of pages.
#[derive(Clone, Debug)]
pub struct PageWalks<'o> {
    outcomes: &'o [Outcome],
    /// The kinds of pages that were planned, smallest pages first.
    pub kinds: Vec<Pages>,
    /// Base pages; of 4 KiB if none were planned.
    pub base: Pages,
}

impl<'o> PageWalks<'o> {
    /// Returns the walks of these outcomes.
    pub fn of(outcomes: &'o [Outcome]) -> PageWalks<'o> {
        let planned = outcomes.iter().map(|outcome| outcome.point.pages);
        let mut kinds: Vec<Pages> = vector(planned.filter(|pages| *pages != Pages::AUTO));
        sort_by_key(&mut kinds, |pages| pages.code());
        kinds.dedup();
        let base = kinds.iter().copied().find(|pages| pages.are_base());
        PageWalks { outcomes, kinds, base: base.unwrap_or(Pages::base(PageSize::LEAST)) }
    }

    /// Returns the outcome of a walk.
    pub fn find(&self, pages: Pages, walk: (Order, Bytes, Bytes)) -> Option<&'o Outcome> {
        self.outcomes.iter().find(|Outcome { point, .. }| {
            point.pages == pages && (point.order, point.stride, point.size) == walk
        })
    }

    /// Returns the outcome of the same walk in pages of another kind.
    pub fn like(&self, Outcome { point, .. }: &Outcome, pages: Pages) -> Option<&'o Outcome> {
        self.find(pages, (point.order, point.stride, point.size))
    }

    /// Returns the random walks on one kind of pages, by ascending working set.
    pub fn random(&self, pages: Pages) -> impl DoubleEndedIterator<Item = &'o Outcome> + use<'o> {
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
    pub fn ratio(&self, outcome: &Outcome) -> Option<Estimate> {
        let obtained = |pages| self.like(outcome, pages).filter(|other| other.result.is_ok());
        let largest = self.huge().find_map(obtained)?;
        match largest.point.pages == outcome.point.pages {
            true => None,
            false => outcome.estimate()?.over(largest.estimate()?),
        }
    }

    /// Returns the share of translation in the time of a walk, by comparison with the largest pages that were obtained;
    /// `None` for a walk in those pages.
    pub fn share(&self, outcome: &Outcome) -> Option<f64> {
        self.ratio(outcome).map(|ratio| 1.0 - 1.0 / ratio.value)
    }

    /// Returns whether the TLB was found to treat the memory in these pages as base pages.
    pub fn behaves_as_small(&self, pages: Pages) -> bool {
        let as_small = |outcome: &Outcome| {
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

/// Share of the time from which on translation is visible.
const SHOWS: f64 = 0.1;
/// Least speedup at which larger pages are worth their trouble.
const PAYS: f64 = 1.02;

/// The verdict on larger pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// Loads in larger pages are faster.
    Pay,
    /// Loads in larger pages are faster, though the TLB treats them as base pages.
    LikeSmall,
    /// Loads in larger pages are as fast as in base pages.
    Nothing,
    /// Loads in larger pages are slower.
    Cost,
    /// The uncertainty permits no verdict.
    Open,
}

impl Worth {
    /// Returns the verdict for the `ratio` of the time of a load in base pages to that in larger ones; `like_small` is
    /// true if the TLB was found to treat both alike.
    pub fn of(ratio: Estimate, like_small: bool) -> Worth {
        match ratio.side(PAYS) {
            Side::Above if like_small => Worth::LikeSmall,
            Side::Above => Worth::Pay,
            Side::Near => Worth::Nothing,
            Side::Below => Worth::Cost,
            Side::Open => Worth::Open,
        }
    }

    /// Returns whether larger pages are worthwhile; `None` if the verdict is open, or if the findings about the TLB
    /// contradict it.
    pub const fn pays(self) -> Option<bool> {
        match self {
            Worth::Pay => Some(true),
            Worth::Nothing | Worth::Cost => Some(false),
            Worth::LikeSmall | Worth::Open => None,
        }
    }
}

/// The gain of larger pages at the largest working set that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HugePagesConclusion {
    /// The largest working set.
    pub size: Bytes,
    /// The latency of a load in base pages.
    pub small: Estimate,
    /// The latency of a load in base pages if the walk finishes one page before it goes to the next.
    pub page_local: Option<Estimate>,
    /// The results for the largest pages that were obtained; `None` if only base pages were.
    pub larger: Option<Larger>,
}

/// The results for the largest pages that were obtained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Larger {
    /// The kind of the larger pages.
    pub pages: Pages,
    /// The latency of a load in them.
    pub latency: Estimate,
    /// The time of a load in base pages over that in these pages.
    pub ratio: Option<Estimate>,
    /// The verdict on them.
    pub worth: Worth,
    /// The smallest working set from which on translation takes a visible part of the time in base pages.
    pub from: Option<Bytes>,
}

impl Larger {
    /// Returns the part of the time in base pages that translation takes; negative where larger pages are slower.
    pub fn share(&self) -> Option<f64> {
        self.ratio.map(|ratio| 1.0 - 1.0 / ratio.value)
    }

    /// Returns the least part of the time in base pages that translation takes, by the lower end of the interval. It
    /// is a lower bound, since a walk in larger pages needs translation too.
    pub fn least_share(&self) -> Option<f64> {
        least(self.ratio?)
    }
}

fn least(ratio: Estimate) -> Option<f64> {
    ratio.interval.map(|interval| 1.0 - 1.0 / interval.low)
}

/// Returns the number of pages that a point's working set spans, if it has the pages that were requested.
pub fn spanned(outcome: &Outcome) -> u64 {
    let page = outcome.point.pages.size().unwrap_or(PageSize::LEAST);
    outcome.point.size.0.div_ceil(page.bytes().0)
}

/// Returns the conclusion from the walks; `like_small` is true if the TLB was found to treat the measured pages as
/// base pages. `None` if no walk in base pages was measured.
pub fn conclude(walks: &PageWalks<'_>, like_small: bool) -> Option<HugePagesConclusion> {
    #[cfg(test)]
    super::drawn_tests::draws("pages");
    let base = walks.base;
    let measured = || walks.random(base).filter(|outcome| outcome.result.is_ok());
    // In an interrupted run, the largest working set may have been measured in base pages only.
    let compared = measured().rev().find(|outcome| walks.ratio(outcome).is_some());
    let small = compared.or_else(|| measured().next_back())?;
    let Point { size, stride, .. } = small.point;
    let latency = small.estimate()?;
    let in_pages = |pages: &Pages| Some((*pages, walks.like(small, *pages)?.estimate()?));
    let larger = walks.kinds.iter().filter(|pages| !pages.are_base()).rev().find_map(in_pages);
    let larger = larger.map(|(pages, larger)| {
        let shares = measured()
            .filter_map(|outcome| Some((outcome.point.size, least(walks.ratio(outcome)?).unwrap_or(0.0))));
        let ratio = latency.over(larger);
        let like_small = like_small || walks.behaves_as_small(pages);
        let worth = ratio.map_or(Worth::Open, |ratio| Worth::of(ratio, like_small));
        Larger { pages, latency: larger, ratio, worth, from: shows_from(shares) }
    });
    let local = Order::Local(base.size().unwrap_or(PageSize::LEAST).bytes());
    let page_local = walks.find(base, (local, stride, size)).and_then(Outcome::estimate);
    Some(HugePagesConclusion { size, small: latency, page_local, larger })
}

/// Returns the first working set from which on, by ascending size, every share is visible.
fn shows_from(shares: impl Iterator<Item = (Bytes, f64)>) -> Option<Bytes> {
    shares.fold(None, |from, (size, share)| if share < SHOWS { None } else { from.or(Some(size)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::{Interval, LINE};
    use latency_engine::result::Walk;
    use latency_engine::tests::outcome::outcome;
    use proptest::prelude::*;

    const SMALL: Pages = Pages::base(PageSize::KIB_4);
    const HUGE: Pages = Pages::of_pool(PageSize::MIB_2);
    /// The smallest working set of the walks.
    const SMALLEST: Bytes = LINE.times(FEWEST_LINES);

    fn estimate(value: f64, half: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low: value - half, high: value + half }) }
    }

    fn worth(small: Estimate, latency: Estimate, like_small: bool) -> Worth {
        small.over(latency).map_or(Worth::Open, |ratio| Worth::of(ratio, like_small))
    }

    #[test]
    fn a_share_above_a_tenth_shows_only_if_it_persists() {
        let from = |shares: [f64; 4]| {
            let sizes = (0..).map(|octave| Bytes(1 << octave));
            shows_from(sizes.zip(shares)).map(|size| size.0)
        };
        assert_eq!(from([0.0, 0.05, 0.19, 0.49]), Some(4));
        assert_eq!(from([0.3, 0.0, 0.1, 0.2]), Some(4));
        assert_eq!(from([0.3, 0.3, 0.3, 0.0]), None);
        assert_eq!(from([0.3, 0.3, 0.3, 0.3]), Some(1));
    }

    #[test]
    fn pages_pay_beyond_their_uncertainty() {
        let of = |small, latency| worth(small, latency, false);
        assert_eq!(of(estimate(233.0, 3.0), estimate(120.0, 2.0)), Worth::Pay);
        assert_eq!(of(estimate(120.2, 0.1), estimate(120.0, 0.1)), Worth::Nothing);
        assert_eq!(of(estimate(110.0, 0.1), estimate(120.0, 0.1)), Worth::Cost);
        // The ratio is uncertain by a twelfth: neither "pays" nor "gains nothing" is certain.
        assert_eq!(of(estimate(125.0, 9.0), estimate(120.0, 9.0)), Worth::Open);
        assert_eq!(of(233.0.into(), 120.0.into()), Worth::Open);
    }

    #[test]
    fn pages_that_the_tlb_treats_as_small_ones_do_not_pay() {
        assert_eq!(worth(estimate(233.0, 3.0), estimate(120.0, 2.0), true), Worth::LikeSmall);
        assert_eq!(Worth::LikeSmall.pays(), None);
        assert_eq!(worth(estimate(120.2, 0.1), estimate(120.0, 0.1), true), Worth::Nothing);
    }

    #[test]
    fn without_measurements_there_are_no_conclusions() {
        let walks = PageWalks::of(&[]);
        assert_eq!(conclude(&walks, false), None);
        assert!(walks.kinds.is_empty());
    }

    proptest! {
        #[test]
        fn conclusions_about_pages_agree_with_their_intervals(
            points in prop::collection::vec((50.0..200.0, 0.0..0.3, 50.0..200.0, 0.0..0.3), 1..12),
            like_small: bool,
        ) {
            let of = |index: usize, pages, ns: f64, half: f64| {
                let mut walk = outcome(SMALLEST.0 << index, Walk::Chain, ns);
                walk.point.pages = pages;
                if let Ok(measured) = &mut walk.result {
                    let interval = Interval { low: ns * (1.0 - half), high: ns * (1.0 + half) };
                    measured.series.nanoseconds.interval = Some(interval);
                }
                walk
            };
            let mut outcomes = std::vec::Vec::new();
            for (index, &(small, one, large, other)) in points.iter().enumerate() {
                outcomes.push(of(index, SMALL, small, one));
                outcomes.push(of(index, HUGE, large, other));
            }
            let walks = PageWalks::of(&outcomes);
            let found = conclude(&walks, like_small).unwrap().larger.unwrap();
            let interval = found.ratio.unwrap().interval.unwrap();
            match found.worth {
                Worth::Pay => prop_assert!(interval.low > 1.0 && !like_small),
                Worth::LikeSmall => prop_assert!(interval.low > 1.0 && like_small),
                Worth::Nothing => prop_assert!(interval.low * PAYS >= 1.0 && interval.high <= PAYS),
                Worth::Cost => prop_assert!(interval.high < 1.0),
                Worth::Open => prop_assert!(interval.low <= 1.0 && interval.high >= 1.0 || found.ratio.unwrap().value < PAYS),
            }
            // "At least" this share is translation: no value in the interval gives a smaller share.
            prop_assert!(found.least_share().unwrap() <= 1.0 - 1.0 / interval.low + 1e-9);
            // "It shows from" a size on: from this size on, no interval contains a share below a tenth.
            for (index, _) in points.iter().enumerate() {
                let small = walks.find(SMALL, (Order::Random, LINE, Bytes(SMALLEST.0 << index)));
                let least = least(walks.ratio(small.unwrap()).unwrap()).unwrap();
                prop_assert!(found.from.is_none_or(|from| Bytes(SMALLEST.0 << index) < from || least >= SHOWS));
            }
        }
    }
}
