//! The rules: for each cause the fact that moved, the evidence beside it, and a sentence.
//!
//! A fact moved only if its interval excludes no change, and stayed the same only if its whole interval is near no
//! change. Everything between is neither, and no cause is named from it.

use core::fmt::{self, Display};

use latency_core::{Estimate, Interval, Side, ToReal, Worded, worded};

use super::facts::{Fact, SavedFacts};
use crate::analysis::comparison::PointPair;
use crate::record::columns::EXPERIMENT;
use Clause::{Along, Clear, Clocked, Equal, Kept, Minor, Near, Same, Steady, Still, Within};
use latency_report::ByPercent;

/// The largest factor of a fact that stayed the same, over its whole interval.
const SAME: f64 = 1.08;
/// The largest factor between exact facts that stayed the same.
const EQUAL: f64 = 1.05;
/// The factor from which on a cost of translation moved.
const CLEARLY: f64 = 1.25;
/// The smallest factor in the same direction of a fact that has the same cause.
const ALONG: f64 = 1.05;
/// The largest factor between a level that follows the clock and the clock.
const CLOCK: f64 = 1.04;
/// The factor from which on memory, on a machine with neighbours, moved by more than they cause in minutes.
const BEYOND_NEIGHBOURS: f64 = 1.5;
/// The number of runs of each side that show the influence of neighbours.
const RUNS: usize = 3;
/// Part of a change that a cost explains at most if it is minor.
const PART: f64 = 0.25;
/// Numbers of memory channels of a node.
const CHANNELS: [f64; 6] = [2.0, 3.0, 4.0, 6.0, 8.0, 12.0];
/// The largest factor between a bandwidth and that of one channel less.
const OF_CHANNEL: f64 = 1.012;
/// The widest interval of a bandwidth, as a factor, that tells numbers of channels apart.
const NARROW: f64 = 1.04;
/// The largest factor between the reorder buffers of one thread and of two.
const HALF: f64 = 2.4;

/// The evidence that a second fact must give, beside the fact that moved.
#[derive(Clone, Copy)]
enum Clause {
    /// The second fact is known to have stayed the same.
    Same,
    /// It stayed the same, or neither side knows it.
    Kept,
    /// It is exact, and known to have stayed the same.
    Equal,
    /// It moved by less than a clear factor, or neither side knows it.
    Near,
    /// It moved by less than a clear factor, or it is unknown and explains only a small part of the change of memory.
    Minor,
    /// It certainly moved by less than a clear factor, or neither side knows it.
    Steady,
    /// It did not move clearly and certainly.
    Still,
    /// It moved in the same direction, or neither side knows it.
    Along,
    /// It is known to have moved clearly in the same direction.
    Clear,
    /// It moved as the clock's period.
    Clocked,
    /// It moved no farther than the clock's period, or is unknown.
    Within,
}

worded! {
    /// The cause of a difference.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Cause {
        NodeCount = "node-count",
        CoreClock = "core-clock",
        Memory = "memory",
        SmallPages = "small-pages",
        Translation = "translation",
        NestedPages = "nested-pages",
        Remote = "remote",
        Channel = "channel",
        Prefetchers = "prefetchers",
        Tail = "tail",
        Sibling = "sibling",
    }
}

/// A rule.
struct CauseRule {
    cause: Cause,
    /// The fact that moved.
    moved: Fact,
    /// The smallest factor by which it moved.
    least: f64,
    /// True if neighbours may be an explanation.
    neighbours: bool,
    /// The evidence beside it.
    clauses: &'static [(Clause, Fact)],
}

/// Declares rules: the cause; the fact that moved and by what factor at least; the evidence beside it. A rule with
/// `or neighbours` names nothing if neighbours may be an explanation.
macro_rules! rules {
    ($($cause:ident: $moved:ident by $least:literal $(or $neighbours:ident)?; $($clause:ident [$($fact:ident),*]),*;)*) => {
        [$(CauseRule {
            cause: Cause::$cause,
            moved: Fact::$moved,
            least: $least,
            neighbours: false $(|| stringify!($neighbours).len() > 0)?,
            clauses: &[$($(($clause, Fact::$fact)),*),*],
        },)*]
    };
}

/// Number of the first rules whose causes explain every other difference.
const WHOLE: usize = 2;

/// All rules.
static RULES: [CauseRule; 14] = rules! {
    NodeCount: Nodes by 1.01; Equal [Cpus];
    CoreClock: Clock by 1.05; Clocked [L1, L2], Equal [L1Cycles, L2Cycles], Within [L3, L4, Memory];
    Memory: Memory by 1.1 or neighbours;
        Same [L1], Kept [L2, L3, L4], Along [Local, Median, Idle, IdleBeside, SmallPages, LargestPages, Random],
        Minor [Tlb, SecondTlb], Still [SmallTranslation, HugeTranslation];
    SmallPages: SmallPages by 1.1 or neighbours;
        Same [LargestPages], Kept [L1], Steady [HugeTranslation], Near [TlbPages];
    Translation: SmallTranslation by 1.25 or neighbours; Same [PageLocal], Kept [L1, L2], Clear [HugeTranslation];
    Translation: SmallTranslation by 1.25 or neighbours; Same [LargestPages], Kept [L1, L2], Clear [HugeTranslation];
    Translation: Tlb by 1.5 or neighbours;
        Same [L1], Kept [L2], Along [SecondTlb, SmallTranslation, HugeTranslation];
    Translation: SecondTlb by 1.5 or neighbours;
        Same [L1], Kept [L2], Near [Tlb], Along [SmallTranslation, HugeTranslation];
    NestedPages: TlbPages by 1.5; Equal [HitCycles];
    Remote: Remote by 1.1 or neighbours; Same [Local];
    Channel: ReadBandwidth by 1.05 or neighbours; Kept [Local, Idle, IdleBeside, Memory, Median];
    Prefetchers: Sequential by 2.0; Same [Random], Along [Backward];
    Tail: Tail by 2.0 or neighbours; Same [Median];
    Sibling: ReorderBuffer by 1.6; Equal [HitCycles];
};

/// The likely cause of a difference.
#[derive(Clone, Copy)]
pub struct LikelyCause {
    cause: Cause,
    factor: f64,
}

impl LikelyCause {
    /// Returns its name, for programs.
    pub fn name(&self) -> &'static str {
        self.cause.word()
    }
}

impl Display for LikelyCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.factor;
        let by = |factor: f64| {
            let word = if factor > 1.0 { "slower" } else { "faster" };
            fmt::from_fn(move |out| write!(out, "{word} by {}", ByPercent(factor - 1.0)))
        };
        let (times, period) = (by(ratio), by(1.0 / ratio));
        let [now, less] = if ratio < 1.0 { ["now", "less"] } else { ["no longer", "more"] };
        out.write_str("Looks like ")?;
        match self.cause {
            Cause::NodeCount => out.write_str(
                "the division into NUMA nodes (SNC, NPS, or NUMA switched off): the number of nodes differs, that of \
                 CPUs does not; check with `lscpu` and the firmware's setup",
            ),
            Cause::CoreClock => write!(
                out,
                "the core clock: the core's caches are {period} in ns, the same in core cycles; check with \
                 `turbostat` or `cpupower frequency-info`"
            ),
            Cause::Memory => write!(
                out,
                "memory alone: it is {times}, caches are the same; check the speed of the DIMMs with \
                 `dmidecode -t memory`, and neighbours with `latency-bench matrix --until=quiet`"
            ),
            Cause::SmallPages => write!(
                out,
                "translation of 4 KiB pages: they are {times}, larger pages are the same; check with \
                 `latency-bench pages`, and if the host backs its guests by huge pages"
            ),
            Cause::Translation => write!(
                out,
                "translation alone: a TLB miss is {times}, data are the same; check with \
                 `latency-bench pages` and `perf stat -e dTLB-load-misses`"
            ),
            Cause::NestedPages => write!(
                out,
                "small pages in the host: the TLB {now} treats huge pages as 4 KiB ones; check the host's \
                 huge pages"
            ),
            Cause::Remote => write!(
                out,
                "the links between nodes: every remote access is {times}, local ones are the same; \
                 check the speed of the links in the firmware's setup"
            ),
            Cause::Channel => write!(
                out,
                "a memory channel: bandwidth differs by a factor of {ratio:.3} at the same idle \
                 latency, as with one channel {less}; check with `dmidecode -t memory`"
            ),
            Cause::Prefetchers => write!(
                out,
                "the hardware prefetchers: walks in order are {times}, random ones are the same; \
                 check them in the firmware's setup or with `rdmsr 0x1a4`"
            ),
            Cause::Tail => write!(
                out,
                "interruptions of single loads (SMI, C-states): their p99.9 is {times}, the median is \
                 the same; check with `turbostat --show SMI,C1%,C6%`"
            ),
            Cause::Sibling => write!(
                out,
                "the sibling thread of the core, which is {now} busy: the reorder buffer differs by half, \
                 first-level hits do not; check with `top` and `lscpu -e`"
            ),
        }
    }
}

/// Returns the likely cause, if the evidence has the signature of exactly one.
pub fn find(evidence: &CauseEvidence) -> Option<LikelyCause> {
    let mut found = None::<LikelyCause>;
    for (index, rule) in RULES.iter().enumerate() {
        let Some(factor) = evidence.has(rule) else { continue };
        if found.is_some_and(|found| found.cause != rule.cause) {
            return None;
        }
        found = found.or(Some(LikelyCause { cause: rule.cause, factor }));
        if index < WHOLE {
            break;
        }
    }
    // Another number of nodes, and of CPUs, makes another machine.
    let is_one_machine = evidence.holds(Clause::Equal, Fact::Nodes, 1.0);
    found.filter(|found| is_one_machine || found.cause == Cause::NodeCount)
}

impl CauseEvidence {
    /// Returns the factor by which the fact of a rule moved, if the evidence has its signature.
    fn has(&self, rule: &CauseRule) -> Option<f64> {
        let change = self.change(rule.moved)?;
        let factor = moved(change, rule.least)?;
        let extent = factor.max(1.0 / factor);
        let is_certain =
            !rule.neighbours || !self.is_shared || self.runs >= RUNS && extent >= BEYOND_NEIGHBOURS;
        let is_plausible = match rule.moved {
            Fact::ReadBandwidth => self.is_of_channel(change, extent),
            Fact::ReorderBuffer => extent <= HALF,
            _ => true,
        };
        let mut clauses = rule.clauses.iter();
        (is_certain && is_plausible && clauses.all(|(clause, fact)| self.holds(*clause, *fact, factor)))
            .then_some(factor)
    }

    /// Returns whether a fact gives the evidence that a clause demands, beside a factor of the fact that moved.
    fn holds(&self, clause: Clause, fact: Fact, factor: f64) -> bool {
        let Some(change) = self.change(fact) else {
            return match clause {
                Still | Within => true,
                Same | Equal | Clear | Clocked => false,
                Kept | Near | Steady | Along => self.sides.iter().all(|side| side.get(fact).is_none()),
                Minor => self.is_minor(fact),
            };
        };
        let (value, period) = (change.value, 1.0 / factor);
        match clause {
            Same | Kept => change.side(SAME) == Side::Near,
            Equal => is_near(value, 1.0, EQUAL),
            Near | Minor => is_near(value, 1.0, CLEARLY),
            Steady => change.side(CLEARLY) == Side::Near,
            Still => moved(change, CLEARLY).is_none(),
            Along => is_along(value, factor, ALONG),
            Clear => moved(change, CLEARLY).is_some_and(|value| is_along(value, factor, CLEARLY)),
            Clocked => is_near(value, period, CLOCK),
            Within => value >= period.min(1.0) / CLOCK && value <= period.max(1.0) * CLOCK,
        }
    }

    /// Returns whether a cost that one side lacks at most explains a small part of the change of memory.
    fn is_minor(&self, cost: Fact) -> bool {
        let difference = |fact| {
            let [one, other] = &self.sides;
            (other.value(fact) - one.value(fact)).abs()
        };
        difference(cost) <= PART * difference(Fact::Memory)
    }

    /// Returns whether a bandwidth changed as by one channel, and an idle latency is known.
    fn is_of_channel(&self, change: Estimate, extent: f64) -> bool {
        let is_one = CHANNELS.iter().any(|count| is_near(extent, count / (count - 1.0), OF_CHANNEL));
        let is_narrow = change.interval.is_some_and(|ends| ends.high < ends.low * NARROW);
        let mut idle = [Fact::Local, Fact::Idle, Fact::IdleBeside, Fact::Memory].into_iter();
        is_one && is_narrow && idle.any(|fact| self.holds(Same, fact, 1.0))
    }
}

/// Returns the factor of a change; `None` if it is smaller than `least`, or not certain.
fn moved(change: Estimate, least: f64) -> Option<f64> {
    matches!(change.side(least), Side::Above | Side::Below).then_some(change.value)
}

/// Returns whether a factor goes in the direction of another, by at least `least`.
fn is_along(value: f64, direction: f64, least: f64) -> bool {
    if direction > 1.0 { value >= least } else { value * least <= 1.0 }
}

/// Returns whether two numbers differ by a small factor at most.
fn is_near(one: f64, other: f64, factor: f64) -> bool {
    one < other * factor && other < one * factor
}

/// The experiment whose points are pairs of nodes.
const MATRIX: &str = "matrix";

/// The facts of two sides.
#[derive(Clone, Copy)]
pub struct CauseEvidence {
    /// The facts of both sides.
    pub sides: [SavedFacts; 2],
    /// The factors of accesses within a node and between nodes.
    pub matrix: [Option<Estimate>; 2],
    /// The smaller number of files of the sides.
    pub runs: usize,
    /// True if others may use the same memory: a virtual machine, or a run with disturbances.
    pub is_shared: bool,
}

impl CauseEvidence {
    /// Returns the factor from the first side to the second, with its interval; `None` if a side does not know the fact.
    pub fn change(&self, fact: Fact) -> Option<Estimate> {
        let [one, other] = &self.sides;
        match fact {
            Fact::Local => self.matrix[0],
            Fact::Remote => self.matrix[1],
            fact => other.get(fact)?.over(one.get(fact)?),
        }
    }
}

/// Returns the mean factor of all accesses of a matrix, within a node if `local` is true, between nodes if not, with the
/// interval that contains the intervals of all. The points of a report name their experiment.
pub fn of_matrix(pairs: &[PointPair], experiment: &str, local: bool) -> Option<Estimate> {
    let (mut sum, mut count) = (0.0, 0_usize);
    let mut ends = Interval { low: f64::INFINITY, high: 0.0 };
    for pair in pairs {
        let row = &pair.row;
        let is_of = row.is_word(EXPERIMENT, MATRIX) || !row.tells(EXPERIMENT) && experiment == MATRIX;
        if is_of && row.pair().is_some_and(|(from, to)| (from == to) == local) {
            sum += pair.ratio();
            count += 1;
            ends = Interval { low: ends.low.min(pair.interval.low), high: ends.high.max(pair.interval.high) };
        }
    }
    (count > 0).then(|| Estimate { value: sum / count.real(), interval: Some(ends) })
}
