//! The values of many hosts: the newest of each host and point, and those that became slower.

use latency_core::compact::Compact;
use latency_core::sort::sort_by;
use latency_core::stats::Interval;

use super::boots::Boots;
use super::key::{Key, MOST_LISTED};
use super::names::{Name, Names};
use crate::analysis::norm::{Norm, Quantity};
use crate::analysis::traffic::bytes_per_line;
use crate::result::row::Row;
use crate::saved::alike::{alike, Under, PLACE_OF_NODES, TABLE};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// The maximum number of values of all documents together, which need 64 MiB.
const MOST_VALUES: usize = 1 << 20;
/// The number of newest results of a host that are searched for a change.
const RECENT: usize = 32;

/// A value of a host: key and host, when it was measured, the value, both ends of its interval, its conditions, and which
/// of them are not like others. Numbers are kept as bits: all are positive, so that larger numbers have larger bits.
pub type Kept = [u64; 8];

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct HostValue {
    /// The name of its host.
    pub host: Name,
    /// Its key: experiment, point, CPU model and unit.
    pub key: Name,
    /// When its run began, in seconds since 1970; 0 where that is not known.
    pub started: u64,
    /// The value: nanoseconds or bytes per second.
    pub value: f64,
    /// Its interval; the value alone where there is none.
    pub interval: Interval,
    /// Its conditions.
    pub under: Under,
    /// The conditions that are not like those of other hosts, one bit for each.
    pub apart: u64,
}

impl From<Kept> for HostValue {
    #[inline(never)] // it is needed in many places
    fn from([names, started, value, low, high, one, other, apart]: Kept) -> HostValue {
        let interval = Interval { low: f64::from_bits(low), high: f64::from_bits(high) };
        let (host, key) = (names as u32, (names >> 32) as u32);
        HostValue {
            host,
            key,
            started,
            value: f64::from_bits(value),
            interval,
            under: Under([one, other]),
            apart,
        }
    }
}

impl HostValue {
    /// The NUMA nodes of its host; 0 where that is not known.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.under.get(PLACE_OF_NODES)
    }
}

/// Sets which conditions of a value are not like those of others.
pub fn set_apart(kept: &mut Kept, apart: u64) {
    let [.., slot] = kept;
    *slot = apart;
}

/// A host whose newest results are slower than its older ones.
#[derive(Clone, Copy, Debug)]
pub struct Slowed {
    /// The newest one.
    pub value: HostValue,
    /// The median of the older ones.
    pub before: f64,
    /// The number of slower results, and of those before them.
    pub counts: [usize; 2],
    /// When the first slower one began.
    pub since: u64,
}

impl Slowed {
    /// The newest value over the median of the older ones.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.value.value / self.before
    }
}

/// Values, of results that were read for one purpose.
pub struct Values {
    kept: Table<Kept>,
    count: usize,
}

/// Points of hosts that are slower than they were, in the order of their names.
pub struct Slowdowns {
    listed: Table<Option<Slowed>>,
    /// Their number; the list ends when it is full.
    pub count: usize,
}

impl Slowdowns {
    /// The list.
    pub fn iter(&self) -> impl Iterator<Item = Slowed> + Clone + '_ {
        Compact(self.listed.iter().copied().flatten())
    }
}

impl Values {
    /// Makes an empty collection.
    ///
    /// # Errors
    ///
    /// No memory for them.
    pub fn new() -> Result<Values, Errno> {
        Ok(Values { kept: Table::zeroed(MOST_VALUES)?, count: 0 })
    }

    /// Adds the value of a row; returns `None` if the table is full.
    pub fn push(&mut self, host: Name, key: Name, started: u64, row: &Row, under: Under) -> Option<()> {
        let sample = &row.sample;
        let interval = sample.interval.filter(|interval| interval.low > 0.0);
        let ns = sample.nanoseconds;
        let Interval { low, high } = interval.unwrap_or(Interval { low: ns, high: ns });
        let [value, low, high] = match row.traffic() {
            None => [ns, low, high],
            Some(kind) => [ns, high, low].map(|ns| bytes_per_line(kind) * 1e9 / ns),
        }
        .map(f64::to_bits);
        let names = u64::from(key) << 32 | u64::from(host);
        let [one, other] = under.0;
        *self.kept.get_mut(self.count)? = [names, started, value, low, high, one, other, 0];
        self.count += 1;
        Some(())
    }

    /// Leaves one value of each host and key, the newest; of several that began in the same second the middle one. Then
    /// they stand in the order of keys. Returns which are slower than the older ones by more than `threshold`.
    ///
    /// # Errors
    ///
    /// No memory for the values.
    pub fn settle(&mut self, names: &Names, boots: &Boots, threshold: f64) -> Result<Slowdowns, Errno> {
        let mut slowed = Table::filled(MOST_LISTED, None)?;
        let mut slowed_count = 0;
        let kept = self.kept.get_mut(..self.count).unwrap_or_default();
        for [of, ..] in kept.iter_mut() {
            *of = *of >> 32 << 32 | u64::from(boots.host(*of as u32));
        }
        sort_by(kept, |one, other| one.cmp(other));
        let (mut start, mut count) = (0, 0);
        while let Some(&first) = kept.get(start) {
            let same = |other: &&Kept| other.first() == first.first();
            let length = kept.get(start..).unwrap_or_default().iter().take_while(same).count();
            let of_host = kept.get(start..start + length).unwrap_or_default();
            let [.., newest] = of_host else { break };
            let older = of_host.iter().take_while(|other| other[1] < newest[1]).count();
            let one = of_host.get(older + (length - older - 1) / 2).copied().unwrap_or(first);
            if older > 0 {
                let quantity = Key::of(names.name(HostValue::from(one).key)).quantity;
                if let Some(found) =
                    change(of_host.get(..older).unwrap_or_default(), one, quantity, threshold)
                {
                    slowed.iter_mut().skip(slowed_count).take(1).for_each(|slot| *slot = Some(found));
                    slowed_count += 1;
                }
            }
            if let Some(slot) = kept.get_mut(count) {
                *slot = one;
            }
            start += length;
            count += 1;
        }
        self.count = count;
        let listed = slowed.get_mut(..slowed_count.min(MOST_LISTED)).unwrap_or_default();
        sort_by(listed, |one, other| {
            let place = |slowed: &Option<Slowed>| {
                slowed.map(|slowed| [slowed.value.host, slowed.value.key].map(|name| names.name(name)))
            };
            place(one).cmp(&place(other))
        });
        Ok(Slowdowns { listed: Table::of(listed)?, count: slowed_count })
    }

    /// The values of each key, once settled.
    pub fn groups(&self) -> impl Iterator<Item = &[Kept]> + Clone {
        Compact(self.kept.get(..self.count).unwrap_or_default().chunk_by(of_one_key))
    }

    /// Returns the values of each key for changes, once settled.
    pub fn groups_mut(&mut self) -> impl Iterator<Item = &mut [Kept]> {
        self.kept.get_mut(..self.count).unwrap_or_default().chunk_by_mut(of_one_key)
    }
}

fn of_one_key([one, ..]: &Kept, [other, ..]: &Kept) -> bool {
    one >> 32 == other >> 32
}

/// Finds the most of the newest results that are all slower than what was usual before them: their whole interval beyond
/// the older ones' median, by the threshold and four robust standard deviations, and beyond the upper ends of their intervals.
fn change(older: &[Kept], newest: Kept, quantity: Quantity, threshold: f64) -> Option<Slowed> {
    let newest = HostValue::from(newest);
    // Bandwidths are converted to the time per byte, so that larger values are slower.
    let times = |value: &HostValue| match quantity {
        Quantity::Latency => [value.value, value.interval.low, value.interval.high],
        Quantity::Bandwidth => [1.0 / value.value, 1.0 / value.interval.high, 1.0 / value.interval.low],
    };
    let is_like = |value: &HostValue| {
        (0..TABLE.len())
            .all(|condition| alike(condition, value.under.get(condition), newest.under.get(condition)))
    };
    // From the newest to the oldest one.
    let mut all = [(0, [0.0; 3]); RECENT];
    let known =
        older.iter().rev().copied().map(HostValue::from).filter(|value| value.started > 0 && is_like(value));
    let mut count = 0;
    for (slot, value) in all.iter_mut().zip(core::iter::once(newest).chain(known)) {
        *slot = (value.started, times(&value));
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
