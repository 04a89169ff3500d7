//! The product code, without comments, blank lines and tests: its number of lines by folder, and its types.

use crate::program::workspace;
use crate::source::{Source, Token, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;

/// The sources of each package of the program.
pub const SOURCES: [&str; 5] = ["bin/engine/src", "bin/report/src", "bin/src", "bin/sys/src", "core/src"];

/// Returns the number of lines of product code in each folder of `bin/src`, in the other packages and in `asm`.
///
/// # Panics
///
/// If a source file cannot be read.
pub fn lines() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for root in SOURCES {
        for source in files(root) {
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

/// Returns the types declared in folders of sources, each with its places: `file:line`.
///
/// # Panics
///
/// If a source file cannot be read.
pub fn types(roots: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in roots.iter().flat_map(|root| files(root)) {
        for name in types_of(&source) {
            types.entry(name.text.clone()).or_default().push(format!("{}:{}", source.path, name.line));
        }
    }
    types
}

/// Returns the Rust files under `root` (from the root of the workspace) that do not belong to modules of tests.
///
/// # Panics
///
/// If a file cannot be read.
pub fn files(root: &str) -> Vec<Source> {
    let all = sources(root);
    let tests: Vec<Vec<String>> = all.iter().flat_map(modules_of_tests).collect();
    let is_test = |source: &Source| {
        source.path.ends_with("tests.rs")
            || source.path.contains("/tests/")
            || tests.iter().any(|test| source.module().starts_with(test))
    };
    all.into_iter().filter(|source| !is_test(source)).collect()
}

/// Returns the lines of a file with their numbers from 1, comments included, without its modules of tests.
pub fn text_of(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let tests: Vec<_> = test_modules(source).collect();
    let lines =
        tests.into_iter().map(|tokens| source.tokens[tokens.start].line..=source.tokens[tokens.end - 1].line);
    let lines: Vec<_> = lines.collect();
    let numbered = source.text.lines().enumerate().map(|(index, line)| (index + 1, line));
    numbered.filter(move |(number, _)| !lines.iter().any(|test| test.contains(number)))
}

/// Returns the number of lines with code in a file, without its modules of tests.
fn lines_of(source: &Source) -> usize {
    tokens_of(source).iter().map(|token| token.line).collect::<BTreeSet<_>>().len()
}

/// Returns the names of the types that a file declares, without its modules of tests. Associated types of traits are
/// left out, because the trait determines their names.
fn types_of(source: &Source) -> Vec<&Token> {
    let tokens = tokens_of(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    // For each open brace: true if it begins a trait or an implementation.
    let (mut open, mut of_trait) = (Vec::new(), false);
    for at in 0..tokens.len() {
        // Other occurrences of `impl` are types of arguments and results.
        let begins = at == 0 || ["{", "}", ";", "]", ")", "pub", "unsafe"].contains(&text(at - 1));
        let names_type = text(at + 1).starts_with(char::is_uppercase);
        match text(at) {
            "{" => open.push(std::mem::take(&mut of_trait)),
            "}" => _ = open.pop(),
            "impl" if begins => of_trait = true,
            "type" if open.last() == Some(&true) => {}
            word @ ("struct" | "enum" | "trait" | "union" | "type") if begins && names_type => {
                found.push(tokens[at + 1]);
                of_trait = word == "trait";
            }
            _ => {}
        }
    }
    found
}

/// Returns the tokens of a file, without its modules of tests.
fn tokens_of(source: &Source) -> Vec<&Token> {
    let tests: Vec<Range<usize>> = test_modules(source).collect();
    let tokens = source.tokens.iter().enumerate();
    tokens.filter(|(at, _)| !tests.iter().any(|test| test.contains(at))).map(|(_, token)| token).collect()
}

/// Returns the indices of the tokens of each module of tests in a file, or of its declaration.
fn test_modules(source: &Source) -> impl Iterator<Item = Range<usize>> {
    let texts: Vec<&str> = source.tokens.iter().map(|token| token.text.as_str()).collect();
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin =
            (at..texts.len()).find(|&at| is_test_module(texts[at], texts[at + 1..].iter().copied()))?;
        let mut depth = 0;
        let ends = |&end: &usize| {
            match texts[end] {
                "{" => depth += 1,
                "}" => depth -= 1,
                ";" => {}
                _ => return false,
            }
            depth == 0
        };
        at = (begin..texts.len()).find(ends).map_or(texts.len(), |end| end + 1);
        Some(begin..at)
    })
}

/// Returns true if `#[cfg(test)]` with a module after it begins here.
fn is_test_module<'t>(first: &str, rest: impl Iterator<Item = &'t str>) -> bool {
    let rest: Vec<&str> = rest.take(7).collect();
    first == "#"
        && rest.starts_with(&["[", "cfg", "(", "test", ")", "]"])
        && matches!(rest.last(), Some(&("mod" | "pub")))
}

/// Returns the modules that a file declares only for tests, each with its path from the root of the crate.
pub fn modules_of_tests(source: &Source) -> Vec<Vec<String>> {
    let texts: Vec<&str> = source.tokens.iter().map(|token| token.text.as_str()).collect();
    let begins = (0..texts.len()).filter(|&at| is_test_module(texts[at], texts[at + 1..].iter().copied()));
    let declared = begins.filter_map(|at| {
        let end = (at + 8..texts.len()).find(|&end| [";", "{"].contains(&texts[end]))?;
        (texts[end - 2..=end] == ["mod", texts[end - 1], ";"])
            .then(|| [source.module(), vec![texts[end - 1].to_owned()]].concat())
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
                    #[cfg(test)]\npub mod fake;\n#[cfg(test)]\npub use fake::Fake;\n";
        let source = Source::new("bin/src/a/mod.rs".into(), text.into());
        assert_eq!(lines_of(&source), 4);
        assert_eq!(modules_of_tests(&source), [["a", "fake"]]);
    }

    #[test]
    fn types_are_those_outside_of_traits_and_tests() {
        let text = "pub struct A<T>(T);\nimpl<T> Iterator for A<T> { type Item = T; }\npub(super) unsafe trait B { type C; }\n\
                    #[repr(C)]\nenum D { E }\nfn f(_: impl B) -> impl B { struct G; type H = G; union.type_of() }\n\
                    #[cfg(test)]\nmod tests {\n    struct I;\n}\ntype J = A<u8>;\n";
        let source = Source::new("bin/src/a/mod.rs".into(), text.into());
        let names: Vec<&str> = types_of(&source).iter().map(|name| name.text.as_str()).collect();
        assert_eq!(names, ["A", "B", "D", "G", "H", "J"]);
    }

    #[test]
    fn every_folder_has_lines() {
        let lines = lines();
        assert!(lines.len() > 10 && lines.values().all(|count| *count > 50), "{lines:?}");
    }
}
