//! The reason why saved results do not answer a question, with the run that would.

use core::fmt;

use latency_core::packed;
use latency_core::units::{Bytes, Pages};

use crate::options::message::{self, Insert};

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

/// Returns a size in the form in which it is typed.
const fn typed(size: Bytes) -> Insert<'static> {
    match size.0.trailing_zeros() {
        0..10 => Insert::Number(size.0),
        10..20 => Insert::Unit(size.0 >> 10, 'K'),
        20..30 => Insert::Unit(size.0 >> 20, 'M'),
        _ => Insert::Unit(size.0 >> 30, 'G'),
    }
}

impl Unanswered {
    /// Writes the message about a file.
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn write(&self, out: &mut fmt::Formatter<'_>, path: &[u8]) -> fmt::Result {
        macro_rules! text {
            ($fact:literal, $run:literal) => {
                packed!(
                    concat!("'{path}' has no ", $fact, "; run `latency-bench ", $run, "`"),
                    path,
                    one,
                    two
                )
            };
        }
        let nothing = Insert::Nothing;
        let (text, one, two) = match self {
            Unanswered::NoCurve => (text!("latency by size", "curve -o FILE.json"), nothing, nothing),
            Unanswered::OtherPages { pages } => (
                text!("latency by size in {one} pages", "curve --pages={one}"),
                Insert::Shown(pages),
                nothing,
            ),
            Unanswered::TooSmall { size, least } => {
                (text!("size below {one}", "curve --min-size={two}"), (*least).into(), typed(*size))
            }
            Unanswered::TooLarge { size, most } => {
                (text!("size above {one}", "curve --max-size={two}"), (*most).into(), typed(*size))
            }
            Unanswered::NoChains { chains, most: 0 } => {
                (text!("time of {one} chains", "parallel --chains=1,{one}"), (*chains).into(), nothing)
            }
            Unanswered::NoChains { chains, most } => (
                text!("time of {one} chains (at most {two})", "parallel --chains=1,{one}"),
                (*chains).into(),
                (*most).into(),
            ),
            Unanswered::ChainsElsewhere { chains, size } => (
                text!(
                    "time of {one} chains over this size, and caches differ from memory",
                    "parallel --chains=1,{one} --size={two}"
                ),
                (*chains).into(),
                typed(*size),
            ),
            Unanswered::NoCores { cores, most: 0 } => (
                text!(
                    "bandwidth of random loads by {one} cores",
                    "bandwidth --traffic=random --view=scaling"
                ),
                (*cores).into(),
                nothing,
            ),
            Unanswered::NoCores { cores, most } => (
                text!(
                    "bandwidth of random loads by {one} cores (at most {two})",
                    "bandwidth --traffic=random --view=scaling"
                ),
                (*cores).into(),
                (*most).into(),
            ),
            Unanswered::CoresElsewhere { size } => (
                packed!(
                    "'{path}' has random loads of several cores in memory only, and a cache serves part of {one}; use a larger \
                     --size",
                    path,
                    one
                ),
                (*size).into(),
                nothing,
            ),
        };
        message::write(out, text, &[Insert::Typed(path), one, two])
    }
}
