//! A result as its experiment describes it: once, part by part, for every format.
//!
//! An experiment calls these methods in the order in which a reader wants to know
//! things. Each format is one implementation: it takes what it can show and ignores
//! the rest. Formats for programs read values, objects and lists; formats for
//! people read sentences, tables and pictures. Nothing here knows any experiment.
//!
//! Describing is infallible: an implementation keeps its first error, and says it at the end.

use core::fmt::{self, Display};

use latency_core::stats::Interval;
use latency_core::units::{Bytes, NodeId};

use super::chart::{Chart, Matrix};
use super::figures::Digits;
use super::terminal::Terminal;

/// A quantity: what formats and the schema must know of it, written once.
///
/// A field is a `static`; formats tell fields apart by address.
#[derive(Debug)]
pub struct Field {
    /// The JSON key, with the unit at its end; where the column of tabular formats has another name, a blank and that.
    // One text: there are hundreds of fields, and few with two names.
    names: &'static str,
    /// What it is, for the schema, which only tests write.
    #[cfg(test)]
    pub about: &'static str,
}

impl Field {
    /// A field with its key, which is its column as well, and its meaning.
    ///
    /// A field of a nested object whose key alone would say too little in a table has its column behind the key and a
    /// blank.
    #[must_use]
    #[cfg_attr(not(test), allow(unused_variables, reason = "the program does not hold what it is about"))]
    pub const fn new(names: &'static str, about: &'static str) -> Field {
        Field {
            names,
            #[cfg(test)]
            about,
        }
    }

    /// The JSON key.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.both().map_or(self.names, |(key, _)| key)
    }

    /// The column of tabular formats.
    #[must_use]
    pub fn column(&self) -> &'static str {
        self.both().map_or(self.names, |(_, column)| column)
    }

    #[inline(never)]
    fn both(&self) -> Option<(&'static str, &'static str)> {
        self.names.split_once(' ')
    }

    /// Whether both are one `static`.
    #[must_use]
    pub fn is(&self, other: &Field) -> bool {
        core::ptr::eq(self, other)
    }
}

/// Declares fields, each as a `static`: `NAME "key" "What it is.";`.
macro_rules! fields {
    ($($(#[$meta:meta])* $visible:vis $name:ident $key:literal $about:literal;)*) => {
        $(#[doc = $about] $(#[$meta])* $visible static $name: $crate::report::document::Field =
            $crate::report::document::Field::new($key, $about);)*
    };
}
pub(crate) use fields;

/// What a field holds.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// Not known, or not applicable.
    None,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A measured number; one that is not finite is [`Value::None`].
    Real(f64),
    /// Both ends of a confidence interval.
    Interval(Interval),
    /// A word that programs compare.
    Word(&'a str),
    /// Bytes from outside: UTF-8 for the most part.
    Raw(&'a [u8]),
    /// A text that is put together here.
    Shown(&'a dyn Display),
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Value::Count(count.into())
    }
}

impl From<usize> for Value<'_> {
    fn from(count: usize) -> Self {
        Value::Count(count as u64)
    }
}

impl From<Bytes> for Value<'_> {
    fn from(bytes: Bytes) -> Self {
        Value::Count(bytes.0)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}

impl From<Interval> for Value<'_> {
    fn from(interval: Interval) -> Self {
        Value::Interval(interval)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(word: &'a str) -> Self {
        Value::Word(word)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

/// What values are gathered in.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A named object.
    Object(&'static Field),
    /// A named list: of [items](Part::Item), or of values whose field is the list's own.
    List(&'static Field),
    /// The list whose items are the rows of tabular formats.
    Records(&'static Field),
    /// An object in a list.
    Item,
}

/// What a sentence is to its reader: decides where it stands, and whether it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A line that scripts look for: shown always, and never wrapped.
    Line,
    /// The answer to the experiment's question: shown always.
    Answer,
    /// How far the result can be trusted.
    Trust,
    /// What else was found.
    Finding,
    /// What was not measured, and why.
    Missing,
    /// How it was measured, under a label such as `Memory`.
    Method(&'static str),
    /// What only a reader who asked for everything wants to know, under a label that may be empty.
    Detail(&'static str),
    /// What a result must say of itself where it stands alone.
    Page(PageRole),
}

/// A sentence for pages, which are read far from the terminal that made them; a terminal has these things elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRole {
    /// The experiment or command.
    Title,
    /// Where and when it was measured.
    Origin,
    /// What a reader must know, with a word for how much it matters: `poor`, `fair` or `note`.
    Warning(&'static str),
    /// What to do about the warning before.
    Remedy,
    /// The command that repeats it.
    Command,
    /// What the document for programs lacks in a page, and where it is.
    Data,
    /// What follows is a chapter of its own, of this name: the result of another experiment.
    Chapter,
}

/// How much a reader wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The answer and the table.
    Quiet,
    /// Whatever helps to act on it.
    #[default]
    Normal,
    /// Everything.
    Verbose,
}

/// Receives the cells of a table with their row and column, from 0 on; row 0 holds the headings.
type Take<'t> = &'t mut dyn FnMut(usize, usize, &dyn Display) -> fmt::Result;

/// Rows and columns for people.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// The sentence above it; may be empty.
    pub caption: &'a str,
    /// From which level on it is shown.
    pub level: Level,
    /// The first columns that hold words, and are aligned to the left.
    pub words: usize,
    /// Pushes the headings and then every row, with as many cells; called as often as a format needs them.
    pub rows: &'a dyn Fn(&mut Rows<'_>),
}

impl Table<'_> {
    /// Gives every cell to `take`, row by row, up to the first error.
    pub fn each(&self, take: Take<'_>) -> fmt::Result {
        let mut rows = Rows { row: 0, column: 0, take, failed: Ok(()) };
        (self.rows)(&mut rows);
        rows.failed
    }

    /// Returns whether there is any row besides the headings.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        self.each(&mut |row, _, _| if row > 0 { Err(fmt::Error) } else { Ok(()) }).is_err()
    }
}

/// Takes the cells of a table one after the other, beginning with those of the headings.
// Nothing is inlined: there are hundreds of calls.
pub struct Rows<'t> {
    row: usize,
    column: usize,
    take: Take<'t>,
    failed: fmt::Result,
}

impl Rows<'_> {
    /// Pushes several texts, which have bars between them.
    #[inline(never)]
    pub fn texts(&mut self, texts: &str) {
        texts.split('|').for_each(|text| self.text(text));
    }

    /// Begins another row.
    #[inline(never)]
    pub fn row(&mut self) {
        self.row += 1;
        self.column = 0;
    }

    /// Pushes a cell.
    #[inline(never)]
    pub fn show(&mut self, shown: &dyn Display) {
        if self.failed.is_ok() {
            self.failed = (self.take)(self.row, self.column, shown);
        }
        self.column += 1;
    }

    /// Pushes a cell that is put together from parts.
    #[inline(never)]
    pub fn cell(&mut self, words: fmt::Arguments<'_>) {
        self.show(&words);
    }

    /// Pushes a cell that is a text, and may be empty.
    #[inline(never)]
    pub fn text(&mut self, text: &str) {
        self.show(&text);
    }

    /// Pushes a number with three significant digits, or a dash.
    #[inline(never)]
    pub fn number(&mut self, number: impl Into<Option<f64>>) {
        self.show(&Digits(number.into().unwrap_or(f64::NAN)));
    }

    /// Pushes a value, or a dash where it is not known.
    pub fn known(&mut self, value: Option<impl Display>) {
        match value {
            Some(value) => self.show(&value),
            None => self.text("-"),
        }
    }

    /// Pushes both ends of an interval, or words for its absence.
    #[inline(never)]
    pub fn range(&mut self, interval: Option<Interval>, otherwise: &str) {
        match interval {
            Some(Interval { low, high }) => self.cell(format_args!("{} to {}", Digits(low), Digits(high))),
            None => self.text(otherwise),
        }
    }
}

/// Something to look at.
#[derive(Clone, Copy)]
pub enum Picture<'a> {
    /// Values over a common axis.
    Chart(&'a Chart<'a>),
    /// One number for each pair of nodes or CPUs.
    Matrix(&'a Matrix<'a>),
}

/// A quantity for monitoring systems, in base units.
///
/// A metric is a `static`; formats tell metrics apart by address.
#[derive(Debug)]
pub struct Metric {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
}

/// What tells the samples of a metric apart: names and words.
pub type Labels<'l> = &'l [(&'static str, Value<'l>)];

/// A quantity of a node's memory to the CPUs of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The latency of a load, in nanoseconds.
    ReadLatency,
    /// What all CPUs of the node read, in bytes per second.
    ReadBandwidth,
    /// What they write past the caches, in bytes per second.
    WriteBandwidth,
}

/// Receives a result part by part. What an implementation cannot show it ignores.
pub trait Document {
    /// A named value of the innermost object, or a nameless one of the innermost list.
    fn value(&mut self, _field: &'static Field, _value: Value<'_>) {}
    /// A value of the innermost object whose name is the user's.
    fn named(&mut self, _name: &str, _value: Value<'_>) {}
    /// What follows belongs together, until [`end`](Self::end).
    fn begin(&mut self, _part: Part) {}
    /// The innermost part is complete.
    fn end(&mut self) {}
    /// A sentence for people.
    fn sentence(&mut self, _role: Role, _words: fmt::Arguments<'_>) {}
    /// A table for people.
    fn table(&mut self, _table: &Table<'_>) {}
    /// A sample of a metric, which no other has the labels of.
    fn sample(&mut self, _metric: &'static Metric, _labels: Labels<'_>, _value: Value<'_>) {}
    /// A value of a node's memory to the CPUs of a node, in nanoseconds or bytes per second.
    fn attribute(&mut self, _attribute: Attribute, _initiator: NodeId, _target: NodeId, _value: f64) {}
    /// A picture.
    fn picture(&mut self, _picture: Picture<'_>) {}
    /// Whether every picture has room, also those that a terminal shows on demand alone.
    fn wants_pictures(&self) -> bool {
        false
    }
}

impl<'d> dyn Document + 'd {
    /// Writes a value of any type that a field can hold.
    // Not inlined: there are hundreds of calls, and few types.
    #[inline(never)]
    pub fn put<'v>(&mut self, field: &'static Field, value: impl Into<Value<'v>>) {
        self.value(field, value.into());
    }

    /// Writes a value that is put together from parts.
    pub fn show(&mut self, field: &'static Field, shown: &dyn Display) {
        self.value(field, Value::Shown(shown));
    }

    /// Shows a table; `rows` pushes the headings and then every row, with as many cells.
    #[inline(never)]
    pub fn tabulate(&mut self, caption: &str, level: Level, words: usize, rows: &dyn Fn(&mut Rows<'_>)) {
        self.table(&Table { caption, level, words, rows });
    }

    /// Writes an object with the members of a value, or null where there is none.
    pub fn object<T>(
        &mut self,
        field: &'static Field,
        value: Option<T>,
        members: impl FnOnce(&mut (dyn Document + 'd), T),
    ) {
        match value {
            None => self.value(field, Value::None),
            Some(value) => self.part(Part::Object(field), |document| members(document, value)),
        }
    }

    /// Writes a list with an object for each item.
    pub fn items<T>(
        &mut self,
        list: Part,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(&mut (dyn Document + 'd), T),
    ) {
        self.begin(list);
        items.into_iter().for_each(|item| self.part(Part::Item, |document| members(document, item)));
        self.end();
    }

    /// Writes a list of values.
    pub fn values<'v, V: Into<Value<'v>>>(
        &mut self,
        field: &'static Field,
        values: impl IntoIterator<Item = V>,
    ) {
        self.begin(Part::List(field));
        values.into_iter().for_each(|value| self.put(field, value));
        self.end();
    }

    /// Writes a part with all of its members.
    pub fn part(&mut self, part: Part, members: impl FnOnce(&mut (dyn Document + 'd))) {
        self.begin(part);
        members(self);
        self.end();
    }
}

/// How a result is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The terminal, or what stands for one.
    pub terminal: Terminal,
    /// How much is shown.
    pub level: Level,
    /// The columns of tabular formats, group by group.
    pub columns: [&'static [&'static Field]; 3],
}

/// Describes a result to a document.
pub type Describe<'a> = &'a mut dyn FnMut(&mut dyn Document);
