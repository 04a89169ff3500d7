//! Levels of the TLB of a saved result: those of a curve, or those for each kind of pages.

use latency_core::json::Reader;
use latency_core::math;
use latency_core::stats::{Estimate, Interval};
use latency_core::units::{Bytes, PageSize, Pages};

use super::values::{Fault, each_object, members, optional, rest, text};
use crate::analysis::tlb::{TlbEnd, TlbLevels};
use crate::result::row::{PAGES_ASKED, Row, Word};

/// The levels of the TLB for one kind of pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct SavedTlb {
    /// The kind of pages; empty if the levels are those of a curve, and so for its pages.
    pub pages: Word,
    /// The levels.
    pub levels: TlbLevels,
}

/// Returns the levels for the pages of a row, as far as they are known.
///
/// Levels for transparent pages are also levels for pages of a pool, if the entries have that size.
#[must_use]
pub fn of_row(kinds: &[SavedTlb], row: &Row) -> TlbLevels {
    let pages = row.plain(PAGES_ASKED);
    let size = Pages::from_word(pages.as_str().as_bytes()).and_then(Pages::size).map(PageSize::bytes);
    let is_known = |tlb: &&SavedTlb| tlb.levels.iter().any(Option::is_some);
    let is_alike = |tlb: &SavedTlb| tlb.levels.iter().flatten().any(|level| Some(level.page) == size);
    let mut all = kinds.iter().filter(is_known);
    let found = all.find(|tlb| tlb.pages.is_empty() || tlb.pages == pages || is_alike(tlb));
    found.map_or([None; 2], |tlb| tlb.levels)
}

/// Reads the levels for a kind of pages, after the start of their object.
pub(super) fn kind(reader: &mut Reader<'_>, kind: Option<&mut SavedTlb>) -> Result<(), Fault> {
    let mut more = SavedTlb::default();
    let SavedTlb { pages, levels } = kind.unwrap_or(&mut more);
    rest(reader, &mut |reader, key| match key {
        "pages_asked" => {
            *pages = text(reader.string()?);
            Ok(())
        }
        "tlb" => {
            let mut levels = levels.iter_mut();
            each_object(reader, |reader| level(reader, true, levels.next().unwrap_or(&mut None)))
        }
        _ => Ok(reader.skip_value()?),
    })
}

/// Reads a level, or null; `is_begun` is true after the start of its object. A level without a plausible number of pages
/// and cost is left out.
pub(super) fn level(
    reader: &mut Reader<'_>,
    is_begun: bool,
    level: &mut Option<TlbEnd>,
) -> Result<(), Fault> {
    const KEYS: [&str; 5] = ["pages", "miss_ns", "page_bytes", "pages_low", "pages_high"];
    let mut values = [None; 5];
    let mut take = |reader: &mut Reader<'_>, key: &str| {
        let mut slots = KEYS.iter().zip(&mut values);
        match slots.find(|(known, _)| **known == key) {
            Some((_, value)) => *value = optional(reader)?,
            None => reader.skip_value()?,
        }
        Ok(())
    };
    match is_begun {
        true => rest(reader, &mut take)?,
        false => members(reader, &mut take)?,
    }
    let [pages, miss_ns, page, low, high] = values;
    let plausible = |number: Option<f64>| number.filter(|number| (1e-6..1e12).contains(number));
    if let [Some(pages), Some(miss_ns), Some(page)] = [pages, miss_ns, page].map(plausible) {
        let interval = low.zip(high).map(|(low, high)| Interval { low, high });
        let is_inside = |ends: &Interval| ends.low <= pages && pages <= ends.high;
        let entries = Estimate { value: pages, interval: interval.filter(is_inside) };
        *level = Some(TlbEnd { entries, page: Bytes(math::whole(page)), miss_ns });
    }
    Ok(())
}
