//! Names in a list, and words in a name.

/// Returns one of the names in a list.
pub fn nth(list: &'static str, index: usize) -> &'static str {
    list.split('|').nth(index).unwrap_or_default()
}

/// Returns whether a name contains a word, in small or large letters.
#[must_use]
pub fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len().max(1)).any(|part| part.eq_ignore_ascii_case(word))
}
