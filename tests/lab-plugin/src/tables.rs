//! Page tables: the line that a page walk loads.
//!
//! A walk loads the entry of the page's last level: the entries of upper levels are few, and a processor keeps them in
//! caches of their own. An entry is 8 bytes, so the entries of 8 consecutive pages share a line. Tables have line numbers
//! of their own, so that caches keep them apart from data. This module does not depend on the caches.

use crate::page::Page;

/// Base-2 logarithm of the entries of a line.
const ENTRIES_SHIFT: u32 = 3;
/// The number of the first line of the tables, beyond the lines of any memory and of neighbours.
const FIRST_LINE: u64 = 1 << 60;
/// The number of the first line of the tables of 2 MiB pages, beyond those of 4 KiB pages.
const FIRST_LARGE_LINE: u64 = FIRST_LINE | 1 << 59;

/// Returns the number of the line with the entry of the page of a virtual address.
#[must_use]
pub const fn line(page: Page, virtual_address: u64) -> u64 {
    let first = match page {
        Page::Small => FIRST_LINE,
        Page::Large => FIRST_LARGE_LINE,
    };
    first + (page.of(virtual_address) >> ENTRIES_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_pages_share_a_line_of_entries() {
        for page in [Page::Small, Page::Large] {
            let of = |number: u64| line(page, number << page.shift() | 0xfff);
            assert_eq!([of(0), of(7), of(8), of(17)].map(|line| line - of(0)), [0, 0, 1, 2]);
        }
    }

    #[test]
    fn lines_of_tables_are_apart_from_each_other_and_from_data() {
        let largest_line_of_data = u64::MAX >> 6;
        assert!(line(Page::Small, 0) > largest_line_of_data);
        assert!(line(Page::Small, u64::MAX) < line(Page::Large, 0));
        // The last number marks an empty place of a cache.
        assert!(line(Page::Large, u64::MAX) < u64::MAX);
    }
}
