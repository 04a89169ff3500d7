//! The pieces of arguments: numbers, nodes, pages.

use std::ops::RangeInclusive;

use crate::model::Periodic;
use crate::page::Page;

/// Returns true if `divisor` divides `value`; false for 0.
pub(super) fn divides(divisor: u64, value: u64) -> bool {
    value.checked_rem(divisor) == Some(0)
}

/// Returns exactly as many pieces as `form` has.
pub(super) fn exactly<'a, const N: usize>(pieces: &[&'a str], form: &str) -> Result<[&'a str; N], String> {
    pieces.try_into().map_err(|_| format!("expected {form}, found {} piece(s)", pieces.len()))
}

/// Parses a number, decimal or hexadecimal after `0x`; K, M and G are binary.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let shift = match text.as_bytes().last() {
        Some(b'K' | b'k') => 10,
        Some(b'M' | b'm') => 20,
        Some(b'G' | b'g') => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { text.get(..text.len() - 1).unwrap_or_default() };
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |hexadecimal| (hexadecimal, 16));
    // The parser of the standard library would accept a sign.
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return Err(format!("'{text}' is not a number"));
    }
    u64::from_str_radix(digits, radix)
        .map_err(|_| format!("'{text}' is not a number of 64 bits"))?
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("'{text}' exceeds 64 bits"))
}

/// Parses a number other than zero.
pub(super) fn positive(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err(format!("'{text}' must not be zero")),
        value => Ok(value),
    }
}

/// Parses a node or CPU.
pub(super) fn index(text: &str) -> Result<u32, String> {
    // This limit is above that of any kernel, and far too small to fill memory with CPUs.
    number(text)?
        .try_into()
        .ok()
        .filter(|&value: &u32| value < 1 << 16)
        .ok_or_else(|| format!("'{text}' is not a node or CPU"))
}

/// Parses CPUs, `FIRST[-LAST]`.
pub(super) fn cpus(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u32, u32) = (index(first)?, index(last)?);
    if last < first {
        return Err(format!("the range {text} is backward"));
    }
    Ok(first as usize..=last as usize)
}

/// Parses a node, or `*` for every node.
pub(super) fn any_or_index(text: &str) -> Result<Option<u32>, String> {
    if text == "*" {
        return Ok(None);
    }
    index(text).map(Some)
}

/// Parses a page size.
pub(super) fn page(text: &str) -> Option<Page> {
    match text {
        "4k" | "4K" => Some(Page::Small),
        "2m" | "2M" => Some(Page::Large),
        _ => None,
    }
}

/// Parses `EVERY:TICKS`.
pub(super) fn periodic(pieces: &[&str]) -> Result<Periodic, String> {
    let [every, ticks] = exactly(pieces, "EVERY:TICKS")?;
    Ok(Periodic { every: positive(every)?, ticks: number(ticks)? })
}

/// Parses whole percent to a share; 100 % and more would leave no latency.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    match positive(text)? {
        percent @ 1..=99 => Ok(percent as f64 / 100.0),
        percent => Err(format!("{percent} % and more would leave no latency")),
    }
}

/// Parses `on` or `off`.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("neither on nor off".to_owned()),
    }
}
