//! The windows that each run of the executable timed, counted by the chain that they walked over.
//!
//! Several chains may own lines of the same pages of a buffer. The plugin knows addresses only, and a test knows the chain
//! of each line of a buffer; so the plugin lists the windows, and they are counted here. The documentation of the plugin
//! has the form of the lines.

use super::Truth;
use super::delivered::Ordered;
use super::plugin::{Counts, PREFIX};

/// Bytes of the smallest page: a buffer begins on its boundary.
const PAGE: u64 = 4096;
/// Maximum number of pages of a buffer below the lowest one that a window touched. Windows visit pages at random: if they
/// have as many hops as a buffer has pages, 4096 pages without any hop occur once in e^4096 cases, and with a
/// hundredth of that once in 10^17.
const MOST_UNTOUCHED: u64 = 4096;

/// A timed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Virtual addresses of its first and its last hop.
    pub ends: [u64; 2],
    /// Number of hops.
    pub hops: u64,
    /// Modelled ticks of all hops without translation.
    pub loads: u64,
    /// Modelled ticks of translation: TLB misses and the loads of page walks.
    pub translation: u64,
    /// Ticks that the window lasted for above the modelled ones, without those of the stamps.
    pub excess: f64,
}

/// Windows of a run and a pair of nodes with the same number of hops.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The run of the executable, counted from 1.
    run: usize,
    from: u32,
    to: u32,
    /// Lowest virtual address of a hop.
    lowest: u64,
    windows: Vec<Window>,
}

/// All listed windows of a boot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing(Vec<Listed>);

/// The windows of one chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The windows, by run and number of hops in the order in which they were closed.
    pub windows: Vec<Window>,
}

impl Chain {
    /// Returns the number of hops.
    pub fn hops(&self) -> u64 {
        self.windows.iter().map(|window| window.hops).sum()
    }

    /// Returns the modelled ticks of all loads without translation.
    pub fn loads(&self) -> u64 {
        self.windows.iter().map(|window| window.loads).sum()
    }

    /// Returns the modelled ticks of all translations.
    pub fn translation(&self) -> u64 {
        self.windows.iter().map(|window| window.translation).sum()
    }

    /// Returns the truth of the mean load without translation, in ticks; NaN without windows.
    pub fn load(&self) -> Truth {
        self.truth(self.loads())
    }

    /// Returns the truth of the mean load with its translation, in ticks; NaN without windows.
    pub fn load_and_translation(&self) -> Truth {
        self.truth(self.loads() + self.translation())
    }

    /// Returns the modelled ticks of the mean translation of a hop; NaN without windows.
    pub fn mean_translation(&self) -> f64 {
        self.translation() as f64 / self.hops() as f64
    }

    /// Returns the mean of `ticks` over all hops with the excess of the windows, by the rule of
    /// [`Delivered::of_windows`](super::delivered::Delivered::of_windows).
    fn truth(&self, ticks: u64) -> Truth {
        let asked = ticks as f64 / self.hops() as f64;
        let excess = |window: &Window| (window.excess / window.hops as f64, 1);
        let excess = Ordered::new(self.windows.iter().map(excess).collect());
        let at = |share| asked + excess.at(share).unwrap_or(0.0);
        Truth { asked, low: at(0.05), delivered: at(0.5), high: at(0.75) }
    }
}

impl Listing {
    /// Reads the report of a plugin.
    pub(super) fn parse(report: &str) -> Listing {
        let empty = Counts(report.to_owned()).count("empty window") as f64;
        let facts =
            report.lines().filter_map(|line| line.strip_prefix(PREFIX)?.strip_prefix("listed in run "));
        Listing(facts.filter_map(|fact| listed(fact, empty)).collect())
    }

    /// Counts the windows of a run (from 0) and a pair of nodes, for which `wanted` returns true, by chain.
    ///
    /// `owner` returns the number of the chain that owns the line at an offset in the buffer. Windows outside of the buffer,
    /// or of more than one chain, are left out; there may be few.
    ///
    /// # Errors
    ///
    /// If no window is wanted, or if [`base`] finds no buffer for these chains.
    pub fn by_chain<const N: usize>(
        &self,
        run: usize,
        [from, to]: [u32; 2],
        wanted: impl Fn(&Window) -> bool,
        owner: impl Fn(u64) -> Option<usize>,
    ) -> Result<[Chain; N], String> {
        let of_pair = |listed: &&Listed| (listed.run, listed.from, listed.to) == (run + 1, from, to);
        let listed = || self.0.iter().filter(of_pair);
        let windows: Vec<Window> =
            listed().flat_map(|listed| &listed.windows).copied().filter(&wanted).collect();
        if windows.is_empty() {
            return Err(format!("run {run} has no window of node {from} to node {to}"));
        }
        let base = base(&windows, &owner)?;
        let mut chains = std::array::from_fn(|_| Chain::default());
        for window in windows {
            let Some(chain) = chain_of(&window, base, &owner) else { continue };
            let into = chains.get_mut(chain).ok_or_else(|| format!("chain {chain} of {N}"))?;
            into.windows.push(window);
        }
        Ok(chains)
    }
}

/// Returns the number of the chain that a window walked over in the buffer at `base`; `None` if it is of no single one.
fn chain_of(window: &Window, base: u64, owner: impl Fn(u64) -> Option<usize>) -> Option<usize> {
    let [first, last] = window.ends.map(|address| owner(address.checked_sub(base)?));
    first.filter(|_| first == last)
}

/// Returns the address of the buffer of these windows.
///
/// A buffer begins on the boundary of a page, at the lowest page that was touched or below it. Random walks touch pages
/// anywhere, so the buffer begins near the lowest one, but not always at it: over 512 MiB, windows of 15,000 hops leave out
/// some pages at the beginning. A window walks over one chain, so its first and its last line have the same owner. An
/// address with another distance from the lines gives some windows two owners, unless the owner of a line does not depend
/// on its page; then all of them give the same chains. The highest address that gives each window one owner is
/// therefore the right one, unless a lower one gives other owners; this is an error.
///
/// Another walk may by chance have as many hops as those that are wanted: a probe of the prefetchers elsewhere, or a probe
/// of the TLB, whose chains cross those of the same buffer. One window of a hundred may be of no single chain.
///
/// # Errors
///
/// If no address, or several that differ in the owner of a window, give each window one owner.
fn base(windows: &[Window], owner: impl Fn(u64) -> Option<usize>) -> Result<u64, String> {
    let most_strays = windows.len() / 100;
    let mut ends: Vec<u64> = windows.iter().flat_map(|window| window.ends).collect();
    ends.sort_unstable();
    let highest = ends.get(2 * most_strays).copied().unwrap_or_default() / PAGE * PAGE;
    let owners = |base: u64| {
        let all: Vec<_> = windows.iter().map(|window| chain_of(window, base, &owner)).collect();
        let strays = all.iter().filter(|chain| chain.is_none()).count();
        // A window that begins below the buffer and ends in it, or the reverse, shows that the buffer begins lower.
        let is_cut = |window: &Window| (window.ends[0] < base) != (window.ends[1] < base);
        (strays <= most_strays && !windows.iter().any(is_cut)).then_some(all)
    };
    let all = (0..=MOST_UNTOUCHED).map_while(|pages| highest.checked_sub(pages * PAGE));
    let mut found = all.filter_map(|base| Some((base, owners(base)?)));
    let (base, first) = found.next().ok_or_else(|| {
        let stray = |base: u64| {
            let strays = windows.iter().filter(|window| chain_of(window, base, &owner).is_none());
            strays.map(|window| (window.hops, window.ends)).collect::<Vec<_>>()
        };
        let bases = (0..=MOST_UNTOUCHED).map_while(|pages| highest.checked_sub(pages * PAGE));
        let fewest = bases.map(|base| (base, stray(base))).min_by_key(|(_, strays)| strays.len());
        format!(
            "no buffer at or below {highest:#x} gives each window one chain; most of the {} have one at {fewest:x?}",
            windows.len()
        )
    })?;
    match found.find(|(_, owners)| *owners != first) {
        None => Ok(base),
        Some((other, _)) => {
            Err(format!("buffers at {base:#x} and at {other:#x} give windows different chains"))
        }
    }
}

/// Parses `N; node N to node N; by N; lowest 0xN; 0xFIRST:0xLAST:LOADS:TRANSLATION:EXCESS …`.
fn listed(fact: &str, empty: f64) -> Option<Listed> {
    let mut pieces = fact.split("; ");
    let run = pieces.next()?.parse().ok()?;
    let (from, to) = pieces.next()?.strip_prefix("node ")?.split_once(" to node ")?;
    let hops: u64 = pieces.next()?.strip_prefix("by ")?.parse().ok()?;
    let lowest = address(pieces.next()?.strip_prefix("lowest ")?)?;
    let window = |text: &str| {
        let [first, last, loads, translation, excess] =
            text.split(':').collect::<Vec<_>>().try_into().ok()?;
        let (loads, translation) = (loads.parse().ok()?, translation.parse().ok()?);
        let excess = excess.parse::<f64>().ok()? - empty;
        Some(Window { ends: [address(first)?, address(last)?], hops, loads, translation, excess })
    };
    let windows = pieces.next()?.split(' ').map(window).collect::<Option<_>>()?;
    Some(Listed { run, from: from.parse().ok()?, to: to.parse().ok()?, lowest, windows })
}

fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: u64 = 0x7f20_4100_0000;
    const LINES: u64 = 1 << 15;

    /// Returns the owner of the line at an offset: another mix of two chains in each page, and none behind the buffer.
    fn owner(offset: u64) -> Option<usize> {
        let (page, line) = (offset / PAGE, offset / 64);
        let mixed = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (line < LINES).then_some(((line ^ mixed ^ mixed >> (line % 8)) & 1) as usize)
    }

    /// Returns a report with `count` windows of chains 0 and 1 in turn over the lines from `first` on, of 10 hops with 100
    /// ticks each and 7 ticks of translation in all for chain 1.
    fn report(count: u64, first: u64) -> String {
        let mut state = 1_u64;
        let mut line = |chain| loop {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let offset = (first + (state >> 33) % (LINES - first)) * 64;
            if owner(offset) == Some(chain) {
                return BUFFER + offset;
            }
        };
        let (mut windows, mut lowest) = (String::new(), u64::MAX);
        for window in 0..count {
            let chain = (window % 2) as usize;
            let ends = [line(chain), line(chain)];
            lowest = lowest.min(ends[0]).min(ends[1]);
            let translation = 7 * chain;
            windows += &format!(" {:#x}:{:#x}:1000:{translation}:{}", ends[0], ends[1], 90 + 20 * window);
        }
        format!(
            "latency-lab: empty window 90\n\
             latency-lab: listed in run 1; node 0 to node 1; by 10; lowest {lowest:#x};{windows}\n\
             latency-lab: listed in run 2; node 0 to node 1; by 9; lowest 0x5000; 0x5000:0x5040:1:2:3\n\
             latency-lab: timed in run 1; node 0 to node 1; by 10; windows 4\n"
        )
    }

    #[test]
    fn windows_are_counted_by_the_chain_of_their_lines() {
        let listing = Listing::parse(&report(100, 0));
        let [first, second] = listing.by_chain(0, [0, 1], |_| true, owner).unwrap();
        assert_eq!((first.hops(), first.loads(), first.translation()), (500, 50_000, 0));
        assert_eq!((second.hops(), second.loads(), second.translation()), (500, 50_000, 350));
        // The excesses per hop are 0, 4, 8, … and 2, 6, 10, … ticks.
        let truth = |asked: f64, excess: [f64; 3]| {
            let [low, delivered, high] = excess.map(|excess| asked + excess);
            Truth { asked, low, delivered, high }
        };
        assert_eq!(first.load(), truth(100.0, [8.0, 96.0, 148.0]));
        assert_eq!(second.load_and_translation(), truth(100.7, [10.0, 98.0, 150.0]));
        assert_eq!(second.mean_translation(), 0.7);
        assert!(Chain::default().load().asked.is_nan());
    }

    #[test]
    fn the_buffer_is_found_if_no_window_touches_its_beginning() {
        for first in [64, 1000, LINES - 2000] {
            let listing = Listing::parse(&report(60, first));
            let chains: [Chain; 2] = listing.by_chain(0, [0, 1], |_| true, owner).unwrap();
            assert_eq!(chains.map(|chain| chain.translation()), [0, 30 * 7], "from line {first}");
            let windows = &listing.0[0].windows;
            assert_eq!(base(windows, owner), Ok(BUFFER), "from line {first}");
        }
    }

    #[test]
    fn a_window_that_begins_below_a_buffer_shows_a_lower_one() {
        // Where one chain owns all lines, no window of the buffer is left out.
        let [chain]: [Chain; 1] =
            Listing::parse(&report(400, 0)).by_chain(0, [0, 1], |_| true, |_| Some(0)).unwrap();
        assert_eq!(chain.hops(), 4000);
    }

    /// Probes walk other memory, below and above the buffer, or cross the chains of the buffer, and some of their windows
    /// have the wanted length.
    #[test]
    fn few_windows_of_other_walks_are_left_out() {
        let line = |chain| (2000..).map(|line| 64 * line).find(|offset| owner(*offset) == Some(chain));
        let [one, other] = [0, 1].map(|chain| BUFFER + line(chain).unwrap());
        let elsewhere = |end: u64| [BUFFER - 3 * PAGE, BUFFER + PAGE + 64 * LINES].map(|place| place + end);
        let [below, above] = [0, 1].map(|place| [0, 64].map(|end| elsewhere(end)[place]));
        let listing = |count: usize| {
            let mut listing = Listing::parse(&report(400, 1000));
            for ends in [below, above, [one, other], [other, one]].into_iter().cycle().take(count) {
                listing.0[0].windows.push(Window { ends, hops: 10, loads: 1, translation: 1, excess: 0.0 });
            }
            listing
        };
        let chains: [Chain; 2] = listing(4).by_chain(0, [0, 1], |_| true, owner).unwrap();
        assert_eq!(chains.map(|chain| chain.hops()), [2000, 2000]);
        let many = listing(9).by_chain::<2>(0, [0, 1], |_| true, owner);
        assert!(many.unwrap_err().contains("gives each window one chain"));
    }

    #[test]
    fn windows_without_a_single_chain_are_refused() {
        let listing = Listing::parse(&report(60, 0));
        let of = |run, pair, owner: fn(u64) -> Option<usize>| {
            listing.by_chain::<2>(run, pair, |_| true, owner).unwrap_err()
        };
        let halves = |offset: u64| Some((offset / 64 % 2) as usize);
        assert!(of(0, [0, 1], halves).contains("gives each window one chain"));
        assert!(of(0, [1, 0], owner).contains("no window of node 1 to node 0"));
        assert!(of(0, [0, 1], |_| Some(2)).contains("chain 2 of 2"));
        // Two windows do not determine the buffer.
        let few = Listing::parse(&report(2, 0));
        assert!(few.by_chain::<2>(0, [0, 1], |_| true, owner).unwrap_err().contains("different chains"));
        let one = listing.by_chain(1, [0, 1], |window| window.hops == 9, |_| Some(0));
        assert_eq!(one.map(|[chain]| (chain.hops(), chain.loads())), Ok((9, 1)));
    }
}
