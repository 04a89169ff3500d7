//! Rust sources as tokens, so that rules of the architecture can be tested.
//!
//! It recognises comments, literals and paths, and nothing else of the language: enough to distinguish an import from a
//! word in a sentence.

use crate::program::workspace;
use std::fs;

/// One word, number or character of punctuation; `::` is one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The text. Literals are all `"`.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
}

/// One source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the root of the workspace, such as `bin/src/report/text.rs`.
    pub path: String,
    /// The text as it is.
    pub text: String,
    /// The tokens, without comments.
    pub tokens: Vec<Token>,
}

/// A path of modules as written or imported, with groups expanded and `crate`, `self` and `super` resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePath {
    /// The names; `*` for a glob. Paths in the file's own crate begin with `crate`.
    pub names: Vec<String>,
    /// The line, from 1.
    pub line: usize,
    /// The name that the file uses for it: the last one, or the one after `as`.
    pub known_as: String,
    /// True if a `use` names it.
    pub imported: bool,
    /// True if the `use` is a re-export: `pub use`.
    pub passed_on: bool,
    /// True if it is in a module `tests` within the file.
    pub in_tests: bool,
}

/// Returns all Rust files under `directory` (from the root of the workspace), sorted by path.
///
/// # Panics
///
/// If a file cannot be read.
pub fn sources(directory: &str) -> Vec<Source> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_string()];
    while let Some(at) = pending.pop() {
        let listing =
            fs::read_dir(workspace().join(&at)).unwrap_or_else(|error| panic!("cannot list {at}: {error}"));
        for entry in listing {
            let entry = entry.unwrap_or_else(|error| panic!("cannot list {at}: {error}"));
            let path = format!("{at}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                pending.push(path);
            } else if path.ends_with(".rs") {
                let text = fs::read_to_string(entry.path())
                    .unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
                found.push(Source::new(path, text));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

impl Source {
    /// Makes a source file from its path and text.
    pub fn new(path: String, text: String) -> Self {
        let tokens = tokens(&text);
        Source { path, text, tokens }
    }

    /// Returns the lines on which `word` is a token.
    pub fn lines_with(&self, word: &str) -> impl Iterator<Item = usize> + use<'_> {
        let word = word.to_string();
        self.tokens.iter().filter(move |token| token.text == word).map(|token| token.line)
    }

    /// Returns true if this is the program's start-up, which is a separate crate beside the library.
    pub fn is_start_up(&self) -> bool {
        self.path.ends_with("/src/main.rs") || self.path.ends_with("/src/rt.rs")
    }

    /// Returns all paths of two names or more, and all imported ones.
    pub fn paths(&self) -> Vec<ModulePath> {
        let mut found = Vec::new();
        // Modules within the file, with the depth of braces of each.
        let mut inside: Vec<(String, usize)> = Vec::new();
        let (mut depth, mut at) = (0, 0);
        while at < self.tokens.len() {
            let text = self.tokens[at].text.as_str();
            match text {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    inside.pop_if(|(_, outside)| *outside == depth);
                }
                "mod" if self.is(at + 2, "{") => inside.push((self.tokens[at + 1].text.clone(), depth)),
                _ => {}
            }
            let first = found.len();
            let anchored = at == 0 || self.tokens[at - 1].text != "::";
            let imported = at > 0 && self.tokens[at - 1].text == "use";
            let passed_on = imported && at > 1 && matches!(self.tokens[at - 2].text.as_str(), "pub" | ")");
            // A leading `::` only means that an external crate follows.
            let external = text == "::" && (at == 0 || !ends_path(&self.tokens[at - 1].text));
            at = if anchored && is_name(text) && (imported || self.is(at + 1, "::")) {
                self.collect(at, Vec::new(), &mut found)
            } else if external {
                self.collect(at + 1, Vec::new(), &mut found)
            } else {
                at + 1
            };
            for path in &mut found[first..] {
                (path.imported, path.passed_on) = (imported, passed_on);
                path.in_tests = inside.iter().any(|(name, _)| name == "tests");
                self.resolve(&mut path.names, &inside);
            }
        }
        found
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.text == text)
    }

    /// Reads one path, or the group at its end, from token `at`; returns the index behind it.
    fn collect(&self, mut at: usize, mut names: Vec<String>, found: &mut Vec<ModulePath>) -> usize {
        let mut alias = None;
        while let Some(token) = self.tokens.get(at) {
            if token.text == "{" {
                at += 1;
                while at < self.tokens.len() && !self.is(at, "}") {
                    let next = if self.is(at, ",") { at + 1 } else { self.collect(at, names.clone(), found) };
                    at = next.max(at + 1);
                }
                return at + 1;
            }
            if !is_name(&token.text) && token.text != "*" {
                break;
            }
            names.push(token.text.clone());
            at += 1;
            if !self.is(at, "::") {
                // `a as b` imports a.
                if self.is(at, "as") {
                    alias = self.tokens.get(at + 1).map(|token| token.text.clone());
                    at += 2;
                }
                break;
            }
            at += 1;
        }
        let line = self.tokens.get(at.saturating_sub(1)).map_or(0, |token| token.line);
        let own = names.iter().rev().find(|&name| name != "self").cloned();
        if let Some(known_as) = alias.or(own) {
            found.push(ModulePath {
                names,
                line,
                known_as,
                imported: false,
                passed_on: false,
                in_tests: false,
            });
        }
        at
    }

    /// Rewrites `self` and `super` at the start of a path to the path from `crate`.
    fn resolve(&self, names: &mut Vec<String>, inside: &[(String, usize)]) {
        let mut module = self.module();
        module.extend(inside.iter().map(|(name, _)| name.clone()));
        let relative = names.iter().take_while(|&name| name == "self" || name == "super").count();
        if relative == 0 {
            return;
        }
        for name in names.drain(..relative) {
            if name == "super" {
                module.pop();
            }
        }
        names.splice(..0, std::iter::once("crate".to_string()).chain(module));
    }

    /// Returns the module of this file, from the root of its crate.
    pub fn module(&self) -> Vec<String> {
        let inside = self.path.split_once("/src/").map_or(self.path.as_str(), |(_, inside)| inside);
        let mut names: Vec<String> =
            inside.trim_end_matches(".rs").split('/').map(|name| name.to_string()).collect();
        let last = names.last().map(String::as_str);
        if matches!(last, Some("mod" | "lib" | "main")) {
            names.pop();
        }
        names
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_') && text != "use"
}

fn ends_path(text: &str) -> bool {
    is_name(text) || text == ">"
}

/// Returns the tokens of a text, without comments.
pub fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while let Some(&first) = characters.get(at) {
        let rest = &characters[at..];
        let (length, kept) = match first {
            // Most characters are blanks of an indent.
            ' ' | '\n' => (rest.iter().take_while(|&&c| c == first).count(), None),
            '/' if rest.starts_with(&['/', '/']) => (rest.iter().take_while(|&&c| c != '\n').count(), None),
            '/' if rest.starts_with(&['/', '*']) => (block_comment(rest), None),
            '"' => (string(rest), Some("\"".to_string())),
            '\'' => character(rest),
            'b' | 'r' if raw_string(rest).is_some() => {
                (raw_string(rest).unwrap_or(1), Some("\"".to_string()))
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let length = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                (length, Some(rest[..length].iter().collect()))
            }
            ':' if rest.starts_with(&[':', ':']) => (2, Some("::".to_string())),
            _ if first.is_whitespace() => (1, None),
            _ => (1, Some(first.to_string())),
        };
        found.extend(kept.map(|text| Token { text, line }));
        line += rest[..length].iter().filter(|&&c| c == '\n').count();
        at += length;
    }
    found
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(&['/', '*']) {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with(&['*', '/']) {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Returns the length of a raw string literal (`r"…"`, `r#"…"#`, `br"…"`) at the start, if there is one.
fn raw_string(rest: &[char]) -> Option<usize> {
    let prefix = rest.iter().take_while(|&&c| c == 'b' || c == 'r').count();
    let hashes = rest[prefix..].iter().take_while(|&&c| c == '#').count();
    let open = prefix + hashes;
    if prefix == 0 || prefix > 2 || rest[prefix - 1] != 'r' || rest.get(open) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = rest[open + 1..].windows(close.len()).position(|window| window == close);
    Some(body.map_or(rest.len(), |length| open + 1 + length + close.len()))
}

/// Reads a character literal, or the tick of a lifetime.
fn character(rest: &[char]) -> (usize, Option<String>) {
    match rest.get(1..) {
        Some(['\\', tail @ ..]) => {
            let end = tail.iter().skip(1).position(|&c| c == '\'');
            (end.map_or(rest.len(), |end| end + 4), Some("\"".to_string()))
        }
        Some([_, '\'', ..]) => (3, Some("\"".to_string())),
        _ => (1, Some("'".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    fn paths(path: &str, text: &str) -> Vec<String> {
        let found = Source::new(path.into(), text.into()).paths();
        found.into_iter().map(|path| path.names.join("::")).collect()
    }

    #[test]
    fn comments_and_literals_are_skipped() {
        assert_eq!(words("a // unsafe\n/* x /* unsafe */ y */ b"), ["a", "b"]);
        assert_eq!(
            words(r##"f("unsafe \" x", r#"un"safe"#, b"z", br"w") g"##).join(" "),
            r#"f ( " , " , b " , " ) g"#
        );
        assert_eq!(words(r"'a' '\'' '\u{41}' &'a str"), ["\"", "\"", "\"", "&", "'", "a", "str"]);
        let lines: Vec<usize> = tokens("a\n\"x\ny\"\n/*\n*/ b").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 2, 5]);
    }

    #[test]
    fn imports_are_expanded() {
        let text = "use crate::{measure::{self, Trial}, plan as p, report::*}; use core::fmt;";
        assert_eq!(
            paths("bin/src/report/text.rs", text),
            ["crate::measure::self", "crate::measure::Trial", "crate::plan", "crate::report::*", "core::fmt"]
        );
        assert_eq!(
            paths("bin/src/x.rs", "use rustix; let a = ::rustix::io::Errno(1) + b.c;"),
            ["rustix", "rustix::io::Errno"]
        );
    }

    #[test]
    fn relative_paths_are_resolved() {
        assert_eq!(
            paths("bin/src/report/text.rs", "super::json::x(); self::y::z"),
            ["crate::report::json::x", "crate::report::text::y::z"]
        );
        assert_eq!(paths("bin/src/report/mod.rs", "use super::measure;"), ["crate::measure"]);
        assert_eq!(paths("bin/src/report.rs", "use super::sys::{a, b};"), ["crate::sys::a", "crate::sys::b"]);
        assert_eq!(paths("core/src/lib.rs", "use self::units::Bytes;"), ["crate::units::Bytes"]);
    }

    #[test]
    fn modules_within_a_file_are_resolved() {
        let text = "mod tests { use super::*; fn f() { use super::super::b; } } use super::c;";
        assert_eq!(paths("bin/src/a/d.rs", text), ["crate::a::d::*", "crate::a::b", "crate::a::c"]);
    }

    #[test]
    fn imports_know_their_names_and_whether_they_are_passed_on() {
        let text = "use crate::a::{self, b as c}; pub(super) use d::e; fn f() { g::h() }";
        let found = Source::new("bin/src/x.rs".into(), text.into()).paths();
        let found: Vec<_> =
            found.iter().map(|path| (path.known_as.as_str(), path.imported, path.passed_on)).collect();
        assert_eq!(found, [("a", true, false), ("c", true, false), ("e", true, true), ("h", false, false)]);
    }
}
