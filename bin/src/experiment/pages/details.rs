//! Kinds of pages for a reader of all details: by translation buffer, by order, and point by point.

use latency_core::chain::Order;
use latency_core::decimal::Decimal;
use latency_core::text::Text;
use latency_core::units::Bytes;

use super::view::{had, heading};
use crate::analysis::translation::{LINES_PROBED, TWO_MEGABYTE_LOCAL, buffers, excess, find};
use crate::describe::{Report, rows};
use crate::report::document::{Document, Level, Role};
use crate::report::figures::Digits;
use crate::result::Outcome;
use crate::result::words::{OrderName, PageWords};

/// Least cost of a miss, in cycles; a buffer with cheaper misses is noise.
const LEAST_MISS: f64 = 1.0;

/// Describes the buffers, the orders at the `largest` working set, and every row.
#[inline(never)] // offsets into a small frame are short
pub fn describe(document: &mut dyn Document, report: &Report<'_, '_>, largest: Option<Bytes>) {
    let machine = report.machine;
    for pages in had(report) {
        let levels = buffers(report.outcomes, pages).levels.into_iter().zip(["L1 TLB", "L2 TLB"]);
        let levels = levels.filter_map(|(buffer, label)| Some((buffer?, label)));
        for (buffer, label) in levels.filter(|(buffer, _)| buffer.miss >= LEAST_MISS) {
            document.sentence(
                Role::Detail(&label),
                format_args!(
                    "{} entries ({} with {}); a miss adds {} core cycles; measured with {}",
                    buffer.reach.0 / machine.page.bytes().0,
                    buffer.reach,
                    PageWords(machine.base_pages()),
                    Digits(buffer.miss),
                    PageWords(pages)
                ),
            );
        }
    }
    if let Some(size) = largest {
        by_order(document, report, size);
    }
    probe(document, report);
    rows::table(document, report, "walk", &|table, _, outcome| {
        let point = &outcome.point;
        let (size, pages) = (point.size, point.pages);
        match point.stride == point.line.bytes() {
            true => table.cell(format_args!("{size}, {pages}, {}", OrderName(point.order))),
            false => table.cell(format_args!("{size}, {pages}, one line per page")),
        }
    });
}

/// Shows the savings of orders that stay within a page.
fn by_order(document: &mut dyn Document, report: &Report<'_, '_>, size: Bytes) {
    let machine = report.machine;
    let orders = [Order::Random, TWO_MEGABYTE_LOCAL, Order::Local(machine.page.bytes())];
    let caption = "ns by order: random everywhere, or region by region";
    document.tabulate(caption, Level::Verbose, 1, &|table| {
        table.show(&size);
        had(report).for_each(|pages| table.show(&heading(pages)));
        for order in orders {
            table.row();
            table.show(&OrderName(order));
            for pages in had(report) {
                let walk = find(report.outcomes, pages, (order, machine.line.bytes(), size));
                table.number(walk.and_then(Outcome::nanoseconds));
            }
        }
    });
}

/// Shows the extra cycles of every number of pages.
fn probe(document: &mut dyn Document, report: &Report<'_, '_>) {
    let page = report.machine.page;
    let caption =
        Text::<96>::of(format_args!("Extra core cycles per access if each access is to another {page} page"));
    document.tabulate(caption.as_str(), Level::Verbose, 0, &|table| {
        table.texts("pages|span");
        had(report).for_each(|pages| table.show(&heading(pages)));
        for lines in LINES_PROBED {
            let extra = || had(report).map(|pages| excess(report.outcomes, pages, lines));
            if extra().flatten().next().is_none() {
                continue;
            }
            table.row();
            table.show(&lines);
            table.show(&page.bytes().times(lines));
            for extra in extra() {
                match extra {
                    // A difference that rounds to zero is shown without a sign.
                    Some(extra) if extra.abs() < 0.05 => table.text("0.0"),
                    Some(extra) => table.cell(format_args!("{:.1}", Decimal(extra))),
                    None => table.text("-"),
                }
            }
        }
    });
}
