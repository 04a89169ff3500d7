//! The words of results, for orders and pages.

use core::fmt::{self, Display};

use latency_core::chain::Order;

use latency_core::units::{Bytes, Pages};

/// The larger one of the two regions within which a local order visits lines; the smaller one is a base page.
pub const REGION: Bytes = Bytes(2 << 20);

/// The name of an order, as in the command-line option.
pub struct OrderName(pub Order);

impl Display for OrderName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Order::Random => out.write_str("random"),
            Order::Local(REGION) => out.write_str("2m-local"),
            Order::Local(_) => out.write_str("page-local"),
            Order::Grouped { visits, .. } => write!(out, "grouped-{visits}"),
            Order::Sequential => out.write_str("sequential"),
            Order::Backward => out.write_str("backward"),
        }
    }
}

/// The words for an order, for people: `random order`, `grouped order, 4 visits`.
pub struct OrderWords(pub Order);

impl Display for OrderWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Order::Grouped { visits: 1, .. } => out.write_str("grouped order, 1 visit"),
            Order::Grouped { visits, .. } => write!(out, "grouped order, {visits} visits"),
            order => write!(out, "{} order", OrderName(order)),
        }
    }
}

/// The size of pages for people: `2 MiB`, `transparent 2 MiB`; `auto` for pages that are not chosen yet.
pub struct PageKind(pub Pages);

impl Display for PageKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.are_transparent() {
            out.write_str("transparent ")?;
        }
        match self.0.size() {
            Some(size) => size.fmt(out),
            None => out.write_str("auto"),
        }
    }
}

/// The words for pages, for people: `2 MiB pages`.
pub struct PageWords(pub Pages);

impl Display for PageWords {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} pages", PageKind(self.0))
    }
}
