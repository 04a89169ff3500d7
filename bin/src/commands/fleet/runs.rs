//! The data that are kept of many results: a few numbers of each point, under names. Verdicts are made elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::math::{self, exp, ln};
use latency_core::{Estimate, sort_by_key};

use super::boots::Boots;
use super::names::{Name, Names, Numbered, hash};
use super::values::{HostValue, Key, KeyKind, MOST_LISTED, StoredValue, ValueRun, of_row};
use crate::error::Failure;
use crate::options::{Of, Options};
use crate::record::columns::{
    CHAINS, CLASS, CORES, ColumnSet, FILLER, FILLERS, KERNEL, ORDER, PAGES_ASKED, PATTERN, POINTS, PREFETCH,
    STRIDE, TRAFFIC, VARIANT, WORK, WORKING_SET,
};
use crate::record::label::Label;
use crate::record::row::Row;
use crate::saved::alike::{self, Under, VERIFIED, WHOLE};
use crate::saved::conditions::escaped;
use crate::saved::{Problem, Saved, documents, shape};
use latency_report::tree::{JsonTree, JsonValue};

/// An input line that is not a valid document.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// The file of the line.
    pub path: &'static [u8],
    /// The line number, and the defect.
    pub problem: Problem,
}

/// All results that were read.
pub struct Runs<'a> {
    /// All texts.
    pub names: Names,
    keys: Numbered<Key>,
    /// The number of all documents of the input.
    pub given: u32,
    /// The number of documents that were understood.
    pub documents: usize,
    /// The number of results without a value.
    pub without_value: usize,
    /// The host and the reason of each result that is not judged; after [`settle`](Self::settle) sorted by host name.
    pub untrusted: Vec<[Name; 2]>,
    /// Every boot of every host.
    pub boots: Boots,
    /// The first lines that are not valid documents, in the order of the input.
    pub refused: Vec<Refused>,
    /// The number of all of them.
    pub skipped: usize,
    /// The different conditions of values, with the version of the schema of their documents.
    conditions: Numbered<(Under, u64)>,
    /// The key and the conditions of each kind of values.
    kinds: Numbered<[Name; 2]>,
    /// The options: the kind of value that is judged, and whether unreliable results are judged as well.
    pub options: &'a Options,
    /// The runs of values.
    pub runs: Vec<ValueRun>,
    /// For each key of a random load, that of memory without address translation, and the reverse.
    twins: Vec<Option<Name>>,
}

impl<'a> Runs<'a> {
    /// Returns an empty collection.
    pub fn new(options: &'a Options) -> Runs<'a> {
        let mut names = Names::default();
        names.number("");
        Runs {
            names,
            keys: Numbered::default(),
            given: 0,
            documents: 0,
            without_value: 0,
            untrusted: Vec::new(),
            boots: Boots::default(),
            refused: Vec::new(),
            skipped: 0,
            conditions: Numbered::default(),
            kinds: Numbered::default(),
            options,
            runs: Vec::new(),
            twins: Vec::new(),
        }
    }

    /// Reads every document of a file into `values`.
    ///
    /// # Errors
    ///
    /// A file that cannot be read. Defective lines are only [listed](Self::refused).
    pub fn read(&mut self, path: &'static [u8], values: &mut Vec<StoredValue>) -> Result<(), Failure> {
        let (mut refused, mut skipped) = (core::mem::take(&mut self.refused), 0);
        let mut take = |text: &[u8]| {
            let number = self.given;
            self.given += 1;
            let tree = JsonTree::of(text)?;
            let mut add = |document| self.add((path, number), document, values);
            // A report contains several documents.
            if add(tree.root())? {
                shape::sections_of(tree.root()).try_for_each(|section| add(section).map(drop))?;
                tree.root().accepted()?;
            }
            Ok(())
        };
        let read = documents::each(path, &mut take, &mut |problem| {
            skipped += 1;
            if refused.len() < MOST_LISTED {
                refused.push(Refused { path, problem });
            }
        });
        self.refused = refused;
        self.skipped += skipped;
        read
    }

    /// Adds a document of a file, and its values. Returns true for a report, whose sections are not added.
    fn add(
        &mut self,
        (path, number): (&[u8], u32),
        document: JsonValue<'_>,
        values: &mut Vec<StoredValue>,
    ) -> Result<bool, Problem> {
        let mut draft = Saved::of_host(document)?;
        // A result without the name of its host has the name of its file. The end of a long path tells files apart.
        if draft.saved.named_host().is_none() && path != b"-" {
            const MOST: usize = 80;
            draft.saved.origin.name = escaped(path.get(path.len().saturating_sub(MOST)..).unwrap_or(path));
        }
        let saved = &draft.saved;
        let experiment = saved.experiment.as_str();
        if shape::has_sections(experiment) {
            return Ok(true);
        }
        let state = self.boots.add(&mut self.names, saved);
        self.documents += 1;
        let started = saved.origin.started.min(u32::MAX.into()) as u32;
        let seconds = math::whole(saved.origin.seconds.clamp(0.0, 1e9)) as u32;
        let run = self.runs.len();
        // Results that are not judged show as well when a boot ran.
        self.runs.push(ValueRun { state, started, seconds, document: number });
        let trust = &saved.origin.trust;
        let Options { history, of, force: judge_all, .. } = *self.options;
        if !judge_all && saved.conditions.poor && !trust.is_by_conditions() {
            let reason = self.names.number(trust.evidence().next().unwrap_or_default());
            self.untrusted.push([state, reason]);
            return Ok(false);
        }
        self.without_value += usize::from(draft.rows.is_empty());
        let [cpu, name] = [saved.cpu(), experiment].map(|name| self.names.number(name));
        let own = Key { cpu, experiment: name, ..Key::default() };
        let shown = telling(&draft.rows);
        let mut mean = MeanOfPoints::default();
        for row in &draft.rows {
            let mut key = own;
            let label = format!("{}", Label { row, shown });
            for (name, column) in key.fields.iter_mut().zip(POINTS) {
                if shown.has(column) && row.tells(column) {
                    *name = self.names.number(row.plain(column).as_str());
                }
            }
            if row.traffic().is_some() {
                key.kind = KeyKind::Bandwidth;
            }
            let under = conditions(saved, row, shown, judge_all);
            let undisturbed = if of == Of::Undisturbed { row.undisturbed() } else { None };
            let disturbed = of == Of::Undisturbed && undisturbed.is_none();
            let time = undisturbed.unwrap_or(row.time());
            let under = if disturbed { under.with(alike::DISTURBED, alike::NO) } else { under };
            let under = self.conditions.number(&(under, saved.origin.schema));
            (mean.points, mean.under) = (hash(mean.points, label.as_str()), under);
            mean.add(0, time);
            let load = of_row(row, time);
            let is_memory = of == Of::Typical && row.is_memory() && row.traffic().is_none();
            let memory = row.parts().filter(|_| is_memory).map(|parts| {
                mean.add(1, parts.without_translation);
                parts.without_translation
            });
            let space = if label.is_empty() { "" } else { " " };
            let words = |memory: &str| format!("{experiment}{space}{label}{memory}");
            self.store((run, key, under), &words, [Some(load), memory], values);
        }
        let [count, of_memory] = mean.counts;
        if history && count > 1.0 {
            let key = Key { kind: KeyKind::Mean, points: mean.points, ..own };
            let words = |memory: &str| format!("{experiment}{memory}, mean of {} points", count as u32);
            let found = [Some(mean.value(0)), (of_memory == count).then(|| mean.value(1))];
            self.store((run, key, mean.under), &words, found, values);
        }
        Ok(false)
    }

    /// Adds the values of a point in a run: that of a random load, and that of memory without address translation. `words`
    /// returns the name of the point with the given word for memory.
    fn store(
        &mut self,
        (run, key, under): (usize, Key, Name),
        words: &dyn Fn(&str) -> String,
        found: [Option<Estimate>; 2],
        values: &mut Vec<StoredValue>,
    ) {
        let of_memory = if key.is_mean() { KeyKind::MeanOfMemory } else { KeyKind::Memory };
        let mut before = None;
        for (value, (word, kind)) in found.into_iter().zip([("", key.kind), (" memory", of_memory)]) {
            let Some(value) = value else { continue };
            let own = self.keys.number(&Key { point: self.names.number(words(word).as_str()), kind, ..key });
            values.push(StoredValue::new(run, self.kinds.number(&[own, under]), value));
            self.twins.resize(self.keys.len(), None);
            if let Some(load) = before.replace(own) {
                (self.twins[load as usize], self.twins[own as usize]) = (Some(own), Some(load));
            }
        }
    }

    /// Returns the conditions of a value, and the version of the schema of its document.
    pub fn under(&self, value: &StoredValue) -> (Under, u64) {
        self.conditions.copied(self.kind(value)[1])
    }

    /// Returns the key of a value, and the number of its conditions.
    pub fn kind(&self, value: &StoredValue) -> [Name; 2] {
        self.kinds.copied(value.kind)
    }

    /// Returns the key and the host of a value.
    pub fn of(&self, value: &StoredValue) -> [Name; 2] {
        [self.kind(value)[0], self.boots.host(self.run(value).state)]
    }

    /// Returns the run of a value.
    pub fn run(&self, value: &StoredValue) -> ValueRun {
        self.runs[value.run as usize]
    }

    /// Returns whether a key is one of memory without address translation.
    pub fn is_of_memory(&self, key: Name) -> bool {
        matches!(self.key(key).kind, KeyKind::Memory | KeyKind::MeanOfMemory)
    }

    /// Returns the key of memory for that of a random load, and the reverse; `None` without the other one.
    pub fn twin(&self, key: Name) -> Option<Name> {
        self.twins[key as usize]
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Returns a key by its number.
    pub fn key(&self, key: Name) -> Key {
        self.keys.copied(key)
    }

    /// Returns the order of a key by its texts.
    pub fn order(&self, key: Name) -> impl Ord {
        let Key { point, cpu, kind, points, .. } = self.key(key);
        ([point, cpu].map(|name| self.names.name(name)), kind, points)
    }

    /// Returns the place of the values of a key and a host: keys of memory come first.
    pub fn place_of_key(&self, of: [Name; 2]) -> (bool, [Name; 2]) {
        (!self.is_of_memory(of[0]), of)
    }

    /// Returns the sort key of a value: its key, host and time, then everything else, so that the order of the files
    /// does not matter.
    pub fn place(&self, value: &StoredValue) -> impl Ord + use<> {
        (self.place_of_key(self.of(value)), self.run(value).started, value.place())
    }

    /// Returns whether two values are comparable as results of one host.
    pub fn are_alike(&self, one: &StoredValue, other: &StoredValue) -> bool {
        let [(one, schema), (other, other_schema)] = [one, other].map(|value| self.under(value));
        one.differences(other) == 0 && (schema == other_schema || !self.options.history)
    }

    /// Returns a value as that of its host.
    pub fn of_host(&self, value: &StoredValue) -> HostValue {
        let [key, host] = self.of(value);
        let ValueRun { state, started, document, .. } = self.run(value);
        HostValue {
            key,
            host,
            state,
            started: started.into(),
            document,
            value: value.value,
            interval: value.interval(),
            under: self.under(value).0,
            apart: 0,
            has_twin: false,
            is_left: false,
            memory_is_slow: false,
        }
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

/// The geometric mean of the times of all points of a result. It scatters less than one point.
#[derive(Default)]
struct MeanOfPoints {
    /// The number of random loads, and of memory without address translation.
    counts: [f64; 2],
    /// The sums of the logarithms of their times.
    sums: [f64; 2],
    /// A number that identifies the points.
    points: u64,
    /// The conditions of the last point.
    under: Name,
}

impl MeanOfPoints {
    fn add(&mut self, of: usize, time: Estimate) {
        self.sums[of] += ln(time.value);
        self.counts[of] += 1.0;
    }

    fn value(&self, of: usize) -> Estimate {
        Estimate { value: exp(self.sums[of] / self.counts[of]), interval: None }
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
