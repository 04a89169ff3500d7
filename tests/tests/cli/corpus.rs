//! Tables that other tools and spreadsheets write: `fit` reads each as it was meant, or says why it does not.
//!
//! `tests/fixtures/tables/index.csv` names each file with its tool, and what is expected of it: a curve, whose points
//! `expected.py` worked out without this program, or a refusal with its line and a part of its reason.

use latency_tests::program::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// What stands in the directory beside the tables.
const NO_TABLES: [&str; 4] = [".gitattributes", "index.csv", "expected", "expected.py"];

fn place(name: &str) -> PathBuf {
    workspace().join("tests/fixtures/tables").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(place(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the names in a directory.
fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(place(directory)).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// A row of the index, by its headings.
type Entry = BTreeMap<String, String>;

/// Returns the fields of a row, some of which have quotes around them.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            other => all.last_mut().expect("a field").push(other),
        }
    }
    all
}

fn index() -> Vec<Entry> {
    let text = read("index.csv");
    let mut lines = text.lines().map(fields);
    let headings = lines.next().expect("headings");
    let entry = |row: Vec<String>| {
        assert_eq!(row.len(), headings.len(), "{row:?}");
        headings.iter().cloned().zip(row).collect()
    };
    lines.map(entry).collect()
}

#[test]
fn the_index_knows_each_table_with_its_tool_and_where_it_was_seen() {
    let index = index();
    let column = |key: &str| index.iter().map(|entry| entry[key].clone()).collect::<BTreeSet<_>>();
    let tables: BTreeSet<_> =
        names("").into_iter().filter(|name| !NO_TABLES.contains(&name.as_str())).collect();
    assert_eq!(column("file"), tables);
    assert!(index.len() >= 60 && index.len() == tables.len(), "{} files", index.len());
    assert!(column("tool").len() >= 12, "{:?}", column("tool"));
    for entry in &index {
        assert!(!entry["tool"].is_empty() && !entry["version"].is_empty(), "{entry:?}");
        assert!(entry["seen"].starts_with("http"), "{entry:?}");
        match &*entry["expectation"] {
            "curve" => assert!(entry["curves"] != "0" && entry["reason"].is_empty(), "{entry:?}"),
            "refused" => assert!(!entry["reason"].is_empty() && entry["curves"].is_empty(), "{entry:?}"),
            other => panic!("{other}: {entry:?}"),
        }
    }
    let curves = index.iter().filter(|entry| entry["expectation"] == "curve");
    assert_eq!(names("expected"), curves.map(|entry| format!("{}.csv", entry["file"])).collect());
}
