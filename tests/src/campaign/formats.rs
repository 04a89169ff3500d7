//! The rules of each format: the needs of its readers, and no character that steers a terminal.

use super::{
    CONTROL, EMPTY, Finding, MALFORMED, NULL, NUMBER, PLURAL, SCHEMA, STEERING, WIDE, WIDE_TABLE, markup,
};
use crate::schema::{of_results, violations};
use crate::{prometheus, tap};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Maximum columns of text.
const COLUMNS: usize = 80;

/// Minimum length of a word that cannot be broken: a line with one may be wider.
const UNBREAKABLE: usize = 60;

/// Digits of a number that makes no sense: the age of the universe in nanoseconds has 27, and no result needs
/// more digits than 2^64.
const ABSURD: usize = 21;

/// The checks of an output beyond its syntax.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judged {
    /// True to limit the width of lines: only if the input contains no names of its own.
    pub width: bool,
    /// True to limit the digits of numbers: only if the input's numbers are sensible.
    pub numbers: bool,
}

/// Returns everything that is wrong with a result in `format`.
pub fn check(format: &str, text: &str, judged: Judged) -> Vec<Finding> {
    let mut found = Vec::new();
    if text.trim().is_empty() {
        found.push(Finding::new(EMPTY, format!("nothing at all as {format}")));
        return found;
    }
    let class = if ["json", "jsonl"].contains(&format) { STEERING } else { CONTROL };
    found.extend(control(text).map(|what| Finding::new(class, what)));
    let malformed = |result: Result<(), String>| result.err().map(|why| Finding::new(MALFORMED, why));
    match format {
        "json" => found.extend(json(text)),
        "jsonl" => found.extend(text.lines().filter_map(json)),
        "csv" => found.extend(malformed(csv(text))),
        "md" => found.extend(malformed(markdown(text))),
        "svg" => found.extend(malformed(markup::check(text, false))),
        "html" => found.extend(malformed(markup::check(text, true))),
        "prometheus" => found.extend(malformed(prometheus::read(text).map(drop))),
        "tap" => found.extend(malformed(tap::read(text).map(drop))),
        "hwloc" => found.extend(malformed(shell(text))),
        _ => {}
    }
    if ["text", "md", "html"].contains(&format) && judged.numbers {
        found.extend(plural_of_one(text).map(|line| Finding::new(PLURAL, line)));
    }
    if format == "text" && judged.width {
        found.extend(wide(text, false).map(|line| Finding::new(WIDE, line)));
        found.extend(wide(text, true).map(|line| Finding::new(WIDE_TABLE, line)));
    }
    if judged.numbers {
        found.extend(absurd(text).map(|number| Finding::new(NUMBER, number)));
    }
    found
}

/// Returns the first character that steers a terminal or reverses the direction of writing, with its line.
pub fn control(text: &str) -> Option<String> {
    let steers = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
    };
    let line = text.split('\n').find(|line| line.contains(steers))?;
    Some(format!("{:?}", line.chars().take(200).collect::<String>()))
}

/// Returns the text without the sequences that set a colour.
pub fn without_colour(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or("").to_string();
    for part in parts {
        let end =
            part.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|&end| part[end..].starts_with('m'));
        match end {
            Some(end) => plain.push_str(&part[end + 1..]),
            None => plain.extend(["\u{1b}[", part]),
        }
    }
    plain
}

fn json(text: &str) -> Option<Finding> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => return Some(Finding::new(MALFORMED, format!("no JSON: {error}"))),
    };
    let broken = violations(of_results(), &document);
    let first = broken.first()?;
    let class = if first.contains(": null is not of type") { NULL } else { SCHEMA };
    Some(Finding::new(class, first.chars().take(500).collect()))
}

/// Checks that every row has as many fields as the heading.
fn csv(text: &str) -> Result<(), String> {
    let mut columns = None;
    for row in rows(text)? {
        let expected = *columns.get_or_insert(row.len());
        if row.len() != expected {
            return Err(format!("{} fields below {expected} headings: {row:?}", row.len()));
        }
    }
    Ok(())
}

/// Returns the rows of a CSV text (RFC 4180): quotes may hold commas, quotes and ends of lines.
fn rows(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quoted, character) {
            (true, '"') if characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            (true, '"') => quoted = false,
            (false, '"') if field.is_empty() => quoted = true,
            (false, '"') => return Err(format!("a quote within {field:?}")),
            (false, ',') => row.push(std::mem::take(&mut field)),
            (false, '\n') => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (_, character) => field.push(character),
        }
    }
    match quoted || !row.is_empty() || !field.is_empty() {
        true => Err("the last row has no end".into()),
        false => Ok(rows),
    }
}

/// Checks that the rows of each table have as many cells as its heading.
fn markdown(text: &str) -> Result<(), String> {
    let mut columns = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let cells = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        if *columns.get_or_insert(cells) != cells {
            return Err(format!("a row of another number of cells: {line}"));
        }
    }
    Ok(())
}

/// Checks that a shell can read a script, without running it.
fn shell(text: &str) -> Result<(), String> {
    let mut child = Command::new("sh")
        .arg("-n")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("sh: {error}"))?;
    // A shell that stops at an error does not read the rest of its input.
    let _ = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("sh: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Returns the first row of a table, or the first other line, that is too wide although it has no long word.
fn wide(text: &str, of_a_table: bool) -> Option<String> {
    let too_wide = |line: &&str| {
        let is_row = line.trim().contains("  ");
        let breakable = line.split(' ').all(|word| word.chars().count() < UNBREAKABLE);
        line.chars().count() > COLUMNS && breakable && is_row == of_a_table
    };
    text.lines().find(too_wide).map(|line| format!("{} columns: {line}", line.chars().count()))
}

/// Words that follow a number of things; one of them has no plural.
const PLURALS: [&str; 14] = [
    "CPUs", "chains", "cores", "files", "hosts", "levels", "lines", "nodes", "pairs", "points", "results",
    "rounds", "rows", "trials",
];

/// Returns the first plural of one thing.
fn plural_of_one(text: &str) -> Option<String> {
    let is_one = |words: &[&str]| {
        words[0] == "1" && PLURALS.contains(&words[1].trim_end_matches([',', '.', ';', ':', ')']))
    };
    let line = text.lines().find(|line| line.split(' ').collect::<Vec<_>>().windows(2).any(is_one))?;
    Some(line.chars().take(200).collect())
}

/// Returns the first number with absurdly many digits, or a number in place of a missing one.
fn absurd(text: &str) -> Option<String> {
    const NONE: [&str; 3] = ["NaN", "inf", "4294967295"];
    if let Some(word) = text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| NONE.contains(word)) {
        return Some(word.into());
    }
    let number = |word: &&str| word.len() >= ABSURD && word.bytes().all(|byte| byte.is_ascii_digit());
    let word = text.split(|c: char| !c.is_ascii_alphanumeric()).find(number)?;
    Some(format!("{} digits: {word:.40}", word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(format: &str, text: &str) -> Vec<&'static str> {
        let judged = Judged { width: true, numbers: true };
        check(format, text, judged).into_iter().map(|finding| finding.class).collect()
    }

    #[test]
    fn a_good_result_has_no_finding() {
        assert_eq!(classes("csv", "a,b\n1,\"x,\"\"y\"\"\n\"\n"), [""; 0]);
        assert_eq!(classes("md", "| a | b |\n| - | - |\n| x\\|y | 2 |\n\n| c |\n| - |\n"), [""; 0]);
        assert_eq!(classes("text", &format!("{}\n", "word ".repeat(16))), [""; 0]);
        assert_eq!(classes("text", &format!("{} a b\n", "x".repeat(90))), [""; 0]);
        assert_eq!(classes("hwloc", "#!/bin/sh\necho 1\n"), [""; 0]);
    }

    #[test]
    fn each_rule_finds_its_fault() {
        assert_eq!(classes("text", ""), [EMPTY]);
        assert_eq!(classes("text", "a\u{1b}[2J\n"), [CONTROL]);
        assert_eq!(classes("text", "a\u{202e}b\n"), [CONTROL]);
        assert_eq!(classes("text", &"word ".repeat(20)), [WIDE]);
        assert_eq!(classes("text", &"word  ".repeat(20)), [WIDE_TABLE]);
        assert_eq!(classes("text", "from 5508065166397374374439757.0 % on\n"), [NUMBER]);
        assert_eq!(classes("text", "on CPU 4294967295, idle\n"), [NUMBER]);
        assert_eq!(classes("text", "A: a.json, 1 points\n"), [PLURAL]);
        assert_eq!(classes("csv", "a,b\n1\n"), [MALFORMED]);
        assert_eq!(classes("csv", "a,b\n1,2"), [MALFORMED]);
        assert_eq!(classes("md", "| a | b |\n| 1 |\n"), [MALFORMED]);
        assert_eq!(classes("json", "{"), [MALFORMED]);
        assert_eq!(classes("json", "{}"), [SCHEMA]);
        assert_eq!(classes("hwloc", "if\n"), [MALFORMED]);
        assert_eq!(classes("prometheus", "a 1\n"), [MALFORMED]);
        assert_eq!(classes("tap", "ok 1 - a\n"), [MALFORMED]);
    }

    #[test]
    fn only_colours_are_removed() {
        assert_eq!(without_colour("\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J"), "red \u{1b}[2J");
    }
}
