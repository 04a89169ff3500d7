//! Tables that other tools and spreadsheets write: `fit` reads each correctly, or gives the reason for a
//! refusal.
//!
//! `tests/fixtures/tables/index.csv` names each file with its tool and the expected outcome: a curve, whose
//! points `expected.py` computed without this program, or a refusal with its line and a part of its reason.

use latency_tests::document::{array, decimal, number};
use latency_tests::everywhere::everywhere;
use latency_tests::program::workspace;
use latency_tests::run::{ERROR, Run, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Tolerance of a latency: seven digits are written.
const LATENCY: f64 = 1e-6;

/// Files in the directory that are not tables.
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

/// Returns the fields of a row; some are in quotes.
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

/// Returns the expected points of a table.
fn expected(file: &str) -> Vec<(u64, f64)> {
    let text = read(&format!("expected/{file}.csv"));
    let point = |line: &str| {
        let (bytes, ns) = line.split_once(',').expect("two fields");
        (bytes.parse().expect("bytes"), ns.parse().expect("nanoseconds"))
    };
    sorted(text.lines().skip(1).map(point).collect())
}

fn sorted(mut points: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    points.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    points
}

/// Returns the points of all curves of a document, and the number of curves.
fn fitted(document: &Value) -> (Vec<(u64, f64)>, usize) {
    let others = document.get("others").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let curves = 1 + others.len();
    let point = |point: &Value| (number(point, "/working_set_bytes") as u64, decimal(point, "/ns"));
    (sorted(array(document, "/rows").iter().map(point).collect()), curves)
}

/// Returns the first difference between the points that were read and the expected ones.
fn curve(entry: &Entry, path: &str) -> Result<(), String> {
    let found = run(&["fit", path, "--json"]);
    let document = succeeded(&found)?;
    let (points, curves) = fitted(&document);
    let wanted = expected(&entry["file"]);
    if points.len() != wanted.len() {
        return Err(format!("{} points instead of {}", points.len(), wanted.len()));
    }
    let is_other = |(a, b): &(&(u64, f64), &(u64, f64))| a.0 != b.0 || ((a.1 - b.1) / b.1).abs() > LATENCY;
    if let Some((read, wanted)) = points.iter().zip(&wanted).find(is_other) {
        return Err(format!("the point {read:?} instead of {wanted:?}"));
    }
    if curves.to_string() != entry["curves"] {
        return Err(format!("{curves} curves instead of {}", entry["curves"]));
    }
    let text = run(&["fit", path]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = text.contains("skipped");
    match &*entry["left_out"] {
        // Empty rows of a spreadsheet may be counted or not.
        "" => Ok(()),
        "0" if told => Err("rows are reported as skipped".into()),
        "0" => Ok(()),
        many if text.contains(&format!("skipped {many} row")) => Ok(()),
        many => Err(format!("the text does not report {many} skipped rows")),
    }
}

/// Returns the document of a run that succeeded.
fn succeeded(found: &Run) -> Result<Value, String> {
    match (found.status.code(), serde_json::from_str(&found.stdout)) {
        (Some(0), Ok(document)) => Ok(document),
        _ => Err(format!("no curve: {}", found.stderr.trim_end())),
    }
}

/// Returns the number of a line.
fn line(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("no line: {text}"))
}

/// Returns the defect of a refusal: it has to name the line, or one of several lines, and the reason.
fn refused(entry: &Entry, path: &str) -> Result<(), String> {
    for found in [run(&["fit", path, "--json"]), run(&["fit", path])] {
        if found.status.code() != Some(1) || !found.stdout.is_empty() {
            let first = found.stdout.lines().find(|line| !line.is_empty()).unwrap_or_default();
            return Err(format!("is not refused, but: {}", first.chars().take(100).collect::<String>()));
        }
        // Neither the name of the file nor the input that `fit` expects instead says anything about the
        // reason.
        let message = found.stderr.trim_end().trim_start_matches(&format!("{ERROR}'{path}'"));
        let said = message.split("; use ").next().unwrap_or_default();
        let (first, last) = entry["line"].split_once('-').unwrap_or((&entry["line"], &entry["line"]));
        let of_a_line = |line: u32| said.starts_with(&format!(", line {line}: "));
        let told = first.is_empty() || (line(first)..=line(last)).any(of_a_line);
        if !told || !entry["reason"].split('|').any(|reason| said.contains(reason)) {
            let (line, reason) = (&entry["line"], &entry["reason"]);
            return Err(format!("the refusal does not say line {line} and '{reason}': {message}"));
        }
    }
    Ok(())
}

#[test]
fn tables_of_other_tools_are_read_correctly_or_refused_with_a_reason() {
    let wrong = Mutex::new(Vec::new());
    everywhere(&index(), |entry| {
        let path = place(&entry["file"]).display().to_string();
        let judged = match &*entry["expectation"] {
            "curve" => curve(entry, &path),
            _ => refused(entry, &path),
        };
        if let Err(reason) = judged {
            let reason = reason.replace(&path, &entry["file"]);
            wrong.lock().expect("a list").push(format!("{}: {reason}", entry["file"]));
        }
        Ok(())
    });
    let mut wrong = wrong.into_inner().expect("a list");
    wrong.sort();
    assert!(wrong.is_empty(), "{} tables:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_index_lists_each_table_with_its_tool_and_source() {
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
