//! A strict reader of TAP: a plan first, points in order, blocks of YAML, and nothing else.
//!
//! # References
//!
//! testanything.org, "TAP version 13" and "TAP version 14". Perl's `prove` accepts a part of YAML: a member and its value
//! on one line. The values here are JSON, which is YAML.

use serde_json::{Map, Value};

/// A test point.
#[derive(Clone, Debug)]
pub struct Point {
    /// True for `ok`.
    pub ok: bool,
    /// The description.
    pub name: String,
    /// The reason of a point that was skipped.
    pub skipped: Option<String>,
    /// The values.
    pub values: Map<String, Value>,
}

/// Returns the points of a text.
///
/// # Errors
///
/// The first line that violates the format, with the reason.
pub fn read(text: &str) -> Result<Vec<Point>, String> {
    let text = text.strip_suffix('\n').ok_or("the last line has no end")?;
    let mut lines = text.split('\n').peekable();
    if lines.next() != Some("TAP version 13") {
        return Err("no version".into());
    }
    let plan = lines.next().and_then(|line| line.strip_prefix("1..")).ok_or("no plan")?;
    let count = plan.split_once(" # SKIP ").map_or(plan, |(count, _)| count);
    let count: usize = count.parse().map_err(|_| format!("plan: {plan}"))?;
    let mut points: Vec<Point> = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("# ") {
            continue;
        }
        let (ok, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Err(format!("neither a point nor a comment: {line}")),
        };
        let rest = rest.strip_prefix(&format!("{} - ", points.len() + 1)).ok_or(format!("number: {line}"))?;
        let (name, directive) = split(rest);
        let skipped = directive.map(|words| words.strip_prefix("SKIP ").ok_or(format!("directive: {line}")));
        let skipped = skipped.transpose()?.map(Into::into);
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || name.trim() != name {
            return Err(format!("name: {line}"));
        }
        if points.iter().any(|point| point.name == name) {
            return Err(format!("a second point of the same name: {line}"));
        }
        let mut values = Map::new();
        if lines.next_if_eq(&"  ---").is_some() {
            loop {
                let line = lines.next().ok_or(format!("no end of the values of {name}"))?;
                if line == "  ..." {
                    break;
                }
                let (key, value) = member(line).ok_or(format!("within the values of {name}: {line}"))?;
                if values.insert(key.into(), value).is_some() {
                    return Err(format!("a second {key} of {name}"));
                }
            }
        }
        points.push(Point { ok, name, skipped, values });
    }
    match points.len() == count {
        true => Ok(points),
        false => Err(format!("{} points, planned {count}", points.len())),
    }
}

/// Returns the member on a line: two blanks, a key, and a value.
fn member(line: &str) -> Option<(&str, Value)> {
    let (key, value) = line.strip_prefix("  ")?.split_once(": ")?;
    let is_key = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let value = serde_json::from_str(value).ok()?;
    (key.bytes().all(is_key) && !key.is_empty()).then_some((key, value))
}

/// Returns a description without its escapes, and the directive behind it.
fn split(text: &str) -> (String, Option<&str>) {
    let (mut name, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            '#' => return (name.trim_end().into(), Some(text[at + 1..].trim_start())),
            character => name.push(character),
        }
    }
    (name, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_its_name_its_verdict_and_its_values() {
        let text =
            "TAP version 13\n1..2\n# words\nok 1 - a\\#1 # SKIP no\nnot ok 2 - b\n  ---\n  ns: 1.5\n  ...\n";
        let [one, other] = &read(text).unwrap()[..] else { panic!() };
        assert_eq!((one.ok, one.name.as_str(), one.skipped.as_deref()), (true, "a#1", Some("no")));
        assert_eq!((other.ok, other.values["ns"].as_f64()), (false, Some(1.5)));
    }

    #[test]
    fn each_fault_is_found() {
        for (text, fault) in [
            ("", "no end"),
            ("ok 1 - a\n", "no version"),
            ("TAP version 13\nok 1 - a\n", "no plan"),
            ("TAP version 13\n1..2\nok 1 - a\n", "planned 2"),
            ("TAP version 13\n1..1\nok 2 - a\n", "number"),
            ("TAP version 13\n1..1\nok 1 - a # LATER\n", "directive"),
            ("TAP version 13\n1..2\nok 1 - a\nok 2 - a\n", "same name"),
            ("TAP version 13\n1..1\nok 1 - a\nwords\n", "neither"),
            ("TAP version 13\n1..1\nok 1 - a\n  ---\n  b: 1\n", "no end"),
            ("TAP version 13\n1..1\nok 1 - a\n  ---\n  b: [\n  ...\n", "within"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(fault), "{text}: {found}");
        }
    }
}
