//! The fields of a line of text, and the numbers and words in them.

use core::fmt::Write;

use latency_core::double;

use super::unit;
use crate::result::row::Word;

/// The fields of a line: between commas, else semicolons, else white space.
pub fn fields(line: &str) -> impl Iterator<Item = &str> {
    let separator = [b',', b';', b'\t'].into_iter().find(|separator| line.as_bytes().contains(separator));
    let by_mark = separator.into_iter().flat_map(move |separator| line.split(char::from(separator)));
    let by_space = separator.is_none().then(|| line.split_ascii_whitespace()).into_iter().flatten();
    by_mark.chain(by_space).map(|field| field.trim_ascii().trim_matches('"'))
}

/// A finite number.
pub fn number(field: &str) -> Option<f64> {
    // Longer ones are no measurement, and cost time to read.
    let value = double::parse((field.len() <= 40).then_some(field.as_bytes())?)?;
    value.is_finite().then_some(value)
}

/// A number, perhaps with a unit behind it: `32768`, `32K`, `1.5 MiB`.
pub fn sized(field: &str) -> Option<(f64, Option<f64>)> {
    if let Some(number) = number(field) {
        return Some((number, None));
    }
    let end =
        field.bytes().position(|byte| byte.is_ascii_alphabetic() && !byte.eq_ignore_ascii_case(&b'e'))?;
    let (digits, unit) = field.split_at_checked(end)?;
    Some((number(digits.trim_ascii())?, Some(unit::named(unit)?)))
}

/// A word as our columns have it, from a number or a flag.
pub fn word(shown: core::fmt::Arguments<'_>) -> Word {
    let mut word = Word::EMPTY;
    // What does not fit is cut.
    let _ = word.write_fmt(shown);
    word
}
