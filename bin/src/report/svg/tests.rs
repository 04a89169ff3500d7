//! Pictures are equal to the stored ones, and well-formed with any data.

use super::*;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Matrix, Scale, Series, Unit};
use crate::tests::charts;
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;

fn chart_of(chart: &Chart<'_>) -> String {
    let mut text = String::new();
    write(&mut text, Picture::Chart(chart), FramePlace::File("")).unwrap();
    assert_well_formed(&text);
    text
}

fn matrix_of(matrix: &Matrix<'_>) -> String {
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
fn the_footer_has_the_level_of_trust_alone() {
    for trust in ["poor", "poor; emulated", "poor: other-work; no-interval", "poor (stated in the file)"] {
        assert_eq!(level_of(trust), Some("poor"), "{trust}");
    }
    assert_eq!(level_of(""), None);
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
    charts::curve(|chart| assert!(chart_of(&Chart { series: &[], ..*chart }).contains("no points")));
    let nodes = [0];
    let cell = |_, _| Err("not measurable here: mbind <EPERM>");
    let matrix = Matrix {
        title: "",
        subtitle: "",
        unit: "ns",
        noun: "node",
        rows: &nodes,
        columns: &nodes,
        groups: None,
        cell: &cell,
    };
    assert!(matrix_of(&matrix).contains("node 0 to node 0: not measurable here: mbind &lt;EPERM&gt;"));
    matrix_of(&Matrix { rows: &[], columns: &[], ..matrix });
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
        let curve = |x: f64| 1.0 / x;
        let series = [
            Series { name: &text, data: Data::Points(&points) },
            Series { name: "curve", data: Data::Curve(&curve) },
        ];
        let axis = Axis { title: &text, unit: Unit::Plain(&text), scale };
        let marks = [Mark::line(1.0, format_args!("{text}"))];
        chart_of(&Chart { title: &text, subtitle: &text, x_axis: &axis, y_axis: &axis, series: &series, marks: &marks });
    }
}
