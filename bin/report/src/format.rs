//! A format: its name, its files, its purpose, and the function that writes it.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::document::{Field, Level};
use super::shown::{Shown, TestPoint};
use super::terminal::Terminal;

/// A format that results can be written in.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The word behind `--format=`.
    pub name: &'static str,
    /// The extension of its files, without the dot.
    pub extension: &'static str,
    /// The purpose, which decides which results it can show.
    pub purpose: Purpose,
    /// Writes a result.
    pub write: fn(&mut dyn Write, &Style, &Shown) -> fmt::Result,
}

/// The way in which a result is shown.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The terminal, or the assumed one if the output goes to a file.
    pub terminal: Terminal,
    /// The level of detail.
    pub level: Level,
    /// The columns of tabular formats, group by group.
    pub columns: [&'static [Field]; 2],
    /// The function that returns the test points of a result.
    pub tests: fn(&Shown) -> Vec<TestPoint<'_>>,
}

/// The purpose of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reading in a terminal.
    Terminal,
    /// Reading elsewhere, or by programs.
    Document,
    /// A page that is complete in itself.
    Page,
    /// A picture: results without one leave it empty.
    Picture,
    /// Memory attributes, latencies or bandwidths of nodes: results without them leave it empty.
    Attributes,
    /// A verdict on each point, for programs that run tests: results without points leave it empty.
    Tests,
    /// Collection by a service that may run as another user. An old result is better for it than an incomplete new one.
    Metrics,
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl Format {
    /// Returns the format with this name.
    pub fn named(formats: &'static [Format], name: &[u8]) -> Option<&'static Format> {
        formats.iter().find(|format| format.name.as_bytes() == name)
    }

    /// Returns whether it shows only measured values, so that a plan cannot be written in it.
    pub const fn shows_values_alone(&self) -> bool {
        matches!(self.purpose, Purpose::Picture | Purpose::Attributes | Purpose::Tests | Purpose::Metrics)
    }

    /// Returns the extension of a file, without the dot. A dot at the beginning or the end of a name does not count.
    pub fn extension_of(path: &[u8]) -> Option<&[u8]> {
        let name = path.rsplit(|&byte| byte == b'/').next()?;
        let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
        name.get(dot + 1..).filter(|extension| !extension.is_empty())
    }

    /// Returns the format of an extension, in upper or lower case.
    pub fn of_extension(formats: &'static [Format], extension: &[u8]) -> Option<&'static Format> {
        formats.iter().find(|format| format.extension.as_bytes().eq_ignore_ascii_case(extension))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FORMATS;

    #[test]
    fn a_file_has_the_format_of_its_extension() {
        for (path, extension, name) in [
            (&b"a.json"[..], Some(&b"json"[..]), Some("json")),
            (b"/x.y/r.1.SVG", Some(b"SVG"), Some("svg")),
            (b"notes.txt", Some(b"txt"), Some("text")),
            (b"a.jsonx", Some(b"jsonx"), None),
            (b"a.json/b", None, None),
            (b"json", None, None),
            (b"a.", None, None),
            (b"/x/.json", None, None),
            (b"..", None, None),
            (b"", None, None),
        ] {
            let found = Format::extension_of(path);
            assert_eq!(found, extension, "{}", path.escape_ascii());
            let format = found.and_then(|extension| Format::of_extension(&FORMATS, extension));
            assert_eq!(format.map(|format| format.name), name, "{}", path.escape_ascii());
        }
    }
}
