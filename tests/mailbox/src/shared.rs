//! The names of `bin/sys/src/shared.rs`. Each access asks the model for its result.

pub use std::sync::atomic::Ordering;

use crate::explore::{Name, ask};
use crate::memory::{Answer, Content, Request, Word};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::Location;

/// A word that threads share.
pub struct AtomicU32 {
    name: Name,
    initial: u32,
}

impl AtomicU32 {
    /// Returns a word with a value.
    pub const fn new(initial: u32) -> Self {
        AtomicU32 { name: Name::new(), initial }
    }

    fn word(&self) -> Word {
        Word { index: self.name.index(), initial: self.initial }
    }

    /// Returns one of the values that the thread may read.
    pub fn load(&self, order: Ordering) -> u32 {
        ask(Request::Load(self.word(), order)).value()
    }

    /// Stores a value.
    pub fn store(&self, value: u32, order: Ordering) {
        ask(Request::Store(self.word(), value, order));
    }

    /// Stores a value; returns the value before.
    pub fn swap(&self, new: u32, order: Ordering) -> u32 {
        ask(Request::Update { word: self.word(), expected: None, new, order, failure: Ordering::Relaxed })
            .value()
    }

    /// Stores a value in place of the value `expected`. Returns the value before; as an error if it was another one.
    ///
    /// # Errors
    ///
    /// The value, if it is not `expected`.
    pub fn compare_exchange(
        &self,
        expected: u32,
        new: u32,
        order: Ordering,
        failure: Ordering,
    ) -> Result<u32, u32> {
        let expected = Some(expected);
        match ask(Request::Update { word: self.word(), expected, new, order, failure }) {
            Answer::Refused(value) => Err(value),
            answer => Ok(answer.value()),
        }
    }
}

/// A value without atomic accesses.
pub struct SharedCell<T> {
    name: Name,
    initial: T,
    /// The values that were written.
    contents: RefCell<BTreeMap<Content, T>>,
}

impl<T: Copy> SharedCell<T> {
    /// Returns a cell with a value.
    pub const fn new(initial: T) -> Self {
        SharedCell { name: Name::new(), initial, contents: RefCell::new(BTreeMap::new()) }
    }

    fn value(&self, content: Option<Content>) -> T {
        content.map_or(self.initial, |content| self.contents.borrow()[&content])
    }

    /// Calls `read` with the address of a copy of the value.
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        let value = self.value(ask(Request::ReadCell(self.name.index())).content());
        read(&raw const value)
    }

    /// Calls `write` with the address of a copy of the value, which becomes the value.
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let answer = ask(Request::WriteCell(self.name.index()));
        let mut value = self.value(answer.content());
        let result = write(&raw mut value);
        if let Answer::Written { content, .. } = answer {
            self.contents.borrow_mut().insert(content, value);
        }
        result
    }
}

/// Ends one pass of a loop that waits. The values that it loaded must have no effect but another pass.
#[track_caller]
pub fn spin_loop() {
    ask(Request::Spin(Location::caller()));
}

/// Sleeps while `word` has the value `value`, until [`wake`].
#[track_caller]
pub fn wait(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Relaxed) == value {
        ask(Request::Sleep(word.word(), value));
    }
    // The values that were loaded make no further difference.
    spin_loop();
}

/// Wakes all threads that sleep on `word`.
pub fn wake(word: &AtomicU32) {
    ask(Request::Wake(word.word()));
}
