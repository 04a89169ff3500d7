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

    /// Returns the part without the byte of a word at its end, if it has that byte; see [`byte_of`].
    #[must_use]
    pub fn strip_suffix(self, byte: u8) -> Option<PackedPart> {
        self.0.strip_suffix(&[byte]).map(PackedPart)
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

/// Packs a literal, with the names of its inserts in the order of their numbers: `packed!("node {node}", node)`. Other
/// braces, as in a style sheet, are characters.
#[macro_export]
macro_rules! packed {
    ($text:expr $(, $insert:ident)*) => {{
        const FILLED: $crate::packed::Filled = $crate::packed::pack($text, &[$(stringify!($insert)),*]);
        const BYTES: &[u8] = &$crate::packed::cut::<{ FILLED.length + 1 }>(&FILLED);
        const PACKED: $crate::packed::Packed = $crate::packed::Packed::new(BYTES);
        PACKED
    }};
}

/// A packed text at the beginning of a buffer.
#[derive(Debug)]
pub struct Filled {
    bytes: [u8; LONGEST],
    /// The number of bytes of the text.
    pub length: usize,
}

/// Returns a packed text with a NUL behind it.
#[must_use]
pub const fn cut<const N: usize>(filled: &Filled) -> [u8; N] {
    let (mut bytes, mut at) = ([0; N], 0);
    while at < filled.length {
        bytes[at] = filled.bytes[at];
        at += 1;
    }
    bytes
}

/// Packs a text into as few bytes as possible.
///
/// # Panics
///
/// Panics if the text is too long, or contains a character that is neither ASCII nor a word, or an unknown insert.
#[must_use]
pub const fn pack(text: &str, inserts: &[&str]) -> Filled {
    let steps = shortest(text.as_bytes(), inserts);
    let (mut at, mut filled) = (0, Filled { bytes: [0; LONGEST], length: 0 });
    while at < text.len() {
        assert!(steps.byte[at] > 0, "a character that is not ASCII must be among the words");
        filled.bytes[filled.length] = steps.byte[at];
        filled.length += 1;
        at += steps.taken[at] as usize;
    }
    filled
}

/// The packed byte for each place of a text, and the number of bytes of the text that it replaces.
struct Steps {
    byte: [u8; LONGEST],
    taken: [u8; LONGEST],
}

/// Returns the steps of the shortest packing from every place of a text to its end.
const fn shortest(text: &[u8], inserts: &[&str]) -> Steps {
    // The compiler interprets this for every text: it copies a constant that is indexed, but not behind a reference.
    let (tree, length) = (&TREE, text.len());
    let mut steps = Steps { byte: [0; LONGEST], taken: [1; LONGEST] };
    let mut costs = [0_usize; LONGEST + 1];
    let mut at = length;
    while at > 0 {
        at -= 1;
        let first = text[at];
        if first == b'{' && is_name(text, at + 1) {
            let (byte, taken) = insert(text, at, inserts);
            (steps.byte[at], steps.taken[at]) = (byte, taken);
            costs[at] = 1 + costs[at + taken as usize];
            continue;
        }
        let mut least = 1 + costs[at + 1];
        if first < FIRST_WORD {
            assert!(first > MOST_INSERTS, "the byte of an insert");
            steps.byte[at] = first;
        } else {
            least += LONGEST;
        }
        let (mut node, mut end) = (0, at);
        while end < length {
            node = tree.next[node][text[end] as usize] as usize;
            if node == 0 {
                break;
            }
            end += 1;
            if tree.word[node] > 0 && costs[end] + 1 < least {
                least = costs[end] + 1;
                (steps.byte[at], steps.taken[at]) = (tree.word[node], (end - at) as u8);
            }
        }
        costs[at] = least;
    }
    steps
}

/// Returns whether a name and a closing brace are at a place of a text.
const fn is_name(text: &[u8], mut at: usize) -> bool {
    while at < text.len() && (text[at].is_ascii_alphanumeric() || text[at] == b'_') {
        at += 1;
    }
    at < text.len() && text[at] == b'}'
}

/// Returns the byte of an insert whose brace is at `at`, and its length.
const fn insert(text: &[u8], at: usize, names: &[&str]) -> (u8, u8) {
    let mut index = 0;
    while index < names.len() {
        let name = names[index].as_bytes();
        if is_at(text, at + 1, name) && is_at(text, at + 1 + name.len(), b"}") {
            index += 1;
            assert!(index <= MOST_INSERTS as usize, "too many inserts");
            return (index as u8, name.len() as u8 + 2);
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

/// The beginnings of words, for the search of all words at a place of a text.
struct Tree {
    /// The beginning that is longer by a byte; 0 if no word begins so. Beginning 0 is empty.
    next: [[u16; 256]; BEGINNINGS],
    /// The packed byte of a beginning that is a word; 0 if it is none.
    word: [u8; BEGINNINGS],
}

/// The maximum number of beginnings.
const BEGINNINGS: usize = ends()[WORDS.len() - 1] as usize + 1;
const TREE: Tree = tree();

/// Returns the byte of one of the [`WORDS`].
///
/// # Panics
///
/// Panics if the text is none of them.
#[must_use]
pub const fn byte_of(text: &str) -> u8 {
    let mut index = 0;
    while WORDS[index].len() != text.len() || !is_at(WORDS[index].as_bytes(), 0, text.as_bytes()) {
        index += 1;
    }
    FIRST_WORD + index as u8
}

/// Returns a word.
fn word(index: usize) -> &'static str {
    let start = index.checked_sub(1).and_then(|before| ENDS.get(before));
    let range = start.copied().unwrap_or(0).into()..ENDS.get(index).copied().unwrap_or(0).into();
    LETTERS.get(range).unwrap_or("")
}

const fn tree() -> Tree {
    let mut tree = Tree { next: [[0; 256]; BEGINNINGS], word: [0; BEGINNINGS] };
    let (mut count, mut word) = (1, 0);
    while word < WORDS.len() {
        let (letters, mut node, mut at) = (WORDS[word].as_bytes(), 0, 0);
        while at < letters.len() {
            let letter = letters[at] as usize;
            if tree.next[node][letter] == 0 {
                tree.next[node][letter] = count;
                count += 1;
            }
            node = tree.next[node][letter] as usize;
            at += 1;
        }
        tree.word[node] = FIRST_WORD + word as u8;
        word += 1;
    }
    tree
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
