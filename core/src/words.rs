//! Enumerations with a word for each value.
//!
//! Each enumeration lists its words once; parsers, messages and results use this list.

/// An enumeration with a word for each value.
pub trait Worded: Copy + PartialEq + 'static {
    /// Every word with its value.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value with the word `text`.
    fn from_word(text: &[u8]) -> Option<Self> {
        Self::WORDS.iter().find(|(word, _)| word.as_bytes() == text).map(|&(_, choice)| choice)
    }

    /// Returns the word of this value, as it appears in options and results.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, choice)| *choice == self).map_or("", |&(word, _)| word)
    }
}

/// The condition under which something is shown (`--progress`, `--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Only on a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Worded for When {
    const WORDS: &'static [(&'static str, Self)] =
        &[("auto", When::Auto), ("always", When::Always), ("never", When::Never)];
}
