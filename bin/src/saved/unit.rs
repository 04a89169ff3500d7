//! The units of sizes in other tools' files, and whether these sizes can be bytes at all.

use latency_core::math;
use latency_core::units;

use crate::record::row::Row;

/// Returns the number of bytes in a unit by its name in a heading, behind a number or in an option. Both `KB` and `KiB`
/// mean 1024 bytes, because tools use either name for the binary unit.
///
/// # References
///
/// lat_mem_rd divides by 1024 * 1024 and calls it MB; Chips and Cheese's MemoryLatency multiplies its KB by 1024.
pub fn named(word: &str) -> Option<f64> {
    const NAMES: [(f64, &str); 4] = [
        (1.0, "b byte bytes o octet octets"),
        (1024.0, "k kb kib ko kio kbytes kilobytes kibibytes"),
        (1_048_576.0, "m mb mib mo mio mbytes megabytes mebibytes"),
        (1_073_741_824.0, "g gb gib go gio gbytes gigabytes gibibytes"),
    ];
    among(&NAMES, word)
}

/// Returns the number of nanoseconds in a unit of time by its name in a heading or behind a number.
pub fn of_time(word: &str) -> Option<f64> {
    const NAMES: [(f64, &str); 5] = [
        (1e-3, "ps psec picosecond picoseconds"),
        (1.0, "ns nsec nanosecond nanoseconds"),
        (1e3, "us usec microsecond microseconds \u{b5}s \u{3bc}s"),
        (1e6, "ms msec millisecond milliseconds"),
        (1e9, "s sec second seconds secs"),
    ];
    among(&NAMES, word)
}

/// Returns the factor of a unit by one of its names, in upper or lower case.
fn among(units: &[(f64, &str)], word: &str) -> Option<f64> {
    units.iter().find(|(_, names)| is_one_of(word, names)).map(|(factor, _)| *factor)
}

/// Returns whether a word is one of several, in upper or lower case.
pub fn is_one_of(word: &str, words: &str) -> bool {
    words.split_ascii_whitespace().any(|one| word.eq_ignore_ascii_case(one))
}

/// Returns the unit among the words of a heading such as `size_kb` or `Working set (KiB)`.
pub fn of_heading(heading: &str) -> Option<f64> {
    words(heading).find_map(named)
}

/// Returns the words of a heading.
pub fn words(heading: &str) -> impl Iterator<Item = &str> {
    heading
        .split(|character: char| character.is_ascii() && !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Returns the bytes of a number of units. A size with a fraction was rounded when it was printed, so it is rounded to
/// a line.
pub fn bytes(number: f64, unit: f64) -> f64 {
    const LINE: f64 = units::LINE.0 as f64;
    let bytes = number * unit;
    if unit > 1.0 && math::whole(bytes) as f64 != bytes {
        (math::whole(bytes / LINE + 0.5) as f64 * LINE).max(LINE)
    } else {
        bytes
    }
}

/// Returns whether sizes without a unit can be bytes. No size may have a fraction, each must be at least two lines,
/// because a walk needs two, and the latency may be that of memory only if the largest size is a mebibyte or more.
pub fn plausible(rows: &[Row], fractions: bool) -> bool {
    const TWO_LINES: u64 = 128;
    const SMALL: u64 = 1 << 20;
    const MEMORY_NS: f64 = 60.0;
    let sizes = || rows.iter().map(|row| row.size().0).filter(|size| *size > 0);
    let slowest = rows.iter().map(|row| row.nanoseconds()).fold(0.0, f64::max);
    let largest = sizes().max().unwrap_or(SMALL);
    !fractions && sizes().all(|size| size >= TWO_LINES) && (largest >= SMALL || slowest < MEMORY_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::columns::WORKING_SET;
    use std::vec::Vec;

    #[test]
    fn sizes_without_a_unit_are_bytes_if_plausible() {
        let can_be = |points: &[(u64, f64)]| {
            let row = |&(size, ns): &(u64, f64)| Row::timed(ns).with(WORKING_SET, size);
            plausible(&points.iter().map(row).collect::<Vec<_>>(), false)
        };
        assert!(can_be(&[(128, 1.0), (1 << 20, 100.0)]));
        assert!(!can_be(&[(127, 1.0), (1 << 20, 100.0)]), "less than two lines");
        assert!(!can_be(&[(128, 1.0), ((1 << 20) - 1, 60.0)]), "memory of less than a mebibyte");
        assert!(can_be(&[(128, 1.0), ((1 << 20) - 1, 59.9)]), "caches alone");
        assert!(can_be(&[(0, 1.0), (1 << 20, 100.0)]), "a row that has no size");
        assert!(can_be(&[]) && !plausible(&[], true));
    }

    #[test]
    fn sizes_that_were_rounded_are_whole_lines() {
        assert_eq!([bytes(100.5, 1.0), bytes(0.5, 1024.0), bytes(1.0, 1024.0)], [100.5, 512.0, 1024.0]);
        // 0.1 KiB are 102.4 bytes, and 0.01 KiB are 10.24 bytes; no walk is shorter than a line.
        assert_eq!([bytes(0.1, 1024.0), bytes(0.01, 1024.0)], [128.0, 64.0]);
    }
}
