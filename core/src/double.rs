//! Doubles from decimal text, exactly rounded.
//!
//! The parser of the core library is faster where digits are many, and fifteen
//! times as large. Knows no unit and no document; [`decimal`](crate::decimal) is the way back.

use core::mem::replace;

/// Number of digits that decide between two doubles; later digits can only break a tie.
const MOST_DIGITS: usize = 800;

/// Largest power of ten that is exactly a double, with all smaller ones.
const EXACT_POWERS: i32 = 22;

/// Returns the double nearest to a decimal number, the even one of two that are equally near.
///
/// The text is a sign, digits with or without a point, and an exponent: `-1.5e3`. `None` for
/// any other text, also for white space; infinite where no double is as large.
#[must_use]
pub fn parse(text: &[u8]) -> Option<f64> {
    let (negative, text) = signed(text);
    let mut number = Number::EMPTY;
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
        number.point = number.point.saturating_add(integer(exponent)?);
    } else if !rest.is_empty() {
        return None;
    }
    let size = number.exact().unwrap_or_else(|| number.shifted());
    Some(if negative { -size } else { size })
}

fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Returns a whole number, limited to 10^8 either way, far beyond the exponent of any double.
fn integer(text: &[u8]) -> Option<i32> {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0_i32, |size, byte| (size * 10 + i32::from(byte & 15)).min(100_000_000));
    Some(if negative { -size } else { size })
}

/// `0.d₁d₂d₃…` × 10^`point`, without zeros at the start.
struct Number {
    digits: [u8; MOST_DIGITS],
    count: usize,
    point: i32,
    /// A digit other than zero was left out.
    more: bool,
}

impl Number {
    const EMPTY: Self = Self { digits: [0; MOST_DIGITS], count: 0, point: 0, more: false };

    fn append(&mut self, digit: u8, after_point: bool) {
        if self.count == 0 && digit == 0 {
            self.point = self.point.saturating_sub(i32::from(after_point));
            return;
        }
        self.point = self.point.saturating_add(i32::from(!after_point));
        self.push(digit);
    }

    fn push(&mut self, digit: u8) {
        match self.digits.get_mut(self.count) {
            Some(place) => {
                *place = digit;
                self.count += 1;
            }
            None => self.more |= digit != 0,
        }
    }

    fn digits(&self) -> &[u8] {
        self.digits.get(..self.count).unwrap_or_default()
    }

    /// Returns the nearest whole number, the even one of two that are equally near, for at most 19 digits before the
    /// point.
    fn whole(&self) -> u64 {
        let length = self.point.max(0) as usize;
        let digits = self.digits().iter().copied().chain(core::iter::repeat(0)).take(length);
        let whole = digits.fold(0_u64, |whole, digit| whole * 10 + u64::from(digit));
        let rest = self.digits().get(length..).unwrap_or_default();
        // A point further left than the first digit is below a tenth.
        let half = if self.point < 0 { 0 } else { rest.first().copied().unwrap_or(0) };
        let beyond = self.more || rest.iter().skip(1).any(|&digit| digit != 0);
        let up = half > 5 || half == 5 && (beyond || whole % 2 == 1);
        whole + u64::from(up)
    }

    /// Returns the double of few digits and a small power of ten, the usual case, in one operation that rounds once
    /// (W. Clinger, "How to read floating point numbers accurately", 1990).
    fn exact(&self) -> Option<f64> {
        if self.count > 15 {
            return None;
        }
        let size = self.digits().iter().fold(0_u64, |size, &digit| size * 10 + u64::from(digit)) as f64;
        let power = self.point.saturating_sub(self.count as i32);
        let ten = |power: i32| (0..power).fold(1.0, |product, _| product * 10.0);
        match power {
            _ if size == 0.0 => Some(0.0),
            0..=EXACT_POWERS => Some(size * ten(power)),
            _ if (-EXACT_POWERS..0).contains(&power) => Some(size / ten(-power)),
            _ => None,
        }
    }

    /// Returns the double of any other number: doubled or halved in decimal until 53 bits are before the point.
    fn shifted(&mut self) -> f64 {
        // Below the least double and above the largest by a factor of ten.
        if self.point < -330 {
            return 0.0;
        }
        if self.point > 310 {
            return f64::INFINITY;
        }
        const LEAST: u64 = 1 << 52;
        let mut exponent = 0_i32;
        // Sixteen digits before the point are 2^49.8 to 2^53.2.
        while self.point > 16 || self.point == 16 && self.whole() > 2 * LEAST {
            self.halve();
            exponent += 1;
        }
        while exponent > -1074 && (self.point < 16 || self.whole() < LEAST) {
            self.double();
            exponent -= 1;
        }
        let mut mantissa = self.whole();
        if mantissa == 2 * LEAST {
            (mantissa, exponent) = (LEAST, exponent + 1);
        }
        // IEEE 754 binary64: without the leading one an exponent of zero, as subnormal numbers have.
        let biased = if mantissa < LEAST { 0 } else { exponent + 1075 };
        if biased >= 2047 {
            return f64::INFINITY;
        }
        f64::from_bits((biased as u64) << 52 | mantissa & (LEAST - 1))
    }

    fn double(&mut self) {
        let mut carry = 0;
        for digit in self.digits.iter_mut().take(self.count).rev() {
            let twice = 2 * *digit + carry;
            (*digit, carry) = if twice > 9 { (twice - 10, 1) } else { (twice, 0) };
        }
        if carry > 0 {
            self.point += 1;
            self.more |= self.digits.last().is_some_and(|&last| last != 0);
            self.digits.iter_mut().fold(carry, |left, digit| replace(digit, left));
            self.count = (self.count + 1).min(MOST_DIGITS);
        }
    }

    fn halve(&mut self) {
        let mut carry = 0;
        for digit in self.digits.iter_mut().take(self.count) {
            let value = 10 * carry + *digit;
            (*digit, carry) = (value / 2, value % 2);
        }
        if carry > 0 {
            self.push(5);
        }
        if self.digits.first() == Some(&0) {
            self.point -= 1;
            self.digits.iter_mut().rev().fold(0, |right, digit| replace(digit, right));
            self.count = self.count.saturating_sub(1);
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
            // Half-way between two neighbours, a little less and a little more.
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
