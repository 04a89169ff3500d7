//! Numbers with a fixed number of decimals, exactly rounded.
//!
//! The core library's formatting of floating-point numbers has more features, but would make up an
//! eighth of an executable of this size. The caller decides the unit and the number of decimals.

use core::fmt;

/// Maximum number of decimals; 17 significant digits identify a double.
pub const MOST_DIGITS: usize = 17;

/// A double that is displayed as by the standard library, with precision, width and fill: `{:>9.2}` of `Decimal(1.0)`.
///
/// The exact value is rounded, half to even. Without a precision it is rounded
/// to a whole number, and more than [`MOST_DIGITS`] decimals are not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal(pub f64);

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_nan() {
            return out.pad_integral(true, "", "NaN");
        }
        let digits = out.precision().unwrap_or(0).min(MOST_DIGITS);
        let mut text = Backwards::new();
        let text = if self.0.is_infinite() { "inf" } else { text.number(self.0.to_bits(), digits) };
        out.pad_integral(self.0.is_sign_positive(), "", text)
    }
}

/// A [`Decimal`] without zeros at the end and without the sign of a zero: `{:.3}` of `Trimmed(1.5)`
/// is `1.5`. Without a precision, it has at most nine decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trimmed(pub f64);

impl fmt::Display for Trimmed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_finite() {
            return Decimal(self.0).fmt(out);
        }
        let digits = out.precision().unwrap_or(9).min(MOST_DIGITS);
        let mut text = Backwards::new();
        let text = text.trimmed(self.0, digits);
        out.pad_integral(self.0.is_sign_positive() || text == "0", "", text)
    }
}

/// A finite number like [`Trimmed`], but with a decimal at least, so that programs see that it is not a whole number
/// by its nature: `{:.3}` of `Real(1.0)` is `1.0`. Width and fill are ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real(pub f64);

impl fmt::Display for Real {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = out.precision().unwrap_or(9).min(MOST_DIGITS);
        let mut text = Backwards::new();
        let text = text.trimmed(self.0, digits);
        out.write_str(if self.0.is_sign_positive() || text == "0" { "" } else { "-" })?;
        out.write_str(text)?;
        out.write_str(if text.contains('.') { "" } else { ".0" })
    }
}

/// Maximum length of the text: the digits of the largest double, a point and the decimals.
const LONGEST: usize = 309 + 1 + MOST_DIGITS;

/// A text that is written from its last character to its first.
struct Backwards {
    bytes: [u8; LONGEST],
    start: usize,
}

impl Backwards {
    /// Returns an empty text. A constant would take space in the executable.
    fn new() -> Self {
        Self { bytes: [0; LONGEST], start: LONGEST }
    }

    fn push(&mut self, byte: u8) {
        let start = self.start.saturating_sub(1);
        if let Some(place) = self.bytes.get_mut(start) {
            (*place, self.start) = (byte, start);
        }
    }

    /// Writes the absolute value of a finite double without zeros at the end, and returns the text.
    fn trimmed(&mut self, number: f64, digits: usize) -> &str {
        let text = self.number(number.to_bits(), digits);
        if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { text }
    }

    /// Writes the absolute value of the finite double that has these bits, and returns the text.
    fn number(&mut self, bits: u64, digits: usize) -> &str {
        // IEEE 754 binary64: 52 bits of mantissa, without the implicit leading one, which subnormal numbers do not
        // have.
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52 & 0x7ff) as u32 {
            0 => (fraction, 1),
            exponent => (fraction | 1 << 52, exponent),
        };
        let scale = 10_u128.pow(digits as u32);
        // Below 2^53 times 10^17, which is below 2^110.
        let number = match 1075_u32.checked_sub(exponent) {
            Some(shift @ 1..) => halved(u128::from(mantissa) * scale, shift, false),
            _ => 0,
        };
        self.digits((number % scale) as u64, digits);
        if digits > 0 {
            self.push(b'.');
        }
        match exponent.checked_sub(1075) {
            Some(exponent) => self.large(mantissa, exponent),
            None => self.digits((number / scale) as u64, 1),
        }
        let bytes = self.bytes.get(self.start..).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Writes a whole number with at least `least` digits.
    fn digits(&mut self, number: u64, least: usize) {
        let (mut rest, mut written) = (number, 0);
        while rest > 0 || written < least {
            self.push(b'0' + (rest % 10) as u8);
            (rest, written) = (rest / 10, written + 1);
        }
    }

    /// Writes `mantissa` × 2^`exponent`, for an exponent up to 971, by long division.
    fn large(&mut self, mantissa: u64, exponent: u32) {
        // The number, in 1024 bits with the lowest limb first, and one limb for a carry that is always zero.
        let mut limbs = [0_u32; 34];
        let mut rest = u128::from(mantissa) << (exponent % 32);
        for limb in limbs.iter_mut().skip(exponent as usize / 32).take(3) {
            *limb = rest as u32;
            rest >>= 32;
        }
        while limbs.iter().any(|limb| *limb > 0) {
            let digit = divide(&mut limbs, 10);
            self.push(b'0' + digit as u8);
        }
    }
}

/// Divides a number with the lowest limb first, in place, and returns the remainder.
pub(crate) fn divide(limbs: &mut [u32], divisor: u32) -> u32 {
    limbs.iter_mut().rev().fold(0, |rest, limb| {
        let dividend = u64::from(rest) << 32 | u64::from(*limb);
        *limb = (dividend / u64::from(divisor)) as u32;
        (dividend % u64::from(divisor)) as u32
    })
}

/// Returns `value` / 2^`shift` rounded to the nearest whole number, and to the even one of two equally near, for a
/// shift of 1 or more. If `more`, the exact value is slightly larger than `value`.
pub(crate) fn halved(value: u128, shift: u32, more: bool) -> u128 {
    // Twice the result, so that the lowest bit is the half that decides.
    let doubled = value.checked_shr(shift - 1).unwrap_or(0);
    let exact = !more && doubled.checked_shl(shift - 1) == Some(value);
    let whole = doubled >> 1;
    whole + u128::from(doubled & 1 == 1 && (whole & 1 == 1 || !exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_double_reads_as_the_standard_library_writes_it(bits: u64, digits in 0..=MOST_DIGITS) {
            let value = f64::from_bits(bits);
            prop_assert_eq!(format!("{:.digits$}", Decimal(value)), format!("{value:.digits$}"));
        }

        #[test]
        fn numbers_of_common_size_are_written_as_by_std(value in -1e6..1e6, digits in 0..=MOST_DIGITS) {
            prop_assert_eq!(format!("{:.digits$}", Decimal(value)), format!("{value:.digits$}"));
        }

        #[test]
        fn halves_go_to_even(eighths in -100_000i32..100_000, digits in 0usize..3) {
            let value = f64::from(eighths) / 8.0;
            prop_assert_eq!(format!("{:.digits$}", Decimal(value)), format!("{value:.digits$}"));
        }

        #[test]
        fn numbers_are_padded_as_by_the_standard_library(value in -1e4..1e4, width in 0usize..12) {
            prop_assert_eq!(format!("{:width$.2}", Decimal(value)), format!("{value:width$.2}"));
            prop_assert_eq!(format!("{:<width$.1}|", Decimal(value)), format!("{value:<width$.1}|"));
            prop_assert_eq!(format!("{:+0width$.1}", Decimal(value)), format!("{value:+0width$.1}"));
        }
    }

    #[test]
    fn zeros_at_the_end_are_left_out() {
        for (value, text) in
            [(1.5, "1.5"), (100.0, "100"), (0.0, "0"), (-0.0004, "0"), (-0.25, "-0.25"), (f64::NAN, "NaN")]
        {
            assert_eq!(format!("{:.3}", Trimmed(value)), text);
        }
        assert_eq!(
            format!("{} {:>6.1} {:>5}", Trimmed(100.0), Trimmed(2.04), Trimmed(0.3)),
            "100      2   0.3"
        );
    }

    #[test]
    fn extreme_values_are_written_exactly() {
        for value in
            [0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.5, 1.5, 9.995, 0.999_999_9].into_iter().chain(
                [2f64.powi(52), 2f64.powi(53) - 1.0, 2f64.powi(64), f64::INFINITY, -f64::INFINITY, f64::NAN],
            )
        {
            for digits in [0, 1, 3, 17] {
                assert_eq!(format!("{:.digits$}", Decimal(value)), format!("{value:.digits$}"));
            }
        }
        assert_eq!(format!("{}", Decimal(2.5)), "2");
    }
}
