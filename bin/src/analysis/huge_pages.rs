//! Whether larger pages pay, by the same random walks on every kind of page.

use latency_core::chain::{Order, PAGE_LOCAL};
use latency_core::units::{Bytes, PageSize};

use super::estimate::Estimate;
use super::translation::{find, share, SMALLEST};
use crate::options::Pages;
use crate::result::Outcome;

/// Every kind, smallest pages first.
pub const KINDS: [Pages; 4] = [Pages::Small4k, Pages::Thp, Pages::Huge2m, Pages::Huge1g];
/// From this share of the time on, translation shows.
const SHOWS: f64 = 0.1;
/// A smaller share of the time is not worth the trouble of larger pages.
const PAYS: f64 = 0.02;

/// What larger pages are worth at the largest working set that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conclusion {
    /// That working set.
    pub size: Bytes,
    /// A load in 4 KiB pages.
    pub small: Estimate,
    /// A load in 4 KiB pages where the walk finishes a page before it goes to the next.
    pub page_local: Option<Estimate>,
    /// The largest pages that were had; `None` if there were none but those of 4 KiB.
    pub larger: Option<Larger>,
}

/// The same in the largest pages that were had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Larger {
    /// Their kind.
    pub pages: Pages,
    /// A load in them.
    pub latency: Estimate,
    /// How many times as long a load takes in 4 KiB pages.
    pub ratio: Option<Estimate>,
    /// The smallest working set from which on translation takes a good part of the time in 4 KiB pages.
    pub from: Option<Bytes>,
}

impl Larger {
    /// The part of the time in 4 KiB pages that translation takes; negative where larger pages are slower.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        self.ratio.map(|ratio| 1.0 - 1.0 / ratio.value)
    }

    /// Whether larger pages are faster by more than the uncertainty, and by enough to care.
    #[must_use]
    pub fn pay(&self) -> bool {
        let is_clear = |ratio: Estimate| ratio.interval.is_none_or(|interval| interval.low > 1.0);
        self.share().is_some_and(|share| share >= PAYS) && self.ratio.is_some_and(is_clear)
    }
}

/// The kinds that were planned.
pub fn kinds<'o>(outcomes: &'o [Outcome<'_>]) -> impl Iterator<Item = Pages> + Clone + use<'o> {
    let mut planned = [false; KINDS.len()];
    for outcome in outcomes {
        for (slot, kind) in planned.iter_mut().zip(KINDS) {
            *slot |= kind == outcome.point.pages;
        }
    }
    KINDS.into_iter().zip(planned).filter_map(|(pages, planned)| planned.then_some(pages))
}

/// The random walks of one kind, by ascending working set.
pub fn walks<'o, 'a>(outcomes: &'o [Outcome<'a>], pages: Pages) -> impl Iterator<Item = &'o Outcome<'a>> {
    outcomes.iter().filter(move |outcome| {
        let point = &outcome.point;
        point.pages == pages
            && point.order == Order::Random
            && point.stride == Bytes(64)
            && point.size >= SMALLEST
    })
}

/// The pages that a point's working set spans, if it has the pages that were asked for.
#[must_use]
pub const fn spanned(outcome: &Outcome<'_>) -> u64 {
    let page = match outcome.point.pages {
        Pages::Auto | Pages::Small4k => PageSize::Small,
        Pages::Thp | Pages::Huge2m => PageSize::Huge2M,
        Pages::Huge1g => PageSize::Huge1G,
    };
    outcome.point.size.0.div_ceil(page.bytes().0)
}

/// Returns what the walks say; `None` where none in 4 KiB pages was measured.
#[must_use]
pub fn conclude(outcomes: &[Outcome<'_>]) -> Option<Conclusion> {
    let measured = || walks(outcomes, Pages::Small4k).filter(|outcome| outcome.result.is_ok());
    // An interrupted run may have the largest working set in 4 KiB pages alone.
    let compared = measured().filter(|outcome| share(outcomes, outcome).is_some()).last();
    let small = compared.or_else(|| measured().last())?;
    let point = &small.point;
    let at = |pages, order| find(outcomes, pages, (order, point.stride, point.size)).and_then(Estimate::of);
    let latency = Estimate::of(small)?;
    let larger = KINDS.into_iter().rev().filter(|pages| *pages != Pages::Small4k).find_map(|pages| {
        let larger = at(pages, point.order)?;
        let shares = measured().filter_map(|outcome| Some((outcome.point.size, share(outcomes, outcome)?)));
        Some(Larger { pages, latency: larger, ratio: latency.over(larger), from: shows_from(shares) })
    });
    Some(Conclusion { size: point.size, small: latency, page_local: at(Pages::Small4k, PAGE_LOCAL), larger })
}

/// The first working set from which on, by ascending size, no share is small.
fn shows_from(shares: impl Iterator<Item = (Bytes, f64)>) -> Option<Bytes> {
    shares.fold(None, |from, (size, share)| if share < SHOWS { None } else { from.or(Some(size)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::stats::Interval;

    fn estimate(value: f64, half: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low: value - half, high: value + half }) }
    }

    fn larger(small: Estimate, latency: Estimate) -> Larger {
        Larger { pages: Pages::Thp, latency, ratio: small.over(latency), from: None }
    }

    #[test]
    fn a_tenth_that_stays_shows_and_one_that_goes_again_does_not() {
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
        let much = larger(estimate(233.0, 3.0), estimate(120.0, 2.0));
        assert!(much.pay() && much.share().is_some_and(|share| (share - 0.485).abs() < 1e-3));
        assert!(!larger(estimate(125.0, 9.0), estimate(120.0, 9.0)).pay());
        assert!(!larger(estimate(121.0, 0.1), estimate(120.0, 0.1)).pay());
        assert!(!larger(estimate(110.0, 0.1), estimate(120.0, 0.1)).pay());
    }

    #[test]
    fn nothing_measured_says_nothing() {
        assert_eq!(conclude(&[]), None);
        assert_eq!(kinds(&[]).count(), 0);
    }
}
