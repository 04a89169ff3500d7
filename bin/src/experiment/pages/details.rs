//! Kinds of pages for a reader of all details: by order, beside the cost of translation alone, and point by point.

use latency_core::chain::Order;
use latency_core::units::Bytes;

use super::view::{had, heading};
use crate::analysis::translation::{TWO_MEGABYTE_LOCAL, find, in_memory, lines_on_pages};
use crate::describe::{Report, rows};
use crate::report::document::Level;
use crate::report::shown::Shown;
use crate::result::Outcome;
use crate::result::words::OrderName;

/// Describes the orders at the `largest` working set, and every row.
pub fn describe(document: &mut Shown, report: &Report<'_, '_>, largest: Option<Bytes>) {
    if let Some(size) = largest {
        by_order(document, report, size);
    }
    beside_data(document, report);
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
fn by_order(document: &mut Shown, report: &Report<'_, '_>, size: Bytes) {
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

/// Shows the time of one line on each of many base pages of memory, less the time of as many lines in the largest pages
/// and the cost of translation without memory: the rest is what data and page tables cost each other, and in a guest
/// the host's share.
fn beside_data(document: &mut Shown, report: &Report<'_, '_>) {
    let page = report.machine.page.bytes();
    let line = report.machine.line.bytes();
    let rows = || lines_on_pages().filter_map(|lines| in_memory(report.outcomes, report.spans, line, lines));
    if rows().next().is_none() {
        return;
    }
    document.tabulate("ns of one line on each base page of memory", Level::Verbose, 0, &|table| {
        table.texts(&["pages", "span", "memory", "data alone", "translation alone", "rest"]);
        for row in rows() {
            table.row();
            table.show(&row.lines);
            table.show(&page.times(row.lines));
            for estimate in [Some(row.memory), row.data, row.alone, row.rest()] {
                table.number(estimate.map(|estimate| estimate.value));
            }
        }
    });
}
