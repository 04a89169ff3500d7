//! Numbers, sizes and decimals as people type them, with a reason for each refusal.
//!
//! This module does not depend on the option of a value; the parser puts both into one message.

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU32;

use latency_core::chain::WINDOWS;
use latency_core::cpulist::ListError;
use latency_core::kernel::lanes::PARALLEL;
use latency_core::traffic::KINDS;
use latency_core::{Bytes, CpuId, IdSet, PageSize, Pages, Picoseconds, Worded, messages};

use super::choices::{Kinds, Rate};
use super::tokens::Escaped;
use latency_report::Format;
use latency_report::lists::joined;

messages! {
    /// The reason for refusing a value. `Display` writes the reason without the value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ValueError<'a> {
        /// The empty text.
        Empty => "it is empty";
        /// A text with characters other than digits.
        NotANumber => "not a number";
        /// A number below zero.
        Negative => "it is negative";
        /// A fraction in place of a whole number.
        NotWhole => "not a whole number";
        /// Zero in place of a positive number.
        Zero => "it must be more than zero";
        /// A number that does not fit into 64 bits.
        Overflow => "too large for 64 bits";
        /// A number outside the valid range.
        OutOfRange { least: u64, most: u64 } => "it must be {least} to {most}";
        /// A number with too many decimal places.
        TooFine => "too many decimal places";
        /// A size with an unknown unit.
        UnknownUnit => "unknown unit";
        /// A size with a decimal unit; units are binary. `letter` is the first one of the unit.
        DecimalUnit { number: &'a [u8], letter: u8 } => "write {number}{letter} (= {number} {letter}iB)";
            where number = Escaped(number), letter = char::from(letter);
        /// A size that is not a whole number of bytes.
        NotWholeBytes => "not a whole number of bytes";
        /// A stride with which pointers would be unaligned.
        Unaligned => "pointers need a multiple of 8 bytes";
        /// A stride with which the nodes of the chain begin at many different offsets within cache lines.
        Straddling => "a line must not be split unevenly";
        /// A word that is not among the valid ones.
        NotAChoice => "no such choice";
        /// A text that is not two different CPUs with a colon between them.
        NotAPair => "a pair is two different CPUs, such as 0:1";
        /// A text that is neither a key with a value nor the name of a variable.
        NotALabel => "not a key and its value";
        /// A label with the same key as another one.
        SameKey => "another label has this key";
        /// One label too many.
        TooManyLabels => "there are 16 labels already";
        /// A word that is not one of these formats.
        NotAFormat(formats: &'static [Format]) => "no such format";
        /// A text that is not a list of node ids.
        List(reason: ListError<'a>) => "{reason}";
        /// A path with a NUL byte. The kernel would cut the path there.
        HoldsNul => "it holds a NUL byte";
    }
}

impl ValueError<'_> {
    /// Returns the names of the formats, if the word is not one of them.
    pub fn formats(&self) -> impl fmt::Display + use<> {
        let formats = if let ValueError::NotAFormat(formats) = *self { formats } else { &[] };
        joined("", ", ", formats.iter().map(|format| format.name))
    }
}

/// Reads a whole number, zero included.
///
/// # Errors
/// Refuses any text except digits, and numbers that do not fit.
pub fn integer(text: &[u8]) -> Result<u64, ValueError<'_>> {
    match decimal(text)? {
        Decimal { digits, places: 0 } => Ok(digits),
        _ => Err(ValueError::NotWhole),
    }
}

/// Reads a whole number from 1 to `most`.
///
/// # Errors
/// The errors of [`integer`]; zero, or more than `most`.
pub fn count(text: &[u8], most: u64) -> Result<u64, ValueError<'_>> {
    match integer(text)? {
        0 => Err(ValueError::Zero),
        value if value > most => Err(ValueError::OutOfRange { least: 1, most }),
        value => Ok(value),
    }
}

/// Reads a count of objects that are kept in memory, from 1 to `most`.
///
/// # Errors
/// The errors of [`count`].
pub fn small(text: &[u8], most: u32) -> Result<NonZeroU32, ValueError<'_>> {
    let count = u32::try_from(count(text, most.into())?);
    count.ok().and_then(NonZeroU32::new).ok_or(ValueError::Overflow)
}

/// Reads the number of one of several objects, from 0 to `most`.
///
/// # Errors
/// The errors of [`integer`]; a number above `most`.
pub fn number(text: &[u8], most: u32) -> Result<u32, ValueError<'_>> {
    match u32::try_from(integer(text)?) {
        Ok(number) if number <= most => Ok(number),
        _ => Err(ValueError::OutOfRange { least: 0, most: most.into() }),
    }
}

/// Reads the number of visits of a page in a window of a grouped order.
///
/// # Errors
/// The errors of [`integer`]; a number of visits that no chain has.
pub fn visits(text: &[u8]) -> Result<u64, ValueError<'_>> {
    let known = |visits: &u64| WINDOWS.iter().any(|window| window.visits == *visits);
    Some(integer(text)?).filter(known).ok_or(not_a_choice(text))
}

/// Reads the number of a CPU.
///
/// # Errors
/// The errors of [`integer`]; a number above the 8192 CPUs that Linux can be built for (CONFIG_NR_CPUS).
pub fn cpu(text: &[u8]) -> Result<CpuId, ValueError<'_>> {
    number(text, 8191).map(CpuId)
}

/// Reads a size in bytes: digits, optionally with a fraction and a binary unit.
///
/// The units are K, M, G and T, also as KiB and so on, in upper or lower case. A space before the unit is allowed, so
/// that sizes from the program's output can be typed again.
///
/// # Errors
/// No number, an unknown unit, zero, a fraction of a byte, more than 64 bits.
pub fn size(text: &[u8]) -> Result<Bytes, ValueError<'_>> {
    let (digits, unit) = number_and_unit(text);
    if digits.is_empty() {
        return Err(if text.is_empty() { ValueError::Empty } else { ValueError::NotANumber });
    }
    let number = decimal(digits)?;
    let unit = unit.strip_prefix(b" ").unwrap_or(unit);
    let unit = match unit {
        [] => Bytes(1),
        [letter, b'b' | b'B'] if prefix(*letter).is_ok() => {
            return Err(ValueError::DecimalUnit { number: digits, letter: letter.to_ascii_uppercase() });
        }
        _ => self::unit(unit)?,
    };
    match number.times(unit.0, ValueError::NotWholeBytes)? {
        0 => Err(ValueError::Zero),
        bytes => Ok(Bytes(bytes)),
    }
}

/// Reads a binary unit: B, K, M, G or T, also as KB or KiB, because tools that write KB mean KiB.
///
/// # Errors
/// Anything else.
pub fn unit(text: &[u8]) -> Result<Bytes, ValueError<'_>> {
    match text {
        [] => Err(ValueError::Empty),
        [b'b' | b'B'] => Ok(Bytes(1)),
        [letter] | [letter, b'b' | b'B'] | [letter, b'i' | b'I', b'b' | b'B'] => {
            Ok(Bytes(1 << prefix(*letter)?))
        }
        _ => Err(ValueError::UnknownUnit),
    }
}

fn prefix(letter: u8) -> Result<u32, ValueError<'static>> {
    match letter.to_ascii_uppercase() {
        b'K' => Ok(10),
        b'M' => Ok(20),
        b'G' => Ok(30),
        b'T' => Ok(40),
        _ => Err(ValueError::UnknownUnit),
    }
}

/// Reads the stride of a chain: a [`size`] that keeps pointers aligned to 8 bytes, and puts the nodes at the same
/// offsets of every cache line.
///
/// The second half of a line arrives later than the first, so that a stride such as 24 would mix two latencies.
///
/// # Errors
/// The errors of [`size`]; not a multiple of 8; neither 8, 16, 32 nor a multiple of 64.
pub fn stride(text: &[u8]) -> Result<Bytes, ValueError<'_>> {
    match size(text)? {
        Bytes(bytes) if !bytes.is_multiple_of(8) => Err(ValueError::Unaligned),
        stride if matches!(stride.0, 8 | 16 | 32) || stride.0.is_multiple_of(64) => Ok(stride),
        _ => Err(ValueError::Straddling),
    }
}

/// Reads a percentage of at most 100, with an optional `%`, and returns it as a fraction of 1.
///
/// # Errors
/// No number, more than 100, zero unless allowed, more than six decimal places.
pub fn percentage(text: &[u8], zero_allowed: bool) -> Result<f64, ValueError<'_>> {
    let millionths = decimal(text.strip_suffix(b"%").unwrap_or(text))?.scaled(6)?;
    match millionths {
        0 if !zero_allowed => Err(ValueError::Zero),
        100_000_001.. => Err(ValueError::OutOfRange { least: 0, most: 100 }),
        _ => Ok(millionths as f64 / 1e8),
    }
}

/// Reads a time: seconds, or a number with the unit `ms`, `s`, `m` (minutes) or `h`.
///
/// # Errors
/// No number, another unit, zero unless it is allowed, a fraction of a nanosecond, more than 100 days.
pub fn time(text: &[u8], zero_allowed: bool) -> Result<Picoseconds, ValueError<'_>> {
    const SECOND: u64 = 1_000_000_000;
    const MOST: u64 = 100 * 24 * 3600;
    let (digits, unit) = number_and_unit(text);
    let unit = match unit {
        b"" | b"s" => SECOND,
        b"ms" => SECOND / 1000,
        b"m" => SECOND * 60,
        b"h" => SECOND * 3600,
        _ if digits.is_empty() => return Err(ValueError::NotANumber),
        _ => return Err(ValueError::UnknownUnit),
    };
    match decimal(digits).and_then(|number| number.times(unit, ValueError::TooFine)) {
        Ok(0) if !zero_allowed => Err(ValueError::Zero),
        Ok(nanoseconds) if nanoseconds <= MOST * SECOND => Ok(Picoseconds(nanoseconds * 1000)),
        Ok(_) | Err(ValueError::Overflow) => Err(ValueError::OutOfRange { least: 0, most: MOST }),
        Err(other) => Err(other),
    }
}

/// Reads a [`time`] of whole seconds, from 1 to `most`.
///
/// # Errors
/// The errors of [`time`]; a fraction of a second, or more than `most`.
pub fn whole_seconds(text: &[u8], most: u32) -> Result<NonZeroU32, ValueError<'_>> {
    const SECOND: u64 = 1_000_000_000_000;
    let Picoseconds(time) = time(text, false)?;
    match u32::try_from(time / SECOND).ok().filter(|seconds| *seconds <= most).map(NonZeroU32::new) {
        Some(Some(seconds)) if time % SECOND == 0 => Ok(seconds),
        None => Err(ValueError::OutOfRange { least: 1, most: most.into() }),
        _ => Err(ValueError::NotWhole),
    }
}

/// Divides a text into its number and the unit after it.
fn number_and_unit(text: &[u8]) -> (&[u8], &[u8]) {
    let is_unit = |byte: &u8| !byte.is_ascii_digit() && !matches!(byte, b'.' | b'-');
    text.split_at(text.iter().position(is_unit).unwrap_or(text.len()))
}

/// Reads the maximum wait for quiet neighbours: `quiet`, or `quiet=TIME`.
///
/// # Errors
/// Another word; the errors of [`time`].
pub fn until(text: &[u8]) -> Result<Picoseconds, ValueError<'_>> {
    /// Default wait, one minute: neighbours are more likely to pause within a minute than within the ten seconds of a
    /// run.
    const QUIET: Picoseconds = Picoseconds(60_000_000_000_000);
    match text {
        [] => Err(ValueError::Empty),
        b"quiet" => Ok(QUIET),
        _ => time(text.strip_prefix(b"quiet=").ok_or(ValueError::NotAChoice)?, false),
    }
}

/// Reads one of a few words.
///
/// # Errors
/// Any other word.
pub fn choice<C: Worded>(text: &[u8]) -> Result<C, ValueError<'_>> {
    C::from_word(text).ok_or(not_a_choice(text))
}

/// Reads a kind of pages: a word, or a size such as `64k`. Transparent huge pages have one size, and no other word than
/// `thp`.
///
/// # Errors
/// Any other word; a size that no page has.
pub fn pages(text: &[u8]) -> Result<Pages, ValueError<'_>> {
    let known = if text == b"base" { Some(Pages::base(PageSize::KIB_4)) } else { Pages::from_word(text) };
    known.filter(|_| !text.starts_with(b"thp-")).ok_or(not_a_choice(text))
}

const fn not_a_choice(text: &[u8]) -> ValueError<'_> {
    if text.is_empty() { ValueError::Empty } else { ValueError::NotAChoice }
}

/// Reads a list of ids of nodes or CPUs such as `0,2-3`; `all` is [`IdSet::ALL`].
///
/// # Errors
/// The errors of [`IdSet::parse_list`].
pub fn ids<const WORDS: usize>(text: &[u8]) -> Result<IdSet<WORDS>, ValueError<'_>> {
    match text {
        [] => Err(ValueError::Empty),
        b"all" => Ok(IdSet::ALL),
        list => IdSet::parse_list(list).map_err(ValueError::List),
    }
}

/// Reads a list of numbers of chains such as `1,4-8`; each of its parts must contain a number that a kernel has.
///
/// # Errors
/// The errors of [`ids`], and a part without the number of any kernel.
pub fn chains(text: &[u8]) -> Result<IdSet<2>, ValueError<'_>> {
    for part in text.split(|byte| *byte == b',') {
        let part: IdSet<2> = ids(part)?;
        if !PARALLEL.iter().any(|kernel| part.contains(kernel.lanes() as u32)) {
            return Err(ValueError::NotAChoice);
        }
    }
    ids(text)
}

/// Reads a list of kinds of traffic such as `read,2:1`.
///
/// # Errors
/// Refuses an unknown word.
pub fn traffic(text: &[u8]) -> Result<Kinds, ValueError<'_>> {
    let mut kinds = Kinds::NONE;
    for word in text.split(|byte| *byte == b',') {
        let kind = KINDS.iter().position(|kind| kind.name.as_bytes() == word);
        kinds = kinds.with(kind.ok_or(ValueError::NotAChoice)?);
    }
    Ok(kinds)
}

/// Reads rates such as `0,1.5,50%,max`: GB/s (10^9 bytes), shares of the limit, or the maximum.
///
/// # Errors
/// No number, more than a million GB/s or 100 %, too many rates, or only idle.
pub fn rates(text: &[u8]) -> Result<Vec<Rate>, ValueError<'_>> {
    /// The maximum number of rates of one curve.
    const MOST: usize = 32;
    let mut rates = Vec::new();
    if text == b"auto" {
        return Ok(rates);
    }
    for word in text.split(|byte| *byte == b',') {
        let rate = match word {
            b"max" => Rate::Most,
            [number @ .., b'%'] => Rate::OfLimit(percentage(number, true)?),
            number => match decimal(number)?.scaled(9)? {
                0 => Rate::Idle,
                1_000_000_000_000_001.. => {
                    return Err(ValueError::OutOfRange { least: 0, most: 1_000_000 });
                }
                bytes => Rate::BytesPerSecond(bytes as f64),
            },
        };
        rates.push(if rate == Rate::OfLimit(0.0) { Rate::Idle } else { rate });
        if rates.len() > MOST {
            return Err(ValueError::OutOfRange { least: 1, most: MOST as u64 });
        }
    }
    // Idle generators alone do not put a load on memory.
    if rates.iter().all(|rate| *rate == Rate::Idle) { Err(ValueError::Zero) } else { Ok(rates) }
}

/// Reads the path of a file.
///
/// # Errors
/// An empty path, or a path with a NUL byte.
pub fn path(text: &[u8]) -> Result<&[u8], ValueError<'_>> {
    match text {
        [] => Err(ValueError::Empty),
        _ if text.contains(&0) => Err(ValueError::HoldsNul),
        _ => Ok(text),
    }
}

/// `digits / 10^places`, without trailing zeros after the point.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    places: u32,
}

impl Decimal {
    /// Returns the value times `10^places`.
    fn scaled(self, places: u32) -> Result<u64, ValueError<'static>> {
        let missing = places.checked_sub(self.places).ok_or(ValueError::TooFine)?;
        self.digits.checked_mul(10u64.pow(missing)).ok_or(ValueError::Overflow)
    }

    /// Returns the value times `unit`; refuses a product that is not whole for the reason `inexact`.
    fn times(self, unit: u64, inexact: ValueError<'static>) -> Result<u64, ValueError<'static>> {
        let product = u128::from(self.digits) * u128::from(unit);
        let divisor = 10u128.pow(self.places);
        if product % divisor != 0 {
            return Err(inexact);
        }
        u64::try_from(product / divisor).map_err(|_| ValueError::Overflow)
    }
}

fn decimal(text: &[u8]) -> Result<Decimal, ValueError<'_>> {
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    if text.is_empty() {
        return Err(if negative { ValueError::NotANumber } else { ValueError::Empty });
    }
    let mut parts = text.splitn(2, |&byte| byte == b'.');
    let whole = parts.next().unwrap_or(&[]);
    let fraction = parts.next();
    let digits_only = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !digits_only(whole) || fraction.is_some_and(|part| !digits_only(part)) {
        return Err(ValueError::NotANumber);
    }
    if negative {
        return Err(ValueError::Negative);
    }
    let mut fraction = fraction.unwrap_or(&[]);
    while let [head @ .., b'0'] = fraction {
        fraction = head;
    }
    let mut digits = 0u64;
    for byte in whole {
        digits = append(digits, *byte).ok_or(ValueError::Overflow)?;
    }
    for byte in fraction {
        digits = append(digits, *byte).ok_or(ValueError::TooFine)?;
    }
    // Leading zeros add places and no digits; 10^18 is the largest power of ten that is used.
    match u32::try_from(fraction.len()) {
        Ok(places @ 0..=18) => Ok(Decimal { digits, places }),
        _ => Err(ValueError::TooFine),
    }
}

fn append(digits: u64, byte: u8) -> Option<u64> {
    digits.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
