//! Results that were saved: read back from JSON, from CSV, or from two columns of any other tool.
//!
//! A file may be anything: edited, cut short, huge or hostile. What is not
//! understood is refused with its line, and nothing is believed but numbers.

mod csv;
mod json;
#[cfg(test)]
mod tests;

use core::fmt::Write;

use latency_core::text::Text;
use latency_core::units::Bytes;

use crate::analysis::claims::Claims;
use crate::error::{Failure, SavedError};
use crate::result::row::Row;

use crate::options::tokens::Escaped;
use crate::result::sample::Sample;
use crate::sys::file;
use crate::sys::table::Table;

/// A result of thousands of points has a few megabytes; more is something else.
const LARGEST_FILE: Bytes = Bytes(16 << 20);
/// The most rows of a result.
const MAX_ROWS: usize = 4096;
/// A working set beyond 2^50 bytes is none.
const LARGEST_SIZE: f64 = 1_125_899_906_842_624.0;

/// What is wrong with a file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub what: &'static str,
}

/// A saved result.
#[derive(Debug)]
pub struct Saved {
    rows: Table<Row>,
    count: usize,
    /// The caches of the machine that it is from, if the file tells.
    pub claims: Claims,
    /// The experiment that it is of; empty where the file does not tell.
    pub experiment: Text<32>,
}

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
        let mut saved = Saved { rows, count: 0, claims: Claims::default(), experiment: Text::EMPTY };
        // A byte-order mark, as some editors leave it.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        match text.trim_ascii_start().first() {
            None => return Err(Problem { line: 1, what: "the file is empty" }),
            Some(b'{') => json::read(text, &mut saved)?,
            Some(_) => csv::read(text, &mut saved)?,
        }
        if saved.count == 0 {
            return Err(Problem { line: 1, what: "there is no measured point in it" });
        }
        Ok(saved)
    }

    /// The points, in the order of the file.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        self.rows.get(..self.count).unwrap_or_default()
    }

    /// The points of a curve.
    pub fn samples(&self) -> impl Iterator<Item = Sample> + Clone + '_ {
        self.rows().iter().map(|row| row.sample).filter(|sample| sample.size.0 > 0)
    }

    /// Adds a row that has a latency; one without is a point that was not measured.
    fn push(&mut self, row: Row) -> Result<(), &'static str> {
        if row.sample.nanoseconds.is_nan() {
            return Ok(());
        }
        if !(1e-6..1e12).contains(&row.sample.nanoseconds) {
            return Err("a latency that is not a positive number of nanoseconds");
        }
        let slot = self.rows.get_mut(self.count).ok_or("more than 4096 points")?;
        *slot = row;
        self.count += 1;
        Ok(())
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

/// A number of bytes.
fn bytes(number: f64) -> Result<Bytes, &'static str> {
    if (1.0..=LARGEST_SIZE).contains(&number) {
        Ok(Bytes(number as u64))
    } else {
        Err("a size that is not a positive number of bytes")
    }
}

/// A small whole number, such as a node's.
fn whole(number: f64) -> Result<u32, &'static str> {
    let whole = number as u32;
    if f64::from(whole) == number {
        Ok(whole)
    } else {
        Err("a node that is not a whole number")
    }
}

/// The line of a byte, from 1.
fn line_of(text: &[u8], offset: usize) -> u32 {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32
}
