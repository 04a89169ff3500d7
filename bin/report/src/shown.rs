//! A result as it is shown: its values for programs, and its sentences, tables and pictures for people, in the order in
//! which a reader wants to know them.
//!
//! A result is presented once; then each format writes what it can show of it, and ignores the rest. Nothing here depends
//! on an experiment.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::{Interval, NodeId};

use super::chart::{Chart, Matrix};
use super::document::{Attribute, Field, Level, Metric, MetricLabel, Part, Role, Value};
use super::escape::harmless;
use super::figures::{Digits, PRECISE, rounded};

/// One part of a result.
#[derive(Debug)]
pub enum ShownPart {
    /// A named value of the innermost object, or a nameless value of the innermost list.
    Value(&'static Field, Value),
    /// A value of the innermost object under a name that the user chose.
    Named(String, Value),
    /// The beginning of a container: everything up to its [`End`](ShownPart::End) belongs to it.
    Begin(Part),
    /// The end of the innermost container.
    End,
    /// A sentence for people.
    Sentence(Role, String),
    /// A table for people.
    Table(Box<ShownTable>),
    /// A picture.
    Picture(Box<Picture>),
    /// A picture that a terminal does not show.
    PagePicture(Box<Picture>),
    /// A sample of a metric. Each sample of a metric has different labels.
    Metric(&'static Metric, Vec<MetricLabel>, Value),
    /// A property of a node's memory as seen by the CPUs of the first node, in nanoseconds or bytes per second.
    Attribute(Attribute, (NodeId, NodeId), f64),
}

impl ShownPart {
    /// Returns the picture, on a terminal or not.
    pub fn picture(&self) -> Option<&Picture> {
        match self {
            ShownPart::Picture(picture) | ShownPart::PagePicture(picture) => Some(picture),
            _ => None,
        }
    }
}

/// A picture of a result.
#[derive(Debug)]
pub enum Picture {
    /// Values over a common axis.
    Chart(Chart),
    /// One number for each pair of nodes or CPUs.
    Matrix(Matrix),
}

/// Rows and columns for people. It is filled cell by cell, beginning with the headings.
#[derive(Debug)]
pub struct ShownTable {
    /// The sentence above it; may be empty.
    pub caption: String,
    /// The lowest level at which it is shown.
    pub level: Level,
    /// The number of columns at the left that hold words and are aligned to the left.
    pub words: usize,
    /// The headings and then every row, each with as many cells as headings.
    pub rows: Vec<Vec<String>>,
}

impl ShownTable {
    /// Returns whether there is a row below the headings.
    pub fn has_rows(&self) -> bool {
        self.rows.len() > 1
    }

    /// Begins the next row.
    pub fn row(&mut self) -> &mut ShownTable {
        self.rows.push(Vec::new());
        self
    }

    /// Pushes a cell.
    pub fn show(&mut self, shown: &dyn Display) -> &mut ShownTable {
        if let Some(row) = self.rows.last_mut() {
            row.push(format!("{shown}"));
        }
        self
    }

    /// Pushes a cell for each of some values.
    pub fn each(&mut self, shown: impl Iterator<Item = impl Display>) -> &mut ShownTable {
        shown.for_each(|shown| _ = self.show(&shown));
        self
    }

    /// Pushes several texts, such as the headings.
    pub fn texts(&mut self, texts: &[&str]) -> &mut ShownTable {
        self.each(texts.iter())
    }

    /// Pushes a cell that is composed of parts.
    pub fn cell(&mut self, words: fmt::Arguments<'_>) -> &mut ShownTable {
        self.show(&words)
    }

    /// Pushes a cell that is a text, and may be empty.
    pub fn text(&mut self, text: &str) -> &mut ShownTable {
        self.show(&text)
    }

    /// Pushes a number with three significant digits, or a dash.
    pub fn number(&mut self, number: impl Into<Option<f64>>) -> &mut ShownTable {
        self.show(&Digits(number.into().unwrap_or(f64::NAN)))
    }

    /// Pushes a value, or a dash if it is unknown.
    pub fn known(&mut self, value: Option<impl Display>) -> &mut ShownTable {
        match value {
            Some(value) => self.show(&value),
            None => self.text("-"),
        }
    }

    /// Pushes both ends of an interval, or `otherwise` if there is none.
    pub fn range(&mut self, interval: Option<Interval>, otherwise: &str) -> &mut ShownTable {
        match interval {
            Some(Interval { low, high }) => self.cell(format_args!("{} to {}", Digits(low), Digits(high))),
            None => self.text(otherwise),
        }
    }
}

/// A result as it is shown.
#[derive(Debug, Default)]
pub struct Shown {
    entries: Vec<ShownPart>,
}

impl Shown {
    /// Returns a result without parts.
    pub fn new() -> Shown {
        Shown::default()
    }

    /// Presents a result.
    pub fn of(present: impl FnOnce(&mut Shown)) -> Shown {
        let mut shown = Shown::new();
        present(&mut shown);
        shown
    }

    /// Returns every part, in order.
    pub fn entries(&self) -> &[ShownPart] {
        &self.entries
    }

    /// Returns the parts by value.
    pub fn into_entries(self) -> impl Iterator<Item = ShownPart> {
        self.entries.into_iter()
    }

    /// Returns every sentence with its role.
    pub fn sentences(&self) -> impl Iterator<Item = (Role, &str)> {
        sentences(&self.entries)
    }

    /// Adds a part.
    pub fn push(&mut self, entry: ShownPart) {
        self.entries.push(entry);
    }

    /// Adds all parts of another result.
    pub fn append(&mut self, other: Shown) {
        self.entries.extend(other.entries);
    }

    /// Adds the values of another result once more.
    pub fn repeat(&mut self, other: &Shown) {
        for entry in &other.entries {
            match entry {
                ShownPart::Value(field, value) => self.value(field, value.clone()),
                ShownPart::Begin(part) => self.begin(*part),
                ShownPart::End => self.end(),
                _ => {}
            }
        }
    }

    /// Removes the last `count` parts.
    pub fn remove_last(&mut self, count: usize) {
        self.entries.truncate(self.entries.len().saturating_sub(count));
    }

    /// Adds a value of any type that a field can hold.
    pub fn put(&mut self, field: &'static Field, value: impl Into<Value>) {
        self.value(field, value.into());
    }

    /// Adds a value.
    pub fn value(&mut self, field: &'static Field, value: Value) {
        self.push(ShownPart::Value(field, value));
    }

    /// Adds a value of the innermost object under a name that the user chose.
    pub fn named(&mut self, name: &str, value: Value) {
        self.push(ShownPart::Named(name.into(), value));
    }

    /// Adds a value that is composed of parts.
    pub fn show(&mut self, field: &'static Field, shown: &dyn Display) {
        self.value(field, Value::shown(shown));
    }

    /// Adds a sentence for people.
    pub fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        self.push(ShownPart::Sentence(role, harmless(&alloc::fmt::format(words))));
    }

    /// Returns the place of a sentence of a role.
    pub fn under(&mut self, role: Role) -> SentencePlace<'_> {
        SentencePlace { shown: self, role }
    }

    /// Adds a sentence without values.
    pub fn say(&mut self, role: Role, words: &str) {
        self.sentence(role, format_args!("{words}"));
    }

    /// Adds a line that scripts search for.
    pub fn line(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Line, words);
    }

    /// Adds the answer to the question of the experiment, or a part of it.
    pub fn answer(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Answer, words);
    }

    /// Adds a further finding.
    pub fn finding(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Finding, words);
    }

    /// Adds a finding that changes no decision.
    pub fn aside(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Aside, words);
    }

    /// States that a part was not measured, and why.
    pub fn missing(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Missing, words);
    }

    /// Adds a table. `fill` pushes the headings and then every row, each with as many cells as headings.
    pub fn tabulate(&mut self, caption: &str, level: Level, words: usize, fill: &dyn Fn(&mut ShownTable)) {
        let mut table = ShownTable { caption: caption.into(), level, words, rows: Vec::from([Vec::new()]) };
        fill(&mut table);
        self.push(ShownPart::Table(Box::new(table)));
    }

    /// Adds a picture.
    pub fn picture(&mut self, picture: Picture) {
        self.draw(picture, true);
    }

    /// Adds a picture that a terminal shows only if `in_text` is true.
    pub fn draw(&mut self, picture: Picture, in_text: bool) {
        let picture = Box::new(match picture {
            Picture::Chart(chart) => Picture::Chart(chart.rounded()),
            Picture::Matrix(_) => picture,
        });
        self.push(if in_text { ShownPart::Picture(picture) } else { ShownPart::PagePicture(picture) });
    }

    /// Adds a sample of a metric.
    pub fn sample(&mut self, metric: &'static Metric, labels: &[MetricLabel], value: Value) {
        if Metric::is_number(&value) {
            self.push(ShownPart::Metric(metric, labels.into(), value));
        }
    }

    /// Adds a property of a node's memory, in the digits of documents.
    pub fn attribute(&mut self, attribute: Attribute, nodes: (NodeId, NodeId), value: f64) {
        self.push(ShownPart::Attribute(attribute, nodes, rounded(value, PRECISE)));
    }

    /// Adds an object with the members of a value, or null if there is none.
    pub fn object<T>(
        &mut self,
        field: &'static Field,
        value: Option<T>,
        members: impl FnOnce(&mut Shown, T),
    ) {
        match value {
            None => self.value(field, Value::None),
            Some(value) => self.part(Part::Object(field), |document| members(document, value)),
        }
    }

    /// Adds a list with an object for each item.
    pub fn items<T>(
        &mut self,
        list: Part,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut Shown, T),
    ) {
        self.part(list, |document| {
            items.into_iter().for_each(|item| document.part(Part::Item, |document| members(document, item)));
        });
    }

    /// Adds a list of values.
    pub fn values<V: Into<Value>>(&mut self, field: &'static Field, values: impl IntoIterator<Item = V>) {
        self.part(Part::List(field), |document| {
            values.into_iter().for_each(|value| document.put(field, value));
        });
    }

    /// Adds a container with all of its members.
    pub fn part(&mut self, part: Part, members: impl FnOnce(&mut Shown)) {
        self.begin(part);
        members(self);
        self.end();
    }

    /// Begins a container.
    pub fn begin(&mut self, part: Part) {
        self.push(ShownPart::Begin(part));
    }

    /// Ends the innermost container.
    pub fn end(&mut self) {
        self.push(ShownPart::End);
    }
}

/// The place of a sentence.
pub struct SentencePlace<'s> {
    shown: &'s mut Shown,
    role: Role,
}

impl SentencePlace<'_> {
    /// Writes the sentence.
    pub fn write(self, words: fmt::Arguments<'_>) {
        self.shown.sentence(self.role, words);
    }
}

/// Returns every sentence of some parts with its role.
pub fn sentences(entries: &[ShownPart]) -> impl Iterator<Item = (Role, &str)> {
    entries.iter().filter_map(|entry| match entry {
        ShownPart::Sentence(role, words) => Some((*role, words.as_str())),
        _ => None,
    })
}

/// Returns the parts that are not within another one, each with everything that belongs to it.
pub fn children(entries: &[ShownPart]) -> impl Iterator<Item = &[ShownPart]> {
    let mut depth = 0_usize;
    entries.chunk_by(move |entry, _| {
        match entry {
            ShownPart::Begin(_) => depth += 1,
            ShownPart::End => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0
    })
}

/// Returns the container with a key among the direct parts; empty without one.
pub fn container<'e>(entries: &'e [ShownPart], key: &str) -> &'e [ShownPart] {
    let found = children(entries).find(|part| match part {
        [ShownPart::Begin(Part::Object(field) | Part::List(field) | Part::Records(field)), ..] => {
            field.key == key
        }
        _ => false,
    });
    found.unwrap_or_default()
}

/// Returns the parts between the beginning and the end of a container.
pub fn within(container: &[ShownPart]) -> &[ShownPart] {
    match container {
        [_, within @ .., _] => within,
        _ => container,
    }
}

/// A point of a result as a test.
#[derive(Debug)]
pub struct TestPoint<'s> {
    /// The name, which is the same in every run and has no measured value.
    pub name: String,
    /// The verdict.
    pub verdict: TestVerdict<'s>,
    /// The values behind the verdict.
    pub values: [&'s [ShownPart]; 2],
}

/// A verdict on a test point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestVerdict<'s> {
    /// It was measured, and no check failed.
    Passed,
    /// A check failed, and somebody should act.
    Failed,
    /// There is no verdict, for this reason.
    Skipped(&'s str),
}
