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
use crate::analysis::samples::Sample;
use crate::args::Escaped;
use crate::error::{Failure, UsageError};
use crate::store::Store;
use crate::sys::file;

/// A result of thousands of points has a few megabytes; more is something else.
const LARGEST_FILE: Bytes = Bytes(16 << 20);
/// The most rows of a result.
const MAX_ROWS: usize = 4096;
/// A working set beyond 2^50 bytes is none.
const LARGEST_SIZE: f64 = 1_125_899_906_842_624.0;

/// One measured point of a saved result.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The initiator and target nodes.
    pub pair: Option<(u32, u32)>,
    /// Size, stride and latency.
    pub sample: Sample,
    /// Everything else that tells it from other points: order, kernel, pages, lanes.
    pub name: Text<64>,
}

impl Row {
    const EMPTY: Row = Row { pair: None, sample: Sample::EMPTY, name: Text::EMPTY };

    /// Whether both are the same point of two results. What one does not tell may be as the other says.
    #[must_use]
    pub fn is_same_point(&self, other: &Row) -> bool {
        let (one, two) = (&self.sample, &other.sample);
        (one.size, one.stride) == (two.size, two.stride)
            && (self.pair.is_none() || other.pair.is_none() || self.pair == other.pair)
            && self.is_alike(other)
    }

    /// Whether both are points of one kind, whatever their sizes.
    #[must_use]
    pub fn is_alike(&self, other: &Row) -> bool {
        let unknown = self.name.is_empty() || other.name.is_empty();
        unknown || self.name.as_str() == other.name.as_str()
    }

    /// Adds a word to the name; one that does not fit any more is left out.
    fn describe(&mut self, word: core::fmt::Arguments<'_>) {
        let separator = if self.name.is_empty() { "" } else { " " };
        // A text takes a word whole or not at all.
        let _ = write!(self.name, "{separator}{word}");
    }
}

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
    rows: Store<Row>,
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
    /// [`UsageError::Unreadable`] and [`UsageError::Malformed`]; that of mapping the table of rows.
    pub fn load(path: &[u8]) -> Result<Saved, Failure<'_>> {
        let unreadable = |errno| UsageError::Unreadable { path, errno };
        let contents = file::load(path, LARGEST_FILE).map_err(unreadable)?;
        Saved::parse(&contents, Store::filled(MAX_ROWS, Row::EMPTY)?)
            .map_err(|Problem { line, what }| UsageError::Malformed { path, line, what }.into())
    }

    /// Understands the text of a result, whose rows go to `rows`.
    fn parse(text: &[u8], rows: Store<Row>) -> Result<Saved, Problem> {
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
