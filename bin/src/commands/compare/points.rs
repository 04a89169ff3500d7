//! The points of both sides: as a table, as a picture, and for programs.

use core::fmt;
use latency_report::chart::vector;

use latency_core::{Estimate, Interval, ToReal, sort_by};

use super::view::{ComparisonView, first_name};
use crate::analysis::comparison::{Comparison, ComparisonVerdict, PointPair};
use crate::describe::{self, columns};
use crate::record::columns::{CLASS, ColumnSet, INITIATOR_CPU, TARGET_CPU, WORKING_SET};
use crate::record::label::{Label, shown as shown_value};
use crate::record::members::VERDICT;
use crate::record::row::differing;
use latency_report::document::fields;
use latency_report::{
    Axis, AxisRange, Chart, ChartPoint, Data, Digits, Field, Level, Part, Picture, Scale, Series, Shown, Unit,
};

fields! {
    A_NS "a_ns" "Latency in A in nanoseconds; geometric mean of several files.";
    B_NS "b_ns" "Latency in B in nanoseconds; geometric mean of several files.";
    RATIO "ratio" interval "B divided by A; the interval covers the scatter within and between runs, but not what all points of a run share.";
    INTERPOLATED "interpolated" "True if the value of B is interpolated between two of its points.";
}

/// The columns that only comparisons have.
pub static COLUMNS: [Field; 5] = [A_NS, B_NS, RATIO, INTERPOLATED, VERDICT];

/// Number of points above which the table shows only the largest differences.
const MANY: usize = 128;
/// Number of points in the table if it shows only the largest differences.
const MOST: usize = 24;

/// Returns the interval of a ratio; `None` if a point is so uncertain that the ratio has no bound.
fn bounded(pair: &PointPair) -> Option<Interval> {
    (pair.interval.low.is_finite() && pair.interval.high.is_finite()).then_some(pair.interval)
}

/// Returns the interval of a ratio for people; `None` if it says nothing because one end is a large multiple of the other.
fn telling(pair: &PointPair) -> Option<Interval> {
    const LARGEST: f64 = 10.0;
    bounded(pair).filter(|interval| interval.high < LARGEST * interval.low)
}

/// The value of one side of a point.
pub struct SideValue {
    value: f64,
    unit: &'static str,
}

impl SideValue {
    /// Returns the latency of a side, or its bandwidth if the point is of traffic.
    pub fn of(pair: &PointPair, side: usize) -> SideValue {
        let nanoseconds = pair.nanoseconds.get(side).copied().unwrap_or(f64::NAN);
        match pair.row.traffic() {
            Some(kind) => SideValue { value: kind.bytes_per_line() / nanoseconds, unit: "GB/s" },
            None => SideValue { value: nanoseconds, unit: "ns" },
        }
    }
}

impl fmt::Display for SideValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", Digits(self.value), self.unit)
    }
}

/// Returns the fields that identify a point for readers: the fields that vary, or the nodes if none does.
pub fn naming(comparison: &Comparison<'_>) -> ColumnSet {
    let rows = comparison.pairs().iter().map(|pair| &pair.row);
    let found = differing(rows.clone());
    let of_cpus = rows.clone().any(|row| row.tells(CLASS));
    match found {
        found if of_cpus => found | ColumnSet::CPUS | CLASS,
        ColumnSet::EMPTY => ColumnSet::NODES,
        found if found.meets(ColumnSet::NODES) => found | ColumnSet::NODES,
        found => found,
    }
}

impl ComparisonView<'_> {
    /// Shows every point; if there are many, only the largest differences, unless the user asked for all points.
    pub fn table(&self, document: &mut Shown) {
        let pairs = self.comparison.pairs();
        let all = vector(pairs.iter());
        if pairs.len() <= MANY {
            return self.rows(document, "", Level::Quiet, &all);
        }
        let size = |pair: &PointPair| pair.ratio().max(1.0 / pair.ratio());
        let mut differ = vector(pairs.iter().enumerate().filter(|(_, pair)| self.word(pair) != "same"));
        sort_by(&mut differ, |(one, pair), (other, next)| {
            size(next).total_cmp(&size(pair)).then_with(|| one.cmp(other))
        });
        let largest = vector(differ.iter().take(MOST).map(|(_, pair)| *pair));
        let caption = format!("The largest differences: {} of {}", largest.len(), differ.len());
        self.rows(document, &caption, Level::Quiet, &largest);
        self.rows(document, "Every point", Level::Verbose, &all);
    }

    /// Shows some points, with columns only for fields that vary over all points.
    fn rows(&self, document: &mut Shown, caption: &str, level: Level, shown_pairs: &[&PointPair]) {
        let shown = self.naming;
        let (nodes, cpus) = (shown.meets(ColumnSet::NODES), shown.meets(ColumnSet::CPUS));
        let fields = || shown.without(ColumnSet::NODES | ColumnSet::CPUS).points();
        let words = usize::from(nodes) + usize::from(cpus) + fields().count();
        let pairs = self.comparison.pairs();
        let is_rate = |pair: &PointPair| pair.row.traffic().is_some();
        let rates = pairs.iter().all(is_rate);
        let mixed = !rates && pairs.iter().any(is_rate);
        document.tabulate(caption, level, words, &|table| {
            if nodes {
                table.text("from -> to");
            }
            if cpus {
                table.text("CPUs");
            }
            for field in fields() {
                table.text(field.words());
            }
            table.texts(match (mixed, rates) {
                (true, _) => &["A", "B", "time B/A", "95% CI", "verdict"],
                (false, true) => &["A, GB/s", "B, GB/s", "time B/A", "95% CI", "verdict"],
                (false, false) => &["A, ns", "B, ns", "B/A", "95% CI", "verdict"],
            });
            for pair in shown_pairs {
                let row = &pair.row;
                table.row();
                if nodes {
                    table.known(row.pair().map(|_| Label { row, shown: ColumnSet::NODES }));
                }
                if cpus {
                    let [one, other] = [INITIATOR_CPU, TARGET_CPU].map(|cpu| shown_value(row, cpu));
                    let between = if row.tells(TARGET_CPU) { " - " } else { "" };
                    table.known(row.tells(INITIATOR_CPU).then_some(format!("{one}{between}{other}")));
                }
                for field in fields() {
                    table.show(&shown_value(row, field));
                }
                for amount in [0, 1].map(|side| SideValue::of(pair, side)) {
                    if mixed {
                        table.show(&amount)
                    } else {
                        table.number(amount.value)
                    };
                }
                table.cell(format_args!("{:.3}", pair.ratio()));
                let ends = telling(pair).map(|Interval { low, high }| format!("{low:.3} to {high:.3}"));
                table.text(ends.as_deref().unwrap_or("unknown"));
                let between = if pair.interpolated { " (interpolated)" } else { "" };
                let word = self.word(pair);
                table.cell(format_args!("{}{between}", if word == "same" { "" } else { word }));
            }
        });
    }

    /// Returns the verdict on a point; `same` if the conditions forbid one.
    fn word(&self, pair: &PointPair) -> &'static str {
        match pair.verdict {
            ComparisonVerdict::Slower if self.judged => "slower",
            ComparisonVerdict::Faster if self.judged => "faster",
            _ => "same",
        }
    }

    /// Draws the ratio by size, if the results are curves.
    pub fn picture(&self, document: &mut Shown) {
        if !self.is_curve() {
            return;
        }
        let pairs = self.comparison.pairs();
        let stride = pairs.iter().map(|pair| pair.row.stride()).min();
        let dense =
            pairs.iter().filter(|pair| pair.row.tells(WORKING_SET) && Some(pair.row.stride()) == stride);
        let mut points = dense.map(|pair| {
            let x = pair.row.size().0.real();
            ChartPoint::of(x, Estimate { value: pair.ratio(), interval: telling(pair) })
        });
        let ratios = Series::sorted("B/A".into(), &mut points);
        let range = AxisRange::of(&mut |each| ratios.data.points().iter().for_each(|point| each(point.y)));
        let title = match range {
            Some(AxisRange { low, high }) => format!("Latency of B over A: {low:.2}x to {high:.2}x"),
            None => "Latency of B over A".into(),
        };
        let [one, other] = self.paths.map(first_name);
        let subtitle = format!("ratio by working set, above 1 B is slower; A: {one}, B: {other}");
        let y_axis = Axis { title: "B/A", unit: Unit::Plain(""), scale: Scale::Fitted };
        let equal = Series { name: "equal".into(), data: Data::Curve([ChartPoint::new(0.0, 1.0)].into()) };
        let chart = Chart::of([title, subtitle], [Axis::WORKING_SET, y_axis], [ratios, equal].into());
        document.picture(Picture::Chart(chart));
    }

    /// Describes every point for programs.
    pub fn points(&self, document: &mut Shown) {
        document.items(Part::Records(&describe::ROWS), self.comparison.pairs(), |document, pair| {
            columns::saved(document, self.experiment, &pair.row);
            document.put(&A_NS, pair.nanoseconds[0]);
            document.put(&B_NS, pair.nanoseconds[1]);
            document.put(&RATIO, Estimate { value: pair.ratio(), interval: bounded(pair) });
            document.put(&INTERPOLATED, pair.interpolated);
            document.put(&VERDICT, self.word(pair));
        });
    }
}
