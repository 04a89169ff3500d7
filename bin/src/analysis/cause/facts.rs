//! The facts of a saved result from which the cause of a difference is read, under their names in documents.

use latency_core::{Estimate, Interval, ToReal};

use crate::record::members::{self, HEALTH, MEMORY, MODEL, SUMMARY};
use latency_report::document::ENDS;

/// A fact of a result. The last two are of the common points of two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Latency of the first-level cache; the other levels follow.
    L1,
    /// Latency of the second-level cache.
    L2,
    /// Latency of the third-level cache.
    L3,
    /// Latency of the fourth-level cache.
    L4,
    /// Latency of memory behind the caches of a curve.
    Memory,
    /// Latency in base pages.
    SmallPages,
    /// Latency in the largest pages.
    LargestPages,
    /// Latency in base pages in page-local order.
    PageLocal,
    /// Cost of translation over a span of base pages.
    SmallTranslation,
    /// Cost of translation over a span of huge pages.
    HugeTranslation,
    /// Latency in random order.
    Random,
    /// Latency in sequential order.
    Sequential,
    /// Latency in backward order.
    Backward,
    /// Median of single loads.
    Median,
    /// 99.9th percentile of single loads.
    Tail,
    /// Instructions in the reorder buffer.
    ReorderBuffer,
    /// Bandwidth of reads.
    ReadBandwidth,
    /// Idle latency before traffic.
    Idle,
    /// Idle latency beside bandwidths.
    IdleBeside,
    /// Core cycles of the first-level cache, the first fact that is exact.
    L1Cycles,
    /// Core cycles of the second-level cache.
    L2Cycles,
    /// Core clock of a curve.
    Clock,
    /// Core cycles of a first-level hit, from the checks of every run.
    HitCycles,
    /// 1, or a half if the TLB treats huge pages as base pages.
    TlbPages,
    /// Cost of a miss in the first-level TLB.
    Tlb,
    /// Cost of a miss in the second-level TLB.
    SecondTlb,
    /// Number of NUMA nodes with CPUs.
    Nodes,
    /// Number of CPUs of all nodes.
    Cpus,
    /// Accesses within a node.
    Local,
    /// Accesses between nodes.
    Remote,
}

/// Number of facts of one result.
const COUNT: usize = Fact::Local as usize;
/// The places of facts in documents: the object, and its key. The reader composes the other facts.
const PLACES: [(&str, &str, Fact); 23] = [
    ("1", members::LEVEL_NS.key, Fact::L1),
    ("2", members::LEVEL_NS.key, Fact::L2),
    ("3", members::LEVEL_NS.key, Fact::L3),
    ("4", members::LEVEL_NS.key, Fact::L4),
    (MEMORY.key, members::LEVEL_NS.key, Fact::Memory),
    (SUMMARY.key, members::SMALL_PAGES.key, Fact::SmallPages),
    (SUMMARY.key, members::LARGEST_PAGES.key, Fact::LargestPages),
    (SUMMARY.key, members::PAGE_LOCAL.key, Fact::PageLocal),
    (SUMMARY.key, members::SMALL_TRANSLATION.key, Fact::SmallTranslation),
    (SUMMARY.key, members::HUGE_TRANSLATION.key, Fact::HugeTranslation),
    (SUMMARY.key, members::RANDOM.key, Fact::Random),
    (SUMMARY.key, members::SEQUENTIAL.key, Fact::Sequential),
    (SUMMARY.key, members::BACKWARD.key, Fact::Backward),
    (SUMMARY.key, members::MEDIAN.key, Fact::Median),
    (SUMMARY.key, members::TAIL.key, Fact::Tail),
    (SUMMARY.key, members::REORDER_BUFFER.key, Fact::ReorderBuffer),
    (SUMMARY.key, members::READ_BANDWIDTH.key, Fact::ReadBandwidth),
    (SUMMARY.key, members::IDLE.key, Fact::Idle),
    ("1", members::LEVEL_CYCLES.key, Fact::L1Cycles),
    ("2", members::LEVEL_CYCLES.key, Fact::L2Cycles),
    (MODEL.key, members::MODEL_GHZ.key, Fact::Clock),
    (HEALTH.key, members::L1_CYCLES.key, Fact::HitCycles),
    (HEALTH.key, members::PAGES_AS_SMALL.key, Fact::TlbPages),
];
/// The names of the caches of a curve in the places of facts.
pub const CACHES: [(&str, Fact); 4] = [("1", Fact::L1), ("2", Fact::L2), ("3", Fact::L3), ("4", Fact::L4)];

/// The facts of a result; those that its document lacks are unknown.
#[derive(Clone, Copy, Debug)]
pub struct SavedFacts {
    /// Each value with both ends of its interval; NaN where unknown.
    values: [[f64; 3]; COUNT],
    /// True if the result may be disturbed by other work or by neighbours.
    pub disturbed: bool,
    /// True if the matrix of the result is unreliable.
    pub poor_matrix: bool,
}

impl Default for SavedFacts {
    fn default() -> SavedFacts {
        SavedFacts { values: [[f64::NAN; 3]; COUNT], disturbed: false, poor_matrix: false }
    }
}

impl SavedFacts {
    /// Sets a fact, or an end of its interval, by its object and its key; other keys are ignored.
    pub fn set(&mut self, object: &str, key: &str, value: f64) {
        let (key, end) = match (key.strip_suffix(ENDS[0]), key.strip_suffix(ENDS[1])) {
            (Some(key), _) => (key, 1),
            (_, Some(key)) => (key, 2),
            _ => (key, 0),
        };
        let place = PLACES.iter().find(|(known, name, _)| (*known, *name) == (object, key));
        if let Some(slot) = place.and_then(|(_, _, fact)| self.values.get_mut(*fact as usize)?.get_mut(end)) {
            *slot = value;
        }
    }

    /// Sets a fact that the reader composes.
    pub fn put(&mut self, fact: Fact, value: Estimate) {
        let Estimate { value, interval } = value;
        let [low, high] = interval.map_or([f64::NAN; 2], |Interval { low, high }| [low, high]);
        if let Some(slot) = self.values.get_mut(fact as usize) {
            *slot = [value, low, high];
        }
    }

    /// Adds to a count.
    pub fn count(&mut self, fact: Fact, more: f64) {
        self.put(fact, Estimate { value: self.value(fact) + more, interval: None });
    }

    /// Returns a fact, if it is known.
    pub fn get(&self, fact: Fact) -> Option<Estimate> {
        let [value, low, high] = *self.values.get(fact as usize)?;
        let interval = match fact as usize >= Fact::L1Cycles as usize {
            true => Some(Interval { low: value, high: value }),
            false => (low <= value && value <= high).then_some(Interval { low, high }),
        };
        value.is_finite().then_some(Estimate { value, interval })
    }

    /// Returns the value of a fact; 0 if it is unknown.
    pub fn value(&self, fact: Fact) -> f64 {
        self.get(fact).map_or(0.0, |found| found.value)
    }

    /// Forgets everything measured in an unreliable result.
    pub fn distrust(&mut self, experiment: &str) {
        self.values.iter_mut().take(Fact::Nodes as usize).for_each(|parts| *parts = [f64::NAN; 3]);
        self.poor_matrix |= experiment == "matrix";
    }

    /// Adds the facts of another experiment of the same report.
    pub fn join(&mut self, other: &SavedFacts) {
        for (own, others) in self.values.iter_mut().zip(&other.values) {
            if own[0].is_nan() {
                *own = *others;
            }
        }
        self.disturbed |= other.disturbed;
        self.poor_matrix |= other.poor_matrix;
    }

    /// Returns the facts of several runs: means, with intervals that contain the intervals of all runs.
    pub fn of_runs(runs: &mut dyn Iterator<Item = &SavedFacts>) -> SavedFacts {
        let mut all = SavedFacts::default();
        let mut counts = [0_usize; COUNT];
        for run in runs {
            let facts = all.values.iter_mut().zip(&mut counts);
            for (([mean, low, high], count), [value, least, most]) in facts.zip(&run.values) {
                if value.is_nan() {
                    continue;
                }
                // An interval that one run lacks is unknown for all: comparisons with NaN are false.
                match *count {
                    0 => [*mean, *low, *high] = [0.0, *least, *most],
                    _ => {
                        *low = if *low <= *least || least.is_nan() { *low + 0.0 * *least } else { *least };
                        *high = if *high >= *most || most.is_nan() { *high + 0.0 * *most } else { *most };
                    }
                }
                *count += 1;
                *mean += (*value - *mean) / count.real();
            }
            all.disturbed |= run.disturbed;
            all.poor_matrix |= run.poor_matrix;
        }
        all
    }
}
