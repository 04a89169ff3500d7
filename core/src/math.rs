//! The few functions of real numbers that Rust's `core` does not provide.
//!
//! Axes, distributions and tests of significance use them. The tests compare each function with the
//! standard library.

use core::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// Number of bits of a double below its exponent.
const MANTISSA_BITS: u32 = 52;
const EXPONENT_BIAS: i64 = 1023;
/// Smallest number at and above which every double is a whole number.
const WHOLE_FROM: f64 = (1u64 << MANTISSA_BITS) as f64;
/// ln 2 truncated to 32 significant bits, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// ln 2 minus `LN_2_HIGH`.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Number of terms after which the remainder of either series is below the last place of a double.
const LOGARITHM_TERMS: u32 = 12;
const EXPONENTIAL_TERMS: usize = 14;
/// The numbers 1/n for the exponential's series; divisions there would double its time.
const RECIPROCALS: [f64; EXPONENTIAL_TERMS] = {
    let mut table = [1.0; EXPONENTIAL_TERMS];
    let mut term = 1;
    while term < EXPONENTIAL_TERMS {
        table[term] = 1.0 / term as f64;
        term += 1;
    }
    table
};

/// Conversion to real numbers at the end of a chain of calls, where `as` would need parentheses.
pub trait ToReal {
    /// Returns the nearest real number.
    fn real(self) -> f64;
}

impl ToReal for u64 {
    // In halves, since processors convert signed numbers: both products are exact, and the sum is rounded once.
    fn real(self) -> f64 {
        f64::from((self >> 32) as u32) * 4_294_967_296.0 + f64::from(self as u32)
    }
}

impl ToReal for usize {
    // What is counted in memory has 63 bits: it is the same as a signed number.
    fn real(self) -> f64 {
        self as i64 as f64
    }
}

/// Returns the exponent of a positive number, and the natural logarithm of its mantissa, which is at most half of ln 2
/// from zero.
const fn split(value: f64) -> (f64, f64) {
    // A subnormal number has no implicit leading one until it is scaled up.
    let (value, scaled) = if value < f64::MIN_POSITIVE { (value * WHOLE_FROM, 52) } else { (value, 0) };
    let bits = value.to_bits();
    let mut exponent = (bits >> MANTISSA_BITS) as i64 - EXPONENT_BIAS - scaled;
    let fraction_mask = (1u64 << MANTISSA_BITS) - 1;
    let mut mantissa = f64::from_bits((bits & fraction_mask) | ((EXPONENT_BIAS as u64) << MANTISSA_BITS));
    // A mantissa centred on 1 keeps the argument of the series below 0.172.
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1))
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut series = 0.0;
    let mut term = LOGARITHM_TERMS;
    while term > 0 {
        term -= 1;
        series = series * square + 1.0 / (2 * term + 1) as f64;
    }
    (exponent as f64, 2.0 * ratio * series)
}

/// Returns the logarithm of a number that has no finite logarithm, and `None` for any other number.
const fn without_logarithm(value: f64) -> Option<f64> {
    match value {
        0.0 => Some(f64::NEG_INFINITY),
        f64::INFINITY => Some(value),
        _ if value > 0.0 => None,
        _ => Some(f64::NAN),
    }
}

/// Returns the logarithm to base 2, exact for powers of two.
///
/// It is negative infinity for zero, and NaN for a negative number.
pub fn log2(value: f64) -> f64 {
    if let Some(special) = without_logarithm(value) {
        return special;
    }
    let (exponent, rest) = split(value);
    exponent + rest * LOG2_E
}

/// Returns the natural logarithm; see [`log2`] for zero and negative numbers.
pub const fn ln(value: f64) -> f64 {
    if let Some(special) = without_logarithm(value) {
        return special;
    }
    let (exponent, rest) = split(value);
    exponent * LN_2_HIGH + (rest + exponent * LN_2_LOW)
}

/// Returns e to the power `rest`, which is at most half of ln 2 from zero, times 2 to the whole number `power`.
fn scaled(rest: f64, power: f64) -> f64 {
    let mut series = 1.0;
    for reciprocal in RECIPROCALS.iter().skip(1).rev() {
        series = 1.0 + series * rest * reciprocal;
    }
    // Two factors are used, because a power just below 1024 rounds up to 1024, and a double cannot hold 2^1024.
    let (power, half) = (power as i64, power as i64 / 2);
    series * power_of_two(half) * power_of_two(power - half)
}

/// Returns 2 to a power, exact for whole powers; 0 if the result would be subnormal.
pub fn exp2(power: f64) -> f64 {
    match power {
        _ if power >= 1024.0 => f64::INFINITY,
        _ if power < -1022.0 => 0.0,
        _ => {
            let whole = round(power);
            scaled((power - whole) * LN_2, whole)
        }
    }
}

/// Returns e to a power; see [`exp2`] for the limits.
pub fn exp(power: f64) -> f64 {
    match power {
        _ if power > 709.78 => f64::INFINITY,
        _ if power < -708.39 => 0.0,
        _ => {
            let whole = round(power / LN_2);
            scaled(power - whole * LN_2_HIGH - whole * LN_2_LOW, whole)
        }
    }
}

/// Returns the square root; NaN for a negative number.
pub fn sqrt(value: f64) -> f64 {
    if value == 0.0 || value == f64::INFINITY {
        return value;
    }
    // One step of Newton's method corrects the last bits, which the logarithm does not give.
    let guess = exp(ln(value) / 2.0);
    (guess + value / guess) / 2.0
}

/// Returns the largest whole number that is not above `value`.
pub fn floor(value: f64) -> f64 {
    let towards_zero = truncate(value);
    if towards_zero > value { towards_zero - 1.0 } else { towards_zero }
}

/// Returns the smallest whole number that is not below `value`.
pub fn ceil(value: f64) -> f64 {
    -floor(-value)
}

/// Returns the nearest whole number, halves away from zero.
pub fn round(value: f64) -> f64 {
    let towards_zero = truncate(value);
    // The difference is exact, whereas adding a half first is not.
    match value - towards_zero {
        rest if rest >= 0.5 => towards_zero + 1.0,
        rest if rest <= -0.5 => towards_zero - 1.0,
        _ => towards_zero,
    }
}

fn truncate(value: f64) -> f64 {
    if value.abs() < WHOLE_FROM { value as i64 as f64 } else { value }
}

/// Returns the largest number that divides both without a remainder.
pub const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns 2 to a whole power between -1022 and 1023.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + EXPONENT_BIAS) as u64) << MANTISSA_BITS)
}

/// Returns the whole part of a number: zero of a negative one and of NaN, the largest whole number of one above it.
pub const fn whole(value: f64) -> u64 {
    const BEYOND_SIGNED: f64 = 9_223_372_036_854_775_808.0;
    // Processors convert signed numbers.
    match () {
        () if value >= BEYOND_SIGNED => (1 << 63) + (value - BEYOND_SIGNED) as i64 as u64,
        () if value > 0.0 => value as i64 as u64,
        () => 0,
    }
}

/// Returns the distance of a positive number from the nearest integer that is not zero.
pub fn distance_from_whole(number: f64) -> f64 {
    let below = whole(number).real();
    (number - below.max(1.0)).abs().min((below + 1.0 - number).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-13 * expected.abs().max(1.0)
    }

    proptest! {
        #[test]
        fn logarithms_agree_with_the_standard_library(value in prop::num::f64::POSITIVE) {
            prop_assert!(close(log2(value), value.log2()), "{} {}", log2(value), value.log2());
            prop_assert!(close(ln(value), value.ln()));
        }

        #[test]
        fn logarithms_near_one_keep_their_precision(offset in -1e-3f64..1e-3) {
            let expected = (1.0 + offset).log2();
            prop_assert!((log2(1.0 + offset) - expected).abs() <= 1e-13 * expected.abs() + 1e-300);
        }

        #[test]
        fn exponentials_agree_with_the_standard_library(power in -1020.0f64..1023.9) {
            prop_assert!((exp2(power) / power.exp2() - 1.0).abs() < 1e-13);
            // The argument of `exp` is rounded before it is split: a relative error of 1e-16 of up to 700.
            prop_assert!((exp(power / 1.5) / (power / 1.5).exp() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn any_number_is_converted_as_the_language_does(number: u64, value: f64) {
            prop_assert_eq!(number.real(), number as f64);
            prop_assert_eq!(whole(value), value as u64);
        }

        #[test]
        fn roots_agree_with_the_standard_library(value in 1e-300f64..1e300) {
            prop_assert!((sqrt(value) / value.sqrt() - 1.0).abs() < 1e-15);
        }

        #[test]
        fn rounding_agrees_with_the_standard_library(value in prop::num::f64::NORMAL, small in -1e6f64..1e6) {
            for value in [value, small, round(small) + 0.5] {
                prop_assert_eq!(floor(value), value.floor());
                prop_assert_eq!(ceil(value), value.ceil());
                prop_assert_eq!(round(value), value.round());
            }
        }
    }

    #[test]
    fn whole_numbers_and_real_ones_are_converted_as_the_language_does() {
        let ends = [0, 1, u64::from(u32::MAX), 1 << 32, (1 << 53) - 1, (1 << 53) + 1, 1 << 63, u64::MAX];
        for number in ends.into_iter().flat_map(|end| [end.saturating_sub(1), end, end.saturating_add(1)]) {
            assert_eq!(number.real(), number as f64, "{number}");
            assert_eq!(whole(number as f64), number as f64 as u64, "{number}");
        }
        for value in [-1.5, -0.0, 0.9, 1.5, 1e19, 1e20, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(whole(value), value as u64, "{value}");
        }
    }

    #[test]
    fn exact_cases_are_exact() {
        for power in -1022..1024 {
            assert_eq!(exp2(f64::from(power)), 2f64.powi(power), "{power}");
            assert_eq!(log2(2f64.powi(power)), f64::from(power), "{power}");
        }
        assert_eq!((ln(1.0), exp(0.0), sqrt(0.0)), (0.0, 1.0, 0.0));
        assert_eq!(round(0.499_999_999_999_999_94), 0.0);
    }

    #[test]
    fn arguments_without_a_value_give_nan() {
        assert_eq!(log2(0.0), f64::NEG_INFINITY);
        assert!(log2(-1.0).is_nan() && sqrt(-1.0).is_nan());
        assert!(exp2(f64::NAN).is_nan() && exp(f64::NAN).is_nan());
        assert_eq!((log2(f64::INFINITY), exp2(1e9), exp2(-1e9)), (f64::INFINITY, f64::INFINITY, 0.0));
        assert!(floor(f64::NAN).is_nan() && round(f64::NAN).is_nan());
        assert_eq!(round(f64::NEG_INFINITY), f64::NEG_INFINITY);
    }
}
