//! The reason why saved results do not answer a question, with the run that would.

use core::fmt;

use latency_core::units::{Bytes, Pages};

use crate::options::tokens::Escaped;

/// A question beyond the measured values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named for what they hold; what they mean is the message
pub enum Unanswered {
    /// No latency by size.
    NoCurve,
    /// No latency by size in these pages.
    OtherPages { pages: Pages },
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
struct Typed(Bytes);

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
            Unanswered::OtherPages { ref pages } => {
                lacks(format_args!("latency by size in {pages} pages"), format_args!("curve --pages={pages}"))
            }
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
                     of {size}; use a larger --size"
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
