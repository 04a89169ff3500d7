//! The fields of a line of text, the numbers and words in them, the units of sizes and times, and whether sizes can be
//! bytes at all.
//!
//! A table may come from a spreadsheet of any country, with its own meaning of commas, points and spaces: `1,100` is
//! 1.1 in one file and 1100 in another. Other numbers of the file decide; if none does, the number is refused.

use latency_core::{Text, decimal, math, units};

use crate::record::row::Row;

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
        unit_of_size(next.strip_suffix(':').unwrap_or(next)).is_some() || unit_of_time(next).is_some();
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
        unit => Some((number, Some(unit_of_size(unit)?))),
    }
}

/// Returns a time in the unit behind it, or else in the unit of its column: `1.1`, `1.1ns`.
pub fn timed(field: &str, column: f64, numerals: Numerals) -> Option<f64> {
    let (number, unit) = with_unit(field, numerals)?;
    match unit {
        "" => Some(number * column),
        unit => Some(number * unit_of_time(unit)?),
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
    field.starts_with('#') || field.is_empty() || is_one_of(field, "- -- n/a na nan null none")
}

/// Returns the number of bytes in a unit by its name in a heading, behind a number or in an option. Both `KB` and `KiB`
/// mean 1024 bytes, because tools use either name for the binary unit.
///
/// # References
///
/// lat_mem_rd divides by 1024 * 1024 and calls it MB; Chips and Cheese's MemoryLatency multiplies its KB by 1024.
pub fn unit_of_size(word: &str) -> Option<f64> {
    const NAMES: [(f64, &str); 4] = [
        (1.0, "b byte bytes o octet octets"),
        (1024.0, "k kb kib ko kio kbytes kilobytes kibibytes"),
        (1_048_576.0, "m mb mib mo mio mbytes megabytes mebibytes"),
        (1_073_741_824.0, "g gb gib go gio gbytes gigabytes gibibytes"),
    ];
    among(&NAMES, word)
}

/// Returns the number of nanoseconds in a unit of time by its name in a heading or behind a number.
pub fn unit_of_time(word: &str) -> Option<f64> {
    const NAMES: [(f64, &str); 5] = [
        (1e-3, "ps psec picosecond picoseconds"),
        (1.0, "ns nsec nanosecond nanoseconds"),
        (1e3, "us usec microsecond microseconds \u{b5}s \u{3bc}s"),
        (1e6, "ms msec millisecond milliseconds"),
        (1e9, "s sec second seconds secs"),
    ];
    among(&NAMES, word)
}

/// Returns the factor of a unit by one of its names, in upper or lower case.
fn among(units: &[(f64, &str)], word: &str) -> Option<f64> {
    units.iter().find(|(_, names)| is_one_of(word, names)).map(|(factor, _)| *factor)
}

/// Returns whether a word is one of several, in upper or lower case.
pub fn is_one_of(word: &str, words: &str) -> bool {
    words.split_ascii_whitespace().any(|one| word.eq_ignore_ascii_case(one))
}

/// Returns the unit among the words of a heading such as `size_kb` or `Working set (KiB)`.
pub fn unit_in_heading(heading: &str) -> Option<f64> {
    words_of_heading(heading).find_map(unit_of_size)
}

/// Returns the words of a heading.
pub fn words_of_heading(heading: &str) -> impl Iterator<Item = &str> {
    heading
        .split(|character: char| character.is_ascii() && !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Returns the bytes of a number of units. A size with a fraction was rounded when it was printed, so it is rounded to
/// a line.
pub fn in_bytes(number: f64, unit: f64) -> f64 {
    const LINE: f64 = units::LINE.0 as f64;
    let bytes = number * unit;
    if unit > 1.0 && math::whole(bytes) as f64 != bytes {
        (math::whole(bytes / LINE + 0.5) as f64 * LINE).max(LINE)
    } else {
        bytes
    }
}

/// Returns whether sizes without a unit can be bytes. No size may have a fraction, each must be at least two lines,
/// because a walk needs two, and the latency may be that of memory only if the largest size is a mebibyte or more.
pub fn can_be_bytes(rows: &[Row], fractions: bool) -> bool {
    const TWO_LINES: u64 = 128;
    const SMALL: u64 = 1 << 20;
    const MEMORY_NS: f64 = 60.0;
    let sizes = || rows.iter().map(|row| row.size().0).filter(|size| *size > 0);
    let slowest = rows.iter().map(|row| row.nanoseconds()).fold(0.0, f64::max);
    let largest = sizes().max().unwrap_or(SMALL);
    !fractions && sizes().all(|size| size >= TWO_LINES) && (largest >= SMALL || slowest < MEMORY_NS)
}

/// The meaning of a comma or a point within a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Separator {
    /// The digits behind it are a fraction.
    Decimal,
    /// It separates groups of three digits.
    Group,
    /// It could be either.
    Unknown,
    /// It does not occur in numbers.
    None,
}

/// The meaning of commas and points in the numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numerals {
    comma: Separator,
    point: Separator,
}

impl Numerals {
    /// The format with a point before fractions, and without other separators.
    pub const PLAIN: Numerals = Numerals { comma: Separator::Unknown, point: Separator::Decimal };

    /// The format with a comma or a point before fractions.
    pub const WITH_COMMA: Numerals = Numerals { comma: Separator::Decimal, point: Separator::Decimal };

    /// Finds the meaning of commas and points from all fields of a file.
    pub fn of(fields: &mut dyn Iterator<Item = &str>) -> Numerals {
        let (mut seen, mut ungrouped) = ([[false; 2]; 2], false);
        for field in fields {
            let field = field.as_bytes();
            let end = field.iter().position(|byte| !byte.is_ascii_digit() && !b",.".contains(byte));
            let field = field.get(..end.unwrap_or(field.len())).unwrap_or_default();
            ungrouped |= field.iter().take_while(|byte| byte.is_ascii_digit()).count() > 3;
            for (mark, seen) in b",.".iter().zip(&mut seen) {
                let Some(last) = field.iter().rposition(|byte| byte == mark) else { continue };
                let (before, behind) = (field.get(..last).unwrap_or_default(), field.len() - last - 1);
                let several = before.contains(mark);
                let others = field.iter().filter(|byte| b",.".contains(byte) && *byte != mark).count();
                // True if the other separator occurs behind the last one of this kind, so that this one separates
                // groups.
                let inner = others > 0 && field.iter().rposition(|byte| b",.".contains(byte)) != Some(last);
                let [decimal, group] = seen;
                *group |= several || inner;
                *decimal |= !several
                    && !inner
                    && last > 0
                    && (behind != 3 || others > 0 || last > 3 || before == b"0");
            }
        }
        let [commas, points] = seen;
        let comma = match (commas, points) {
            ([true, false], _) => Separator::Decimal,
            ([false, true], _) | ([false, false], [true, false]) => Separator::Group,
            // The file has a number of four or more digits without a separator between groups.
            ([false, false], [false, false]) if ungrouped => Separator::Decimal,
            _ => Separator::Unknown,
        };
        let point = match points {
            [false, true] => Separator::Group,
            _ if commas == [true, false] => Separator::Group,
            _ => Separator::Decimal,
        };
        Numerals { comma, point }
    }

    /// Returns the reason why a field is not a number: the unknown meaning of its comma, or else `other`.
    pub fn doubt(self, field: &str, other: &'static str) -> &'static str {
        match self.comma == Separator::Unknown && field.as_bytes().contains(&b',') {
            true => "ambiguous comma in a number (decimal or thousands)",
            false => other,
        }
    }

    /// Returns a finite number, after removing the separators between groups.
    pub fn number(self, field: &str) -> Option<f64> {
        if let (Separator::Decimal, Some(number)) = (self.point, number(field)) {
            return Some(number);
        }
        let mut plain = Text::<64>::EMPTY;
        let mut rest = field;
        while let Some(character) = rest.chars().next() {
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            let mark = match character {
                ',' => self.comma,
                '.' => self.point,
                '\'' | '\u{2019}' | ' ' | '\u{a0}' | '\u{202f}' => Separator::Group,
                _ => Separator::None,
            };
            let groups = rest.as_bytes().iter().take_while(|byte| byte.is_ascii_digit()).count() == 3;
            let kept = match mark {
                Separator::None => plain.push(character),
                Separator::Decimal => plain.push('.'),
                Separator::Group => groups && !plain.is_empty(),
                Separator::Unknown => false,
            };
            if !kept {
                return None;
            }
        }
        number(plain.as_str())
    }
}

/// Returns a finite number with a decimal point.
pub fn number(field: &str) -> Option<f64> {
    decimal::read(field.as_bytes()).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::columns::WORKING_SET;
    use std::vec::Vec;

    #[test]
    fn sizes_without_a_unit_are_bytes_if_plausible() {
        let can_be = |points: &[(u64, f64)]| {
            let row = |&(size, ns): &(u64, f64)| Row::timed(ns).with(WORKING_SET, size);
            can_be_bytes(&points.iter().map(row).collect::<Vec<_>>(), false)
        };
        assert!(can_be(&[(128, 1.0), (1 << 20, 100.0)]));
        assert!(!can_be(&[(127, 1.0), (1 << 20, 100.0)]), "less than two lines");
        assert!(!can_be(&[(128, 1.0), ((1 << 20) - 1, 60.0)]), "memory of less than a mebibyte");
        assert!(can_be(&[(128, 1.0), ((1 << 20) - 1, 59.9)]), "caches alone");
        assert!(can_be(&[(0, 1.0), (1 << 20, 100.0)]), "a row that has no size");
        assert!(can_be(&[]) && !can_be_bytes(&[], true));
    }

    #[test]
    fn sizes_that_were_rounded_are_whole_lines() {
        assert_eq!(
            [in_bytes(100.5, 1.0), in_bytes(0.5, 1024.0), in_bytes(1.0, 1024.0)],
            [100.5, 512.0, 1024.0]
        );
        // 0.1 KiB are 102.4 bytes, and 0.01 KiB are 10.24 bytes; no walk is shorter than a line.
        assert_eq!([in_bytes(0.1, 1024.0), in_bytes(0.01, 1024.0)], [128.0, 64.0]);
    }

    #[test]
    fn other_numbers_decide_what_a_comma_means() {
        for (fields, field, value) in [
            (&["4096", "1,100"][..], "1,100", Some(1.1)),
            (&["1,024", "1.1"], "1,024", Some(1024.0)),
            (&["1.024", "1,1"], "1.024", Some(1024.0)),
            (&["1.048.576", "95"], "1.024", Some(1024.0)),
            (&["1,048,576", "95"], "1,024", Some(1024.0)),
            (&["512", "1,024"], "1,024", None),
            (&["0,874"], "1,024", Some(1.024)),
            (&["1.234,5"], "1.234,5", Some(1234.5)),
            (&["1,234.5"], "1,234.5", Some(1234.5)),
            (&["1,5", "1.5"], "1.5", None),
            (&["1,50", "1,048,576"], "1,50", None),
            (&["1'024", "1.5"], "1'024", Some(1024.0)),
            (&["1 024"], "1 048 576", Some(1_048_576.0)),
            (&["1 024"], "1 02", None),
            (&["1.5"], "1.024", Some(1.024)),
            (&["4096", "1e-3"], "1e-3", Some(1e-3)),
        ] {
            assert_eq!(Numerals::of(&mut fields.iter().copied()).number(field), value, "{fields:?} {field}");
        }
    }
}
