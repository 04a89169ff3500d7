//! Texts in less than half of their bytes: the compiler replaces frequent words and syllables by one byte each. The same
//! byte is one of four words, by the letter or sign before it.
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
/// The maximum number of inserts. Their bytes are 1 to this number.
const MOST_INSERTS: u8 = 8;
/// The first byte that is not ASCII. All of these are words.
const FIRST_WORD: u8 = 0x80;
/// The first control character that no text has. It and those behind it are words.
const FIRST_CONTROL: u8 = 0x0b;
/// The number of control characters that are words.
const CONTROLS: usize = (b' ' - FIRST_CONTROL) as usize;
/// A word that has the same byte wherever it is, so that the end of a text tells whether it is there.
pub const SUFFIX: &str = " +-";
/// The byte of [`SUFFIX`].
const SUFFIX_BYTE: u8 = 0x7f;

/// The words behind each other, which a table of literals would make four times as large.
const LETTERS: &str = match core::str::from_utf8(&letters()) {
    Ok(letters) => letters,
    Err(_) => panic!("words are texts"),
};
/// The maximum length of a word.
pub const LONGEST_WORD: usize = 24;

/// The place of a set of words in [`LETTERS`].
#[derive(Clone, Copy)]
struct WordSet {
    start: u16,
    /// The number of words of each length: short words are first.
    counts: [u8; LONGEST_WORD + 1],
}

static SETS: [WordSet; WORDS.len()] = sets();

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

    /// Returns the parts between separators; see [`PackedPart::split`].
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

    /// Returns the part without the [`SUFFIX`] at its end, if it has one.
    #[must_use]
    pub fn strip_suffix(self) -> Option<PackedPart> {
        self.0.strip_suffix(&[SUFFIX_BYTE]).map(PackedPart)
    }

    /// Returns the parts between separators, which are tabs, line feeds or `|`: a part behind one begins like a text.
    pub fn split(self, separator: u8) -> impl Iterator<Item = PackedPart> {
        debug_assert_eq!(set_after(separator), set_after(0));
        self.0.split(move |byte| *byte == separator).map(PackedPart)
    }

    /// Returns the part after this number of separators; an empty one if there are fewer.
    #[must_use]
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
        let mut last = 0;
        for &byte in self.0 {
            let word = word(set_after(last), byte);
            last = word.as_bytes().last().copied().unwrap_or(byte);
            match byte {
                1..=MOST_INSERTS => insert(out, byte.into())?,
                _ if word.is_empty() => out.write_char(byte.into())?,
                _ => out.write_str(word)?,
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
    let (trees, length) = (&TREES, text.len());
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
        if is_at(text, at, SUFFIX.as_bytes()) {
            (steps.byte[at], steps.taken[at]) = (SUFFIX_BYTE, SUFFIX.len() as u8);
            costs[at] = 1 + costs[at + SUFFIX.len()];
            continue;
        }
        let mut least = 1 + costs[at + 1];
        if first < FIRST_WORD {
            assert!(
                first == b'\t' || first == b'\n' || (first >= b' ' && first < SUFFIX_BYTE),
                "the byte of a word"
            );
            steps.byte[at] = first;
        } else {
            least += LONGEST;
        }
        let tree = &trees[set_after(if at > 0 { text[at - 1] } else { 0 })];
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

/// Returns the set of words behind a byte; the byte is 0 at the beginning of a text. A part behind a separator begins
/// like a text.
#[must_use]
pub const fn set_after(before: u8) -> usize {
    match before {
        b'a' | b'e' | b'i' | b'o' | b'u' | b'y' => 1,
        _ if before.is_ascii_alphanumeric() => 0,
        0 | b'\t' | b'\n' | b' ' | b'|' => 3,
        _ => 2,
    }
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
const BEGINNINGS: usize = LETTERS.len() + 1;
static TREES: [Tree; WORDS.len()] = [tree(WORDS[0]), tree(WORDS[1]), tree(WORDS[2]), tree(WORDS[3])];

/// Returns the word of a byte; an empty text if the byte is a character or an insert.
fn word(set: usize, byte: u8) -> &'static str {
    let mut index = match byte {
        SUFFIX_BYTE => return SUFFIX,
        FIRST_CONTROL..b' ' => usize::from(byte - FIRST_CONTROL),
        FIRST_WORD.. => usize::from(byte - FIRST_WORD) + CONTROLS,
        _ => return "",
    };
    let Some(set) = SETS.get(set) else { return "" };
    let mut start = usize::from(set.start);
    for (length, count) in set.counts.iter().enumerate() {
        let count = usize::from(*count);
        if index < count {
            start += index * length;
            return LETTERS.get(start..start + length).unwrap_or("");
        }
        index -= count;
        start += count * length;
    }
    ""
}

/// Returns the byte of a word of a set.
const fn byte(index: usize) -> u8 {
    if index < CONTROLS { FIRST_CONTROL + index as u8 } else { FIRST_WORD + (index - CONTROLS) as u8 }
}

const fn tree(words: &[&str]) -> Tree {
    let mut tree = Tree { next: [[0; 256]; BEGINNINGS], word: [0; BEGINNINGS] };
    let (mut count, mut word) = (1, 0);
    while word < words.len() {
        let (letters, mut node, mut at) = (words[word].as_bytes(), 0, 0);
        while at < letters.len() {
            let letter = letters[at] as usize;
            if tree.next[node][letter] == 0 {
                tree.next[node][letter] = count;
                count += 1;
            }
            node = tree.next[node][letter] as usize;
            at += 1;
        }
        tree.word[node] = byte(word);
        word += 1;
    }
    tree
}

const fn sets() -> [WordSet; WORDS.len()] {
    let mut sets = [WordSet { start: 0, counts: [0; _] }; _];
    let (mut start, mut set) = (0, 0);
    while set < WORDS.len() {
        sets[set].start = start;
        let mut word = 0;
        while word < WORDS[set].len() {
            let length = WORDS[set][word].len();
            assert!(word == 0 || WORDS[set][word - 1].len() <= length, "short words are first");
            sets[set].counts[length] += 1;
            start += length as u16;
            word += 1;
        }
        set += 1;
    }
    sets
}

/// Returns the number of bytes of all words.
const fn length_of_all() -> usize {
    let (mut length, mut set) = (0, 0);
    while set < WORDS.len() {
        let mut word = 0;
        while word < WORDS[set].len() {
            length += WORDS[set][word].len();
            word += 1;
        }
        set += 1;
    }
    length
}

const fn letters() -> [u8; length_of_all()] {
    let (mut letters, mut length, mut set) = ([0; _], 0, 0);
    while set < WORDS.len() {
        let mut word = 0;
        while word < WORDS[set].len() {
            let mut letter = 0;
            while letter < WORDS[set][word].len() {
                letters[length] = WORDS[set][word].as_bytes()[letter];
                letter += 1;
                length += 1;
            }
            word += 1;
        }
        set += 1;
    }
    letters
}
