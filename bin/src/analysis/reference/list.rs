//! Words in a name.

/// Returns whether a name contains a word, in small or large letters.
#[must_use]
pub fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len().max(1)).any(|part| part.eq_ignore_ascii_case(word))
}
