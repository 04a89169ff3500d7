//! Sizes and kinds of pages.

use core::fmt;

use super::Bytes;
use crate::text::Text;

/// A page size: a power of two from [`PageSize::LEAST`] to [`PageSize::MOST`].
///
/// The kernel chooses the base page when it is built: 4, 16 or 64 KiB. Huge pages have the size that
/// one entry of a higher page table covers, or several entries that the TLB treats as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize {
    /// The binary logarithm of the number of bytes.
    log2: u8,
}

impl PageSize {
    /// The smallest page of any machine.
    pub const KIB_4: PageSize = PageSize { log2: 12 };
    /// One entry of the second level of page tables, with base pages of 4 KiB.
    pub const MIB_2: PageSize = PageSize { log2: 21 };
    /// One entry of the third level of page tables, with base pages of 4 KiB.
    pub const GIB_1: PageSize = PageSize { log2: 30 };
    /// The largest base page.
    pub const KIB_64: PageSize = PageSize { log2: 16 };
    /// The base pages with which Linux can be built, smallest first.
    pub const BASES: [PageSize; 3] = [PageSize::KIB_4, PageSize { log2: 14 }, PageSize::KIB_64];
    /// The smallest size.
    pub const LEAST: PageSize = PageSize::KIB_4;
    /// The largest size: 32 entries of 512 MiB, with base pages of 64 KiB.
    pub const MOST: PageSize = PageSize { log2: 34 };

    /// Returns the page size of this many bytes; `None` if no page has it.
    pub const fn of(size: Bytes) -> Option<PageSize> {
        let log2 = size.0.trailing_zeros() as u8;
        let is_one = size.0.is_power_of_two() && log2 >= Self::LEAST.log2 && log2 <= Self::MOST.log2;
        if is_one { Some(PageSize { log2 }) } else { None }
    }

    /// Returns the size of one page.
    pub const fn bytes(self) -> Bytes {
        Bytes(1 << self.log2)
    }

    /// Returns the number of whole pages of an amount of memory.
    pub const fn count(self, size: Bytes) -> u64 {
        size.0 >> self.log2
    }

    /// Returns an amount of memory, rounded down to whole pages.
    pub const fn whole(self, size: Bytes) -> Bytes {
        Bytes(size.0 >> self.log2 << self.log2)
    }

    /// Returns an amount of memory, rounded up to whole pages.
    pub const fn rounded_up(self, size: Bytes) -> Bytes {
        self.whole(Bytes(size.0.saturating_add(self.bytes().0 - 1)))
    }

    /// Returns the binary logarithm of the number of bytes.
    pub const fn log2(self) -> u32 {
        self.log2 as u32
    }

    /// Returns the word of options and results: `2m`.
    pub fn word(self) -> impl fmt::Display {
        const UNITS: [char; 3] = ['k', 'm', 'g'];
        let log2 = self.log2();
        let unit = UNITS.get((log2 / 10 - 1) as usize).copied().unwrap_or_default();
        fmt::from_fn(move |out| write!(out, "{}{unit}", 1 << (log2 % 10)))
    }

    /// Returns the size of the memory that one page table maps, if base pages have this size. It is the size of a
    /// transparent huge page. A table fills a base page, and each of its entries of eight bytes maps another one.
    #[must_use]
    pub const fn mapped_by_table(self) -> PageSize {
        PageSize { log2: self.log2 * 2 - 3 }
    }
}

/// Writes the size for people: `2 MiB`.
impl fmt::Display for PageSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(out)
    }
}

/// A set of page sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageSizes(u64);

impl PageSizes {
    /// The set without a size.
    pub const NONE: PageSizes = PageSizes(0);
    /// Every size.
    pub const ALL: PageSizes = PageSizes((2 << PageSize::MOST.log2) - (1 << PageSize::LEAST.log2));

    /// Returns the set with one more size.
    #[must_use]
    pub const fn with(self, size: PageSize) -> PageSizes {
        PageSizes(self.0 | 1 << size.log2)
    }

    /// Returns the sizes that are in either set.
    #[must_use]
    pub const fn union(self, other: PageSizes) -> PageSizes {
        PageSizes(self.0 | other.0)
    }

    /// Returns true if the set has this size.
    pub const fn has(self, size: PageSize) -> bool {
        self.0 >> size.log2 & 1 == 1
    }

    /// Returns the sizes, smallest first.
    pub fn iter(self) -> impl Iterator<Item = PageSize> + Clone {
        (PageSize::LEAST.log2..PageSize::MOST.log2 + 1)
            .map(|log2| PageSize { log2 })
            .filter(move |size| self.has(*size))
    }
}

/// Writes the sizes for people: `2 MiB, 1 GiB`; `none` for the empty set.
impl fmt::Display for PageSizes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for size in self.iter() {
            write!(out, "{before}{size}")?;
            before = ", ";
        }
        out.write_str(if self == &PageSizes::NONE { "none" } else { "" })
    }
}

/// The source of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSource {
    /// The best source that is available: the pool of huge pages, else transparent huge pages, else base pages.
    Auto,
    /// Base pages, with transparent huge pages disabled.
    Base,
    /// Base pages that the kernel is asked to merge into huge pages.
    Thp,
    /// The kernel's pool of huge pages.
    Pool,
}

/// A kind of pages: their source and their size, in one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages(u8);

impl Pages {
    /// Pages of any source, which has not been chosen yet.
    pub const AUTO: Pages = Pages(0);

    /// Returns base pages of this size.
    pub const fn base(size: PageSize) -> Pages {
        Pages(size.log2 << 2 | 1)
    }

    /// Returns transparent huge pages of this size.
    pub const fn thp(size: PageSize) -> Pages {
        Pages(size.log2 << 2 | 2)
    }

    /// Returns huge pages from the pool of this size.
    pub const fn of_pool(size: PageSize) -> Pages {
        Pages(size.log2 << 2 | 3)
    }

    /// Returns the source.
    pub const fn source(self) -> PageSource {
        match self.0 & 3 {
            0 => PageSource::Auto,
            1 => PageSource::Base,
            2 => PageSource::Thp,
            _ => PageSource::Pool,
        }
    }

    /// Returns the size of these pages, and of the huge pages that the kernel is asked for; `None` for [`AUTO`](Self::AUTO).
    pub const fn size(self) -> Option<PageSize> {
        if self.0 == 0 { None } else { Some(PageSize { log2: self.0 >> 2 }) }
    }

    /// Returns the size of the pool from which these pages come; `None` for pages that do not come from a pool.
    pub const fn pool(self) -> Option<PageSize> {
        if self.0 & 3 == 3 { self.size() } else { None }
    }

    /// Returns true for base pages.
    pub const fn are_base(self) -> bool {
        self.0 & 3 == 1
    }

    /// Returns true for transparent huge pages.
    pub const fn are_transparent(self) -> bool {
        self.0 & 3 == 2
    }

    /// Returns the number of this kind. It is larger for larger pages. Among pages of one size, a pool has the largest.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns the kind with this [`code`](Self::code).
    pub const fn of_code(code: u8) -> Pages {
        Pages(code)
    }

    /// Returns every kind of pages of every size, smallest first.
    pub fn all() -> impl Iterator<Item = Pages> + Clone {
        (Pages::base(PageSize::LEAST).0..Pages::of_pool(PageSize::MOST).0 + 1)
            .map(Pages)
            .filter(|pages| pages.0 & 3 > 0)
    }

    /// Returns the kind with this word; `None` for any other text. A size up to 64 KiB means base pages, since a pool
    /// of that size has the same word.
    pub fn from_word(text: &[u8]) -> Option<Pages> {
        let is_one = |pages: &Pages| {
            !pages.are_base() && Text::<16>::of(format_args!("{pages}")).as_str().as_bytes() == text
        };
        let found = Pages::all().chain([Pages::AUTO]).find(is_one)?;
        Some(match found.pool() {
            Some(size) if size <= PageSize::KIB_64 => Pages::base(size),
            _ => found,
        })
    }
}

/// Writes the word of results: `auto`, the size of pages, `thp` for transparent pages of 2 MiB, and `thp-32m` for others.
impl fmt::Display for Pages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(size) = self.size() else { return out.write_str("auto") };
        if self.are_transparent() {
            out.write_str("thp")?;
            if size == PageSize::MIB_2 {
                return Ok(());
            }
            out.write_str("-")?;
        }
        size.word().fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn page_sizes_are_powers_of_two_with_a_word() {
        let of = |bytes| PageSize::of(Bytes(bytes));
        for (bytes, word, words) in [
            (4 << 10, "4k", "4 KiB"),
            (16 << 10, "16k", "16 KiB"),
            (64 << 10, "64k", "64 KiB"),
            (2 << 20, "2m", "2 MiB"),
            (32 << 20, "32m", "32 MiB"),
            (512 << 20, "512m", "512 MiB"),
            (1 << 30, "1g", "1 GiB"),
            (16 << 30, "16g", "16 GiB"),
        ] {
            let size = of(bytes).unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (Bytes(bytes), words));
            assert_eq!(size.word().to_string(), word);
        }
        for bytes in [0, 2048, 6 << 10, (2 << 20) + 1, 32 << 30, u64::MAX] {
            assert_eq!(of(bytes), None, "{bytes}");
        }
        assert_eq!(PageSizes::ALL.iter().count(), 23);
        assert!(PageSizes::ALL.iter().all(|size| of(size.bytes().0) == Some(size)));
        let some = PageSizes::NONE.with(PageSize::GIB_1).with(PageSize::MIB_2);
        assert_eq!(
            (some.to_string().as_str(), PageSizes::NONE.to_string().as_str()),
            ("2 MiB, 1 GiB", "none")
        );
        assert!(some.has(PageSize::GIB_1) && !some.has(PageSize::KIB_4));
    }

    #[test]
    fn a_page_table_maps_one_transparent_huge_page() {
        for (base, huge) in [(4 << 10, 2 << 20), (16 << 10, 32 << 20), (64 << 10, 512 << 20)] {
            assert_eq!(PageSize::of(Bytes(base)).unwrap().mapped_by_table().bytes(), Bytes(huge));
        }
    }

    #[test]
    fn kinds_of_pages_have_words_and_are_ordered_by_size() {
        let of = |bytes| PageSize::of(Bytes(bytes)).unwrap();
        let kinds = [
            (Pages::AUTO, "auto"),
            (Pages::base(of(4 << 10)), "4k"),
            (Pages::base(of(64 << 10)), "64k"),
            (Pages::thp(of(2 << 20)), "thp"),
            (Pages::of_pool(of(2 << 20)), "2m"),
            (Pages::thp(of(32 << 20)), "thp-32m"),
            (Pages::of_pool(of(32 << 20)), "32m"),
            (Pages::of_pool(of(16 << 30)), "16g"),
        ];
        for (pages, word) in kinds {
            assert_eq!(pages.to_string(), word);
            assert_eq!(Pages::from_word(word.as_bytes()), Some(pages));
            assert_eq!(Pages::of_code(pages.code()), pages);
        }
        assert!(kinds.windows(2).all(|pair| pair[0].0.code() < pair[1].0.code()));
        assert!(kinds[1..].iter().all(|(pages, _)| Pages::all().filter(|one| one == pages).count() == 1));
        assert!(Pages::all().zip(Pages::all().skip(1)).all(|(one, next)| one.code() < next.code()));
        assert_eq!(Pages::all().count(), 3 * PageSizes::ALL.iter().count());
        for word in [
            "", "AUTO", "thp-", "thp-3m", "thp-2m", "base", "huge", "k", "2", "3m", "04k", "+4k", "4K",
            "4096", "4kb", "2048k", "32g", "2k", "thp-32g",
        ] {
            assert_eq!(Pages::from_word(word.as_bytes()), None, "{word}");
        }
    }
}
