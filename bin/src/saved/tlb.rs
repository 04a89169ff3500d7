//! Levels of the TLB of a saved result: those of a curve, or those for each kind of pages.

use latency_core::{Bytes, Estimate, Interval, PageSize, Pages, Text, math};

use crate::record::columns::PAGES_ASKED;
use crate::record::members::{TLB_LEVELS, TLB_MISS, TLB_PAGE, TLB_PAGES};
use crate::record::row::Row;
use latency_engine::spans::tlb::{TlbEnd, TlbLevels};
use latency_report::document::ENDS;
use latency_report::tree::JsonValue;

/// The levels of the TLB for one kind of pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct SavedTlb {
    /// The kind of pages; empty if the levels are those of a curve, and so for its pages.
    pub pages: Text<24>,
    /// The levels.
    pub levels: TlbLevels,
}

/// Returns the levels for the pages of a row, as far as they are known.
///
/// Levels for transparent pages are also levels for pages of a pool, if the entries have that size.
pub fn of_row(kinds: &[SavedTlb], row: &Row) -> TlbLevels {
    let pages = row.word(PAGES_ASKED);
    let size = Pages::from_word(pages.as_bytes()).and_then(Pages::size).map(PageSize::bytes);
    let is_known = |tlb: &&SavedTlb| tlb.levels.iter().any(Option::is_some);
    let is_alike = |tlb: &SavedTlb| tlb.levels.iter().flatten().any(|level| Some(level.page) == size);
    let mut all = kinds.iter().filter(is_known);
    let found = all.find(|tlb| tlb.pages.is_empty() || tlb.pages == pages || is_alike(tlb));
    found.map_or([None; 2], |tlb| tlb.levels)
}

/// Reads the levels for a kind of pages.
pub(super) fn kind(kind: JsonValue<'_>) -> SavedTlb {
    let mut levels = [None; 2];
    for (slot, found) in levels.iter_mut().zip(kind.at(TLB_LEVELS.key).objects()) {
        *slot = level(found);
    }
    SavedTlb { pages: Text::from_bytes(kind.at(PAGES_ASKED.key).text().as_bytes()), levels }
}

/// Reads a level, or null. A level without a plausible number of pages and cost is left out.
pub(super) fn level(level: JsonValue<'_>) -> Option<TlbEnd> {
    let number = |key: &str| level.at(key).number();
    let plausible = |key: &str| number(key).filter(|number| (1e-6..1e12).contains(number));
    let [pages, miss_ns, page] = [TLB_PAGES.key, TLB_MISS.key, TLB_PAGE.key].map(plausible);
    let [low, high] = ENDS.map(|end| number(&format!("{}{end}", TLB_PAGES.key)));
    let ends = low.zip(high);
    let (pages, miss_ns, page) = (pages?, miss_ns?, page?);
    let interval = ends.map(|(low, high)| Interval { low, high });
    let is_inside = |ends: &Interval| ends.low <= pages && pages <= ends.high;
    let entries = Estimate { value: pages, interval: interval.filter(is_inside) };
    Some(TlbEnd { entries, page: Bytes(math::whole(page)), miss_ns })
}
