//! The warnings of one run, in the order in which they occurred.

use core::mem::{discriminant, swap};

use latency_core::units::{Bytes, NodeId};

use super::Warning;

/// Maximum number of warnings in a set. People would not read more.
const CAPACITY: usize = 64;

/// A set of warnings without an allocator: one warning for each code and subject.
#[derive(Clone, Copy, Debug)]
pub struct Warnings {
    slots: [Option<Warning>; CAPACITY],
    dropped: usize,
    dropped_untrusted: (Option<&'static str>, usize),
}

impl Default for Warnings {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Warnings {
    /// The empty set.
    pub const EMPTY: Warnings = Warnings::new();

    /// Returns an empty set.
    pub const fn new() -> Warnings {
        Warnings { slots: [None; CAPACITY], dropped: 0, dropped_untrusted: (None, 0) }
    }

    /// Adds `warning`, unless the set contains one with the same code and subject.
    ///
    /// A warning that states a possibility is replaced by one that states it as a fact. A set without room counts every
    /// further warning, also repeated ones; they may still make the result unreliable.
    pub fn push(&mut self, warning: Warning) {
        let known = |other: &&mut Warning| {
            other.is_like(&warning) || warning.settles(other) || other.settles(&warning)
        };
        if let Some(other) = self.slots.iter_mut().flatten().find(known) {
            if warning.settles(other) {
                *other = warning;
            }
            return;
        }
        match self.slots.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(warning),
            None => self.drop(&warning),
        }
    }

    /// Adds `warning` if `is_so`.
    pub fn push_if(&mut self, is_so: bool, warning: Warning) {
        self.extend(is_so.then_some(warning));
    }

    /// Adds warnings, such as the one that there may be.
    pub fn extend(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        warnings.into_iter().for_each(|warning| self.push(warning));
    }

    /// Adds `warning` as [`push`](Self::push) does, but before the milder ones of its code. Beyond `most` warnings of
    /// the code, the mildest one is left out and counted.
    pub fn push_worst_first(&mut self, mut warning: Warning, most: usize) {
        let (kind, mut count) = (discriminant(&warning), 0);
        for other in self.slots.iter_mut().flatten().filter(|other| discriminant(*other) == kind) {
            if other.facts().measure < warning.facts().measure {
                swap(other, &mut warning);
            }
            count += 1;
        }
        match count < most {
            true => self.push(warning),
            false => self.drop(&warning),
        }
    }

    /// Adds the warnings of another part of a result. Of two warnings with the same code and subject, the worse one
    /// stays.
    pub fn pool(&mut self, other: &Warnings) {
        for warning in other.iter() {
            match self.slots.iter_mut().flatten().find(|known| known.is_like(warning)) {
                Some(known) if known.weight() < warning.weight() => *known = *warning,
                Some(_) => {}
                None => self.push(*warning),
            }
        }
        let ((first, count), (more, others)) = (self.dropped_untrusted, other.dropped_untrusted);
        self.dropped += other.dropped;
        self.dropped_untrusted = (first.or(more), count + others);
    }

    /// Counts a warning for which there is no room.
    fn drop(&mut self, warning: &Warning) {
        self.dropped += 1;
        if warning.untrusted() {
            let (first, count) = self.dropped_untrusted;
            self.dropped_untrusted = (first.or(Some(warning.code())), count + 1);
        }
    }

    /// Returns the warnings, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.slots.iter().flatten()
    }

    /// Returns the memory-side cache through which the memory of a node was measured.
    pub fn side_cache(&self, node: NodeId) -> Option<Bytes> {
        let mut found = self.iter().filter_map(Warning::side_cache);
        found.find(|(of, _)| *of == node).map(|(_, cache)| cache)
    }

    /// Returns the number of warnings for which there was no room.
    pub const fn dropped(&self) -> usize {
        self.dropped
    }

    /// Returns the code of the first warning that makes the result unreliable, and the number of these warnings.
    pub fn untrusted(&self) -> Option<(&'static str, usize)> {
        let (dropped, more) = self.dropped_untrusted;
        let held = || self.iter().filter(|warning| warning.untrusted());
        let first = held().next().map(Warning::code).or(dropped)?;
        Some((first, held().count() + more))
    }
}
