//! The number format of a table, which may come from a spreadsheet of any country: the meaning of its commas, points
//! and spaces.
//!
//! `1,100` is 1.1 in one file and 1100 in another. Other numbers of the file decide; if none does, the number is
//! refused.

use latency_core::decimal;
use latency_core::text::Text;

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
