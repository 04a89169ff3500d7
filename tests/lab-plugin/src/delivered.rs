//! The times that the guest really got, beside those that the model asked for.
//!
//! A window is what the guest times in one go: from a stamp that opens it, over one
//! call of a loop, to a stamp that closes it. Its excess is the time that it took
//! less the time that its loads were to take, a hop. Nobody but the host can add to
//! a window, so the excess says what a correct report of it has above the model.
//!
//! Windows are kept by what all of their hops had in common. Nothing here reads a
//! clock.

use std::collections::BTreeMap;

use crate::model::{Outcome, Source};

/// Below so many ticks excesses are kept as they are, above it to this part of themselves.
const EXACT_BITS: u32 = 7;
/// The longest window without a hop that is one of those which the guest times to learn what its stamps cost.
const LONGEST_EMPTY: usize = 4096;

/// What the hops of a window have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// Where the lines were; `None` if not all were in the same place.
    pub source: Option<Source>,
    /// Levels of the TLB that were missed; the most of all hops.
    pub misses: usize,
    /// The hops.
    pub hops: u64,
    /// Ticks by which the only hop was slower than others; 0 for several hops.
    pub tail: u64,
}

/// How often each excess was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excesses {
    counts: BTreeMap<i64, u64>,
    /// Windows.
    pub windows: u64,
    /// The sum of their excesses a hop, in ticks.
    pub sum: i64,
}

impl Excesses {
    fn note(&mut self, ticks: i64) {
        *self.counts.entry(rounded(ticks)).or_default() += 1;
        self.windows += 1;
        self.sum = self.sum.saturating_add(ticks);
    }

    /// Adds what `other` has seen.
    pub fn add(&mut self, other: &Excesses) {
        for (&ticks, count) in &other.counts {
            *self.counts.entry(ticks).or_default() += count;
        }
        self.windows += other.windows;
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// The excesses, ascending, and how often each was seen.
    pub fn counts(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.counts.iter().map(|(&ticks, &count)| (ticks, count))
    }
}

/// The middle of those excesses that are not told apart.
fn rounded(ticks: i64) -> i64 {
    let size = ticks.unsigned_abs();
    let shift = (u64::BITS - size.leading_zeros()).saturating_sub(EXACT_BITS);
    let middle = (size >> shift << shift) | (1_u64 << shift >> 1);
    i64::try_from(middle).unwrap_or(i64::MAX) * ticks.signum()
}

/// A window that is open.
#[derive(Clone, Copy, Debug)]
struct Window {
    opened: u64,
    class: Class,
    asked: u64,
    other: u64,
}

/// Windows of the same number of hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// All of their hops.
    pub hops: u64,
    /// Those that another node's levels served.
    pub other: u64,
}

impl Served {
    fn add(&mut self, more: Served) {
        self.hops += more.hops;
        self.other += more.other;
    }
}

/// The windows of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    open: Option<Window>,
    /// The last one, which is kept when no window is open: keeping takes time.
    closed: Option<(Class, i64, u64)>,
    kept: BTreeMap<Class, Excesses>,
    /// By the hops of a window.
    served: BTreeMap<u64, Served>,
    empty: Vec<u64>,
}

impl Windows {
    /// A window begins at `opened`; one that is open is forgotten.
    pub fn open(&mut self, opened: u64) {
        let class = Class { source: None, misses: 0, hops: 0, tail: 0 };
        self.open = Some(Window { opened, class, asked: 0, other: 0 });
    }

    /// Whether a window is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The open window is none of hops, nor of nothing.
    pub fn forget(&mut self) {
        self.open = None;
    }

    /// Adds a hop to the open window.
    pub fn hop(&mut self, outcome: &Outcome) {
        let Some(Window { class, asked, other, .. }) = &mut self.open else { return };
        *asked = asked.saturating_add(outcome.ticks).saturating_add(outcome.pause);
        if class.hops == 0 {
            class.source = Some(outcome.source);
        } else if class.source != Some(outcome.source) {
            class.source = None;
        }
        *other += u64::from(outcome.source == Source::Other);
        class.misses = class.misses.max(outcome.misses);
        class.tail = if class.hops == 0 { outcome.tail } else { 0 };
        class.hops += 1;
    }

    /// The open window ends at `closed`.
    pub fn close(&mut self, closed: u64) {
        let Some(Window { opened, class, asked, other }) = self.open.take() else { return };
        let taken = closed.saturating_sub(opened);
        let Some(hops) = i64::try_from(class.hops).ok().filter(|&hops| hops > 0) else {
            self.empty.resize(LONGEST_EMPTY, 0);
            if let Some(count) = usize::try_from(taken).ok().and_then(|taken| self.empty.get_mut(taken)) {
                *count += 1;
            }
            return;
        };
        let excess = i64::try_from(taken).unwrap_or(i64::MAX) - i64::try_from(asked).unwrap_or(i64::MAX);
        self.closed = Some((class, (excess + hops.signum() * hops / 2).div_euclid(hops), other));
    }

    /// Keeps the last window.
    pub fn keep(&mut self) {
        if let Some(closed) = self.closed.take() {
            self.keep_one(closed);
        }
    }

    fn keep_one(&mut self, (class, excess, other): (Class, i64, u64)) {
        self.kept.entry(class).or_default().note(excess);
        self.served.entry(class.hops).or_default().add(Served { hops: class.hops, other });
    }

    /// Adds what `other` has kept.
    pub fn add(&mut self, other: &Windows) {
        for (class, excesses) in &other.kept {
            self.kept.entry(*class).or_default().add(excesses);
        }
        for (&hops, &served) in &other.served {
            self.served.entry(hops).or_default().add(served);
        }
        if let Some(closed) = other.closed {
            self.keep_one(closed);
        }
        self.empty.resize(self.empty.len().max(other.empty.len()), 0);
        self.empty.iter_mut().zip(&other.empty).for_each(|(into, from)| *into += from);
    }

    /// What was kept of each class.
    pub fn kept(&self) -> impl Iterator<Item = (&Class, &Excesses)> {
        self.kept.iter()
    }

    /// What served the hops of windows, by their number in one.
    pub fn served(&self) -> impl Iterator<Item = (u64, Served)> + '_ {
        self.served.iter().map(|(&hops, &served)| (hops, served))
    }

    /// The median ticks of windows without a hop, if there were any.
    #[must_use]
    pub fn empty(&self) -> Option<usize> {
        let total: u64 = self.empty.iter().sum();
        let mut seen = 0;
        self.empty.iter().position(|&count| {
            seen += count;
            total > 0 && 2 * seen >= total
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(source: Source, ticks: u64, tail: u64) -> Outcome {
        Outcome { ticks: ticks + tail, tail, misses: 0, pause: 0, source, pair: Some(0), paid: false }
    }

    fn window(windows: &mut Windows, hops: &[Outcome], taken: u64) {
        windows.keep();
        windows.open(1000);
        hops.iter().for_each(|hop| windows.hop(hop));
        windows.close(1000 + taken);
    }

    fn kept(windows: &Windows) -> Vec<(Class, Vec<(i64, u64)>)> {
        let mut all = Windows::default();
        all.add(windows);
        all.kept().map(|(class, excesses)| (*class, excesses.counts().collect())).collect()
    }

    #[test]
    fn the_excess_is_what_was_not_asked_for_a_hop() {
        let memory = outcome(Source::Memory(1), 500, 0);
        let mut windows = Windows::default();
        for taken in [2040, 2040, 1960, 9_002_000] {
            window(&mut windows, &[memory; 4], taken);
        }
        let class = Class { source: Some(Source::Memory(1)), misses: 0, hops: 4, tail: 0 };
        let long = rounded(2_250_000);
        assert_eq!(kept(&windows), [(class, vec![(-10, 1), (10, 2), (long, 1)])]);
        assert!((long - 2_250_000).abs() < 2_250_000 / 100);
    }

    #[test]
    fn windows_are_kept_by_what_their_hops_have_in_common() {
        let (near, far) = (outcome(Source::Level(0), 10, 0), outcome(Source::Memory(0), 10, 0));
        let mut windows = Windows::default();
        window(&mut windows, &[near, far], 20);
        window(&mut windows, &[outcome(Source::Memory(0), 10, 700)], 710);
        window(&mut windows, &[Outcome { misses: 1, ..near }, near], 20);
        let class = |source, misses, hops, tail| Class { source, misses, hops, tail };
        let classes: Vec<Class> = kept(&windows).into_iter().map(|(class, _)| class).collect();
        assert_eq!(
            classes,
            [
                class(None, 0, 2, 0),
                class(Some(Source::Level(0)), 1, 2, 0),
                class(Some(Source::Memory(0)), 0, 1, 700)
            ]
        );
    }

    #[test]
    fn hops_that_another_node_served_are_counted_by_the_length_of_their_windows() {
        let (near, other) = (outcome(Source::Memory(0), 10, 0), outcome(Source::Other, 10, 0));
        let mut windows = Windows::default();
        window(&mut windows, &[near, other], 20);
        window(&mut windows, &[other, other], 20);
        window(&mut windows, &[near], 10);
        let mut all = Windows::default();
        all.add(&windows);
        let served: Vec<_> = all.served().collect();
        assert_eq!(served, [(1, Served { hops: 1, other: 0 }), (2, Served { hops: 4, other: 3 })]);
    }

    #[test]
    fn what_was_not_opened_or_not_closed_is_not_kept() {
        let mut windows = Windows::default();
        windows.hop(&outcome(Source::Level(0), 10, 0));
        windows.close(5);
        windows.open(7);
        windows.hop(&outcome(Source::Level(0), 10, 0));
        windows.forget();
        windows.close(8);
        windows.open(9);
        assert!(windows.is_open());
        windows.close(99);
        assert_eq!((kept(&windows), windows.empty()), (vec![], Some(90)));
    }

    #[test]
    fn excesses_are_rounded_to_a_part_of_themselves() {
        assert_eq!([-127, -1, 0, 127].map(rounded), [-127, -1, 0, 127]);
        assert!((0..100_000).all(|ticks: i64| (rounded(-ticks) + ticks).abs() * 128 <= ticks));
    }
}
