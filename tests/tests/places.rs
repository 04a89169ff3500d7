//! The table of hostile places: every row names an existing test, and tests/README.md contains every row.

use latency_tests::places::{HEADING, PLACES, markdown};
use latency_tests::program::workspace;
use std::collections::BTreeSet;
use std::fs;

/// Minimum number of hostile places that the project promises.
const AT_LEAST: usize = 40;

#[test]
fn every_row_is_unique_and_in_whole_sentences() {
    let places: BTreeSet<&str> = PLACES.iter().map(|row| row.place).collect();
    assert_eq!(places.len(), PLACES.len(), "a place stands in two rows");
    assert!(PLACES.len() >= AT_LEAST, "{} places", PLACES.len());
    for row in PLACES {
        let cells = [row.place, row.happens, row.test];
        assert!(cells.iter().all(|cell| !cell.is_empty() && !cell.contains(['|', '\n'])), "{row:?}");
        assert!(row.happens.ends_with('.'), "{row:?}");
    }
}

/// Returns the source file of a test that its suite or the library compiles, and the function.
fn source_of(test: &str) -> Option<(String, &str)> {
    let parts: Vec<&str> = test.split("::").collect();
    let read = |path: &str| fs::read_to_string(workspace().join("tests/tests").join(path)).ok();
    match parts[..] {
        ["latency_bench", ref modules @ .., function] => {
            let file = |modules: &[&str]| read(&format!("../../bin/src/{}.rs", modules.join("/")));
            // Tests stand in a file of their own, or at the end of a file.
            Some((file(modules).or_else(|| file(&modules[..modules.len() - 1]))?, function))
        }
        [suite, function] => Some((read(&format!("{suite}.rs"))?, function)),
        [suite, module, function] => {
            let root = read(&format!("{suite}/mod.rs"))?;
            let declared = root.lines().any(|line| line == format!("mod {module};"));
            Some((read(&format!("{suite}/{module}.rs")).filter(|_| declared)?, function))
        }
        _ => None,
    }
}

#[test]
fn every_row_has_its_test() {
    for row in PLACES {
        let Some((source, function)) = source_of(row.test) else { panic!("no file has {row:?}") };
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let is_test = lines.windows(2).any(|two| two == ["#[test]", &format!("fn {function}() {{")]);
        assert!(is_test, "no test {function} in the file of {row:?}");
    }
}

/// Returns the text before the table in tests/README.md, the table, and the text behind it.
fn parts(readme: &str) -> (&str, &str, &str) {
    let heading = format!("\n{HEADING}\n");
    let section = readme.find(&heading).unwrap_or_else(|| panic!("tests/README.md has no {HEADING}"));
    let table = readme[section..].find("\n| ").map_or(readme.len(), |at| section + at + 1);
    let length = readme[table..].find("\n\n").map_or(readme.len() - table, |at| at + 1);
    (&readme[..table], &readme[table..table + length], &readme[table + length..])
}

#[test]
fn the_readme_has_the_table() {
    let path = workspace().join("tests/README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let (before, table, after) = parts(&readme);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, format!("{before}{}{after}", markdown())).expect("README.md");
    } else {
        assert_eq!(table, markdown(), "tests/README.md has another table: `make golden` rewrites it");
    }
}
