//! Texts in half of their bytes: the compiler replaces frequent words and syllables by one byte each.
//!
//! A text is an ordinary literal in the source, and [`Packed`] displays it. It may have inserts, such as `{node}`,
//! whose values are known only when it is displayed.

mod words;

#[cfg(test)]
mod tests;

use core::ffi::CStr;
use core::fmt::{self, Write};

use crate::terminated::Terminated;
pub use words::WORDS;

/// The maximum length of a text.
const LONGEST: usize = 4096;
/// The first byte that is a word. The bytes below are characters, except for those of inserts.
const FIRST_WORD: u8 = 0x80;
/// The maximum number of inserts. Their bytes are 1 to this number.
const MOST_INSERTS: u8 = 8;

/// The words behind each other, which a table of literals would make four times as large.
const LETTERS: &str = match core::str::from_utf8(&letters()) {
    Ok(letters) => letters,
    Err(_) => panic!("words are texts"),
};
/// The ends of the words in [`LETTERS`].
static ENDS: [u16; WORDS.len()] = ends();

/// The number of words that begin with a smaller byte, for each byte. Words are in the order of their bytes.
const BEFORE: [usize; 257] = before();

/// A text, most of whose bytes are words.
#[derive(Clone, Copy)]
pub struct Packed(Terminated);

impl Packed {
    /// The text without characters.
    pub const EMPTY: Packed = Packed(Terminated::new(c""));

    /// Returns the text that [`pack`] packed; see [`packed!`](crate::packed!).
    ///
    /// # Panics
    ///
    /// Panics unless the last byte, and no other one, is a NUL.
    #[must_use]
    pub const fn new(bytes: &'static [u8]) -> Packed {
        match CStr::from_bytes_with_nul(bytes) {
            Ok(bytes) => Packed(Terminated::new(bytes)),
            Err(_) => panic!("a NUL is at the end"),
        }
    }

    /// Returns the whole text.
    #[must_use]
    pub fn whole(self) -> PackedPart {
        PackedPart(self.0.bytes())
    }

    /// Returns the parts between separators, which are characters that no word contains.
    pub fn split(self, separator: u8) -> impl Iterator<Item = PackedPart> {
        self.whole().split(separator)
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Packed) -> bool {
        self.whole() == other.whole()
    }
}

impl Eq for Packed {}

/// A part of a packed text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PackedPart(&'static [u8]);

impl PackedPart {
    /// Returns whether the part has no characters.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the parts between separators, which are characters that no word contains.
    pub fn split(self, separator: u8) -> impl Iterator<Item = PackedPart> {
        self.0.split(move |byte| *byte == separator).map(PackedPart)
    }

    /// Returns the part after this number of separators; an empty one if there are fewer.
    #[must_use]
    #[inline(never)] // called in several places
    pub fn part(self, separator: u8, index: usize) -> PackedPart {
        self.split(separator).nth(index).unwrap_or(PackedPart(&[]))
    }

    /// Writes the text; `insert` writes the insert with a number, from 1.
    ///
    /// # Errors
    ///
    /// The errors of `out` and of `insert`.
    pub fn write(
        self,
        out: &mut dyn Write,
        insert: &mut dyn FnMut(&mut dyn Write, usize) -> fmt::Result,
    ) -> fmt::Result {
        for &byte in self.0 {
            match byte {
                1..=MOST_INSERTS => insert(out, byte.into())?,
                FIRST_WORD.. => out.write_str(word((byte - FIRST_WORD).into()))?,
                _ => out.write_char(byte.into())?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for PackedPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(out, &mut |_, _| Ok(()))
    }
}

impl fmt::Debug for PackedPart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{self}\"")
    }
}

impl fmt::Display for Packed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.whole(), out)
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.whole(), out)
    }
}

/// Packs a literal, with the names of its inserts in the order of their numbers: `packed!("node {node}", node)`.
#[macro_export]
macro_rules! packed {
    ($text:expr $(, $insert:ident)*) => {{
        const TEXT: &str = $text;
        const INSERTS: &[&str] = &[$(stringify!($insert)),*];
        const BYTES: &[u8] = &$crate::packed::pack::<{ $crate::packed::length(TEXT, INSERTS) + 1 }>(TEXT, INSERTS);
        const PACKED: $crate::packed::Packed = $crate::packed::Packed::new(BYTES);
        PACKED
    }};
}

/// Returns the length of a text after packing.
///
/// # Panics
///
/// See [`pack`].
#[must_use]
pub const fn length(text: &str, inserts: &[&str]) -> usize {
    let (mut at, mut length) = (0, 0);
    let steps = shortest(text.as_bytes(), inserts);
    while at < text.len() {
        at += steps[at].taken as usize;
        length += 1;
    }
    length
}

/// Packs a text into its number of bytes, and a NUL.
///
/// # Panics
///
/// Panics if the text is too long, or contains a character that is neither ASCII nor a word, or an unknown insert.
#[must_use]
pub const fn pack<const N: usize>(text: &str, inserts: &[&str]) -> [u8; N] {
    let (mut at, mut packed, mut length) = (0, [0; N], 0);
    let steps = shortest(text.as_bytes(), inserts);
    while at < text.len() {
        assert!(steps[at].byte > 0, "a character that is not ASCII must be among the words");
        packed[length] = steps[at].byte;
        at += steps[at].taken as usize;
        length += 1;
    }
    packed
}

/// A packed byte, and the number of bytes of the text that it replaces.
#[derive(Clone, Copy)]
struct Replaced {
    byte: u8,
    taken: u8,
}

/// Returns the steps of the shortest packing from every place of a text to its end.
const fn shortest(text: &[u8], inserts: &[&str]) -> [Replaced; LONGEST] {
    let mut steps = [Replaced { byte: 0, taken: 1 }; LONGEST];
    let mut costs = [0_usize; LONGEST + 1];
    let mut at = text.len();
    while at > 0 {
        at -= 1;
        if text[at] == b'{' {
            steps[at] = insert(text, at, inserts);
            costs[at] = 1 + costs[at + steps[at].taken as usize];
            continue;
        }
        costs[at] = 1 + costs[at + 1];
        if text[at].is_ascii() {
            assert!(text[at] > MOST_INSERTS, "the byte of an insert");
            steps[at].byte = text[at];
        } else {
            costs[at] += LONGEST;
        }
        let mut word = BEFORE[text[at] as usize];
        while word < BEFORE[text[at] as usize + 1] {
            let letters = WORDS[word].as_bytes();
            if is_at(text, at, letters) && costs[at + letters.len()] + 1 < costs[at] {
                costs[at] = costs[at + letters.len()] + 1;
                steps[at] = Replaced { byte: FIRST_WORD + word as u8, taken: letters.len() as u8 };
            }
            word += 1;
        }
    }
    steps
}

/// Returns the step over the insert whose brace is at `at`.
const fn insert(text: &[u8], at: usize, names: &[&str]) -> Replaced {
    let mut index = 0;
    while index < names.len() {
        let name = names[index].as_bytes();
        if is_at(text, at + 1, name) && is_at(text, at + 1 + name.len(), b"}") {
            index += 1;
            assert!(index <= MOST_INSERTS as usize, "too many inserts");
            return Replaced { byte: index as u8, taken: name.len() as u8 + 2 };
        }
        index += 1;
    }
    panic!("an insert without a value")
}

/// Returns whether `part` is at a place of a text.
const fn is_at(text: &[u8], at: usize, part: &[u8]) -> bool {
    let mut length = 0;
    while length < part.len() && at + length < text.len() && text[at + length] == part[length] {
        length += 1;
    }
    length == part.len()
}

/// Returns a word.
fn word(index: usize) -> &'static str {
    let start = index.checked_sub(1).and_then(|before| ENDS.get(before));
    let range = start.copied().unwrap_or(0).into()..ENDS.get(index).copied().unwrap_or(0).into();
    LETTERS.get(range).unwrap_or("")
}

const fn before() -> [usize; 257] {
    let (mut before, mut byte) = ([0; 257], 0);
    while byte < 256 {
        let mut word = before[byte];
        while word < WORDS.len() && WORDS[word].as_bytes()[0] as usize == byte {
            word += 1;
        }
        byte += 1;
        before[byte] = word;
    }
    before
}

const fn ends() -> [u16; WORDS.len()] {
    let (mut ends, mut end, mut word) = ([0; WORDS.len()], 0, 0);
    while word < WORDS.len() {
        end += WORDS[word].len() as u16;
        ends[word] = end;
        word += 1;
    }
    ends
}

const fn letters() -> [u8; ends()[WORDS.len() - 1] as usize] {
    let (mut letters, mut length, mut word) = ([0; _], 0, 0);
    while word < WORDS.len() {
        let mut letter = 0;
        while letter < WORDS[word].len() {
            letters[length] = WORDS[word].as_bytes()[letter];
            letter += 1;
            length += 1;
        }
        word += 1;
    }
    letters
}
