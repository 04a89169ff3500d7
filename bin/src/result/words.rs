//! The words of results, for orders and pages.

use core::fmt::{self, Display};

use latency_core::chain::Order;

use latency_core::units::Pages;

/// The name of an order, as in the command-line option.
pub struct OrderName(pub Order);

impl Display for OrderName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Order::Random => out.write_str("random"),
            Order::Local(region) if region.0 == 4096 => out.write_str("page-local"),
            Order::Local(region) if region.0 == 2 << 20 => out.write_str("2m-local"),
            Order::Local(region) => write!(out, "{region}-local"),
            Order::Sequential => out.write_str("sequential"),
            Order::Backward => out.write_str("backward"),
        }
    }
}

/// Returns the words for the pages that were obtained, for people.
#[must_use]
pub const fn page_words(pages: Pages) -> &'static str {
    match pages {
        Pages::Auto | Pages::Small4k => "4 KiB pages",
        Pages::Thp => "transparent 2 MiB pages",
        Pages::Huge2m => "2 MiB pages",
        Pages::Huge1g => "1 GiB pages",
    }
}
