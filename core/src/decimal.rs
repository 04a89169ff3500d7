//! Decimal numbers: read as the nearest double, and written without zeros at the end.
//!
//! The core library does both exactly. This module adds which texts are refused and which zeros are left out. The
//! caller decides the unit.

use core::fmt;

use crate::text::Text;

/// Maximum number of decimals; 17 significant digits identify a double.
const MOST_DIGITS: usize = 17;

/// Returns the double nearest to a decimal number, and infinity if it is too large for a double.
///
/// The text is a sign, digits with or without a point, and an exponent: `-1.5e3`. Returns `None` for any other text,
/// including white space and the words `inf` and `nan`, which the core library would read.
pub fn read(text: &[u8]) -> Option<f64> {
    // The words have no digit, and every number has one.
    let text =
        core::str::from_utf8(text).ok().filter(|text| text.contains(|byte: char| byte.is_ascii_digit()))?;
    text.parse().ok()
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
