//! Lines on standard error while something is measured: one that shows the progress to a person who waits, and those
//! that stay, a part of what was asked for.

use core::fmt::{self, Write};

use latency_core::text::Text;

use crate::sys::out::Messages;
use crate::sys::terminal::Stream;
use crate::sys::time;
use latency_core::words::When;

/// Back to the start of the line, and clear it (ECMA-48 EL).
const CLEAR: &str = "\r\x1b[K";

/// The line; silent unless there is a terminal, or it was asked for.
pub struct Progress {
    messages: Option<Messages>,
    /// The beginning of every line.
    lead: Text<64>,
    shown: bool,
}

impl Progress {
    /// Makes a line that is shown on a terminal, or always, or never.
    #[must_use]
    pub fn new(when: When) -> Self {
        let wanted = match when {
            When::Auto => Stream::Error.is_terminal(),
            When::Always => true,
            When::Never => false,
        };
        Progress { messages: wanted.then(|| Messages::on(Stream::Error)), lead: Text::EMPTY, shown: false }
    }

    /// Begins every line from now on with some words.
    pub fn lead(&mut self, words: fmt::Arguments<'_>) {
        self.lead = Text::EMPTY;
        // The words are cut where they do not fit.
        let _ = self.lead.write_fmt(words);
    }

    /// Replaces the line.
    pub fn say(&mut self, what: fmt::Arguments<'_>) {
        if let Some(messages) = &mut self.messages {
            // Messages drop their errors: there is no other place to report them.
            let _ = write!(messages, "{CLEAR}{}{what}", self.lead);
            messages.flush();
            self.shown = true;
        }
    }

    /// Takes the line away, before anything else is written.
    pub fn clear(&mut self) {
        if let (Some(messages), true) = (&mut self.messages, self.shown) {
            let _ = messages.write_str(CLEAR);
            messages.flush();
            self.shown = false;
        }
    }
}

/// The lines that stay; silent unless they are wanted.
pub struct LiveLines {
    messages: Option<Messages>,
}

impl LiveLines {
    /// Makes lines that are written, or not.
    #[must_use]
    pub fn new(wanted: bool) -> LiveLines {
        LiveLines { messages: wanted.then(|| Messages::on(Stream::Error)) }
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
