//! Lines on standard error that come while something is measured, and stay: a part of what was asked for.

use core::fmt::{self, Write};

use crate::sys::out::Messages;
use crate::sys::time;

/// Where they are written, if they are wanted.
pub struct Lines {
    messages: Option<Messages>,
}

impl Lines {
    /// Lines that are written, or not.
    #[must_use]
    pub fn new(wanted: bool) -> Lines {
        Lines { messages: wanted.then(Messages::new) }
    }

    /// Writes a line by `write`, which is given the seconds since 1970.
    pub fn add(&mut self, write: &dyn Fn(&mut dyn Write, u64) -> fmt::Result) {
        if let Some(messages) = &mut self.messages {
            // Messages drop their errors: there is no other place to report them.
            let _ = write(messages, time::seconds_since_1970());
            let _ = messages.write_char('\n');
        }
    }
}
