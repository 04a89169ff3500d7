//! The steady latency, on which rounds in separate seconds agree, next to that of the whole run: for people and programs.
//!
//! A constant neighbour cannot be seen, so texts say steady. Keys of this version of the schema, and identifiers, say
//! undisturbed.

use alloc::string::String;
use core::fmt::{self, Display};

use latency_core::{Estimate, Interval, Summary};

use super::rates::{confidence, is_wide, optional};
use super::{Report, columns};
use latency_engine::result::{Measurement, Outcome, RoundSeries, Undisturbed};
use latency_engine::warning::Warning;
use latency_report::figures::seconds;
use latency_report::{Digits, Shown};

/// The relative difference below the typical latency up to which a value counts as the same.
const SAME: f64 = 0.01;
/// The relative difference for values with overlapping intervals, and for upper bounds: rounds that agree differ by as
/// much.
const ALIKE: f64 = 0.03;

/// Describes the value of a point, if it was sought.
pub fn members(document: &mut Shown, series: &RoundSeries) {
    let (seen, rounds, at_most) = match series.undisturbed {
        None => return,
        Some(Undisturbed::Seen { nanoseconds, interval, rounds }) => {
            (Some(Estimate { value: nanoseconds, interval: Some(interval) }), Some(rounds), None)
        }
        Some(Undisturbed::AtMost(bound)) => (None, None, Some(bound)),
    };
    document.put(&columns::UNDISTURBED_NS, seen);
    document.put(&columns::UNDISTURBED_ROUNDS, rounds);
    document.put(&columns::UNDISTURBED_AT_MOST, at_most);
}

/// Returns whether a steady value agrees with the typical value.
fn agrees(typical: &Summary, undisturbed: Undisturbed) -> bool {
    let is_below_by = |value: f64, share: f64| value < typical.median * (1.0 - share);
    match undisturbed {
        Undisturbed::Seen { nanoseconds, interval, .. } => {
            let meet = typical.interval.is_some_and(|typical| interval.high >= typical.low);
            !is_below_by(nanoseconds, if meet { ALIKE } else { SAME })
        }
        Undisturbed::AtMost(bound) => !is_below_by(bound, ALIKE),
    }
}

/// Returns the words of the interval of a latency, unless it is so wide that the headline has it, and its window, and
/// whether the latency was steady. A wide interval never is.
pub fn within(series: &RoundSeries) -> impl Display + '_ {
    optional(series.nanoseconds.interval, |interval, out| {
        let is_steady = series.undisturbed.is_some_and(|found| {
            matches!(found, Undisturbed::Seen { .. })
                && !is_wide(Some(interval))
                && agrees(&series.nanoseconds, found)
        });
        let (ends, steady) = (confidence(interval, 1.0), if is_steady { ", steady; " } else { "; " });
        write!(out, "{ends} over {}{steady}", seconds(series.window_ns))
    })
}

/// Writes the steady latency of the only pair, if it differs from the typical latency.
pub fn of_one(document: &mut Shown, measured: &Measurement) {
    let RoundSeries { nanoseconds, undisturbed: Some(found), .. } = measured.series else { return };
    if agrees(&nanoseconds, found) {
        return;
    }
    let words = value(found, measured.rounds);
    match found {
        Undisturbed::Seen { .. } => document.finding(format_args!("Steady latency {words}.")),
        Undisturbed::AtMost(_) => {
            document.finding(format_args!("No steady rounds: the latency without neighbours is {words}."))
        }
    }
}

/// Writes by how much neighbours slow down the memory of several pairs, if they do.
pub fn of_several(document: &mut Shown, report: &Report<'_>) {
    let (mut most, mut worst) = (0.0, None);
    for warning in report.warnings.iter() {
        let Warning::Neighbours { from, to, size, ratio } = *warning else { continue };
        for Outcome { point, result } in report.outcomes {
            if let Ok(Measurement { series: RoundSeries { undisturbed: Some(found), .. }, rounds, .. }) =
                result
                && ratio > most
                && (point.initiator, point.target, point.size) == (from, to, size)
            {
                (most, worst) = (ratio, Some((point, found, rounds)));
            }
        }
    }
    let Some((point, found, rounds)) = worst else { return };
    document.finding(format_args!(
        "Neighbours slow node {} -> node {} most: steady latency {}.",
        point.initiator,
        point.target,
        value(*found, *rounds)
    ));
}

/// Returns the words of a value, its interval, and the number of its rounds among `all`.
fn value(found: Undisturbed, all: usize) -> impl Display {
    fmt::from_fn(move |out| match found {
        Undisturbed::Seen { nanoseconds, interval: Interval { low, high }, rounds } => {
            write!(out, "{} ns ({} to {}; ", Digits(nanoseconds), Digits(low), Digits(high))?;
            write!(out, "in {rounds} of {all} rounds)")
        }
        Undisturbed::AtMost(bound) => write!(out, "at most {} ns", Digits(bound)),
    })
}

/// Returns the cell of a point in a table of points.
pub fn cell(series: &RoundSeries) -> String {
    match series.undisturbed {
        None => "-".into(),
        Some(Undisturbed::Seen { nanoseconds, .. }) => format!("{}", Digits(nanoseconds)),
        Some(Undisturbed::AtMost(bound)) => format!("at most {}", Digits(bound)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_engine::tests::plain::assert_plain;
    use std::string::ToString;

    fn typical(low: f64, median: f64, high: f64) -> Summary {
        Summary { interval: Some(Interval { low, high }), ..summary(median) }
    }

    fn summary(median: f64) -> Summary {
        Summary { count: 31, median, minimum: median, maximum: median, mad: 0.0, interval: None }
    }

    const fn seen(low: f64, nanoseconds: f64, high: f64) -> Undisturbed {
        Undisturbed::Seen { nanoseconds, interval: Interval { low, high }, rounds: 9 }
    }

    #[test]
    fn values_agree_within_a_percent_or_three_where_intervals_meet() {
        let narrow = typical(156.0, 157.0, 158.0);
        for (typical, found, expected) in [
            (narrow, seen(110.0, 112.0, 114.0), false),
            (narrow, seen(150.0, 153.0, 156.5), true),
            (narrow, seen(152.0, 153.0, 154.0), false),
            // Intervals that do not overlap, but a difference too small to act on.
            (narrow, seen(155.6, 155.7, 155.8), true),
            // A wide interval contains both values, but they are different.
            (typical(110.0, 157.0, 180.0), seen(110.0, 112.0, 114.0), false),
            (narrow, Undisturbed::AtMost(118.0), false),
            (narrow, Undisturbed::AtMost(154.0), true),
            (summary(100.0), seen(99.2, 99.4, 99.6), true),
            (summary(100.0), seen(97.0, 98.0, 99.0), false),
        ] {
            assert_eq!(agrees(&typical, found), expected, "{found:?}");
        }
    }

    #[test]
    fn a_value_says_in_how_many_rounds_it_was_seen() {
        let text = value(seen(110.0, 112.0, 114.0), 31).to_string();
        assert_eq!(text, "112 ns (110 to 114; in 9 of 31 rounds)");
        assert_plain(&text);
        assert_eq!(value(Undisturbed::AtMost(118.2), 31).to_string(), "at most 118 ns");
    }
}
