//! Generators of load: which of their accesses are lines, and which have to wait.
//!
//! A generator touches lines and waits for none of them, until too many are on their
//! way. Accesses to the same line in a row are one line read or one line written; a
//! line that is loaded and then stored to is both, since memory first gives it and
//! later takes it back. What a cache of the model has reaches no memory: neither the load
//! nor the store that follows it. Times are the caller's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::Pair;
use crate::server::{Request, Servers, Slot};

/// Base-2 logarithm of the bytes of a line.
const LINE_SHIFT: u32 = 6;

/// A kernel of generators as it is described by the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its code.
    pub code: Range<u64>,
    /// Its name.
    pub name: String,
}

/// What a kernel has touched.
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
    /// It loads from it.
    Load,
    /// It stores to it.
    Store,
    /// It stores to it past the caches.
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
    /// Returns the number of lines that caches served, which did not reach memory.
    #[must_use]
    pub fn cached(&self) -> u64 {
        self.cached.load(Ordering::Relaxed)
    }

    fn count(&self, is_store: bool) {
        if is_store { &self.written } else { &self.read }.fetch_add(1, Ordering::Relaxed);
    }

    /// Lines read, and lines written.
    #[must_use]
    pub fn lines(&self) -> (u64, u64) {
        (self.read.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed))
    }
}

/// What is on its way for one virtual CPU.
#[derive(Clone, Debug, Default)]
struct Generator {
    /// The lines that were read and written last, by their virtual addresses.
    last: [Option<u64>; 2],
    /// True if memory gave the one that was read last.
    given: bool,
    /// When lines will be there, the earliest first.
    outstanding: BinaryHeap<Reverse<u64>>,
}

impl Generator {
    /// Whether an access to `address` is one to another line than the last of its kind.
    fn touches(&mut self, address: u64, is_store: bool) -> bool {
        let line = Some(address >> LINE_SHIFT);
        let [read, written] = &mut self.last;
        let last = if is_store { written } else { read };
        std::mem::replace(last, line) != line
    }

    /// When another line can be sent for at `now`, if so many may be outstanding.
    fn admitted(&mut self, now: u64, most: usize) -> u64 {
        while self.outstanding.peek().is_some_and(|&Reverse(there)| there <= now) {
            self.outstanding.pop();
        }
        let earliest = self.outstanding.peek().filter(|_| self.outstanding.len() >= most);
        earliest.map_or(now, |&Reverse(there)| there)
    }
}

/// All generators, and the servers that they and the chases visit.
#[derive(Debug)]
pub struct Traffic {
    /// The kernels of generators.
    pub streams: Vec<Stream>,
    /// The servers.
    pub servers: Servers,
    generators: Vec<Mutex<Generator>>,
    most: usize,
    unclaimed: AtomicU64,
    /// When the last line was touched.
    last: AtomicU64,
    /// The longest time without one.
    gap: AtomicU64,
}

impl Traffic {
    /// Generators on `cpus` virtual CPUs that run `kernels` and have up to `most` lines on their way each.
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

    /// Whether there is anything of all this.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        !self.streams.is_empty() || self.servers.are_busy()
    }

    /// The kernel that this code belongs to.
    #[must_use]
    pub fn stream(&self, code: u64) -> Option<&Stream> {
        self.streams.iter().find(|stream| stream.kernel.code.contains(&code))
    }

    /// Whether an access by CPU `cpu` is one to a line that it has not just touched the same way.
    pub fn touches(&self, cpu: usize, virtual_address: u64, is_store: bool) -> bool {
        self.generator(cpu).is_some_and(|mut generator| generator.touches(virtual_address, is_store))
    }

    /// Tells whether an access by CPU `cpu` to a line reaches memory; `misses` tells whether the caches have the line,
    /// and uses it there. A line that memory gave goes back there once it is stored to, and so does one that is stored
    /// to without having been in a cache.
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

    /// When CPU `cpu` can send for another line: `now`, or later if too many are on their way.
    pub fn admitted(&self, cpu: usize, now: u64) -> u64 {
        self.generator(cpu).map_or(now, |mut generator| generator.admitted(now, self.most))
    }

    /// Sends for a line between the nodes of `pair`, or for one that no node claims, at `now`.
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

    /// Counts a line that a cache has at `now`.
    pub fn hit(&self, stream: &Stream, is_store: bool, now: u64) {
        self.note(stream, is_store, now);
        stream.cached.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends for `lines` lines that prefetchers bring, between the nodes of `pair`, at `now`.
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

    /// The longest time in which no generator touched a line, of those that ended since this was asked last.
    pub fn longest_gap(&self) -> u64 {
        self.gap.swap(0, Ordering::Relaxed)
    }

    /// Lines that no node claims.
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
