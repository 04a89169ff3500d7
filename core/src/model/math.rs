//! Logarithm, exponential and square root without a mathematical library.
//!
//! `core` has none of them for floating point. These know nothing of models or
//! memory; each is tested against the standard library.

use core::f64::consts::{LN_2, SQRT_2};

/// ln 2 cut to 32 significant bits, so that a multiple of it by an exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// What `LN_2_HIGH` leaves out.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// The bits of a double below its exponent.
const MANTISSA_BITS: u32 = 52;
const EXPONENT_BIAS: i64 = 1023;
/// Terms of the two series: the first one left out is below half a unit in the last place.
const LN_TERMS: u32 = 12;
const EXP_TERMS: u32 = 14;

/// The natural logarithm of a positive, normal number.
///
/// Zero, negative and subnormal numbers have no place in the callers, which reject
/// them first; they give negative infinity here and never trap.
pub(crate) fn ln(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    if value < f64::MIN_POSITIVE {
        return f64::NEG_INFINITY;
    }
    let bits = value.to_bits();
    let mut exponent = (bits >> MANTISSA_BITS) as i64 - EXPONENT_BIAS;
    let mantissa_mask = (1u64 << MANTISSA_BITS) - 1;
    let mut mantissa = f64::from_bits((bits & mantissa_mask) | ((EXPONENT_BIAS as u64) << MANTISSA_BITS));
    // Centred on 1, where the series converges fastest and ln(1) stays exactly 0.
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh((m-1)/(m+1)), |argument| <= 0.172.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let mut series = 0.0;
    for term in (0..LN_TERMS).rev() {
        series = series * square + 1.0 / f64::from(2 * term + 1);
    }
    let scale = exponent as f64;
    scale * LN_2_HIGH + (2.0 * ratio * series + scale * LN_2_LOW)
}

/// The exponential function; results below the smallest normal number are 0.
pub(crate) fn exp(power: f64) -> f64 {
    if power.is_nan() {
        return power;
    }
    if power > 709.78 {
        return f64::INFINITY;
    }
    if power < -708.39 {
        return 0.0;
    }
    // A conversion truncates towards zero: half a step away from zero rounds to nearest.
    let exponent = (power / LN_2 + if power < 0.0 { -0.5 } else { 0.5 }) as i64;
    let multiple = exponent as f64;
    let rest = power - multiple * LN_2_HIGH - multiple * LN_2_LOW;
    let mut series = 1.0;
    for term in (1..EXP_TERMS).rev() {
        series = 1.0 + series * rest * RECIPROCALS[term as usize];
    }
    // Two factors, because 2^1024 is no double although half of the mantissa range fits.
    let half = exponent / 2;
    series * power_of_two(half) * power_of_two(exponent - half)
}

/// 1/n for the exponential's series; dividing there would double its time.
const RECIPROCALS: [f64; EXP_TERMS as usize] = {
    let mut table = [1.0; EXP_TERMS as usize];
    let mut term = 1;
    while term < EXP_TERMS {
        table[term as usize] = 1.0 / term as f64;
        term += 1;
    }
    table
};

/// 2 to a power between -1022 and 1023.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + EXPONENT_BIAS) as u64) << MANTISSA_BITS)
}

/// The square root; 0 for what has none.
pub(crate) fn sqrt(value: f64) -> f64 {
    if value.is_nan() || value < f64::MIN_POSITIVE {
        return 0.0;
    }
    if value.is_infinite() {
        return value;
    }
    // One step of Newton's method takes the last bits that exp and ln leave.
    let guess = exp(0.5 * ln(value));
    0.5 * (guess + value / guess)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(found: f64, expected: f64) -> f64 {
        if expected == 0.0 {
            found.abs()
        } else {
            ((found - expected) / expected).abs()
        }
    }

    #[test]
    fn logarithm_agrees_with_the_standard_library() {
        let mut value = 1e-300;
        while value < 1e300 {
            assert!(relative(ln(value), value.ln()) < 1e-12, "ln {value}");
            value *= 1.037;
        }
        for step in 1..2000 {
            let value = 1.0 + f64::from(step - 1000) * 1e-6;
            assert!(relative(ln(value), value.ln()) < 1e-12, "ln {value}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn exponential_agrees_with_the_standard_library() {
        for step in -70_800..70_900 {
            let power = f64::from(step) * 0.01;
            assert!(relative(exp(power), power.exp()) < 1e-12, "exp {power}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(1e9), f64::INFINITY);
    }

    #[test]
    fn square_root_agrees_with_the_standard_library() {
        let mut value = 1e-300;
        while value < 1e300 {
            assert!(relative(sqrt(value), value.sqrt()) < 1e-14, "sqrt {value}");
            value *= 1.37;
        }
        assert_eq!(sqrt(0.0), 0.0);
        assert_eq!(sqrt(-1.0), 0.0);
    }
}
