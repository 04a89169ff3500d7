//! Rows of any columns, which are written in every form and read again.

use std::format;
use std::string::String;
use std::vec::Vec;

use latency_core::{Estimate, Interval};
use proptest::prelude::*;

use crate::describe::ROWS;
use crate::describe::columns::saved_rows;
use crate::record::columns::{
    COLUMNS, Column, ColumnKind, LOAD, MEMORY_NS, NS, ORDER, PAGES_ASKED, PAGES_OBTAINED, PERCENTILE,
};
use crate::record::row::Row;
use crate::saved::Saved;
use latency_report::json::JSON_LINES;
use latency_report::rows::CSV;
use latency_report::stored::JSON;
use latency_report::{Level, Part, Shown, Style, Terminal, Value};

/// Returns a number of at most seven digits, which is written without a loss.
fn number() -> impl Strategy<Value = f64> + Clone {
    (1_u32..10_000_000, 0_i32..6).prop_map(|(digits, places)| f64::from(digits) / 10_f64.powi(places))
}

/// Returns a value of a column.
fn value(column: Column) -> BoxedStrategy<Value> {
    match column.kind() {
        ColumnKind::Word if column == ORDER => Just("random".into()).boxed(),
        ColumnKind::Word if [PAGES_ASKED, PAGES_OBTAINED].contains(&column) => Just("4k".into()).boxed(),
        ColumnKind::Word => "[a-z][a-z0-9,\"é ]{0,8}[a-z]".prop_map(Value::from).boxed(),
        ColumnKind::Flag => any::<bool>().prop_map(Value::from).boxed(),
        ColumnKind::Count => (0..column.largest().min(1 << 50)).prop_map(Value::from).boxed(),
        ColumnKind::Bytes => (1_u64..1 << 50).prop_map(Value::from).boxed(),
        ColumnKind::Real => number().prop_map(Value::from).boxed(),
        ColumnKind::Estimate => (number(), number(), number(), any::<bool>())
            .prop_map(|(one, two, three, has_interval)| {
                let mut sorted = [one, two, three];
                sorted.sort_unstable_by(f64::total_cmp);
                let [low, value, high] = sorted;
                let interval = has_interval.then_some(Interval { low, high });
                Value::from(Estimate { value, interval })
            })
            .boxed(),
    }
}

/// Returns a row with some of the columns, and a latency.
fn row() -> impl Strategy<Value = Row> {
    let cell = |column: Column| {
        (value(column), any::<bool>())
            .prop_map(move |(value, is_there)| (is_there || column == NS).then_some((column, value)))
    };
    // Rows with a percentile are not read.
    let columns = Column::all().filter(|column| *column != PERCENTILE);
    columns.map(cell).collect::<Vec<_>>().prop_map(|cells| {
        let cells = cells.into_iter().flatten();
        let mut row = cells.fold(Row::EMPTY, |row, (column, value)| row.with(column, value));
        if row.check().is_err() {
            row.put(MEMORY_NS, row.time());
        }
        row
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rows_are_read_as_they_were_written(row in row()) {
        let shown = Shown::of(|document| {
            document.part(Part::Records(&ROWS), |document| saved_rows(document, &Saved::default(), [&row]));
        });
        let terminal = Terminal { columns: 80, unicode: true, colour: false, audience: latency_report::Audience::Pipe };
        let style = Style { terminal, level: Level::Normal, columns: [COLUMNS, &[]], tests: |_| Vec::new() };
        for format in [JSON, JSON_LINES, CSV] {
            let mut text = String::new();
            (format.write)(&mut text, &style, &shown).unwrap();
            let draft = Saved::parse(text.as_bytes(), None);
            let draft = draft.map_err(|problem| TestCaseError::fail(format!("{}: {problem:?}: {text}", format.name)))?;
            let [read] = &draft.rows[..] else { panic!("{text}") };
            // Only documents have the load of a saved point.
            for (column, cell) in row.cells().filter(|(column, _)| *column != LOAD || format.name != "csv") {
                prop_assert_eq!(read.cell(column), Some(cell), "{:?} as {}: {}", column, format.name, text);
            }
        }
    }
}
