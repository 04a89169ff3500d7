//! Everything that is kept of many results: a few numbers of each point, under names. Nothing is judged here.

use core::fmt::Write;

use latency_core::sort::sort_by;
use latency_core::stats::{median, Interval};
use latency_core::text::Text;

use super::names::{Name, Names};
use crate::analysis::norm::Quantity;
use crate::analysis::traffic::bytes_per_line;
use crate::error::Failure;
use crate::result::row::{Label, Row, CLASS, FROM, GENERATORS, SIZE, TO, VARIANT};
use crate::saved::{documents, sections, Problem, Saved, MAX_ROWS};
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// The most values of all documents together: 32 MiB of them.
const MOST_VALUES: usize = 1 << 20;
/// The most results that are not trusted, and lines that are no document, that are listed; more are counted.
const MOST_LISTED: usize = 1 << 12;

/// A value of a host: key and host, the value, and both ends of its interval, as bits. All are positive, so that
/// larger numbers have larger bits.
type Kept = [u64; 4];

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The name of its host.
    pub host: Name,
    /// Its key: experiment, point, CPU model, nodes and unit.
    pub key: Name,
    /// The value: nanoseconds or bytes per second.
    pub value: f64,
    /// Its interval; the value alone where there is none.
    pub interval: Interval,
}

impl From<Kept> for Value {
    fn from([names, value, low, high]: Kept) -> Value {
        let interval = Interval { low: f64::from_bits(low), high: f64::from_bits(high) };
        Value { host: names as u32, key: (names >> 32) as u32, value: f64::from_bits(value), interval }
    }
}

/// A key by its parts.
#[derive(Clone, Copy, Debug)]
pub struct Key<'n> {
    /// The experiment and its point.
    pub point: &'n str,
    /// The processor's name.
    pub cpu: &'n str,
    /// How many NUMA nodes there are.
    pub nodes: &'n str,
    /// What the values are of.
    pub quantity: Quantity,
}

/// Separates the parts of a key: no text that is shown has it.
const SEPARATOR: char = '\u{1f}';

impl Key<'_> {
    /// Takes a key apart.
    #[must_use]
    pub fn of(name: &str) -> Key<'_> {
        let mut parts = name.split(SEPARATOR);
        let mut part = || parts.next().unwrap_or_default();
        let (point, cpu, nodes) = (part(), part(), part());
        let quantity = if part().is_empty() { Quantity::Latency } else { Quantity::Bandwidth };
        Key { point, cpu, nodes, quantity }
    }
}

/// Values, of results that were read for one purpose.
pub struct Values {
    kept: Table<Kept>,
    count: usize,
}

impl Values {
    /// No values.
    ///
    /// # Errors
    ///
    /// That of mapping them.
    pub fn new() -> Result<Values, Errno> {
        Ok(Values { kept: Table::zeroed(MOST_VALUES)?, count: 0 })
    }

    /// Leaves one value of each host and key: the median of several, and those of the ends of their intervals. Then
    /// they stand in the order of keys.
    pub fn settle(&mut self) {
        let kept = self.kept.get_mut(..self.count).unwrap_or_default();
        sort_by(kept, |one, other| one.cmp(other));
        let (mut start, mut count) = (0, 0);
        while let Some(&first) = kept.get(start) {
            let same = |other: &&Kept| other.first() == first.first();
            let length = kept.get(start..).unwrap_or_default().iter().take_while(same).count();
            let mut one = first;
            if length > 1 {
                let of_host = kept.get_mut(start..start + length).unwrap_or_default();
                for part in 1..first.len() {
                    sort_by(of_host, |one, other| one.get(part).cmp(&other.get(part)));
                    let at = |place: usize| {
                        f64::from_bits(
                            of_host.get(place).and_then(|kept| kept.get(part)).copied().unwrap_or(0),
                        )
                    };
                    let middle = median(&mut [at((length - 1) / 2), at(length / 2)]);
                    if let (Some(slot), Some(middle)) = (one.get_mut(part), middle) {
                        *slot = middle.to_bits();
                    }
                }
            }
            if let Some(slot) = kept.get_mut(count) {
                *slot = one;
            }
            start += length;
            count += 1;
        }
        self.count = count;
    }

    /// The values of each key, once settled.
    pub fn groups(&self) -> impl Iterator<Item = &[Kept]> + Clone {
        let all = self.kept.get(..self.count).unwrap_or_default();
        all.chunk_by(|[one, ..], [other, ..]| one >> 32 == other >> 32)
    }
}

/// A line that is no document.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The file that it is in.
    pub path: &'a [u8],
    /// Its number, and what is wrong with it.
    pub problem: Problem,
}

/// Everything that was read.
pub struct Runs<'a> {
    /// All names.
    pub names: Names,
    /// The documents that were understood.
    pub documents: usize,
    /// Those without a value.
    pub without_value: usize,
    /// Hosts and reasons of those that are not judged.
    untrusted: Table<[Name; 2]>,
    /// How many there are.
    pub untrusted_count: usize,
    refused: Table<Refused<'a>>,
    /// How many lines are no documents.
    pub refused_count: usize,
    /// Results that are not trusted are judged as well.
    judge_all: bool,
    rows: Table<Row>,
}

impl<'a> Runs<'a> {
    /// Nothing yet; with `judge_all`, results that are not trusted are to be judged as well.
    ///
    /// # Errors
    ///
    /// That of mapping the tables.
    pub fn new(judge_all: bool) -> Result<Runs<'a>, Errno> {
        let nothing = Refused { path: b"", problem: Problem { line: 0, what: "" } };
        Ok(Runs {
            names: Names::new()?,
            documents: 0,
            without_value: 0,
            untrusted: Table::zeroed(MOST_LISTED)?,
            untrusted_count: 0,
            refused: Table::filled(MOST_LISTED, nothing)?,
            refused_count: 0,
            judge_all,
            rows: Table::filled(MAX_ROWS, Row::EMPTY)?,
        })
    }

    /// Reads every document of a file into `values`.
    ///
    /// # Errors
    ///
    /// Those of reading the file; what is in it is at most [refused](Self::refused).
    pub fn read(&mut self, path: &'a [u8], values: &mut Values) -> Result<(), Failure<'a>> {
        let Runs { names, documents, without_value, judge_all, .. } = self;
        let (untrusted, untrusted_count) = (&mut self.untrusted, &mut self.untrusted_count);
        let (rows, refused, refused_count) = (&mut self.rows, &mut self.refused, &mut self.refused_count);
        // Whether it is a report, which has documents within.
        let mut take = |text: &[u8]| {
            let draft = Saved::parse_of_host(text, rows)?;
            let saved = &draft.saved;
            if sections::are_in(saved.experiment.as_str()) {
                return Ok(true);
            }
            let full = Problem { line: 1, what: "there is no room for more values" };
            let host = names.number(saved.host()).ok_or(full)?;
            *documents += 1;
            if saved.conditions.poor && !*judge_all {
                let reason = names.number(saved.origin.reason.as_str()).ok_or(full)?;
                if let Some(slot) = untrusted.get_mut(*untrusted_count) {
                    *slot = [host, reason];
                }
                *untrusted_count += 1;
                return Ok(false);
            }
            *without_value += usize::from(draft.rows().is_empty());
            let shown = telling(draft.rows());
            for row in draft.rows() {
                let key = names.number(named(saved, row, shown).as_str()).ok_or(full)?;
                values.push(host, key, row).ok_or(full)?;
            }
            Ok(false)
        };
        let mut take = |text: &[u8]| match take(text)? {
            true => sections::each(text, &mut |section| take(section).map(drop)),
            false => Ok(()),
        };
        documents::each(path, &mut take, &mut |problem| {
            if let Some(slot) = refused.get_mut(*refused_count) {
                *slot = Refused { path, problem };
            }
            *refused_count += 1;
        })
    }

    /// Puts what is listed into the order of names.
    pub fn settle(&mut self) {
        let listed = self.untrusted.get_mut(..self.untrusted_count.min(MOST_LISTED)).unwrap_or_default();
        let names = &self.names;
        sort_by(listed, |one, other| {
            one.map(|name| names.name(name)).cmp(&other.map(|name| names.name(name)))
        });
    }

    /// Hosts and reasons of results that are not judged, once settled in the order of their names.
    #[must_use]
    pub fn untrusted(&self) -> &[[Name; 2]] {
        self.untrusted.get(..self.untrusted_count.min(MOST_LISTED)).unwrap_or_default()
    }

    /// Lines that are no document, as they came.
    #[must_use]
    pub fn refused(&self) -> &[Refused<'a>] {
        self.refused.get(..self.refused_count.min(MOST_LISTED)).unwrap_or_default()
    }
}

impl Values {
    /// Adds the value of a row; `None` where there is no room for it.
    fn push(&mut self, host: Name, key: Name, row: &Row) -> Option<()> {
        let sample = &row.sample;
        let interval = sample.interval.filter(|interval| interval.low > 0.0);
        let ns = sample.nanoseconds;
        let Interval { low, high } = interval.unwrap_or(Interval { low: ns, high: ns });
        let [value, low, high] = match row.traffic() {
            None => [ns, low, high],
            Some(kind) => [ns, high, low].map(|ns| bytes_per_line(kind) * 1e9 / ns),
        };
        let names = u64::from(key) << 32 | u64::from(host);
        *self.kept.get_mut(self.count)? = [names, value.to_bits(), low.to_bits(), high.to_bits()];
        self.count += 1;
        Some(())
    }
}

/// The fields that tell the rows of a result apart: those of pairs, traffic and loops, and whichever else differ.
fn telling(rows: &[Row]) -> u32 {
    const LOOPS: u32 = !0 << VARIANT & !0 >> (31 - GENERATORS);
    let Some(like) = rows.first() else { return 0 };
    let differs = |field: &usize| rows.iter().any(|row| row.pair == like.pair && !row.agrees(like, *field));
    (SIZE..VARIANT)
        .filter(differs)
        .fold(1 << FROM | 1 << TO | 1 << CLASS | LOOPS, |all, field| all | 1 << field)
}

/// The key of a row: hosts that have the same are compared.
fn named(saved: &Saved, row: &Row, shown: u32) -> Text<480> {
    let mut name = Text::EMPTY;
    let mut label = Text::<320>::EMPTY;
    // What does not fit is cut: the longest of ours does.
    let _ = write!(label, "{}", Label { row, shown });
    let _ = write!(
        name,
        "{}{}{label}{SEPARATOR}{}{SEPARATOR}{}{SEPARATOR}{}",
        saved.experiment,
        if label.is_empty() { "" } else { " " },
        saved.cpu(),
        saved.origin.nodes,
        if row.traffic().is_some() { "bandwidth" } else { "" }
    );
    name
}

/// The unit of a quantity for programs; and for people, how many of it are one.
#[must_use]
pub const fn unit(quantity: Quantity) -> (&'static str, f64) {
    match quantity {
        Quantity::Latency => ("ns", 1.0),
        Quantity::Bandwidth => ("bytes_per_second", 1e9),
    }
}
