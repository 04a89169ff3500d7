//! The conclusions from many hosts: groups of comparable values, the hosts that are slower, and those that are not
//! like the others. Nothing is shown here.

use latency_core::compact::Compact;
use latency_core::math::{exp, ln};
use latency_core::sort::sort_by;

use super::key::Key;
use super::names::{Names, MOST};
use super::runs::Runs;
use super::values::{set_apart, HostValue, Kept, Values};
use crate::analysis::norm::{Norm, Quantity, FEWEST};
use crate::result::row::SIZE;
use crate::saved::alike::{self, alike, Under, TABLE, VERIFIED, WHOLE, YES};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// The place of a value that is faster than usual, which is not a condition.
pub const FASTER: usize = TABLE.len();

/// Values of one key.
#[derive(Clone, Copy)]
pub struct HostGroup<'v> {
    /// One of each host.
    values: &'v [Kept],
    /// The usual value: of these hosts, or of the baseline.
    pub norm: Norm,
    /// The conditions that most of them have.
    usual: Under,
    /// The number of hosts with each.
    counts: [usize; TABLE.len()],
    /// The number of hosts that are like the others.
    pub like: usize,
    /// True if a baseline gives the verdict.
    pub is_judged: bool,
    /// The point of its values.
    quantity: Quantity,
}

impl HostGroup<'_> {
    /// All its values, also those of hosts that are not like the others.
    pub fn all(&self) -> impl Iterator<Item = HostValue> + Clone + '_ {
        Compact(self.values.iter().copied().map(HostValue::from))
    }

    /// Its values of hosts that are like the others.
    pub fn iter(&self) -> impl Iterator<Item = HostValue> + Clone + '_ {
        Compact(self.all().filter(|value| value.apart == 0))
    }

    /// Its key.
    #[must_use]
    pub fn key<'n>(&self, names: &'n Names) -> Key<'n> {
        Key::of(self.all().next().map_or("", |value| names.name(value.key)))
    }

    /// The number of NUMA nodes that most of its hosts have.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.usual.get(alike::PLACE_OF_NODES)
    }
}

/// A value that is slower than is usual.
#[derive(Clone, Copy)]
pub struct Outlier {
    /// The value.
    pub value: HostValue,
    /// The usual value instead.
    pub norm: Norm,
    /// The point of the value.
    pub quantity: Quantity,
}

impl Outlier {
    /// Returns the value divided by the median.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.value.value / self.norm.median
    }

    /// Returns the excess in robust standard deviations; `None` if all hosts are the same.
    #[must_use]
    pub fn z(&self) -> Option<f64> {
        self.norm.deviations(self.quantity, self.value.value)
    }

    /// Returns the ratio to the usual value.
    fn slower(&self) -> f64 {
        match self.quantity {
            Quantity::Latency => self.ratio(),
            Quantity::Bandwidth => 1.0 / self.ratio(),
        }
    }
}

/// A host that is not like the others in one way.
#[derive(Clone, Copy)]
pub struct Apart {
    /// The first of its values, and the usual one.
    pub outlier: Outlier,
    /// The place of the condition, or [`FASTER`].
    pub condition: usize,
    /// The number of the condition that is usual, and how many hosts have it.
    pub usual: (u64, usize),
    /// The number of its points that are not like those of the others.
    pub points: usize,
}

impl Apart {
    /// Returns the code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        TABLE.get(self.condition).map_or("faster", |condition| condition.code)
    }
}

/// The findings.
pub struct FleetFindings<'v> {
    /// Every group, in the order of their keys.
    pub groups: Table<HostGroup<'v>>,
    /// Values that are slower, the worst first.
    pub outliers: Table<Outlier>,
    /// Hosts that are not like the others, in the order of their names and of the conditions.
    pub apart: Table<Apart>,
    /// All hosts that have a value.
    pub hosts: usize,
    /// The hosts with a value that has a verdict.
    pub judged: usize,
    /// The hosts that are only apart.
    pub only_apart: usize,
    /// The hosts that are not like the others in some way.
    pub apart_hosts: usize,
    /// The hosts with an outlier.
    pub slow: usize,
}

/// Compares the values of each key with each other, or with those of a baseline.
///
/// # Errors
///
/// No memory for the findings.
#[inline(never)] // offsets into a small frame are short
pub fn find<'v>(
    runs: &Runs<'_>,
    values: &'v mut Values,
    baseline: Option<&mut Values>,
    threshold: f64,
) -> Result<FleetFindings<'v>, Errno> {
    let names = &runs.names;
    let mut numbers = Table::<f64>::zeroed(values.groups().map(<[_]>::len).max().unwrap_or(0))?;
    let nothing = HostGroup {
        values: &[],
        norm: Norm { median: 0.0, mad: 0.0 },
        usual: Under::default(),
        counts: [0; TABLE.len()],
        like: 0,
        is_judged: false,
        quantity: Quantity::Latency,
    };
    let of_baseline = match baseline {
        Some(baseline) => {
            let mut numbers = Table::zeroed(baseline.groups().map(<[_]>::len).max().unwrap_or(0))?;
            let mut known = Table::filled(baseline.groups().count(), nothing)?;
            for (slot, values) in known.iter_mut().zip(baseline.groups_mut()) {
                *slot = group(values, None, &mut numbers);
                slot.values = values;
                // A few hosts show the usual value, and not its spread.
                slot.norm.mad = if slot.like < FEWEST { 0.0 } else { slot.norm.mad };
            }
            Some(known)
        }
        None => None,
    };
    let mut groups = Table::filled(values.groups().count(), nothing)?;
    let key = |values: &[Kept]| values.first().map(|value| value[0] >> 32);
    for (slot, values) in groups.iter_mut().zip(values.groups_mut()) {
        let known = of_baseline.as_ref().map(|all| all.iter().find(|known| key(known.values) == key(values)));
        let quantity =
            Key::of(values.first().map_or("", |value| names.name(HostValue::from(*value).key))).quantity;
        let mut found = group(values, known.flatten(), &mut numbers);
        found.is_judged = match known {
            None => found.like >= FEWEST,
            Some(known) => known.is_some_and(|known| known.like > 0),
        };
        found.quantity = quantity;
        *slot = found;
        if !found.is_judged {
            slot.values = values;
            continue;
        }
        let fast = |value: &HostValue| found.norm.is_faster(quantity, value.interval, threshold);
        let mut any = false;
        for kept in values.iter_mut() {
            let value = HostValue::from(*kept);
            if value.apart == 0 && fast(&value) {
                set_apart(kept, 1 << FASTER);
                any = true;
            }
        }
        slot.values = values;
        slot.like = slot.iter().count();
        if any && known.is_none() {
            let left = norm(&mut slot.iter(), &mut numbers);
            slot.norm = left;
        }
    }
    let full = |group: &HostGroup<'_>| group.all().next().map_or("", |value| names.name(value.key));
    sort_by(&mut groups, |one, other| full(one).cmp(full(other)));
    let outliers = outliers(names, &groups, threshold)?;
    let apart = apart(names, &groups)?;
    let is_judged = |group: &HostGroup<'_>, value: &HostValue| group.is_judged && value.apart == 0;
    let judged = distinct(&groups, &is_judged)?;
    let hosts = distinct(&groups, &|_, _| true)?;
    let apart_hosts = distinct(&groups, &|_, value| value.apart > 0)?;
    let only_apart = distinct(&groups, &|group, value| value.apart > 0 || group.is_judged)? - judged;
    let slow = distinct(&groups, &|group, value| is_slow(group, value, threshold))?;
    Ok(FleetFindings { groups, outliers, apart, hosts, judged, only_apart, apart_hosts, slow })
}

/// The usual value among some.
#[inline(never)] // one copy of the code for all values
fn norm(values: &mut dyn Iterator<Item = HostValue>, numbers: &mut [f64]) -> Norm {
    let mut count = 0;
    for (number, value) in numbers.iter_mut().zip(values) {
        *number = value.value;
        count += 1;
    }
    Norm::of(numbers.get_mut(..count).unwrap_or_default()).unwrap_or(Norm { median: f64::NAN, mad: f64::NAN })
}

/// Marks the values under other conditions than most values (or than the baseline), and finds the usual value of the
/// rest. The caller fills in the values.
fn group(values: &mut [Kept], baseline: Option<&HostGroup<'_>>, numbers: &mut [f64]) -> HostGroup<'static> {
    let all = || values.iter().copied().map(HostValue::from);
    let (mut usual, mut counts) = (Under::default(), [0; TABLE.len()]);
    for (condition, slot) in counts.iter_mut().enumerate() {
        let value = match baseline {
            Some(known) => known.usual.get(condition),
            None => most(condition, &mut all().map(|value| value.under.get(condition)), numbers),
        };
        usual = usual.with(condition, value);
        let is = |value: &HostValue| {
            value.under.get(condition) > 0
                && alike(condition, value.under.get(condition), usual.get(condition))
        };
        *slot = match baseline {
            Some(known) => known.counts.get(condition).copied().unwrap_or(0),
            None => all().filter(is).count(),
        };
    }
    for kept in values.iter_mut() {
        let under = HostValue::from(*kept).under;
        let differs = |condition: &usize| {
            let (own, usual) = (under.get(*condition), usual.get(*condition));
            !alike(*condition, own, usual) || (*condition == alike::DISTURBED && own > 0)
        };
        set_apart(kept, (0..TABLE.len()).filter(differs).fold(0, |all, condition| all | 1 << condition));
    }
    let values: &[Kept] = values;
    let like = || values.iter().copied().map(HostValue::from).filter(|value| value.apart == 0);
    let of_group = norm(&mut like(), numbers);
    let norm = baseline.map_or(of_group, |known| known.norm);
    HostGroup {
        values: &[],
        norm,
        usual,
        counts,
        like: like().count(),
        is_judged: false,
        quantity: Quantity::Latency,
    }
}

/// Returns the most frequent known number of a condition; the larger one if two are equally frequent. Unverified
/// placement and an interrupted run never count as usual.
fn most(condition: usize, all: &mut dyn Iterator<Item = u64>, numbers: &mut [f64]) -> u64 {
    match condition {
        VERIFIED | WHOLE => return YES,
        alike::DISTURBED => return 0,
        _ => {}
    }
    let mut count = 0;
    // Numbers of conditions have at most 52 bits.
    for (slot, value) in numbers.iter_mut().zip(all.filter(|value| *value > 0)) {
        *slot = value as f64;
        count += 1;
    }
    let numbers = numbers.get_mut(..count).unwrap_or_default();
    // Sorting is slow, and usually all numbers are equal.
    if numbers.windows(2).any(|two| matches!(two, [one, other] if one != other)) {
        sort_by(numbers, |one, other| one.total_cmp(other));
    }
    let is_size = TABLE.get(condition).is_some_and(|entry| entry.field == Some(SIZE));
    let class = |value: f64| if is_size { octave(value) } else { value };
    let runs = || numbers.chunk_by(|one, other| class(*one) == class(*other));
    let longest = runs().max_by_key(|run| run.len()).unwrap_or_default();
    longest.get(longest.len() / 2).map_or(0, |value| *value as u64)
}

/// Returns the power of two that is nearest to a size.
fn octave(size: f64) -> f64 {
    exp(((ln(size) / ln(2.0) + 0.5) as u64) as f64 * ln(2.0))
}

/// Passes every value of every group to `visit`.
#[inline(never)] // one copy of the walk
fn each(groups: &[HostGroup<'_>], visit: &mut dyn FnMut(&HostGroup<'_>, HostValue)) {
    for group in groups {
        for kept in group.values {
            visit(group, HostValue::from(*kept));
        }
    }
}

/// Returns whether a value is slower than usual among comparable ones.
fn is_slow(group: &HostGroup<'_>, value: &HostValue, threshold: f64) -> bool {
    group.is_judged && value.apart == 0 && group.norm.is_slower(group.quantity, value.interval, threshold)
}

/// Returns the values that are slower than usual, the worst first.
#[inline(never)] // offsets into a small frame are short
fn outliers(names: &Names, groups: &[HostGroup<'_>], threshold: f64) -> Result<Table<Outlier>, Errno> {
    let all = |take: &mut dyn FnMut(Outlier)| {
        each(groups, &mut |group, value| {
            if is_slow(group, &value, threshold) {
                take(Outlier { value, norm: group.norm, quantity: group.quantity });
            }
        });
    };
    let mut outliers = filled(&all)?;
    sort_by(&mut outliers, |one, other| {
        let place = |outlier: &Outlier| [outlier.value.host, outlier.value.key].map(|name| names.name(name));
        other.slower().total_cmp(&one.slower()).then_with(|| place(one).cmp(&place(other)))
    });
    Ok(outliers)
}

/// Returns the hosts that are not like the others: one entry for each condition, with the first point.
#[inline(never)] // offsets into a small frame are short
fn apart(names: &Names, groups: &[HostGroup<'_>]) -> Result<Table<Apart>, Errno> {
    let all = |take: &mut dyn FnMut(Apart)| {
        each(groups, &mut |group, value| {
            let outlier = Outlier { value, norm: group.norm, quantity: group.quantity };
            for condition in (0..=FASTER).filter(|condition| value.apart >> condition & 1 == 1) {
                let usual = group.usual.get(condition);
                let hosts = group.counts.get(condition).copied().unwrap_or(group.like);
                take(Apart { outlier, condition, usual: (usual, hosts), points: 1 });
            }
        });
    };
    let mut found = filled(&all)?;
    let Some(&first) = found.first() else { return Ok(found) };
    let host = |apart: &Apart| names.name(apart.outlier.value.host);
    let key = |apart: &Apart| names.name(apart.outlier.value.key);
    sort_by(&mut found, |one, other| {
        let place = |apart: &Apart| (host(apart).as_bytes(), apart.condition, key(apart).as_bytes());
        place(one).cmp(&place(other))
    });
    let is_same = |one: &Apart, other: &Apart| {
        one.outlier.value.host == other.outlier.value.host && one.condition == other.condition
    };
    let mut each = Table::filled(found.chunk_by(is_same).count(), first)?;
    for (slot, of_host) in each.iter_mut().zip(found.chunk_by(is_same)) {
        let first = of_host.first().copied().unwrap_or(first);
        *slot = Apart { points: of_host.len(), ..first };
    }
    Ok(each)
}

/// A function that passes each element to another, always the same ones.
type VisitAll<'v, T> = &'v dyn Fn(&mut dyn FnMut(T));

/// Returns a table of the elements that `all` passes on.
fn filled<T: Copy>(all: VisitAll<'_, T>) -> Result<Table<T>, Errno> {
    let (mut first, mut count) = (None, 0);
    all(&mut |one| {
        first = Some(one);
        count += 1;
    });
    let Some(first) = first else { return Table::empty() };
    let mut table = Table::filled(count, first)?;
    let mut slots = table.iter_mut();
    all(&mut |one| {
        if let Some(slot) = slots.next() {
            *slot = one;
        }
    });
    Ok(table)
}

/// Returns the number of hosts with a value that is wanted.
#[inline(never)] // it is called in several places
fn distinct(
    groups: &[HostGroup<'_>],
    wants: &dyn Fn(&HostGroup<'_>, &HostValue) -> bool,
) -> Result<usize, Errno> {
    let mut seen = Table::<bool>::zeroed(MOST)?;
    each(groups, &mut |group, value| {
        if let Some(seen) = seen.get_mut(value.host as usize).filter(|_| wants(group, &value)) {
            *seen = true;
        }
    });
    Ok(seen.iter().filter(|seen| **seen).count())
}
