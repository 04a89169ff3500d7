//! Decimal numbers: read as the nearest double, and written without zeros at the end.
//!
//! The core library writes exactly; this module adds which texts are refused and which zeros are left out. The caller
//! decides the unit.

use core::fmt;

use crate::math::ToReal;
use crate::text::Text;

/// Maximum number of decimals; 17 significant digits identify a double.
const MOST_DIGITS: usize = 17;

/// Number of significant digits that are read; what follows only shows that the number is a little larger. Numbers halfway
/// between two doubles have at most 767.
const MOST_READ: usize = 800;
/// Number of bits of the fraction of a [`Whole`]: more than the smallest double has.
const FRACTION: usize = 36 * 32;
/// Number of words of a [`Whole`]: those of the fraction, and room for the digits.
const WORDS: usize = FRACTION / 32 + 84;
/// The place of the last bit of the smallest double, 2^-1074.
const SMALLEST: usize = FRACTION - 1074;

/// Returns the double nearest to a decimal number, and infinity if it is too large for a double.
///
/// The text is a sign, digits with or without a point, and an exponent: `-1.5e3`. Returns `None` for any other text,
/// including white space and the words `inf` and `nan`. The core library reads the same numbers with 16 KiB of tables and
/// code.
pub fn read(text: &[u8]) -> Option<f64> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] | rest => (1.0, rest),
    };
    let end = digits.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (digits, behind) = digits.split_at(end.unwrap_or(digits.len()));
    let mut exponent = match behind {
        [] => 0,
        [_, b'-', rest @ ..] => -exponent(rest)?,
        [_, b'+', rest @ ..] | [_, rest @ ..] => exponent(rest)?,
    };
    let (mut all, mut count, mut is_number, mut is_behind) = (0_u64, 0, false, 0);
    for byte in digits {
        match byte {
            b'.' if is_behind == 0 => is_behind = 1,
            b'0'..=b'9' => {
                (is_number, exponent) = (true, exponent - is_behind);
                count += i32::from(count > 0 || *byte > b'0');
                all = all.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            }
            _ => return None,
        }
    }
    let power = || (0..exponent.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
    let size = match (count, exponent) {
        (0, _) => 0.0,
        // Both numbers are exact, and one operation rounds once.
        (1..=15, 0..=22) => all.real() * power(),
        (1..=15, -22..=-1) => all.real() / power(),
        _ if count + exponent > 310 => f64::INFINITY,
        _ if count + exponent < -330 => 0.0,
        _ => Whole::nearest(digits, exponent),
    };
    is_number.then_some(sign * size)
}

/// Returns the digits of an exponent as a number; one that is too large as a large one.
fn exponent(digits: &[u8]) -> Option<i32> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
    let add = |all: i32, byte: &u8| Some((all * 10 + digit(byte)?).min(1 << 26));
    digits.iter().try_fold(0, add).filter(|_| !digits.is_empty())
}

/// A number with a fraction of [`FRACTION`] bits, the lowest word first.
struct Whole([u32; WORDS]);

impl Whole {
    /// Returns the double that is nearest to digits and an exponent, the even one of two.
    fn nearest(digits: &[u8], exponent: i32) -> f64 {
        let mut number = Whole([0; WORDS]);
        let mut digits = digits.iter().filter(|byte| **byte != b'.').skip_while(|byte| **byte == b'0');
        digits.by_ref().take(MOST_READ).for_each(|byte| number.ten_times(u64::from(byte - b'0')));
        let (left, is_more) =
            digits.fold((0, false), |(left, is_more), byte| (left + 1, is_more || *byte > b'0'));
        let (mut is_above, exponent) = (is_more, exponent + left);
        (0..exponent).for_each(|_| number.ten_times(0));
        for left in (1..=-exponent).rev().step_by(9) {
            is_above |= number.divide(10_u64.pow(left.min(9) as u32));
        }
        let bit =
            |place: usize| number.0.get(place / 32).map_or(0, |word| u64::from(word >> (place % 32) & 1));
        let top = (0..WORDS * 32).rev().find(|place| bit(*place) == 1).unwrap_or(0);
        let low = top.saturating_sub(52).max(SMALLEST);
        let kept = (low..=top).rev().fold(0, |kept, place| kept << 1 | bit(place));
        is_above |= kept & 1 == 1 || (0..low - 1).any(|place| bit(place) == 1);
        // A number that is rounded up to the next power of two has the next exponent.
        let bits = (((low - SMALLEST) as u64) << 52) + kept + (bit(low - 1) & u64::from(is_above));
        f64::from_bits(bits.min(f64::INFINITY.to_bits()))
    }

    /// Returns the words up to the highest one that is not zero, and one more.
    fn used(&mut self) -> &mut [u32] {
        let top = self.0.iter().rposition(|word| *word > 0).map_or(FRACTION / 32, |top| top + 1);
        self.0.get_mut(..=top.min(WORDS - 1)).unwrap_or_default()
    }

    /// Multiplies by ten, and adds a digit.
    fn ten_times(&mut self, digit: u64) {
        let mut carry = digit;
        for word in self.used().iter_mut().skip(FRACTION / 32) {
            carry += u64::from(*word) * 10;
            *word = carry as u32;
            carry >>= 32;
        }
    }

    /// Divides by a number of at most 32 bits, and returns whether there is a rest.
    fn divide(&mut self, by: u64) -> bool {
        let mut rest = 0;
        for word in self.used().iter_mut().rev() {
            let part = rest << 32 | u64::from(*word);
            (*word, rest) = ((part / by) as u32, part % by);
        }
        rest > 0
    }
}

/// A double without zeros at the end and without the sign of a zero: `{:.3}` of `Trimmed(1.5)` is `1.5`.
///
/// Without a precision, it has at most nine decimals. Width, fill and alignment are honoured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trimmed(pub f64);

impl fmt::Display for Trimmed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = trimmed(self.0, out);
        out.pad_integral(!has_minus(self.0, &size), "", size.as_str())
    }
}

/// A finite number like [`Trimmed`], but with a decimal at least, so that programs see that it is not a whole number
/// by its nature: `{:.3}` of `Real(1.0)` is `1.0`. Width and fill are ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(pub f64);

impl fmt::Display for Real {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = trimmed(self.0, out);
        let minus = if has_minus(self.0, &size) { "-" } else { "" };
        let tenths = if size.as_str().contains('.') { "" } else { ".0" };
        write!(out, "{minus}{size}{tenths}")
    }
}

/// The digits of the largest double, a point and the decimals.
type Size = Text<{ 309 + 1 + MOST_DIGITS }>;

/// Returns the absolute value of a number without zeros at the end, rounded to the decimals that `out` asks for.
fn trimmed(number: f64, out: &fmt::Formatter<'_>) -> Size {
    let decimals = out.precision().unwrap_or(9).min(MOST_DIGITS);
    let mut size = Size::of(format_args!("{:.decimals$}", number.abs()));
    if size.as_str().contains('.') {
        size.truncate(size.as_str().trim_end_matches('0').trim_end_matches('.').len());
    }
    size
}

fn has_minus(number: f64, size: &Size) -> bool {
    number < 0.0 && *size != "0"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::ToString;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn written_numbers_are_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                for text in [format!("{value}"), format!("{value:e}")] {
                    prop_assert_eq!(read(text.as_bytes()).map(f64::to_bits), Some(bits), "{}", text);
                }
            }
        }

        #[test]
        fn only_zeros_at_the_end_are_left_out(value in -1e6..1e6, digits in 1..=MOST_DIGITS) {
            let (exact, short) = (format!("{value:.digits$}"), format!("{:.digits$}", Trimmed(value)));
            let rest = exact.strip_prefix(&short).unwrap_or("");
            prop_assert!(exact == short || rest.trim_matches('0').trim_matches('.').is_empty(), "{} {}", exact, short);
            prop_assert!(!short.contains('.') || !short.ends_with(['0', '.']), "{}", short);
        }
    }

    #[test]
    fn text_without_a_number_is_refused() {
        for text in [
            "",
            " ",
            "1 ",
            " 1",
            "+",
            "-",
            ".",
            "-.",
            "e1",
            ".e1",
            "1e",
            "1e+",
            "1.5.2",
            "1e1.5",
            "--1",
            "1,5",
            "1_000",
            "0x10",
            "inf",
            "-inf",
            "+Inf",
            "INFINITY",
            "infinity",
            "nan",
            "NaN",
            "-nan",
            "1inf",
            "infinity1",
            "nan(1)",
            "1f64",
            "١",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(read(b"1\xff"), None);
    }

    #[test]
    fn sign_point_and_exponent_may_be_left_out() {
        for (text, value) in [
            ("7", 7.0),
            ("+7", 7.0),
            ("-7.", -7.0),
            (".5", 0.5),
            ("0012.50", 12.5),
            ("1.5E+3", 1500.0),
            ("15e-1", 1.5),
            ("1e400", f64::INFINITY),
            ("-1e999999999999", f64::NEG_INFINITY),
            ("1e-999999999999", 0.0),
            ("0e999999999999", 0.0),
        ] {
            assert_eq!(read(text.as_bytes()), Some(value), "{text}");
        }
        assert!(read(b"-0").is_some_and(|zero| zero.is_sign_negative()));
    }

    #[test]
    fn zeros_at_the_end_are_left_out() {
        for (value, text) in [
            (1.5, "1.5"),
            (100.0, "100"),
            (0.0, "0"),
            (-0.0, "0"),
            (-0.0004, "0"),
            (-0.25, "-0.25"),
            (f64::NAN, "NaN"),
            (-f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(format!("{:.3}", Trimmed(value)), text);
        }
        assert_eq!(
            format!("{} {:>6.1} {:>5} {:.0}", Trimmed(100.0), Trimmed(2.04), Trimmed(0.3), Trimmed(1200.0)),
            "100      2   0.3 1200"
        );
        assert_eq!(Trimmed(f64::MAX).to_string(), format!("{:.0}", f64::MAX));
        assert_eq!(format!("{:.400}", Trimmed(5e-324)), "0");
    }

    #[test]
    fn real_number_has_a_decimal() {
        for (value, text) in [
            (1.0, "1.0"),
            (-2.0, "-2.0"),
            (0.125, "0.125"),
            (-0.000_1, "0.0"),
            (1200.0, "1200.0"),
            (-0.5, "-0.5"),
        ] {
            assert_eq!(format!("{:.3}", Real(value)), text);
        }
        assert_eq!(format!("{:.0}", Real(1200.0)), "1200.0");
    }
}
