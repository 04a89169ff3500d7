//! The facts of the release, as the manifests state them: name, version, day, licence.

/// The manifests of the workspace and of the executable's package.
const MANIFEST: &str = include_str!("../../../../Cargo.toml");
const OF_THE_PACKAGE: &str = include_str!("../../../../bin/Cargo.toml");

/// The package that has the executable.
pub const PACKAGE: &str = "latency-bench";

/// The version, which all packages of the workspace share.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The licence as an SPDX expression.
pub const LICENCE: &str = env!("CARGO_PKG_LICENSE");

/// A second sentence about the program.
pub const PROMISE: &str = "Every result has a 95% confidence interval and a verdict with its reasons; the \
                           kernel confirms the node of every page.";

/// Returns the day of the release as `2026-11-23`.
pub fn date() -> &'static str {
    text(MANIFEST, "[workspace.metadata.release]", "date")
}

/// Returns that day as mail has it: `Mon, 23 Nov 2026`.
pub fn day() -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (weekday, month) = (seconds() / 86_400 % 7, date()[5..7].parse::<usize>().unwrap_or(1));
    format!("{}, {} {} {}", DAYS[weekday as usize], &date()[8..], MONTHS[month - 1], &date()[..4])
}

/// Returns the name and the address of those who maintain the packages.
pub fn maintainer() -> &'static str {
    text(MANIFEST, "[workspace.metadata.release]", "maintainer")
}

/// Returns one sentence about the program.
pub fn description() -> &'static str {
    text(OF_THE_PACKAGE, "[package]", "description")
}

/// Returns the beginning of that day in the form of RFC 3339.
pub fn timestamp() -> String {
    format!("{}T00:00:00Z", date())
}

/// Returns the beginning of that day in seconds after 1970.
pub fn seconds() -> u64 {
    let mut parts = date().split('-').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    86_400 * days(next(), next(), next())
}

/// Returns the days from 1970 to a day of the Gregorian calendar, of that year or a later one.
fn days(year: u64, month: u64, day: u64) -> u64 {
    // Years from March to February have their odd day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap = year / 4 - year / 100 + year / 400;
    const TO_1970: u64 = 719_469;
    365 * year + leap + (153 * month + 2) / 5 + day - TO_1970
}

/// Returns the text of a key in a table of a manifest.
///
/// # Panics
///
/// If the manifest has no text for this key.
fn text(manifest: &'static str, table: &str, key: &str) -> &'static str {
    manifest
        .lines()
        .skip_while(|line| *line != table)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
        .unwrap_or_else(|| panic!("{table} of Cargo.toml has no {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifests_state_day_toolchain_and_purpose() {
        let is_date =
            |text: &str| text.len() == 10 && text.split('-').all(|part| part.parse::<u32>().is_ok());
        assert!(is_date(date()), "{}", date());
        let toolchain = text(MANIFEST, "[workspace.metadata.release]", "toolchain");
        assert!(toolchain.split('.').all(|part| part.parse::<u32>().is_ok()), "{toolchain}");
        assert!(!description().is_empty() && !LICENCE.is_empty());
    }

    #[test]
    fn days_follow_the_gregorian_calendar() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 2, 29), 11_016);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2026, 11, 23), 20_780);
    }
}
