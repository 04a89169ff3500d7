//! The host of a saved result, and the time of its run.

use latency_core::text::Text;

use super::trust::Trust;

/// The separator of the parts of a combined name, which does not occur in shown texts.
pub const SEPARATOR: char = '\u{1f}';

/// The host of a result, if its file names it. No text can control a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Its name, or else its boot ID.
    pub name: Text<96>,
    /// Boot ID, the random number that a kernel chooses at its start; empty if unknown.
    pub boot: Text<40>,
    /// The name of its processor.
    pub cpu: Text<96>,
    /// Its labels, each as [`SEPARATOR`], then `label KEY=VALUE`; a label that does not fit is left out.
    pub labels: Text<192>,
    /// Version of the schema of the document; 0 if unknown.
    pub schema: u64,
    /// Family, model and stepping of its processor, each plus 1, the type of the core, and if the model is masked; 0 if
    /// unknown.
    pub identity: [u64; 5],
    /// The number of its NUMA nodes; 0 if unknown.
    pub nodes: u32,
    /// True if a cache lies in front of a node's memory; `None` if unknown.
    pub side_cache: Option<bool>,
    /// The start of the run, in seconds since 1970; 0 if unknown.
    pub started: u64,
    /// Duration of the run in seconds.
    pub seconds: f64,
    /// Trust in the result.
    pub trust: Trust,
}

/// Reads a time in the format of documents, `2026-11-22T01:20:00Z`, and returns the seconds since 1970; `None` for any
/// other text.
#[must_use]
pub fn instant(text: &str) -> Option<u64> {
    let mut parts = text.strip_suffix('Z')?.split(['-', 'T', ':']);
    let mut part = |least: u64, most: u64| {
        let digits = parts.next().filter(|part| (1..=4).contains(&part.len()))?;
        let number = digits
            .bytes()
            .try_fold(0, |all, digit| digit.is_ascii_digit().then(|| all * 10 + u64::from(digit & 15)))?;
        (least..=most).contains(&number).then_some(number)
    };
    let [year, month, day] = [part(1970, 9999)?, part(1, 12)?, part(1, 31)?];
    let [hour, minute, second] = [part(0, 23)?, part(0, 59)?, part(0, 60)?];
    if parts.next().is_some() {
        return None;
    }
    // Years are counted from March on, so that the leap day is the last day of a year.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
    /// Number of days from 1 March of year 0 to 1 January 1970.
    const BEFORE: u64 = 719_468;
    Some(((days - BEFORE) * 24 + hour) * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-28T23:59:59Z", 951_782_399),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2024-02-28T00:00:00Z", 1_709_078_400),
            ("2024-03-01T00:00:00Z", 1_709_251_200),
            ("2099-12-31T23:59:59Z", 4_102_444_799),
        ] {
            assert_eq!(instant(text), Some(seconds), "{text}");
        }
        for text in
            ["", "Z", "2026-11-22", "2026-13-22T01:20:00Z", "2026-11-22T01:20:00", "1969-11-22T01:20:00Z"]
        {
            assert_eq!(instant(text), None, "{text}");
        }
        assert_eq!(instant("2026-11-22T01:20:00:00Z"), None);
        assert_eq!(instant("99999999999999999999-11-22T01:20:00Z"), None);
    }
}
