//! The durations of the guest's timed windows, next to the modelled times.
//!
//! Read from the plugin's report; the plugin's documentation has the form of the lines. The truth of a case
//! is the modelled time plus the excess that was delivered: a busy host moves both the excess and the report.
//! The modelled time stays a part of the truth, so that mistakes of a tool still show: their excess is
//! delivered as well.

use super::plugin::PREFIX;

/// Windows of fewer hops are compared separately, as single hops.
const FEWEST_HOPS: u64 = 8;

/// Source of the lines of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This level, counted from 1.
    Level(usize),
    /// The memory of the second node, read by a CPU of the first.
    Memory(u32, u32),
    /// Several places, or an address outside of all nodes.
    Mixed,
}

/// Windows whose hops have these properties in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// Source of all lines.
    pub source: Source,
    /// Levels of translation that were missed, the maximum of all hops.
    pub misses: u64,
    /// Number of hops of a window.
    pub hops: u64,
    /// Excess in ticks of a window with only one hop, if this hop belongs to a tail.
    pub tail: u64,
    /// Excess ticks per hop, without those of the stamps, and the number of windows with this excess.
    pub excess: Vec<(f64, u64)>,
}

/// All windows of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivered {
    windows: Vec<Windows>,
    /// Windows of known arithmetic: their number of blocks, and their excesses in ticks.
    arithmetic: Vec<(u64, Ordered)>,
}

/// The modelled and the delivered time of one hop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Modelled value.
    pub asked: f64,
    /// The fastest windows, which are the lower bound of a correct report.
    pub low: f64,
    /// Median of the delivered values.
    pub delivered: f64,
    /// The slowest windows that may determine a report, which are its upper bound.
    pub high: f64,
}

impl Truth {
    /// Makes the truth of a quantity that the host cannot change.
    pub const fn exact(value: f64) -> Truth {
        Truth { asked: value, low: value, delivered: value, high: value }
    }

    /// Multiplies all values by `factor`.
    pub fn times(self, factor: f64) -> Truth {
        let Truth { asked, low, delivered, high } = self;
        Truth { asked: asked * factor, low: low * factor, delivered: delivered * factor, high: high * factor }
    }

    /// Makes the truth of a difference of `more` ticks: adds the difference of the excesses of `with` and
    /// `without`.
    pub fn difference(more: f64, with: Truth, without: Truth) -> Truth {
        let of = |with: f64, without: f64| more + with - without;
        Truth {
            asked: more,
            low: of(with.low - with.asked, without.high - without.asked),
            delivered: of(with.delivered - with.asked, without.delivered - without.asked),
            high: of(with.high - with.asked, without.low - without.asked),
        }
    }
}

impl Delivered {
    /// Reads the plugin's report.
    pub fn parse(report: &str) -> Delivered {
        let facts = || report.lines().filter_map(|line| line.strip_prefix(PREFIX));
        let empty = facts().find_map(|fact| fact.strip_prefix("empty window ")?.parse().ok()).unwrap_or(0.0);
        let arithmetic = |fact: &str| {
            let (blocks, excess) = fact.strip_prefix("arithmetic of ")?.split_once("; excess ")?;
            Some((blocks.parse().ok()?, Ordered::new(counts(excess)?)))
        };
        Delivered {
            windows: facts().filter_map(|fact| windows(fact.strip_prefix("windows ")?, empty)).collect(),
            arithmetic: facts().filter_map(arithmetic).collect(),
        }
    }

    /// Returns the truth of a mean over the hops of many windows, with `asked` modelled ticks per hop.
    ///
    /// The tool reports the value of most windows. The accepted range is from the fastest windows to the
    /// third quartile: on a quiet host these are equal, and if more than a quarter is slower, the host was
    /// busy with other work. Without a matching window the excess is zero.
    pub fn of_windows(&self, asked: f64, wanted: impl Fn(&Windows) -> bool) -> Truth {
        let excess = self.excess(|all| all.hops >= FEWEST_HOPS && wanted(all));
        let at = |share| asked + excess.at(share).unwrap_or(0.0);
        Truth { asked, low: at(0.05), delivered: at(0.5), high: at(0.75) }
    }

    /// Returns true if there was a window like this.
    pub fn has(&self, wanted: impl Fn(&Windows) -> bool) -> bool {
        self.windows.iter().any(wanted)
    }

    /// Returns the truth of the cost of a missing translation per hop, modelled with `asked` ticks.
    pub fn of_misses(&self, asked: f64) -> Truth {
        let of = |missed| self.of_windows(0.0, |all| (all.misses > 0) == missed);
        Truth::difference(asked, of(true), of(false))
    }

    /// Returns the largest excess per hop of a window of `FEWEST_HOPS` or more.
    pub fn worst(&self, wanted: impl Fn(&Windows) -> bool) -> f64 {
        self.excess(|all| all.hops >= FEWEST_HOPS && wanted(all)).at(1.0).unwrap_or(0.0)
    }

    /// Returns the durations of single hops of `asked` ticks, in order, without their tails, up to `end`
    /// ticks.
    pub fn single_hops(&self, asked: f64, end: f64, wanted: impl Fn(&Windows) -> bool) -> Ordered {
        let singles = self.windows.iter().filter(|all| all.hops == 1 && wanted(all));
        let ticks = |all: &Windows, excess: f64| asked + all.tail as f64 + excess;
        Ordered::new(
            singles
                .flat_map(|all| all.excess.iter().map(move |&(excess, count)| (ticks(all, excess), count)))
                .filter(|(ticks, _)| *ticks < end)
                .collect(),
        )
    }

    /// Returns the truth of the core's clock, modelled as `asked`, with blocks of `ticks`.
    ///
    /// A tool computes it from the difference of a short and a long run of arithmetic. The longer run ends some hundred
    /// ticks later than modelled on a busy host: about 1 % of a difference of 40 blocks. The long runs are the most
    /// frequent after the shortest ones.
    pub fn of_clock(&self, asked: f64, ticks: f64) -> Truth {
        let mut runs: Vec<_> = self.arithmetic.iter().filter(|(blocks, _)| *blocks >= FEWEST_HOPS).collect();
        runs.sort_by_key(|(blocks, _)| *blocks);
        let Some(((short, before), longer)) = runs.split_first() else { return Truth::exact(asked) };
        let Some((long, after)) = longer.iter().max_by_key(|(_, excess)| excess.count()) else {
            return Truth::exact(asked);
        };
        let modelled = (long - short) as f64 * ticks;
        let with = |late: f64, early: f64| {
            let more = after.at(late).unwrap_or(0.0) - before.at(early).unwrap_or(0.0);
            asked * modelled / (modelled + more)
        };
        Truth { asked, low: with(0.75, 0.25), delivered: with(0.5, 0.5), high: with(0.25, 0.75) }
    }

    fn excess(&self, wanted: impl Fn(&Windows) -> bool) -> Ordered {
        let wanted = self.windows.iter().filter(|all| wanted(all));
        Ordered::new(wanted.flat_map(|all| all.excess.iter().copied()).collect())
    }
}

/// Values with their counts, in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered(Vec<(f64, u64)>);

impl Ordered {
    pub(super) fn new(mut values: Vec<(f64, u64)>) -> Ordered {
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        Ordered(values)
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the mean; NaN without values.
    pub fn mean(&self) -> f64 {
        self.0.iter().map(|(value, count)| value * *count as f64).sum::<f64>() / self.count() as f64
    }

    /// Returns the value that a share of all values does not exceed.
    pub fn at(&self, share: f64) -> Option<f64> {
        let rank = share * self.count() as f64;
        let mut seen = 0;
        let reached = self.0.iter().find(|(_, count)| {
            seen += count;
            seen as f64 >= rank
        });
        reached.or(self.0.last()).map(|(value, _)| *value)
    }
}

/// Parses `SOURCE; misses N; hops N; tail N; count N; sum N; excess TICKS:COUNT …`.
fn windows(fact: &str, empty: f64) -> Option<Windows> {
    let mut pieces = fact.split("; ");
    let source = pieces.next()?;
    let mut number = |name: &str| pieces.next()?.strip_prefix(name)?.trim().parse::<u64>().ok();
    let (misses, hops, tail) = (number("misses")?, number("hops")?, number("tail")?);
    let counts = counts(fact.rsplit_once("excess ")?.1)?;
    let excess = counts.into_iter().map(|(ticks, count)| (ticks - empty / hops as f64, count)).collect();
    let words: Vec<&str> = source.split(' ').collect();
    let source = match words[..] {
        ["level", level] => Source::Level(level.parse().ok()?),
        ["node", from, "to", "node", to] => Source::Memory(from.parse().ok()?, to.parse().ok()?),
        _ => Source::Mixed,
    };
    Some(Windows { source, misses, hops, tail, excess })
}

/// Parses `TICKS:COUNT …`.
fn counts(text: &str) -> Option<Vec<(f64, u64)>> {
    let pair = |pair: &str| {
        let (ticks, count) = pair.split_once(':')?;
        Some((ticks.parse().ok()?, count.parse().ok()?))
    };
    text.split(' ').map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "latency-lab: loads 9\n\
        latency-lab: empty window 100\n\
        latency-lab: windows node 0 to node 1; misses 1; hops 100; tail 0; count 100; sum 1; excess 1:4 11:60 21:26 900:10\n\
        latency-lab: windows level 2; misses 0; hops 1; tail 0; count 9; sum 900; excess 200:9\n\
        latency-lab: windows level 2; misses 0; hops 1; tail 500; count 1; sum 200; excess 200:1\n\
        latency-lab: arithmetic of 1; excess 90:50\n\
        latency-lab: arithmetic of 40; excess 140:3 150:10 170:3\n\
        latency-lab: arithmetic of 80; excess 240:3 250:10 280:3\n\
        latency-lab: arithmetic of 480; excess 900:2\n\
        latency-lab: windows mixed; misses 0; hops 8; tail 0; count 1; sum 3; excess 3:1\n";

    #[test]
    fn the_delivered_excess_is_added_to_the_modelled_time() {
        let delivered = Delivered::parse(REPORT);
        assert_eq!(delivered.windows.len(), 4);
        let memory = |all: &Windows| all.source == Source::Memory(0, 1);
        assert!(delivered.has(memory) && !delivered.has(|all| all.source == Source::Memory(1, 0)));
        let truth = delivered.of_windows(5000.0, memory);
        assert_eq!(truth, Truth { asked: 5000.0, low: 5010.0, delivered: 5010.0, high: 5020.0 });
        assert_eq!((delivered.worst(memory), delivered.worst(|all| all.hops > 100)), (899.0, 0.0));
        let nothing = delivered.of_windows(5000.0, |all| all.source == Source::Level(9));
        assert_eq!(nothing, Truth::exact(5000.0));
    }

    #[test]
    fn the_clock_has_the_excess_of_a_longer_run_over_a_short_one() {
        let Truth { asked, low, delivered, high } = Delivered::parse(REPORT).of_clock(0.5, 256.0);
        let clock = |more: f64| 0.5 * 10240.0 / (10240.0 + more);
        assert_eq!((asked, low, delivered, high), (0.5, clock(100.0), clock(100.0), clock(100.0)));
        assert_eq!(Delivered::parse("").of_clock(0.5, 256.0), Truth::exact(0.5));
    }

    #[test]
    fn single_hops_are_in_order_with_their_tails() {
        let level = |all: &Windows| all.source == Source::Level(2);
        let hops = Delivered::parse(REPORT).single_hops(3000.0, f64::INFINITY, level);
        assert_eq!((hops.count(), hops.at(0.5), hops.at(0.95)), (10, Some(3100.0), Some(3600.0)));
        assert!((hops.mean() - 3150.0).abs() < 1e-9);
        assert_eq!(Delivered::parse(REPORT).single_hops(3000.0, 3500.0, level).count(), 9);
    }

    #[test]
    fn a_difference_has_the_excess_of_both() {
        let truth = |low, delivered, high| Truth { asked: 100.0, low, delivered, high };
        let found = Truth::difference(50.0, truth(101.0, 102.0, 104.0), truth(100.0, 101.0, 103.0));
        assert_eq!(found, Truth { asked: 50.0, low: 48.0, delivered: 51.0, high: 54.0 });
    }
}
