//! Lines on standard error during a measurement: one line that shows the progress, and live lines, which stay because
//! the user requested them.

use core::fmt::{self, Write};

use latency_core::Text;
use latency_core::words::When;
use latency_sys::out::Messages;
use latency_sys::terminal::Stream;
use latency_sys::time;

/// Control sequence that returns to the start of the line and clears it (ECMA-48 EL).
const CLEAR: &str = "\r\x1b[K";

/// The progress line; silent unless standard error is a terminal or the user requested it.
pub struct Progress {
    messages: Option<Messages>,
    /// The beginning of every line.
    lead: Text<64>,
    shown: bool,
}

impl Progress {
    /// Returns a progress line that is shown on a terminal, always, or never.
    pub fn new(when: When) -> Self {
        let wanted = match when {
            When::Auto => Stream::Error.is_terminal(),
            When::Always => true,
            When::Never => false,
        };
        Progress { messages: wanted.then(|| Messages::on(Stream::Error)), lead: Text::EMPTY, shown: false }
    }

    /// Sets the words with which every line begins from now on.
    pub fn lead(&mut self, words: fmt::Arguments<'_>) {
        self.lead = Text::EMPTY;
        // Words that do not fit are cut off.
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

    /// Clears the progress line, before anything else is written.
    pub fn clear(&mut self) {
        if let (Some(messages), true) = (&mut self.messages, self.shown) {
            let _ = messages.write_str(CLEAR);
            messages.flush();
            self.shown = false;
        }
    }
}

/// The live lines, which stay; silent unless they are wanted.
pub struct LiveLines {
    messages: Option<Messages>,
}

impl LiveLines {
    /// Returns live lines that are written if `wanted`.
    pub fn new(wanted: bool) -> LiveLines {
        LiveLines { messages: wanted.then(|| Messages::on(Stream::Error)) }
    }

    /// Writes a line by calling `write` with the seconds since 1970.
    pub fn add(&mut self, write: &dyn Fn(&mut dyn Write, u64) -> fmt::Result) {
        if let Some(messages) = &mut self.messages {
            // Messages drop their errors: there is no other place to report them.
            let _ = write(messages, time::seconds_since_1970());
            let _ = messages.write_char('\n');
        }
    }
}
