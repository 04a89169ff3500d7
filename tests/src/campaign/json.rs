//! The values of a JSON text and their places in it, so that one can be changed while the rest stays
//! unchanged.
//!
//! It reads only valid JSON: the texts are from this repository.

use std::ops::Range;

/// The kinds of values that are changed in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string, quotes included.
    Text,
    /// A number.
    Number,
    /// `true`, `false` or `null`.
    Word,
    /// An object or an array.
    Many,
}

/// One value of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind of value.
    pub kind: Kind,
    /// The bytes of the value.
    pub value: Range<usize>,
    /// The bytes of the member, from its name to the end of its value; equal to `value` in an array.
    pub member: Range<usize>,
    /// The name of the member; empty in an array.
    pub name: String,
    /// The number of objects and arrays around it.
    pub depth: usize,
}

/// Returns all values of a valid text, each object and array behind its content.
pub fn places(text: &str) -> Vec<Place> {
    let mut reader = Reader { text, at: 0, depth: 0, found: Vec::new() };
    reader.value(None);
    reader.found
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    found: Vec<Place>,
}

impl Reader<'_> {
    /// Returns the next byte that is not space; zero at the end.
    fn peek(&mut self) -> u8 {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self, member: Option<(usize, &str)>) {
        let first = self.peek();
        let start = self.at;
        let kind = match first {
            b'"' => {
                self.string();
                Kind::Text
            }
            b'{' | b'[' => {
                self.many(first == b'{');
                Kind::Many
            }
            _ => {
                let rest = &self.text[start..];
                self.at += rest.find([',', '}', ']', ' ', '\n']).unwrap_or(rest.len());
                if first.is_ascii_digit() || first == b'-' { Kind::Number } else { Kind::Word }
            }
        };
        let (begin, name) = member.unwrap_or((start, ""));
        let (value, member) = (start..self.at, begin..self.at);
        self.found.push(Place { kind, value, member, name: name.into(), depth: self.depth });
    }

    fn string(&mut self) {
        self.at += 1;
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b'\\') => self.at += 2,
                Some(b'"') | None => break,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
    }

    fn many(&mut self, named: bool) {
        self.at += 1;
        self.depth += 1;
        while !matches!(self.peek(), b'}' | b']' | 0) {
            if named {
                let begin = self.at;
                self.string();
                let text = self.text;
                let name = &text[begin + 1..self.at - 1];
                assert_eq!(self.peek(), b':', "a name without a value");
                self.at += 1;
                self.value(Some((begin, name)));
            } else {
                self.value(None);
            }
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_found_with_its_name() {
        let text = r#"{"a": [1, -2.5e3], "b\"c": "x\\", "d":{"e":null}}"#;
        let found = places(text);
        let shown: Vec<(&str, &str, usize)> =
            found.iter().map(|place| (&*place.name, &text[place.value.clone()], place.depth)).collect();
        assert_eq!(
            shown,
            [
                ("", "1", 2),
                ("", "-2.5e3", 2),
                ("a", "[1, -2.5e3]", 1),
                ("b\\\"c", "\"x\\\\\"", 1),
                ("e", "null", 2),
                ("d", "{\"e\":null}", 1),
                ("", text, 0),
            ]
        );
        assert_eq!(found[3].member, 19..32);
        assert_eq!(found[4].kind, Kind::Word);
    }
}
