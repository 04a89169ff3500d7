//! The lines that generators on one CPU touched between two stamps of the guest.
//!
//! Paced generators also take stamps for themselves, which open windows without closing them. The caller
//! passes all times.

use std::fmt;

/// A timed window with lines in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Kernel that touched the last line.
    pub name: &'static str,
    /// Node of that line.
    pub node: u32,
    /// Time of the opening stamp.
    pub from: u64,
    /// Time of the closing stamp.
    pub to: u64,
    /// Lines read.
    pub read: u64,
    /// Lines written.
    pub written: u64,
}

/// The windows of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Stamped {
    open: Window,
    kept: Vec<Window>,
}

impl Stamped {
    /// Opens a window at `now`.
    pub fn open(&mut self, now: u64) {
        self.open = Window { from: now, ..Window::default() };
    }

    /// Notes that the kernel of this name touches a line of `node`.
    pub fn line(&mut self, name: &'static str, node: u32, is_store: bool) {
        (self.open.name, self.open.node) = (name, node);
        *if is_store { &mut self.open.written } else { &mut self.open.read } += 1;
    }

    /// Closes the window at `now`.
    pub fn close(&mut self, now: u64) {
        let window = Window { to: now, ..std::mem::take(&mut self.open) };
        if window.from > 0 && window.read + window.written > 0 {
            self.kept.push(window);
        }
    }

    /// Returns all windows with lines.
    #[must_use]
    pub fn kept(&self) -> &[Window] {
        &self.kept
    }
}

impl fmt::Display for Window {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Window { name, node, from, to, read, written } = self;
        write!(out, "{name}; node {node}; from {from}; to {to}; read {read}; written {written}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_with_lines_between_two_stamps_are_kept() {
        let mut stamped = Stamped::default();
        stamped.line("read", 0, false);
        stamped.close(5);
        stamped.open(10);
        stamped.close(20);
        stamped.open(30);
        stamped.line("read", 0, false);
        stamped.open(40);
        stamped.line("update1", 1, false);
        stamped.line("update1", 1, true);
        stamped.close(50);
        stamped.close(60);
        let lines: Vec<String> = stamped.kept().iter().map(Window::to_string).collect();
        assert_eq!(lines, ["update1; node 1; from 40; to 50; read 1; written 1"]);
    }
}
