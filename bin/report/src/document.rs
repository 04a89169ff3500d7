//! The vocabulary of a result: its quantities and their values, its parts, the roles of its sentences, and its metrics.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

use latency_core::{Bytes, Estimate, Summary};

/// A quantity, with everything that formats and the schema need to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key, with the unit at its end. It is also the name of a column.
    pub key: &'static str,
    /// True if the quantity has a confidence interval, whose ends have keys of their own: see [`ENDS`].
    pub has_interval: bool,
    /// The meaning of the quantity, for the schema, which only tests write.
    #[cfg(feature = "schema")]
    pub about: &'static str,
    /// The place of its declaration, by which tests tell fields of the same key apart.
    #[cfg(feature = "schema")]
    declared: &'static core::panic::Location<'static>,
}

impl Field {
    /// Makes a field from its key and its meaning.
    #[cfg_attr(feature = "schema", track_caller)]
    #[cfg_attr(
        not(feature = "schema"),
        allow(unused_variables, reason = "the program does not write the schema")
    )]
    pub const fn new(key: &'static str, has_interval: bool, about: &'static str) -> Field {
        Field {
            key,
            has_interval,
            #[cfg(feature = "schema")]
            about,
            #[cfg(feature = "schema")]
            declared: core::panic::Location::caller(),
        }
    }

    /// Returns what no other field has.
    #[cfg(feature = "schema")]
    pub fn identity(self) -> (&'static core::panic::Location<'static>, [&'static str; 2]) {
        (self.declared, [self.key, self.about])
    }
}

/// The ends of the keys of both ends of an interval, behind the key of the quantity.
pub const ENDS: [&str; 2] = ["_low", "_high"];

/// Declares fields, each as a `static`: `NAME "key" "What it is.";`, with `interval` behind the key of a quantity that
/// has a confidence interval.
#[macro_export]
macro_rules! fields {
    ($($(#[$meta:meta])* $visible:vis $name:ident $key:literal $($interval:ident)? $about:literal;)*) => {
        $(#[doc = $about] $(#[$meta])* $visible static $name: $crate::document::Field =
            $crate::document::field!($key $($interval)?, $about);)*
    };
}
pub use fields;

/// Makes a field from its key and its meaning; see `fields!`.
#[macro_export]
macro_rules! field {
    ($key:literal, $about:expr $(,)?) => {
        $crate::document::Field::new($key, false, $about)
    };
    ($key:literal interval, $about:expr $(,)?) => {
        $crate::document::Field::new($key, true, $about)
    };
}
pub use field;

/// Adds members to the innermost object, each with its meaning: `"key": value => "What it is.";`, with `interval`
/// behind the key of a quantity that has a confidence interval, and `shown` behind the key of a value that is composed
/// of parts. A field that is declared elsewhere is `FIELD: value;`, and `..function(value);` adds the members of
/// another function. Behind `fn name(value: Type);` instead of a document, the members are those of a function.
#[macro_export]
macro_rules! members {
    ($(#[$meta:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),*); $($members:tt)*) => {
        $(#[$meta])* $visible fn $name(document: &mut Shown, $($argument: $type),*) {
            $crate::document::members! { document; $($members)* }
        }
    };
    ($document:expr; $key:literal $($kind:ident)?: $value:expr => $about:literal; $($members:tt)*) => {
        $crate::document::member!($document, $key $($kind)?, $value, $about);
        $crate::document::members! { $document; $($members)* }
    };
    ($document:expr; ..$function:ident($($value:expr),*); $($members:tt)*) => {
        $function($document, $($value),*);
        $crate::document::members! { $document; $($members)* }
    };
    ($document:expr; $field:path: $value:expr; $($members:tt)*) => {
        $document.put(&$field, $value);
        $crate::document::members! { $document; $($members)* }
    };
    ($document:expr;) => {};
}
pub use members;

/// Adds one of the `members!`.
#[macro_export]
macro_rules! member {
    ($document:expr, $key:literal shown, $value:expr, $about:literal) => {
        $crate::document::member!($document, $key, $crate::document::Value::shown(&$value), $about)
    };
    ($document:expr, $key:literal $($interval:ident)?, $value:expr, $about:literal) => {{
        static MEMBER: $crate::document::Field =
            $crate::document::field!($key $($interval)?, $about);
        $document.put(&MEMBER, $value);
    }};
}
pub use member;

/// Declares metrics, each as a `static`: `NAME "name" "What it is.";`.
#[macro_export]
macro_rules! metrics {
    ($($name:ident $key:literal $about:literal;)*) => {
        $(#[doc = $about] static $name: $crate::document::Metric =
            $crate::document::Metric { name: $key, about: $about };)*
    };
}
pub use metrics;

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
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
    /// A word that programs compare, or a text.
    Word(String),
    /// Bytes from outside, usually UTF-8.
    Raw(Vec<u8>),
}

/// Makes values of plain types.
macro_rules! from {
    ($($type:ty: $plain:ident => $value:expr;)*) => {$(
        impl From<$type> for Value {
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

impl Value {
    /// Returns a text that is composed of parts.
    pub fn shown(shown: &dyn Display) -> Value {
        Value::Word(format!("{shown}"))
    }

    /// Returns the number, and both ends of its interval.
    pub fn parts(&self) -> [Value; 3] {
        let Value::Estimate(Estimate { value, interval }) = self else {
            return [self.clone(), Value::None, Value::None];
        };
        let (low, high) = interval.map(|interval| (interval.low, interval.high)).unzip();
        [(*value).into(), low.into(), high.into()]
    }
}

impl From<String> for Value {
    fn from(word: String) -> Self {
        Value::Word(word)
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Value::Word(word.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A line that scripts search for. It is always shown and never wrapped.
    Line,
    /// The answer to the experiment's question. It is always shown.
    Answer,
    /// The reliability of the result.
    Trust,
    /// A further finding.
    Finding,
    /// A finding that changes no decision: on standard output, only readers who asked for everything see it.
    Aside,
    /// A part that was not measured, and the reason.
    Missing,
    /// A part of the method, under a label such as `Memory`.
    Method(&'static str),
    /// The answer of a chapter, under its question; pages have a [`ChapterAnswer`](PageRole::ChapterAnswer).
    Question(&'static str),
    /// A part of the method that standard output has as a [`Brief`](Role::Brief) line, unless everything was asked for.
    Provenance(&'static str),
    /// The provenance in one line, for standard output.
    Brief(&'static str),
    /// A detail for readers who asked for everything, under a label that may be empty.
    Detail(&'static str),
    /// A sentence that only self-contained pages need.
    Page(PageRole),
}

impl Role {
    /// Returns the level from which on texts show a sentence, and its label, which may be empty; `None` if they do not show
    /// it. If they are brief, one line replaces the provenance.
    pub fn in_text(self, are_brief: bool) -> Option<(Level, &'static str)> {
        Some(match self {
            Role::Line | Role::Answer => (Level::Quiet, ""),
            Role::Trust => (Level::Normal, "Trust"),
            Role::Finding | Role::Missing => (Level::Normal, ""),
            Role::Aside => (if are_brief { Level::Verbose } else { Level::Normal }, ""),
            Role::Method(label) | Role::Question(label) => (Level::Normal, label),
            Role::Provenance(label) if !are_brief => (Level::Normal, label),
            Role::Brief(label) if are_brief => (Level::Normal, label),
            Role::Detail(label) => (Level::Verbose, label),
            Role::Provenance(_) | Role::Brief(_) | Role::Page(_) => return None,
        })
    }
}

/// The role of a sentence that only pages need. Pages are often read on another machine, and so they repeat facts that
/// a terminal shows elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// A quantity for monitoring systems, in base units.
///
/// A metric is a `static`; formats tell metrics apart by name.
#[derive(Debug)]
pub struct Metric {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

impl Metric {
    /// Returns whether a value is a number, and thus a sample.
    pub fn is_number(value: &Value) -> bool {
        match value {
            Value::Count(_) => true,
            Value::Real(number) => number.is_finite(),
            _ => false,
        }
    }
}

/// The name and the word of one label of a sample.
pub type MetricLabel = (&'static str, Value);

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
