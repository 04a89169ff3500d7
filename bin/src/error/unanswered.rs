//! The reason why saved results do not answer a question, with the run that would.

use core::fmt;

use latency_core::units::{Bytes, Pages};

use crate::options::tokens::Escaped;

/// The kinds of pages of a file, as far as there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageKinds([Option<Pages>; 6]);

impl PageKinds {
    /// Adds a kind once.
    pub fn add(&mut self, pages: Option<Pages>) {
        let slot = self.0.iter_mut().find(|slot| slot.is_none() || **slot == pages);
        if let (Some(slot), Some(pages)) = (slot, pages) {
            *slot = Some(pages);
        }
    }

    /// Returns the base pages, if there are some.
    fn base(&self) -> Option<Pages> {
        self.0.iter().flatten().copied().find(|pages| pages.are_base())
    }
}

impl fmt::Display for PageKinds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for pages in self.0.iter().flatten() {
            write!(out, "{before}{pages}")?;
            before = ", ";
        }
        if before.is_empty() { out.write_str("pages that it does not name") } else { Ok(()) }
    }
}

/// The words of the properties in which curves differ, as far as there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences([Option<&'static str>; 6]);

impl Differences {
    /// Adds a property once.
    pub fn add(&mut self, word: &'static str) {
        if let Some(slot) = self.0.iter_mut().find(|slot| slot.is_none_or(|own| own == word)) {
            *slot = Some(word);
        }
    }

    fn is_by_nodes(&self) -> bool {
        self.0.iter().flatten().any(|word| word.ends_with(" node"))
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for word in self.0.iter().flatten() {
            write!(out, "{before}{word}")?;
            before = ", ";
        }
        if before.is_empty() { out.write_str("their values alone") } else { Ok(()) }
    }
}

/// A question beyond the measured values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum Unanswered {
    /// No latency by size.
    NoCurve,
    /// No latency by size in these pages.
    OtherPages { pages: Pages, known: PageKinds },
    /// Several curves that could answer, and differ.
    SeveralCurves { count: usize, differences: Differences },
    /// A size below the smallest one.
    TooSmall { size: Bytes, least: Bytes },
    /// A size above the largest one.
    TooLarge { size: Bytes, most: Bytes },
    /// A number of chains that was not measured; `most` is the largest number that was, or 0.
    NoChains { chains: u32, most: u32 },
    /// Chains over other sizes, which allow no conclusion because one of both sizes is in a cache.
    ChainsElsewhere { chains: u32, size: Bytes },
    /// A number of cores for which no random bandwidth was measured; `most` is the largest number that was, or 0.
    NoCores { cores: u32, most: u32 },
    /// Bandwidth of memory, and a size that caches hold.
    CoresElsewhere { size: Bytes },
}

/// A size in the form in which it is typed.
pub struct Typed(pub Bytes);

impl fmt::Display for Typed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Typed(Bytes(bytes)) = *self;
        match bytes.trailing_zeros() {
            0..10 => write!(out, "{bytes}"),
            10..20 => write!(out, "{}K", bytes >> 10),
            20..30 => write!(out, "{}M", bytes >> 20),
            _ => write!(out, "{}G", bytes >> 30),
        }
    }
}

impl Unanswered {
    /// Writes the message about a file.
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn write(&self, out: &mut fmt::Formatter<'_>, path: &[u8]) -> fmt::Result {
        let path = Escaped(path);
        let mut lacks = |fact: fmt::Arguments<'_>, run: fmt::Arguments<'_>| {
            write!(out, "'{path}' has no {fact}; run `latency-bench {run} -o FILE.json`")
        };
        match *self {
            Unanswered::NoCurve => lacks(format_args!("latency by size"), format_args!("curve")),
            // A machine has one size of base pages.
            Unanswered::OtherPages { ref pages, ref known } if pages.are_base() && known.base().is_some() => {
                let base = known.base().unwrap_or(Pages::AUTO);
                write!(
                    out,
                    "'{path}' is of a machine with base pages of {base}, not of {pages} (it has latency by size \
                     in: {known}); use --pages=base, or save a result of another machine: `latency-bench curve \
                     --pages={pages} -o FILE.json`"
                )
            }
            Unanswered::OtherPages { ref pages, ref known } => lacks(
                format_args!("latency by size in {pages} pages (only in: {known})"),
                format_args!("curve --pages={pages}"),
            ),
            Unanswered::SeveralCurves { count, ref differences } => write!(
                out,
                "'{path}' has {count} curves that could answer, and they differ in {differences}; use a file \
                 with one of them, or run `latency-bench curve{} -o FILE.json`",
                if differences.is_by_nodes() { " --cpunode=N --memnode=N" } else { "" }
            ),
            Unanswered::TooSmall { size, least } => {
                lacks(format_args!("size below {least}"), format_args!("curve --min-size={}", Typed(size)))
            }
            Unanswered::TooLarge { size, most } => {
                lacks(format_args!("size above {most}"), format_args!("curve --max-size={}", Typed(size)))
            }
            Unanswered::NoChains { chains, most } => lacks(
                format_args!("time of {chains} chains{}", AtMost(most)),
                format_args!("parallel --chains=1,{chains}"),
            ),
            Unanswered::ChainsElsewhere { chains, size } => lacks(
                format_args!("time of {chains} chains over this size, and caches differ from memory"),
                format_args!("parallel --chains=1,{chains} --size={}", Typed(size)),
            ),
            Unanswered::NoCores { cores, most } => lacks(
                format_args!("bandwidth of random loads by {cores} cores{}", AtMost(most)),
                format_args!("bandwidth --traffic=random --view=scaling"),
            ),
            Unanswered::CoresElsewhere { size } => write!(
                out,
                "'{path}' has random loads of several cores in memory only, and a cache serves part \
                     of {size}; use a larger --size, or run `latency-bench parallel --size={typed} -o FILE.json` \
                     for loads side by side of one core",
                typed = Typed(size)
            ),
        }
    }
}

/// The largest number that was measured; nothing for 0.
struct AtMost(u32);

impl fmt::Display for AtMost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            most => write!(out, " (at most {most})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    fn text(why: Unanswered) -> String {
        fmt::from_fn(|out| why.write(out, b"f.json")).to_string()
    }

    #[test]
    fn every_refusal_names_a_command_that_saves_its_result() {
        let (size, chains, cores, most) = (Bytes(3 << 30), 8, 4, 0);
        let (pages, known) = (Pages::from_word(b"1g").unwrap(), PageKinds::default());
        let mut of_x86 = PageKinds::default();
        of_x86.add(Pages::from_word(b"4k"));
        let other = Pages::from_word(b"64k").unwrap();
        let mut differences = Differences::default();
        ["host", "start", "to node", "host"].into_iter().for_each(|word| differences.add(word));
        for why in [
            Unanswered::NoCurve,
            Unanswered::OtherPages { pages, known },
            Unanswered::OtherPages { pages: other, known: of_x86 },
            Unanswered::SeveralCurves { count: 2, differences },
            Unanswered::TooSmall { size, least: size },
            Unanswered::TooLarge { size, most: size },
            Unanswered::NoChains { chains, most: 0 },
            Unanswered::ChainsElsewhere { chains, size },
            Unanswered::NoCores { cores, most },
            Unanswered::CoresElsewhere { size },
        ] {
            let text = text(why);
            assert!(text.contains("`latency-bench ") && text.contains(" -o FILE.json`"), "{text}");
        }
        let text = text(Unanswered::SeveralCurves { count: 2, differences });
        assert!(text.contains("2 curves") && text.contains("differ in host, start, to node;"), "{text}");
    }
}
