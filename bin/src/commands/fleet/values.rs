//! The values of many hosts, and the keys by which they are comparable: the newest value of each host and point, and
//! the hosts that became slower.

use latency_core::sort::sort_by;
use latency_core::stats::{Estimate, Interval};

use super::boots::Boots;
use super::names::{Name, Names};
use crate::analysis::norm::{Norm, Quantity};
use crate::analysis::traffic::bandwidth;
use crate::result::row::Row;
use crate::saved::alike::{PLACE_OF_NODES, TABLE, Under, alike};
use crate::sys::errno::Errno;
use crate::sys::table::List;

/// Maximum number of values of all documents together. Unused parts of the table do not need memory.
pub const MOST_VALUES: usize = 1 << 20;
/// Number of newest results of a host that are searched for a change.
const RECENT: usize = 32;

/// Maximum number of listed unreliable results, and of listed lines that are not documents; further ones are only
/// counted.
pub const MOST_LISTED: usize = 1 << 12;

/// The parts of a key.
#[derive(Clone, Copy, Debug)]
pub struct Key<'n> {
    /// The experiment and its point.
    pub point: &'n str,
    /// The processor's name.
    pub cpu: &'n str,
    /// The quantity of the values: latency or bandwidth.
    pub quantity: Quantity,
    /// The fields of the point: the index of each after [`SEPARATOR`], then `=` and its value.
    fields: &'n str,
}

/// The separator of the parts of a key, which does not occur in shown texts.
pub const SEPARATOR: char = '\u{1f}';

impl Key<'_> {
    /// Splits a key into its parts.
    #[must_use]
    pub fn of(name: &str) -> Key<'_> {
        let mut parts = name.splitn(4, SEPARATOR);
        let mut part = || parts.next().unwrap_or_default();
        let (point, cpu) = (part(), part());
        let quantity = if part().is_empty() { Quantity::Latency } else { Quantity::Bandwidth };
        Key { point, cpu, quantity, fields: part() }
    }

    /// Returns the value of a field of the point; empty if the point lacks it.
    #[must_use]
    pub fn field(&self, field: usize) -> &str {
        let mut fields = self.fields.split(SEPARATOR).filter_map(|field| field.split_once('='));
        let found = fields.find(|(index, _)| index.parse() == Ok(field));
        found.map_or("", |(_, value)| value)
    }
}

/// Returns the unit of a quantity for programs, and the factor between it and the unit for people.
#[must_use]
pub const fn unit(quantity: Quantity) -> (&'static str, f64) {
    match quantity {
        Quantity::Latency => ("ns", 1.0),
        Quantity::Bandwidth => ("bytes_per_second", 1e9),
    }
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct HostValue {
    /// Its key: the experiment, the point, the CPU model and the unit.
    pub key: Name,
    /// The name of its host.
    pub host: Name,
    /// The start of its run, in seconds since 1970; 0 if unknown.
    pub started: u64,
    /// The value, in nanoseconds or bytes per second.
    pub value: f64,
    /// Its confidence interval; the value itself at both ends if it has none.
    pub interval: Interval,
    /// Its measurement conditions.
    pub under: Under,
    /// The conditions that differ from those of other hosts, one bit for each.
    pub apart: u64,
}

impl HostValue {
    /// Returns the value of a row.
    #[inline(never)] // offsets into a small frame are short
    pub fn new(host: Name, key: Name, started: u64, row: &Row, under: Under) -> HostValue {
        let sample = &row.sample;
        let value = sample.nanoseconds;
        let interval = sample.interval.filter(|interval| interval.low > 0.0);
        let interval = interval.unwrap_or(Interval { low: value, high: value });
        let of_host = HostValue { key, host, started, value, interval, under, apart: 0 };
        let Some(kind) = row.traffic() else { return of_host };
        let Estimate { value, interval } = bandwidth(kind, Estimate { value, interval: Some(interval) });
        HostValue { value, interval: interval.unwrap_or(of_host.interval), ..of_host }
    }

    /// Returns the number of NUMA nodes of its host; 0 if unknown.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.under.get(PLACE_OF_NODES)
    }

    /// Returns the sort key of a value: its key, host and time, then everything else, so that the order of the files
    /// does not matter.
    fn place(&self) -> impl Ord {
        let Interval { low, high } = self.interval;
        // Larger positive numbers have larger bit patterns.
        let numbers = [self.value, low, high].map(f64::to_bits);
        (self.key, self.host, self.started, numbers, self.under)
    }
}

/// A host whose newest results are slower than its older ones.
#[derive(Clone, Copy, Debug)]
pub struct Slowed {
    /// The newest result.
    pub value: HostValue,
    /// The median of the older results.
    pub before: f64,
    /// The number of slower results, and the number of results before them.
    pub counts: [usize; 2],
    /// The start of the first slower result, in seconds since 1970.
    pub since: u64,
}

impl Slowed {
    /// Returns the newest value divided by the median of the older ones.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.value.value / self.before
    }
}

/// The values of all results of one purpose, for example of the baseline.
pub type Values = List<HostValue>;

/// Keeps one value of each host and key: the newest, or the middle one of several that began in the same second. Sorts
/// these values by key. Returns the hosts that became slower by more than `threshold`, sorted by host name.
///
/// # Errors
///
/// No memory for the list of hosts that became slower.
pub fn settle(
    values: &mut Values,
    names: &Names,
    boots: &Boots,
    threshold: f64,
) -> Result<List<Slowed>, Errno> {
    let mut slowed = List::new(MOST_LISTED)?;
    values.iter_mut().for_each(|value| value.host = boots.host(value.host));
    sort_by(values, |one, other| one.place().cmp(&other.place()));
    let is_same = |one: &HostValue, other: &HostValue| (one.key, one.host) == (other.key, other.host);
    let (mut start, mut count) = (0, 0);
    while let Some(of_host) = values.get(start..).and_then(|rest| rest.chunk_by(is_same).next()) {
        let newest = of_host.last().map_or(0, |newest| newest.started);
        let (older, newest) = of_host.split_at(of_host.partition_point(|value| value.started < newest));
        let Some(one) = newest.get((newest.len() - 1) / 2).copied() else { break };
        let quantity = Key::of(names.name(one.key)).quantity;
        if let Some(found) = change(older, one, quantity, threshold) {
            // A host for which the list has no room is only counted.
            slowed.push(found);
        }
        start += of_host.len();
        if let Some(slot) = values.get_mut(count) {
            *slot = one;
        }
        count += 1;
    }
    values.truncate(count);
    let place = |slowed: &Slowed| [slowed.value.host, slowed.value.key].map(|name| names.name(name));
    sort_by(&mut slowed, |one, other| place(one).cmp(&place(other)));
    Ok(slowed)
}

/// Returns whether two values have the same key.
pub fn of_one_key(one: &HostValue, other: &HostValue) -> bool {
    one.key == other.key
}

/// Finds the longest series of newest results that are all slower than the results before it. A result is slower if its
/// whole interval lies above the median of the older results, by more than the threshold and four robust standard
/// deviations, and above the median of the upper ends of their intervals.
#[inline(never)] // offsets into a small frame are short
fn change(older: &[HostValue], newest: HostValue, quantity: Quantity, threshold: f64) -> Option<Slowed> {
    // Bandwidths are converted to the time per byte, so that larger values are slower.
    let times = |value: &HostValue| match quantity {
        Quantity::Latency => [value.value, value.interval.low, value.interval.high],
        Quantity::Bandwidth => [1.0 / value.value, 1.0 / value.interval.high, 1.0 / value.interval.low],
    };
    let is_like = |value: &HostValue| {
        (0..TABLE.len())
            .all(|condition| alike(condition, value.under.get(condition), newest.under.get(condition)))
    };
    // The results from the newest to the oldest.
    let mut all = [(0, [0.0; 3]); RECENT];
    let known = older.iter().rev().filter(|value| value.started > 0 && is_like(value));
    let mut count = 0;
    for (slot, value) in all.iter_mut().zip(core::iter::once(&newest).chain(known)) {
        *slot = (value.started, times(value));
        count += 1;
    }
    let all = all.get(..count).unwrap_or_default();
    (1..count).rev().find_map(|new| {
        let (recent, before) = all.split_at_checked(new)?;
        let mut numbers = [0.0; RECENT];
        let mut norm = |part: usize| {
            for (slot, (_, times)) in numbers.iter_mut().zip(before) {
                *slot = times.get(part).copied().unwrap_or(0.0);
            }
            Norm::of(numbers.get_mut(..before.len()).unwrap_or_default())
        };
        let (usual, ends) = (norm(0)?, norm(2)?);
        let bound = (usual.median + usual.allowed(threshold)).max(ends.median);
        let slower = recent.iter().all(|(_, [_, low, _])| *low > bound);
        let before = if quantity == Quantity::Latency { usual.median } else { 1.0 / usual.median };
        slower.then_some(Slowed {
            value: newest,
            before,
            counts: [new, count - new],
            since: recent.last().map_or(0, |(started, _)| *started),
        })
    })
}
