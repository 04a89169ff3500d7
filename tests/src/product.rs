//! Lines of product code by folder: without comments, blank lines and tests.

use crate::program::workspace;
use crate::source::{sources, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Returns the lines of product code of each folder of `bin/src`, of `core/src` and of `asm`.
///
/// # Panics
///
/// When a source file cannot be read.
pub fn lines() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for root in ["bin/src", "core/src"] {
        let all = sources(root);
        let tests: Vec<Vec<String>> = all.iter().flat_map(modules_of_tests).collect();
        for source in all {
            if tests.iter().any(|test| source.module().starts_with(test)) {
                continue;
            }
            let inside = source.path[root.len() + 1..].split_once('/');
            let folder = inside
                .filter(|_| root == "bin/src")
                .map_or(root.into(), |(folder, _)| format!("{root}/{folder}"));
            *counts.entry(folder).or_default() += lines_of(&source);
        }
    }
    counts.insert("asm".into(), lines_of_assembly());
    counts
}

/// Returns the lines with tokens of a file, without its modules of tests.
fn lines_of(source: &Source) -> usize {
    let mut lines = BTreeSet::new();
    let mut tokens = source.tokens.iter();
    while let Some(token) = tokens.next() {
        let rest = tokens.as_slice();
        if is_test_module(token.text.as_str(), rest.iter().map(|token| token.text.as_str())) {
            let mut depth = 0;
            for inner in tokens.by_ref() {
                match inner.text.as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    ";" => {}
                    _ => continue,
                }
                if depth == 0 {
                    break;
                }
            }
        } else {
            lines.insert(token.line);
        }
    }
    lines.len()
}

/// Returns whether `#[cfg(test)]` followed by a module begins here.
fn is_test_module<'t>(first: &str, rest: impl Iterator<Item = &'t str>) -> bool {
    let rest: Vec<&str> = rest.take(7).collect();
    first == "#"
        && rest.starts_with(&["[", "cfg", "(", "test", ")", "]"])
        && matches!(rest.last(), Some(&("mod" | "pub")))
}

/// Returns the modules that a file declares for tests alone, each with its path from the root of the crate.
fn modules_of_tests(source: &Source) -> Vec<Vec<String>> {
    let texts: Vec<&str> = source.tokens.iter().map(|token| token.text.as_str()).collect();
    let begins = (0..texts.len()).filter(|&at| is_test_module(texts[at], texts[at + 1..].iter().copied()));
    let declared = begins.filter_map(|at| {
        let end = (at + 8..texts.len()).find(|&end| [";", "{"].contains(&texts[end]))?;
        (texts[end] == ";").then(|| [source.module(), vec![texts[end - 1].to_owned()]].concat())
    });
    declared.collect()
}

fn lines_of_assembly() -> usize {
    let mut count = 0;
    let mut pending = vec![workspace().join("asm")];
    while let Some(path) = pending.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => pending.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let lines = text.lines().map(str::trim);
                count += lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '/', '*'])).count();
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let text = "//! Doc.\n\nfn f() {\n    1;\n}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\nfn h() {} // more\n\
                    #[cfg(test)]\npub mod fake;\n";
        let source = Source::new("bin/src/a/mod.rs".into(), text.into());
        assert_eq!(lines_of(&source), 4);
        assert_eq!(modules_of_tests(&source), [["a", "fake"]]);
    }

    #[test]
    fn every_folder_has_lines() {
        let lines = lines();
        assert!(lines.len() > 10 && lines.values().all(|count| *count > 50), "{lines:?}");
    }
}
