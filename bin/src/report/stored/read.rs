//! Reads a document back as the result that was written.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use latency_core::json::{Event, Reader, Str};
use latency_core::stats::{Estimate, Interval};
use latency_core::text::Text;
use latency_core::units::NodeId;
use latency_core::words::Worded;

use super::item::Item;
use super::{SHOWN, checksum, kind, mark, series, unit};
use crate::report::chart::{
    Axis, Chart, ChartPoint, Data, Mark, MarkKind, Matrix, MatrixGroup, Series, Unit,
};
use crate::report::document::{ENDS, Field, Metric, Part, ROLES, Value};
use crate::report::shown::{Picture, Shown, ShownPart, ShownTable};

/// A document that keeps how it was shown.
#[derive(Debug)]
pub enum Restored {
    /// The result as it was written.
    Whole(Shown),
    /// Its values were changed since.
    Changed,
}

/// Reads a document; `records` is the key of its rows. Returns `None` for text that does not keep how it was shown, or not
/// in the form of this version.
pub fn restored(text: &[u8], records: &str) -> Option<Restored> {
    let mut reading =
        Reading { text, reader: Reader::new(text), records, shown: Shown::new(), fields: Vec::new() };
    let mut kept = None;
    if reading.next()? != Event::BeginObject {
        return None;
    }
    loop {
        match reading.next()? {
            Event::EndObject => break,
            Event::Key(name) if name.chars().eq(SHOWN.chars()) => {
                let event = reading.next()?;
                kept = Item::read(&mut reading.reader, event);
            }
            Event::Key(name) => reading.member(name)?,
            _ => return None,
        }
    }
    let mut shown = reading.shown;
    let kept = kept?;
    let (sum, parts) = kept.items().split_first()?;
    if sum.text()? != checksum(shown.entries()) {
        return Some(Restored::Changed);
    }
    // Samples of one metric have the same address.
    let mut metrics = Vec::new();
    for part in parts {
        shown.push(self::part(part.items(), &mut metrics)?);
    }
    Some(Restored::Whole(shown))
}

/// The values of a document, as far as they were read.
struct Reading<'t> {
    text: &'t [u8],
    reader: Reader<'t>,
    records: &'t str,
    shown: Shown,
    /// The fields that were seen, each once.
    fields: Vec<&'static Field>,
}

impl<'t> Reading<'t> {
    fn next(&mut self) -> Option<Event<'t>> {
        self.reader.next_event().ok()
    }

    /// Returns the field of a key.
    fn field(&mut self, key: &str, has_interval: bool) -> &'static Field {
        let is_own = |field: &&&Field| field.key == key && field.has_interval == has_interval;
        match self.fields.iter().find(is_own) {
            Some(field) => field,
            None => {
                let field = Field::new(String::from(key).leak(), has_interval, "");
                let field: &'static Field = Box::leak(Box::new(field));
                self.fields.push(field);
                field
            }
        }
    }

    /// Reads a member of an object behind its name.
    fn member(&mut self, name: Str<'_>) -> Option<()> {
        let key: String = name.chars().collect();
        let field = self.field(&key, false);
        match self.next()? {
            Event::BeginObject => self.object(Part::Object(field)),
            Event::BeginArray if key == self.records => self.list(Part::Records(field), field),
            Event::BeginArray => self.list(Part::List(field), field),
            event => {
                self.single(field, event)?;
                self.join();
                Some(())
            }
        }
    }

    /// Reads the members of an object behind its beginning.
    fn object(&mut self, part: Part) -> Option<()> {
        self.shown.push(ShownPart::Begin(part));
        loop {
            match self.next()? {
                Event::Key(name) => self.member(name)?,
                Event::EndObject => break,
                _ => return None,
            }
        }
        self.shown.push(ShownPart::End);
        Some(())
    }

    /// Reads the items of a list behind its beginning.
    fn list(&mut self, part: Part, field: &'static Field) -> Option<()> {
        self.shown.push(ShownPart::Begin(part));
        loop {
            match self.next()? {
                Event::BeginObject => self.object(Part::Item)?,
                Event::BeginArray => self.list(Part::List(field), field)?,
                Event::EndArray => break,
                event => self.single(field, event)?,
            }
        }
        self.shown.push(ShownPart::End);
        Some(())
    }

    /// Adds a value that is not a container. Counts have no point, and measured numbers have one.
    fn single(&mut self, field: &'static Field, event: Event<'_>) -> Option<()> {
        let digits = self.text.get(self.reader.begun()..self.reader.offset())?;
        let value = match event {
            Event::Null => Value::None,
            Event::Bool(flag) => Value::Flag(flag),
            Event::Number(number) if digits.contains(&b'.') => Value::Real(number),
            Event::Number(_) => Value::Count(core::str::from_utf8(digits).ok()?.parse().ok()?),
            Event::String(text) => Value::Word(text.chars().collect()),
            _ => return None,
        };
        self.shown.value(field, value);
        Some(())
    }

    /// Makes one value of the last three members if they are a number and both ends of its interval.
    fn join(&mut self) {
        let [.., ShownPart::Value(field, value), ShownPart::Value(low, least), ShownPart::Value(high, most)] =
            self.shown.entries()
        else {
            return;
        };
        let is_end = |end: &Field, ending| end.key.strip_suffix(ending) == Some(field.key);
        if !is_end(low, ENDS[0]) || !is_end(high, ENDS[1]) {
            return;
        }
        let number = |value: &Value| match value {
            Value::Real(number) => Some(*number),
            Value::None => Some(f64::NAN),
            _ => None,
        };
        let (Some(value), Some(low), Some(high)) = (number(value), number(least), number(most)) else {
            return;
        };
        let interval = Some(Interval { low, high }).filter(|ends| !ends.low.is_nan() || !ends.high.is_nan());
        let field = self.field(field.key, true);
        self.shown.remove_last(3);
        self.shown.value(field, Value::Estimate(Estimate { value, interval }));
    }
}

/// Reads a part that is not a value.
fn part(list: &[Item], metrics: &mut Vec<&'static Metric>) -> Option<ShownPart> {
    let (of, rest) = list.split_first()?;
    Some(match (of.text()?, rest) {
        (kind::TABLE, [level, words, caption, rows]) => ShownPart::Table(Box::new(ShownTable {
            caption: caption.text()?.into(),
            level: Worded::from_word(level.text()?.as_bytes())?,
            words: words.count()?,
            rows: rows.list(|row| row.list(|cell| cell.text().map(String::from)))?,
        })),
        (kind::CHART, [in_text, title, subtitle, x, y, series, marks]) => drawn(
            in_text,
            Picture::Chart(Chart {
                title: title.text()?.into(),
                subtitle: subtitle.text()?.into(),
                x_axis: axis(x)?,
                y_axis: axis(y)?,
                series: series.list(one_series)?,
                marks: marks.list(one_mark)?,
            }),
        )?,
        (kind::MATRIX, [in_text, title, subtitle, unit, noun, rows, columns, groups, cells]) => drawn(
            in_text,
            Picture::Matrix(Matrix {
                title: title.text()?.into(),
                subtitle: subtitle.text()?.into(),
                unit: unit.word()?,
                noun: noun.word()?,
                rows: rows.list(Item::id)?,
                columns: columns.list(Item::id)?,
                groups: match groups {
                    Item::Number(_) => None,
                    groups => Some(groups.list(group)?),
                },
                cells: cells.list(|cell| match cell {
                    Item::Number(number) => Some(Ok(*number)),
                    cell => Some(Err(cell.text()?.into())),
                })?,
            }),
        )?,
        (kind::METRIC, [name, about, labels, value]) => {
            let known = metrics.iter().find(|metric| name.text() == Some(metric.name));
            let metric = match known {
                Some(metric) => *metric,
                None => Box::leak(Box::new(Metric { name: name.word()?, about: about.word()? })),
            };
            if known.is_none() {
                metrics.push(metric);
            }
            let label = |label: &Item| match label.items() {
                [name, word] => Some((name.word()?, word.text()?.into())),
                _ => None,
            };
            ShownPart::Metric(metric, labels.list(label)?, value.text()?.into())
        }
        (kind::ATTRIBUTE, [name, from, to, value]) => {
            let attribute = Worded::from_word(name.text()?.as_bytes())?;
            ShownPart::Attribute(attribute, [NodeId(from.id()?), NodeId(to.id()?)], value.number()?)
        }
        (role, [one, other, words]) => {
            let (_, make) = ROLES.iter().find(|(name, _)| *name == role)?;
            ShownPart::Sentence(make([one.word()?, other.word()?]), words.text()?.into())
        }
        _ => return None,
    })
}

fn drawn(in_text: &Item, picture: Picture) -> Option<ShownPart> {
    let picture = Box::new(picture);
    Some(match in_text.count()? {
        0 => ShownPart::PagePicture(picture),
        _ => ShownPart::Picture(picture),
    })
}

fn group(group: &Item) -> Option<MatrixGroup> {
    let [first, name] = group.items() else { return None };
    Some(MatrixGroup { first: first.count()?, name: Text::of(format_args!("{}", name.text()?)) })
}

fn axis(axis: &Item) -> Option<Axis> {
    let [title, unit, scale] = axis.items() else { return None };
    let (of, rest) = unit.items().split_first()?;
    let unit = match (of.text()?, rest) {
        (unit::BYTES, []) => Unit::Bytes,
        (unit::COUNT, []) => Unit::Count,
        (unit::PLAIN, [word]) => Unit::Plain(word.word()?),
        (unit::PREFIXED, [word]) => Unit::Prefixed(word.word()?),
        (unit::NAMES, [names]) => Unit::Names(names.list(|name| name.text().map(String::from))?),
        _ => return None,
    };
    Some(Axis { title: title.word()?, unit, scale: Worded::from_word(scale.text()?.as_bytes())? })
}

fn one_series(of: &Item) -> Option<Series> {
    let [kind, name, points] = of.items() else { return None };
    let points = points.list(point)?;
    let data = match kind.text()? {
        series::POINTS => Data::Points(points),
        series::SCATTER => Data::Scatter(points),
        series::MODEL => Data::Curve(points),
        _ => return None,
    };
    Some(Series { name: name.text()?.into(), data })
}

fn point(point: &Item) -> Option<ChartPoint> {
    let numbers = point.list(Item::number)?;
    let [x, y, ends @ ..] = numbers.as_slice() else { return None };
    let pair = |place: usize| match ends.get(place..place + 2) {
        Some([low, high]) => Some((*low, *high)),
        _ => None,
    };
    let band = pair(0).filter(|(low, high)| !(low.is_nan() && high.is_nan()));
    Some(ChartPoint { x: *x, y: *y, band, whiskers: pair(2) })
}

fn one_mark(of: &Item) -> Option<Mark> {
    let [kind, x, label, series, rest @ ..] = of.items() else { return None };
    let kind = match (kind.text()?, rest) {
        (mark::LINE, []) => MarkKind::Line,
        (mark::TICK, []) => MarkKind::Tick,
        (mark::AREA, [end, y]) => MarkKind::Area { end: end.number()?, y: y.number()? },
        _ => return None,
    };
    let label = Text::of(format_args!("{}", label.text()?));
    Some(Mark { x: x.number()?, label, kind, series: series.count() })
}
