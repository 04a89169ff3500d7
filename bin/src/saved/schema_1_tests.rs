//! Results of schema 1, as two released executables wrote them: they are read for ever, with the same values.

use super::*;
use std::collections::BTreeMap;
use std::format;
use std::path::Path;
use std::string::{String, ToString};
use std::vec::Vec;

/// The results, and a summary of each one.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/saved/schema-1");

/// Returns a line about a file: its experiment, the number of points and of those with an interval, and the geometric
/// mean of their values; or that it is refused, since it has no points to compare.
fn summary(path: &Path) -> String {
    let text = std::fs::read(path).unwrap();
    let mut room = List::new(MAX_ROWS).unwrap();
    let saved = match Saved::parse(&text, None, &mut room) {
        Ok(draft) => draft.finish().unwrap(),
        Err(_) => return "refused".to_string(),
    };
    let logarithms: Vec<f64> = saved.rows.iter().map(|row| row.sample.nanoseconds.ln()).collect();
    let intervals = saved.rows.iter().filter(|row| row.sample.interval.is_some()).count();
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    format!("{} {} points, {intervals} intervals, {mean:.4}", saved.experiment, saved.rows.len())
}

#[test]
fn results_of_schema_1_are_read_for_ever() {
    let mut found = BTreeMap::new();
    for directory in std::fs::read_dir(RESULTS).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(&directory).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let name = file.strip_prefix(RESULTS).unwrap().to_str().unwrap().to_string();
            found.insert(name, summary(&file));
        }
    }
    assert_eq!(
        found.len(),
        2 * (12 * 3 + 2),
        "a document, a line and a table of each experiment, and two reports"
    );
    let found: String = found.iter().map(|(name, summary)| format!("{name}: {summary}\n")).collect();
    let expected = std::fs::read_to_string(format!("{RESULTS}/summaries.txt")).unwrap();
    assert_eq!(found, expected);
}
