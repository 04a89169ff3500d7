//! Reads a document back as the result that was written.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use latency_core::json::{Event, Reader, Str};
use latency_core::stats::{Estimate, Interval};
use latency_core::text::Text;
use latency_core::units::NodeId;
use latency_core::words::Worded;

use super::item::Item;
use super::{SHOWN, checksum, kind, mark, series, unit};
use crate::report::chart::{
    Axis, Chart, ChartPoint, Data, Mark, MarkKind, Matrix, MatrixGroup, Scale, Series, Unit,
};
use crate::report::document::{ENDS, Field, Metric, Part, ROLES, Value};
use crate::report::shown::{Picture, Shown, ShownPart, ShownTable};

/// A document that keeps how it was shown.
#[derive(Debug)]
pub enum Restored {
    /// The result as it was written.
    Whole(Shown),
    /// It was edited since.
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
    if sum.text() != checksum(shown.entries(), parts) {
        return Some(Restored::Changed);
    }
    let decoder = Decoder { is_bad: Cell::new(false) };
    for part in parts {
        match part.items() {
            [of, name, about, samples] if of.text() == kind::METRIC => {
                let metric = Box::leak(Box::new(Metric { name: name.word(), about: about.word() }));
                for sample in samples.items() {
                    shown.push(decoder.sample(metric, sample.items()));
                }
            }
            part => shown.push(decoder.part(part)),
        }
    }
    (!decoder.is_bad.get()).then_some(Restored::Whole(shown))
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

/// Makes the parts that are not values. What has another form is replaced, and noted: then the document is not used.
struct Decoder {
    is_bad: Cell<bool>,
}

impl Decoder {
    fn part(&self, list: &[Item]) -> ShownPart {
        let (of, rest) = list.split_first().map_or(("", list), |(of, rest)| (of.text(), rest));
        match (of, rest) {
            (kind::TABLE, [level, words, caption, rows]) => ShownPart::Table(Box::new(ShownTable {
                caption: caption.string(),
                level: self.choice(level),
                words: words.count(),
                rows: rows.list(&|row| row.list(&Item::string)),
            })),
            (kind::CHART, [in_text, title, subtitle, x, y, series, marks]) => drawn(
                in_text,
                Picture::Chart(Chart {
                    title: title.string(),
                    subtitle: subtitle.string(),
                    x_axis: self.axis(x.items()),
                    y_axis: self.axis(y.items()),
                    series: series.list(&|series| self.series(series.items())),
                    marks: marks.list(&|mark| self.mark(mark.items())),
                }),
            ),
            (kind::MATRIX, [in_text, title, subtitle, unit, noun, rows, columns, groups, cells]) => drawn(
                in_text,
                Picture::Matrix(Matrix {
                    title: title.string(),
                    subtitle: subtitle.string(),
                    unit: unit.word(),
                    noun: noun.word(),
                    rows: rows.list(&Item::id),
                    columns: columns.list(&Item::id),
                    groups: match groups {
                        Item::List(_) => Some(groups.list(&|group| self.group(group.items()))),
                        _ => None,
                    },
                    cells: cells.list(&|cell| match cell {
                        Item::Number(number) => Ok(*number),
                        cell => Err(cell.string()),
                    }),
                }),
            ),
            (kind::ATTRIBUTE, [name, from, to, value]) => {
                let nodes = [NodeId(from.id()), NodeId(to.id())];
                ShownPart::Attribute(self.choice(name), nodes, value.number())
            }
            (role, [one, other, words]) => match ROLES.iter().find(|(name, _)| *name == role) {
                Some((_, make)) => ShownPart::Sentence(make([one.word(), other.word()]), words.string()),
                None => self.bad(ShownPart::End),
            },
            _ => self.bad(ShownPart::End),
        }
    }

    /// Notes that something has another form, and returns its replacement.
    fn bad<T>(&self, instead: T) -> T {
        self.is_bad.set(true);
        instead
    }

    /// Returns the value of a word.
    fn choice<C: Worded>(&self, word: &Item) -> C {
        let found = C::from_word(word.text().as_bytes());
        found.unwrap_or_else(|| self.bad(C::WORDS[0].1))
    }

    /// Makes a sample of its value, and of the name and the word of each label.
    fn sample(&self, metric: &'static Metric, sample: &[Item]) -> ShownPart {
        let Some((value, labels)) = sample.split_first() else { return self.bad(ShownPart::End) };
        let mut words = Vec::new();
        for label in labels.chunks(2) {
            words.push(match label {
                [name, word] => (name.word(), word.text().into()),
                _ => self.bad(("", Value::None)),
            });
        }
        ShownPart::Metric(metric, words, value.text().into())
    }

    fn group(&self, group: &[Item]) -> MatrixGroup {
        match group {
            [first, name] => MatrixGroup { first: first.count(), name: short(name) },
            _ => self.bad(MatrixGroup { first: 0, name: Text::EMPTY }),
        }
    }

    fn axis(&self, axis: &[Item]) -> Axis {
        let (title, unit, scale) = match axis {
            [title, unit, scale] => (title.word(), unit.items(), self.choice(scale)),
            _ => self.bad(("", axis, Scale::Auto)),
        };
        let unit = match unit {
            [kind, rest @ ..] => match (kind.text(), rest) {
                (unit::BYTES, []) => Unit::Bytes,
                (unit::COUNT, []) => Unit::Count,
                (unit::PLAIN, [word]) => Unit::Plain(word.word()),
                (unit::PREFIXED, [word]) => Unit::Prefixed(word.word()),
                (unit::NAMES, [names]) => Unit::Names(names.list(&Item::string)),
                _ => self.bad(Unit::Bytes),
            },
            [] => self.bad(Unit::Bytes),
        };
        Axis { title, unit, scale }
    }

    fn series(&self, of: &[Item]) -> Series {
        let [kind, name, points] = of else {
            return self.bad(Series { name: String::new(), data: Data::Points(Vec::new()) });
        };
        let points = points.list(&|point| self.point(point.items()));
        let data = match kind.text() {
            series::POINTS => Data::Points(points),
            series::SCATTER => Data::Scatter(points),
            series::MODEL => Data::Curve(points),
            _ => self.bad(Data::Points(points)),
        };
        Series { name: name.string(), data }
    }

    fn point(&self, point: &[Item]) -> ChartPoint {
        let [x, y, ends @ ..] = point else { return self.bad(ChartPoint::new(f64::NAN, f64::NAN)) };
        let pair = |place: usize| match ends.get(place..place + 2) {
            Some([low, high]) => Some((low.number(), high.number())),
            _ => None,
        };
        let band = pair(0).filter(|(low, high)| !(low.is_nan() && high.is_nan()));
        ChartPoint { x: x.number(), y: y.number(), band, whiskers: pair(2) }
    }

    fn mark(&self, of: &[Item]) -> Mark {
        let [kind, x, label, series, rest @ ..] = of else { return self.bad(Mark::NONE) };
        let kind = match (kind.text(), rest) {
            (mark::LINE, []) => MarkKind::Line,
            (mark::TICK, []) => MarkKind::Tick,
            (mark::AREA, [end, y]) => MarkKind::Area { end: end.number(), y: y.number() },
            _ => self.bad(MarkKind::Line),
        };
        let series = Some(series.number()).filter(|number| !number.is_nan()).map(|_| series.count());
        Mark { x: x.number(), label: short(label), kind, series }
    }
}

fn drawn(in_text: &Item, picture: Picture) -> ShownPart {
    let picture = Box::new(picture);
    match in_text.count() {
        0 => ShownPart::PagePicture(picture),
        _ => ShownPart::Picture(picture),
    }
}

fn short<const N: usize>(text: &Item) -> Text<N> {
    Text::of(format_args!("{}", text.text()))
}
