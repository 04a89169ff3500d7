//! The characters of texts beyond ASCII, and their forms in ASCII for streams without UTF-8.

use core::fmt::{self, Display, Write};

/// A writer that passes on texts: unchanged if `unicode` is true, otherwise with the characters of this program in
/// ASCII. Names from outside are not changed.
pub struct Ascii<'o> {
    /// The receiver.
    pub out: &'o mut dyn Write,
    /// True if the receiver shows characters beyond ASCII.
    pub unicode: bool,
}

impl Write for Ascii<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.unicode || text.is_ascii() {
            return self.out.write_str(text);
        }
        text.chars().try_for_each(|character| match character {
            '±' => self.out.write_str("+-"),
            '→' => self.out.write_str("->"),
            'µ' => self.out.write_char('u'),
            character => self.out.write_char(character),
        })
    }
}

/// Returns a value as an [`Ascii`] writer passes it on.
pub fn ascii(shown: &dyn Display, unicode: bool) -> impl Display {
    fmt::from_fn(move |out| write!(Ascii { out, unicode }, "{shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn only_a_stream_without_utf_8_gets_ascii() {
        assert_eq!(ascii(&"±3.4% → 5 µs, Zoë", false).to_string(), "+-3.4% -> 5 us, Zoë");
        assert_eq!(ascii(&"±3.4% → 5 µs", true).to_string(), "±3.4% → 5 µs");
    }
}
