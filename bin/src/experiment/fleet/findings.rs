//! What many hosts say together: groups of values that are comparable, and the hosts that are slower. Nothing is shown
//! here.

use latency_core::sort::sort_by;

use super::names::Names;
use super::runs::{Key, Runs, Value, Values};
use crate::analysis::norm::{Norm, Quantity, FEWEST};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// Values of one key.
#[derive(Clone, Copy)]
pub struct Group<'v> {
    /// One of each host.
    pub values: &'v [[u64; 4]],
    /// What is usual: of these hosts, or of the baseline.
    pub norm: Norm,
    /// Whether that judges them.
    pub is_judged: bool,
}

impl Group<'_> {
    /// Its values.
    pub fn iter(&self) -> impl Iterator<Item = Value> + Clone + '_ {
        self.values.iter().copied().map(Value::from)
    }

    /// Its key.
    #[must_use]
    pub fn key<'n>(&self, names: &'n Names) -> Key<'n> {
        Key::of(self.iter().next().map_or("", |value| names.name(value.key)))
    }
}

/// A value that is slower than is usual.
#[derive(Clone, Copy)]
pub struct Outlier {
    /// The value.
    pub value: Value,
    /// What is usual instead.
    pub norm: Norm,
    /// What it is of.
    pub quantity: Quantity,
}

impl Outlier {
    /// The value over the median.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.value.value / self.norm.median
    }

    /// How many robust standard deviations it is slower; `None` where all hosts are the same.
    #[must_use]
    pub fn z(&self) -> Option<f64> {
        self.norm.deviations(self.quantity, self.value.value)
    }

    /// How many times slower it is.
    fn slower(&self) -> f64 {
        match self.quantity {
            Quantity::Latency => self.ratio(),
            Quantity::Bandwidth => 1.0 / self.ratio(),
        }
    }
}

/// What was found.
pub struct Findings<'v> {
    /// Every group, in the order of their keys.
    pub groups: Table<Group<'v>>,
    /// Values that are slower, the worst first.
    pub outliers: Table<Outlier>,
    /// All hosts that have a value.
    pub hosts: usize,
    /// Those with a value that was judged.
    pub judged: usize,
    /// Those with an outlier.
    pub slow: usize,
}

/// Compares the values of each key with each other, or with those of a baseline.
///
/// # Errors
///
/// That of mapping what is found.
#[inline(never)] // offsets into a small frame are short
pub fn find<'v>(
    runs: &Runs<'_>,
    values: &'v Values,
    baseline: Option<&Values>,
    threshold: f64,
) -> Result<Findings<'v>, Errno> {
    let names = &runs.names;
    let longest =
        values.groups().chain(baseline.iter().flat_map(|values| values.groups())).map(<[_]>::len).max();
    let mut numbers = Table::<f64>::zeroed(longest.unwrap_or(0))?;
    let mut norm = |values: &[[u64; 4]]| {
        let numbers = numbers.get_mut(..values.len()).unwrap_or_default();
        for (number, value) in numbers.iter_mut().zip(values) {
            *number = Value::from(*value).value;
        }
        let norm = Norm::of(numbers).unwrap_or(Norm { median: f64::NAN, mad: f64::NAN });
        // A few hosts say what is usual, and not how far hosts lie apart.
        Norm { mad: if values.len() < FEWEST && baseline.is_some() { 0.0 } else { norm.mad }, ..norm }
    };
    let count = values.groups().count();
    let nothing = Group { values: &[], norm: Norm { median: 0.0, mad: 0.0 }, is_judged: false };
    let mut groups = Table::filled(count, nothing)?;
    for (slot, values) in groups.iter_mut().zip(values.groups()) {
        let key = |values: &[[u64; 4]]| values.first().map(|value| value[0] >> 32);
        let known = baseline.and_then(|all| all.groups().find(|known| key(known) == key(values)));
        let of_group = norm(values);
        *slot = match (baseline, known) {
            (None, _) => Group { values, norm: of_group, is_judged: values.len() >= FEWEST },
            (Some(_), Some(known)) => Group { values, norm: norm(known), is_judged: true },
            (Some(_), None) => Group { values, norm: of_group, is_judged: false },
        };
    }
    let full = |group: &Group<'_>| group.iter().next().map_or("", |value| names.name(value.key));
    sort_by(&mut groups, |one, other| full(one).cmp(full(other)));
    let outliers = outliers(names, &groups, threshold)?;
    let hosts = distinct(groups.iter().flat_map(Group::iter))?;
    let judged = distinct(groups.iter().filter(|group| group.is_judged).flat_map(Group::iter))?;
    let slow = distinct(outliers.iter().map(|outlier| outlier.value))?;
    Ok(Findings { groups, outliers, hosts, judged, slow })
}

/// The values that are slower than is usual, the worst first.
#[inline(never)] // offsets into a small frame are short
fn outliers(names: &Names, groups: &[Group<'_>], threshold: f64) -> Result<Table<Outlier>, Errno> {
    let all = || {
        groups.iter().filter(|group| group.is_judged).flat_map(|group| {
            let (norm, quantity) = (group.norm, group.key(names).quantity);
            let slower = move |value: &Value| norm.is_slower(quantity, value.interval, threshold);
            group.iter().filter(slower).map(move |value| Outlier { value, norm, quantity })
        })
    };
    let Some(first) = all().next() else { return Table::empty() };
    let mut outliers = Table::filled(all().count(), first)?;
    outliers.iter_mut().zip(all()).for_each(|(slot, outlier)| *slot = outlier);
    sort_by(&mut outliers, |one, other| {
        let place = |outlier: &Outlier| [outlier.value.host, outlier.value.key].map(|name| names.name(name));
        other.slower().total_cmp(&one.slower()).then_with(|| place(one).cmp(&place(other)))
    });
    Ok(outliers)
}

/// How many hosts there are among some values.
fn distinct(values: impl Iterator<Item = Value> + Clone) -> Result<usize, Errno> {
    let largest = values.clone().map(|value| value.host as usize + 1).max();
    let mut seen = Table::<bool>::zeroed(largest.unwrap_or(0))?;
    for value in values {
        if let Some(seen) = seen.get_mut(value.host as usize) {
            *seen = true;
        }
    }
    Ok(seen.iter().filter(|seen| **seen).count())
}
