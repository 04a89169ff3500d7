//! One small result, described once, in every format.

use core::fmt::Write;
use latency_core::{Estimate, Interval};
use std::string::String;

use super::chart::{Axis, Chart, ChartPoint, Data, Scale, Series, Unit};
use super::document::{Field, Level, Part, Role, field};
use super::format::{Format, Style};
use super::html::HTML;
use super::json::JSON_LINES;
use super::markdown::MARKDOWN;
use super::rows::CSV;
use super::shown::{Picture, Shown};
use super::stored::JSON;
use super::svg::SVG;
use super::table::TEXT;
use super::terminal::Terminal;

static NAME: Field = field!("name", "The name of the thing.");
static NS: Field = field!("ns" interval, "The time.");
static PROVEN: Field = field!("proven", "Whether somebody looked.");
static POINTS: Field = field!("points", "All of them.");
static PLACEMENT: Field = field!("placement", "Where it was.");
static NODES: Field = field!("nodes", "Which nodes.");

static COLUMNS: [Field; 3] = [NAME, NS, PROVEN];

/// A row: a name, nanoseconds, and both ends of their interval.
type Row = (&'static str, f64, Option<(f64, f64)>);

const ROWS: [Row; 3] =
    [("plain", 116.251_4, Some((115.0, 117.5))), ("with, comma", 20_348.0, None), ("none", f64::NAN, None)];

fn describe(document: &mut Shown) {
    document.line(format_args!("Node 0 -> Node 0: 290 cycles (116 ns)"));
    document.answer(format_args!("Plain things take {} ns.", 116));
    document.sentence(Role::Trust, format_args!("good: quiet neighbours"));
    document.tabulate("", Level::Quiet, 1, &|table| {
        table.texts(&["thing", "ns"]);
        for (name, ns, _) in ROWS {
            table.row();
            table.text(name);
            table.number(ns);
        }
    });
    document.part(Part::Records(&POINTS), |document| {
        for (name, ns, interval) in ROWS {
            document.part(Part::Item, |document| {
                document.put(&NAME, name);
                let interval = interval.map(|(low, high)| Interval { low, high });
                document.put(&NS, Estimate { value: ns, interval });
                document.put(&PROVEN, true);
                document.part(Part::Object(&PLACEMENT), |document| {
                    document.part(Part::List(&NODES), |document| {
                        document.put(&NODES, 1_u64);
                        document.put(&NODES, 2_u64);
                    });
                });
            });
        }
    });
    let points = [ChartPoint::new(1.0, 2.0), ChartPoint::new(2.0, 3.0)];
    document.picture(Picture::Chart(Chart {
        title: "Things".into(),
        subtitle: "".into(),
        x_axis: Axis { title: "x", unit: Unit::Count, scale: Scale::Linear },
        y_axis: Axis { title: "y", unit: Unit::Plain("ns"), scale: Scale::Linear },
        series: [Series { name: "".into(), data: Data::Points(points.into()) }].into(),
        marks: [].into(),
    }));
    document.sentence(Role::Method("Memory"), format_args!("one word after another until the line is full"));
    document.sentence(Role::Detail("Rows"), format_args!("details"));
}

fn written(format: &Format, level: Level, columns: usize) -> String {
    let terminal = Terminal { columns, unicode: true, colour: false, audience: crate::Audience::Pipe };
    let mut out = String::new();
    let style = Style { terminal, level, columns: [&COLUMNS, &[]], tests: |_| vec![] };
    (format.write)(&mut out, &style, &Shown::of(describe)).unwrap();
    out
}

#[test]
fn text_answers_first_and_wraps() {
    let quiet = "Node 0 -> Node 0: 290 cycles (116 ns)\n\nPlain things take 116 ns.\n\n  thing           ns\n  \
                 plain          116\n  with, comma  20348\n  none             -\n";
    assert_eq!(written(&TEXT, Level::Quiet, 80), quiet);
    let normal = written(&TEXT, Level::Normal, 30);
    assert!(normal.contains("116 ns.\nTrust: good: quiet neighbours\n\n"), "{normal}");
    assert!(normal.contains("\n\nMemory: one word after another\n  until the line is full\n"), "{normal}");
    assert!(!normal.contains("details") && written(&TEXT, Level::Verbose, 80).contains("Rows: details\n"));
}

#[test]
fn json_contains_values_and_then_what_shows_them_again() {
    let json: String = written(&JSON, Level::Quiet, 80).split_whitespace().collect();
    let (values, shown) = json.split_once(",\"shown\":").unwrap();
    assert!(shown.contains("[\"Sentence\",\"Answer\",\"Plainthingstake116ns.\"]"), "{shown}");
    assert_eq!(
        values,
        "{\"points\":[{\"name\":\"plain\",\"ns\":116.2514,\"ns_low\":115.0,\"ns_high\":117.5,\"proven\":true,\
         \"placement\":{\"nodes\":[1,2]}},{\"name\":\"with,comma\",\"ns\":20348.0,\"ns_low\":null,\"ns_high\":null,\
         \"proven\":true,\"placement\":{\"nodes\":[1,2]}},{\"name\":\"none\",\"ns\":null,\"ns_low\":null,\
         \"ns_high\":null,\"proven\":true,\"placement\":{\"nodes\":[1,2]}}]"
    );
}

#[test]
fn json_lines_are_the_same_values_on_one_line() {
    let line = written(&JSON_LINES, Level::Quiet, 80);
    assert!(line.ends_with("}\n") && line.trim_end().lines().count() == 1, "{line}");
    let json: String = written(&JSON, Level::Quiet, 80).split_whitespace().collect();
    let (values, _) = json.split_once(",\"shown\":").unwrap();
    assert_eq!(line.split_whitespace().collect::<String>(), std::format!("{values}}}"));
}

#[test]
fn rows_have_one_header_and_quotes_where_they_need_them() {
    assert_eq!(
        written(&CSV, Level::Quiet, 80),
        "name,ns,ns_low,ns_high,proven\nplain,116.2514,115.0,117.5,true\n\
         \"with, comma\",20348.0,,,true\nnone,,,,true\n"
    );
}

#[test]
fn markdown_has_the_same_table() {
    let markdown = written(&MARKDOWN, Level::Normal, 80);
    assert!(markdown.contains("| thing | ns |\n| --- | ---: |\n| plain | 116 |\n"), "{markdown}");
    assert!(markdown.contains("**Plain things take 116 ns.**\n\n*Trust:* good"), "{markdown}");
}

#[test]
fn svg_contains_only_a_picture() {
    let svg = written(&SVG, Level::Quiet, 80);
    assert!(svg.starts_with("<svg ") && svg.contains("<title>Things</title>"));
    assert!(!svg.contains("Memory"));
}

#[test]
fn the_first_error_is_kept_and_writing_stops() {
    struct Full(usize);
    impl Write for Full {
        fn write_str(&mut self, part: &str) -> core::fmt::Result {
            self.0 = self.0.checked_sub(part.len()).ok_or(core::fmt::Error)?;
            Ok(())
        }
    }
    let terminal = Terminal { columns: 80, unicode: false, colour: false, audience: crate::Audience::Pipe };
    let style = Style { terminal, level: Level::Normal, columns: [&COLUMNS, &[]], tests: |_| vec![] };
    for format in [&TEXT, &JSON, &JSON_LINES, &CSV, &MARKDOWN, &SVG, &HTML] {
        for room in [0, 1, 40] {
            let written = (format.write)(&mut Full(room), &style, &Shown::of(describe));
            assert!(written.is_err(), "{} in {room} bytes", format.name);
        }
    }
}

#[test]
fn words_that_leave_no_room_for_a_value_are_wrapped() {
    let label = "CPU 0 - CPU 2 (other socket): atomic on a Modified line, in L1, home node 1";
    let describe = |document: &mut Shown| {
        document.tabulate("", Level::Quiet, 1, &|table| {
            table.texts(&["point", "ns", "95% CI"]);
            for name in [label, "short"] {
                table.row();
                table.text(name);
                table.number(160.0);
                table.text("159 to 161");
            }
        });
    };
    let terminal = Terminal { columns: 80, unicode: true, colour: false, audience: crate::Audience::Pipe };
    let style = Style { terminal, level: Level::Normal, columns: [&COLUMNS, &[]], tests: |_| vec![] };
    let mut out = String::new();
    (TEXT.write)(&mut out, &style, &Shown::of(describe)).unwrap();
    let expected = "  point                                    ns      95% CI
  CPU 0 - CPU 2 (other socket): atomic    160  159 to 161
  on a Modified line, in L1, home node 1
  short                                   160  159 to 161
";
    assert_eq!(out, expected, "{out}");
}
