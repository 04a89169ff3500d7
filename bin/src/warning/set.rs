//! The warnings of one run, in the order in which they came up.

use super::Warning;

/// More warnings than this would not be read.
const CAPACITY: usize = 64;

/// A set of warnings without an allocator: one for each code and subject.
#[derive(Clone, Copy, Debug)]
pub struct Warnings {
    slots: [Option<Warning>; CAPACITY],
    length: usize,
    dropped: usize,
    first_untrusted: Option<&'static str>,
    untrusted: usize,
}

impl Default for Warnings {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Warnings {
    /// No warning.
    pub const EMPTY: Warnings = Warnings::new();

    /// Returns a set without warnings; as a constant it would be 2.6 KiB of the executable.
    #[must_use]
    pub const fn new() -> Warnings {
        Warnings { slots: [None; CAPACITY], length: 0, dropped: 0, first_untrusted: None, untrusted: 0 }
    }

    /// Adds `warning`, unless one with its code and its subject is there.
    ///
    /// Without room left it is counted, each time anew, and may still make the result unreliable.
    pub fn push(&mut self, warning: Warning) {
        let known =
            self.iter().any(|other| other.code() == warning.code() && other.subject() == warning.subject());
        if known {
            return;
        }
        if warning.untrusted() {
            self.untrusted += 1;
            self.first_untrusted = self.first_untrusted.or(Some(warning.code()));
        }
        match self.slots.get_mut(self.length) {
            Some(slot) => {
                *slot = Some(warning);
                self.length += 1;
            }
            None => self.dropped += 1,
        }
    }

    /// Returns the warnings, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.slots.iter().flatten()
    }

    /// Returns the number of warnings that are held.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the number of warnings for which there was no room.
    #[must_use]
    pub const fn dropped(&self) -> usize {
        self.dropped
    }

    /// Returns the code of the first warning that makes the result unreliable, and the number of those.
    #[must_use]
    pub fn untrusted(&self) -> Option<(&'static str, usize)> {
        self.first_untrusted.map(|code| (code, self.untrusted))
    }
}
