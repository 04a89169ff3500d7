//! Results that were saved: read back from JSON, from CSV, or from two columns of any other tool.
//!
//! A file may be anything: edited, cut short, huge or hostile. What is not
//! understood is refused with its line, and nothing is believed but numbers.

mod csv;
mod json;
mod rows;
#[cfg(test)]
mod tests;

use core::fmt::Write;

pub use rows::{Problem, Saved};

use latency_core::text::Text;
use latency_core::units::Bytes;

use crate::error::{Failure, SavedError};
use crate::result::row::Row;

use crate::options::tokens::Escaped;
use crate::sys::file;
use crate::sys::table::Table;

/// A result of thousands of points has a few megabytes; more is something else.
const LARGEST_FILE: Bytes = Bytes(16 << 20);
/// The most rows of a result.
const MAX_ROWS: usize = 4096;

impl Saved {
    /// Reads a result.
    ///
    /// # Errors
    ///
    /// [`SavedError::Unreadable`] and [`SavedError::Malformed`]; that of mapping the table of rows.
    pub fn load(path: &[u8]) -> Result<Saved, Failure<'_>> {
        let unreadable = |errno| SavedError::Unreadable { path, errno };
        let contents = file::load(path, LARGEST_FILE).map_err(unreadable)?;
        Saved::parse(&contents, Table::filled(MAX_ROWS, Row::EMPTY)?)
            .map_err(|Problem { line, what }| SavedError::Malformed { path, line, what }.into())
    }

    /// Understands the text of a result, whose rows go to `rows`.
    fn parse(text: &[u8], rows: Table<Row>) -> Result<Saved, Problem> {
        let mut saved = Saved::over(rows);
        // A byte-order mark, as some editors leave it.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        match text.trim_ascii_start().first() {
            None => return Err(Problem { line: 1, what: "the file is empty" }),
            Some(b'{') => json::read(text, &mut saved)?,
            Some(_) => csv::read(text, &mut saved)?,
        }
        if saved.rows().is_empty() {
            return Err(Problem { line: 1, what: "there is no measured point in it" });
        }
        Ok(saved)
    }
}

/// The name of a file as it may be shown: it cannot steer a terminal.
#[must_use]
pub fn shown(path: &[u8]) -> Text<256> {
    let mut text = Text::EMPTY;
    // What does not fit is left out, as a whole.
    let _ = write!(text, "{}", Escaped(path));
    text
}
