//! Days and times of the calendar.

use alloc::string::String;
use core::fmt::{self, Display};

/// Returns a time in ISO 8601 format: `2026-11-22T01:20:00Z`. It is also shown while a load is held, without the heap.
pub fn utc(seconds: u64) -> impl Display {
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    fmt::from_fn(move |out| write!(out, "{}T{hour:02}:{minute:02}:{second:02}Z", day(seconds / 86_400)))
}

/// Returns a day counted from 1970: `2026-11-22`.
pub fn day(days: u64) -> impl Display {
    let (year, month, day) = civil(days);
    fmt::from_fn(move |out| write!(out, "{year}-{month:02}-{day:02}"))
}

/// Returns a time for people: `22 Nov 2026, 01:20 UTC`.
pub fn readable_time(seconds: u64) -> String {
    /// The names of the months, three letters each.
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (year, month, day) = civil(seconds / 86_400);
    let first = (month as usize).saturating_sub(1) * 3;
    let month = MONTHS.get(first..first + 3).unwrap_or_default();
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{day} {month} {year}, {hour:02}:{minute:02} UTC")
}

/// Returns year, month and day of a day counted from 1970.
///
/// # References
///
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`: years begin in March, so that
/// the leap day is the last one.
const fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + (month <= 2) as u64, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn utc_times_match_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_310_400, "2026-11-22T01:20:00Z"),
            (4_102_444_799, "2099-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(seconds).to_string(), text);
        }
    }

    #[test]
    fn readable_times_match_the_calendar() {
        for (seconds, text) in [
            (0, "1 Jan 1970, 00:00 UTC"),
            (1_795_310_400, "22 Nov 2026, 01:20 UTC"),
            (4_102_444_799, "31 Dec 2099, 23:59 UTC"),
        ] {
            assert_eq!(readable_time(seconds), text);
        }
    }
}
