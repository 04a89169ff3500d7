//! The conclusions from many hosts: groups of comparable values, slower hosts, and hosts that were measured under other
//! conditions. Nothing is shown here.

use alloc::vec::Vec;
use core::fmt;

use latency_core::math::ln;
use latency_core::{ToReal, sort_by, sort_by_key};

use super::association::JudgedHost;
use super::names::Name;
use super::runs::Runs;
use super::values::HostValue;
use crate::analysis::norm::{FEWEST, Norm, Quantity};
use crate::record::columns::WORKING_SET;
use crate::saved::alike::{self, TABLE, Under, VERIFIED, WHOLE, YES, alike};
use latency_report::chart::vector;
use latency_report::lists::joined;

/// The index that means "faster than usual" in place of a condition.
pub const FASTER: usize = TABLE.len();

/// A kind of hosts: the conditions of the host itself, not those of the measurement. It shows the conditions in which it
/// differs from other kinds with values of the same key.
#[derive(Clone, Copy, Default)]
pub struct HostKind {
    of: Under,
    /// The conditions that differ, one bit for each; 0 if there is one kind.
    differs: u64,
}

impl HostKind {
    /// Returns whether a host under these conditions is of this kind.
    pub fn has(&self, under: Under) -> bool {
        self.of.differences(under) == 0
    }

    /// Returns whether other kinds have values of the same key.
    pub const fn is_one_of_several(&self) -> bool {
        self.differs > 0
    }

    /// Finds the kinds with at least `fewest` values of one key, and the largest one in any case, which is the first.
    /// Hosts without any known condition do not make a kind out of others.
    fn find(values: &[HostValue], fewest: usize) -> Vec<HostKind> {
        let mut all: Vec<(bool, usize, Under)> = Vec::new();
        for value in values {
            let of = value.under.of_host();
            match all.iter_mut().find(|known| known.2 == of) {
                Some(known) => known.1 += 1,
                None => all.push((of != Under::default(), 1, of)),
            }
        }
        let mut kinds: Vec<HostKind> = Vec::new();
        while let Some(&(_, count, of)) = all.iter().max()
            && (kinds.is_empty() || count >= fewest)
        {
            let mut added = HostKind { of, differs: 0 };
            all.retain(|other| !added.has(other.2));
            for kind in &mut kinds {
                kind.differs |= kind.of.differences(of);
                added.differs |= kind.differs;
            }
            kinds.push(added);
        }
        kinds
    }
}

impl fmt::Display for HostKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_shown = |condition: &usize| self.differs >> condition & 1 == 1 && self.of.get(*condition) > 0;
        let shown = (0..TABLE.len()).filter(is_shown);
        let shown = shown.map(|condition| alike::shown(condition, self.of.get(condition), true));
        write!(out, "{}", joined("", ", ", shown))
    }
}

/// The values of one key and one kind of hosts.
#[derive(Clone, Copy)]
pub struct HostGroup<'v> {
    /// Its key.
    pub key: Name,
    /// One value of each host, including hosts with unusual conditions.
    pub values: &'v [HostValue],
    /// The usual value: that of these hosts, or that of the baseline.
    pub norm: Norm,
    /// The usual conditions: those of the kind, and those of the measurement that most of the values have. Hosts of kinds
    /// that are too small have others.
    pub kind: HostKind,
    /// The number of hosts with each of the usual conditions.
    counts: [usize; TABLE.len()],
    /// The number of hosts with the usual conditions.
    pub like: usize,
    /// True if a baseline gives the verdict.
    pub is_judged: bool,
    /// The quantity of its values: latency or bandwidth.
    quantity: Quantity,
}

impl HostGroup<'_> {
    /// Returns the values of hosts with the usual conditions.
    fn alike(&self) -> impl Iterator<Item = &HostValue> + Clone {
        self.values.iter().filter(|value| value.apart == 0)
    }

    /// Returns whether a value is slower than is usual in the group.
    fn is_slow(&self, value: &HostValue, threshold: f64) -> bool {
        self.norm.is_slower(self.quantity, value.interval, threshold)
    }

    /// Returns the values that are judged, or would be.
    pub fn shown(&self) -> impl Iterator<Item = &HostValue> + Clone {
        self.values.iter().filter(|value| !value.is_left)
    }

    /// Returns the number of NUMA nodes that most of its hosts have.
    pub fn nodes(&self) -> u64 {
        self.kind.of.get(alike::PLACE_OF_NODES)
    }
}

/// A value that is slower than usual.
#[derive(Clone, Copy)]
pub struct Outlier {
    /// The value.
    pub value: HostValue,
    /// The index of its group.
    pub group: usize,
    /// The usual value for comparison.
    pub norm: Norm,
    /// The quantity of the value: latency or bandwidth.
    pub quantity: Quantity,
}

impl Outlier {
    fn of((index, group): (usize, &HostGroup<'_>), value: &HostValue) -> Outlier {
        Outlier { value: *value, group: index, norm: group.norm, quantity: group.quantity }
    }

    /// Returns the value divided by the median.
    pub fn ratio(&self) -> f64 {
        self.value.value / self.norm.median
    }

    /// Returns the excess in robust standard deviations; `None` if all hosts have the same value.
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

/// A host that differs from the others in one condition.
#[derive(Clone, Copy)]
pub struct Apart {
    /// The first value with this difference, and the usual value.
    pub outlier: Outlier,
    /// The index of the condition, or [`FASTER`].
    pub condition: usize,
    /// The usual value of the condition, and the number of hosts that have it.
    pub usual: (u64, usize),
    /// The number of points of the host with this difference.
    pub points: usize,
}

impl Apart {
    /// Returns the code for programs.
    pub fn code(&self) -> &'static str {
        TABLE.get(self.condition).map_or("faster", |condition| condition.code)
    }
}

/// The findings.
pub struct FleetFindings<'v> {
    /// Every group, in the order of their keys.
    pub groups: Vec<HostGroup<'v>>,
    /// Values that are slower than usual, the worst first.
    pub outliers: Vec<Outlier>,
    /// Random loads that are slower than usual, although memory without address translation is not.
    pub translation: Vec<Outlier>,
    /// Hosts that differ from the others, sorted by host name, then by condition.
    pub apart: Vec<Apart>,
    /// The hosts of the values with a verdict.
    pub judged_hosts: Vec<JudgedHost>,
    /// The hosts with a value that are neither judged nor different in a condition, by name.
    pub not_judged: Vec<Name>,
    /// The number of hosts that have a value.
    pub hosts: usize,
    /// The number of hosts with a value that has a verdict.
    pub judged: usize,
    /// The number of hosts that differ in a condition and have no value with a verdict.
    pub only_apart: usize,
    /// The number of hosts that differ from the others in a condition.
    pub apart_hosts: usize,
    /// The number of hosts with an outlier.
    pub slow: usize,
}

impl<'v> FleetFindings<'v> {
    /// Returns the groups with a value that is judged, or would be.
    pub fn shown_groups(&self) -> impl Iterator<Item = &HostGroup<'v>> {
        self.groups.iter().filter(|group| group.shown().next().is_some())
    }
}

/// Compares the values of each key with each other, or with those of a baseline.
pub fn find<'v>(
    runs: &Runs<'_>,
    values: &'v mut [HostValue],
    baseline: Option<&mut [HostValue]>,
    threshold: f64,
) -> FleetFindings<'v> {
    let names = &runs.names;
    let of_one_key = |one: &HostValue, other: &HostValue| one.key == other.key;
    let has_baseline = baseline.is_some();
    let mut of_baseline = Vec::new();
    for values in baseline.unwrap_or_default().chunk_by_mut(of_one_key) {
        let kinds = HostKind::find(values, 1);
        for (place, values) in of_kinds(values, &kinds) {
            let mut found = group(values, kinds.get(place), None);
            // A few hosts show the usual value, but not its spread.
            found.norm.mad = if found.like < FEWEST { 0.0 } else { found.norm.mad };
            of_baseline.push(found);
        }
    }
    let mut groups: Vec<HostGroup<'_>> = Vec::new();
    // The groups of each key.
    let mut places = vec![[0; 2]; runs.keys()];
    for values in values.chunk_by_mut(of_one_key) {
        let key = values[0].key;
        let known: Vec<_> = vector(of_baseline.iter().filter(|group| group.key == key));
        let kinds = match has_baseline {
            false => HostKind::find(values, FEWEST),
            true => vector(known.iter().map(|group| HostKind { of: group.kind.of.of_host(), ..group.kind })),
        };
        let is_of_memory = runs.is_of_memory(key);
        // Keys of memory come first. Random loads of the same results only show address translation.
        let twin = runs.twin(key).filter(|_| !is_of_memory);
        let [first, end] = twin.map_or([0; 2], |twin| places[twin as usize]);
        let start = groups.len();
        for (place, values) in of_kinds(values, &kinds) {
            let known = known.get(place).copied();
            let mut found = group(values, kinds.get(place), known);
            found.is_judged =
                if has_baseline { known.is_some_and(|known| known.like > 0) } else { found.like >= FEWEST };
            found.quantity = runs.key(key).quantity();
            let mut any = false;
            for value in values.iter_mut() {
                let memory = groups[first..end].iter().find_map(|group| {
                    let place = group.values.binary_search_by_key(&value.host, |value| value.host);
                    Some((group, &group.values[place.ok()?]))
                });
                let memory = memory.filter(|(group, _)| value.has_twin && group.is_judged);
                value.is_left = if is_of_memory { !found.is_judged } else { memory.is_some() };
                value.memory_is_slow = memory.is_some_and(|(group, value)| group.is_slow(value, threshold));
                if found.is_judged
                    && value.apart == 0
                    && found.norm.is_faster(found.quantity, value.interval, threshold)
                {
                    value.apart = 1 << FASTER;
                    any = true;
                }
            }
            found.values = values;
            found.like = found.alike().count();
            if any && !has_baseline {
                let usual = norm(&mut found.alike());
                found.norm = usual;
            }
            groups.push(found);
        }
        places[key as usize] = [start, groups.len()];
    }
    sort_by_key(&mut groups, |group| {
        (runs.order(group.key), usize::MAX - group.like, group.norm.median.to_bits())
    });
    let mut apart = Vec::new();
    let (mut outliers, mut translation, mut judged_hosts) = (Vec::new(), Vec::new(), Vec::new());
    // Flags of each host: has a value; has a value with a verdict; differs from the others; differs or is in a judged
    // group; has a slow value.
    let mut seen = vec![[false; 5]; names.len()];
    for (index, group) in groups.iter().enumerate() {
        for value in group.values {
            let is_like = value.apart == 0;
            let is_slow = is_like && group.is_judged && group.is_slow(value, threshold);
            let outlier = Outlier::of((index, group), value);
            if value.is_left {
                if is_slow && !value.memory_is_slow {
                    translation.push(outlier);
                }
                continue;
            }
            if is_slow {
                outliers.push(outlier);
            }
            for condition in (0..=FASTER).filter(|condition| value.apart >> condition & 1 == 1) {
                let hosts = group.counts.get(condition).copied().unwrap_or(group.like);
                let usual = (group.kind.of.get(condition), hosts);
                apart.push(Apart { outlier, condition, usual, points: 1 });
            }
            let judged = group.is_judged && is_like;
            if judged {
                let HostValue { host, started, state, .. } = *value;
                judged_hosts.push(JudgedHost { host, started, state, is_slow });
            }
            let found = [true, judged, !is_like, group.is_judged || !is_like, is_slow];
            seen[value.host as usize].iter_mut().zip(found).for_each(|(seen, found)| *seen |= found);
        }
    }
    let place = |outlier: &Outlier| (names.name(outlier.value.host), runs.order(outlier.value.key));
    sort_by(&mut outliers, |one: &Outlier, other| {
        other.slower().total_cmp(&one.slower()).then_with(|| place(one).cmp(&place(other)))
    });
    // One entry for each host and condition, with the first point.
    sort_by_key(&mut apart, |apart| {
        let (host, key) = place(&apart.outlier);
        (host, apart.condition, key)
    });
    apart.dedup_by(|next, first| {
        let is_same =
            next.outlier.value.host == first.outlier.value.host && next.condition == first.condition;
        first.points += usize::from(is_same);
        is_same
    });
    let count = |place: usize| seen.iter().filter(|seen| seen[place]).count();
    let [hosts, judged, apart_hosts, known, slow] = core::array::from_fn(count);
    let is_left = |(_, seen): &(Name, &[bool; 5])| seen[0] && !seen[3];
    let mut not_judged: Vec<_> = vector((0..).zip(&seen).filter(is_left).map(|(host, _)| host));
    sort_by_key(&mut not_judged, |host| names.name(*host));
    FleetFindings {
        groups,
        outliers,
        translation,
        apart,
        judged_hosts,
        not_judged,
        hosts,
        judged,
        only_apart: known - judged,
        apart_hosts,
        slow,
    }
}

/// Returns the usual value among some values.
fn norm(values: &mut dyn Iterator<Item = &HostValue>) -> Norm {
    let mut numbers: Vec<f64> = vector(values.map(|value| value.value));
    Norm::of(&mut numbers).unwrap_or(Norm { median: f64::NAN, mad: f64::NAN })
}

/// Returns the values of each kind, sorted by host, with its place. Values of other hosts are with those of the first kind.
fn of_kinds<'v>(values: &'v mut [HostValue], kinds: &[HostKind]) -> Vec<(usize, &'v mut [HostValue])> {
    if kinds.len() < 2 {
        return [(0, values)].into();
    }
    // The conditions that differ are marked later.
    for value in values.iter_mut() {
        let place = kinds.iter().position(|kind| kind.has(value.under));
        value.apart = place.unwrap_or_default() as u64;
    }
    sort_by_key(values, |value| (value.apart, value.host));
    let all = values.chunk_by_mut(|one, other| one.apart == other.apart);
    vector(all.map(|values| (values[0].apart as usize, values)))
}

/// Marks the values under other conditions than most values (or than the baseline), and finds the usual value of the
/// rest. The caller fills in the values.
fn group(
    values: &mut [HostValue],
    kind: Option<&HostKind>,
    baseline: Option<&HostGroup<'_>>,
) -> HostGroup<'static> {
    let kind = kind.copied().unwrap_or_default();
    let differs = kind.differs;
    let (mut usual, mut counts) =
        baseline.map_or_else(Default::default, |known| (known.kind.of, known.counts));
    for (condition, count) in counts.iter_mut().enumerate().filter(|_| baseline.is_none()) {
        let all = || values.iter().map(|value| value.under).filter(|under| under.get(condition) > 0);
        let own = || all().filter(|under| kind.has(*under)).map(|under| under.get(condition));
        let most = match kind.of.get(condition) {
            0 => most(condition, &mut own()),
            known => known,
        };
        usual = usual.with(condition, most);
        *count = all().filter(|under| alike(condition, under.get(condition), most)).count();
    }
    for value in values.iter_mut() {
        let is_disturbed = value.under.get(alike::DISTURBED) > 0;
        value.apart = value.under.differences(usual) | u64::from(is_disturbed) << alike::DISTURBED;
    }
    let like = || values.iter().filter(|value| value.apart == 0);
    let norm = baseline.map_or_else(|| norm(&mut like()), |known| known.norm);
    let like = like().count();
    HostGroup {
        key: values[0].key,
        values: &[],
        norm,
        kind: HostKind { of: usual, differs },
        counts,
        like,
        is_judged: false,
        quantity: Quantity::Latency,
    }
}

/// Returns the most frequent known value of a condition; the larger one if two are equally frequent. Unverified
/// placement and an interrupted run never count as usual.
fn most(condition: usize, all: &mut dyn Iterator<Item = u64>) -> u64 {
    match condition {
        VERIFIED | WHOLE => return YES,
        alike::DISTURBED => return 0,
        _ => {}
    }
    let mut numbers: Vec<u64> = vector(all);
    // Sorting is slow, and usually all values are equal.
    if numbers.windows(2).any(|two| matches!(two, [one, other] if one != other)) {
        sort_by(&mut numbers, Ord::cmp);
    }
    let is_size = TABLE.get(condition).is_some_and(|entry| entry.field == Some(WORKING_SET));
    let class = |value: u64| if is_size { octave(value) } else { value };
    let runs = || numbers.chunk_by(|one, other| class(*one) == class(*other));
    let longest = runs().max_by_key(|run| run.len()).unwrap_or_default();
    longest.get(longest.len() / 2).map_or(0, |value| *value)
}

/// Returns the exponent of the power of two that is nearest to a size.
fn octave(size: u64) -> u64 {
    (ln(size.real()) / ln(2.0) + 0.5) as u64
}
