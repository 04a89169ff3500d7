//! The form of each part of a result that is not a value: its fields in their order.
//!
//! What is read in another form becomes something else, which is stored differently: `restored` notices it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use latency_core::math::{self, ToReal};
use latency_core::text::Text;
use latency_core::units::NodeId;

use super::item::Item;
use crate::report::chart::{
    Axis, Chart, ChartPoint, Data, Mark, MarkKind, Matrix, MatrixGroup, Scale, Series, Unit, vector,
};
use crate::report::document::{Attribute, Level, Metric, PageRole, Role, Value};
use crate::report::prometheus::text_of;
use crate::report::shown::{Picture, ShownPart, ShownTable};

/// Data that a document keeps.
pub trait Stored {
    /// Returns its form.
    fn store(&self) -> Item;

    /// Makes it from its form.
    fn restore(item: &Item) -> Self;
}

/// Stores structures as the list of their fields, and enumerations as the list of a name and the fields behind it, or as
/// their name alone. What stands behind `else` replaces a name that is not known; what has none is not stored.
macro_rules! stored {
    ($(struct $name:ident { $($field:ident),+ })+) => {$(
        impl Stored for $name {
            fn store(&self) -> Item {
                Item::List(Vec::from([$(self.$field.store()),+]))
            }

            fn restore(item: &Item) -> Self {
                let mut items = item.items().iter();
                let mut next = || items.next().unwrap_or(&Item::NOTHING);
                $name { $($field: Stored::restore(next())),+ }
            }
        }
    )+};
    ($(enum $name:ident { $($variant:ident $(($($field:ident),+))?),+ } else $instead:expr;)+) => {$(
        impl Stored for $name {
            #[allow(unreachable_patterns, reason = "some enumerations are stored in part")]
            fn store(&self) -> Item {
                match self {
                    $($name::$variant $(($($field),+))? =>
                        variant(stringify!($variant), Vec::from([$($($field.store()),+)?])),)+
                    _ => Item::NOTHING,
                }
            }

            fn restore(item: &Item) -> Self {
                let (name, fields) = name_and_fields(item);
                let mut fields = fields.iter();
                let mut _next = || fields.next().unwrap_or(&Item::NOTHING);
                match name {
                    $(stringify!($variant) =>
                        $name::$variant $(($({ let $field = Stored::restore(_next()); $field }),+))?,)+
                    _ => $instead,
                }
            }
        }
    )+};
}

stored! {
    struct ShownTable { level, words, caption, rows }
    struct Chart { title, subtitle, x_axis, y_axis, series, marks }
    struct Axis { title, unit, scale }
    struct Series { name, data }
    struct ChartPoint { x, y, band, whiskers }
    struct Mark { kind, x, label, series }
    struct Matrix { title, subtitle, unit, noun, rows, columns, groups, cells }
    struct MatrixGroup { first, name }
    struct Metric { name, about }
}

stored! {
    enum ShownPart {
        Sentence(role, words), Table(table), Picture(picture), PagePicture(picture),
        Metric(metric, labels, value), Attribute(attribute, nodes, value)
    } else ShownPart::End;
    enum Role {
        Line, Answer, Trust, Finding, Missing, Method(label), Question(label), Provenance(label), Brief(label),
        Detail(label), Page(role)
    } else Role::Missing;
    enum PageRole {
        Title, Origin, Footer, Fact(label), Figure(label, trust), ChapterAnswer(label, trust), Warning(severity),
        Remedy, Command, Data, Chapter
    } else PageRole::Data;
    enum Level { Quiet, Normal, Verbose } else Level::Normal;
    enum Attribute { ReadLatency, ReadBandwidth, WriteBandwidth } else Attribute::ReadLatency;
    enum Picture { Chart(chart), Matrix(matrix) } else Picture::Chart(Stored::restore(&Item::NOTHING));
    enum Unit { Bytes, Count, Plain(word), Prefixed(word), Names(names) } else Unit::Bytes;
    enum Scale { Auto, Linear, Fitted, Logarithmic } else Scale::Auto;
    enum Data { Points(points), Scatter(points), Curve(points) } else Data::Points(Vec::new());
    enum MarkKind { Line, Tick, Area(end, y) } else MarkKind::Line;
}

/// Returns the form of a value of an enumeration.
fn variant(name: &str, mut fields: Vec<Item>) -> Item {
    let name = Item::Text(name.into());
    if fields.is_empty() {
        return name;
    }
    fields.insert(0, name);
    Item::List(fields)
}

/// Returns the name of a value of an enumeration, and its fields.
fn name_and_fields(item: &Item) -> (&str, &[Item]) {
    match item.items().split_first() {
        Some((name, fields)) => (name.text(), fields),
        None => (item.text(), &[]),
    }
}

/// Stores plain types.
macro_rules! plain {
    ($($type:ty: |$own:ident| $store:expr, |$item:ident| $restore:expr;)+) => {$(
        impl Stored for $type {
            fn store(&self) -> Item {
                let $own = self;
                $store
            }

            fn restore($item: &Item) -> Self {
                $restore
            }
        }
    )+};
}

plain! {
    f64: |number| Item::Number(*number), |item| item.number();
    usize: |count| Item::Number(count.real()), |item| math::whole(item.number()) as usize;
    u32: |count| Item::Number(f64::from(*count)), |item| math::whole(item.number()) as u32;
    NodeId: |node| node.0.store(), |item| NodeId(Stored::restore(item));
    String: |text| Item::Text(text.clone()), |item| item.text().into();
    // The words of programs stay for the rest of the process.
    &'static str: |text| Item::Text((*text).into()), |item| String::from(item.text()).leak();
    &'static Metric: |metric| (**metric).store(), |item| Box::leak(Box::new(Stored::restore(item)));
    // Samples have the digits of their format.
    Value: |value| Item::Text(text_of(value)), |item| Value::Word(item.text().into());
    Result<f64, String>: |cell| match cell {
        Ok(number) => number.store(),
        Err(reason) => reason.store(),
    }, |item| match item {
        Item::Text(reason) => Err(reason.clone()),
        item => Ok(item.number()),
    };
}

impl<const N: usize> Stored for Text<N> {
    fn store(&self) -> Item {
        Item::Text(self.as_str().into())
    }

    fn restore(item: &Item) -> Self {
        Text::of(format_args!("{}", item.text()))
    }
}

impl<T: Stored> Stored for Box<T> {
    fn store(&self) -> Item {
        (**self).store()
    }

    fn restore(item: &Item) -> Self {
        Box::new(T::restore(item))
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn store(&self) -> Item {
        Item::List(vector(&mut self.iter().map(T::store)))
    }

    fn restore(item: &Item) -> Self {
        vector(&mut item.items().iter().map(T::restore))
    }
}

impl<T: Stored> Stored for Option<T> {
    fn store(&self) -> Item {
        self.as_ref().map_or(Item::NOTHING, T::store)
    }

    fn restore(item: &Item) -> Self {
        (!item.is_nothing()).then(|| T::restore(item))
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn store(&self) -> Item {
        Item::List(Vec::from([self.0.store(), self.1.store()]))
    }

    fn restore(item: &Item) -> Self {
        (A::restore(item.at(0)), B::restore(item.at(1)))
    }
}

impl Stored for [NodeId; 2] {
    fn store(&self) -> Item {
        let [from, to] = *self;
        (from, to).store()
    }

    fn restore(item: &Item) -> Self {
        <(NodeId, NodeId)>::restore(item).into()
    }
}
