//! Spans whose page tables are as large as a cache: computed from the caches that the system reports, not measured.

use alloc::vec::Vec;
use latency_core::math::ToReal;
use latency_core::text::Text;
use latency_core::units::Bytes;

use crate::analysis::claims::{Claim, Claims};
use crate::machine::Machine;
use crate::report::chart::Mark;
use crate::report::document::Role;
use crate::report::shown::Shown;
use crate::result::spans::{ENTRY, SpanSeries};

/// Levels of the caches that are considered: tables leave the L1 at spans where the second TLB level ends, too.
const LEVELS: [u32; 2] = [2, 3];

/// Returns the caches that page tables fill within the measured spans, each with the span at which they do.
fn full(claims: &Claims, series: &SpanSeries, page: Bytes) -> [Option<(Claim, Bytes)>; LEVELS.len()] {
    LEVELS.map(|level| {
        let claim = *claims.level(level)?;
        let span = page.times(claim.size.0 / ENTRY);
        (span <= series.span).then_some((claim, span))
    })
}

/// Writes the spans at which page tables fill caches, for pages of the size `page`.
pub fn sentence(document: &mut Shown, machine: &Machine, series: &SpanSeries, page: Bytes) {
    let full = full(&Claims::of(machine), series, page);
    let mut comma = "";
    let mut all = Text::<96>::EMPTY;
    for (Claim { level, size, .. }, span) in full.into_iter().flatten() {
        // It has room for both.
        let _ = write!(all, "{comma}the L{level} ({size}) at {span}");
        comma = ", ";
    }
    if !all.is_empty() {
        document.sentence(
            Role::Method("Page tables"),
            format_args!(
                "for {page} pages they fill {all} (computed from {ENTRY} bytes for each page, not measured)"
            ),
        );
    }
}

/// Adds a mark for each of these spans that is beyond the marks so far, in the colour of the series of this `index`.
pub fn mark(marks: &mut Vec<Mark>, machine: &Machine, series: &SpanSeries, page: Bytes, index: usize) {
    for (Claim { level, .. }, span) in full(&Claims::of(machine), series, page).into_iter().flatten() {
        let (last, place) = (marks.iter().fold(0.0, |last: f64, mark| last.max(mark.x)), span.0.real());
        if place > last {
            let label = format_args!("tables fill the L{level} ({page} pages, computed)");
            marks.push(Mark { series: Some(index), ..Mark::line(place, label) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::claims::Source;
    use crate::result::spans::SpanEnd;
    use latency_core::units::{PageSize, Pages};
    use std::vec::Vec;

    #[test]
    fn page_tables_fill_only_caches_that_are_known_and_only_within_the_measured_spans() {
        let filled = |caches: &[(u32, u64)], page: Bytes| {
            let mut claims = Claims::default();
            for (level, mebibytes) in caches {
                claims.add(Claim { level: *level, size: Bytes(mebibytes << 20), source: Source::Sysfs });
            }
            let series = SpanSeries {
                pages: Pages::base(PageSize::KIB_4),
                span: Bytes(16 << 30),
                tables: None,
                tables_on_node: None,
                queried: true,
                end: SpanEnd::Time,
                at_once: None,
            };
            let found = full(&claims, &series, page).into_iter().flatten();
            found.map(|(claim, span)| (claim.level, span.0 >> 20)).collect::<Vec<_>>()
        };
        let (small, huge) = (Bytes(4 << 10), Bytes(2 << 20));
        // An entry of 8 bytes translates 4 KiB, so that 1 MiB of entries translates 512 MiB.
        assert_eq!(filled(&[(1, 1), (2, 1), (3, 32)], small), [(2, 512), (3, 16 << 10)]);
        assert_eq!(filled(&[(2, 2), (3, 33)], small), [(2, 1024)]);
        assert_eq!(filled(&[(3, 32)], small), [(3, 16 << 10)]);
        assert_eq!([filled(&[], small), filled(&[(2, 1), (3, 32)], huge)], [[], []]);
    }
}
