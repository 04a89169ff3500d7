//! Finds the page size of an access.
//!
//! A plugin sees pairs of virtual and physical addresses but never the size of a page. On a page of 2 MiB the two
//! addresses agree in their low 21 bits. On pages of 4 KiB they agree by chance, and this is not rare: a kernel with a
//! free block of 2 MiB allocates its pages in order. If they are mapped to virtual memory that begins on a 2 MiB
//! boundary, some hundred of them agree. The neighbouring pages decide: a region of 2 MiB with a page elsewhere is not
//! a large page.

/// Page size of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// 4 KiB.
    Small,
    /// 2 MiB.
    Large,
}

impl Page {
    /// Returns the base-2 logarithm of the size.
    #[must_use]
    pub const fn shift(self) -> u32 {
        match self {
            Page::Small => 12,
            Page::Large => 21,
        }
    }

    /// Returns the number of the page of this size that contains an address.
    #[must_use]
    pub const fn of(self, address: u64) -> u64 {
        address >> self.shift()
    }
}

/// The rule that finds the page of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageRule {
    /// By the agreement of its addresses, and of the accesses next to it.
    #[default]
    Agreement,
    /// Every access is on a page of this size.
    Always(Page),
}

/// Knowledge about a frame, 2 MiB of physical memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frame {
    #[default]
    Unseen,
    /// All accesses so far agree with a large page at this region.
    Agrees(u64),
    /// They agreed, but the region has pages elsewhere.
    ByChance(u64),
    /// One of its pages lies at a place that rules out a large page.
    InPieces,
}

/// Number of remembered regions: a guest of 4 GiB has this many; a forgotten region is learnt again.
const REGIONS: usize = 1 << 11;

/// Knowledge about the pages of one CPU's accesses. Each access uses it, within the time of a hit in the nearest cache.
#[derive(Clone, Debug)]
pub struct Pages {
    rule: PageRule,
    /// Indexed by the frame's number.
    frames: Vec<Frame>,
    /// A region of 2 MiB of virtual memory and the frame that it last agreed with, at the region's number
    /// modulo the table's length.
    agreeing: Vec<Option<(u64, usize)>>,
}

impl Pages {
    /// Makes a state without any knowledge.
    #[must_use]
    pub fn new(rule: PageRule) -> Self {
        Self { rule, frames: Vec::new(), agreeing: vec![None; REGIONS] }
    }

    /// Returns the page of an access. A small page that agrees counts as large until an access next to it, in
    /// its region or in its frame, shows otherwise.
    pub fn of(&mut self, virtual_address: u64, physical_address: u64) -> Page {
        if let PageRule::Always(page) = self.rule {
            return page;
        }
        let region = Page::Large.of(virtual_address);
        let number = Page::Large.of(physical_address) as usize;
        if number >= self.frames.len() {
            self.frames.resize(number + 1, Frame::Unseen);
        }
        let place = region as usize % REGIONS;
        let within = (1_u64 << Page::Large.shift()) - 1;
        if (virtual_address ^ physical_address) & within != 0 {
            self.frames[number] = Frame::InPieces;
            if let Some((_, other)) = self.agreeing[place].take_if(|(known, _)| *known == region)
                && self.frames[other] == Frame::Agrees(region)
            {
                self.frames[other] = Frame::ByChance(region);
            }
            return Page::Small;
        }
        match self.frames[number] {
            Frame::InPieces => Page::Small,
            Frame::ByChance(known) if known == region => Page::Small,
            _ => {
                self.frames[number] = Frame::Agrees(region);
                self.agreeing[place] = Some((region, number));
                Page::Large
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: u64 = 4 << 10;
    const LARGE: u64 = 2 << 20;

    /// Returns the page found for each access of a lap over the small pages of a region, where page `n` lies
    /// at `place(n)`.
    fn lap(pages: &mut Pages, region: u64, place: impl Fn(u64) -> u64) -> Vec<Page> {
        (0..LARGE / SMALL).map(|page| pages.of(region * LARGE + page * SMALL, place(page))).collect()
    }

    #[test]
    fn addresses_that_agree_are_on_a_large_page() {
        let mut pages = Pages::new(PageRule::Agreement);
        assert_eq!(pages.of(0x7f00_0020_1234, 0x0000_0a00_1234), Page::Large);
        assert_eq!(pages.of(0x7f00_0020_1234, 0x0000_0b00_3234), Page::Small);
        assert_eq!(Pages::new(PageRule::Always(Page::Large)).of(0x1000, 0x2000), Page::Large);
    }

    #[test]
    fn pages_in_order_are_small_once_one_is_out_of_order() {
        let mut pages = Pages::new(PageRule::Agreement);
        // First, 143 pages are in order and the others are one page further. Then all pages are in another block, in
        // order. In `mixed`, only the first 300 pages are in that block.
        for place in [
            |page: u64| 9 * LARGE + (page + u64::from(page >= 143)) * SMALL,
            |page| 40 * LARGE + page * SMALL,
        ] {
            lap(&mut pages, 5, place);
        }
        let mixed = |page: u64| if page < 300 { 40 * LARGE + page * SMALL } else { 77 * LARGE };
        lap(&mut pages, 5, mixed);
        assert!(lap(&mut pages, 5, mixed).iter().all(|page| *page == Page::Small));
    }

    #[test]
    fn large_pages_are_found_beside_small_ones_and_in_place_of_them() {
        let mut pages = Pages::new(PageRule::Agreement);
        let large = |page: u64| 30 * LARGE + page * SMALL;
        let small = |page: u64| 20 * LARGE + (page ^ 1) * SMALL;
        for (region, place, found) in [
            (5, large as fn(u64) -> u64, Page::Large),
            (6, small, Page::Small),
            (6, large, Page::Large),
            (5, small, Page::Small),
        ] {
            assert!(lap(&mut pages, region, place).iter().all(|page| *page == found), "region {region}");
        }
        // The region has another frame now.
        assert!(lap(&mut pages, 8, large).iter().all(|page| *page == Page::Large));
    }
}
