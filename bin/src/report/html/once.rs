//! The sentences that several chapters share, so that a page has each of them once.

use core::fmt::{self, Write};

use crate::report::document::{Document, PageRole, Role};

/// The number of different sentences that are told apart; further ones count as sentences of one chapter.
const MOST: usize = 128;

/// The number of chapters that have a sentence, and whether it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// In one chapter.
    Single,
    /// In several chapters, and not yet written.
    Several,
    /// In several chapters, and written.
    Written,
}

/// The sentences of the method and the notes in the chapters of a page, each by a hash of its label and words.
pub struct RepeatedSentences {
    known: [(u64, Occurrence); MOST],
    count: usize,
    in_chapter: bool,
}

impl RepeatedSentences {
    /// Returns the set without sentences.
    pub const fn new() -> RepeatedSentences {
        RepeatedSentences { known: [(0, Occurrence::Single); MOST], count: 0, in_chapter: false }
    }

    /// Returns the occurrence of a sentence, if it is of the method or a note, and if there was room for it.
    pub fn get(&mut self, role: Role, words: fmt::Arguments<'_>) -> Option<&mut Occurrence> {
        self.at(hash(role, words)?)
    }

    fn at(&mut self, hash: u64) -> Option<&mut Occurrence> {
        let mut known = self.known.get_mut(..self.count)?.iter_mut();
        known.find(|(other, _)| *other == hash).map(|(_, occurrence)| occurrence)
    }
}

impl Document for RepeatedSentences {
    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        self.in_chapter |= role == Role::Page(PageRole::Chapter);
        let Some(hash) = hash(role, words).filter(|_| self.in_chapter) else { return };
        match self.at(hash) {
            Some(occurrence) => *occurrence = Occurrence::Several,
            None => {
                if let Some(slot) = self.known.get_mut(self.count) {
                    *slot = (hash, Occurrence::Single);
                    self.count += 1;
                }
            }
        }
    }
}

/// Returns the hash of a sentence of the method or of a note (FNV-1a with 64 bits).
fn hash(role: Role, words: fmt::Arguments<'_>) -> Option<u64> {
    struct Hash(u64);
    impl Write for Hash {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            self.0 = part.bytes().fold(self.0, step);
            Ok(())
        }
    }
    let label = match role {
        Role::Method(label) | Role::Provenance(label) | Role::Page(PageRole::Warning(label @ "note")) => {
            label
        }
        _ => return None,
    };
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // Hashing cannot fail. If the words fail to be shown, the hash is that of their written part.
    let _ = write!(hash, "{label}: {words}");
    Some(hash.0)
}
