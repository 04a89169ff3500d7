//! Pictures are equal to the stored ones, and well-formed with any data.

use super::*;
use crate::chart::{Axis, Chart, ChartPoint, Data, Mark, Matrix, Scale, Series, Unit};
use crate::charts_tests as charts;
use crate::document::Level;
use crate::format::Style;
use crate::shown::Shown;
use crate::terminal::Terminal;
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;

fn chart_of(chart: &Chart) -> String {
    let mut text = String::new();
    line::write(&mut text, chart, FramePlace::File("")).unwrap();
    assert_well_formed(&text);
    text
}

fn matrix_of(matrix: &Matrix) -> String {
    let mut text = String::new();
    heat::write(&mut text, matrix, FramePlace::File("")).unwrap();
    assert_well_formed(&text);
    text
}

/// Asserts that elements are closed in order, that no text has a stray `<` or `&`, and that every number is valid.
fn assert_well_formed(document: &str) {
    let mut open = Vec::new();
    for part in document.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag that ends");
        let reference =
            |text: &str| ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| text.starts_with(name));
        assert!(text.split('&').skip(1).all(reference), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_matches('/').split(' ').next().unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (false, true) => {}
            (false, false) => open.push(name),
        }
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
    }
    assert!(open.is_empty() && document.starts_with("<svg ") && document.ends_with("</svg>\n"));
}

#[test]
fn pictures_look_as_they_did() {
    charts::curve(|chart| charts::golden("curve.svg", &chart_of(chart)));
    charts::lanes(|chart| charts::golden("lanes.svg", &chart_of(chart)));
    charts::strip(|chart| charts::golden("strip.svg", &chart_of(chart)));
    charts::matrix(|matrix| charts::golden("matrix.svg", &matrix_of(matrix)));
    charts::triangle(|matrix| charts::golden("triangle.svg", &matrix_of(matrix)));
}

#[test]
fn a_result_without_a_picture_has_its_answer_in_one() {
    let shown = Shown::of(|document| document.answer(format_args!("Use a larger --size.")));
    let style = Style {
        terminal: Terminal { columns: 80, unicode: true, colour: false, audience: crate::Audience::Pipe },
        level: Level::Normal,
        columns: [&[], &[]],
        tests: |_| vec![],
    };
    let mut text = String::new();
    (SVG.write)(&mut text, &style, &shown).unwrap();
    assert_well_formed(&text);
    assert!(text.contains(">Use a larger --size.</text>") && text.contains(">no points</text>"), "{text}");
}

#[test]
fn the_footer_has_the_level_of_trust_alone() {
    let drawn = |trust: Option<&str>| {
        let shown = Shown::of(|document| {
            document.picture(Picture::Matrix(charts::of_nodes(2, &|_, _| Ok(1.0))));
            document.say(Role::Page(PageRole::Footer), "host \u{b7} ");
            if let Some(trust) = trust {
                document.say(Role::Trust, trust);
            }
        });
        let terminal =
            Terminal { columns: 80, unicode: true, colour: false, audience: crate::Audience::Pipe };
        let style = Style { terminal, level: Level::Normal, columns: [&[]; 2], tests: |_| vec![] };
        let mut out = String::new();
        (SVG.write)(&mut out, &style, &shown).unwrap();
        out
    };
    for trust in ["poor", "poor; emulated", "poor: other-work; no-interval", "poor (stated in the file)"] {
        let drawn = drawn(Some(trust));
        assert!(drawn.contains(">host \u{b7} trust: poor \u{b7} latency-bench "), "{trust}: {drawn}");
    }
    for trust in [None, Some("")] {
        assert!(drawn(trust).contains(">host \u{b7} latency-bench "));
    }
}

#[test]
fn a_picture_fetches_and_runs_nothing() {
    charts::curve(|chart| {
        let text = chart_of(chart).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for word in ["http", "script", "href", "url(", "@import", "@font-face", " on"] {
            assert!(!text.contains(word), "{word}");
        }
    });
}

#[test]
fn without_points_or_numbers_there_is_still_a_document() {
    charts::without_series(|chart| assert!(chart_of(chart).contains("no points")));
    let matrix = |nodes| charts::of_nodes(nodes, &|_, _| Err("not measurable here: mbind <EPERM>"));
    assert!(matrix_of(&matrix(1)).contains("node 0 to node 0: not measurable here: mbind &lt;EPERM&gt;"));
    matrix_of(&matrix(0));
}

proptest! {
    #[test]
    fn any_data_make_a_document(
        values in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()), 0..8),
        text in any::<String>(),
        scale in prop::sample::select(&[Scale::Auto, Scale::Linear, Scale::Logarithmic][..]),
    ) {
        let points: Vec<ChartPoint> =
            values.iter().map(|&(x, y, low, high)| ChartPoint::with_band(x, y, low, high)).collect();
        let curve = points.clone();
        let series = [
            Series { name: text.clone(), data: Data::Points(points) },
            Series { name: "curve".into(), data: Data::Curve(curve) },
        ];
        let axis = Axis { title: "x", unit: Unit::Plain("ns"), scale };
        chart_of(&Chart {
            title: text.clone(),
            subtitle: text.clone(),
            x_axis: axis.clone(),
            y_axis: axis,
            series: series.into(),
            marks: [Mark::line(1.0, format_args!("{text}"))].into(),
        });
    }
}
