//! Saved results: unchanged, altered at random, of a later schema, and with an interval that contradicts its
//! value.

use super::case::{tail, words};
use super::formats::Judged;
use super::json::{Kind, Place, places};
use super::random::Random;
use super::{AGAIN, CONTRADICTION, Case, LATER};
use crate::program::workspace;
use serde_json::Value;
use std::fs;

/// Strings that steer a terminal, end a field, or run in a page.
const PAYLOADS: [&str; 16] = [
    "m\\u001b]0;pwned\\u0007\\u001b[2J<script>alert(1)</script>",
    "\\u009b2J\\u0085",
    "a\\u202eb\\u2066c",
    "\\u001f\\u001e\\u001c",
    "\\n\\r\\t\\b\\f",
    "\\u0000",
    "\\u007f",
    "\u{9b}2J\u{202e}",
    "\\ud800",
    "\\ufeff",
    "\\\"><img src=x onerror=alert(1)>",
    "'; --",
    "a|b|c",
    "",
    "=HYPERLINK(\\\"http://x\\\")",
    "{{}} %s %n ${x}",
];

/// Replacements for numbers.
const NUMBERS: [&str; 14] = [
    "null",
    "-1",
    "0",
    "-0.0",
    "1e308",
    "1e-308",
    "5e-324",
    "1e999",
    "99999999999999999999",
    "\"12\"",
    "true",
    "[]",
    "{}",
    "0.1",
];

/// The commands that read saved results.
const COMMANDS: [&str; 6] = ["report", "compare", "fleet", "fit", "show", "expect"];

/// The saved results of the repository.
pub struct Corpus {
    /// Every file with its name: the goldens and the fixtures.
    pub files: Vec<(String, String)>,
    /// A curve as CSV.
    pub curve: String,
    /// A matrix as JSON.
    pub matrix: String,
    /// Results of many hosts.
    pub fleet: String,
}

impl Corpus {
    /// Reads the corpus.
    ///
    /// # Panics
    ///
    /// If a file cannot be read.
    pub fn read() -> Self {
        let mut files = Vec::new();
        for directory in ["tests/fixtures/saved", "tests/golden"] {
            let listed = fs::read_dir(workspace().join(directory)).expect("a directory");
            for entry in listed {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let saved = directory.contains("saved") && path.is_file();
                if saved || [".json", ".csv"].iter().any(|extension| name.ends_with(extension)) {
                    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
                    files.push((format!("{directory}/{name}"), text));
                }
            }
        }
        files.sort();
        assert!(files.len() > 110, "{} saved results", files.len());
        let of =
            |name: &str| files.iter().find(|(path, _)| path.ends_with(name)).expect("a fixture").1.clone();
        Corpus {
            curve: of("saved/curve.csv"),
            matrix: of("saved/matrix-a.json"),
            fleet: of("saved/nodes.jsonl"),
            files,
        }
    }
}

/// Returns a command over `file`, with a second file if it takes two.
fn command(name: &str, file: &str, other: &str, random: &mut Random) -> Vec<String> {
    let mut words = vec![name, file];
    if name == "compare" {
        words = if random.one_in(2) { vec![name, file, other] } else { vec![name, other, file] };
    }
    words.into_iter().map(String::from).collect()
}

/// Returns the possible exit statuses of a command over arbitrary files.
fn statuses(name: &str) -> &'static [i32] {
    match name {
        "compare" | "fleet" => &[0, 1, 5, 6],
        _ => &[0, 1],
    }
}

/// Reads an unchanged saved result, by each command, as JSON, as text and in a third format.
pub fn whole(case: &mut Case<'_>) {
    let files = &case.surroundings.corpus.files;
    let index = case.index as usize;
    let (name, content) = &files[index / COMMANDS.len() % files.len()];
    let chosen = COMMANDS[index % COMMANDS.len()];
    let file = format!("a.{}", name.rsplit('.').next().unwrap_or("json"));
    case.write(&file, content);
    let mut arguments = command(chosen, &file, &file, &mut case.random);
    let formats = &case.surroundings.help.of(chosen).formats;
    let other = format!("--format={}", case.random.pick(formats));
    for format in ["--json", "--format=text", &other] {
        arguments.push(format.into());
        let before = case.findings.len();
        let found = case.judged(&arguments, statuses(chosen), Judged { width: true, numbers: true });
        if let Some((0, run)) = found.filter(|_| format == "--json" && ["show", "report"].contains(&chosen)) {
            read_again(case, &run.stdout);
        }
        for finding in &mut case.findings[before..] {
            finding.seen.push_str(&format!("\n      the file is {name}"));
        }
        arguments.pop();
    }
}

/// Reads what a command wrote of saved results: it has the same points.
fn read_again(case: &mut Case<'_>, text: &str) {
    case.write("own.json", text);
    let count = |text: &str| {
        serde_json::from_str(text).ok().and_then(|found: Value| found["rows"].as_array().map(Vec::len))
    };
    let arguments = words(&["show", "own.json", "--json"]);
    if let Some((status, run)) = case.judged(&arguments, &[0, 1], Judged { width: false, numbers: true })
        && (status != 0 || count(&run.stdout) != count(text))
    {
        let seen = format!("{:?} points of {:?}: {}", count(&run.stdout), count(text), tail(&run.stderr));
        case.note(AGAIN, &arguments, &seen);
    }
}

/// Reads a result that was altered in one to three places.
pub fn altered(case: &mut Case<'_>) {
    let files = &case.surroundings.corpus.files;
    let random = &mut case.random;
    let (name, content) = random.pick(files);
    let mut text = content.clone();
    for _ in 0..=random.below(3) {
        text = match name.ends_with("json") {
            true => altered_json(&text, random),
            false => altered_table(&text, random),
        };
    }
    let chosen = *random.pick(&COMMANDS);
    let mut arguments = command(chosen, "a", "b", random);
    arguments.push(format!("--format={}", random.pick(&case.surroundings.help.of(chosen).formats)));
    if random.one_in(3) {
        arguments.push("--verbose".into());
    }
    let forced = chosen == "compare" || chosen == "fleet";
    if forced && random.one_in(2) {
        arguments.push("--force".into());
    }
    case.write("a", &text);
    case.write("b", content);
    let before = case.findings.len();
    case.judged(&arguments, statuses(chosen), Judged::default());
    for finding in &mut case.findings[before..] {
        finding.seen.push_str(&format!("\n      the file is {name}, {}", difference(content, &text)));
    }
}

/// Changes one place of a JSON text.
fn altered_json(text: &str, random: &mut Random) -> String {
    let places = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(_) => places(text),
        // Cut off the text, or make a list of documents.
        Err(_) => return altered_table(text, random),
    };
    // Values near the top are read by all commands, and there are thousands of numbers below.
    let named = random.below(3);
    let chosen: Vec<&Place> = match named {
        0 => places.iter().collect(),
        1 => places.iter().filter(|place| (1..=2).contains(&place.depth)).collect(),
        _ => places.iter().filter(|place| place.depth <= 2 && place.kind == Kind::Text).collect(),
    };
    let place = if chosen.is_empty() { random.pick(&places) } else { *random.pick(&chosen) };
    let mut altered = text.to_string();
    match random.below(8) + 2 * named {
        0 => {
            let rest = text[place.member.end..].trim_start();
            let end = text.len() - rest.strip_prefix(',').unwrap_or(rest).len();
            altered.replace_range(place.member.start..end, "");
        }
        1 => altered.insert_str(place.member.start, &format!("{},", &text[place.member.clone()])),
        2 => {
            let other = &random.pick(&places).value;
            altered.replace_range(place.value.clone(), &text[other.clone()]);
        }
        3 if random.one_in(4) => altered.truncate(floor(text, random.below(text.len()))),
        _ => match place.kind {
            Kind::Text | Kind::Many => {
                let payload = format!("\"{}\"", random.pick(&PAYLOADS));
                // A string, the name of a member, or one within a list.
                altered.replace_range(place.value.clone(), &payload);
            }
            Kind::Number | Kind::Word => {
                let number = *random.pick(&NUMBERS);
                altered.replace_range(place.value.clone(), number);
            }
        },
    }
    altered
}

/// Changes one field or line of a text in columns.
fn altered_table(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.split('\n').map(String::from).collect();
    let at = random.below(lines.len());
    match random.below(6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let length = floor(&lines[at], random.below(lines[at].len() + 1));
            lines[at].truncate(length);
        }
        _ => {
            let separator = if lines[at].contains(',') { ',' } else { ' ' };
            let mut fields: Vec<&str> = lines[at].split(separator).collect();
            // A table may contain the characters themselves.
            let payload: Option<String> =
                serde_json::from_str(&format!("\"{}\"", random.pick(&PAYLOADS))).ok();
            let payload = payload.unwrap_or_default().replace(['\n', '\r'], " ");
            let number = *random.pick(&NUMBERS);
            let field = random.below(fields.len());
            fields[field] = if random.one_in(2) { &payload } else { number };
            lines[at] = fields.join(&separator.to_string());
        }
    }
    lines.join("\n")
}

/// Returns the last character boundary that is not behind `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the texts around their first difference.
fn difference(before: &str, after: &str) -> String {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
    let from = floor(after, same.saturating_sub(30));
    let shown: String = after[from..].chars().take(110).collect();
    format!("from byte {same} on: {shown:?}")
}

/// Reads a result of a later schema, or one whose intervals contradict their values.
pub fn contradictory(case: &mut Case<'_>) {
    let later = case.random.one_in(2);
    let files = &case.surroundings.corpus.files;
    let chosen = if later { *case.random.pick(&COMMANDS) } else { "compare" };
    // Most commands reject most kinds of files: only files that are accepted unchanged count.
    for _ in 0..20 {
        let (name, content) = case.random.pick(files);
        let text = if later { of_a_later_schema(content) } else { with_other_intervals(name, content) };
        let Some(text) = text else { continue };
        let mut arguments = command(chosen, "b", "b", &mut case.random);
        case.write("a", &text);
        case.write("b", content);
        let taken = |run: &crate::run::Run| matches!(run.status.code(), Some(0 | 5));
        if !case.run(&arguments).is_some_and(|run| taken(&run)) {
            continue;
        }
        let at = if chosen == "compare" { 1 + case.random.below(2) } else { 1 };
        arguments[at] = "a".into();
        let Some((status, run)) = case.judged(&arguments, statuses(chosen), Judged::default()) else {
            return;
        };
        let seen = format!(
            "status {status}: {}{}\n{name}, {}",
            tail(&run.stdout),
            tail(&run.stderr),
            difference(content, &text)
        );
        if later && (status != 1 || !run.stderr.contains("schema")) {
            case.note(LATER, &arguments, &seen);
        } else if !later && status != 1 {
            case.note(CONTRADICTION, &arguments, &seen);
        }
        return;
    }
}

/// Returns the document with the number of a schema that does not exist yet; `None` if it has no number.
fn of_a_later_schema(text: &str) -> Option<String> {
    let altered = text.replace("\"schema\":1", "\"schema\":99").replace("\"schema\":2", "\"schema\":99");
    let has_other_parts = altered.matches("\"schema\":").count() > 1;
    (altered != text && !has_other_parts).then_some(altered)
}

/// Returns the file with each interval multiplied by ten and its value unchanged; `None` if it has no
/// interval.
fn with_other_intervals(name: &str, text: &str) -> Option<String> {
    let tenfold = |word: &str| word.trim().parse::<f64>().map(|number| (number * 10.0).to_string());
    let mut altered = text.to_string();
    // The levels of a fitted curve are not measured values, and are not read.
    if name.contains("/fit") {
        return None;
    }
    if name.ends_with(".json") {
        serde_json::from_str::<serde_json::Value>(text).ok()?;
        for place in places(text).iter().rev() {
            let value = &text[place.value.clone()];
            let found = match place.name.as_str() {
                "ns_low" | "ns_high" => tenfold(value).ok(),
                _ => None,
            };
            if let Some(found) = found {
                altered.replace_range(place.value.clone(), &found);
            }
        }
    } else if name.ends_with(".csv") {
        let headings: Vec<&str> = text.lines().next()?.split(',').collect();
        let is_bound =
            |index: usize| headings.get(index).is_some_and(|name| matches!(*name, "ns_low" | "ns_high"));
        let line = |line: &str| {
            let fields = line.split(',').enumerate();
            let fields = fields.map(|(index, field)| match (is_bound(index), tenfold(field)) {
                (true, Ok(bound)) => bound,
                _ => field.to_string(),
            });
            fields.collect::<Vec<_>>().join(",") + "\n"
        };
        altered = text.lines().map(line).collect();
    }
    (altered.trim_end() != text.trim_end()).then_some(altered)
}
