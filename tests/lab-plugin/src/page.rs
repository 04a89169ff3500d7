//! Which page an access is on.
//!
//! A plugin sees pairs of virtual and physical addresses and is never told the size of a page. On a page of 2 MiB a
//! pair agrees in its low 21 bits. On pages of 4 KiB it does by chance, and not rarely: a kernel that has a free block of
//! 2 MiB hands out its pages in order, and where they go to memory that begins on such a boundary some hundred of them
//! agree. What lies beside them tells: a region of 2 MiB that has one page elsewhere is no large page.

/// A size of page that a translation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// 4 KiB.
    Small,
    /// 2 MiB.
    Large,
}

impl Page {
    /// Base-2 logarithm of the size.
    #[must_use]
    pub const fn shift(self) -> u32 {
        match self {
            Page::Small => 12,
            Page::Large => 21,
        }
    }

    /// The number of the page of this size that an address lies on.
    #[must_use]
    pub const fn of(self, address: u64) -> u64 {
        address >> self.shift()
    }
}

/// How the page of an access is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageRule {
    /// By the agreement of its addresses, and of those beside it.
    #[default]
    Agreement,
    /// Every access is on a page of this size.
    Always(Page),
}

/// What is known of a frame, 2 MiB of physical memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frame {
    #[default]
    Unseen,
    /// All that was seen of it lies in this region as a large page does.
    Agrees(u64),
    /// So it did, but the region has pages elsewhere.
    ByChance(u64),
    /// A page of it lies where a large page has no room for it.
    InPieces,
}

/// Regions remembered, two to the power of eleven: a guest of 4 GiB has as many, and one that is forgotten is learnt again.
const REGIONS: usize = 1 << 11;

/// What one CPU's accesses have told of the pages. Each of them asks, within the time of a hit in the nearest cache.
#[derive(Clone, Debug)]
pub struct Pages {
    rule: PageRule,
    /// By the frame's number.
    frames: Vec<Frame>,
    /// A region of 2 MiB of virtual memory and the frame that it last agreed with, at the region's number modulo the
    /// table's length.
    agreeing: Vec<Option<(u64, usize)>>,
}

impl Pages {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(rule: PageRule) -> Self {
        Self { rule, frames: Vec::new(), agreeing: vec![None; REGIONS] }
    }

    /// The page that an access is taken to be on. A small one that agrees is taken for large until one beside it, in
    /// its region or in its frame, has been seen.
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
            if let Some((_, other)) = self.agreeing[place].take_if(|(known, _)| *known == region) {
                if self.frames[other] == Frame::Agrees(region) {
                    self.frames[other] = Frame::ByChance(region);
                }
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

    /// What each of a lap over the small pages of a region is taken for, where page `n` lies at `place(n)`.
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
    fn pages_handed_out_in_order_are_small_as_soon_as_one_is_not() {
        let mut pages = Pages::new(PageRule::Agreement);
        // The first 143 as they come, the others one further; and all of them from another block, behind 300 of it.
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
    fn a_large_page_stays_one_beside_small_ones_and_where_small_ones_were() {
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
        // It has another place now.
        assert!(lap(&mut pages, 8, large).iter().all(|page| *page == Page::Large));
    }
}
