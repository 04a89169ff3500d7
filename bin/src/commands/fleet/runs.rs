//! The data that are kept of many results: a few numbers of each point, under names. Verdicts are made elsewhere.

use alloc::vec::Vec;

use latency_core::math::{self, exp, ln};
use latency_core::sort::sort_by_key;
use latency_core::stats::Estimate;
use latency_core::text::Text;

use super::boots::Boots;
use super::names::{MOST, Name, Names, hash};
use super::values::{
    HostValue, KINDS, MOST_CONDITIONS, MOST_LISTED, MOST_VALUES, StoredValue, ValueRun, of_row,
};
use crate::error::Failure;
use crate::options::{Of, Options};
use crate::record::columns::{
    CHAINS, CLASS, CORES, ColumnSet, EXPERIMENT, FILLER, FILLERS, KERNEL, ORDER, PAGES_ASKED, PATTERN,
    PREFETCH, STRIDE, TRAFFIC, VARIANT, WORK, WORKING_SET,
};
use crate::record::label::Label;
use crate::record::row::Row;
use crate::saved::alike::{self, Under, VERIFIED, WHOLE};
use crate::saved::conditions::escaped;
use crate::saved::host::SEPARATOR;
use crate::saved::tree::{JsonTree, JsonValue};
use crate::saved::{Problem, Saved, documents, sections};
use crate::sys::errno::Errno;
use crate::sys::table::{List, Table};

/// An input line that is not a valid document.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The file of the line.
    pub path: &'a [u8],
    /// The line number, and the defect.
    pub problem: Problem,
}

/// All results that were read.
pub struct Runs<'a> {
    /// The table of all names.
    pub names: Names,
    /// The number of all documents of the input.
    pub given: u32,
    /// The number of documents that were understood.
    pub documents: usize,
    /// The number of results without a value.
    pub without_value: usize,
    /// The host and the reason of each result that is not judged; after [`settle`](Self::settle) sorted by host name.
    pub untrusted: List<[Name; 2]>,
    /// Every boot of every host.
    pub boots: Boots,
    /// The lines that are not valid documents, in the order of the input.
    pub refused: List<Refused<'a>>,
    /// The different conditions of values, with the version of the schema of their documents.
    conditions: List<(Under, u64)>,
    /// The options: the kind of value that is judged, and whether unreliable results are judged as well.
    pub options: &'a Options<'a>,
    /// Room for the rows of a document.
    pub rows: Vec<Row>,
    /// The runs of values.
    pub runs: List<ValueRun>,
    /// By the key of a random load, that of memory without address translation, plus 1; the reverse with [`MEMORY`].
    twins: Table<u32>,
}

/// The bit of keys of memory.
const MEMORY: u32 = 1 << 31;

impl<'a> Runs<'a> {
    /// Makes an empty collection.
    ///
    /// # Errors
    ///
    /// No memory for the tables.
    pub fn new(options: &'a Options<'a>) -> Result<Runs<'a>, Errno> {
        Ok(Runs {
            names: Names::new()?,
            given: 0,
            documents: 0,
            without_value: 0,
            untrusted: List::new(MOST_LISTED)?,
            boots: Boots::new()?,
            refused: List::new(MOST_LISTED)?,
            conditions: List::new(MOST_CONDITIONS)?,
            options,
            rows: Vec::new(),
            runs: List::new(MOST_VALUES)?,
            twins: Table::zeroed(MOST)?,
        })
    }

    /// Reads every document of a file into `values`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read. Defective lines are only [listed](Self::refused).
    pub fn read(&mut self, path: &'a [u8], values: &mut List<StoredValue>) -> Result<(), Failure<'a>> {
        let Runs {
            names,
            given,
            documents,
            without_value,
            conditions: known,
            options,
            boots,
            rows,
            untrusted,
            refused,
            runs,
            twins,
        } = self;
        let mut join = |load: Name, memory: Name| {
            for (key, twin) in [(load, memory + 1), (memory, (load + 1) | MEMORY)] {
                twins.iter_mut().skip(key as usize).take(1).for_each(|slot| *slot = twin);
            }
        };
        let judge_all = options.force;
        // A report contains several documents.
        let mut take = |document: JsonValue<'_>, number: u32| {
            let mut draft = Saved::of_host(document, rows)?;
            // A result without the name of its host has the name of its file.
            if draft.saved.named_host().is_none() && path != b"-" {
                draft.saved.origin.name = escaped(path);
            }
            let saved = &draft.saved;
            if sections::are_in(saved.experiment.as_str()) {
                return Ok(true);
            }
            let full = Problem::new(1, "too many values");
            let state = boots.add(names, saved).ok_or(full)?;
            *documents += 1;
            let started = saved.origin.started.min(u32::MAX.into()) as u32;
            let seconds = math::whole(saved.origin.seconds.clamp(0.0, 1e9)) as u32;
            // Results that are not judged show as well when a boot ran.
            runs.push(ValueRun { state, started, seconds, document: number }).ok_or(full)?;
            let run = runs.len() - 1;
            let trust = &saved.origin.trust;
            let judged = judge_all || !saved.conditions.poor;
            if !judged && !trust.is_by_conditions() {
                let reason = names.number(trust.evidence().next().unwrap_or_default()).ok_or(full)?;
                // A result for which the list has no room is only counted.
                untrusted.push([state, reason]);
                return Ok(false);
            }
            *without_value += usize::from(draft.rows().is_empty());
            let shown = telling(draft.rows());
            let [mut mean, mut mean_of_memory] = [false, true].map(MeanOfPoints::of);
            for row in draft.rows() {
                let name = named(saved, row, shown, false);
                let key = names.number(name.as_str()).ok_or(full)?;
                let under = conditions(saved, row, shown, judge_all);
                let found = if options.of == Of::Undisturbed { row.undisturbed() } else { None };
                let disturbed = options.of == Of::Undisturbed && found.is_none();
                let time = found.unwrap_or(row.time());
                let under = if disturbed { under.with(alike::DISTURBED, alike::NO) } else { under };
                let under = number_of(known, (under, saved.origin.schema)).ok_or(full)?;
                mean.add(name.as_str(), time, under);
                values.push(StoredValue::new(run, key, of_row(row, time), under)).ok_or(full)?;
                let parts = row.parts().filter(|_| options.of == Of::Typical && row.is_memory());
                if let Some(time) = parts.map(|parts| parts.without_translation) {
                    let memory = named(saved, row, shown, true);
                    mean_of_memory.add(name.as_str(), time, under);
                    let memory = names.number(memory.as_str()).ok_or(full)?;
                    join(key, memory);
                    values.push(StoredValue::new(run, memory, of_row(row, time), under)).ok_or(full)?;
                }
            }
            if options.history && mean.count > 1.0 {
                let key = names.number(mean.name(saved).as_str()).ok_or(full)?;
                values.push(StoredValue::new(run, key, mean.value(), mean.under)).ok_or(full)?;
                if mean_of_memory.count == mean.count {
                    let memory = names.number(mean_of_memory.name(saved).as_str()).ok_or(full)?;
                    join(key, memory);
                    let of_memory = (mean_of_memory.value(), mean_of_memory.under);
                    values.push(StoredValue::new(run, memory, of_memory.0, of_memory.1)).ok_or(full)?;
                }
            }
            Ok(false)
        };
        let mut take = |text: &[u8]| {
            let number = *given;
            *given += 1;
            let tree = JsonTree::of(text)?;
            if take(tree.root(), number)? {
                sections::of(tree.root())?.try_for_each(|section| take(section, number).map(drop))?;
            }
            Ok(())
        };
        documents::each(path, &mut take, &mut |problem| {
            // A line for which the list has no room is only counted.
            refused.push(Refused { path, problem });
        })
    }

    /// Returns the conditions of a value, and the version of the schema of its document.
    pub fn under(&self, value: &StoredValue) -> (Under, u64) {
        self.conditions.get(value.under()).copied().unwrap_or_default()
    }

    /// Returns the run of a value.
    pub fn run(&self, value: &StoredValue) -> ValueRun {
        self.runs.get(value.run()).copied().unwrap_or_default()
    }

    /// Returns the name of the host of a value.
    pub fn host(&self, value: &StoredValue) -> Name {
        self.boots.host(self.run(value).state)
    }

    /// Returns whether a key is one of memory without address translation.
    pub fn is_of_memory(&self, key: Name) -> bool {
        self.twins.get(key as usize).is_some_and(|twin| twin & MEMORY != 0)
    }

    /// Returns the key of memory for that of a random load, and the reverse; `None` without the other one.
    pub fn twin(&self, key: Name) -> Option<Name> {
        self.twins.get(key as usize).and_then(|twin| (twin & !MEMORY).checked_sub(1))
    }

    /// Returns the place of the values of a key and a host: keys of memory come first.
    pub fn place_of_key(&self, key: Name, host: Name) -> (bool, Name, Name) {
        (!self.is_of_memory(key), key, host)
    }

    /// Returns the sort key of a value: its key, host and time, then everything else, so that the order of the files
    /// does not matter.
    pub fn place(&self, value: &StoredValue) -> impl Ord + use<> {
        let ValueRun { state, started, .. } = self.run(value);
        (self.place_of_key(value.key(), self.boots.host(state)), started, value.place())
    }

    /// Returns whether two values are comparable as results of one host.
    pub fn are_alike(&self, one: &StoredValue, other: &StoredValue) -> bool {
        let [(one, schema), (other, other_schema)] = [one, other].map(|value| self.under(value));
        one.differences(other) == 0 && (schema == other_schema || !self.options.history)
    }

    /// Returns a value as that of its host.
    pub fn of_host(&self, value: &StoredValue) -> HostValue {
        value.of_host(self.host(value), self.run(value), self.under(value).0)
    }

    /// Resolves the names of the hosts, removes wrong dates, and sorts the list of results that are not judged.
    pub fn settle(&mut self) {
        self.boots.settle(&mut self.names, &mut self.runs);
        // The host of a result is known by its state until here.
        self.untrusted.iter_mut().for_each(|[host, _]| *host = self.boots.host(*host));
        let place = |entry: &[Name; 2]| entry.map(|name| self.names.name(name));
        sort_by_key(&mut self.untrusted, place);
    }
}

/// Returns the index of conditions, which are added if they are new; `None` if there are too many.
fn number_of(known: &mut List<(Under, u64)>, conditions: (Under, u64)) -> Option<u32> {
    let found = known.iter().position(|known| *known == conditions);
    let number = found.unwrap_or(known.len());
    if found.is_none() {
        known.push(conditions)?;
    }
    Some(number as u32)
}

/// The geometric mean of the times of all points of a result. It scatters less than one point.
#[derive(Default)]
struct MeanOfPoints {
    count: f64,
    /// The sum of the logarithms of the times.
    sum: f64,
    /// A number that identifies the points.
    points: u64,
    /// The conditions of the last point.
    under: u32,
    /// True if the times are those of memory without address translation.
    is_of_memory: bool,
}

impl MeanOfPoints {
    fn of(is_of_memory: bool) -> MeanOfPoints {
        MeanOfPoints { is_of_memory, ..MeanOfPoints::default() }
    }

    fn add(&mut self, name: &str, time: Estimate, under: u32) {
        self.sum += ln(time.value);
        self.count += 1.0;
        self.points = hash(self.points, name);
        self.under = under;
    }

    fn value(&self) -> Estimate {
        Estimate { value: exp(self.sum / self.count), interval: None }
    }

    /// Returns the key of the mean: only results with the same points have the same.
    fn name(&self, saved: &Saved) -> Text<320> {
        let MeanOfPoints { count, points, is_of_memory, .. } = *self;
        let (memory, kind) = if is_of_memory { (" memory", KINDS[3]) } else { ("", KINDS[1]) };
        let mut name = Text::EMPTY;
        // The texts fit.
        let _ = write!(
            name,
            "{0}{memory}, mean of {1} \
             points{SEPARATOR}{2}{SEPARATOR}{kind}{SEPARATOR}{EXPERIMENT:?}={0}{SEPARATOR}{points}",
            saved.experiment,
            count as u32,
            saved.cpu(),
        );
        name
    }
}

/// Returns the fields that distinguish the rows of a result: the fields of pairs, traffic and loops, and other fields
/// that differ within a pair.
fn telling(rows: &[Row]) -> ColumnSet {
    const LOOPS: ColumnSet =
        ColumnSet::of(&[VARIANT, CHAINS, WORK, PREFETCH, FILLER, FILLERS, TRAFFIC, CORES]);
    const CONDITIONS: ColumnSet = ColumnSet::of(&[WORKING_SET, STRIDE, ORDER, KERNEL, PAGES_ASKED]);
    let Some(like) = rows.first() else { return ColumnSet::EMPTY };
    let differs = |field| rows.iter().any(|row| !row.agrees(like, field) && row.pair() == like.pair());
    // Not every kind of traffic has access patterns.
    let pattern = rows.iter().find(|row| row.tells(PATTERN));
    let patterns = pattern.is_some_and(|like| rows.iter().any(|row| !row.agrees(like, PATTERN)));
    let others = ColumnSet::that(&|column| CONDITIONS.has(column) && differs(column));
    let told = ColumnSet::NODES | CLASS | LOOPS | others;
    if patterns { told | PATTERN } else { told }
}

/// Returns the conditions of a row, except the fields that distinguish rows. A reason for distrust that is also a
/// condition counts as a condition.
fn conditions(saved: &Saved, row: &Row, shown: ColumnSet, judge_all: bool) -> Under {
    let mut under = Under::of(row, saved, shown);
    for (condition, by_reason) in [VERIFIED, WHOLE].into_iter().zip(saved.origin.trust.by_conditions()) {
        under = match judge_all {
            true => under.with(condition, 0),
            false if by_reason && under.get(condition) == 0 => under.with(condition, alike::NO),
            false => under,
        };
    }
    under
}

/// Returns the key of a row, or that of its memory without address translation. Hosts with the same key are compared.
fn named(saved: &Saved, row: &Row, shown: ColumnSet, is_of_memory: bool) -> Text<800> {
    let mut name = Text::EMPTY;
    let mut label = Text::<320>::EMPTY;
    // The program's own texts fit; longer ones are cut.
    let _ = write!(label, "{}", Label { row, shown });
    let _ = write!(
        name,
        "{}{}{label}{}{SEPARATOR}{}{SEPARATOR}{}",
        saved.experiment,
        if label.is_empty() { "" } else { " " },
        if is_of_memory { " memory" } else { "" },
        saved.cpu(),
        match row.traffic() {
            Some(_) => KINDS[0],
            None if is_of_memory => KINDS[2],
            None => "",
        }
    );
    let _ = write!(name, "{SEPARATOR}{EXPERIMENT:?}={}", saved.experiment);
    for column in shown.points().filter(|column| row.tells(*column)) {
        let _ = write!(name, "{SEPARATOR}{column:?}={}", row.plain(column));
    }
    name
}
