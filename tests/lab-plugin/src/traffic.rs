//! Load generators: decides which of their accesses request lines, and which have to wait.
//!
//! A generator touches lines without waiting for them, until too many are outstanding. Accesses to the same line in a
//! row are one line read or one line written. A line that is loaded and then stored to is both, since memory first
//! delivers it and later receives it back. A line in a cache of the model does not reach memory: neither its load nor
//! the store that follows. The caller passes all times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::Pair;
use crate::server::{Request, Servers, Slot};

/// Base-2 logarithm of the bytes of a line.
const LINE_SHIFT: u32 = 6;

/// A kernel of generators, as the arguments describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Range of its code.
    pub code: Range<u64>,
    /// Its name.
    pub name: String,
}

/// The lines that a kernel has touched.
#[derive(Debug)]
pub struct Stream {
    /// The kernel.
    pub kernel: Kernel,
    read: AtomicU64,
    written: AtomicU64,
    cached: AtomicU64,
}

/// Kind of access by which a generator touches a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A store past the caches.
    StorePast,
}

impl Touch {
    /// Returns true for a store.
    #[must_use]
    pub const fn is_store(self) -> bool {
        matches!(self, Touch::Store | Touch::StorePast)
    }
}

impl Stream {
    /// Returns the number of lines that caches served and memory did not.
    #[must_use]
    pub fn cached(&self) -> u64 {
        self.cached.load(Ordering::Relaxed)
    }

    fn count(&self, is_store: bool) {
        if is_store { &self.written } else { &self.read }.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the numbers of lines read and of lines written.
    #[must_use]
    pub fn lines(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed))
    }
}

/// The outstanding lines of one virtual CPU.
#[derive(Clone, Debug, Default)]
struct Generator {
    /// The last lines read and written, by virtual address.
    last: [Option<u64>; 2],
    /// True if the line read last came from memory.
    given: bool,
    /// Arrival times of the lines, the earliest first.
    outstanding: BinaryHeap<Reverse<u64>>,
}

impl Generator {
    /// Returns true if an access to `address` touches another line than the last access of its kind.
    fn touches(&mut self, address: u64, is_store: bool) -> bool {
        let line = Some(address >> LINE_SHIFT);
        let [read, written] = &mut self.last;
        let last = if is_store { written } else { read };
        std::mem::replace(last, line) != line
    }

    /// Returns the time from `now` on at which another line can be requested, with at most `most`
    /// outstanding.
    fn admitted(&mut self, now: u64, most: usize) -> u64 {
        while self.outstanding.peek().is_some_and(|&Reverse(there)| there <= now) {
            self.outstanding.pop();
        }
        let earliest = self.outstanding.peek().filter(|_| self.outstanding.len() >= most);
        earliest.map_or(now, |&Reverse(there)| there)
    }
}

/// All generators, with the servers that they and the chases use.
#[derive(Debug)]
pub struct Traffic {
    /// The kernels of generators.
    pub streams: Vec<Stream>,
    /// The servers.
    pub servers: Servers,
    generators: Vec<Mutex<Generator>>,
    most: usize,
    unclaimed: AtomicU64,
    /// Time at which the last line was touched.
    last: AtomicU64,
    /// The longest time between two lines.
    gap: AtomicU64,
}

impl Traffic {
    /// Makes generators on `cpus` virtual CPUs that run `kernels`, with at most `most` outstanding lines
    /// each.
    #[must_use]
    pub fn new(kernels: Vec<Kernel>, servers: Servers, cpus: usize, most: usize) -> Self {
        let zero = || AtomicU64::new(0);
        let stream = |kernel| Stream { kernel, read: zero(), written: zero(), cached: zero() };
        Self {
            streams: kernels.into_iter().map(stream).collect(),
            servers,
            generators: (0..cpus).map(|_| Mutex::default()).collect(),
            most,
            unclaimed: zero(),
            last: zero(),
            gap: zero(),
        }
    }

    /// Returns true if there is a kernel or a server that needs time.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        !self.streams.is_empty() || self.servers.are_busy()
    }

    /// Returns the kernel that contains this code.
    #[must_use]
    pub fn stream(&self, code: u64) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.kernel.code.contains(&code))
    }

    /// Returns true if an access by CPU `cpu` touches another line than the last access of its kind.
    pub fn touches(&self, cpu: usize, virtual_address: u64, is_store: bool) -> bool {
        self.generator(cpu).is_some_and(|mut generator| generator.touches(virtual_address, is_store))
    }

    /// Returns true if an access by CPU `cpu` to a line reaches memory. `misses` uses the line in the caches
    /// and returns true for a miss. A line from memory goes back there once it is stored to, and so does a
    /// line that is stored to without having been in a cache.
    pub fn reaches_memory(
        &self,
        cpu: usize,
        virtual_address: u64,
        touch: Touch,
        misses: impl FnOnce() -> bool,
    ) -> bool {
        let line = Some(virtual_address >> LINE_SHIFT);
        let read = self.generator(cpu).map(|generator| (generator.last[0], generator.given));
        match (touch, read) {
            (Touch::StorePast, _) => true,
            (Touch::Store, Some((last, given))) if last == line => given,
            (Touch::Store, _) => misses(),
            (Touch::Load, _) => {
                let given = misses();
                if let Some(mut generator) = self.generator(cpu) {
                    generator.given = given;
                }
                given
            }
        }
    }

    /// Returns the time at which CPU `cpu` can request another line: `now`, or later if too many are
    /// outstanding.
    pub fn admitted(&self, cpu: usize, now: u64) -> u64 {
        self.generator(cpu).map_or(now, |mut generator| generator.admitted(now, self.most))
    }

    /// Requests a line between the nodes of `pair`, or one that no node claims, at `now`.
    pub fn post(&self, cpu: usize, stream: &Stream, pair: Option<Pair>, is_store: bool, now: u64) {
        let Some(pair) = pair else {
            self.unclaimed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.note(stream, is_store, now);
        let request = if is_store { Request::Write } else { Request::Read };
        let Slot { end, .. } = self.servers.serve(pair, request, now);
        if let Some(mut generator) = self.generator(cpu) {
            generator.outstanding.push(Reverse(end.saturating_add(pair.ticks)));
        }
    }

    /// Counts a line that hits in a cache at `now`.
    pub fn hit(&self, stream: &Stream, is_store: bool, now: u64) {
        self.note(stream, is_store, now);
        stream.cached.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests `lines` lines for prefetchers, between the nodes of `pair`, at `now`.
    pub fn prefetch(&self, pair: Pair, lines: u64, now: u64) {
        for _ in 0..lines {
            self.servers.serve(pair, Request::Prefetch, now);
        }
    }

    fn note(&self, stream: &Stream, is_store: bool, now: u64) {
        stream.count(is_store);
        let last = self.last.swap(now, Ordering::Relaxed);
        self.gap.fetch_max(now.saturating_sub(last), Ordering::Relaxed);
    }

    /// Returns the longest time in which no generator touched a line, among the periods that ended since the
    /// last call.
    pub fn longest_gap(&self) -> u64 {
        self.gap.swap(0, Ordering::Relaxed)
    }

    /// Returns the number of lines that no node claims.
    #[must_use]
    pub fn unclaimed(&self) -> u64 {
        self.unclaimed.load(Ordering::Relaxed)
    }

    fn generator(&self, cpu: usize) -> Option<MutexGuard<'_, Generator>> {
        let generator = self.generators.get(cpu)?;
        Some(generator.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
