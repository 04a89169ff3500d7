//! The fields of a line of text, and the numbers and words in them.

use super::numerals::Numerals;
use super::unit;

/// Returns the separator of the fields of a line: the strongest mark outside of quotes, or `None` for white space.
pub fn separator(line: &str) -> Option<u8> {
    [b'|', b'\t', b';', b','].into_iter().find(|mark| cut(line, *mark).is_some())
}

/// Returns the place of the first `mark` outside of quotes.
fn cut(text: &str, mark: u8) -> Option<usize> {
    let mut quoted = false;
    text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == mark && !quoted
    })
}

/// Returns the fields of a line, without the quotes around them.
pub fn fields(line: &str, separator: Option<u8>) -> impl Iterator<Item = &str> {
    let line = line.trim_ascii();
    let line = match separator {
        // Tables of Markdown and org have a bar at both ends.
        Some(b'|') => line.trim_matches('|'),
        _ => line,
    };
    let mut rest = Some(line).filter(|line| !line.is_empty());
    core::iter::from_fn(move || next_field(&mut rest, separator))
}

/// Removes the first field from the rest of a line, and returns it.
fn next_field<'t>(rest: &mut Option<&'t str>, separator: Option<u8>) -> Option<&'t str> {
    let text = (*rest)?;
    let end = match separator {
        Some(mark) => cut(text, mark),
        None if text.starts_with('"') => {
            let end = text.bytes().skip(1).position(|byte| byte == b'"');
            end.map(|end| end + 2).filter(|end| *end < text.len())
        }
        None => end_of_word(text),
    };
    let (field, behind) = end.and_then(|end| text.split_at_checked(end)).unwrap_or((text, ""));
    let behind = behind.get(usize::from(separator.is_some())..).unwrap_or_default().trim_ascii_start();
    *rest = end.map(|_| behind);
    let field = field.trim_ascii();
    Some(field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field).trim_ascii())
}

/// Returns the end of a word together with the unit behind it, as in `32 KB`, `5.5 TB/s`, `latency (ns)` and `time in
/// ns`; `None` at the end of the line.
fn end_of_word(text: &str) -> Option<usize> {
    let mut end = text.bytes().position(|byte| byte.is_ascii_whitespace())?;
    let rest = text.get(end..)?.trim_ascii_start();
    let behind = rest.strip_prefix("in ").unwrap_or(rest).trim_ascii_start();
    let next = behind.split_ascii_whitespace().next().unwrap_or_default();
    let is_unit =
        unit::named(next.strip_suffix(':').unwrap_or(next)).is_some() || unit::of_time(next).is_some();
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_number = is_digit(text.as_bytes().first());
    let is_rate = is_number && is_digit(text.as_bytes().get(end - 1)) && next.as_bytes().contains(&b'/');
    if is_rate
        || is_unit && (is_number || behind.len() < rest.len())
        || next.starts_with('(')
        || next.starts_with('[')
    {
        end = text.len() - behind.len() + next.len();
    }
    (end < text.len()).then_some(end)
}

/// Returns a number and, if there is one behind it, its unit: `32768`, `32K`, `1.5 MiB`, `0x8000`.
pub fn sized(field: &str, numerals: Numerals) -> Option<(f64, Option<f64>)> {
    let field = field.strip_suffix(':').unwrap_or(field);
    if let Some(digits) = field.strip_prefix("0x") {
        return Some((u64::from_str_radix(digits, 16).ok()? as f64, None));
    }
    let (number, unit) = with_unit(field, numerals)?;
    match unit {
        "" => Some((number, None)),
        unit => Some((number, Some(unit::named(unit)?))),
    }
}

/// Returns a time in the unit behind it, or else in the unit of its column: `1.1`, `1.1ns`.
pub fn timed(field: &str, column: f64, numerals: Numerals) -> Option<f64> {
    let (number, unit) = with_unit(field, numerals)?;
    match unit {
        "" => Some(number * column),
        unit => Some(number * unit::of_time(unit)?),
    }
}

/// Splits a number from the letters behind it.
fn with_unit(field: &str, numerals: Numerals) -> Option<(f64, &str)> {
    if let Some(number) = numerals.number(field) {
        return Some((number, ""));
    }
    let is_letter =
        |byte: u8| !byte.is_ascii() || byte.is_ascii_alphabetic() && !byte.eq_ignore_ascii_case(&b'e');
    let end = field.bytes().position(is_letter)?;
    let (digits, unit) = field.split_at_checked(end)?;
    Some((numerals.number(digits.trim_ascii())?, unit))
}

/// Returns whether the text of a field means that there is no value.
pub fn is_missing(field: &str) -> bool {
    // Spreadsheets write #N/A and #DIV/0!.
    field.starts_with('#') || field.is_empty() || unit::is_one_of(field, "- -- n/a na nan null none")
}
