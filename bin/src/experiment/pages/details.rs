//! Kinds of pages for a reader who asked for everything: by translation buffer, by order, and point by point.

use latency_core::chain::{Order, PAGE_LOCAL};
use latency_core::decimal::Decimal;
use latency_core::units::Bytes;

use super::view::{had, heading};
use crate::analysis::translation::{buffers, excess, find, LINES_PROBED, TWO_MEGABYTE_LOCAL};
use crate::experiment::facts::{rows, Report};
use crate::options::Choice;
use crate::report::document::{Document, Level, Role, Table as Shown};
use crate::report::figures::Digits;
use crate::result::words::{page_words, OrderName};
use crate::result::Outcome;

/// A buffer whose misses cost less than a cycle is noise.
const LEAST_MISS: f64 = 1.0;

/// Describes the buffers, the orders at the `largest` working set, and every row.
#[inline(never)] // offsets into a small frame are short
pub fn describe(document: &mut dyn Document, report: &Report<'_, '_>, largest: Option<Bytes>) {
    for pages in had(report) {
        let levels = buffers(report.outcomes, pages).levels.into_iter().zip(["L1 TLB", "L2 TLB"]);
        let levels = levels.filter_map(|(buffer, label)| Some((buffer?, label)));
        for (buffer, label) in levels.filter(|(buffer, _)| buffer.miss >= LEAST_MISS) {
            document.sentence(
                Role::Detail(label),
                format_args!(
                    "{} entries ({} with 4 KiB pages); a miss adds {} cycles; measured in {}",
                    buffer.reach.0 / 4096,
                    buffer.reach,
                    Digits(buffer.miss),
                    page_words(pages)
                ),
            );
        }
    }
    if let Some(size) = largest {
        by_order(document, report, size);
    }
    probe(document, report);
    rows::table(document, report, "walk", &|out, _, outcome| {
        let point = &outcome.point;
        write!(out, "{}, {}, ", point.size, point.pages.word())?;
        match point.stride {
            Bytes(64) => write!(out, "{}", OrderName(point.order)),
            _ => out.write_str("a line a page"),
        }
    });
}

/// What orders save that stay within a page.
fn by_order(document: &mut dyn Document, report: &Report<'_, '_>, size: Bytes) {
    const ORDERS: [Order; 3] = [Order::Random, TWO_MEGABYTE_LOCAL, PAGE_LOCAL];
    let at = |row: usize, pages| {
        find(report.outcomes, pages, (*ORDERS.get(row)?, Bytes(64), size)).and_then(Outcome::nanoseconds)
    };
    document.table(&Shown {
        caption: "ns by order: anywhere, or one region after the other",
        level: Level::Verbose,
        words: 1,
        columns: 1 + had(report).count(),
        rows: ORDERS.len(),
        heading: &|out, column| match column.checked_sub(1).and_then(|kind| had(report).nth(kind)) {
            Some(pages) => out.write_str(heading(pages)),
            None => write!(out, "{size}"),
        },
        cell: &|out, row, column| match column.checked_sub(1).and_then(|kind| had(report).nth(kind)) {
            Some(pages) => write!(out, "{}", Digits(at(row, pages).unwrap_or(f64::NAN))),
            None => ORDERS.get(row).map_or(Ok(()), |order| write!(out, "{}", OrderName(*order))),
        },
    });
}

/// What every number of pages costs.
fn probe(document: &mut dyn Document, report: &Report<'_, '_>) {
    let probed = || {
        let shown = |lines: &u64| had(report).any(|pages| excess(report.outcomes, pages, *lines).is_some());
        LINES_PROBED.into_iter().filter(shown)
    };
    document.table(&Shown {
        caption: "Extra cycles per access when every access needs another 4 KiB page",
        level: Level::Verbose,
        words: 0,
        columns: 2 + had(report).count(),
        rows: probed().count(),
        heading: &|out, column| match column {
            0 => out.write_str("pages"),
            1 => out.write_str("span"),
            _ => out.write_str(had(report).nth(column - 2).map_or("", heading)),
        },
        cell: &|out, row, column| match (column, probed().nth(row)) {
            (0, Some(lines)) => write!(out, "{lines}"),
            (1, Some(lines)) => write!(out, "{}", Bytes(4096 * lines)),
            (_, Some(lines)) => {
                let extra =
                    had(report).nth(column - 2).and_then(|pages| excess(report.outcomes, pages, lines));
                match extra {
                    // A difference has a sign even where it is shown as nothing.
                    Some(extra) if extra.abs() < 0.05 => out.write_str("0.0"),
                    Some(extra) => write!(out, "{:.1}", Decimal(extra)),
                    None => out.write_char('-'),
                }
            }
            (_, None) => Ok(()),
        },
    });
}
