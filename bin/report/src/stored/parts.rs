//! The form of each part of a result that is not a value: its fields in their order.
//!
//! Data in another form is read as other data, whose checksum differs: so nothing here reports an error. A file may be
//! malicious: its texts cannot control a terminal, end a line of metrics or become markup, and its sizes are bounded.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use latency_core::json::Writer;
use latency_core::{NodeId, ToReal, math};

use crate::chart::{
    Axis, Chart, ChartPoint, Data, Mark, MarkKind, Matrix, MatrixGroup, Scale, Series, Unit, vector,
};
use crate::document::{Attribute, Level, Metric, PageRole, Role, Value};
use crate::escape::harmless;
use crate::figures::{PRECISE, decimals};
use crate::prometheus::text_of;
use crate::shown::{Picture, ShownPart, ShownTable};
use crate::tree::JsonValue;

/// A writer of JSON. An error of its output shows at the end of the document.
type Out<'o> = Writer<&'o mut dyn Write>;

/// Data that a document keeps.
pub trait Stored {
    /// Writes the value.
    fn store(&self, out: &mut Out<'_>);

    /// Reads it.
    fn restore(value: JsonValue<'_>) -> Self;
}

/// Maximum length of a text, in bytes: no width of a format is larger.
const LONGEST: usize = 1 << 15;
/// Maximum number of lines of a text.
const MOST_LINES: usize = 64;
/// Maximum number of rows or columns of a table or a matrix, and of metrics.
const MOST: usize = 4096;
/// Characters that the words of programs do not have, since some formats write these words as they are.
const MARKUP: &[u8] = b"<>&\"'{}\n";

/// Returns a text; an empty one in place of a text that is too long or has too many lines.
fn text_from(value: JsonValue<'_>) -> String {
    let text: String =
        value.string().map_or(String::new(), |text| harmless(&text.chars().collect::<String>()));
    let lines = text.bytes().filter(|byte| *byte == b'\n').count();
    let is_long = text.len() > LONGEST || lines > MOST_LINES;
    if is_long { String::new() } else { text }
}

/// Returns a word of the program, which stays for the rest of the process.
fn word_from(value: JsonValue<'_>) -> &'static str {
    let word = text_from(value);
    if word.bytes().any(|byte| MARKUP.contains(&byte)) { "" } else { word.leak() }
}

fn number_from(value: JsonValue<'_>) -> f64 {
    value.number().unwrap_or(f64::NAN)
}

/// Reads the next of the fields of `whole`; what a shorter list does not have is null.
fn restored<'j, T: Stored>(fields: &mut dyn Iterator<Item = JsonValue<'j>>, whole: JsonValue<'j>) -> T {
    T::restore(fields.next().unwrap_or(whole.nothing()))
}

fn number(out: &mut Out<'_>, number: f64) {
    let _ = match math::whole(number) {
        whole if whole.real() == number => out.u64(whole),
        _ => out.decimal(number, decimals(number, PRECISE)),
    };
}

fn text(out: &mut Out<'_>, text: &str) {
    let _ = out.string(text);
}

fn begin_list(out: &mut Out<'_>) {
    let _ = out.begin_array();
}

fn end_list(out: &mut Out<'_>) {
    let _ = out.end_array();
}

/// Returns whether a part of a file is not larger than those of this program.
pub fn is_bounded(part: &ShownPart) -> bool {
    match part {
        ShownPart::Table(table) => table.rows.iter().all(|row| row.len() <= MOST),
        ShownPart::Picture(picture) | ShownPart::PagePicture(picture) => match &**picture {
            Picture::Matrix(matrix) => matrix.rows.len() <= MOST && matrix.columns.len() <= MOST,
            Picture::Chart(_) => true,
        },
        _ => true,
    }
}

/// Writes the parts of a result that are not values. The meaning of a metric is in its first sample.
pub fn write_parts(out: &mut Out<'_>, entries: &[ShownPart]) {
    let mut metrics: Vec<&str> = Vec::new();
    for entry in entries {
        match entry {
            ShownPart::Value(..) | ShownPart::Named(..) | ShownPart::Begin(_) | ShownPart::End => {}
            ShownPart::Metric(metric, labels, value) if metrics.contains(&metric.name) => {
                begin_list(out);
                text(out, "Metric");
                (metric.name, "").store(out);
                labels.store(out);
                value.store(out);
                end_list(out);
            }
            part => {
                if let ShownPart::Metric(metric, ..) = part {
                    metrics.push(metric.name);
                }
                part.store(out);
            }
        }
    }
}
/// Stores structures as the list of their fields, and enumerations as the list of a name and the fields behind it, or as
/// their name alone. What stands behind `else` replaces a name that is not known.
macro_rules! stored {
    ($(fields of $name:ident { $($field:ident),+ })+) => {$(
        impl Stored for $name {
            fn store(&self, out: &mut Out<'_>) {
                begin_list(out);
                $(self.$field.store(out);)+
                end_list(out);
            }

            fn restore(value: JsonValue<'_>) -> Self {
                let mut fields = value.items();
                $name { $($field: restored(&mut fields, value)),+ }
            }
        }
    )+};
    ($(variants of $name:ident { $($variant:ident $(($($field:ident),+))?),+ } else $instead:expr;)+) => {$(
        impl Stored for $name {
            #[allow(unreachable_patterns, reason = "some enumerations are stored in part")]
            fn store(&self, out: &mut Out<'_>) {
                match self {
                    $($name::$variant $(($($field),+))? => {
                        const FIELDS: &[&str] = &[$($(stringify!($field)),+)?];
                        let is_list = !FIELDS.is_empty();
                        begin_variant(out, stringify!($variant), is_list);
                        $($($field.store(out);)+)?
                        if is_list {
                            end_list(out);
                        }
                    })+
                    _ => {}
                }
            }

            fn restore(value: JsonValue<'_>) -> Self {
                let mut fields = value.items();
                match text_from(fields.next().unwrap_or(value)).as_str() {
                    $(stringify!($variant) => $name::$variant $(($({
                        let $field = restored(&mut fields, value);
                        $field
                    }),+))?,)+
                    _ => $instead,
                }
            }
        }
    )+};
}

stored! {
    fields of ShownTable { level, words, caption, rows }
    fields of Chart { title, subtitle, x_axis, y_axis, series, marks }
    fields of Axis { title, unit, scale }
    fields of Series { name, data }
    fields of ChartPoint { x, y, band, whiskers }
    fields of Mark { kind, x, label, series }
    fields of Matrix { title, subtitle, unit, noun, rows, columns, groups, cells }
    fields of MatrixGroup { first, name }
    fields of Metric { name, about }
}

stored! {
    variants of ShownPart {
        Sentence(role, words), Table(table), Picture(picture), PagePicture(picture),
        Metric(metric, labels, value), Attribute(attribute, nodes, value)
    } else ShownPart::Sentence(Role::Missing, String::new());
    variants of Role {
        Line, Answer, Trust, Finding, Aside, Missing, Method(label), Question(label), Provenance(label), Brief(label),
        Detail(label), Page(role)
    } else Role::Missing;
    variants of PageRole {
        Title, Origin, Footer, Fact(label), Figure(label, trust), ChapterAnswer(label, trust), Warning(severity),
        Remedy, Command, Data, Chapter
    } else PageRole::Data;
    variants of Level { Quiet, Normal, Verbose } else Level::Normal;
    variants of Attribute { ReadLatency, ReadBandwidth, WriteBandwidth } else Attribute::ReadLatency;
    variants of Picture { Chart(chart), Matrix(matrix) } else Picture::Matrix(Matrix::default());
    variants of Unit { Bytes, Count, Plain(word), Prefixed(word), Names(names) } else Unit::Bytes;
    variants of Scale { Auto, Linear, Fitted, Logarithmic } else Scale::Auto;
    variants of Data { Points(points), Scatter(points), Curve(points) } else Data::Points(Vec::new());
    variants of MarkKind { Line, Tick, Area(end, y) } else MarkKind::Line;
}

/// Begins a value of an enumeration.
fn begin_variant(out: &mut Out<'_>, name: &str, is_list: bool) {
    if is_list {
        begin_list(out);
    }
    text(out, name);
}

/// Implements [`Stored`] for types that are one value of JSON: an expression writes it, and another reads it.
macro_rules! plain {
    ($($type:ty: |$own:ident, $out:ident| $store:expr, |$value:ident| $restore:expr;)+) => {$(
        impl Stored for $type {
            fn store(&self, $out: &mut Out<'_>) {
                let $own = self;
                $store
            }

            fn restore($value: JsonValue<'_>) -> Self {
                $restore
            }
        }
    )+};
}

plain! {
    f64: |own, out| number(out, *own), |value| number_from(value);
    usize: |own, out| number(out, own.real()), |value| math::whole(number_from(value)) as usize;
    u32: |own, out| number(out, f64::from(*own)), |value| math::whole(number_from(value)) as u32;
    NodeId: |own, out| own.0.store(out), |value| NodeId(Stored::restore(value));
    String: |own, out| text(out, own), |value| text_from(value);
    &'static str: |own, out| text(out, own), |value| word_from(value);
    &'static Metric: |own, out| (**own).store(out), |value| Box::leak(Stored::restore(value));
    // Samples have the digits of their format.
    Value: |own, out| text(out, &text_of(own)), |value| Value::Word(text_from(value));
    Result<f64, String>: |own, out| match own {
        Ok(cell) => number(out, *cell),
        Err(reason) => text(out, reason),
    }, |value| match value.string() {
        Some(_) => Err(text_from(value)),
        None => Ok(number_from(value)),
    };
}

impl<T: Stored> Stored for Box<T> {
    fn store(&self, out: &mut Out<'_>) {
        (**self).store(out);
    }

    fn restore(value: JsonValue<'_>) -> Self {
        Box::new(T::restore(value))
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn store(&self, out: &mut Out<'_>) {
        begin_list(out);
        self.iter().for_each(|item| item.store(out));
        end_list(out);
    }

    fn restore(value: JsonValue<'_>) -> Self {
        let items: &mut dyn Iterator<Item = _> = &mut value.items();
        vector(items.map(T::restore))
    }
}

impl<T: Stored> Stored for Option<T> {
    fn store(&self, out: &mut Out<'_>) {
        match self {
            Some(own) => own.store(out),
            None => number(out, f64::NAN),
        }
    }

    fn restore(value: JsonValue<'_>) -> Self {
        (!value.is_null()).then(|| T::restore(value))
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn store(&self, out: &mut Out<'_>) {
        begin_list(out);
        self.0.store(out);
        self.1.store(out);
        end_list(out);
    }

    fn restore(value: JsonValue<'_>) -> Self {
        let mut fields = value.items();
        (restored(&mut fields, value), restored(&mut fields, value))
    }
}
