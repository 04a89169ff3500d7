//! The grouped chains of a buffer, whose loads find their translation in the TLB in known shares.
//!
//! A random load has the latency of memory and of a translation. To tell them apart, grouped chains visit each page
//! several times within a short *window*: only the first of `k` visits may walk the page table, so the mean load of
//! such a chain has the latency of memory and one `k`-th of a walk. A *group* is the pages whose page-table entries
//! share a line; a window is groups taken at random from anywhere in the working set, 32 pages in all, a third of the
//! smallest first-level TLB. The visits of a window are in random order. A lap has several *passes*; in each of them,
//! every page is in one window, with other partners and other lines.
//!
//! Every pair of lines has one line of the random chain and one line of a grouped chain, so all chains span the same
//! pages, and no chain loads a line that another has just brought into a cache. Half of the grouped lines belong to the
//! chain of four visits, a quarter to that of two, and an eighth each to that of one visit and to that of four visits in
//! windows of half the pages, which shows whether the TLB holds a window. Of each chain, less than a window of lines in
//! each pass is in none.
//!
//! Nodes are numbered by the time at which a lap visits them. Everything is computed: nothing is stored for each node.

use super::layout::NodeLayout;
use super::weyl::Mixer;
use crate::rng::Pcg32;
use crate::units::PageSize;

/// Number of grouped chains.
pub const GROUPED: usize = 4;
/// Visits of a page in a window of each grouped chain.
pub const VISITS: [u64; GROUPED] = [4, 2, 1, 4];
/// Pages in a window of each grouped chain.
const WINDOW_PAGES: [u64; GROUPED] = [32, 32, 32, 16];
/// Share of each chain in the grouped lines, in eighths.
const SHARES: [u64; GROUPED] = [4, 2, 1, 1];
/// Sum of [`SHARES`].
const ALL_SHARES: u64 = 8;
/// Maximum visits in a window: [`VISITS`] times [`WINDOW_PAGES`].
const MOST_VISITS: usize = 128;
/// Minimum number of windows of a pass.
const FEWEST_WINDOWS: u64 = 8;
/// Pairs of lines in the smallest page: a pass of each chain needs as many lines as it visits.
const FEWEST_PAIRS: u64 = 32;
/// Maximum pairs of lines in a page: pages of 64 KiB with lines of 64 bytes.
const MOST_PAIRS: usize = 512;
/// The multiplier of a Fibonacci hash (Knuth, TAOCP 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A random order of few numbers, and its inverse.
#[derive(Clone, Copy, Debug)]
struct Shuffled<const N: usize> {
    at: [u16; N],
    /// The largest index; the number of elements is a power of two.
    mask: u64,
}

impl<const N: usize> Shuffled<N> {
    /// Returns a random order of `count` numbers, a power of two up to `N`.
    fn new(count: u64, rng: &mut Pcg32) -> Self {
        let mut at = [0; N];
        (0u16..).zip(at.iter_mut()).for_each(|(number, slot)| *slot = number);
        rng.shuffle(at.get_mut(..count as usize).unwrap_or_default());
        Shuffled { at, mask: count - 1 }
    }

    /// Returns the order whose elements are the places of this one.
    fn inverse(&self) -> Self {
        let mut inverse = *self;
        for (place, &number) in (0u16..).zip(self.at.iter()) {
            if let Some(slot) = inverse.at.get_mut(usize::from(number)) {
                *slot = place;
            }
        }
        inverse
    }

    #[inline(always)]
    fn get(&self, index: u64) -> u64 {
        self.at.get((index & self.mask) as usize).map_or(0, |&number| u64::from(number))
    }
}

/// Two numbers that make a fixed order another one for each page and each window.
#[derive(Clone, Copy, Debug)]
struct Keys {
    added: u64,
    mixed: u64,
}

impl Keys {
    #[inline(always)]
    const fn of(number: u64, seed: u64) -> Keys {
        let hash = (number ^ seed).wrapping_mul(GOLDEN);
        Keys { added: hash >> 32, mixed: hash >> 48 }
    }
}

/// One grouped chain.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// The number of its first node, and the number of its nodes.
    first: u64,
    nodes: u64,
    /// The place of its first line in the order of a page's pairs.
    from: u64,
    /// Visits of a page in a window, and binary logarithm of the pages of a window.
    visits: u64,
    page_bits: u32,
    /// Windows of a pass.
    windows: u64,
    /// Groups of a window.
    groups: u64,
    /// The order of visits in a window, by number of the visit, and its inverse.
    order: Shuffled<MOST_VISITS>,
    inverse: Shuffled<MOST_VISITS>,
    seed: u64,
}

/// The time of a visit in a lap: the window, counted over all passes, and the visit in it.
#[derive(Clone, Copy, Debug)]
struct Turn {
    window: u64,
    visit: u64,
}

impl Cycle {
    /// Returns the visits in a window.
    const fn per_window(&self) -> u64 {
        self.visits << self.page_bits
    }

    fn turn(&self, time: u64) -> Turn {
        Turn { window: time / self.per_window(), visit: time % self.per_window() }
    }

    /// Returns the page of a window that a visit loads from, and the number of the line among those of the pass.
    #[inline(always)]
    fn page_and_line(&self, Turn { window, visit }: Turn) -> (u64, u64) {
        let Keys { added, mixed } = Keys::of(window, self.seed);
        let slot = self.order.get(visit.wrapping_add(added)) ^ (mixed & self.order.mask);
        (slot & ((1 << self.page_bits) - 1), slot >> self.page_bits)
    }

    /// Returns the visit of a window that loads a line of a page.
    #[inline(always)]
    fn visit(&self, window: u64, page: u64, line: u64) -> u64 {
        let Keys { added, mixed } = Keys::of(window, self.seed);
        let slot = (line << self.page_bits | page) ^ (mixed & self.order.mask);
        self.inverse.get(slot).wrapping_sub(added) & self.order.mask
    }
}

/// The groups of a window.
type Members = [u64; 4];

/// The grouped chains beside a random chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grouped {
    cycles: [Cycle; GROUPED],
    /// Pairs of lines in a page, and pages in a group, as binary logarithms.
    pair_bits: u32,
    group_bits: u32,
    /// Whole groups of the working set.
    groups: u64,
    mixer: Mixer,
    /// The order of the pairs of a page.
    pairs: Shuffled<MOST_PAIRS>,
    seed: u64,
}

impl Grouped {
    /// Returns the grouped chains over the working set of `layout`, whose nodes are pairs of lines, numbered from the end
    /// of its own nodes; `None` if the set is too small, or if pages or lines have an unusual size.
    pub(super) fn new(layout: &NodeLayout, page: PageSize, rng: &mut Pcg32) -> Option<Grouped> {
        /// Bytes of a page-table entry.
        const ENTRY: u64 = 8;
        let line = layout.line();
        let pairs = page.bytes().0 / line.0 / 2;
        let per_group = line.0 / ENTRY;
        let groups = layout.size().0 / page.bytes().0 / per_group;
        let narrowest = WINDOW_PAGES.into_iter().min()?;
        let has_room = groups * per_group >= FEWEST_WINDOWS * WINDOW_PAGES.into_iter().max()?;
        if !(FEWEST_PAIRS..=MOST_PAIRS as u64).contains(&pairs) || per_group > narrowest || !has_room {
            return None;
        }
        let mixer = Mixer::new(groups.next_power_of_two().trailing_zeros(), rng);
        let mut first = layout.nodes;
        let mut from = 0;
        let mut shapes = VISITS.into_iter().zip(WINDOW_PAGES).zip(SHARES);
        let cycles = core::array::from_fn(|_| {
            let ((visits, window_pages), share) = shapes.next().unwrap_or_default();
            let lines = pairs * share / ALL_SHARES;
            let (in_window, passes) = (window_pages / per_group, lines / visits.max(1));
            let windows = groups / in_window.max(1);
            let order = Shuffled::new(visits * window_pages, rng);
            let cycle = Cycle {
                first,
                nodes: passes * windows * visits * window_pages,
                from,
                visits,
                page_bits: window_pages.trailing_zeros(),
                windows,
                groups: in_window,
                order,
                inverse: order.inverse(),
                seed: rng.next_u64(),
            };
            (first, from) = (first + cycle.nodes, from + lines);
            cycle
        });
        let pairs = Shuffled::new(pairs, rng);
        Some(Grouped {
            cycles,
            pair_bits: (pairs.mask + 1).trailing_zeros(),
            group_bits: per_group.trailing_zeros(),
            groups,
            mixer,
            pairs,
            seed: rng.next_u64(),
        })
    }

    /// Returns the number of the first node and the number of nodes of a grouped chain.
    pub(super) fn cycle(&self, index: usize) -> Option<(u64, u64)> {
        self.cycles.get(index).map(|cycle| (cycle.first, cycle.nodes))
    }

    /// Returns the number behind the last node.
    pub(super) fn end(&self) -> u64 {
        self.cycles.last().map_or(0, |cycle| cycle.first + cycle.nodes)
    }

    /// Returns the node that a chase from `node` reaches after `hops` hops.
    pub(super) fn advance(&self, node: u64, hops: u64) -> u64 {
        let Some(cycle) = self.of(node) else { return node };
        cycle.first + (node - cycle.first + hops % cycle.nodes) % cycle.nodes
    }

    /// Returns the number of the pair of lines that `node` is in.
    pub(super) fn pair(&self, node: u64) -> u64 {
        let Some(cycle) = self.of(node) else { return 0 };
        let turn = cycle.turn(node - cycle.first);
        let (page, _) = cycle.page_and_line(turn);
        let group = self.group(cycle, turn.window, page >> self.group_bits);
        self.pair_of(cycle, turn, group)
    }

    /// Returns the chain that has the grouped line of a pair, if the pair is in a window of it.
    pub(super) fn owner(&self, pair: u64) -> Option<usize> {
        let page = pair >> self.pair_bits;
        let group = Some(page >> self.group_bits).filter(|group| *group < self.groups)?;
        let index = (0..=self.pairs.mask).find(|index| self.in_page(page, *index) == pair)?;
        let chain = self.cycles.iter().rposition(|cycle| cycle.from <= index)?;
        let cycle = self.cycles.get(chain)?;
        let place = self.place(cycle, (index - cycle.from) / cycle.visits, group);
        (place < cycle.windows * cycle.groups).then_some(chain)
    }

    /// Calls `each` with the number of the pair of every grouped line of a group, and the number of the pair of its
    /// successor.
    pub(super) fn of_group(&self, group: u64, each: &mut dyn FnMut(u64, u64)) {
        for cycle in &self.cycles {
            let passes = cycle.nodes / (cycle.windows * cycle.per_window());
            for pass in 0..passes {
                let place = self.place(cycle, pass, group);
                if place >= cycle.windows * cycle.groups {
                    continue;
                }
                let window = pass * cycle.windows + place / cycle.groups;
                let mut members: Members = [0; 4];
                (0..cycle.groups).zip(&mut members).for_each(|(member, slot)| {
                    *slot = self.group(cycle, window, member);
                });
                self.of_window(cycle, window, &members, (place % cycle.groups, group), each);
            }
        }
    }

    /// Calls `each` for the lines of one member of a window.
    fn of_window(
        &self,
        cycle: &Cycle,
        window: u64,
        members: &Members,
        (member, group): (u64, u64),
        each: &mut dyn FnMut(u64, u64),
    ) {
        let first = member << self.group_bits;
        for page in first..first + (1 << self.group_bits) {
            for line in 0..cycle.visits {
                let visit = cycle.visit(window, page, line);
                let pair = self.pair_of(cycle, Turn { window, visit }, group);
                let successor = if visit + 1 < cycle.per_window() {
                    let next = Turn { window, visit: visit + 1 };
                    let member = cycle.page_and_line(next).0 >> self.group_bits;
                    let group = members.get(member as usize).copied().unwrap_or_default();
                    self.pair_of(cycle, next, group)
                } else {
                    let time = (window + 1) * cycle.per_window() % cycle.nodes;
                    self.pair(cycle.first + time)
                };
                each(pair, successor);
            }
        }
    }

    /// Returns the number of whole groups.
    pub(super) const fn groups(&self) -> u64 {
        self.groups
    }

    fn of(&self, node: u64) -> Option<&Cycle> {
        self.cycles.iter().rfind(|cycle| cycle.first <= node)
    }

    /// Returns the number of the pair that a visit loads from, in a group of its window.
    #[inline(always)]
    fn pair_of(&self, cycle: &Cycle, turn: Turn, group: u64) -> u64 {
        let (page, line) = cycle.page_and_line(turn);
        let page = group << self.group_bits | (page & ((1 << self.group_bits) - 1));
        let pass = turn.window / cycle.windows;
        self.in_page(page, cycle.from + pass * cycle.visits + line)
    }

    /// Returns the number of the pair at a place in the order of a page.
    #[inline(always)]
    fn in_page(&self, page: u64, index: u64) -> u64 {
        let Keys { added, mixed } = Keys::of(page, self.seed);
        let pair = self.pairs.get(index.wrapping_add(added)) ^ (mixed & self.pairs.mask);
        page << self.pair_bits | pair
    }

    /// Returns a member of a window.
    fn group(&self, cycle: &Cycle, window: u64, member: u64) -> u64 {
        let (pass, window) = (window / cycle.windows, window % cycle.windows);
        let key = self.key(cycle, pass);
        // The first return to the groups that there are.
        let mut group = window * cycle.groups + member;
        loop {
            group = self.mixer.mix(self.mixer.mix(group) ^ key);
            if group < self.groups {
                return group;
            }
        }
    }

    /// Returns the place of a group in the order of a pass; the inverse of [`group`](Self::group).
    fn place(&self, cycle: &Cycle, pass: u64, group: u64) -> u64 {
        let key = self.key(cycle, pass);
        let mut place = group;
        loop {
            place = self.mixer.unmix(self.mixer.unmix(place) ^ key);
            if place < self.groups {
                return place;
            }
        }
    }

    const fn key(&self, cycle: &Cycle, pass: u64) -> u64 {
        ((pass ^ cycle.seed).wrapping_mul(GOLDEN) >> 20) & self.mixer.mask
    }
}

#[cfg(test)]
#[path = "grouped_tests.rs"]
mod tests;
