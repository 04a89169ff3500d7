//! The shape of a document, checked before it is read: its schema, the program that wrote it, and that no object has
//! two members of the same name.
//!
//! Only brackets, strings and colons are inspected, because results of thousands of hosts are checked. Syntax errors
//! are left to the reader of the document.

use latency_core::decimal;
use latency_core::json::MAX_DEPTH;
use latency_core::text::Text;

use super::rows::Problem;
use super::values::line_of;

/// Version of the schema of written documents, and the only version that can be read.
pub const SCHEMA: u32 = 2;

/// The defect of a result of schema 1, which has other names.
pub const OF_SCHEMA_1: &str =
    "schema 1 has other names and is no longer read; measure again with this version";

/// The name of the program in its documents.
pub const NAME: &str = "latency-bench";

/// Maximum number of members of all objects that are open at the same time; a result needs a tenth of it.
const MOST_MEMBERS: usize = 512;

/// Checks the shape of a document.
///
/// # Errors
///
/// Another schema than [`SCHEMA`], or one that is not a number, a document of another program, or two members of the same
/// name.
pub(super) fn check(document: &[u8]) -> Result<(), Problem> {
    let mut names: [&[u8]; MOST_MEMBERS] = [b""; MOST_MEMBERS];
    // The number of names before each open object or array.
    let mut starts = [0; MAX_DEPTH];
    let (mut at, mut depth, mut count) = (0, 0_usize, 0_usize);
    let (mut path, mut is_later, mut version) = ([&b""[..]; 2], false, Text::EMPTY);
    while let Some(&byte) = document.get(at) {
        let begin = at;
        at += 1;
        let problem = |what| Err(Problem::new(line_of(document, begin), what));
        match byte {
            b'{' | b'[' => {
                starts.iter_mut().skip(depth).take(1).for_each(|start| *start = count);
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                count = starts.get(depth).copied().unwrap_or(0);
            }
            b'"' => {
                let rest = document.get(at..).unwrap_or_default();
                let string = rest.get(..end_of_string(rest)).unwrap_or_default();
                let behind = rest.get(string.len() + 1..).unwrap_or_default().trim_ascii_start();
                at += string.len() + 1;
                let Some((b':', value)) = behind.split_first() else { continue };
                let first = depth.checked_sub(1).and_then(|depth| starts.get(depth)).copied().unwrap_or(0);
                if names.get(first..count).is_some_and(|others| others.contains(&string)) {
                    return problem("duplicate key in an object");
                }
                let Some(slot) = names.get_mut(count) else {
                    return problem("object with too many members");
                };
                *slot = string;
                count += 1;
                path.iter_mut().skip(depth.wrapping_sub(1)).take(1).for_each(|name| *name = string);
                let value = scalar(value.trim_ascii_start());
                match (depth, path) {
                    (1, [b"schema", _]) => match decimal::read(value) {
                        Some(schema) if schema < f64::from(SCHEMA) => return problem(OF_SCHEMA_1),
                        Some(schema) => is_later = schema > f64::from(SCHEMA),
                        None => return problem("schema is not a number"),
                    },
                    (2, [b"tool", b"version"]) => version = Text::from_bytes(value),
                    (2, [b"tool", b"name"]) if value != NAME.as_bytes() => {
                        return problem("not a document of latency-bench");
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    match is_later {
        true => Err(Problem { line: 1, what: "schema is newer than this version reads", version }),
        false => Ok(()),
    }
}

/// Returns the length of a string up to its closing quote.
fn end_of_string(text: &[u8]) -> usize {
    let mut escaped = false;
    let is_end = |byte: &u8| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    };
    text.iter().position(is_end).unwrap_or(text.len())
}

/// Returns the number, the word or the content of the string at the start of `text`.
fn scalar(text: &[u8]) -> &[u8] {
    let (text, end) = match text.split_first() {
        Some((b'"', inside)) => (inside, end_of_string(inside)),
        _ => (text, text.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(0)),
    };
    text.get(..end).unwrap_or_default().trim_ascii()
}
