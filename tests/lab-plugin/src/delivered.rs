//! The durations of the guest's timed windows, next to the modelled ones.
//!
//! A window is a period that the guest times: from a stamp that opens it, over one call of a loop, to a stamp that
//! closes it. Its excess is its duration less the modelled time of its loads, per hop. Only the host can lengthen a
//! window, so the excess is the distance of a correct report of the window above the model.
//!
//! Windows are grouped by the properties common to all of their hops, and by the pair of nodes of their last hop.
//! Nothing here reads a clock.

use std::collections::BTreeMap;

use crate::excesses::Excesses;
use crate::listed::{Listed, Walk};
use crate::model::{Outcome, Source};
use crate::timed::{Key, Served};

/// Ticks above which an empty window is not counted. The guest times empty windows to measure the duration of its
/// stamps.
const LONGEST_EMPTY: usize = 4096;

/// Properties common to the hops of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// Source of the lines; `None` if they came from several.
    pub source: Option<Source>,
    /// Levels of the TLB that were missed; the maximum of all hops.
    pub misses: usize,
    /// Number of hops.
    pub hops: u64,
    /// Ticks of the tail in a window of one hop; 0 for several hops.
    pub tail: u64,
}

/// A window that is open.
#[derive(Clone, Copy, Debug)]
struct Window {
    opened: u64,
    class: Class,
    pair: Option<usize>,
    served: Served,
    walk: Walk,
    blocks: Blocks,
}

/// Blocks of known arithmetic in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Blocks {
    count: u64,
    /// Modelled ticks of all of them.
    asked: u64,
}

/// A window that is closed.
#[derive(Clone, Copy, Debug)]
struct Closed {
    window: Window,
    /// Ticks above the modelled ones: per hop, or of all blocks of arithmetic.
    excess: i64,
    /// Ticks of the whole window above the modelled ones.
    above: i64,
}

/// The windows of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    open: Option<Window>,
    /// The last window. It is stored while no window is open, because storing needs time.
    closed: Option<Closed>,
    kept: BTreeMap<Class, Excesses>,
    timed: BTreeMap<Key, (Served, Excesses)>,
    /// Minimum number of hops of a listed window; without, no window is listed.
    fewest: Option<u64>,
    listed: BTreeMap<Key, Listed>,
    /// Excesses of windows of known arithmetic, by the number of blocks.
    arithmetic: BTreeMap<u64, Excesses>,
    /// Runs of the program that have begun.
    run: u32,
    empty: Vec<u64>,
}

impl Windows {
    /// Makes an empty state that lists the windows of `fewest` hops or more, one by one.
    #[must_use]
    pub fn listing(fewest: Option<u64>) -> Self {
        Windows { fewest, ..Windows::default() }
    }

    /// Notes the beginning of a run of the program that times windows.
    pub fn begin_run(&mut self) {
        self.keep();
        self.open = None;
        self.run += 1;
    }

    /// Opens a window at `opened`; a window that is still open is dropped.
    pub fn open(&mut self, opened: u64) {
        let class = Class { source: None, misses: 0, hops: 0, tail: 0 };
        let (served, walk, blocks) = (Served::default(), Walk::default(), Blocks::default());
        self.open = Some(Window { opened, class, pair: None, served, walk, blocks });
    }

    /// Returns true if a window is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Drops the open window.
    pub fn forget(&mut self) {
        self.open = None;
    }

    /// Adds a block of known arithmetic of `ticks` to the open window.
    pub fn block(&mut self, ticks: u64) {
        let Some(Window { blocks, .. }) = &mut self.open else { return };
        blocks.count += 1;
        blocks.asked = blocks.asked.saturating_add(ticks);
    }

    /// Adds a hop to the virtual address `address` to the open window.
    pub fn hop(&mut self, address: u64, outcome: &Outcome) {
        let Some(Window { class, pair, served, walk, .. }) = &mut self.open else { return };
        if class.hops == 0 {
            class.source = Some(outcome.source);
        } else if class.source != Some(outcome.source) {
            class.source = None;
        }
        *pair = outcome.pair;
        served.hop(outcome);
        walk.hop(address, outcome.ticks, outcome.translation);
        class.misses = class.misses.max(outcome.misses);
        class.tail = if class.hops == 0 { outcome.tail } else { 0 };
        class.hops += 1;
    }

    /// Closes the open window at `closed`.
    pub fn close(&mut self, closed: u64) {
        let Some(window) = self.open.take() else { return };
        let taken = closed.saturating_sub(window.opened);
        let above =
            |asked: u64| i64::try_from(taken).unwrap_or(i64::MAX) - i64::try_from(asked).unwrap_or(i64::MAX);
        if window.blocks.count > 0 {
            // Arithmetic and hops in one window are neither.
            let is_pure = window.class.hops == 0;
            let excess = above(window.blocks.asked);
            self.closed = is_pure.then_some(Closed { window, excess, above: excess });
            return;
        }
        let Some(hops) = i64::try_from(window.class.hops).ok().filter(|&hops| hops > 0) else {
            self.empty.resize(LONGEST_EMPTY, 0);
            if let Some(count) = usize::try_from(taken).ok().and_then(|taken| self.empty.get_mut(taken)) {
                *count += 1;
            }
            return;
        };
        let above = above(window.served.asked);
        let excess = (above + hops.signum() * hops / 2).div_euclid(hops);
        self.closed = Some(Closed { window, excess, above });
    }

    /// Keeps the last window.
    pub fn keep(&mut self) {
        if let Some(closed) = self.closed.take() {
            self.keep_one(closed, self.run);
        }
    }

    fn keep_one(&mut self, closed: Closed, run: u32) {
        let Closed { window: Window { class, pair, served, walk, blocks, .. }, excess, above } = closed;
        if blocks.count > 0 {
            self.arithmetic.entry(blocks.count).or_default().note(excess);
            return;
        }
        self.kept.entry(class).or_default().note(excess);
        let key = Key { run, pair, hops: class.hops };
        let (all, excesses) = self.timed.entry(key).or_default();
        all.add(&served);
        excesses.note(excess);
        if self.fewest.is_some_and(|fewest| class.hops >= fewest) {
            self.listed.entry(key).or_default().note(walk, above);
        }
    }

    /// Adds the kept windows of `other`, and lists windows by its rule.
    pub fn add(&mut self, other: &Windows) {
        self.fewest = other.fewest;
        for (key, listed) in &other.listed {
            self.listed.entry(*key).or_default().add(listed);
        }
        for (class, excesses) in &other.kept {
            self.kept.entry(*class).or_default().add(excesses);
        }
        for (key, (served, excesses)) in &other.timed {
            let all = self.timed.entry(*key).or_default();
            all.0.add(served);
            all.1.add(excesses);
        }
        for (blocks, excesses) in &other.arithmetic {
            self.arithmetic.entry(*blocks).or_default().add(excesses);
        }
        if let Some(closed) = other.closed {
            self.keep_one(closed, other.run);
        }
        self.empty.resize(self.empty.len().max(other.empty.len()), 0);
        self.empty.iter_mut().zip(&other.empty).for_each(|(into, from)| *into += from);
    }

    /// Returns the excesses of each class.
    pub fn kept(&self) -> impl Iterator<Item = (&Class, &Excesses)> {
        self.kept.iter()
    }

    /// Returns the excesses of windows of known arithmetic, by the number of blocks.
    pub fn arithmetic(&self) -> impl Iterator<Item = (u64, &Excesses)> {
        self.arithmetic.iter().map(|(&blocks, excesses)| (blocks, excesses))
    }

    /// Returns the hops of windows by run, pair of nodes and hops of a window, counted by source.
    pub fn timed(&self) -> impl Iterator<Item = (&Key, &Served, &Excesses)> {
        self.timed.iter().map(|(key, (served, excesses))| (key, served, excesses))
    }

    /// Returns the listed windows by run, pair of nodes and hops of a window.
    pub fn listed(&self) -> impl Iterator<Item = (&Key, &Listed)> {
        self.listed.iter()
    }

    /// Counts all hops of windows, and those that another node's levels served, by the hops of a window.
    #[must_use]
    pub fn by_hops(&self) -> BTreeMap<u64, [u64; 2]> {
        let mut all: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
        for (Key { hops, .. }, served, _) in self.timed() {
            let [every, other] = all.entry(*hops).or_default();
            *every += served.hops();
            *other += served.other;
        }
        all
    }

    /// Returns the median ticks of windows without a hop, if there were any.
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
        Outcome {
            ticks: ticks + tail,
            tail,
            translation: 0,
            misses: 0,
            pause: 0,
            source,
            pair: Some(0),
            paid: false,
            prefetched: 0,
        }
    }

    fn window(windows: &mut Windows, hops: &[Outcome], taken: u64) {
        windows.keep();
        windows.open(1000);
        hops.iter().for_each(|hop| windows.hop(0, hop));
        windows.close(1000 + taken);
    }

    fn kept(windows: &Windows) -> Vec<(Class, Vec<(i64, u64)>)> {
        let mut all = Windows::default();
        all.add(windows);
        all.kept().map(|(class, excesses)| (*class, excesses.counts().collect())).collect()
    }

    #[test]
    fn the_excess_is_the_extra_time_per_hop() {
        let memory = outcome(Source::Memory(1), 500, 0);
        let mut windows = Windows::default();
        for taken in [2040, 2040, 1960, 9_002_000] {
            window(&mut windows, &[memory; 4], taken);
        }
        let class = Class { source: Some(Source::Memory(1)), misses: 0, hops: 4, tail: 0 };
        let [(found, excesses)] = &kept(&windows)[..] else { panic!("several classes") };
        let [first, second, (long, 1)] = excesses[..] else { panic!("{excesses:?}") };
        assert_eq!((*found, first, second), (class, (-10, 1), (10, 2)));
        assert!((long - 2_250_000).abs() < 2_250_000 / 100);
    }

    #[test]
    fn windows_are_grouped_by_common_properties_of_their_hops() {
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
    fn hops_from_another_node_are_counted_by_window_length() {
        let (near, other) = (outcome(Source::Memory(0), 10, 0), outcome(Source::Other, 10, 0));
        let mut windows = Windows::default();
        window(&mut windows, &[near, other], 20);
        window(&mut windows, &[other, other], 20);
        window(&mut windows, &[near], 10);
        windows.begin_run();
        window(&mut windows, &[near], 17);
        let mut all = Windows::default();
        all.add(&windows);
        assert_eq!(all.by_hops(), BTreeMap::from([(1, [2, 0]), (2, [4, 3])]));
        let timed: Vec<_> = all
            .timed()
            .map(|(key, served, excesses)| (key.run, key.hops, served.asked, excesses.sum))
            .collect();
        assert_eq!(timed, [(0, 1, 10, 0), (0, 2, 40, 0), (1, 1, 10, 7)]);
    }

    #[test]
    fn long_windows_are_listed_one_by_one() {
        let hop = |translation| Outcome { translation, pause: 40, ..outcome(Source::Memory(0), 500, 0) };
        let mut windows = Windows::listing(Some(2));
        for addresses in [&[0x7040, 0x5000][..], &[0x4000], &[0x6000, 0x6fc0]] {
            windows.keep();
            windows.open(1000);
            addresses.iter().for_each(|&address| windows.hop(address, &hop(70)));
            windows.close(2083);
        }
        let mut all = Windows::default();
        all.add(&windows);
        let listed: Vec<_> = all.listed().map(|(key, listed)| (key.hops, listed.to_string())).collect();
        let text = "lowest 0x5000; 0x7040:0x5000:860:140:3 0x6000:0x6fc0:860:140:3";
        assert_eq!(listed, [(2, text.to_owned())]);
    }

    #[test]
    fn windows_of_arithmetic_are_kept_by_their_number_of_blocks() {
        let mut windows = Windows::default();
        for taken in [530, 530, 600] {
            windows.keep();
            windows.open(1000);
            windows.block(256);
            windows.block(256);
            windows.close(1000 + taken);
        }
        let mut all = Windows::default();
        all.add(&windows);
        let excesses: Vec<_> = all.arithmetic().map(|(blocks, all)| (blocks, all.to_string())).collect();
        assert_eq!(excesses, [(2, "excess 18:2 88:1".to_owned())]);
        assert_eq!((kept(&windows), windows.empty()), (vec![], None));
    }

    #[test]
    fn incomplete_windows_are_not_kept() {
        let mut windows = Windows::default();
        windows.hop(0, &outcome(Source::Level(0), 10, 0));
        windows.close(5);
        windows.open(7);
        windows.hop(0, &outcome(Source::Level(0), 10, 0));
        windows.block(3);
        windows.close(8);
        windows.open(9);
        assert!(windows.is_open());
        windows.close(99);
        assert_eq!((kept(&windows), windows.empty()), (vec![], Some(90)));
    }
}
