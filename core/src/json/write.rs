//! A streaming writer of one JSON document.
//!
//! The writer adds commas, colons and escapes; a call that would make an invalid document fails.
//! The output is any [`Write`], not only a file.

use core::fmt::{self, Write};

use super::read::MAX_DEPTH;
use crate::decimal::Real;
use crate::text::steers;

/// The places of line breaks. The writer adds no other white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Everything on one line, without an end of line.
    OneLine,
    /// Each member of the outermost object has its own line, and so has each element of an array
    /// that is one of these members; the document ends with a line feed.
    #[default]
    Lines,
    /// The members of the outermost object alone, indented, each on its own line as `name: value`, which is YAML.
    Members,
}

/// A writer of one document. Every method fails if `W` fails, and if the call would make an invalid
/// document: a value without a key in an object, a key outside an object, an end without a
/// beginning, a second document, more than [`MAX_DEPTH`] levels.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    layout: Layout,
    depth: usize,
    /// Bit `depth - 1` is set if the open container at this depth is an object.
    objects: u64,
    /// True if the innermost container has no value yet.
    is_empty: bool,
    /// True after a key, until its value is written.
    key_waits: bool,
    /// True as soon as the outermost value has begun.
    begun: bool,
}

impl<W: Write> Writer<W> {
    /// Returns a writer of one document into `out`.
    pub const fn new(out: W, layout: Layout) -> Self {
        Self { out, layout, depth: 0, objects: 0, is_empty: true, key_waits: false, begun: false }
    }

    /// Opens an object.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn begin_object(&mut self) -> fmt::Result {
        self.begin(true, '{')
    }

    /// Closes the innermost container, an object.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn end_object(&mut self) -> fmt::Result {
        self.end(true, '}')
    }

    /// Opens an array.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn begin_array(&mut self) -> fmt::Result {
        self.begin(false, '[')
    }

    /// Closes the innermost container, an array.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn end_array(&mut self) -> fmt::Result {
        self.end(false, ']')
    }

    /// Writes the name of the next member. Returns the writer, so that its value can be
    /// written in the same expression: `writer.key("seed")?.u64(42)?`.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn key(&mut self, name: &str) -> Result<&mut Self, fmt::Error> {
        if self.key_waits || !self.in_object() {
            return Err(fmt::Error);
        }
        self.separate()?;
        if self.is_bare() {
            write!(self.out, "  {name}: ")?;
        } else {
            self.quote(|out| out.write_str(name))?;
            self.out.write_char(':')?;
        }
        self.key_waits = true;
        Ok(self)
    }

    /// Writes a string.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn string(&mut self, value: &str) -> fmt::Result {
        self.value()?;
        self.quote(|out| out.write_str(value))
    }

    /// Writes bytes that should be UTF-8 as a string; invalid bytes become U+FFFD.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn bytes(&mut self, value: &[u8]) -> fmt::Result {
        self.value()?;
        self.quote(|out| {
            for chunk in value.utf8_chunks() {
                out.write_str(chunk.valid())?;
                if !chunk.invalid().is_empty() {
                    out.write_char(char::REPLACEMENT_CHARACTER)?;
                }
            }
            Ok(())
        })
    }

    /// Writes a whole number. JSON readers that use double precision are exact up to 2^53.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn u64(&mut self, value: u64) -> fmt::Result {
        self.value()?;
        write!(self.out, "{value}")
    }

    /// Writes a number rounded to at most `digits` decimals (17 at most), without zeros at the end but one: 240.000 is
    /// written as `240.0`, so that every reader takes it for a real number. A number that is not finite cannot be
    /// represented in JSON and is written as `null`.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn decimal(&mut self, value: f64, digits: usize) -> fmt::Result {
        if !value.is_finite() {
            return self.null();
        }
        self.value()?;
        write!(self.out, "{:.digits$}", Real(value))
    }

    /// Writes `true` or `false`.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn bool(&mut self, value: bool) -> fmt::Result {
        self.value()?;
        self.out.write_str(if value { "true" } else { "false" })
    }

    /// Writes `null`, for an unknown value.
    ///
    /// # Errors
    /// The errors of every method of [`Writer`].
    pub fn null(&mut self) -> fmt::Result {
        self.value()?;
        self.out.write_str("null")
    }

    /// Ends the document and returns the output.
    ///
    /// # Errors
    /// The document is incomplete, or `W` failed.
    pub fn finish(mut self) -> Result<W, fmt::Error> {
        if self.depth != 0 || !self.begun {
            return Err(fmt::Error);
        }
        if self.layout == Layout::Lines {
            self.out.write_char('\n')?;
        }
        Ok(self.out)
    }

    fn begin(&mut self, object: bool, bracket: char) -> fmt::Result {
        if self.depth == MAX_DEPTH {
            return Err(fmt::Error);
        }
        self.value()?;
        let bit = 1 << self.depth;
        self.objects = if object { self.objects | bit } else { self.objects & !bit };
        self.is_empty = true;
        self.depth += 1;
        if self.is_bare() { Ok(()) } else { self.out.write_char(bracket) }
    }

    fn end(&mut self, object: bool, bracket: char) -> fmt::Result {
        if self.depth == 0 || self.key_waits || self.in_object() != object {
            return Err(fmt::Error);
        }
        let is_bare = self.is_bare();
        self.depth -= 1;
        self.is_empty = false;
        if is_bare { Ok(()) } else { self.out.write_char(bracket) }
    }

    /// Writes the comma before a value if it needs one.
    fn value(&mut self) -> fmt::Result {
        if self.key_waits {
            self.key_waits = false;
            Ok(())
        } else if self.depth == 0 && !self.begun {
            self.begun = true;
            Ok(())
        } else if self.depth == 0 || self.in_object() {
            Err(fmt::Error)
        } else {
            self.separate()
        }
    }

    fn separate(&mut self) -> fmt::Result {
        if core::mem::take(&mut self.is_empty) {
            return Ok(());
        }
        let line_ends = self.depth == 1 || (self.depth == 2 && !self.in_object());
        self.out.write_str(match self.layout {
            Layout::Lines if line_ends => ",\n",
            Layout::Members if self.depth == 1 => "\n",
            _ => ",",
        })
    }

    /// Returns whether the innermost container is the outermost object, and written without its signs.
    fn is_bare(&self) -> bool {
        self.layout == Layout::Members && self.depth == 1
    }

    fn quote(&mut self, write: impl FnOnce(&mut Escaped<'_, W>) -> fmt::Result) -> fmt::Result {
        self.out.write_char('"')?;
        write(&mut Escaped(&mut self.out))?;
        self.out.write_char('"')
    }

    /// Returns whether the innermost container is an object.
    pub const fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 == 1
    }
}

/// An adaptor that escapes text for a JSON string.
struct Escaped<'w, W>(&'w mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let special = |character: char| matches!(character, '"' | '\\') || steers(character);
        for piece in text.split_inclusive(special) {
            let mut characters = piece.chars();
            match characters.next_back() {
                Some(last) if special(last) => {
                    self.0.write_str(characters.as_str())?;
                    self.escape(last)?;
                }
                _ => self.0.write_str(piece)?,
            }
        }
        Ok(())
    }
}

impl<W: Write> Escaped<'_, W> {
    fn escape(&mut self, character: char) -> fmt::Result {
        match character {
            '"' => self.0.write_str("\\\""),
            '\\' => self.0.write_str("\\\\"),
            '\n' => self.0.write_str("\\n"),
            '\r' => self.0.write_str("\\r"),
            '\t' => self.0.write_str("\\t"),
            other => {
                other.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(self.0, "\\u{unit:04x}"))
            }
        }
    }
}
