//! JSON as a tree, written in lines that people can compare.

use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Maximum width of a line before it is broken.
const WIDTH: usize = 110;

/// A value.
#[derive(Clone, PartialEq)]
pub enum Json {
    /// A text without any escape but quotes and backslashes.
    Text(String),
    /// A value that is written unchanged: numbers and flags.
    Bare(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Makes a text.
    pub fn text(text: &str) -> Json {
        Json::Text(text.into())
    }

    /// Makes a list of texts.
    pub fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Json {
        Json::List(texts.into_iter().map(Json::text).collect())
    }

    /// Makes an object.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
        Json::Object(members.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }

    /// Returns a member of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Writes the value on one line.
    pub fn line(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Json::Text(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Json::Bare(bare) => bare.clone(),
            Json::List(items) => format!("[{}]", joined(items.iter().map(Json::line).collect())),
            Json::Object(members) => {
                let member = |(key, value): &(String, Json)| format!("\"{key}\": {}", value.line());
                format!("{{{}}}", joined(members.iter().map(member).collect()))
            }
        }
    }

    /// Writes the value on several lines if one would be too long, at `depth` of indentation.
    pub fn lines(&self, depth: usize) -> String {
        let line = self.line();
        let parts: Box<dyn Iterator<Item = String>> = match self {
            _ if line.chars().count() + 2 * depth <= WIDTH => return line,
            Json::Text(_) | Json::Bare(_) => return line,
            Json::List(items) => Box::new(items.iter().map(|item| item.lines(depth + 1))),
            Json::Object(members) => {
                Box::new(members.iter().map(|(key, value)| format!("\"{key}\": {}", value.lines(depth + 1))))
            }
        };
        let (inside, outside) = ("  ".repeat(depth + 1), "  ".repeat(depth));
        let body: Vec<String> = parts.map(|part| format!("{inside}{part}")).collect();
        let (open, close) = if matches!(self, Json::List(_)) { ('[', ']') } else { ('{', '}') };
        format!("{open}\n{}\n{outside}{close}", body.join(",\n"))
    }
}
