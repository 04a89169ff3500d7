//! Writes documents: the values of a result, and the member that keeps everything else of it.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::json::Layout;
use latency_core::words::Worded;

use super::item::{Item, all, list};
use super::{SHOWN, checksum, kind, mark, series, unit};
use crate::report::chart::{
    Axis, Chart, ChartPoint, Data, Mark, MarkKind, Matrix, MatrixGroup, Series, Unit, vector,
};
use crate::report::document::Metric;
use crate::report::format::Format;
use crate::report::json::{JSON_LINES, Json};
use crate::report::prometheus::{MetricSample, samples, text_of};
use crate::report::shown::{Picture, ShownPart, ShownTable};

/// One object over several lines, with everything that shows the result again.
pub const JSON: Format = Format {
    name: "json",
    extension: "json",
    write: |out, _, shown| {
        let mut json = Json::begin(out, Layout::Lines)?;
        json.entries(shown.entries())?;
        let out = &mut json.writer;
        out.key(SHOWN)?;
        out.begin_array()?;
        let mut parts = vector(&mut shown.entries().iter().filter_map(part));
        parts.extend(samples(shown).iter().map(metric));
        out.string(&checksum(shown.entries(), &parts))?;
        parts.iter().try_for_each(|part| part.write(out))?;
        out.end_array()?;
        json.end()
    },
    ..JSON_LINES
};

/// Returns a part that is not a value.
fn part(entry: &ShownPart) -> Option<Item> {
    Some(match entry {
        ShownPart::Value(..) | ShownPart::Named(..) | ShownPart::Begin(_) | ShownPart::End => return None,
        // All samples of a metric are one part.
        ShownPart::Metric(..) => return None,
        ShownPart::Sentence(role, words) => {
            let [one, other] = role.labels();
            list![role.name(), one, other, words.as_str()]
        }
        ShownPart::Table(table) => {
            let ShownTable { caption, level, words, rows } = &**table;
            let rows = all(&mut rows.iter().map(|row| texts(row)));
            list![kind::TABLE, level.word(), *words, caption.as_str(), rows]
        }
        ShownPart::Picture(picture) => self::picture(picture, true),
        ShownPart::PagePicture(picture) => self::picture(picture, false),
        ShownPart::Attribute(attribute, [from, to], value) => {
            list![kind::ATTRIBUTE, attribute.word(), from.0, to.0, *value]
        }
    })
}

fn metric((metric, samples): &(&Metric, Vec<MetricSample<'_>>)) -> Item {
    let sample = |(labels, value): &MetricSample<'_>| {
        let mut words = Vec::from([Item::from(text_of(value))]);
        for (name, word) in *labels {
            words.extend([(*name).into(), text_of(word).into()]);
        }
        Item::List(words)
    };
    list![kind::METRIC, metric.name, metric.about, all(&mut samples.iter().map(sample))]
}

fn picture(picture: &Picture, in_text: bool) -> Item {
    match picture {
        Picture::Chart(Chart { title, subtitle, x_axis, y_axis, series, marks }) => list![
            kind::CHART,
            in_text,
            title.as_str(),
            subtitle.as_str(),
            axis(x_axis),
            axis(y_axis),
            all(&mut series.iter().map(one_series)),
            all(&mut marks.iter().map(one_mark))
        ],
        Picture::Matrix(Matrix { title, subtitle, unit, noun, rows, columns, groups, cells }) => list![
            kind::MATRIX,
            in_text,
            title.as_str(),
            subtitle.as_str(),
            *unit,
            *noun,
            numbers(&mut rows.iter().map(|id| (*id).into())),
            numbers(&mut columns.iter().map(|id| (*id).into())),
            groups.as_ref().map_or(Item::Number(f64::NAN), |groups| {
                all(&mut groups.iter().map(|MatrixGroup { first, name }| list![*first, name.as_str()]))
            }),
            all(&mut cells.iter().map(|cell| match cell {
                Ok(number) => (*number).into(),
                Err(reason) => reason.as_str().into(),
            }))
        ],
    }
}

fn axis(axis: &Axis) -> Item {
    let unit = match &axis.unit {
        Unit::Bytes => list![unit::BYTES],
        Unit::Count => list![unit::COUNT],
        Unit::Plain(word) => list![unit::PLAIN, *word],
        Unit::Prefixed(word) => list![unit::PREFIXED, *word],
        Unit::Names(names) => list![unit::NAMES, texts(names)],
    };
    list![axis.title, unit, axis.scale.word()]
}

fn one_series(of: &Series) -> Item {
    let kind = match of.data {
        Data::Points(_) => series::POINTS,
        Data::Scatter(_) => series::SCATTER,
        Data::Curve(_) => series::MODEL,
    };
    list![kind, of.name.as_str(), all(&mut of.data.points().iter().map(point))]
}

/// Returns the place of a point and the ends of its intervals, as far as it has any.
fn point(point: &ChartPoint) -> Item {
    const UNKNOWN: (f64, f64) = (f64::NAN, f64::NAN);
    let ChartPoint { x, y, band, whiskers } = *point;
    let band = band.filter(|(low, high)| low.is_finite() || high.is_finite());
    let mut numbers = Vec::from([x, y]);
    if band.is_some() || whiskers.is_some() {
        numbers.extend(<[f64; 2]>::from(band.unwrap_or(UNKNOWN)));
    }
    numbers.extend(whiskers.into_iter().flat_map(<[f64; 2]>::from));
    self::numbers(&mut numbers.into_iter())
}

fn numbers(numbers: &mut dyn Iterator<Item = f64>) -> Item {
    all(&mut numbers.map(Item::Number))
}

fn texts(texts: &[String]) -> Item {
    all(&mut texts.iter().map(|text| text.as_str().into()))
}

fn one_mark(of: &Mark) -> Item {
    let series = of.series.map_or(Item::Number(f64::NAN), Item::from);
    let label = of.label.as_str();
    match of.kind {
        MarkKind::Line => list![mark::LINE, of.x, label, series],
        MarkKind::Tick => list![mark::TICK, of.x, label, series],
        MarkKind::Area { end, y } => list![mark::AREA, of.x, label, series, end, y],
    }
}
