//! A short string of fixed capacity that is stored in place.
//!
//! It stores names of governors, clock sources and kernels by value, and builds paths, without a
//! heap.

use core::fmt::{self, Write};

/// A string of at most `N` bytes of UTF-8, stored inline.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    /// The string without characters.
    pub const EMPTY: Self = Self { bytes: [0; N], length: 0 };

    /// Returns as much of `bytes` as fits, without leading and trailing white space. Bytes that are
    /// not UTF-8, and characters that control a terminal, are replaced by `?`.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut text = Self::EMPTY;
        text.room().take(bytes.trim_ascii());
        text
    }

    /// Returns the formatted text, up to the first part that does not fit.
    pub fn of(words: fmt::Arguments<'_>) -> Self {
        let mut text = Self::EMPTY;
        let _ = text.write_fmt(words);
        text
    }

    /// Appends a formatted text, up to the first part that does not fit.
    ///
    /// # Errors
    ///
    /// A part does not fit.
    pub fn write_fmt(&mut self, words: fmt::Arguments<'_>) -> fmt::Result {
        fmt::write(&mut self.room(), words)
    }

    /// Returns the characters.
    pub fn as_str(&self) -> &str {
        characters(&self.bytes, self.length)
    }

    /// Returns whether the text is empty.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Appends one character. Returns false, and changes nothing, if it does not fit.
    pub fn push(&mut self, character: char) -> bool {
        self.write_char(character).is_ok()
    }

    /// Shortens the string to its first `length` bytes. Does nothing if the string is not longer,
    /// or if this would split a character.
    pub fn truncate(&mut self, length: usize) {
        if self.as_str().is_char_boundary(length) {
            // The rest is cleared, because the derived equality compares it.
            if let Some(rest) = self.bytes.get_mut(length..) {
                rest.fill(0);
            }
            self.length = self.length.min(length);
        }
    }

    const fn room(&mut self) -> Room<'_> {
        Room { bytes: &mut self.bytes, length: &mut self.length }
    }
}

/// Appends each part completely, or fails if the part does not fit.
impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.room().write_str(part)
    }
}

/// The place of a text of any capacity, so that one piece of code writes all of them.
struct Room<'t> {
    bytes: &'t mut [u8],
    length: &'t mut usize,
}

impl Write for Room<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let end = self.length.saturating_add(part.len());
        let room = self.bytes.get_mut(*self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(part.as_bytes());
        *self.length = end;
        Ok(())
    }
}

impl Room<'_> {
    /// Appends the characters of a text as far as they fit, with `?` for those that would not be shown.
    fn take(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            let replaced = if chunk.invalid().is_empty() { "" } else { "?" };
            for character in chunk.valid().chars().chain(replaced.chars()) {
                if self.write_char(if steers(character) { '?' } else { character }).is_err() {
                    return;
                }
            }
        }
    }
}

/// Returns the characters of a text of any capacity.
fn characters(bytes: &[u8], length: usize) -> &str {
    core::str::from_utf8(bytes.get(..length).unwrap_or_default()).unwrap_or_default()
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), out)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}

/// Returns the parts of a text between the places of a separator.
pub fn split<'t>(text: &'t str, separator: &'t str) -> impl Iterator<Item = &'t str> {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let whole = rest?;
        let mut places = whole.as_bytes().windows(separator.len());
        let place = places.position(|bytes| bytes == separator.as_bytes());
        rest = place.and_then(|place| whole.get(place + separator.len()..));
        whole.get(..place.unwrap_or(whole.len()))
    })
}

/// Returns true if a character is invisible, but may move or hide other characters.
///
/// These are Unicode's categories of control, format and private-use characters, the fillers and
/// the joiners. A table of all invisible characters would need some kilobytes.
pub const fn steers(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}'
        | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..)
}

/// Returns the ending of a noun for this count: `s`, or nothing for one.
pub fn plural<T: PartialEq + From<u8>>(count: T) -> &'static str {
    if count == T::from(1) { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn cuts_long_text_between_characters() {
        assert_eq!(Text::<8>::from_bytes(b" powersave\n").as_str(), "powersav");
        assert_eq!(Text::<4>::from_bytes("añbc".as_bytes()).as_str(), "añb");
        assert_eq!(Text::<2>::from_bytes("añ".as_bytes()).as_str(), "a");
        assert_eq!(Text::<8>::from_bytes(b"a\xff\xfeb").as_str(), "a??b");
        assert_eq!(Text::<8>::from_bytes("a\x1b[\0\u{85}\x7f".as_bytes()).as_str(), "a?[???");
        assert!(Text::<0>::from_bytes(b"x").is_empty());
    }

    #[test]
    fn a_part_is_written_completely_or_not_at_all() {
        let mut text = Text::<6>::EMPTY;
        assert!(write!(text, "node{}", 12).is_ok());
        assert!(text.write_str("x").is_err());
        assert_eq!(text.to_string(), "node12");
        assert_eq!(std::format!("{text:?}"), "\"node12\"");
        text.truncate(4);
        assert_eq!(text, Text::<6>::from_bytes(b"node"));
        text.truncate(5);
        assert_eq!(text, "node");
    }

    #[test]
    fn a_text_is_split_like_the_library_does() {
        for text in ["", "; ", "a; b", "a;b; ", "; ; c", "ä; ö"] {
            assert!(split(text, "; ").eq(text.split("; ")), "{text}");
        }
    }

    #[test]
    fn truncation_respects_characters_and_the_end() {
        let mut text = Text::<8>::from_bytes("ñx".as_bytes());
        text.truncate(1);
        assert_eq!(text, "ñx");
        text.truncate(9);
        assert_eq!(text, "ñx");
    }
}
