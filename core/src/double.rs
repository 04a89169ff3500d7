//! A parser of decimal text that returns the correctly rounded double.
//!
//! The parser of the core library is faster for numbers with many digits, and fifteen times as
//! large. Units and document formats are left to the caller; [`decimal`](crate::decimal) is the
//! inverse.

use crate::decimal::{divide, halved};

/// Maximum number of digits that are read exactly; later digits can only break a tie between two doubles.
const MOST_DIGITS: i32 = 800;

/// Limits of the decimal exponent: places before the point of the largest double, and (negative) places after the
/// point of the smallest, both with some to spare.
const LARGEST: i32 = 310;
const SMALLEST: i32 = -330;

/// Number of decimal digits for which every number fits in a limb of 32 bits.
const LIMB_DIGITS: i32 = 9;

/// Number of limbs of the fraction: enough for [`MOST_DIGITS`] digits of the smallest number, and four for the bits of
/// the result.
const FRACTION: usize = ((MOST_DIGITS - SMALLEST) / LIMB_DIGITS) as usize + 4;

/// Number of limbs of the fraction and of all digits.
const LIMBS: usize = FRACTION + (MOST_DIGITS / LIMB_DIGITS) as usize + 1;

/// Returns the double nearest to a decimal number, and the even one if two are equally near.
///
/// The text is a sign, digits with or without a point, and an exponent: `-1.5e3`. Returns `None`
/// for any other text, including white space, and infinity if the number is too large for a double.
#[must_use]
pub fn parse(text: &[u8]) -> Option<f64> {
    let (negative, text) = signed(text);
    let mut number = Number { limbs: [0; LIMBS], length: 0, digits: 0, power: 0, more: false };
    let (mut seen, mut after_point) = (false, false);
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                seen = true;
                number.append(byte - b'0', after_point);
            }
            b'.' if !after_point => after_point = true,
            _ => break,
        }
        rest = tail;
    }
    if !seen {
        return None;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        number.power = number.power.saturating_add(integer(exponent)?);
    } else if !rest.is_empty() {
        return None;
    }
    let size = number.nearest();
    Some(if negative { -size } else { size })
}

fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Returns a whole number, limited to ±10^8, which is far beyond the exponent of any double.
fn integer(text: &[u8]) -> Option<i32> {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0_i32, |size, byte| (size * 10 + i32::from(byte & 15)).min(100_000_000));
    Some(if negative { -size } else { size })
}

/// A whole number times a power of ten.
struct Number {
    /// The limbs of the fraction, followed by the limbs of the whole number, the lowest first.
    limbs: [u32; LIMBS],
    /// The number of limbs of the whole number that are in use.
    length: usize,
    /// The number of digits that were read, without leading zeros.
    digits: i32,
    /// The exponent of the power of ten.
    power: i32,
    /// True if the exact number is slightly larger, because of digits beyond [`MOST_DIGITS`] or the remainder of a
    /// division.
    more: bool,
}

impl Number {
    /// Appends a digit to the whole number.
    fn append(&mut self, digit: u8, after_point: bool) {
        if self.digits < MOST_DIGITS {
            self.power = self.power.saturating_sub(i32::from(after_point));
            self.digits += i32::from(self.digits > 0 || digit > 0);
            self.multiply(10, digit.into());
        } else {
            self.power = self.power.saturating_add(i32::from(!after_point));
            self.more |= digit > 0;
        }
    }

    /// Multiplies the whole number by `factor`, and adds `summand`.
    fn multiply(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in self.limbs.get_mut(FRACTION..FRACTION + self.length).unwrap_or_default() {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if let (1.., Some(limb)) = (carry, self.limbs.get_mut(FRACTION + self.length)) {
            *limb = carry as u32;
            self.length += 1;
        }
    }

    /// Returns the nearest double, and the even one if two are equally near.
    fn nearest(mut self) -> f64 {
        match self.digits.saturating_add(self.power) {
            _ if self.digits == 0 => return 0.0,
            places if places < SMALLEST => return 0.0,
            places if places > LARGEST => return f64::INFINITY,
            _ => {}
        }
        // Each step multiplies or divides by a power of up to nine digits, which fits in a limb.
        let power_of = |places: i32| 10_u32.pow(places.min(LIMB_DIGITS) as u32);
        let (mut up, mut down) = (self.power, -self.power);
        while up > 0 {
            self.multiply(power_of(up), 0);
            up -= LIMB_DIGITS;
        }
        // The quotient keeps at least three limbs.
        let first = FRACTION - (down.max(0) / LIMB_DIGITS) as usize - 4;
        let limbs = self.limbs.get_mut(first..FRACTION + self.length).unwrap_or_default();
        while down > 0 {
            self.more |= divide(limbs, power_of(down)) > 0;
            down -= LIMB_DIGITS;
        }
        let top = limbs.iter().rposition(|limb| *limb > 0).unwrap_or(0).max(2);
        let (low, high) = limbs.split_at(top - 2);
        let more = self.more || low.iter().any(|limb| *limb > 0);
        let window = high.iter().take(3).rev().fold(0_u128, |window, limb| window << 32 | u128::from(*limb));
        // IEEE 754 binary64: 53 bits, or fewer for a number below 2^-1022; its last place is 2^-1074.
        let exponent = ((first + top - 2) as i32 - FRACTION as i32) * 32;
        let shift = (window.ilog2() as i32 - 52).max(-1074 - exponent);
        let mantissa = halved(window, shift as u32, more) as u64;
        match exponent + shift {
            972.. => f64::INFINITY,
            // The leading bit of the mantissa adds one to the exponent's bits.
            exponent => f64::from_bits((((exponent + 1074) as u64) << 52) + mantissa),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::String;

    fn expected(text: &str) -> Option<u64> {
        text.parse::<f64>().ok().map(f64::to_bits)
    }

    fn found(text: &str) -> Option<u64> {
        parse(text.as_bytes()).map(f64::to_bits)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn written_numbers_are_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                for text in [format!("{value}"), format!("{value:e}"), format!("{value:.3}")] {
                    prop_assert_eq!(found(&text), expected(&text), "{}", text);
                }
            }
        }

        #[test]
        fn any_number_is_read_as_the_standard_library_does(text in "[+-]?[0-9]{0,30}(\\.[0-9]{0,30})?(e[+-]?[0-9]{1,3})?") {
            prop_assert_eq!(found(&text), expected(&text), "{}", text);
        }

        #[test]
        fn ties_go_to_even(mantissa in 1u64 << 52..1 << 53, scale in -60i32..60, last in 0u8..3) {
            // The number half-way between two neighbours, and numbers slightly below and above it.
            let half = (f64::from_bits(mantissa & ((1 << 52) - 1) | 1023 << 52), 2f64.powi(scale - 53));
            let text = format!("{:.400}", half.0 * 2f64.powi(scale));
            let step = format!("{:.400}", half.1);
            let mut sum: std::vec::Vec<u8> = text.into_bytes();
            let mut carry = 0;
            let offset = sum.len() - step.len();
            for index in (0..sum.len()).rev().filter(|&index| index >= offset) {
                let (a, b) = (sum[index], step.as_bytes()[index - offset]);
                if a != b'.' {
                    let digit = (a - b'0') + (b - b'0') + carry;
                    sum[index] = b'0' + digit % 10;
                    carry = digit / 10;
                }
            }
            prop_assume!(carry == 0);
            sum.push(b'0' + last);
            let text = String::from_utf8(sum).unwrap();
            prop_assert_eq!(found(&text), expected(&text), "{}", text);
        }

        #[test]
        fn other_text_is_refused(text in "[-+.e0-9 x]{0,12}") {
            prop_assert_eq!(found(&text), expected(&text), "{}", text);
        }
    }

    #[test]
    fn extreme_values_are_read_exactly() {
        let long = format!("0.{}1", "0".repeat(900));
        let large = format!("1{}.5e-850", "0".repeat(900));
        for text in [
            "0",
            "-0",
            "1e400",
            "-1e400",
            "1e-400",
            "5e-324",
            "2.5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "9007199254740993",
            "9007199254740992.99999",
            "1e999999999999",
            "1e-999999999999",
            "0e999999999999",
            &long,
            &large,
        ] {
            assert_eq!(found(text), expected(text), "{text}");
        }
    }
}
