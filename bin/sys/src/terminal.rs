//! Finds out if a standard stream is a terminal, and its width.
//!
//! # Safety
//!
//! Borrows the standard descriptors by number; start-up has made sure that they are open.

use core::sync::atomic::{AtomicBool, Ordering};

use rustix::fd::BorrowedFd;
use rustix::termios::{isatty, tcgetwinsize};

/// True if the terminal is the console of a machine whose first process this is: programs read it, with other lines
/// between.
static IS_CONSOLE: AtomicBool = AtomicBool::new(false);

/// Makes a terminal of this process count as a console, which gets whole lines without colours.
pub(super) fn be_console() {
    IS_CONSOLE.store(true, Ordering::Relaxed);
}

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard input: a saved result, if one is piped in.
    Input,
    /// Standard output: results.
    Output,
    /// Standard error: everything else.
    Error,
}

impl Stream {
    /// Returns the descriptor of the stream.
    pub(super) fn descriptor(self) -> BorrowedFd<'static> {
        let number = match self {
            Stream::Input => 0,
            Stream::Output => 1,
            Stream::Error => 2,
        };
        // SAFETY: start-up opens those of 0 to 2 that are closed, and no code closes one of them.
        unsafe { BorrowedFd::borrow_raw(number) }
    }

    /// Returns true if the stream is a terminal or the console of a machine.
    pub fn is_device(self) -> bool {
        isatty(self.descriptor())
    }

    /// Returns true if the stream is a terminal, so that a person probably reads it.
    pub fn is_terminal(self) -> bool {
        !IS_CONSOLE.load(Ordering::Relaxed) && self.is_device()
    }

    /// Returns the columns of the terminal; `None` if the stream has none.
    pub fn width(self) -> Option<u16> {
        tcgetwinsize(self.descriptor()).ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::IsTerminal;

    #[test]
    fn agrees_with_the_standard_library() {
        assert_eq!(Stream::Output.is_terminal(), std::io::stdout().is_terminal());
        assert_eq!(Stream::Error.is_terminal(), std::io::stderr().is_terminal());
        if !Stream::Output.is_terminal() {
            assert_eq!(Stream::Output.width(), None);
        }
    }
}
