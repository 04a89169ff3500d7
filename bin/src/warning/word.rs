//! A short word out of a file of the system, held by value.

use core::fmt;

use crate::options::tokens::Escaped;

/// Room for the longest frequency governor and hypervisor signature that exist.
const ROOM: usize = 15;

/// Up to fifteen bytes of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortText {
    bytes: [u8; ROOM],
    length: u8,
}

impl ShortText {
    /// Returns the first fifteen bytes of `text`, without the white space around it.
    #[must_use]
    pub fn new(text: &[u8]) -> ShortText {
        let text = text.trim_ascii();
        let mut word = ShortText::default();
        for (slot, &byte) in word.bytes.iter_mut().zip(text) {
            *slot = byte;
            word.length += 1;
        }
        word
    }

    /// Returns the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&[])
    }
}

impl fmt::Display for ShortText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(self.as_bytes()).fmt(out)
    }
}
