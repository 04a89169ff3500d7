//! Rates and other estimates for people, with their interval or half of its width, and optional values in the middle of
//! a sentence.

use alloc::string::String;
use core::fmt::{self, Display};

use latency_core::{Estimate, Interval};

use latency_report::Digits;
use latency_report::figures::decimals;

/// Bytes in a gigabyte, the unit for people.
pub const GIGA: f64 = 1e9;

/// Bytes per second, shown in gigabytes per second.
pub struct Gigabytes(pub f64);

impl Display for Gigabytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digits(self.0 / GIGA).fmt(out)
    }
}

/// Returns a rate in gigabytes per second; NaN without a rate.
pub fn gigabytes(rate: Option<Estimate>) -> Gigabytes {
    Gigabytes(rate.map_or(f64::NAN, |rate| rate.value))
}

/// Returns half of an interval's width, if there is an interval.
pub fn half(rate: Option<Estimate>) -> String {
    let Some(interval) = rate.and_then(|rate| rate.interval) else { return "-".into() };
    let half = (interval.high - interval.low) / 2.0 / GIGA;
    format!("±{half:.*}", decimals(half, 1))
}

/// An interval of bandwidths, or an approximate value without one. Ends that look alike are shown as one number.
pub struct Within(pub Estimate);

impl Display for Within {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Relative width below which both ends may have the same three digits.
        const CLOSE: f64 = 0.005;
        let Estimate { value, interval } = self.0;
        match interval {
            None => out.write_str("about ")?,
            Some(Interval { low, high }) if high - low > CLOSE * high => {
                return write!(out, "{} to {} GB/s", Gigabytes(low), Gigabytes(high));
            }
            Some(_) => {}
        }
        write!(out, "{} GB/s", Gigabytes(value))
    }
}

/// Returns whether an interval is too wide for a headline to show one number.
pub fn is_wide(interval: Option<Interval>) -> bool {
    /// Maximum ratio of the ends of an interval whose middle is a figure.
    const SPAN: f64 = 1.25;
    interval.is_some_and(|Interval { low, high }| high > SPAN * low)
}

/// Returns the figure of a headline as text, in units of `ones`: one number, or the ends of an interval that is too
/// wide for it.
pub fn headline(Estimate { value, interval }: Estimate, ones: f64) -> impl Display {
    fmt::from_fn(move |out| match interval.filter(|_| is_wide(interval)) {
        Some(Interval { low, high }) => write!(out, "{} to {}", Digits(low / ones), Digits(high / ones)),
        None => write!(out, "{}", Digits(value / ones)),
    })
}

/// Returns the interval behind a [`headline`]: its ends, or only its name if the headline has them.
pub fn confidence(interval: Interval, ones: f64) -> String {
    match is_wide(Some(interval)) {
        true => "95% CI".into(),
        false => format!("95% CI {} to {}", Digits(interval.low / ones), Digits(interval.high / ones)),
    }
}

/// Returns the same in parentheses; an empty text without an interval.
pub fn in_parentheses(interval: Option<Interval>, ones: f64) -> impl Display {
    optional(interval, move |interval, out| write!(out, " ({})", confidence(interval, ones)))
}

/// Returns the ratio of two figures of a headline as text: `1.52x`, or the range of it if one of them is a range.
pub fn times(large: Estimate, small: Estimate) -> impl Display {
    fmt::from_fn(move |out| {
        if is_wide(large.interval) || is_wide(small.interval) {
            let ends = |Estimate { value, interval }: Estimate| {
                interval.unwrap_or(Interval { low: value, high: value })
            };
            let (large, small) = (ends(large), ends(small));
            write!(out, "{:.2}x to ", large.low / small.high)?;
            return write!(out, "{:.2}x", large.high / small.low);
        }
        write!(out, "{:.2}x", large.value / small.value)
    })
}

/// Returns a share in whole percent, as text.
pub fn percent(share: f64) -> impl Display {
    fmt::from_fn(move |out| write!(out, "{:.0}%", share * 100.0))
}

/// Returns an estimate with half of the width of its interval, as text: `164 ± 12`.
pub fn plus_minus(estimate: Estimate) -> impl Display {
    fmt::from_fn(move |out| {
        write!(out, "{}", Digits(estimate.value))?;
        match estimate.interval {
            Some(interval) => {
                let half = (interval.high - interval.low) / 2.0;
                write!(out, " ± {:.*}", decimals(half, 2), half)
            }
            None => Ok(()),
        }
    })
}

/// Shows a value if there is one, and nothing otherwise.
pub fn optional<T: Copy>(
    value: Option<T>,
    show: impl Fn(T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> impl Display {
    fmt::from_fn(move |out| value.map_or(Ok(()), |value| show(value, out)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn wide_intervals_are_not_shown_as_one_number() {
        let of = |value, low, high| Estimate { value, interval: Some(Interval { low, high }) };
        for (estimate, text) in [
            (of(380.0, 220.0, 395.0), "220 to 395"),
            (of(100.0, 88.0, 110.0), "100"),
            (of(100.0, 88.0, 110.1), "88.0 to 110"),
            (of(1.0, -0.5, 2.5), "-0.500 to 2.50"),
            (Estimate { value: 165.0, interval: None }, "165"),
        ] {
            assert_eq!(headline(estimate, 1.0).to_string(), text);
        }
        let behind = |low, high| in_parentheses(Some(Interval { low, high }), 1.0).to_string();
        assert_eq!(
            (behind(99.0, 101.0).as_str(), behind(220.0, 395.0).as_str()),
            (" (95% CI 99.0 to 101)", " (95% CI)")
        );
        assert_eq!(times(of(200.0, 190.0, 210.0), of(100.0, 95.0, 105.0)).to_string(), "2.00x");
        assert_eq!(times(of(200.0, 100.0, 200.0), of(100.0, 80.0, 100.0)).to_string(), "1.00x to 2.50x");
        assert_eq!(headline(of(20e9, 14e9, 22e9), GIGA).to_string(), "14.0 to 22.0");
    }
}
