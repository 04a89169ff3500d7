//! The values of many hosts, and the keys by which they are comparable.

use latency_core::{Estimate, Interval};

use super::history::Undecided;
use super::names::Name;
use crate::analysis::norm::Quantity;
use crate::analysis::traffic::bandwidth;
use crate::record::columns::POINTS;
use crate::record::row::Row;
use crate::saved::alike::{PLACE_OF_NODES, Under};

/// Maximum number of listed lines that are not documents; further ones are only counted.
pub const MOST_LISTED: usize = 1 << 12;

/// A key. Values with the same key are compared. Texts are numbers of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key {
    /// The experiment and its point, in words.
    pub point: Name,
    /// The processor's name.
    pub cpu: Name,
    /// The kind of the values.
    pub kind: KeyKind,
    /// The name of the experiment.
    pub experiment: Name,
    /// The fields of the point, for programs; empty where the point lacks one.
    pub fields: [Name; POINTS.len()],
    /// A number that identifies the points of a mean.
    pub points: u64,
}

/// A kind of values. "Memory" is without address translation, and a mean is of all points of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    /// Latencies.
    #[default]
    Latency,
    /// Bandwidths.
    Bandwidth,
    /// Means of latencies.
    Mean,
    /// Latencies of memory.
    Memory,
    /// Means of latencies of memory.
    MeanOfMemory,
}

impl Key {
    /// Returns the quantity of the values.
    pub const fn quantity(&self) -> Quantity {
        if matches!(self.kind, KeyKind::Bandwidth) { Quantity::Bandwidth } else { Quantity::Latency }
    }

    /// Returns whether the values are means of all points of a result.
    pub const fn is_mean(&self) -> bool {
        matches!(self.kind, KeyKind::Mean | KeyKind::MeanOfMemory)
    }
}

/// Returns the unit of a quantity for programs, and the factor between it and the unit for people.
pub const fn unit(quantity: Quantity) -> (&'static str, f64) {
    match quantity {
        Quantity::Latency => ("ns", 1.0),
        Quantity::Bandwidth => ("bytes_per_second", 1e9),
    }
}

/// One value of one of many results: there are hundreds of thousands.
#[derive(Clone, Copy, Debug)]
pub struct StoredValue {
    /// The value, in nanoseconds or bytes per second.
    pub value: f64,
    /// The distances of the ends of its confidence interval, as shares of the value.
    ends: [f32; 2],
    /// The number of its key and its measurement conditions.
    pub kind: Name,
    /// The index of its run.
    pub run: u32,
}

/// The run of one or more values.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueRun {
    /// The state of its host.
    pub state: Name,
    /// Its start, in seconds since 1970; 0 if unknown.
    pub started: u32,
    /// Its duration, in seconds.
    pub seconds: u32,
    /// The number of its document in the input.
    pub document: u32,
}

/// Returns the value of a row: its latency, or the bandwidth of traffic.
pub fn of_row(row: &Row, time: Estimate) -> Estimate {
    let interval = time.interval.filter(|interval| interval.low > 0.0);
    let time = Estimate { interval, ..time };
    row.traffic().map_or(time, |kind| bandwidth(kind, time))
}

impl StoredValue {
    /// Returns a value of the run with an index.
    pub fn new(run: usize, kind: Name, found: Estimate) -> StoredValue {
        let Estimate { value, interval } = found;
        let Interval { low, high } = interval.unwrap_or(Interval { low: value, high: value });
        let ends = [1.0 - low / value, high / value - 1.0].map(|end| end.max(0.0) as f32);
        StoredValue { value, ends, kind, run: run as u32 }
    }

    /// Returns its confidence interval, which contains the value.
    pub fn interval(&self) -> Interval {
        let [below, above] = self.ends.map(|end| f64::from(end) * self.value);
        Interval { low: self.value - below, high: self.value + above }
    }

    /// Returns the time that the value means, and its interval: for a bandwidth, that of a byte.
    pub fn times(&self, quantity: Quantity) -> [f64; 3] {
        let Interval { low, high } = self.interval();
        match quantity {
            Quantity::Latency => [self.value, low, high],
            Quantity::Bandwidth => [1.0 / self.value, 1.0 / high, 1.0 / low],
        }
    }

    /// Returns a number for sorting: larger positive numbers have larger bit patterns.
    pub fn place(&self) -> impl Ord + use<> {
        (self.value.to_bits(), self.ends.map(f32::to_bits))
    }
}

/// The judged value of a host.
#[derive(Clone, Copy, Debug)]
pub struct HostValue {
    /// Its key: the experiment, the point, the CPU model and the unit.
    pub key: Name,
    /// The name of its host.
    pub host: Name,
    /// The state of its host.
    pub state: Name,
    /// The start of its run, in seconds since 1970; 0 if unknown.
    pub started: u64,
    /// The number of its document in the input.
    pub document: u32,
    /// The value, in nanoseconds or bytes per second.
    pub value: f64,
    /// Its confidence interval; the value itself at both ends if it has none.
    pub interval: Interval,
    /// Its measurement conditions.
    pub under: Under,
    /// The conditions that differ from those of other hosts, one bit for each.
    pub apart: u64,
    /// True if the same result has the other one of a random load and memory without address translation.
    pub has_twin: bool,
    /// True if that one is judged, and not this value.
    pub is_left: bool,
    /// True if that one is slow, and is memory.
    pub memory_is_slow: bool,
}

impl HostValue {
    /// Returns the number of NUMA nodes of its host; 0 if unknown.
    pub fn nodes(&self) -> u64 {
        self.under.get(PLACE_OF_NODES)
    }
}

/// A host whose newest results are slower than its older ones, or differ from them.
#[derive(Clone, Copy, Debug)]
pub struct Slowed {
    /// The newest result; with a history, the level of the newest results.
    pub value: HostValue,
    /// The median of the older results; with a history, their level.
    pub before: f64,
    /// The number of slower results, and the number of results before them.
    pub counts: [usize; 2],
    /// The start of the first slower result, in seconds since 1970.
    pub since: u64,
    /// The states of the host before and after the change, if they were searched for.
    pub states: [Name; 2],
    /// True if the newest results are faster.
    pub is_faster: bool,
}

impl Slowed {
    /// Returns the newest value divided by the median of the older ones.
    pub fn ratio(&self) -> f64 {
        self.value.value / self.before
    }
}

/// The series of a host that its history is known by: of its newest conditions.
#[derive(Clone, Copy, Debug)]
pub struct HostSeries {
    /// The name of the host.
    pub host: Name,
    /// The key of the values.
    pub key: Name,
    /// The number of results.
    pub results: usize,
    /// The correlation of a result with the next one.
    pub correlation: f64,
    /// The smallest step that is found soon, as a fraction; `None` if the newest results are too few, or not judged.
    pub detectable: Option<f64>,
    /// The reason why the newest results are not judged, and the start of the first one of them in seconds since 1970.
    pub undecided: Option<(Undecided, u64)>,
}
