//! The grouped chains of a buffer, whose loads find their translation in the TLB in known shares.
//!
//! A random load has the latency of memory and of a translation. To tell them apart, grouped chains visit each page
//! several times within a short *window*: only the first of `k` visits may walk the page table, so the mean load of
//! a grouped chain has the latency of memory and one `k`-th of a walk. A *group* is the pages whose page-table entries
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
//! Their nodes are numbered by the time at which a lap visits them. A grouped chain alone has both lines of each pair, and
//! nodes in the order of addresses. Everything is computed: nothing is stored for each node.

use super::layout::NodeLayout;
use super::weyl::{Mixer, inverse_of_odd};
use crate::rng::Pcg32;
use crate::units::{Bytes, PageSize};

/// Number of grouped chains.
pub const GROUPED: usize = 4;
/// The windows of each grouped chain.
pub const WINDOWS: [Window; GROUPED] = [
    Window { visits: 4, pages: 32, eighths: 4 },
    Window { visits: 2, pages: 32, eighths: 2 },
    Window { visits: 1, pages: 32, eighths: 1 },
    Window { visits: 4, pages: 16, eighths: 1 },
];
/// Maximum loads in a window.
const MOST_LOADS: usize = 128;
/// Minimum number of pages of a working set: 8 of the largest windows.
pub const FEWEST_PAGES: u64 = 256;
/// Pairs of lines in the smallest page: a pass of each chain needs as many lines as it visits.
const FEWEST_PAIRS: u64 = 32;
/// Maximum pairs of lines in a page: pages of 64 KiB with lines of 64 bytes.
const MOST_PAIRS: u64 = 512;
/// The multiplier of a Fibonacci hash (Knuth, TAOCP 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The windows of a grouped chain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Visits of each page in a window.
    pub visits: u64,
    /// Pages of a window.
    pub pages: u64,
    /// The chain's share of the grouped lines, which are half of all lines, in eighths.
    pub eighths: u64,
}

impl Window {
    /// Returns the number of loads in a window.
    pub const fn loads(self) -> u64 {
        self.visits * self.pages
    }
}

/// A random order of few numbers.
#[derive(Clone, Copy, Debug)]
struct Shuffled {
    at: [u16; MOST_LOADS],
    /// The largest index; the number of elements is a power of two.
    mask: u64,
}

impl Shuffled {
    /// Returns a random order of `count` numbers, a power of two up to [`MOST_LOADS`].
    fn new(count: u64, rng: &mut Pcg32) -> Self {
        let mut at = [0; MOST_LOADS];
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

/// Returns a number that looks random.
#[inline(always)]
const fn hash(number: u64, seed: u64) -> u64 {
    let hash = (number ^ seed).wrapping_mul(GOLDEN);
    (hash ^ (hash >> 32)).wrapping_mul(GOLDEN)
}

/// The order of the visits of one window, made of the fixed order of its chain.
#[derive(Clone, Copy, Debug)]
struct VisitOrder {
    added: u64,
    mixed: u64,
    /// An odd number, and its inverse: neighbours in the fixed order are not neighbours in this one.
    stride: u64,
    inverse: u64,
}

impl VisitOrder {
    fn of(window: u64, cycle: &GroupedChain) -> VisitOrder {
        let hash = hash(window, cycle.seed);
        let stride = hash >> 48 | 1;
        let mixed = (hash >> 40) & cycle.order.mask;
        VisitOrder { added: hash >> 32, mixed, stride, inverse: inverse_of_odd(stride) }
    }

    /// Returns the page of the window that a visit loads from, and the number of the line among those of the pass.
    #[inline(always)]
    fn page_and_line(&self, cycle: &GroupedChain, visit: u64) -> (u64, u64) {
        let slot = cycle.order.get(visit.wrapping_mul(self.stride).wrapping_add(self.added)) ^ self.mixed;
        (slot & ((1 << cycle.page_bits) - 1), slot >> cycle.page_bits)
    }

    /// Returns the visit that loads a line of a page.
    #[inline(always)]
    fn visit(&self, cycle: &GroupedChain, page: u64, line: u64) -> u64 {
        let place = cycle.inverse.get((line << cycle.page_bits | page) ^ self.mixed);
        place.wrapping_sub(self.added).wrapping_mul(self.inverse) & cycle.order.mask
    }
}

/// The numbers that make the order of the pairs of a page.
#[derive(Clone, Copy, Debug)]
struct PairOrder {
    hash: u64,
    /// The number of the first pair of the page.
    first: u64,
    mask: u64,
    half: u32,
}

impl PairOrder {
    #[inline(always)]
    const fn of(page: u64, pages: &PageGroups) -> PairOrder {
        let bits = pages.pair_bits;
        let (mask, half) = ((1 << bits) - 1, bits.div_ceil(2));
        PairOrder { hash: hash(page, pages.seed), first: page << bits, mask, half }
    }

    /// Returns the number of the pair at a place in the order.
    ///
    /// Each page has an order of its own, from rounds of addition, odd multiplication and xor-shift whose numbers are
    /// drawn for the page: where many pages share distances between lines, prefetchers learn them.
    #[inline(always)]
    const fn pair(&self, place: u64) -> u64 {
        self.first | self.round(self.round(self.round(place, 4), 20), 38)
    }

    #[inline(always)]
    const fn placed(&self, place: u64) -> PlacedPair {
        (self.pair(place), place)
    }

    #[inline(always)]
    const fn round(&self, place: u64, shift: u32) -> u64 {
        let place = place.wrapping_add(self.hash >> shift).wrapping_mul(self.factor(shift)) & self.mask;
        place ^ (place >> self.half)
    }

    /// Returns the place of a pair of the page in the order; the inverse of [`pair`](Self::pair).
    #[inline(always)]
    const fn place(&self, pair: u64) -> u64 {
        self.unround(self.unround(self.unround(pair & self.mask, 38), 20), 4)
    }

    #[inline(always)]
    const fn unround(&self, place: u64, shift: u32) -> u64 {
        // An xor-shift by at least half of the bits is its own inverse.
        let place = (place ^ (place >> self.half)).wrapping_mul(inverse_of_odd(self.factor(shift)));
        place.wrapping_sub(self.hash >> shift) & self.mask
    }

    #[inline(always)]
    const fn factor(&self, shift: u32) -> u64 {
        self.hash >> (shift + 8) | 1
    }
}

/// One grouped chain.
#[derive(Clone, Copy, Debug)]
struct GroupedChain {
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
    order: Shuffled,
    inverse: Shuffled,
    seed: u64,
}

impl GroupedChain {
    /// Returns a chain with `lines` lines of each page from the place `from` on, and with its first node.
    fn new(
        window: Window,
        pages: &PageGroups,
        first: u64,
        (from, lines): (u64, u64),
        rng: &mut Pcg32,
    ) -> GroupedChain {
        let (groups, passes) = (window.pages >> pages.group_bits, lines / window.visits);
        let windows = pages.groups / groups;
        let order = Shuffled::new(window.loads(), rng);
        GroupedChain {
            first,
            nodes: passes * windows * window.loads(),
            from,
            visits: window.visits,
            page_bits: window.pages.trailing_zeros(),
            windows,
            groups,
            order,
            inverse: order.inverse(),
            seed: rng.next_u64(),
        }
    }

    /// Returns the number of loads in a window.
    const fn per_window(&self) -> u64 {
        self.visits << self.page_bits
    }

    /// Returns the place of the first line of a window's pass in the order of a page.
    const fn first_line(&self, window: u64) -> u64 {
        self.from + window / self.windows * self.visits
    }

    /// Returns the page that is visited at a time, and the place of its line in the order of the page.
    fn at(&self, time: u64, pages: &PageGroups) -> (u64, u64) {
        let (window, visit) = (time / self.per_window(), time % self.per_window());
        let (page, line) = VisitOrder::of(window, self).page_and_line(self, visit);
        let group = pages.group(self, window, page >> pages.group_bits);
        (pages.page(group, page), self.first_line(window) + line)
    }

    /// Calls `each` with every line of a group, and with its successor.
    fn of_group(&self, pages: &PageGroups, group: u64, each: &mut dyn FnMut(PlacedPair, PlacedPair)) {
        for pass in 0..self.nodes / (self.windows * self.per_window()) {
            let Some((window, member)) = pages.seat(self, pass, group) else { continue };
            let mut members = [0; 4];
            (0..self.groups).zip(&mut members).for_each(|(member, slot)| {
                *slot = pages.group(self, window, member);
            });
            let (order, first_line) = (VisitOrder::of(window, self), self.first_line(window));
            let first = member << pages.group_bits;
            for page in first..first + (1 << pages.group_bits) {
                let pairs = PairOrder::of(pages.page(group, page), pages);
                for line in 0..self.visits {
                    let next = order.visit(self, page, line) + 1;
                    let (page, place) = if next < self.per_window() {
                        let (page, line) = order.page_and_line(self, next);
                        let group = members.get((page >> pages.group_bits) as usize).copied();
                        (pages.page(group.unwrap_or_default(), page), first_line + line)
                    } else {
                        self.at((window + 1) * self.per_window() % self.nodes, pages)
                    };
                    each(pairs.placed(first_line + line), PairOrder::of(page, pages).placed(place));
                }
            }
        }
    }
}

/// The number of a pair of lines, and a place of it in the order of its page.
type PlacedPair = (u64, u64);

/// The pages of a working set, in groups.
#[derive(Clone, Copy, Debug)]
struct PageGroups {
    /// Pairs of lines in a page, and pages in a group, as binary logarithms.
    pair_bits: u32,
    group_bits: u32,
    /// Whole groups of the working set.
    groups: u64,
    mixer: Mixer,
    seed: u64,
}

impl PageGroups {
    /// Returns the pages of a working set; `None` if the set is too small, or if pages or lines have an unusual size.
    fn new(size: Bytes, line: Bytes, page: PageSize, rng: &mut Pcg32) -> Option<PageGroups> {
        /// Bytes of a page-table entry.
        const ENTRY: u64 = 8;
        let pairs = page.bytes().0 / line.0 / 2;
        let per_group = line.0 / ENTRY;
        let groups = size.0 / page.bytes().0 / per_group;
        let narrowest = WINDOWS.into_iter().map(|window| window.pages).min()?;
        let has_room = groups * per_group >= FEWEST_PAGES;
        if !(FEWEST_PAIRS..=MOST_PAIRS).contains(&pairs) || per_group > narrowest || !has_room {
            return None;
        }
        Some(PageGroups {
            pair_bits: pairs.trailing_zeros(),
            group_bits: per_group.trailing_zeros(),
            groups,
            mixer: Mixer::new(groups.next_power_of_two().trailing_zeros(), rng),
            seed: 0,
        })
    }

    /// Returns the number of a page of a group, from its number in the window.
    #[inline(always)]
    const fn page(&self, group: u64, page: u64) -> u64 {
        group << self.group_bits | (page & ((1 << self.group_bits) - 1))
    }

    /// Returns a member of a window.
    fn group(&self, cycle: &GroupedChain, window: u64, member: u64) -> u64 {
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

    /// Returns the window of a pass that a group is in, and its number there, the inverse of [`group`](Self::group);
    /// `None` if it is in none.
    fn seat(&self, cycle: &GroupedChain, pass: u64, group: u64) -> Option<(u64, u64)> {
        let key = self.key(cycle, pass);
        let mut place = group;
        loop {
            place = self.mixer.unmix(self.mixer.unmix(place) ^ key);
            if place < self.groups {
                let window = pass * cycle.windows + place / cycle.groups;
                return (place < cycle.windows * cycle.groups).then_some((window, place % cycle.groups));
            }
        }
    }

    /// Calls `of_group` for each group, until `pause` returns true. Returns whether it did not.
    fn each(&self, pause: &mut dyn FnMut() -> bool, of_group: &mut dyn FnMut(u64)) -> bool {
        (0..self.groups).all(|group| {
            of_group(group);
            !pause()
        })
    }

    const fn key(&self, cycle: &GroupedChain, pass: u64) -> u64 {
        ((pass ^ cycle.seed).wrapping_mul(GOLDEN) >> 20) & self.mixer.mask
    }
}

/// The grouped chains beside a random chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grouped {
    cycles: [GroupedChain; GROUPED],
    pages: PageGroups,
}

impl Grouped {
    /// Returns the grouped chains over the working set of `layout`, whose nodes are pairs of lines, numbered from the end
    /// of its own nodes; `None` if the set is too small, or if pages or lines have an unusual size.
    pub(super) fn new(layout: &NodeLayout, page: PageSize, rng: &mut Pcg32) -> Option<Grouped> {
        let pages = PageGroups::new(layout.size(), layout.line(), page, rng)?;
        let mut first = layout.nodes;
        let mut from = 0;
        let cycles = WINDOWS.map(|window| {
            let lines = (window.eighths << pages.pair_bits) / 8;
            let cycle = GroupedChain::new(window, &pages, first, (from, lines), rng);
            (first, from) = (first + cycle.nodes, from + lines);
            cycle
        });
        Some(Grouped { cycles, pages: PageGroups { seed: rng.next_u64(), ..pages } })
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
        let (page, place) = cycle.at(node - cycle.first, &self.pages);
        PairOrder::of(page, &self.pages).pair(place)
    }

    /// Calls `each` with the number of the pair of every grouped line, and the number of the pair of its successor, until
    /// `pause`, called after each group, returns true. Returns whether it did not.
    pub(super) fn each(&self, pause: &mut dyn FnMut() -> bool, each: &mut dyn FnMut(u64, u64)) -> bool {
        self.pages.each(pause, &mut |group| {
            for cycle in &self.cycles {
                cycle.of_group(&self.pages, group, &mut |(pair, _), (next, _)| each(pair, next));
            }
        })
    }

    fn of(&self, node: u64) -> Option<&GroupedChain> {
        self.cycles.iter().rfind(|cycle| cycle.first <= node)
    }
}

/// One grouped chain over all lines of whole windows, whose nodes are lines in the order of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupedAlone {
    cycle: GroupedChain,
    pages: PageGroups,
}

impl GroupedAlone {
    /// Returns the chain over the working set of `layout`, with `visits` visits of a page in each window; `None` if the set
    /// is too small, or if pages, lines or visits have an unusual number.
    pub(super) fn new(
        layout: &NodeLayout,
        (visits, page): (u64, PageSize),
        rng: &mut Pcg32,
    ) -> Option<GroupedAlone> {
        let window = *WINDOWS.iter().find(|window| window.visits == visits)?;
        let mut pages = PageGroups::new(layout.size(), layout.line(), page, rng)?;
        // All groups are in a window of each pass.
        pages.groups -= pages.groups % (window.pages >> pages.group_bits);
        pages.seed = rng.next_u64();
        let cycle = GroupedChain::new(window, &pages, 0, (0, 2 << pages.pair_bits), rng);
        Some(GroupedAlone { cycle, pages })
    }

    /// Returns the number of nodes.
    pub(super) const fn nodes(&self) -> u64 {
        self.cycle.nodes
    }

    /// Returns the node that a lap visits at a time.
    pub(super) fn node(&self, time: u64) -> u64 {
        let (page, place) = self.cycle.at(time, &self.pages);
        self.line(PairOrder::of(page, &self.pages).placed(place))
    }

    /// Returns the time at which a lap visits a node; the inverse of [`node`](Self::node).
    pub(super) fn time(&self, node: u64) -> u64 {
        let (cycle, pages, pair) = (&self.cycle, &self.pages, node >> 1);
        let page = pair >> pages.pair_bits;
        let place = PairOrder::of(page, pages).place(pair);
        let place = place | (self.line((pair, place)) ^ node) << pages.pair_bits;
        let seat = pages.seat(cycle, place / cycle.visits, page >> pages.group_bits);
        let (window, member) = seat.unwrap_or_default();
        let page = pages.page(member, page);
        window * cycle.per_window() + VisitOrder::of(window, cycle).visit(cycle, page, place % cycle.visits)
    }

    /// Calls `each` with every node and its successor, until `pause` returns true, as [`Grouped::each`] does.
    pub(super) fn each(&self, pause: &mut dyn FnMut() -> bool, each: &mut dyn FnMut(u64, u64)) -> bool {
        self.pages.each(pause, &mut |group| {
            self.cycle.of_group(&self.pages, group, &mut |pair, next| each(self.line(pair), self.line(next)));
        })
    }

    /// Returns the line of a pair: the first half of the places of a page has one line of each pair, drawn at random, and
    /// the second half the other one.
    #[inline(always)]
    const fn line(&self, (pair, place): PlacedPair) -> u64 {
        pair << 1 | (hash(pair, self.pages.seed) >> 63 ^ (place >> self.pages.pair_bits))
    }
}

#[cfg(test)]
#[path = "grouped_tests.rs"]
mod tests;
