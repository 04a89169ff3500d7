//! Pointers to literals, which a NUL ends, in one word each.
//!
//! A slice takes two words wherever a table or a call holds it, and the program has hundreds of names in tables.
//!
//! # Safety
//!
//! A [`Terminated`] is made of a `&'static CStr` only, so its pointer is valid for reads up to the NUL at its end for
//! the whole time of the program, and nothing ever writes there.

use core::ffi::{CStr, c_char};
use core::ptr::NonNull;

/// The text of a literal, which a NUL ends.
#[derive(Clone, Copy)]
pub struct Terminated(NonNull<c_char>);

// SAFETY: it is a shared reference to constant bytes.
unsafe impl Send for Terminated {}
// SAFETY: as above.
unsafe impl Sync for Terminated {}

impl Terminated {
    /// Makes the pointer of a literal.
    #[must_use]
    pub const fn new(literal: &'static CStr) -> Terminated {
        Terminated(NonNull::from_ref(literal).cast())
    }

    /// Returns the bytes before the NUL.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        // SAFETY: the pointer is that of a `&'static CStr`: a NUL ends it, and nothing writes there.
        unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_bytes()
    }

    /// Returns the text; an empty one if the literal is not UTF-8.
    #[must_use]
    pub fn text(self) -> &'static str {
        core::str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

impl core::fmt::Debug for Terminated {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.text(), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_read_up_to_its_end() {
        for literal in [c"", c"q", c"latency_ns +-", c"\xc2\xb1"] {
            assert_eq!(Terminated::new(literal).text(), literal.to_str().unwrap());
        }
        assert_eq!(Terminated::new(c"\xc2\xb1").text(), "±");
        assert_eq!(Terminated::new(c"\xff").text(), "");
        assert_eq!(size_of::<Option<Terminated>>(), size_of::<usize>());
    }
}
