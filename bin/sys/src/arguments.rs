//! The arguments and the environment of the process.
//!
//! The module does not interpret options: it returns byte strings, without the program's name.
//!
//! # Safety
//!
//! The code follows the kernel's vectors of pointers. Each constructor that takes a vector states its requirements, and
//! the fields are private, so that no other code can make a value that violates them.

use core::ffi::{CStr, c_char};

/// The arguments of the process without the program's name: an iterator that can be copied to begin again.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    source: ArgumentSource,
}

#[derive(Clone, Copy, Debug)]
enum ArgumentSource {
    /// Pointers to strings that live as long as the process.
    Vector(&'static [*const c_char]),
    /// Strings one after another, each terminated by a NUL.
    Packed(&'static [u8]),
}

impl Arguments {
    /// Returns the arguments that the kernel passed: `count` pointers, the first to the program's name.
    ///
    /// # Safety
    /// `vector` must point at `count` pointers to NUL-terminated strings, which
    /// all stay there unchanged for the rest of the process.
    pub unsafe fn from_vector(count: usize, vector: *const *const c_char) -> Arguments {
        // SAFETY: the caller promises `count` pointers that stay valid.
        let vector = unsafe { core::slice::from_raw_parts(vector, count) };
        // An exec with an empty vector is legal, so there may be no name to skip.
        Arguments { source: ArgumentSource::Vector(vector.get(1..).unwrap_or(&[])) }
    }

    /// Returns arguments that are stored one after another, each terminated by a NUL: `b"curve\0--json\0"`.
    pub const fn packed(text: &'static [u8]) -> Arguments {
        Arguments { source: ArgumentSource::Packed(text) }
    }
}

impl Iterator for Arguments {
    type Item = &'static [u8];

    fn next(&mut self) -> Option<&'static [u8]> {
        match &mut self.source {
            ArgumentSource::Vector(vector) => {
                let (&first, rest) = vector.split_first()?;
                *vector = rest;
                // SAFETY: the caller of `from_vector` promised that every pointer is to a NUL-terminated string that
                // stays for the rest of the process.
                Some(unsafe { CStr::from_ptr(first) }.to_bytes())
            }
            ArgumentSource::Packed(text) => {
                let end = text.iter().position(|&byte| byte == 0)?;
                let (word, rest) = text.split_at(end);
                *text = rest.get(1..).unwrap_or(&[]);
                Some(word)
            }
        }
    }
}

/// The environment of the process.
#[derive(Clone, Copy)]
pub struct Environment {
    /// The vector, terminated by a null pointer; `None` is the empty environment.
    vector: Option<&'static *const c_char>,
}

impl Environment {
    /// An environment without variables.
    pub const EMPTY: Environment = Environment { vector: None };

    /// Returns the environment that the kernel passed.
    ///
    /// # Safety
    /// `vector` must point at pointers to NUL-terminated strings, ended by a null
    /// pointer, and all stay there unchanged for the rest of the process.
    pub unsafe fn from_vector(vector: *const *const c_char) -> Environment {
        // SAFETY: the caller promises at least the final null pointer there.
        Environment { vector: Some(unsafe { &*vector }) }
    }

    /// Returns the value of the variable `name`, without the `name=`.
    pub fn get(&self, name: &[u8]) -> Option<&'static [u8]> {
        let mut at: *const *const c_char = self.vector?;
        loop {
            // SAFETY: `at` starts at the beginning of the vector and only moves past pointers other than the
            // terminating null.
            let entry = unsafe { *at };
            if entry.is_null() {
                return None;
            }
            // SAFETY: the caller of `from_vector` promised a NUL-terminated string that stays.
            let entry = unsafe { CStr::from_ptr(entry) }.to_bytes();
            if let Some(value) = entry.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"=")) {
                return Some(value);
            }
            // SAFETY: the pointer read was not null, so the vector has one more.
            at = unsafe { at.add(1) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn packed_words_keep_their_order_and_may_be_empty() {
        let arguments = Arguments::packed(b"curve\0\0--json\0");
        let words: Vec<_> = arguments.collect();
        assert_eq!(words, [&b"curve"[..], b"", b"--json"]);
        assert_eq!(arguments.count(), 3, "a copy starts at the position of the original");
        assert_eq!(Arguments::packed(b"").next(), None);
    }

    #[test]
    fn the_program_name_is_left_out() {
        let words = [c"latency-bench".as_ptr(), c"--help".as_ptr(), core::ptr::null()];
        let words: &'static [_; 3] = std::boxed::Box::leak(std::boxed::Box::new(words));
        // SAFETY: the leaked array holds two pointers to literals.
        let arguments = unsafe { Arguments::from_vector(2, words.as_ptr()) };
        assert_eq!(arguments.collect::<Vec<_>>(), [b"--help"]);
        // SAFETY: no pointer is read if the count is zero.
        let nothing = unsafe { Arguments::from_vector(0, core::ptr::NonNull::dangling().as_ptr()) };
        assert_eq!(nothing.count(), 0);
    }

    #[test]
    fn variables_are_found_by_their_full_name() {
        let entries =
            [c"NO_COLORS=1".as_ptr(), c"NO_COLOR=".as_ptr(), c"TERM=dumb".as_ptr(), core::ptr::null()];
        let entries: &'static [_; 4] = std::boxed::Box::leak(std::boxed::Box::new(entries));
        // SAFETY: the leaked array holds pointers to literals and ends with a null.
        let environment = unsafe { Environment::from_vector(entries.as_ptr()) };
        assert_eq!(environment.get(b"TERM"), Some(&b"dumb"[..]));
        assert_eq!(environment.get(b"NO_COLOR"), Some(&b""[..]));
        assert_eq!(environment.get(b"TER"), None);
        assert_eq!(Environment::EMPTY.get(b"TERM"), None);
    }
}
