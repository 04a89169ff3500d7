//! The description of a result. An experiment describes it once, part by part, for every format.
//!
//! An experiment calls these methods in the order in which a reader wants to know things. Each format is one
//! implementation: it takes what it can show and ignores the rest. Formats for programs read values, objects and lists;
//! formats for people read sentences, tables and pictures. Nothing here depends on an experiment.
//!
//! The methods cannot fail: an implementation keeps its first error and returns it at the end.

use core::fmt::{self, Display};

use latency_core::stats::{Estimate, Interval, Summary};
use latency_core::units::{Bytes, NodeId};

use super::chart::{Chart, Matrix};
use super::figures::Digits;
use super::terminal::Terminal;

/// A quantity, with everything that formats and the schema need to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key, with the unit at its end. It is also the name of a column.
    pub key: &'static str,
    /// True if the quantity has a confidence interval, whose ends have keys of their own: see [`ENDS`].
    pub has_interval: bool,
    /// The meaning of the quantity, for the schema, which only tests write.
    #[cfg(test)]
    pub about: &'static str,
    /// The place of its declaration, by which tests tell fields of the same key apart.
    #[cfg(test)]
    declared: &'static core::panic::Location<'static>,
}

impl Field {
    /// Makes a field from its key and its meaning.
    #[cfg_attr(test, track_caller)]
    #[cfg_attr(not(test), allow(unused_variables, reason = "the program does not write the schema"))]
    pub const fn new(key: &'static str, has_interval: bool, about: &'static str) -> Field {
        Field {
            key,
            has_interval,
            #[cfg(test)]
            about,
            #[cfg(test)]
            declared: core::panic::Location::caller(),
        }
    }

    /// Returns what no other field has.
    #[cfg(test)]
    pub fn identity(self) -> (&'static core::panic::Location<'static>, [&'static str; 2]) {
        (self.declared, [self.key, self.about])
    }
}

/// The ends of the keys of both ends of an interval, behind the key of the quantity.
pub const ENDS: [&str; 2] = ["_low", "_high"];

/// Declares fields, each as a `static`: `NAME "key" "What it is.";`, with `interval` behind the key of a quantity that
/// has a confidence interval.
macro_rules! fields {
    ($($(#[$meta:meta])* $visible:vis $name:ident $key:literal $($interval:ident)? $about:literal;)*) => {
        $(#[doc = $about] $(#[$meta])* $visible static $name: $crate::report::document::Field =
            $crate::report::document::field!($key $($interval)?, $about);)*
    };
}
pub(crate) use fields;

/// Makes a field from its key and its meaning; see `fields!`.
macro_rules! field {
    ($key:literal, $about:expr $(,)?) => {
        $crate::report::document::Field::new($key, false, $about)
    };
    ($key:literal interval, $about:expr $(,)?) => {
        $crate::report::document::Field::new($key, true, $about)
    };
}
pub(crate) use field;

/// Declares metrics, each as a `static`: `NAME "name" "What it is.";`.
macro_rules! metrics {
    ($($name:ident $key:literal $about:literal;)*) => {
        $(#[doc = $about] static $name: $crate::report::document::Metric =
            $crate::report::document::Metric { name: $key, about: $about };)*
    };
}
pub(crate) use metrics;

/// The value of a field.
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
    /// A measured number with its confidence interval, if it has one.
    Estimate(Estimate),
    /// A word that programs compare.
    Word(&'a str),
    /// Bytes from outside, usually UTF-8.
    Raw(&'a [u8]),
    /// A text that is composed while it is written.
    Shown(&'a dyn Display),
}

/// Makes values of plain types.
macro_rules! from {
    ($($type:ty: $plain:ident => $value:expr;)*) => {$(
        impl From<$type> for Value<'_> {
            fn from($plain: $type) -> Self {
                $value
            }
        }
    )*};
}
from! {
    bool: flag => Value::Flag(flag);
    u64: count => Value::Count(count);
    u32: count => Value::Count(count.into());
    usize: count => Value::Count(count as u64);
    Bytes: bytes => Value::Count(bytes.0);
    f64: number => Value::Real(number);
    Estimate: estimate => Value::Estimate(estimate);
    Summary: summary => Value::Estimate(Estimate { value: summary.median, interval: summary.interval });
}

impl Value<'_> {
    /// Returns the number, and both ends of its interval.
    pub fn parts(self) -> [Self; 3] {
        let Value::Estimate(Estimate { value, interval }) = self else {
            return [self, Value::None, Value::None];
        };
        let (low, high) = interval.map(|interval| (interval.low, interval.high)).unzip();
        [value.into(), low.into(), high.into()]
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

/// A container of values.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A named object.
    Object(&'static Field),
    /// A named list: either of [items](Part::Item), or of values that have the field of the list.
    List(&'static Field),
    /// The list whose items are the rows of tabular formats, if it is not within another part.
    Records(&'static Field),
    /// An object in a list.
    Item,
}

/// The role of a sentence, which decides its position and whether it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A line that scripts search for. It is always shown and never wrapped.
    Line,
    /// The answer to the experiment's question. It is always shown.
    Answer,
    /// The reliability of the result.
    Trust,
    /// A further finding.
    Finding,
    /// A part that was not measured, and the reason.
    Missing,
    /// A part of the method, under a label such as `Memory`.
    Method(&'static str),
    /// A part of the method that a person at a terminal reads as a [`Brief`](Role::Brief) line, unless they asked for
    /// everything.
    Provenance(&'static str),
    /// The provenance in one line, for a terminal.
    Brief(&'static str),
    /// A detail for readers who asked for everything, under a label that may be empty.
    Detail(&'static str),
    /// A sentence that only self-contained pages need.
    Page(PageRole),
}

/// The role of a sentence that only pages need. Pages are often read on another machine, and so they repeat facts that
/// a terminal shows elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRole {
    /// The experiment or command.
    Title,
    /// The host and the time of the measurement.
    Origin,
    /// The same without the name of the host, for pictures that stand alone.
    Footer,
    /// A fact about the machine, under a label.
    Fact(&'static str),
    /// A measured figure, under a label and with the trust in it: `good`, `fair` or `poor`. A note may follow it after a
    /// comma.
    Figure(&'static str, &'static str),
    /// The answer of the next chapter that has no answer yet: its question, and the trust in it.
    ChapterAnswer(&'static str, &'static str),
    /// A warning, with a word for its severity: `poor`, `fair` or `note`.
    Warning(&'static str),
    /// The remedy for the warning before it.
    Remedy,
    /// The command that repeats the measurement.
    Command,
    /// The data that the JSON within a page leaves out, and where to get them.
    Data,
    /// The name of a chapter that begins here: the result of another experiment.
    Chapter,
}

/// The level of detail that a reader asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The answer and the table.
    Quiet,
    /// Everything that helps to act on the answer.
    #[default]
    Normal,
    /// Everything.
    Verbose,
}

/// A function that receives each cell of a table with its row and column, from 0 on; row 0 contains the headings.
type TakeCell<'t> = &'t mut dyn FnMut(usize, usize, &dyn Display) -> fmt::Result;

/// Rows and columns for people.
#[derive(Clone, Copy)]
pub struct DocumentTable<'a> {
    /// The sentence above it; may be empty.
    pub caption: &'a str,
    /// The lowest level at which it is shown.
    pub level: Level,
    /// The number of columns at the left that hold words and are aligned to the left.
    pub words: usize,
    /// Pushes the headings and then every row, each with as many cells as headings. A format may call it several
    /// times.
    pub rows: &'a dyn Fn(&mut Rows<'_>),
}

impl DocumentTable<'_> {
    /// Passes every cell to `take`, row by row, up to the first error.
    pub fn each(&self, take: TakeCell<'_>) -> fmt::Result {
        let mut rows = Rows { row: 0, column: 0, take, failed: Ok(()) };
        (self.rows)(&mut rows);
        rows.failed
    }

    /// Returns whether there is a row below the headings.
    pub fn has_rows(&self) -> bool {
        self.each(&mut |row, _, _| if row > 0 { Err(fmt::Error) } else { Ok(()) }).is_err()
    }
}

/// A receiver of the cells of a table, one after the other, beginning with the headings.
pub struct Rows<'t> {
    row: usize,
    column: usize,
    take: TakeCell<'t>,
    failed: fmt::Result,
}

impl Rows<'_> {
    /// Pushes several texts, such as the headings.
    pub fn texts(&mut self, texts: &[&str]) {
        texts.iter().for_each(|text| self.text(text));
    }

    /// Begins the next row.
    pub fn row(&mut self) {
        self.row += 1;
        self.column = 0;
    }

    /// Pushes a cell.
    pub fn show(&mut self, shown: &dyn Display) {
        if self.failed.is_ok() {
            self.failed = (self.take)(self.row, self.column, shown);
        }
        self.column += 1;
    }

    /// Pushes a cell that is composed of parts.
    pub fn cell(&mut self, words: fmt::Arguments<'_>) {
        self.show(&words);
    }

    /// Pushes a cell that is a text, and may be empty.
    pub fn text(&mut self, text: &str) {
        self.show(&text);
    }

    /// Pushes a number with three significant digits, or a dash.
    pub fn number(&mut self, number: impl Into<Option<f64>>) {
        self.show(&Digits(number.into().unwrap_or(f64::NAN)));
    }

    /// Pushes a value, or a dash if it is unknown.
    pub fn known(&mut self, value: Option<impl Display>) {
        match value {
            Some(value) => self.show(&value),
            None => self.text("-"),
        }
    }

    /// Pushes both ends of an interval, or `otherwise` if there is none.
    pub fn range(&mut self, interval: Option<Interval>, otherwise: &str) {
        match interval {
            Some(Interval { low, high }) => self.cell(format_args!("{} to {}", Digits(low), Digits(high))),
            None => self.text(otherwise),
        }
    }
}

/// A picture of a result.
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
    /// Its meaning.
    pub about: &'static str,
}

impl Metric {
    /// Returns whether a value is a number, and thus a sample.
    pub fn is_number(value: Value<'_>) -> bool {
        match value {
            Value::Count(_) => true,
            Value::Real(number) => number.is_finite(),
            _ => false,
        }
    }
}

/// The names and words that distinguish the samples of a metric.
pub type MetricLabels<'l> = &'l [(&'l str, Value<'l>)];

/// A property of a node's memory, as seen by the CPUs of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The latency of a load, in nanoseconds.
    ReadLatency,
    /// The bandwidth of reads by all CPUs of the node, in bytes per second.
    ReadBandwidth,
    /// The bandwidth of their writes that bypass the caches, in bytes per second.
    WriteBandwidth,
}

/// A receiver of a result, part by part. An implementation ignores everything that it cannot show.
pub trait Document {
    /// Receives a named value of the innermost object, or a nameless value of the innermost list.
    fn value(&mut self, _field: Field, _value: Value<'_>) {}
    /// Receives a value of the innermost object under a name that the user chose.
    fn named(&mut self, _name: &str, _value: Value<'_>) {}
    /// Begins a part; everything up to [`end`](Self::end) belongs to it.
    fn begin(&mut self, _part: Part) {}
    /// Ends the innermost part.
    fn end(&mut self) {}
    /// Receives a sentence for people.
    fn sentence(&mut self, _role: Role, _words: fmt::Arguments<'_>) {}
    /// Receives a table for people.
    fn table(&mut self, _table: &DocumentTable<'_>) {}
    /// Receives a sample of a metric. Each sample of a metric has different labels.
    fn sample(&mut self, _metric: &'static Metric, _labels: MetricLabels<'_>, _value: Value<'_>) {}
    /// Receives a property of a node's memory as seen by the CPUs of a node, in nanoseconds or bytes per second.
    fn attribute(&mut self, _attribute: Attribute, _initiator: NodeId, _target: NodeId, _value: f64) {}
    /// Receives a picture.
    fn picture(&mut self, _picture: Picture<'_>) {}
    /// Returns whether it shows all pictures, including those that a terminal shows only on request.
    fn wants_pictures(&self) -> bool {
        false
    }
    /// Returns whether it takes samples and attributes, which need analyses that no other format shows.
    fn wants_samples(&self) -> bool {
        false
    }
    /// Returns whether a person reads it now, so that the answer precedes the lines that scripts search for.
    fn is_on_screen(&self) -> bool {
        false
    }
}

impl<'d> dyn Document + 'd {
    /// Writes a value of any type that a field can hold.
    pub fn put<'v>(&mut self, field: &Field, value: impl Into<Value<'v>>) {
        self.value(*field, value.into());
    }

    /// Writes a sentence without values.
    pub fn say(&mut self, role: Role, words: &str) {
        self.sentence(role, format_args!("{words}"));
    }

    /// Writes a line that scripts search for.
    pub fn line(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Line, words);
    }

    /// Writes the answer to the question of the experiment, or a part of it.
    pub fn answer(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Answer, words);
    }

    /// Writes a further finding.
    pub fn finding(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Finding, words);
    }

    /// States that a part was not measured, and why.
    pub fn missing(&mut self, words: fmt::Arguments<'_>) {
        self.sentence(Role::Missing, words);
    }

    /// Writes a value that is composed of parts.
    pub fn show(&mut self, field: &Field, shown: &dyn Display) {
        self.value(*field, Value::Shown(shown));
    }

    /// Shows a table. `rows` pushes the headings and then every row, each with as many cells as headings.
    pub fn tabulate(&mut self, caption: &str, level: Level, words: usize, rows: &dyn Fn(&mut Rows<'_>)) {
        self.table(&DocumentTable { caption, level, words, rows });
    }

    /// Writes an object with the members of a value, or null if there is none.
    pub fn object<T>(
        &mut self,
        field: &'static Field,
        value: Option<T>,
        members: impl FnOnce(&mut (dyn Document + 'd), T),
    ) {
        match value {
            None => self.value(*field, Value::None),
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
        for item in items {
            self.part(Part::Item, |document| members(document, item));
        }
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

/// The way in which a result is shown.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The terminal, or the assumed one if the output goes to a file.
    pub terminal: Terminal,
    /// The level of detail.
    pub level: Level,
    /// The columns of tabular formats, group by group.
    pub columns: [&'static [Field]; 2],
}

/// A function that describes a result to a document.
pub type Describe<'a> = &'a mut dyn FnMut(&mut dyn Document);
