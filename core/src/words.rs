//! Tables of words: enumerations with a word, or with the text of a message, for each value.
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

/// Declares enumerations, each value with its meaning and its word.
#[macro_export]
macro_rules! worded {
    ($($(#[$about:meta])+ $seen:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:expr,)+
    })+) => {$(
        $(#[$about])+
        $seen enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $crate::words::Worded for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $name::$variant)),+];
        }
    )+};
}

worded! {
    /// The condition under which something is shown (`--progress`, `--color`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum When {
        /// Only on a terminal.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

/// Declares enumerations that `Display` writes. Each value has its meaning, its fields, and one text or several: the first
/// whose condition is true is written. Words in braces are fields, or are given values after `where`.
#[macro_export]
macro_rules! messages {
    ($(
        $(#[$about:meta])+
        $seen:vis enum $name:ident $(<$life:lifetime>)? {$(
            $(#[$doc:meta])+
            $variant:ident $(($($item:ident: $of:ty),+))? $({ $($field:ident: $type:ty),+ })? $(
                $(if $condition:expr)? => $text:literal;
                $(where $($word:pat = $value:expr),+;)?
            )+
        )+}
    )+) => {$(
        $(#[$about])+
        #[allow(missing_docs)] // the fields are named for what they hold; what they mean is the text
        $seen enum $name $(<$life>)? {
            $($(#[$doc])+ $variant $(($($of),+))? $({ $($field: $type),+ })?,)+
        }

        impl $(<$life>)? ::core::fmt::Display for $name $(<$life>)? {
            #[allow(clippy::too_many_lines, unused_variables)] // a text need not show every field
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match *self {
                    $(Self::$variant $(($($item),+))? $({ $($field),+ })? => match () {
                        $(() $(if $condition)? => {
                            $($(let $word = $value;)+)?
                            write!(out, $text)
                        })+
                    },)+
                }
            }
        }
    )+};
}
