//! Numbers as they are written for people and programs, and the width of a text.
//!
//! Plain numbers follow one of three rules. [`Figure`] is whole from 10 up: for headlines, pictures and the line of a
//! pair, where numbers of one kind stand side by side. [`Digits`] has three significant digits, for tables and
//! sentences; [`precise`] has seven, for programs.

use alloc::string::String;
use core::fmt::{self, Display, Write};
use latency_core::Text;
use latency_core::decimal::Real;
use latency_core::math::{self, round};

/// Number from which on every double is a whole number (2^52). Larger ones may not fit into a `u64`.
const WHOLE_FROM: f64 = 4_503_599_627_370_496.0;

/// A number for people at a glance: whole from 10 up, with two decimals below.
///
/// The rounded value decides, so that 9.996 is `10` and never `10.00`. A number that is not finite is `n/a`. Width,
/// fill and alignment of the format are honoured.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Figure(pub f64);

impl Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if !size.is_finite() {
            return out.pad_integral(true, "", "n/a");
        }
        // Below `WHOLE_FROM` the digits are those of a `u64`; beyond it a double has up to 309.
        let mut digits = Text::<320>::EMPTY;
        let hundredths = math::whole(size * 100.0 + 0.5);
        if size >= WHOLE_FROM {
            write!(digits, "{size:.0}")?;
        } else if hundredths >= 1000 {
            write!(digits, "{}", math::whole(size + 0.5))?;
        } else {
            write!(digits, "{}.{:02}", hundredths / 100, hundredths % 100)?;
        }
        // A number that is shown as zero has no minus sign.
        out.pad_integral(self.0 >= 0.0 || hundredths == 0, "", digits.as_str())
    }
}

/// The size of a relative difference in percent: `8.0%`, and whole from `100%` on.
#[derive(Clone, Copy, Debug)]
pub struct ByPercent(pub f64);

impl Display for ByPercent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0.abs() * 100.0;
        // The rounded number decides.
        let decimals = usize::from(percent < 99.95);
        write!(out, "{percent:.decimals$}%")
    }
}

/// Returns the number of decimals, up to nine, with which a number has `significant` significant digits.
pub fn decimals(value: f64, significant: usize) -> usize {
    const MOST: usize = 9;
    let mut decimals = significant.saturating_sub(1);
    // The rounded value decides: 9.996 has one digit more before the point than 9.99.
    let mut bound = 10.0;
    while decimals > 0 && value.abs() + 0.5 / power_of_ten(decimals) >= bound {
        decimals -= 1;
        bound *= 10.0;
    }
    let mut bound = 1.0;
    while value != 0.0 && decimals < MOST && value.abs() + 0.5 / power_of_ten(decimals + 1) < bound {
        decimals += 1;
        bound /= 10.0;
    }
    decimals
}

/// Returns a number rounded to `significant` significant digits, or to a whole number if it is larger.
pub fn rounded(value: f64, significant: usize) -> f64 {
    let power = power_of_ten(decimals(value, significant));
    round(value * power) / power
}

fn power_of_ten(exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * 10.0)
}

/// A number for people to compare, with three significant digits: `0.620`, `1.29`, `14.0`, `107`, `12345`.
///
/// A number that is not finite is `-`. Width, fill and alignment of the format are honoured.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Digits(pub f64);

impl Display for Digits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_finite() {
            return out.pad_integral(true, "", "-");
        }
        let mut text = Text::<320>::EMPTY;
        let decimals = if self.0 == 0.0 { 0 } else { decimals(self.0, 3) };
        write!(text, "{:.decimals$}", self.0.abs())?;
        out.pad_integral(self.0 >= 0.0, "", text.as_str())
    }
}

/// Returns nanoseconds as a text in seconds, with two significant digits: `5.0 s`, `0.12 s`, `23 s`.
pub fn seconds(nanoseconds: f64) -> impl Display {
    let seconds = nanoseconds / 1e9;
    fmt::from_fn(move |out| write!(out, "{seconds:.*} s", decimals(seconds, 2)))
}

/// The number of significant digits for programs: a relative step of 1e-7 is finer than any clock here.
pub const PRECISE: usize = 7;

/// Returns a number for programs: seven significant digits, without zeros at the end, but with one decimal at least.
pub fn precise(number: f64) -> String {
    format!("{:.*}", decimals(number, PRECISE), Real(number))
}

/// Returns the columns that a value needs in a terminal, one for each character.
pub fn width(shown: &dyn Display) -> usize {
    struct CharacterCounter(usize);
    impl Write for CharacterCounter {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 += part.chars().count();
            Ok(())
        }
    }
    let mut count = CharacterCounter(0);
    // Counting cannot fail. If a value fails to be shown, the width is that of its written part.
    let _ = write!(count, "{shown}");
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn the_rounded_value_decides() {
        for (value, text) in [
            (0.0, "0.00"),
            (-0.0, "0.00"),
            (-0.001, "0.00"),
            (0.004, "0.00"),
            (0.005, "0.01"),
            (1.58, "1.58"),
            (9.994, "9.99"),
            (9.996, "10"),
            (10.4, "10"),
            (10.5, "11"),
            (118.6, "119"),
            (-9.996, "-10"),
            (-1.25, "-1.25"),
            (1e15, "1000000000000000"),
            (1e20, "100000000000000000000"),
            (f64::NAN, "n/a"),
            (f64::INFINITY, "n/a"),
        ] {
            assert_eq!(Figure(value).to_string(), text, "{value:?}");
        }
        assert_eq!(Figure(f64::MAX).to_string(), format!("{:.0}", f64::MAX));
    }

    #[test]
    fn three_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_34, "0.0123"),
            (0.62, "0.620"),
            (0.999_6, "1.00"),
            (1.294, "1.29"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (14.0, "14.0"),
            (99.96, "100"),
            (106.6, "107"),
            (12_345.4, "12345"),
            (-2.5, "-2.50"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(Digits(value).to_string(), text, "{value:?}");
        }
        assert_eq!(format!("[{:>6}|{:<5}]", Digits(1.5), Digits(20.0)), "[  1.50|20.0 ]");
    }

    #[test]
    fn seven_significant_digits() {
        for (value, text) in [
            (137.214_06, "137.2141"),
            (2.100_001, "2.100001"),
            (0.001_234_567_8, "0.001234568"),
            (100.0, "100.0"),
            (123_456_789.0, "123456789.0"),
            (-0.5, "-0.5"),
            (0.0, "0.0"),
        ] {
            assert_eq!(precise(value), text, "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn shown_numbers_are_within_half_of_the_last_digit(value in 1e-3f64..1e6) {
            let shown: f64 = Digits(value).to_string().parse().unwrap();
            prop_assert!((shown - value).abs() <= value * 0.005_001);
            let precise: f64 = precise(value).parse().unwrap();
            prop_assert!((precise - value).abs() <= value * 5.001e-7);
        }
    }

    #[test]
    fn figures_line_up() {
        assert_eq!(format!("[{:>7}]", Figure(1.5)), "[   1.50]");
        assert_eq!(format!("[{:<6}]", Figure(132.4)), "[132   ]");
        assert_eq!(format!("[{:>6}]", Figure(f64::NAN)), "[   n/a]");
        assert_eq!(width(&Figure(132.4)), 3);
        assert_eq!(width(&"µs"), 2);
    }

    proptest! {
        #[test]
        fn whole_or_two_decimals(value in -1e6f64..1e6) {
            let text = Figure(value).to_string();
            let decimals = text.split_once('.').map(|(_, decimals)| decimals.len());
            let shown: f64 = text.parse().unwrap();
            prop_assert_eq!(decimals, if shown.abs() >= 10.0 { None } else { Some(2) });
            let error = if decimals.is_some() { 0.005_000_1 } else { 0.500_001 };
            prop_assert!((shown - value).abs() <= error);
        }
    }
}
