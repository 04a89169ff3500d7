//! Lines on standard error that come while something is measured, and stay: a part of what was asked for.

use core::fmt::{self, Write};

use crate::sys::out::Messages;
use crate::sys::time;

/// The lines; silent unless they are wanted.
pub struct LiveLines {
    messages: Option<Messages>,
}

impl LiveLines {
    /// Makes lines that are written, or not.
    #[must_use]
    pub fn new(wanted: bool) -> LiveLines {
        LiveLines { messages: wanted.then(Messages::new) }
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
