//! Memory as Rust's memory model permits it: every result of an access.
//!
//! The stores to a word are listed in their modification order. A thread reads the last store that it has seen, or a
//! later one, and its own stores come after all that it has seen. A store with release ordering hands over everything that
//! its thread has seen; an update (read-modify-write) also hands over what the store before it did. A load with acquire
//! ordering sees what was handed over. Two accesses to a cell, one of them a write, race unless the thread of the later
//! one has seen the earlier one.
//!
//! Sequentially consistent accesses and fences are left out. So is load buffering: no load depends on a store that its own
//! thread makes later. The mailbox has none, because a step with release follows each relaxed load of another word.
//!
//! # References
//!
//! C++20, \[intro.races\] and \[atomics.order\], which Rust has adopted; Kang et al., A Promising Semantics for
//! Relaxed-Memory Concurrency, POPL 2017, for the views of threads and stores.

use std::panic::Location;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

/// Maximum number of words and cells together.
pub const NAMES: usize = 8;
/// Maximum number of threads.
pub const THREADS: usize = 4;

/// A word, and its value before all stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Number of the word.
    pub index: usize,
    /// The value.
    pub initial: u32,
}

/// A value of a cell: the position at which its writer asked to write it.
pub type Content = u32;

/// An access of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// Load of a word.
    Load(Word, Ordering),
    /// Store of a value.
    Store(Word, u32, Ordering),
    /// Store in place of a value that is loaded, if it is the expected one.
    Update {
        /// The word.
        word: Word,
        /// The value to be replaced; `None` for any.
        expected: Option<u32>,
        /// The new value.
        new: u32,
        /// The order of the update.
        order: Ordering,
        /// The order of a load that finds another value.
        failure: Ordering,
    },
    /// Read of a cell.
    ReadCell(usize),
    /// Write of a cell.
    WriteCell(usize),
    /// End of one pass of a loop that waits.
    Spin(&'static Location<'static>),
    /// Sleep until a wake-up if the word has this value.
    Sleep(Word, u32),
    /// Wake-up of all threads that sleep on a word.
    Wake(Word),
}

/// The result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The access has no result.
    Done,
    /// Value of a load.
    Loaded(u32),
    /// Value before an update.
    Updated(u32),
    /// Value that was not the expected one.
    Refused(u32),
    /// The end of a sleep, or a word that has another value.
    Awake,
    /// Content of a cell.
    Read(Option<Content>),
    /// Contents of a cell before and after a write.
    Written {
        /// Before.
        before: Option<Content>,
        /// After.
        content: Content,
    },
    /// The end of a pass.
    Spun(&'static Location<'static>),
}

impl Answer {
    /// Returns the value of a load or an update.
    ///
    /// # Panics
    ///
    /// If the access was another one.
    pub fn value(self) -> u32 {
        match self {
            Answer::Loaded(value) | Answer::Updated(value) => value,
            _ => panic!("no value: {self:?}"),
        }
    }

    /// Returns the content of a cell before the access.
    ///
    /// # Panics
    ///
    /// If the access was another one.
    pub fn content(self) -> Option<Content> {
        match self {
            Answer::Read(content) | Answer::Written { before: content, .. } => content,
            _ => panic!("no content: {self:?}"),
        }
    }
}

/// The accesses that a thread has seen, or that a store hands over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    /// Index of the latest store to each word.
    stores: [u8; NAMES],
    /// Number of accesses to cells by each thread.
    accesses: [u8; THREADS],
}

impl Seen {
    fn join(&mut self, other: Seen) {
        let more = other.stores.iter().chain(&other.accesses);
        for (own, more) in self.stores.iter_mut().chain(&mut self.accesses).zip(more) {
            *own = (*own).max(*more);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Store {
    value: u32,
    handed_over: Seen,
    /// True if no store comes between this one and the one before.
    is_update: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Cell {
    content: Option<Content>,
    /// The thread of the last write, and the number of the access.
    written: Option<(usize, u8)>,
    /// Number of the last read by each thread, after the last write.
    read: [u8; THREADS],
}

/// The state of the memory, and the accesses that each thread has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// The stores to each word; none before the first access.
    words: [Vec<Store>; NAMES],
    cells: [Cell; NAMES],
    threads: [Seen; THREADS],
    /// The accesses before the last wake-up. The kernel compares the word of a sleeper under a lock, which a wake-up takes
    /// too; it does not promise that the woken thread sees more than the word.
    kernel: Seen,
    /// The word that each thread sleeps on.
    asleep: [Option<usize>; THREADS],
    /// True if the thread makes further accesses.
    lives: [bool; THREADS],
}

fn acquires(order: Ordering) -> bool {
    match order {
        Acquire | AcqRel => true,
        Relaxed | Release => false,
        _ => panic!("the model has no {order:?}"),
    }
}

fn releases(order: Ordering) -> bool {
    match order {
        Release | AcqRel => true,
        Relaxed | Acquire => false,
        _ => panic!("the model has no {order:?}"),
    }
}

impl Memory {
    /// Returns the memory before the first access of some threads.
    pub fn new(threads: usize) -> Memory {
        Memory { lives: std::array::from_fn(|thread| thread < threads), ..Memory::default() }
    }

    /// Returns true if the thread waits for a wake-up.
    pub fn is_asleep(&self, thread: usize) -> bool {
        self.asleep[thread].is_some()
    }

    /// Returns every state after an access, and its result; no result if the thread sleeps. `position` identifies the
    /// access and everything that the thread did before.
    ///
    /// # Errors
    ///
    /// An access to a cell that races with another one.
    pub fn after(
        &self,
        thread: usize,
        request: Request,
        position: Content,
    ) -> Result<Vec<(Memory, Option<Answer>)>, String> {
        let mut now = self.clone();
        if let Request::Load(word, _)
        | Request::Store(word, ..)
        | Request::Update { word, .. }
        | Request::Sleep(word, _) = request
            && now.words[word.index].is_empty()
        {
            now.words[word.index].push(Store {
                value: word.initial,
                handed_over: Seen::default(),
                is_update: false,
            });
        }
        let first_visible = |word: Word| usize::from(now.threads[thread].stores[word.index]);
        let visible = |word: Word| first_visible(word)..now.words[word.index].len();
        let is_fixed =
            |word: Word, at: usize| now.words[word.index].get(at).is_some_and(|store| store.is_update);
        Ok(match request {
            Request::Load(word, order) => visible(word)
                .map(|at| {
                    let mut next = now.clone();
                    let value = next.load(thread, word, at, order);
                    (next, Some(Answer::Loaded(value)))
                })
                .collect(),
            Request::Store(word, value, order) => visible(word)
                .map(|at| at + 1)
                .filter(|at| !is_fixed(word, *at))
                .map(|at| {
                    let mut next = now.clone();
                    next.store(thread, word, at, value, releases(order), false);
                    (next, Some(Answer::Done))
                })
                .collect(),
            Request::Update { word, expected, new, order, failure } => visible(word)
                .filter_map(|at| {
                    let mut next = now.clone();
                    let value = now.words[word.index][at].value;
                    if expected.is_some_and(|expected| expected != value) {
                        next.load(thread, word, at, failure);
                        return Some((next, Some(Answer::Refused(value))));
                    }
                    if is_fixed(word, at + 1) {
                        return None;
                    }
                    next.load(thread, word, at, order);
                    next.store(thread, word, at + 1, new, releases(order), true);
                    Some((next, Some(Answer::Updated(value))))
                })
                .collect(),
            Request::Sleep(word, value) => visible(word)
                .filter(|at| *at >= usize::from(now.kernel.stores[word.index]))
                .map(|at| {
                    let mut next = now.clone();
                    if next.load(thread, word, at, Relaxed) != value {
                        return (next, Some(Answer::Awake));
                    }
                    next.asleep[thread] = Some(word.index);
                    (next, None)
                })
                .collect(),
            Request::Wake(word) => {
                now.kernel.join(Seen { accesses: [0; THREADS], ..now.threads[thread] });
                now.asleep
                    .iter_mut()
                    .filter(|sleeper| **sleeper == Some(word.index))
                    .for_each(|sleeper| *sleeper = None);
                vec![(now, Some(Answer::Done))]
            }
            Request::ReadCell(cell) => {
                let number = now.access(thread, cell, false)?;
                now.cells[cell].read[thread] = number;
                let content = now.cells[cell].content;
                vec![(now, Some(Answer::Read(content)))]
            }
            Request::WriteCell(cell) => {
                let number = now.access(thread, cell, true)?;
                let before = now.cells[cell].content;
                now.cells[cell] =
                    Cell { content: Some(position), written: Some((thread, number)), read: [0; THREADS] };
                vec![(now, Some(Answer::Written { before, content: position }))]
            }
            Request::Spin(place) => vec![(now, Some(Answer::Spun(place)))],
        })
    }

    /// Notes that a thread makes no further access.
    pub fn end(&mut self, thread: usize) {
        self.lives[thread] = false;
        self.threads[thread] = Seen::default();
    }

    /// Forgets stores that no thread can read any more.
    pub fn forget(&mut self) {
        for word in 0..NAMES {
            let Some(last) = self.words[word].len().checked_sub(1) else { continue };
            let living = self.threads.iter().zip(self.lives).filter(|(_, lives)| *lives);
            let seen = living.map(|(seen, _)| usize::from(seen.stores[word])).min().unwrap_or(last);
            self.words[word].drain(..seen);
            self.words[word][0].is_update = false;
            let handed_over = self.words.iter_mut().flatten().map(|store| &mut store.handed_over);
            for other in self.threads.iter_mut().chain(handed_over).chain([&mut self.kernel]) {
                other.stores[word] = other.stores[word].saturating_sub(seen as u8);
            }
        }
    }

    /// Loads the store at this index of the modification order.
    fn load(&mut self, thread: usize, word: Word, at: usize, order: Ordering) -> u32 {
        let store = &self.words[word.index][at];
        let seen = &mut self.threads[thread];
        seen.stores[word.index] = at as u8;
        if acquires(order) {
            seen.join(store.handed_over);
        }
        store.value
    }

    /// Inserts a store at this index of the modification order.
    fn store(&mut self, thread: usize, word: Word, at: usize, value: u32, releases: bool, is_update: bool) {
        let word = word.index;
        let handed_over = self.words.iter_mut().flatten().map(|store| &mut store.handed_over);
        for seen in self.threads.iter_mut().chain(handed_over).chain([&mut self.kernel]) {
            let latest = &mut seen.stores[word];
            *latest += u8::from(usize::from(*latest) >= at);
        }
        self.threads[thread].stores[word] = at as u8;
        let mut handed_over = Seen::default();
        handed_over.stores[word] = at as u8;
        if releases {
            handed_over.join(self.threads[thread]);
        }
        if is_update {
            handed_over.join(self.words[word][at - 1].handed_over);
        }
        self.words[word].insert(at, Store { value, handed_over, is_update });
    }

    /// Counts an access to a cell. Returns its number.
    fn access(&mut self, thread: usize, cell: usize, writes: bool) -> Result<u8, String> {
        let seen = &mut self.threads[thread].accesses;
        seen[thread] += 1;
        let Cell { written, read, .. } = &self.cells[cell];
        let unseen = |(other, number): (usize, u8)| number > seen[other];
        if written.is_some_and(unseen) || writes && read.iter().copied().enumerate().any(unseen) {
            let access = if writes { "writes" } else { "reads" };
            return Err(format!("thread {thread} {access} cell {cell}, which another thread accesses"));
        }
        Ok(seen[thread])
    }
}
