//! Many documents, one after the other: one on each line, or each over several lines, in one file or in many.
//!
//! A line that is not a document is counted and skipped. Nothing here depends on the content of a document; its reader
//! decides if it is complete.

use alloc::vec::Vec;
use core::cell::Cell;

use latency_core::Bytes;

use crate::error::{Failure, Problem, SavedError};
use crate::options::tokens::Escaped;
use latency_sys::{Errno, Table, file};

/// Maximum size of a file. A result of thousands of points has a few megabytes; a larger file is something else.
pub const LARGEST_FILE: Bytes = Bytes(16 << 20);

/// The defect of a file without a byte.
pub const EMPTY: Problem = Problem::new(1, "the file is empty");

/// The defect of a text in UTF-16.
const WIDE: Problem = Problem::new(
    1,
    "UTF-16 text, as > in PowerShell writes it; save it as UTF-8, with -o FILE or `| Out-File -Encoding utf8`",
);

/// Returns a text without the byte-order mark that some editors write.
///
/// # Errors
///
/// Text in UTF-16.
pub fn unmarked(text: &[u8]) -> Result<&[u8], Problem> {
    match text {
        [0xef, 0xbb, 0xbf, text @ ..] => Ok(text),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(WIDE),
        [one, other, ..] if (*one == 0) != (*other == 0) => Err(WIDE),
        _ => Ok(text),
    }
}

/// A function that reads the text of a document, or returns its defect.
type TakeText<'t> = &'t mut dyn FnMut(&[u8]) -> Result<(), Problem>;

/// Passes every document of a file, or of standard input if its name is `-`, to `take`, and every other line to
/// `refused`, with its number.
///
/// # Errors
///
/// The errors of [`unreadable`], and the error of mapping the buffers.
pub fn each(
    path: &'static [u8],
    take: TakeText<'_>,
    refused: &mut dyn FnMut(Problem),
) -> Result<(), Failure> {
    // Pages of the buffer that are not written need no memory.
    let mut buffer = Table::<u8>::zeroed(LARGEST_FILE.0 as usize)?;
    let mut joined = Joined::default();
    let mut line = 0;
    // A document, and as many bytes of other lines before it.
    let most = 2 * LARGEST_FILE.0 as usize;
    let left = Cell::new(most);
    let mut take = |text: &[u8]| take(text).inspect(|()| left.set(most));
    let each = |text: &[u8]| {
        line += 1;
        let text = text.trim_ascii_end();
        if line == 1
            && let Err(problem) = unmarked(text)
        {
            refused(problem);
            return false;
        }
        if joined.is_cut_by(text) {
            refused(joined.cut());
        }
        if let Err(problem) = joined.line(line, text, &mut take) {
            refused(problem);
        }
        true
    };
    let path_of_file = (path != b"-").then_some(path);
    file::for_each_line_of(path_of_file, &mut buffer, &left, each)
        .map_err(|errno| unreadable(path, errno))?;
    if joined.is_open() {
        refused(joined.cut());
    }
    // The host of an empty file would be missing without a word.
    if line == 0 {
        refused(EMPTY);
    }
    Ok(())
}

/// Returns the error of a file that cannot be read: [`SavedError::TooLarge`] if no result is in a part of the largest size,
/// [`SavedError::Unreadable`] otherwise.
pub fn unreadable(path: &'static [u8], errno: Errno) -> SavedError {
    let path = Escaped(path);
    match errno {
        Errno::EFBIG => SavedError::TooLarge { path, limit: LARGEST_FILE },
        errno => SavedError::Unreadable { path, errno },
    }
}

/// Passes every document of a text to `take`. A text that does not contain several documents is passed on as it is.
///
/// # Errors
///
/// The errors of `take`, and a text that ends within a document.
pub fn each_in(text: &[u8], take: TakeText<'_>) -> Result<(), Problem> {
    let all = unmarked(text)?.trim_ascii();
    if !all.starts_with(b"{") || Scan::of(all).behind == 0 {
        return take(text);
    }
    let mut joined = Joined::default();
    for (line, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        joined.line(line, text.trim_ascii_end(), take)?;
    }
    if joined.is_open() { Err(joined.cut()) } else { Ok(()) }
}

/// A document over several lines, as far as it was read.
#[derive(Default)]
struct Joined {
    /// The text so far; empty outside of a document.
    text: Vec<u8>,
    /// The number of its first line.
    first: u32,
    scan: Scan,
}

impl Joined {
    fn is_open(&self) -> bool {
        !self.text.is_empty()
    }

    fn line(&mut self, line: u32, text: &[u8], take: TakeText<'_>) -> Result<(), Problem> {
        if self.is_open() {
            return self.more(line, text, take);
        }
        let text = unmarked(text).unwrap_or(text).trim_ascii_start();
        if text.is_empty() {
            return Ok(());
        }
        if !text.starts_with(b"{") {
            return Err(Problem::new(line, "not JSON, or not a result"));
        }
        if matches!(text.last(), Some(b'{' | b'[' | b',' | b':')) && Scan::of(text).is_open() {
            (self.first, self.scan) = (line, Scan::default());
            return self.more(line, text, take);
        }
        take(text).map_err(|problem| Problem { line, ..problem })
    }

    /// Returns whether a line is a document of its own, which means that the document around it was cut short. This
    /// happens in files with one document on each line.
    fn is_cut_by(&self, text: &[u8]) -> bool {
        self.is_open() && text.starts_with(b"{") && Scan::of(text).is_whole()
    }

    /// Adds a line to a document, and passes the document to `take` once it is complete.
    fn more(&mut self, line: u32, text: &[u8], take: TakeText<'_>) -> Result<(), Problem> {
        if self.text.len() + text.len() >= LARGEST_FILE.0 as usize {
            self.text.clear();
            return Err(Problem::new(line, "document larger than 16 MiB"));
        }
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        self.scan.add(text);
        if self.scan.is_open() {
            return Ok(());
        }
        let taken = take(&self.text);
        self.text.clear();
        taken.map_err(|problem| Problem { line: self.first + problem.line - 1, ..problem })
    }

    /// Discards an incomplete document.
    fn cut(&mut self) -> Problem {
        self.text.clear();
        Problem::new(self.first, "the document is cut off")
    }
}

/// The brackets of the text that was read so far.
#[derive(Clone, Copy, Default)]
struct Scan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// True if the first bracket was closed; `behind` counts the bytes after it.
    closed: bool,
    behind: usize,
}

impl Scan {
    fn of(text: &[u8]) -> Scan {
        let mut scan = Scan::default();
        scan.add(text);
        scan
    }

    fn add(&mut self, text: &[u8]) {
        for &byte in text {
            self.behind += usize::from(self.closed);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed |= self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// Returns whether more text has to follow.
    const fn is_open(&self) -> bool {
        self.in_string || self.depth > 0
    }

    /// Returns whether the text ends at the end of its first bracket.
    const fn is_whole(&self) -> bool {
        self.closed && self.behind == 0
    }
}
